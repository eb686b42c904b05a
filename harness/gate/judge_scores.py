"""Thresholds on a measure: mean, median, every query, a share of them, one query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import median

from harness.gate.finding import (
    Finding,
    Scope,
    compute_merit,
    describe_undefined,
    format_number,
    format_observed,
    format_weight,
    is_met,
    name_mean,
)
from harness.gate.grammar import TOLERANCE
from harness.gate.judge_answers import RequestedDepth, explain_what_may_follow
from harness.gate.pairs import Compared
from harness.means import mean_of
from harness.metrics.score import score_of
from harness.model import (
    Hit,
    Operator,
    Query,
    Ranking,
    Response,
    ScoreCondition,
    StatisticKind,
    Status,
    Unit,
    with_ids,
)
from harness.words import count, listed


def _queries_required(share: float, counted: int) -> int:
    """
    How many of *counted* queries make up *share* of them: the least whole number that is not less.

    The share is taken as the decimal fraction that was written, since 0.07 * 100 is a little more than 7 in binary.

    >>> _queries_required(0.95, 20), _queries_required(0.95, 21), _queries_required(0.07, 100)
    (19, 20, 7)
    """
    return math.ceil(Fraction(share).limit_denominator(10**9) * counted)


def _worst_first(condition: ScoreCondition, values: Mapping[str, float], queries: Iterable[str]) -> list[str]:
    """
    The *queries*, which *values* has, by how far they miss what the condition requires of one; equal ones by their id.

    They are sorted twice, as pairs of value and id take 72 bytes a query.
    """
    return sorted(
        sorted(queries), key=lambda query: compute_merit(values[query], condition.operator, condition.required)
    )


def _costliest_first(
    condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float], short: Iterable[str]
) -> list[str]:
    """The queries *short* of what is required, by what each costs the mean: its weight times its shortfall."""

    def order(query: str) -> tuple[float, str]:
        return -weights[query] * abs(values[query] - condition.required), query

    return sorted(short, key=order)


def _aggregate(condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """
    The one value, in the measure's unit, that decides the condition when it is compared with what is required.

    For `every` it is the worst value; for a share, the worst of the best queries that make up the share. Only the mean
    uses the queries' weights.
    """
    if condition.statistic is StatisticKind.MEAN:
        return mean_of(values, weights)
    if condition.statistic is StatisticKind.MEDIAN:
        return median(values.values())
    ordered = _worst_first(condition, values, values)
    if condition.statistic is not StatisticKind.SHARE:
        return values[ordered[0]]
    return values[ordered[-_queries_required(condition.share or 1.0, len(ordered))]]


def judge_scores(condition: ScoreCondition, scope: Scope, *, gain: str, skip_undefined: bool) -> Finding:
    """
    Compare the scores of *scope* with what *condition* requires.

    Args:
        condition: The threshold.
        scope: The scores of its measure over its queries.
        gain: The gain in force, for the reason; empty where the measure has none.
        skip_undefined: Whether undefined queries are left out instead of failing the threshold.

    Returns:
        ERROR where a query has no answer; FAILED where one is undefined and may not be left out, where nothing is left
        to judge, or where the figure falls short; else PASSED.
    """
    name = _name(condition, scope, gain)
    left_out = len(scope.skipped) + (len(scope.undefined) if skip_undefined else 0)
    if scope.unanswered:
        reason = f"{name} cannot be decided: {scope.no_score}"
        status, observed, blamed = Status.ERROR, None, tuple(scope.unanswered)
    elif scope.undefined and not skip_undefined:
        reason = f"{name} {describe_undefined(scope.undefined, scope.size)}"
        status, observed, blamed = Status.FAILED, None, scope.undefined
    elif not scope.counted:
        status, reason, observed, blamed = Status.FAILED, _nothing(name, scope), None, scope.undefined
    else:
        status, reason, observed, blamed = _compare(condition, scope, name)
    return Finding(
        status,
        reason,
        observed,
        _required(condition),
        condition.measure.text,
        blamed,
        len(scope.counted),
        left_out,
        _unit(condition),
        operator=_operator(condition),
    )


def _compare(condition: ScoreCondition, scope: Scope, name: str) -> tuple[Status, str, float, tuple[str, ...]]:
    """Whether the figure meets *condition*, in words, with the figure, and the queries to blame where it does not."""
    decisive = _aggregate(condition, scope.counted, scope.weights)
    passed = is_met(decisive, condition.operator, condition.required)
    short, total = _short(condition, scope), len(scope.counted)
    sentence = f"{name} {_sentence(condition, scope, decisive, len(short))}{_asides(scope)}"
    if not passed and short and condition.statistic is not StatisticKind.QUERY:
        sentence += f"; {_blame(condition, scope, short)}"
    observed = (total - len(short)) / total if condition.statistic is StatisticKind.SHARE else decisive
    return (Status.PASSED, sentence, observed, ()) if passed else (Status.FAILED, sentence, observed, tuple(short))


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
    ends = [_observed(condition, values, scope.weights) for values in extremes]
    if not ends:
        return finding
    least, greatest = min(ends), max(ends)
    if greatest - least <= TOLERANCE:
        return finding
    required, operator = _required(condition), _operator(condition)
    decides = is_met(least, operator, required) != is_met(greatest, operator, required)
    shown = [_figure(condition, value) for value in (least, greatest)]
    sentence = f"{' to '.join(shown)} over the orders of ties{', so their order decides' if decides else ''}"
    caveat = sentence if decides and finding.status is Status.PASSED else ""
    return replace(finding, reason=f"{finding.reason}; {sentence}", caveat=caveat, ties=(least, greatest))


def _figure(condition: ScoreCondition, value: float) -> str:
    if condition.statistic is StatisticKind.SHARE:
        return f"{value:.2%}"
    return format_observed(value, condition.operator, condition.required)


def _observed(condition: ScoreCondition, values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The observed figure of a verdict; for a share, the fraction of the queries that meet the bound."""
    if condition.statistic is not StatisticKind.SHARE:
        return _aggregate(condition, values, weights)
    return sum(_meets(condition, value) for value in values.values()) / len(values)


def _required(condition: ScoreCondition) -> float:
    """What the figure is compared with; for a share, the share of the queries."""
    return condition.required if condition.share is None else condition.share


def _unit(condition: ScoreCondition) -> Unit | None:
    return Unit.SHARE if condition.statistic is StatisticKind.SHARE else None


def _operator(condition: ScoreCondition) -> Operator:
    return Operator.AT_LEAST if condition.statistic is StatisticKind.SHARE else condition.operator


def _short(condition: ScoreCondition, scope: Scope) -> list[str]:
    """The queries that by themselves miss what is required, in the order in which to look at them."""
    values = scope.counted
    short = _worst_first(condition, values, (query for query, value in values.items() if not _meets(condition, value)))
    return _costliest_first(condition, values, scope.weights, short) if _is_weighted(condition, scope) else short


def _meets(condition: ScoreCondition, value: float) -> bool:
    return is_met(value, condition.operator, condition.required)


def _is_weighted(condition: ScoreCondition, scope: Scope) -> bool:
    return condition.statistic is StatisticKind.MEAN and bool(scope.weights)


def _name(condition: ScoreCondition, scope: Scope, gain: str) -> str:
    figure = f"{condition.measure.text} (gain {gain})" if gain else condition.measure.text
    if condition.statistic is StatisticKind.MEAN:
        return f"{name_mean(scope.weights)} {figure}"
    return f"{condition.statistic} {figure}" if condition.statistic is StatisticKind.MEDIAN else figure


def _sentence(condition: ScoreCondition, scope: Scope, observed: float, short: int) -> str:
    shown = format_observed(observed, condition.operator, condition.required)
    bound = f"{condition.operator} {format_number(condition.required)}"
    total = len(scope.counted)
    if condition.statistic is StatisticKind.QUERY:
        return f"is {shown}, required {bound}"
    if condition.statistic is StatisticKind.EVERY:
        worst = "" if short else f"; the worst is {shown}"
        return f"is {bound} for {total - short} of {count(total, 'query')}, required for every one{worst}"
    if condition.statistic is StatisticKind.SHARE:
        share = condition.share or 1.0
        needed = _queries_required(share, total)
        return (
            f"is {bound} for {total - short} of {count(total, 'query')} ({(total - short) / total:.2%}), "
            f"required for {format_number(share * 100)}%, that is {needed}; query {needed} from the best has {shown}"
        )
    return f"is {shown}, required {bound}, over {count(total, 'query')}"


def _asides(scope: Scope) -> str:
    zero_hits = f"; zero hits: {listed(scope.zero_hits)}" if scope.zero_hits else ""
    left_out = _left_out(scope)
    return f"{zero_hits}; left out: {left_out}" if left_out else zero_hits


def _left_out(scope: Scope) -> str:
    groups = ((scope.skipped, "skipped"), (scope.undefined, "undefined"))
    return ", ".join(f"{len(group)} {word}" for group, word in groups if group)


def _blame(condition: ScoreCondition, scope: Scope, short: Sequence[str]) -> str:
    """The first of the queries *short* with their values, and with their weights where the mean uses them."""
    weighted = _is_weighted(condition, scope)

    def shown(query: str) -> str:
        value = format_observed(scope.counted[query], condition.operator, condition.required)
        return f"{query} {value}{format_weight(query, scope.weights)}" if weighted else f"{query} {value}"

    return f"{'cost most' if weighted else 'worst'}: {listed(list(map(shown, short)))}"


def _nothing(name: str, scope: Scope) -> str:
    if not scope.size:
        return f"{name} has nothing to decide: no query is in its scope"
    return f"{name} has nothing to decide: every query is left out ({_left_out(scope)})"


# Rankings that are shorter than requested, where it is not known whether more documents match.


def add_short_rankings(
    finding: Finding, condition: ScoreCondition, scope: Scope, compared: Compared, asked: RequestedDepth
) -> Finding:
    """
    Add to *finding* which rankings are short of hits, and why; INCONCLUSIVE where it passes and would not with hits
    that may follow: unjudged ones, those of no gain, or relevant ones.

    Args:
        finding: The outcome of *condition*.
        condition: The threshold.
        scope: The scores of its measure over its queries.
        compared: The suite with its run.
        asked: The number of hits that were requested.
    """
    short = dict(_short_rankings(condition, scope, compared, asked))
    if not short or finding.status not in (Status.PASSED, Status.FAILED):
        return finding
    why = f"{listed(list(short))}: {next(iter(short.values()))[1]}"
    if finding.status is Status.FAILED:
        return replace(finding, reason=f"{finding.reason}; {why}")
    queries = with_ids(compared.suite.queries, short)
    names = [query.id for query in queries]
    for rankings in zip(*(_continued(query, short[query.id][0], asked) for query in queries), strict=True):
        run = replace(compared.run, responses=dict(zip(names, rankings, strict=True)))
        scores = {query.id: score_of(compared.suite, query, condition.measure, run).value for query in queries}
        values = {**scope.counted, **{name: value for name, value in scores.items() if value is not None}}
        if not is_met(_aggregate(condition, values, scope.weights), condition.operator, condition.required):
            reason = f"cannot be decided: {why}; {finding.reason}"
            return replace(finding, status=Status.INCONCLUSIVE, reason=reason, blamed=tuple(short))
    return finding


def _short_rankings(
    condition: ScoreCondition, scope: Scope, compared: Compared, asked: RequestedDepth
) -> Iterator[tuple[str, tuple[Ranking, str]]]:
    """The rankings that lack hits that *condition* counts, by query, with what may follow them."""
    needed = condition.measure.cutoff or asked.depth
    for name in scope.counted if asked.doubt or asked.own_total else ():
        ranking = compared.run.responses.get(name)
        if isinstance(ranking, Ranking) and ranking.returned < min(needed, asked.depth):
            why = explain_what_may_follow(ranking, asked)
            if why:
                yield name, (ranking, why)


def _continued(query: Query, ranking: Ranking, asked: RequestedDepth) -> list[Ranking]:
    """
    *ranking* with as many hits as were requested, or as match: followed by unjudged documents; by the judged ones of no
    gain first; and by the best judged ones first.
    """
    returned = {hit.id for hit in ranking.hits}
    best = sorted((pair for pair in query.judgments.items() if pair[0] not in returned), key=lambda pair: -pair[1])
    without_gain = [pair for pair in reversed(best) if pair[1] <= 0]
    size = asked.depth if ranking.total is None or ranking.total_is_lower_bound else min(asked.depth, ranking.total)
    below = None if ranking.hits[-1].score is None else -math.inf  # a profile may sort by score
    unjudged = [(f"\0{place}", 0.0) for place in range(size)]  # no document has such an id
    return [
        replace(ranking, hits=(*ranking.hits, *(Hit(one, score=below) for one, _ in [*judged, *unjudged]))[:size])
        for judged in ([], without_gain, best)
    ]


# The documents that keep a threshold on Judged@k from holding.

JUDGED = "Judged"
"""The measure that falls short where documents are unjudged."""

QUERIES_NAMED = 3
DOCUMENTS_NAMED = 10


def add_unjudged(
    finding: Finding, condition: ScoreCondition, queries: Sequence[Query], responses: Mapping[str, Response]
) -> Finding:
    """Add the unjudged hits of the worst queries to the reason of *finding*, where *condition* is on Judged@k."""
    if condition.measure.name != JUDGED or finding.status is not Status.FAILED:
        return finding
    named = finding.blamed[:QUERIES_NAMED]
    by_id = {query.id: query for query in with_ids(queries, named)}
    worst = [by_id[name] for name in named if name in by_id]
    unjudged = [
        f"{query.id}: {', '.join(documents)}" for query in worst if (documents := _named(query, condition, responses))
    ]
    if not unjudged:
        return finding
    more = len(finding.blamed) - len(worst)
    left = f"; and of {more} more {'query' if more == 1 else 'queries'}" if more > 0 else ""
    remedy = "`harness judgments pool` collects them for grading"
    return replace(finding, reason=f"{finding.reason}; unjudged hits of {'; of '.join(unjudged)}{left}; {remedy}")


def _named(query: Query, condition: ScoreCondition, responses: Mapping[str, Response]) -> list[str]:
    """The unjudged hits of *query* down to the cutoff, with their ranks."""
    response = responses.get(query.id)
    hits = response.hits[: condition.measure.cutoff] if isinstance(response, Ranking) else ()
    unjudged = [f"{hit.id} (rank {rank})" for rank, hit in enumerate(hits, start=1) if hit.id not in query.judgments]
    more = len(unjudged) - DOCUMENTS_NAMED
    return [*unjudged[:DOCUMENTS_NAMED], *([f"{more} more"] if more > 0 else [])]
