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

from harness.gate.decide_agreements import list_incomplete, refuse_incomplete
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
    RangedValue,
    ScoredQuery,
    compute_agreement_with_range,
    compute_loss_with_range,
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
    """The agreement or the loss of one variant."""

    variant: Variant
    ranged: RangedValue
    has_hits: bool

    @property
    def value(self) -> float:
        return self.ranged.value


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
    finding = Finding(Status.FAILED, "", None, score_condition.required, name)
    active, _ = split_skipped([query for query in queries if query.variants], inputs.today)
    variants = _list_active_variants(active, inputs)
    # A query is left out by its own skip, and where all of its variants are queries that a skip leaves out.
    skipped = tuple(query.id for query in queries if query.variants and query.id not in variants)
    if not variants:
        reason = f"{name} has nothing to decide: no query in its scope has a variant that was sent"
        return replace(finding, reason=reason, cause=Cause.NOTHING_TO_DECIDE)
    compared = select_by_id(active, variants)
    refusal = _refuse_rankings(finding, score_condition.measure.cutoff, variants, inputs)
    if refusal is not None:
        return refusal

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
    counted = _summarize_queries(score_condition, values, "value")
    # Zero hits of a query are named with those of its variants.
    scope = replace(
        scope, counted=counted, zero_hits=(), skipped=skipped, weights=read_weights(inputs.suite.queries, counted)
    )
    extremes = Extremes(
        least=_summarize_queries(score_condition, values, "least"),
        greatest=_summarize_queries(score_condition, values, "greatest"),
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


def _summarize_queries(
    condition: ScoreCondition,
    values: Mapping[str, Sequence[_VariantValue]],
    name: Literal["value", "least", "greatest"],
) -> dict[str, float]:
    """
    The value of each query, or its least or greatest one over the orders of tied documents, by the *name* of that.

    It is the mean over the variants of the query for a mean or a median, else that of the worst.
    """
    operator, required = condition.operator, condition.required
    summaries = {}
    for query, values_of_query in values.items():
        figures = [getattr(value.ranged, name) for value in values_of_query]
        if condition.statistic in (StatisticKind.MEAN, StatisticKind.MEDIAN):
            summaries[query] = fmean(figures)
        else:
            summaries[query] = min(figures, key=lambda figure: compute_merit(figure, operator, required))
    return summaries


def _list_active_variants(queries: Sequence[Query], inputs: GateInputs) -> dict[str, tuple[Variant, ...]]:
    """The variants of *queries*, by query, without those that are queries which a skip leaves out."""
    skipped = {query.id for query in inputs.suite.queries if is_in_force(query.skip, inputs.today)}
    variants = {}
    for query in queries:
        active = tuple(variant for variant in query.variants if variant.id not in skipped)
        if active:
            variants[query.id] = active
    return variants


def _list_variant_ids(variants: Mapping[str, Sequence[Variant]]) -> list[str]:
    ids: list[str] = []
    for variants_of_query in variants.values():
        ids += [variant.id for variant in variants_of_query]
    return ids


def _refuse_rankings(
    finding: Finding, cutoff: int | None, variants: Mapping[str, Sequence[Variant]], inputs: GateInputs
) -> Finding | None:
    """*finding* where queries or variants have no ranking, or one that ends before *cutoff*; None if none does."""
    queries, ids = list(variants), _list_variant_ids(variants)
    run = inputs.run
    unanswered_queries = list_without_ranking(queries, run.responses, "")
    unanswered_variants = list_without_ranking(ids, run.variants, "")
    parts = []
    if unanswered_queries:
        parts.append(describe_without_ranking(unanswered_queries, "query"))
    if unanswered_variants:
        parts.append(describe_without_ranking(unanswered_variants, "variant"))
    if parts:
        reason = f"{finding.measure} cannot be decided: {'; '.join(parts)}"
        blamed = _list_blamed(variants, {**unanswered_queries, **unanswered_variants})
        return replace(finding, status=Status.ERROR, reason=reason, blamed=blamed, cause=Cause.UNANSWERED)
    requested = replace(inputs.requested, depth=cutoff or inputs.suite.depth)
    incomplete = list_incomplete(queries, run.responses, requested) | list_incomplete(ids, run.variants, requested)
    if not incomplete:
        return None
    return refuse_incomplete(finding, incomplete, _list_blamed(variants, incomplete))


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
            value = compute_agreement_with_range(agreement, ranking, other, depth=depth)
            of_query.append(_VariantValue(variant, value, bool(other.hits)))
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
            loss = compute_loss_with_range(inputs.suite, scored, inputs.run, other)
            if loss is not None:
                of_query.append(_VariantValue(variant, loss, bool(other.hits)))
        if len(of_query) == len(variants[query.id]):
            values[query.id] = of_query
    return values


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
        worst_first = sorted(short, key=lambda value: compute_merit(value.value, operator, required))
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
