"""
What the items of a session decide, so that its reports say what pytest says.

A suite that runs has verdicts on all of its thresholds. Those that no item decides, because a test in Python only reads
the run, or because items were deselected or skipped by pytest, are shown as not decided. The exit status of a suite in
the reports is that of its items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.decide import compute_comparison_status, compute_exit_status
from harness.model.report import SuiteReport
from harness.model.run import Status, Verdict
from harness.pytest_plugin.session import FAILURE
from harness.words import count, counted


@dataclass(frozen=True, slots=True)
class DecidingItems:
    """The items that decide a run."""

    due: Mapping[str, Sequence[str]]
    """The ids of the verdicts of each item that is to run, by its node id."""
    outcomes: Mapping[str, int]
    """The items that ran, by node id, as exit statuses."""
    asserted: Sequence[int] = ()
    """The exit statuses of tests in Python that asserted all thresholds of the run."""

    @property
    def has_unreached(self) -> bool:
        """Whether the session ended before an item ran."""
        return any(nodeid not in self.outcomes for nodeid in self.due)


def mark_undecided_verdicts(report: SuiteReport, items: DecidingItems) -> SuiteReport:
    """
    *report* as pytest decided it: verdicts that none of *items* decides are marked, and the exit status is theirs.

    No verdict is found anew: see `find_outcome` for what decides an item.
    """
    item_statuses = [items.outcomes.get(nodeid, 0) for nodeid in items.due]
    if items.asserted:
        # A test whose process cannot load the suite again asserts an error, whatever the verdicts are.
        return _set_status(report, max([compute_exit_status([report]), *items.asserted, *item_statuses]))
    deciding: dict[str, list[str]] = {}
    for nodeid, verdict_ids in items.due.items():
        for verdict_id in verdict_ids:
            deciding.setdefault(verdict_id, []).append(nodeid)
    verdicts = []
    for verdict in report.verdicts:
        if not _is_decided(verdict, deciding.get(verdict.id, ()), items.outcomes):
            verdict = replace(verdict, status=Status.NOT_DECIDED, waiver=None)
        verdicts.append(verdict)
    # An item names the queries without an answer, see `IndexedReport.missing`, unless the session ended before.
    is_unanswered = items.has_unreached and bool(report.unanswered_once)
    status = compute_comparison_status(verdicts, unanswered=is_unanswered)
    notes = [*report.notes, *_note_undecided(report.verdicts, verdicts, items), *_note_failures(status, items)]
    report = replace(report, verdicts=tuple(verdicts), notes=tuple(notes))
    return _set_status(report, max([status, *item_statuses]))


def _set_status(report: SuiteReport, status: int) -> SuiteReport:
    """*report* with the *status* of its items, where its verdicts and queries say another."""
    if status == compute_exit_status([report]):
        return report
    return replace(report, item_status=status)


def _is_decided(verdict: Verdict, nodeids: Sequence[str], outcomes: Mapping[str, int]) -> bool:
    """Whether one of the items *nodeids* decides *verdict*: not if it does not hold, and all were skipped or passed."""
    if verdict.status is Status.SKIPPED:
        return True
    does_hold = verdict.status is not Status.FAILED and not verdict.status.is_undecided
    if does_hold:
        return bool(nodeids)
    # An item that did not run, because the session ended before, would have failed.
    return any(outcomes.get(nodeid, FAILURE) for nodeid in nodeids)


def _note_undecided(before: Sequence[Verdict], after: Sequence[Verdict], items: DecidingItems) -> list[str]:
    """
    A remark on the thresholds that no item decides; none where all are decided.

    *before* are the verdicts of the run, *after* the same as its *items* decide them.
    """
    undecided = 0
    for verdict_before, verdict_after in zip(before, after, strict=True):
        undecided += verdict_before.status is not verdict_after.status
    if not undecided:
        return []
    if not items.due:
        return ["a test in Python ran this suite and no item decides it: its thresholds are not decided"]
    are = "is not decided: its item was" if undecided == 1 else "are not decided: their items were"
    return [f"{count(undecided, 'threshold')} {are} deselected, or skipped by pytest"]


def _note_failures(status: int, items: DecidingItems) -> list[str]:
    """The items that failed although no verdict says so, such as one of a query without a judgment."""
    failed = [nodeid.rpartition("::")[2] for nodeid in items.due if items.outcomes.get(nodeid, 0) > status]
    if not failed:
        return []
    return [f"{counted(failed, 'item')} failed in pytest for another reason than a threshold"]
