"""
Thresholds on variants: other texts for a query, which should find the same.

Each variant is compared with its query in the same run, so that no baseline is needed. How far two rankings agree needs
no judgment either; how much a variant loses is scored with the judgments of its query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from harness.gate.decide_agreements import list_incomplete
from harness.gate.decide_answers import describe_without_ranking, list_without_hits, list_without_ranking
from harness.gate.decide_scores import Extremes, decide_scores_with_ties
from harness.gate.finding import (
    Finding,
    Scope,
    compute_merit,
    format_observed,
    is_met,
    read_weights,
    scope_scores,
    split_skipped,
)
from harness.gate.inputs import GateInputs
from harness.gate.ties import (
    suggest_tie_break,
)
from harness.gate.two_rankings import (
    ScoredQuery,
    compute_agreement,
    compute_loss,
    find_range_of_agreement,
    find_range_of_loss,
)
from harness.metrics.grammar import read_agreement
from harness.metrics.measures import measures_of
from harness.metrics.run_scores import gain_text
from harness.model.run import Cause, Ranking, Status
from harness.model.suite import (
    VARIANTS,
    AgreementCondition,
    Condition,
    LossCondition,
    Measure,
    Query,
    ScoreCondition,
    StatisticKind,
    Suite,
    Variant,
    get_counterpart,
    is_in_force,
    select_by_id,
)
from harness.words import count, listed, shorten


@dataclass(frozen=True, slots=True)
class _VariantValue:
    """The agreement or the loss of one variant, and its range over the orders of tied documents."""

    variant: Variant
    value: float
    least: float
    greatest: float
    has_hits: bool


def decide_variants(
    condition: AgreementCondition | LossCondition, queries: Sequence[Query], inputs: GateInputs
) -> Finding:
    """
    Compare the variants of *queries* with their queries.

    Returns:
        ERROR where a query or a variant has no ranking; INCONCLUSIVE where one ends before the cutoff although more
        documents may match, or where the order of tied documents decides; FAILED where no query has variants, where a
        score is undefined and may not be left out, or where the figure falls short; else PASSED.
    """
    score_condition = condition.as_score
    name = score_condition.measure.text
    active, _ = split_skipped([query for query in queries if query.variants], inputs.today)
    variants = _list_active_variants(active, inputs)
    # A query is left out by its own skip, and where all of its variants are queries that a skip leaves out.
    skipped = tuple(query.id for query in queries if query.variants and query.id not in variants)
    if not variants:
        reason = f"{name} has nothing to decide: no query in its scope has a variant that was sent"
        return Finding(Status.FAILED, reason, None, score_condition.required, name, cause=Cause.NOTHING_TO_DECIDE)
    compared = select_by_id(active, variants)
    problem = _find_missing_rankings(score_condition, variants, inputs)
    if problem is None:
        problem = _find_incomplete_rankings(score_condition, variants, inputs)
    if problem is not None:
        return problem

    gain = ""
    if isinstance(condition, LossCondition):
        gain = gain_text(condition.measure, inputs.suite)
        scope = scope_scores(compared, condition.measure.text, inputs.scores, inputs.today)
        values = _compute_losses(condition.measure, select_by_id(compared, scope.counted), variants, inputs)
        unscored = [query for query in scope.counted if query not in values]
        reasons = dict.fromkeys(unscored, f"a variant has no {condition.measure}")
        scope = replace(scope, unanswered={**scope.unanswered, **reasons})
    else:
        scope = Scope(dict.fromkeys(variants, 0.0), (), {}, (), ())
        values = _compute_agreements(condition.agreement, compared, variants, inputs)
    counted = _summarize_queries(score_condition, values)
    # Zero hits of a query are named with those of its variants.
    scope = replace(
        scope, counted=counted, zero_hits=(), skipped=skipped, weights=read_weights(inputs.suite.queries, counted)
    )
    extremes = Extremes(
        least=_summarize_queries(score_condition, _replace_values(values, "least")),
        greatest=_summarize_queries(score_condition, _replace_values(values, "greatest")),
        remedy=suggest_tie_break(inputs.suite.requests.get(inputs.run.request)),
    )
    finding = decide_scores_with_ties(
        score_condition, scope, extremes, gain=gain, skip_undefined=inputs.suite.skip_undefined
    )
    if finding.observed is None:
        return finding
    zero_hits = list_without_hits(values, inputs.run.responses)
    sentences = [finding.reason, *_describe_variants(score_condition, values, zero_hits)]
    unsent = sum(len(query.variants) - len(variants[query.id]) for query in compared)
    if unsent:
        sentences.append(f"left out: {count(unsent, 'skipped variant')}")
    return replace(finding, reason="; ".join(sentences))


def _summarize_queries(condition: ScoreCondition, values: Mapping[str, Sequence[_VariantValue]]) -> dict[str, float]:
    """One value for each query, from those of its variants."""
    return {query: _summarize(condition, values_of_query) for query, values_of_query in values.items()}


def _replace_values(
    values: Mapping[str, Sequence[_VariantValue]], extreme: Literal["least", "greatest"]
) -> dict[str, list[_VariantValue]]:
    """*values* with each at its least, or at its greatest, over the orders of tied documents."""
    replaced: dict[str, list[_VariantValue]] = {}
    for query, values_of_query in values.items():
        replaced[query] = [replace(value, value=getattr(value, extreme)) for value in values_of_query]
    return replaced


def _list_active_variants(queries: Sequence[Query], inputs: GateInputs) -> dict[str, tuple[Variant, ...]]:
    """The variants of *queries*, by query, without those that are queries which a skip leaves out."""
    skipped = {query.id for query in inputs.suite.queries if is_in_force(query.skip, inputs.today)}
    variants = {}
    for query in queries:
        active = tuple(variant for variant in query.variants if variant.id not in skipped)
        if active:
            variants[query.id] = active
    return variants


def _find_missing_rankings(
    condition: ScoreCondition, variants: Mapping[str, Sequence[Variant]], inputs: GateInputs
) -> Finding | None:
    """The finding that queries or their variants have no ranking; None if all have one."""
    name = condition.measure.text
    queries = list_without_ranking(list(variants), inputs.run.responses, "")
    others = list_without_ranking(_list_variant_ids(variants), inputs.run.variants, "")
    parts = []
    if queries:
        parts.append(describe_without_ranking(queries, "query"))
    if others:
        parts.append(describe_without_ranking(others, "variant"))
    if not parts:
        return None
    reason = f"{name} cannot be decided: {'; '.join(parts)}"
    blamed = _list_blamed(variants, {**queries, **others})
    return Finding(Status.ERROR, reason, None, condition.required, name, blamed, cause=Cause.UNANSWERED)


def _list_variant_ids(variants: Mapping[str, Sequence[Variant]]) -> list[str]:
    ids: list[str] = []
    for variants_of_query in variants.values():
        ids += [variant.id for variant in variants_of_query]
    return ids


def _find_incomplete_rankings(
    condition: ScoreCondition, variants: Mapping[str, Sequence[Variant]], inputs: GateInputs
) -> Finding | None:
    """The finding that rankings end before the cutoff, although more documents may match; None if none does."""
    name = condition.measure.text
    requested = replace(inputs.requested, depth=condition.measure.cutoff or inputs.suite.depth)
    incomplete = list_incomplete(list(variants), inputs.run.responses, requested)
    incomplete |= list_incomplete(_list_variant_ids(variants), inputs.run.variants, requested)
    if not incomplete:
        return None
    hits = listed([f"{query} ({incomplete[query]})" for query in incomplete])
    reason = f"{name} cannot be decided: more documents may match than were returned: {hits}"
    blamed = _list_blamed(variants, incomplete)
    return Finding(Status.INCONCLUSIVE, reason, None, condition.required, name, blamed, cause=Cause.MORE_HITS)


def _list_blamed(variants: Mapping[str, Sequence[Variant]], found: Mapping[str, str]) -> tuple[str, ...]:
    """The queries that are in *found*, or of which a variant is."""
    blamed = []
    for query, variants_of_query in variants.items():
        if query in found or any(variant.id in found for variant in variants_of_query):
            blamed.append(query)
    return tuple(blamed)


def _compute_agreements(
    agreement: Measure, queries: Sequence[Query], variants: Mapping[str, Sequence[Variant]], inputs: GateInputs
) -> dict[str, list[_VariantValue]]:
    values = {}
    for query in queries:
        ranking = inputs.run.responses[query.id]
        assert isinstance(ranking, Ranking), "queries without a ranking were refused"
        of_query = []
        for variant in variants[query.id]:
            other = inputs.run.variants[variant.id]
            assert isinstance(other, Ranking), "variants without a ranking were refused"
            depth = inputs.suite.depth
            value = compute_agreement(agreement, ranking, other, depth=depth)
            least, greatest = find_range_of_agreement(agreement, ranking, other, value, depth=depth)
            of_query.append(_VariantValue(variant, value, least, greatest, bool(other.hits)))
        values[query.id] = of_query
    return values


def _compute_losses(
    measure: Measure, queries: Sequence[Query], variants: Mapping[str, Sequence[Variant]], inputs: GateInputs
) -> dict[str, list[_VariantValue]]:
    """The losses by query; a query is left out if one of its variants has no score, as by a measure of the user's."""
    values = {}
    for query in queries:
        score = inputs.scores[query.id][measure.text].value
        scored = ScoredQuery(query, measure, score)
        of_query = []
        for variant in variants[query.id]:
            other = inputs.run.variants[variant.id]
            assert isinstance(other, Ranking), "variants without a ranking were refused"
            loss = compute_loss(inputs.suite, scored, inputs.run, other)
            if loss is not None:
                least, greatest = find_range_of_loss(inputs.suite, scored, inputs.run, other)
                least, greatest = min(least, loss), max(greatest, loss)
                of_query.append(_VariantValue(variant, loss, least, greatest, bool(other.hits)))
        if len(of_query) == len(variants[query.id]):
            values[query.id] = of_query
    return values


def _summarize(condition: ScoreCondition, values: Sequence[_VariantValue]) -> float:
    """The value of a query: the mean over its variants for a mean or a median, else that of the worst."""
    if condition.statistic in (StatisticKind.MEAN, StatisticKind.MEDIAN):
        return fmean(value.value for value in values)
    return _sort_worst_first(condition, values)[0].value


def _sort_worst_first(condition: ScoreCondition, values: Sequence[_VariantValue]) -> list[_VariantValue]:
    operator, required = condition.operator, condition.required
    return sorted(values, key=lambda value: compute_merit(value.value, operator, required))


def _describe_variants(
    condition: ScoreCondition, values: Mapping[str, Sequence[_VariantValue]], zero_hits: Sequence[str]
) -> list[str]:
    """
    How many variants were compared, those that by themselves miss what is required, and those without hits, after the
    queries without hits.
    """
    operator, required = condition.operator, condition.required
    all_values: list[_VariantValue] = []
    for values_of_query in values.values():
        all_values += values_of_query
    sentence = count(len(all_values), "variant")
    short = [value for value in all_values if not is_met(value.value, operator, required)]
    if short:
        worst_first = _sort_worst_first(condition, short)
        names = [
            f"{_name_variant(value.variant)} {format_observed(value.value, operator, required)}"
            for value in worst_first
        ]
        sentence += f", worst: {listed(names)}"
    sentences = [sentence]
    without_hits = list(zero_hits)
    without_hits += [_name_variant(value.variant) for value in all_values if not value.has_hits]
    if without_hits:
        sentences.append(f"zero hits: {listed(without_hits)}")
    return sentences


def _name_variant(variant: Variant) -> str:
    return f"{variant.id} {shorten(variant.text)!r}"


def list_agreements(suite: Suite, query: Query) -> tuple[Measure, ...]:
    """The agreements that thresholds on variants name; RBO, and the overlap of all hits, without any."""
    agreements: dict[str, Measure] = {}
    for condition in _list_conditions(suite, query):
        if isinstance(condition, AgreementCondition):
            agreements[condition.agreement.text] = condition.agreement
    if agreements:
        return tuple(agreements.values())
    return read_agreement("RBO"), read_agreement(f"overlap@{suite.depth}")


def list_lost_measures(suite: Suite, query: Query) -> tuple[Measure, ...]:
    """The measures that thresholds on a loss name; the first measure of *query* without any. It has to be judged."""
    if not query.judgments and not query.quotes:
        return ()
    measures: dict[str, Measure] = {}
    for condition in _list_conditions(suite, query):
        if isinstance(condition, LossCondition):
            measures[condition.measure.text] = condition.measure
    return tuple(measures.values()) or measures_of(suite, query)[:1]


def _list_conditions(suite: Suite, query: Query) -> list[Condition]:
    """
    The conditions of *suite* and of *query* that are about variants.

    Those for other tags are among them, so that the figures of all variants of a suite can be compared.
    """
    conditions = [threshold.condition for threshold in (*suite.thresholds, *query.thresholds)]
    return [condition for condition in conditions if get_counterpart(condition) == VARIANTS]
