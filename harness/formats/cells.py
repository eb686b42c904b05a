"""
Cells of CSV files that a spreadsheet would not leave as they are.

Who grades opens the file in a spreadsheet. A cell that begins with = + - or @ is a formula there, which may run, and an
id such as 007, 1e5 or 3-4 becomes a number or a date, and with it another id. An apostrophe in front makes a cell text.
Some programs keep it when they save the file and some do not, so ids are read with it and without it.
"""

from __future__ import annotations

import re

__all__ = ["mark_as_text", "without_mark"]

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER_OR_DATE = re.compile(r"[0-9][0-9.,:/eE+ -]*")
_KEPT_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
"""Fifteen digits are what a spreadsheet keeps of a whole number."""

_MARK = "'"


def mark_as_text(text: str) -> str:
    """
    *text* with an apostrophe in front where a spreadsheet would change it or take it for a formula.

    >>> [mark_as_text(text) for text in ("sku-1", "42", "007", "=1+1", "'=1+1")]
    ['sku-1', '42', "'007", "'=1+1", "''=1+1"]
    """
    return _MARK + text if _is_changed(text.lstrip(_MARK)) else text


def without_mark(text: str) -> str:
    """
    What `mark_as_text` was given, be the apostrophe kept or not; any other text as it is.

    >>> [without_mark(text) for text in ("'007", "007", "'t hart")]
    ['007', '007', "'t hart"]
    """
    return text[1:] if text.startswith(_MARK) and _is_changed(text.lstrip(_MARK)) else text


def _is_changed(text: str) -> bool:
    if _FORMULA.match(text):
        return True
    return _NUMBER_OR_DATE.fullmatch(text) is not None and _KEPT_NUMBER.fullmatch(text) is None
