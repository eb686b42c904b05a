"""
The 95 % interval of a mean over queries, by the t distribution; without numpy and scipy, so that a run has it at once.

It is about the queries: in how narrow a range the mean of all queries of this kind is, of which these are a sample. It
says nothing of what changes from one day to another, such as documents or the load of a server.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from harness.means import are_weighted, mean, scale_by_weights
from harness.statistics.paired import EQUAL

CONFIDENCE = 0.95

_FEWEST_QUERIES = 6
"""Of fewer queries, the spread is known so badly that their interval tells nothing."""

LEAST_SHARE = 2 / 3
"""
Of the queries that unequal weights must count as. Below, a few queries decide the mean, and a sample seldom has those
that decide the mean of all: then most intervals are far from it, and nothing in the sample shows how far.
"""

LONGEST_SERIES = 100
"""Up to so many degrees of freedom the quantile is exact; above, the expansion has an error below 1e-9 of it."""

HALVINGS = 60
"""How often the range of a quantile is halved: then no float is left in between."""


def compute_mean_interval(
    values: Sequence[float],
    weights: Sequence[float] = (),
    bounds: tuple[float | None, float | None] = (None, None),
) -> tuple[float, float] | None:
    """
    The 95 % interval of the mean of *values*, one for each query.

    Args:
        values: Finite scores.
        weights: One per value, above 0; empty for equal weights. The mean is then weighted, and its variance that of a
            ratio of two means, linearised.
        bounds: The least and the greatest value that the measure can have, None where there is none. No interval
            extends beyond them.

    Returns:
        None for fewer than `_FEWEST_QUERIES`, where `count_by_weights` gives fewer than `find_fewest`, and where all
        values are equal: 45 of 45 queries with the score 1 are no proof that the mean of all is 1.

    Source: Cochran, "Sampling techniques" (1977), section 2.11, for the ratio; Kish, "Survey sampling" (1965), for how
    many queries unequal weights count as.

    >>> low, high = compute_mean_interval([0.2, 0.4, 0.6, 0.8, 0.5, 0.5])
    >>> round(low, 4), round(high, 4)
    (0.2901, 0.7099)
    """
    queries = len(values)
    if queries < _FEWEST_QUERIES or max(values) - min(values) <= EQUAL:
        return None
    center = mean(values, weights or None)
    deviations = [value - center for value in values]
    counts_as = queries
    if are_weighted(weights):
        deviations = scale_by_weights(deviations, weights)
        counts_as = count_by_weights(weights)
        if counts_as < find_fewest(queries):
            return None
    error = math.hypot(*deviations) / math.sqrt(queries * (queries - 1))
    reach = find_t_quantile((1 + CONFIDENCE) / 2, counts_as - 1) * error
    low, high = center - reach, center + reach
    # Gains may be as large as floats are.
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    least, greatest = bounds
    if least is not None:
        low = max(low, least)
    if greatest is not None:
        high = min(high, greatest)
    return low, high


def count_by_weights(weights: Sequence[float]) -> int:
    """
    How many queries of equal weight have a mean as uncertain as that of queries with these *weights*, rounded down.

    A few queries with most of the weight decide the mean, however many others there are.

    Source: Kish, "Survey sampling" (1965).

    >>> count_by_weights([1, 1, 1, 1]), count_by_weights([9, 1, 1, 1])
    (4, 1)
    """
    shares = scale_by_weights([1.0] * len(weights), weights)
    return int(len(weights) ** 2 / math.fsum(share**2 for share in shares) + EQUAL)


def find_fewest(queries: int) -> int:
    """
    How many queries the weights of so many *queries* must at least count as for an interval of their mean.

    >>> find_fewest(6), find_fewest(100)
    (6, 67)
    """
    return max(_FEWEST_QUERIES, math.ceil(LEAST_SHARE * queries - EQUAL))


@lru_cache
def find_t_quantile(probability: float, freedom: int) -> float:
    """
    The quantile of Student's t distribution.

    Args:
        probability: In (0.5, 1).
        freedom: Degrees of freedom, at least 1.

    Source: Abramowitz & Stegun, "Handbook of mathematical functions" (1964), 26.7.5 for many degrees of freedom.

    >>> round(find_t_quantile(0.975, 5), 4), round(find_t_quantile(0.975, 224), 4)
    (2.5706, 1.9706)
    """
    normal = NormalDist().inv_cdf(probability)
    if freedom > LONGEST_SERIES:
        return _expand_quantile(normal, freedom)
    # The quantile is between that of the normal distribution and the first power of 2 above it.
    low = normal
    high = 2.0
    while _compute_central_share(high, freedom) < 2 * probability - 1:
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _compute_central_share(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _expand_quantile(normal: float, freedom: int) -> float:
    """The quantile from that of the *normal* distribution, by powers of 1 over *freedom*."""
    x = normal
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))


def _compute_central_share(limit: float, freedom: int) -> float:
    """
    The chance that t is between -*limit* and *limit*.

    Source: Abramowitz & Stegun, 26.7.3 for odd and 26.7.4 for even degrees of freedom.
    """
    angle = math.atan(limit / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2 == 1
    # Each term of the series is the one before it times cosine², with the next odd and even number.
    term = cosine if is_odd else 1.0
    total = 0.0
    for number in range(2 if is_odd else 1, freedom, 2):
        total += term
        term *= cosine**2 * number / (number + 1)
    if is_odd:
        return 2 / math.pi * (angle + sine * total)
    return sine * total
