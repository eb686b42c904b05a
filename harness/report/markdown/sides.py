"""Several sides as Markdown, each compared with the first."""

from __future__ import annotations

from harness.extensions.compare.sides_document import build_sides_document
from harness.model.comparison import SidesReport
from harness.report.markdown import print_block
from harness.report.markdown.escape import MOST_BYTES, MOST_TEXT, Piece, choose_sign, escape, fit_pieces, format_code

MOST = 30
"""Queries that are shown with their scores."""


def render(report: SidesReport, *, limit: int = MOST_BYTES) -> str:
    """*report* in at most *limit* bytes of UTF-8; what does not fit is left out and counted, the last parts first."""
    document = build_sides_document(report, most=MOST)
    heading = escape(document.headline, most=MOST_TEXT)
    if document.is_decided:
        heading = f"{choose_sign(document.exit_status, decided=True)} {heading}"
    suite = f"{escape(document.suite)}: " if document.suite else ""
    sides = ", ".join(map(format_code, document.sides))
    pieces = [Piece(0, "summary", f"### {suite}{sides} against {format_code(document.reference)}\n")]
    for number, block in enumerate(document.blocks()):
        pieces.append(Piece(number, "part", "\n\n".join(print_block(block)) + "\n"))
    return fit_pieces(f"## {heading}\n\n{escape(document.closing)}\n", pieces, limit)
