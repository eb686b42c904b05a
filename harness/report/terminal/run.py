"""
A run on a terminal, or as plain text for a log and for pytest.

Colors and width are up to the caller, who prints it.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.model.report import QueryReport, Report, SuiteReport
from harness.model.run import Verdict
from harness.report.attention import QUERIES_OF_THRESHOLD, order_blamed
from harness.report.document import Notes
from harness.report.overview import name_cells
from harness.report.run_document import (
    build_changes,
    build_query_section,
    build_run_document,
    build_threshold,
    build_thresholds,
    build_warnings,
)
from harness.report.run_sentences import describe_outcomes
from harness.report.safe_text import printable
from harness.report.terminal import (
    build_quiet_lines,
    indent,
    make_text,
    print_cell,
    print_command,
    print_difference,
    print_document,
    print_query,
    print_quiet_lines,
    print_reason,
    print_unanswered,
    render_plain,
)
from harness.words import count


def print_report(report: Report, *, quiet: bool = False) -> Iterator[RenderableType]:
    """
    *report*; if *quiet* only what failed, in a few lines, and the last line.

    The command reports suites that did not run as errors, so they are not printed here.
    """
    document = build_run_document(report)
    if not quiet:
        yield from print_document(document)
        return
    yield from print_quiet_lines(list(map(_build_quiet_lines, report.suites, name_cells(report.suites))))
    yield print_cell(document.closing)


def _build_quiet_lines(suite: SuiteReport, heading: str) -> list[Text]:
    """What failed in *suite*: its thresholds, and why queries have no answer; then the first probable cause, if any."""
    thresholds = build_thresholds(suite)
    lines = build_quiet_lines(heading, thresholds.thresholds)
    # A threshold that has an error of its own gives the reason.
    if thresholds.unanswered or not lines:
        reasons = describe_outcomes(suite.unanswered.values())
        lines = [*(make_text(f"{heading}: {reason}") for reason in reasons), *lines]
    if thresholds.unanswered:
        lines.insert(0, Text.assemble(printable(heading), ": ", print_unanswered(thresholds)))
    warnings = build_warnings(suite).lines
    if lines and warnings:
        lines.append(make_text(f"{heading}: {warnings[0].text}"))
    return lines


# One threshold by itself, for pytest and Python.


def format_failure(suite: SuiteReport, verdict: Verdict) -> str:
    """The reason of *verdict*: observed and required, and its worst queries' rankings with grades."""
    return render_plain(_print_failure(suite, verdict))


def _print_failure(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """The parts of `format_failure`."""
    threshold = build_threshold(suite, verdict, suite.unanswered)
    yield from print_reason(threshold)
    yield from map(indent, _print_changes(suite, verdict))
    for query in suite.find_queries(order_blamed(suite, verdict)[:QUERIES_OF_THRESHOLD]):
        yield Text()
        yield from map(indent, print_query(build_query_section(query, verdict.measure)))
    if len(verdict.blamed) > QUERIES_OF_THRESHOLD:
        more = count(len(verdict.blamed) - QUERIES_OF_THRESHOLD, "more query")
        yield indent(Text(f"and {more}", style="dim"))
    yield from print_command(threshold)


def format_changes(suite: SuiteReport, verdict: Verdict) -> str:
    """The changes since the baseline that concern *verdict*; empty where nothing changed or there is no baseline."""
    return render_plain(_print_changes(suite, verdict)).rstrip()


def _print_changes(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """The parts of `format_changes`."""
    for block in build_changes(suite, verdict):
        if isinstance(block, Notes):
            yield from (print_cell((span,)) for span in block.lines)
        else:
            yield from print_difference(block)
            yield Text()


def format_query(query: QueryReport, measure: str | None = None) -> str:
    """One query's ranking with grades, and its missing relevant documents, as text without colors."""
    return render_plain(print_query(build_query_section(query, measure)))
