"""
Measures that ask of a document only whether it is relevant.

All take *relevant*: whether the document at each rank is relevant (its grade is at least the measure's level), best
rank first, cut at k. *total* is the number of relevant documents that are judged, returned or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import UndefinedScore

__all__ = [
    "average_precision",
    "f_measure",
    "precision",
    "r_precision",
    "recall",
    "reciprocal_rank",
    "shares_of",
    "success",
]


def precision(relevant: Sequence[bool], cutoff: int | None) -> float:
    """
    The share of the first *cutoff* ranks that hold a relevant document; a rank without a hit holds none.

    Without a cutoff, the share of the hits; 0 where there are none.

    Source: van Rijsbergen (1979); the fixed divisor is trec_eval's.

    >>> precision([True, False, True], cutoff=5)
    0.4
    """
    ranks = len(relevant) if cutoff is None else cutoff
    return sum(relevant) / ranks if ranks else 0.0


def recall(relevant: Sequence[bool], total: int) -> float:
    """
    The share of the relevant documents that were returned.

    Source: van Rijsbergen (1979).

    >>> recall([True, False, True], total=4)
    0.5
    """
    return sum(relevant) / _some(total)


def f_measure(relevant: Sequence[bool], total: int, cutoff: int | None, beta: float = 1.0) -> float:
    """
    The weighted harmonic mean of precision and recall; recall counts *beta* times as much as precision.

    F = (1 + beta^2) P R / (beta^2 P + R); 0 where nothing relevant was returned.

    Source: van Rijsbergen (1979), 1 - E.

    >>> round(f_measure([True, False, True], total=4, cutoff=5), 4)
    0.4444
    """
    found = sum(relevant)
    share_of_ranks = precision(relevant, cutoff)
    share_of_relevant = recall(relevant, total)
    if not found:
        return 0.0
    of_recall, of_precision = shares_of(beta * beta)
    return share_of_ranks * share_of_relevant / (of_recall * share_of_ranks + of_precision * share_of_relevant)


def shares_of(weight: float) -> tuple[float, float]:
    """
    A weight and 1 as shares of their sum, which are numbers however large the weight is.

    >>> shares_of(4.0), shares_of(float("inf"))
    ((0.8, 0.2), (1.0, 0.0))
    """
    rest = 1.0 / (1.0 + weight)
    return 1.0 - rest, rest


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """
    1 / the rank of the first relevant document, 0 where there is none.

    Source: Kantor & Voorhees (2000).

    >>> reciprocal_rank([False, True, True])
    0.5
    """
    return next((1.0 / rank for rank, hit in enumerate(relevant, start=1) if hit), 0.0)


def average_precision(relevant: Sequence[bool], total: int) -> float:
    """
    The mean, over all relevant documents, of the precision at the rank of each; 0 for one that was not returned.

    A cutoff cuts *relevant*, not *total*: it is divided by all relevant documents, so that a cutoff below their number
    keeps it below 1.

    Source: Harman (1992); Buckley & Voorhees (2005).

    >>> round(average_precision([True, False, True], total=2), 4)
    0.8333
    """
    found = 0
    sum_of_precisions = 0.0
    for rank, hit in enumerate(relevant, start=1):
        if hit:
            found += 1
            sum_of_precisions += found / rank
    return sum_of_precisions / _some(total)


def r_precision(relevant: Sequence[bool], total: int) -> float:
    """
    The precision at rank R, where R is the number of relevant documents; there precision equals recall.

    Source: Buckley & Voorhees (2005).

    >>> r_precision([True, False, True], total=2)
    0.5
    """
    return sum(relevant[: _some(total)]) / total


def success(relevant: Sequence[bool]) -> float:
    """
    1 where at least one relevant document was returned, else 0.

    Source: Craswell & Hawking (2004).

    >>> success([False, True])
    1.0
    """
    return float(any(relevant))


def _some(total: int) -> int:
    """*total*, which must not be 0."""
    if not total:
        raise UndefinedScore("no judged document is relevant")
    return total
