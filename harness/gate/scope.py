"""What a threshold is about: the scores that count, why the others do not, and how numbers compare."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial

from harness.gate.grammar import TOLERANCE
from harness.means import are_weighted
from harness.model import (
    Operator,
    Outcome,
    Query,
    QueryValues,
    Score,
    ScoreColumns,
    Status,
    Unit,
    column,
    ids_of,
    places_of,
)
from harness.model.suite import in_force


@dataclass(frozen=True, slots=True)
class Finding:
    """
    The outcome of a threshold's condition, before waivers.

    *caveat* is a part of the reason: why a pass means less than it seems to.
    """

    status: Status
    reason: str
    observed: float | None = None
    required: float | None = None
    measure: str | None = None
    blamed: tuple[str, ...] = ()
    counted: int = 0
    left_out: int = 0
    unit: Unit | None = None
    caveat: str = ""
    operator: Operator | None = None
    ties: tuple[float, float] | None = None
    repeats: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """
    The scores of one measure over the queries of one threshold, grouped by how they count.

    *counted* maps a query's id to its value; *zero_hits* are the counted queries without hits. *unanswered* maps a
    query's id to what went wrong; *undefined* and *skipped* hold ids. *weights* are those of the counted queries, empty
    where they all weigh the same.
    """

    counted: QueryValues
    zero_hits: tuple[str, ...]
    unanswered: Mapping[str, str]
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many queries the threshold is about."""
        return len(self.counted) + len(self.unanswered) + len(self.undefined) + len(self.skipped)


def scope_scores(queries: Sequence[Query], measure: str, scores: ScoreColumns, today: date) -> Scope:
    """
    Group the scores of *measure* by the outcome of *queries*.

    Args:
        queries: The queries that the threshold is about.
        measure: The measure's canonical text.
        scores: All scores of the run.
        today: Decides which skips are in force.

    Returns:
        Every query in exactly one group. A score that is absent or not a finite number is unanswered, never 0.
    """
    counted = QueryValues(partial(places_of, queries))
    unanswered: dict[str, str] = {}
    undefined, skipped, zero_hits = [], [], []
    for query, skip in zip(ids_of(queries), column(queries, "skip"), strict=True):
        score = scores.get(query, measure)
        if in_force(skip, today):
            skipped.append(query)
        elif score is not None and score.outcome is Outcome.UNDEFINED:
            undefined.append(query)
        elif score is None or score.value is None or not math.isfinite(score.value):
            unanswered[query] = _what_is_missing(score)
        else:
            counted.append(query, score.value)
            if score.outcome is Outcome.ZERO_HITS:
                zero_hits.append(query)
    weights = weights_of(queries, counted)
    return Scope(counted, tuple(zero_hits), unanswered, tuple(undefined), tuple(skipped), weights)


def weights_of(queries: Sequence[Query], counted: Collection[str]) -> dict[str, float]:
    """The weights of the queries *counted*; empty where they all weigh the same."""
    if not are_weighted(column(queries, "weight")):
        return {}
    each = zip(ids_of(queries), column(queries, "weight"), strict=True)
    weights = {query: weight for query, weight in each if query in counted}
    return weights if are_weighted(weights.values()) else {}


def _what_is_missing(score: Score | None) -> str:
    if score is None or score.outcome is Outcome.SKIPPED:
        return "did not run"
    if score.value is not None:
        return f"the score is {score.value}, which is not a finite number"
    return score.reason or str(score.outcome)


def holds(observed: float, operator: Operator, required: float) -> bool:
    """
    Whether the comparison of *observed* with *required* by *operator* holds.

    >>> holds(0.1 + 0.2, Operator.AT_MOST, 0.3), holds(0.1 + 0.2, Operator.ABOVE, 0.3)
    (True, False)
    """
    if operator is Operator.EQUAL:
        return abs(observed - required) <= TOLERANCE
    if operator is Operator.AT_LEAST:
        return observed >= required - TOLERANCE
    if operator is Operator.AT_MOST:
        return observed <= required + TOLERANCE
    if operator is Operator.ABOVE:
        return observed > required + TOLERANCE
    return observed < required - TOLERANCE


def merit(observed: float, operator: Operator, required: float) -> float:
    """A number to sort values by: the greater, the better *observed* meets the comparison."""
    if operator is Operator.EQUAL:
        return -abs(observed - required)
    return observed if operator in (Operator.AT_LEAST, Operator.ABOVE) else -observed
