"""Figures over queries, for the reports: of all that ran, and of those with each tag."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from harness.gate.aggregates import median
from harness.gate.scope import weights_of
from harness.metrics.run_scores import common_measures, gain_text
from harness.model import MeasureSummary, Query, Score, Suite, TagSummary, Verdict
from harness.statistics.means import mean_of, weighed

__all__ = ["measure_summaries", "tag_summaries"]


_Scores: TypeAlias = Mapping[tuple[str, str], Score]


def measure_summaries(suite: Suite, scores: Iterable[Score]) -> tuple[MeasureSummary, ...]:
    """Each measure that every query of *suite* has a score of, over them all; a query without a value is left out."""
    return _summaries(suite.queries, _gains(suite), _by_query(scores))


def tag_summaries(suite: Suite, scores: Iterable[Score], verdicts: Sequence[Verdict]) -> tuple[TagSummary, ...]:
    """
    The same figures over the queries of each tag, and over those without any.

    Args:
        suite: With the queries that were selected only.
        scores: Of each of them and every measure.
        verdicts: Of the thresholds, of which those `for` a tag are named with it.

    Returns:
        The tag of the greatest share first, equal ones by name, the queries without a tag last. Nothing where no query
        has a tag.
    """
    groups = _groups(suite.queries)
    if set(groups) <= {None}:
        return ()
    gains, by_query, shares = _gains(suite), _by_query(scores), _shares(suite.queries, groups)
    held: dict[str | None, list[str]] = {}
    for verdict in verdicts:
        held.setdefault(verdict.tag, []).append(verdict.id)
    found = [
        TagSummary(
            tag=tag,
            queries=len(queries),
            share=shares[tag],
            summaries=_summaries(queries, gains, by_query),
            verdicts=tuple(held.get(tag, ())) if tag is not None else (),
        )
        for tag, queries in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (one.tag is None, -one.share, one.tag or "")))


def _groups(queries: Iterable[Query]) -> dict[str | None, list[Query]]:
    groups: dict[str | None, list[Query]] = {}
    for query in queries:
        for tag in query.tags or (None,):
            groups.setdefault(tag, []).append(query)
    return groups


def _shares(queries: Sequence[Query], groups: Mapping[str | None, Sequence[Query]]) -> dict[str | None, float]:
    """What the queries of each group weigh of all."""
    weights = weighed([1.0] * len(queries), [query.weight for query in queries])
    over_mean = dict(zip((query.id for query in queries), weights, strict=True))
    return {tag: math.fsum(over_mean[query.id] for query in members) / len(queries) for tag, members in groups.items()}


def _gains(suite: Suite) -> dict[str, str]:
    """The gain in force of each common measure, by the measure's text."""
    return {measure.text: gain_text(measure, suite) for measure in common_measures(suite)}


def _by_query(scores: Iterable[Score]) -> _Scores:
    return {(score.query, score.measure): score for score in scores}


def _summaries(queries: Sequence[Query], gains: Mapping[str, str], scores: _Scores) -> tuple[MeasureSummary, ...]:
    return tuple(_summary(queries, measure, gain, scores) for measure, gain in gains.items())


def _summary(queries: Sequence[Query], measure: str, gain: str, scores: _Scores) -> MeasureSummary:
    found = {query.id: scores[query.id, measure].value for query in queries if (query.id, measure) in scores}
    values = {query: value for query, value in found.items() if value is not None}
    weights = weights_of(queries, values)
    return MeasureSummary(
        measure=measure,
        gain=gain,
        mean=mean_of(values, weights) if values else None,
        median=median(list(values.values())) if values else None,
        least=min(values.values(), default=None),
        greatest=max(values.values(), default=None),
        counted=len(values),
        left_out=len(found) - len(values),
        weighted=bool(weights),
    )
