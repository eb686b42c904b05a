"""
The metrics over a `Batch`: one float64 a query, each equal to its namesake for one query.

A query for which the metric is undefined has any value here; who calls knows which those are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.metrics.batch import Batch, Floats, Numbers, gains_of_array, order_within
from harness.metrics.discount import RANK_PLUS_ONE, Discount, divisors
from harness.model import Gain

__all__ = [
    "average_precision",
    "cg",
    "dcg",
    "f_measure",
    "ideal_dcg",
    "judged",
    "precision",
    "r_precision",
    "ratio",
    "recall",
    "reciprocal_rank",
    "relevant_returned",
    "success",
]


def cg(batch: Batch, gain: Gain, cutoff: int | None, missing: float = 0.0) -> Floats:
    """Cumulative gain; each rank down to *cutoff* that has no hit gains *missing*."""
    inside = slice(None) if cutoff is None else batch.rank <= cutoff
    total = batch.per_query(batch.query[inside], gains_of_array(gain, batch.grade)[inside])
    if missing and cutoff is not None:
        total += missing * (cutoff - batch.hits(cutoff))
    return total


def dcg(
    batch: Batch,
    gain: Gain,
    cutoff: int | None,
    *,
    log: float = 2.0,
    discount: Discount = RANK_PLUS_ONE,
    missing: float = 0.0,
) -> Floats:
    """Discounted cumulative gain; each rank down to *cutoff* that has no hit gains *missing*."""
    gains = gains_of_array(gain, batch.grade)
    total = _discounted(batch, (batch.query, batch.rank, gains), cutoff, log, discount)
    if missing and cutoff is not None:
        weights = np.cumsum([0.0, *(1.0 / divisor for divisor in divisors(discount, log, cutoff))])
        total += missing * (weights[cutoff] - weights[batch.hits(cutoff)])
    return total


def ideal_dcg(
    batch: Batch, gain: Gain, cutoff: int | None, *, log: float = 2.0, discount: Discount = RANK_PLUS_ONE
) -> Floats:
    """The DCG of the ideal rankings: the best of all judged documents, only those of positive gain."""
    return _discounted(batch, batch.ideal(gain), cutoff, log, discount)


def _discounted(
    batch: Batch, entries: tuple[Numbers, Numbers, Floats], cutoff: int | None, log: float, discount: Discount
) -> Floats:
    query, rank, gains = entries
    if cutoff is not None:
        inside = rank <= cutoff
        query, rank, gains = query[inside], rank[inside], gains[inside]
    depth = int(rank.max()) if len(rank) else 0
    by_rank = np.array((1.0, *divisors(discount, log, depth)))
    return batch.per_query(query, gains / by_rank[rank])


def precision(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """Precision: divided by the cutoff, or by the hits where there is none."""
    found = relevant_returned(batch, level, cutoff)
    return found / cutoff if cutoff is not None else ratio(found, batch.returned)


def recall(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """Recall."""
    return ratio(relevant_returned(batch, level, cutoff), batch.total(level))


def f_measure(batch: Batch, level: float, cutoff: int | None, beta: float) -> Floats:
    """The weighted harmonic mean of precision and recall."""
    share_of_ranks, share_of_relevant = precision(batch, level, cutoff), recall(batch, level, cutoff)
    weight = beta * beta
    return ratio((1 + weight) * share_of_ranks * share_of_relevant, weight * share_of_ranks + share_of_relevant)


def reciprocal_rank(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """1 / the rank of the first relevant hit."""
    found = batch.relevant(level, cutoff)
    first = np.flatnonzero(np.diff(found.query, prepend=-1))
    values = np.zeros(batch.queries)
    values[found.query[first]] = 1.0 / found.rank[first]
    return values


def average_precision(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """Average precision, divided by all relevant documents."""
    found = batch.relevant(level, cutoff)
    precisions = order_within(found.query) / found.rank
    return ratio(batch.per_query(found.query, precisions), batch.total(level))


def r_precision(batch: Batch, level: float) -> Floats:
    """Precision at the number of relevant documents."""
    found, total = batch.relevant(level), batch.total(level)
    return ratio(batch.per_query(found.query[found.rank <= total[found.query]]), total)


def success(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """Whether a relevant hit was returned."""
    return (relevant_returned(batch, level, cutoff) > 0).astype(np.float64)


def relevant_returned(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """The number of relevant hits."""
    return batch.per_query(batch.relevant(level, cutoff).query)


def judged(batch: Batch, cutoff: int | None) -> Floats:
    """The share of the hits that are judged."""
    inside = slice(None) if cutoff is None else batch.rank <= cutoff
    return ratio(batch.per_query(batch.query[inside]), batch.hits(cutoff))


def ratio(above: Numbers, below: Numbers) -> Floats:
    """*above* / *below*, and 0 where *below* is 0."""
    values = np.zeros(len(above))
    np.divide(above, below, out=values, where=below != 0)
    return values


def _by_order(query: Numbers) -> Iterator[Numbers]:
    """Where the first entry of each query stands, then the second of each, and so on; *query* is sorted."""
    if not len(query):
        return
    order = order_within(query)
    by_order = np.argsort(order, kind="stable")
    yield from np.split(by_order, np.cumsum(np.bincount(order)[1:])[:-1])
