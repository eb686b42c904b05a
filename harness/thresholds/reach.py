"""Whether a condition can be met at all, as far as the range of its measure tells."""

from __future__ import annotations

from harness.metrics import measure_range
from harness.model import (
    AgreementCondition,
    Condition,
    DropCondition,
    Gain,
    HitCount,
    Operator,
    ScoreCondition,
    WorseCondition,
)
from harness.thresholds import TOLERANCE


def check_reach(condition: Condition, gain: Gain) -> str | None:
    """
    Whether a condition can be met and can fail at all, as far as its measure's range tells.

    Args:
        condition: What `parse_threshold` or `parse_expectation` gave.
        gain: The gain in force where the measure names none.

    Returns:
        A sentence that says what is out of reach, or None.
    """
    if isinstance(condition, ScoreCondition):
        return _score_reach(condition, *measure_range(condition.measure, gain))
    if isinstance(condition, AgreementCondition):
        as_score = ScoreCondition(condition.statistic, condition.agreement, condition.operator, condition.required)
        return _score_reach(as_score, 0.0, 1.0)
    if isinstance(condition, DropCondition):
        return _drop_reach(condition, gain)
    if isinstance(condition, WorseCondition):
        return _drop_reach(DropCondition(condition.measure, condition.by), gain)
    if isinstance(condition, HitCount) and condition.operator is Operator.BELOW and condition.required == 0:
        return "fewer than 0 hits cannot be; expected 'hits < 1' or 'hits = 0' for no hits"
    return None


def _score_reach(condition: ScoreCondition, least: float | None, greatest: float | None) -> str | None:
    required, operator = condition.required, condition.operator
    reach = f"{condition.measure} reaches {_bounds(least, greatest)}"
    if greatest is not None and required > greatest + TOLERANCE:
        return f"{required:g} is out of reach: {reach}"
    if least is not None and required < least - TOLERANCE:
        return f"{required:g} is out of reach: {reach}"
    if greatest is not None and operator is Operator.ABOVE and required >= greatest - TOLERANCE:
        return f"'> {required:g}' can never be met: {reach}"
    if least is not None and operator is Operator.BELOW and required <= least + TOLERANCE:
        return f"'< {required:g}' can never be met: {reach}"
    return None


def _drop_reach(condition: DropCondition, gain: Gain) -> str | None:
    least, greatest = measure_range(condition.measure, gain)
    if condition.relative and least is not None and least >= 0 and condition.allowed > 1:
        per_cent = f"{condition.allowed * 100:g}%"
        return f"{per_cent} is out of reach: {condition.measure} cannot fall by more than 100%"
    if condition.relative or least is None or greatest is None or condition.allowed <= greatest - least:
        return None
    return f"{condition.allowed:g} is out of reach: {condition.measure} reaches {_bounds(least, greatest)}"


def _bounds(least: float | None, greatest: float | None) -> str:
    if least is None:
        return "any value" if greatest is None else f"at most {greatest:g}"
    return f"{least:g} and more" if greatest is None else f"{least:g} to {greatest:g}"
