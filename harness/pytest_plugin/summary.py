"""The lines on suites at the end of a pytest session: one per suite, and remarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from harness.errors import Problem, list_topics
from harness.files.paths import shorten_path
from harness.model.report import Report, SuiteReport
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.pages import format_links
from harness.pytest_plugin.run_cache import CachedError
from harness.pytest_plugin.runs import SessionRuns
from harness.pytest_plugin.session import RelevanceSession
from harness.report.overview import format_mean_change
from harness.report.run_sentences import describe_causes, describe_outcomes, describe_shared_causes, describe_stability
from harness.report.safe_text import make_loggable, make_loggable_lines
from harness.report.sentences import format_score
from harness.report.topics import find_topics
from harness.suites.discovery import format_left_out
from harness.words import count

NO_ITEMS = "it has no thresholds and expectations, so no items; `--relevance-each-query` makes an item of each query"

MEASURES_SHOWN = 5
"""Measures in the line of a suite; its own come before those of single thresholds."""


def print_summary(terminal: pytest.TerminalReporter, runs: SessionRuns) -> None:
    """Print a line for each suite that ran or could not, each report, and what was left out; nothing without suites."""
    relevance_session = runs.relevance_session
    report, failures = runs.build_report(), runs.list_failures()
    left_out = relevance_session.count_left_out()
    has_suites = report is not None or failures or left_out or relevance_session.suites_without_items
    if (
        has_suites
        or relevance_session.ungated
        or relevance_session.problems
        or relevance_session.removed
        or relevance_session.kept
    ):
        _print_suites(terminal, relevance_session, report, failures)
    for path, reason in runs.list_unreached().items():
        terminal.write_line(make_loggable(f"{path}: did not run: {reason}"), red=True)
    for path in _list_without_items(relevance_session, report):
        terminal.write_line(make_loggable(f"{path}: {NO_ITEMS}"), yellow=True)
    for sentence in dict.fromkeys(relevance_session.ungated):
        terminal.write_line(make_loggable(f"{sentence}; it has no items"))
    if left_out:
        terminal.write_line(f"skipped: {format_left_out(left_out)}; pass a path to run its suites")
    _print_links(terminal, report, relevance_session.refusals)
    step = relevance_session.options.github
    if step is not None:
        lines = step.problems(runs.list_problems())
        if report is not None:
            lines += step.annotations(report)
        for line in lines:
            terminal.write_line(line)


def _print_suites(
    terminal: pytest.TerminalReporter,
    relevance_session: RelevanceSession,
    report: Report | None,
    failures: Iterable[CachedError],
) -> None:
    """Print the suites that ran or could not, the files that were written or removed, and the problems."""
    terminal.write_sep("=", "relevance")
    suites = report.suites if report else ()
    for name, suite in zip(_name_suites(suites), suites, strict=True):
        _print_suite(terminal, name, suite, with_index=bool(relevance_session.options.indexes))
    for failure in failures:
        terminal.write_line(make_loggable_lines(f"{failure.path}: did not run: {failure.sentence}"), red=True)
    for line in relevance_session.updated:
        terminal.write_line(make_loggable(line))
    for path in relevance_session.written:
        terminal.write_line(f"report written to {path}")
    for path in relevance_session.removed:
        terminal.write_line(f"no suite ran: removed the report of an earlier session from {path}")
    for path in relevance_session.kept:
        terminal.write_line(f"no suite ran: {path} is as it was, the report of an earlier session")
    for problem in relevance_session.problems:
        terminal.write_line(make_loggable_lines(problem), red=True)


def _print_links(terminal: pytest.TerminalReporter, report: Report | None, refusals: Sequence[Problem]) -> None:
    """Print the pages that explain the *refusals* of suites and the outcomes of *report*, each once."""
    topics = list_topics(refusals)
    if report is not None:
        topics += find_topics(report)
    for line in format_links(topics):
        terminal.write_line(line)


def _print_suite(terminal: pytest.TerminalReporter, name: str, suite: SuiteReport, *, with_index: bool) -> None:
    """Print the line of *suite*, and what its items do not say: causes, caveats of what holds, and remarks."""
    terminal.write_line(_format_suite(name, suite, with_index=with_index))
    warnings: list[str] = []
    # Where no query has an answer, the items only refer to this line.
    if len(suite.unanswered) == len(suite.queries):
        warnings += describe_outcomes(suite.unanswered.values())
    warnings += describe_causes(suite.queries, suite.checks)
    # The items of all thresholds but the first of a cause only refer to it.
    warnings += describe_shared_causes(suite)
    for line in warnings:
        terminal.write_line(make_loggable(f"{name}: {line}"), yellow=True)
    # pytest itself prints nothing for items that passed.
    for verdict in suite.verdicts:
        if verdict.caveat and verdict.status is Status.PASSED and verdict.query is None:
            terminal.write_line(make_loggable(f"{name}: {verdict.threshold}: holds; {verdict.caveat}"))
    notes = list(suite.checks.problems) if suite.checks is not None else []
    notes += describe_stability(suite)
    for line in notes:
        terminal.write_line(make_loggable(f"{name}: {line}"))


def _list_without_items(relevance_session: RelevanceSession, report: Report | None) -> list[str]:
    """The suites without items that no test ran either."""
    paths_run = {suite.path for suite in report.suites} if report else set()
    paths = dict.fromkeys(str(shorten_path(path)) for path in relevance_session.suites_without_items)
    return [path for path in paths if path not in paths_run]


def _name_suites(suites: Sequence[SuiteReport]) -> list[str]:
    """The name of each of *suites*, with its path where several files have suites of that name."""
    # A suite has a report for each of its requests and indexes.
    names_and_paths = {(suite.name, suite.path) for suite in suites}
    uses = Counter(name for name, _ in names_and_paths)
    names = []
    for suite in suites:
        if uses[suite.name] > 1:
            names.append(f"{suite.name} ({suite.path})")
        else:
            names.append(suite.name)
    return names


def _format_suite(name: str, suite: SuiteReport, *, with_index: bool) -> str:
    """
    One suite: its *name*, its measures, the outcomes of its queries, how much was judged, the gain in force, the
    engine, and *with_index* the index.
    """
    summaries = suite.summaries[:MEASURES_SHOWN]
    gains = {summary.gain for summary in summaries if summary.gain}
    figures = []
    for summary in summaries:
        figure = f"{summary.measure} {format_score(summary.mean)}"
        if summary.change:
            figure += f" ({format_mean_change(summary)} vs baseline)"
        # One gain of all measures is told once, below.
        if len(gains) > 1 and summary.gain:
            figure += f" ({summary.gain})"
        figures.append(figure)
    if len(suite.summaries) > MEASURES_SHOWN:
        figures.append(f"and {len(suite.summaries) - MEASURES_SHOWN} more")

    facts = []
    if any(summary.weighted for summary in summaries):
        facts.append("means are weighted")
    if len(gains) == 1:
        facts += [f"gain {gain}" for gain in gains]
    target = str(suite.engine)
    if suite.request != "request":
        target += f", request {suite.request}"
    if with_index:
        target += f", index {suite.index}"
    parts = [", ".join(figures), ", ".join(_list_counts(suite)), *facts, target]
    return make_loggable(f"{name}: " + "; ".join(part for part in parts if part))


def _list_counts(suite: SuiteReport) -> list[str]:
    """How many queries ran, those without a score by outcome, and the share of hits without a judgment."""
    counts = [count(len(suite.queries), "query")]
    unscored = Counter(query.outcome for query in suite.unscored)
    counts += [f"{outcome}: {unscored[outcome]}" for outcome in Outcome if unscored[outcome]]
    if suite.deselected:
        counts.append(f"{suite.deselected} not selected")
    if suite.hits:
        counts.append(f"{(suite.hits - suite.judged_hits) / suite.hits:.1%} of hits unjudged")
    return counts
