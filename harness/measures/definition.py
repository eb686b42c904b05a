"""What the registry knows of a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from harness.measures.parameters import Kind
from harness.metrics.ranking import GradedRanking
from harness.model import Gain, Parameter

__all__ = ["Cutoff", "Definition", "Formula", "Needs", "Range", "Reach", "Settings"]

Range: TypeAlias = tuple[float | None, float | None]
"""The least and the greatest value that a measure can reach; None is without bound."""


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

    def given(self, name: str) -> bool:
        """Whether an optional parameter has a value."""
        return self.values.get(name) is not None


Formula: TypeAlias = Callable[[GradedRanking, Settings], float]
Reach: TypeAlias = Callable[[Settings], Range]


def unit_range(_: Settings) -> Range:
    """From 0 to 1, as most measures."""
    return 0.0, 1.0


@dataclass(frozen=True, slots=True)
class Definition:
    """
    A measure that can be written in a suite.

    *formula* computes it for one graded ranking, which is cut at the cutoff already. *parameters* maps each name that
    may stand in parentheses to its kind, in the order of the canonical text. *summed* marks counts, for which a sum
    over the queries says more than a mean. *reach* gives the range of its values. *batched*: `harness.measures.batched`
    has a formula for many queries at once.
    """

    name: str
    formula: Formula
    parameters: Mapping[str, Kind] = field(default_factory=dict)
    cutoff: Cutoff = Cutoff.OPTIONAL
    needs: Needs = Needs.RELEVANT
    reach: Reach = unit_range
    summed: bool = False
    batched: bool = False
