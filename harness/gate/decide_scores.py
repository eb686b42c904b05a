"""Thresholds on a measure: mean, median, every query, a share of them, one query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from harness.gate.decide_answers import RequestedDepth, describe_incomplete_hits
from harness.gate.finding import (
    Finding,
    Scope,
    compute_merit,
    describe_left_out,
    describe_undefined,
    explain_nothing_left,
    format_number,
    format_observed,
    format_weight,
    is_met,
    name_mean,
)
from harness.gate.grammar import TOLERANCE
from harness.gate.inputs import GateInputs
from harness.means import mean_of
from harness.metrics.run_scores import score_of
from harness.model.run import Cause, Hit, Ranking, Status, Unit
from harness.model.suite import Operator, Query, ScoreCondition, StatisticKind, Suite, select_by_id
from harness.words import count, counted, listed


def decide_scores(condition: ScoreCondition, scope: Scope, *, gain: str, skip_undefined: bool) -> Finding:
    """
    Compare the scores of *scope* with what *condition* requires.

    Args:
        condition: The threshold.
        scope: The scores of its measure over its queries.
        gain: The gain in force, for the reason; empty where the measure has none.
        skip_undefined: Whether undefined queries are left out instead of failing the threshold.

    Returns:
        ERROR where a query has no answer; FAILED where one is undefined and may not be left out, where nothing is left
        to decide, or where the figure falls short; else PASSED.
    """
    name = _name_figure(condition, scope, gain)
    left_out = len(scope.skipped)
    if skip_undefined:
        left_out += len(scope.undefined)
    unit = None
    if condition.statistic is StatisticKind.SHARE:
        unit = Unit.SHARE
    finding = Finding(
        Status.FAILED,
        "",
        required=_get_required(condition),
        measure=condition.measure.text,
        counted=len(scope.counted),
        left_out=left_out,
        unit=unit,
        operator=_get_operator(condition),
    )
    if scope.unanswered:
        reason = f"{name} cannot be decided: {scope.no_score}"
        blamed = tuple(scope.unanswered)
        return replace(finding, status=Status.ERROR, reason=reason, blamed=blamed, cause=Cause.UNANSWERED)
    if scope.undefined and not skip_undefined:
        reason = f"{name} {describe_undefined(scope.undefined, scope.size)}"
        return replace(finding, reason=reason, blamed=scope.undefined, cause=Cause.UNDEFINED)
    if not scope.counted:
        why = explain_nothing_left(scope.skipped, scope.undefined)
        reason = f"{name} has nothing to decide: {why}"
        return replace(finding, reason=reason, blamed=scope.undefined, cause=Cause.NOTHING_TO_DECIDE)
    return _compare(condition, scope, name, finding)


@dataclass(frozen=True, slots=True)
class Extremes:
    """The least and the greatest values of the queries of a threshold over the orders of tied documents."""

    least: Mapping[str, float]
    greatest: Mapping[str, float]
    remedy: str = ""
    """How to give tied documents an order, in words."""


def decide_scores_with_ties(
    condition: ScoreCondition, scope: Scope, extremes: Extremes, *, gain: str, skip_undefined: bool
) -> Finding:
    """
    As `decide_scores`, also with the least scores and with the greatest over the orders of tied documents.

    INCONCLUSIVE where these decide otherwise, as for a drop.
    """
    finding = decide_scores(condition, scope, gain=gain, skip_undefined=skip_undefined)
    moved_by_ties = [query for query in scope.counted if extremes.least[query] != extremes.greatest[query]]
    if finding.observed is None or not moved_by_ties:
        return finding
    for values in (extremes.least, extremes.greatest):
        if not all(math.isfinite(value) for value in values.values()):
            # An infinite value stands for a range that is not known.
            reason = f"cannot be decided: too many orders of ties to check; {finding.reason}"
            return _refuse_ties(finding, reason, moved_by_ties, extremes.remedy)
    least_scope, greatest_scope = replace(scope, counted=extremes.least), replace(scope, counted=extremes.greatest)
    least = decide_scores(condition, least_scope, gain=gain, skip_undefined=skip_undefined)
    greatest = decide_scores(condition, greatest_scope, gain=gain, skip_undefined=skip_undefined)
    if least.status is greatest.status is finding.status:
        assert least.observed is not None, "a figure that is decided is observed"
        assert greatest.observed is not None, "a figure that is decided is observed"
        figures = least.observed, greatest.observed
        return _add_tie_range(finding, condition, min(figures), max(figures))
    reason = f"cannot be decided: over the orders of ties, {least.reason}, to {greatest.reason}"
    return _refuse_ties(finding, reason, moved_by_ties, extremes.remedy)


def _refuse_ties(finding: Finding, reason: str, moved_by_ties: Sequence[str], remedy: str) -> Finding:
    """*finding* as INCONCLUSIVE: the order of ties decides. *remedy* is empty where there is none."""
    parts = [reason, f"the order of tied documents decides in {counted(moved_by_ties, 'query')}"]
    if remedy:
        parts.append(remedy)
    return replace(
        finding,
        status=Status.INCONCLUSIVE,
        reason="; ".join(parts),
        blamed=tuple(moved_by_ties),
        caveat="",
        cause=Cause.TIES,
    )


def _compare(condition: ScoreCondition, scope: Scope, name: str, finding: Finding) -> Finding:
    """Complete *finding*: whether the figure meets *condition*, and the queries to blame where it does not."""
    decisive = _aggregate(condition, scope.counted, scope.weights)
    short = _list_short(condition, scope)
    reason = f"{name} {_describe_figure(condition, scope, decisive, len(short))}"
    if scope.zero_hits:
        reason += f"; zero hits: {listed(scope.zero_hits)}"
    left_out = describe_left_out(scope.skipped, scope.undefined)
    if left_out:
        reason += f"; left out: {left_out}"
    observed = decisive
    if condition.statistic is StatisticKind.SHARE:
        observed = (len(scope.counted) - len(short)) / len(scope.counted)
    if is_met(decisive, condition.operator, condition.required):
        return replace(finding, status=Status.PASSED, reason=reason, observed=observed)
    if short and condition.statistic is not StatisticKind.QUERY:
        reason += f"; {_describe_blame(condition, scope, short)}"
    return replace(finding, status=Status.FAILED, reason=reason, observed=observed, blamed=tuple(short))


# The figure that is compared, and the queries that miss what is required.
#
# `95% nDCG@10 >= 0.5` is a SHARE: it requires a score of a query, and a share of the queries that reach it. So it has
# two figures where every other statistic has one:
#
# - The decisive value is a score, compared with the score that is required: that of the query that is needed last to
#   make up the share, counted from the best. If it is met, so is the share, of whole queries and without rounding; and
#   it says how far the share is from being met.
# - The observed figure of the verdict is the share of the queries, beside the share that is required. It is what the
#   threshold is about to its reader, and the greater share is always the better, whichever way scores are compared.


def _aggregate(condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """
    The decisive value, in the measure's unit.

    For `every` it is the worst value; for a share, the worst of the best queries that make up the share. Only the mean
    uses the queries' weights.
    """
    if condition.statistic is StatisticKind.MEAN:
        return mean_of(values, weights)
    if condition.statistic is StatisticKind.MEDIAN:
        return median(values.values())
    worst_first = _sort_worst_first(condition, values, values)
    if condition.statistic is not StatisticKind.SHARE:
        return values[worst_first[0]]
    needed = _count_required(condition.share or 1.0, len(worst_first))
    return values[worst_first[-needed]]


def _compute_observed(condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The observed figure of a verdict."""
    if condition.statistic is not StatisticKind.SHARE:
        return _aggregate(condition, values, weights)
    meeting = [query for query, value in values.items() if _meets_bound(condition, value)]
    return len(meeting) / len(values)


def _count_required(share: float, counted: int) -> int:
    """
    How many of *counted* queries make up *share* of them: the least whole number that is not less.

    *share* counts as the decimal fraction that was written: as a float, 0.07 * 100 is a little more than 7.

    >>> _count_required(0.95, 20), _count_required(0.95, 21), _count_required(0.07, 100)
    (19, 20, 7)
    """
    return math.ceil(Fraction(share).limit_denominator(10**9) * counted)


def _get_required(condition: ScoreCondition) -> float:
    """The required figure of a verdict, beside the observed one."""
    if condition.share is not None:
        return condition.share
    return condition.required


def _get_operator(condition: ScoreCondition) -> Operator:
    """How the observed figure of a verdict is compared with the required one."""
    if condition.statistic is StatisticKind.SHARE:
        return Operator.AT_LEAST
    return condition.operator


def _meets_bound(condition: ScoreCondition, value: float) -> bool:
    """Whether *value*, of one query, meets what is required of one."""
    return is_met(value, condition.operator, condition.required)


def _uses_weights(condition: ScoreCondition, scope: Scope) -> bool:
    """Whether the figure is a mean of queries with different weights."""
    return condition.statistic is StatisticKind.MEAN and bool(scope.weights)


def _list_short(condition: ScoreCondition, scope: Scope) -> list[str]:
    """
    The queries that by themselves miss what is required, in the order in which to look at them.

    Those of a weighted mean are ordered by what each costs the mean: its weight times its shortfall.
    """
    short = [query for query, value in scope.counted.items() if not _meets_bound(condition, value)]
    if not _uses_weights(condition, scope):
        return _sort_worst_first(condition, scope.counted, short)
    costs = {query: scope.weights[query] * abs(scope.counted[query] - condition.required) for query in short}
    return sorted(short, key=lambda query: (-costs[query], query))


def _sort_worst_first(condition: ScoreCondition, values: Mapping[str, float], queries: Iterable[str]) -> list[str]:
    """The *queries*, which *values* has, by how far they miss what is required of one; equal ones by their id."""
    operator, required = condition.operator, condition.required
    # Sorted twice: pairs of merit and id, as one key, take 72 bytes a query.
    by_id = sorted(queries)
    return sorted(by_id, key=lambda query: compute_merit(values[query], operator, required))


# The reason in words.


def _name_figure(condition: ScoreCondition, scope: Scope, gain: str) -> str:
    """What is compared, as the subject of a sentence: "mean nDCG@10 (gain exponential)"."""
    measure = condition.measure.text
    if gain:
        measure = f"{measure} (gain {gain})"
    if condition.statistic is StatisticKind.MEAN:
        return f"{name_mean(scope.weights)} {measure}"
    if condition.statistic is StatisticKind.MEDIAN:
        return f"{condition.statistic} {measure}"
    return measure


def _describe_figure(condition: ScoreCondition, scope: Scope, decisive: float, short: int) -> str:
    """
    The figure beside what is required, as the rest of a sentence.

    *decisive* is the value that is compared. *short* is the number of queries that by themselves miss what is required
    of one.
    """
    value = format_observed(decisive, condition.operator, condition.required)
    bound = f"{condition.operator} {format_number(condition.required)}"
    total = len(scope.counted)
    met = total - short
    if condition.statistic is StatisticKind.QUERY:
        return f"is {value}, required {bound}"
    if condition.statistic is StatisticKind.EVERY:
        sentence = f"is {bound} for {met} of {count(total, 'query')}, required for every one"
        if short == 0:
            sentence += f"; the worst is {value}"
        return sentence
    if condition.statistic is StatisticKind.SHARE:
        share = condition.share or 1.0
        needed = _count_required(share, total)
        return (
            f"is {bound} for {met} of {count(total, 'query')} ({met / total:.2%}), "
            f"required for {format_number(share * 100)}%, that is {needed}; query {needed} from the best has {value}"
        )
    return f"is {value}, required {bound}, over {count(total, 'query')}"


def _describe_blame(condition: ScoreCondition, scope: Scope, short: Sequence[str]) -> str:
    """The first of the queries *short* with their values, and with their weights where the mean uses them."""
    uses_weights = _uses_weights(condition, scope)
    queries = []
    for query in short:
        value = format_observed(scope.counted[query], condition.operator, condition.required)
        if uses_weights:
            value += format_weight(query, scope.weights)
        queries.append(f"{query} {value}")
    superlative = "cost most" if uses_weights else "worst"
    return f"{superlative}: {listed(queries)}"


# Ties: how far the figure depends on the order of tied documents.


def add_ties(
    finding: Finding, condition: ScoreCondition, scope: Scope, extremes: Iterable[Mapping[str, float]]
) -> Finding:
    """
    Add to *finding* how far its figure depends on the order of tied documents, and whether that order decides it.

    Args:
        finding: The outcome of *condition*.
        condition: The threshold.
        scope: The scores of its measure over its queries.
        extremes: The scores with the least values over the orders of ties, and with the greatest; none where ties move
            none of them.
    """
    if finding.observed is None:
        return finding
    figures = [_compute_observed(condition, values, scope.weights) for values in extremes]
    if not figures:
        return finding
    return _add_tie_range(finding, condition, min(figures), max(figures))


def _add_tie_range(finding: Finding, condition: ScoreCondition, least: float, greatest: float) -> Finding:
    """*finding* with its *least* and its *greatest* figure over the orders of ties, if they differ."""
    if greatest - least <= TOLERANCE:
        return finding
    required, operator = _get_required(condition), _get_operator(condition)
    sentence = f"{_format_figure(condition, least)} to {_format_figure(condition, greatest)} over the orders of ties"
    caveat = ""
    if is_met(least, operator, required) != is_met(greatest, operator, required):
        sentence += ", so their order decides"
        if finding.status is Status.PASSED:
            caveat = sentence
    return replace(finding, reason=f"{finding.reason}; {sentence}", caveat=caveat, ties=(least, greatest))


def _format_figure(condition: ScoreCondition, value: float) -> str:
    """*value*, an observed figure, as a verdict shows it."""
    if condition.statistic is StatisticKind.SHARE:
        return f"{value:.2%}"
    return format_observed(value, condition.operator, condition.required)


# Rankings that are shorter than requested, where it is not known whether more documents match.


def add_short_rankings(finding: Finding, condition: ScoreCondition, scope: Scope, inputs: GateInputs) -> Finding:
    """
    Add to *finding* which rankings may lack hits, and why that is not known.

    A pass is INCONCLUSIVE if it would fail with more hits. They are scored three times: as unjudged ones, as those of
    no gain, and as the best judged ones.
    """
    if finding.status not in (Status.PASSED, Status.FAILED):
        return finding
    short_rankings = _find_short_rankings(condition, scope, inputs)
    if not short_rankings:
        return finding
    requested = inputs.requested
    first = next(iter(short_rankings.values()))
    why = f"{listed(list(short_rankings))}: {describe_incomplete_hits(first, requested)}"
    if finding.status is Status.FAILED:
        return replace(finding, reason=f"{finding.reason}; {why}")
    queries = select_by_id(inputs.suite.queries, short_rankings)
    query_ids = [query.id for query in queries]
    continuations = [_continue_ranking(inputs.suite, query, short_rankings[query.id], requested) for query in queries]
    # Each round has one of the three continuations of every short ranking.
    for rankings in zip(*continuations, strict=True):
        run = replace(inputs.run, responses=dict(zip(query_ids, rankings, strict=True)))
        values = dict(scope.counted)
        for query in queries:
            value = score_of(inputs.suite, query, condition.measure, run).value
            if value is not None:
                values[query.id] = value
        if not _meets_bound(condition, _aggregate(condition, values, scope.weights)):
            reason = f"cannot be decided: {why}; {finding.reason}"
            blamed = tuple(short_rankings)
            return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=blamed, cause=Cause.MORE_HITS)
    return finding


def _find_short_rankings(condition: ScoreCondition, scope: Scope, inputs: GateInputs) -> dict[str, Ranking]:
    """The rankings that lack hits that *condition* counts and that may exist, by query."""
    requested = inputs.requested
    if not (requested.doubt or requested.doubt_of_short_response):
        return {}
    needed = min(condition.measure.cutoff or requested.depth, requested.depth)
    short = {}
    for query in scope.counted:
        ranking = inputs.run.responses.get(query)
        if not isinstance(ranking, Ranking) or ranking.returned >= needed:
            continue
        if describe_incomplete_hits(ranking, requested):
            short[query] = ranking
    return short


def _continue_ranking(suite: Suite, query: Query, ranking: Ranking, requested: RequestedDepth) -> list[Ranking]:
    """
    *ranking* three times, each time continued with other hits to as many as were requested, or as match.

    Which hits follow is not known, and no single guess is the worst for every measure and operator:

    1. Unjudged hits lower `Judged`, and a share of the hits.
    2. Hits of no gain, the lowest grade first, lower a measure that leaves unjudged documents out, or one whose gains
       may be negative.
    3. The best judged documents, and a document with all quotes, raise a measure above what `<=` allows.
    """
    returned = set(ranking.ids)
    not_returned = [document for document in query.judgments if document not in returned]
    best_first = sorted(not_returned, key=lambda document: -query.judgments[document])
    worst_first = reversed(best_first)
    without_gain = [document for document in worst_first if query.judgments[document] <= 0]
    size = requested.depth
    if ranking.total is not None and not ranking.total_is_lower_bound:
        size = min(size, ranking.total)
    unjudged = [f"\0{number}" for number in range(size)]  # no document has such an id
    score = None
    if ranking.hits[-1].score is not None:
        # A profile may sort by score: the new hits stay below those that were returned.
        score = -math.inf
    continued = []
    quoted = {}
    if suite.display.text is not None and query.quotes:
        quoted[suite.display.text] = tuple(quote.text for quote in query.quotes)
    for documents, values in ((unjudged, {}), ([*without_gain, *unjudged], {}), ([*best_first, *unjudged], quoted)):
        new_hits = [Hit(document, score=score, values=values) for document in documents]
        continued.append(replace(ranking, hits=(*ranking.hits, *new_hits)[:size]))
    return continued
