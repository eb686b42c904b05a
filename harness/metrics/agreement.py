"""
How far two runs rank alike, with no judgment, as thresholds name it: ``RBO``, ``RBO(p=0.8)@20``, ``overlap@10``.

These are written as measures are, but compare a ranking with another one, so no single run has a score of them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import MeasureError, UndefinedScore
from harness.means import mean_of
from harness.metrics.grammar import take_apart
from harness.metrics.rank_correlation import kendall_tau, overlap, rbo
from harness.model import Agreement, Measure, Parameter

RBO = "RBO"
OVERLAP = "overlap"
PERSISTENCE = 0.9
"""The p of RBO where none is given: 86 % of the weight is on the first ten ranks."""

_NAME = re.compile(rf"(?:{RBO}|{OVERLAP})(?![\w.])")


def begins_agreement(text: str, position: int) -> bool:
    """Whether *text* has the name of an agreement at *position*."""
    return _NAME.match(text, position) is not None


def read_agreement(text: str) -> Measure:
    """
    Read one agreement.

    Raises:
        MeasureError: It has a parameter that it does not know, or one that is out of range.

    >>> read_agreement("RBO( p = .80 )@10").text
    'RBO(p=0.8)@10'
    """
    parts = take_apart(text)
    parameters: tuple[tuple[str, Parameter], ...] = ()
    for name, value in parts.parameters:
        if parts.name.text != RBO or name.text != "p":
            known = "it has p" if parts.name.text == RBO else "it has none"
            raise MeasureError(f"{parts.name.text} has no parameter {name.text}; {known}", name.offset)
        if parameters:
            raise MeasureError("p is given twice", name.offset)
        parameters = (("p", _persistence(value.text, value.offset)),)
    inside = "".join(f"(p={value:g})" for _, value in parameters)
    cutoff = "" if parts.cutoff is None else f"@{parts.cutoff}"
    return Measure(parts.name.text, parts.cutoff, parameters, f"{parts.name.text}{inside}{cutoff}")


def _persistence(text: str, offset: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise MeasureError(f"RBO's p: found {text}, expected a number above 0 and below 1, such as 0.9", offset)
    return value


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
        candidate: Document ids, best first, none twice.
        depth: Ranks to compare, at least 1.
        p: The persistence of rank-biased overlap.

    >>> pair = compare_rankings(["a", "b", "c"], ["a", "c", "d"], depth=3, p=0.9)
    >>> round(pair.rbo, 4), round(pair.overlap, 4), pair.tau
    (0.685, 0.6667, 1.0)
    """
    first, second = tuple(reference[:depth]), tuple(candidate[:depth])
    return RankPair(first, second, _rbo(first, second, p), _overlap(first, second, depth), _tau(first, second))


def agreement_value(agreement: Measure, reference: Sequence[str], candidate: Sequence[str], *, depth: int) -> float:
    """
    The value of *agreement* for two rankings, down to its cutoff, or to *depth*.

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
    The weighted means over *pairs*, by query; None where there are none.

    *weights* has every query, or is empty where all weigh the same. Counts are not weighted.
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
    """RBO; a shorter ranking ended there and shares nothing below, as in `_overlap`."""
    return rbo(first, second, p, ended=True) if first or second else 1.0


def _overlap(first: Sequence[str], second: Sequence[str], depth: int) -> float:
    """The overlap, as a share of the longer ranking if both are shorter than *depth*: equal short rankings give 1."""
    longest = min(depth, max(len(first), len(second)))
    return overlap(first, second, longest) if longest else 1.0


def _tau(first: Sequence[str], second: Sequence[str]) -> float | None:
    try:
        return kendall_tau(first, second)
    except UndefinedScore:
        return None
