"""What a threshold or a rank expectation requires: one type for each form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from harness.model.measure import Measure


class StatisticKind(StrEnum):
    """What a threshold compares: a mean or median, every query, a share of them, or one query."""

    MEAN = "mean"
    MEDIAN = "median"
    EVERY = "every"
    SHARE = "share"
    QUERY = "query"


class Operator(StrEnum):
    """Compares the observed with the required value; values that differ by at most 1e-9 are equal."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class ScoreCondition:
    """``mean nDCG@10 >= 0.8``; *share* is a fraction in (0, 1]. On a query's own threshold, *statistic* is QUERY."""

    statistic: StatisticKind
    measure: Measure
    operator: Operator
    required: float
    share: float | None = None


@dataclass(frozen=True, slots=True)
class DropCondition:
    """
    ``drop nDCG@10 <= 0.02``: how far below the baseline the mean, or *every* query, may be.

    *allowed* is a difference of scores, or a fraction of the baseline's score where *relative* (``2 %`` is 0.02).
    """

    measure: Measure
    allowed: float
    every: bool = False
    relative: bool = False


@dataclass(frozen=True, slots=True)
class WorseCondition:
    """
    ``worse nDCG@10 by 0.1 <= 3 queries``: how many queries may be further below the baseline than *by*.

    *allowed* is a number of queries, or a fraction of those compared where *relative* (``5 %`` is 0.05).
    """

    measure: Measure
    by: float
    allowed: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class SignificanceCondition:
    """``drop nDCG@10 is not significant at 5%``: the drop of the mean is not significant; *level* in (0, 0.5]."""

    measure: Measure
    level: float


@dataclass(frozen=True, slots=True)
class AgreementCondition:
    """
    ``mean RBO >= 0.9``, ``every overlap@10 >= 0.5``: how far the rankings agree with the baseline's.

    *agreement* is written like a measure, but needs no judgments: rank-biased overlap (RBO), or the share of documents
    in common (overlap). Without a cutoff it compares as many ranks as both runs requested. The other fields are those
    of `ScoreCondition`.
    """

    statistic: StatisticKind
    agreement: Measure
    operator: Operator
    required: float
    share: float | None = None

    @property
    def as_score(self) -> ScoreCondition:
        """The same requirement of scores, to be judged as these are."""
        return ScoreCondition(self.statistic, self.agreement, self.operator, self.required, self.share)


@dataclass(frozen=True, slots=True)
class LatencyCondition:
    """``p95 latency <= 200 ms`` over the engine's own `took`; *percentile* is 50, 95, 99 or 100 (max)."""

    percentile: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class InTop:
    """``sku-17 in top 3``, or ``not in top``."""

    document: str
    k: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """``sku-17 before sku-9``; it holds if only the first was returned, and fails if the first was not returned."""

    document: str
    other: str


@dataclass(frozen=True, slots=True)
class HitCount:
    """``hits >= 1``: the number of documents that match, as the engine counts them."""

    operator: Operator
    required: int


@dataclass(frozen=True, slots=True)
class UnresolvedCondition:
    """A condition whose text has ``${VARIABLES}``, in a suite loaded without an environment."""

    variables: tuple[str, ...]


BaselineCondition: TypeAlias = DropCondition | WorseCondition | SignificanceCondition
"""Conditions that compare scores with a baseline's; `AgreementCondition` compares rankings."""


Condition: TypeAlias = (
    ScoreCondition
    | BaselineCondition
    | AgreementCondition
    | LatencyCondition
    | InTop
    | Before
    | HitCount
    | UnresolvedCondition
)
