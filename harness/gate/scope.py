"""
What a threshold is about: the scores that count and why the others do not, how numbers compare, and the parts of a
reason.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from harness.model import Outcome, Query, Score, Status
from harness.model.suite import in_force
from harness.statistics.means import are_weighted

__all__ = ["Finding", "Scope", "scope_scores", "weights_of"]


@dataclass(frozen=True, slots=True)
class Finding:
    """
    What a threshold's condition came to, before waivers; *status* is PASSED, FAILED, WARNED, SKIPPED or ERROR.

    *caveat* is a part of the reason: why what holds tells less than it seems to.
    """

    status: Status
    reason: str
    observed: float | None = None
    required: float | None = None
    measure: str | None = None
    blamed: tuple[str, ...] = ()
    counted: int = 0
    left_out: int = 0
    unit: str | None = None
    caveat: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """
    The scores of one measure over the queries of one threshold, by what they are worth to it.

    *counted* maps a query's id to its value; *zero_hits* are those of them that found nothing. *unanswered* maps a
    query to what went wrong; *undefined* and *skipped* hold ids. *weights* are those of the queries that count, empty
    where they all weigh the same.
    """

    counted: Mapping[str, float]
    zero_hits: tuple[str, ...]
    unanswered: Mapping[str, str]
    undefined: tuple[str, ...]
    skipped: tuple[str, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many queries the threshold is about."""
        return len(self.counted) + len(self.unanswered) + len(self.undefined) + len(self.skipped)


def scope_scores(queries: Sequence[Query], measure: str, scores: Mapping[tuple[str, str], Score], today: date) -> Scope:
    """
    Sort the scores of *measure* by what became of *queries*.

    Args:
        queries: The queries that the threshold is about.
        measure: Its canonical text.
        scores: All scores of the run, by query id and measure.
        today: Decides which skips hold.

    Returns:
        Every query in exactly one group. A score that is absent, or that is no finite number, is unanswered, never 0.
    """
    counted: dict[str, float] = {}
    unanswered: dict[str, str] = {}
    undefined, skipped, zero_hits = [], [], []
    for query in queries:
        score = scores.get((query.id, measure))
        if in_force(query.skip, today):
            skipped.append(query.id)
        elif score is not None and score.outcome is Outcome.UNDEFINED:
            undefined.append(query.id)
        elif score is None or score.value is None or not math.isfinite(score.value):
            unanswered[query.id] = _what_is_missing(score)
        else:
            counted[query.id] = score.value
            if score.outcome is Outcome.ZERO_HITS:
                zero_hits.append(query.id)
    weights = weights_of(queries, counted)
    return Scope(counted, tuple(zero_hits), unanswered, tuple(undefined), tuple(skipped), weights)


def weights_of(queries: Sequence[Query], counted: Collection[str]) -> dict[str, float]:
    """What the queries that are *counted* weigh; empty where they all weigh the same."""
    weights = {query.id: query.weight for query in queries if query.id in counted}
    return weights if are_weighted(weights.values()) else {}


def _what_is_missing(score: Score | None) -> str:
    if score is None or score.outcome is Outcome.SKIPPED:
        return "did not run"
    if score.value is not None:
        return f"the score is {score.value}, which is no finite number"
    return score.reason or str(score.outcome)
