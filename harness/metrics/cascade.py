"""Measures of a user who reads from the top and may stop at each document: ERR and RBP."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import MeasureError

__all__ = ["err", "rbp", "rbp_residual", "stop_probability", "usefulness"]


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
