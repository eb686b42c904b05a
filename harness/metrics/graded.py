"""
Formulas of graded gain: cumulated, discounted, normalised; of a user who stops; and of one ranking
against another.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil, log, log2

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.binary import shares_of

__all__ = [
    "RANK",
    "RANK_PLUS_ONE",
    "ROUNDING",
    "Discount",
    "cg",
    "compatibility",
    "dcg",
    "discount",
    "divisors",
    "err",
    "fixed_length",
    "kendall_tau",
    "ndcg",
    "overlap",
    "overlap_sum",
    "q_measure",
    "rbo",
    "rbp",
    "rbp_residual",
    "stop_probability",
    "usefulness",
]


# Measures of a user who reads from the top and may stop at each document: ERR and RBP.


def stop_probability(grade: float, top: float) -> float:
    """
    The probability that a document of this *grade* satisfies the user: (2^grade - 1) / 2^top; 0 below grade 0.

    Raises:
        MeasureError: *grade* is above *top*, the scale's top grade.

    Source: Chapelle et al. (2009), equation 4.

    >>> stop_probability(3, top=4)
    0.4375
    """
    _within(grade, top, "ERR")
    return float(2.0**grade - 1.0) / 2.0**top if grade > 0 else 0.0


def err(stops: Sequence[float]) -> float:
    """
    Expected reciprocal rank: the mean of 1 / rank of the document at which the user stops.

    *stops* holds, by rank, the probability that the document satisfies a user who gets there.

    Source: Chapelle et al. (2009).

    >>> err([0.5, 0.0, 0.5])
    0.5833333333333334
    """
    value, still_looking = 0.0, 1.0
    for rank, stop in enumerate(stops, start=1):
        value += still_looking * stop / rank
        still_looking *= 1.0 - stop
    return value


def usefulness(grade: float, top: float) -> float:
    """
    How useful a document of this *grade* is on a scale up to *top*, from 0 to 1, for graded RBP.

    Raises:
        MeasureError: *grade* is above *top*.

    >>> usefulness(1, top=4)
    0.25
    """
    _within(grade, top, "RBP")
    return grade / top if grade > 0 else 0.0


def rbp(useful: Sequence[float], p: float) -> float:
    """
    Rank-biased precision: what a user gains a document, who goes on to the next with probability *p*.

    *useful* holds, by rank, how useful the document is: 0 or 1, or between for graded judgments.

    Source: Moffat & Zobel (2008), equation 6.

    >>> round(rbp([1, 0, 1], p=0.8), 6)
    0.328
    """
    return float((1.0 - p) * sum(gain * p**depth for depth, gain in enumerate(useful)))


def rbp_residual(unjudged: Sequence[float], p: float, *, tail_always: bool = True) -> float:
    """
    By how much RBP could rise: the weight of the unjudged documents, and of all ranks below the last hit.

    *unjudged* holds 1 by rank where the document is unjudged, else 0. trec_eval 10 counts the ranks below only where a
    hit is unjudged, as with *tail_always* False.

    Source: Moffat & Zobel (2008), section 4.3.

    >>> round(rbp_residual([0, 1, 0], p=0.8), 6)
    0.672
    """
    if not tail_always and not any(unjudged):
        return 0.0
    return float(rbp(unjudged, p) + p ** len(unjudged))


def _within(grade: float, top: float, name: str) -> None:
    if grade > top:
        hint = f"name the scale's, as {name}(max={grade:g})"
        raise MeasureError(f"grade {grade:g} is above the top grade {top:g} that {name} reckons with; {hint}")


# How much a gain is worth at a rank.


Discount = str
"""The name of a discount: `RANK_PLUS_ONE` or `RANK`."""

RANK_PLUS_ONE: Discount = "log"
RANK: Discount = "jarvelin"


def discount(kind: Discount, base: float) -> Callable[[int], float]:
    """
    What a gain at a rank (from 1) is divided by.

    ``log`` is log_base(rank + 1), which every engine and trec_eval use. ``jarvelin`` is the discount of Järvelin &
    Kekäläinen (2002): none before rank *base*, log_base(rank) from there on.

    >>> round(discount("log", 2)(3), 6), discount("jarvelin", 2)(2)
    (2.0, 1.0)
    """
    scale = log2(base)
    if kind == RANK_PLUS_ONE:
        return lambda rank: log2(rank + 1) / scale
    return lambda rank: max(1.0, log2(rank) / scale)


@lru_cache(maxsize=64)
def divisors(kind: Discount, base: float, depth: int) -> tuple[float, ...]:
    """
    The divisors of ranks 1 to *depth*, computed once for all queries.

    >>> divisors("log", 2, 1)
    (1.0,)
    """
    return tuple(map(discount(kind, base), range(1, depth + 1)))


# Cumulative gain, discounted, normalised.
#
# All take *gains*: what the document at each rank is worth, best rank first, cut at k. An unjudged document gains 0.


ROUNDING = 1e-9
"""How far above 1 a ratio of two equal sums may be rounded."""


def cg(gains: Sequence[float]) -> float:
    """
    Cumulative gain: the sum of the gains, whatever their order.

    Source: Järvelin & Kekäläinen (2002).

    >>> cg([3, 2, 3, 0, 1, 2])
    11.0
    """
    return float(sum(gains))


def dcg(gains: Sequence[float], *, log: float = 2.0, discount: Discount = RANK_PLUS_ONE) -> float:
    """
    Discounted cumulative gain: the sum of gain / log_b(rank + 1), where *log* is b.

    *discount* chooses Järvelin & Kekäläinen's own instead: see `harness.metrics.graded`.

    Source: Burges et al. (2005) for the discount log(rank + 1); Järvelin & Kekäläinen (2002) for the measure.

    >>> round(dcg([3, 2, 3, 0, 1, 2]), 3)
    6.861
    >>> round(dcg([3, 2, 3, 0, 1, 2], discount="jarvelin"), 3)
    8.097
    """
    return float(sum(gain / divisor for gain, divisor in zip(gains, divisors(discount, log, len(gains)), strict=True)))


def ndcg(
    gains: Sequence[float], ideal: Sequence[float], *, log: float = 2.0, discount: Discount = RANK_PLUS_ONE
) -> float:
    """
    Normalised discounted cumulative gain: DCG over the DCG of the *ideal* ranking.

    Args:
        gains: The gain at each rank, cut at k.
        ideal: The gains of the best k of all judged documents, returned or not, only positive ones, best first.
        log: Base of the logarithm; it cancels out, except under Järvelin & Kekäläinen's discount.
        discount: Which discount.

    Returns:
        Dimensionless, at most 1, and at least 0 where no gain is negative.

    Raises:
        UndefinedScore: *ideal* is empty.

    Source: Järvelin & Kekäläinen (2002).

    >>> round(ndcg([3, 2, 3, 0, 1, 2], ideal=[3, 3, 2, 2, 1]), 3)
    0.961
    """
    if not ideal:
        raise UndefinedScore("no judged document has a positive gain, so there is no ideal ranking to compare with")
    share = dcg(gains, log=log, discount=discount) / dcg(ideal, log=log, discount=discount)
    return 1.0 if 1.0 < share < 1.0 + ROUNDING else share


def fixed_length(gains: Sequence[float], cutoff: int, missing: float) -> Sequence[float]:
    """
    *gains* filled up to *cutoff* ranks with the gain of a *missing* document.

    So a ranking that is too short loses against one that is not.

    >>> fixed_length([1.0, 1.0], 4, -1.0)
    [1.0, 1.0, -1.0, -1.0]
    """
    return [*gains, *[missing] * (cutoff - len(gains))]


# One ranking against another: how far do two agree, with no judgment at all.


_FEW = 256
_NO_WEIGHT = 1e-18
"""A weight that changes no digit of a sum; ranks that have less are not looked at."""


def rbo(first: Sequence[str], second: Sequence[str], p: float = 0.9, *, ended: bool = False) -> float:
    """
    Rank-biased overlap, extrapolated: the overlap at each depth, as a reader meets it who goes on with probability *p*.

    What lies below the shorter ranking is extrapolated from the overlap seen; 1 where both are the same, 0 where they
    share nothing. Rankings of different length are dealt with as in the source.

    Args:
        first: Document ids, best first, none twice.
        second: The same.
        p: Persistence, above 0 and below 1: 0.9 puts 86 % of the weight on the first ten ranks.
        ended: Nothing follows the shorter ranking. Its extrapolation is left out: what the longer one holds below that
            end is not shared, and only the overlap at the longer one's end is taken to go on.

    Raises:
        UndefinedScore: both are empty.

    Source: Webber, Moffat & Zobel (2010), equation 32.

    >>> rbo(["a", "b", "c"], ["a", "b", "c"])
    1.0
    >>> round(rbo(["a", "b", "c"], ["a", "c", "d"]), 4)
    0.685
    >>> round(rbo(["a"], ["a", "b"]), 4), round(rbo(["a"], ["a", "b"], ended=True), 4)
    (1.0, 0.55)
    """
    short, long = sorted((first, second), key=len)
    if not long:
        raise UndefinedScore("two empty rankings have no overlap to speak of")
    if not short:
        return 0.0
    shared = list(_shared(short, long, len(long)))
    s, ll = len(short), len(long)
    at_s, at_l = shared[s - 1], shared[ll - 1]
    seen = sum(count / depth * p ** (depth - 1) for depth, count in enumerate(shared, start=1))
    if ended:
        return (1 - p) * seen + at_l / ll * p**ll
    beyond = sum(at_s * (depth - s) / (s * depth) * p ** (depth - 1) for depth in range(s + 1, ll + 1))
    return (1 - p) * (seen + beyond) + ((at_l - at_s) / ll + at_s / s) * p**ll


def overlap(first: Sequence[str], second: Sequence[str], cutoff: int) -> float:
    """
    The share of the first *cutoff* documents that both rankings have in common; ranks without a hit share nothing.

    >>> overlap(["a", "b", "c"], ["c", "a", "x"], cutoff=3)
    0.6666666666666666
    """
    return len(set(first[:cutoff]).intersection(second[:cutoff])) / cutoff


def kendall_tau(first: Sequence[str], second: Sequence[str]) -> float:
    """
    Kendall's tau on the documents that both rankings hold: 1 in the same order, -1 in the opposite.

    Raises:
        UndefinedScore: they share less than two documents.

    Source: Kendall (1938).

    >>> round(kendall_tau(["a", "b", "c"], ["b", "a", "c", "d"]), 4)
    0.3333
    """
    place = {document: rank for rank, document in enumerate(second)}
    ranks = [place[document] for document in first if document in place]
    if len(ranks) < 2:
        raise UndefinedScore(f"Kendall's tau needs two shared documents, found {len(ranks)}")
    pairs = len(ranks) * (len(ranks) - 1) // 2
    return 1.0 - 2.0 * _inversions(ranks) / pairs


def overlap_sum(first: Sequence[str], second: Sequence[str], p: float, depth: int) -> float:
    """
    The overlap at depths 1 to *depth*, each weighted p^(d-1), unnormalised: what compatibility compares.

    >>> overlap_sum(["a"], ["a"], p=0.5, depth=2)
    1.25
    """
    seen = min(depth, ceil(log(_NO_WEIGHT) / log(p)))
    return sum(count / at * p ** (at - 1) for at, count in enumerate(_shared(first, second, seen), start=1))


def _shared(first: Sequence[str], second: Sequence[str], depth: int) -> Iterator[int]:
    """How many documents the two have in common down to each depth."""
    seen_first: set[str] = set()
    seen_second: set[str] = set()
    common = 0
    for at in range(depth):
        for ranking, own, other in ((first, seen_first, seen_second), (second, seen_second, seen_first)):
            if at < len(ranking):
                own.add(ranking[at])
                common += ranking[at] in other
        yield common


def _inversions(ranks: list[int]) -> int:
    """How many pairs stand in the wrong order, counted while merging."""
    if len(ranks) <= _FEW:
        return _inversions_of_few(ranks)
    middle = len(ranks) // 2
    left, right = ranks[:middle], ranks[middle:]
    inversions = _inversions(left) + _inversions(right)
    left.sort()
    right.sort()
    at = 0
    for value in right:
        while at < len(left) and left[at] < value:
            at += 1
        inversions += len(left) - at
    return inversions


def _inversions_of_few(ranks: list[int]) -> int:
    """The same, counted while each is put into its place among those before it; quadratic, with a small constant."""
    before: list[int] = []
    inversions = 0
    for rank in ranks:
        place = bisect(before, rank)
        inversions += len(before) - place
        before.insert(place, rank)
    return inversions


# Formulas of graded gain: cumulated, discounted, normalised; of a user who stops; and of one ranking against another.


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
