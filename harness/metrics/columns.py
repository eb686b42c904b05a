"""
Judgments and rankings as columns, as they come from a file: ids stay bytes, and become strings for queries only.

Imports numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from harness.metrics.batch import Batch, Floats, Numbers
from harness.metrics.matching import Documents, match
from harness.metrics.texts import Texts, Unfit

__all__ = ["JudgedColumns", "RankedColumns", "batch_of_columns"]


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
