"""The lines that pytest prints of suites: one in the header, one a suite at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from harness.pytest_plugin.options import annotation_lines

if TYPE_CHECKING:
    import pytest

    from harness.model import QueryReport, Report, SuiteReport
    from harness.pytest_plugin.options import PluginOptions
    from harness.pytest_plugin.runs import Failed
    from harness.pytest_plugin.session import RelevanceSession

__all__ = ["caveat_lines", "header_line", "print_summary", "suite_line"]


MEASURES_SHOWN = 5
"""Those of the suite come before those of single thresholds, so that a line stays one."""


def header_line(options: PluginOptions) -> str | None:
    """Where suites run and which part of them, as far as the user said so; None where nothing was said."""
    parts = list(_asked(options))
    return f"relevance: {', '.join(parts)}" if parts else None


def _asked(options: PluginOptions) -> Iterator[str]:
    if options.run.url:
        yield options.run.url
    if options.run.embedded:
        yield f"embedded node {options.run.engine_version}" if options.run.engine_version else "embedded node"
    yield from _named(options)
    if options.run.budget is not None:
        yield f"at most {options.run.budget:g} s a suite"
    if options.each_query:
        yield "an item for each query"
    if options.run.allow_write:
        yield "may build indexes"
    if options.run.baseline:
        yield f"baseline {options.run.baseline.name}"
    if options.run.save_baseline:
        yield "baselines are updated"


def _named(options: PluginOptions) -> Iterator[str]:
    """The requests, the indexes and the tags, each by its names."""
    if options.requests:
        yield f"{'request' if len(options.requests) == 1 else 'requests'} {', '.join(options.requests)}"
    if options.indexes:
        yield f"{'index' if len(options.indexes) == 1 else 'indexes'} {', '.join(options.indexes)}"
    if options.run.tags:
        yield f"tags {', '.join(options.run.tags)}"


def print_summary(terminal: pytest.TerminalReporter, session: RelevanceSession) -> None:
    """A line for each suite that ran or could not, each report, and what was left out; nothing where there is none."""
    report, failures, unread = session.report(), session.failures(), session.unread()
    if report is not None or failures or session.problems or session.removed or unread:
        _print_suites(terminal, session, report, failures)
    if unread:
        from harness.suites.discovery import left_out_text

        terminal.write_line(f"left out: {left_out_text(unread)}; name a path to have its suites run")
    step = session.options.github
    for line in () if step is None else annotation_lines(step, report, failures, session.refusals):
        terminal.write_line(line)


def _print_suites(
    terminal: pytest.TerminalReporter, session: RelevanceSession, report: Report | None, failures: Iterable[Failed]
) -> None:
    terminal.write_sep("=", "relevance")
    for suite in report.suites if report else ():
        terminal.write_line(suite_line(suite, with_index=bool(session.options.indexes)))
        for line in caveat_lines(suite):
            terminal.write_line(line)
    for failed in failures:
        terminal.write_line(f"{failed.path}: did not run: {failed.sentence}", red=True)
    for line in session.updated:
        terminal.write_line(line)
    for path in session.written:
        terminal.write_line(f"report written to {path}")
    for path in session.removed:
        terminal.write_line(f"no suite ran: the report of an earlier session is removed from {path}")
    for problem in session.problems:
        terminal.write_line(problem, red=True)


def suite_line(suite: SuiteReport, *, with_index: bool = False) -> str:
    """
    One suite: its measures, what became of its queries, how much was judged, the gain in force, the engine, and
    *with_index* the index.
    """
    from harness.report.sentences import printable, score_text

    shown = suite.summaries[:MEASURES_SHOWN]
    gains = {summary.gain for summary in shown if summary.gain}
    figures = [
        f"{summary.measure} {score_text(summary.mean)}"
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
    return printable(f"{suite.name}: " + "; ".join(part for part in parts if part))


def caveat_lines(suite: SuiteReport) -> Iterator[str]:
    """Why thresholds that hold tell less than they seem to, a line each; pytest prints nothing of what passes."""
    from harness.model import Status
    from harness.report.sentences import printable

    for verdict in suite.verdicts:
        if verdict.caveat and verdict.status is Status.PASSED and verdict.query is None:
            yield printable(f"{suite.name}: {verdict.threshold}: holds; {verdict.caveat}")


def _counts(suite: SuiteReport) -> Iterator[str]:
    from harness.model import Outcome
    from harness.words import count

    yield count(len(suite.queries), "query")
    for outcome in Outcome:
        size = sum(query.outcome is outcome for query in suite.queries)
        if size and outcome is not Outcome.SCORED:
            yield f"{outcome}: {size}"
    if suite.deselected:
        yield f"{suite.deselected} not selected"
    unjudged = _unjudged_share(suite.queries)
    if unjudged is not None:
        yield f"{unjudged:.1%} of hits unjudged"


def _unjudged_share(queries: tuple[QueryReport, ...]) -> float | None:
    """Of all hits; None where there are none."""
    grades = [document.grade for query in queries for document in query.ranking]
    return sum(grade is None for grade in grades) / len(grades) if grades else None
