"""
The measures as the Rated Ranking Evaluator computes them.

It works in decimals and cuts or rounds on the way, takes every judged document for relevant whatever its grade, and
scores 1 where nothing is judged and nothing was returned. A hit count is the number of hits returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from math import log

from harness.errors import MeasureError
from harness.measures.definition import Formula, Settings
from harness.metrics.ranking import GradedRanking

__all__ = ["RRE_FORMULAS"]


EXACT = Context(prec=330)
"""Enough for the gain of every grade that has one as a float, and its decimals."""

ONE, ZERO = Decimal(1), Decimal(0)


def _divide(above: Decimal, below: Decimal, places: int, rounding: str) -> Decimal:
    return EXACT.divide(above, below).quantize(Decimal(1).scaleb(-places), rounding, EXACT)


def _ceil(above: Decimal, below: Decimal) -> Decimal:
    return _divide(above, below, 4, ROUND_CEILING)


def _gain(grade: float) -> Decimal:
    try:
        return EXACT.subtract(Decimal(repr(2.0**grade)), ONE)
    except OverflowError:
        raise MeasureError(f"the gain of grade {grade:g} is too large for a number") from None


def _discounted(gain: Decimal, rank: int) -> Decimal:
    return _divide(gain, Decimal(log(rank + 1) / log(2)), 2, ROUND_FLOOR)


def _found(ranking: GradedRanking) -> Decimal:
    return Decimal(sum(grade is not None for grade in ranking.grades))


def _ndcg(ranking: GradedRanking, settings: Settings) -> Decimal:
    if not ranking.grades:
        return _of_nothing(ranking)
    judged = ((rank, _gain(grade)) for rank, grade in enumerate(ranking.grades, 1) if grade is not None)
    best = sorted(ranking.judgments.values(), reverse=True)[: settings.cutoff]
    ideal = _sum(_discounted(_gain(grade), rank) for rank, grade in enumerate(best, 1))
    dcg = _sum(gain if rank == 1 else _discounted(gain, rank) for rank, gain in judged)
    return _divide(dcg, ideal, 2, ROUND_FLOOR) if ideal else ZERO


def _precision(ranking: GradedRanking, settings: Settings) -> Decimal:
    if not ranking.grades:
        return _of_nothing(ranking)
    hits = Decimal(len(ranking.grades))
    if settings.cutoff is None:
        return _ceil(_found(ranking), hits)
    return _divide(_found(ranking), hits, 2, ROUND_HALF_UP)


def _recall(ranking: GradedRanking, _: Settings) -> Decimal:
    if not ranking.judgments:
        return _of_nothing_judged(ranking)
    return _ceil(_found(ranking), Decimal(len(ranking.judgments)))


def _f_measure(ranking: GradedRanking, settings: Settings) -> Decimal:
    weight = Decimal(repr(settings.number("beta"))) ** 2
    precision, recall = _precision(ranking, settings), _recall(ranking, settings)
    if not precision or not recall:
        return ZERO
    return (ONE + weight) * _ceil(precision * recall, precision * weight + recall)


def _reciprocal_rank(ranking: GradedRanking, _: Settings) -> Decimal:
    """1 / the rank of the first document of the best grade that was returned, not of the first relevant one."""
    if not ranking.judgments:
        return _of_nothing_judged(ranking)
    positive = [grade for grade in ranking.grades if grade is not None and grade > 0]
    if not positive:
        return ZERO
    return _divide(ONE, Decimal(ranking.grades.index(max(positive)) + 1), 2, ROUND_HALF_UP)


def _average_precision(ranking: GradedRanking, _: Settings) -> Decimal:
    if not ranking.judgments:
        return _of_nothing_judged(ranking)
    total = Decimal(len(ranking.judgments))
    found, reached, value = ZERO, ZERO, ZERO
    for rank, grade in enumerate(ranking.grades, start=1):
        found += ONE if grade is not None else ZERO
        recall = _ceil(found, total)
        value += _ceil(found, Decimal(rank)) * (recall - reached)
        reached = recall
    return value


def _err(ranking: GradedRanking, settings: Settings) -> Decimal:
    if not ranking.returned:
        return ONE
    if not _found(ranking):
        return ZERO
    top, unjudged = Decimal(repr(2.0 ** settings.number("max"))), settings.number("unjudged")
    value, trust = ZERO, ONE
    for rank, grade in enumerate(ranking.grades, start=1):
        useful = _divide(_gain(unjudged if grade is None else grade), top, 8, ROUND_HALF_UP)
        value = EXACT.add(value, EXACT.multiply(trust, _divide(useful, Decimal(rank), 8, ROUND_HALF_UP)))
        trust = EXACT.multiply(trust, ONE - useful)
    return value


def _of_nothing(ranking: GradedRanking) -> Decimal:
    return ZERO if ranking.judgments else ONE


def _of_nothing_judged(ranking: GradedRanking) -> Decimal:
    return ZERO if ranking.returned else ONE


def _sum(terms: Iterable[Decimal]) -> Decimal:
    return sum(terms, ZERO)


def _as_float(formula: Callable[[GradedRanking, Settings], Decimal]) -> Formula:
    return lambda ranking, settings: float(formula(ranking, settings))


RRE_FORMULAS: Mapping[str, Formula] = {
    "nDCG": _as_float(_ndcg),
    "P": _as_float(_precision),
    "R": _as_float(_recall),
    "F": _as_float(_f_measure),
    "RR": _as_float(_reciprocal_rank),
    "AP": _as_float(_average_precision),
    "ERR": _as_float(_err),
}
