"""
What the page of a comparison shows: chosen, ordered and bounded here, laid out by the template.

The queries that thresholds blame come first, then those that moved most; `Limits` bounds how many.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.model import ComparisonReport, MeasureComparison, MovedDocument, QueryComparison, Side, Verdict
from harness.report.attention import BAD
from harness.report.comparison_words import (
    Change,
    change_mark,
    change_of,
    detectable_text,
    left_mark,
    measure_names,
    measure_warnings,
    remarks,
)
from harness.report.figures import counted_text
from harness.report.histogram import Bin, histogram, rounded_up
from harness.report.page import Limits, shade_of
from harness.report.verdict_page import VerdictViews, verdict_views, verdicts_left_out
from harness.thresholds import TOLERANCE


@dataclass(frozen=True, slots=True)
class RankView:
    """A document of one of the two rankings: its *rank* there, the *shade* of its gain, and what became of it."""

    document: MovedDocument
    rank: int
    shade: str
    mark: str


@dataclass(frozen=True, slots=True)
class QueryView:
    """
    One query: a row of the table with its *deltas* by measure, and where *detailed* its two rankings.

    *cut* counts the ranks that are not shown.
    """

    anchor: str
    query: QueryComparison
    change: Change
    tags: tuple[int, ...]
    deltas: tuple[float | None, ...]
    blamed: bool
    detailed: bool
    reference: tuple[RankView, ...] = ()
    candidate: tuple[RankView, ...] = ()
    cut: int = 0
    verdicts: tuple[Verdict, ...] = ()
    unanswered: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SpreadView:
    """
    How the differences of a measure spread: *bins* of the queries that changed, and how many did either way.

    *mean* is that of the comparison, None where there was too little to test.
    """

    measure: str
    bins: tuple[Bin, ...]
    mean: float | None
    rose: int
    fell: int
    same: int


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A measure over all queries; *end* is where the axis of its interval ends."""

    row: MeasureComparison
    end: float
    found: bool


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
    queries = _query_views(report, names, tags, limits)
    anchors = {view.query.id: view.anchor for view in queries if view.detailed}
    return ComparisonView(
        measures=tuple(_measure_views(report)),
        spreads=tuple(_spread(name, report) for name in names),
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


def delta(scores: tuple[float | None, float | None] | None) -> float | None:
    """Candidate minus reference; None where a side has no score, 0 where it is the same summed in another order."""
    before, after = scores or (None, None)
    if before is None or after is None:
        return None
    difference = 0.0 if before == after else after - before  # an infinite score minus itself would be no number
    return 0.0 if abs(difference) <= TOLERANCE else difference


# ------------------------------------------------------------------------------------------------ measures


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
        detectable = detectable_text(row)
        if detectable is not None:
            yield detectable


def _spread(measure: str, report: ComparisonReport) -> SpreadView:
    deltas = [delta(query.scores.get(measure)) for query in report.queries]
    known = [value for value in deltas if value is not None and math.isfinite(value)]
    changed = [value for value in known if value]
    rows = report.measures.measures if report.measures else ()
    return SpreadView(
        measure=measure,
        bins=histogram(changed, around_zero=True),
        mean=next((row.difference for row in rows if row.measure == measure), None),
        rose=sum(value > 0 for value in changed),
        fell=sum(value < 0 for value in changed),
        same=len(known) - len(changed),
    )


# ------------------------------------------------------------------------------------------------ queries


def _query_views(
    report: ComparisonReport, names: Sequence[str], tags: Sequence[str], limits: Limits
) -> tuple[QueryView, ...]:
    blamed = {name for verdict in report.verdicts if verdict.status in BAD for name in verdict.blamed}
    numbers = {tag: number for number, tag in enumerate(tags)}
    greatest = _greatest_gain(report.queries)
    own: dict[str | None, list[Verdict]] = {}
    for verdict in report.verdicts:
        own.setdefault(verdict.query, []).append(verdict)
    views = []
    numbered = sorted(enumerate(report.queries, start=1), key=lambda pair: pair[1].id not in blamed)
    for place, (number, query) in enumerate(numbered[: limits.rows]):
        detailed = place < limits.details
        shown = _rankings(query, greatest, limits.ranks) if detailed else ((), ())
        views.append(
            QueryView(
                anchor=f"q{number}",
                query=query,
                change=change_of(query),
                tags=tuple(numbers[tag] for tag in query.tags),
                deltas=tuple(delta(query.scores.get(name)) for name in names),
                blamed=query.id in blamed,
                detailed=detailed,
                reference=shown[0],
                candidate=shown[1],
                cut=max(0, _longest(query) - limits.ranks),
                verdicts=tuple(own.get(query.id, ())),
                unanswered=tuple(_unanswered(query, (report.reference, report.candidate))),
            )
        )
    return tuple(views)


def _rankings(query: QueryComparison, greatest: float, most: int) -> tuple[tuple[RankView, ...], tuple[RankView, ...]]:
    before = [
        RankView(document, document.reference, shade_of(document, greatest), left_mark(document))
        for document in query.documents
        if document.reference is not None and document.reference <= most
    ]
    after = [
        RankView(document, document.candidate, shade_of(document, greatest), change_mark(document))
        for document in query.documents
        if document.candidate is not None and document.candidate <= most
    ]
    return tuple(sorted(before, key=lambda view: view.rank)), tuple(after)


def _longest(query: QueryComparison) -> int:
    return max((rank for one in query.documents for rank in (one.reference, one.candidate) if rank), default=0)


def _unanswered(query: QueryComparison, sides: Iterable[Side]) -> Iterator[tuple[str, str]]:
    for side in sides:
        if query.id in side.unanswered:
            yield side.name, side.unanswered[query.id]


def _greatest_gain(queries: Iterable[QueryComparison]) -> float:
    gains = (document.gain for query in queries for document in query.documents)
    return max((gain for gain in gains if gain is not None), default=0.0)


def _left_out(report: ComparisonReport, queries: Sequence[QueryView], limits: Limits) -> Iterator[str]:
    rows = len(report.queries) - len(queries)
    details = len(queries) - sum(view.detailed for view in queries)
    yield from verdicts_left_out(report.verdicts, limits.thresholds)
    if rows:
        yield f"{counted_text(rows, 'query')} that moved least"
    if details:
        yield f"the rankings of {counted_text(details, 'query')} that moved less than those shown"
