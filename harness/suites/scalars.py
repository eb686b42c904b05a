"""
What the models of a suite share: known keys only, and the types of its leaves: text, names, numbers, dates, JSON
values.
"""

from __future__ import annotations

import math
import re

_NULLS = {"", "~", "null", "Null", "NULL"}
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NOT_A_NUMBER = {".nan", ".NaN", ".NAN"}
_LONGEST_INTEGER = 300
"""Digits; Python refuses to convert some thousands of them, and no engine takes as many."""


def resolve(text: str) -> str | int | float | bool | None:
    """
    The value of a plain scalar.

    >>> [resolve(text) for text in ("12", "0x1F", "1e3", "true", "no", "012", "2027-01-01")]
    [12, 31, 1000.0, True, 'no', '012', '2027-01-01']
    """
    if text in _NULLS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    number = resolve_number(text)
    return text if number is None else number


def resolve_number(text: str) -> int | float | None:
    """The number that a plain scalar is, None where it is none; `.inf` and `.nan` are numbers."""
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INTEGER else math.inf
    if _RADIX.fullmatch(text):
        return int(text, 0) if len(text) <= _LONGEST_INTEGER else math.inf
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    return math.nan if text in _NOT_A_NUMBER else None
