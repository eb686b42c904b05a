"""What the registry knows of a measure: the parts of its text, and the kinds of its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from math import e, inf, isfinite
from typing import Protocol, TypeAlias

from harness.errors import MeasureError, UsageError
from harness.metrics.ranking import DiverseRanking, GradedRanking, finite
from harness.model import Gain, GainKind, Parameter

__all__ = [
    "CONDENSED",
    "LEVEL",
    "NEGATIVE",
    "UNJUDGED",
    "Choice",
    "Cutoff",
    "Definition",
    "DiverseFormula",
    "Flag",
    "Formula",
    "GainChoice",
    "Kind",
    "LogBase",
    "Needs",
    "Number",
    "Part",
    "Parts",
    "Range",
    "Reach",
    "Settings",
    "as_text",
    "read_gain",
    "take_apart",
]


# The text of a measure, taken apart.
#
# ::
#
#     measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
#     cutoff    = whole number of at least 1, or the number that a measure takes in its place
#     parameter = name "=" value
#     value     = word | number | "{" grade ":" gain { "," grade ":" gain } "}"
#
# Blanks may stand around every part. Offsets count characters from 0 in the text as given.


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


# The kinds of parameters that a measure's text can hold: how each is read, and how it is written again.


NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Kind(Protocol):
    """A kind of parameter; *default* is what holds where the text does not give it, None for an optional one."""

    @property
    def default(self) -> Parameter | None:
        """The value where the text gives none."""

    def read(self, text: str) -> Parameter:
        """
        The value that *text* stands for.

        Raises:
            MeasureError: what was expected and what was found, at its offset in *text*.
        """


@dataclass(frozen=True, slots=True)
class Number:
    """A number from *least* to *greatest*; with *open_ends* the ends themselves are not allowed."""

    default: float | None
    least: float = -inf
    greatest: float = inf
    open_ends: bool = False

    def read(self, text: str) -> float:
        """A decimal number within the limits."""
        value = _number(text)
        inside = self.least < value < self.greatest if self.open_ends else self.least <= value <= self.greatest
        if not inside:
            raise MeasureError(f"expected {self._limits()}, found {text}")
        return value

    def _limits(self) -> str:
        if self.greatest == inf:
            return f"a number {'above' if self.open_ends else 'of at least'} {self.least:g}"
        if self.least == -inf:
            return f"a number {'below' if self.open_ends else 'of at most'} {self.greatest:g}"
        ends = ", ends left out" if self.open_ends else ""
        return f"a number from {self.least:g} to {self.greatest:g}{ends}"


@dataclass(frozen=True, slots=True)
class LogBase:
    """The base of a logarithm: a number above 1, or ``e``."""

    default: float = 2.0

    def read(self, text: str) -> float:
        """A base as a number."""
        if text == "e":
            return e
        value = _number(text)
        if value <= 1:
            raise MeasureError(f"expected the base of a logarithm, a number above 1 or e, found {text}")
        return value


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    default: str
    words: tuple[str, ...]

    def read(self, text: str) -> str:
        """The word itself."""
        if text not in self.words:
            raise MeasureError(f"expected {_either(self.words)}, found {_shown(text)}{_nearest(text, self.words)}")
        return text


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    default: bool = False

    def read(self, text: str) -> bool:
        """``true`` or ``false``, also as Python writes them."""
        if text.lower() not in ("true", "false"):
            raise MeasureError(f"expected true or false, found {_shown(text)}")
        return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class GainChoice:
    """``exponential``, ``linear``, or a map ``{0: 0, 1: 1, 2: 3}`` from grade to gain."""

    default: None = None

    def read(self, text: str) -> Gain:
        """A gain; the table of a map is sorted by grade."""
        if text.startswith("{"):
            return Gain(GainKind.MAP, tuple(sorted(_table(text).items())))
        words = (GainKind.EXPONENTIAL.value, GainKind.LINEAR.value)
        if text not in words:
            message = f"expected {_either(words)} or a map such as {{0: 0, 1: 1}}, found {_shown(text)}"
            raise MeasureError(message + _nearest(text, words))
        return Gain(GainKind(text))


def read_gain(given: object) -> Gain:
    """
    A gain from Python or a command line: a `Gain`, a map from grade to gain, or text as a measure's parameter has it.

    Raises:
        UsageError: it is none of these.

    >>> str(read_gain("linear")), str(read_gain({0: 0, 3: 7}))
    ('linear', '{0: 0, 3: 7}')
    """
    known = given
    if isinstance(given, Gain):
        with suppress(TypeError, ValueError):
            known = dict(given.table) if given.kind == GainKind.MAP else str(given.kind)
    if isinstance(known, Mapping):
        table = {finite(grade): finite(worth) for grade, worth in known.items()}
        found = [(grade, worth) for grade, worth in table.items() if grade is not None and worth is not None]
        if len(found) == len(known):
            return Gain(GainKind.MAP, tuple(sorted(found)))
    elif isinstance(known, str):
        with suppress(MeasureError):
            return GainChoice().read(known.strip())
    raise UsageError(f"found {given!r} as gain, expected exponential, linear, or a map of grades as in {{0: 0, 1: 1}}")


def as_text(value: Parameter) -> str:
    """The canonical text of a parameter's value."""
    if isinstance(value, bool):
        return str(value).lower()
    if value == e:
        return "e"
    if isinstance(value, Gain) and value.kind is GainKind.MAP:
        return "{" + ", ".join(f"{as_text(grade)}: {as_text(worth)}" for grade, worth in value.table) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _table(text: str) -> dict[float, float]:
    if not text.endswith("}"):
        raise MeasureError(f"expected }} at the end of the map {text}", len(text))
    table: dict[float, float] = {}
    for entry, offset in _entries(text):
        grade_text, colon, gain_text = entry.partition(":")
        if not colon:
            raise MeasureError(f"expected grade: gain in the map, found {_shown(entry.strip())}", offset)
        try:
            grade, gain = _number(grade_text.strip()), _number(gain_text.strip())
        except MeasureError as error:
            raise MeasureError(f"in the map, {error}", offset) from None
        if grade in table:
            raise MeasureError(f"grade {as_text(grade)} stands twice in the map", offset)
        table[grade] = gain
    return table


def _entries(text: str) -> Iterator[tuple[str, int]]:
    offset = 1
    for entry in text[1:-1].split(","):
        yield entry, offset + len(entry) - len(entry.lstrip())
        offset += len(entry) + 1


def _number(text: str) -> float:
    if not NUMBER.fullmatch(text) or not isfinite(float(text)):
        raise MeasureError(f"expected a number, found {_shown(text)}")
    return float(text) + 0.0  # -0 is 0


def _shown(text: str) -> str:
    return text or "nothing"


def _either(words: tuple[str, ...]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _nearest(text: str, words: tuple[str, ...]) -> str:
    near = get_close_matches(text, words, n=1)
    return f"; did you mean {near[0]}?" if near else ""


LEVEL: Mapping[str, Kind] = {"rel": Number(1.0, least=0.0)}
"""The least grade that is relevant."""

CONDENSED: Mapping[str, Kind] = {"judged_only": Flag()}
"""Unjudged documents are taken out of the ranking first."""

NEGATIVE: Mapping[str, Kind] = {"negative": Choice("judged", ("judged", "skipped"))}
"""Whether a grade below 0 is a judgment, or none."""

UNJUDGED: Mapping[str, Kind] = {"unjudged": Number(None, least=0.0)}
"""The grade of unjudged hits, where a profile has such a thing."""


# What the registry knows of a measure.


Range: TypeAlias = tuple[float | None, float | None]
"""The least and the greatest value that a measure can reach; None is without bound."""

SMALLEST_POSITIVE = 5e-324
"""The relevance level at which every grade above 0 is relevant."""


class Cutoff(Enum):
    """Whether a measure's text may, must or must not end in ``@k``."""

    OPTIONAL = "optional"
    REQUIRED = "required"
    NONE = "none"


class Needs(Enum):
    """What must be judged before a measure has a value; where it is not, the score is undefined."""

    RELEVANT = "a document of at least the measure's relevance level"
    GAIN = "a document of positive gain"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Settings:
    """A measure made ready: its *cutoff*, the *gain* in force, the *values* of all parameters, defaults filled in."""

    cutoff: int | None
    gain: Gain
    values: Mapping[str, Parameter | None] = field(default_factory=dict)

    def number(self, name: str) -> float:
        """The value of a parameter that is a number."""
        value = self.values[name]
        if not isinstance(value, int | float):
            raise TypeError(f"parameter {name} holds {value!r}, not a number")
        return float(value)

    def word(self, name: str) -> str:
        """The value of a parameter that is a word."""
        return str(self.values[name])

    def given(self, name: str) -> bool:
        """Whether a parameter that need not be there has a value."""
        return self.values.get(name) is not None

    @property
    def level(self) -> float:
        """The least relevant grade: *rel*; where a scale's top is named instead, any grade above 0."""
        if self.given("rel"):
            return self.number("rel")
        return SMALLEST_POSITIVE if self.given("max") else 1.0


Formula: TypeAlias = Callable[[GradedRanking, Settings], float]
DiverseFormula: TypeAlias = Callable[[DiverseRanking, Settings], float]
Reach: TypeAlias = Callable[[Settings], Range]
Check: TypeAlias = Callable[[Settings], str | None]


def unit_range(_: Settings) -> Range:
    """From 0 to 1, as most measures."""
    return 0.0, 1.0


def no_objection(_: Settings) -> str | None:
    """Any parameters go together."""
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """
    A measure that can be written in a suite; equal to itself only.

    *formula* computes it for one graded ranking, which is cut at the cutoff already; a measure of novelty has a
    *diverse* formula instead, over judgments by subtopic. *parameters* maps each name that may stand in parentheses to
    its kind, in the order of the canonical text. *reach* gives the range of its values. *check* says what is wrong
    with parameters that do not go together. *summed* marks counts, for which a sum over the queries says more than a
    mean. *batched*: `harness.metrics.bulk.measures` has a formula for many queries at once. *at* names the parameter
    that stands behind ``@`` in place of a cutoff, and must be given.
    """

    name: str
    formula: Formula | None = None
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    cutoff: Cutoff = Cutoff.OPTIONAL
    needs: Needs = Needs.RELEVANT
    reach: Reach = unit_range
    summed: bool = False
    batched: bool = False
    check: Check = no_objection
    diverse: DiverseFormula | None = None
    at: str | None = None
