"""Thresholds on a drop that chance does not explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.gate.comparing import holds
from harness.gate.drops import costs
from harness.gate.pairs import Pairs
from harness.gate.scope import Finding
from harness.gate.sentences import count, number, number_beside
from harness.model import Operator, SignificanceCondition, Status
from harness.statistics.means import mean

if TYPE_CHECKING:
    from harness.statistics import Detectable

__all__ = ["judge_significance"]


TEST = "paired sign-flip test, one-sided"
POWER = 0.8
POWER_TEXT = f"{POWER * 100:g} % power"
_ROUNDED_UP = Context(prec=2, rounding=ROUND_CEILING)


def judge_significance(condition: SignificanceCondition, pairs: Pairs) -> Finding:
    """
    Ask whether the mean fell by more than chance explains: were each query's two scores swapped at random, how often
    would the mean fall as far?

    A weighted mean is tested by the same swaps. Each difference is taken times its weight over the mean weight, for any
    statistic has its exact distribution under them; what a query weighs does not depend on how it scores.

    Source: Fisher (1935); Smucker, Allan & Carterette (CIKM 2007); for any statistic, Ernst, "Permutation methods: a
    basis for exact inference" (Statistical Science 2004).

    Returns:
        PASSED where the mean did not fall; where it did, FAILED where p is at most the level. Where so few queries
        moved that p cannot be, FAILED where the fall exceeds the smallest drop that the test finds in so many queries,
        and also where it finds none: what cannot fail holds nothing. Else PASSED, with that drop as the caveat. ERROR
        where numpy is not installed.
    """
    if find_spec("numpy") is None:
        remedy = "`pip install 'relevance-harness[statistics]'` brings"
        reason = f"the drop of {pairs.name} cannot be tested without numpy, which {remedy}"
        return _significance_finding(condition, pairs, Status.ERROR, reason)
    from harness.statistics import sign_flip

    differences = [-drop for drop in pairs.weighed_drops().values()]
    test = sign_flip(differences, alternative="less")
    fell = not holds(-mean(differences), Operator.AT_MOST, 0.0)
    if fell and test.least_p > condition.level:
        return _judge_untested(condition, pairs, differences, test.least_p)
    significant = fell and test.p_value <= condition.level
    verb = "is" if significant else "is not"
    reason = f"{_drop(pairs)} {verb} significant at {_percent(condition)}: p is {_p_text(test.p_value)} ({TEST}, "
    reason += f"{count(len(differences), 'query')})"
    if significant:
        reason += f"; {costs(pairs)}"
        return _significance_finding(
            condition, pairs, Status.FAILED, reason, test.p_value, condition.level, pairs.costliest()
        )
    smallest = _figure(_smallest_drop(condition, pairs), differences) if fell else ""
    return _passed(condition, pairs, reason, smallest, test.p_value, condition.level)


def _judge_untested(
    condition: SignificanceCondition, pairs: Pairs, differences: Sequence[float], least_p: float
) -> Finding:
    """The mean fell, and the test could not have found it whatever the fall: *least_p* is above the level."""
    fall = -mean(differences)
    smallest = _smallest_drop(condition, pairs)
    moved = f"{_moved(differences)} of {count(len(differences), 'query')} moved"
    reason = f"{_drop(pairs)} cannot be tested at {_percent(condition)}: {moved}, and p cannot be below {least_p:.4g}"
    if smallest is None:
        reason += f", so no drop is detectable: compare more queries, or say `drop {condition.measure.text} <= …`"
        return _significance_finding(condition, pairs, Status.FAILED, reason, fall, None, pairs.costliest())
    limit = smallest.difference
    if holds(fall, Operator.AT_MOST, limit):
        return _passed(condition, pairs, reason, _figure(smallest, differences), fall, limit)
    found, shown = number_beside(fall, Operator.ABOVE, limit), number_beside(limit, Operator.BELOW, fall)
    reason += f"; it fell by {found}, more than the smallest detectable drop {shown} ({POWER_TEXT}); {costs(pairs)}"
    return _significance_finding(condition, pairs, Status.FAILED, reason, fall, limit, pairs.costliest())


def _smallest_drop(condition: SignificanceCondition, pairs: Pairs) -> Detectable | None:
    """The smallest drop of the mean that the test finds in such queries with `POWER`; None where it finds none."""
    from harness.statistics import detectable_by_sign_flip

    drops = pairs.drops()
    differences = [-drops[query] if taken else 0.0 for query, taken in pairs.weighed_drops().items()]
    weights = [pairs.weights[query] for query in drops] if pairs.weights else None
    return detectable_by_sign_flip(differences, weights=weights, level=condition.level, power=POWER, alternative="less")


def _figure(smallest: Detectable | None, differences: Sequence[float]) -> str:
    """The smallest drop that such queries can show, with two digits, rounded up."""
    if smallest is None:
        return f"smallest detectable drop unknown at so low a level ({POWER_TEXT})"
    shown = number(float(_ROUNDED_UP.create_decimal_from_float(smallest.difference)))
    figure = f"smallest detectable drop {shown} ({POWER_TEXT})"
    if not smallest.all_move:
        return figure
    return f"{figure} were all {count(len(differences), 'query')} to move (rough: only {_moved(differences)} did)"


def _moved(differences: Sequence[float]) -> int:
    return sum(map(bool, differences))


def _drop(pairs: Pairs) -> str:
    before, after = pairs.means()
    return f"the drop of {pairs.mean_name}, from {before:.4f} to {after:.4f},"


def _percent(condition: SignificanceCondition) -> str:
    return f"{number(condition.level * 100)}%"


def _p_text(p_value: float) -> str:
    return f"{p_value:.4f}" if p_value >= 0.00005 else f"{p_value:.1e}"


def _passed(
    condition: SignificanceCondition, pairs: Pairs, reason: str, figure: str, observed: float, required: float
) -> Finding:
    """PASSED, with the smallest drop that could have been found as the caveat, where the mean did fall."""
    reason = "; ".join(filter(None, (reason, figure)))
    passed = _significance_finding(condition, pairs, Status.PASSED, reason, observed, required)
    return replace(passed, caveat=figure)


def _significance_finding(
    condition: SignificanceCondition,
    pairs: Pairs,
    status: Status,
    reason: str,
    observed: float | None = None,
    required: float | None = None,
    blamed: Sequence[str] = (),
) -> Finding:
    return Finding(
        status,
        reason,
        observed,
        required,
        condition.measure.text,
        tuple(blamed),
        len(pairs.before),
        pairs.left_out,
    )
