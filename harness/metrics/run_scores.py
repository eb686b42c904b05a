"""The scores of a run with their outcomes, and what they are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.cumulative import DISCOUNTED, contributions
from harness.metrics.grammar import parse_measure
from harness.metrics.measures import DEFAULT_MEASURE, measures_of, measures_of_tags
from harness.metrics.profiles import rules_of
from harness.metrics.quotes import find_quotes
from harness.metrics.ranking import GradedRanking
from harness.metrics.registry import definition_of, gain_in_force
from harness.metrics.score import Scorer, make_scorer
from harness.model.run import Failure, FailureKind, FoundQuotes, Ranking, Response, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Measure, Query, Suite

if TYPE_CHECKING:
    from harness.model.inspection import Contributions


def contributions_of(suite: Suite, query: Query, ranking: Ranking) -> Contributions | None:
    """
    The DCG of *ranking* by rank, for the query's first nDCG or DCG, else for `DEFAULT_MEASURE`.

    None where the profile of *suite* has a formula of its own for the measure, a grade has no gain, or only quotes are
    judged.
    """
    from harness.model.inspection import Contributions

    if query.has_only_quotes:
        return None
    measure = parse_measure(DEFAULT_MEASURE)
    for measure_of_query in measures_of(suite, query):
        if measure_of_query.name in DISCOUNTED:
            measure = measure_of_query
            break
    scorer = make_scorer(definition_of(measure), measure, suite.gain, suite.profile)
    if scorer.has_own_formula:
        return None
    documents, scores = ranking.ids, ranking.scores
    try:
        ranks = contributions(scorer.grade(documents, query.judgments, scores), scorer.settings(query.judgments))
    except MeasureError:
        return None
    total = math.fsum(rank.adds for rank in ranks)
    ideal = total + math.fsum(rank.loses for rank in ranks)
    return Contributions(measure.text, gain_text(measure, suite), total, ideal, ranks)


def score_run(suite: Suite, run: Run) -> tuple[Score, ...]:
    """
    Score every query of *suite* by each of its measures.

    Args:
        suite: Gives the judgments, the gain, the profile and the measures.
        run: The responses by query id. A query without one did not run, unless it is to be skipped.

    Returns:
        Scores in the order of the queries, then of the measures.
    """
    # Many queries have few combinations of tags, and few measures: scripts/bench/runner.
    measures_by_tags: dict[tuple[str, ...], tuple[Measure, ...]] = {}
    scorers: dict[str, Scorer] = {}
    scores: list[Score] = []
    for query in suite.queries:
        if query.thresholds or query.nothing:
            measures = measures_of(suite, query)
        elif query.tags in measures_by_tags:
            measures = measures_by_tags[query.tags]
        else:
            measures = measures_of_tags(suite, query.tags)
            measures_by_tags[query.tags] = measures
        scores += _score_query(suite, query, measures, run.responses.get(query.id), scorers)
    return tuple(scores)


def score_of(suite: Suite, query: Query, measure: Measure, run: Run) -> Score:
    """One query's score of one measure, which need not be one of the suite's."""
    [score] = _score_query(suite, query, [measure], run.responses.get(query.id), {})
    return score


def _score_query(
    suite: Suite, query: Query, measures: Iterable[Measure], response: Response | None, scorers: dict[str, Scorer]
) -> Iterator[Score]:
    """The score of *query* by each of *measures*, whose *scorers* are kept by their text."""
    outcome, reason = outcome_of(query, response)
    # Where no result is right there is no score, also by a measure that needs no judgments and would be 0.
    if not isinstance(response, Ranking) or query.nothing:
        yield from (Score(query.id, measure.text, None, outcome, reason) for measure in measures)
        return
    if not query.judgments and not query.quotes and rules_of(suite.profile).skips_unjudged:
        reason = f"it has no judgments, and '{suite.profile}' leaves out such queries"
        yield from (Score(query.id, measure.text, None, Outcome.UNDEFINED, reason) for measure in measures)
        return
    ranked = _RankedQuery(suite, query, response)
    for measure in measures:
        try:
            scorer = scorers.get(measure.text)
            if scorer is None:
                scorer = make_scorer(definition_of(measure), measure, suite.gain, suite.profile)
                scorers[measure.text] = scorer
            value, machine_share = ranked.score(scorer)
        except UndefinedScore as error:
            yield Score(query.id, measure.text, None, Outcome.UNDEFINED, str(error))
        except MeasureError as error:
            yield Score(query.id, measure.text, None, Outcome.ERROR, str(error))
        else:
            yield Score(query.id, measure.text, value, outcome, reason, machine_share)


class _RankedQuery:
    """A query with its ranking, which measures of the same depth grade once."""

    def __init__(self, suite: Suite, query: Query, ranking: Ranking) -> None:
        self._suite, self._query, self._ranking = suite, query, ranking
        # In lists: a user's formula may change what it is given.
        self._documents, self._scores = list(ranking.ids), list(ranking.scores)
        self._graded: dict[tuple[int | None, bool], GradedRanking] = {}

    def score(self, scorer: Scorer) -> tuple[float, float | None]:
        """The score, and the share of machines' grades in it; raises as `score_query`."""
        query = self._query
        if scorer.is_of_novelty:
            return scorer.score_quotes(self._documents, self._scores, query, self._quotes_in_hits), None
        ranking = self._graded.get(scorer.depth)
        if ranking is None or not scorer.is_built_in:  # a user's formula may change the lists that it is given
            ranking = scorer.grade(self._documents, query.judgments, self._scores)
        if scorer.is_built_in:
            self._graded[scorer.depth] = ranking
        return scorer.score(ranking), scorer.find_machine_share(ranking, query)

    @cached_property
    def _quotes_in_hits(self) -> FoundQuotes:
        return find_quotes(self._query, self._ranking, self._suite.display.text or "")


def outcome_of(query: Query, response: Response | None) -> tuple[Outcome, str]:
    """The outcome of *query* by its response alone, with a reason; whether it has a score depends on the measure."""
    if isinstance(response, Ranking) and query.nothing:
        if response.ids or response.total:
            return Outcome.FALSE_HITS, "no result is right"
        return Outcome.NOTHING_FOUND, ""
    if isinstance(response, Ranking):
        return (Outcome.SCORED, "") if response.ids else (Outcome.ZERO_HITS, "the engine returned no document")
    if isinstance(response, Failure):
        kind = Outcome.NOT_RUN if response.kind is FailureKind.NOT_RUN else Outcome.ERROR
        return kind, failure_text(response)
    if query.skip is not None:
        return Outcome.SKIPPED, query.skip.reason
    return Outcome.NOT_RUN, "the query was not sent"


def gain_text(measure: Measure, suite: Suite) -> str:
    """The gain that *measure* is computed with in *suite*, in words; empty for a measure without gain."""
    if "gain" not in definition_of(measure).parameters:
        return ""
    return str(gain_in_force(measure, suite.gain, suite.profile))


def failure_text(failure: Failure) -> str:
    """The failure of one query in a line: the kind, the HTTP status if there is one, the engine's reason."""
    status = f" ({failure.status})" if failure.status is not None else ""
    return f"{failure.kind}{status}: {failure.reason}"
