"""
Thresholds that compare scores with the baseline's: how far they fell, how many queries fell, and whether chance
explains it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

from harness.errors import pip_install
from harness.gate.finding import (
    Finding,
    describe_if_judged,
    describe_left_out,
    describe_tie_changes,
    format_number,
    format_observed,
    format_weight,
    is_met,
    name_mean,
)
from harness.gate.grammar import TOLERANCE
from harness.gate.pairs import Pairs
from harness.means import mean
from harness.model.comparison import POWER
from harness.model.run import Cause, Status, Unit
from harness.model.suite import BaselineCondition, DropCondition, Operator, SignificanceCondition, WorseCondition
from harness.words import count, counted, format_rounded_up, listed

if TYPE_CHECKING:
    from harness.statistics.power import Detectable


def decide_pairs(condition: BaselineCondition, pairs: Pairs, *, of_query: bool, remedy: str) -> Finding:
    """
    Compare the scores of two runs with what *condition* allows.

    A query of which not all tied documents are known has a range of scores. *condition* is then decided twice: with
    such queries at their worst, and at their best.

    Args:
        condition: The threshold.
        pairs: The scores of its measure over its queries.
        of_query: Whether it is a query's own.
        remedy: How to make all tied documents known, in words.

    Returns:
        The worst case where it passes, the best case where it fails, so that *observed* is the figure that decided;
        INCONCLUSIVE where the two disagree, or one of them is not known.
    """
    for least, greatest in pairs.tie_ranges.values():
        if math.isinf(least) or math.isinf(greatest):
            sentence = "too many orders of ties to check"
            return _refuse_ties(condition, pairs, sentence, remedy, of_query=of_query)
    worst_pairs = pairs.move_ties_to("worst")
    worst_finding = _decide_condition(condition, worst_pairs, of_query=of_query)
    if not pairs.tie_ranges:
        return _add_facts(worst_finding, pairs, of_query=of_query)
    best_pairs = pairs.move_ties_to("best")
    best_finding = _decide_condition(condition, best_pairs, of_query=of_query)
    if worst_finding.status is not best_finding.status:
        sentence = f"with ties at their worst, {worst_finding.reason}; at their best, {best_finding.reason}"
        return _refuse_ties(condition, pairs, sentence, remedy, of_query=of_query)
    if worst_finding.status is Status.PASSED:
        return _add_facts(worst_finding, worst_pairs, of_query=of_query)
    return _add_facts(best_finding, best_pairs, of_query=of_query)


def _decide_condition(condition: BaselineCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    """Decide *condition* by the function for its kind, with the scores as they are in *pairs*."""
    if isinstance(condition, WorseCondition):
        return _decide_worse(condition, pairs)
    if isinstance(condition, SignificanceCondition):
        return _decide_significance(condition, pairs)
    if condition.every:
        return _decide_every_drop(condition, pairs)
    return _decide_drop(condition, pairs, of_query=of_query)


def _start_finding(condition: BaselineCondition, pairs: Pairs) -> Finding:
    """The finding on *pairs* before anything is compared: FAILED, with what is required and how many queries count."""
    finding = Finding(
        Status.FAILED,
        "",
        measure=condition.measure.text,
        counted=len(pairs.before),
        left_out=pairs.left_out,
        unit=_get_unit(condition),
    )
    if isinstance(condition, SignificanceCondition):
        return replace(finding, required=condition.level, if_judged=_widen_to_ties(pairs))
    return replace(finding, required=condition.allowed, operator=Operator.AT_MOST)


def _widen_to_ties(pairs: Pairs) -> tuple[float, float] | None:
    """
    How far unjudged hits may move the difference of the means, from the least to the greatest.

    With ties at their worst or best, the difference that is compared may be outside: the range is widened to it.
    """
    if pairs.if_judged is None:
        return None
    least, greatest = pairs.if_judged
    before, after = pairs.compute_means()
    difference = after - before
    return min(least, difference), max(greatest, difference)


def _get_unit(condition: BaselineCondition) -> Unit:
    """The unit of what is required; what was observed has another where significance could not be tested."""
    if isinstance(condition, SignificanceCondition):
        return Unit.P_VALUE
    if condition.relative:
        return Unit.SHARE
    if isinstance(condition, WorseCondition):
        return Unit.QUERIES
    return Unit.DROP


# How far scores fell: the mean, or each query.


def _decide_drop(condition: DropCondition, pairs: Pairs, *, of_query: bool) -> Finding:
    """Compare the fall of the mean, or of the one query, with what is allowed; blame the queries that fell."""
    before, after = pairs.compute_means()
    drop, limit = before - after, _get_limit(condition, before)
    share = ""
    if condition.relative and before != 0:
        share = f" ({abs(drop / before):.2%})"
    change = _describe_change(pairs, before, after, limit, share)
    if of_query:
        reason = f"{pairs.name} {change}, allowed {_format_allowed(condition)}"
    else:
        reason = f"{pairs.mean_name} {change}, allowed {_format_allowed(condition)}"
        reason += f", over {count(len(pairs.before), 'query')}"
    observed = _get_observed(condition, before, drop)
    finding = replace(_start_finding(condition, pairs), observed=observed)
    if is_met(drop, Operator.AT_MOST, limit):
        return replace(finding, status=Status.PASSED, reason=reason)
    if not of_query:
        reason += f"; {_describe_costs(pairs)}"
    return replace(finding, reason=reason, blamed=tuple(pairs.list_costliest()))


def _decide_every_drop(condition: DropCondition, pairs: Pairs) -> Finding:
    """Compare the fall of each query with what is allowed; the one that exceeds it most is the observed figure."""
    drops = pairs.compute_drops()
    excess = {}
    too_far = []
    for query, drop in drops.items():
        limit = _get_limit(condition, pairs.before[query])
        excess[query] = drop - limit
        if not is_met(drop, Operator.AT_MOST, limit):
            too_far.append(query)
    too_far.sort(key=lambda query: (-excess[query], query))
    worst = max(drops, key=lambda query: (excess[query], query))
    total = len(drops)
    reason = f"{pairs.name} fell by no more than {_format_allowed(condition)} for {total - len(too_far)} of "
    reason += f"{count(total, 'query')}, required for every one"
    observed = _get_observed(condition, pairs.before[worst], drops[worst])
    finding = replace(_start_finding(condition, pairs), observed=observed)
    if not too_far:
        return replace(finding, status=Status.PASSED, reason=reason)
    reason += f"; fell most: {_list_values(pairs, too_far)}"
    return replace(finding, reason=reason, blamed=tuple(too_far))


def _get_limit(condition: DropCondition, before: float) -> float:
    """The greatest drop that is allowed from *before*, in the measure's unit."""
    if condition.relative:
        return condition.allowed * abs(before)
    return condition.allowed


def _get_observed(condition: DropCondition, before: float, drop: float) -> float | None:
    """The drop in the threshold's unit; None where it is a share of a score of 0."""
    if not condition.relative:
        return drop
    if before == 0:
        return None
    return drop / abs(before)


def _format_allowed(condition: DropCondition | WorseCondition) -> str:
    """The number that *condition* allows, as the threshold has it: ``0.02``, or ``5%``."""
    if condition.relative:
        return f"{format_number(condition.allowed * 100)}%"
    return format_number(condition.allowed)


def _describe_change(pairs: Pairs, before: float, after: float, limit: float = math.inf, share: str = "") -> str:
    """
    How far a value moved from *before*, its value in the baseline, to *after*.

    Args:
        pairs: Says what *before* is of.
        before: The value in the baseline.
        after: The value of today.
        limit: The drop that is allowed. A drop is written with four decimals, and with more where four would look as if
            the other was decided.
        share: What the drop is as a share of *before*, in brackets, to follow the drop.
    """
    drop = before - after
    if abs(drop) < 5e-5 and is_met(drop, Operator.AT_MOST, limit):
        return f"is {after:.4f} as in {pairs.origin or pairs.against}"
    origin = ""
    if pairs.origin:
        origin = f", {pairs.origin},"
    if drop > 0:
        size = format_observed(drop, Operator.AT_MOST, limit)
        return f"fell by {size}{share} from {before:.4f}{origin} to {after:.4f}"
    return f"rose by {-drop:.4f}{share} from {before:.4f}{origin} to {after:.4f}"


def _list_values(pairs: Pairs, queries: Sequence[str]) -> str:
    """The first of *queries*, each with its value in the baseline and today."""
    return listed([f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}" for query in queries])


def _describe_costs(pairs: Pairs) -> str:
    """The queries that lowered the mean most, with their weights where these differ."""
    queries = []
    for query in pairs.list_costliest():
        weight = format_weight(query, pairs.weights)
        queries.append(f"{query} {pairs.before[query]:.4f} -> {pairs.after[query]:.4f}{weight}")
    verb = "cost" if pairs.weights else "fell"
    return f"{verb} most: {listed(queries)}"


# How many queries fell.


def _decide_worse(condition: WorseCondition, pairs: Pairs) -> Finding:
    """Count the queries that fell by more than *condition* says; blame them, the greatest fall first."""
    drops, total = pairs.compute_drops(), len(pairs.before)
    worse = [query for query in pairs.list_fallen() if not is_met(drops[query], Operator.AT_MOST, condition.by)]
    # The decimal fraction as it was written: as a float, 0.07 * 100 is a little more than 7.
    allowed = Fraction(condition.allowed).limit_denominator(10**9)
    observed: float = len(worse)
    reason = f"{pairs.name} fell by more than {format_number(condition.by)} for {len(worse)} of {count(total, 'query')}"
    if condition.relative:
        # A share of the queries becomes a number of queries.
        allowed *= total
        observed = len(worse) / total
        reason += f" ({observed:.2%})"
    reason += f", allowed {_format_allowed(condition)}"
    if worse:
        reason += f"; fell most: {_list_values(pairs, worse)}"
    finding = replace(_start_finding(condition, pairs), reason=reason, observed=observed)
    if len(worse) <= allowed:
        return replace(finding, status=Status.PASSED)
    return replace(finding, blamed=tuple(worse))


# Whether chance explains that the mean fell.

TEST = "paired sign-flip test, one-sided"
POWER_TEXT = f"{POWER * 100:g} % power on average"


def _decide_significance(condition: SignificanceCondition, pairs: Pairs) -> Finding:
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
    finding = _start_finding(condition, pairs)
    if find_spec("numpy") is None:
        remedy = f"`{pip_install('statistics')}` brings"
        reason = f"the drop of {pairs.name} cannot be tested without numpy, which {remedy}"
        return replace(finding, status=Status.ERROR, reason=reason, required=None, cause=Cause.MISSING_PACKAGE)
    from harness.statistics.tests import sign_flip

    differences = [-drop for drop in pairs.weigh_drops().values()]
    test = sign_flip(differences, alternative="less")
    has_fallen = not is_met(-mean(differences), Operator.AT_MOST, 0.0)
    if has_fallen and test.least_p > condition.level:
        return _decide_untested(condition, pairs, differences, test.least_p)
    is_significant = has_fallen and test.p_value <= condition.level
    p_text = f"{test.p_value:.4f}"
    if test.p_value < 0.00005:
        p_text = f"{test.p_value:.1e}"
    verb = "is" if is_significant else "is not"
    reason = f"{_describe_drop(pairs)} {verb} significant at {_format_level(condition)}"
    reason += f": p is {p_text} ({TEST}, {count(len(differences), 'query')})"
    if finding.if_judged is not None:
        reason += f"; {describe_if_judged(*finding.if_judged)}"
    finding = replace(finding, observed=test.p_value)
    if is_significant:
        reason += f"; {_describe_costs(pairs)}"
        return replace(finding, reason=reason, blamed=tuple(pairs.list_costliest()))
    caveats = []
    if has_fallen:
        detectable = _describe_detectable(_find_detectable(condition, pairs), pairs, differences)
        caveats.append(detectable)
        reason += f"; {detectable}"
    if finding.if_judged is not None:
        least, greatest = finding.if_judged
        # Where no grade makes the mean fall, the unjudged hits do not weaken the pass.
        if least < -TOLERANCE:
            caveats.append(describe_if_judged(least, greatest))
    return replace(finding, status=Status.PASSED, reason=reason, caveat="; ".join(caveats))


def _decide_untested(
    condition: SignificanceCondition, pairs: Pairs, differences: Sequence[float], least_p: float
) -> Finding:
    """Decide a fall of the mean that the test cannot detect, however large: *least_p* is above the level."""
    fall = -mean(differences)
    detectable = _find_detectable(condition, pairs)
    changed = f"{_count_changed(differences)} of {count(len(differences), 'query')} changed"
    reason = f"{_describe_drop(pairs)} cannot be tested at {_format_level(condition)}: {changed}, "
    reason += f"and p cannot be below {least_p:.4g}"
    finding = replace(_start_finding(condition, pairs), observed=fall, unit=Unit.DROP)
    unjudged = ""
    if finding.if_judged is not None:
        unjudged = f"; {describe_if_judged(*finding.if_judged)}"
    blamed = tuple(pairs.list_costliest())
    if detectable is None:
        reason += f", so no drop is detectable: compare more queries, or use `drop {condition.measure.text} <= …`"
        reason += unjudged
        return replace(finding, reason=reason, required=None, blamed=blamed, cause=Cause.TOO_FEW_QUERIES)
    limit = detectable.difference
    finding = replace(finding, required=limit)
    if is_met(fall, Operator.AT_MOST, limit):
        caveat = _describe_detectable(detectable, pairs, differences) + unjudged
        return replace(finding, status=Status.PASSED, reason=f"{reason}; {caveat}", caveat=caveat)
    fall_text = format_observed(fall, Operator.ABOVE, limit)
    limit_text = format_observed(limit, Operator.BELOW, fall)
    reason += f"; it fell by {fall_text}, more than the smallest detectable drop {limit_text} ({POWER_TEXT})"
    return replace(finding, reason=f"{reason}{unjudged}; {_describe_costs(pairs)}", blamed=blamed)


def _find_detectable(condition: SignificanceCondition, pairs: Pairs) -> Detectable | None:
    """The smallest drop of the mean that the test detects in such queries with `POWER`; None where it detects none."""
    from harness.statistics.power import detectable_by_sign_flip

    drops = pairs.compute_drops()
    differences = []
    for query, weighed_drop in pairs.weigh_drops().items():
        if weighed_drop == 0:
            # A difference that comes only from the order of a sum counts as none, as in the test.
            differences.append(0.0)
        else:
            differences.append(-drops[query])
    weights = None
    if pairs.weights:
        weights = [pairs.weights[query] for query in drops]
    return detectable_by_sign_flip(differences, weights=weights, level=condition.level, alternative="less")


def _describe_detectable(detectable: Detectable | None, pairs: Pairs, differences: Sequence[float]) -> str:
    """The smallest detectable drop in words, two digits, rounded up; or that no drop is detectable."""
    if detectable is None:
        return f"smallest detectable drop unknown at so low a level ({POWER_TEXT})"
    sentence = f"smallest detectable drop {format_rounded_up(detectable.difference)} ({POWER_TEXT})"
    if detectable.all_move:
        total, changed = count(len(differences), "query"), _count_changed(differences)
        sentence += f" if all {total} changed (rough: only {changed} did)"
    before, _ = pairs.compute_means()
    if pairs.least is not None and detectable.difference > before - pairs.least:
        sentence += f", more than {pairs.measure.text} can fall from {before:.4f}"
    return sentence


def _count_changed(differences: Sequence[float]) -> int:
    """How many queries have another score than before."""
    return sum(difference != 0 for difference in differences)


def _describe_drop(pairs: Pairs) -> str:
    """The drop of the mean, as the subject of a sentence."""
    before, after = pairs.compute_means()
    return f"the drop of {pairs.mean_name}, from {before:.4f} to {after:.4f},"


def _format_level(condition: SignificanceCondition) -> str:
    return f"{format_number(condition.level * 100)}%"


# What a reason says beside the figure: ties, what was left out, and remarks.


def _add_facts(finding: Finding, pairs: Pairs, *, of_query: bool) -> Finding:
    """*finding* with facts about *pairs* added to its reason, and with what weakens a pass added to its caveat."""
    reordered = pairs.list_reordered()
    sentence = finding.reason
    if pairs.extreme:
        sentence = f"with ties at their {pairs.extreme}, {sentence}"
    elif reordered:
        sentence = f"with ties as in {pairs.against}, {sentence}"
    reason = "; ".join([sentence, *_list_facts(pairs, reordered, of_query=of_query)])
    # Only a pass has a caveat: people look at any other status anyway.
    caveats = []
    if finding.status is Status.PASSED:
        if finding.caveat:
            caveats.append(finding.caveat)
        caveats += describe_tie_changes(pairs.only_ties, pairs.ties_and_more)
    return replace(finding, reason=reason, caveat="; ".join(caveats))


def _refuse_ties(condition: BaselineCondition, pairs: Pairs, sentence: str, remedy: str, *, of_query: bool) -> Finding:
    """INCONCLUSIVE: the order of ties decides, and not all tied documents are known; *sentence* says how it decides."""
    widths = {query: greatest - least for query, (least, greatest) in pairs.tie_ranges.items()}
    widest_first = sorted(widths, key=lambda query: (-widths[query], query))
    facts = _list_facts(pairs, [*widest_first, *pairs.list_reordered()], of_query=of_query)
    parts = [
        f"cannot be decided: {sentence}",
        *facts,
        f"more documents may tie with the last hit in {counted(widest_first, 'query')}: {remedy}",
    ]
    finding = _start_finding(condition, pairs)
    return replace(
        finding,
        status=Status.INCONCLUSIVE,
        reason="; ".join(parts),
        blamed=tuple(widest_first),
        operator=None,
        cause=Cause.TIES,
    )


def _list_facts(pairs: Pairs, reordered: list[str], *, of_query: bool) -> list[str]:
    """Parts of a reason: the values as returned of the queries *reordered*, what was left out, and remarks."""
    parts = []
    if reordered:
        returned = pairs.restore_returned()
        change = _describe_change(pairs, *returned.compute_means())
        if of_query:
            parts.append(f"with ties as returned, it {change}")
        else:
            values = _list_values(returned, reordered)
            parts.append(f"with ties as returned, the {name_mean(pairs.weights)} {change} ({values})")
    parts += describe_tie_changes(pairs.only_ties, pairs.ties_and_more)
    if pairs.zero_hits:
        parts.append(f"zero hits: {listed(pairs.zero_hits)}")
    left_out = describe_left_out(pairs.skipped, pairs.undefined)
    if left_out:
        parts.append(f"left out: {left_out}")
    return [*parts, *pairs.remarks]
