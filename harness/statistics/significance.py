"""What a paired test found, and the tests with a closed form: Student's and the sign test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticError
from harness.statistics.differences import EQUAL, Alternative, are_equal, vector


@dataclass(frozen=True, slots=True)
class Significance:
    """
    What a paired test found.

    *p_value* is in [0, 1]; *queries* counts the differences that the test used (the sign and Wilcoxon tests leave out
    those that are 0); *least_p* is the smallest p-value that so many queries can give, so a p above a level that could
    never have been reached is told from one that could; *samples* is 0 where the distribution is exact or in closed
    form.
    """

    test: str
    alternative: Alternative
    statistic: float
    p_value: float
    queries: int
    least_p: float = 0.0
    samples: int = 0
    seed: int | None = None


def tail(alternative: Alternative, less: float, greater: float) -> float:
    """The p-value of *alternative* from the two one-sided ones."""
    if alternative == "less":
        return less
    return greater if alternative == "greater" else min(1.0, 2.0 * min(less, greater))


def least_p(queries: int, alternative: Alternative = "two-sided") -> float:
    """
    The smallest p that a test on signs can give with so many queries that differ.

    >>> least_p(4)
    0.125
    """
    one_sided = 0.5**queries
    return min(1.0, 2.0 * one_sided) if alternative == "two-sided" else one_sided


def paired_t(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> Significance:
    """
    Student's paired t test: is the mean difference 0?

    Args:
        differences: At least two, not all equal but for rounding, unless all are 0 and so is t.
        alternative: "less" asks whether the candidate is worse.

    Raises:
        StatisticError: Fewer than two queries, or no spread, for which t is not defined.

    Source: Student (1908), as Smucker, Allan & Carterette (CIKM 2007) compare it with the others.
    """
    values = vector(differences, least=2)
    if are_equal(values):
        if float(np.abs(values).max()) > EQUAL:
            raise StatisticError("the t test is not defined where all differences are equal: they have no spread")
        return Significance("paired t", alternative, 0.0, 1.0, values.size)
    from scipy import stats

    found = stats.ttest_1samp(values, 0.0, alternative=alternative)
    return Significance("paired t", alternative, float(found.statistic), float(found.pvalue), values.size)


def sign_test(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> Significance:
    """
    The sign test: are wins as frequent as losses? Ties are left out, and *queries* says how many are left.

    The statistic is the number of wins. With no query that differs, p is 1.

    >>> sign_test([0.2, 0.1, 0.3, 0.1, -0.1, 0.0]).p_value
    0.375
    """
    values = vector(differences)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    trials = wins + losses
    weights = [math.comb(trials, k) for k in range(trials + 1)]
    total = 2**trials
    less, greater = sum(weights[: wins + 1]) / total, sum(weights[wins:]) / total
    p_value = tail(alternative, less, greater)
    return Significance("sign", alternative, float(wins), p_value, trials, least_p(trials, alternative))
