"""
Thresholds that compare scores with the baseline's: how far they fell, how many queries fell, and whether chance
explains it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.errors import pip_install
from harness.gate.finding import (
    Finding,
    describe_tie_changes,
    format_number,
    format_observed,
    format_weight,
    is_met,
    name_mean,
)
from harness.gate.pairs import Pairs
from harness.means import mean
from harness.model import (
    BaselineCondition,
    DropCondition,
    Operator,
    SignificanceCondition,
    Status,
    Unit,
    WorseCondition,
)
from harness.model.comparison import POWER
from harness.words import count, counted, listed

if TYPE_CHECKING:
    from harness.statistics.power import Detectable


def _judge_drop(condition: DropCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    """
    Compare today's scores with the baseline's.

    Args:
        condition: The threshold.
        pairs: The scores of its measure over its queries.
        of_query: Whether it is a query's own threshold.

    Returns:
        FAILED where the scores fell by more than is allowed, with the queries that fell, greatest first; else PASSED.
    """
    if condition.every:
        return _judge_every(condition, pairs)
    before, after = pairs.compute_means()
    drop = before - after
    passed = is_met(drop, Operator.AT_MOST, _limit(condition, before))
    subject = pairs.name if of_query else pairs.mean_name
    reason = f"{subject} {_drop_text(condition, pairs, before, after)}, allowed {_allowed(condition)}"
    if not of_query:
        reason += f", over {count(len(pairs.before), 'query')}"
    if not passed and not of_query:
        reason += f"; {_costs(pairs)}"
    return _drop_finding(condition, pairs, passed, reason, _observed(condition, before, drop), pairs.list_costliest())


def _judge_every(condition: DropCondition, pairs: Pairs) -> Finding:
    drops = pairs.compute_drops()
    excess = {query: drops[query] - _limit(condition, pairs.before[query]) for query in drops}
    worst = max(drops, key=lambda query: (excess[query], query))
    beyond = [
        query
        for query in sorted(drops, key=lambda query: (-excess[query], query))
        if not is_met(drops[query], Operator.AT_MOST, _limit(condition, pairs.before[query]))
    ]
    total = len(drops)
    reason = f"{pairs.name} fell by no more than {_allowed(condition)} for {total - len(beyond)} of "
    reason += f"{count(total, 'query')}, required for every one"
    if beyond:
        reason += f"; fell most: {_with_both(pairs, beyond)}"
    observed = _observed(condition, pairs.before[worst], drops[worst])
    return _drop_finding(condition, pairs, not beyond, reason, observed, beyond)


def _limit(condition: DropCondition, before: float) -> float:
    return condition.allowed * abs(before) if condition.relative else condition.allowed


def _observed(condition: DropCondition, before: float, drop: float) -> float | None:
    """The drop in the threshold's unit; None where it is a share of a score of 0."""
    if not condition.relative:
        return drop
    return drop / abs(before) if before else None


def _allowed(condition: DropCondition | WorseCondition) -> str:
    return f"{format_number(condition.allowed * 100)}%" if condition.relative else format_number(condition.allowed)


def _drop_text(condition: DropCondition, pairs: Pairs, before: float, after: float) -> str:
    """The drop in words, with numbers that never contradict the decision."""
    share = f" ({abs((before - after) / before):.2%})" if condition.relative and before else ""
    return _change_text(before, after, pairs.against, _limit(condition, before), share)


def _change_text(before: float, after: float, against: str, limit: float = math.inf, share: str = "") -> str:
    """How far a value moved from *before*, its value in *against*; four decimals, or as many as *limit* needs."""
    drop = before - after
    if abs(drop) < 5e-5 and is_met(drop, Operator.AT_MOST, limit):
        return f"is {after:.4f} as in {against}"
    size = format_observed(drop, Operator.AT_MOST, limit) if drop > 0 else f"{-drop:.4f}"
    return f"{'fell' if drop > 0 else 'rose'} by {size}{share} from {before:.4f} to {after:.4f}"


def _with_both(pairs: Pairs, queries: Sequence[str]) -> str:
    """The first of *queries*, each with its value in the baseline and today."""
    return listed([f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}" for query in queries])


def _costs(pairs: Pairs) -> str:
    """The queries that lowered the mean most, with their weights where these differ."""
    both = [
        f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}{format_weight(query, pairs.weights)}"
        for query in pairs.list_costliest()
    ]
    return f"{'cost' if pairs.weights else 'fell'} most: {listed(both)}"


def _drop_finding(
    condition: DropCondition | WorseCondition,
    pairs: Pairs,
    passed: bool,
    reason: str,
    observed: float | None,
    blamed: Sequence[str],
) -> Finding:
    status, blamed = (Status.PASSED, ()) if passed else (Status.FAILED, blamed)
    found = _finding(condition, pairs, status, reason, observed, condition.allowed, blamed)
    return replace(found, operator=Operator.AT_MOST)


def _judge_worse(condition: WorseCondition, pairs: Pairs) -> Finding:
    """
    Count the queries that fell by more than *condition* says.

    Returns:
        FAILED where more queries fell than is allowed, with those queries, the greatest fall first; else PASSED. A
        share is taken as the decimal fraction that was written.
    """
    drops, total = pairs.compute_drops(), len(pairs.before)
    worse = [query for query in pairs.list_fallen() if not is_met(drops[query], Operator.AT_MOST, condition.by)]
    allowed = Fraction(condition.allowed).limit_denominator(10**9)
    passed = len(worse) <= allowed * (total if condition.relative else 1)
    reason = f"{pairs.name} fell by more than {format_number(condition.by)} for {len(worse)} of {count(total, 'query')}"
    reason += f" ({len(worse) / total:.2%})" if condition.relative else ""
    reason += f", allowed {_allowed(condition)}"
    if worse:
        reason += f"; fell most: {_with_both(pairs, worse)}"
    observed = len(worse) / total if condition.relative else len(worse)
    return _drop_finding(condition, pairs, passed, reason, observed, worse)


TEST = "paired sign-flip test, one-sided"
POWER_TEXT = f"{POWER * 100:g} % power on average"
_ROUNDED_UP = Context(prec=2, rounding=ROUND_CEILING)


def _judge_significance(condition: SignificanceCondition, pairs: Pairs) -> Finding:
    """
    Ask whether the mean fell by more than chance explains: were each query's two scores swapped at random, how often
    would the mean fall as far?

    A weighted mean is tested by the same swaps: each difference is multiplied by its weight over the mean weight. Any
    statistic has an exact distribution under the swaps, and a query's weight does not depend on its scores.

    Source: Fisher (1935); Smucker, Allan & Carterette (CIKM 2007); for any statistic, Ernst, "Permutation methods: a
    basis for exact inference" (Statistical Science 2004).

    Returns:
        PASSED where the mean did not fall; where it did, FAILED where p is at most the level. Where so few queries
        moved that p cannot be that small, FAILED where the fall exceeds the smallest drop that the test detects in so
        many queries, and also where it detects none: a threshold that cannot fail guards nothing. Else PASSED, with
        that drop as the caveat. ERROR where numpy is not installed.
    """
    if find_spec("numpy") is None:
        brings = f"`{pip_install('statistics')}` brings"
        reason = f"the drop of {pairs.name} cannot be tested without numpy, which {brings}"
        return _finding(condition, pairs, Status.ERROR, reason)
    from harness.statistics.tests import sign_flip

    differences = [-drop for drop in pairs.weigh_drops().values()]
    test = sign_flip(differences, alternative="less")
    fell = not is_met(-mean(differences), Operator.AT_MOST, 0.0)
    if fell and test.least_p > condition.level:
        return _judge_untested(condition, pairs, differences, test.least_p)
    significant = fell and test.p_value <= condition.level
    verb = "is" if significant else "is not"
    reason = f"{_drop(pairs)} {verb} significant at {_percent(condition)}: p is {_p_text(test.p_value)} ({TEST}, "
    reason += f"{count(len(differences), 'query')})"
    if significant:
        reason += f"; {_costs(pairs)}"
        return _finding(condition, pairs, Status.FAILED, reason, test.p_value, condition.level, pairs.list_costliest())
    smallest = _figure(_smallest_drop(condition, pairs), pairs, differences) if fell else ""
    return _passed(condition, pairs, reason, smallest, test.p_value, condition.level)


def _judge_untested(
    condition: SignificanceCondition, pairs: Pairs, differences: Sequence[float], least_p: float
) -> Finding:
    """Judge a fall of the mean that the test cannot detect, however large: *least_p* is above the level."""
    fall = -mean(differences)
    smallest = _smallest_drop(condition, pairs)
    moved = f"{_moved(differences)} of {count(len(differences), 'query')} changed"
    reason = f"{_drop(pairs)} cannot be tested at {_percent(condition)}: {moved}, and p cannot be below {least_p:.4g}"
    if smallest is None:
        reason += f", so no drop is detectable: compare more queries, or use `drop {condition.measure.text} <= …`"
        return _finding(condition, pairs, Status.FAILED, reason, fall, None, pairs.list_costliest(), unit=Unit.DROP)
    limit = smallest.difference
    if is_met(fall, Operator.AT_MOST, limit):
        return _passed(condition, pairs, reason, _figure(smallest, pairs, differences), fall, limit, Unit.DROP)
    found, shown = format_observed(fall, Operator.ABOVE, limit), format_observed(limit, Operator.BELOW, fall)
    reason += f"; it fell by {found}, more than the smallest detectable drop {shown} ({POWER_TEXT}); {_costs(pairs)}"
    return _finding(condition, pairs, Status.FAILED, reason, fall, limit, pairs.list_costliest(), unit=Unit.DROP)


def _smallest_drop(condition: SignificanceCondition, pairs: Pairs) -> Detectable | None:
    """The smallest drop of the mean that the test detects in such queries with `POWER`; None where it detects none."""
    from harness.statistics.power import detectable_by_sign_flip

    drops = pairs.compute_drops()
    differences = [-drops[query] if taken else 0.0 for query, taken in pairs.weigh_drops().items()]
    weights = [pairs.weights[query] for query in drops] if pairs.weights else None
    return detectable_by_sign_flip(differences, weights=weights, level=condition.level, alternative="less")


def _figure(smallest: Detectable | None, pairs: Pairs, differences: Sequence[float]) -> str:
    """The smallest detectable drop in words, two digits, rounded up; or that no drop is detectable."""
    if smallest is None:
        return f"smallest detectable drop unknown at so low a level ({POWER_TEXT})"
    shown = format_number(float(_ROUNDED_UP.create_decimal_from_float(smallest.difference)))
    figure = f"smallest detectable drop {shown} ({POWER_TEXT})"
    if smallest.all_move:
        figure += f" if all {count(len(differences), 'query')} changed (rough: only {_moved(differences)} did)"
    before, _ = pairs.compute_means()
    if pairs.least is not None and smallest.difference > before - pairs.least:
        figure += f", more than {pairs.measure.text} can fall from {before:.4f}"
    return figure


def _moved(differences: Sequence[float]) -> int:
    return sum(map(bool, differences))


def _drop(pairs: Pairs) -> str:
    before, after = pairs.compute_means()
    return f"the drop of {pairs.mean_name}, from {before:.4f} to {after:.4f},"


def _percent(condition: SignificanceCondition) -> str:
    return f"{format_number(condition.level * 100)}%"


def _p_text(p_value: float) -> str:
    return f"{p_value:.4f}" if p_value >= 0.00005 else f"{p_value:.1e}"


def _passed(
    condition: SignificanceCondition,
    pairs: Pairs,
    reason: str,
    figure: str,
    observed: float,
    required: float,
    unit: Unit | None = None,
) -> Finding:
    """PASSED, with the smallest detectable drop as the caveat where the mean fell."""
    reason = "; ".join(filter(None, (reason, figure)))
    passed = _finding(condition, pairs, Status.PASSED, reason, observed, required, unit=unit)
    return replace(passed, caveat=figure)


def _finding(
    condition: BaselineCondition,
    pairs: Pairs,
    status: Status,
    reason: str,
    observed: float | None = None,
    required: float | None = None,
    blamed: Sequence[str] = (),
    *,
    unit: Unit | None = None,
) -> Finding:
    """What was found about *pairs*, in the unit of *condition* or in another *unit*."""
    return Finding(
        status,
        reason,
        observed,
        required,
        condition.measure.text,
        tuple(blamed),
        len(pairs.before),
        pairs.left_out,
        unit or _unit(condition),
    )


def judge_pairs(condition: BaselineCondition, pairs: Pairs, *, of_query: bool, remedy: str) -> Finding:
    """
    Judge *condition* twice where not all tied documents of a query are known: with such queries at their worst, and
    at their best.

    Args:
        condition: The threshold.
        pairs: The scores of its measure over its queries.
        of_query: Whether it is a query's own.
        remedy: How to make all tied documents known, in words.

    Returns:
        The worst case where it passes, the best case where it fails, so that *observed* is the figure that decided;
        INCONCLUSIVE where the two disagree, or one of them is not known.
    """
    if any(map(math.isinf, (value for span in pairs.tie_ranges.values() for value in span))):
        return _inconclusive(condition, pairs, "too many orders of ties to check", remedy, of_query)
    worst = _judge(condition, pairs.take_extreme("worst"), of_query=of_query)
    if not pairs.tie_ranges:
        return _with_asides(worst, pairs, of_query=of_query)
    best = _judge(condition, pairs.take_extreme("best"), of_query=of_query)
    if worst.status is not best.status:
        sentence = f"with ties at their worst, {worst.reason}; at their best, {best.reason}"
        return _inconclusive(condition, pairs, sentence, remedy, of_query)
    if worst.status is Status.PASSED:
        return _with_asides(worst, pairs.take_extreme("worst"), of_query=of_query)
    return _with_asides(best, pairs.take_extreme("best"), of_query=of_query)


def _judge(condition: BaselineCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    if isinstance(condition, DropCondition):
        return _judge_drop(condition, pairs, of_query=of_query)
    if isinstance(condition, WorseCondition):
        return _judge_worse(condition, pairs)
    return _judge_significance(condition, pairs)


def _with_asides(finding: Finding, pairs: Pairs, *, of_query: bool) -> Finding:
    """*finding* with the facts about *pairs* added to its reason, and what weakens a pass added to its caveat."""
    parts = [f"{_read_as(pairs)}{finding.reason}", *_asides(pairs, pairs.list_reordered(), of_query=of_query)]
    caveats = (
        [finding.caveat, *describe_tie_changes(pairs.ties, pairs.mixed)] if finding.status is Status.PASSED else []
    )
    return replace(finding, reason="; ".join(parts), caveat="; ".join(filter(None, caveats)))


def _inconclusive(condition: BaselineCondition, pairs: Pairs, sentence: str, remedy: str, of_query: bool) -> Finding:
    spans = {query: greatest - least for query, (least, greatest) in pairs.tie_ranges.items()}
    blamed = sorted(spans, key=lambda query: (-spans[query], query))
    parts = [
        f"cannot be decided: {sentence}",
        *_asides(pairs, [*blamed, *pairs.list_reordered()], of_query=of_query),
        f"more documents may tie with the last hit in {counted(blamed, 'query')}: {remedy}",
    ]
    required = condition.level if isinstance(condition, SignificanceCondition) else condition.allowed
    return _finding(condition, pairs, Status.INCONCLUSIVE, "; ".join(parts), None, required, blamed)


def _unit(condition: BaselineCondition) -> Unit:
    """The unit of what is required; what was observed has another where significance could not be tested."""
    if isinstance(condition, SignificanceCondition):
        return Unit.P_VALUE
    if condition.relative:
        return Unit.SHARE
    return Unit.QUERIES if isinstance(condition, WorseCondition) else Unit.DROP


def _read_as(pairs: Pairs) -> str:
    """The order in which ties were judged, in words; empty where it is the order in which they came."""
    if pairs.extreme:
        return f"with ties at their {pairs.extreme}, "
    return f"with ties as in {pairs.against}, " if pairs.list_reordered() else ""


def _asides(pairs: Pairs, reordered: list[str], *, of_query: bool) -> list[str]:
    """Parts of a reason: the queries *reordered*, with their values as returned; what was left out; what changed."""
    parts = [_as_they_came(pairs, reordered, of_query=of_query)] if reordered else []
    parts += describe_tie_changes(pairs.ties, pairs.mixed)
    if pairs.skipped or pairs.undefined:
        groups = ((pairs.skipped, "skipped"), (pairs.undefined, "undefined"))
        parts.append("left out: " + ", ".join(f"{len(group)} {word}" for group, word in groups if group))
    return [*parts, *pairs.changes]


def _as_they_came(pairs: Pairs, reordered: list[str], *, of_query: bool) -> str:
    came = pairs.restore_returned()
    subject = "it" if of_query else f"the {name_mean(pairs.weights)}"
    each = "" if of_query else f" ({_with_both(came, reordered)})"
    return f"with ties as returned, {subject} {_change_text(*came.compute_means(), pairs.against)}{each}"
