"""A report on one suite, be it read from a file or made just now, as one of the two that are compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from harness.comparing.sides import ComparedSide
from harness.metrics import read_gain
from harness.metrics.run_scores import read_failure
from harness.model import (
    Hit,
    Outcome,
    Query,
    QueryReport,
    Question,
    RankedDocument,
    Ranking,
    Response,
    Run,
    Score,
    Side,
    SideKind,
    SuiteReport,
)

__all__ = ["contender_of"]


def contender_of(report: SuiteReport, name: str, kind: SideKind, *, created: str = "") -> ComparedSide:
    """
    What *report* tells of its run; a query that was skipped is not in it.

    Args:
        report: Of one suite; secrets are masked in it.
        name: What the side is called.
        kind: What it came from.
        created: When it was made, where that is not now.
    """
    ran = [query for query in report.queries if query.outcome is not Outcome.SKIPPED]
    side = Side(
        name,
        kind,
        str(report.engine),
        report.request,
        report.index,
        created,
        unanswered={query.id: query.reason for query in ran if query.outcome.is_unanswered},
    )
    run = Run({query.id: _response(query) for query in ran}, report.engine, report.request, report.index)
    return ComparedSide(
        side,
        run,
        report.depth,
        tuple(_query(query) for query in ran),
        tuple(score for query in ran for score in _scores(query)),
        read_gain(report.gain),
        report.profile,
        orders_ties=any(_orders_ties(query.ranking) for query in ran),
        questions={query.id: Question(query.question, query.text) for query in ran},
    )


def _query(query: QueryReport) -> Query:
    return Query(query.id, query.text, tags=query.tags, judgments=_grades(query), weight=query.weight)


def _response(query: QueryReport) -> Response:
    if not query.outcome.is_unanswered:
        hits = tuple(Hit(document.id, document.score, document.title) for document in query.ranking)
        tail = tuple(Hit(document, hits[-1].score) for document in query.tail if hits)
        return Ranking(
            hits, query.total, query.took, query.total_is_lower_bound, query.duplicates, tail=tail, closed=query.closed
        )
    return read_failure(query.reason)


def _grades(query: QueryReport) -> dict[str, float]:
    """Those that the report shows: of hits, of the ideal ranking and of relevant documents that were not found."""
    ranked = {document.id: document.grade for document in (*query.ideal, *query.ranking)}
    missing = {document.id: document.grade for document in query.missing}
    return {document: grade for document, grade in (ranked | missing).items() if grade is not None}


def _scores(query: QueryReport) -> list[Score]:
    without = query.outcome if query.outcome.is_unanswered else Outcome.UNDEFINED
    scored = Outcome.SCORED if query.ranking else Outcome.ZERO_HITS
    return [
        Score(query.id, measure, value, without if value is None else scored, query.reason)
        for measure, value in query.scores.items()
    ]


def _orders_ties(ranking: Sequence[RankedDocument]) -> bool:
    """Whether neighbours of equal score are not shown as tied: then the request had put them in order."""
    return any(
        first.score is not None and first.score == second.score and not first.tied
        for first, second in pairwise(ranking)
    )
