"""The ideal rankings of a batch: of each query all judged documents of positive gain, best first."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.metrics.batch import Batch, Floats, Numbers, ranks_grouped, worths_of
from harness.metrics.discount import Discount, divisors
from harness.model import Gain

__all__ = ["Cutoffs", "has_ideal", "ideal_dcg"]


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
