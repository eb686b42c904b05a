"""
Two sides and their scores -> the report: thresholds are decided, and the rankings of each query stand beside each
other, with what entered, what left and what moved. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from typing import TYPE_CHECKING

from harness import __version__
from harness.errors import GrammarError, Sentence, UsageError
from harness.extensions.compare.coverage import cover_sides
from harness.extensions.compare.model import ComparisonReport, JudgedHits, QueryComparison, Side, SideComparison
from harness.extensions.compare.scores import (
    ScoredSides,
    compare_measures,
    count_own_hits,
    read_depths,
    tabulate_scores,
)
from harness.extensions.compare.sides import MEASURE, QRELS, SUITE, ComparedSide, may_share_request, read_questions
from harness.gate.decide import compute_comparison_status, decide
from harness.gate.finding import compute_merit, describe_changed_question, read_weights
from harness.gate.grammar import TOLERANCE, check_reach, parse_threshold
from harness.gate.selection import count_runs
from harness.gate.stability import explain_changed_target
from harness.gate.unjudged_hits import JUDGED
from harness.metrics.agreement import RankPair, compare_rankings, mean_agreement
from harness.metrics.measures import common_measures, get_measure
from harness.model.comparison import Comparison, MovedDocument
from harness.model.kept import Question, Reference
from harness.model.report import QuoteReport
from harness.model.run import Failure, FailureKind, Ranking, Run, Status, Verdict
from harness.model.suite import (
    AgreementCondition,
    BaselineCondition,
    Condition,
    Query,
    ScoreCondition,
    Suite,
    Threshold,
    is_about_baseline,
)
from harness.model.timing import ReportTiming
from harness.run.quotes import describe_quotes
from harness.store.differences import DocumentNotes, are_only_ties, compare_documents, select_moved
from harness.store.what_changed import diff_texts, select_all_values
from harness.words import count, counted, did_you_mean, listed

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions


USUAL_DEPTH = 10
"""Ranks that are compared where the rankings are whole and no depth is given."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """
    How two runs are compared.

    *depth* is the number of ranks to compare; None for all that both have. *how* says how differences are tested.
    *today* decides which skips are in force. *searched* are the given options, by field, with which sides are searched,
    beside request and index.
    """

    today: date
    depth: int | None = None
    how: ComparisonOptions | None = None
    searched: Mapping[str, str | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 1:
            raise UsageError(f"found depth {self.depth}, expected at least 1")


def assemble_comparison(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, options: CompareOptions, pool_command: str = ""
) -> SideComparison:
    """
    Compare the second of *pair* with the first, and decide the thresholds of *scored*.

    Args:
        pair: The reference and the candidate.
        scored: Their scores.
        options: How they are compared.
        pool_command: The command that collects the unjudged hits of all sides; empty if there is none.

    Raises:
        UsageError: There is no query to compare, *options* have more ranks than there are, a threshold cannot be
            decided, or the packages for statistics are not installed.
        StatisticError: The test is the t test and no query differs.
    """
    suite, names = scored.suite, (pair[0].name, pair[1].name)
    first, second = (run.responses for run in scored.runs)
    if not any(query.id in first and query.id in second for query in suite.queries):
        reason = f": {scored.false_hits}" if scored.false_hits else ""
        raise UsageError(f"there is no query on which to compare {names[1]} with {names[0]}{reason}")
    read_depths(pair, suite).refuse_ranks(options.depth)
    depth = options.depth or scored.depth or USUAL_DEPTH
    check_thresholds(suite, judged=scored.is_judged, depth=scored.depth)
    rankings = _pair_rankings(scored)
    agreements = {}
    for query, (before, after) in rankings.items():
        agreements[query] = compare_rankings(before.ids, after.ids, depth=depth)
    queries = _compare_queries(scored, rankings, agreements, depth)
    measures, untested = compare_measures(names, scored, options.how)
    first_measure = next((measure.text for measure in common_measures(suite)), None)
    judged = cover_sides(pair, scored, depth, pool_command) if scored.is_judged else None
    if measures is not None and judged is not None:
        measures = _add_ranges(measures, judged)
    verdicts = _decide_thresholds(pair, scored, depth, options)
    only_reference, only_candidate, absent = _list_incomplete(pair, scored)
    notes = list(scored.notes)
    if scored.false_hits:
        notes.append(scored.false_hits)
    notes += untested
    request = pair[0].request
    if not may_share_request(*pair) and request == pair[1].request:
        notes.append(f"the request {request} is not the same on both sides")
    if absent:
        notes.append(f"on neither side: {counted(absent, 'query')}")
    moving = explain_changed_target(scored.runs[1], scored.runs[0])
    if moving:
        notes.append(moving)
    return SideComparison(
        reference=_report_side(pair[0], suite),
        candidate=_report_side(pair[1], suite),
        gain=str(suite.gain) if scored.is_judged else "",
        profile=suite.profile,
        depth=depth,
        own_depths=_list_own_depths(pair, scored),
        measures=measures,
        agreement=mean_agreement(agreements, depth=depth, weights=read_weights(suite.queries, agreements)),
        queries=tuple(sort_by_change(queries, first_measure)),
        verdicts=verdicts,
        warnings=scored.warnings,
        notes=tuple(notes),
        only_reference=tuple(only_reference),
        only_candidate=tuple(only_candidate),
        judged=judged,
        request_diff=diff_texts("request", pair[0].request_json, pair[1].request_json),
    )


def _list_own_depths(pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides) -> tuple[int, ...]:
    """How many hits measures without a cutoff count on each side; empty where it is as many as both have."""
    own = count_own_hits(pair, scored.depth)
    if own == (scored.depth, scored.depth) or not scored.is_judged or not scored.uncut_measures:
        return ()
    return tuple(hits for hits in own if hits is not None)


def assemble_report(suite: str, comparisons: Sequence[SideComparison], created: str) -> ComparisonReport:
    """The report of *comparisons*, one for each side after the first, made at the time *created*."""
    verdicts: list[Verdict] = []
    is_unanswered = False
    for comparison in comparisons:
        verdicts += comparison.verdicts
        is_unanswered = is_unanswered or bool(comparison.reference.unanswered or comparison.candidate.unanswered)
    first, *further = comparisons
    return ComparisonReport(
        **{field.name: getattr(first, field.name) for field in fields(first)},
        timing=ReportTiming(created),
        harness=__version__,
        suite=suite,
        further=tuple(further),
        exit_status=compute_comparison_status(verdicts, unanswered=is_unanswered),
    )


def _add_ranges(measures: Comparison, judged: JudgedHits) -> Comparison:
    """*measures*, each with how far the unjudged hits may move its difference."""
    ranges = {limits.measure: (limits.low, limits.high) for limits in judged.ranges}
    rows = tuple(replace(row, if_judged=ranges.get(row.measure)) for row in measures.measures)
    return replace(measures, measures=rows)


def _decide_thresholds(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides, depth: int, options: CompareOptions
) -> tuple[Verdict, ...]:
    """The verdicts of the gate, with the first side as the baseline."""
    thresholds = tuple(_fill_depth(threshold, depth) for threshold in scored.suite.thresholds)
    of_all_hits = []
    of_first_hits = []
    for threshold in thresholds:
        measure = get_measure(threshold)
        if measure is not None and measure.cutoff is None:
            of_all_hits.append(threshold)
        else:
            of_first_hits.append(threshold)
    # A measure without a cutoff counts hits below the depth that both have.
    verdicts = _decide_by_runs(pair, scored, of_all_hits, scored.deep_runs, options)
    verdicts += _decide_by_runs(pair, scored, of_first_hits, scored.runs, options)
    by_threshold = dict(zip([*of_all_hits, *of_first_hits], verdicts, strict=True))
    return tuple(by_threshold[threshold] for threshold in thresholds)


def _decide_by_runs(
    pair: tuple[ComparedSide, ComparedSide],
    scored: ScoredSides,
    thresholds: Sequence[Threshold],
    runs: tuple[Run, Run],
    options: CompareOptions,
) -> list[Verdict]:
    """The verdicts of *thresholds* by *runs*, which have the hits that their measures count."""
    if not thresholds:
        return []
    reference, candidate = pair
    suite = replace(scored.suite, thresholds=tuple(thresholds))
    # Whole rankings have all the hits that a cutoff may look at, however few they are.
    if scored.depth is None:
        suite = replace(suite, depth=max(suite.depth, _find_deepest_cutoff(thresholds)))
    depths = (suite.depth, suite.depth)
    if runs is scored.deep_runs:
        own_reference, own_candidate = count_own_hits(pair, scored.depth)
        depths = (own_reference or suite.depth, own_candidate or suite.depth)
    suite = replace(suite, depth=depths[1])
    baseline = Reference(
        run=runs[0],
        scores=scored.scores[0],
        depth=suite.depth,
        same_request=may_share_request(reference, candidate),
        name=reference.name,
        changed_questions=reference.changed_questions,
    )
    verdicts = decide(suite, runs[1], scored.scores[1], today=options.today, reference=baseline)
    if not any(isinstance(threshold.condition, ScoreCondition) for threshold in thresholds):
        return list(verdicts)
    # A threshold on coverage is not about a difference: it has to hold for each side.
    of_reference = replace(suite, depth=depths[0])
    verdicts_of_reference = decide(of_reference, runs[0], scored.scores[0], today=options.today)
    combined = []
    for threshold, before, after in zip(thresholds, verdicts_of_reference, verdicts, strict=True):
        if isinstance(threshold.condition, ScoreCondition):
            combined.append(_combine_verdicts(pair, before, after))
        else:
            combined.append(after)
    return combined


def _combine_verdicts(pair: tuple[ComparedSide, ComparedSide], reference: Verdict, candidate: Verdict) -> Verdict:
    """The verdict of a threshold that has to hold for each side: the worse of the two; its reason has both."""
    worse, better = reference, candidate
    if _rate(candidate) < _rate(reference):
        worse, better = candidate, reference
    blamed = worse.blamed
    if better.status is not Status.PASSED:
        blamed = tuple(dict.fromkeys((*worse.blamed, *better.blamed)))
    reason = f"{pair[0].name}: {reference.reason}; {pair[1].name}: {candidate.reason}"
    return replace(worse, reason=reason, blamed=blamed)


def _rate(verdict: Verdict) -> tuple[int, float]:
    """What to compare verdicts of one threshold by: the worse is the less."""
    order = (Status.ERROR, Status.FAILED, Status.INCONCLUSIVE, Status.PASSED)
    merit = -math.inf
    if verdict.observed is not None and verdict.operator is not None and verdict.required is not None:
        merit = compute_merit(verdict.observed, verdict.operator, verdict.required)
    return order.index(verdict.status), merit


def _report_side(side: ComparedSide, suite: Suite) -> Side:
    """What a report says of *side*, with only the failures of queries that are compared."""
    ids = {query.id for query in suite.queries}
    values = {field.name: getattr(side, field.name) for field in fields(Side)}
    values["unanswered"] = {query: why for query, why in side.unanswered.items() if query in ids}
    return Side(**values)


def _list_incomplete(
    pair: tuple[ComparedSide, ComparedSide], scored: ScoredSides
) -> tuple[list[str], list[str], list[str]]:
    """The queries that only the reference has, those that only the candidate has, and those that neither has."""
    first, second = (run.responses for run in scored.runs)
    only_reference: list[str] = []
    only_candidate: list[str] = []
    absent: list[str] = []
    for query in scored.suite.queries:
        if query.id in first and query.id not in second:
            only_reference.append(query.id)
        # The responses to changed questions were removed: a note says so.
        elif query.id in second and query.id not in first and query.id not in pair[0].changed_questions:
            only_candidate.append(query.id)
        elif query.id not in first and query.id not in second:
            absent.append(query.id)
    return only_reference, only_candidate, absent


# Thresholds.


_EXPECTED = (
    "a drop, such as 'drop nDCG@10 <= 0.02', 'worse … by …', an agreement such as 'mean RBO >= 0.9', or the share of "
    "judged hits of both sides, such as 'mean Judged@10 >= 0.9'"
)


def read_thresholds(texts: Iterable[str]) -> tuple[Threshold, ...]:
    """
    The thresholds, read by the grammar of suites.

    Raises:
        UsageError: A text does not fit the grammar, or is not about a difference; names all such texts.
    """
    thresholds, refusals = [], []
    for text in texts:
        try:
            condition, tag = parse_threshold(text, of_query=False)
        except GrammarError as error:
            refusals.append(f"threshold {text!r}: {error}")
            continue
        if count_runs(condition):
            refusals.append(f"threshold {text!r} is about a history, of which a comparison has none; remove 'since …'")
            continue
        is_of_coverage = isinstance(condition, ScoreCondition) and condition.measure.name == JUDGED
        if is_of_coverage or is_about_baseline(condition):
            thresholds.append(Threshold(text, condition, tag))
        else:
            refusals.append(
                f"threshold {text!r} applies to one run and not to a difference; expected {_EXPECTED}; "
                "use relevance run for it"
            )
    if refusals:
        raise UsageError("\n".join(refusals))
    return tuple(thresholds)


def check_thresholds(suite: Suite, *, judged: bool, depth: int | None) -> None:
    """
    Refuse thresholds that cannot be decided.

    Args:
        suite: Holds them, and the queries that are compared with their tags.
        judged: Whether there are scores.
        depth: The number of hits per query, None where the rankings are whole.

    Raises:
        UsageError: No query has a threshold's tag, a number is out of reach, an agreement is deeper than the rankings,
            or a threshold is on a drop of scores where there are none.
    """
    refusals: list[Sentence] = []
    for threshold in suite.thresholds:
        sentence = _explain_refusal(threshold, suite, judged, depth)
        if sentence:
            refusals.append((f"threshold {threshold.text!r}: ", *sentence))
    if refusals:
        raise UsageError.of_lines(refusals)


def _explain_refusal(threshold: Threshold, suite: Suite, judged: bool, depth: int | None) -> Sentence:
    """Why *threshold* cannot be decided; empty where it can be."""
    tags = {tag for query in suite.queries for tag in query.tags}
    condition = threshold.condition
    if threshold.tag is not None and threshold.tag not in tags:
        return (f"no query has the tag {threshold.tag!r}{did_you_mean(threshold.tag, tags)}",)
    if not judged and isinstance(condition, BaselineCondition | ScoreCondition):
        problem = "there are no scores to compare; give "
        return problem, SUITE, ", or ", QRELS, " and ", MEASURE, ", or use a threshold on RBO or overlap"
    if isinstance(condition, AgreementCondition) and depth is not None and (condition.agreement.cutoff or 0) > depth:
        return (f"{condition.agreement} looks at more hits than the {depth} a query that both sides have",)
    sentence = check_reach(condition, suite.gain, suite.profile)
    return (sentence,) if sentence else ()


def _find_deepest_cutoff(thresholds: Iterable[Threshold]) -> int:
    """The deepest cutoff of the measures and agreements of *thresholds*, at least 1."""
    deepest = 1
    for threshold in thresholds:
        condition = threshold.condition
        if isinstance(condition, AgreementCondition):
            deepest = max(deepest, condition.agreement.cutoff or 1)
        elif isinstance(condition, BaselineCondition | ScoreCondition):
            deepest = max(deepest, condition.measure.cutoff or 1)
    return deepest


def _fill_depth(threshold: Threshold, depth: int) -> Threshold:
    """*threshold*; an agreement without a cutoff of its own takes that of the report."""
    condition: Condition = threshold.condition
    if not isinstance(condition, AgreementCondition):
        return threshold
    agreement = replace(condition.agreement, cutoff=condition.agreement.cutoff or depth)
    return replace(threshold, condition=replace(condition, agreement=agreement))


# Queries that ask the same.


def remove_changed_queries(
    pair: tuple[ComparedSide, ComparedSide], suite: Suite | None
) -> tuple[tuple[ComparedSide, ComparedSide], tuple[str, ...]]:
    """
    Remove the responses to queries whose text or params differ.

    A query of the reference with another text or other params than in the candidate, or in *suite*, is removed from the
    reference. Where only the candidate is known to differ from the suite, its response becomes a failure.

    Returns:
        Both sides, and a sentence on each that has other texts or params.
    """
    reference, candidate = pair
    of_suite: Mapping[str, Question] = {}
    if suite is not None:
        of_suite = read_questions(suite, select_all_values(suite))
    # Only queries of the suite are compared, where there is one that has questions.
    of_candidate = candidate.questions
    if of_suite:
        of_candidate = {query: question for query, question in of_candidate.items() if query in of_suite}
    removed = {
        **_find_changed(reference.questions, of_candidate),
        **_find_changed(reference.questions, of_suite),
    }
    # Where the reference has the query too, its questions are compared above: both sides may have asked the same.
    changed = _find_changed(candidate.questions, of_suite)
    failed = {query: questions for query, questions in changed.items() if query not in reference.questions}
    responses = dict(candidate.run.responses)
    for query, (before, after) in failed.items():
        change = describe_changed_question(query, before, after)
        responses[query] = Failure(FailureKind.NOT_RUN, f"another text or params: {change}")
    notes = (*_note_changed_questions(reference, removed), *_note_changed_questions(candidate, failed))
    candidate = replace(candidate, run=replace(candidate.run, responses=responses))
    return (_remove_queries(reference, removed), candidate), notes


def _find_changed(
    before: Mapping[str, Question], after: Mapping[str, Question]
) -> dict[str, tuple[Question, Question]]:
    """The questions that differ, of the queries in both."""
    changed = {}
    for query, question in before.items():
        if query in after and question.is_another(after[query]):
            changed[query] = (question, after[query])
    return changed


def _note_changed_questions(side: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> Iterator[str]:
    if changed:
        changes = listed([describe_changed_question(query, *questions) for query, questions in changed.items()])
        yield f"{side.name} asked something else for {count(len(changed), 'query')}, not compared: {changes}"


def _remove_queries(side: ComparedSide, changed: Mapping[str, tuple[Question, Question]]) -> ComparedSide:
    """*side* without the responses, scores and judgments of the queries *changed*."""
    responses = {query: response for query, response in side.run.responses.items() if query not in changed}
    return replace(
        side,
        run=replace(side.run, responses=responses),
        queries=tuple(query for query in side.queries if query.id not in changed),
        scores=tuple(score for score in side.scores if score.query not in changed),
        fingerprints={query: judged for query, judged in side.fingerprints.items() if query not in changed},
        changed_questions=changed,
    )


# Rankings.


def _pair_rankings(scored: ScoredSides) -> dict[str, tuple[Ranking, Ranking]]:
    """Both rankings of each query that has one on both sides."""
    pairs = {}
    for query in scored.suite.queries:
        before, after = (run.responses.get(query.id) for run in scored.runs)
        if isinstance(before, Ranking) and isinstance(after, Ranking):
            pairs[query.id] = (before, after)
    return pairs


def _compare_queries(
    scored: ScoredSides,
    rankings: Mapping[str, tuple[Ranking, Ranking]],
    agreements: Mapping[str, RankPair],
    depth: int,
) -> list[QueryComparison]:
    """
    Every query, in the suite's order.

    Args:
        scored: The scores of both sides.
        rankings: Both rankings of each query that has one on both sides.
        agreements: How far they agree, by the same queries.
        depth: The number of ranks to compare.
    """
    titles = _collect_titles(scored)
    first, second = (tabulate_scores(scored, scores) for scores in scored.scores)
    comparisons = []
    for query in scored.suite.queries:
        scores = {}
        if scored.is_judged:
            scores = {measure: (first[measure][query.id], second[measure][query.id]) for measure in first}
        comparison = QueryComparison(query.id, query.text, query.tags, scores)
        if query.id in rankings:
            notes = DocumentNotes(query.judgments, scored.suite.gain, titles)
            documents = compare_documents(*rankings[query.id], depth=depth, notes=notes)
            agreement = agreements[query.id]
            comparison = replace(
                add_documents(comparison, documents),
                rbo=agreement.rbo,
                overlap=agreement.overlap,
                tau=agreement.tau,
                quotes=_compare_quotes(query, scored),
            )
        comparisons.append(comparison)
    return comparisons


def _compare_quotes(query: Query, scored: ScoredSides) -> tuple[QuoteReport, ...]:
    """The quotes of *query* with their places in all hits that are scored, by their texts where these are known."""
    runs = scored.deep_runs if scored.uncut_measures else scored.runs
    before, after = (run.responses[query.id] for run in runs)
    assert isinstance(after, Ranking), "a query without a ranking is not compared"
    quotes = describe_quotes(query, after, scored.suite.display.text or "", before)
    return quotes if all(quote.was is not None for quote in quotes) else ()


def _collect_titles(scored: ScoredSides) -> dict[str, str]:
    """Every title that either run returned or looked up, the candidate's first, and returned ones before others."""
    titles: dict[str, str] = {}
    for run in scored.runs:
        titles.update(run.titles)
    for run in scored.runs:
        for hit in run.hits:
            if hit.title is not None:
                titles[hit.id] = hit.title
    return titles


def add_documents(query: QueryComparison, documents: tuple[MovedDocument, ...]) -> QueryComparison:
    """*query* with the *documents* of its two rankings, and how many of them entered, left and moved."""
    changed = select_moved(documents)
    entered = sum(document.reference is None for document in changed)
    left = sum(document.candidate is None for document in changed)
    return replace(
        query,
        documents=documents,
        entered=entered,
        left=left,
        moved=len(changed) - entered - left,
        ties_only=are_only_ties(changed),
    )


def sort_by_change(queries: Sequence[QueryComparison], measure: str | None) -> list[QueryComparison]:
    """
    *queries* by how far *measure* changed, then by how little their rankings agree; those without both rankings last.

    Equal ones keep their order.
    """
    return sorted(queries, key=lambda query: _rate_change(query, measure))


def _rate_change(query: QueryComparison, measure: str | None) -> tuple[bool, bool, float, float]:
    """What to sort queries by: the less, the more changed."""
    before, after = query.scores.get(measure or "", (None, None))
    change = None
    if before is not None and after is not None:
        change = abs(after - before)
    # A change within the tolerance is rounding, and must not order queries before their rankings do.
    size = 0.0 if change is None or change <= TOLERANCE else change
    return query.rbo is None, change is None, -size, query.rbo or 0.0
