"""Batches from arrays: grades in CSR form, or the integer codes of ids as Parquet's dictionaries hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.errors import UsageError
from harness.metrics.bulk.batch import Batch, Numbers, compact, compute_ranks, distinct

_QUERIES_AT_ONCE = 100_000
"""Queries joined at a time, to limit memory."""


@dataclass(frozen=True, slots=True)
class CodedRun:
    """A run as columns: the code of the query and of the document of each hit, best first within each query."""

    query: Numbers
    document: Numbers


@dataclass(frozen=True, slots=True)
class CodedJudgments:
    """Judgments as columns, in any order: the code of the query, of the document, and the grade."""

    query: Numbers
    document: Numbers
    grade: Numbers


def batch_of_grades(
    offsets: Numbers, grades: Numbers, judged_offsets: Numbers, judged_grades: Numbers, judged: Numbers | None = None
) -> Batch:
    """
    A batch from the grades themselves.

    Args:
        offsets: Whole numbers, one more than queries: query i's hits are ``grades[offsets[i]:offsets[i + 1]]``.
        grades: The grade of each hit, best first; NaN where it is unjudged.
        judged_offsets: As *offsets*, for *judged_grades*.
        judged_grades: The grade of every judged document, in any order within its query.
        judged: Which hits are judged, for grades of a type that has no NaN; None where NaN says so, or all are.

    Raises:
        UsageError: offsets do not fit, or a judgment is not finite.
    """
    sizes = _compute_sizes(offsets, grades, "hits")
    judged_sizes = _compute_sizes(judged_offsets, judged_grades, "judgments")
    if len(sizes) != len(judged_sizes):
        raise UsageError(f"there are hits of {len(sizes)} queries and judgments of {len(judged_sizes)}")
    if judged is not None and len(judged) != len(grades):
        raise UsageError(f"there are {len(grades)} grades and {len(judged)} marks of which are judged")
    if judged is None and grades.dtype.kind == "f":
        judged = ~np.isnan(grades)
    rows = np.arange(len(grades)) if judged is None else np.flatnonzero(judged)
    query = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[rows]
    # A rank counts from the first hit of its query, which stands behind all hits of the queries before.
    rank = rows - (np.cumsum(sizes) - sizes)[query] + 1
    judged_query = np.repeat(np.arange(len(sizes), dtype=np.int32), judged_sizes)
    return Batch(sizes, query, rank, compact(grades[rows]), judged_query, compact(judged_grades))


def batches_of_codes(run: CodedRun, judgments: CodedJudgments, queries: int) -> Iterator[Batch]:
    """
    Join hits to judgments by their codes, some queries at a time.

    Args:
        run: Grouped by query, in the order of the queries' codes, best hit first.
        judgments: In any order.
        queries: How many queries there are; codes run from 0.

    Raises:
        UsageError: columns differ in length, the run is not grouped by query, a code is out of range, or a document
            stands twice in a ranking or in a query's judgments.
    """
    _check_columns(run, judgments, queries)
    documents = 1 + max(int(column.max(initial=0)) for column in (run.document, judgments.document))
    levels, codes = distinct(compact(judgments.grade))
    if queries * documents * 2 * max(1, len(levels)) >= 2**63:
        raise UsageError(f"too many queries and documents for one integer: {queries} and codes up to {documents - 1}")
    judged_query, judged_document, codes = _group_by_query(judgments, codes, documents, len(levels))
    steps = np.arange(0, queries + _QUERIES_AT_ONCE, _QUERIES_AT_ONCE).clip(max=queries)
    ends, judged_ends = np.searchsorted(run.query, steps), np.searchsorted(judged_query, steps)
    for number, first in enumerate(steps[:-1].tolist()):
        count = int(steps[number + 1]) - first
        of_run = slice(ends[number], ends[number + 1])
        of_judgments = slice(judged_ends[number], judged_ends[number + 1])
        hits = _Keys(run.query[of_run] - first, run.document[of_run], documents)
        judged = _Keys(judged_query[of_judgments] - first, judged_document[of_judgments], documents)
        yield _join(hits, judged, codes[of_judgments], levels, count)


class _Keys:
    """Query and document as one integer each."""

    def __init__(self, query: Numbers, document: Numbers, documents: int) -> None:
        self.query = query
        self.keys = query.astype(np.int64) * documents + document


def _join(hits: _Keys, judged: _Keys, codes: Numbers, levels: Numbers, queries: int) -> Batch:
    """Look each hit up among the sorted judgments, whose keys hold the grades in their lowest bits."""
    bits = max(1, int(len(levels) - 1).bit_length())
    # One sort of plain integers instead of an indirect one of three columns: scripts/bench/metrics.
    packed = judged.keys << bits | codes
    packed.sort()
    _refuse_repeated(packed >> bits, "judgment")
    _refuse_repeated(np.sort(hits.keys), "hit")
    # With grade bits of 0, a hit comes just before its judgment.
    places = np.searchsorted(packed, hits.keys << bits)
    nearest = packed.take(places, mode="clip") if len(packed) else np.full(len(places), -1)
    rows = np.flatnonzero(nearest >> bits == hits.keys)
    sizes = np.bincount(hits.query, minlength=queries)
    grades = levels[nearest[rows] & (1 << bits) - 1]
    ranks = compute_ranks(hits.query, sizes)[rows]
    return Batch(sizes, hits.query[rows], ranks, grades, judged.query, levels[codes])


def _compute_sizes(offsets: Numbers, values: Numbers, what: str) -> Numbers:
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(values) or (offsets[1:] < offsets[:-1]).any():
        raise UsageError(
            f"the offsets of the {what} must rise from 0 to {len(values)}, one more than there are queries"
        )
    return np.diff(offsets).astype(np.int64)


def _check_columns(run: CodedRun, judgments: CodedJudgments, queries: int) -> None:
    for name, columns in (
        ("run", (run.query, run.document)),
        ("judgments", (judgments.query, judgments.document, judgments.grade)),
    ):
        if len({len(column) for column in columns}) > 1:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise UsageError(f"the columns of the {name} differ in length: {lengths}")
        query, document = columns[:2]
        if len(query) and not (query.min() >= 0 and query.max() < queries and document.min() >= 0):
            raise UsageError(f"a code in the {name} is below 0, or a query's is not below the {queries} queries")
    if (run.query[1:] < run.query[:-1]).any():
        raise UsageError("the run must be grouped by query, in the order of the codes")


def _group_by_query(
    judgments: CodedJudgments, codes: Numbers, documents: int, levels: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Query, document and code of the grade, grouped by query; sorted as one integer, which is faster than by index."""
    if not (judgments.query[1:] < judgments.query[:-1]).any():
        return judgments.query, judgments.document, codes
    keys = (judgments.query.astype(np.int64) * documents + judgments.document) * levels + codes
    keys.sort()
    keys, codes = np.divmod(keys, levels)
    query, document = np.divmod(keys, documents)
    return query, document, codes


def _refuse_repeated(keys: Numbers, what: str) -> None:
    if (keys[1:] == keys[:-1]).any():
        raise UsageError(f"a document has more than one {what} in the same query")
