"""The figures of a report over many queries: by measure, and by tag; pure, from the scores and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType

from harness.gate.finding import read_weights
from harness.means import mean_of, scale_by_weights
from harness.metrics import measure_range
from harness.metrics.measures import common_measures
from harness.metrics.run_scores import gain_text
from harness.model.report import MeanChange, MeasureSummary, QueryBaseline, TagSummary
from harness.model.run import Verdict
from harness.model.scores import Score, ScoreTable, index_scores
from harness.model.suite import Query, Suite
from harness.statistics.mean_intervals import compute_mean_interval, count_by_weights
from harness.words import grouped

_NOTHING: Mapping[str, QueryBaseline] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _SummedMeasure:
    """A measure that all queries share."""

    text: str
    gain: str
    """The gain in force."""
    bounds: tuple[float | None, float | None]
    """The least and the greatest value that it can have, None where there is none."""


@dataclass(frozen=True, slots=True)
class _SummaryInputs:
    """What the figures of a suite and those of its tags are made from."""

    measures: Sequence[_SummedMeasure]
    scores: ScoreTable
    before: Mapping[str, QueryBaseline]
    """The queries in the baseline, by id."""
    has_intervals: bool


def summarize_measures(
    suite: Suite,
    scores: Iterable[Score],
    before: Mapping[str, QueryBaseline] = _NOTHING,
    *,
    has_intervals: bool = True,
) -> tuple[MeasureSummary, ...]:
    """
    Each measure that all queries of *suite* share, over all of them; a query without a value is left out.

    *before* are the queries in the baseline, by id. *has_intervals* says whether means have their intervals.
    """
    inputs = _SummaryInputs(_list_measures(suite), index_scores(scores), before, has_intervals)
    return _summarize(suite.queries, inputs)


def summarize_tags(
    suite: Suite,
    scores: Iterable[Score],
    verdicts: Sequence[Verdict],
    before: Mapping[str, QueryBaseline] = _NOTHING,
    *,
    has_intervals: bool = True,
) -> tuple[TagSummary, ...]:
    """
    The figures of `summarize_measures` over the queries of each tag, and over those without any.

    Args:
        suite: The suite with the selected queries only.
        scores: The scores of each query and measure.
        verdicts: The verdicts of the thresholds; those `for` a tag are named with it.
        before: The queries in the baseline, by id.
        has_intervals: Whether means have their intervals.

    Returns:
        The tag with the greatest share first, equal ones by name, the queries without a tag last. Empty where no query
        has a tag.
    """
    if not any(query.tags for query in suite.queries):
        return ()
    groups = _group_by_tag(suite.queries)
    inputs = _SummaryInputs(_list_measures(suite), index_scores(scores), before, has_intervals)
    shares = _compute_shares(suite.queries, groups)
    by_tag = grouped((verdict.tag, verdict.id) for verdict in verdicts)
    summaries = [
        TagSummary(
            tag=tag,
            queries=len(queries),
            share=shares[tag],
            summaries=_summarize(queries, inputs),
            verdicts=tuple(by_tag.get(tag, ())) if tag is not None else (),
        )
        for tag, queries in groups.items()
    ]
    summaries.sort(key=lambda summary: (summary.tag is None, -summary.share, summary.tag or ""))
    return tuple(summaries)


def _group_by_tag(queries: Sequence[Query]) -> dict[str | None, list[Query]]:
    """The queries by tag, in the order in which tags are first used; those without any under None."""
    groups: dict[str | None, list[Query]] = {}
    for query in queries:
        for tag in query.tags or (None,):
            groups.setdefault(tag, []).append(query)
    return groups


def _compute_shares(queries: Sequence[Query], groups: Mapping[str | None, Sequence[Query]]) -> dict[str | None, float]:
    """The share of each group in the weight of all queries."""
    weights = scale_by_weights([1.0] * len(queries), [query.weight for query in queries])
    weight_over_mean = {query.id: weight for query, weight in zip(queries, weights, strict=True)}
    shares = {}
    for tag, members in groups.items():
        shares[tag] = math.fsum(weight_over_mean[query.id] for query in members) / len(queries)
    return shares


def _list_measures(suite: Suite) -> list[_SummedMeasure]:
    """The measures that all queries of *suite* share."""
    measures = []
    for measure in common_measures(suite):
        bounds = measure_range(measure, suite.gain, suite.profile)
        measures.append(_SummedMeasure(measure.text, gain_text(measure, suite), bounds))
    return measures


def _summarize(queries: Sequence[Query], inputs: _SummaryInputs) -> tuple[MeasureSummary, ...]:
    return tuple(_summarize_measure(queries, measure, inputs) for measure in inputs.measures)


def _summarize_measure(queries: Sequence[Query], measure: _SummedMeasure, inputs: _SummaryInputs) -> MeasureSummary:
    values: dict[str, float] = {}
    machine_shares: dict[str, float] = {}
    left_out = 0
    for query in queries:
        score = inputs.scores.get(query.id, {}).get(measure.text)
        if score is None:
            continue
        if score.value is None:
            left_out += 1
        else:
            values[query.id] = score.value
            if score.machine_share is not None:
                machine_shares[query.id] = score.machine_share
    weights = read_weights(queries, values)
    interval = None
    counts_as = None
    if inputs.has_intervals:
        # Without weights, those of all queries are equal.
        weights_of_values = [weights[query] for query in values] if weights else []
        interval = compute_mean_interval(list(values.values()), weights_of_values, measure.bounds)
        if weights_of_values:
            counts_as = count_by_weights(weights_of_values)
    return MeasureSummary(
        measure=measure.text,
        gain=measure.gain,
        mean=mean_of(values, weights) if values else None,
        median=median(values.values()) if values else None,
        least=min(values.values(), default=None),
        greatest=max(values.values(), default=None),
        counted=len(values),
        left_out=left_out,
        weighted=bool(weights),
        change=_compute_change(queries, measure.text, values, inputs.before) if inputs.before else None,
        machine_share=mean_of(machine_shares, weights) if machine_shares else None,
        interval=interval,
        counts_as=counts_as,
    )


def _compute_change(
    queries: Sequence[Query], measure: str, values: Mapping[str, float], before: Mapping[str, QueryBaseline]
) -> MeanChange | None:
    """How the mean changed over the queries with a score in both *values* and *before*."""
    old_values: dict[str, float] = {}
    new_values: dict[str, float] = {}
    for query, new_value in values.items():
        old_value = before[query].scores.get(measure) if query in before else None
        if old_value is not None:
            old_values[query] = old_value
            new_values[query] = new_value
    if not old_values:
        return None
    weights = read_weights(queries, old_values)
    old_mean, new_mean = mean_of(old_values, weights), mean_of(new_values, weights)
    return MeanChange(old_mean, new_mean, new_mean - old_mean, len(old_values))
