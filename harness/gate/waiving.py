"""What waivers make of a finding: expected failures, those that did not come, and waivers that are over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from harness.gate.scope import Finding
from harness.gate.sentences import listed
from harness.model import (
    AgreementCondition,
    Condition,
    DropCondition,
    Query,
    ScoreCondition,
    StatisticKind,
    Status,
    Threshold,
    Waiver,
)
from harness.model.suite import first_ended, first_in_force, in_force

__all__ = ["skip_of", "until", "waived"]


def skip_of(threshold: Threshold, query: Query | None, today: date) -> Waiver | None:
    """The skip that holds today, of *threshold* or of the one *query* that it belongs to."""
    return first_in_force(today, threshold.skip, query.skip if query else None)


def waived(
    finding: Finding, threshold: Threshold, query: Query | None, scope: Sequence[Query], today: date, *, strict: bool
) -> tuple[Finding, Waiver | None]:
    """
    What *finding* is in the light of the waivers, and the one that holds.

    Args:
        finding: What the threshold's condition came to.
        threshold: Whose waiver is nearest.
        query: The one query that the threshold belongs to.
        scope: The queries that the threshold is about.
        today: Decides which waivers hold.
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


def until(waiver: Waiver) -> str:
    """The last day of *waiver*, where it has one."""
    return f" until {waiver.until}" if waiver.until else ""


def _expected(finding: Finding, waiver: Waiver, strict: bool) -> Finding:
    """An expected failure forgives a shortfall, never a missing answer: what is undecided stays so."""
    if finding.status is Status.FAILED:
        reason = f"{finding.reason}; expected to fail{until(waiver)}: {waiver.reason}"
        return replace(finding, status=Status.XFAILED, reason=reason)
    if finding.status is not Status.PASSED:
        return finding
    reason = f"{finding.reason}; passed, though expected to fail{until(waiver)}: {waiver.reason}; take the xfail away"
    return replace(finding, status=Status.FAILED if strict else Status.XPASSED, reason=reason)


def _waivers_of_all_blamed(finding: Finding, condition: Condition, scope: Sequence[Query], today: date) -> list[Query]:
    """
    The queries that *finding* blames, where each is expected to fail and the threshold asks each query by itself.

    Of a figure over all queries, such as a mean, no query alone is to blame; and where nothing was observed, some query
    kept the others from being looked at.
    """
    decided = finding.status is Status.FAILED and finding.observed is not None
    if not decided or not finding.blamed or not _asks_each(condition):
        return []
    by_id = {query.id: query for query in scope}
    blamed = [by_id[name] for name in finding.blamed]
    return blamed if all(in_force(query.xfail, today) for query in blamed) else []


def _asks_each(condition: Condition) -> bool:
    if isinstance(condition, DropCondition):
        return condition.every
    return isinstance(condition, ScoreCondition | AgreementCondition) and condition.statistic is StatisticKind.EVERY


def _named(query: Query) -> str:
    assert query.xfail is not None, "only queries that are expected to fail are named"
    return f"{query.id}{until(query.xfail)} ({query.xfail.reason})"
