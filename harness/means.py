"""Exact sums, and means over queries, weighted or not: the only place with the formula."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence


def exact_sum(values: Iterable[float]) -> float:
    """
    The sum of *values*, rounded once; infinite, or not a number, if a part of it is too large for a float.

    Python's own `sum` rounds after each addition until 3.11, and otherwise from 3.12 on.

    >>> exact_sum([0.1] * 10), exact_sum([1e308, 1e308])
    (1.0, inf)
    """
    numbers = list(values)
    try:
        return math.fsum(numbers)
    # The sum is infinite, or has no value as both infinities are in it.
    except (OverflowError, ValueError):
        return float(sum(numbers))


def mean(values: Collection[float], weights: Sequence[float] | None = None) -> float:
    """
    The arithmetic mean, or the weighted one: the sum of weight times value over the sum of the weights.

    Args:
        values: At least one, finite.
        weights: One per value, finite and above 0; None for equal weights. Only their ratios matter.

    Returns:
        In the unit of *values*. Each sum is exact before its one rounding, so that the order does not matter.

    >>> mean([1.0, 0.5]), mean([1.0, 0.5], [3, 1])
    (0.75, 0.875)
    """
    if weights is None:
        return math.fsum(values) / len(values)
    scaled = _scale_down(weights)
    return math.fsum(weight * value for weight, value in zip(scaled, values, strict=True)) / math.fsum(scaled)


def mean_of(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The mean of *values* by query; *weights* has the same queries, or is empty where all weigh the same."""
    if not weights:
        return mean(values.values())
    return mean(values.values(), [weights[query] for query in values])


def find_percentile(values: Collection[float], percent: int) -> float:
    """
    The least of *values*, of which there is one at least, that *percent* of them do not exceed: the nearest rank.

    >>> find_percentile([30, 10, 20, 40], 50), find_percentile([30, 10, 20, 40], 95)
    (20, 40)
    """
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]


def scale_by_weights(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """
    Each of *values* times its weight over the mean weight, so that their plain mean becomes the weighted one.

    >>> scale_by_weights([1.0, 0.5], [3, 1])
    [1.5, 0.25]
    """
    if not are_weighted(weights):
        return list(values)
    scaled = _scale_down(weights)
    mean_weight = mean(scaled)
    return [weight / mean_weight * value for weight, value in zip(scaled, values, strict=True)]


def are_weighted(weights: Iterable[float]) -> bool:
    """Whether *weights* are not all the same, so that the weighted mean differs from the plain one."""
    return len(set(weights)) > 1


def _scale_down(weights: Sequence[float]) -> list[float]:
    """*weights* divided by a power of two, which is exact and keeps sums from overflowing."""
    exponent = math.frexp(max(weights))[1]
    return [math.ldexp(weight, -exponent) for weight in weights]
