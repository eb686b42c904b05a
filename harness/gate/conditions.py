"""What thresholds say without a run: their documents, their requests, and whether they can be estimated."""

from __future__ import annotations

from collections.abc import Iterator

from harness.model.suite import (
    Before,
    Condition,
    DropCondition,
    InTop,
    Operator,
    ScoreCondition,
    StatisticKind,
    Suite,
    Threshold,
    get_other_request,
)


def list_named_documents(condition: Condition) -> tuple[str, ...]:
    """The documents that *condition* names; none where it is about the number of hits."""
    if isinstance(condition, Before):
        return condition.document, condition.other
    if isinstance(condition, InTop):
        return (condition.document,)
    return ()


def explain_not_estimable(condition: Condition) -> str:
    """Why a threshold with *condition* cannot be estimated; empty where it can be."""
    if isinstance(condition, DropCondition):
        if condition.since is not None:
            return "a drop since several runs cannot be estimated, only one since the baseline"
        if condition.every or condition.relative:
            return "only 'drop MEASURE <= NUMBER' can be estimated, for the mean and not in per cent"
        return ""
    if isinstance(condition, ScoreCondition) and condition.statistic is StatisticKind.MEAN:
        if condition.operator is Operator.EQUAL:
            return "an estimate cannot be equal to a number"
        return ""
    return "only a mean or a drop of a mean can be estimated"


def is_for_request(threshold: Threshold, suite: Suite, request: str) -> bool:
    """
    Whether a run of *suite* with *request* decides *threshold*, which may name the requests that it is for.

    One that compares with a request is for the others.
    """
    template = suite.requests.get(request)
    if template is not None and not template.gates:
        return False
    if get_other_request(threshold.condition) == request:
        return False
    return not threshold.requests or request in threshold.requests


def gates_anything(suite: Suite, request: str) -> bool:
    """
    Whether a run of *suite* with *request* may fail.

    It does not where the request has ``gate: false``, or where all thresholds are for other requests. A suite without
    any threshold fails where a query has no answer.
    """
    template = suite.requests.get(request)
    if template is not None and not template.gates:
        return False
    thresholds = list(iterate_thresholds(suite))
    if not thresholds:
        return True
    return any(is_for_request(threshold, suite, request) for threshold in thresholds)


def list_for_other_requests(suite: Suite, request: str) -> list[Threshold]:
    """The thresholds of *suite* and of its queries that a run with *request* does not decide."""
    return [threshold for threshold in iterate_thresholds(suite) if not is_for_request(threshold, suite, request)]


def iterate_thresholds(suite: Suite) -> Iterator[Threshold]:
    """The thresholds of *suite*, then those of its queries."""
    yield from suite.thresholds
    for query in suite.queries:
        yield from query.thresholds
