"""
How far two rankings agree, as a threshold names it: ``RBO``, ``RBO(p=0.8)@20``, ``overlap@10``.

These are written as measures are, but compare a ranking with another one, so no single run has a score of them.
"""

from __future__ import annotations

import re

from harness.errors import MeasureError
from harness.measures.grammar import take_apart
from harness.model import Measure, Parameter

__all__ = ["OVERLAP", "PERSISTENCE", "RBO", "begins_agreement", "read_agreement"]


RBO = "RBO"
OVERLAP = "overlap"
PERSISTENCE = 0.9
"""The p of RBO where none is given: 86 % of the weight is on the first ten ranks."""

_NAME = re.compile(rf"(?:{RBO}|{OVERLAP})(?![\w.])")


def begins_agreement(text: str, position: int) -> bool:
    """Whether the name of an agreement stands at *position* of *text*."""
    return _NAME.match(text, position) is not None


def read_agreement(text: str) -> Measure:
    """
    Read one agreement.

    Raises:
        MeasureError: It has a parameter that it does not know, or one that is out of range.

    >>> read_agreement("RBO( p = .80 )@10").text
    'RBO(p=0.8)@10'
    """
    parts = take_apart(text)
    parameters: tuple[tuple[str, Parameter], ...] = ()
    for name, value in parts.parameters:
        if parts.name.text != RBO or name.text != "p":
            known = "it has p" if parts.name.text == RBO else "it has none"
            raise MeasureError(f"{parts.name.text} has no parameter {name.text}; {known}", name.offset)
        if parameters:
            raise MeasureError("p is given twice", name.offset)
        parameters = (("p", _persistence(value.text, value.offset)),)
    inside = "".join(f"(p={value:g})" for _, value in parameters)
    cutoff = "" if parts.cutoff is None else f"@{parts.cutoff}"
    return Measure(parts.name.text, parts.cutoff, parameters, f"{parts.name.text}{inside}{cutoff}")


def _persistence(text: str, offset: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise MeasureError(f"RBO's p: found {text}, expected a number above 0 and below 1, such as 0.9", offset)
    return value
