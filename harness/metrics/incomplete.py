"""
Measures for judgments that do not cover what was returned.

All take *grades*: the grade at each rank, None for an unjudged document, cut at k.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.errors import UndefinedScore

__all__ = ["SMOOTHING", "bpref", "inferred_ap", "judged"]


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
