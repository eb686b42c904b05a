"""The part of a comparison's document that says which differences between two requests moved the results."""

from __future__ import annotations

from collections.abc import Iterator

from harness.extensions.compare.why.model import ArmEffect, ExplainedDifference, Finding, WhyReport
from harness.extensions.compare.why.sentences import (
    describe_moved,
    describe_why,
    list_movers,
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
    of_mean = list(_list_blocks_of_mean(why))
    of_queries: list[Block] = [Notes(make_notes(list(describe_moved(why)), Tone.PLAIN))]
    if why.moved:
        of_queries.append(_build_moved(why))
    # Where the mean has no cause, those of the queries are what there is to read.
    yield from [*of_mean, *of_queries] if why.causes else [*of_queries, *of_mean]


def _list_blocks_of_mean(why: WhyReport) -> Iterator[Block]:
    """What each difference does to the mean."""
    if why.differences:
        yield _build_differences(why)
    yield Notes(make_notes(list(describe_why(why)), Tone.PLAIN))
    if why.indexes:
        yield Paragraph(make_words("The two indexes differ, which by itself names no cause:"))
        yield Notes(make_notes(why.indexes, Tone.QUIET))


def _build_differences(why: WhyReport) -> Table:
    """A row for each difference with its two arms."""
    columns: tuple[Column, ...] = (
        Column("difference"),
        Column("beside the rest", ColumnKind.FIGURE),
        Column("interval", ColumnKind.FIGURE, may_stand_below=True),
        Column("alone", ColumnKind.FIGURE),
        Column("interval", ColumnKind.FIGURE, may_stand_below=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for number, difference in enumerate(why.differences, start=1):
        rows.append(_build_row(number, difference))
    if why.looks_for_causes:
        columns += (Column("finding", ColumnKind.WORD),)
        rows = [(*row, _make_finding(difference)) for row, difference in zip(rows, why.differences, strict=True)]
    remark = (
        f"beside the rest: the new request less itself without the difference; alone: the old request with it less the "
        f"old one; means over {count(why.queries, 'query')}, with intervals that hold for all differences at once at "
        f"{100 * (1 - why.level):.0f} %; {why.searches:,} searches"
    )
    return Table(columns, tuple(rows), (remark,), Overflow.STACK, "Differences between the two requests")


def _build_row(number: int, difference: ExplainedDifference) -> tuple[Cell, ...]:
    return (
        (Span(f"{number}  "), Span(difference.name, is_name=True)),
        *_make_effect_cells(difference.reverted),
        *_make_effect_cells(difference.alone),
    )


def _make_finding(difference: ExplainedDifference) -> Cell:
    tone = Tone.BEST if difference.finding is Finding.CAUSE else Tone.QUIET
    return make_words(str(difference.finding), tone)


def _make_effect_cells(effect: ArmEffect | None) -> tuple[Cell, Cell]:
    """The mean of an arm and its interval."""
    if effect is None:
        return make_words("refused"), ()
    mean = effect.mean
    limits = () if mean.low is None else make_words(format_limits(mean.low, mean.high))
    return make_words(format_difference(mean.value)), limits


def _build_moved(why: WhyReport) -> Table:
    """A row for each difference that moved one of the queries that changed most, with what it does alone."""
    columns = (
        Column("query"),
        Column("change", ColumnKind.SCORE),
        Column("moved by"),
        Column("beside the rest", ColumnKind.FIGURE),
        Column("alone", ColumnKind.FIGURE),
    )
    rows = []
    for query in why.moved[:QUERIES_SHOWN]:
        cells: tuple[Cell, Cell] = (make_name(query.id), make_words(format_difference(query.change)))
        for mover in list_movers(why, query):
            rows.append((*cells, make_words(mover.words), make_words(mover.reverted), make_words(mover.alone)))
            # The next rows are of the same query.
            cells = ((), ())
    more = len(why.moved) - QUERIES_SHOWN
    remarks = [
        "beside the rest: the new score less that without the difference; alone: the old score with it less the old one"
    ]
    if more > 0:
        remarks.insert(0, f"and {count(more, 'query')} more")
    return Table(columns, tuple(rows), tuple(remarks), Overflow.FOLD, "Queries that moved")
