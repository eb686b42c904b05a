"""One value for each query and document, and the lines that give a second one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeAlias

from harness.formats.findings import Findings, Layout, Record
from harness.formats.records import check_ids, read_records

__all__ = ["first_lines", "read_pairs"]


ValueOf: TypeAlias = Callable[[Record, Findings], float | None]


def read_pairs(path: Path, layout: Layout, name: str, value_of: ValueOf, *, twice: str) -> dict[str, dict[str, float]]:
    """
    Read a file that has one value for each query and document.

    Args:
        path: The file.
        layout: What its lines hold.
        name: What errors call it.
        value_of: Gives the value of a record; None where it has none, which it tells the findings if that is wrong.
        twice: What a second line of a document does: "is judged twice".

    Returns:
        Query to document to value, in the order of the file.

    Raises:
        FormatError: With each malformed line, wrong value, and document that comes twice for a query.
    """
    findings = Findings(name)
    values: dict[str, dict[str, float]] = {}
    repeated: list[Record] = []
    for record in read_records(path, layout, findings):
        value = value_of(record, findings)
        if value is None or not check_ids(record, findings):
            continue
        known = values.setdefault(record.query, {})
        if record.document in known:
            repeated.append(record)
        else:
            known[record.document] = value
    if repeated:
        _tell(path, layout, repeated, twice, findings)
    findings.raise_any(path)
    return values


def first_lines(
    path: Path, layout: Layout, wanted: Collection[tuple[str, str]], *, name: str
) -> dict[tuple[str, str], int]:
    """The line that gives each *wanted* query and document its value; those that are nowhere are left out."""
    lines: dict[tuple[str, str], int] = {}
    for record in read_records(path, layout, Findings(name)):
        pair = (record.query, record.document)
        if pair in wanted and record.value != "":
            lines.setdefault(pair, record.line)
    return lines


def _tell(path: Path, layout: Layout, repeated: list[Record], twice: str, findings: Findings) -> None:
    """The file is read again for the first lines: to keep all of them would cost every file that has no such fault."""
    first = first_lines(path, layout, {(record.query, record.document) for record in repeated}, name=findings.name)
    for record in repeated:
        line = first[record.query, record.document]
        sentence = f"document {record.document!r} {twice} for query {record.query!r}, first in line {line}"
        findings.add(record.line, sentence, column=record.column)
