"""Measures that depend only on whether documents are relevant: of rankings, of sets, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.errors import UndefinedScore
from harness.metrics.definition import (
    CONDENSED,
    LEVEL,
    Choice,
    Cutoff,
    Definition,
    Kind,
    Number,
    Settings,
)
from harness.metrics.ranking import GradedRanking

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch, Floats

BINARY: Mapping[str, Kind] = {**LEVEL, **CONDENSED}


def relevance(grade: float | None, settings: Settings) -> float:
    """
    1 for a relevant document, 0 for any other: the worth of documents in all measures of this module.

    >>> from harness.model import Gain
    >>> relevance(3, Settings(None, Gain(), {"rel": 2.0})), relevance(None, Settings(None, Gain(), {"rel": 2.0}))
    (1.0, 0.0)
    """
    return float(grade is not None and grade >= settings.level)


def require_relevant(total: int) -> int:
    """*total*, which must not be 0."""
    if not total:
        raise UndefinedScore("no judged document is relevant")
    return total


def batch_found(batch: Batch, settings: Settings) -> Floats:
    """The number of relevant hits of each query."""
    return batch.found(settings.level, settings.cutoff)


def batch_total(batch: Batch, settings: Settings) -> Floats:
    """How many judged documents of each query are relevant, returned or not."""
    return batch.total(settings.level)


def precision(relevant: Sequence[bool], cutoff: int | None) -> float:
    """
    Precision: the relevant documents among the first k, over k.

    Without a cutoff they are divided by the number of hits; without hits it is 0.

    Source: van Rijsbergen (1979); the fixed divisor is that of trec_eval.

    >>> precision([True, False, True], cutoff=5)
    0.4
    """
    ranks = len(relevant) if cutoff is None else cutoff
    return sum(relevant) / ranks if ranks else 0.0


def _precision(ranking: GradedRanking, settings: Settings) -> float:
    ranks = settings.cutoff if settings.word("over") == "cutoff" else None
    return precision(ranking.relevant(settings.level), ranks)


def _batch_precision(batch: Batch, settings: Settings) -> Floats:
    ranks = settings.cutoff if settings.word("over") == "cutoff" else batch.hits(settings.cutoff)
    return batch.ratio(batch_found(batch, settings), batch.returned if ranks is None else ranks)


P = Definition(
    "P",
    _precision,
    {**LEVEL, "over": Choice("cutoff", ("cutoff", "hits")), **CONDENSED},
    batch=_batch_precision,
    worth=relevance,
)


def recall(relevant: Sequence[bool], total: int) -> float:
    """
    Recall: the relevant documents among the first k, over R.

    Source: van Rijsbergen (1979).

    >>> recall([True, False, True], total=4)
    0.5
    """
    return sum(relevant) / require_relevant(total)


R = Definition(
    "R",
    lambda ranking, settings: recall(ranking.relevant(settings.level), ranking.total_relevant(settings.level)),
    BINARY,
    batch=lambda batch, settings: batch.ratio(batch_found(batch, settings), batch_total(batch, settings)),
    worth=relevance,
)


def f_measure(relevant: Sequence[bool], total: int, cutoff: int | None, beta: float = 1.0) -> float:
    """
    The weighted harmonic mean of precision and recall: (1 + beta^2) P R / (beta^2 P + R).

    Recall counts *beta* times as much as precision. It is 0 if nothing relevant was returned.

    Source: van Rijsbergen (1979), 1 - E.

    >>> round(f_measure([True, False, True], total=4, cutoff=5), 4)
    0.4444
    """
    return blend(precision(relevant, cutoff), recall(relevant, total), beta * beta)


def shares_of(weight: float) -> tuple[float, float]:
    """
    A weight and 1 as shares of their sum, which are finite however large the weight is.

    >>> shares_of(4.0), shares_of(float("inf"))
    ((0.8, 0.2), (1.0, 0.0))
    """
    share_of_one = 1.0 / (1.0 + weight)
    return 1.0 - share_of_one, share_of_one


def blend(share_of_ranks: float, share_of_relevant: float, weight: float) -> float:
    """The harmonic mean of precision and recall, in which recall counts the root of *weight* times as much."""
    # (1 + w) P R / (w P + R), divided by 1 + w: a large weight would overflow.
    of_recall, of_precision = shares_of(weight)
    denominator = of_recall * share_of_ranks + of_precision * share_of_relevant
    return share_of_ranks * share_of_relevant / denominator if denominator else 0.0


def batch_blend(batch: Batch, settings: Settings, weight: float) -> Floats:
    """`blend` for each query."""
    found = batch_found(batch, settings)
    share_of_ranks = batch.ratio(found, batch.returned if settings.cutoff is None else settings.cutoff)
    share_of_relevant = batch.ratio(found, batch_total(batch, settings))
    of_recall, of_precision = shares_of(weight)
    return batch.ratio(
        share_of_ranks * share_of_relevant, of_recall * share_of_ranks + of_precision * share_of_relevant
    )


def _f_measure(ranking: GradedRanking, settings: Settings) -> float:
    relevant, total = ranking.relevant(settings.level), ranking.total_relevant(settings.level)
    return f_measure(relevant, total, settings.cutoff, settings.number("beta"))


F = Definition(
    "F",
    _f_measure,
    {**LEVEL, "beta": Number(1.0, least=0.0), **CONDENSED},
    batch=lambda batch, settings: batch_blend(batch, settings, settings.number("beta") * settings.number("beta")),
    worth=relevance,
)


def reciprocal_rank(relevant: Sequence[bool]) -> float:
    """
    Reciprocal rank: 1 / the rank of the first relevant document, 0 without one.

    Source: Kantor & Voorhees (2000).

    >>> reciprocal_rank([False, True, True])
    0.5
    """
    return next((1.0 / rank for rank, hit in enumerate(relevant, start=1) if hit), 0.0)


def _batch_reciprocal_rank(batch: Batch, settings: Settings) -> Floats:
    import numpy as np

    hits = batch.relevant(settings.level, settings.cutoff)
    # The hits are sorted by query and rank: the first one of a query stands where the query changes.
    first = np.flatnonzero(np.diff(hits.query, prepend=-1))
    values = np.zeros(batch.queries)
    values[hits.query[first]] = 1.0 / hits.rank[first]
    return values


RR = Definition(
    "RR",
    lambda ranking, settings: reciprocal_rank(ranking.relevant(settings.level)),
    BINARY,
    batch=_batch_reciprocal_rank,
    worth=relevance,
)


def average_precision(relevant: Sequence[bool], total: int) -> float:
    """
    Average precision: the sum, over the relevant ranks, of the precision at that rank, divided by R.

    A cutoff cuts the ranking, not R, so that a cutoff below R keeps it below 1.

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
    return sum_of_precisions / require_relevant(total)


def _batch_average_precision(batch: Batch, settings: Settings) -> Floats:
    hits = batch.relevant(settings.level, settings.cutoff)
    precisions = hits.numbers() / hits.rank
    return batch.ratio(batch.per_query(hits.query, precisions), batch_total(batch, settings))


AP = Definition(
    "AP",
    lambda ranking, settings: average_precision(
        ranking.relevant(settings.level), ranking.total_relevant(settings.level)
    ),
    BINARY,
    batch=_batch_average_precision,
    worth=relevance,
)


def r_precision(relevant: Sequence[bool], total: int) -> float:
    """
    The precision at rank R, where precision equals recall.

    Source: Buckley & Voorhees (2005).

    >>> r_precision([True, False, True], total=2)
    0.5
    """
    return sum(relevant[: require_relevant(total)]) / total


def _batch_r_precision(batch: Batch, settings: Settings) -> Floats:
    hits, total = batch.relevant(settings.level), batch_total(batch, settings)
    return batch.ratio(batch.per_query(hits.query[hits.rank <= total[hits.query]]), total)


RPREC = Definition(
    "Rprec",
    lambda ranking, settings: r_precision(ranking.relevant(settings.level), ranking.total_relevant(settings.level)),
    BINARY,
    Cutoff.NONE,
    batch=_batch_r_precision,
    worth=relevance,
)


def success(relevant: Sequence[bool]) -> float:
    """
    1 if a relevant document is among the first k, else 0.

    Source: Craswell & Hawking (2004).

    >>> success([False, True])
    1.0
    """
    return float(any(relevant))


SUCCESS = Definition(
    "Success",
    lambda ranking, settings: success(ranking.relevant(settings.level)),
    BINARY,
    batch=lambda batch, settings: (batch_found(batch, settings) > 0).astype(float),
    worth=relevance,
)


def interpolated_precision(relevant: Sequence[bool], total: int, recall: float, *, nearest: bool = False) -> float:
    """
    The greatest precision at any rank at which at least *recall* of the R relevant documents is found, else 0.

    *recall* times R is seldom a whole number of documents. A fraction of at least a tenth is rounded up; with
    ``rounding=nearest`` it is rounded to the nearest.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; the rounding is that of trec_eval 9, or 10.

    >>> interpolated_precision([True, False, True, False], total=2, recall=0.6)
    0.6666666666666666
    """
    needed = int(recall * require_relevant(total) + (0.5 if nearest else 0.9))
    greatest, found = 0.0, 0
    for rank, hit in enumerate(relevant, start=1):
        # Precision only falls at the ranks between two relevant documents.
        if hit:
            found += 1
            if found >= needed:
                greatest = max(greatest, found / rank)
    return greatest


def _interpolated_precision(ranking: GradedRanking, settings: Settings) -> float:
    relevant, total = ranking.relevant(settings.level), ranking.total_relevant(settings.level)
    nearest = settings.word("rounding") == "nearest"
    return interpolated_precision(relevant, total, settings.number("recall"), nearest=nearest)


def _batch_interpolated_precision(batch: Batch, settings: Settings) -> Floats:
    import numpy as np

    hits = batch.relevant(settings.level)
    found = hits.numbers()
    rounding = 0.5 if settings.word("rounding") == "nearest" else 0.9
    needed = np.floor(settings.number("recall") * batch_total(batch, settings) + rounding)
    is_enough = found >= needed[hits.query]
    values = np.zeros(batch.queries)
    # `at`, as a query is there once for each of its hits, and a plain assignment would keep the last.
    np.maximum.at(values, hits.query[is_enough], found[is_enough] / hits.rank[is_enough])
    return values


IPREC = Definition(
    "IPrec",
    _interpolated_precision,
    {**LEVEL, "recall": Number(None, 0.0, 1.0), "rounding": Choice("up", ("up", "nearest")), **CONDENSED},
    Cutoff.NONE,
    at="recall",
    batch=_batch_interpolated_precision,
    worth=relevance,
)

MEASURES = (P, R, F, RR, AP, RPREC, SUCCESS, IPREC)
