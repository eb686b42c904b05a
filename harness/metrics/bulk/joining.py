"""From rankings and judgments, as lists, arrays or columns, to a `Batch`."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise, repeat
from typing import TypeAlias, cast

import numpy as np

from harness.errors import UsageError
from harness.metrics.bulk.batch import Batch, Floats, Numbers, distinct, ranks_grouped
from harness.metrics.bulk.texts import Documents, Matches, Texts, Unfit, match, texts_of
from harness.metrics.ranking import check_grades, without_duplicates

__all__ = [
    "CodedJudgments",
    "CodedRun",
    "JudgedColumns",
    "RankedColumns",
    "batch_of_columns",
    "batch_of_grades",
    "batches_of_codes",
    "compact",
    "look_up",
]


# From rankings and judgments of ids to a `Batch`.
#
# Ids are joined as bytes, a block of queries at a time that stays in the processor's cache: that costs less than a
# hash of every string. Where bytes do not do, each id is looked up by itself. Imports numpy.


Judgments: TypeAlias = Sequence[Mapping[str, float]]
Rankings: TypeAlias = Sequence[Sequence[str]]

IDS_AT_ONCE = 1 << 15
"""Hits and judgments that are joined at once, but for a query that has more."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The judged hits of some queries by query and rank, each with the row of its judgment; all their hits counted."""

    returned: Numbers
    query: Numbers
    rank: Numbers
    judged: Numbers


def look_up(rankings: Rankings, judgments: Judgments, *, depth: int | None = None) -> Batch:
    """
    Join rankings and judgments, which are of the same queries in the same order.

    Args:
        rankings: Document ids of each query, best first; one that comes twice counts once.
        judgments: Document id to grade of each query.
        depth: Ranks below this are not looked at.

    Raises:
        UsageError: a grade is not a finite number.
    """
    sizes = _sizes_of_lists(judgments)
    judged_query = np.repeat(np.arange(len(judgments), dtype=np.int32), sizes)
    grades = _small_grades(judgments)
    if grades is None:
        grades = _any_grades(judgments)
    before = np.cumsum(sizes) - sizes
    parts = []
    for block in _blocks(_sizes_of_lists(rankings, depth) + sizes):
        joined = _join_unique(rankings[block], judgments[block], depth)
        query, judged = joined.query + np.int32(block.start), joined.judged + before[block.start]
        parts.append((joined.returned, query, joined.rank, grades[judged]))
    empty = np.zeros(0, np.int32)
    columns = zip(*parts, strict=True) if parts else repeat((empty,), 4)
    returned, query, rank, grade = (np.concatenate(column) for column in columns)
    return Batch(returned, query, rank, grade, judged_query, grades)


def _sizes_of_lists(groups: Sequence[Collection[str]], most: int | None = None) -> Numbers:
    sizes = np.fromiter(map(len, groups), np.int64, len(groups))
    return sizes if most is None else np.minimum(sizes, most)


def _blocks(sizes: Numbers) -> Iterator[slice]:
    """Stretches of queries with some `IDS_AT_ONCE` ids each."""
    number = np.cumsum(sizes) // IDS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return (slice(begin, end) for begin, end in pairwise(edges) if begin < end)


def _small_grades(judgments: Judgments) -> Numbers | None:
    """All grades, a byte each, where they are whole numbers from 0 to 255 and Python's own integers; else None."""
    try:
        return np.frombuffer(bytes(cast("Iterable[int]", _values(judgments))), np.uint8)
    except (TypeError, ValueError):
        return None


def _any_grades(judgments: Judgments) -> Numbers:
    """An array of Python's own, as numpy reads a text as a number."""
    try:
        return compact(np.array(array("d", _values(judgments))))
    except (TypeError, OverflowError, UsageError):
        for judged in judgments:
            check_grades(judged)
        raise


def _values(judgments: Judgments) -> Iterator[float]:
    return chain.from_iterable(judged.values() for judged in judgments)


def compact(grades: Numbers) -> Numbers:
    """
    The same grades in the smallest type that holds them all.

    Raises:
        UsageError: a grade is not a finite number.
    """
    if grades.dtype.kind != "f" or not len(grades):
        return grades
    if not np.isfinite(grades).all():
        raise UsageError("a grade is not a finite number")
    for narrow in (np.int8, np.int16, np.int32):
        limits = np.iinfo(narrow)
        if limits.min <= grades.min() and grades.max() <= limits.max:
            whole = grades.astype(narrow)
            return whole if np.array_equal(whole, grades) else grades
    return grades


def _join_unique(rankings: Rankings, judgments: Judgments, depth: int | None) -> Joined:
    """Ids that are no text, and those whose bytes cannot be told apart, are looked up one by one."""
    try:
        return _by_bytes(rankings, judgments, depth)
    except Unfit:
        return _by_rank(rankings, judgments, depth)


def _by_bytes(rankings: Rankings, judgments: Judgments, depth: int | None) -> Joined:
    """
    Join the bytes of all ids at once.

    Raises:
        Unfit: the ids are not fit for that.
    """
    cut = [ranking if depth is None else ranking[:depth] for ranking in rankings]
    hits, judged = _documents(cut), _documents(judgments)
    found = match(hits, judged)
    if len(found.returned_twice):
        for query in np.unique(hits.query[found.returned_twice]).tolist():
            cut[query] = without_duplicates(rankings[query])[:depth]
        hits = _documents(cut)
        found = match(hits, judged)
    return _joined(hits, found, _sizes_of_lists(cut))


def _documents(groups: Sequence[Collection[str]]) -> Documents:
    query = np.repeat(np.arange(len(groups), dtype=np.int32), _sizes_of_lists(groups))
    return Documents(query, texts_of(groups, len(query)))


def _joined(hits: Documents, found: Matches, sizes: Numbers) -> Joined:
    query = hits.query[found.hit]
    rank = found.hit - (np.cumsum(sizes) - sizes)[query] + 1
    return Joined(sizes, query, rank.astype(np.int32), found.judged)


def _by_rank(rankings: Rankings, judgments: Judgments, depth: int | None) -> Joined:
    """Ask for the rank of each judged document by its id, whatever that is."""
    ranks, returned = array("i"), array("q")
    for ranking, judged in zip(rankings, judgments, strict=True):
        rank_of = dict(zip(without_duplicates(ranking)[:depth], count(1), strict=False))
        ranks.extend(map(rank_of.get, judged, repeat(0)))
        returned.append(len(rank_of))
    rank = np.array(ranks, np.int32)
    query = np.repeat(np.arange(len(judgments), dtype=np.int32), _sizes_of_lists(judgments))
    hits = np.flatnonzero(rank)
    hits = hits[np.lexsort((rank[hits], query[hits]))]
    return Joined(np.array(returned, np.int64), query[hits], rank[hits], hits)


# From arrays to a `Batch`: grades in CSR form, or the integer codes of ids as Parquet's dictionaries hold them.
#
# Imports numpy.


QUERIES_AT_ONCE = 100_000
"""Queries joined at a time, so that what is worked on stays small."""


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
        offsets: int64, one more than there are queries: query i's hits are ``grades[offsets[i]:offsets[i + 1]]``.
        grades: The grade of each hit, best first; NaN where it is unjudged.
        judged_offsets: The same for the judgments.
        judged_grades: The grade of every judged document, in any order within its query.
        judged: Which hits are judged, for grades of a type that has no NaN; None where NaN says so, or all are.

    Raises:
        UsageError: offsets do not fit, or a judgment is not finite.
    """
    sizes, judged_sizes = _sizes(offsets, grades, "hits"), _sizes(judged_offsets, judged_grades, "judgments")
    if len(sizes) != len(judged_sizes):
        raise UsageError(f"there are hits of {len(sizes)} queries and judgments of {len(judged_sizes)}")
    if judged is not None and len(judged) != len(grades):
        raise UsageError(f"there are {len(grades)} grades and {len(judged)} marks of which are judged")
    known = judged if judged is not None else ~np.isnan(grades) if grades.dtype.kind == "f" else None
    at = np.arange(len(grades)) if known is None else np.flatnonzero(known)
    query = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[at]
    rank = at - np.asarray(offsets)[query] + 1
    judged_query = np.repeat(np.arange(len(sizes), dtype=np.int32), judged_sizes)
    return Batch(sizes, query, rank, compact(grades[at]), judged_query, compact(judged_grades))


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
    known_query, known_document, codes = _grouped(judgments, codes, documents, len(levels))
    steps = np.arange(0, queries + QUERIES_AT_ONCE, QUERIES_AT_ONCE).clip(max=queries)
    hits, judged = np.searchsorted(run.query, steps), np.searchsorted(known_query, steps)
    for number, first in enumerate(steps[:-1].tolist()):
        count = int(steps[number + 1]) - first
        mine, theirs = slice(hits[number], hits[number + 1]), slice(judged[number], judged[number + 1])
        asked = _Keys(run.query[mine] - first, run.document[mine], documents)
        known = _Keys(known_query[theirs] - first, known_document[theirs], documents)
        yield _join(asked, known, codes[theirs], levels, count)


class _Keys:
    """Query and document as one integer each."""

    def __init__(self, query: Numbers, document: Numbers, documents: int) -> None:
        self.query = query
        self.keys = query.astype(np.int64) * documents + document


def _join(asked: _Keys, known: _Keys, codes: Numbers, levels: Numbers, queries: int) -> Batch:
    """Look each hit up among the sorted judgments, whose grades ride in the lowest bits of their keys."""
    bits = max(1, int(len(levels) - 1).bit_length())
    packed = known.keys << bits | codes
    packed.sort()
    _refuse_twice(packed >> bits, "judgment")
    _refuse_twice(np.sort(asked.keys), "hit")
    places = np.searchsorted(packed, asked.keys << bits)
    found = packed.take(places, mode="clip") if len(packed) else np.full(len(places), -1)
    at = np.flatnonzero(found >> bits == asked.keys)
    sizes = np.bincount(asked.query, minlength=queries)
    grades = levels[found[at] & (1 << bits) - 1]
    return Batch(sizes, asked.query[at], ranks_grouped(asked.query, sizes)[at], grades, known.query, levels[codes])


def _sizes(offsets: Numbers, values: Numbers, what: str) -> Numbers:
    sizes = np.diff(offsets)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(values) or (sizes < 0).any():
        raise UsageError(
            f"the offsets of the {what} must rise from 0 to {len(values)}, one more than there are queries"
        )
    return sizes


def _check_columns(run: CodedRun, judgments: CodedJudgments, queries: int) -> None:
    for name, columns in (
        ("run", (run.query, run.document)),
        ("judgments", (judgments.query, judgments.document, judgments.grade)),
    ):
        if len({len(column) for column in columns}) > 1:
            raise UsageError(
                f"the columns of the {name} differ in length: {', '.join(str(len(each)) for each in columns)}"
            )
        query, document = columns[:2]
        if len(query) and not (query.min() >= 0 and query.max() < queries and document.min() >= 0):
            raise UsageError(f"a code in the {name} is below 0, or a query's is not below the {queries} queries")
    if (run.query[1:] < run.query[:-1]).any():
        raise UsageError("the run must be grouped by query, in the order of the codes")


def _grouped(
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


def _refuse_twice(keys: Numbers, what: str) -> None:
    if (keys[1:] == keys[:-1]).any():
        raise UsageError(f"a document has more than one {what} in the same query")


# Judgments and rankings as columns, as they come from a file: ids stay bytes, and become strings for queries only.
#
# Imports numpy.


@dataclass(frozen=True, slots=True)
class JudgedColumns:
    """
    All judgments: documents and grades side by side, sorted by query, no document twice in one.

    *queries* numbers the queries from 0 in the order in which they first come.
    """

    queries: Mapping[str, int]
    documents: Documents
    grades: Numbers

    def rows(self, queries: Numbers) -> tuple[Numbers, Numbers]:
        """The rows of *queries* by their numbers, and how many rows each has; an unknown query has none."""
        begins = np.searchsorted(self.documents.query, queries)
        sizes = np.searchsorted(self.documents.query, queries, side="right") - begins
        before = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) + np.repeat(begins - before, sizes), sizes


@dataclass(frozen=True, slots=True)
class RankedColumns:
    """The hits of some queries as they come: *sizes* of them for each of *queries*, with their scores."""

    queries: list[str]
    sizes: Numbers
    documents: Texts
    scores: Floats


def batch_of_columns(judged: JudgedColumns, ranked: RankedColumns, *, ties_by_id: bool) -> Batch:
    """
    Rank hits by score and join them to their judgments.

    Args:
        judged: All judgments.
        ranked: The hits of some queries.
        ties_by_id: Documents of equal score rank by id from the last to the first in bytes, not as they come.

    Raises:
        Unfit: a document comes twice for a query, or ids cannot be told apart in bulk.
    """
    known = judged.queries
    beyond = len(known)
    numbers = np.array([known.get(query, beyond + at) for at, query in enumerate(ranked.queries)], np.int32)
    hits = Documents(np.repeat(numbers, ranked.sizes), ranked.documents)
    rows, judged_sizes = judged.rows(numbers)
    found = match(hits, judged.documents.take(rows))
    if len(found.returned_twice):
        raise Unfit
    local = np.arange(len(numbers), dtype=np.int32)
    query = np.repeat(local, ranked.sizes)
    place = _places(query, ranked, ties_by_id=ties_by_id)[found.hit]
    rank = place - (np.cumsum(ranked.sizes) - ranked.sizes)[query[found.hit]] + 1
    order = np.argsort(place)
    grades = judged.grades[rows]
    return Batch(
        ranked.sizes,
        query[found.hit][order],
        rank[order].astype(np.int32),
        grades[found.judged][order],
        np.repeat(local, judged_sizes),
        grades,
    )


def _places(query: Numbers, ranked: RankedColumns, *, ties_by_id: bool) -> Numbers:
    """Where each hit stands once all are ordered by query and rank."""
    scores = ranked.scores
    places = np.arange(len(scores))
    if ((scores[1:] < scores[:-1]) | (query[1:] != query[:-1])).all():
        return places
    order = np.lexsort((-scores, query))
    if ties_by_id:
        for begin, end in _ties(query[order], scores[order]):
            order[begin:end] = sorted(order[begin:end].tolist(), key=ranked.documents.__getitem__, reverse=True)
    places[order] = np.arange(len(order))
    return places


def _ties(query: Numbers, scores: Floats) -> list[list[int]]:
    """Each stretch of hits of one query that have the same score, by its first row and the one behind its last."""
    tied = np.concatenate([[False], (query[1:] == query[:-1]) & (scores[1:] == scores[:-1]), [False]])
    edges: list[list[int]] = (np.flatnonzero(np.diff(tied)).reshape(-1, 2) + np.array([0, 1])).tolist()
    return edges
