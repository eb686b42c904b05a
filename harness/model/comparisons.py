"""Two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Comparison", "MeasureComparison"]


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """
    One measure of two runs over the queries that both scored.

    *difference* is candidate minus reference, with the limits of its confidence interval. *p_value* is of the test
    named in `Comparison`, *adjusted* corrected for the number of measures; *least_p* is the least that so many queries
    can give. *detectable* is the smallest true difference that so many queries of such spread would show with 80 %
    power, None without spread. *moved* holds (query, reference, candidate), the greatest change first.
    """

    measure: str
    queries: int
    reference: float
    candidate: float
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    least_p: float
    wins: int
    ties: int
    losses: int
    effect: float | None
    detectable: float | None
    moved: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    A candidate run beside a reference run, measure by measure, and how that was tested.

    *left_out* counts by measure the queries that were not scored in both.
    """

    reference: str
    candidate: str
    test: str
    alternative: str
    level: float
    correction: str
    measures: tuple[MeasureComparison, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    samples: int = 0
    seed: int = 0
