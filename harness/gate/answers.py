"""Rank expectations of one query: where documents stand, and how many match."""

from __future__ import annotations

from harness.gate.comparing import holds
from harness.gate.scope import Finding
from harness.gate.sentences import count
from harness.model import (
    Before,
    Failure,
    HitCount,
    InTop,
    Operator,
    Query,
    Ranking,
    Response,
    Status,
)
from harness.scoring import failure_text

__all__ = ["judge_expectation", "no_ranking"]


def judge_expectation(
    condition: InTop | Before | HitCount, query: Query, response: Response | None, depth: int
) -> Finding:
    """
    Compare one ranking with a rank expectation.

    Args:
        condition: What is expected.
        query: Named in the reason and blamed.
        response: The query's answer; None where it did not run.
        depth: The number of hits that were asked for.

    Returns:
        ERROR where there is no ranking, or where it cannot tell: it is not deep enough, or the number of hits is not
        known well enough.
    """
    if not isinstance(response, Ranking):
        return Finding(Status.ERROR, f"cannot be judged: {no_ranking(response)}", blamed=(query.id,))
    if isinstance(condition, HitCount):
        return _judge_hit_count(condition, query, response)
    if isinstance(condition, Before):
        return _judge_before(condition, query, response, depth)
    return _judge_in_top(condition, query, response, depth)


def _judge_in_top(condition: InTop, query: Query, ranking: Ranking, depth: int) -> Finding:
    rank = _rank(condition.document, ranking)
    if rank is None and _may_go_on(ranking, depth) and condition.k > depth:
        reason = (
            f"cannot be judged: {condition.document} is not in the {depth} hits asked for, set `depth: {condition.k}`"
        )
        return Finding(Status.ERROR, reason, required=condition.k, blamed=(query.id,))
    inside = rank is not None and rank <= condition.k
    wanted = f"required {'not in' if condition.negated else 'in'} the top {condition.k}"
    return _verdict_on(
        query, inside != condition.negated, f"{_place(condition.document, ranking)}, {wanted}", rank, condition.k
    )


def _judge_before(condition: Before, query: Query, ranking: Ranking, depth: int) -> Finding:
    first, second = _rank(condition.document, ranking), _rank(condition.other, ranking)
    if first is None and second is None and _may_go_on(ranking, depth):
        wanted = f"; neither is in the {depth} hits asked for, `depth` asks for more"
    else:
        wanted = ", required the other way round" if first and second and second < first else ""
    passed = first is not None and (second is None or first < second)
    places = f"{_place(condition.document, ranking)}, {_place(condition.other, ranking)}"
    return _verdict_on(query, passed, places + wanted, first, second)


def _judge_hit_count(condition: HitCount, query: Query, ranking: Ranking) -> Finding:
    bound = f"required {condition.operator} {condition.required}"
    if ranking.total is None:
        reason = f"cannot be judged: the answer does not say how many documents match, {bound}"
        return Finding(Status.ERROR, reason, required=condition.required, blamed=(query.id,))
    if ranking.total_is_lower_bound:
        return _judge_lower_bound(condition, query, ranking.total, bound)
    passed = holds(ranking.total, condition.operator, condition.required)
    return _verdict_on(query, passed, f"{count(ranking.total, 'hit')}, {bound}", ranking.total, condition.required)


def _judge_lower_bound(condition: HitCount, query: Query, least: int, bound: str) -> Finding:
    """At least *least* documents match. That settles ``>=`` upwards and ``<=`` downwards, and nothing else."""
    reason = f"at least {count(least, 'hit')}, {bound}"
    if condition.operator in (Operator.AT_LEAST, Operator.ABOVE):
        settled, passed = holds(least, condition.operator, condition.required), True
    else:
        limit = condition.required - (condition.operator is Operator.BELOW)
        settled, passed = least > limit, False
    if settled:
        return _verdict_on(query, passed, reason, least, condition.required)
    remedy = "ask for the exact number with `track_total_hits: true` in the request"
    undecided = f"cannot be judged: the engine counted {reason}; {remedy}"
    return Finding(Status.ERROR, undecided, least, condition.required, blamed=(query.id,))


def no_ranking(response: Response | None) -> str:
    """Why there is no ranking."""
    return failure_text(response) if isinstance(response, Failure) else "did not run"


def _rank(document: str, ranking: Ranking) -> int | None:
    return next((rank for rank, hit in enumerate(ranking.hits, start=1) if hit.id == document), None)


def _place(document: str, ranking: Ranking) -> str:
    rank = _rank(document, ranking)
    return f"{document} is at rank {rank}" if rank else f"{document} is not among the {count(len(ranking.hits), 'hit')}"


def _may_go_on(ranking: Ranking, depth: int) -> bool:
    """Whether documents may follow the last hit: as many came as were asked for."""
    return len(ranking.hits) + len(ranking.duplicates) >= depth


def _verdict_on(query: Query, passed: bool, reason: str, observed: float | None, required: float | None) -> Finding:
    status = Status.PASSED if passed else Status.FAILED
    blamed = () if passed else (query.id,)
    return Finding(status, reason, observed, required, None, blamed, counted=1)
