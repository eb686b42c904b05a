"""Which measures the queries of a suite have."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from harness.model.suite import (
    BaselineCondition,
    LossCondition,
    MachineShareCondition,
    Measure,
    Query,
    ScoreCondition,
    Suite,
    Threshold,
)

DEFAULT_MEASURE = "nDCG@10"
"""The measure of a suite that names none."""

DEFAULT_MEASURE_OF_QUOTES = "St_nDCG@10"
"""The same where queries have quotes alone."""


def common_measures(suite: Suite) -> tuple[Measure, ...]:
    """The measures of every query: the suite's, then those that its thresholds on all queries name."""
    measures_of_thresholds = [get_measure(threshold) for threshold in suite.thresholds if threshold.tag is None]
    return _list_distinct([*suite.measures, *measures_of_thresholds])


def measures_of(suite: Suite, query: Query) -> tuple[Measure, ...]:
    """
    The measures of *query*: the common ones, and those of thresholds on its tags and of its own.

    Other measures are left out, as they may be undefined for it. A query for which no result is right has none.
    """
    if query.nothing:
        return ()
    return _list_distinct([*measures_of_tags(suite, query.tags), *map(get_measure, query.thresholds)])


def measures_of_tags(suite: Suite, tags: Collection[str]) -> tuple[Measure, ...]:
    """The measures of a query with *tags* and without thresholds of its own, for which some result is right."""
    tagged = [threshold for threshold in suite.thresholds if threshold.tag in tags]
    return _list_distinct([*common_measures(suite), *map(get_measure, tagged)])


def get_measure(threshold: Threshold) -> Measure | None:
    """The measure whose scores *threshold* is about; None where it is about something else."""
    condition = threshold.condition
    if isinstance(condition, ScoreCondition | BaselineCondition | LossCondition):
        return condition.measure
    if isinstance(condition, MachineShareCondition):
        return condition.measure
    return None


def _list_distinct(measures: Iterable[Measure | None]) -> tuple[Measure, ...]:
    return tuple({measure.text: measure for measure in measures if measure is not None}.values())
