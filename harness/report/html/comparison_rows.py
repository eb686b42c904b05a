"""The queries on the page of a comparison: those that thresholds blame first, then those that moved most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from harness.gate.grammar import TOLERANCE
from harness.model import ComparisonReport, MovedDocument, QueryComparison, Side, Verdict
from harness.report.attention import BAD
from harness.report.comparison_words import Change, change_mark, change_of, left_mark
from harness.report.html.page import Limits, shade_of

__all__ = ["QueryView", "RankView", "delta", "query_views"]


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


def query_views(
    report: ComparisonReport, names: Sequence[str], tags: Sequence[str], limits: Limits
) -> tuple[QueryView, ...]:
    """A view of each query of *report*, with a difference for each of *names* and the places of its tags in *tags*."""
    blamed = frozenset(name for verdict in report.verdicts if verdict.status in BAD for name in verdict.blamed)
    own: dict[str | None, list[Verdict]] = {}
    for verdict in report.verdicts:
        own.setdefault(verdict.query, []).append(verdict)
    rows = _Rows(
        names=names,
        tags={tag: number for number, tag in enumerate(tags)},
        blamed=blamed,
        verdicts=own,
        sides=(report.reference, report.candidate),
        greatest=_greatest_gain(report.queries),
        ranks=limits.ranks,
    )
    numbered = sorted(enumerate(report.queries, start=1), key=lambda pair: pair[1].id not in blamed)
    return tuple(
        rows.view(f"q{number}", query, detailed=place < limits.details)
        for place, (number, query) in enumerate(numbered[: limits.rows])
    )


def delta(scores: tuple[float | None, float | None] | None) -> float | None:
    """Candidate minus reference; None where a side has no score, 0 where it is the same summed in another order."""
    before, after = scores or (None, None)
    if before is None or after is None:
        return None
    difference = 0.0 if before == after else after - before  # an infinite score minus itself would be no number
    return 0.0 if abs(difference) <= TOLERANCE else difference


@dataclass(frozen=True, slots=True)
class _Rows:
    """What every row needs of the whole report; *greatest* is the greatest gain, *ranks* how many are shown."""

    names: Sequence[str]
    tags: Mapping[str, int]
    blamed: Set[str]
    verdicts: Mapping[str | None, Sequence[Verdict]]
    sides: tuple[Side, Side]
    greatest: float
    ranks: int

    def view(self, anchor: str, query: QueryComparison, *, detailed: bool) -> QueryView:
        shown = _rankings(query, self.greatest, self.ranks) if detailed else ((), ())
        return QueryView(
            anchor=anchor,
            query=query,
            change=change_of(query),
            tags=tuple(self.tags[tag] for tag in query.tags),
            deltas=tuple(delta(query.scores.get(name)) for name in self.names),
            blamed=query.id in self.blamed,
            detailed=detailed,
            reference=shown[0],
            candidate=shown[1],
            cut=max(0, _longest(query) - self.ranks),
            verdicts=tuple(self.verdicts.get(query.id, ())),
            unanswered=tuple(
                (side.name, side.unanswered[query.id]) for side in self.sides if query.id in side.unanswered
            ),
        )


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


def _greatest_gain(queries: Iterable[QueryComparison]) -> float:
    gains = (document.gain for query in queries for document in query.documents)
    return max((gain for gain in gains if gain is not None), default=0.0)
