"""The figures of a report over many queries: by measure, and by tag; pure, from the scores and the verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import median
from types import MappingProxyType

from harness.gate.finding import weights_of
from harness.means import mean_of, weighed
from harness.metrics.score import common_measures, gain_text
from harness.model import (
    MeanChange,
    MeasureSummary,
    Query,
    QueryBaseline,
    QueryValues,
    Score,
    ScoreColumns,
    Suite,
    TagSummary,
    Verdict,
    chosen,
    column,
    ids_of,
    tagged,
)
from harness.words import grouped

_NOTHING: Mapping[str, QueryBaseline] = MappingProxyType({})


def measure_summaries(
    suite: Suite, scores: Iterable[Score], before: Mapping[str, QueryBaseline] = _NOTHING
) -> tuple[MeasureSummary, ...]:
    """
    Each measure that all queries of *suite* share, over all of them; a query without a value is left out.

    *before* are the queries in the baseline, by id.
    """
    return _summaries(suite.queries, _gains(suite), ScoreColumns.of(scores), before)


def tag_summaries(
    suite: Suite,
    scores: Iterable[Score],
    verdicts: Sequence[Verdict],
    before: Mapping[str, QueryBaseline] = _NOTHING,
) -> tuple[TagSummary, ...]:
    """
    The figures of `measure_summaries` over the queries of each tag, and over those without any.

    Args:
        suite: The suite with the selected queries only.
        scores: The scores of each query and measure.
        verdicts: The verdicts of the thresholds; those `for` a tag are named with it.
        before: The queries in the baseline, by id.

    Returns:
        The tag with the greatest share first, equal ones by name, the queries without a tag last. Empty where no query
        has a tag.
    """
    if not any(column(suite.queries, "tags")):
        return ()
    groups = _groups(suite.queries)
    gains, columns, shares = _gains(suite), ScoreColumns.of(scores), _shares(suite.queries, groups)
    by_tag = grouped((verdict.tag, verdict.id) for verdict in verdicts)
    found = [
        TagSummary(
            tag=tag,
            queries=len(queries),
            share=shares[tag],
            summaries=_summaries(queries, gains, columns, before),
            verdicts=tuple(by_tag.get(tag, ())) if tag is not None else (),
        )
        for tag, queries in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.tag is None, -one.share, one.tag or "")))


def _groups(queries: Sequence[Query]) -> dict[str | None, Sequence[Query]]:
    tags = dict.fromkeys(chain.from_iterable(own or (None,) for own in column(queries, "tags")))
    untagged = [not own for own in column(queries, "tags")]
    return {tag: chosen(queries, untagged) if tag is None else tagged(queries, tag) for tag in tags}


def _shares(queries: Sequence[Query], groups: Mapping[str | None, Sequence[Query]]) -> dict[str | None, float]:
    """The share of each group in the weight of all queries."""
    weights = weighed([1.0] * len(queries), list(column(queries, "weight")))
    over_mean = dict(zip(ids_of(queries), weights, strict=True))
    shares = {tag: math.fsum(map(over_mean.__getitem__, ids_of(members))) for tag, members in groups.items()}
    return {tag: share / len(queries) for tag, share in shares.items()}


def _gains(suite: Suite) -> dict[str, str]:
    """The gain in force of each common measure, by the measure's text."""
    return {measure.text: gain_text(measure, suite) for measure in common_measures(suite)}


def _summaries(
    queries: Sequence[Query], gains: Mapping[str, str], scores: ScoreColumns, before: Mapping[str, QueryBaseline]
) -> tuple[MeasureSummary, ...]:
    return tuple(_summary(queries, measure, gain, scores, before) for measure, gain in gains.items())


def _summary(
    queries: Sequence[Query], measure: str, gain: str, scores: ScoreColumns, before: Mapping[str, QueryBaseline]
) -> MeasureSummary:
    values, left_out = QueryValues(), 0
    for query, score in zip(ids_of(queries), scores.column(measure, ids_of(queries)), strict=True):
        value = score.value if isinstance(score, Score) else score
        if value is not None:
            values.append(query, value)
        left_out += value is None and score is not None
    weights = weights_of(queries, values)
    return MeasureSummary(
        measure=measure,
        gain=gain,
        mean=mean_of(values, weights) if values else None,
        median=median(values.values()) if values else None,
        least=min(values.values(), default=None),
        greatest=max(values.values(), default=None),
        counted=len(values),
        left_out=left_out,
        weighted=bool(weights),
        change=_change(queries, measure, values, before),
    )


def _change(
    queries: Sequence[Query], measure: str, values: Mapping[str, float], before: Mapping[str, QueryBaseline]
) -> MeanChange | None:
    """How the mean changed over the queries with a score in both *values* and *before*."""
    known = {query: before[query].scores.get(measure) for query in values if query in before}
    kept = {query: value for query, value in known.items() if value is not None}
    if not kept:
        return None
    weights = weights_of(queries, kept)
    then, now = mean_of(kept, weights), mean_of({query: values[query] for query in kept}, weights)
    return MeanChange(then, now, now - then, len(kept))
