"""What a suite holds its rankings to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeAlias

from harness.model.measures import Measure
from harness.model.places import Mark

__all__ = [
    "AgreementCondition",
    "BaselineCondition",
    "Before",
    "Condition",
    "DropCondition",
    "HitCount",
    "InTop",
    "LatencyCondition",
    "Operator",
    "ScoreCondition",
    "SignificanceCondition",
    "StatisticKind",
    "Threshold",
    "Unresolved",
    "Waiver",
    "WorseCondition",
]


class StatisticKind(StrEnum):
    """What is compared: a figure over the queries, each query, a share of them, or the one query itself."""

    MEAN = "mean"
    MEDIAN = "median"
    EVERY = "every"
    SHARE = "share"
    QUERY = "query"


class Operator(StrEnum):
    """How observed and required compare; all allow 1e-9."""

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
    """``drop nDCG@10 is not significant at 5%``: chance may well explain the drop of the mean; *level* in (0, 0.5]."""

    measure: Measure
    level: float


@dataclass(frozen=True, slots=True)
class AgreementCondition:
    """
    ``mean RBO >= 0.9``, ``every overlap@10 >= 0.5``: how far the rankings agree with the baseline's.

    *agreement* is written as a measure is, but no judgment goes into it: rank-biased overlap or the share of documents
    in common, down to its cutoff, or to all hits that both have. The rest is as in `ScoreCondition`.
    """

    statistic: StatisticKind
    agreement: Measure
    operator: Operator
    required: float
    share: float | None = None


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
    """``sku-17 before sku-9``; holds too where only the first was returned, never where the first was not."""

    document: str
    other: str


@dataclass(frozen=True, slots=True)
class HitCount:
    """``hits >= 1``: the number of documents that match, as the engine counts them."""

    operator: Operator
    required: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A condition whose text holds ``${VARIABLES}``, its suite loaded without an environment; no run meets it."""

    variables: tuple[str, ...]


BaselineCondition: TypeAlias = DropCondition | WorseCondition | SignificanceCondition
"""What compares scores with a baseline's; `AgreementCondition` compares rankings."""

Condition: TypeAlias = (
    ScoreCondition | BaselineCondition | AgreementCondition | LatencyCondition | InTop | Before | HitCount | Unresolved
)


@dataclass(frozen=True, slots=True)
class Waiver:
    """Why something is expected to fail, or is left out, and the last day on which that holds."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """
    One line that a suite holds its rankings to: a threshold, or a rank expectation of one query.

    *text* is as written, *tag* limits it to the queries with that tag, *mark* is where it stands. With *warns* a
    shortfall is a warning.
    """

    text: str
    condition: Condition
    tag: str | None = None
    mark: Mark = Mark()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    markers: tuple[str, ...] = ()
    warns: bool = False
