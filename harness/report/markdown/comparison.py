"""
A comparison as Markdown, for GitHub's job summary or to post elsewhere.

The first line has the result. Parts that would exceed GitHub's limit are left out, the least moved queries first, and
counted.
"""

from __future__ import annotations

from harness.extensions.compare.comparison_document import build_comparison_document
from harness.model.comparison import ComparisonReport
from harness.report.markdown import print_block, print_queries
from harness.report.markdown.escape import MOST_BYTES, MOST_TEXT, Piece, choose_sign, escape, fit_pieces, format_code

MOST = 10
"""Queries that are shown with their rankings by default."""


def render(report: ComparisonReport, *, most: int = MOST, limit: int = MOST_BYTES) -> str:
    """
    *report* in at most *limit* bytes of UTF-8; its first lines, which are always there, take a few hundred.

    The rankings are those of at most *most* queries: those that thresholds blame, then those that moved most.
    """
    document = build_comparison_document(report, most=most)
    heading = escape(document.headline, most=MOST_TEXT)
    if document.is_decided:
        heading = f"{choose_sign(document.exit_status, decided=True)} {heading}"
    suite = f"{escape(document.suite)}: " if document.suite else ""
    paragraphs = [f"### {suite}{format_code(document.candidate)} against {format_code(document.reference)}"]
    for part in document.blocks():
        paragraphs += print_block(part)
    pieces = [Piece(0, "summary", "\n\n".join(paragraphs) + "\n")]
    pieces += print_queries(document.queries, document.more_queries)
    return fit_pieces(f"## {heading}\n\n{escape(document.closing)}\n", pieces, limit)
