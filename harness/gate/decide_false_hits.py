"""Thresholds on queries for which no result is right: the share of them that have a hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.gate.decide_answers import describe_without_ranking, list_without_ranking
from harness.gate.finding import Finding, add_left_out, explain_nothing_left, is_met, split_skipped
from harness.gate.inputs import GateInputs
from harness.model.run import Cause, Ranking, Response, Status, Unit
from harness.model.suite import FalseHitsCondition, Operator, Query
from harness.words import count, listed


def decide_false_hits(condition: FalseHitsCondition, queries: Sequence[Query], inputs: GateInputs) -> Finding:
    """
    Compare the share of *queries* that have at least one hit with what is allowed; no result is right for any of them.

    Returns:
        ERROR where a query has no answer, which is not the same as no hit; INCONCLUSIVE where an answer without hits
        says that documents match; FAILED where more have a hit, or no query is left; else PASSED.
    """
    active, skipped = split_skipped(queries, inputs.today)
    finding = Finding(
        Status.FAILED,
        "",
        required=condition.allowed,
        counted=len(active),
        left_out=len(skipped),
        unit=Unit.SHARE,
        operator=Operator.AT_MOST,
    )
    responses = inputs.run.responses
    without_ranking = list_without_ranking([query.id for query in active], responses, "")
    if without_ranking:
        reason = f"false hits cannot be decided: {describe_without_ranking(without_ranking)}"
        blamed = tuple(without_ranking)
        return replace(finding, status=Status.ERROR, reason=reason, blamed=blamed, cause=Cause.UNANSWERED)
    if not active:
        reason = f"false hits have nothing to decide: {explain_nothing_left(skipped)}"
        return replace(finding, reason=reason, cause=Cause.NOTHING_TO_DECIDE)
    hidden = [query.id for query in active if _hides_hits(responses[query.id])]
    if hidden:
        reason = (
            "false hits cannot be decided: the answer has no hit, and says that documents match, "
            f"for {count(len(hidden), 'query')}: {listed(hidden)}"
        )
        blamed = tuple(hidden)
        return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=blamed, cause=Cause.MORE_HITS)
    return add_left_out(_compare_share(finding, active, responses, inputs.suite.depth), skipped)


def _hides_hits(response: Response) -> bool:
    """Whether *response* has no hit although documents match, as where a service skips the first ones."""
    return isinstance(response, Ranking) and not response.returned and bool(response.total)


def _compare_share(
    finding: Finding, queries: Sequence[Query], responses: Mapping[str, Response], depth: int
) -> Finding:
    """Complete *finding* by the share of *queries* with a hit among the first *depth*, those with most hits first."""
    false_hits: dict[str, int] = {}
    for query in queries:
        response = responses[query.id]
        if isinstance(response, Ranking) and response.ids:
            false_hits[query.id] = len(response.ids[:depth])
    assert finding.required is not None, "a share that is allowed"
    share = len(false_hits) / len(queries)
    is_allowed = is_met(share, Operator.AT_MOST, finding.required)
    sign = "<=" if is_allowed else ">"
    reason = (
        f"false hits in {len(false_hits):,} of {count(len(queries), 'query')} for which no result is right: "
        f"{share:.2%} {sign} {finding.required:.2%}"
    )
    worst_first = sorted(false_hits, key=lambda query: (-false_hits[query], query))
    if worst_first:
        described = [f"{query} ({count(false_hits[query], 'hit')})" for query in worst_first]
        reason += f"; most for {listed(described)}"
    finding = replace(finding, reason=reason, observed=share)
    if is_allowed:
        return replace(finding, status=Status.PASSED)
    return replace(finding, blamed=tuple(worst_first))
