"""Thresholds on how many queries fell below the baseline, however the mean came out."""

from __future__ import annotations

from fractions import Fraction

from harness.gate.comparing import holds
from harness.gate.drops import with_both
from harness.gate.pairs import Pairs
from harness.gate.scope import Finding
from harness.gate.sentences import count, number
from harness.model import Operator, Status, WorseCondition

__all__ = ["judge_worse"]


def judge_worse(condition: WorseCondition, pairs: Pairs) -> Finding:
    """
    Count the queries that fell by more than *condition* says.

    Returns:
        FAILED where they are more than is allowed, with those queries, most first; else PASSED. A share is taken as
        the decimal fraction that was written.
    """
    drops, total = pairs.drops(), len(pairs.before)
    worse = [query for query in pairs.fallen() if not holds(drops[query], Operator.AT_MOST, condition.by)]
    allowed = Fraction(condition.allowed).limit_denominator(10**9)
    passed = len(worse) <= allowed * (total if condition.relative else 1)
    limit = f"{number(condition.allowed * 100)}%" if condition.relative else number(condition.allowed)
    reason = f"{pairs.name} fell by more than {number(condition.by)} for {len(worse)} of {count(total, 'query')}"
    reason += f" ({len(worse) / total:.2%})" if condition.relative else ""
    reason += f", allowed {limit}"
    if worse:
        reason += f"; fell most: {with_both(pairs, worse)}"
    return Finding(
        status=Status.PASSED if passed else Status.FAILED,
        reason=reason,
        observed=len(worse) / total if condition.relative else len(worse),
        required=condition.allowed,
        measure=condition.measure.text,
        blamed=() if passed else tuple(worse),
        counted=total,
        left_out=pairs.left_out,
        unit=None if condition.relative else "queries",
    )
