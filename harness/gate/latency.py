"""Thresholds on the engine's own time for each query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from harness.gate.answers import no_ranking
from harness.gate.comparing import holds
from harness.gate.scope import Finding
from harness.gate.sentences import count, listed, number
from harness.model import LatencyCondition, Operator, Query, Ranking, Response, Status
from harness.model.suite import in_force

__all__ = ["judge_latency"]


def judge_latency(
    condition: LatencyCondition, queries: Sequence[Query], responses: Mapping[str, Response], today: date
) -> Finding:
    """
    Compare a percentile of the engine's own times, in milliseconds, with the threshold.

    The percentile is the nearest rank: the least time that so many per cent of the queries do not exceed. A query
    without an answer makes an ERROR, one whose answer names no time makes it INCONCLUSIVE.
    """
    asked = [query.id for query in queries if not in_force(query.skip, today)]
    left_out = len(queries) - len(asked)
    name = "max latency" if condition.percentile == 100 else f"p{condition.percentile} latency"
    times, untimed = _times(asked, responses)
    if untimed or not times:
        status = _status_without(untimed, responses)
        why = f"cannot be judged: {listed(list(untimed.values()))}" if untimed else "has nothing to judge: no query ran"
        blamed = tuple(untimed)
        return Finding(status, f"{name} {why}", None, condition.milliseconds, None, blamed, len(times), left_out)
    return _compare(condition, name, times, left_out)


def _status_without(untimed: Iterable[str], responses: Mapping[str, Response]) -> Status:
    """The status where the queries *untimed* have no time, or no query has been asked at all."""
    answered = [isinstance(responses.get(query), Ranking) for query in untimed]
    if not answered:
        return Status.FAILED
    return Status.INCONCLUSIVE if all(answered) else Status.ERROR


def _compare(condition: LatencyCondition, name: str, times: Mapping[str, float], left_out: int) -> Finding:
    limit = condition.milliseconds
    observed = sorted(times.values())[math.ceil(len(times) * condition.percentile / 100) - 1]
    reason = f"{name} is {number(observed)} ms, required <= {number(limit)} ms, over {count(len(times), 'query')}"
    if holds(observed, Operator.AT_MOST, limit):
        return Finding(Status.PASSED, reason, observed, limit, counted=len(times), left_out=left_out)
    slow = [query for query in times if not holds(times[query], Operator.AT_MOST, limit)]
    slow.sort(key=lambda query: (-times[query], query))
    reason += f"; slowest: {listed([f'{query} {number(times[query])} ms' for query in slow])}"
    return Finding(Status.FAILED, reason, observed, limit, None, tuple(slow), len(times), left_out)


def _times(queries: Sequence[str], responses: Mapping[str, Response]) -> tuple[dict[str, float], dict[str, str]]:
    times: dict[str, float] = {}
    untimed: dict[str, str] = {}
    for query in queries:
        response = responses.get(query)
        if not isinstance(response, Ranking):
            untimed[query] = f"{query} ({no_ranking(response)})"
        elif response.took is None:
            untimed[query] = f"{query} ({response.took_doubt or 'the answer does not say how long it took'})"
        else:
            times[query] = response.took
    return times, untimed
