"""
Formulas of graded gain: cumulated, discounted, normalised; of a user who stops; and of one ranking
against another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import UndefinedScore
from harness.metrics.binary import shares_of
from harness.metrics.ranks import overlap_sum

__all__ = ["compatibility", "q_measure"]


def q_measure(gains: Sequence[float], ideal: Sequence[float], cutoff: int | None, beta: float = 1.0) -> float:
    """
    The Q-measure: average precision in which precision is blended with cumulative gain.

    At each rank r with a relevant document, (relevant so far + beta CG(r)) / (r + beta ideal CG(r)); their sum over
    the number of relevant documents, or over the cutoff where that is less.

    Args:
        gains: The gain at each rank, cut at k; none below 0.
        ideal: The gains of all relevant documents, best first, not cut.
        cutoff: k, None for the whole ranking.
        beta: The patience for cumulative gain; 0 gives average precision.

    Raises:
        UndefinedScore: *ideal* is empty.

    Source: Sakai (2004); with a cutoff, Sakai (2014).

    >>> round(q_measure([3, 0, 1], ideal=[3, 1], cutoff=None), 4)
    0.9286
    """
    if not ideal:
        raise UndefinedScore("no judged document has a positive gain")
    of_gain, of_rank = shares_of(beta)
    found, cumulated, best, value = 0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        best += ideal[rank - 1] if rank <= len(ideal) else 0.0
        cumulated += gain
        if gain > 0:
            found += 1
            value += (of_rank * found + of_gain * cumulated) / (of_rank * rank + of_gain * best)
    return value / min(len(ideal), len(ideal) if cutoff is None else cutoff)


def compatibility(
    ranking: Sequence[str], judgments: Mapping[str, float], p: float = 0.95, *, normalize: bool = True
) -> float:
    """
    How near the *ranking* is to the ideal one that is nearest to it: their rank-biased overlap, with persistence *p*.

    The ideal holds the documents of positive grade, best first, equal grades in the order of the ranking. With
    *normalize* it is divided by what the ideal itself would reach.

    Raises:
        UndefinedScore: no grade is positive.

    Source: Clarke, Vtyurina & Smucker (2021).

    >>> round(compatibility(["a", "b"], {"a": 2, "b": 3}, p=0.5), 4)
    0.3333
    """
    place = {document: rank for rank, document in enumerate(ranking)}
    positive = [document for document, grade in judgments.items() if grade > 0]
    if not positive:
        raise UndefinedScore("no judged document has a positive grade")
    ideal = sorted(positive, key=lambda document: (-judgments[document], place.get(document, len(place))))
    depth = max(len(ranking), len(ideal))
    value = overlap_sum(ranking, ideal, p, depth)
    return value / overlap_sum(ideal, ideal, p, depth) if normalize else value * (1 - p) / (1 - p**depth)
