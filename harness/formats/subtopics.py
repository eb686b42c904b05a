"""Judgments by subtopic: what diversity tracks publish, for the measures of novelty."""

from __future__ import annotations

from pathlib import Path

from harness.formats.findings import JUDGMENTS, Findings
from harness.formats.judgments import read_grade
from harness.formats.records import check_ids, read_records

__all__ = ["SubtopicJudgments", "read_subtopic_judgments"]


SubtopicJudgments = dict[str, dict[str, dict[str, float]]]
"""Query to document to subtopic to grade."""


def read_subtopic_judgments(path: Path, *, name: str | None = None) -> SubtopicJudgments:
    """
    Read a judgment file whose lines judge a document for one subtopic of a query.

    In TREC's form the second column is the subtopic; .csv, .jsonl and .ndjson have a column or key named subtopic.
    Where there is none, all judgments are of one subtopic.

    Args:
        path: The file.
        name: What errors call it; the path where left out.

    Raises:
        FormatError: With each malformed line, grade that is not a finite number, and document that is judged twice for
            a subtopic.
    """
    findings = Findings(str(path) if name is None else name)
    judgments: SubtopicJudgments = {}
    lines: dict[tuple[str, str, str], int] = {}
    for record in read_records(path, JUDGMENTS, findings):
        grade = read_grade(record, {}, findings)
        if grade is None or not check_ids(record, findings):
            continue
        first = lines.setdefault((record.query, record.document, record.subtopic), record.line)
        if first != record.line:
            judged = f"document {record.document!r} is judged twice for subtopic {record.subtopic!r}"
            findings.add(record.line, f"{judged} of query {record.query!r}, first in line {first}")
            continue
        judgments.setdefault(record.query, {}).setdefault(record.document, {})[record.subtopic] = grade
    findings.raise_any(path)
    return judgments
