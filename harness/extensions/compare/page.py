"""A comparison as one HTML page: its document, with what a page alone can show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from harness.extensions.compare.document import (
    QueryStrip,
    build_agreement,
    build_comparison_facts,
    build_comparison_remarks,
    build_comparison_table,
    build_comparison_warnings,
    build_measure_notes,
    describe_compared_verdict,
    list_request_differences,
    list_rows,
    make_strips,
)
from harness.extensions.compare.model import ComparisonReport, QueryComparison
from harness.extensions.compare.sentences import (
    Change,
    classify_change,
    describe_compared_query,
    describe_method,
    find_last_rank,
    find_moved_queries,
    find_pool_command,
    is_shown_significant,
    list_compared_measures,
    list_verdicts,
    mark_change,
    mark_left,
    write_comparison_closing,
    write_comparison_headline,
)
from harness.extensions.compare.why.document import list_why_blocks
from harness.model.comparison import MovedDocument
from harness.model.run import Verdict
from harness.report.attention import BAD, QUERIES_OF_SUITE, order_verdicts
from harness.report.document import (
    Block,
    Document,
    Drawing,
    Fact,
    Facts,
    Notes,
    Paragraph,
    Section,
    Span,
    Table,
    Thresholds,
    make_words,
)
from harness.report.html import Page, Part, note_omissions, render_page
from harness.report.html.charts import (
    Bin,
    Plot,
    Whisker,
    count_bins,
    draw_whisker,
    find_greatest_gain,
    plot_bins,
    round_up,
)
from harness.report.html.run import (
    Limits,
    describe_omitted,
    encode_address,
    find_worst_status,
    link_first_queries,
    list_threshold_blocks,
)
from harness.report.run_sentences import describe_held_quotes
from harness.report.sentences import format_difference, format_score, format_tally, format_value
from harness.statistics.paired import compute_change
from harness.words import count, grouped

_TEMPLATE = "extensions/compare/page.html.jinja"
STYLE = "extensions/compare/page.css"

SIGNIFICANCE_SHOWN = "A significant difference has a color, unless grades of unjudged hits may change that."

SHADES = 4
"""Shades of a change in each direction."""


def render(report: ComparisonReport, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = Limits()
    title = [Span(", ".join(report.names), is_name=True), Span(" against ")]
    title.append(Span(report.reference.name, is_name=True))
    verdicts = list_verdicts(report)
    if verdicts:
        status = find_worst_status(verdicts, report.exit_status)
        title += [Span(" "), Span(status, status=status)]
    section = Section(tuple(title), tuple(_list_blocks(report, limits)), "c")
    page = Page(
        document=Document(write_comparison_headline(report), make_words(write_comparison_closing(report)), (section,)),
        product="Relevance comparison",
        footer=make_words(
            "A difference is a side minus the reference. Grades are the judges'; unjudged is not grade 0. Tied "
            "documents changed only an order that nothing defines."
        ),
        created=report.timing.created,
        maker=f"relevance-harness {report.harness}; exit status {report.exit_status}",
        style=STYLE,
    )
    return render_page(page)


def _list_blocks(report: ComparisonReport, limits: Limits) -> Iterator[Block]:
    """All of the page, top down."""
    yield from build_comparison_warnings(report)
    verdicts = list_verdicts(report)
    views: tuple[ComparedQueryView, ...] = ()
    if not report.further:
        views = make_query_views(report, limits)
        yield from _list_first_queries(report, views)
    if verdicts:
        pool_command = find_pool_command(report)
        shown = order_verdicts(verdicts)[: limits.thresholds]
        thresholds = Thresholds(
            thresholds=tuple(describe_compared_verdict(verdict, pool_command) for verdict in shown),
            unanswered=0,
            passed_of_queries=0,
            anchors={view.query.id: view.anchor for view in views if view.detailed},
        )
        tally = format_tally(verdict.status for verdict in verdicts)
        blocks = tuple(list_threshold_blocks(report.suite or "the comparison", thresholds))
        yield Part("Thresholds", blocks, tally)
    yield from _list_measures(report)
    if report.why is not None:
        yield from list_why_blocks(report.why)
    yield from _list_agreement(report)
    yield from _list_notes(report, limits)
    facts = build_comparison_facts(report).facts
    if report.suite:
        facts = (Fact("suite", make_words(report.suite)), *facts)
    yield Part("Sides", (Facts(facts),), is_open=not verdicts)
    yield Part("Queries", tuple(_list_queries(report, views, limits)), f"{len(report.queries):,}", "c-queries")


def _list_first_queries(report: ComparisonReport, views: Iterable[ComparedQueryView]) -> Iterator[Block]:
    """The queries that thresholds blame, and those that moved most, each with a link to its rankings."""
    measures = list_compared_measures(report)
    moved, more = find_moved_queries(report, QUERIES_OF_SUITE)
    figures = {}
    for query in moved:
        change = compute_change(*query.scores.get(measures[0], (None, None))) if measures else None
        figures[query.id] = "" if change is None else format_difference(change)
    anchors = {view.query.id: view.anchor for view in views if view.detailed}
    yield from link_first_queries(f"Δ {measures[0]}" if measures else "", figures, anchors, more)


def _list_queries(report: ComparisonReport, views: Sequence[ComparedQueryView], limits: Limits) -> Iterator[Block]:
    """The table of the queries of two sides, or the strips of several by measure."""
    if not report.further:
        yield ComparedQueries(
            queries=views,
            measures=list_compared_measures(report),
            changes=Counter(sorted(map(classify_change, report.queries), key=list(Change).index)),
            tags=_list_tags(report.queries),
            is_decided=bool(report.verdicts),
            first_rows=limits.first_rows,
        )
        return
    yield Paragraph(
        make_words(
            "The score of each query on each side, with its change from the reference. Green rose, red fell, deeper is "
            "more. For each side in turn the query that changed most on it comes first; a click on a side sorts by its "
            "changes."
        )
    )
    for place, measure in enumerate(list_compared_measures(report)[: limits.measures]):
        yield make_strip_table(report, measure, limits, place)


def _list_measures(report: ComparisonReport) -> Iterator[Block]:
    if not list_compared_measures(report):
        return
    blocks: list[Block] = []
    method = describe_method(report)
    if method:
        blocks.append(Paragraph(make_words(f"{method}. {SIGNIFICANCE_SHOWN}")))
        caption = "Measures of each side, and their difference from the reference"
        table = replace(build_comparison_table(report), caption=caption)
        blocks.append(DifferenceTable(table, tuple(draw_intervals(report))))
    measure_notes = build_measure_notes(report)
    if measure_notes.lines:
        blocks.append(measure_notes)
    yield Part("Measures", tuple(blocks))
    if not report.further:
        yield Part("Spread of the differences", (SpreadCards(tuple(make_spreads(report))),), is_open=False)


def _list_agreement(report: ComparisonReport) -> Iterator[Block]:
    agreement = build_agreement(report)
    if not agreement.rows:
        return
    blocks: list[Block] = [replace(agreement, caption="How far the rankings agree with those of the reference")]
    if not report.further:
        blocks.append(SpreadCards(tuple(make_agreement_spreads(report))))
    # Without judgments the agreement is all that there is.
    is_open = not list_compared_measures(report)
    yield Part("Agreement of the rankings", tuple(blocks), is_open=is_open)


def _list_notes(report: ComparisonReport, limits: Limits) -> Iterator[Block]:
    left_out: list[str] = []
    if not report.further:
        ends = ("that changed least", "that changed less than those shown")
        left_out = list(describe_omitted(report.verdicts, len(report.queries), limits, *ends))
    notes = (*build_comparison_remarks(report).lines, *note_omissions(left_out))
    if notes:
        yield Part("Notes", (Notes(notes),), f"{len(notes):,}")
    differences = list(list_request_differences(report))
    if differences:
        folded = tuple(replace(difference, is_open=not report.further) for difference in differences)
        yield Part("Requests", folded, is_open=not report.further)


# The measures, each with its interval as drawn.


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """An interval on its axis; None where there is none. *way* is ``better`` or ``worse`` where it stands out."""

    whisker: Whisker | None
    way: str


@dataclass(frozen=True, slots=True)
class DifferenceTable(Drawing):
    """The table of measures with a drawing for each row."""

    template: ClassVar[str] = _TEMPLATE

    table: Table
    intervals: tuple[DrawnInterval, ...]


def draw_intervals(report: ComparisonReport) -> Iterator[DrawnInterval]:
    """
    The interval of each measure and side, to the end of the axis where a one-sided test leaves it open.

    Measures within [-1, 1] share an axis, so that they compare by eye; the others have their own for all sides.
    """
    rows = list_rows(report)
    common_reach = 0.0
    reaches: dict[str, float] = {}
    for row, _, _ in rows:
        # How far from zero the difference and its interval reach.
        reach = max(abs(row.difference), abs(row.low or 0.0), abs(row.high or 0.0))
        reaches[row.measure] = max(reaches.get(row.measure, 0.0), reach)
    for reach in reaches.values():
        if reach <= 1:
            common_reach = max(common_reach, reach)
    for row, measures, _ in rows:
        reach = reaches[row.measure]
        end = round_up(common_reach if reach <= 1 else reach)
        way = ""
        if is_shown_significant(row, measures):
            way = "better" if row.difference > 0 else "worse"
        whisker = None
        if row.low is not None or row.high is not None:
            low = -end if row.low is None else row.low
            high = end if row.high is None else row.high
            whisker = draw_whisker(low, high, row.difference, end)
        yield DrawnInterval(whisker, way)


# How differences and agreements spread over the queries.


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution over the queries; *plot* is None where there is nothing to draw, *zero* where it has a 0."""

    name: str
    label: str
    plot: Plot | None
    zero: int | None = None
    figures: Mapping[str, int] | None = None
    """Counts of queries by what they say."""


@dataclass(frozen=True, slots=True)
class SpreadCards(Drawing):
    """Distributions beside each other."""

    template: ClassVar[str] = _TEMPLATE

    spreads: tuple[Spread, ...]


def make_spreads(report: ComparisonReport) -> Iterator[Spread]:
    """The differences of each measure of two sides."""
    means: dict[str, float] = {}
    if report.measures is not None:
        means = {row.measure: row.difference for row in report.measures.measures}
    for name in list_compared_measures(report):
        deltas = [compute_change(*query.scores.get(name, (None, None))) for query in report.queries]
        finite = [value for value in deltas if value is not None and math.isfinite(value)]
        changed = [value for value in finite if value != 0]
        rose = sum(value > 0 for value in changed)
        fell = len(changed) - rose
        yield Spread(
            name=name,
            label=f"Differences of {name}: {count(rose, 'query')} rose, {count(fell, 'query')} fell",
            plot=_plot(count_bins(changed, around_zero=True), means.get(name)),
            zero=160,
            figures={"rose": rose, "fell": fell, "the same, not drawn": len(finite) - len(changed)},
        )


def make_agreement_spreads(report: ComparisonReport) -> Iterator[Spread]:
    """How RBO and overlap of two sides spread over the queries."""
    agreement = report.agreement
    if agreement is None:
        return
    rbo = count_bins(query.rbo for query in report.queries)
    overlap = count_bins(query.overlap for query in report.queries)
    for name, mean, bins in (("RBO", agreement.rbo, rbo), ("Overlap", agreement.overlap, overlap)):
        label = f"Distribution of {name} over {count(agreement.queries, 'query')}, mean {mean:.4f}"
        yield Spread(name, label, plot_bins(bins, mean) if bins else None)


def _plot(bins: Sequence[Bin], mean: float | None) -> Plot | None:
    if not bins:
        return None
    return plot_bins(bins, mean, lambda edge: format_value(float(f"{edge:.4g}")))


# The queries of two sides: those that thresholds blame first, then those that moved most.


@dataclass(frozen=True, slots=True)
class RankedMove:
    """A document at its rank on one side, and how it moved or where it is on the other."""

    rank: int
    document: MovedDocument
    mark: str
    quotes: str
    """The quotes that it holds."""


@dataclass(frozen=True, slots=True)
class ComparedQueryView:
    """
    One query: a row of the table with its *deltas* by measure, and if *detailed* its two *rankings* by side.

    *greatest* is the greatest gain of all documents.
    """

    anchor: str
    query: QueryComparison
    change: Change
    known: str
    tags: tuple[int, ...]
    deltas: tuple[float | None, ...]
    blamed: bool
    detailed: bool
    greatest: float
    verdicts: Sequence[Verdict]
    unanswered: Sequence[tuple[str, str]]
    rankings: Mapping[str, Sequence[RankedMove]]
    more_ranks: int


@dataclass(frozen=True, slots=True)
class ComparedQueries(Drawing):
    """The queries of two sides: a table to filter and to sort, and the rankings of each beside each other."""

    template: ClassVar[str] = _TEMPLATE

    queries: Sequence[ComparedQueryView]
    measures: Sequence[str]
    changes: Mapping[Change, int]
    tags: Sequence[str]
    is_decided: bool
    first_rows: int


def _list_tags(queries: Iterable[QueryComparison]) -> list[str]:
    tags: set[str] = set()
    for query in queries:
        tags.update(query.tags)
    return sorted(tags)


def make_query_views(report: ComparisonReport, limits: Limits) -> tuple[ComparedQueryView, ...]:
    """A view of each query of *report*, within *limits*."""
    blamed: set[str] = set()
    for verdict in report.verdicts:
        if verdict.status in BAD:
            blamed.update(verdict.blamed)
    names = list_compared_measures(report)
    numbers = {tag: number for number, tag in enumerate(_list_tags(report.queries))}
    verdicts_by_query = grouped((verdict.query, verdict) for verdict in report.verdicts)
    greatest = 0.0
    for query in report.queries:
        greatest = max(greatest, find_greatest_gain(query.documents))
    sides = (report.reference, report.candidate)
    ordered = sorted(report.queries, key=lambda query: query.id not in blamed)
    views = []
    for place, query in enumerate(ordered[: limits.rows]):
        is_detailed = place < limits.details
        view = ComparedQueryView(
            anchor=_make_address(query.id),
            query=query,
            change=classify_change(query),
            known=_describe_query(query),
            tags=tuple(numbers[tag] for tag in query.tags),
            deltas=tuple(compute_change(*query.scores.get(name, (None, None))) for name in names),
            blamed=query.id in blamed,
            detailed=is_detailed,
            greatest=greatest,
            verdicts=verdicts_by_query.get(query.id, ()),
            unanswered=[(side.name, side.unanswered[query.id]) for side in sides if query.id in side.unanswered],
            rankings=rank_documents(query, limits.ranks) if is_detailed else {},
            more_ranks=max(0, find_last_rank(query) - limits.ranks),
        )
        views.append(view)
    return tuple(views)


def _make_address(query: str) -> str:
    return f"c/{encode_address(query)}"


def _describe_query(query: QueryComparison) -> str:
    texts = describe_compared_query(query)
    if query.rbo is not None:
        texts += [f"overlap {format_score(query.overlap)}", f"tau {format_score(query.tau)}"]
    return " · ".join(texts)


def rank_documents(query: QueryComparison, most: int) -> dict[str, list[RankedMove]]:
    """The documents of the first *most* ranks of each side."""
    before, after = [], []
    places_before, places_after = query.list_places(of_reference=True), query.list_places(of_reference=False)
    for document in query.documents:
        if document.reference is not None and document.reference <= most:
            now = mark_left(document) or str(document.candidate)
            quotes = describe_held_quotes(places_before, document.reference)
            before.append(RankedMove(document.reference, document, now, quotes))
        if document.candidate is not None and document.candidate <= most:
            quotes = describe_held_quotes(places_after, document.candidate)
            after.append(RankedMove(document.candidate, document, mark_change(document), quotes))
    by_rank = {"Reference": before, "Candidate": after}
    return {side: sorted(moves, key=lambda move: move.rank) for side, moves in by_rank.items()}


# The queries of several sides.


@dataclass(frozen=True, slots=True)
class StripTable(Drawing):
    """
    The scores of a measure on all sides.

    *greatest* is the greatest change, which has the deepest shade. *omitted* says how many queries are left out. Only
    the first table of a page is open, and has the addresses of the queries.
    """

    template: ClassVar[str] = _TEMPLATE

    place: int
    measure: str
    reference: str
    sides: tuple[str, ...]
    strips: Sequence[QueryStrip]
    greatest: float
    omitted: str
    first_rows: int

    @property
    def is_first(self) -> bool:
        """Whether no other table stands before it."""
        return self.place == 0

    def address_of(self, strip: QueryStrip) -> str:
        """The address of a row on the page."""
        return _make_address(strip.id)

    def choose_shade(self, change: float | None) -> str:
        """The class of a cell, by how far its score rose or fell."""
        return choose_change_shade(change, self.greatest)


def make_strip_table(report: ComparisonReport, measure: str, limits: Limits, place: int) -> StripTable:
    """The strips of *measure*, within *limits*; *place* is that of the table on the page, from 0."""
    strips = make_strips(report, measure)
    shown = strips[: limits.rows]
    more = len(strips) - len(shown)
    return StripTable(
        place=place,
        measure=measure,
        reference=report.reference.name,
        sides=tuple(comparison.candidate.name for comparison in report.comparisons),
        strips=shown,
        greatest=max((strip.greatest_change for strip in strips), default=0.0),
        omitted=f"{count(more, 'query')} that changed less" if more else "",
        first_rows=limits.first_rows,
    )


def choose_change_shade(change: float | None, greatest: float) -> str:
    """
    The class of a cell: how far a score rose or fell, in shades of the *greatest* change.

    >>> [choose_change_shade(change, 0.8) for change in (None, 0.0, 0.8, -0.1)]
    ['', '', 'rise-4', 'fall-1']
    """
    if not change or math.isnan(change) or greatest <= 0:
        return ""
    share = 1.0 if math.isinf(change) else abs(change) / greatest
    step = max(1, min(SHADES, round(share * SHADES)))
    return f"{'rise' if change > 0 else 'fall'}-{step}"
