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
from harness.report.document import Notes, RunDocument, SuiteSection
from harness.report.run_document import build_changes, build_query_section, build_run_document, build_threshold
from harness.report.run_sentences import describe_outcomes
from harness.report.sentences import printable
from harness.report.terminal import (
    build_quiet_lines,
    indent,
    make_text,
    print_blocks,
    print_cell,
    print_command,
    print_difference,
    print_queries,
    print_query,
    print_quiet_lines,
    print_reason,
    print_table,
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
    if quiet:
        yield from print_quiet_lines(list(map(_build_quiet_section, report.suites, document.suites)))
    else:
        for suite in document.suites:
            yield from _print_suite(suite)
        if document.overview is not None:
            yield from print_table(document.overview)
            yield Text()
    yield Text(document.closing, style=_choose_closing_style(document))


def _print_suite(suite: SuiteSection) -> Iterator[RenderableType]:
    yield Text.assemble((printable(suite.title), "bold"), "  ", (printable(suite.path), "dim"))
    yield from print_blocks(suite.blocks())
    yield from print_queries(suite.queries, suite.more_queries)


def _build_quiet_section(suite: SuiteReport, section: SuiteSection) -> list[Text]:
    """What failed in *suite*: its thresholds, and why queries have no answer; then the first probable cause, if any."""
    thresholds = section.thresholds
    lines = build_quiet_lines(section.title, thresholds.thresholds)
    # A threshold that has an error of its own gives the reason.
    if thresholds.unanswered or not lines:
        reasons = describe_outcomes(suite.unanswered.values())
        lines = [*(make_text(f"{section.title}: {reason}") for reason in reasons), *lines]
    if thresholds.unanswered:
        lines.insert(0, Text.assemble(printable(section.title), ": ", print_unanswered(thresholds)))
    if lines and section.warnings.lines:
        lines.append(make_text(f"{section.title}: {section.warnings.lines[0].text}"))
    return lines


def _choose_closing_style(document: RunDocument) -> str:
    if document.exit_status:
        return "bold red"
    return "bold yellow" if document.is_report_only else "bold green"


# One threshold by itself, for pytest and Python.


def format_failure(suite: SuiteReport, verdict: Verdict) -> str:
    """The reason of *verdict*: observed and required, and its worst queries' rankings with grades."""
    return render_plain(_print_failure(suite, verdict))


def _print_failure(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
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
    for block in build_changes(suite, verdict):
        if isinstance(block, Notes):
            yield from (print_cell((span,)) for span in block.lines)
        else:
            yield from print_difference(block)
            yield Text()


def format_query(query: QueryReport, measure: str | None = None) -> str:
    """One query's ranking with grades, and its missing relevant documents, as text without colors."""
    return render_plain(print_query(build_query_section(query, measure)))
