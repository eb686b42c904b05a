"""How far two runs rank alike, with no judgment: per query, and over all of them. Pure: ids in, figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import UndefinedScore
from harness.metrics.ranks import kendall_tau, overlap, rbo
from harness.model import Agreement, Measure
from harness.statistics.means import mean_of
from harness.thresholds.agreements import OVERLAP, PERSISTENCE

__all__ = ["RankPair", "agreement_value", "compare_rankings", "mean_agreement"]


@dataclass(frozen=True, slots=True)
class RankPair:
    """
    Two rankings of one query, cut at the same depth, and how far they agree.

    *tau* is None where they share less than two documents.
    """

    reference: tuple[str, ...]
    candidate: tuple[str, ...]
    rbo: float
    overlap: float
    tau: float | None


def compare_rankings(reference: Sequence[str], candidate: Sequence[str], *, depth: int, p: float) -> RankPair:
    """
    Compare the first *depth* documents of two rankings.

    Args:
        reference: Document ids, best first, none twice.
        candidate: The same.
        depth: Ranks that are looked at, at least 1.
        p: The persistence of rank-biased overlap.

    >>> pair = compare_rankings(["a", "b", "c"], ["a", "c", "d"], depth=3, p=0.9)
    >>> round(pair.rbo, 4), round(pair.overlap, 4), pair.tau
    (0.685, 0.6667, 1.0)
    """
    first, second = tuple(reference[:depth]), tuple(candidate[:depth])
    return RankPair(first, second, _rbo(first, second, p), _overlap(first, second, depth), _tau(first, second))


def agreement_value(agreement: Measure, reference: Sequence[str], candidate: Sequence[str], *, depth: int) -> float:
    """
    What a threshold on an agreement looks at: *agreement* of two rankings down to its cutoff, or to *depth*.

    Returns:
        A number in [0, 1]. Two rankings without a hit are the same, so they give 1.
    """
    cutoff = agreement.cutoff or depth
    first, second = reference[:cutoff], candidate[:cutoff]
    if agreement.name == OVERLAP:
        return _overlap(first, second, cutoff)
    p = dict(agreement.parameters).get("p", PERSISTENCE)
    assert isinstance(p, float)
    return _rbo(first, second, p)


def mean_agreement(
    pairs: Mapping[str, RankPair], *, depth: int, p: float, weights: Mapping[str, float] | None = None
) -> Agreement | None:
    """
    The means over *pairs* by query, of which each counts what it weighs; None where there are none.

    *weights* holds each of the queries, or nothing where all weigh the same. What is counted, is counted plainly.
    """
    if not pairs:
        return None
    found = list(pairs.values())
    taus = {query: pair.tau for query, pair in pairs.items() if pair.tau is not None}
    weights = weights or {}
    return Agreement(
        depth=depth,
        p=p,
        queries=len(found),
        rbo=mean_of({query: pair.rbo for query, pair in pairs.items()}, weights),
        overlap=mean_of({query: pair.overlap for query, pair in pairs.items()}, weights),
        tau=mean_of(taus, weights) if taus else None,
        tau_queries=len(taus),
        same_ranking=sum(pair.reference == pair.candidate for pair in found),
        same_documents=sum(set(pair.reference) == set(pair.candidate) for pair in found),
        same_first=sum(pair.reference[:1] == pair.candidate[:1] for pair in found),
    )


def _rbo(first: Sequence[str], second: Sequence[str], p: float) -> float:
    return rbo(first, second, p) if first or second else 1.0


def _overlap(first: Sequence[str], second: Sequence[str], depth: int) -> float:
    """Of the longer ranking where both are shorter than *depth*: three hits, the same on both sides, agree wholly."""
    longest = min(depth, max(len(first), len(second)))
    return overlap(first, second, longest) if longest else 1.0


def _tau(first: Sequence[str], second: Sequence[str]) -> float | None:
    try:
        return kendall_tau(first, second)
    except UndefinedScore:
        return None
