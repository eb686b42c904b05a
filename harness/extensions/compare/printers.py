"""A comparison on a terminal, as Markdown for GitHub's job summary, and in short for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.compare.document import (
    build_compared_queries,
    build_comparison_document,
    build_comparison_facts,
    build_comparison_remarks,
    build_comparison_table,
    build_comparison_thresholds,
    build_comparison_title,
)
from harness.extensions.compare.model import ComparisonReport
from harness.extensions.compare.sentences import list_verdicts
from harness.report import markdown
from harness.report.document import Block, Queries, join_spans
from harness.report.markdown.escape import (
    LARGEST_SUMMARY,
    MOST_TEXT,
    Piece,
    choose_sign,
    escape,
    fit_pieces,
    format_code,
)
from harness.report.terminal import (
    build_quiet_lines,
    print_blocks,
    print_cell,
    print_document,
    print_quiet_lines,
    print_reason,
    render_plain,
)
from harness.words import listed

QUERIES_SHOWN = 5
"""Queries that are shown by default."""

QUERIES_IN_MARKDOWN = 10


def print_comparison_report(
    report: ComparisonReport, *, most: int = QUERIES_SHOWN, quiet: bool = False
) -> Iterator[RenderableType]:
    """
    *report*, with at most *most* queries.

    Where *quiet*, only the thresholds to look at, and the last line.
    """
    document = build_comparison_document(report, most=most)
    if not quiet:
        yield from print_document(document)
        return
    heading = report.suite or listed(report.names)
    yield from print_quiet_lines([build_quiet_lines(heading, build_comparison_thresholds(report).thresholds)])
    yield print_cell(document.closing)


def format_comparison_failure(report: ComparisonReport) -> str:
    """Why a comparison does not hold, and the worst queries' rankings side by side, as text without colors."""
    return render_plain(_print_failure(report))


def _print_failure(report: ComparisonReport) -> Iterator[RenderableType]:
    yield print_cell(build_comparison_title(report, with_suite=False))
    for threshold in build_comparison_thresholds(report).explained:
        yield from print_reason(threshold)
        yield Text()
    blocks: list[Block] = []
    remarks, queries = build_comparison_remarks(report), build_compared_queries(report, QUERIES_SHOWN)
    if remarks.lines:
        blocks.append(remarks)
    if queries.queries:
        blocks.append(queries)
    yield from print_blocks(blocks)


def render_markdown(report: ComparisonReport, *, most: int = QUERIES_IN_MARKDOWN, limit: int = LARGEST_SUMMARY) -> str:
    """
    *report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred.

    The first line has the result. Parts that would exceed GitHub's limit are left out, the last ones first, and
    counted.
    """
    document = build_comparison_document(report, most=most)
    heading = escape(document.headline, most=MOST_TEXT)
    if list_verdicts(report) or report.exit_status:
        heading = f"{choose_sign(report.exit_status, decided=True)} {heading}"
    suite = f"{escape(report.suite)}: " if report.suite else ""
    sides = ", ".join(map(format_code, report.names))
    pieces = [Piece(0, "summary", f"### {suite}{sides} against {format_code(report.reference.name)}\n")]
    [section] = document.sections
    for number, block in enumerate(section.blocks):
        if not isinstance(block, Queries):
            pieces.append(Piece(number, "part", "\n\n".join(markdown.print_block(block)) + "\n"))
    pieces += markdown.print_queries(section.blocks)
    return fit_pieces(f"## {heading}\n\n{escape(join_spans(document.closing))}\n", pieces, limit)


def render_for_notebook(report: ComparisonReport) -> str:
    """The sides, the thresholds and the differences of *report* as a piece of HTML."""
    # Jinja is imported where a page is made.
    from harness.report.html.notebook import render_summary

    verdicts = list_verdicts(report)
    table = build_comparison_table(report)
    return render_summary(
        report.suite,
        verdicts,
        build_comparison_facts(report),
        build_comparison_thresholds(report),
        table if table.rows else None,
    )
