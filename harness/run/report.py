"""Assembles the report of a run: pure, from the suite, its run, the scores and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise

from harness.gate.cut_answers import describe_cut_answers, find_cut_answers
from harness.gate.decide_answers import explain_no_ranking
from harness.gate.decide_requests import RequestComparison, list_comparisons
from harness.gate.decide_variants import list_agreements, list_lost_measures
from harness.gate.stability import explain_changed_target, find_unstable_queries
from harness.gate.ties import has_sort, has_ties, is_tie, may_be_moved_by_ties, suggest_tie_break
from harness.gate.two_rankings import (
    ScoredQuery,
    compare_with_reference,
    compute_agreement,
    compute_loss,
    list_missed,
)
from harness.metrics.ranking import gain_function
from harness.metrics.run_scores import outcome_of, score_of
from harness.model.kept import Reference
from harness.model.report import (
    Absence,
    BaselineSummary,
    ComparedRequest,
    DocumentTexts,
    FieldText,
    MissedHit,
    MissingDocument,
    QueryBaseline,
    QueryReport,
    QuoteReport,
    RankedDocument,
    RepeatSummary,
    SuiteReport,
    TagSummary,
    VariantReport,
)
from harness.model.request import SentRequest
from harness.model.run import Failure, Highlight, Hit, Ranking, Response, Run, TargetChecks, Verdict
from harness.model.scores import Outcome, Score, ScoreTable, index_scores
from harness.model.suite import Before, Gain, InTop, Query, RequestTemplate, Suite, select_scored
from harness.model.timing import QueryTiming, SuiteTiming
from harness.run.notes import (
    describe_doubts,
    describe_since_baseline,
    describe_target,
)
from harness.run.quotes import describe_quotes
from harness.run.summaries import summarize_measures, summarize_tags
from harness.store.differences import compare_queries
from harness.store.what_changed import UsedValues, has_index_changed, select_request_values
from harness.suites.display import list_shown_fields
from harness.words import count, counted, listed


@dataclass(frozen=True, slots=True)
class DecidedRun:
    """A run with its scores, the verdicts of the gate, and what else its report says."""

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
    described: Mapping[str, Mapping[str, Hit]] = field(default_factory=dict)
    """Hits with the texts that reports show of them, by query and document."""
    notes: Sequence[str] = ()
    """Sentences that precede the notes about the run."""
    deselected: int = 0
    """How many queries were not selected."""
    decides: bool = True
    """Whether thresholds were to be decided."""
    gates: bool = True
    """Whether the run may fail."""
    for_other_requests: int = 0
    """How many thresholds are not decided for the request."""
    report_only: bool = False
    """Whether nothing was to be decided."""
    sent: Mapping[str, SentRequest] = field(default_factory=dict)
    """Requests by query, as they were sent."""
    searched: Mapping[str, str | bool] | None = None
    """The options with which a command searches the same."""
    has_intervals: bool = True
    """Whether means are reported with their intervals."""


def assemble(decided: DecidedRun, cluster: str) -> SuiteReport:
    """Assemble the report of one suite, which ran on the server named *cluster*."""
    suite, run, verdicts, reference = decided.suite, decided.run, decided.verdicts, decided.reference
    template = suite.requests.get(run.request)
    scores = index_scores(decided.scores)
    findings = _read_responses(suite, run, scores)
    changed = explain_changed_target(run)
    titles = dict(findings.titles)
    for documents in decided.located.values():
        titles.update((document.id, document.title) for document in documents if document.title is not None)
    before: Mapping[str, QueryBaseline] = {}
    baseline = None
    if reference is not None:
        before = compare_queries(suite, run, decided.scores, reference, titles)
        if reference.run is not None:
            compared = sum(query.id in before for query in select_scored(suite.queries))
            is_changed = suite.fixture is not None and has_index_changed(reference.run.facts, run.facts)
            baseline = BaselineSummary(reference.created, reference.changes, compared, reference.diffs, is_changed)
    checks = run.checks
    if checks is not None and titles:
        checks = replace(checks, untitled=None)  # titles were looked up since the check saw none
    repeats = None
    if run.repeats:
        repeats = RepeatSummary(len(run.repeats) + 1, find_unstable_queries(run))
    tags: tuple[TagSummary, ...] = ()
    if any(query.tags for query in suite.queries):
        tags = summarize_tags(suite, decided.scores, verdicts, before, has_intervals=decided.has_intervals)
    shared = _SharedFacts(
        suite=suite,
        located=decided.located,
        described=decided.described,
        fields=list_shown_fields(suite, [run.request]) if decided.described else (),
        titles=titles,
        before=before,
        kept=reference.run.responses if reference is not None and reference.run is not None else {},
        sent=decided.sent,
        checks=run.checks,
        used=select_request_values(suite, run.request, hooked=run.hooked),
        template=template,
    )
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
        summaries=summarize_measures(suite, decided.scores, before, has_intervals=decided.has_intervals),
        verdicts=tuple(verdicts),
        queries=_assemble_queries(run, scores, shared, findings.outcomes),
        notes=tuple(_list_notes(decided, before, findings, changed)),
        deselected=decided.deselected,
        tags=tags,
        baseline=baseline,
        checks=checks,
        target_changed=changed,
        report_only=decided.report_only,
        searched=decided.searched,
        repeats=repeats,
        hits=findings.hits,
        judged_hits=findings.judged_hits,
        timing=_summarize_timing(run),
        gates=decided.gates,
        for_other_requests=decided.for_other_requests,
    )


def _list_notes(
    decided: DecidedRun, before: Mapping[str, QueryBaseline], findings: _ResponseFindings, changed: str
) -> list[str]:
    """The notes of *decided*, and what else has to be known of its results; *changed* is how the target did."""
    suite, run, verdicts, reference = decided.suite, decided.run, decided.verdicts, decided.reference
    notes = list(decided.notes)
    if reference is not None:
        notes += describe_since_baseline(suite, run, reference, before)
    if decided.report_only:
        notes.append("--report-only: no threshold was decided")
    elif decided.gates and decided.decides and not verdicts:
        notes.append("no thresholds: nothing was gated")
    twice = [query for query in findings.twice if query not in run.deepened]
    if twice:
        notes.append(f"documents returned twice are counted once: {listed(twice)}")
    cut_answers = find_cut_answers(suite, run)
    if cut_answers:
        notes.append(describe_cut_answers(cut_answers, suite.depth))
    moved = sum(verdict.ties is not None for verdict in verdicts)
    if moved:
        tie_break = suggest_tie_break(suite.requests.get(run.request))
        if tie_break:
            queries = counted(_list_moved_by_ties(suite, run), "query")
            figures = count(moved, "gated figure")
            notes.append(f"the order of tied documents affects {figures} in {queries}: {tie_break}")
    notes += describe_target(suite, run)
    notes += describe_doubts(changed, findings.stopped, findings.uncounted, findings.untimed)
    if suite.ungraded:
        have, counts = ("has", "counts") if suite.ungraded == 1 else ("have", "count")
        ungraded = count(suite.ungraded, "document")
        notes.append(f"{ungraded} {have} no grade in the judgment files and {counts} as unjudged")
    return notes


def _list_moved_by_ties(suite: Suite, run: Run) -> list[str]:
    """The queries whose values may depend on the order of tied documents."""
    queries = []
    for query in suite.queries:
        ranking = run.responses.get(query.id)
        if isinstance(ranking, Ranking) and may_be_moved_by_ties(query, ranking):
            queries.append(query.id)
    return queries


def _summarize_timing(run: Run) -> SuiteTiming:
    copies = [state.copies for state in run.states if state.copies is not None]
    copies_of_repeats = []
    for repeat in run.repeats:
        copies_by_shard = repeat.copies or {}
        # Searches of a repeat were answered by the first copy of each shard.
        first_copies = {shard: shard_copies[0] for shard, shard_copies in copies_by_shard.items() if shard_copies}
        copies_of_repeats.append(first_copies)
    return SuiteTiming(
        search_seconds=run.seconds,
        tail_seconds=None if run.tails is None else run.tails.seconds,
        resent=dict(Counter(run.resent.values()).most_common()),
        copies=tuple(changed_copies for changed_copies, _ in groupby(copies)),
        repeats=tuple(copies_of_repeats),
    )


@dataclass(frozen=True, slots=True)
class _SharedFacts:
    """What the reports of all queries share."""

    suite: Suite
    located: Mapping[str, tuple[MissingDocument, ...]]
    """Missing documents of the queries for which a deeper search was made."""
    described: Mapping[str, Mapping[str, Hit]]
    """Hits with texts, by query and document."""
    fields: tuple[str, ...]
    """The fields whose texts are shown."""
    titles: Mapping[str, str]
    """By document."""
    before: Mapping[str, QueryBaseline]
    """The queries in the baseline."""
    kept: Mapping[str, Response]
    """Their responses there."""
    sent: Mapping[str, SentRequest]
    """The requests, by query."""
    checks: TargetChecks | None
    used: UsedValues
    """What the request used of a query."""
    template: RequestTemplate | None


@dataclass(slots=True)
class _ResponseFindings:
    """What one pass over all responses finds, so that no other is needed before the report is written."""

    hits: int = 0
    judged_hits: int = 0
    outcomes: dict[str, tuple[Outcome, str]] = field(default_factory=dict)
    """The outcome of each query, with its reason."""
    titles: dict[str, str] = field(default_factory=dict)
    """All that the run returned: a document that one query misses may have been returned for another."""
    twice: list[str] = field(default_factory=list)
    """Queries with repeated hits."""
    stopped: list[str] = field(default_factory=list)
    """Queries for which the engine stopped early."""
    uncounted: list[str] = field(default_factory=list)
    """Queries whose number of matching documents is unknown, with the reason."""
    untimed: list[str] = field(default_factory=list)
    """Queries whose time is unknown, with the reason."""


def _read_responses(suite: Suite, run: Run, scores: ScoreTable) -> _ResponseFindings:
    findings = _ResponseFindings(titles=dict(run.titles))
    for query in suite.queries:
        response = run.responses.get(query.id)
        findings.outcomes[query.id] = _decide_outcome(query, response, scores.get(query.id, {}).values())
        if not isinstance(response, Ranking):
            continue
        # Where no result is right, nothing is to be judged, and where quotes judge, no hit has a grade.
        if not query.nothing and not query.has_only_quotes:
            findings.hits += len(response.ids)
            findings.judged_hits += sum(map(query.judgments.__contains__, response.ids))
        if response.columns is None:
            findings.titles |= {hit.id: hit.title for hit in response.hits if hit.title is not None}
        if response.duplicates:
            findings.twice.append(query.id)
        if response.stopped_early:
            findings.stopped.append(query.id)
        if response.total_doubt:
            findings.uncounted.append(f"{query.id} ({response.total_doubt})")
        if response.took_doubt:
            findings.untimed.append(f"{query.id} ({response.took_doubt})")
    return findings


def find_missing_documents(query: Query, ranking: Ranking, gain: Gain) -> tuple[MissingDocument, ...]:
    """The documents of positive gain, best first, and then the expected ones that *ranking* does not hold."""
    returned = set(ranking.ids)
    wanted = dict.fromkeys([*_sort_relevant(query, _list_gains(query, gain)), *_list_expected(query)])
    return tuple(
        MissingDocument(document, query.judgments.get(document)) for document in wanted if document not in returned
    )


def _list_expected(query: Query) -> Iterator[str]:
    """The documents that have to be in the ranking by an expectation of *query*."""
    for threshold in query.thresholds:
        condition = threshold.condition
        if isinstance(condition, Before) or (isinstance(condition, InTop) and not condition.negated):
            yield condition.document


def _describe_missing(query: Query, ranking: Ranking, shared: _SharedFacts) -> tuple[MissingDocument, ...]:
    """As `find_missing_documents`, with ranks, titles and why they are missing, as far as that is known."""
    checks = shared.checks
    known = shared.described.get(query.id, {})
    described = []
    for document in shared.located.get(query.id) or find_missing_documents(query, ranking, shared.suite.gain):
        title = shared.titles.get(document.id)
        if document.title != title:
            document = replace(document, title=title)
        if document.id in known:
            document = replace(document, texts=_describe_texts(known[document.id], title, shared))
        if checks is not None and document.absence is None and document.id in checks.absent:
            similar = checks.absent[document.id]
            document = replace(document, absence=Absence.NOT_VISIBLE, target=checks.target, similar=similar)
        described.append(document)
    return tuple(described)


def _assemble_queries(
    run: Run, scores: ScoreTable, shared: _SharedFacts, outcomes: Mapping[str, tuple[Outcome, str]]
) -> tuple[QueryReport, ...]:
    """The reports of all queries, in the order of the suite."""
    return tuple(
        _assemble_query(query, run, outcomes[query.id], scores.get(query.id, {}), shared)
        for query in shared.suite.queries
    )


def _assemble_query(
    query: Query, run: Run, outcome: tuple[Outcome, str], scores: Mapping[str, Score], shared: _SharedFacts
) -> QueryReport:
    response = run.responses.get(query.id)
    ranking = response if isinstance(response, Ranking) else Ranking()
    variants: tuple[VariantReport, ...] = ()
    if query.variants:
        variants = _describe_variants(query, response, run, scores, shared.suite)
    machine_shares = {}
    for measure, score in scores.items():
        if score.machine_share is not None:
            machine_shares[measure] = score.machine_share
    report = QueryReport(
        id=query.id,
        text=query.text,
        outcome=outcome[0],
        reason=outcome[1],
        tags=query.tags,
        scores={measure: score.value for measure, score in scores.items()},
        machine_shares=machine_shares,
        total=ranking.total,
        total_is_lower_bound=ranking.total_is_lower_bound,
        judged=len(query.judgments),
        duplicates=tuple(dict.fromkeys(ranking.duplicates)),
        weight=query.weight,
        tail=tuple(hit.id for hit in ranking.tail),
        closed=ranking.closed,
        exact_scores=ranking.exact_scores,
        scores_rise=_do_scores_rise(ranking, shared.template),
        failure=response if isinstance(response, Failure) else None,
        baseline=shared.before.get(query.id),
        sent=shared.sent.get(query.id),
        timing=QueryTiming(ranking.took, ranking.to_last_byte),
        need=query.need,
        nothing=query.nothing,
        variants=variants,
        compared=_describe_compared(query, response, run, shared) if run.others and not query.nothing else (),
        quotes=_describe_quotes(query, ranking, shared),
    )
    report.make_late(partial(_make_late_field, query, response, shared))
    return report


def _describe_quotes(query: Query, ranking: Ranking, shared: _SharedFacts) -> tuple[QuoteReport, ...]:
    """The quotes of *query* with their places, beside those in the baseline if it is compared with one."""
    if not query.quotes:
        return ()
    return describe_quotes(query, ranking, shared.suite.display.text or "", shared.kept.get(query.id))


def _make_late_field(query: Query, response: Response | None, shared: _SharedFacts, name: str) -> object:
    """The value of the field *name*, one of the late ones, in the report of *query*."""
    if name == "question":
        return shared.used.fingerprint(query)
    if name == "ideal":
        return _describe_ideal(query, shared)
    if not isinstance(response, Ranking):
        return ()
    if name == "ranking":
        return _describe_ranking(response, query, shared)
    return _describe_missing(query, response, shared)


def _describe_variants(
    query: Query, response: Response | None, run: Run, scores: Mapping[str, Score], suite: Suite
) -> tuple[VariantReport, ...]:
    """The variants of *query*, each compared with its *response*."""
    reports = []
    for variant in query.variants:
        of_variant = run.variants.get(variant.id)
        report = VariantReport(variant.id, variant.text, variant.rule)
        if isinstance(of_variant, Ranking):
            report = replace(report, hits=len(of_variant.hits))
        else:
            report = replace(report, reason=explain_no_ranking(of_variant))
        if isinstance(of_variant, Ranking) and isinstance(response, Ranking):
            agreements = {}
            for agreement in list_agreements(suite, query):
                agreements[agreement.text] = compute_agreement(agreement, response, of_variant, depth=suite.depth)
            losses = {}
            for measure in list_lost_measures(suite, query):
                score = scores.get(measure.text)
                value = None if score is None else score.value
                losses[measure.text] = compute_loss(suite, ScoredQuery(query, measure, value), run, of_variant)
            report = replace(report, agreements=agreements, losses=losses)
        reports.append(report)
    return tuple(reports)


def _describe_compared(
    query: Query, response: Response | None, run: Run, shared: _SharedFacts
) -> tuple[ComparedRequest, ...]:
    """The requests that thresholds compare *query* with, whose *response* is that of the run."""
    if response is None:
        return ()  # the query is skipped
    reports = []
    for name, comparison in list_comparisons(shared.suite, query, run.request).items():
        if name not in run.others:
            continue
        other = run.others[name].responses.get(query.id)
        if isinstance(other, Ranking) and isinstance(response, Ranking):
            reports.append(_compare_ranking(query, response, run.others[name], comparison, shared))
            continue
        reason = explain_no_ranking(response)
        if not isinstance(other, Ranking):
            reason = f"with request {name}: {explain_no_ranking(other)}"
        reports.append(ComparedRequest(name, comparison.depth, reason=reason))
    return tuple(reports)


def _compare_ranking(
    query: Query, ranking: Ranking, other: Run, comparison: RequestComparison, shared: _SharedFacts
) -> ComparedRequest:
    """The *ranking* of *query* beside that of the run of the *other* request."""
    suite, reference = shared.suite, other.responses[query.id]
    assert isinstance(reference, Ranking), "queries without a ranking have their reason"
    agreements: dict[str, float | None] = {}
    for agreement in comparison.agreements:
        # Two empty rankings say nothing, and the gate leaves them out.
        value = None
        if reference.ids or ranking.ids:
            value = compare_with_reference(agreement, reference, ranking, depth=suite.depth).value
        agreements[agreement.text] = value
    losses = {}
    for measure in comparison.measures:
        scored = ScoredQuery(query, measure, score_of(suite, query, measure, other).value)
        losses[measure.text] = compute_loss(suite, scored, other, ranking)
    missed = []
    for place in list_missed(reference, ranking, depth=comparison.depth):
        hit = reference.hits[place]
        missed.append(MissedHit(hit.id, place + 1, hit.score, hit.title or shared.titles.get(hit.id)))
    hits = min(len(reference.ids), comparison.depth)
    return ComparedRequest(other.request, comparison.depth, hits, "", agreements, losses, tuple(missed))


def _decide_outcome(query: Query, response: Response | None, scores: Collection[Score]) -> tuple[Outcome, str]:
    """The outcome of a query as a whole, with its reason: a problem to be mended comes before scores."""
    outcomes = (Outcome.ERROR, Outcome.UNDEFINED) if isinstance(response, Ranking) else (Outcome.UNDEFINED,)
    for outcome in outcomes:
        concerned = [score for score in scores if score.outcome is outcome]
        if concerned:
            measures = ", ".join(score.measure for score in concerned)
            return outcome, f"{measures}: {concerned[0].reason}"
    return outcome_of(query, response)


def _do_scores_rise(ranking: Ranking, template: RequestTemplate | None) -> bool:
    """Whether a hit of *ranking* has a greater score than the one above it, though only scores order the hits."""
    if template is None or has_sort(template):
        return False
    scores: Sequence[float]
    if ranking.columns is None:
        scores = [hit.score for hit in ranking.hits if hit.score is not None and hit.sort is None]
        if len(scores) < len(ranking.hits):
            return False
    else:
        scores = ranking.columns.scores
    falls = False
    rises = False
    for score, following in pairwise(scores):
        if following < score:
            falls = True
        elif following > score and not is_tie(Hit("", score), Hit("", following), exact=ranking.exact_scores):
            rises = True
    if template.http is not None and not falls:
        return False  # a service may return distances, of which the least is the best
    return rises


def _describe_ranking(ranking: Ranking, query: Query, shared: _SharedFacts) -> tuple[RankedDocument, ...]:
    hits = ranking.list_hits_from(0)
    tied_places: set[int] = set()
    if has_ties(ranking):
        for place, (hit, following) in enumerate(pairwise(hits)):
            if is_tie(hit, following, exact=ranking.exact_scores):
                tied_places |= {place, place + 1}
    described = shared.described.get(query.id, {})
    gains = _list_gains(query, shared.suite.gain)
    documents = []
    for place, hit in enumerate(hits):
        title = hit.title or shared.titles.get(hit.id)
        texts = None
        if hit.id in described:
            texts = _describe_texts(described[hit.id], title, shared)
        documents.append(
            RankedDocument(
                rank=place + 1,
                id=hit.id,
                grade=query.judgments.get(hit.id),
                gain=gains.get(hit.id),
                score=hit.score,
                title=title,
                tied=place in tied_places,
                sort=hit.sort,
                texts=texts,
            )
        )
    return tuple(documents)


SHOWN_LENGTH = 200
"""Characters of a field's text in a report."""


def _describe_texts(hit: Hit, title: str | None, shared: _SharedFacts) -> DocumentTexts:
    """The texts of *hit*, whose document has the *title*, as reports show them."""
    texts, highlights = hit.texts or {}, hit.highlights or {}
    field_texts = []
    for name in shared.fields:
        if name in texts:
            highlight = highlights.get(name, Highlight(texts[name])).shorten(SHOWN_LENGTH)
            field_texts.append(FieldText(name, highlight.text, highlight.spans))
    title_spans: tuple[tuple[int, int], ...] = ()
    title_highlight = highlights.get(shared.suite.display.title or "")
    if title_highlight is not None and title_highlight.text == title:
        title_spans = title_highlight.spans
    return DocumentTexts(tuple(field_texts), title_spans)


def _describe_ideal(query: Query, shared: _SharedFacts) -> tuple[RankedDocument, ...]:
    gains = _list_gains(query, shared.suite.gain)
    best = _sort_relevant(query, gains)[: shared.suite.depth]
    return tuple(
        RankedDocument(
            rank=rank,
            id=document,
            grade=query.judgments[document],
            gain=gains[document],
            title=shared.titles.get(document),
        )
        for rank, document in enumerate(best, start=1)
    )


def _sort_relevant(query: Query, gains: Mapping[str, float]) -> list[str]:
    """Documents of positive gain: the greatest gain first, equal ones by grade, then by id."""
    relevant = [(-gains[document], -grade, document) for document, grade in query.judgments.items()]
    return [document for negative_gain, _, document in sorted(relevant) if negative_gain < 0]


def _list_gains(query: Query, gain: Gain) -> dict[str, float]:
    """What each judged document of *query* gains."""
    compute_gain = gain_function(gain)
    return {document: compute_gain(grade) for document, grade in query.judgments.items()}
