"""What the registry knows of a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from harness.measures.parameters import Kind
from harness.metrics.ranking import DiverseRanking, GradedRanking
from harness.model import Gain, Parameter

__all__ = ["Cutoff", "Definition", "DiverseFormula", "Formula", "Needs", "Range", "Reach", "Settings"]


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
    mean. *batched*: `harness.measures.batched` has a formula for many queries at once. *at* names the parameter that
    stands behind ``@`` in place of a cutoff, and must be given.
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
