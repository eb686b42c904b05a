"""
The mean score of a suite of which people judged a random sample of the queries, and a machine all of them.

The machine's scores may be wrong in any way: the sample shows how far they are from people's on average, and that is
what corrects their mean. A machine that is often right makes the interval narrower, and one that is useless leaves it
as wide as that of people alone.

The mean is a ratio: the sum of weight times score over the sum of the weights, both over the queries that have a score
by people's grades. How many queries have one is not known, so the sample estimates that sum too.

Source: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, "Prediction-powered inference" (Science 382, 2023); the tuning
factor is that of Angelopoulos, Duchi & Zrnic, "PPI++: efficient prediction-powered inference" (arXiv:2311.01453). In
the theory of sampling it is the difference estimator (Cochran, "Sampling techniques", 1977, chapter 7), here of a ratio
with its linearised variance (there, sections 2.11 and 6.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticError, UsageError
from harness.statistics.mean_intervals import find_t_quantile
from harness.statistics.tests import FloatArray, are_equal, vector

FOLDS = 10
"""The parts of the sample; the tuning factor of each is computed from the other ones."""

LEAST_JUDGED = 30
"""Queries with a score that people must have judged: the scores of fewer are too skewed for the t distribution."""

MISSED_ERRORS = 6
"""
The least variance of what is left of people's scores after correction, times the number of judged queries, over the
variance of people's scores.

An error that the machine makes in 3 of n queries is missed by 1 in 20 samples of n (the rule of three), and where it
grades blindly, the difference has twice the variance of a score.
"""


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """
    The scores of a random sample of a suite's queries, in one order.

    *people* are the scores by people's grades, *machine* those by the machine's; both are nan where the score is not
    defined. *machine_mean* is the machine's mean over all *queries* of the suite, the sample's among them, and weighted
    as *weights* are, those of the sample; None where all weigh the same.
    """

    people: FloatArray
    machine: FloatArray
    machine_mean: float
    queries: int
    weights: FloatArray | None = None

    @property
    def parts(self) -> FloatArray:
        """How much each query counts in the mean: its weight, and 0 where it has no score by people's grades."""
        weights = np.ones(len(self.people)) if self.weights is None else self.weights
        return np.where(np.isnan(self.people), 0.0, weights)

    @property
    def totals(self) -> FloatArray:
        """What each query adds to the sum over which the mean is taken."""
        return self.parts * np.nan_to_num(self.people)

    @property
    def effects(self) -> FloatArray:
        """How far the machine's score of each query moves its mean; over all queries their sum is 0."""
        effects = np.nan_to_num(self.machine - self.machine_mean)
        return effects if self.weights is None else effects * self.weights


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """
    The mean over all queries of a suite, and its one-sided bounds at the level that was asked for.

    *low* is the bound from below alone, and *high* that from above alone. Both are None where the scores of the sample
    do not vary: then they say nothing of the queries outside the sample.
    """

    mean: float
    low: float | None
    high: float | None
    tuning: float
    """How much the machine counts, in [0, 1]; the mean of the factors of all parts of the sample."""

    @property
    def width(self) -> float | None:
        """The distance of the two bounds."""
        return None if self.low is None or self.high is None else self.high - self.low


def make_sample(
    people: ArrayLike,
    machine: ArrayLike,
    all_machine: ArrayLike,
    weights: ArrayLike | None = None,
    all_weights: ArrayLike | None = None,
) -> JudgedSample:
    """
    A sample from its scores, which are nan where they are not defined.

    Args:
        people: Shape (sample,), at least two, with at least one that is defined.
        machine: Shape (sample,), of the same queries in the same order.
        all_machine: Shape (queries,): the machine's scores of all queries of the suite.
        weights: Shape (sample,), above 0; None where all queries weigh the same.
        all_weights: Shape (queries,), in the order of *all_machine*; with *weights* only.

    Raises:
        StatisticError: A score is infinite, or no score of people is defined.
        UsageError: The lengths do not fit.
    """
    by_people, by_machine, everywhere = _read_scores(people), _read_scores(machine), _read_scores(all_machine)
    if len(by_people) != len(by_machine) or len(by_people) > len(everywhere):
        found = f"found {len(by_people)} scores by people, {len(by_machine)} by the machine, {len(everywhere)} in all"
        raise UsageError(f"{found}; expected as many by the machine as by people, and at most as many as in all")
    if np.isnan(by_people).all():
        raise StatisticError("no score by people's grades is defined; there is nothing to estimate")
    is_defined = ~np.isnan(everywhere)
    if weights is None or all_weights is None:
        machine_mean = float(everywhere[is_defined].mean()) if is_defined.any() else 0.0
        return JudgedSample(by_people, by_machine, machine_mean, len(everywhere))
    of_sample, of_all = vector(weights, 2), vector(all_weights, 2)
    if len(of_sample) != len(by_people) or len(of_all) != len(everywhere):
        found = f"found {len(of_sample)} weights of the sample and {len(of_all)} in all"
        raise UsageError(f"{found}; expected one for each score")
    # Only their ratios matter, and the sum of large ones would overflow.
    greatest = of_all.max()
    of_sample, of_all = of_sample / greatest, of_all / greatest
    machine_mean = 0.0
    if is_defined.any():
        machine_mean = float(np.average(everywhere[is_defined], weights=of_all[is_defined]))
    return JudgedSample(by_people, by_machine, machine_mean, len(everywhere), of_sample)


def _read_scores(scores: ArrayLike) -> FloatArray:
    """*scores* as shape (queries,), at least two, finite or nan."""
    values = np.asarray(scores, dtype=np.float64)
    vector(np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf), 2)
    return values


def estimate_mean(sample: JudgedSample, *, level: float = 0.05) -> PoweredMean:
    """
    The mean score by people's grades over all queries that have one, from *sample* and the machine's scores.

    Args:
        sample: Drawn without replacement, each query with the same chance.
        level: How often each of the two bounds may be wrong, in (0, 0.5).

    >>> people, machine = [0.9, 0.4, 0.7, 0.6], [0.8, 0.5, 0.7, 0.5]
    >>> round(estimate_mean(make_sample(people, machine, [*machine, 0.2, 0.2])).mean, 3)
    0.509
    """
    if len(sample.people) == sample.queries:
        # All is known by people, and the factors of the parts would move it.
        return estimate_by_people(sample, level=level)
    tunings = _fit_tunings(sample)
    corrected = correct_scores(sample, tunings)
    if are_equal(_compute_residuals(sample, corrected)):
        # A machine that was never wrong in the sample may be wrong outside of it, and nothing here says how far.
        return estimate_by_people(sample, level=level)
    return _bound_mean(sample, corrected, level=level, tuning=float(tunings.mean()))


def estimate_by_people(sample: JudgedSample, *, level: float = 0.05) -> PoweredMean:
    """The mean over all queries from people's grades alone; arguments are those of `estimate_mean`."""
    return _bound_mean(sample, sample.totals, level=level, tuning=0.0)


def count_by_skewness(weights: ArrayLike) -> float:
    """
    How many queries of equal weight have a mean as skewed as that of queries with these *weights*.

    A sample without the few queries that have most of the weight does not show how far they move the mean, so its
    bounds are too narrow. The number is at most Kish's, which is about the variance alone.

    >>> count_by_skewness([1, 1, 1, 1]), round(count_by_skewness([9, 1, 1, 1]), 2)
    (4.0, 1.11)
    """
    values = vector(weights)
    scaled = values / values.max()
    return float((scaled**2).sum() ** 3 / (scaled**3).sum() ** 2)


def find_tuning(people: FloatArray, machine: FloatArray) -> float:
    """
    How much the machine should count: the factor of least variance, at least 0 and at most 1.

    Source: PPI++, section 6, for a machine whose scores of all queries are known; so they have no error of their own.

    >>> find_tuning(np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 4.0]))
    0.5
    """
    if len(machine) < 2 or are_equal(machine):
        return 0.0
    covariances = np.cov(people, machine)
    return float(np.clip(covariances[0, 1] / covariances[1, 1], 0.0, 1.0))


def correct_scores(sample: JudgedSample, tunings: FloatArray) -> FloatArray:
    """What each query adds by people's scores, moved by what the machine says of it and of all, times its factor."""
    corrected: FloatArray = sample.totals - tunings * sample.effects
    return corrected


def _fit_tunings(sample: JudgedSample) -> FloatArray:
    """
    The tuning factor of each query, from the other parts of the sample.

    A factor from the query's own part would fit its chance too, and the bounds would be too narrow.
    """
    residuals, effects = _compute_residuals(sample, sample.totals), sample.effects
    parts = np.arange(len(residuals)) % FOLDS
    tunings = np.zeros(len(residuals))
    for part in np.unique(parts):
        others = parts != part
        tunings[parts == part] = find_tuning(residuals[others], effects[others])
    return tunings


def _compute_residuals(sample: JudgedSample, totals: FloatArray) -> FloatArray:
    """How far each query is from adding its part of the mean, which is the ratio of *totals* to the parts."""
    parts = sample.parts
    residuals: FloatArray = totals - parts * (totals.sum() / parts.sum())
    return residuals


def _bound_mean(sample: JudgedSample, totals: FloatArray, *, level: float, tuning: float) -> PoweredMean:
    """The ratio of *totals* to the parts of *sample*, with its bounds by the t distribution."""
    parts, judged = sample.parts, len(totals)
    mean = float(totals.sum() / parts.sum())
    if judged == sample.queries:
        return PoweredMean(mean, mean, mean, tuning)
    residuals = _compute_residuals(sample, totals)
    if are_equal(residuals):
        return PoweredMean(mean, None, None, tuning)
    spread = float(residuals.var(ddof=1))
    by_people = float(_compute_residuals(sample, sample.totals).var(ddof=1))
    variance = max(spread, min(1.0, MISSED_ERRORS / judged) * by_people)
    # Of a finite population, what was drawn varies no more: neither in spread nor in skewness.
    share = judged / sample.queries
    error = math.sqrt((1 - share) * variance / judged) / float(parts.mean())
    skewness = _compute_skewness(residuals) * (spread / variance) ** 1.5 * (1 - 2 * share) / math.sqrt(1 - share)
    # A query without a score adds nothing to what is known of the spread.
    quantile = find_t_quantile(1 - level, max(1, int((parts > 0).sum()) - 1))
    low = mean - _correct_for_skewness(quantile, skewness, judged) * error
    high = mean - _correct_for_skewness(-quantile, skewness, judged) * error
    return PoweredMean(mean, low, high, tuning)


def _compute_skewness(scores: FloatArray) -> float:
    """
    The skewness of the population from which *scores* are a sample; 0 for two scores, which show none.

    >>> round(_compute_skewness(np.array([0.0, 0.0, 1.0])), 4)
    1.7321
    """
    size = len(scores)
    if size < 3:
        return 0.0
    standardized = (scores - scores.mean()) / scores.std(ddof=1)
    return float((standardized**3).sum()) * size / ((size - 1) * (size - 2))


def _correct_for_skewness(quantile: float, skewness: float, size: int) -> float:
    """
    The *quantile* of a mean over its error, for *size* scores of this *skewness*.

    Scores of a good suite are skewed, most of them near 1: without it the lower bound of 60 queries fails in 9 of 100
    samples, where 5 are promised (`scripts/bench/estimates`).

    Source: Hall, "On the removal of skewness by transformation" (JRSS B 1992), solved for the quantile.

    >>> round(_correct_for_skewness(1.7, 0.0, 30), 3), round(_correct_for_skewness(1.7, -2.0, 30), 3)
    (1.7, 2.387)
    """
    scaled = skewness / math.sqrt(size)
    if abs(scaled) < 1e-9:
        return quantile
    return 3 / scaled * (math.cbrt(1 + scaled * (quantile - scaled / 6)) - 1)
