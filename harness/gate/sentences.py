"""The parts of a verdict's reason: numbers that never contradict the verdict, and lists that stay short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.gate.comparing import holds
from harness.model import Operator

__all__ = ["count", "listed", "mean_word", "number", "number_beside", "weight_aside"]

NAMES_SHOWN = 3
_FEWEST_DIGITS = 4
_MOST_DIGITS = 17


def number(value: float) -> str:
    """A number as a person would write it: ``0.8``, ``200``, ``0.0001``."""
    return f"{value:.12g}"


def number_beside(observed: float, operator: Operator, required: float) -> str:
    """
    *observed* with four decimals, and with more where four would read as the opposite of what was decided.

    >>> number_beside(0.79996, Operator.AT_LEAST, 0.8)
    '0.79996'
    >>> number_beside(0.73124, Operator.AT_LEAST, 0.8)
    '0.7312'
    >>> number_beside(-0.0, Operator.AT_LEAST, 0.0)
    '0.0000'
    """
    decided = holds(observed, operator, required)
    for digits in range(_FEWEST_DIGITS, _MOST_DIGITS):
        shown = f"{observed:z.{digits}f}"
        if holds(float(shown), operator, required) == decided:
            return shown
    return repr(observed)


def mean_word(weights: Mapping[str, float]) -> str:
    """What sentences call a mean; *weights* are empty where all queries weigh the same."""
    return "weighted mean" if weights else "mean"


def weight_aside(query: str, weights: Mapping[str, float]) -> str:
    """What *query* weighs, behind its name; nothing where all queries weigh the same."""
    return f" (weight {number(weights[query])})" if weights else ""


def count(size: int, noun: str) -> str:
    """
    A number of things.

    >>> count(1, "query"), count(2, "query"), count(3, "document")
    ('1 query', '2 queries', '3 documents')
    """
    if size == 1:
        return f"1 {noun}"
    return f"{size} {noun[:-1]}ies" if noun.endswith("y") else f"{size} {noun}s"


def listed(names: Sequence[str]) -> str:
    """
    The first few of *names*, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
