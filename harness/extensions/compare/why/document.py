"""The part of a comparison's document that says which differences between two requests moved the results."""

from __future__ import annotations

from collections.abc import Iterator

from harness.extensions.compare.why.model import ExplainedDifference, ExplainedQuery, Finding, WhyReport
from harness.extensions.compare.why.sentences import (
    describe_moved,
    describe_why,
    format_effect,
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
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.sentences import format_difference, format_score
from harness.words import count

QUERIES_SHOWN = 20
"""Queries that moved that are listed, those that changed most first."""


def list_why_blocks(why: WhyReport) -> Iterator[Block]:
    """All that is said of *why*."""
    yield Heading("Why")
    yield Paragraph(make_words(write_why_headline(why), Tone.STRONG))
    if not why.differences:
        return
    yield _build_differences(why)
    yield Notes(make_notes(list(describe_why(why)), Tone.PLAIN))
    yield Notes(make_notes(list(describe_moved(why)), Tone.PLAIN))
    if why.moved:
        yield _build_moved(why)


def _build_differences(why: WhyReport) -> Table:
    """A row for each difference with its two arms."""
    columns = (
        Column("no.", ColumnKind.FIGURE),
        Column("difference"),
        Column("beside the rest", ColumnKind.SCORE),
        Column("alone", ColumnKind.SCORE),
        Column("judged", ColumnKind.FIGURE),
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
    effects = (difference.reverted, difference.alone)
    judged = [format_score(effect.judged, 2) for effect in effects if effect is not None]
    finding = "–" if difference.finding is None else str(difference.finding)
    tone = Tone.BEST if difference.finding is Finding.CAUSE else Tone.QUIET
    return (
        make_words(str(number)),
        make_name(difference.name),
        *(make_words(format_effect(effect)) for effect in effects),
        make_words(" ".join(judged)),
        make_words(finding, tone),
    )


def _build_moved(why: WhyReport) -> Table:
    """The queries that changed most, with what moved each."""
    columns = (Column("query"), Column("change", ColumnKind.SCORE), Column("moved by no."))
    rows = tuple((make_name(query.id), *_describe_query(query)) for query in why.moved[:QUERIES_SHOWN])
    more = len(why.moved) - QUERIES_SHOWN
    remarks = (f"and {count(more, 'query')} more",) if more > 0 else ()
    return Table(columns, rows, remarks, Overflow.STACK, "Queries that moved")


def _describe_query(query: ExplainedQuery) -> tuple[Cell, Cell]:
    causes = " or ".join(" with ".join(str(place + 1) for place in places) for places in query.causes)
    return make_words(format_difference(query.change)), make_words(causes or "–")
