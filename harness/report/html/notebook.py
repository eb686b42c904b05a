"""A report in short, as a piece of HTML for a notebook: facts, thresholds and measures, without styles and scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.model.report import SuiteReport
from harness.model.run import Verdict
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Facts,
    Paragraph,
    Span,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
    make_name,
    make_words,
)
from harness.report.html import render_piece
from harness.report.run_document import build_facts, build_measures_table, build_thresholds
from harness.report.sentences import format_tally
from harness.words import count, shorten

THRESHOLDS = 10
"""The most thresholds that are shown: a notebook shows the report among much else."""

LONGEST_REASON = 300


def render_run_summary(suite: SuiteReport) -> str:
    """The facts, the thresholds, the worst first, and the measures of *suite*."""
    measures = None
    if suite.summaries:
        measures = build_measures_table(suite)
    return render_summary(suite.name, suite.verdicts, build_facts(suite), build_thresholds(suite), measures)


def render_summary(
    title: str, verdicts: Sequence[Verdict], facts: Facts, thresholds: Thresholds, measures: Table | None
) -> str:
    """A report on *title* in short."""
    tally = format_tally(verdict.status for verdict in verdicts)
    heading = (Span(title, Tone.STRONG), Span(f": {tally}" if verdicts else ""))
    blocks: list[Block] = [Paragraph(heading), facts, *_build_thresholds(thresholds)]
    if measures is not None:
        blocks.append(measures)
    return render_piece(blocks)


def _build_thresholds(thresholds: Thresholds) -> Iterator[Block]:
    """A table without the drawings of pages, which need styles."""
    if thresholds.unanswered:
        unanswered = count(thresholds.unanswered, "threshold")
        yield Paragraph(make_words(f"error: {unanswered}: no query has an answer"))
    shown = thresholds.thresholds[:THRESHOLDS]
    if shown:
        yield _build_table(shown)
    more = len(thresholds.thresholds) - len(shown) + thresholds.passed_of_queries
    if more:
        yield Paragraph(make_words(count(more, "more threshold")))


def _build_table(lines: Sequence[ThresholdLine]) -> Table:
    """A row for each threshold: its outcome, its figures, and why."""
    figures = (Column("observed", ColumnKind.FIGURE), Column("required", ColumnKind.FIGURE))
    columns = (Column("threshold"), Column("outcome"), Column("query"), *figures, Column("why"))
    rows = []
    for line in lines:
        verdict = line.verdict
        reason = shorten(line.details[0], LONGEST_REASON)
        texts = (verdict.status, verdict.query or "", line.observed, line.required, reason)
        rows.append((make_name(verdict.threshold), *map(make_words, texts)))
    return Table(columns, tuple(rows))
