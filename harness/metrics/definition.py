"""The definition of a measure: its formulas, the kinds of its parameters, its range."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from math import e, inf, isfinite
from typing import TYPE_CHECKING, Protocol, TypeAlias

from harness.errors import MeasureError, UsageError
from harness.metrics.ranking import DiverseRanking, GradedRanking, finite
from harness.model.suite import Gain, GainKind, Parameter
from harness.words import one_of

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Kind(Protocol):
    """A kind of parameter; *default* applies where the text does not give it, None for an optional one."""

    @property
    def default(self) -> Parameter | None:
        """The value where the text gives none."""

    def read(self, text: str) -> Parameter:
        """
        Parse the value in *text*.

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
        value = _read_number(text)
        inside = self.least < value < self.greatest if self.open_ends else self.least <= value <= self.greatest
        if not inside:
            raise MeasureError(f"expected {self._describe_limits()}, found {text}")
        return value

    def _describe_limits(self) -> str:
        if self.greatest == inf:
            return f"a number {'above' if self.open_ends else 'of at least'} {self.least:g}"
        if self.least == -inf:
            return f"a number {'below' if self.open_ends else 'of at most'} {self.greatest:g}"
        ends = ", exclusive" if self.open_ends else ""
        return f"a number from {self.least:g} to {self.greatest:g}{ends}"


@dataclass(frozen=True, slots=True)
class LogBase:
    """The base of a logarithm: a number above 1, or ``e``."""

    default: float = 2.0

    def read(self, text: str) -> float:
        """A base as a number."""
        if text == "e":
            return e
        value = _read_number(text)
        if value <= 1:
            raise MeasureError(f"expected the base of a logarithm, a number above 1 or e, found {text}")
        return value


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words."""

    default: str
    words: tuple[str, ...]

    def read(self, text: str) -> str:
        """The word itself."""
        if text not in self.words:
            raise MeasureError(f"expected {one_of(self.words)}, found {_quote(text)}{_suggest(text, self.words)}")
        return text


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    default: bool = False

    def read(self, text: str) -> bool:
        """``true`` or ``false``, also as Python writes them."""
        if text.lower() not in ("true", "false"):
            raise MeasureError(f"expected true or false, found {_quote(text)}")
        return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class GainChoice:
    """``exponential``, ``linear``, or a map ``{0: 0, 1: 1, 2: 3}`` from grade to gain."""

    default: None = None

    def read(self, text: str) -> Gain:
        """A gain; the table of a map is sorted by grade."""
        if text.startswith("{"):
            return Gain(GainKind.MAP, tuple(sorted(_read_table(text).items())))
        words = (GainKind.EXPONENTIAL.value, GainKind.LINEAR.value)
        if text not in words:
            message = f"expected {one_of(words)} or a map such as {{0: 0, 1: 1}}, found {_quote(text)}"
            raise MeasureError(message + _suggest(text, words))
        return Gain(GainKind(text))


def read_gain(given: object) -> Gain:
    """
    A gain from Python or a command line: a `Gain`, a map from grade to gain, or text as in a measure's parameter.

    Raises:
        UsageError: *given* is none of these.

    >>> str(read_gain("linear")), str(read_gain({0: 0, 3: 7}))
    ('linear', '{0: 0, 3: 7}')
    """
    source = given
    # A `Gain` that the user made is checked like any other: its fields may hold anything.
    if isinstance(given, Gain):
        with suppress(TypeError, ValueError):
            source = dict(given.table) if given.kind == GainKind.MAP else str(given.kind)
    if isinstance(source, Mapping):
        table: dict[float, float] = {}
        for key, value in source.items():
            grade, gain = finite(key), finite(value)
            if grade is not None and gain is not None:
                table[grade] = gain
        if len(table) == len(source):
            return Gain(GainKind.MAP, tuple(sorted(table.items())))
    elif isinstance(source, str):
        with suppress(MeasureError):
            return GainChoice().read(source.strip())
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


def _read_table(text: str) -> dict[float, float]:
    if not text.endswith("}"):
        raise MeasureError(f"expected }} at the end of the map {text}", len(text))
    table: dict[float, float] = {}
    end = 0
    for entry in text[1:-1].split(","):
        start, end = end + 1, end + 1 + len(entry)
        offset = start + len(entry) - len(entry.lstrip())
        grade_text, colon, gain_text = entry.partition(":")
        if not colon:
            raise MeasureError(f"expected grade: gain in the map, found {_quote(entry.strip())}", offset)
        try:
            grade, gain = _read_number(grade_text.strip()), _read_number(gain_text.strip())
        except MeasureError as error:
            raise MeasureError(f"in the map, {error}", offset) from None
        if grade in table:
            raise MeasureError(f"grade {as_text(grade)} occurs twice in the map", offset)
        table[grade] = gain
    return table


def _read_number(text: str) -> float:
    if not _NUMBER.fullmatch(text) or not isfinite(float(text)):
        raise MeasureError(f"expected a number, found {_quote(text)}")
    return float(text) + 0.0  # -0 is 0


def _quote(text: str) -> str:
    return text or "nothing"


def _suggest(text: str, words: tuple[str, ...]) -> str:
    near = get_close_matches(text, words, n=1)
    return f"; did you mean {near[0]}?" if near else ""


LEVEL: Mapping[str, Kind] = {"rel": Number(1.0, least=0.0)}
"""The least grade that is relevant."""

CONDENSED: Mapping[str, Kind] = {"judged_only": Flag()}
"""Unjudged documents are taken out of the ranking first."""

NEGATIVE: Mapping[str, Kind] = {"negative": Choice("judged", ("judged", "skipped"))}
"""Whether a grade below 0 is a judgment, or none."""

UNJUDGED: Mapping[str, Kind] = {"unjudged": Number(None, least=0.0)}
"""The grade of unjudged hits, in profiles that allow one."""


Range: TypeAlias = tuple[float | None, float | None]
"""The least and the greatest value that a measure can reach; None is without bound."""

SMALLEST_POSITIVE = 5e-324
"""The relevance level at which every grade above 0 is relevant."""


class Cutoff(Enum):
    """Whether a measure's text may end in ``@k``."""

    OPTIONAL = "optional"
    NONE = "none"


class Needs(Enum):
    """The judgments that a measure needs; without them, the score is undefined."""

    RELEVANT = "a document of at least the measure's relevance level"
    GAIN = "a document of positive gain"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Settings:
    """A measure ready to compute: its *cutoff*, the *gain* in force, the *values* of all parameters with defaults."""

    cutoff: int | None
    gain: Gain
    values: Mapping[str, Parameter | None] = field(default_factory=dict)
    level: float = field(init=False, repr=False, compare=False)
    """
    The least relevant grade: *rel*; where a scale's top is named instead, any grade above 0. Found once, as each score
    reads it: scripts/bench/runner --by-hand.
    """

    def __post_init__(self) -> None:
        level = 1.0
        if self.given("rel"):
            level = self.number("rel")
        elif self.given("max"):
            level = SMALLEST_POSITIVE
        object.__setattr__(self, "level", level)

    def number(self, name: str) -> float:
        """The value of a parameter that is a number."""
        value = self.values[name]
        if not isinstance(value, int | float):
            raise TypeError(f"parameter {name} holds {value!r}, not a number")
        return float(value)

    def word(self, name: str) -> str:
        """The value of a parameter that is a word."""
        return str(self.values[name])

    def optional(self, name: str) -> float | None:
        """The value of an optional parameter that is a number."""
        return self.number(name) if self.given(name) else None

    def given(self, name: str) -> bool:
        """Whether an optional parameter has a value."""
        return self.values.get(name) is not None

    @property
    def least_judged(self) -> float:
        """The least grade that is a judgment: with *negative* skipped, one below 0 is none."""
        return 0.0 if self.word("negative") == "skipped" else -inf


Formula: TypeAlias = Callable[[GradedRanking, Settings], float]
DiverseFormula: TypeAlias = Callable[[DiverseRanking, Settings], float]
BatchFormula: TypeAlias = "Callable[[Batch, Settings], FloatArray]"
Worth: TypeAlias = Callable[[float | None, Settings], float]


Reach: TypeAlias = Callable[[Settings], Range]
Check: TypeAlias = Callable[[Settings], str | None]


def unit_range(_: Settings) -> Range:
    """From 0 to 1, as most measures."""
    return 0.0, 1.0


def no_objection(_: Settings) -> str | None:
    """Any parameters go together."""
    return None


@dataclass(slots=True, eq=False)
class Definition:
    """
    A measure that can be written in a suite; equal to itself only. It decorates its formula, and is what that becomes.

    A formula for one query is enough. The others make it fast and its tie bands exact; each returns the same as the
    formula. Modules of formulas import numpy inside batch formulas only, so that scoring a few queries does not need
    it. The examples in their docstrings call `score_grades` of tests/unit/test_metrics_doctests.py.
    """

    name: str

    formula: Formula | None = None
    """The score of one ranking, which is graded and cut at the cutoff already; None for a measure of novelty."""

    parameters: Mapping[str, Kind] = field(default_factory=dict)
    """The kind of each name that may stand in parentheses, in the order of the canonical text."""

    cutoff: Cutoff = Cutoff.OPTIONAL
    needs: Needs = Needs.RELEVANT

    reach: Reach = unit_range
    """The range of its values."""

    summed: bool = False
    """Whether it is a count, whose sum over the queries means more than the mean."""

    check: Check = no_objection
    """The problem with parameters that exclude each other."""

    diverse: DiverseFormula | None = None
    """The score of one ranking with judgments by subtopic, for a measure of novelty."""

    at: str | None = None
    """The required parameter that is written behind ``@`` in place of a cutoff."""

    batch: BatchFormula | None = None
    """
    One float64 per query of a batch, of any value where a query lacks what the measure *needs*. Without it, many
    queries are scored one by one.
    """

    worth: Worth | None = None
    """
    The worth of a document with a grade, None for an unjudged one. Among documents of equal score, the ranking is best
    if those of more worth come first, and worst if they come last. Without it, orders are enumerated or sampled.
    """

    def __call__(self, formula: Formula) -> Definition:
        """Take *formula*, which is decorated with this definition."""
        self.formula = formula
        return self

    def add_diverse(self, formula: DiverseFormula) -> Definition:
        """Take the decorated *formula*, of rankings with judgments by subtopic."""
        self.diverse = formula
        return self

    def add_batch(self, formula: BatchFormula) -> BatchFormula:
        """Take the decorated *formula*, which scores many queries at once; it stays a function."""
        self.batch = formula
        return formula
