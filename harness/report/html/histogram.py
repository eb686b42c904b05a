"""How the scores of a measure spread over the queries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

BINS = 20


@dataclass(frozen=True, slots=True)
class Bin:
    """*count* scores from *low* up to *high*, which belongs to the next bin except in the last."""

    low: float
    high: float
    count: int


def histogram(scores: Iterable[float | None], bins: int = BINS, *, around_zero: bool = False) -> tuple[Bin, ...]:
    """
    Counts of *scores* in *bins* intervals of equal width; what is no finite number is not counted.

    Scores within [0, 1], as most measures give, are counted over the whole of it, so that two measures and two runs can
    be compared by eye; others over the interval that they span. Differences are counted *around_zero*: as far to either
    side, so that an even number of bins parts what fell from what rose.

    >>> [b.count for b in histogram([0, 0.1, 0.5, 1, None], bins=2)]
    [2, 2]
    """
    finite = [score for score in scores if score is not None and math.isfinite(score)]
    if not finite:
        return ()
    low, high = _around_zero(finite) if around_zero else _interval(finite)
    width = high / bins - low / bins
    counts = [0] * bins
    for score in finite:
        counts[min(int(share_of(score, low, high) * bins), bins - 1)] += 1
    edges = [*(low + index * width for index in range(bins)), high]
    return tuple(Bin(edges[index], edges[index + 1], counts[index]) for index in range(bins))


def share_of(value: float, low: float, high: float) -> float:
    """Where *value* stands between *low* (0) and *high* (1); halved, for the span of two floats may be none."""
    return (value / 2 - low / 2) / (high / 2 - low / 2)


def _interval(scores: list[float]) -> tuple[float, float]:
    low, high = min(scores), max(scores)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    if high / 2 == low / 2:
        margin = max(0.5, abs(low) / 1000)
        return low - margin, high + margin
    return low, high


def rounded_up(value: float) -> float:
    """
    The next 1, 2 or 5 times a power of ten: the end of an axis.

    >>> rounded_up(0.034), rounded_up(0.5), rounded_up(0)
    (0.05, 0.5, 1.0)
    """
    if value <= 0 or not math.isfinite(value):
        return 1.0
    exponent = math.floor(math.log10(value))
    for factor in (1, 2, 5, 10):
        end = float(f"{factor}e{exponent}")
        if value <= end and math.isfinite(end):
            return end
    return value


def _around_zero(scores: list[float]) -> tuple[float, float]:
    end = rounded_up(max(map(abs, scores)))
    return -end, end
