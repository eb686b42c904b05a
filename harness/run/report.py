"""What a run found out, put together for the reports: pure, from the suite, its run, the scores and the verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from types import MappingProxyType
from typing import TypeAlias

from harness.baseline.differences import compare_queries, left_out_note
from harness.gate.judge_answers import why_moving
from harness.gate.judge_scores import median
from harness.gate.repeats import unstable_queries
from harness.gate.scope import weights_of
from harness.gate.selection import compares_with_baseline
from harness.gate.ties import leaves_ties, tie_break
from harness.masking import question_fingerprint
from harness.means import mean_of, weighed
from harness.metrics.ranking import gain_of
from harness.metrics.score import common_measures, gain_text, outcome_of
from harness.model import (
    Absence,
    BaselineSummary,
    Before,
    Failure,
    Gain,
    Hit,
    InTop,
    MeanChange,
    MeasureSummary,
    MissingDocument,
    Outcome,
    Query,
    QueryBaseline,
    QueryReport,
    QueryTiming,
    RankedDocument,
    Ranking,
    Reference,
    RepeatSummary,
    RequestTemplate,
    Response,
    Run,
    Score,
    SentRequest,
    Suite,
    SuiteReport,
    SuiteTiming,
    TagSummary,
    TargetChecks,
    Verdict,
)
from harness.words import count, listed

# Summaries.


_Scores: TypeAlias = Mapping[tuple[str, str], Score]

_NOTHING: Mapping[str, QueryBaseline] = MappingProxyType({})


def measure_summaries(
    suite: Suite, scores: Iterable[Score], before: Mapping[str, QueryBaseline] = _NOTHING
) -> tuple[MeasureSummary, ...]:
    """
    Each measure that every query of *suite* has a score of, over them all; a query without a value is left out.

    *before* are the queries in the baseline, by id.
    """
    return _summaries(suite.queries, _gains(suite), _by_query(scores), before)


def tag_summaries(
    suite: Suite,
    scores: Iterable[Score],
    verdicts: Sequence[Verdict],
    before: Mapping[str, QueryBaseline] = _NOTHING,
) -> tuple[TagSummary, ...]:
    """
    The same figures over the queries of each tag, and over those without any.

    Args:
        suite: With the queries that were selected only.
        scores: Of each of them and every measure.
        verdicts: Of the thresholds, of which those `for` a tag are named with it.
        before: The queries in the baseline, by id.

    Returns:
        The tag of the greatest share first, equal ones by name, the queries without a tag last. Nothing where no query
        has a tag.
    """
    groups = _groups(suite.queries)
    if set(groups) <= {None}:
        return ()
    gains, by_query, shares = _gains(suite), _by_query(scores), _shares(suite.queries, groups)
    by_tag: dict[str | None, list[str]] = {}
    for verdict in verdicts:
        by_tag.setdefault(verdict.tag, []).append(verdict.id)
    found = [
        TagSummary(
            tag=tag,
            queries=len(queries),
            share=shares[tag],
            summaries=_summaries(queries, gains, by_query, before),
            verdicts=tuple(by_tag.get(tag, ())) if tag is not None else (),
        )
        for tag, queries in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.tag is None, -one.share, one.tag or "")))


def _groups(queries: Iterable[Query]) -> dict[str | None, list[Query]]:
    groups: dict[str | None, list[Query]] = {}
    for query in queries:
        for tag in query.tags or (None,):
            groups.setdefault(tag, []).append(query)
    return groups


def _shares(queries: Sequence[Query], groups: Mapping[str | None, Sequence[Query]]) -> dict[str | None, float]:
    """What the queries of each group weigh of all."""
    weights = weighed([1.0] * len(queries), [query.weight for query in queries])
    over_mean = dict(zip((query.id for query in queries), weights, strict=True))
    return {tag: math.fsum(over_mean[query.id] for query in members) / len(queries) for tag, members in groups.items()}


def _gains(suite: Suite) -> dict[str, str]:
    """The gain in force of each common measure, by the measure's text."""
    return {measure.text: gain_text(measure, suite) for measure in common_measures(suite)}


def _by_query(scores: Iterable[Score]) -> _Scores:
    return {(score.query, score.measure): score for score in scores}


def _summaries(
    queries: Sequence[Query], gains: Mapping[str, str], scores: _Scores, before: Mapping[str, QueryBaseline]
) -> tuple[MeasureSummary, ...]:
    return tuple(_summary(queries, measure, gain, scores, before) for measure, gain in gains.items())


def _summary(
    queries: Sequence[Query], measure: str, gain: str, scores: _Scores, before: Mapping[str, QueryBaseline]
) -> MeasureSummary:
    found = {query.id: scores[query.id, measure].value for query in queries if (query.id, measure) in scores}
    values = {query: value for query, value in found.items() if value is not None}
    weights = weights_of(queries, values)
    return MeasureSummary(
        measure=measure,
        gain=gain,
        mean=mean_of(values, weights) if values else None,
        median=median(list(values.values())) if values else None,
        least=min(values.values(), default=None),
        greatest=max(values.values(), default=None),
        counted=len(values),
        left_out=len(found) - len(values),
        weighted=bool(weights),
        change=_change(queries, measure, values, before),
    )


def _change(
    queries: Sequence[Query], measure: str, values: Mapping[str, float], before: Mapping[str, QueryBaseline]
) -> MeanChange | None:
    """How the mean changed over the queries of which *values* and *before* both have a score."""
    known = {query: before[query].scores.get(measure) for query in values if query in before}
    kept = {query: value for query, value in known.items() if value is not None}
    if not kept:
        return None
    weights = weights_of(queries, kept)
    then, now = mean_of(kept, weights), mean_of({query: values[query] for query in kept}, weights)
    return MeanChange(then, now, now - then, len(kept))


# The report on a suite.


def assemble(
    suite: Suite,
    run: Run,
    scores: Sequence[Score],
    verdicts: Sequence[Verdict],
    *,
    located: Mapping[str, tuple[MissingDocument, ...]],
    cluster: str,
    deselected: int = 0,
    decides: bool = True,
    notes: Iterable[str] = (),
    reference: Reference | None = None,
    report_only: bool = False,
    sent: Mapping[str, SentRequest] = MappingProxyType({}),
    searched: Mapping[str, str | bool] | None = None,
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
        decides: Whether thresholds were to be decided.
        notes: Sentences that stand before those found here.
        reference: The baseline that the run was compared with.
        report_only: Whether nothing was to be decided.
        sent: Requests by query, as they were sent.
        searched: The options with which a command searches the same.
    """
    by_query: dict[str, list[Score]] = {query.id: [] for query in suite.queries}
    for score in scores:
        by_query[score.query].append(score)
    template = suite.requests.get(run.request)
    titles = _titles(run, located)
    before = compare_queries(suite, run, scores, reference, titles) if reference else {}
    breaks_ties = template is not None and not leaves_ties(template)
    known = _DocumentFacts(located, titles, breaks_ties, before, sent, run.checks)
    queries = tuple(_query_report(suite, query, run, by_query[query.id], known) for query in suite.queries)
    hits = [document for query in queries for document in query.ranking]
    checks = replace(run.checks, untitled=None) if run.checks and titles else run.checks  # titles may be looked up
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
        summaries=measure_summaries(suite, scores, before),
        verdicts=tuple(verdicts),
        queries=queries,
        notes=(
            *notes,
            *_baseline_notes(suite, run, reference, before),
            *(["--report-only: no threshold was decided"] if report_only else ()),
            *([] if verdicts or not decides or report_only else ["no thresholds: nothing was gated"]),
            *_notes(queries),
            *_tie_break_note(verdicts, template),
            *_target_notes(suite, run),
            *_doubts(run),
            *ungraded_notes(suite),
        ),
        deselected=deselected,
        tags=tag_summaries(suite, scores, verdicts, before),
        baseline=None
        if reference is None or reference.run is None
        else BaselineSummary(reference.created, reference.changes, len(before), reference.diffs),
        checks=checks,
        report_only=report_only,
        searched=searched,
        repeats=RepeatSummary(len(run.repeats) + 1, unstable_queries(run)) if run.repeats else None,
        hits=len(hits),
        judged_hits=sum(document.grade is not None for document in hits),
        timing=SuiteTiming(
            search_seconds=run.seconds,
            tail_seconds=None if run.tails is None else run.tails.seconds,
            resent=dict(Counter(run.resent.values()).most_common()),
            copies=tuple(copies for copies, _ in groupby(one.copies for one in run.states if one.copies is not None)),
            repeats=tuple(
                {shard: copies[0] for shard, copies in (repeat.copies or {}).items() if copies}
                for repeat in run.repeats
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class _DocumentFacts:
    """
    What all queries share: the missing documents that were *located*, *titles* by document, whether the request itself
    puts documents of equal score in an order, what the queries were *before*, in the baseline, what was *sent*, and
    what the *checks* of the target found.
    """

    located: Mapping[str, tuple[MissingDocument, ...]]
    titles: Mapping[str, str]
    breaks_ties: bool
    before: Mapping[str, QueryBaseline]
    sent: Mapping[str, SentRequest]
    checks: TargetChecks | None


def _titles(run: Run, located: Mapping[str, tuple[MissingDocument, ...]]) -> dict[str, str]:
    """Every title that the run brought: a document that one query misses may have been returned for another."""
    rankings = (response.hits for response in run.responses.values() if isinstance(response, Ranking))
    documents: Iterable[Hit | MissingDocument] = chain.from_iterable([*rankings, *located.values()])
    return {**run.titles, **{document.id: document.title for document in documents if document.title is not None}}


def missing_documents(query: Query, ranking: Ranking, gain: Gain) -> tuple[MissingDocument, ...]:
    """The documents of positive gain, best first, and then the expected ones that *ranking* does not hold."""
    returned = {hit.id for hit in ranking.hits}
    wanted = dict.fromkeys([*_relevant(query, gain), *_expected(query)])
    return tuple(MissingDocument(one, query.judgments.get(one)) for one in wanted if one not in returned)


def _expected(query: Query) -> Iterator[str]:
    """The documents that have to be in the ranking by an expectation of *query*."""
    for condition in (threshold.condition for threshold in query.thresholds):
        if isinstance(condition, Before) or (isinstance(condition, InTop) and not condition.negated):
            yield condition.document


def _missing(query: Query, ranking: Ranking, gain: Gain, known: _DocumentFacts) -> tuple[MissingDocument, ...]:
    """The same, with where they rank and what they are called, as far as that is known."""
    missing = known.located.get(query.id) or missing_documents(query, ranking, gain)
    titled = (replace(document, title=known.titles.get(document.id)) for document in missing)
    return tuple(_invisible(document, known.checks) for document in titled)


def _invisible(document: MissingDocument, checks: TargetChecks | None) -> MissingDocument:
    """*document*, and that it is not visible, where nothing else is known of it."""
    if checks is None or document.absence is not None or document.id not in checks.absent:
        return document
    similar = checks.absent[document.id]
    return replace(document, absence=Absence.NOT_VISIBLE, target=checks.target, similar=similar)


def _query_report(
    suite: Suite,
    query: Query,
    run: Run,
    scores: Sequence[Score],
    known: _DocumentFacts,
) -> QueryReport:
    response = run.responses.get(query.id)
    ranking = response if isinstance(response, Ranking) else Ranking()
    outcome, reason = _outcome(query, response, scores)
    return QueryReport(
        id=query.id,
        text=query.text,
        outcome=outcome,
        reason=reason,
        tags=query.tags,
        scores={score.measure: score.value for score in scores},
        ranking=_ranked(ranking, query, suite.gain, known),
        ideal=_ideal(query, suite, known),
        missing=_missing(query, ranking, suite.gain, known) if isinstance(response, Ranking) else (),
        total=ranking.total,
        total_is_lower_bound=ranking.total_is_lower_bound,
        judged=len(query.judgments),
        duplicates=tuple(dict.fromkeys(ranking.duplicates)),
        weight=query.weight,
        question=question_fingerprint(query),
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        failure=response if isinstance(response, Failure) else None,
        baseline=known.before.get(query.id),
        sent=known.sent.get(query.id),
        timing=QueryTiming(ranking.took),
    )


def _outcome(query: Query, response: Response | None, scores: Sequence[Score]) -> tuple[Outcome, str]:
    """What became of a query as a whole: what a person must mend comes before the scores that there are."""
    failed = [score for score in scores if score.outcome is Outcome.ERROR]
    if failed and isinstance(response, Ranking):
        return Outcome.ERROR, f"{', '.join(score.measure for score in failed)}: {failed[0].reason}"
    undefined = [score for score in scores if score.outcome is Outcome.UNDEFINED]
    if undefined:
        return Outcome.UNDEFINED, f"{', '.join(score.measure for score in undefined)}: {undefined[0].reason}"
    return outcome_of(query, response)


def _ranked(ranking: Ranking, query: Query, gain: Gain, known: _DocumentFacts) -> tuple[RankedDocument, ...]:
    ties = [False] * len(ranking.hits) if known.breaks_ties else _ties([hit.score for hit in ranking.hits])
    return tuple(
        RankedDocument(
            rank=rank,
            id=hit.id,
            grade=query.judgments.get(hit.id),
            gain=_gain(query, hit.id, gain),
            score=hit.score,
            title=hit.title or known.titles.get(hit.id),
            tied=tied,
        )
        for rank, (hit, tied) in enumerate(zip(ranking.hits, ties, strict=True), start=1)
    )


def _ties(scores: Sequence[float | None]) -> list[bool]:
    """For each of *scores* whether one beside it is the same."""
    return [
        score is not None and score in (*scores[max(place - 1, 0) : place], *scores[place + 1 : place + 2])
        for place, score in enumerate(scores)
    ]


def _ideal(query: Query, suite: Suite, known: _DocumentFacts) -> tuple[RankedDocument, ...]:
    best = _relevant(query, suite.gain)[: suite.depth]
    return tuple(
        RankedDocument(
            rank=rank,
            id=document,
            grade=query.judgments[document],
            gain=_gain(query, document, suite.gain),
            title=known.titles.get(document),
        )
        for rank, document in enumerate(best, start=1)
    )


def _relevant(query: Query, gain: Gain) -> list[str]:
    """Documents of positive gain: the greatest gain first, equal ones by grade, then by id."""
    ordered = sorted((-gain_of(gain, grade), -grade, document) for document, grade in query.judgments.items())
    return [document for negative_gain, _, document in ordered if negative_gain < 0]


def _gain(query: Query, document: str, gain: Gain) -> float | None:
    return gain_of(gain, query.judgments[document]) if document in query.judgments else None


def ungraded_notes(suite: Suite) -> list[str]:
    """That judgment files name documents which nobody graded yet, where they do."""
    if not suite.ungraded:
        return []
    documents = "1 document has" if suite.ungraded == 1 else f"{suite.ungraded:,} documents have"
    return [f"{documents} no grade in the judgment files and count as unjudged"]


def _baseline_notes(
    suite: Suite, run: Run, reference: Reference | None, before: Mapping[str, QueryBaseline]
) -> Iterator[str]:
    """What changed since the baseline, and what is not compared with it, where no verdict says that there is none."""
    if reference is None or (reference.run is None and compares_with_baseline(suite)):
        return
    yield from reference.changes
    tied = [query for query, one in before.items() if one.ties_only]
    if tied:
        queries = f"{count(len(tied), 'query')} ({listed(tied)})"
        yield f"since the baseline of {reference.created} only the order of ties changed in {queries}"
    note = left_out_note(suite, run, reference)
    if note:
        yield note


def _notes(queries: Sequence[QueryReport]) -> list[str]:
    twice = [query.id for query in queries if query.duplicates]
    return [f"documents returned twice are counted once: {listed(twice)}"] if twice else []


def _tie_break_note(verdicts: Sequence[Verdict], template: RequestTemplate | None) -> list[str]:
    """What would put documents of equal score in an order, where that order moves a figure."""
    moved = sum(verdict.ties is not None for verdict in verdicts)
    remedy = tie_break(template) if moved else ""
    return [f"the order of documents of equal score affects {count(moved, 'gated figure')}: {remedy}"] if remedy else []


def _target_notes(suite: Suite, run: Run) -> Iterator[str]:
    """Which judgments are of documents that no search can return, and what is not known of the target."""
    checks = run.checks
    if checks is None:
        return
    absent = sorted(checks.absent.keys() & {one for query in suite.queries for one in _relevant(query, suite.gain)})
    if absent and run.has_rankings:
        are = "is" if len(absent) == 1 else "are"
        number = f"{len(absent):,} of {count(checks.relevant, 'document')} judged relevant {are}"
        yield f"{number} not visible through {checks.target or 'the target'}: {listed(absent)}"
    yield from (f"{checks.target or 'the target'}: {problem}" for problem in checks.problems)


def _doubts(run: Run) -> list[str]:
    """What answers say of themselves that leaves their rankings as they are, and may be news to whoever reads them."""
    rankings = {query: one for query, one in run.responses.items() if isinstance(one, Ranking)}
    stopped = [query for query, one in rankings.items() if one.stopped_early]
    uncounted = [f"{query} ({one.total_doubt})" for query, one in rankings.items() if one.total_doubt]
    untimed = [f"{query} ({one.took_doubt})" for query, one in rankings.items() if one.took_doubt]
    doubts = {
        "the engine collected only a part of the documents because of `terminate_after`": stopped,
        "the number of matching documents is unknown": uncounted,
        "the engine's time is unknown": untimed,
    }
    moving = why_moving(run)
    sentences = [f"{sentence}: {listed(queries)}" for sentence, queries in doubts.items() if queries]
    return [moving, *sentences] if moving else sentences
