"""From what a condition came to, to its verdict: waivers, skips, and the exit status of it all."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date

from harness.gate.agreements import judge_agreement
from harness.gate.answers import RequestedDepth, judge_expectation, requested_depth
from harness.gate.baselines import judge_pairs
from harness.gate.latency import judge_latency
from harness.gate.pairs import Compared, pair_scores, tie_remedy
from harness.gate.scope import Finding, scope_scores
from harness.gate.scores import judge_scores
from harness.gate.unjudged import with_unjudged
from harness.gate.waiving import skip_of, until, waived
from harness.metrics.run_scores import gain_text
from harness.model import (
    AgreementCondition,
    BaselineCondition,
    Before,
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
    Unresolved,
    Verdict,
    Waiver,
)
from harness.selection import Gated, gated_thresholds, is_selected, scope_of

__all__ = ["comparison_status", "decide", "exit_status"]


def decide(
    suite: Suite,
    run: Run,
    scores: Sequence[Score],
    *,
    today: date,
    tags: Collection[str] = (),
    strict_xfail: bool = False,
    reference: Reference | None = None,
) -> tuple[Verdict, ...]:
    """
    Give every threshold and rank expectation of a suite its verdict.

    Args:
        suite: The whole suite, whatever part of it ran.
        run: The responses.
        scores: The scores of the run; one that is absent counts as missing.
        today: Decides which waivers hold; their last day is included.
        tags: Where given, only the queries with one of these ran, and what needs others is left out.
        strict_xfail: Whether an unexpected pass is a failure, as pytest's `xfail_strict`.
        reference: What thresholds on a drop compare with; without one they fail.

    Returns:
        The suite's thresholds in order, then those of each query.
    """
    compared = Compared(
        suite, run, _by_measure(scores), reference, _by_measure(reference.scores if reference else ()), today
    )
    selected = (gated for gated in gated_thresholds(suite) if is_selected(gated, tags))
    asked = requested_depth(suite, run)
    return tuple(_decide_one(gated, compared, asked, strict_xfail) for gated in selected)


def exit_status(reports: Iterable[SuiteReport]) -> int:
    """3 where anything is undecided or unanswered, else 1 where a threshold failed; warnings and xfails are 0."""
    return max((_status_of(report) for report in reports), default=0)


def comparison_status(verdicts: Iterable[Verdict], *, unanswered: bool) -> int:
    """As `exit_status`, of a comparison; *unanswered* says that a query of either side has no answer."""
    statuses = {verdict.status for verdict in verdicts}
    if unanswered or any(status.is_undecided for status in statuses):
        return 3
    return 1 if Status.FAILED in statuses else 0


def _status_of(report: SuiteReport) -> int:
    unanswered = any(query.outcome.is_unanswered for query in report.queries)
    return comparison_status(report.verdicts, unanswered=unanswered)


def _by_measure(scores: Iterable[Score]) -> dict[tuple[str, str], Score]:
    return {(score.query, score.measure): score for score in scores}


def _decide_one(gated: Gated, compared: Compared, asked: RequestedDepth, strict_xfail: bool) -> Verdict:
    threshold, query, today = gated.threshold, gated.query, compared.today
    skip = skip_of(threshold, query, today)
    if skip is not None:
        return _verdict(gated, Finding(Status.SKIPPED, f"skipped{until(skip)}: {skip.reason}"), skip)
    scope = scope_of(gated, compared.suite)
    finding, waiver = waived(_judge(gated, compared, asked), threshold, query, scope, today, strict=strict_xfail)
    return _verdict(gated, finding, waiver)


def _judge(gated: Gated, compared: Compared, asked: RequestedDepth) -> Finding:
    condition, suite, run = gated.threshold.condition, compared.suite, compared.run
    queries = scope_of(gated, suite)
    if isinstance(condition, ScoreCondition):
        scope = scope_scores(queries, condition.measure.text, compared.scores, compared.today)
        gain = gain_text(condition.measure, suite)
        finding = judge_scores(condition, scope, gain=gain, skip_undefined=suite.skip_undefined)
        return with_unjudged(finding, condition, queries, run.responses)
    if isinstance(condition, LatencyCondition):
        return judge_latency(condition, queries, run.responses, compared.today)
    if isinstance(condition, AgreementCondition):
        return judge_agreement(condition, compared, queries, asked)
    if isinstance(condition, BaselineCondition):
        pairs = pair_scores(compared, queries, condition.measure)
        if isinstance(pairs, Finding):
            return pairs
        return judge_pairs(condition, pairs, of_query=gated.query is not None, remedy=tie_remedy(compared))
    if isinstance(condition, Unresolved):
        names = ", ".join(condition.variables)
        return Finding(Status.ERROR, f"cannot be judged: the suite was loaded without values for {names}")
    return _judge_expectation(gated, condition, run, asked)


def _judge_expectation(gated: Gated, condition: InTop | Before | HitCount, run: Run, asked: RequestedDepth) -> Finding:
    query = gated.query
    if query is None:
        return Finding(Status.ERROR, "cannot be judged: a rank expectation belongs to one query, not to a suite")
    return judge_expectation(condition, query, run.responses.get(query.id), asked)


def _verdict(gated: Gated, finding: Finding, waiver: Waiver | None) -> Verdict:
    threshold, query = gated.threshold, gated.query
    return Verdict(
        id=gated.id,
        threshold=threshold.text,
        status=finding.status,
        reason=finding.reason,
        observed=finding.observed,
        required=finding.required,
        measure=finding.measure,
        tag=threshold.tag,
        query=query.id if query else None,
        blamed=finding.blamed,
        counted=finding.counted,
        left_out=finding.left_out,
        mark=threshold.mark,
        waiver=waiver,
        markers=_markers(gated),
        unit=finding.unit,
        caveat=finding.caveat,
    )


def _markers(gated: Gated) -> tuple[str, ...]:
    owner: Query | None = gated.query
    return tuple(dict.fromkeys(gated.threshold.markers + (owner.markers if owner else ())))
