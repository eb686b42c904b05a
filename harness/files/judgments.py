"""
Judgment files: TREC qrels, CSV, JSON lines, YAML or Parquet -> query to document to grade; and
judgments by subtopic.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeAlias

from harness.errors import InputError
from harness.files.opening import JUDGMENTS, FileFormat, FileProblems, Record, detect_format
from harness.files.records import check_ids, find_first_lines, read_pairs, read_records
from harness.files.tables import read_number
from harness.files.trec import Irregular, read_judgments_in_bulk
from harness.words import did_you_mean

_Judgments: TypeAlias = dict[str, dict[str, float]]
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def read_judgments(
    path: Path,
    *,
    name: str | None = None,
    grade_names: Mapping[str, float] | None = None,
    ungraded: list[Record] | None = None,
) -> _Judgments:
    """
    Read a judgment file.

    The suffix decides the format: .csv, .jsonl, .ndjson and .parquet have columns or keys named query, document and
    grade, and others are ignored; .yaml and .yml map query to document to grade; everything else is TREC qrels, four
    columns separated by blanks or tabs: query, iteration (ignored), document, grade. A .gz or .zst file is unpacked.

    Args:
        path: The file.
        name: What errors call it; the path where left out.
        grade_names: Names that may stand for grades, but in TREC qrels.
        ungraded: Receives the documents without a grade; None refuses them.

    Returns:
        Query to document to grade, in the order of the file; grades are finite.

    Raises:
        FormatError: With each malformed line, grade that is not a finite number, and document judged twice for a query.
        UsageError: The file needs a package that is not installed.
    """
    name = name or str(path)
    names = grade_names or {}
    if detect_format(path) is FileFormat.TREC:
        try:
            return read_judgments_in_bulk(path, name)
        except Irregular:
            # TREC qrels have numbers only, and every line has one. Read line by line, the file shows its mistakes.
            names = {}

    def read_value(record: Record, findings: FileProblems) -> float | None:
        if record.value == "" and ungraded is not None:
            ungraded.append(record)
            return None
        return read_grade(record, names, findings)

    return read_pairs(path, JUDGMENTS, name, read_value, twice="is judged twice")


def find_judgment_lines(
    path: Path, pairs: Collection[tuple[str, str]], *, name: str | None = None
) -> dict[tuple[str, str], int]:
    """The first line of each of *pairs*, a query and a document; pairs without a line are left out."""
    return find_first_lines(path, JUDGMENTS, pairs, name=name or str(path))


def find_query_line(path: Path, query: str, *, name: str | None = None) -> int:
    """The first line that judges a document for *query*; 0 where there is none."""
    for record in read_records(path, JUDGMENTS, FileProblems(name or str(path))):
        if record.query == query:
            return record.line
    return 0


def find_grade_line(path: Path, grade: float) -> int:
    """The first line with *grade*; 0 where there is none, or the file can be read only once."""
    if not path.is_file():
        return 0
    for record in read_records(path, JUDGMENTS, FileProblems(str(path))):
        if read_number(record.value) == grade:
            return record.line
    return 0


def count_grades(path: Path) -> int:
    """The number of lines with a grade, valid or not; 0 for another kind of file."""
    try:
        return sum(record.value != "" for record in read_records(path, JUDGMENTS, FileProblems(str(path))))
    except InputError:
        return 0


def read_grade(record: Record, names: Mapping[str, float], findings: FileProblems) -> float | None:
    """The grade of one line, by number or name; None, with a finding, where it is not a finite number."""
    if isinstance(record.value, str) and record.value in names:
        return names[record.value]
    if record.value == "":
        findings.add(record.line, describe_ungraded(record), column=record.column)
        return None
    subject = f"the grade of document {record.document!r} for query {record.query!r}"
    grade = read_number(record.value)
    if grade is None:
        expected = "a number or the name of a grade" if names else "a number"
        # Spreadsheets write a decimal comma in some languages.
        if _DECIMAL_COMMA.fullmatch(str(record.value)):
            guess = f"; did you mean {str(record.value).replace(',', '.')}?"
        else:
            guess = did_you_mean(str(record.value), names)
        findings.add(
            record.line, f"found {record.value!r} as {subject}, expected {expected}{guess}", column=record.column
        )
    elif not math.isfinite(grade):
        findings.add(record.line, f"{subject} is {grade}, expected a finite number", column=record.column)
    else:
        return grade
    return None


def describe_ungraded(record: Record) -> str:
    """The sentence on a document without a grade."""
    return (
        f"document {record.document!r} has no grade yet for query {record.query!r}; grade it, remove it, or set "
        "'judgments: {files: …, ungraded: ignore}' in the suite"
    )


SubtopicJudgments = dict[str, dict[str, dict[str, float]]]
"""Query to document to subtopic to grade."""


NO_SUBTOPIC = ("", "0", "Q0")
"""What the second column holds where it is no subtopic."""


def read_subtopic_judgments(path: Path) -> SubtopicJudgments:
    """
    Read a judgment file whose lines judge a document for one subtopic of a query.

    In TREC's form the second column is the subtopic; .csv, .jsonl and .ndjson have a column or key named subtopic.
    Without one, all judgments are of one subtopic.

    Raises:
        FormatError: With each malformed line, grade that is not a finite number, and document that is judged twice for
            a subtopic.
    """
    findings = FileProblems(str(path))
    judgments: SubtopicJudgments = {}
    lines: dict[tuple[str, str, str], int] = {}
    for record in read_records(path, JUDGMENTS, findings):
        grade = read_grade(record, {}, findings)
        if grade is None or not check_ids(record, findings):
            continue
        first = lines.setdefault((record.query, record.document, record.subtopic), record.line)
        if first != record.line:
            subtopic = "" if record.subtopic in NO_SUBTOPIC else f"subtopic {record.subtopic!r} of "
            sentence = f"document {record.document!r} is judged twice for {subtopic}query {record.query!r}"
            findings.add(record.line, f"{sentence}, first in line {first}")
            continue
        judgments.setdefault(record.query, {}).setdefault(record.document, {})[record.subtopic] = grade
    findings.raise_any(path)
    return judgments
