"""The formulas over a `Batch`: one float64 a query, each equal to its namesake for one query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.metrics.binary import SMOOTHING, shares_of
from harness.metrics.bulk.batch import (
    Batch,
    Floats,
    Numbers,
    at_least,
    gains_of_array,
    order_within,
    ranks_grouped,
    worths_of,
)
from harness.metrics.graded import RANK_PLUS_ONE, Discount, divisors, stop_probability, usefulness
from harness.model import Gain

__all__ = [
    "Cutoffs",
    "average_precision",
    "bpref",
    "cg",
    "dcg",
    "err",
    "f_measure",
    "has_ideal",
    "ideal_dcg",
    "inferred_ap",
    "interpolated_precision",
    "judged",
    "precision",
    "r_precision",
    "ratio",
    "rbp",
    "rbp_residual",
    "recall",
    "reciprocal_rank",
    "relevant_returned",
    "set_average_precision",
    "set_f",
    "set_precision",
    "success",
]


# The metrics over a `Batch`: one float64 a query, each equal to its namesake for one query.
#
# A query for which the metric is undefined has any value here; who calls knows which those are.


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
    inside = slice(None) if cutoff is None else batch.rank <= cutoff
    rank, gains = batch.rank[inside], gains_of_array(gain, batch.grade)[inside]
    by_rank = np.array((1.0, *divisors(discount, log, int(rank.max(initial=0)))))
    total = batch.per_query(batch.query[inside], gains / by_rank[rank])
    if missing and cutoff is not None:
        weights = np.cumsum([0.0, *(1.0 / divisor for divisor in divisors(discount, log, cutoff))])
        total += missing * (weights[cutoff] - weights[batch.hits(cutoff)])
    return total


def precision(batch: Batch, level: float, cutoff: int | None, ranks: Numbers | int | None) -> Floats:
    """Precision: the relevant hits over *ranks*, or over all hits where it is None."""
    found = relevant_returned(batch, level, cutoff)
    return ratio(found, batch.returned if ranks is None else np.broadcast_to(ranks, found.shape))


def recall(batch: Batch, level: float, cutoff: int | None) -> Floats:
    """Recall."""
    return ratio(relevant_returned(batch, level, cutoff), batch.total(level))


def f_measure(batch: Batch, level: float, cutoff: int | None, beta: float) -> Floats:
    """The weighted harmonic mean of precision and recall."""
    return _blended(precision(batch, level, cutoff, cutoff), recall(batch, level, cutoff), beta * beta)


def _blended(share_of_ranks: Floats, share_of_relevant: Floats, weight: float) -> Floats:
    of_recall, of_precision = shares_of(weight)
    below = of_recall * share_of_ranks + of_precision * share_of_relevant
    return ratio(share_of_ranks * share_of_relevant, below)


def interpolated_precision(batch: Batch, level: float, recall: float, *, nearest: bool) -> Floats:
    """The greatest precision at any rank from which on *recall* is reached."""
    found = batch.relevant(level)
    order = order_within(found.query)
    needed = np.floor(recall * batch.total(level) + (0.5 if nearest else 0.9))
    reached = order >= needed[found.query]
    values = np.zeros(batch.queries)
    np.maximum.at(values, found.query[reached], order[reached] / found.rank[reached])
    return values


def set_precision(batch: Batch, level: float, *, relative: bool) -> Floats:
    """The relevant hits over all hits, or over the most of them that can be relevant."""
    hits = np.minimum(batch.returned, batch.total(level)) if relative else batch.returned
    return ratio(relevant_returned(batch, level, None), hits)


def set_f(batch: Batch, level: float, weight: float) -> Floats:
    """The weighted harmonic mean of precision and recall of all hits."""
    return _blended(precision(batch, level, None, None), recall(batch, level, None), weight)


def set_average_precision(batch: Batch, level: float) -> Floats:
    """Precision times recall of all hits."""
    return precision(batch, level, None, None) * recall(batch, level, None)


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


def bpref(batch: Batch, level: float, *, skip_negative: bool) -> Floats:
    """Binary preference."""
    least = 0.0 if skip_negative else -np.inf
    total = batch.total(level)
    most = np.minimum(batch.total(least) - total, total)
    counted = batch.grade >= least
    query, relevant = batch.query[counted], at_least(batch.grade, level)[counted]
    before = _counted_before(query, ~relevant)[relevant]
    query = query[relevant]
    lost = ratio(np.minimum(before, total[query]), most[query])
    return ratio(batch.per_query(query, 1.0 - lost), total)


def inferred_ap(batch: Batch, level: float) -> Floats:
    """Average precision, estimated where only a sample of the pool was judged."""
    relevant, unknown = at_least(batch.grade, level), batch.grade < 0
    before = [_counted_before(batch.query, kind)[relevant] for kind in (relevant, ~relevant & ~unknown, unknown)]
    found, other, pooled = before
    above = batch.rank[relevant] - 1.0
    in_pool = ratio(found + other + pooled, above)
    of_judged = (found + SMOOTHING) / (found + other + 2 * SMOOTHING)
    estimated = 1.0 / (above + 1.0) + above / (above + 1.0) * in_pool * of_judged
    return ratio(batch.per_query(batch.query[relevant], estimated), batch.total(level))


def err(batch: Batch, top: float, cutoff: int | None) -> Floats:
    """
    Expected reciprocal rank.

    Raises:
        MeasureError: a grade above *top*.
    """
    stop_probability(float(batch.judged_grade.max(initial=0.0)), top)
    inside = (batch.grade > 0) & (True if cutoff is None else batch.rank <= cutoff)
    query, rank = batch.query[inside], batch.rank[inside]
    stop = (np.exp2(batch.grade[inside].astype(np.float64)) - 1.0) / 2.0**top
    value, still_looking = np.zeros(batch.queries), np.ones(batch.queries)
    for each in _by_order(query):
        value[query[each]] += still_looking[query[each]] * stop[each] / rank[each]
        still_looking[query[each]] *= 1.0 - stop[each]
    return value


def rbp(batch: Batch, p: float, cutoff: int | None, *, level: float, top: float | None) -> Floats:
    """
    Rank-biased precision, binary, or graded on a scale up to *top*.

    Raises:
        MeasureError: a grade above *top*.
    """
    if top is None:
        found = batch.relevant(level, cutoff)
        return (1.0 - p) * batch.per_query(found.query, p ** (found.rank - 1.0))
    usefulness(float(batch.judged_grade.max(initial=0.0)), top)
    inside = (batch.grade > 0) & (True if cutoff is None else batch.rank <= cutoff)
    useful = batch.grade[inside] / top * p ** (batch.rank[inside] - 1.0)
    return (1.0 - p) * batch.per_query(batch.query[inside], useful)


def rbp_residual(
    batch: Batch, p: float, cutoff: int | None, *, skip_negative: bool = False, tail_always: bool = True
) -> Floats:
    """By how much RBP could rise: all there is, less the weight of the judged hits."""
    inside = (batch.grade >= (0.0 if skip_negative else -np.inf)) & (True if cutoff is None else batch.rank <= cutoff)
    query = batch.query[inside]
    residual = 1.0 - (1.0 - p) * batch.per_query(query, p ** (batch.rank[inside] - 1.0))
    return residual if tail_always else np.where(batch.per_query(query) < batch.hits(cutoff), residual, 0.0)


def _counted_before(query: Numbers, kind: Numbers) -> Floats:
    """How many entries of a *kind* stand before each, in the same query; *query* is sorted."""
    running: Floats = np.cumsum(kind, dtype=np.float64) - kind
    first = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(np.append(first, len(query)))
    return running - np.repeat(running[first], lengths)


def _by_order(query: Numbers) -> Iterator[Numbers]:
    """Where the first entry of each query stands, then the second of each, and so on; *query* is sorted."""
    if not len(query):
        return
    order = order_within(query)
    by_order = np.argsort(order, kind="stable")
    yield from np.split(by_order, np.cumsum(np.bincount(order)[1:])[:-1])


# The ideal rankings of a batch: of each query all judged documents of positive gain, best first.


Cutoffs: TypeAlias = int | Numbers | None
"""One cutoff for all queries, one each, or none."""

ROOM = 4
"""Gains are counted by query, and not sorted, where that takes at most so many times the room of the judgments."""


def has_ideal(batch: Batch, gain: Gain) -> NDArray[np.bool_]:
    """Which queries have a document of positive gain."""
    _, query, _ = _positive(batch, gain)
    found = np.zeros(batch.queries, bool)
    found[query] = True
    return found


def ideal_dcg(batch: Batch, gain: Gain, cutoff: Cutoffs, *, log: float, discount: Discount) -> Floats:
    """The DCG of the ideal rankings, cut at *cutoff*."""
    levels, query, _ = _positive(batch, gain)
    if not len(query):
        return np.zeros(batch.queries)
    if len(levels) * batch.queries <= ROOM * len(query):
        return _from_counts(batch, gain, cutoff, log, discount)
    return _from_order(batch, gain, cutoff, log, discount)


def _positive(batch: Batch, gain: Gain) -> tuple[Floats, Numbers, Numbers]:
    """The positive gains in use, the greatest first; of each document that has one, its query and which it is."""

    def find() -> tuple[Floats, Numbers, Numbers]:
        worths, codes = worths_of(gain, batch.judged_grade)
        levels, of_worth = np.unique(-worths, return_inverse=True)
        codes, kept = of_worth[codes], int((levels < 0).sum())
        positive = codes < kept
        return -levels[:kept], batch.judged_query[positive], codes[positive]

    positive: tuple[Floats, Numbers, Numbers] = batch.once(("positive", gain), find)
    return positive


def _from_counts(batch: Batch, gain: Gain, cutoff: Cutoffs, log: float, discount: Discount) -> Floats:
    """Documents of one gain fill consecutive ranks, so only their number matters."""

    def count() -> Numbers:
        levels, query, codes = _positive(batch, gain)
        counts = np.bincount(query * np.int64(len(levels)) + codes, minlength=batch.queries * len(levels))
        ends: Numbers = np.cumsum(counts.reshape(batch.queries, len(levels)), axis=1)
        return ends

    ends = batch.once(("ideal ends", gain), count)
    if cutoff is not None:
        ends = np.minimum(ends, cutoff if isinstance(cutoff, int) else cutoff[:, None])
    depth = int(ends.max())
    weights = np.cumsum([0.0, *(1.0 / divisor for divisor in divisors(discount, log, depth))])
    values: Floats = np.diff(weights[ends], axis=1, prepend=0.0) @ _positive(batch, gain)[0]
    return values


def _from_order(batch: Batch, gain: Gain, cutoff: Cutoffs, log: float, discount: Discount) -> Floats:
    def order() -> tuple[Numbers, Numbers, Numbers]:
        levels, query, codes = _positive(batch, gain)
        keys = np.sort(query * np.int64(len(levels)) + codes)
        query, codes = np.divmod(keys, len(levels))
        return query, ranks_grouped(query, np.bincount(query, minlength=batch.queries)), levels[codes]

    query, rank, gains = batch.once(("ideal order", gain), order)
    if cutoff is not None:
        inside = rank <= (cutoff if isinstance(cutoff, int) else cutoff[query])
        query, rank, gains = query[inside], rank[inside], gains[inside]
    by_rank = np.array((1.0, *divisors(discount, log, int(rank.max(initial=0)))))
    return batch.per_query(query, gains / by_rank[rank])
