"""A history on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.report.document import HistoryDocument
from harness.report.sentences import printable
from harness.report.terminal import make_text, print_blocks


def print_history(document: HistoryDocument) -> Iterator[RenderableType]:
    """*document*, a section for each request and target."""
    for section in document.sections:
        yield Text.assemble(
            (printable(document.suite), "bold"), ("  request ", "dim"), (printable(section.title), "bold")
        )
        yield from print_blocks(section.blocks())
        yield Text()
    yield make_text(document.closing, "dim")
