"""
Cells of CSV files that a spreadsheet would not leave as they are.

Who grades opens the file in a spreadsheet. A cell that begins with = + - or @ is a formula there, which may run, and an
id such as 007, 1e5 or 3-4 becomes a number or a date, and with it another id. An apostrophe in front makes a cell text.
Some programs keep it when they save the file and some do not, so ids are read with it and without it. Where a comma is
the decimal mark, columns are saved with semicolons between them.
"""

from __future__ import annotations

import re

__all__ = ["mark_as_text", "separator_of", "without_mark"]


_FORMULA = re.compile(r"[=+\-@\t\r]")
_CURRENCIES = "$€£¥"
_NUMBER_OR_DATE = re.compile(rf"[ .,({_CURRENCIES}-]*[0-9][0-9.,:/eE+ -]*(?:[ %){_CURRENCIES}]+|[aApP][mM]?)?")
_MONTHS = (
    "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|"
    "january|february|march|april|june|july|august|september|october|november|december"
)
_DATE_IN_WORDS = re.compile(rf"(?=.*[0-9])[0-9 .,/-]*(?:{_MONTHS})[0-9 .,/-]*", re.ASCII | re.IGNORECASE)
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
"""Written back in capitals, or in another language."""

_KEPT_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
"""Fifteen digits are what a spreadsheet keeps of a whole number."""

_MARK = "'"
_SEPARATORS = (",", ";", "\t")


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


def separator_of(header: str, column: str) -> str:
    """
    What parts the columns of a file with this *header*, by which one of them is called *column*; else a comma.

    >>> separator_of("query;document;grade", "query"), separator_of("query,document;grade", "query")
    (';', ',')
    """
    for separator in _SEPARATORS:
        if column in (name.strip().strip('"').strip() for name in header.split(separator)):
            return separator
    return ","


def _is_changed(text: str) -> bool:
    if _FORMULA.match(text) or _DATE_IN_WORDS.fullmatch(text) or _TRUTH.fullmatch(text):
        return True
    return _NUMBER_OR_DATE.fullmatch(text) is not None and _KEPT_NUMBER.fullmatch(text) is None
