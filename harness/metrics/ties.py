"""
The mean of a metric over all orders of the documents that share a score.

An engine gives documents of equal score in any order, so the score that a ranking got is one of many. All functions
take values by rank, not cut, and *groups*: how many documents share each score, in the order of the ranking.

Source: McSherry & Najork (2008), "Computing information retrieval performance measures efficiently in the presence of
tied scores", for precision, recall, RR, AP and nDCG; the others follow from the same reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
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


def mean_by_group(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """
    Each value replaced by the mean of its group: whatever is linear in the values has its mean there.

    >>> mean_by_group([3.0, 1.0, 0.0], [1, 2])
    [3.0, 0.5, 0.5]
    """
    return [sum(members) / len(members) for _, members in _split(values, groups) for _ in members]


def expected_reciprocal_rank(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The first group that holds a relevant document decides; its r relevant ones fall anywhere among its n places.

    >>> expected_reciprocal_rank([False, True], [2], None)
    0.75
    """
    for start, members in _split(relevant, groups):
        size, hits = len(members), sum(members)
        if hits:
            places = range(1, min(size - hits + 1, _left(start, size, cutoff)) + 1)
            return sum(comb(size - at, hits - 1) / comb(size, hits) / (start + at) for at in places)
    return 0.0


def expected_success(relevant: Sequence[bool], groups: Sequence[int], cutoff: int | None) -> float:
    """
    1 less the probability that no relevant document of the group that the cutoff divides comes above it.

    >>> expected_success([False, True], [2], 1)
    0.5
    """
    missed = 1.0
    for start, members in _split(relevant, groups):
        size, hits = len(members), sum(members)
        missed *= comb(size - hits, above) / comb(size, above) if (above := _left(start, size, cutoff)) else 1.0
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
        for at in range(1, size + 1):
            rank = start + at
            best += ideal[rank - 1] if rank <= len(ideal) else 0.0
            if cutoff is not None and rank > cutoff:
                break
            others = (at - 1) / (size - 1) if size > 1 else 0.0
            term = sum(above + worth + others * (whole - worth) for worth in found) / size
            value += term / (of_rank * rank + of_gain * best)
        above += whole
    return value / total


def expected_err(stops: Sequence[float], groups: Sequence[int], cutoff: int | None) -> float:
    """
    The mean of ERR: of all sets of documents that may stand above a place, the mean chance to get there.

    With e(j) the elementary symmetric polynomials of 1 - stop, the mean chance to stop at place j is
    ((n - j + 1) e(j - 1) - j e(j)) / (n C(n - 1, j - 1)).

    >>> expected_err([0.5, 0.0], [2], None)
    0.375
    """
    value, reach = 0.0, 1.0
    for start, members in _split(stops, groups):
        size = len(members)
        symmetric = _elementary([1.0 - stop for stop in members])
        for at in range(1, _left(start, size, cutoff) + 1):
            stopping = (size - at + 1) * symmetric[at - 1] - at * symmetric[at]
            value += reach * stopping / (size * comb(size - 1, at - 1)) / (start + at)
        reach *= symmetric[size]
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


def _elementary(values: Sequence[float]) -> list[float]:
    """The elementary symmetric polynomials of *values*, of degree 0 to all."""
    polynomials = [1.0] + [0.0] * len(values)
    for count, value in enumerate(values, start=1):
        for degree in range(count, 0, -1):
            polynomials[degree] += value * polynomials[degree - 1]
    return polynomials
