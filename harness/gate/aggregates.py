"""Thresholds on a measure: mean, median, every query, a share of them, one query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from harness.gate.comparing import merit
from harness.model import ScoreCondition, StatisticKind
from harness.statistics.means import mean, mean_of

__all__ = ["aggregate", "costliest_first", "median", "queries_required", "worst_first"]


def median(values: Sequence[float]) -> float:
    """The middle one of *values*, or the mean of the two in the middle."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return mean(ordered[middle - 1 : middle + 1])


def queries_required(share: float, counted: int) -> int:
    """
    How many of *counted* queries make up *share* of them: the least whole number that is not less.

    The share is taken as the decimal fraction that was written, since 0.07 * 100 is a little more than 7 in binary.

    >>> queries_required(0.95, 20), queries_required(0.95, 21), queries_required(0.07, 100)
    (19, 20, 7)
    """
    return math.ceil(Fraction(share).limit_denominator(10**9) * counted)


def worst_first(condition: ScoreCondition, values: Mapping[str, float]) -> list[str]:
    """The queries of *values* by how far they miss what the condition asks of one query; equal ones by their id."""

    def order(query: str) -> tuple[float, str]:
        return merit(values[query], condition.operator, condition.required), query

    return sorted(values, key=order)


def costliest_first(
    condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float], short: Iterable[str]
) -> list[str]:
    """The queries *short* of what is required, by what each costs the mean: its weight times what it lacks."""

    def order(query: str) -> tuple[float, str]:
        return -weights[query] * abs(values[query] - condition.required), query

    return sorted(short, key=order)


def aggregate(condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """
    The one value, in the measure's unit, that decides the condition when it is compared with what is required.

    For `every` it is the worst value; for a share, the worst of the best queries that make up the share. Only the mean
    asks what the queries weigh.
    """
    if condition.statistic is StatisticKind.MEAN:
        return mean_of(values, weights)
    if condition.statistic is StatisticKind.MEDIAN:
        return median(list(values.values()))
    ordered = worst_first(condition, values)
    if condition.statistic is not StatisticKind.SHARE:
        return values[ordered[0]]
    return values[ordered[-queries_required(condition.share or 1.0, len(ordered))]]
