"""Verdicts: decide each threshold, apply xfail, skip and severity, and derive the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date

from harness.gate.finding import Finding, scope_scores
from harness.gate.judge_agreements import judge_agreement
from harness.gate.judge_answers import RequestedDepth, judge_expectation, judge_latency, read_requested_depth
from harness.gate.judge_drops import judge_pairs
from harness.gate.judge_scores import add_short_rankings, add_ties, add_unjudged, judge_scores
from harness.gate.pairs import Compared, pair_scores, tie_remedy
from harness.gate.selection import (
    ALL,
    GatedThreshold,
    QueryFilter,
    collect_thresholds,
    is_per_query,
    is_selected,
    select_scope,
)
from harness.gate.stability import explain_changed_target, find_unstable_queries, judge_repeats
from harness.gate.ties import RunBands
from harness.metrics.score import gain_text
from harness.model import (
    AgreementCondition,
    BaselineCondition,
    Before,
    Condition,
    HitCount,
    InTop,
    LatencyCondition,
    Query,
    Reference,
    Run,
    Score,
    ScoreCondition,
    Status,
    Suite,
    SuiteReport,
    Threshold,
    UnresolvedCondition,
    Verdict,
    Waiver,
    index_scores,
    with_ids,
)
from harness.model.suite import first_ended, first_in_force, in_force
from harness.words import listed


def apply_waivers(
    finding: Finding, threshold: Threshold, query: Query | None, scope: Sequence[Query], today: date, *, strict: bool
) -> tuple[Finding, Waiver | None]:
    """
    Apply the waivers to *finding*; returns the finding and the waiver in force.

    Args:
        finding: The outcome of the threshold's condition.
        threshold: The threshold, whose own waiver is the nearest.
        query: The one query that the threshold belongs to.
        scope: The queries that the threshold is about.
        today: Decides which waivers are in force.
        strict: Whether an unexpected pass is a failure.
    """
    waivers = (threshold.xfail, query.xfail if query else None)
    xfail = first_in_force(today, *waivers)
    if xfail is not None:
        return _expected(finding, xfail, strict), xfail
    of_blamed = _waivers_of_all_blamed(finding, threshold.condition, scope, today)
    if of_blamed:
        reason = f"{finding.reason}; expected to fail: {listed(list(map(_named, of_blamed)))}"
        return replace(finding, status=Status.XFAILED, reason=reason), of_blamed[0].xfail
    if threshold.warns and finding.status is Status.FAILED:
        finding = replace(finding, status=Status.WARNED)
    ended = first_ended(today, *waivers) or first_ended(today, threshold.skip, query.skip if query else None)
    if ended is not None:
        note = f"; the waiver {ended.reason!r} ended on {ended.until} and no longer holds"
        finding = replace(finding, reason=finding.reason + note)
    return finding, None


def format_until(waiver: Waiver) -> str:
    """The last day of *waiver*, where it has one."""
    return f" until {waiver.until}" if waiver.until else ""


def _expected(finding: Finding, waiver: Waiver, strict: bool) -> Finding:
    """An expected failure forgives a shortfall, never a missing answer: what is undecided stays so."""
    if finding.status is Status.FAILED:
        reason = f"{finding.reason}; expected to fail{format_until(waiver)}: {waiver.reason}"
        return replace(finding, status=Status.XFAILED, reason=reason)
    if finding.status is not Status.PASSED:
        return finding
    reason = (
        f"{finding.reason}; passed, though expected to fail{format_until(waiver)}: {waiver.reason}; remove the xfail"
    )
    return replace(finding, status=Status.FAILED if strict else Status.XPASSED, reason=reason)


def _waivers_of_all_blamed(finding: Finding, condition: Condition, scope: Sequence[Query], today: date) -> list[Query]:
    """
    The queries that *finding* blames, if each is expected to fail and the threshold checks each query by itself.

    Empty for a figure over all queries, such as a mean: no single query is to blame for it. Empty too where nothing was
    observed: one query then kept the others from being judged.
    """
    decided = finding.status is Status.FAILED and finding.observed is not None
    if not decided or not finding.blamed or not is_per_query(condition):
        return []
    by_id = {query.id: query for query in with_ids(scope, set(finding.blamed))}
    blamed = [by_id[name] for name in finding.blamed]
    return blamed if all(in_force(query.xfail, today) for query in blamed) else []


def _named(query: Query) -> str:
    assert query.xfail is not None, "only queries that are expected to fail are named"
    return f"{query.id}{format_until(query.xfail)} ({query.xfail.reason})"


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
        repeated: The scores of each of the *run*'s repeats; without them the first one alone decides.

    Returns:
        The suite's thresholds in order, then those of each query.
    """
    selected = (gated for gated in collect_thresholds(suite) if is_selected(gated, query_filter))
    repeats = [repeat for repeat, _ in zip(run.repeats, repeated, strict=False)]
    runs = [run, *(replace(run, responses=repeat.responses) for repeat in repeats)]
    before = index_scores(reference.scores if reference else ())
    judges = [
        _Judge(
            Compared(suite, one, index_scores(found), reference, before, today),
            read_requested_depth(suite, one),
            RunBands(suite, one),
        )
        for one, found in zip(runs, (scores, *repeated), strict=True)
    ]
    moving = explain_changed_target(run, reference.run if reference else None)
    unstable, template = find_unstable_queries(run), suite.requests.get(run.request)
    verdicts = []
    for gated in selected:
        verdict = _skipped(gated, today)
        if verdict is None:
            scope = select_scope(gated, suite)
            first, *others = (_judge(gated, judge) for judge in judges)
            finding = judge_repeats(first, others, scope, unstable, template) if others else first
            finding, waiver = _unless_moving(finding, moving), None
            if report_only:
                finding = replace(finding, status=Status.NOT_DECIDED)
            else:
                finding, waiver = apply_waivers(
                    finding, gated.threshold, gated.query, scope, today, strict=strict_xfail
                )
            verdict = _verdict(gated, finding, waiver)
        verdicts.append(verdict)
    return tuple(verdicts)


def _unless_moving(finding: Finding, moving: str) -> Finding:
    """
    *finding*, which decides nothing if the index is *moving*: the queries did not search the same documents.

    No single query is to blame for that.
    """
    if not moving or finding.status not in (Status.PASSED, Status.FAILED):
        return finding
    return replace(finding, status=Status.INCONCLUSIVE, reason=f"{moving}; {finding.reason}", blamed=())


def compute_exit_status(reports: Iterable[SuiteReport]) -> int:
    """
    3 where anything is undecided or unanswered, else 1 where a threshold failed; warnings and xfails are 0. In a pytest
    session its items decide.
    """
    return max(map(_suite_status, reports), default=0)


def _suite_status(report: SuiteReport) -> int:
    if report.item_status is not None:
        return report.item_status
    return compute_comparison_status(report.verdicts, unanswered=bool(report.unanswered_once))


def compute_comparison_status(verdicts: Iterable[Verdict], *, unanswered: bool) -> int:
    """The exit status of a comparison, as `compute_exit_status`; *unanswered*: a query of either side has no answer."""
    statuses = {verdict.status for verdict in verdicts}
    if unanswered or any(status.is_undecided for status in statuses):
        return 3
    return 1 if Status.FAILED in statuses else 0


def _skipped(gated: GatedThreshold, today: date) -> Verdict | None:
    """The verdict that a skip in force gives; None where none is."""
    skip = first_in_force(today, gated.threshold.skip, gated.query.skip if gated.query else None)
    if skip is None:
        return None
    return _verdict(gated, Finding(Status.SKIPPED, f"skipped{format_until(skip)}: {skip.reason}"), skip)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What thresholds are judged by: the run beside its baseline, the requested depth, and how far ties move scores."""

    compared: Compared
    asked: RequestedDepth
    bands: RunBands


def _judge(gated: GatedThreshold, judge: _Judge) -> Finding:
    compared, asked, bands = judge.compared, judge.asked, judge.bands
    condition, suite, run = gated.threshold.condition, compared.suite, compared.run
    queries = select_scope(gated, suite)
    if isinstance(condition, ScoreCondition):
        scope = scope_scores(queries, condition.measure.text, compared.scores, compared.today)
        gain = gain_text(condition.measure, suite)
        finding = judge_scores(condition, scope, gain=gain, skip_undefined=suite.skip_undefined)
        finding = add_ties(finding, condition, scope, bands.extremes(condition.measure, scope.counted))
        finding = add_short_rankings(finding, condition, scope, compared, asked)
        return add_unjudged(finding, condition, queries, run.responses)
    if isinstance(condition, LatencyCondition):
        return judge_latency(condition, queries, run.responses, compared.today)
    if isinstance(condition, AgreementCondition):
        return judge_agreement(condition, compared, queries, asked)
    if isinstance(condition, BaselineCondition):
        pairs = pair_scores(compared, queries, condition.measure)
        if isinstance(pairs, Finding):
            return pairs
        return judge_pairs(condition, pairs, of_query=gated.query is not None, remedy=tie_remedy(compared))
    if isinstance(condition, UnresolvedCondition):
        names = ", ".join(condition.variables)
        return Finding(Status.ERROR, f"cannot be decided: the suite was loaded without values for {names}")
    return _judge_expectation(gated, condition, run, asked)


def _judge_expectation(
    gated: GatedThreshold, condition: InTop | Before | HitCount, run: Run, asked: RequestedDepth
) -> Finding:
    query = gated.query
    if query is None:
        return Finding(Status.ERROR, "cannot be decided: a rank expectation belongs to one query, not to a suite")
    return judge_expectation(condition, query, run.responses.get(query.id), asked, run.checks)


def _verdict(gated: GatedThreshold, finding: Finding, waiver: Waiver | None) -> Verdict:
    """The verdict has all that was found, in fields of the same names."""
    threshold, query = gated.threshold, gated.query
    return Verdict(
        id=gated.id,
        threshold=threshold.text,
        tag=threshold.tag,
        query=query.id if query else None,
        mark=threshold.mark,
        waiver=waiver,
        markers=tuple(dict.fromkeys(threshold.markers + (query.markers if query else ()))),
        **{one.name: getattr(finding, one.name) for one in fields(finding)},
    )
