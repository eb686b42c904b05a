"""Thresholds on a measure: mean, median, every query, a share of them, one query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from harness.gate.decide_answers import RequestedDepth, explain_what_may_follow
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
from harness.metrics.score import score_of
from harness.model.run import Hit, Ranking, Response, Status, Unit
from harness.model.suite import Operator, Query, ScoreCondition, StatisticKind, select_by_id
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
    finding = Finding(
        Status.FAILED,
        "",
        None,
        _get_required(condition),
        condition.measure.text,
        counted=len(scope.counted),
        left_out=left_out,
        unit=Unit.SHARE if condition.statistic is StatisticKind.SHARE else None,
        operator=_get_operator(condition),
    )
    if scope.unanswered:
        reason = f"{name} cannot be decided: {scope.no_score}"
        return replace(finding, status=Status.ERROR, reason=reason, blamed=tuple(scope.unanswered))
    if scope.undefined and not skip_undefined:
        reason = f"{name} {describe_undefined(scope.undefined, scope.size)}"
        return replace(finding, reason=reason, blamed=scope.undefined)
    if not scope.counted:
        why = explain_nothing_left(scope.skipped, scope.undefined)
        return replace(finding, reason=f"{name} has nothing to decide: {why}", blamed=scope.undefined)
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
    """As `decide_scores`; INCONCLUSIVE where the order of tied documents decides, as for a drop."""
    finding = decide_scores(condition, scope, gain=gain, skip_undefined=skip_undefined)
    moved = [query for query in scope.counted if extremes.least[query] != extremes.greatest[query]]
    if finding.observed is None or not moved:
        return finding
    findings = []
    for values in (extremes.least, extremes.greatest):
        # Nothing is known of a range that is infinite.
        if not all(map(math.isfinite, values.values())):
            reason = f"cannot be decided: too many orders of ties to check; {finding.reason}"
            return _refuse_ties(finding, reason, moved, extremes.remedy)
        extreme_scope = replace(scope, counted=values)
        findings.append(decide_scores(condition, extreme_scope, gain=gain, skip_undefined=skip_undefined))
    least, greatest = findings
    if least.status is greatest.status is finding.status:
        assert least.observed is not None, "a figure that is decided is observed"
        assert greatest.observed is not None, "a figure that is decided is observed"
        ties = min(least.observed, greatest.observed), max(least.observed, greatest.observed)
        return _describe_ties(finding, condition, ties)
    reason = f"cannot be decided: over the orders of ties, {least.reason}, to {greatest.reason}"
    return _refuse_ties(finding, reason, moved, extremes.remedy)


def _refuse_ties(finding: Finding, reason: str, moved: Sequence[str], remedy: str) -> Finding:
    parts = [reason, f"the order of tied documents decides in {counted(moved, 'query')}", remedy]
    reason = "; ".join(filter(None, parts))
    return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=tuple(moved), caveat="")


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
    return sum(_meets_bound(condition, value) for value in values.values()) / len(values)


def _count_required(share: float, counted: int) -> int:
    """
    How many of *counted* queries make up *share* of them: the least whole number that is not less.

    The share is taken as the decimal fraction that was written, since 0.07 * 100 is a little more than 7 in binary.

    >>> _count_required(0.95, 20), _count_required(0.95, 21), _count_required(0.07, 100)
    (19, 20, 7)
    """
    return math.ceil(Fraction(share).limit_denominator(10**9) * counted)


def _get_required(condition: ScoreCondition) -> float:
    """The required figure of a verdict, beside the observed one."""
    return condition.required if condition.share is None else condition.share


def _get_operator(condition: ScoreCondition) -> Operator:
    """How the observed figure of a verdict is compared with the required one."""
    return Operator.AT_LEAST if condition.statistic is StatisticKind.SHARE else condition.operator


def _meets_bound(condition: ScoreCondition, value: float) -> bool:
    """Whether *value*, of one query, meets what is required of one."""
    return is_met(value, condition.operator, condition.required)


def _uses_weights(condition: ScoreCondition, scope: Scope) -> bool:
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
    measure = f"{condition.measure.text} (gain {gain})" if gain else condition.measure.text
    if condition.statistic is StatisticKind.MEAN:
        return f"{name_mean(scope.weights)} {measure}"
    if condition.statistic is StatisticKind.MEDIAN:
        return f"{condition.statistic} {measure}"
    return measure


def _describe_figure(condition: ScoreCondition, scope: Scope, decisive: float, short: int) -> str:
    """The figure beside what is required; *short* queries by themselves miss what is required of one."""
    shown = format_observed(decisive, condition.operator, condition.required)
    bound = f"{condition.operator} {format_number(condition.required)}"
    total = len(scope.counted)
    if condition.statistic is StatisticKind.QUERY:
        return f"is {shown}, required {bound}"
    if condition.statistic is StatisticKind.EVERY:
        sentence = f"is {bound} for {total - short} of {count(total, 'query')}, required for every one"
        return sentence if short else f"{sentence}; the worst is {shown}"
    if condition.statistic is StatisticKind.SHARE:
        share = condition.share or 1.0
        needed = _count_required(share, total)
        return (
            f"is {bound} for {total - short} of {count(total, 'query')} ({(total - short) / total:.2%}), "
            f"required for {format_number(share * 100)}%, that is {needed}; query {needed} from the best has {shown}"
        )
    return f"is {shown}, required {bound}, over {count(total, 'query')}"


def _describe_blame(condition: ScoreCondition, scope: Scope, short: Sequence[str]) -> str:
    """The first of the queries *short* with their values, and with their weights where the mean uses them."""
    uses_weights = _uses_weights(condition, scope)
    queries = []
    for query in short:
        value = format_observed(scope.counted[query], condition.operator, condition.required)
        weight = format_weight(query, scope.weights) if uses_weights else ""
        queries.append(f"{query} {value}{weight}")
    return f"{'cost most' if uses_weights else 'worst'}: {listed(queries)}"


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
    return _describe_ties(finding, condition, (min(figures), max(figures)))


def _describe_ties(finding: Finding, condition: ScoreCondition, ties: tuple[float, float]) -> Finding:
    """*finding* with the least and the greatest figure over the orders of *ties*, if they differ."""
    least, greatest = ties
    if greatest - least <= TOLERANCE:
        return finding
    required, operator = _get_required(condition), _get_operator(condition)
    decides = is_met(least, operator, required) != is_met(greatest, operator, required)
    sentence = f"{_format_figure(condition, least)} to {_format_figure(condition, greatest)} over the orders of ties"
    if decides:
        sentence += ", so their order decides"
    caveat = sentence if decides and finding.status is Status.PASSED else ""
    return replace(finding, reason=f"{finding.reason}; {sentence}", caveat=caveat, ties=(least, greatest))


def _format_figure(condition: ScoreCondition, value: float) -> str:
    if condition.statistic is StatisticKind.SHARE:
        return f"{value:.2%}"
    return format_observed(value, condition.operator, condition.required)


# Rankings that are shorter than requested, where it is not known whether more documents match.


def add_short_rankings(finding: Finding, condition: ScoreCondition, scope: Scope, inputs: GateInputs) -> Finding:
    """
    Add to *finding* which rankings are short of hits, and why; INCONCLUSIVE where it passes and would not with hits
    that may follow: unjudged ones, those of no gain, or relevant ones.
    """
    if finding.status not in (Status.PASSED, Status.FAILED):
        return finding
    short = _find_short_rankings(condition, scope, inputs)
    if not short:
        return finding
    requested = inputs.requested
    first = next(iter(short.values()))
    why = f"{listed(list(short))}: {explain_what_may_follow(first, requested)}"
    if finding.status is Status.FAILED:
        return replace(finding, reason=f"{finding.reason}; {why}")
    queries = select_by_id(inputs.suite.queries, short)
    names = [query.id for query in queries]
    continuations = [_continue_ranking(query, short[query.id], requested) for query in queries]
    for rankings in zip(*continuations, strict=True):
        run = replace(inputs.run, responses=dict(zip(names, rankings, strict=True)))
        values = dict(scope.counted)
        for query in queries:
            value = score_of(inputs.suite, query, condition.measure, run).value
            if value is not None:
                values[query.id] = value
        if not _meets_bound(condition, _aggregate(condition, values, scope.weights)):
            reason = f"cannot be decided: {why}; {finding.reason}"
            return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=tuple(short))
    return finding


def _find_short_rankings(condition: ScoreCondition, scope: Scope, inputs: GateInputs) -> dict[str, Ranking]:
    """The rankings that lack hits that *condition* counts and that may exist, by query."""
    requested = inputs.requested
    if not (requested.doubt or requested.own_total):
        return {}
    needed = min(condition.measure.cutoff or requested.depth, requested.depth)
    short = {}
    for query in scope.counted:
        ranking = inputs.run.responses.get(query)
        if not isinstance(ranking, Ranking) or ranking.returned >= needed:
            continue
        if explain_what_may_follow(ranking, requested):
            short[query] = ranking
    return short


def _continue_ranking(query: Query, ranking: Ranking, requested: RequestedDepth) -> list[Ranking]:
    """*ranking* with as many hits as were requested, or as match, continued in each of three ways."""
    returned = {hit.id for hit in ranking.hits}
    not_returned = [document for document in query.judgments if document not in returned]
    best_first = sorted(not_returned, key=lambda document: -query.judgments[document])
    without_gain = [document for document in reversed(best_first) if query.judgments[document] <= 0]
    size = requested.depth
    if ranking.total is not None and not ranking.total_is_lower_bound:
        size = min(size, ranking.total)
    unjudged = [f"\0{place}" for place in range(size)]  # no document has such an id
    # A profile may sort by score: what follows stays below what was returned.
    score = None if ranking.hits[-1].score is None else -math.inf

    def continue_with(documents: Sequence[str]) -> Ranking:
        hits = [*ranking.hits, *(Hit(document, score=score) for document in documents)]
        return replace(ranking, hits=tuple(hits[:size]))

    # Which hits follow is not known, and no single guess is the worst for every measure and operator. Unjudged hits
    # lower `Judged` and a share of the hits. Hits of no gain, the lowest grade first, lower a measure that leaves
    # unjudged documents out, or whose gains may be negative. The best hits raise a measure above what `<=` allows.
    followed_by_unjudged = continue_with(unjudged)
    followed_by_no_gain = continue_with([*without_gain, *unjudged])
    followed_by_best = continue_with([*best_first, *unjudged])
    return [followed_by_unjudged, followed_by_no_gain, followed_by_best]


# The documents that keep a threshold on Judged@k from holding.

JUDGED = "Judged"
"""The measure that falls short where documents are unjudged."""

QUERIES_NAMED = 3
DOCUMENTS_NAMED = 10
DOCUMENTS_NAMED_OF_EACH = 3
"""The unjudged hits that are named of each query, where several are."""


def add_unjudged(
    finding: Finding, condition: ScoreCondition, queries: Sequence[Query], responses: Mapping[str, Response]
) -> Finding:
    """Add the unjudged hits of the worst queries to the reason of *finding*, where *condition* is on Judged@k."""
    if condition.measure.name != JUDGED or finding.status is not Status.FAILED:
        return finding
    # A finding blames the worst queries first, and `select_by_id` returns the queries in the order of the suite.
    by_id = {query.id: query for query in select_by_id(queries, finding.blamed[:QUERIES_NAMED])}
    worst = [by_id[name] for name in finding.blamed[:QUERIES_NAMED] if name in by_id]
    most = DOCUMENTS_NAMED if len(worst) == 1 else DOCUMENTS_NAMED_OF_EACH
    parts = []
    for query in worst:
        documents = _list_unjudged(query, responses.get(query.id), condition.measure.cutoff)
        if documents:
            parts.append(f"{query.id}: {listed(documents, most)}")
    if not parts:
        return finding
    reason = f"{finding.reason}; unjudged hits of {'; of '.join(parts)}"
    more = len(finding.blamed) - len(worst)
    if more > 0:
        reason += f"; and of {more} more {'query' if more == 1 else 'queries'}"
    return replace(finding, reason=f"{reason}; `relevance judgments pool` collects them for grading")


def _list_unjudged(query: Query, response: Response | None, cutoff: int | None) -> list[str]:
    """The unjudged hits of *query* down to the *cutoff*, with their ranks."""
    if not isinstance(response, Ranking):
        return []
    ranked = enumerate(response.hits[:cutoff], start=1)
    return [f"{hit.id} (rank {rank})" for rank, hit in ranked if hit.id not in query.judgments]
