"""Several sides as one HTML page: a table of measures, and a strip of scores for each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment

from harness.extensions.compare.comparison_document import describe_compared_verdict
from harness.extensions.compare.sentences import format_if_judged, format_interval, is_shown_significant
from harness.extensions.compare.sides_document import (
    QueryStrip,
    build_sides_document,
    list_sides_measures,
    make_strips,
    name_verdicts,
)
from harness.model.comparison import SidesReport
from harness.report.attention import order_verdicts
from harness.report.document import ThresholdLine
from harness.report.html import Limits, find_worst_status, make_environment, render_template
from harness.report.html.charts import round_up
from harness.report.html.comparison import MeasureView, draw_interval, find_reach
from harness.report.sentences import format_difference, format_p
from harness.words import count

STEPS = 4
"""Shades of a change in each direction."""


@dataclass(frozen=True, slots=True)
class SideMeasureView:
    """The row of one side in the table of a measure; *found* in *view* says whether its difference stands out."""

    side: str
    view: MeasureView


@dataclass(frozen=True, slots=True)
class StripsView:
    """
    The strips of a measure, the query that changed most first.

    *greatest* is the greatest change, which has the deepest shade. *omitted* says how many queries are left out.
    """

    measure: str
    strips: Sequence[QueryStrip]
    greatest: float
    omitted: str


@dataclass(frozen=True, slots=True)
class SidesView:
    """All that the page shows beside the document."""

    measures: Sequence[Sequence[SideMeasureView]]
    """The rows of each measure."""
    strips: Sequence[StripsView]
    thresholds: Sequence[ThresholdLine]
    anchors: dict[str, str]
    """Empty: the page has no ranking that a threshold could lead to."""


def render(report: SidesReport, *, limits: Limits | None = None) -> str:
    """*report* as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = Limits()
    # The page has its own strips, of all measures.
    document = build_sides_document(report, most=0)
    return render_template(
        _make_sides_environment(),
        "sides.html.jinja",
        ["report.css", "comparison.css", "sides.css"],
        report=report,
        document=document,
        view=make_sides_view(report, limits),
        verdicts=name_verdicts(report),
        status=find_worst_status(report.verdicts, report.exit_status),
        product="Relevance comparison",
        headline=document.headline,
        closing=document.closing,
    )


def make_sides_view(report: SidesReport, limits: Limits) -> SidesView:
    """The page's view of *report*."""
    names = list_sides_measures(report)[: limits.measures]
    verdicts = order_verdicts(name_verdicts(report))[: limits.thresholds]
    return SidesView(
        measures=_make_measure_views(report),
        strips=[_make_strips_view(report, name, limits) for name in names],
        thresholds=[describe_compared_verdict(verdict, report.pool_command) for verdict in verdicts],
        anchors={},
    )


def _make_measure_views(report: SidesReport) -> list[list[SideMeasureView]]:
    """The sides of each measure, whose intervals share an axis."""
    rows_by_measure: dict[str, list[SideMeasureView]] = {}
    for comparison in report.comparisons:
        if comparison.measures is None:
            continue
        for row in comparison.measures.measures:
            found = is_shown_significant(row, comparison.measures)
            view = SideMeasureView(comparison.candidate.name, MeasureView(row, find_reach(row), found))
            rows_by_measure.setdefault(row.measure, []).append(view)
    aligned = []
    for rows in rows_by_measure.values():
        end = round_up(max(row.view.end for row in rows))
        aligned.append([SideMeasureView(row.side, MeasureView(row.view.row, end, row.view.found)) for row in rows])
    return aligned


def _make_strips_view(report: SidesReport, measure: str, limits: Limits) -> StripsView:
    strips = make_strips(report, measure)
    shown = strips[: limits.rows]
    more = len(strips) - len(shown)
    omitted = f"{count(more, 'query')} that changed less" if more else ""
    greatest = max((strip.greatest_change for strip in strips), default=0.0)
    return StripsView(measure, shown, greatest, omitted)


def choose_change_shade(change: float | None, greatest: float) -> str:
    """
    The class of a cell: how far a score rose or fell, in shades of the *greatest* change.

    >>> [choose_change_shade(change, 0.8) for change in (None, 0.0, 0.8, -0.1)]
    ['', '', 'rise-4', 'fall-1']
    """
    if not change or greatest <= 0:
        return ""
    step = max(1, min(STEPS, round(abs(change) / greatest * STEPS)))
    return f"{'rise' if change > 0 else 'fall'}-{step}"


@cache
def _make_sides_environment() -> Environment:
    return make_environment(
        {
            "change_shade": choose_change_shade,
            "difference": format_difference,
            "if_judged": format_if_judged,
            "interval": format_interval,
            "p": format_p,
            "whisker": draw_interval,
        }
    )
