"""What a grade is worth: exponential, linear, or a map of the suite's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import isfinite
from numbers import Real

from harness.errors import MeasureError
from harness.model import Gain, GainKind

__all__ = ["finite", "gain_function", "gain_of", "gains_of", "ideal_gains"]


def gain_of(gain: Gain, grade: float) -> float:
    """
    The gain of one *grade*.

    Exponential is 2^grade - 1 (Burges et al. 2005), linear the grade (Järvelin & Kekäläinen 2002); both give 0 to a
    grade below 0. A map gives what it says, and may be negative.

    Raises:
        MeasureError: the map does not hold the grade, or the exponential gain of it is no finite number.

    >>> gain_of(Gain(GainKind.EXPONENTIAL), 3)
    7.0
    >>> gain_of(Gain(GainKind.LINEAR), -1)
    0.0
    """
    return gain_function(gain)(grade)


@lru_cache(maxsize=64)
def gain_function(gain: Gain) -> Callable[[float], float]:
    """The function from a grade to its gain, for loops over many grades; raises as `gain_of`."""
    if gain.kind is GainKind.LINEAR:
        return _linear
    if gain.kind is GainKind.EXPONENTIAL:
        return _exponential
    return _mapped(gain)


def _linear(grade: float) -> float:
    return float(grade) if grade > 0 else 0.0


def _exponential(grade: float) -> float:
    if grade <= 0:
        return 0.0
    try:
        return float(2.0**grade) - 1.0
    except OverflowError:
        raise MeasureError(
            f"the exponential gain of grade {grade:g} is too large for a number; use gain: linear or a map"
        ) from None


def _mapped(gain: Gain) -> Callable[[float], float]:
    table = {float(grade): float(worth) for grade, worth in gain.table}

    def mapped(grade: float) -> float:
        try:
            return table[grade]
        except KeyError:
            raise MeasureError(f"grade {grade:g} has no gain: the map in use is {gain}") from None

    return mapped


def gains_of(gain: Gain, grades: Iterable[float | None], unjudged: float | None = None) -> list[float]:
    """The gain at each rank; an unjudged document (None) gains nothing, or as if its grade were *unjudged*."""
    worth = gain_function(gain)
    unknown = 0.0 if unjudged is None else worth(unjudged)
    return [unknown if grade is None else worth(grade) for grade in grades]


def ideal_gains(gain: Gain, judged: Iterable[float], cutoff: int | None) -> Sequence[float]:
    """
    The gains of the best ranking there can be: all judged documents of positive gain, best first, cut at *cutoff*.

    A document of negative gain is never in it: leaving it out is the best there is.
    """
    worth = gain_function(gain)
    return sorted((value for value in map(worth, judged) if value > 0), reverse=True)[:cutoff]


def finite(value: object) -> float | None:
    """
    *value* as a float where it is a finite number; None for a text, a truth value, NaN, or a number that is too large.

    >>> finite(3), finite("3"), finite(True), finite(10**400)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
