"""Reads a threshold or an expectation from left to right, and knows the place of everything it does not understand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NoReturn

from harness.errors import GrammarError, MeasureError
from harness.metrics import parse_measure
from harness.model import Measure, Operator

WORD = re.compile(r"\S+")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DECIMAL_COMMA = re.compile(r",\d+(?!\S)", re.ASCII)
_COMPARISON = re.compile(r"[<>=!≤≥]+")
_OPERATORS = ">=, >, <=, < or ="


class Cursor:
    """A place in the text that is read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.skip_blanks()

    def skip_blanks(self) -> None:
        """Go to what stands behind blanks."""
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What *pattern* matches here, and go past it and the blanks behind it."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()
            self.skip_blanks()
        return match

    def found(self) -> str:
        """What stands here, for an error."""
        word = WORD.match(self.text, self.position)
        return f"found {word.group()!r}" if word else "found the end"

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Refuse the text, at *offset* or here."""
        raise GrammarError(message, self.position if offset is None else offset)

    def expect_end(self, expected: str) -> None:
        """Refuse whatever stands behind this place."""
        if self.position < len(self.text):
            self.fail(f"{self.found()}, expected {expected}")

    def operator(self) -> Operator:
        """The comparison that stands here."""
        start = self.position
        match = self.take(_COMPARISON)
        if match is None:
            self.fail(f"{self.found()}, expected a comparison: {_OPERATORS}")
        try:
            return Operator(match.group())
        except ValueError:
            self.fail(f"found {match.group()!r}, expected a comparison: {_OPERATORS}", start)

    def at_most(self, what: str) -> None:
        """Go past ``<=``, the only comparison that limits *what*."""
        start = self.position
        operator = self.operator()
        if operator is not Operator.AT_MOST:
            self.fail(f"found {operator.value!r}, but {what} is only limited with '<='", start)

    def number(self, expected: str) -> float:
        """The finite number that stands here."""
        start = self.position
        match = self.take(NUMBER)
        if match is None:
            self.fail(f"{self.found()}, expected {expected}")
        decimals = _DECIMAL_COMMA.match(self.text, match.end())
        if decimals:
            found = match.group() + decimals.group()
            self.fail(f"found {found!r}, expected a decimal point: {found.replace(',', '.')}", start)
        value = float(match.group())
        if not math.isfinite(value):
            self.fail(f"{match.group()} is too large a number", start)
        return value

    def whole_number(self, expected: str, *, least: int) -> int:
        """The word that stands here, as a whole number of at least *least*."""
        start = self.position
        match = self.take(WORD)
        if match is None or re.fullmatch(r"[0-9]{1,9}", match.group()) is None or int(match.group()) < least:
            found = f"found {match.group()!r}" if match else "found the end"
            self.fail(f"{found}, expected {expected}, at least {least}", start)
        return int(match.group())

    def has_after_word(self, pattern: re.Pattern[str]) -> bool:
        """Whether *pattern* matches behind the word that stands here; blanks in brackets end no word."""
        end = _first_outside_brackets(self.text, self.position, str.isspace)
        while end < len(self.text) and self.text[end].isspace():
            end += 1
        return pattern.match(self.text, end) is not None

    def measure(self, *, one_word: bool = False) -> Measure:
        """The measure up to the comparison, or of *one_word*. Its own parameters hold = too, in brackets."""
        return self.measured(parse_measure, one_word=one_word)

    def measured(self, parse: Callable[[str], Measure], *, one_word: bool = False) -> Measure:
        """As `measure`, where *parse* reads the text that stands in a measure's place."""
        start = self.position
        end = _first_outside_brackets(self.text, start, lambda character: character in "<>=!≤≥")
        if end == len(self.text) or one_word:
            end = _first_outside_brackets(self.text, start, str.isspace)
        text = self.text[start:end].rstrip()
        if not text:
            self.fail(f"{self.found()}, expected a measure such as nDCG@10")
        self.position = end
        self.skip_blanks()
        try:
            return parse(text)
        except MeasureError as error:
            raise MeasureError(str(error), start + error.offset) from None


def _first_outside_brackets(text: str, start: int, wanted: Callable[[str], bool]) -> int:
    """Where the first *wanted* character stands, brackets skipped; the length of *text* where there is none."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in "([{") - (text[position] in ")]}")
        if depth <= 0 and wanted(text[position]):
            return position
    return len(text)
