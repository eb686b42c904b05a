"""Which documents keep a threshold on Judged@k from holding: a figure alone would leave them to be looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gate.scope import Finding
from harness.model import Query, Ranking, Response, ScoreCondition, Status

__all__ = ["JUDGED", "with_unjudged"]


JUDGED = "Judged"
"""The measure whose shortfall is documents that somebody has to judge."""

QUERIES_NAMED = 3
DOCUMENTS_NAMED = 10


def with_unjudged(
    finding: Finding, condition: ScoreCondition, queries: Sequence[Query], responses: Mapping[str, Response]
) -> Finding:
    """*finding* with the unjudged hits of its worst queries in the reason, where *condition* is one on Judged@k."""
    if condition.measure.name != JUDGED or finding.status is not Status.FAILED:
        return finding
    by_id = {query.id: query for query in queries}
    worst = [by_id[name] for name in finding.blamed[:QUERIES_NAMED] if name in by_id]
    named = [
        f"{query.id}: {', '.join(documents)}" for query in worst if (documents := _named(query, condition, responses))
    ]
    if not named:
        return finding
    more = len(finding.blamed) - len(worst)
    left = f"; and of {more} more {'query' if more == 1 else 'queries'}" if more > 0 else ""
    remedy = "`harness judgments pool` collects them to be graded"
    return replace(finding, reason=f"{finding.reason}; unjudged hits of {'; of '.join(named)}{left}; {remedy}")


def _named(query: Query, condition: ScoreCondition, responses: Mapping[str, Response]) -> list[str]:
    """The unjudged hits down to the cutoff, with their ranks."""
    response = responses.get(query.id)
    hits = response.hits[: condition.measure.cutoff] if isinstance(response, Ranking) else ()
    unjudged = [f"{hit.id} (rank {rank})" for rank, hit in enumerate(hits, start=1) if hit.id not in query.judgments]
    more = len(unjudged) - DOCUMENTS_NAMED
    return [*unjudged[:DOCUMENTS_NAMED], *([f"{more} more"] if more > 0 else [])]
