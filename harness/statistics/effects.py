"""How large a difference is beside its spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.statistics.differences import Floats, are_equal, magnitude_ranks, vector


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
