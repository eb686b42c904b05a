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
from harness.metrics.bulk.texts import CannotReadInBulk, Documents, match, texts_of
from harness.metrics.ranking import check_grades, without_duplicates

Judgments: TypeAlias = Sequence[Mapping[str, float]]
Rankings: TypeAlias = Sequence[Sequence[str]]

_QUERIES_AT_ONCE = 4_000
"""Queries of one batch, to limit memory."""

_IDS_AT_ONCE = 1 << 15
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
    for start in range(0, len(rankings), _QUERIES_AT_ONCE):
        part = slice(start, start + _QUERIES_AT_ONCE)
        yield _join_batch(rankings[part], judgments[part], depth)


def _join_batch(rankings: Rankings, judgments: Judgments, depth: int | None) -> Batch:
    sizes = _sizes_of_lists(judgments)
    judged_query = np.repeat(np.arange(len(judgments), dtype=np.int32), sizes)
    grades = _read_small_grades(judgments)
    if grades is None:
        grades = _read_grades(judgments)
    rows_before = np.cumsum(sizes) - sizes
    returned: list[Numbers] = []
    query: list[Numbers] = []
    rank: list[Numbers] = []
    grade: list[Numbers] = []
    for block in _split_blocks(_sizes_of_lists(rankings, depth) + sizes):
        joined = _join_unique(rankings[block], judgments[block], depth)
        # A block counts its queries and judgments from 0.
        returned.append(joined.returned)
        query.append(joined.query + np.int32(block.start))
        rank.append(joined.rank)
        grade.append(grades[joined.judged + rows_before[block.start]])
    if not returned:
        empty = np.zeros(0, np.int32)
        return Batch(empty, empty, empty, empty, judged_query, grades)
    return Batch(
        np.concatenate(returned),
        np.concatenate(query),
        np.concatenate(rank),
        np.concatenate(grade),
        judged_query,
        grades,
    )


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


def _split_blocks(sizes: Numbers) -> Iterator[slice]:
    """Stretches of queries with some `_IDS_AT_ONCE` ids each."""
    number = np.cumsum(sizes) // _IDS_AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return (slice(begin, end) for begin, end in pairwise(edges) if begin < end)


def _read_small_grades(judgments: Judgments) -> Numbers | None:
    """All grades, a byte each, where they are whole numbers from 0 to 255 and Python's own integers; else None."""
    try:
        return np.frombuffer(bytes(cast("Iterable[int]", _iterate_grades(judgments))), np.uint8)
    except (TypeError, ValueError):
        return None


def _read_grades(judgments: Judgments) -> Numbers:
    """All grades as floats, through Python's own array type: numpy would convert a text to a number."""
    try:
        return compact(np.array(array("d", _iterate_grades(judgments))))
    except (TypeError, OverflowError, UsageError):
        for judged in judgments:
            check_grades(judged)
        raise


def _iterate_grades(judgments: Judgments) -> Iterator[float]:
    return chain.from_iterable(judged.values() for judged in judgments)


def _join_unique(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """Join by bytes; ids that are not texts, or that bytes cannot distinguish, are looked up one by one."""
    try:
        return _join_bytes(rankings, judgments, depth)
    except CannotReadInBulk:
        return _look_up_ranks(rankings, judgments, depth)


def _join_bytes(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """
    Join the bytes of all ids at once.

    Raises:
        CannotReadInBulk: the ids cannot be joined as bytes.
    """
    cut_rankings = [ranking if depth is None else ranking[:depth] for ranking in rankings]
    hits, judged = _encode_documents(cut_rankings), _encode_documents(judgments)
    matches = match(hits, judged)
    if len(matches.returned_twice):
        # Rare, so the first join finds the queries, and a second one has them without repetitions.
        for number in np.unique(hits.query[matches.returned_twice]).tolist():
            cut_rankings[number] = without_duplicates(rankings[number])[:depth]
        hits = _encode_documents(cut_rankings)
        matches = match(hits, judged)
    sizes = _sizes_of_lists(cut_rankings)
    query = hits.query[matches.hit]
    # A rank counts from the first hit of its query.
    rank = matches.hit - (np.cumsum(sizes) - sizes)[query] + 1
    return _Joined(sizes, query, rank.astype(np.int32), matches.judged)


def _encode_documents(groups: Sequence[Collection[str]]) -> Documents:
    query = np.repeat(np.arange(len(groups), dtype=np.int32), _sizes_of_lists(groups))
    return Documents(query, texts_of(groups, len(query)))


def _look_up_ranks(rankings: Rankings, judgments: Judgments, depth: int | None) -> _Joined:
    """Look up the rank of each judged document by its id, of whatever type."""
    ranks, returned = array("i"), array("q")
    for ranking, judged in zip(rankings, judgments, strict=True):
        rank_of = dict(zip(without_duplicates(ranking)[:depth], count(1), strict=False))
        ranks.extend(map(rank_of.get, judged, repeat(0)))
        returned.append(len(rank_of))
    rank = np.array(ranks, np.int32)
    query = np.repeat(np.arange(len(judgments), dtype=np.int32), _sizes_of_lists(judgments))
    # Rank 0 is a judged document that was not returned. A batch is sorted by query and rank.
    rows = np.flatnonzero(rank)
    rows = rows[np.lexsort((rank[rows], query[rows]))]
    return _Joined(np.array(returned, np.int64), query[rows], rank[rows], rows)
