"""What a run found out, put together for the reports: pure, from the suite, its run, the scores and the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from harness.gate.aggregates import mean, median
from harness.gate.sentences import listed
from harness.metrics.gain import gain_of
from harness.model import (
    Gain,
    Hit,
    Measure,
    MeasureSummary,
    MissingDocument,
    Outcome,
    Query,
    QueryReport,
    RankedDocument,
    Ranking,
    Response,
    Run,
    Score,
    Suite,
    SuiteReport,
    Verdict,
)
from harness.scoring import common_measures, gain_text, outcome_of

__all__ = ["assemble"]


def assemble(
    suite: Suite,
    run: Run,
    scores: Sequence[Score],
    verdicts: Sequence[Verdict],
    *,
    located: Mapping[str, tuple[MissingDocument, ...]],
    cluster: str,
    deselected: int = 0,
    notes: Iterable[str] = (),
) -> SuiteReport:
    """
    Put one suite's report together.

    Args:
        suite: With the queries that were selected only.
        run: Their responses.
        scores: Of every selected query and every measure that is asked of it.
        verdicts: As the gate gave them.
        located: Missing relevant documents of the queries for which a deeper search was made.
        cluster: The name or the URL of what answered.
        deselected: How many queries were not selected.
        notes: Sentences that stand before those found here.
    """
    by_query: dict[str, list[Score]] = {query.id: [] for query in suite.queries}
    for score in scores:
        by_query[score.query].append(score)
    queries = tuple(_query_report(suite, query, run, by_query[query.id], located) for query in suite.queries)
    return SuiteReport(
        name=suite.name,
        path=suite.path,
        request=run.request,
        cluster=cluster,
        index=run.index,
        engine=run.engine,
        profile=suite.profile,
        gain=str(suite.gain),
        depth=suite.depth,
        summaries=tuple(_summary(suite, measure, scores) for measure in common_measures(suite)),
        verdicts=tuple(verdicts),
        queries=queries,
        seconds=run.seconds,
        notes=(*notes, *_notes(queries, verdicts)),
        deselected=deselected,
    )


def _missing(query: Query, ranking: Ranking, gain: Gain) -> tuple[MissingDocument, ...]:
    """The documents of positive gain that *ranking* does not hold, best first; where they rank is not known here."""
    returned = {hit.id for hit in ranking.hits}
    return tuple(
        MissingDocument(document, query.judgments[document])
        for document in _relevant(query, gain)
        if document not in returned
    )


def _query_report(
    suite: Suite,
    query: Query,
    run: Run,
    scores: Sequence[Score],
    located: Mapping[str, tuple[MissingDocument, ...]],
) -> QueryReport:
    response = run.responses.get(query.id)
    ranking = response if isinstance(response, Ranking) else Ranking()
    outcome, reason = _outcome(query, response, scores)
    answered = isinstance(response, Ranking)
    missing = located.get(query.id) or (_missing(query, ranking, suite.gain) if answered else ())
    return QueryReport(
        id=query.id,
        text=query.text,
        outcome=outcome,
        reason=reason,
        tags=query.tags,
        scores={score.measure: score.value for score in scores},
        ranking=_ranked(ranking, query, suite.gain),
        ideal=_ideal(ranking, query, suite),
        missing=missing,
        total=ranking.total,
        took=ranking.took,
        judged=len(query.judgments),
        duplicates=ranking.duplicates,
    )


def _outcome(query: Query, response: Response | None, scores: Sequence[Score]) -> tuple[Outcome, str]:
    """What became of a query as a whole: an undefined score comes before others, for it is what a person must mend."""
    undefined = [score for score in scores if score.outcome is Outcome.UNDEFINED]
    if undefined:
        return Outcome.UNDEFINED, f"{', '.join(score.measure for score in undefined)}: {undefined[0].reason}"
    return outcome_of(query, response)


def _ranked(ranking: Ranking, query: Query, gain: Gain) -> tuple[RankedDocument, ...]:
    scores = [hit.score for hit in ranking.hits]
    return tuple(
        RankedDocument(
            rank=rank,
            id=hit.id,
            grade=query.judgments.get(hit.id),
            gain=_gain(query, hit.id, gain),
            score=hit.score,
            title=hit.title,
            tied=hit.score is not None and hit.score in scores[max(rank - 2, 0) : rank - 1] + scores[rank : rank + 1],
        )
        for rank, hit in enumerate(ranking.hits, start=1)
    )


def _ideal(ranking: Ranking, query: Query, suite: Suite) -> tuple[RankedDocument, ...]:
    returned: dict[str, Hit] = {hit.id: hit for hit in ranking.hits}
    best = _relevant(query, suite.gain)[: suite.depth]
    return tuple(
        RankedDocument(
            rank=rank,
            id=document,
            grade=query.judgments[document],
            gain=_gain(query, document, suite.gain),
            title=returned[document].title if document in returned else None,
        )
        for rank, document in enumerate(best, start=1)
    )


def _relevant(query: Query, gain: Gain) -> list[str]:
    """Documents of positive gain: the greatest gain first, equal ones by grade, then by id."""
    ordered = sorted((-gain_of(gain, grade), -grade, document) for document, grade in query.judgments.items())
    return [document for negative_gain, _, document in ordered if negative_gain < 0]


def _gain(query: Query, document: str, gain: Gain) -> float | None:
    return gain_of(gain, query.judgments[document]) if document in query.judgments else None


def _summary(suite: Suite, measure: Measure, scores: Iterable[Score]) -> MeasureSummary:
    of_measure = [score for score in scores if score.measure == measure.text]
    values = [score.value for score in of_measure if score.value is not None]
    return MeasureSummary(
        measure=measure.text,
        gain=gain_text(measure, suite),
        mean=mean(values) if values else None,
        median=median(values) if values else None,
        least=min(values, default=None),
        greatest=max(values, default=None),
        counted=len(values),
        left_out=len(of_measure) - len(values),
    )


def _notes(queries: Sequence[QueryReport], verdicts: Sequence[Verdict]) -> list[str]:
    notes = [] if verdicts else ["no thresholds: nothing was gated"]
    hits = [document for query in queries for document in query.ranking]
    if hits:
        judged = sum(document.grade is not None for document in hits)
        notes.append(f"{judged} of {len(hits)} hits are judged ({judged / len(hits):.1%})")
    twice = [query.id for query in queries if query.duplicates]
    if twice:
        notes.append(f"documents returned twice are counted once: {listed(twice)}")
    return notes
