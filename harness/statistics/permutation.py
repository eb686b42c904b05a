"""
Tests that flip signs: Fisher's on the differences, Wilcoxon's on their ranks.

Exact where all patterns can be counted; beyond, Fisher's is sampled and Wilcoxon's takes the normal approximation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.statistics.differences import (
    BLOCK,
    CACHED,
    DEFAULT_SAMPLES,
    DEFAULT_SEED,
    Alternative,
    Floats,
    magnitude_ranks,
    matrix,
    vector,
)
from harness.statistics.significance import Significance, least_p, tail

EXACT_LIMIT = 36
"""Up to so many differences that are not 0, all sign patterns are counted: two halves of 2^18 sums."""

_TOLERANCE = 1e-10


def sign_flip(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    samples: int = 100_000,
    seed: int = DEFAULT_SEED,
) -> Significance:
    """
    Fisher's randomisation test: were the labels of the two runs swapped at random in each query, how often would the
    mean differ as much?

    All sign patterns are counted up to `EXACT_LIMIT` queries that differ; beyond, *samples* of them are drawn, and p is
    (found + 1) / (samples + 1), which is never 0 (Phipson & Smyth 2010). The statistic is the mean difference.

    >>> sign_flip([0.1, 0.2, 0.3, 0.4]).p_value
    0.125
    """
    values = vector(differences)
    mean = float(values.mean())
    moved = values[values != 0]
    if moved.size <= EXACT_LIMIT:
        less, greater = _exact_tails(moved)
        p_value = tail(alternative, less, greater)
        return Significance("sign flip", alternative, mean, p_value, values.size, least_p(moved.size, alternative))
    p_value = float(sign_flip_p_values(moved, alternative=alternative, samples=samples, seed=seed)[0])
    return Significance("sign flip", alternative, mean, p_value, values.size, 1 / (samples + 1), samples, seed)


def wilcoxon(differences: ArrayLike, *, alternative: Alternative = "two-sided") -> Significance:
    """
    Wilcoxon's signed-rank test: `sign_flip` on the ranks of the differences by size; the statistic is that of the wins.

    Differences of 0 are left out and equal ones share a rank, as Wilcoxon (1945) has it. Exact up to `EXACT_LIMIT`
    queries that differ, ties or not; beyond, the normal approximation, its variance corrected for ties.

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.1]).p_value
    0.1875
    """
    values = vector(differences)
    moved = values[values != 0]
    ranks = np.sign(moved) * magnitude_ranks(moved)
    wins = float(ranks[ranks > 0].sum())
    if moved.size <= EXACT_LIMIT:
        least = least_p(moved.size, alternative)
        return Significance("wilcoxon", alternative, wins, tail(alternative, *_exact_tails(ranks)), moved.size, least)
    from scipy import stats

    found = stats.wilcoxon(ranks, alternative=alternative, method="asymptotic")
    return Significance("wilcoxon", alternative, wins, float(found.pvalue), moved.size)


def sign_flip_p_values(
    differences: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    samples: int = DEFAULT_SAMPLES,
    seed: int = DEFAULT_SEED,
) -> Floats:
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
    slack = _TOLERANCE * np.abs(values).sum(axis=0)
    as_extreme = np.zeros(values.shape[1])
    for flips in _random_bits(len(values), samples, seed):
        sums = total - 2.0 * (flips @ values)
        as_extreme += _as_extreme(sums, total, slack, alternative).sum(axis=0)
    return (as_extreme + 1) / (samples + 1)


def _as_extreme(sums: Floats, observed: Floats, slack: Floats, alternative: Alternative) -> NDArray[np.bool_]:
    if alternative == "less":
        return sums <= observed + slack
    if alternative == "greater":
        return sums >= observed - slack
    return np.abs(sums) >= np.abs(observed) - slack


def _random_bits(queries: int, samples: int, seed: int) -> Iterator[Floats]:
    """Blocks of shape (some samples, queries) of 0.0 and 1.0; each is overwritten by the next."""
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, min(samples, BLOCK // queries))
    bits = np.empty((max(1, min(rows, CACHED // queries)), queries))
    for start in range(0, samples, rows):
        count = min(rows, samples - start)
        packed = np.frombuffer(generator.bytes(count * ((queries + 7) // 8)), dtype=np.uint8).reshape(count, -1)
        for first in range(0, count, len(bits)):
            part = packed[first : first + len(bits)]
            np.copyto(bits[: len(part)], np.unpackbits(part, axis=1, count=queries))
            yield bits[: len(part)]


def _exact_tails(values: Floats) -> tuple[float, float]:
    """
    P(sum <= observed) and P(sum >= observed) over all sign patterns.

    The patterns are the pairs of a half on the left and a half on the right, so two sorted lists of 2^(n/2) sums and a
    binary search count all 2^n of them.
    """
    half = values.size // 2
    left, right = _all_sums(values[:half]), np.sort(_all_sums(values[half:]))
    observed, slack = values.sum(), _TOLERANCE * np.abs(values).sum()
    patterns = 2.0**values.size
    at_most = np.searchsorted(right, observed + slack - left, side="right").sum(dtype=np.float64)
    below = np.searchsorted(right, observed - slack - left, side="left").sum(dtype=np.float64)
    return float(at_most / patterns), float((patterns - below) / patterns)


def _all_sums(values: Floats) -> Floats:
    """The sums of *values* under every pattern of signs, 2^n of them."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums - value, sums + value))
    return sums
