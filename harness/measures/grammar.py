"""
The text of a measure, taken apart.

::

    measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    cutoff    = whole number of at least 1, or the number that a measure takes in its place
    parameter = name "=" value
    value     = word | number | "{" grade ":" gain { "," grade ":" gain } "}"

Blanks may stand around every part. Offsets count characters from 0 in the text as given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import MeasureError

__all__ = ["Part", "Parts", "take_apart"]


NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DIGITS = re.compile(r"[0-9]+")
LONGEST_CUTOFF = 9  # digits: a billion ranks


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the text and where it starts."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Parts:
    """A measure's text as read, before any name is looked up; *at* is what stands behind ``@``, None without one."""

    name: Part
    parameters: tuple[tuple[Part, Part], ...]
    at: Part | None

    @property
    def cutoff(self) -> int | None:
        """
        The cutoff, None where there is none.

        Raises:
            MeasureError: what stands behind ``@`` is no cutoff.
        """
        return None if self.at is None else _cutoff(self.at)


def take_apart(text: str) -> Parts:
    """
    Read the text of a measure.

    Raises:
        MeasureError: where the text leaves the grammar.
    """
    start = _skip_blanks(text, 0)
    match = NAME.match(text, start)
    if not match:
        raise MeasureError(f"expected the name of a measure, such as nDCG@10, found {_found(text, start)}", start)
    at = _skip_blanks(text, match.end())
    parameters: tuple[tuple[Part, Part], ...] = ()
    if text[at : at + 1] == "(":
        close = _closing(text, at)
        parameters = tuple(_parameters(text, at + 1, close))
        at = _skip_blanks(text, close + 1)
    behind = None
    if text[at : at + 1] == "@":
        at = _skip_blanks(text, at + 1)
        behind = Part(text[at:].rstrip(), at)
    elif at < len(text):
        raise MeasureError(f"expected @ and a cutoff, or the end, after {text[:at].strip()}, found {text[at:]!r}", at)
    return Parts(Part(match.group(), start), parameters, behind)


def _cutoff(at: Part) -> int:
    if not DIGITS.fullmatch(at.text):
        found = repr(at.text) if at.text else "nothing"
        raise MeasureError(f"expected a cutoff after @, a whole number of at least 1, found {found}", at.offset)
    digits = at.text.lstrip("0")
    if not digits:
        raise MeasureError(f"the cutoff must be at least 1, found {at.text}", at.offset)
    if len(digits) > LONGEST_CUTOFF:
        raise MeasureError(f"the cutoff {digits} is larger than any ranking", at.offset)
    return int(digits)


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis closes; braces of a gain map may hold commas, but no parentheses."""
    close = text.find(")", opening)
    if close < 0:
        raise MeasureError(f"the parenthesis of {text[: opening + 1].strip()} is never closed", opening)
    return close


def _parameters(text: str, start: int, end: int) -> Iterator[tuple[Part, Part]]:
    if not text[start:end].strip():
        raise MeasureError("expected a parameter such as rel=2 in the parentheses, found none", start)
    for piece_start, piece_end in _pieces(text, start, end):
        piece = text[piece_start:piece_end]
        name, equals, value = piece.partition("=")
        name_offset = piece_start + len(piece) - len(piece.lstrip())
        if not equals or not NAME.fullmatch(name.strip()):
            found = piece.strip() or "nothing"
            raise MeasureError(f"expected a parameter such as rel=2, found {found}", min(name_offset, piece_end))
        value_offset = piece_start + len(name) + 1 + len(value) - len(value.lstrip())
        if not value.strip():
            raise MeasureError(f"expected a value for {name.strip()}, found nothing", min(value_offset, piece_end))
        yield Part(name.strip(), name_offset), Part(value.strip(), value_offset)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut at the commas that stand outside braces."""
    depth = 0
    for at in range(start, end):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth <= 0:
            yield start, at
            start = at + 1
    yield start, end


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _found(text: str, at: int) -> str:
    return repr(text[at:]) if at < len(text) else "nothing"
