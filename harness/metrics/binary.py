"""Formulas that ask of a document only whether it is relevant, also where judgments are incomplete."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.errors import UndefinedScore

__all__ = [
    "SMOOTHING",
    "average_precision",
    "bpref",
    "documents_of_recall",
    "f_measure",
    "inferred_ap",
    "interpolated_precision",
    "judged",
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


# Formulas that ask of a document only whether it is relevant, also where judgments are incomplete.


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


# Measures for judgments that do not cover what was returned.
#
# All take *grades*: the grade at each rank, None for an unjudged document, cut at k.


SMOOTHING = 0.00001
"""The constant with which inferred AP smooths a precision estimated from few judgments; trec_eval's."""


def judged(grades: Sequence[float | None]) -> float:
    """
    The share of the hits that have a judgment, whatever its grade; 0 where there are no hits.

    Divided by the hits there are, not by k: a short ranking is not an unjudged one.

    Source: Judged@k of ir_measures.

    >>> judged([3, None, 0, None])
    0.5
    """
    return sum(grade is not None for grade in grades) / len(grades) if grades else 0.0


def bpref(
    grades: Sequence[float | None], judgments: Collection[float], level: float = 1.0, *, skip_negative: bool = False
) -> float:
    """
    Binary preference: how often a relevant document comes before the judged non-relevant ones; unjudged do not count.

    With R relevant and N non-relevant judged documents it is 1/R times the sum, over the relevant documents returned,
    of 1 - min(n, R) / min(N, R), where n non-relevant ones stand before it.

    Args:
        grades: The grade at each rank.
        judgments: The grades of all judged documents, returned or not.
        level: The least grade that is relevant.
        skip_negative: A grade below 0 is no judgment, as trec_eval has it; else it is a non-relevant document.

    Raises:
        UndefinedScore: nothing judged is relevant.

    Source: Buckley & Voorhees (2004), as corrected in trec_eval 8.

    >>> bpref([0, 1, None, 1], judgments=[1, 1, 0, 0])
    0.5
    """
    counted = [grade for grade in judgments if grade >= 0 or not skip_negative]
    relevant = sum(grade >= level for grade in counted)
    if not relevant:
        raise UndefinedScore("no judged document is relevant")
    most = min(len(counted) - relevant, relevant)
    before, value = 0, 0.0
    for grade in grades:
        if grade is None or (grade < 0 and skip_negative):
            continue
        if grade < level:
            before += 1
        else:
            value += 1.0 - min(before, relevant) / most if before else 1.0
    return value / relevant


def inferred_ap(grades: Sequence[float | None], total: int, level: float = 1.0) -> float:
    """
    Average precision, estimated where only a sample of the pool was judged.

    A grade below 0 marks a document that was in the pool and not judged; None one that was not in the pool, which is
    taken for non-relevant. The precision above a relevant document at rank k is estimated from the judged ones of the
    k - 1 above it: 1/k + (k-1)/k * (in the pool above / (k-1)) * (relevant above / judged above).

    Args:
        grades: The grade at each rank.
        total: The number of relevant documents, returned or not.
        level: The least grade that is relevant, above 0.

    Raises:
        UndefinedScore: nothing judged is relevant.

    Source: Yilmaz & Aslam (2006).

    >>> round(inferred_ap([1, -1, None, 1], total=2), 4)
    0.875
    """
    if not total:
        raise UndefinedScore("no judged document is relevant")
    relevant = other = unknown = 0
    value = 0.0
    for above, grade in enumerate(grades):
        if grade is None:
            continue
        if grade < 0:
            unknown += 1
        elif grade < level:
            other += 1
        else:
            value += _expected_precision(above, relevant, other, unknown)
            relevant += 1
    return value / total


def _expected_precision(above: int, relevant: int, other: int, unknown: int) -> float:
    """At a relevant document with so many documents *above* it, so many of each kind among them."""
    if not above:
        return 1.0
    in_pool = (relevant + other + unknown) / above
    of_judged = (relevant + SMOOTHING) / (relevant + other + 2 * SMOOTHING)
    return 1 / (above + 1) + above / (above + 1) * in_pool * of_judged
