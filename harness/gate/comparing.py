"""How observed and required compare: numbers that differ by at most 1e-9 are equal, and nothing is rounded before."""

from __future__ import annotations

from harness.model import Operator
from harness.thresholds import TOLERANCE

__all__ = ["holds", "merit"]


def holds(observed: float, operator: Operator, required: float) -> bool:
    """
    Whether *observed* is on the side of *required* that *operator* asks for.

    >>> holds(0.1 + 0.2, Operator.AT_MOST, 0.3), holds(0.1 + 0.2, Operator.ABOVE, 0.3)
    (True, False)
    """
    if operator is Operator.EQUAL:
        return abs(observed - required) <= TOLERANCE
    if operator is Operator.AT_LEAST:
        return observed >= required - TOLERANCE
    if operator is Operator.AT_MOST:
        return observed <= required + TOLERANCE
    if operator is Operator.ABOVE:
        return observed > required + TOLERANCE
    return observed < required - TOLERANCE


def merit(observed: float, operator: Operator, required: float) -> float:
    """A number by which values are put in order: the greater, the better *observed* serves the comparison."""
    if operator is Operator.EQUAL:
        return -abs(observed - required)
    return observed if operator in (Operator.AT_LEAST, Operator.ABOVE) else -observed
