"""How many queries would show an effect: from the differences of two runs on the queries that there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.errors import UsageError
from harness.means import mean
from harness.model.comparison import PLANNED_POWERS, MeasurePlan, PlannedQueries
from harness.statistics.compare import PairedScores
from harness.statistics.power import detectable_by_t, limit_spread, queries_by_t
from harness.statistics.tests import Alternative, effect_size
from harness.words import count

FEWEST_QUERIES = 6
"""Of fewer queries the spread is known so badly that no number of queries follows from it."""


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """The true mean difference that is to be found, above 0 and without sign, and the paired t test that finds it."""

    effect: float
    level: float = 0.05
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        if not 0 < self.effect < math.inf:
            raise UsageError(f"found the effect {self.effect:g}, expected a difference of means above 0, such as 0.02")
        if not 0 < self.level < min(PLANNED_POWERS):
            raise UsageError(
                f"found level {self.level:g}, expected one above 0 and below {min(PLANNED_POWERS):g}, such as 0.05"
            )


def plan_queries(pair: PairedScores, settings: PlanSettings) -> MeasurePlan:
    """
    How many queries would show the effect, for each of `PLANNED_POWERS`.

    The queries to come are taken to be like those of *pair*: their differences, each times its weight over the mean
    weight, have the same spread.
    """
    queries = len(pair.queries)
    difference = mean(pair.differences.tolist(), pair.weights)
    if queries < FEWEST_QUERIES:
        reason = f"{count(queries, 'query')} with a score on both sides, expected {FEWEST_QUERIES} or more"
        return MeasurePlan(pair.measure, queries, difference, reason=reason)
    spread = effect_size(pair.weighed).standard_deviation
    if not spread:
        reason = "the difference is the same for each query, so that nothing is known of its spread"
        return MeasurePlan(pair.measure, queries, difference, reason=reason)
    widest = limit_spread(pair.weighed)
    effect, level, alternative = settings.effect, settings.level, settings.alternative
    plans = [
        PlannedQueries(
            power=power,
            queries=queries_by_t(spread, effect, level=level, alternative=alternative, power=power),
            queries_at_most=queries_by_t(widest, effect, level=level, alternative=alternative, power=power),
            detectable=detectable_by_t(spread, queries, level=level, alternative=alternative, power=power),
        )
        for power in PLANNED_POWERS
    ]
    return MeasurePlan(pair.measure, queries, difference, spread, tuple(plans))
