"""The rows of tables: CSV and JSON lines, and the cells that spreadsheets change."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from io import StringIO

from harness.files.opening import NOT_TEXT
from harness.model.suite import Json

# Cells of spreadsheets.

# Judges open files in a spreadsheet. A cell that begins with = + - or @ is a formula there, which may be executed, and
# an id such as 007, 1e5 or 3-4 becomes a number or a date, and so another id. A leading apostrophe makes a cell text.
# Some programs keep it when they save the file and some do not, so ids are read with it and without it. Where a comma
# is the decimal mark, columns are saved with semicolons between them: there a semicolon in a cell begins another one.


_BLANKS = r"[\s\ufeff\u200b\u2060]*"
"""Before a sign some programs leave them out."""

_SIGNS = r"[=+\-@＝＋－＠﹢﹣﹦﹫]"
"""What begins a formula; East Asian spreadsheets take the full-width and small forms too."""

_FORMULA = re.compile(rf"{_BLANKS}{_SIGNS}|[\t\r]")
# A tab begins a cell of its own, and is no blank here: a mark behind it would hide the one before it from the reader.
_BLANKS_INSIDE = r"(?:(?!\t)[\s\ufeff\u200b\u2060])*"
_FORMULA_INSIDE = re.compile(rf"(;|(?<!^)\t)('*)(?={_BLANKS_INSIDE}{_SIGNS})")
_MARKED_INSIDE = re.compile(rf"(;|(?<!^)\t)'('*)(?={_BLANKS_INSIDE}{_SIGNS})")
_CURRENCIES = "$€£¥"
_NUMBER_OR_DATE = re.compile(rf"[ .,({_CURRENCIES}-]*[0-9][0-9.,:/eE+ -]*(?:[ %){_CURRENCIES}]+|[aApP][mM]?)?")
_MONTHS = (
    "jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|"
    "january|february|march|april|june|july|august|september|october|november|december"
)
_DATE_IN_WORDS = re.compile(rf"(?=.*[0-9])[0-9 .,/-]*(?:{_MONTHS})[0-9 .,/-]*", re.ASCII | re.IGNORECASE)
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
"""Truth values, which spreadsheets write back in capitals, or in another language."""

_KEPT_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
"""Whole numbers that a spreadsheet keeps exactly: up to fifteen digits."""

_WRAPPED_TEXT = re.compile(r'="[^"]*"')
_ROUNDED_NUMBER = re.compile(r"-?[0-9](?:[.,][0-9]+)?E\+[0-9]{2,3}")
_ERROR_VALUE = re.compile(r"#(?:[^\W\d_]{2,}(?:/0)?[?!]|N/A|##+)")
"""What a cell holds instead of an id; names of errors are translated, as ``#NOM?``."""

_MARK = "'"


def mark_as_text(text: str) -> str:
    """
    *text* with an apostrophe in front where a spreadsheet would change it or take it for a formula, also of a part.

    >>> [mark_as_text(text) for text in ("sku-1", "42", "007", "=1+1", "'=1+1", "a;=1")]
    ['sku-1', '42', "'007", "'=1+1", "''=1+1", "a;'=1"]
    """
    text = _FORMULA_INSIDE.sub(r"\1'\2", text)
    return _MARK + text if _is_changed(text.lstrip(_MARK)) else text


def remove_mark(text: str) -> str:
    """
    The text before `mark_as_text`, whether a spreadsheet kept the apostrophe or not; other texts are not changed.

    >>> [remove_mark(text) for text in ("'007", "007", "'t hart")]
    ['007', '007', "'t hart"]
    """
    if text.startswith(_MARK) and _is_changed(text.lstrip(_MARK)):
        text = text[1:]
    return _MARKED_INSIDE.sub(r"\1\2", text)


def find_damage(text: str) -> str | None:
    """
    What a spreadsheet did to an id that is *text* now; None if it does not look damaged.

    >>> find_damage('="007"'), find_damage("1.23457E+11"), find_damage("#NAME?"), find_damage("sku-1")
    ('a formula around a text', 'a rounded number', 'an error value', None)
    """
    if _WRAPPED_TEXT.fullmatch(text):
        return "a formula around a text"
    if _ROUNDED_NUMBER.fullmatch(text):
        return "a rounded number"
    if _ERROR_VALUE.fullmatch(text) and text == text.upper():
        return "an error value"
    return None


def _is_changed(text: str) -> bool:
    if _FORMULA.match(text) or _DATE_IN_WORDS.fullmatch(text) or _TRUTH.fullmatch(text):
        return True
    return _NUMBER_OR_DATE.fullmatch(text) is not None and _KEPT_NUMBER.fullmatch(text) is None


# Writing.


def format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """
    CSV that a spreadsheet opens: texts are marked where it would change them, numbers are as they are.

    Text beyond ASCII begins with a byte order mark: without it, spreadsheets do not read it as UTF-8, and write other
    ids back.
    """
    marked = [[_mark_cell(cell) for cell in row] for row in (columns, *rows)]
    text = format_rows(marked)
    return text if text.isascii() else f"\ufeff{text}"


def _mark_cell(cell: object) -> object:
    return mark_as_text(cell) if isinstance(cell, str) else cell


def format_rows(rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """*rows* as lines of CSV, with no text changed."""
    text = StringIO()
    csv.writer(text, lineterminator="\n", delimiter=separator).writerows(rows)
    return text.getvalue()


def is_unwritable(text: str) -> bool:
    """Whether *text* cannot be read back from CSV: it has control characters, a carriage return or a lone surrogate."""
    return "\r" in text or NOT_TEXT.search(text) is not None


def format_json_lines(entries: Iterable[Json]) -> str:
    """*entries* as JSON lines; what a text file must not contain, such as NUL, is escaped."""
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    return NOT_TEXT.sub(lambda match: json.dumps(match[0])[1:-1], lines)
