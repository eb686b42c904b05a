"""
How far two runs rank alike, with no judgment, as thresholds name it: ``RBO``, ``RBO(p=0.8)@20``, ``overlap@10``.

An agreement compares a ranking with another one, so no single run has a score of it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import UndefinedScore
from harness.means import mean_of
from harness.metrics.grammar import OVERLAP
from harness.metrics.rank_correlation import kendall_tau, overlap, rbo
from harness.model.comparison import Agreement
from harness.model.suite import Measure

RBO_PERSISTENCE = 0.9
"""The p of RBO where none is given: 86 % of the weight is on the first ten ranks."""


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


def compare_rankings(reference: Sequence[str], candidate: Sequence[str], *, depth: int) -> RankPair:
    """
    Compare the first *depth* documents of two rankings.

    Args:
        reference: Document ids, best first, none twice.
        candidate: Document ids, best first, none twice.
        depth: Ranks to compare, at least 1.

    >>> pair = compare_rankings(["a", "b", "c"], ["a", "c", "d"], depth=3)
    >>> round(pair.rbo, 4), round(pair.overlap, 4), pair.tau
    (0.685, 0.6667, 1.0)
    """
    first, second = tuple(reference[:depth]), tuple(candidate[:depth])
    return RankPair(
        first,
        second,
        _compute_rbo(first, second, RBO_PERSISTENCE),
        _compute_overlap(first, second, depth),
        _compute_tau(first, second),
    )


def agreement_value(agreement: Measure, reference: Sequence[str], candidate: Sequence[str], *, depth: int) -> float:
    """
    The value of *agreement* for two rankings, down to its cutoff, or to *depth*.

    Returns:
        A number in [0, 1]. Two rankings without a hit are the same, so they give 1.
    """
    cutoff = agreement.cutoff or depth
    first, second = reference[:cutoff], candidate[:cutoff]
    if agreement.name == OVERLAP:
        return _compute_overlap(first, second, cutoff)
    p = dict(agreement.parameters).get("p", RBO_PERSISTENCE)
    assert isinstance(p, float)
    return _compute_rbo(first, second, p)


def find_agreement_range(
    agreement: Measure,
    reference: Sequence[Sequence[str]],
    candidate: Sequence[Sequence[str]],
    lengths: tuple[int, int],
    *,
    depth: int,
) -> tuple[float, float]:
    """
    The least and the greatest value of *agreement* over all orders of tied documents.

    Both rankings are in groups of tied documents, best first, and no longer than *lengths*: of the last group, any
    documents may be within. One order shares as many documents as can be down to each depth, and one as few.

    >>> from harness.metrics.grammar import read_agreement
    >>> tied = [["x", "y", "r"]]
    >>> find_agreement_range(read_agreement("overlap@1"), [["r"], ["x"], ["y"]], tied, (3, 3), depth=3)
    (0.0, 1.0)
    """
    values = []
    for is_alike in (False, True):
        first = order_tied(reference, candidate, is_alike=is_alike, is_first=True)[: lengths[0]]
        second = order_tied(candidate, reference, is_alike=is_alike, is_first=False)[: lengths[1]]
        values.append(agreement_value(agreement, first, second, depth=depth))
    return values[0], values[1]


def order_tied(
    groups: Sequence[Sequence[str]], others: Sequence[Sequence[str]], *, is_alike: bool, is_first: bool
) -> list[str]:
    """
    *groups* in the order that shares most with *others*, if these are ordered likewise; or least.

    Down to each depth, most are shared if those come first that come first in the other ranking; of those that tie in
    both, the same ones first. Least are shared if those come first that come last there, or not at all; of those that
    tie in both, other ones first.
    """
    place = {document: number for number, members in enumerate(others) for document in members}
    order: list[str] = []
    for members in groups:
        by_id = sorted(members, reverse=not is_alike and not is_first)
        sign = 1 if is_alike else -1
        order += sorted(by_id, key=lambda document: sign * place.get(document, len(others)))
    return order


def mean_agreement(
    pairs: Mapping[str, RankPair], *, depth: int, weights: Mapping[str, float] | None = None
) -> Agreement | None:
    """
    The weighted means over *pairs*, by query; None where there are none.

    *weights* has every query, or is empty where all weigh the same. Counts are not weighted.
    """
    if not pairs:
        return None
    rankings = list(pairs.values())
    # Two rankings that share less than two documents have no tau, and would pull the mean to 0.
    taus = {query: pair.tau for query, pair in pairs.items() if pair.tau is not None}
    weights = weights or {}
    return Agreement(
        depth=depth,
        p=RBO_PERSISTENCE,
        queries=len(rankings),
        rbo=mean_of({query: pair.rbo for query, pair in pairs.items()}, weights),
        overlap=mean_of({query: pair.overlap for query, pair in pairs.items()}, weights),
        tau=mean_of(taus, weights) if taus else None,
        tau_queries=len(taus),
        same_ranking=sum(pair.reference == pair.candidate for pair in rankings),
        same_documents=sum(set(pair.reference) == set(pair.candidate) for pair in rankings),
        same_first=sum(pair.reference[:1] == pair.candidate[:1] for pair in rankings),
    )


def _compute_rbo(first: Sequence[str], second: Sequence[str], p: float) -> float:
    """RBO; a shorter ranking ended there and shares nothing below, as in `_compute_overlap`."""
    return rbo(first, second, p, ended=True) if first or second else 1.0


def _compute_overlap(first: Sequence[str], second: Sequence[str], depth: int) -> float:
    """The overlap, as a share of the longer ranking if both are shorter than *depth*: equal short rankings give 1."""
    longest = min(depth, max(len(first), len(second)))
    return overlap(first, second, longest) if longest else 1.0


def _compute_tau(first: Sequence[str], second: Sequence[str]) -> float | None:
    try:
        return kendall_tau(first, second)
    except UndefinedScore:
        return None
