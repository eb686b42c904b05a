"""
What the page of a comparison shows: chosen, ordered and bounded here, laid out by the template.

The queries that thresholds blame come first, then those that moved most; `Limits` bounds how many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.model import ComparisonReport, MeasureComparison, QueryComparison
from harness.report.comparison_words import Change, change_of, detectable_text, measure_names, measure_warnings, remarks
from harness.report.figures import counted_text
from harness.report.html.comparison_rows import QueryView, delta, query_views
from harness.report.html.histogram import Bin, histogram, rounded_up
from harness.report.html.page import Limits
from harness.report.html.verdict_lines import VerdictViews, verdict_views, verdicts_left_out


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A measure over all queries; *end* is where the axis of its interval ends, *found* whether it is no chance."""

    row: MeasureComparison
    end: float
    found: bool


@dataclass(frozen=True, slots=True)
class SpreadView:
    """
    How the differences of a measure spread: *bins* of the queries that changed, and how many did either way.

    *tested* is the measure over all queries, None where there was too little to test.
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
    verdicts: VerdictViews
    queries: tuple[QueryView, ...]
    names: tuple[str, ...]
    changes: Mapping[Change, int]
    tags: tuple[str, ...]
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    left_out: tuple[str, ...]


def comparison_view(report: ComparisonReport, limits: Limits) -> ComparisonView:
    """The page's view of *report*."""
    names = measure_names(report)
    tags = tuple(sorted({tag for query in report.queries for tag in query.tags}))
    queries = query_views(report, names, tags, limits)
    anchors = {view.query.id: view.anchor for view in queries if view.detailed}
    measures = {view.row.measure: view for view in _measure_views(report)}
    return ComparisonView(
        measures=tuple(measures.values()),
        spreads=tuple(_spread(name, measures.get(name), report.queries) for name in names),
        rbo=histogram(query.rbo for query in report.queries),
        overlap=histogram(query.overlap for query in report.queries),
        verdicts=verdict_views(report.verdicts, anchors, limits.thresholds),
        queries=queries,
        names=names,
        changes=Counter(sorted(map(change_of, report.queries), key=list(Change).index)),
        tags=tags,
        warnings=tuple(_measure_remarks(report)),
        remarks=tuple(remarks(report)),
        left_out=tuple(_left_out(report, queries, limits)),
    )


def _measure_views(report: ComparisonReport) -> Iterator[MeasureView]:
    """Measures within [-1, 1] share an axis, so that they compare by eye; the others have their own."""
    if report.measures is None:
        return
    rows = report.measures.measures
    reaches = [max(map(abs, (row.low, row.high, row.difference))) for row in rows]
    common = rounded_up(max((reach for reach in reaches if reach <= 1), default=0.0))
    for row, reach in zip(rows, reaches, strict=True):
        yield MeasureView(row, common if reach <= 1 else rounded_up(reach), row.adjusted < report.measures.level)


def _measure_remarks(report: ComparisonReport) -> Iterator[str]:
    if report.measures is None:
        return
    for row in report.measures.measures:
        yield from measure_warnings(row, report.measures)
        detectable = detectable_text(row, report.measures)
        if detectable is not None:
            yield detectable


def _spread(measure: str, tested: MeasureView | None, queries: Iterable[QueryComparison]) -> SpreadView:
    deltas = [delta(query.scores.get(measure)) for query in queries]
    known = [value for value in deltas if value is not None and math.isfinite(value)]
    changed = [value for value in known if value]
    return SpreadView(
        measure=measure,
        tested=tested,
        bins=histogram(changed, around_zero=True),
        rose=sum(value > 0 for value in changed),
        fell=sum(value < 0 for value in changed),
        same=len(known) - len(changed),
    )


def _left_out(report: ComparisonReport, queries: Sequence[QueryView], limits: Limits) -> Iterator[str]:
    rows = len(report.queries) - len(queries)
    details = len(queries) - sum(view.detailed for view in queries)
    yield from verdicts_left_out(report.verdicts, limits.thresholds)
    if rows:
        yield f"{counted_text(rows, 'query')} that moved least"
    if details:
        yield f"the rankings of {counted_text(details, 'query')} that moved less than those shown"
