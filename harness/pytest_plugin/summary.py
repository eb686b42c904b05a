"""The lines on suites at the end of a pytest session: one per suite, and remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

from harness.model import Outcome, Report, Status, SuiteReport
from harness.pytest_plugin.run_files import Failed
from harness.pytest_plugin.runs import SessionRuns
from harness.pytest_plugin.session import RelevanceSession, from_here
from harness.report.overview import change_cell
from harness.report.run_sentences import cause_lines, outcome_lines, stability_lines
from harness.report.sentences import printable, score_text
from harness.suites.discovery import left_out_text
from harness.words import count

NO_ITEMS = "it has no thresholds and expectations, so no items; `--relevance-each-query` makes an item of each query"

MEASURES_SHOWN = 5
"""Measures in the line of a suite; its own come before those of single thresholds."""


def print_summary(terminal: pytest.TerminalReporter, runs: SessionRuns) -> None:
    """Print a line for each suite that ran or could not, each report, and what was left out; nothing without suites."""
    session, unread = runs.session, runs.session.unread()
    report, failures = runs.report(), runs.failures()
    if report is not None or failures or session.problems or session.removed or unread or session.undecided:
        _print_suites(terminal, session, report, failures)
    for path, reason in runs.unreached().items():
        terminal.write_line(printable(f"{path}: did not run: {reason}"), red=True)
    for name in _without_items(session, report):
        terminal.write_line(printable(f"{name}: {NO_ITEMS}"), yellow=True)
    if unread:
        terminal.write_line(f"skipped: {left_out_text(unread)}; pass a path to run its suites")
    step = session.options.github
    if step is not None:
        for line in [*step.problems(runs.file_problems()), *(step.annotations(report) if report else ())]:
            terminal.write_line(line)


def _print_suites(
    terminal: pytest.TerminalReporter, session: RelevanceSession, report: Report | None, failures: Iterable[Failed]
) -> None:
    terminal.write_sep("=", "relevance")
    suites = report.suites if report else ()
    for name, suite in zip(_names(suites), suites, strict=True):
        terminal.write_line(suite_line(name, suite, with_index=bool(session.options.indexes)))
        # where no query has an answer, the items only refer to this line
        lost = suite.unanswered.values() if len(suite.unanswered) == len(suite.queries) else ()
        for line in (*outcome_lines(lost), *cause_lines(suite.queries, suite.checks)):
            terminal.write_line(printable(f"{name}: {line}"), yellow=True)
        for line in caveat_lines(name, suite):
            terminal.write_line(line)
        unchecked = suite.checks.problems if suite.checks is not None else ()
        for line in (*unchecked, *stability_lines(suite)):
            terminal.write_line(printable(f"{name}: {line}"))
    for failed in failures:
        terminal.write_line(f"{failed.path}: did not run: {failed.sentence}", red=True)
    for line in session.updated:
        terminal.write_line(line)
    for path in session.written:
        terminal.write_line(f"report written to {path}")
    for path in session.removed:
        terminal.write_line(f"no suite ran: removed the report of an earlier session from {path}")
    for problem in session.problems:
        terminal.write_line(problem, red=True)


def _without_items(session: RelevanceSession, report: Report | None) -> list[str]:
    """The suites without items that no test ran either."""
    ran = [suite.path for suite in report.suites] if report else []
    paths = dict.fromkeys(str(from_here(path)) for path in session.undecided)
    return [path for path in paths if path not in ran]


def _names(suites: Sequence[SuiteReport]) -> list[str]:
    """The name of each of *suites*, with its path where several files have suites of that name."""
    uses = Counter(name for name, _ in {(suite.name, suite.path) for suite in suites})
    return [f"{suite.name} ({suite.path})" if uses[suite.name] > 1 else suite.name for suite in suites]


def suite_line(name: str, suite: SuiteReport, *, with_index: bool = False) -> str:
    """
    One suite: its *name*, its measures, the outcomes of its queries, how much was judged, the gain in force, the
    engine, and *with_index* the index.
    """
    shown = suite.summaries[:MEASURES_SHOWN]
    gains = {summary.gain for summary in shown if summary.gain}
    figures = [
        f"{summary.measure} {score_text(summary.mean)}"
        + (f" ({change_cell(summary)} vs baseline)" if summary.change else "")
        + (f" ({summary.gain})" if len(gains) > 1 and summary.gain else "")
        for summary in shown
    ]
    if len(suite.summaries) > MEASURES_SHOWN:
        figures.append(f"and {len(suite.summaries) - MEASURES_SHOWN} more")
    facts = ["means are weighted"] if any(summary.weighted for summary in shown) else []
    facts += [f"gain {gain}" for gain in gains] if len(gains) == 1 else []
    where = f"{suite.engine}, request {suite.request}" if suite.request != "request" else str(suite.engine)
    where += f", index {suite.index}" if with_index else ""
    parts = [", ".join(figures), ", ".join(_counts(suite)), *facts, where]
    return printable(f"{name}: " + "; ".join(part for part in parts if part))


def caveat_lines(name: str, suite: SuiteReport) -> Iterator[str]:
    """The caveats of thresholds that hold, a line each; pytest itself prints nothing for passed items."""
    for verdict in suite.verdicts:
        if verdict.caveat and verdict.status is Status.PASSED and verdict.query is None:
            yield printable(f"{name}: {verdict.threshold}: holds; {verdict.caveat}")


def _counts(suite: SuiteReport) -> Iterator[str]:
    yield count(len(suite.queries), "query")
    for outcome in Outcome:
        size = sum(query.outcome is outcome for query in suite.unscored)
        if size:
            yield f"{outcome}: {size}"
    if suite.deselected:
        yield f"{suite.deselected} not selected"
    if suite.hits:
        yield f"{(suite.hits - suite.judged_hits) / suite.hits:.1%} of hits unjudged"
