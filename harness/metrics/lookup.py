"""
From rankings and judgments of ids to a `Batch`.

Ids are joined as bytes, a block of queries at a time that stays in the processor's cache: that costs less than a hash
of every string. Where bytes do not do, each id is looked up by itself. Imports numpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise, repeat
from typing import TypeAlias, cast

import numpy as np

from harness.errors import UsageError
from harness.metrics.batch import Batch, Numbers
from harness.metrics.matching import Documents, Matches, match
from harness.metrics.ranking import check_grades, without_duplicates
from harness.metrics.texts import Unfit, texts_of

__all__ = ["compact", "look_up"]


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
