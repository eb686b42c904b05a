"""A comparison on a terminal, as Markdown for GitHub's job summary, and in short for a notebook."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.compare.document import (
    ComparisonDocument,
    build_comparison_document,
    build_comparison_facts,
    build_comparison_table,
    build_comparison_thresholds,
)
from harness.extensions.compare.model import ComparisonReport
from harness.extensions.compare.sentences import find_pool_command, list_verdicts
from harness.report import markdown
from harness.report.markdown.escape import MOST_BYTES, MOST_TEXT, Piece, choose_sign, escape, fit_pieces, format_code
from harness.report.sentences import printable
from harness.report.terminal import (
    build_quiet_lines,
    make_text,
    print_blocks,
    print_queries,
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
    if quiet:
        heading = document.suite or listed(document.sides)
        yield from print_quiet_lines([build_quiet_lines(heading, document.thresholds.thresholds)])
    else:
        yield _print_title(document)
        yield from print_blocks(document.blocks())
        yield from print_queries(document.queries, document.more_queries)
    yield make_text(document.closing, "bold red" if document.exit_status else "bold green")


def format_comparison_failure(report: ComparisonReport) -> str:
    """Why a comparison does not hold, and the worst queries' rankings side by side, as text without colors."""
    return render_plain(_print_failure(report))


def _print_failure(report: ComparisonReport) -> Iterator[RenderableType]:
    document = build_comparison_document(report, most=QUERIES_SHOWN)
    yield _print_title(document, with_suite=False)
    for threshold in document.thresholds.explained:
        yield from print_reason(threshold)
        yield Text()
    if document.remarks.lines:
        yield from print_blocks([document.remarks])
    yield from print_queries(document.queries, document.more_queries)


def _print_title(document: ComparisonDocument, *, with_suite: bool = True) -> Text:
    suite = f"{printable(document.suite)}  " if document.suite and with_suite else ""
    sides = printable(listed(document.sides))
    return Text.assemble((suite, "bold"), (sides, "bold"), " against ", (printable(document.reference), "bold"))


def render_markdown(report: ComparisonReport, *, most: int = QUERIES_IN_MARKDOWN, limit: int = MOST_BYTES) -> str:
    """
    *report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred.

    The first line has the result. Parts that would exceed GitHub's limit are left out, the last ones first, and
    counted.
    """
    document = build_comparison_document(report, most=most)
    heading = escape(document.headline, most=MOST_TEXT)
    if document.is_decided:
        heading = f"{choose_sign(document.exit_status, decided=True)} {heading}"
    suite = f"{escape(document.suite)}: " if document.suite else ""
    sides = ", ".join(map(format_code, document.sides))
    pieces = [Piece(0, "summary", f"### {suite}{sides} against {format_code(document.reference)}\n")]
    for number, block in enumerate(document.blocks()):
        pieces.append(Piece(number, "part", "\n\n".join(markdown.print_block(block)) + "\n"))
    pieces += markdown.print_queries(document.queries, document.more_queries)
    return fit_pieces(f"## {heading}\n\n{escape(document.closing)}\n", pieces, limit)


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
        build_comparison_thresholds(verdicts, find_pool_command(report)),
        table if table.rows else None,
    )
