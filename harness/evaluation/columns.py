"""Scores from columns of bytes, as the bulk readers of files give them. Imports numpy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np

from harness.evaluation import Evaluation
from harness.measures import definition_of
from harness.measures.batched import score_batch
from harness.measures.profiles import rules_of
from harness.metrics.batch import Batch
from harness.metrics.columns import JudgedColumns, RankedColumns, batch_of_columns
from harness.metrics.texts import texts_of
from harness.model import Gain, Measure, Profile

__all__ = ["evaluate_columns"]


@dataclass(slots=True)
class _Scored:
    """The queries that are scored so far, and the values of each measure beside them."""

    measures: Sequence[Measure]
    gain: Gain | None
    profile: Profile
    queries: list[str] = field(default_factory=list)
    values: dict[Measure, list[float]] = field(default_factory=dict)

    def add(self, queries: Iterable[str], batch: Batch) -> None:
        self.queries.extend(queries)
        for measure in self.measures:
            scores = score_batch(batch, measure, self.gain, self.profile).tolist()
            self.values.setdefault(measure, []).extend(scores)

    def by_query(self, measure: Measure, left_out: set[str]) -> dict[str, float | None]:
        pairs = zip(self.queries, self.values.get(measure, ()), strict=True)
        return {query: None if isnan(value) else value for query, value in pairs if query not in left_out}


def evaluate_columns(
    judged: JudgedColumns,
    ranked: Iterable[RankedColumns],
    measures: Sequence[Measure],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    complete: bool = False,
) -> Evaluation:
    """
    Score every query of a run, each ranked by score: what `harness.evaluation.evaluate` gives for the same as dicts.

    Args:
        judged: All judgments.
        ranked: The hits, no query in two of them.
        measures: What is measured; `is_batched` must hold for each.
        gain: What a grade is worth where a measure's text does not say; None is the profile's own.
        profile: Whose rules hold.
        complete: A judged query that the run does not hold counts as one that returned nothing.

    Raises:
        MeasureError: a grade that a gain map or a measure's scale does not hold.
        Unfit: a document comes twice for a query, or ids cannot be told apart in bulk.
    """
    rules = rules_of(profile)
    scored = _Scored(measures, gain, profile)
    for part in ranked:
        scored.add(part.queries, batch_of_columns(judged, part, ties_by_id=rules.sorts))
    returned = set(scored.queries)
    unjudged = tuple(query for query in scored.queries if query not in judged.queries)
    missing = tuple(query for query in judged.queries if query not in returned)
    if complete and missing:
        scored.add(missing, batch_of_columns(judged, _nothing(missing), ties_by_id=False))
    left_out = set(unjudged) if rules.skips_unjudged else set()
    return Evaluation(
        profile,
        {measure.text: scored.by_query(measure, left_out) for measure in measures},
        missing,
        unjudged,
        frozenset(measure.text for measure in measures if definition_of(measure).summed),
    )


def _nothing(queries: Sequence[str]) -> RankedColumns:
    sizes = np.zeros(len(queries), np.int64)
    return RankedColumns(list(queries), sizes, texts_of((), 0), np.zeros(0))
