"""The measures of two runs on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from harness.model import Comparison, MeasureComparison
from harness.report.comparison_words import detectable_text, measure_warnings, method_text
from harness.report.figures import difference_text, p_text, score_text
from harness.report.printable import printable
from harness.report.terminal.layout import Fitting, columns

MOVED_SHOWN = 3
"""Queries of a measure that are named, those that changed most first."""

HEADINGS = ("reference", "candidate", "difference", "interval", "p", "corrected", "won/tied/lost", "queries")


def comparison_renderables(comparison: Comparison, *, complete: bool = False) -> Iterator[RenderableType]:
    """Which runs, how they were tested, a line a measure, and what moved; *complete* as `--complete` was given."""
    names = (printable(comparison.candidate), printable(comparison.reference))
    yield Text.assemble((names[0], "bold"), " against ", (names[1], "bold"))
    yield from measures_renderables(comparison)
    if any(comparison.left_out.values()) and not complete:
        yield Text("--complete counts a judged query that is not in a run as one without hits", style="yellow")


def measures_renderables(comparison: Comparison) -> Iterator[RenderableType]:
    """How the differences were tested, a line a measure, and what moved."""
    yield Text(f"{printable(method_text(comparison))}\n", style="dim")
    yield Fitting(_table(comparison), _blocks(comparison))
    yield Text()
    for row in comparison.measures:
        yield from _remarks(row, comparison)


def _table(comparison: Comparison) -> RenderableType:
    table = columns()
    table.add_column("measure", overflow="fold")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.measures:
        table.add_row(Text(printable(row.measure)), *_measure_cells(row), style=_style(row, comparison))
    return table


def _blocks(comparison: Comparison) -> RenderableType:
    """The same where the table is too wide: the figures of a measure below one another."""
    blocks: list[RenderableType] = []
    for row in comparison.measures:
        block = columns()
        block.show_header = False
        block.add_column(style="dim", no_wrap=True)
        block.add_column(overflow="fold")
        for heading, cell in zip(HEADINGS, _measure_cells(row), strict=True):
            block.add_row(f"  {heading}", cell)
        blocks += [Text(printable(row.measure), style=_style(row, comparison) or "bold"), block]
    return Group(*blocks)


def _style(row: MeasureComparison, comparison: Comparison) -> str:
    if row.adjusted >= comparison.level:
        return ""
    return "green" if row.difference > 0 else "red"


def _measure_cells(row: MeasureComparison) -> tuple[str, ...]:
    return (
        score_text(row.reference),
        score_text(row.candidate),
        difference_text(row.difference),
        f"{difference_text(row.low)} to {difference_text(row.high)}",
        p_text(row.p_value),
        p_text(row.adjusted),
        f"{row.wins:,}/{row.ties:,}/{row.losses:,}",
        f"{row.queries:,}",
    )


def _remarks(row: MeasureComparison, comparison: Comparison) -> Iterator[Text]:
    for warning in measure_warnings(row, comparison):
        yield Text(printable(warning), style="yellow")
    detectable = detectable_text(row, comparison)
    if detectable is not None:
        yield Text(printable(detectable))
    if row.moved:
        shown = (f"{query} {before:.4f} → {after:.4f}" for query, before, after in row.moved[:MOVED_SHOWN])
        yield Text(printable(f"{row.measure}: moved most: {', '.join(shown)}"))
