"""Bootstrap intervals of the mean difference, bias-corrected and accelerated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticError
from harness.means import mean, weighed
from harness.model.comparison import SAMPLES, SEED
from harness.statistics.tests import BLOCK, CACHED, Floats, matrix

_NORMAL = NormalDist()
_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """The limits of a confidence interval of a mean difference, in the measure's unit."""

    low: float
    high: float


def bootstrap_intervals(
    differences: ArrayLike,
    *,
    weights: Sequence[float] | None = None,
    level: float = 0.95,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> tuple[Interval, ...]:
    """
    The BCa bootstrap interval of the mean difference of each measure, from the same samples of queries.

    Args:
        differences: Shape (queries, measures), or (queries,) of one measure; at least two queries.
        weights: What each query weighs, above 0: the interval is then of the weighted mean. A query is drawn together
            with its weight, as often as any other, and each sample's mean is over the weights that were drawn.
        level: How often such intervals hold the true mean, in (0, 1).
        samples: Draws, >= 1.
        seed: The seed of the generator.

    Returns:
        One interval per measure.

    Raises:
        StatisticError: Fewer than two queries, or a level that is not between 0 and 1.

    Source: Efron (1987); for retrieval, Sakai (SIGIR 2006).
    """
    values = matrix(differences)
    if len(values) < 2:
        raise StatisticError(f"a bootstrap interval needs at least 2 queries; found {len(values)}")
    means = bootstrap_means(values, samples=samples, seed=seed, weights=weights)
    columns = zip(values.T, means.T, strict=True)
    return tuple(Interval(*bca_limits(distribution, column, level, weights)) for column, distribution in columns)


def bootstrap_means(differences: Floats, *, samples: int, seed: int, weights: Sequence[float] | None = None) -> Floats:
    """
    Means over *samples* draws of as many queries, with replacement: shape (samples, measures).

    How often each query was drawn is a row of counts, and one matrix product sums all measures of all samples.
    """
    queries = len(differences)
    loads, center = _loads(queries, weights), _center(differences, weights)
    centered = loads[:, np.newaxis] * (differences - center)
    means = np.empty((samples, differences.shape[1]))
    done = 0
    for times in _times_drawn(queries, samples, seed):
        drawn = queries if weights is None else (times @ loads)[:, np.newaxis]
        means[done : done + len(times)] = times @ centered / drawn + center
        done += len(times)
    return means


def _times_drawn(queries: int, samples: int, seed: int) -> Iterator[Floats]:
    """Blocks of shape (some samples, queries) of how often each was drawn; each is overwritten by the next."""
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, min(samples, BLOCK // queries))
    kind = np.uint16 if queries <= 1 << 16 else np.uint32
    times = np.empty((max(1, min(rows, CACHED // queries)), queries))
    for start in range(0, samples, rows):
        drawn = generator.integers(0, queries, size=(min(rows, samples - start), queries), dtype=kind)
        for first in range(0, len(drawn), len(times)):
            part = drawn[first : first + len(times)]
            for place, row in enumerate(part):
                times[place] = np.bincount(row, minlength=queries)
            yield times[: len(part)]


def _loads(queries: int, weights: Sequence[float] | None) -> Floats:
    """The weight of each query over the mean weight."""
    return np.ones(queries) if weights is None else np.array(weighed([1.0] * queries, weights))


def _center(differences: Floats, weights: Sequence[float] | None) -> Floats:
    """The mean of each column, shape (measures,)."""
    if weights is None:
        return np.asarray(differences.mean(axis=0))
    return np.array([mean(column.tolist(), weights) for column in differences.T])


def bca_limits(
    distribution: Floats, differences: Floats, level: float, weights: Sequence[float] | None = None
) -> tuple[float, float]:
    """
    Bias-corrected and accelerated limits from a bootstrap *distribution* of the mean of *differences*.

    The acceleration is a sixth of the skewness, over the root of the count, of what each query adds to the mean: of its
    deviation, times its weight where there are *weights*. For a plain mean that is the jackknife's; for a weighted one,
    which is a ratio of two means, it is that of the empirical influence (Efron 1987).
    """
    if not 0 < level < 1:
        raise StatisticError(f"a level is between 0 and 1; found {level:g}")
    center = float(_center(differences[:, np.newaxis], weights)[0])
    deviations = _loads(len(differences), weights) * (differences - center)
    spread = float((deviations**2).sum())
    if np.ptp(distribution) == 0 or spread == 0:
        return float(distribution[0]), float(distribution[0])
    below = _share_below(distribution, center)
    if not 0 < below < 1:
        return float(distribution.min()), float(distribution.max())
    bias = _NORMAL.inv_cdf(below)
    acceleration = float((deviations**3).sum()) / (6 * spread**1.5)
    points = [_adjusted(bias, acceleration, share) for share in ((1 - level) / 2, (1 + level) / 2)]
    low, high = np.quantile(distribution, points)
    return float(low), float(high)


def _share_below(distribution: Floats, mean: float) -> float:
    """The share below *mean*, half of what equals it; sums of the same scores in another order count as equal."""
    slack = _TOLERANCE * float(np.abs(distribution).max())
    at_most, below = (distribution <= mean + slack).sum(), (distribution < mean - slack).sum()
    return float(at_most + below) / (2 * distribution.size)


def _adjusted(bias: float, acceleration: float, share: float) -> float:
    z = bias + _NORMAL.inv_cdf(share)
    return _NORMAL.cdf(bias + z / (1 - acceleration * z))
