"""Batches from rankings and judgments of ids: joined as bytes, a block of queries at a time."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise, repeat
from typing import TypeAlias, cast

import numpy as np

from harness.errors import UsageError
from harness.metrics.bulk.batch import Batch, Numbers, compact
from harness.metrics.bulk.texts import CannotReadInBulk, Documents, Matches, match, texts_of
from harness.metrics.ranking import check_grades, without_duplicates

Judgments: TypeAlias = Sequence[Mapping[str, float]]
Rankings: TypeAlias = Sequence[Sequence[str]]

QUERIES_AT_ONCE = 4_000
"""Queries of one batch, to limit memory."""

IDS_AT_ONCE = 1 << 15
"""Hits and judgments that are joined at once, but for a query that has more: what a processor's cache holds."""


def batches_of_ids(rankings: Rankings, judgments: Judgments, *, depth: int | None = None) -> Iterator[Batch]:
    """
    Join rankings and judgments, which are of the same queries in the same order.

    A join as bytes costs less than a hash of every string; where bytes are not possible, each id is looked up by
    itself.

    Args:
        rankings: Document ids of each query, best first; one that comes twice counts once.
        judgments: Document id to grade of each query.
        depth: Ranks below this are ignored.

    Raises:
        UsageError: a grade is not a finite number.
    """
    for start in range(0, len(rankings), QUERIES_AT_ONCE):
        part = slice(start, start + QUERIES_AT_ONCE)
        yield _joined_batch(rankings[part], judgments[part], depth)


def _joined_batch(rankings: Rankings, judgments: Judgments, depth: int | None) -> Batch:
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


@dataclass(frozen=True, slots=True)
class _Joined:
    """The judged hits of some queries by query and rank, each with the row of its judgment; all their hits counted."""

    returned: Numbers
    query: Numbers
    rank: Numbers
    judged: Numbers


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
    """All grades as floats, through Python's own array type: numpy would convert a text to a number."""
    try:
        return compact(np.array(array("d", _values(judgments))))
    except (TypeError, OverflowError, UsageError):
        for judged in judgments:
            check_grades(judged)
        raise


def _values(judgments: Judgments) -> Iterator[float]:
    return chain.from_iterable(judged.values() for judged in judgments)


def _join_unique(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """Join by bytes; ids that are not texts, or that bytes cannot distinguish, are looked up one by one."""
    try:
        return _by_bytes(rankings, judgments, depth)
    except CannotReadInBulk:
        return _by_rank(rankings, judgments, depth)


def _by_bytes(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """
    Join the bytes of all ids at once.

    Raises:
        CannotReadInBulk: the ids cannot be joined as bytes.
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


def _joined(hits: Documents, found: Matches, sizes: Numbers) -> _Joined:
    query = hits.query[found.hit]
    rank = found.hit - (np.cumsum(sizes) - sizes)[query] + 1
    return _Joined(sizes, query, rank.astype(np.int32), found.judged)


def _by_rank(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """Look up the rank of each judged document by its id, of whatever type."""
    ranks, returned = array("i"), array("q")
    for ranking, judged in zip(rankings, judgments, strict=True):
        rank_of = dict(zip(without_duplicates(ranking)[:depth], count(1), strict=False))
        ranks.extend(map(rank_of.get, judged, repeat(0)))
        returned.append(len(rank_of))
    rank = np.array(ranks, np.int32)
    query = np.repeat(np.arange(len(judgments), dtype=np.int32), _sizes_of_lists(judgments))
    hits = np.flatnonzero(rank)
    hits = hits[np.lexsort((rank[hits], query[hits]))]
    return _Joined(np.array(returned, np.int64), query[hits], rank[hits], hits)
