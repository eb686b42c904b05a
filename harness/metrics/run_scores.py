"""
A run becomes scores: one a query and measure, each with its outcome.

What became of a query is never folded into a number. Only two outcomes have a value: SCORED, and ZERO_HITS, where the
engine answered with no document. See docs/outcomes.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.registry import definition_of, gain_in_force
from harness.metrics.score import score_query
from harness.model import (
    BaselineCondition,
    Failure,
    FailureKind,
    Measure,
    Outcome,
    Query,
    Ranking,
    Response,
    Run,
    Score,
    ScoreCondition,
    Suite,
    Threshold,
)

__all__ = [
    "DEFAULT_MEASURE",
    "common_measures",
    "failure_text",
    "gain_text",
    "measure_named",
    "measures_of",
    "outcome_of",
    "score_of",
    "score_run",
]


DEFAULT_MEASURE = "nDCG@10"
"""That of a suite which names none."""


def common_measures(suite: Suite) -> tuple[Measure, ...]:
    """The measures that every query has a score of: the suite's, then those that its thresholds on all queries name."""
    of_thresholds = (measure_named(threshold) for threshold in suite.thresholds if threshold.tag is None)
    return _each_once([*suite.measures, *of_thresholds])


def measures_of(suite: Suite, query: Query) -> tuple[Measure, ...]:
    """
    The measures that *query* has a score of: the common ones, and those of thresholds on its tags and of its own.

    Others are left out, for a measure that nobody asks of a query can be undefined for it.
    """
    tagged = [threshold for threshold in suite.thresholds if threshold.tag in query.tags]
    return _each_once([*common_measures(suite), *map(measure_named, [*tagged, *query.thresholds])])


def score_run(suite: Suite, run: Run) -> tuple[Score, ...]:
    """
    Score every query of *suite* by every measure that is asked of it.

    Args:
        suite: Gives the judgments, the gain, the profile and the measures.
        run: The responses by query id. A query without one did not run, unless it is to be skipped.

    Returns:
        Scores in the order of the queries, then of the measures.
    """
    return tuple(
        score_of(suite, query, measure, run) for query in suite.queries for measure in measures_of(suite, query)
    )


def score_of(suite: Suite, query: Query, measure: Measure, run: Run) -> Score:
    """One query's score of one measure, which need not be one of the suite's."""
    response = run.responses.get(query.id)
    if isinstance(response, Ranking):
        return _score_ranking(suite, query, measure, response)
    outcome, reason = outcome_of(query, response)
    return Score(query.id, measure.text, None, outcome, reason)


def _score_ranking(suite: Suite, query: Query, measure: Measure, ranking: Ranking) -> Score:
    documents = [hit.id for hit in ranking.hits]
    scores = [hit.score for hit in ranking.hits]
    try:
        value = score_query(measure, documents, query.judgments, gain=suite.gain, profile=suite.profile, scores=scores)
    except UndefinedScore as error:
        return Score(query.id, measure.text, None, Outcome.UNDEFINED, str(error))
    except MeasureError as error:
        return Score(query.id, measure.text, None, Outcome.ERROR, str(error))
    return Score(query.id, measure.text, value, *outcome_of(query, ranking))


def outcome_of(query: Query, response: Response | None) -> tuple[Outcome, str]:
    """What became of *query* by its response alone, and why; whether it has a score is for a measure to say."""
    if isinstance(response, Ranking):
        return (Outcome.SCORED, "") if response.hits else (Outcome.ZERO_HITS, "the engine returned no document")
    if isinstance(response, Failure):
        kind = Outcome.NOT_RUN if response.kind is FailureKind.NOT_RUN else Outcome.ERROR
        return kind, failure_text(response)
    if query.skip is not None:
        return Outcome.SKIPPED, query.skip.reason
    return Outcome.NOT_RUN, "the query was not sent"


def gain_text(measure: Measure, suite: Suite) -> str:
    """The gain that *measure* is computed with in *suite*, in words; empty for a measure that knows no gain."""
    if "gain" not in definition_of(measure).parameters:
        return ""
    return str(gain_in_force(measure, suite.gain, suite.profile))


def failure_text(failure: Failure) -> str:
    """What went wrong with one query, in a line: the kind, the HTTP status where there is one, the engine's reason."""
    status = f" ({failure.status})" if failure.status is not None else ""
    return f"{failure.kind}{status}: {failure.reason}"


def measure_named(threshold: Threshold) -> Measure | None:
    """The measure whose scores *threshold* is about; None where it is about something else."""
    condition = threshold.condition
    return condition.measure if isinstance(condition, ScoreCondition | BaselineCondition) else None


def _each_once(measures: Iterable[Measure | None]) -> tuple[Measure, ...]:
    return tuple({measure.text: measure for measure in measures if measure is not None}.values())
