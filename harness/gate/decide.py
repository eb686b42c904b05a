"""Verdicts: decide each threshold, apply xfail, skip and severity, and derive the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date

from harness.gate.conditions import is_for_request
from harness.gate.cut_answers import add_cut_answers, find_cut_answers
from harness.gate.decide_agreements import decide_agreement
from harness.gate.decide_answers import decide_expectation, decide_latency, read_requested_depth
from harness.gate.decide_drops import decide_pairs
from harness.gate.decide_estimates import decide_estimate
from harness.gate.decide_false_hits import decide_false_hits
from harness.gate.decide_fields import decide_each_query, decide_field_expectation
from harness.gate.decide_history import decide_since
from harness.gate.decide_machines import add_machine_share, decide_on_grades
from harness.gate.decide_requests import decide_with_request
from harness.gate.decide_scores import add_short_rankings, add_ties, decide_scores
from harness.gate.decide_variants import decide_variants
from harness.gate.finding import Finding, add_left_out, scope_scores, split_skipped
from harness.gate.inputs import GateInputs
from harness.gate.lost_quotes import add_lost_quotes
from harness.gate.pairs import find_unjudged_range, pair_scores, suggest_tie_remedy
from harness.gate.selection import (
    ALL,
    GatedThreshold,
    QueryFilter,
    collect_thresholds,
    is_per_query,
    is_selected,
    select_scope,
)
from harness.gate.stability import decide_repeats, explain_changed_target, find_unstable_queries
from harness.gate.ties import RunBands
from harness.gate.unjudged_hits import add_unjudged, add_unjudged_count
from harness.metrics.run_scores import gain_text
from harness.model.kept import History, Reference
from harness.model.report import SuiteReport
from harness.model.run import Cause, Run, Status, UnstableQuery, Verdict
from harness.model.scores import Score, index_scores
from harness.model.suite import (
    PEOPLE,
    AgreementCondition,
    BaselineCondition,
    Before,
    DropCondition,
    FalseHitsCondition,
    FieldExpectation,
    HitCount,
    InTop,
    KappaCondition,
    LatencyCondition,
    LossCondition,
    MachineShareCondition,
    Query,
    ScoreCondition,
    SignificanceCondition,
    Suite,
    UnresolvedCondition,
    Waiver,
    WorseCondition,
    find_first_ended,
    find_first_in_force,
    get_other_request,
    is_in_force,
    select_by_id,
)
from harness.words import listed

CONDITIONS_WITHOUT_RANKS = (LatencyCondition, MachineShareCondition, KappaCondition, FalseHitsCondition, HitCount)
"""Conditions on which the ranks of hits have no influence. A ranking whose first hits are cut off does not matter."""


def decide(
    suite: Suite,
    run: Run,
    scores: Sequence[Score],
    *,
    today: date,
    query_filter: QueryFilter = ALL,
    strict_xfail: bool = False,
    report_only: bool = False,
    reference: Reference | None = None,
    history: History | None = None,
    repeated: Sequence[Sequence[Score]] = (),
) -> tuple[Verdict, ...]:
    """
    Give every threshold and rank expectation of a suite its verdict.

    Args:
        suite: The whole suite, whatever part of it ran.
        run: The responses.
        scores: The scores of the run; one that is absent counts as missing.
        today: Decides which waivers are in force; their last day is included.
        query_filter: The queries that ran; a threshold that needs others is left out.
        strict_xfail: Whether an unexpected pass is a failure, as pytest's `xfail_strict`.
        report_only: Whether to report figures without verdicts: each threshold is then "not decided".
        reference: The run that thresholds on a drop compare with; without one they fail.
        history: The earlier runs that thresholds ``since`` some runs compare with; without them they fail.
        repeated: The scores of each of the *run*'s repeats; without them the first one alone decides.

    Returns:
        The suite's thresholds in order, then those of each query; not those that are for other requests.
    """
    first_inputs = GateInputs(
        suite=suite,
        run=run,
        scores=index_scores(scores),
        reference=reference,
        reference_scores=index_scores(reference.scores if reference else ()),
        today=today,
        requested=read_requested_depth(suite, run),
        bands=RunBands(suite, run),
        history=history,
    )
    inputs_of_repeats: list[GateInputs] = []
    for repeat, scores_of_repeat in zip(run.repeats, repeated, strict=False):
        run_of_repeat = replace(run, responses=repeat.responses, variants=repeat.variants)
        inputs_of_repeat = replace(
            first_inputs,
            run=run_of_repeat,
            scores=index_scores(scores_of_repeat),
            requested=read_requested_depth(suite, run_of_repeat),
            bands=RunBands(suite, run_of_repeat),
        )
        inputs_of_repeats.append(inputs_of_repeat)
    baseline_run = None
    if reference is not None:
        baseline_run = reference.run
    target_change = explain_changed_target(run, baseline_run)
    cut_answers = find_cut_answers(suite, run)
    unstable = find_unstable_queries(run) if run.repeats else ()
    answers = _AnswersOfRepeats(first_inputs, inputs_of_repeats, unstable)
    verdicts = []
    for threshold in collect_thresholds(suite):
        if not is_selected(threshold, query_filter) or not is_for_request(threshold.threshold, suite, run.request):
            continue
        skip = find_first_in_force(today, *threshold.skips)
        if skip is not None:
            finding = Finding(Status.SKIPPED, f"skipped{format_until(skip)}: {skip.reason}", cause=Cause.SKIPPED)
            verdicts.append(_make_verdict(threshold, finding, skip))
            continue
        scope = select_scope(threshold, suite)
        finding = answers.decide_threshold(threshold, scope)
        if cut_answers and not isinstance(threshold.condition, CONDITIONS_WITHOUT_RANKS):
            finding = add_cut_answers(finding, scope, cut_answers, first_inputs.requested)
        finding = add_unjudged_count(finding, threshold.condition, scope, run.responses)
        # The queries did not search the same documents: nothing is decided then, and no single query is to blame.
        if target_change and finding.status in (Status.PASSED, Status.FAILED):
            reason = f"{target_change}; {finding.reason}"
            finding = replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=(), cause=Cause.MOVING_INDEX)
        waiver = None
        if report_only:
            finding = replace(finding, status=Status.NOT_DECIDED)
        else:
            excused: dict[str, Waiver] = {}
            if finding.status is Status.FAILED:
                finding, excused = _excuse_queries(finding, threshold, scope, answers)
            finding, waiver = apply_waivers(finding, threshold, excused, today, strict=strict_xfail)
        verdicts.append(_make_verdict(threshold, finding, waiver))
    return tuple(verdicts)


@dataclass(frozen=True, slots=True)
class _AnswersOfRepeats:
    """The *first* answers of a run, those of its *repeats*, and the *unstable* queries, whose rankings differ."""

    first: GateInputs
    repeats: Sequence[GateInputs]
    unstable: Sequence[UnstableQuery]

    def decide_threshold(self, threshold: GatedThreshold, queries: Sequence[Query]) -> Finding:
        """Find out whether *queries* meet the condition of *threshold* in all repeats, before waivers."""
        first_finding = decide_threshold(threshold, queries, self.first)
        if not self.repeats:
            return first_finding
        findings_of_repeats = [decide_threshold(threshold, queries, inputs) for inputs in self.repeats]
        template = self.first.suite.requests.get(self.first.run.request)
        return decide_repeats(first_finding, findings_of_repeats, queries, self.unstable, template)


def decide_threshold(threshold: GatedThreshold, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """Find out whether *queries* meet the condition of *threshold*, before waivers."""
    condition = threshold.condition
    is_of_query = threshold.query is not None
    active, skipped = split_skipped(queries, inputs.today)
    # Without any query there is nothing to estimate: that is decided as it is without an estimate.
    if active and threshold.threshold.is_estimated and isinstance(condition, ScoreCondition | DropCondition):
        return add_left_out(decide_estimate(condition, queries, inputs), skipped)
    if isinstance(condition, ScoreCondition):
        return _decide_score_condition(condition, queries, inputs)
    if isinstance(condition, MachineShareCondition | KappaCondition):
        return decide_on_grades(condition, queries, inputs)
    if isinstance(condition, FalseHitsCondition):
        return decide_false_hits(condition, queries, inputs)
    if isinstance(condition, LatencyCondition):
        return decide_latency(condition, queries, inputs.run.responses, inputs.today)
    if isinstance(condition, AgreementCondition | LossCondition):
        return _decide_two_rankings(condition, queries, inputs)
    if isinstance(condition, DropCondition | WorseCondition) and condition.since is not None:
        tag = threshold.threshold.tag
        return decide_since(condition, queries, inputs, of_query=is_of_query, tag=tag)
    if isinstance(condition, BaselineCondition):
        return _decide_change(condition, queries, inputs, of_query=is_of_query)
    if isinstance(condition, UnresolvedCondition):
        names = ", ".join(condition.variables)
        reason = f"cannot be decided: the suite was loaded without values for {names}"
        return Finding(Status.ERROR, reason, cause=Cause.NOT_LOADED)
    return _decide_expectation(threshold, condition, queries, inputs)


def _decide_change(
    condition: BaselineCondition, queries: Sequence[Query], inputs: GateInputs, *, of_query: bool
) -> Finding:
    """Decide how the scores of *queries* changed since the baseline."""
    pairs = pair_scores(inputs, queries, condition.measure)
    if isinstance(pairs, Finding):
        return pairs
    # Few look at how far unjudged hits may move a difference, and it is costly.
    if isinstance(condition, SignificanceCondition):
        pairs = replace(pairs, if_judged=find_unjudged_range(pairs, inputs))
    finding = decide_pairs(condition, pairs, of_query=of_query, remedy=suggest_tie_remedy(inputs))
    return add_lost_quotes(finding, condition.measure, queries, inputs)


def _decide_expectation(
    threshold: GatedThreshold,
    condition: InTop | Before | HitCount | FieldExpectation,
    queries: Sequence[Query],
    inputs: GateInputs,
) -> Finding:
    """Decide what *threshold* expects of the hits of its query, or of each of *queries* where it is the suite's."""
    query = threshold.query
    if query is None:
        if isinstance(condition, HitCount | FieldExpectation):
            return decide_each_query(condition, queries, inputs)
        reason = "cannot be decided: a rank expectation belongs to one query, not to a suite"
        return Finding(Status.ERROR, reason, cause=Cause.NOT_LOADED)
    response = inputs.run.responses.get(query.id)
    if isinstance(condition, FieldExpectation):
        return decide_field_expectation(condition, query, response, inputs)
    return decide_expectation(condition, query, response, inputs.requested, inputs.run.checks)


def _decide_two_rankings(
    condition: AgreementCondition | LossCondition, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """Decide a condition that compares each ranking with the baseline's, a variant's, or that of another request."""
    if isinstance(condition, AgreementCondition) and condition.counterpart is None:
        return decide_agreement(condition, queries, inputs)
    request = get_other_request(condition)
    if request is None:
        return decide_variants(condition, queries, inputs)
    return decide_with_request(condition, request, queries, inputs)


def _decide_score_condition(condition: ScoreCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Judge the scores, then add what may move them: the order of ties, hits that may follow, unjudged hits.

    Ties come first: their caveat is that of a pass, which hits that may follow can turn into no decision. Unjudged hits
    come last: their sentence ends with the command to run next, and is for a threshold that fails after all.
    """
    scope = scope_scores(queries, condition.measure.text, inputs.scores, inputs.today)
    gain = gain_text(condition.measure, inputs.suite)
    finding = decide_scores(condition, scope, gain=gain, skip_undefined=inputs.suite.skip_undefined)
    finding = add_ties(finding, condition, scope, inputs.bands.list_extremes(condition.measure, scope.counted))
    if inputs.suite.judges != (PEOPLE,):
        finding = add_machine_share(finding, scope, condition.measure.text, inputs.scores)
    finding = add_short_rankings(finding, condition, scope, inputs)
    return add_unjudged(finding, condition, queries, inputs.run.responses)


def _make_verdict(threshold: GatedThreshold, finding: Finding, waiver: Waiver | None) -> Verdict:
    """The verdict on *threshold*. It has all fields of *finding*, under the same names."""
    query_id = None
    markers = threshold.threshold.markers
    if threshold.query is not None:
        query_id = threshold.query.id
        markers += threshold.query.markers
    fields_of_finding = {field.name: getattr(finding, field.name) for field in fields(finding)}
    return Verdict(
        id=threshold.id,
        threshold=threshold.threshold.text,
        tag=threshold.threshold.tag,
        query=query_id,
        mark=threshold.threshold.mark,
        waiver=waiver,
        markers=tuple(dict.fromkeys(markers)),
        **fields_of_finding,
    )


# Waivers: what is expected to fail, and what no longer is. The first that applies decides:
#
# 1. A skip in force: the threshold is not decided at all, see `decide`.
# 2. An xfail in force, the threshold's own before its query's: a failure is expected, and does not even warn; a pass is
#    unexpected, and fails if xfail is strict, whatever the severity.
# 3. Excused queries: a threshold on each query blames only queries that have an xfail in force.
# 4. The severity "warning": a failure warns.
#
# Only a failure is forgiven: what is undecided stays so. A waiver that ended has no effect, and the reason says so; not
# where one that is in force decides, which is the whole reason for the status.


def apply_waivers(
    finding: Finding, threshold: GatedThreshold, excused: Mapping[str, Waiver], today: date, *, strict: bool
) -> tuple[Finding, Waiver | None]:
    """
    Apply the waivers to *finding*; returns the finding and the waiver in force.

    Args:
        finding: The outcome of the threshold's condition.
        threshold: The threshold, whose own waiver is the nearest, then that of its query.
        excused: The queries that *finding* blames, by `_excuse_queries`.
        today: Decides which waivers are in force.
        strict: Whether an unexpected pass is a failure.
    """
    xfail = find_first_in_force(today, *threshold.xfails)
    if xfail is not None:
        return _apply_xfail(finding, xfail, strict), xfail
    if excused:
        reasons = [f"{query}{format_until(waiver)} ({waiver.reason})" for query, waiver in excused.items()]
        reason = f"{finding.reason}; expected to fail: {listed(reasons)}"
        return replace(finding, status=Status.XFAILED, reason=reason), next(iter(excused.values()))
    # From here on no waiver is in force, on the threshold or on all that it blames.
    if threshold.threshold.warns and finding.status is Status.FAILED:
        finding = replace(finding, status=Status.WARNED)
    ended = find_first_ended(today, *threshold.xfails) or find_first_ended(today, *threshold.skips)
    if ended is not None:
        note = f"; the waiver {ended.reason!r} ended on {ended.until} and no longer holds"
        finding = replace(finding, reason=finding.reason + note)
    return finding, None


def format_until(waiver: Waiver) -> str:
    """Until when *waiver* holds, to follow a word such as "skipped"; empty if it has no last day."""
    return f" until {waiver.until}" if waiver.until else ""


def _apply_xfail(finding: Finding, waiver: Waiver, strict: bool) -> Finding:
    """*finding* of a threshold that is expected to fail. Only PASSED and FAILED change: what is undecided stays so."""
    if finding.status is Status.FAILED:
        reason = f"{finding.reason}; expected to fail{format_until(waiver)}: {waiver.reason}"
        return replace(finding, status=Status.XFAILED, reason=reason)
    if finding.status is not Status.PASSED:
        return finding
    reason = f"{finding.reason}; passed, though expected to fail{format_until(waiver)}: {waiver.reason}"
    reason += "; remove the xfail"
    status = Status.FAILED if strict else Status.XPASSED
    return replace(finding, status=status, reason=reason)


def _excuse_queries(
    finding: Finding, threshold: GatedThreshold, scope: Sequence[Query], answers: _AnswersOfRepeats
) -> tuple[Finding, dict[str, Waiver]]:
    """
    *finding*, and the queries that it blames with their waivers, if all of them are expected to fail.

    *finding* is FAILED as soon as one query fails, even if other queries could not be decided. The other queries are
    therefore decided again without the excused ones. If they are undecided, their finding is returned, and no query is
    excused: an expected failure must not hide that something is unknown.
    """
    excused = _list_excused(finding, threshold, scope, answers.first.today)
    others = [query for query in scope if query.id not in excused]
    if excused and others:
        finding_without_excused = answers.decide_threshold(threshold, others)
        if finding_without_excused.status.is_undecided:
            return finding_without_excused, {}
    return finding, excused


def _list_excused(
    finding: Finding, threshold: GatedThreshold, scope: Sequence[Query], today: date
) -> dict[str, Waiver]:
    """The queries that *finding* blames with their waivers; empty unless each of them is expected to fail."""
    # Nothing was observed where one query kept all others from being decided.
    if finding.observed is None:
        return {}
    # No single query is to blame for a figure over all queries, such as a mean.
    if not is_per_query(threshold.condition):
        return {}
    # An `xfail` of the threshold or of its query comes before those of blamed queries, see `apply_waivers`.
    if find_first_in_force(today, *threshold.xfails) is not None:
        return {}
    queries_by_id = {query.id: query for query in select_by_id(scope, set(finding.blamed))}
    excused = {}
    for query_id in finding.blamed:
        waiver = queries_by_id[query_id].xfail
        if waiver is None or not is_in_force(waiver, today):
            return {}
        excused[query_id] = waiver
    return excused


# The status of the process.


def compute_exit_status(reports: Iterable[SuiteReport]) -> int:
    """
    The exit status of the process: the greatest of those of *reports*.

    3 if anything is undecided or unanswered, else 1 if a threshold failed, else 0; warnings and xfails count as 0. A
    suite that ran with a request that gates nothing is 0. In a pytest session the items of a suite decide.
    """
    return max(map(_compute_suite_status, reports), default=0)


def _compute_suite_status(report: SuiteReport) -> int:
    if report.item_status is not None:
        return report.item_status
    if not report.gates:
        return 0
    is_unanswered = bool(report.unanswered_once)
    # Where thresholds are decided, those that need another request are errors if it does not answer.
    if any(verdict.status is Status.NOT_DECIDED for verdict in report.verdicts):
        is_unanswered = is_unanswered or report.lacks_answers
    return compute_comparison_status(report.verdicts, unanswered=is_unanswered)


def compute_comparison_status(verdicts: Iterable[Verdict], *, unanswered: bool) -> int:
    """The exit status of a comparison, as `compute_exit_status`; *unanswered*: a query of either side has no answer."""
    statuses = {verdict.status for verdict in verdicts}
    if unanswered or any(status.is_undecided for status in statuses):
        return 3
    return 1 if Status.FAILED in statuses else 0
