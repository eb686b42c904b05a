"""A comparison as one HTML page: this module chooses and limits the content, the template lays it out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment

from harness.extensions.compare.comparison_document import build_comparison_document, describe_compared_verdict
from harness.extensions.compare.sentences import (
    Change,
    classify_change,
    describe_changes,
    find_last_rank,
    find_pool_command,
    format_if_judged,
    format_interval,
    format_scores,
    is_shown_significant,
    list_measures,
    mark_change,
    mark_left,
)
from harness.gate.grammar import TOLERANCE
from harness.model.comparison import ComparisonReport, MeasureComparison, MovedDocument, QueryComparison
from harness.model.run import Verdict
from harness.report.attention import BAD, order_verdicts
from harness.report.document import ThresholdLine
from harness.report.html import (
    Limits,
    describe_omitted,
    find_worst_status,
    make_environment,
    render_template,
)
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
from harness.report.sentences import format_difference, format_p, format_value
from harness.words import grouped

# The queries on the page of a comparison: those that thresholds blame first, then those that moved most.


@dataclass(frozen=True, slots=True)
class ComparedQueryView:
    """
    One query: a row of the table with its *deltas* by measure, and if *detailed* its two rankings.

    *greatest* is the greatest gain of all documents.
    """

    anchor: str
    query: QueryComparison
    change: Change
    tags: tuple[int, ...]
    deltas: tuple[float | None, ...]
    blamed: bool
    detailed: bool
    greatest: float
    verdicts: Sequence[Verdict]
    unanswered: Sequence[tuple[str, str]]


def make_query_views(
    report: ComparisonReport, names: Sequence[str], tags: Sequence[str], limits: Limits
) -> tuple[ComparedQueryView, ...]:
    """A view of each query of *report*, with a difference for each of *names* and the places of its tags in *tags*."""
    blamed: set[str] = set()
    for verdict in report.verdicts:
        if verdict.status in BAD:
            blamed.update(verdict.blamed)
    numbers = {tag: number for number, tag in enumerate(tags)}
    verdicts_by_query = grouped((verdict.query, verdict) for verdict in report.verdicts)
    greatest = 0.0
    for query in report.queries:
        greatest = max(greatest, find_greatest_gain(query.documents))
    sides = (report.reference, report.candidate)
    numbered = sorted(enumerate(report.queries, start=1), key=lambda pair: pair[1].id not in blamed)
    views = []
    for place, (number, query) in enumerate(numbered[: limits.rows]):
        view = ComparedQueryView(
            anchor=f"q{number}",
            query=query,
            change=classify_change(query),
            tags=tuple(numbers[tag] for tag in query.tags),
            deltas=tuple(compute_delta(query.scores.get(name)) for name in names),
            blamed=query.id in blamed,
            detailed=place < limits.details,
            greatest=greatest,
            verdicts=verdicts_by_query.get(query.id, ()),
            unanswered=[(side.name, side.unanswered[query.id]) for side in sides if query.id in side.unanswered],
        )
        views.append(view)
    return tuple(views)


def compute_delta(scores: tuple[float | None, float | None] | None) -> float | None:
    """Candidate minus reference; None where a side has no score, 0 where only the order of summation differs."""
    if scores is None:
        return None
    before, after = scores
    if before is None or after is None:
        return None
    # An infinite score minus itself would be NaN.
    if before == after or abs(after - before) <= TOLERANCE:
        return 0.0
    return after - before


def rank_documents(query: QueryComparison, side: str, most: int) -> list[MovedDocument]:
    """The documents of the first *most* ranks of a *side*, ``reference`` or ``candidate``."""
    documents = {}
    for document in query.documents:
        rank = document.reference if side == "reference" else document.candidate
        if rank is not None and rank <= most:
            documents[rank] = document
    return [documents[rank] for rank in sorted(documents)]


# What the page of a comparison shows: chosen, ordered and bounded here, laid out by the template.
#
# The queries that thresholds blame come first, then those that moved most; `Limits` bounds how many.


@dataclass(frozen=True, slots=True)
class MeasureView:
    """
    A measure over all queries; *end* is the end of the axis, *found* whether the difference is significant, and
    further judgments may not change that.
    """

    row: MeasureComparison
    end: float
    found: bool


@dataclass(frozen=True, slots=True)
class SpreadView:
    """
    The distribution of a measure's differences: *bins* of the queries that changed, and how many rose and fell.

    *tested* is the measure over all queries, None where there were too few queries to test.
    """

    measure: str
    tested: MeasureView | None
    bins: tuple[Bin, ...]
    rose: int
    fell: int
    same: int


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """All that the page shows."""

    measures: tuple[MeasureView, ...]
    spreads: tuple[SpreadView, ...]
    rbo: tuple[Bin, ...]
    overlap: tuple[Bin, ...]
    thresholds: Sequence[ThresholdLine]
    anchors: Mapping[str, str]
    queries: tuple[ComparedQueryView, ...]
    names: tuple[str, ...]
    changes: Mapping[Change, int]
    tags: tuple[str, ...]
    left_out: tuple[str, ...]


def make_comparison_view(report: ComparisonReport, limits: Limits) -> ComparisonView:
    """The page's view of *report*."""
    names = list_measures(report)
    all_tags: set[str] = set()
    for query in report.queries:
        all_tags.update(query.tags)
    tags = tuple(sorted(all_tags))
    queries = make_query_views(report, names, tags, limits)
    measures = {view.row.measure: view for view in _make_measure_views(report)}
    return ComparisonView(
        measures=tuple(measures.values()),
        spreads=tuple(_make_spread_view(name, measures.get(name), report.queries) for name in names),
        rbo=count_bins(query.rbo for query in report.queries),
        overlap=count_bins(query.overlap for query in report.queries),
        thresholds=[
            describe_compared_verdict(verdict, find_pool_command(report))
            for verdict in order_verdicts(report.verdicts)[: limits.thresholds]
        ],
        anchors={view.query.id: view.anchor for view in queries if view.detailed},
        queries=queries,
        names=names,
        changes=Counter(sorted(map(classify_change, report.queries), key=list(Change).index)),
        tags=tags,
        left_out=tuple(describe_omitted(report, limits, "that changed least", "that changed less than those shown")),
    )


def _make_measure_views(report: ComparisonReport) -> Iterator[MeasureView]:
    """Measures within [-1, 1] share an axis, so that they compare by eye; the others have their own."""
    if report.measures is None:
        return
    common_reach = 0.0
    for row in report.measures.measures:
        reach = find_reach(row)
        if reach <= 1:
            common_reach = max(common_reach, reach)
    for row in report.measures.measures:
        reach = find_reach(row)
        end = round_up(common_reach if reach <= 1 else reach)
        yield MeasureView(row, end, is_shown_significant(row, report.measures))


def find_reach(row: MeasureComparison) -> float:
    """How far from zero the difference and its interval reach."""
    return max(abs(row.difference), abs(row.low or 0.0), abs(row.high or 0.0))


def _make_spread_view(measure: str, tested: MeasureView | None, queries: Iterable[QueryComparison]) -> SpreadView:
    deltas = [compute_delta(query.scores.get(measure)) for query in queries]
    finite = [value for value in deltas if value is not None and math.isfinite(value)]
    changed = [value for value in finite if value != 0]
    return SpreadView(
        measure=measure,
        tested=tested,
        bins=count_bins(changed, around_zero=True),
        rose=sum(value > 0 for value in changed),
        fell=sum(value < 0 for value in changed),
        same=len(finite) - len(changed),
    )


# A comparison as one HTML page: what it shows is chosen and bounded here, laid out by the template.


def render(report: ComparisonReport, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = Limits()
    # The page has a table of queries with their rankings, instead of those of the document.
    document = build_comparison_document(report, most=0)
    return render_template(
        _make_comparison_environment(),
        "comparison.html.jinja",
        ["report.css", "comparison.css"],
        report=report,
        view=make_comparison_view(report, limits),
        limits=limits,
        status=find_worst_status(report.verdicts, report.exit_status),
        product="Relevance comparison",
        document=document,
        headline=document.headline,
        closing=document.closing,
    )


@cache
def _make_comparison_environment() -> Environment:
    return make_environment(
        {
            "change_mark": mark_change,
            "changes": describe_changes,
            "difference": format_difference,
            "p": format_p,
            "if_judged": format_if_judged,
            "interval": format_interval,
            "last_rank": find_last_rank,
            "left_mark": mark_left,
            "ranked": rank_documents,
            "scores": lambda query: tuple(format_scores(query)),
            "spread_plot": _plot_spread,
            "whisker": draw_interval,
        }
    )


def _plot_spread(view: SpreadView) -> Plot:
    mean = view.tested.row.difference if view.tested else None
    return plot_bins(view.bins, mean, lambda edge: format_value(float(f"{edge:.4g}")))


def draw_interval(view: MeasureView) -> Whisker | None:
    """The interval as drawn, to the end of the axis where a one-sided test leaves it open; None without one."""
    row = view.row
    if row.low is None and row.high is None:
        return None
    low = -view.end if row.low is None else row.low
    high = view.end if row.high is None else row.high
    return draw_whisker(low, high, row.difference, view.end)
