"""A comparison of two runs on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from harness.model import Comparison, MeasureComparison
from harness.report.figures import counted_text, score_text
from harness.report.printable import printable
from harness.report.ranking_text import columns

MOVED_SHOWN = 3
"""Queries of a measure that are named, those that changed most first."""


def comparison_renderables(comparison: Comparison, *, complete: bool = False) -> Iterator[RenderableType]:
    """Which runs, how they were tested, a line a measure, and what moved; *complete* as `--complete` was given."""
    names = (printable(comparison.candidate), printable(comparison.reference))
    yield Text.assemble((names[0], "bold"), " against ", (names[1], "bold"))
    yield Text(f"{_how(comparison)}\n", style="dim")
    yield _table(comparison)
    yield Text()
    for row in comparison.measures:
        yield from _remarks(row, comparison)
    if any(comparison.left_out.values()) and not complete:
        yield Text("--complete counts a judged query that is not in a run as one without hits", style="yellow")


def p_text(value: float) -> str:
    """
    A p-value, never rounded to 0.

    >>> p_text(0.0123), p_text(0.00001)
    ('0.0123', '< 0.0001')
    """
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _how(comparison: Comparison) -> str:
    correction = "not corrected" if comparison.correction == "none" else f"corrected by {comparison.correction}"
    return (
        f"{comparison.test} test, {comparison.alternative}, level {comparison.level:g}, {correction};"
        f" {100 * (1 - comparison.level):.4g} % intervals from {comparison.samples:,} samples, seed {comparison.seed}"
    )


def _table(comparison: Comparison) -> RenderableType:
    table = columns()
    table.add_column("measure", overflow="fold")
    headings = ("reference", "candidate", "difference", "interval", "p", "corrected", "won/tied/lost", "queries")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in comparison.measures:
        found = row.adjusted < comparison.level
        style = "" if not found else "green" if row.difference > 0 else "red"
        cells = (
            score_text(row.reference),
            score_text(row.candidate),
            f"{row.difference:+.4f}",
            f"{row.low:+.4f} to {row.high:+.4f}",
            p_text(row.p_value),
            p_text(row.adjusted),
            f"{row.wins:,}/{row.ties:,}/{row.losses:,}",
            f"{row.queries:,}",
        )
        table.add_row(Text(row.measure), *cells, style=style)
    return table


def _remarks(row: MeasureComparison, comparison: Comparison) -> Iterator[Text]:
    if row.least_p > comparison.level:
        few = f"so few queries that differ cannot give a p below {p_text(row.least_p)}"
        yield Text(f"{row.measure}: {few}; the test could not have found anything", style="yellow")
    if row.detectable is not None:
        yield Text(
            f"{row.measure}: these queries would show a true difference of {row.detectable:.4f} four times in five"
        )
    if row.moved:
        shown = (f"{printable(query)} {before:.4f} → {after:.4f}" for query, before, after in row.moved[:MOVED_SHOWN])
        yield Text(f"{row.measure}: moved most: {', '.join(shown)}")
    left_out = comparison.left_out.get(row.measure, 0)
    if left_out:
        yield Text(
            f"{row.measure}: {counted_text(left_out, 'query')} not scored in both runs, left out", style="yellow"
        )
