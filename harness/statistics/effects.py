"""How large a difference is, and how large it must be for so many queries to show it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import StatisticError
from harness.statistics.differences import Alternative, Floats, are_equal, magnitude_ranks, vector

_SPREADS = 1 << 14


@dataclass(frozen=True, slots=True)
class EffectSize:
    """
    How large a difference is beside its spread.

    *cohen_dz* is mean / standard deviation of the differences, None where they are all equal but for rounding, so that
    their *standard_deviation* is 0; *rank_biserial* is the
    share of rank sums for the candidate minus that against it, in [-1, 1], None where all differences are 0.
    """

    mean: float
    standard_deviation: float
    cohen_dz: float | None
    rank_biserial: float | None
    wins: int
    ties: int
    losses: int


def effect_size(differences: ArrayLike) -> EffectSize:
    """Mean, spread, Cohen's d of the differences (1988), Kerby's rank-biserial correlation (2014), wins and losses."""
    values = vector(differences)
    deviation = 0.0 if are_equal(values) else float(values.std(ddof=1))
    mean = float(values.mean())
    return EffectSize(
        mean,
        deviation,
        mean / deviation if deviation else None,
        _rank_biserial(values[values != 0]),
        wins=int((values > 0).sum()),
        ties=int((values == 0).sum()),
        losses=int((values < 0).sum()),
    )


def _rank_biserial(moved: Floats) -> float | None:
    if not moved.size:
        return None
    ranks = magnitude_ranks(moved)
    return float((np.sign(moved) * ranks).sum() / ranks.sum())


def detectable_difference(
    standard_deviation: float,
    queries: int,
    *,
    level: float = 0.05,
    power: float = 0.8,
    alternative: Alternative = "two-sided",
) -> float:
    """
    The smallest true mean difference that a paired t test at *level* finds with probability *power*.

    Args:
        standard_deviation: Of the differences a query, in the measure's unit, > 0.
        queries: At least two.
        level: Chance of a false alarm, in (0, power).
        power: Chance of finding the difference, in (level, 1).
        alternative: "less" and "greater" put the whole level on one side.

    Returns:
        A difference in the measure's unit, without sign.

    Source: the noncentral t distribution; Sakai, "Statistical reform in information retrieval?" (SIGIR Forum 2014).
    """
    if queries < 2 or not (standard_deviation > 0 and math.isfinite(standard_deviation)):
        raise StatisticError(
            f"a detectable difference needs 2 queries and a spread above 0; found {queries} and {standard_deviation:g}"
        )
    if not 0 < level < power < 1:
        raise StatisticError(f"level and power must be 0 < level < power < 1; found {level:g} and {power:g}")
    from scipy import optimize, special, stats

    freedom = queries - 1
    two_sided = alternative == "two-sided"
    critical = stats.t.isf(level / 2 if two_sided else level, freedom)
    # The noncentral t as a mixture: given the sample's spread, the mean is normal. (scipy's own returns NaN far out.)
    shares = (np.arange(_SPREADS) + 0.5) / _SPREADS
    limits = critical * np.sqrt(stats.chi2.ppf(shares, freedom) / freedom)

    def shortfall(shift: float) -> float:
        found = special.ndtr(shift - limits)
        if two_sided:
            found = found + special.ndtr(-shift - limits)
        return float(found.mean()) - power

    highest = 1.0
    while shortfall(highest) < 0:
        highest *= 2.0
    shift = optimize.brentq(shortfall, 0.0, highest)
    return float(shift) * standard_deviation / math.sqrt(queries)
