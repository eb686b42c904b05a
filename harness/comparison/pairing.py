"""The scores of two runs on one measure, query by query, with what the queries weigh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import UsageError
from harness.means import weighed
from harness.statistics.differences import EQUAL, Floats

__all__ = ["Pair", "pair_up"]


@dataclass(frozen=True, slots=True)
class Pair:
    """
    One measure's scores of the queries that both runs have, in the reference's order.

    *weighed* are the differences, each times its weight over the mean weight; *weights* is None where all are alike.
    """

    measure: str
    queries: Sequence[str]
    reference: Floats
    candidate: Floats
    differences: Floats
    weighed: Floats
    weights: tuple[float, ...] | None
    left_out: int


def pair_up(
    measure: str,
    reference: Mapping[str, float | None],
    candidate: Mapping[str, float | None],
    weights: Mapping[str, float],
) -> Pair:
    """
    Pair the scores of the queries that both runs have.

    Args:
        measure: Its text.
        reference: Its scores in the run to compare with, by query; None where it is undefined.
        candidate: The same of the run that is judged.
        weights: What each query weighs; empty where all weigh the same.

    Raises:
        UsageError: No query has both scores, or one that has them has no weight.
    """
    scored = [
        (query, before, after)
        for query, before in reference.items()
        if before is not None and (after := candidate.get(query)) is not None
    ]
    if not scored:
        raise UsageError(f"no query has a score of {measure} in both runs")
    scores = np.array([row[1:] for row in scored], dtype=np.float64)
    differences = scores[:, 1] - scores[:, 0]
    differences[np.abs(differences) <= EQUAL] = 0.0  # the same score, but summed in another order
    left_out = len(reference.keys() | candidate.keys()) - len(scored)
    queries = [row[0] for row in scored]
    loads = _weights_of(queries, weights)
    pulls = differences if loads is None else np.array(weighed(differences.tolist(), loads))
    return Pair(measure, queries, scores[:, 0], scores[:, 1], differences, pulls, loads, left_out)


def _weights_of(queries: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...] | None:
    if not weights:
        return None
    lacking = [query for query in queries if query not in weights]
    if lacking:
        raise UsageError(
            f"query {lacking[0]!r} has no weight; expected one for every query that is compared, or for none"
        )
    return tuple(weights[query] for query in queries)
