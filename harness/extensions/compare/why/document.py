"""The part of a comparison's document that says which differences between two requests moved the results."""

from __future__ import annotations

from collections.abc import Iterator

from harness.extensions.compare.why.model import ArmEffect, ExplainedDifference, ExplainedQuery, Finding, WhyReport
from harness.extensions.compare.why.sentences import (
    describe_moved,
    describe_why,
    write_why_headline,
)
from harness.report.document import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Heading,
    Notes,
    Overflow,
    Paragraph,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.sentences import format_difference, format_limits
from harness.words import count

QUERIES_SHOWN = 20
"""Queries that moved that are listed, those that changed most first."""


def list_why_blocks(why: WhyReport) -> Iterator[Block]:
    """All that is said of *why*."""
    yield Heading("Why")
    yield Paragraph(make_words(write_why_headline(why), Tone.STRONG))
    if why.differences:
        yield _build_differences(why)
    yield Notes(make_notes(list(describe_why(why)), Tone.PLAIN))
    if why.indexes:
        yield Paragraph(make_words("The two indexes differ, which by itself names no cause:"))
        yield Notes(make_notes(why.indexes, Tone.QUIET))
    yield Notes(make_notes(list(describe_moved(why)), Tone.PLAIN))
    if why.moved:
        yield _build_moved(why)


def _build_differences(why: WhyReport) -> Table:
    """A row for each difference with its two arms."""
    columns = (
        Column("difference"),
        Column("beside the rest", ColumnKind.FIGURE),
        Column("interval", ColumnKind.FIGURE, may_stand_below=True),
        Column("alone", ColumnKind.FIGURE),
        Column("interval", ColumnKind.FIGURE, may_stand_below=True),
        Column("finding", ColumnKind.WORD),
    )
    rows = tuple(_build_row(number, difference) for number, difference in enumerate(why.differences, start=1))
    remark = (
        f"beside the rest: the new request less itself without the difference; alone: the old request with it less the "
        f"old one; means over {count(why.queries, 'query')}, with intervals that hold for all differences at once at "
        f"{100 * (1 - why.level):.0f} %; {why.searches:,} searches"
    )
    return Table(columns, rows, (remark,), Overflow.STACK, "Differences between the two requests")


def _build_row(number: int, difference: ExplainedDifference) -> tuple[Cell, ...]:
    finding = "–" if difference.finding is None else str(difference.finding)
    tone = Tone.BEST if difference.finding is Finding.CAUSE else Tone.QUIET
    return (
        (Span(f"{number}  "), Span(difference.name, is_name=True)),
        *_make_effect_cells(difference.reverted),
        *_make_effect_cells(difference.alone),
        make_words(finding, tone),
    )


def _make_effect_cells(effect: ArmEffect | None) -> tuple[Cell, Cell]:
    """The mean of an arm and its interval."""
    if effect is None:
        return make_words("refused"), ()
    mean = effect.mean
    limits = () if mean.low is None else make_words(format_limits(mean.low, mean.high))
    return make_words(format_difference(mean.value)), limits


def _build_moved(why: WhyReport) -> Table:
    """The queries that changed most, with what moved each."""
    columns = (Column("query"), Column("change", ColumnKind.SCORE), Column("moved by"))
    rows = tuple((make_name(query.id), *_describe_query(query)) for query in why.moved[:QUERIES_SHOWN])
    more = len(why.moved) - QUERIES_SHOWN
    remarks = (f"and {count(more, 'query')} more",) if more > 0 else ()
    return Table(columns, rows, remarks, Overflow.STACK, "Queries that moved")


def _describe_query(query: ExplainedQuery) -> tuple[Cell, Cell]:
    causes = " or ".join(" with ".join(str(place + 1) for place in places) for places in query.causes)
    return make_words(format_difference(query.change)), make_words(causes or "–")
