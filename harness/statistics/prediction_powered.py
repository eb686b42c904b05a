"""
The mean score of a suite of which people judged a random sample of the queries, and a machine all of them.

The machine's scores may be wrong in any way: the sample shows how far they are from people's on average, and that is
what corrects their mean. A machine that is often right makes the interval narrower, and one that is useless leaves it
as wide as that of people alone.

Source: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, "Prediction-powered inference" (Science 382, 2023); the tuning
factor is that of Angelopoulos, Duchi & Zrnic, "PPI++: efficient prediction-powered inference" (arXiv:2311.01453). In
the theory of sampling it is the difference estimator (Cochran, "Sampling techniques", 1977, chapter 7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import UsageError
from harness.statistics.mean_intervals import find_t_quantile
from harness.statistics.tests import Floats, are_equal, vector

FOLDS = 10
"""The parts of the sample; the tuning factor of each is computed from the other ones."""

LEAST_JUDGED = 30
"""Queries that people must have judged: the scores of fewer are too skewed for the t distribution."""


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """
    The scores of a random sample of a suite's queries, in one order.

    *people* are the scores by people's grades, *machine* those by the machine's. *machine_mean* is the machine's mean
    over all *queries* of the suite, the sample's among them.
    """

    people: Floats
    machine: Floats
    machine_mean: float
    queries: int


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


def make_sample(people: ArrayLike, machine: ArrayLike, all_machine: ArrayLike) -> JudgedSample:
    """
    A sample from its scores.

    Args:
        people: Shape (sample,), at least two.
        machine: Shape (sample,), of the same queries in the same order.
        all_machine: Shape (queries,): the machine's scores of all queries of the suite.

    Raises:
        UsageError: The lengths do not fit.
    """
    by_people, by_machine, everywhere = vector(people, 2), vector(machine, 2), vector(all_machine, 2)
    if len(by_people) != len(by_machine) or len(by_people) > len(everywhere):
        found = f"found {len(by_people)} scores by people, {len(by_machine)} by the machine, {len(everywhere)} in all"
        raise UsageError(f"{found}; expected as many by the machine as by people, and at most as many as in all")
    return JudgedSample(by_people, by_machine, float(everywhere.mean()), len(everywhere))


def estimate_mean(sample: JudgedSample, *, level: float = 0.05) -> PoweredMean:
    """
    The mean score by people's grades over all queries, from *sample* and the machine's scores.

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
    if are_equal(corrected):
        # A machine that was never wrong in the sample may be wrong outside of it, and nothing here says how far.
        return estimate_by_people(sample, level=level)
    return _bound_mean(corrected, sample.queries, level=level, tuning=float(tunings.mean()))


def estimate_by_people(sample: JudgedSample, *, level: float = 0.05) -> PoweredMean:
    """The mean over all queries from people's grades alone; arguments are those of `estimate_mean`."""
    return _bound_mean(sample.people, sample.queries, level=level, tuning=0.0)


def find_tuning(people: Floats, machine: Floats) -> float:
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


def correct_scores(sample: JudgedSample, tunings: Floats) -> Floats:
    """People's scores, each moved by what the machine says of the sample and of all queries, times its factor."""
    corrected: Floats = sample.people + tunings * (sample.machine_mean - sample.machine)
    return corrected


def _fit_tunings(sample: JudgedSample) -> Floats:
    """
    The tuning factor of each query, from the other parts of the sample.

    A factor from the query's own part would fit its chance too, and the bounds would be too narrow.
    """
    parts = np.arange(len(sample.people)) % FOLDS
    tunings = np.zeros(len(sample.people))
    for part in np.unique(parts):
        others = parts != part
        tunings[parts == part] = find_tuning(sample.people[others], sample.machine[others])
    return tunings


def _bound_mean(scores: Floats, queries: int, *, level: float, tuning: float) -> PoweredMean:
    """The mean of *scores*, a random sample of *queries* of them, with its bounds by the t distribution."""
    mean, judged = float(scores.mean()), len(scores)
    if judged == queries:
        return PoweredMean(mean, mean, mean, tuning)
    if are_equal(scores):
        return PoweredMean(mean, None, None, tuning)
    # Of a finite population, what was drawn varies no more: neither in spread nor in skewness.
    share = judged / queries
    error = math.sqrt((1 - share) * float(scores.var(ddof=1)) / judged)
    skewness = _compute_skewness(scores) * (1 - 2 * share) / math.sqrt(1 - share)
    quantile = find_t_quantile(1 - level, judged - 1)
    low = mean - _correct_for_skewness(quantile, skewness, judged) * error
    high = mean - _correct_for_skewness(-quantile, skewness, judged) * error
    return PoweredMean(mean, low, high, tuning)


def _compute_skewness(scores: Floats) -> float:
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
