"""
What the items of a session decide, so that its reports say what pytest says.

A suite that runs has verdicts on all of its thresholds. Those that no item decides, because a test in Python only reads
the run, or because items were deselected or skipped by pytest, are shown as not decided. The exit status of a suite in
the reports is that of its items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate import compute_comparison_status, compute_exit_status
from harness.model import Status, SuiteReport, Verdict
from harness.pytest_plugin.session import FAILURE
from harness.words import count, counted, grouped


@dataclass(frozen=True, slots=True)
class DecidingItems:
    """
    The items that decide a run: the verdicts of each that is due by its node id, the *outcomes* of those that ran as
    exit statuses, and the statuses of tests in Python that *asserted* all of its thresholds.
    """

    due: Mapping[str, Sequence[str]]
    outcomes: Mapping[str, int]
    asserted: Sequence[int] = ()

    @property
    def has_left(self) -> bool:
        """Whether the session ended before an item ran."""
        return any(nodeid not in self.outcomes for nodeid in self.due)


def report_as_decided(report: SuiteReport, items: DecidingItems) -> SuiteReport:
    """*report* with the verdicts and the exit status that *items* give it."""
    own = [items.outcomes.get(nodeid, 0) for nodeid in items.due]
    if items.asserted:
        return _with_status(report, max([compute_exit_status([report]), *own]))
    deciding = grouped((verdict, nodeid) for nodeid, verdicts in items.due.items() for verdict in verdicts)
    verdicts = tuple(
        verdict if _is_decided(verdict, deciding.get(verdict.id, ()), items.outcomes) else _left_undecided(verdict)
        for verdict in report.verdicts
    )
    # An item tells of queries without an answer, see `IndexedReport.missing`, unless the session ended before.
    decided = compute_comparison_status(verdicts, unanswered=items.has_left and bool(report.unanswered_once))
    status = max([decided, *own])
    notes = [*_undecided_notes(report.verdicts, verdicts, items), *_failure_notes(decided, items)]
    return _with_status(replace(report, verdicts=verdicts, notes=(*report.notes, *notes)), status)


def _with_status(report: SuiteReport, status: int) -> SuiteReport:
    """*report* with the *status* of its items, where its verdicts and queries say another."""
    return report if status == compute_exit_status([report]) else replace(report, item_status=status)


def _is_decided(verdict: Verdict, nodeids: Sequence[str], outcomes: Mapping[str, int]) -> bool:
    """Whether one of the items *nodeids* decides *verdict*: not if it does not hold, and all were skipped or passed."""
    if verdict.status is Status.SKIPPED:
        return True
    is_bad = verdict.status is Status.FAILED or verdict.status.is_undecided
    return any(not is_bad or outcomes.get(nodeid, FAILURE) for nodeid in nodeids)


def _left_undecided(verdict: Verdict) -> Verdict:
    return replace(verdict, status=Status.NOT_DECIDED, waiver=None)


def _undecided_notes(before: Sequence[Verdict], after: Sequence[Verdict], items: DecidingItems) -> list[str]:
    left = sum(then.status is not now.status for then, now in zip(before, after, strict=True))
    if not left:
        return []
    if not items.due:
        return ["a test in Python ran this suite and no item decides it: its thresholds are not decided"]
    are = "is not decided: its item was" if left == 1 else "are not decided: their items were"
    return [f"{count(left, 'threshold')} {are} deselected, or skipped by pytest"]


def _failure_notes(decided: int, items: DecidingItems) -> list[str]:
    """The items that failed although no verdict tells of it, such as one of a query without a judgment."""
    failed = [nodeid.rpartition("::")[2] for nodeid in items.due if items.outcomes.get(nodeid, 0) > decided]
    return [f"{counted(failed, 'item')} failed in pytest for another reason than a threshold"] if failed else []
