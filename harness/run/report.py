"""Assembles the report of a run: pure, from the suite, its run, the scores and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, pairwise
from types import MappingProxyType

from harness.baseline.differences import compare_queries
from harness.baseline.questions import UsedValues
from harness.gate.stability import explain_changed_target, find_unstable_queries
from harness.gate.ties import has_sort, is_tie
from harness.metrics.ranking import gain_of
from harness.metrics.score import outcome_of
from harness.model import (
    Absence,
    BaselineSummary,
    Before,
    Failure,
    Gain,
    Hit,
    InTop,
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
    ScoreTable,
    SentRequest,
    Suite,
    SuiteReport,
    SuiteTiming,
    TargetChecks,
    Verdict,
    index_scores,
)
from harness.run.notes import (
    baseline_notes,
    doubt_notes,
    target_notes,
    tie_break_note,
    undecided_note,
    ungraded_notes,
)
from harness.run.summaries import measure_summaries, tag_summaries
from harness.words import listed


@dataclass(frozen=True, slots=True)
class DecidedRun:
    """A run with its scores and the verdicts of the gate."""

    suite: Suite
    """With the selected queries only."""
    run: Run
    scores: Sequence[Score]
    """Of every selected query, for each of its measures."""
    verdicts: Sequence[Verdict]
    reference: Reference | None = None
    """The baseline that the run was compared with."""
    located: Mapping[str, tuple[MissingDocument, ...]] = field(default_factory=dict)
    """Missing relevant documents of the queries for which a deeper search was made."""


def assemble(
    decided: DecidedRun,
    cluster: str,
    *,
    notes: Iterable[str] = (),
    deselected: int = 0,
    decides: bool = True,
    report_only: bool = False,
    sent: Mapping[str, SentRequest] = MappingProxyType({}),
    searched: Mapping[str, str | bool] | None = None,
) -> SuiteReport:
    """
    Assemble the report of one suite.

    Args:
        decided: The run, its scores and verdicts.
        cluster: The name or the URL of the server.
        notes: Sentences that precede the notes found here.
        deselected: How many queries were not selected.
        decides: Whether thresholds were to be decided.
        report_only: Whether nothing was to be decided.
        sent: Requests by query, as they were sent.
        searched: The options with which a command searches the same.
    """
    suite, run, verdicts, reference = decided.suite, decided.run, decided.verdicts, decided.reference
    template, scores = suite.requests.get(run.request), index_scores(decided.scores)
    found, changed = _gone_through(suite, run, scores), explain_changed_target(run)
    located = chain.from_iterable(decided.located.values())
    titles = found.titles | {one.id: one.title for one in located if one.title is not None}
    before = compare_queries(suite, run, decided.scores, reference, titles) if reference else {}
    used = UsedValues.of_run(suite, run)
    known = _DocumentFacts(decided.located, titles, before, sent, run.checks, used, template)
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
        summaries=measure_summaries(suite, decided.scores, before),
        verdicts=tuple(verdicts),
        queries=_query_reports(suite, run, scores, known, found.outcomes),
        notes=(
            *notes,
            *baseline_notes(suite, run, reference, before),
            *undecided_note(verdicts, decides=decides, report_only=report_only),
            *([f"documents returned twice are counted once: {listed(found.twice)}"] if found.twice else ()),
            *tie_break_note(verdicts, template),
            *target_notes(suite, run),
            *doubt_notes(changed, found.stopped, found.uncounted, found.untimed),
            *ungraded_notes(suite),
        ),
        deselected=deselected,
        tags=tag_summaries(suite, decided.scores, verdicts, before),
        baseline=None
        if reference is None or reference.run is None
        else BaselineSummary(reference.created, reference.changes, len(before), reference.diffs),
        checks=checks,
        target_changed=changed,
        report_only=report_only,
        searched=searched,
        repeats=RepeatSummary(len(run.repeats) + 1, find_unstable_queries(run)) if run.repeats else None,
        hits=found.hits,
        judged_hits=found.judged_hits,
        timing=_timing(run),
    )


def _timing(run: Run) -> SuiteTiming:
    copies = (state.copies for state in run.states if state.copies is not None)
    return SuiteTiming(
        search_seconds=run.seconds,
        tail_seconds=None if run.tails is None else run.tails.seconds,
        resent=dict(Counter(run.resent.values()).most_common()),
        copies=tuple(one for one, _ in groupby(copies)),
        repeats=tuple(
            {shard: copies[0] for shard, copies in (repeat.copies or {}).items() if copies} for repeat in run.repeats
        ),
    )


@dataclass(frozen=True, slots=True)
class _DocumentFacts:
    """
    What the reports of all queries share: the missing documents that were *located*, *titles* by document, the queries
    *before*, in the baseline, the requests *sent*, the *checks* of the target, what the request *used* of a query, and
    the *template* of the request.
    """

    located: Mapping[str, tuple[MissingDocument, ...]]
    titles: Mapping[str, str]
    before: Mapping[str, QueryBaseline]
    sent: Mapping[str, SentRequest]
    checks: TargetChecks | None
    used: UsedValues
    template: RequestTemplate | None


@dataclass(slots=True)
class _Found:
    """
    What one pass over all responses finds, so that no other is needed before the report is written.

    *outcomes* are those other than a plain score, with their reasons, by the place of the query. *titles* are all that
    the run returned: a document that one query misses may have been returned for another. The other lists have the
    queries with repeated hits (*twice*), those for which the engine *stopped* early, and those whose number of matching
    documents, or whose time, is unknown, with the reason.
    """

    hits: int = 0
    judged_hits: int = 0
    outcomes: dict[int, tuple[Outcome, str]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    uncounted: list[str] = field(default_factory=list)
    untimed: list[str] = field(default_factory=list)


def _gone_through(suite: Suite, run: Run, scores: ScoreTable) -> _Found:
    found = _Found(titles=dict(run.titles))
    for place, query in enumerate(suite.queries):
        response = run.responses.get(query.id)
        outcome = _outcome(query, response, scores.get(query.id, {}).values())
        if outcome[0] is not Outcome.SCORED:
            found.outcomes[place] = outcome
        if isinstance(response, Ranking):
            found.hits += len(response.hits)
            found.judged_hits += sum(hit.id in query.judgments for hit in response.hits)
            found.titles.update((hit.id, hit.title) for hit in response.hits if hit.title is not None)
            found.twice += [query.id] if response.duplicates else []
            found.stopped += [query.id] if response.stopped_early else []
            found.uncounted += [f"{query.id} ({response.total_doubt})"] if response.total_doubt else []
            found.untimed += [f"{query.id} ({response.took_doubt})"] if response.took_doubt else []
    return found


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
    """As `missing_documents`, with ranks and titles as far as they are known."""
    missing = known.located.get(query.id) or missing_documents(query, ranking, gain)
    titles = [known.titles.get(document.id) for document in missing]
    titled = (
        one if one.title == title else replace(one, title=title) for one, title in zip(missing, titles, strict=True)
    )
    return tuple(_invisible(document, known.checks) for document in titled)


def _invisible(document: MissingDocument, checks: TargetChecks | None) -> MissingDocument:
    """*document*, marked as not visible if *checks* say so and nothing else is known of it."""
    if checks is None or document.absence is not None or document.id not in checks.absent:
        return document
    similar = checks.absent[document.id]
    return replace(document, absence=Absence.NOT_VISIBLE, target=checks.target, similar=similar)


def _query_reports(
    suite: Suite,
    run: Run,
    scores: ScoreTable,
    known: _DocumentFacts,
    outcomes: Mapping[int, tuple[Outcome, str]],
) -> tuple[QueryReport, ...]:
    """The reports of all queries, in the order of the suite."""
    reports = []
    for place, query in enumerate(suite.queries):
        values = {measure: score.value for measure, score in scores.get(query.id, {}).items()}
        outcome = outcomes.get(place, _SCORED)
        reports.append(_query_report(suite, query, run.responses.get(query.id), outcome, values, known))
    return tuple(reports)


_SCORED = (Outcome.SCORED, "")


def _query_report(
    suite: Suite,
    query: Query,
    response: Response | None,
    outcome: tuple[Outcome, str],
    scores: Mapping[str, float | None],
    known: _DocumentFacts,
) -> QueryReport:
    ranking = response if isinstance(response, Ranking) else Ranking()
    return QueryReport(
        id=query.id,
        text=query.text,
        outcome=outcome[0],
        reason=outcome[1],
        tags=query.tags,
        scores=scores,
        ranking=_ranked(ranking, query, suite.gain, known),
        ideal=_ideal(query, suite, known),
        missing=_missing(query, ranking, suite.gain, known) if isinstance(response, Ranking) else (),
        total=ranking.total,
        total_is_lower_bound=ranking.total_is_lower_bound,
        judged=len(query.judgments),
        duplicates=tuple(dict.fromkeys(ranking.duplicates)),
        weight=query.weight,
        question=known.used.fingerprint(query),
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        exact_scores=ranking.exact_scores,
        scores_rise=_do_scores_rise(ranking, known.template),
        failure=response if isinstance(response, Failure) else None,
        baseline=known.before.get(query.id),
        sent=known.sent.get(query.id),
        timing=QueryTiming(ranking.took),
    )


def _outcome(query: Query, response: Response | None, scores: Collection[Score]) -> tuple[Outcome, str]:
    """The outcome of a query as a whole, with its reason: a problem to be mended comes before scores."""
    failed = [score for score in scores if score.outcome is Outcome.ERROR]
    if failed and isinstance(response, Ranking):
        return Outcome.ERROR, f"{', '.join(score.measure for score in failed)}: {failed[0].reason}"
    undefined = [score for score in scores if score.outcome is Outcome.UNDEFINED]
    if undefined:
        return Outcome.UNDEFINED, f"{', '.join(score.measure for score in undefined)}: {undefined[0].reason}"
    return outcome_of(query, response)


def _do_scores_rise(ranking: Ranking, template: RequestTemplate | None) -> bool:
    """Whether a hit of *ranking* has a greater score than the one above it, though only scores order the hits."""
    if template is None or has_sort(template):
        return False
    scores = [hit.score for hit in ranking.hits if hit.score is not None and hit.sort is None]
    if len(scores) < len(ranking.hits):
        return False
    rises = any(
        following > score and not is_tie(Hit("", score), Hit("", following), exact=ranking.exact_scores)
        for score, following in pairwise(scores)
    )
    # A service may return distances, of which the least is the best.
    are_distances = template.http is not None and all(following >= score for score, following in pairwise(scores))
    return rises and not are_distances


def _ranked(ranking: Ranking, query: Query, gain: Gain, known: _DocumentFacts) -> tuple[RankedDocument, ...]:
    exact = ranking.exact_scores
    ties = [False, *(is_tie(hit, following, exact=exact) for hit, following in pairwise(ranking.hits)), False]
    return tuple(
        RankedDocument(
            rank=rank,
            id=hit.id,
            grade=query.judgments.get(hit.id),
            gain=_gain(query, hit.id, gain),
            score=hit.score,
            title=hit.title or known.titles.get(hit.id),
            tied=before or after,
            sort=hit.sort,
        )
        for rank, (hit, before, after) in enumerate(zip(ranking.hits, ties, ties[1:], strict=False), start=1)
    )


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
