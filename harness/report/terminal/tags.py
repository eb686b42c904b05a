"""The figures of each tag on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.model import Status, SuiteReport
from harness.report.attention import BAD
from harness.report.figures import mean_heading, tally_text
from harness.report.printable import printable
from harness.report.tag_rows import TagRow, TagTable, figure_text, tag_table
from harness.report.terminal.layout import columns, indented
from harness.report.terminal.verdicts import STYLES

__all__ = ["tag_renderables"]


FIGURE = len("0.0000")
"""Where a terminal is narrow, the names of measures are folded, and their figures are not."""


def tag_renderables(suite: SuiteReport) -> Iterator[RenderableType]:
    """A line a tag and a column a measure, with what is left out; nothing where no query has a tag."""
    found = tag_table(suite)
    if found is None:
        return
    table = columns()
    table.add_column(f"{mean_heading(weighted=found.weighted)} by tag", overflow="fold")
    for heading in ("queries", *(["weight"] if found.weighted else []), *found.measures):
        table.add_column(printable(heading), justify="right", overflow="fold", min_width=FIGURE)
    if found.held:
        table.add_column("thresholds", overflow="fold")
    for row in found.rows:
        table.add_row(*_cells(row, found))
    yield indented(table)
    for remark in found.remarks:
        yield indented(Text(printable(remark), style="dim"))


def _cells(row: TagRow, table: TagTable) -> list[Text]:
    name = Text(printable(row.name), style="" if row.tag is not None else "dim")
    share = [Text(f"{row.share:.1%}")] if table.weighted else []
    figures = [Text(figure_text(row, summary)) for summary in row.figures]
    held = [_statuses(row)] if table.held else []
    return [name, Text(f"{row.queries:,}"), *share, *figures, *held]


def _statuses(row: TagRow) -> Text:
    """How the tag's thresholds came out; nothing where it has none."""
    if not row.statuses:
        return Text()
    bad = any(status in BAD for status in row.statuses)
    return Text(tally_text(row.statuses), style=STYLES[Status.FAILED] if bad else "")
