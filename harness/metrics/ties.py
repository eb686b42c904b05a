"""
The mean of a metric over all orders of the documents that share a score.

An engine gives documents of equal score in any order, so the score that a ranking got is one of many. All functions
take values by rank, not cut, and *groups*: how many documents share each score, in the order of the ranking.

Source: McSherry & Najork (2008), "Computing information retrieval performance measures efficiently in the presence of
tied scores", for precision, recall, RR, AP and nDCG; the others follow from the same reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, log, prod
from operator import mul
from typing import TypeVar

from harness.metrics.binary import shares_of

__all__ = [
    "expected_average_precision",
    "expected_bpref",
    "expected_err",
    "expected_q",
    "expected_reciprocal_rank",
    "expected_success",
    "mean_by_group",
]


T = TypeVar("T")

NOTHING = 1e-18
"""A chance that changes no digit of a sum."""


def mean_by_group(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """
    Each value replaced by the mean of its group: whatever is linear in the values has its mean there.

    >>> mean_by_group([3.0, 1.0, 0.0], [1, 2])
    [3.0, 0.5, 0.5]
    """
    return [mean for _, members in _split(values, groups) for mean in [sum(members) / len(members)] * len(members)]


def expected_reciprocal_rank(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The first group that holds a relevant document decides; its r relevant ones fall anywhere among its n places.

    >>> expected_reciprocal_rank([False, True], [2], None)
    0.75
    """
    for start, members in _split(relevant, groups):
        size, hits = len(members), sum(members)
        if hits:
            places = min(size - hits + 1, _left(start, size, cutoff))
            missed = _missed(size, hits, places)
            return sum(still * hits / (size - above) / (start + above + 1) for above, still in enumerate(missed[:-1]))
    return 0.0


def expected_success(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    1 less the probability that no relevant document of the group that the cutoff divides comes above it.

    >>> expected_success([False, True], [2], 1)
    0.5
    """
    missed = 1.0
    for start, members in _split(relevant, groups):
        size = len(members)
        missed *= _missed(size, sum(members), _left(start, size, cutoff))[-1]
    return 1.0 - missed


def expected_average_precision(
    relevant: Sequence[bool], groups: Sequence[int], total: int, cutoff: int | None
) -> float:
    """
    The mean of average precision.

    >>> expected_average_precision([False, True], [2], total=1, cutoff=None)
    0.75
    """
    return expected_q([float(hit) for hit in relevant], [], groups, total, cutoff, beta=0.0)


def expected_q(
    gains: Sequence[float], ideal: Sequence[float], groups: Sequence[int], total: int, cutoff: int | None, beta: float
) -> float:
    """
    The mean of the Q-measure, and with *beta* 0 of average precision; divided by *total*.

    A relevant document stands at each place of its group as often as at any other, and the others are spread evenly
    over the rest.

    >>> expected_q([0.0, 2.0], [2.0], [2], total=1, cutoff=None, beta=1.0)
    0.875
    """
    of_gain, of_rank = shares_of(beta)
    blended = [of_rank * float(gain > 0) + of_gain * gain for gain in gains]
    value, above, best = 0.0, 0.0, 0.0
    for start, members in _split(blended, groups):
        size, whole = len(members), sum(members)
        found = [worth for worth, gain in zip(members, gains[start : start + size], strict=True) if gain > 0]
        of_found = sum(found)
        for at in range(1, size + 1):
            rank = start + at
            best += ideal[rank - 1] if rank <= len(ideal) else 0.0
            if cutoff is not None and rank > cutoff:
                break
            others = (at - 1) / (size - 1) if size > 1 else 0.0
            term = (len(found) * (above + others * whole) + (1.0 - others) * of_found) / size
            value += term / (of_rank * rank + of_gain * best)
        above += whole
    return value / total


def expected_err(stops: Sequence[float], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The mean of ERR: the chance to stop at a place is that of still looking above it, less that of looking below it.

    >>> expected_err([0.5, 0.0], [2], None)
    0.375
    """
    value, reach = 0.0, 1.0
    for start, members in _split(stops, groups):
        looking = _still_looking(members, _left(start, len(members), cutoff))
        value += reach * sum(
            (before - after) / (start + at) for at, (before, after) in enumerate(pairwise(looking), start=1)
        )
        reach *= prod(1.0 - stop for stop in members)
    return value


def expected_bpref(kinds: Sequence[bool | None], groups: Sequence[int], total: int, most: int) -> float:
    """
    The mean of Bpref: before a relevant document stand none to all of its group's others, each as often.

    *kinds* tells by rank whether the document is relevant, None for one that does not count; *total* is R, and *most*
    the lesser of R and the judged non-relevant documents.

    >>> expected_bpref([False, True], [2], total=1, most=1)
    0.5
    """
    value, before = 0.0, 0
    for _, members in _split(kinds, groups):
        hits, others = members.count(True), members.count(False)
        lost = [min(before + ahead, total) / most if before + ahead else 0.0 for ahead in range(others + 1)]
        value += hits * (1.0 - sum(lost) / len(lost))
        before += others
    return value / total


def _split(values: Sequence[T], groups: Sequence[int]) -> Iterator[tuple[int, Sequence[T]]]:
    """Each group's values, and how many ranks stand above it."""
    start = 0
    for size in groups:
        yield start, values[start : start + size]
        start += size


def _left(start: int, size: int, cutoff: int | None) -> int:
    """How many places of a group lie within *cutoff*."""
    return size if cutoff is None else max(0, min(size, cutoff - start))


def _missed(size: int, hits: int, places: int) -> list[float]:
    """The chance that none of *hits* among *size* documents stands in the first 0, 1 … to *places* of them."""
    missed = [1.0]
    for above in range(places):
        missed.append(missed[-1] * max(0, size - hits - above) / (size - above))
    return missed


def _still_looking(stops: Sequence[float], places: int) -> list[float]:
    """
    The mean chance to get past the first 0, 1 … to *places* documents, until it is next to nothing.

    Only documents at which one may stop count. *share* is the chance that so many of them stand above, which is next to
    nothing outside of *low* to *high*.
    """
    past = _mean_products([1.0 - stop for stop in stops if stop], places)
    size, hits = len(stops), sum(stop > 0 for stop in stops)
    share, looking = [1.0] + [0.0] * (len(past) - 1), [1.0]
    low = high = 0
    for above in range(places):
        left, high = size - above, min(high + 1, len(past) - 1)
        for count in range(high, low, -1):
            share[count] = (share[count] * (left - hits + count) + share[count - 1] * (hits - count + 1)) / left
        share[low] *= (left - hits + low) / left
        while share[low] < NOTHING and low < high:
            low += 1
        while share[high] < NOTHING and low < high:
            high -= 1
        looking.append(sum(map(mul, share[low : high + 1], past[low : high + 1])))
        if looking[-1] < NOTHING:
            break
    return looking


def _mean_products(values: Sequence[float], most: int) -> list[float]:
    """The mean product of 0, 1 … to *most* of *values*, drawn at random, until it is next to nothing."""
    greatest = max(values, default=0.0)
    if 0.0 < greatest < 1.0:
        most = min(most, ceil(log(NOTHING) / log(greatest)))
    means = [1.0] + [0.0] * min(len(values), most)
    for count, value in enumerate(values, start=1):
        for drawn in range(min(count, len(means) - 1), 0, -1):
            means[drawn] = ((count - drawn) * means[drawn] + drawn * value * means[drawn - 1]) / count
    return means
