"""
Intervals of the mean difference: the differences that a paired test does not reject.

A true difference is tested by taking it from each query's difference. The interval is made of the same figures as the
p-value, so that 0 is inside exactly where p is above the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.model.comparison import SAMPLES, SEED
from harness.statistics.tests import (
    EXACT_LIMIT,
    SUM_TOLERANCE,
    Alternative,
    FloatArray,
    Significance,
    random_bits,
    sign_flip,
)

ALL_SUBSETS_LIMIT = 16
"""Up to so many queries, all their subsets are looked at; of more queries, subsets are drawn."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The limits of an interval, in the measure's unit; None on the side that a one-sided test leaves open."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class MeanTest:
    """The result of a test of a mean difference, and the differences that it does not reject."""

    significance: Significance
    interval: Interval | None
    """None where the test can reject no difference."""


@dataclass(frozen=True, slots=True)
class FlipSettings:
    """How differences are tested by sign flips; *samples* and *seed* are used where flips are drawn."""

    alternative: Alternative = "two-sided"
    level: float = 0.05
    samples: int = SAMPLES
    seed: int = SEED


def run_sign_flips(pulls: FloatArray, loads: FloatArray, settings: FlipSettings) -> list[MeanTest]:
    """
    Test the mean of each measure by `sign_flip`, and find the differences that the test does not reject.

    The flips of a subset of the queries give a sum as extreme as the observed one exactly where the tested difference
    is between the mean of the subset and the mean of the other queries. A one-sided test asks for the subset's mean
    alone. So the limits of the interval are order statistics of subset means.

    Args:
        pulls: Shape (queries, measures): each difference times its query's load.
        loads: The weight of each query over the mean weight.
        settings: The alternative, the level, and how flips are drawn.

    Returns:
        One result per measure. The interval is exact if the differences are symmetric around their mean.

    Source: Hartigan, "Using subsample values as typical values" (JASA 1969).
    """
    sums = _sum_subsets(np.column_stack((pulls, loads)), settings)
    subset_loads = sums[:, -1]
    return [_test_mean(column, loads, sums[:, place], subset_loads, settings) for place, column in enumerate(pulls.T)]


def _sum_subsets(columns: FloatArray, settings: FlipSettings) -> FloatArray:
    """The sums of each column over subsets of the queries, shape (subsets, columns); the first subset is empty."""
    sums = np.zeros((1, columns.shape[1]))
    if len(columns) <= ALL_SUBSETS_LIMIT:
        # Each query doubles the subsets: those without it, and those with it.
        for row in columns:
            sums = np.concatenate((sums, sums + row))
        return sums
    sums = np.zeros((settings.samples + 1, columns.shape[1]))
    done = 1
    for chosen in random_bits(len(columns), settings.samples, settings.seed):
        np.matmul(chosen, columns, out=sums[done : done + len(chosen)])
        done += len(chosen)
    return sums


def _test_mean(
    pulls: FloatArray, loads: FloatArray, subset_pulls: FloatArray, subset_loads: FloatArray, settings: FlipSettings
) -> MeanTest:
    means = _compute_subset_means(subset_pulls, subset_loads, pulls, loads)
    other_means = _compute_subset_means(pulls.sum() - subset_pulls, loads.sum() - subset_loads, pulls, loads)
    lows, highs = _find_accepted_ranges(means, other_means, float(pulls.mean()), settings.alternative)
    as_extreme = (lows <= 0) & (highs >= 0)
    # Where all sign patterns can be counted, the p-value is exact, though the interval is of drawn subsets.
    if np.count_nonzero(pulls) <= EXACT_LIMIT:
        significance = sign_flip(pulls, alternative=settings.alternative)
    else:
        significance = Significance(float(as_extreme.mean()), 1 / as_extreme.size)
    if significance.least_p > settings.level:
        return MeanTest(significance, None)
    low: float | None = _find_limit(lows, as_extreme, significance.p_value, settings.level)
    high: float | None = -_find_limit(-highs, as_extreme, significance.p_value, settings.level)
    if settings.alternative == "greater":
        high = None
    if settings.alternative == "less":
        low = None
    # A limit that is infinite says that no difference on that side is rejected.
    if not all(math.isfinite(limit) for limit in (low, high) if limit is not None):
        return MeanTest(significance, None)
    return MeanTest(significance, Interval(low, high))


def _compute_subset_means(
    subset_pulls: FloatArray, subset_loads: FloatArray, pulls: FloatArray, loads: FloatArray
) -> FloatArray:
    """The mean of each subset, NaN for one without a query."""
    # Sums that are 0 but for rounding have to count as 0, as in the test: they are on the side of what is as extreme.
    near_zero = np.abs(subset_pulls) <= SUM_TOLERANCE * np.abs(pulls).sum()
    sums = np.where(near_zero, 0.0, subset_pulls)
    means = np.full(sums.shape, np.nan)
    np.divide(sums, subset_loads, out=means, where=subset_loads > SUM_TOLERANCE * loads.sum())
    return means


def _find_accepted_ranges(
    means: FloatArray, others: FloatArray, mean: float, alternative: Alternative
) -> tuple[FloatArray, FloatArray]:
    """From which difference to which the flips of each subset are as extreme as no flip; infinite for no subset."""
    if alternative == "greater":
        return np.where(np.isnan(means), -np.inf, means), np.full(means.shape, np.inf)
    if alternative == "less":
        return np.full(means.shape, -np.inf), np.where(np.isnan(means), np.inf, means)
    is_whole = np.isnan(means) | np.isnan(others)
    # The mean of all is between the two, but for rounding.
    lows = np.where(is_whole, -np.inf, np.minimum(np.minimum(means, others), mean))
    highs = np.where(is_whole, np.inf, np.maximum(np.maximum(means, others), mean))
    return lows, highs


def _find_limit(lows: FloatArray, as_extreme: NDArray[np.bool_], p_value: float, level: float) -> float:
    """
    The least difference whose p-value is above *level*, infinite where there is none.

    The p-value of a difference is the share of the subsets whose *lows* are at most the difference. Where subsets are
    drawn but *p_value*, that of the difference 0, is exact, the subsets that are *as_extreme* at 0 count for just that
    much, and the others for the rest.
    """
    order = np.argsort(lows)
    extreme = as_extreme[order]
    extreme_share = np.cumsum(extreme) / extreme.sum()
    other_share = np.cumsum(~extreme) / max((~extreme).sum(), 1)
    shares = p_value * extreme_share + (1 - p_value) * other_share
    above = np.flatnonzero(shares > level)
    return float(lows[order[above[0]]]) if above.size else math.inf


def t_interval(pulls: FloatArray, loads: FloatArray, *, alternative: Alternative, level: float) -> Interval | None:
    """
    The differences that `paired_t` does not reject.

    Args:
        pulls: Each difference times its query's load; at least two.
        loads: The weight of each query over the mean weight.
        alternative: A one-sided test leaves one side open.
        level: That of the test.

    Returns:
        None where no query changed, where so unequal weights leave no difference rejected, and for a one-sided test
        with a level of 0.5 or more.

    Source: for a weighted mean, a ratio of two, Fieller, "Some problems in interval estimation" (JRSS B 1954).
    """
    from scipy import stats

    queries = len(pulls)
    quantile = float(stats.t.isf(level / 2 if alternative == "two-sided" else level, queries - 1))
    covariances = np.cov(pulls, loads)
    mean, load = float(pulls.mean()), float(loads.mean())
    # The limits solve square * x^2 - 2 * linear * x + constant = 0.
    square = queries * load**2 - quantile**2 * float(covariances[1, 1])
    linear = queries * mean * load - quantile**2 * float(covariances[0, 1])
    constant = queries * mean**2 - quantile**2 * float(covariances[0, 0])
    if quantile <= 0 or square <= 0 or not pulls.any():
        return None
    root = math.sqrt(max(linear**2 - square * constant, 0.0))
    # The limit nearer to 0 as a quotient without a difference: its sign decides whether 0 is inside.
    farther = linear + math.copysign(root, linear)
    limits = sorted((farther / square, constant / farther if farther else 0.0))
    low = None if alternative == "less" else limits[0]
    high = None if alternative == "greater" else limits[1]
    return Interval(low, high)
