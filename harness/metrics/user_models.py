"""Measures of a user who reads from the top and may stop at each document: ERR and RBP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

from harness.errors import GradeError
from harness.means import exact_sum
from harness.metrics.binary import relevance
from harness.metrics.cumulative import DEEPEST_SUM
from harness.metrics.definition import (
    CONDENSED,
    NEGATIVE,
    UNJUDGED,
    Choice,
    Definition,
    Kind,
    Needs,
    Number,
    Range,
    Settings,
)
from harness.metrics.ranking import GradedRanking
from harness.words import format_exactly

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray

PERSISTENCE: Mapping[str, Kind] = {"p": Number(0.8, 0.0, 1.0, open_ends=True)}


def stop_probability(grade: float, top: float) -> float:
    """
    The probability that a document of this *grade* satisfies the user: (2^grade - 1) / 2^top; 0 below grade 0.

    Raises:
        MeasureError: *grade* is above *top*, the scale's top grade.

    Source: Chapelle et al. (2009), equation 4.

    >>> stop_probability(3, top=4)
    0.4375
    """
    _check_top(grade, top, "ERR")
    return float(2.0**grade - 1.0) / 2.0**top if grade > 0 else 0.0


def _check_top(grade: float, top: float, name: str) -> None:
    if grade > top:
        hint = f"name the scale's, as {name}(max={format_exactly(grade)})"
        raise GradeError(
            f"grade {format_exactly(grade)} is above the top grade {format_exactly(top)} of {name}; {hint}", grade
        )


def _average_stops(stops: Sequence[float]) -> float:
    """The mean of 1 / the rank at which users stop, each at rank r with the probability *stops* has there."""
    value, still_looking = 0.0, 1.0
    for rank, stop in enumerate(stops, start=1):
        value += still_looking * stop / rank
        still_looking *= 1.0 - stop
    return value


def _find_stop(grade: float | None, settings: Settings) -> float:
    if grade is None:
        grade = settings.optional("unjudged")
    return 0.0 if grade is None else stop_probability(grade, settings.number("max"))


def _err_range(settings: Settings) -> Range:
    """All ranks hold documents of the top grade; without a cutoff, the limit of ever more of them."""
    stop = stop_probability(settings.number("max"), settings.number("max"))
    if settings.cutoff is not None and settings.cutoff <= DEEPEST_SUM:
        return 0.0, _average_stops([stop] * settings.cutoff)
    if 0.0 < stop < 1.0:
        return 0.0, -stop * log(stop) / (1.0 - stop)
    return 0.0, stop


@Definition(
    "ERR",
    # 2^max is a number.
    parameters={"max": Number(4.0, least=0.0, greatest=1024.0, open_ends=True), **UNJUDGED, **CONDENSED},
    reach=_err_range,
    worth=_find_stop,
)
def err(ranking: GradedRanking, settings: Settings) -> float:
    """
    Expected reciprocal rank: the sum over r of s(r) / r, times the product of 1 - s above r.

    s = (2^grade - 1) / 2^max is the probability that a document satisfies a user who gets there. So this is the mean of
    1 / the rank at which users stop.

    Source: Chapelle et al. (2009).

    >>> round(score_grades("ERR(max=1)", [1, 0, 1]), 4)
    0.5833
    """
    top, unjudged = settings.number("max"), _find_stop(None, settings)
    for grade in ranking.judgments.values():
        stop_probability(grade, top)  # a grade above the top is an error even where it was not returned
    return _average_stops([unjudged if grade is None else stop_probability(grade, top) for grade in ranking.grades])


@err.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    from harness.metrics.bulk.batch import split_by_order

    top = settings.number("max")
    stop_probability(float(batch.judged_grade.max(initial=0.0)), top)
    # Nobody stops at another document, so only these hits count.
    inside = (batch.grade > 0) & batch.is_within(settings.cutoff)
    query, rank = batch.query[inside], batch.rank[inside]
    stop = (np.exp2(batch.grade[inside].astype(np.float64)) - 1.0) / 2.0**top
    value, still_looking = np.zeros(batch.queries), np.ones(batch.queries)
    # What a hit adds depends on the hits before it: the first hits of all queries at once, then the second ones.
    for hits in split_by_order(query):
        value[query[hits]] += still_looking[query[hits]] * stop[hits] / rank[hits]
        still_looking[query[hits]] *= 1.0 - stop[hits]
    return value


def usefulness(grade: float, top: float) -> float:
    """
    How useful a document of this *grade* is on a scale up to *top*, from 0 to 1, for graded RBP.

    Raises:
        MeasureError: *grade* is above *top*.

    >>> usefulness(1, top=4)
    0.25
    """
    _check_top(grade, top, "RBP")
    return grade / top if grade > 0 else 0.0


def _average_use(useful: Sequence[float], p: float) -> float:
    """How useful a document is that a user reads who goes on to the next one with probability *p*."""
    return (1.0 - p) * exact_sum(gain * p**depth for depth, gain in enumerate(useful))


def _find_use(grade: float | None, settings: Settings) -> float:
    top = settings.optional("max")
    if top is None or grade is None:
        return relevance(grade, settings)
    return usefulness(grade, top)


def _rbp_range(settings: Settings) -> Range:
    """The range; at most, all ranks hold fully useful documents."""
    if settings.cutoff is None:
        return 0.0, 1.0
    return 0.0, 1.0 - settings.number("p") ** settings.cutoff


def _rbp_check(settings: Settings) -> str | None:
    if settings.given("rel") and settings.given("max"):
        return "rel= makes it binary and max= graded: use one of them"
    return None


@Definition(
    "RBP",
    parameters={**PERSISTENCE, "rel": Number(None, least=0.0), "max": Number(None, 0.0, open_ends=True), **CONDENSED},
    reach=_rbp_range,
    check=_rbp_check,
    worth=_find_use,
)
def rbp(ranking: GradedRanking, settings: Settings) -> float:
    """
    Rank-biased precision: (1 - p) times the sum of u(r) p^(r - 1).

    It is the gain per document of a user who goes on to the next one with probability *p*. u(r) is rel(r). With *max*,
    for graded judgments, it is grade / max.

    Source: Moffat & Zobel (2008), equation 6.

    >>> round(score_grades("RBP", [1, 0, 1]), 6)
    0.328
    """
    p, top = settings.number("p"), settings.optional("max")
    if top is None:
        return _average_use(ranking.relevant(settings.level), p)
    for grade in ranking.judgments.values():
        usefulness(grade, top)  # a grade above the top is an error even where it was not returned
    return _average_use([0.0 if grade is None else usefulness(grade, top) for grade in ranking.grades], p)


@rbp.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    p, top = settings.number("p"), settings.optional("max")
    if top is None:
        hits = batch.relevant(settings.level, settings.cutoff)
        return (1.0 - p) * batch.per_query(hits.query, p ** (hits.rank - 1.0))
    usefulness(float(batch.judged_grade.max(initial=0.0)), top)
    inside = (batch.grade > 0) & batch.is_within(settings.cutoff)
    useful = batch.grade[inside] / top * p ** (batch.rank[inside] - 1.0)
    return (1.0 - p) * batch.per_query(batch.query[inside], useful)


def _is_unjudged(grade: float | None, settings: Settings) -> float:
    return float(grade is None or grade < settings.least_judged)


@Definition(
    "RBPResidual",
    parameters={**PERSISTENCE, **NEGATIVE, "tail": Choice("always", ("always", "unjudged"))},
    needs=Needs.NOTHING,
    worth=_is_unjudged,
)
def rbp_residual(ranking: GradedRanking, settings: Settings) -> float:
    """
    By how much RBP rises if all unjudged hits, and all ranks below the last hit, are relevant.

    With ``tail=unjudged``, as in trec_eval 10, the ranks below the last hit count only if a hit is unjudged. With
    ``negative=skipped`` a grade below 0 is unjudged.

    Source: Moffat & Zobel (2008), section 4.3.

    >>> round(score_grades("RBPResidual", [0, None, 0]), 6)
    0.672
    """
    p = settings.number("p")
    unjudged = [_is_unjudged(grade, settings) for grade in ranking.grades]
    if settings.word("tail") == "unjudged" and not any(unjudged):
        return 0.0
    return float(_average_use(unjudged, p) + p ** len(unjudged))


@rbp_residual.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    p, cutoff = settings.number("p"), settings.cutoff
    inside = (batch.grade >= settings.least_judged) & batch.is_within(cutoff)
    query = batch.query[inside]
    # A batch has no unjudged hits; but the weights of all ranks add up to 1.
    residual = 1.0 - (1.0 - p) * batch.per_query(query, p ** (batch.rank[inside] - 1.0))
    if settings.word("tail") == "always":
        return residual
    return np.where(batch.per_query(query) < batch.hits(cutoff), residual, 0.0)


MEASURES = (err, rbp, rbp_residual)
