"""Expectations of single documents and of the number of hits, and thresholds on the engine's own time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from harness.gate.finding import Finding, format_number, is_met, list_by_cause
from harness.metrics.score import failure_text
from harness.model import (
    Before,
    Condition,
    Failure,
    HitCount,
    InTop,
    LatencyCondition,
    Operator,
    Query,
    Ranking,
    Response,
    Run,
    Status,
    Suite,
    TargetChecks,
    Unit,
)
from harness.model.suite import in_force
from harness.words import count, listed, not_visible

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RequestedDepth:
    """
    The number of hits that a run requested.

    *doubt* is empty where the server returns as many hits, if so many match. Else it says why that is not known, and
    what to do about it. *own_total* says so of a response whose own total is greater, whatever other responses show.
    """

    depth: int
    doubt: str = ""
    own_total: str = ""


OF_SERVICE = "the service may return fewer by default: send it `{{depth}}`, and set `total`"


def read_requested_depth(suite: Suite, run: Run) -> RequestedDepth:
    """
    How many hits *run* requested, and whether the server applied that size.

    An engine applies the size of a body. A service, or a template stored in the engine, may have a smaller size of its
    own; one response with as many hits as were requested shows that it has not. A service that returns fewer hits than
    it says there are has one for that query.
    """
    template = suite.requests.get(run.request)
    is_service = template is not None and template.http is not None
    is_stored = template is not None and isinstance(template.body, Mapping) and "template" in template.body
    if not (is_service or is_stored):
        return RequestedDepth(suite.depth)
    doubt = OF_SERVICE if is_service else "the search template may have its own size: use `{{size}}` in it"
    own_total = OF_SERVICE if is_service else ""
    rankings = (response for response in run.responses.values() if isinstance(response, Ranking))
    is_shown = any(ranking.returned >= suite.depth for ranking in rankings)
    return RequestedDepth(suite.depth, "" if is_shown else doubt, own_total)


def judge_expectation(
    condition: InTop | Before | HitCount,
    query: Query,
    response: Response | None,
    asked: RequestedDepth,
    checks: TargetChecks | None = None,
) -> Finding:
    """
    Compare one ranking with a rank expectation.

    Args:
        condition: The rank expectation.
        query: The query; the reason names it, and the finding blames it.
        response: The query's response; None where it did not run.
        asked: The number of hits that were requested.
        checks: What is known of the target.

    Returns:
        ERROR where there is no ranking, or where a document that *condition* names is not visible through the target;
        INCONCLUSIVE where the ranking is not deep enough, where the number of hits is not known well enough, or where
        it would pass but for a document that could not be looked up; else PASSED or FAILED.
    """
    if not isinstance(response, Ranking):
        return Finding(Status.ERROR, f"cannot be decided: {explain_no_ranking(response)}", blamed=(query.id,))
    if isinstance(condition, HitCount):
        return _judge_hit_count(condition, query, response)
    hidden = _hidden(condition, checks)
    if hidden:
        return Finding(Status.ERROR, f"cannot be decided: {'; '.join(hidden)}", blamed=(query.id,))
    if isinstance(condition, Before):
        finding = _judge_before(condition, query, response, asked)
    else:
        finding = _judge_in_top(condition, query, response, asked)
    unread = [] if checks is None else [one for one in list_named_documents(condition) if one in checks.unread]
    if unread and finding.status is Status.PASSED:
        reason = f"cannot be decided: whether {unread[0]} is visible is unknown, as it could not be looked up"
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=(query.id,))
    return finding


def list_named_documents(condition: Condition) -> tuple[str, ...]:
    """The documents that *condition* names; none where it is about the number of hits."""
    if isinstance(condition, Before):
        return condition.document, condition.other
    return (condition.document,) if isinstance(condition, InTop) else ()


def _hidden(condition: Condition, checks: TargetChecks | None) -> list[str]:
    """A sentence for each document of *condition* that no ranking can hold."""
    if checks is None:
        return []
    named = list_named_documents(condition)
    return [not_visible(one, checks.target, checks.absent[one]) for one in named if one in checks.absent]


def _judge_in_top(condition: InTop, query: Query, ranking: Ranking, asked: RequestedDepth) -> Finding:
    bound = _bound(condition.k, Unit.RANK, Operator.ABOVE if condition.negated else Operator.AT_MOST)
    rank = _rank(condition.document, ranking)
    further = explain_what_may_follow(ranking, asked)
    if rank is None and further and condition.k > len(ranking.hits):
        deeper = condition.k + len(ranking.duplicates)
        remedy = f", set `depth: {deeper}`" if ranking.returned >= asked.depth else ""
        reason = f"cannot be decided: {condition.document} is not in the {further}{remedy}"
        return replace(bound, status=Status.INCONCLUSIVE, reason=reason, blamed=(query.id,))
    inside = rank is not None and rank <= condition.k
    wanted = f"required {'not in' if condition.negated else 'in'} the top {condition.k}"
    reason = f"{_place(condition.document, ranking)}, {wanted}"
    return _decided(bound, query, inside != condition.negated, reason, rank)


def _judge_before(condition: Before, query: Query, ranking: Ranking, asked: RequestedDepth) -> Finding:
    first, second = _rank(condition.document, ranking), _rank(condition.other, ranking)
    bound = _bound(second, Unit.RANK, Operator.BELOW)
    further = explain_what_may_follow(ranking, asked)
    if first is None and second is None and further:
        remedy = ", increase `depth`" if ranking.returned >= asked.depth else ""
        reason = f"cannot be decided: neither {condition.document} nor {condition.other} is in the {further}{remedy}"
        return replace(bound, status=Status.INCONCLUSIVE, reason=reason, blamed=(query.id,))
    wanted = ", required in the opposite order" if first and second and second < first else ""
    passed = first is not None and (second is None or first < second)
    places = f"{_place(condition.document, ranking)}, {_place(condition.other, ranking)}"
    return _decided(bound, query, passed, places + wanted, first)


def _judge_hit_count(condition: HitCount, query: Query, ranking: Ranking) -> Finding:
    bound = _bound(condition.required, Unit.HITS, condition.operator)
    required = f"required {condition.operator} {condition.required}"
    if ranking.total_doubt:
        reason = f"cannot be decided: {ranking.total_doubt}, {required}"
        return replace(bound, status=Status.INCONCLUSIVE, reason=reason, blamed=(query.id,))
    if ranking.total is None or ranking.total_is_lower_bound:
        least = ranking.returned if ranking.total is None else ranking.total
        reason = f"at least {count(least, 'hit')}, {required}"
        return _judge_lower_bound(condition, query, ranking, replace(bound, observed=least, reason=reason))
    passed = is_met(ranking.total, condition.operator, condition.required)
    return _decided(bound, query, passed, f"{count(ranking.total, 'hit')}, {required}", ranking.total)


def _judge_lower_bound(condition: HitCount, query: Query, ranking: Ranking, bound: Finding) -> Finding:
    """Judge by the least number of hits, *bound.observed*: it can only pass ``>=`` and ``>``, and fail the others."""
    least = bound.observed or 0
    if condition.operator in (Operator.AT_LEAST, Operator.ABOVE):
        settled, passed = is_met(least, condition.operator, condition.required), True
    else:
        limit = condition.required - (condition.operator is Operator.BELOW)
        settled, passed = least > limit, False
    if settled:
        return _decided(bound, query, passed, bound.reason, least)
    if ranking.total is None:
        undecided = f"cannot be decided: the answer has no number of matching documents, {bound.reason}"
    else:
        remedy = (
            "remove `terminate_after` from the request"
            if ranking.stopped_early
            else "set `track_total_hits: true` in the request"
        )
        undecided = f"cannot be decided: the engine counted {bound.reason}; {remedy}"
    return replace(bound, status=Status.INCONCLUSIVE, reason=undecided, blamed=(query.id,))


def explain_no_ranking(response: Response | None) -> str:
    """Why there is no ranking."""
    return failure_text(response) if isinstance(response, Failure) else "did not run"


def _rank(document: str, ranking: Ranking) -> int | None:
    return next((rank for rank, hit in enumerate(ranking.hits, start=1) if hit.id == document), None)


def _place(document: str, ranking: Ranking) -> str:
    rank = _rank(document, ranking)
    return f"{document} is at rank {rank}" if rank else f"{document} is not among the {count(len(ranking.hits), 'hit')}"


def explain_what_may_follow(ranking: Ranking, asked: RequestedDepth) -> str:
    """Which hits other documents may follow, for a sentence; empty where *ranking* holds all that match."""
    returned = ranking.returned
    if ranking.total is not None and not ranking.total_is_lower_bound and ranking.total <= returned:
        return ""
    if returned >= asked.depth:
        repeated = f", {len(ranking.duplicates)} of which repeat a document" if ranking.duplicates else ""
        return f"{count(asked.depth, 'hit')} requested{repeated}"
    doubt = asked.doubt or (asked.own_total if ranking.total is not None else "")
    if not doubt or not returned:
        return ""
    match = "" if ranking.total is None else f" and {ranking.total} match"
    return f"{count(returned, 'hit')} returned, where {asked.depth} were requested{match}; {doubt}"


def _bound(required: float | None, unit: Unit, operator: Operator) -> Finding:
    """A finding with what is required, to be completed from the ranking."""
    return Finding(Status.INCONCLUSIVE, "", required=required, unit=unit, operator=operator)


def _decided(bound: Finding, query: Query, passed: bool, reason: str, observed: float | None) -> Finding:
    status, blamed = (Status.PASSED, ()) if passed else (Status.FAILED, (query.id,))
    return replace(bound, status=status, reason=reason, observed=observed, blamed=blamed, counted=1)


def judge_latency(
    condition: LatencyCondition, queries: Sequence[Query], responses: Mapping[str, Response], today: date
) -> Finding:
    """
    Compare a percentile of the engine's own times, in milliseconds, with the threshold.

    The percentile is the nearest rank: the least time that so many per cent of the queries do not exceed. A query
    without a response makes the finding an ERROR; a response without a time makes it INCONCLUSIVE.
    """
    asked = [query.id for query in queries if not in_force(query.skip, today)]
    left_out = len(queries) - len(asked)
    name = "max latency" if condition.percentile == 100 else f"p{condition.percentile} latency"
    times, untimed = _times(asked, responses)
    bound = _bound(condition.milliseconds, Unit.MILLISECONDS, Operator.AT_MOST)
    bound = replace(bound, counted=len(times), left_out=left_out)
    if untimed or not times:
        status = _status_without(untimed, responses)
        why = f"cannot be decided: {list_by_cause(untimed)}" if untimed else "has nothing to decide: no query ran"
        return replace(bound, status=status, reason=f"{name} {why}", blamed=tuple(untimed))
    return _compare(condition, bound, name, times)


def _status_without(untimed: Iterable[str], responses: Mapping[str, Response]) -> Status:
    """The status where the queries *untimed* have no time, or where no query ran."""
    answered = [isinstance(responses.get(query), Ranking) for query in untimed]
    if not answered:
        return Status.FAILED
    return Status.INCONCLUSIVE if all(answered) else Status.ERROR


def _compare(condition: LatencyCondition, bound: Finding, name: str, times: Mapping[str, float]) -> Finding:
    limit = condition.milliseconds
    observed = sorted(times.values())[math.ceil(len(times) * condition.percentile / 100) - 1]
    found = replace(bound, observed=observed)
    reason = f"{name} is {format_number(observed)} ms, required <= {format_number(limit)} ms"
    reason += f", over {count(len(times), 'query')}"
    if is_met(observed, Operator.AT_MOST, limit):
        return replace(found, status=Status.PASSED, reason=reason)
    slow = [query for query in times if not is_met(times[query], Operator.AT_MOST, limit)]
    slow.sort(key=lambda query: (-times[query], query))
    reason += f"; slowest: {listed([f'{query} {format_number(times[query])} ms' for query in slow])}"
    return replace(found, status=Status.FAILED, reason=reason, blamed=tuple(slow))


def _times(queries: Sequence[str], responses: Mapping[str, Response]) -> tuple[dict[str, float], dict[str, str]]:
    times: dict[str, float] = {}
    untimed: dict[str, str] = {}
    for query in queries:
        response = responses.get(query)
        if not isinstance(response, Ranking):
            untimed[query] = explain_no_ranking(response)
        elif response.took is None:
            untimed[query] = response.took_doubt or "the answer has no `took`"
        else:
            times[query] = response.took
    return times, untimed
