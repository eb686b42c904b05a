"""What every test is given: one difference a query, checked once."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.errors import StatisticError

Floats: TypeAlias = NDArray[np.float64]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

EQUAL = 1e-9
"""How far apart two equal numbers may be: they are sums of the same terms in another order."""
DEFAULT_SEED = 20020101
DEFAULT_SAMPLES = 10_000
BLOCK = 1 << 22
"""Cells, a query of a sample each, that are drawn at a time; another size would draw other samples from a seed."""
CACHED = 1 << 17
"""Cells that are held as floats at a time: 1 MB, which stays in a processor's cache while it is multiplied."""


def vector(differences: ArrayLike, least: int = 1) -> Floats:
    """*differences* as shape (queries,), finite, at least *least* of them; StatisticError otherwise."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1:
        raise StatisticError(f"differences must be one number a query; found an array of shape {values.shape}")
    if values.size < least:
        raise StatisticError(f"this needs differences of at least {least} queries; found {values.size}")
    if not np.isfinite(values).all():
        raise StatisticError("differences must be finite; leave out the queries whose score is undefined")
    return values


def matrix(differences: ArrayLike) -> Floats:
    """*differences* as shape (queries, measures), finite, at least one query; StatisticError otherwise."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or values.shape[0] < 1:
        raise StatisticError(f"differences must have shape (queries, measures); found {values.shape}")
    if not np.isfinite(values).all():
        raise StatisticError("differences must be finite; leave out the queries whose score is undefined")
    return values


def are_equal(values: Floats) -> bool:
    """
    Whether *values* are all equal but for rounding: 0.3 - 0.2 is not 0.2 - 0.1 in floats, and such noise is no spread.

    >>> are_equal(np.array([0.3 - 0.2, 0.2 - 0.1])), are_equal(np.array([0.1, 0.2]))
    (True, False)
    """
    return bool(np.ptp(values) <= EQUAL * max(1.0, float(np.abs(values).max())))


def magnitude_ranks(moved: Floats) -> Floats:
    """Ranks from 1 of the differences by size, whatever their sign; equal ones share the mean of their ranks."""
    _, place, counts = np.unique(np.abs(moved).round(12), return_inverse=True, return_counts=True)
    ranks: Floats = (counts.cumsum() - (counts - 1) / 2)[place]
    return ranks
