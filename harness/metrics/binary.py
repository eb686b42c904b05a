"""Formulas that ask of a document only whether it is relevant, also where judgments are incomplete."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import UndefinedScore

__all__ = [
    "average_precision",
    "documents_of_recall",
    "f_measure",
    "interpolated_precision",
    "precision",
    "r_precision",
    "recall",
    "reciprocal_rank",
    "relative_precision",
    "set_average_precision",
    "set_f",
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


def relative_precision(relevant: Sequence[bool], total: int) -> float:
    """
    Precision over the greatest that so many hits can have: relevant hits over the lesser of the hits and *total*.

    Source: set_relative_P of trec_eval.

    >>> relative_precision([True, False, True], total=2)
    1.0
    """
    ranks = min(len(relevant), _require_relevant(total))
    return sum(relevant) / ranks if ranks else 0.0


def interpolated_precision(relevant: Sequence[bool], total: int, recall: float, *, nearest: bool = False) -> float:
    """
    The greatest precision at any rank from which on *recall* is reached; 0 where it never is.

    *recall* of *total* documents is a number of documents: rounded up from a tenth on, or to the *nearest*.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; the rounding is that of trec_eval 9, or 10.

    >>> interpolated_precision([True, False, True, False], total=2, recall=0.6)
    0.6666666666666666
    """
    needed = documents_of_recall(recall, _require_relevant(total), nearest=nearest)
    ranks = (rank for rank, hit in enumerate(relevant, start=1) if hit)
    return max((found / rank for found, rank in enumerate(ranks, start=1) if found >= needed), default=0.0)


def documents_of_recall(recall: float, total: int, *, nearest: bool) -> int:
    """
    How many of *total* relevant documents make a *recall*.

    >>> documents_of_recall(0.2, 3, nearest=False), documents_of_recall(0.1, 3, nearest=True)
    (1, 0)
    """
    return int(recall * total + (0.5 if nearest else 0.9))


def recall(relevant: Sequence[bool], total: int) -> float:
    """
    The share of the relevant documents that were returned.

    Source: van Rijsbergen (1979).

    >>> recall([True, False, True], total=4)
    0.5
    """
    return sum(relevant) / _require_relevant(total)


def f_measure(relevant: Sequence[bool], total: int, cutoff: int | None, beta: float = 1.0) -> float:
    """
    The weighted harmonic mean of precision and recall; recall counts *beta* times as much as precision.

    F = (1 + beta^2) P R / (beta^2 P + R); 0 where nothing relevant was returned.

    Source: van Rijsbergen (1979), 1 - E.

    >>> round(f_measure([True, False, True], total=4, cutoff=5), 4)
    0.4444
    """
    return _blended(precision(relevant, cutoff), recall(relevant, total), beta * beta)


def shares_of(weight: float) -> tuple[float, float]:
    """
    A weight and 1 as shares of their sum, which are numbers however large the weight is.

    >>> shares_of(4.0), shares_of(float("inf"))
    ((0.8, 0.2), (1.0, 0.0))
    """
    rest = 1.0 / (1.0 + weight)
    return 1.0 - rest, rest


def set_f(relevant: Sequence[bool], total: int, weight: float = 1.0) -> float:
    """
    `f_measure` of all hits, in which recall counts the root of *weight* times as much as precision.

    Source: set_F of trec_eval.

    >>> round(set_f([True, False, True], total=4, weight=2.0), 4)
    0.5455
    """
    return _blended(precision(relevant, None), recall(relevant, total), weight)


def set_average_precision(relevant: Sequence[bool], total: int) -> float:
    """
    Precision times recall, of all hits: average precision where their order is not known.

    Source: set_map of trec_eval.

    >>> round(set_average_precision([True, False, True], total=4), 4)
    0.3333
    """
    return precision(relevant, None) * recall(relevant, total)


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
    return sum_of_precisions / _require_relevant(total)


def r_precision(relevant: Sequence[bool], total: int) -> float:
    """
    The precision at rank R, where R is the number of relevant documents; there precision equals recall.

    Source: Buckley & Voorhees (2005).

    >>> r_precision([True, False, True], total=2)
    0.5
    """
    return sum(relevant[: _require_relevant(total)]) / total


def success(relevant: Sequence[bool]) -> float:
    """
    1 where at least one relevant document was returned, else 0.

    Source: Craswell & Hawking (2004).

    >>> success([False, True])
    1.0
    """
    return float(any(relevant))


def _blended(share_of_ranks: float, share_of_relevant: float, weight: float) -> float:
    of_recall, of_precision = shares_of(weight)
    below = of_recall * share_of_ranks + of_precision * share_of_relevant
    return share_of_ranks * share_of_relevant / below if below else 0.0


def _require_relevant(total: int) -> int:
    """*total*, which must not be 0."""
    if not total:
        raise UndefinedScore("no judged document is relevant")
    return total
