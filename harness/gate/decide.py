"""Verdicts: decide each threshold, apply xfail, skip and severity, and derive the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date

from harness.gate.cut_answers import add_cut_answers, find_cut_answers
from harness.gate.finding import Finding, add_left_out, scope_scores, split_skipped
from harness.gate.inputs import GateInputs
from harness.gate.judge_agreements import judge_agreement
from harness.gate.judge_answers import judge_expectation, judge_latency, read_requested_depth
from harness.gate.judge_drops import judge_pairs
from harness.gate.judge_estimates import judge_estimate
from harness.gate.judge_fields import judge_each_query, judge_field_expectation
from harness.gate.judge_history import judge_since
from harness.gate.judge_machines import add_machine_share, judge_machine
from harness.gate.judge_scores import add_short_rankings, add_ties, add_unjudged, judge_scores
from harness.gate.judge_variants import judge_variants
from harness.gate.pairs import find_unjudged_range, pair_scores, suggest_tie_remedy
from harness.gate.selection import (
    ALL,
    GatedThreshold,
    QueryFilter,
    collect_thresholds,
    is_for_request,
    is_per_query,
    is_selected,
    select_scope,
)
from harness.gate.stability import explain_changed_target, find_unstable_queries, judge_repeats
from harness.gate.ties import RunBands
from harness.metrics.score import gain_text
from harness.model.kept import History, Reference
from harness.model.report import SuiteReport
from harness.model.run import Run, Status, UnstableQuery, Verdict
from harness.model.scores import Score, index_scores
from harness.model.suite import (
    AgreementCondition,
    BaselineCondition,
    Before,
    DropCondition,
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
    VariantCondition,
    Waiver,
    WorseCondition,
    find_first_ended,
    find_first_in_force,
    is_in_force,
    select_by_id,
)
from harness.words import listed

NOT_OF_RANKS = (LatencyCondition, MachineShareCondition, KappaCondition, HitCount)
"""Conditions that no rank decides, so that a ranking that begins late does not matter."""


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
    target_change = explain_changed_target(run, reference.run if reference else None)
    cut_answers = find_cut_answers(suite, run)
    answers = _JudgedAnswers(first_inputs, inputs_of_repeats, find_unstable_queries(run))
    verdicts = []
    for threshold in collect_thresholds(suite):
        if not is_selected(threshold, query_filter) or not is_for_request(threshold.threshold, suite, run.request):
            continue
        skip = find_first_in_force(today, *threshold.skips)
        if skip is not None:
            finding = Finding(Status.SKIPPED, f"skipped{format_until(skip)}: {skip.reason}")
            verdicts.append(_make_verdict(threshold, finding, skip))
            continue
        scope = select_scope(threshold, suite)
        finding = answers.judge(threshold, scope)
        if not isinstance(threshold.condition, NOT_OF_RANKS):
            finding = add_cut_answers(finding, scope, cut_answers, first_inputs.requested)
        # The queries did not search the same documents: nothing is decided then, and no single query is to blame.
        if target_change and finding.status in (Status.PASSED, Status.FAILED):
            reason = f"{target_change}; {finding.reason}"
            finding = replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=())
        waiver = None
        if report_only:
            finding = replace(finding, status=Status.NOT_DECIDED)
        else:
            finding, excused = _excuse_queries(finding, threshold, scope, answers)
            finding, waiver = apply_waivers(finding, threshold, excused, today, strict=strict_xfail)
        verdicts.append(_make_verdict(threshold, finding, waiver))
    return tuple(verdicts)


@dataclass(frozen=True, slots=True)
class _JudgedAnswers:
    """What a run was answered: at *first*, and in its *repeats*; the rankings of *unstable* queries differ in these."""

    first: GateInputs
    repeats: Sequence[GateInputs]
    unstable: Sequence[UnstableQuery]

    def judge(self, threshold: GatedThreshold, queries: Sequence[Query]) -> Finding:
        """Find out whether *queries* meet the condition of *threshold* in all repeats, before waivers."""
        finding = judge(threshold, queries, self.first)
        if not self.repeats:
            return finding
        others = [judge(threshold, queries, inputs) for inputs in self.repeats]
        template = self.first.suite.requests.get(self.first.run.request)
        return judge_repeats(finding, others, queries, self.unstable, template)


def judge(threshold: GatedThreshold, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """Find out whether *queries* meet the condition of *threshold*, before waivers."""
    condition, run = threshold.condition, inputs.run
    active, skipped = split_skipped(queries, inputs.today)
    # Without any query there is nothing to estimate: that is decided as it is without an estimate.
    if active and threshold.threshold.is_estimated and isinstance(condition, ScoreCondition | DropCondition):
        return add_left_out(judge_estimate(condition, queries, inputs), skipped)
    if isinstance(condition, ScoreCondition):
        return _judge_score_condition(condition, queries, inputs)
    if isinstance(condition, MachineShareCondition | KappaCondition):
        return judge_machine(condition, queries, inputs)
    if isinstance(condition, LatencyCondition):
        return judge_latency(condition, queries, run.responses, inputs.today)
    if isinstance(condition, AgreementCondition | VariantCondition | LossCondition):
        return _judge_two_rankings(condition, queries, inputs)
    if isinstance(condition, DropCondition | WorseCondition) and condition.since is not None:
        tag = threshold.threshold.tag
        return judge_since(condition, queries, inputs, of_query=threshold.query is not None, tag=tag)
    if isinstance(condition, BaselineCondition):
        return _judge_change(condition, queries, inputs, of_query=threshold.query is not None)
    if isinstance(condition, UnresolvedCondition):
        names = ", ".join(condition.variables)
        return Finding(Status.ERROR, f"cannot be decided: the suite was loaded without values for {names}")
    return _judge_expectation(threshold, condition, queries, inputs)


def _judge_change(
    condition: BaselineCondition, queries: Sequence[Query], inputs: GateInputs, *, of_query: bool
) -> Finding:
    """Judge how the scores of *queries* changed since the baseline."""
    pairs = pair_scores(inputs, queries, condition.measure)
    if isinstance(pairs, Finding):
        return pairs
    # Few look at how far unjudged hits may move a difference, and it is costly.
    if isinstance(condition, SignificanceCondition):
        pairs = replace(pairs, if_judged=find_unjudged_range(pairs, inputs))
    return judge_pairs(condition, pairs, of_query=of_query, remedy=suggest_tie_remedy(inputs))


def _judge_expectation(
    threshold: GatedThreshold,
    condition: InTop | Before | HitCount | FieldExpectation,
    queries: Sequence[Query],
    inputs: GateInputs,
) -> Finding:
    """Judge what *threshold* expects of the hits of its query, or of each of *queries* where it is the suite's."""
    query = threshold.query
    if query is None:
        if isinstance(condition, HitCount | FieldExpectation):
            return judge_each_query(condition, queries, inputs)
        return Finding(Status.ERROR, "cannot be decided: a rank expectation belongs to one query, not to a suite")
    response = inputs.run.responses.get(query.id)
    if isinstance(condition, FieldExpectation):
        return judge_field_expectation(condition, query, response, inputs)
    return judge_expectation(condition, query, response, inputs.requested, inputs.run.checks)


def _judge_two_rankings(
    condition: AgreementCondition | VariantCondition | LossCondition, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """Judge a condition that compares each ranking with another: with the baseline's, or with that of a variant."""
    if isinstance(condition, AgreementCondition):
        return judge_agreement(condition, queries, inputs)
    return judge_variants(condition, queries, inputs)


def _judge_score_condition(condition: ScoreCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Judge the scores, then add what may move them: the order of ties, hits that may follow, unjudged hits.

    Ties come first: their caveat is that of a pass, which hits that may follow can turn into no decision. Unjudged hits
    come last: their sentence ends with the command to run next, and is for a threshold that fails after all.
    """
    scope = scope_scores(queries, condition.measure.text, inputs.scores, inputs.today)
    gain = gain_text(condition.measure, inputs.suite)
    finding = judge_scores(condition, scope, gain=gain, skip_undefined=inputs.suite.skip_undefined)
    finding = add_ties(finding, condition, scope, inputs.bands.list_extremes(condition.measure, scope.counted))
    finding = add_machine_share(finding, scope, condition.measure.text, inputs.scores)
    finding = add_short_rankings(finding, condition, scope, inputs)
    return add_unjudged(finding, condition, queries, inputs.run.responses)


def _make_verdict(threshold: GatedThreshold, finding: Finding, waiver: Waiver | None) -> Verdict:
    """The verdict has all that was found, in fields of the same names."""
    query = threshold.query
    markers = threshold.threshold.markers
    if query is not None:
        markers += query.markers
    return Verdict(
        id=threshold.id,
        threshold=threshold.threshold.text,
        tag=threshold.threshold.tag,
        query=query.id if query else None,
        mark=threshold.threshold.mark,
        waiver=waiver,
        markers=tuple(dict.fromkeys(markers)),
        **{field.name: getattr(finding, field.name) for field in fields(finding)},
    )


# Waivers: what is expected to fail, and what no longer is. The first that applies decides:
#
# 1. A skip in force: the threshold is not judged at all, see `decide`.
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
    """The last day of *waiver*, where it has one."""
    return f" until {waiver.until}" if waiver.until else ""


def _apply_xfail(finding: Finding, waiver: Waiver, strict: bool) -> Finding:
    """An expected failure forgives a shortfall, never a missing answer: what is undecided stays so."""
    if finding.status is Status.FAILED:
        reason = f"{finding.reason}; expected to fail{format_until(waiver)}: {waiver.reason}"
        return replace(finding, status=Status.XFAILED, reason=reason)
    if finding.status is not Status.PASSED:
        return finding
    reason = f"{finding.reason}; passed, though expected to fail{format_until(waiver)}: {waiver.reason}"
    reason += "; remove the xfail"
    return replace(finding, status=Status.FAILED if strict else Status.XPASSED, reason=reason)


def _excuse_queries(
    finding: Finding, threshold: GatedThreshold, scope: Sequence[Query], answers: _JudgedAnswers
) -> tuple[Finding, dict[str, Waiver]]:
    """
    *finding* with the queries that it blames and that are expected to fail.

    A failure is found before what other queries leave open. So where these alone decide nothing, their finding takes
    its place: an expected failure must not stand for them.
    """
    excused = _list_excused(finding, threshold, scope, answers.first.today)
    others = [query for query in scope if query.id not in excused]
    if excused and others:
        of_others = answers.judge(threshold, others)
        if of_others.status.is_undecided:
            return of_others, {}
    return finding, excused


def _list_excused(
    finding: Finding, threshold: GatedThreshold, scope: Sequence[Query], today: date
) -> dict[str, Waiver]:
    """
    The queries that *finding* blames with their waivers, if each is expected to fail.

    Empty for a figure over all queries, such as a mean: no single query is to blame for it. Empty too where nothing was
    observed: one query then kept the others from being judged. Nor where *threshold* or its query has an `xfail`, which
    decides.
    """
    is_decided = finding.status is Status.FAILED and finding.observed is not None
    has_waiver = find_first_in_force(today, *threshold.xfails) is not None
    if has_waiver or not is_decided or not is_per_query(threshold.condition):
        return {}
    by_id = {query.id: query for query in select_by_id(scope, set(finding.blamed))}
    excused = {}
    for name in finding.blamed:
        waiver = by_id[name].xfail
        if waiver is None or not is_in_force(waiver, today):
            return {}
        excused[name] = waiver
    return excused


# The status of the process.


def compute_exit_status(reports: Iterable[SuiteReport]) -> int:
    """
    3 where anything is undecided or unanswered, else 1 where a threshold failed; warnings and xfails are 0. A request
    that gates nothing is 0. In a pytest session its items decide.
    """
    return max(map(_compute_suite_status, reports), default=0)


def _compute_suite_status(report: SuiteReport) -> int:
    if report.item_status is not None:
        return report.item_status
    if not report.gates:
        return 0
    return compute_comparison_status(report.verdicts, unanswered=bool(report.unanswered_once))


def compute_comparison_status(verdicts: Iterable[Verdict], *, unanswered: bool) -> int:
    """The exit status of a comparison, as `compute_exit_status`; *unanswered*: a query of either side has no answer."""
    statuses = {verdict.status for verdict in verdicts}
    if unanswered or any(status.is_undecided for status in statuses):
        return 3
    return 1 if Status.FAILED in statuses else 0
