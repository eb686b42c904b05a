"""Several sides on a terminal, each compared with the first."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.extensions.compare.sides_document import build_sides_document
from harness.model.comparison import SidesReport
from harness.report.sentences import printable
from harness.report.terminal import build_quiet_lines, make_text, print_blocks, print_quiet_lines
from harness.words import listed


def print_sides_report(report: SidesReport, *, most: int, quiet: bool = False) -> Iterator[RenderableType]:
    """
    *report*, with the scores of at most *most* queries, those that changed most.

    Where *quiet*, only the thresholds to look at, and the last line.
    """
    document = build_sides_document(report, most=most)
    if quiet:
        heading = document.suite or document.reference
        yield from print_quiet_lines([build_quiet_lines(heading, document.thresholds.thresholds)])
    else:
        suite = f"{printable(document.suite)}  " if document.suite else ""
        sides = printable(listed(document.sides))
        yield Text.assemble((suite, "bold"), (sides, "bold"), " against ", (printable(document.reference), "bold"))
        yield from print_blocks(document.blocks())
    yield make_text(document.closing, "bold red" if document.exit_status else "bold green")
