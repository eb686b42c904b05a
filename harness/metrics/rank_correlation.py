"""The similarity of two rankings: RBO, overlap and Kendall's tau; and Compat, similarity to the ideal ranking."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from math import ceil, log

from harness.errors import UndefinedScore
from harness.means import exact_sum
from harness.metrics.definition import Cutoff, Definition, Flag, Needs, Number, Settings
from harness.metrics.ranking import GradedRanking

_FEW = 256
_NO_WEIGHT = 1e-18
"""A weight that changes no digit of a sum; ranks with less are ignored."""


def rbo(first: Sequence[str], second: Sequence[str], p: float = 0.9, *, ended: bool = False) -> float:
    """
    Rank-biased overlap, extrapolated: the overlap at each depth, as a reader meets it who goes on with probability *p*.

    What lies below the shorter ranking is extrapolated from the overlap seen; 1 where both are the same, 0 where they
    share nothing. Rankings of different length are dealt with as in the source.

    Args:
        first: Document ids, best first, none twice.
        second: Document ids, best first, none twice.
        p: Persistence, above 0 and below 1: 0.9 puts 86 % of the weight on the first ten ranks.
        ended: Whether the shorter ranking is complete. It is then not extrapolated: documents of the longer one below
            its end are not shared, and only the overlap at the longer one's end is extrapolated.

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
    # As in the source: s and l are the lengths, and X_d, here shared[d - 1], the overlap at depth d.
    short, long = sorted((first, second), key=len)
    if not long:
        raise UndefinedScore("the overlap of two empty rankings is undefined")
    if not short:
        return 0.0
    shared = list(_count_shared(short, long, len(long)))
    s, ll = len(short), len(long)
    # Sums of rounded weights miss 1 by an ulp, to either side: a threshold of 1 would fail, or a mean be above 1.
    if list(short) == list(long[:s]) and (s == ll or not ended):
        return 1.0
    at_s, at_l = shared[s - 1], shared[ll - 1]
    seen = exact_sum(count / depth * p ** (depth - 1) for depth, count in enumerate(shared, start=1))
    if ended:
        return min(1.0, (1 - p) * seen + at_l / ll * p**ll)
    # Below the end of the shorter ranking, its overlap there is taken to go on.
    beyond = exact_sum(at_s * (depth - s) / (s * depth) * p ** (depth - 1) for depth in range(s + 1, ll + 1))
    return min(1.0, (1 - p) * (seen + beyond) + ((at_l - at_s) / ll + at_s / s) * p**ll)


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
    return 1.0 - 2.0 * _count_inversions(ranks) / pairs


def sum_overlaps(first: Sequence[str], second: Sequence[str], p: float, depth: int) -> float:
    """
    The overlap at depths 1 to *depth*, each weighted p^(d-1), unnormalized: what compatibility compares.

    >>> sum_overlaps(["a"], ["a"], p=0.5, depth=2)
    1.25
    """
    looked_at = min(depth, ceil(log(_NO_WEIGHT) / log(p)))
    shared = _count_shared(first, second, looked_at)
    return exact_sum(count / rank * p ** (rank - 1) for rank, count in enumerate(shared, start=1))


def _count_shared(first: Sequence[str], second: Sequence[str], depth: int) -> Iterator[int]:
    """How many documents the two have in common down to each depth."""
    seen_first: set[str] = set()
    seen_second: set[str] = set()
    shared = 0
    for place in range(depth):
        for ranking, own, other in ((first, seen_first, seen_second), (second, seen_second, seen_first)):
            if place < len(ranking):
                own.add(ranking[place])
                # Counted by the ranking that comes to it last, also where both do at one depth.
                shared += ranking[place] in other
        yield shared


def _count_inversions(ranks: list[int]) -> int:
    """How many pairs stand in the wrong order, counted while merging."""
    if len(ranks) <= _FEW:
        return _count_inversions_of_few(ranks)
    middle = len(ranks) // 2
    left, right = ranks[:middle], ranks[middle:]
    inversions = _count_inversions(left) + _count_inversions(right)
    left.sort()
    right.sort()
    # Each value on the left that is greater stands before the one on the right, and should stand behind it.
    smaller = 0
    for value in right:
        while smaller < len(left) and left[smaller] < value:
            smaller += 1
        inversions += len(left) - smaller
    return inversions


def _count_inversions_of_few(ranks: list[int]) -> int:
    """`_count_inversions` by insertion sort: quadratic, with a small constant."""
    before: list[int] = []
    inversions = 0
    for rank in ranks:
        place = bisect(before, rank)
        inversions += len(before) - place
        before.insert(place, rank)
    return inversions


@Definition(
    "Compat",
    parameters={"p": Number(0.95, 0.0, 1.0, open_ends=True), "normalize": Flag(True)},
    cutoff=Cutoff.NONE,
    needs=Needs.NOTHING,
    worth=lambda grade, _: max(0.0, grade or 0.0),
)
def compatibility(ranking: GradedRanking, settings: Settings) -> float:
    """
    Rank-biased overlap, with persistence *p*, with the ideal ranking that is most similar.

    The ideal ranking has the documents of positive grade, best first, equal grades in the order of the ranking. With
    *normalize* the overlap is divided by that of the ideal ranking itself.

    Raises:
        UndefinedScore: no grade is positive.

    Source: Clarke, Vtyurina & Smucker (2021).

    >>> round(score_grades("Compat(p=0.5)", [2, 3]), 4)
    0.3333
    """
    p, judgments = settings.number("p"), ranking.judgments
    place = {document: rank for rank, document in enumerate(ranking.ids)}
    positive = [document for document, grade in judgments.items() if grade > 0]
    if not positive:
        raise UndefinedScore("no judged document has a positive grade")
    # Of all ideal rankings, the most similar one has documents of one grade in the order of the ranking.
    ideal = sorted(positive, key=lambda document: (-judgments[document], place.get(document, len(place))))
    depth = max(len(ranking.ids), len(ideal))
    value = sum_overlaps(ranking.ids, ideal, p, depth)
    if settings.values["normalize"]:
        return value / sum_overlaps(ideal, ideal, p, depth)
    return value * (1 - p) / (1 - p**depth)  # the weights of *depth* ranks add up to 1


MEASURES = (compatibility,)
