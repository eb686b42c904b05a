"""A comparison on a terminal, or as plain lines for a log."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.compare.comparison_document import build_comparison_document
from harness.model.comparison import ComparisonReport
from harness.report.document import ComparisonDocument
from harness.report.sentences import printable
from harness.report.terminal import (
    build_quiet_lines,
    make_text,
    print_blocks,
    print_query,
    print_quiet_lines,
    print_reason,
    render_plain,
)

QUERIES_SHOWN = 5
"""Queries that are shown with their rankings by default."""


def print_comparison_report(
    report: ComparisonReport, *, most: int = QUERIES_SHOWN, quiet: bool = False
) -> Iterator[RenderableType]:
    """
    *report*, with the rankings of at most *most* queries: those that thresholds blame, then those that moved most.

    Where *quiet*, only the thresholds to look at, and the last line.
    """
    document = build_comparison_document(report, most=most)
    if quiet:
        heading = document.suite if document.suite else document.candidate
        yield from print_quiet_lines([build_quiet_lines(heading, document.thresholds.thresholds)])
    else:
        suite = f"{printable(document.suite)}  " if document.suite else ""
        yield Text.assemble((suite, "bold"), *_name_sides(document.candidate, document.reference))
        yield from print_blocks(document.blocks())
        yield from _print_queries(document)
    yield make_text(document.closing, "bold red" if document.exit_status else "bold green")


def format_comparison_failure(report: ComparisonReport) -> str:
    """Why a comparison does not hold, and the worst queries' rankings side by side, as text without colors."""
    return render_plain(_print_failure(report))


def _print_failure(report: ComparisonReport) -> Iterator[RenderableType]:
    document = build_comparison_document(report, most=QUERIES_SHOWN)
    yield Text.assemble(*_name_sides(document.candidate, document.reference))
    for threshold in document.thresholds.explained:
        yield from print_reason(threshold)
        yield Text()
    if document.remarks.lines:
        yield from print_blocks([document.remarks])
    yield from _print_queries(document)


def _print_queries(document: ComparisonDocument) -> Iterator[RenderableType]:
    for query in document.queries:
        yield from print_query(query)
        yield Text()
    if document.more_queries:
        yield Text(document.more_queries, style="dim")
        yield Text()


def _name_sides(candidate: str, reference: str) -> tuple[tuple[str, str], str, tuple[str, str]]:
    return (printable(candidate), "bold"), " against ", (printable(reference), "bold")
