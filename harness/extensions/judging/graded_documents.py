"""
What graded documents were like, in a file of JSON lines beside the suite: for grades that no file of a judge has.

A line is an object with `query`, `document`, `grade`, the `day` on which it was recorded, and `shown`, a fingerprint of
each text by field. Lines are sorted, so that branches merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.agreement import Pair
from harness.errors import UsageError
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.files.tables import format_json_lines
from harness.files.versioned import VersionedJson
from harness.model.suite import Json
from harness.words import simplify_number


@dataclass(frozen=True, slots=True)
class GradedDocument:
    """A document that had *grade* for *query* on a *day*, and a fingerprint of each of its texts, by field."""

    query: str
    document: str
    grade: float
    day: date
    shown: Mapping[str, str]


_FORM = VersionedJson(
    GradedDocument,
    "record of a graded document",
    remedy="remove the line, or restore the file",
    is_merged=True,
    is_strict=True,
    had_no_version=True,
)


def build_record_path(suite: Path) -> Path:
    """
    The file with the graded documents of *suite*.

    >>> str(build_record_path(Path("shop.relevance.yaml")))
    'shop.graded-documents.jsonl'
    """
    return suite.with_name(f"{cut_suffix(suite)}.graded-documents.jsonl")


def read_graded_documents(file: BesideFile) -> dict[Pair, GradedDocument]:
    """
    Read the *file*; empty where there is none.

    Raises:
        FormatError: It is a link, cannot be read, or a line is no record.
    """
    records = {}
    for number, line in enumerate(file.read_if_there().splitlines(), start=1):
        if line.strip():
            record = _FORM.loads(line, path=str(file.path), first_line=number)
            records[record.query, record.document] = record
    return records


def write_graded_documents(file: BesideFile, records: Iterable[GradedDocument]) -> None:
    """
    Write *records* to *file*, in place of what it had.

    Raises:
        UsageError: The file could not be written.
    """
    entries: list[Json] = []
    for record in sorted(records, key=lambda record: (record.query, record.document)):
        entry: dict[str, Json] = {
            "query": record.query,
            "document": record.document,
            "grade": simplify_number(record.grade),
            "day": record.day.isoformat(),
            "shown": dict(record.shown),
        }
        entries.append(entry)
    try:
        file.write(format_json_lines(entries))
    except OSError as error:
        raise UsageError(f"{file.path}: the documents could not be recorded: {error.strerror or error}") from None
