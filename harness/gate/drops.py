"""
Thresholds that compare scores with the baseline's: how far they fell, how many queries fell, and whether chance
explains it.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.gate.comparing import holds
from harness.gate.pairs import Pairs
from harness.gate.scope import Finding
from harness.gate.sentences import count, listed, number, number_beside, weight_aside
from harness.model import DropCondition, Operator, Status

__all__ = ["costs", "judge_drop", "movement", "with_both"]


def judge_drop(condition: DropCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    """
    Compare today's scores with the baseline's.

    Args:
        condition: The threshold.
        pairs: The scores of its measure over its queries.
        of_query: Whether it is a query's own.

    Returns:
        FAILED where the scores fell by more than is allowed, with the queries that fell, most first; else PASSED.
    """
    if condition.every:
        return _judge_every(condition, pairs)
    before, after = pairs.means()
    drop = before - after
    passed = holds(drop, Operator.AT_MOST, _limit(condition, before))
    subject = pairs.name if of_query else pairs.mean_name
    reason = f"{subject} {_movement(condition, pairs, before, after)}, allowed {_allowed(condition)}"
    if not of_query:
        reason += f", over {count(len(pairs.before), 'query')}"
    if not passed and not of_query:
        reason += f"; {costs(pairs)}"
    return _drop_finding(condition, pairs, passed, reason, _observed(condition, before, drop), pairs.costliest())


def _judge_every(condition: DropCondition, pairs: Pairs) -> Finding:
    drops = pairs.drops()
    excess = {query: drops[query] - _limit(condition, pairs.before[query]) for query in drops}
    worst = max(drops, key=lambda query: (excess[query], query))
    beyond = [
        query
        for query in sorted(drops, key=lambda query: (-excess[query], query))
        if not holds(drops[query], Operator.AT_MOST, _limit(condition, pairs.before[query]))
    ]
    total = len(drops)
    reason = f"{pairs.name} fell by no more than {_allowed(condition)} for {total - len(beyond)} of "
    reason += f"{count(total, 'query')}, required for every one"
    if beyond:
        reason += f"; fell most: {with_both(pairs, beyond)}"
    observed = _observed(condition, pairs.before[worst], drops[worst])
    return _drop_finding(condition, pairs, not beyond, reason, observed, beyond)


def _limit(condition: DropCondition, before: float) -> float:
    return condition.allowed * abs(before) if condition.relative else condition.allowed


def _observed(condition: DropCondition, before: float, drop: float) -> float | None:
    """The drop as the threshold counts it; a fall from 0 is no share of it."""
    if not condition.relative:
        return drop
    return drop / abs(before) if before else None


def _allowed(condition: DropCondition) -> str:
    return f"{number(condition.allowed * 100)}%" if condition.relative else number(condition.allowed)


def _movement(condition: DropCondition, pairs: Pairs, before: float, after: float) -> str:
    """In numbers that never contradict what was decided."""
    drop = before - after
    values = f"from {before:.4f} to {after:.4f}"
    if abs(drop) < 5e-5 and holds(drop, Operator.AT_MOST, _limit(condition, before)):
        return f"is {after:.4f} as in {pairs.against}"
    size = number_beside(abs(drop), Operator.AT_MOST, _limit(condition, before)) if drop > 0 else f"{-drop:.4f}"
    share = f" ({abs(drop / before):.2%})" if condition.relative and before else ""
    return f"{'fell' if drop > 0 else 'rose'} by {size}{share} {values}"


def movement(before: float, after: float, against: str) -> str:
    """How far a value moved that was *before* in *against*, with four decimals."""
    drop = before - after
    if abs(drop) < 5e-5:
        return f"is {after:.4f} as in {against}"
    return f"{'fell' if drop > 0 else 'rose'} by {abs(drop):.4f} from {before:.4f} to {after:.4f}"


def with_both(pairs: Pairs, queries: Sequence[str]) -> str:
    """The first of *queries*, each with its value in the baseline and today."""
    return listed([f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}" for query in queries])


def costs(pairs: Pairs) -> str:
    """The queries that took most from the mean, with what they weigh where that is not the same for all."""
    both = [
        f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}{weight_aside(query, pairs.weights)}"
        for query in pairs.costliest()
    ]
    return f"{'cost' if pairs.weights else 'fell'} most: {listed(both)}"


def _drop_finding(
    condition: DropCondition, pairs: Pairs, passed: bool, reason: str, observed: float | None, blamed: Sequence[str]
) -> Finding:
    return Finding(
        status=Status.PASSED if passed else Status.FAILED,
        reason=reason,
        observed=observed,
        required=condition.allowed,
        measure=condition.measure.text,
        blamed=() if passed else tuple(blamed),
        counted=len(pairs.before),
        left_out=pairs.left_out,
    )
