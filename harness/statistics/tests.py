"""Paired tests of one difference per query, corrections of their p-values, and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import StatisticError
from harness.model.comparison import SAMPLES, SEED
from harness.statistics.paired import EQUAL


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Holm's (1979) adjusted p-values, in the order given: the chance of any false alarm stays at the level.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(order):
        # The smallest counts for all tests, the next for one less. None may become smaller than one before it.
        highest = max(highest, min(1.0, (len(order) - place) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """
    Benjamini & Hochberg's (1995) adjusted p-values: the share of false alarms among the alarms stays at the level.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    adjusted, lowest = [0.0] * len(p_values), 1.0
    for place, index in enumerate(order):
        lowest = min(lowest, p_values[index] * len(order) / (len(order) - place))
        adjusted[index] = lowest
    return adjusted


FloatArray: TypeAlias = NDArray[np.float64]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

BLOCK = 1 << 22
"""Cells, a query of a sample each, that are drawn at a time; another size would draw other samples from a seed."""
CACHED = 1 << 17
"""Cells that are held as floats at a time: 1 MB, which stays in a processor's cache while it is multiplied."""


def vector(differences: ArrayLike, least: int = 1) -> FloatArray:
    """*differences* as shape (queries,), finite, at least *least* of them; StatisticError otherwise."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1:
        raise StatisticError(f"differences must be one number per query; found an array of shape {values.shape}")
    if values.size < least:
        raise StatisticError(f"this needs differences of at least {least} queries; found {values.size}")
    if not np.isfinite(values).all():
        raise StatisticError("differences must be finite; remove the queries whose score is undefined")
    return values


def matrix(differences: ArrayLike) -> FloatArray:
    """*differences* as shape (queries, measures), finite, at least one query; StatisticError otherwise."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or values.shape[0] < 1:
        raise StatisticError(f"differences must have shape (queries, measures); found {values.shape}")
    if not np.isfinite(values).all():
        raise StatisticError("differences must be finite; remove the queries whose score is undefined")
    return values


def are_equal(values: FloatArray) -> bool:
    """
    Whether *values* are all equal but for rounding: 0.3 - 0.2 is not 0.2 - 0.1 in floats, and such noise is no spread.

    >>> are_equal(np.array([0.3 - 0.2, 0.2 - 0.1])), are_equal(np.array([0.1, 0.2]))
    (True, False)
    """
    return bool(np.ptp(values) <= EQUAL * max(1.0, float(np.abs(values).max())))


def magnitude_ranks(moved: FloatArray) -> FloatArray:
    """Ranks from 1 of the differences by size, whatever their sign; equal ones share the mean of their ranks."""
    _, place, counts = np.unique(np.abs(moved).round(12), return_inverse=True, return_counts=True)
    ranks: FloatArray = (counts.cumsum() - (counts - 1) / 2)[place]
    return ranks


@dataclass(frozen=True, slots=True)
class Significance:
    """
    The result of a paired test.

    *p_value* is in [0, 1]; *least_p* is the smallest p-value that so many queries can give: above the level, the test
    can never be significant.
    """

    p_value: float
    least_p: float = 0.0


def combine_tails(alternative: Alternative, less: float, greater: float) -> float:
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
        return Significance(1.0)
    from scipy import stats

    return Significance(float(stats.ttest_1samp(values, 0.0, alternative=alternative).pvalue))


def sign_test(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> Significance:
    """
    The sign test: are wins as frequent as losses? Ties are left out. With no query that differs, p is 1.

    >>> sign_test([0.2, 0.1, 0.3, 0.1, -0.1, 0.0]).p_value
    0.375
    """
    values = vector(differences)
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    trials = wins + losses
    weights = [math.comb(trials, k) for k in range(trials + 1)]
    total = 2**trials
    less, greater = sum(weights[: wins + 1]) / total, sum(weights[wins:]) / total
    return Significance(combine_tails(alternative, less, greater), least_p(trials, alternative))


EXACT_LIMIT = 36
"""
Up to so many differences that are not 0, all sign patterns are counted: two halves of 2^18 sums. Beyond, Fisher's test
is sampled and Wilcoxon's takes the normal approximation.
"""

SUM_TOLERANCE = 1e-10
"""How far apart sums under two sign patterns may be and count as equal, as a share of the sum of all sizes."""


def sign_flip(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    samples: int = 100_000,
    seed: int = SEED,
) -> Significance:
    """
    Fisher's randomisation test: were the labels of the two runs swapped at random in each query, how often would the
    mean differ as much?

    All sign patterns are counted up to `EXACT_LIMIT` queries that differ; beyond, *samples* of them are drawn, and p is
    (found + 1) / (samples + 1), which is never 0 (Phipson & Smyth 2010).

    >>> sign_flip([0.1, 0.2, 0.3, 0.4]).p_value
    0.125
    """
    values = vector(differences)
    moved = values[values != 0]
    if moved.size <= EXACT_LIMIT:
        return Significance(combine_tails(alternative, *_exact_tails(moved)), least_p(moved.size, alternative))
    p_value = float(sign_flip_p_values(moved, alternative=alternative, samples=samples, seed=seed)[0])
    return Significance(p_value, 1 / (samples + 1))


def wilcoxon(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> Significance:
    """
    Wilcoxon's signed-rank test: `sign_flip` on the ranks of the differences by size.

    Differences of 0 are left out and equal ones share a rank, as Wilcoxon (1945) has it. Exact up to `EXACT_LIMIT`
    queries that differ, ties or not; beyond, the normal approximation, its variance corrected for ties.

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.1]).p_value
    0.1875
    """
    values = vector(differences)
    moved = values[values != 0]
    ranks = np.sign(moved) * magnitude_ranks(moved)
    if moved.size <= EXACT_LIMIT:
        return Significance(combine_tails(alternative, *_exact_tails(ranks)), least_p(moved.size, alternative))
    from scipy import stats

    return Significance(float(stats.wilcoxon(ranks, alternative=alternative, method="asymptotic").pvalue))


def sign_flip_p_values(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> FloatArray:
    """
    Sampled sign-flip p-values of many measures at once, the same flips for all.

    Args:
        differences: Shape (queries, measures).
        alternative: "less" asks whether the candidate is worse.
        samples: Draws, >= 1.
        seed: Of the generator.

    Returns:
        Shape (measures,).
    """
    values = matrix(differences)
    total = values.sum(axis=0)
    slack = SUM_TOLERANCE * np.abs(values).sum(axis=0)
    extreme_samples = np.zeros(values.shape[1])
    for flips in random_bits(len(values), samples, seed):
        # A flip of a value takes it twice from the sum.
        sums = total - 2.0 * (flips @ values)
        extreme_samples += _are_as_extreme(sums, total, slack, alternative).sum(axis=0)
    # The observed signs are one of the possible patterns, so p is never 0.
    return (extreme_samples + 1) / (samples + 1)


def _are_as_extreme(
    sums: FloatArray, observed: FloatArray, slack: FloatArray, alternative: Alternative
) -> NDArray[np.bool_]:
    if alternative == "less":
        return sums <= observed + slack
    if alternative == "greater":
        return sums >= observed - slack
    return np.abs(sums) >= np.abs(observed) - slack


def random_bits(queries: int, samples: int, seed: int) -> Iterator[FloatArray]:
    """Blocks of shape (some samples, queries) of 0.0 and 1.0; each is overwritten by the next."""
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, min(samples, BLOCK // queries))
    bits = np.empty((max(1, min(rows, CACHED // queries)), queries))
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        # Each query of a sample needs one bit. Drawn as bytes and unpacked, as a float each would cost 64.
        packed = np.frombuffer(generator.bytes(count * ((queries + 7) // 8)), dtype=np.uint8).reshape(count, -1)
        for first in range(0, count, len(bits)):
            part = packed[first : first + len(bits)]
            np.copyto(bits[: len(part)], np.unpackbits(part, axis=1, count=queries))
            yield bits[: len(part)]


def _exact_tails(values: FloatArray) -> tuple[float, float]:
    """
    P(sum <= observed) and P(sum >= observed) over all sign patterns.

    The patterns are the pairs of a half on the left and a half on the right, so two sorted lists of 2^(n/2) sums and a
    binary search count all 2^n of them.
    """
    half = values.size // 2
    left, right = _all_sums(values[:half]), np.sort(_all_sums(values[half:]))
    observed, slack = values.sum(), SUM_TOLERANCE * np.abs(values).sum()
    patterns = 2.0**values.size
    at_most = np.searchsorted(right, observed + slack - left, side="right").sum(dtype=np.float64)
    below = np.searchsorted(right, observed - slack - left, side="left").sum(dtype=np.float64)
    return float(at_most / patterns), float((patterns - below) / patterns)


def _all_sums(values: FloatArray) -> FloatArray:
    """The sums of *values* under every pattern of signs, 2^n of them."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums - value, sums + value))
    return sums


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How large a difference is beside its spread."""

    standard_deviation: float
    """Of the differences; 0 where they are all equal but for rounding."""

    cohen_dz: float | None
    """Mean / standard deviation of the differences, None where that is 0."""

    wins: int
    ties: int
    losses: int


def effect_size(differences: ArrayLike) -> EffectSize:
    """The spread, Cohen's d of the differences (1988), wins and losses."""
    values = vector(differences)
    deviation = 0.0 if are_equal(values) else float(values.std(ddof=1))
    return EffectSize(
        deviation,
        float(values.mean()) / deviation if deviation else None,
        wins=int((values > 0).sum()),
        ties=int((values == 0).sum()),
        losses=int((values < 0).sum()),
    )
