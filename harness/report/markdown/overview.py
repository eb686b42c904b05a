"""The cells of a report beside one another, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from harness.report.figures import score_text
from harness.report.markdown.escape import code, escape
from harness.report.markdown.tables import table
from harness.report.overview import BEST, Figure, Overview, Row, compared_text, remarks

__all__ = ["overview_markdown"]


COUNTS = ["queries", "held", "failed", "errors", "other"]


def overview_markdown(overview: Overview) -> str:
    """The table, and what its signs mean."""
    names = ["suite", *(["request"] if overview.requests else []), *(["index"] if overview.indexes else [])]
    measures = [code(measure) for measure in overview.measures]
    rows = [list(_cells(row, overview)) for row in overview.rows]
    shown = table([*names, *measures, *COUNTS], rows, right=[*measures, *COUNTS])
    return f"{shown}\n\n{escape('; '.join(remarks(overview)))}\n"


def _cells(row: Row, overview: Overview) -> Iterator[str]:
    yield escape(row.suite.name)
    if overview.requests:
        yield code(row.suite.request)
    if overview.indexes:
        yield code(row.suite.index or "–")
    for measure in overview.measures:
        figure = row.figures.get(measure)
        yield _figure(figure) if figure else ""
    for count in (len(row.suite.queries), row.held, row.failed, row.errors, row.other):
        yield f"{count:,}"


def _figure(figure: Figure) -> str:
    mean = f"**{score_text(figure.mean)}**{escape(BEST)}" if figure.best else score_text(figure.mean)
    return f"{mean} {escape(compared_text(figure))}".rstrip()
