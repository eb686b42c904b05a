"""Thresholds on a drop that chance does not explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec

from harness.errors import StatisticError
from harness.gate.drops import asides, costs, excused
from harness.gate.pairs import Pairs
from harness.gate.scope import Finding
from harness.gate.sentences import count, number
from harness.means import mean
from harness.model import SignificanceCondition, Status
from harness.thresholds import TOLERANCE

__all__ = ["judge_significance"]

TEST = "paired sign-flip test, one-sided"
NEEDED = ("numpy", "scipy")


def judge_significance(condition: SignificanceCondition, pairs: Pairs) -> Finding:
    """
    Ask whether the mean fell by more than chance explains: were each query's two scores swapped at random, how often
    would the mean fall as far?

    A weighted mean is tested by the same swaps. Each difference is taken times its weight over the mean weight, for any
    statistic has its exact distribution under them; what a query weighs does not depend on how it scores.

    Source: Fisher (1935); Smucker, Allan & Carterette (CIKM 2007); for any statistic, Ernst, "Permutation methods: a
    basis for exact inference" (Statistical Science 2004).

    Returns:
        FAILED where p is at most the level, and also where so few queries are compared that p could never be: what
        cannot fail holds nothing. ERROR where the packages for statistics are not installed. Else PASSED; where the
        mean did fall, the reason says what drop so many queries could have shown.
    """
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        return _finding(
            condition,
            pairs,
            Status.ERROR,
            f"the drop of {pairs.name} cannot be tested without {' and '.join(absent)}, which "
            "`pip install 'relevance-harness[statistics]'` brings",
        )
    from harness.statistics import least_p, sign_flip

    differences = [-drop for drop in pairs.weighed_drops().values()]
    reachable = least_p(len(differences), "less")
    head = f"the drop of {pairs.mean_name}, {_movement(pairs)},"
    if reachable > condition.level:
        few = f"p cannot be below {reachable:.4g} with {count(len(differences), 'query')}"
        return _finding(condition, pairs, Status.FAILED, f"{head} cannot be tested: too few queries to tell: {few}")
    p_value = sign_flip(differences, alternative="less").p_value
    significant = p_value <= condition.level
    verb = "is" if significant else "is not"
    reason = f"{head} {verb} significant at {number(condition.level * 100)}%: p is {_p_text(p_value)} ({TEST}, "
    reason += f"{count(len(differences), 'query')})"
    if significant:
        return _finding(
            condition,
            pairs,
            Status.FAILED,
            f"{reason}; {costs(pairs)}",
            p_value,
            pairs.costliest(),
        )
    few = _too_few(condition, differences)
    passed = _finding(condition, pairs, Status.PASSED, f"{reason}; {few}" if few else reason, p_value)
    return replace(passed, caveat="; ".join(filter(None, (few, excused(pairs)))))


def _movement(pairs: Pairs) -> str:
    before, after = pairs.means()
    return f"from {before:.4f} to {after:.4f}"


def _p_text(p_value: float) -> str:
    return f"{p_value:.4f}" if p_value >= 0.00005 else f"{p_value:.1e}"


def _too_few(condition: SignificanceCondition, differences: Sequence[float]) -> str:
    """
    What a fall that is not significant could have been missed for: the smallest drop that so many queries of such
    spread show four times in five.
    """
    if mean(differences) >= -TOLERANCE:
        return ""
    from harness.statistics import detectable_difference, effect_size

    try:
        smallest = detectable_difference(
            effect_size(differences).standard_deviation, len(differences), level=condition.level, alternative="less"
        )
    except StatisticError:
        return ""
    queries = count(len(differences), "query")
    return f"too few queries to tell: the smallest drop that {queries} can show is {smallest:.2g}"


def _finding(
    condition: SignificanceCondition,
    pairs: Pairs,
    status: Status,
    reason: str,
    observed: float | None = None,
    blamed: Sequence[str] = (),
) -> Finding:
    return Finding(
        status,
        reason + asides(pairs),
        observed,
        condition.level,
        condition.measure.text,
        tuple(blamed),
        len(pairs.before),
        pairs.left_out,
    )
