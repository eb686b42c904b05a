"""The power of paired tests: the smallest true difference that so many queries show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import StatisticError
from harness.means import scale_by_weights
from harness.model.comparison import POWER, SEED
from harness.statistics.paired import EQUAL
from harness.statistics.tests import Alternative, FloatArray, vector

_SPREADS = 1 << 14

_NORMAL = NormalDist()
_CONFIDENCE = _NORMAL.inv_cdf(0.95)

_CELLS = 1 << 20
"""Samples times subsets; with so many, another seed moves the figure by one or two per cent."""
_FEWEST_SUBSETS, _MOST_SUBSETS = 1 << 10, 1 << 15
_FEWEST_SAMPLES, _MOST_SAMPLES = 1 << 5, 1 << 12
_BEYOND = 16
"""Subsets that are to be expected in the tail, so that its quantile is known well enough."""
_COLUMNS = 512
"""Queries of a sample that move; of more, the figure is that of so many, and goes with the root of their number."""
_FAR = 5.0
"""Standard deviations above the usual number of queries that move, more than which no sample has."""
_BLOCK = 1 << 12
_MANY = 1e6
"""Of more queries, the spread counts as known: the t test needs one or two more than this."""
_MOST_SPREADS = 1e9
"""How many times a difference the standard deviation may be."""
_ABOVE = 1 + 1e-6
"""A factor just above 1: at exactly the found difference, sums are equal, and the test does not count these as less."""


@dataclass(frozen=True, slots=True)
class Detectable:
    """
    The smallest true mean difference that a test finds, without sign, in the measure's unit.

    Where *all_move*, every query that is compared would have to move: of so few as did, no shift is found.
    """

    difference: float
    all_move: bool = False


def detectable_by_sign_flip(
    differences: ArrayLike,
    *,
    weights: Sequence[float] | None = None,
    level: float = 0.05,
    alternative: Alternative = "two-sided",
    seed: int = SEED,
) -> Detectable | None:
    """
    The smallest true mean difference that `sign_flip` at *level* finds with probability `POWER`, in queries like these.

    As many queries are drawn from these again and again. Those that moved are shifted, all by the same, and those that
    did not stay at 0, so that the share that moves is kept. What a query weighs is taken to have nothing to do with how
    its score moves. In a sample, the test finds just the shifts beyond the quantile 1 - *level* of the means of its
    subsets (Hartigan, "Using subsample values as typical values", JASA 1969): the answer is the quantile `POWER` of
    these over the samples. As the spread is known from these queries alone, its upper 95 % limit is taken in its place
    (Browne, "On the use of a pilot sample for sample size determination", Statistics in Medicine 1995).

    Where so few queries moved that no shift of them is found, all are taken to move, normally distributed, and with the
    spread that would give these differences had only as many moved.

    Args:
        differences: Candidate minus reference, one a query.
        weights: What each query weighs, above 0: the difference is then of the weighted mean.
        level: Chance of a false alarm, in (0, `POWER`).
        alternative: "less" finds a drop, "greater" a rise, "two-sided" either: the difference is then the greater one.
        seed: The seed of the samples.

    Returns:
        None where no query moved, where all differ by the same, and where the test finds no difference of so many
        queries at such a level; nor is any worked out for a level below 0.00003.
    """
    _check_level(level)
    values = vector(differences)
    greatest = float(np.abs(values).max())
    if not greatest:
        return None
    loads = np.ones(values.size) if weights is None else np.array(scale_by_weights([1.0] * values.size, weights))
    sides = {"less": (1.0,), "greater": (-1.0,), "two-sided": (1.0, -1.0)}[alternative]
    test = _Test(level / len(sides), sides, np.random.Generator(np.random.PCG64(seed)))
    values, loads = np.sort(values / greatest), np.sort(loads)
    shift = _find_shift_of_moved(values, loads, test)
    if math.isfinite(shift):
        return Detectable(shift * greatest)
    shift = _find_shift_of_all(values, loads, test)
    return Detectable(shift * greatest, all_move=True) if math.isfinite(shift) else None


@dataclass(frozen=True, slots=True)
class _Test:
    """A sign-flip test with *level* on each of its *sides*: 1 finds a drop, -1 a rise."""

    level: float
    sides: tuple[float, ...]
    generator: np.random.Generator

    def subsets(self, columns: int) -> int:
        """How many subsets of a sample are looked at: all that there are, or enough to have some in the tail."""
        wanted = max(_FEWEST_SUBSETS, 1 << math.ceil(math.log2(_BEYOND / self.level)))
        return min(wanted, _MOST_SUBSETS, 1 << min(columns, 30))

    def shape(self, columns: int) -> tuple[int, int]:
        """How many samples are drawn, and *columns*."""
        return min(max(_CELLS // self.subsets(columns), _FEWEST_SAMPLES), _MOST_SAMPLES), columns

    def draw(self, items: FloatArray, columns: int) -> FloatArray:
        """An array of this shape that holds each of *items* as often as any other, to one, in random order."""
        shape = self.shape(columns)
        return self.generator.permutation(np.resize(self.generator.permutation(items), math.prod(shape))).reshape(shape)

    def least_shift(self, values: FloatArray, loads: FloatArray) -> float:
        """
        The least shift that is found in so large a share of the samples, infinite where none is.

        Args:
            values: Shape (samples, columns), 0 where a sample has fewer queries that move.
            loads: Of the same shape: how far a shift by 1 moves each.
        """
        beyond = int(self.level * self.subsets(values.shape[1]) + EQUAL)
        if not beyond:
            return math.inf
        means = self._subset_means(values, loads)
        least = 0.0
        for side in self.sides:
            # In place, for the means are many, and the order of a sample's does not matter.
            if side < 0:
                np.negative(means, out=means, where=means != np.inf)
            means.partition(-1 - beyond, axis=1)
            found = np.sort(means[:, -1 - beyond])
            least = max(least, float(found[math.ceil(POWER * found.size) - 1]))
        return least

    def _subset_means(self, values: FloatArray, loads: FloatArray) -> FloatArray:
        """Shape (samples, subsets); infinite for a subset without a query, which is as extreme as what is tested."""
        columns = values.shape[1]
        means = np.empty((len(values), self.subsets(columns)))
        for start in range(0, means.shape[1], _BLOCK):
            block = means[:, start : start + _BLOCK]
            chosen = self._choose_subsets(columns, np.arange(start, start + block.shape[1]))
            moved = loads @ chosen
            np.matmul(values, chosen, out=block)
            np.divide(block, moved, out=block, where=moved > 0)
            block[moved <= 0] = np.inf
        return means

    def _choose_subsets(self, columns: int, subsets: NDArray[np.int64]) -> FloatArray:
        """Which columns are in which subsets, 1 or 0: all patterns of the first columns, the others at random."""
        chosen = self.generator.integers(0, 2, (columns, subsets.size), dtype=np.int8).astype(np.float64)
        listed = self.subsets(columns).bit_length() - 1
        chosen[:listed] = subsets >> np.arange(listed)[:, np.newaxis] & 1
        chosen[:, subsets == 0] = 0.0
        return chosen


def _find_shift_of_moved(values: FloatArray, loads: FloatArray, test: _Test) -> float:
    """The least shift of the mean that is found where the queries that moved are shifted, infinite where none is."""
    moved = values[values != 0]
    residuals = moved - moved.mean()
    residuals[np.abs(residuals) <= EQUAL] = 0.0
    if not residuals.any():
        return math.inf
    queries = values.size
    share: float = moved.size / queries
    drawn = queries if moved.size <= _COLUMNS else round(_COLUMNS / share)
    # How many of a sample move is drawn for each. The columns are as many as move in any, the rest of a row is 0.
    expected = drawn * share
    columns = min(drawn, math.ceil(expected + _FAR * math.sqrt(expected)))
    moving = test.generator.binomial(drawn, share, (test.shape(columns)[0], 1))
    weighing = np.where(np.arange(columns) < moving, test.draw(loads, columns), 0.0)
    shift = test.least_shift(weighing * test.draw(residuals, columns), weighing)
    # From the queries that move to the mean of all, and from the columns to as many queries as there are.
    return shift * share * math.sqrt(drawn / queries) * _compute_spread_limit(residuals, queries) * _ABOVE


def _compute_spread_limit(residuals: FloatArray, queries: int) -> float:
    """The upper limit of the spread over the spread, by the standard error of the logarithm of a standard deviation."""
    peakedness = queries * float((residuals**4).sum() / (residuals**2).sum() ** 2)
    return math.exp(_CONFIDENCE * math.sqrt(max(peakedness - 1, 0.0) / (4 * queries)))


def _find_shift_of_all(values: FloatArray, loads: FloatArray, test: _Test) -> float:
    """The least shift of the mean that is found were all queries to move, infinite where none is."""
    spread = math.sqrt(float(((values - values.mean()) ** 2).sum()) / np.count_nonzero(values))
    if spread <= EQUAL:
        return math.inf
    columns = min(values.size, _COLUMNS)
    samples = test.shape(columns)[0]
    normal = np.array([_NORMAL.inv_cdf((place + 0.5) / samples) for place in range(samples)])
    weighing = np.broadcast_to(loads, (samples, columns)) if columns == values.size else test.draw(loads, columns)
    shift = test.least_shift(weighing * test.draw(normal, columns), weighing)
    return shift * spread * math.sqrt(columns / values.size) * _ABOVE


def detectable_by_t(
    standard_deviation: float,
    queries: int,
    *,
    level: float = 0.05,
    alternative: Alternative = "two-sided",
    power: float = POWER,
) -> float:
    """
    The smallest true mean difference that a paired t test at *level* finds with probability *power*.

    Args:
        standard_deviation: Of the differences a query, in the measure's unit, > 0.
        queries: At least two.
        level: Chance of a false alarm, in (0, *power*).
        alternative: "less" and "greater" put the whole level on one side.
        power: In (0, 1).

    Returns:
        A difference in the measure's unit, without sign. All queries are taken to move, normally distributed.

    Source: the noncentral t distribution; Sakai, "Statistical reform in information retrieval?" (SIGIR Forum 2014).
    """
    if queries < 2 or not (standard_deviation > 0 and math.isfinite(standard_deviation)):
        raise StatisticError(
            f"a detectable difference needs 2 queries and a spread above 0; found {queries} and {standard_deviation:g}"
        )
    _check_level(level, power)
    from scipy import optimize

    limits = _compute_t_limits(queries, level, alternative)
    highest = 1.0
    while _compute_t_power(highest, limits, alternative) < power:
        highest *= 2.0
    shift = optimize.brentq(lambda shift: _compute_t_power(shift, limits, alternative) - power, 0.0, highest)
    return float(shift) * standard_deviation / math.sqrt(queries)


def queries_by_t(
    standard_deviation: float,
    difference: float,
    *,
    level: float = 0.05,
    alternative: Alternative = "two-sided",
    power: float = POWER,
) -> int:
    """
    The fewest queries with which a paired t test at *level* finds a true mean *difference* with probability *power*.

    Args:
        standard_deviation: Of the differences a query, in the measure's unit, > 0.
        difference: In the same unit, without sign, > 0.
        level: Chance of a false alarm, in (0, *power*).
        alternative: As for `detectable_by_t`.
        power: In (0, 1).

    >>> queries_by_t(0.1, 0.1, power=0.8), queries_by_t(0.1, 0.02, power=0.8)
    (10, 199)
    """
    ratio = standard_deviation / difference if difference > 0 else math.inf
    if not 0 < ratio < _MOST_SPREADS:
        raise StatisticError(
            f"a number of queries needs a spread above 0, and a difference that is not much smaller; found "
            f"{standard_deviation:g} and {difference:g}"
        )
    _check_level(level, power)
    tail = level / 2 if alternative == "two-sided" else level
    # With so many a test with a known spread finds it; the t test needs a few more.
    enough = ((_NORMAL.inv_cdf(power) - _NORMAL.inv_cdf(tail)) * ratio) ** 2
    if enough > _MANY:
        return math.ceil(enough)
    queries = max(2, math.floor(enough))
    while not _finds_difference(queries, 1 / ratio, level, alternative, power):
        queries += 1
    return queries


def _finds_difference(queries: int, effect: float, level: float, alternative: Alternative, power: float) -> bool:
    """Whether so many *queries* find a difference of *effect* standard deviations with probability *power*."""
    limits = _compute_t_limits(queries, level, alternative)
    return _compute_t_power(effect * math.sqrt(queries), limits, alternative) >= power


def _compute_t_limits(queries: int, level: float, alternative: Alternative) -> FloatArray:
    """From which mean over its true error the t test finds a difference, for each of many spreads of the sample."""
    from scipy import stats

    freedom = queries - 1
    critical = stats.t.isf(level / 2 if alternative == "two-sided" else level, freedom)
    # The noncentral t as a mixture: given the sample's spread, the mean is normal. (scipy's own returns NaN far out.)
    shares = (np.arange(_SPREADS) + 0.5) / _SPREADS
    limits: FloatArray = critical * np.sqrt(stats.chi2.ppf(shares, freedom) / freedom)
    return limits


def _compute_t_power(shift: float, limits: FloatArray, alternative: Alternative) -> float:
    """How often a test with these *limits* finds a mean of *shift* errors."""
    from scipy import special

    found = special.ndtr(shift - limits)
    if alternative == "two-sided":
        found = found + special.ndtr(-shift - limits)
    return float(found.mean())


def limit_spread(differences: ArrayLike) -> float:
    """
    The upper 95 % limit of the standard deviation of all queries like these, of which at least two differ.

    Source: Browne, "On the use of a pilot sample for sample size determination" (Statistics in Medicine 1995).

    >>> round(limit_spread([0.0, 0.1, -0.1, 0.2, 0.0, 0.3]), 4)  # their own is 0.1472
    0.2005
    """
    values = vector(differences, 2)
    return float(values.std(ddof=1)) * _compute_spread_limit(values - values.mean(), values.size)


def _check_level(level: float, power: float = POWER) -> None:
    if not 0 < level < power:
        raise StatisticError(f"the level must be above 0 and below the power, {power:g}; found {level:g}")
