"""The unjudged hits of a threshold that fails: which they are where it is on Judged@k, and how many elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.extensions import Remedy, find_remedy
from harness.gate.finding import Finding
from harness.metrics.unjudged import counts_unjudged
from harness.model.run import Ranking, Response, Status
from harness.model.suite import (
    BaselineCondition,
    Condition,
    Operator,
    Query,
    ScoreCondition,
    select_by_id,
)
from harness.words import count, listed

JUDGED = "Judged"
"""The measure that falls short where documents are unjudged."""

MOST_QUERIES = 3
"""The number of queries whose unjudged hits a reason lists, at most."""
MOST_DOCUMENTS = 10
"""The number of unjudged hits that it lists of a single query."""
MOST_DOCUMENTS_OF_SEVERAL = 3
"""The number of unjudged hits that it lists of each of several queries."""


def add_unjudged(
    finding: Finding, condition: ScoreCondition, queries: Sequence[Query], responses: Mapping[str, Response]
) -> Finding:
    """Add the unjudged hits of the worst queries to the reason of *finding*, where *condition* is on Judged@k."""
    if condition.measure.name != JUDGED or finding.status is not Status.FAILED:
        return finding
    # A finding blames the worst queries first, and `select_by_id` returns the queries in the order of the suite.
    worst_ids = finding.blamed[:MOST_QUERIES]
    queries_by_id = {query.id: query for query in select_by_id(queries, worst_ids)}
    worst_queries = [queries_by_id[query_id] for query_id in worst_ids if query_id in queries_by_id]
    most_documents = MOST_DOCUMENTS_OF_SEVERAL
    if len(worst_queries) == 1:
        most_documents = MOST_DOCUMENTS
    parts = []
    for query in worst_queries:
        documents = _list_unjudged(query, responses.get(query.id), condition.measure.cutoff)
        if documents:
            parts.append(f"{query.id}: {listed(documents, most_documents)}")
    if not parts:
        return finding
    reason = f"{finding.reason}; unjudged hits of {'; of '.join(parts)}"
    more_queries = len(finding.blamed) - len(worst_queries)
    if more_queries > 0:
        noun = "query" if more_queries == 1 else "queries"
        reason += f"; and of {more_queries} more {noun}"
    reason += find_remedy(Remedy.POOL, "; `{command}` collects them for grading")
    return replace(finding, reason=reason)


def _list_unjudged(query: Query, response: Response | None, cutoff: int | None) -> list[str]:
    """The unjudged hits of *query* down to the *cutoff*, with their ranks: "sku-9 (rank 3)"."""
    if not isinstance(response, Ranking):
        return []
    ranked_hits = enumerate(response.hits[:cutoff], start=1)
    return [f"{hit.id} (rank {rank})" for rank, hit in ranked_hits if hit.id not in query.judgments]


def add_unjudged_count(
    finding: Finding, condition: Condition, queries: Sequence[Query], responses: Mapping[str, Response]
) -> Finding:
    """
    Add how many hits of the queries that *finding* blames are unjudged, where judging these may raise their scores.

    A ranking that is only unjudged looks like a bad one.
    """
    if finding.status is not Status.FAILED or finding.observed is None or finding.if_judged is not None:
        return finding
    if not isinstance(condition, ScoreCondition | BaselineCondition) or not counts_unjudged(condition.measure):
        return finding
    if isinstance(condition, ScoreCondition) and condition.operator in (Operator.AT_MOST, Operator.BELOW):
        return finding
    hits = 0
    unjudged = 0
    for query in select_by_id(queries, set(finding.blamed)):
        response = responses.get(query.id)
        # Quotes judge what any hit says.
        if isinstance(response, Ranking) and not query.quotes:
            hits += len(response.ids[: condition.measure.cutoff])
            unjudged += len(_list_unjudged(query, response, condition.measure.cutoff))
    if not unjudged:
        return finding
    whose = "this query" if len(finding.blamed) == 1 else "these queries"
    verb = "is" if unjudged == 1 else "are"
    reason = f"{finding.reason}; {unjudged:,} of {count(hits, 'hit')} of {whose} {verb} unjudged"
    return replace(finding, reason=reason)
