"""Run files: TREC runs, CSV, JSON lines or Parquet -> query to its ranking with scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from harness.files.opening import RUNS, Findings, Form, Record, form_of
from harness.files.records import read_number, read_pairs
from harness.files.trec import Irregular, bulk_rankings


@dataclass(frozen=True, slots=True)
class StoredRanking:
    """
    One query's documents and their scores, side by side, in the order of the file.

    The caller decides which order counts: trec_eval sorts by score, and ignores the order of lines and the rank column.
    """

    documents: list[str]
    scores: list[float]

    def in_order(self) -> list[str]:
        """The documents by score, the highest first; those of equal score keep the order of the file."""
        if sorted(self.scores, reverse=True) == self.scores:  # to sort what is sorted is cheap
            return self.documents
        order = sorted(range(len(self.scores)), key=self.scores.__getitem__, reverse=True)
        return [self.documents[index] for index in order]


def read_run(path: Path, *, name: str | None = None) -> dict[str, StoredRanking]:
    """
    Read a run file.

    The suffix decides the format: .csv, .jsonl, .ndjson and .parquet have columns or keys named query, document and
    score, and others are ignored; everything else is a TREC run, six columns separated by blanks or tabs: query, Q0,
    document, rank, score, tag, of which Q0, rank, tag and anything after it are ignored. A .gz or .zst file is
    unpacked.

    Args:
        path: The file.
        name: What errors call it; the path where left out.

    Returns:
        A ranking per query. Scores are 64-bit floats and may be infinite, never NaN; no document comes twice for a
        query.

    Raises:
        FormatError: With each malformed line, score that is not a number, and document that comes twice for a query.
        UsageError: The file needs a package that is not installed.
    """
    called = str(path) if name is None else name
    if form_of(path) is Form.TREC:
        try:
            bulk = bulk_rankings(path, called)
        except Irregular:
            return _read_carefully(path, called)
        return {query: StoredRanking(documents, scores) for query, (documents, scores) in bulk.items()}
    return _read_carefully(path, called)


def _read_carefully(path: Path, name: str) -> dict[str, StoredRanking]:
    rankings = read_pairs(path, RUNS, name, _score, twice="comes twice")
    return {query: StoredRanking(list(ranked), list(ranked.values())) for query, ranked in rankings.items()}


def _score(record: Record, findings: Findings) -> float | None:
    what = f"the score of document {record.document!r} for query {record.query!r}"
    score = read_number(record.value)
    if score is None:
        findings.add(record.line, f"found {record.value!r} as {what}, expected a number")
    elif math.isnan(score):
        findings.add(record.line, f"{what} is NaN, expected a number")
        return None
    return score
