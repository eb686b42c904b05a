"""
A run becomes scores: one a query and measure, each with its outcome.

What became of a query is never folded into a number. Only two outcomes have a value: SCORED, and ZERO_HITS, where the
engine answered with no document. See docs/outcomes.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.errors import UndefinedScore
from harness.measures import definition_of, gain_in_force, score_query
from harness.model import (
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

__all__ = ["failure_text", "gain_text", "measures_in_use", "score_of", "score_run"]


def measures_in_use(suite: Suite) -> tuple[Measure, ...]:
    """The suite's measures, then those that only its thresholds or those of its queries name; each once."""
    named = {measure.text: measure for measure in suite.measures}
    for threshold in _thresholds(suite):
        if isinstance(threshold.condition, ScoreCondition):
            named.setdefault(threshold.condition.measure.text, threshold.condition.measure)
    return tuple(named.values())


def score_run(suite: Suite, run: Run) -> tuple[Score, ...]:
    """
    Score every query of *suite* by every measure in use.

    Args:
        suite: Gives the judgments, the gain, the profile and the measures.
        run: The responses by query id. A query without one did not run, unless it is to be skipped.

    Returns:
        Scores in the order of the queries, then of the measures.
    """
    measures = measures_in_use(suite)
    return tuple(score_of(suite, query, measure, run) for query in suite.queries for measure in measures)


def score_of(suite: Suite, query: Query, measure: Measure, run: Run) -> Score:
    """One query's score of one measure, which need not be one of the suite's."""
    response = run.responses.get(query.id)
    if isinstance(response, Ranking):
        return _score_ranking(suite, query, measure, response)
    outcome, reason = _without_ranking(query, response)
    return Score(query.id, measure.text, None, outcome, reason)


def _score_ranking(suite: Suite, query: Query, measure: Measure, ranking: Ranking) -> Score:
    documents = [hit.id for hit in ranking.hits]
    scores = [hit.score for hit in ranking.hits]
    try:
        value = score_query(measure, documents, query.judgments, gain=suite.gain, profile=suite.profile, scores=scores)
    except UndefinedScore as error:
        return Score(query.id, measure.text, None, Outcome.UNDEFINED, str(error))
    if ranking.hits:
        return Score(query.id, measure.text, value, Outcome.SCORED)
    return Score(query.id, measure.text, value, Outcome.ZERO_HITS, "the engine returned no document")


def _without_ranking(query: Query, response: Response | None) -> tuple[Outcome, str]:
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


def _thresholds(suite: Suite) -> Iterator[Threshold]:
    yield from suite.thresholds
    for query in suite.queries:
        yield from query.thresholds
