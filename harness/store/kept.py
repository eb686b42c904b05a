"""The queries of a kept run: made from rankings, and made rankings again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.errors import MeasureError, UnansweredBaseline
from harness.gate.stability import explain_changed_target
from harness.gate.ties import truncate_ranking
from harness.masking import Masker
from harness.metrics.measures import measures_of
from harness.metrics.quotes import find_quotes
from harness.metrics.run_scores import outcome_of
from harness.model.kept import Baseline, KeptQuery, KeptRun, Question
from harness.model.report import QueryReport, SuiteReport
from harness.model.run import Engine, Failure, FailureKind, FoundQuotes, Hit, Ranking, Response, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Query, Quote, Suite
from harness.store.what_changed import fingerprint_judgments
from harness.words import count, listed


def keep_query(
    suite: Suite, query: Query, ranking: Ranking, scores: Mapping[str, Score], question: Question
) -> KeptQuery:
    """
    What a baseline and a history both keep of *query*.

    Args:
        suite: Of the query.
        query: What is kept.
        ranking: Its hits, no more than the suite requests.
        scores: Of the query, by measure.
        question: What the request asked.
    """
    measures = measures_of(suite, query)
    values = {measure.text: scores[measure.text].value for measure in measures if measure.text in scores}
    # A kept ranking is judged anew by each run, so whether a result was right then does not matter.
    outcome, _ = outcome_of(replace(query, nothing=False), ranking)
    if values and all(value is None for value in values.values()):
        outcome = Outcome.UNDEFINED
    return KeptQuery(
        outcome=outcome,
        question=question.fingerprint,
        text=question.text,
        judgments=fingerprint_judgments(query),
        ranking=ranking.ids,
        scores=values,
        weight=query.weight,
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        found_quotes=_keep_quotes(suite, query, ranking),
    )


def _keep_quotes(suite: Suite, query: Query, ranking: Ranking) -> FoundQuotes | None:
    """The quotes in *ranking*, which is kept without texts; None where there are none, or the texts are not known."""
    if not query.quotes:
        return None
    # Nothing is looked up for the tail alone: a search template has no texts there.
    for with_tail in (True, False):
        with suppress(MeasureError):
            return find_quotes(query, ranking, suite.display.text or "", with_tail=with_tail)
    return None


def restore_ranking(kept: KeptQuery) -> Ranking:
    """The ranking of *kept*. A history has no scores of the engine: its scores are places, so the same hits tie."""
    scores, exact_scores = kept.engine_scores, kept.exact_scores
    if scores is None:
        places = list(range(len(kept.ranking)))
        for first, last in kept.ties:
            places[first - 1 : last] = [first - 1] * (last - first + 1)
        scores, exact_scores = tuple(-place for place in places), True
    hits = []
    for place, (document, score) in enumerate(zip(kept.ranking, scores, strict=True)):
        # Where the engine sorted by score no sort values are kept.
        sort = kept.sort[place] if place < len(kept.sort) else None
        hits.append(Hit(document, score, sort=sort))
    tail = _restore_tail(hits, kept.tail)
    return Ranking(
        tuple(hits), tail=tail, closed=kept.closed, exact_scores=exact_scores, found_quotes=kept.found_quotes
    )


def restore_responses(kept_run: KeptRun, queries: Iterable[str], depth: int) -> dict[str, Ranking]:
    """The rankings of *queries* in *kept_run*, at most *depth* hits of each."""
    return {query: truncate_ranking(restore_ranking(kept_run.queries[query]), depth) for query in queries}


@dataclass(frozen=True, slots=True)
class RestoredRun:
    """A kept run with the queries and the scores that were kept of it."""

    run: Run
    queries: tuple[Query, ...]
    """With the texts, tags and grades that were kept."""
    scores: tuple[Score, ...]


def restore_baseline(baseline: Baseline, request: str) -> RestoredRun:
    """All of *baseline*, that of *request*; it has no grades."""
    queries, scores = [], []
    for query, kept in baseline.queries.items():
        queries.append(Query(query, kept.text, weight=kept.weight))
        for measure, value in kept.scores.items():
            scores.append(Score(query, measure, value, Outcome.UNDEFINED if value is None else kept.outcome))
    return RestoredRun(restore_run(baseline, request, depth=baseline.depth), tuple(queries), tuple(scores))


def restore_report(report: SuiteReport) -> RestoredRun:
    """The run of *report*, without queries that were skipped. Secrets are masked in it."""
    responses: dict[str, Response] = {}
    queries: list[Query] = []
    scores: list[Score] = []
    for query in report.queries:
        if query.outcome is Outcome.SKIPPED:
            continue
        responses[query.id] = _restore_response(query)
        grades = _collect_grades(query)
        quotes = tuple(Quote(quote.text, quote.key, quote.grade, quote.document) for quote in query.quotes)
        restored = Query(query.id, query.text, tags=query.tags, judgments=grades, weight=query.weight)
        queries.append(replace(restored, nothing=query.nothing, quotes=quotes))
        scored = Outcome.SCORED if query.ranking else Outcome.ZERO_HITS
        unscored = query.outcome if query.outcome.is_unanswered else Outcome.UNDEFINED
        for measure, value in query.scores.items():
            outcome = unscored if value is None else scored
            scores.append(Score(query.id, measure, value, outcome, query.reason))
    run = Run(responses, report.engine, report.request, report.index, target_changed=report.target_changed)
    return RestoredRun(run, tuple(queries), tuple(scores))


def _restore_response(query: QueryReport) -> Response:
    """The response that *query* reports."""
    if query.outcome.is_unanswered:
        kind = FailureKind.NOT_RUN if query.outcome is Outcome.NOT_RUN else FailureKind.ERROR
        return query.failure or Failure(kind, query.reason)
    hits = tuple(Hit(document.id, document.score, document.title, sort=document.sort) for document in query.ranking)
    return Ranking(
        hits,
        query.total,
        query.timing.took,
        query.total_is_lower_bound,
        query.duplicates,
        tail=_restore_tail(hits, query.tail),
        closed=query.closed,
        exact_scores=query.exact_scores,
        to_last_byte=query.timing.to_last_byte,
        found_quotes=_restore_quotes(query),
    )


def _restore_quotes(query: QueryReport) -> FoundQuotes | None:
    """The quotes in the hits that *query* reports; its tail is reported without them."""
    if not query.quotes:
        return None
    shares: dict[str, dict[str, float]] = {}
    for quote in query.quotes:
        for rank, share in quote.hits:
            shares.setdefault(query.ranking[rank - 1].id, {})[quote.key] = share
    return FoundQuotes(tuple(quote.key for quote in query.quotes), shares)


def _restore_tail(hits: Sequence[Hit], documents: Sequence[str]) -> tuple[Hit, ...]:
    """The hits of *documents*, which tie with the last of *hits*, and so have its score and its sort values."""
    return tuple(Hit(document, hits[-1].score, sort=hits[-1].sort) for document in documents if hits)


def _collect_grades(query: QueryReport) -> dict[str, float]:
    """The grades in the report: of hits, of the ideal ranking and of relevant documents that were not found."""
    grades = {document.id: document.grade for document in (*query.ideal, *query.ranking)}
    grades.update({document.id: document.grade for document in query.missing})
    return {document: grade for document, grade in grades.items() if grade is not None}


def restore_run(baseline: Baseline, request: str, *, depth: int) -> Run:
    """The run that *baseline* was made from, at most *depth* hits of each query, to be scored like any other."""
    responses = restore_responses(baseline, baseline.queries, depth)
    return Run(responses, Engine("baseline", baseline.engine), request, facts=baseline.index)


def refuse_unanswered(suite: Suite, run: Run, what: str) -> None:
    """
    Refuse a run with queries that have no ranking and were not skipped, or on an index that changed meanwhile.

    *what* names the refused action, for the message.

    Raises:
        UnansweredBaseline: Names the queries, and why the first has no ranking.
    """
    unanswered = []
    for query in suite.queries:
        response = run.responses.get(query.id)
        outcome, _ = outcome_of(query, response)
        # A query that was skipped has no response.
        if not isinstance(response, Ranking) and outcome is not Outcome.SKIPPED:
            unanswered.append(query)
    if unanswered:
        names = listed([query.id for query in unanswered])
        _, reason = outcome_of(unanswered[0], run.responses.get(unanswered[0].id))
        sentence = f"{suite.path}: {what}: {count(len(unanswered), 'query')} had no answer ({names}): {reason}"
        raise UnansweredBaseline(Masker(suite.variables).mask(sentence))
    moving = explain_changed_target(run)
    if moving:
        raise UnansweredBaseline(f"{suite.path}: {what}: {moving}")
