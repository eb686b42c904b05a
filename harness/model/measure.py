"""Measures with their parameters, the gain of a grade, and the profiles that reproduce other systems."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class GainKind(StrEnum):
    """How a grade becomes a gain."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Gain:
    """
    The gain of a grade.

    EXPONENTIAL is 2^grade - 1 (Burges et al. 2005). LINEAR is the grade itself (Järvelin & Kekäläinen 2002). Both are
    0 for grades below 0. MAP looks the grade up in *table*, pairs of grade and gain; a gain there may be negative.
    """

    kind: GainKind = GainKind.EXPONENTIAL
    table: tuple[tuple[float, float], ...] = ()

    def __str__(self) -> str:
        if self.kind is not GainKind.MAP:
            return str(self.kind)
        return "{" + ", ".join(f"{_exact(grade)}: {_exact(gain)}" for grade, gain in self.table) + "}"


def _exact(number: float) -> str:
    """The shortest text that parses to the same number: a gain is parsed from its text."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


Parameter: TypeAlias = str | int | float | bool | Gain


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A metric with its parameters and its cutoff: ``nDCG(gain=linear)@10``.

    *name* is the metric's name in the registry. *parameters* are those that the text gives, in the registry's order.
    *cutoff* is None for the whole ranking. *text* is canonical: it identifies the measure in suites, scores, baselines
    and reports. `harness.metrics.parse_measure` builds measures; `read_agreement` builds those that compare rankings.
    """

    name: str
    cutoff: int | None
    parameters: tuple[tuple[str, Parameter], ...]
    text: str

    def __str__(self) -> str:
        return self.text


class Profile(StrEnum):
    """The system whose scores are reproduced."""

    STANDARD = "standard"
    TREC = "trec"
    RANK_EVAL = "rank_eval"
    OPENSEARCH_SRW = "opensearch-srw"
    OPENSEARCH_SRW_3_5 = "opensearch-srw-3.5"
    QUEPID = "quepid"
    RRE = "rre"
