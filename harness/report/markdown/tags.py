"""The figures of each tag, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from harness.model import SuiteReport
from harness.report.attention import BAD
from harness.report.figures import mean_heading, tally_text
from harness.report.markdown.escape import code, escape
from harness.report.markdown.tables import table
from harness.report.tag_rows import TagRow, TagTable, figure_text, tag_table

__all__ = ["tags_markdown"]


def tags_markdown(suite: SuiteReport) -> Iterator[str]:
    """Paragraphs: a table with a line a tag, and what it does not show; none where no query has a tag."""
    found = tag_table(suite)
    if found is None:
        return
    figures = ["queries", *(["weight"] if found.weighted else []), *map(code, found.measures)]
    held = ["thresholds"] if found.held else []
    heading = f"{mean_heading(weighted=found.weighted)} by tag"
    yield table([heading, *figures, *held], [_tag_cells(row, found) for row in found.rows], right=figures)
    if found.remarks:
        yield escape("; ".join(found.remarks))


def _tag_cells(row: TagRow, table: TagTable) -> list[str]:
    name = escape(row.name) if row.tag is None else code(row.name)
    share = [f"{row.share:.1%}"] if table.weighted else []
    figures = [figure_text(row, summary) for summary in row.figures]
    return [name, f"{row.queries:,}", *share, *figures, *([_statuses(row)] if table.held else [])]


def _statuses(row: TagRow) -> str:
    """How the tag's thresholds came out; nothing where it has none."""
    if not row.statuses:
        return ""
    tally = tally_text(row.statuses)
    return f"**{tally}**" if any(status in BAD for status in row.statuses) else tally
