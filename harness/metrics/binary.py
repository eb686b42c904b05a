"""Measures that depend only on whether documents are relevant: of rankings, of sets, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.metrics.definition import CONDENSED, LEVEL, Choice, Cutoff, Definition, Kind, Number, Settings
from harness.metrics.ranking import GradedRanking

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray

BINARY: Mapping[str, Kind] = {**LEVEL, **CONDENSED}


def relevance(grade: float | None, settings: Settings) -> float:
    """
    1 for a relevant document, 0 for any other: the worth of documents in all measures of this module.

    >>> from harness.model.suite import Gain
    >>> relevance(3, Settings(None, Gain(), {"rel": 2.0})), relevance(None, Settings(None, Gain(), {"rel": 2.0}))
    (1.0, 0.0)
    """
    return float(grade is not None and grade >= settings.level)


def batch_found(batch: Batch, settings: Settings) -> FloatArray:
    """The number of relevant hits of each query."""
    return batch.found(settings.level, settings.cutoff)


def batch_total(batch: Batch, settings: Settings) -> FloatArray:
    """How many judged documents of each query are relevant, returned or not."""
    return batch.total(settings.level)


@Definition("P", parameters={**LEVEL, "over": Choice("cutoff", ("cutoff", "hits")), **CONDENSED}, worth=relevance)
def precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    Precision: the relevant documents among the first k, over k.

    Without a cutoff they are divided by the number of hits; without hits it is 0.

    Source: van Rijsbergen (1979); the fixed divisor is that of trec_eval.

    >>> score_grades("P@5", [1, 0, 1])
    0.4
    """
    ranks = len(ranking.grades)
    if settings.cutoff is not None and settings.word("over") == "cutoff":
        ranks = settings.cutoff
    return sum(ranking.relevant(settings.level)) / ranks if ranks else 0.0


@precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    found = batch_found(batch, settings)
    if settings.cutoff is not None and settings.word("over") == "cutoff":
        return batch.ratio(found, settings.cutoff)
    return batch.ratio(found, batch.hits(settings.cutoff))


@Definition("R", parameters=BINARY, worth=relevance)
def recall(ranking: GradedRanking, settings: Settings) -> float:
    """
    Recall: the relevant documents among the first k, over R.

    Source: van Rijsbergen (1979).

    >>> score_grades("R", [1, 0, 1], unreturned=[1, 1])
    0.5
    """
    return sum(ranking.relevant(settings.level)) / ranking.total_relevant(settings.level)


@recall.add_batch
def batch_recall(batch: Batch, settings: Settings) -> FloatArray:
    """Recall, of many queries."""
    return batch.ratio(batch_found(batch, settings), batch_total(batch, settings))


def split_shares(weight: float) -> tuple[float, float]:
    """
    A weight and 1 as shares of their sum, which are finite however large the weight is.

    >>> split_shares(4.0), split_shares(float("inf"))
    ((0.8, 0.2), (1.0, 0.0))
    """
    share_of_one = 1.0 / (1.0 + weight)
    return 1.0 - share_of_one, share_of_one


def blend(ranking: GradedRanking, settings: Settings, weight: float) -> float:
    """The harmonic mean of precision and recall, in which recall counts the root of *weight* times as much."""
    found = sum(ranking.relevant(settings.level))
    ranks = len(ranking.grades) if settings.cutoff is None else settings.cutoff
    share_of_ranks = found / ranks if ranks else 0.0
    share_of_relevant = found / ranking.total_relevant(settings.level)
    # (1 + w) P R / (w P + R), divided by 1 + w: a large weight would overflow.
    of_recall, of_precision = split_shares(weight)
    denominator = of_recall * share_of_ranks + of_precision * share_of_relevant
    return share_of_ranks * share_of_relevant / denominator if denominator else 0.0


def batch_blend(batch: Batch, settings: Settings, weight: float) -> FloatArray:
    """`blend` for each query."""
    found = batch_found(batch, settings)
    share_of_ranks = batch.ratio(found, batch.returned if settings.cutoff is None else settings.cutoff)
    share_of_relevant = batch.ratio(found, batch_total(batch, settings))
    of_recall, of_precision = split_shares(weight)
    return batch.ratio(
        share_of_ranks * share_of_relevant, of_recall * share_of_ranks + of_precision * share_of_relevant
    )


@Definition("F", parameters={**LEVEL, "beta": Number(1.0, least=0.0), **CONDENSED}, worth=relevance)
def f_measure(ranking: GradedRanking, settings: Settings) -> float:
    """
    The weighted harmonic mean of precision and recall: (1 + beta^2) P R / (beta^2 P + R).

    Recall counts *beta* times as much as precision. It is 0 if nothing relevant was returned.

    Source: van Rijsbergen (1979), 1 - E.

    >>> round(score_grades("F@5", [1, 0, 1], unreturned=[1, 1]), 4)
    0.4444
    """
    return blend(ranking, settings, settings.number("beta") * settings.number("beta"))


@f_measure.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    return batch_blend(batch, settings, settings.number("beta") * settings.number("beta"))


@Definition("RR", parameters=BINARY, worth=relevance)
def reciprocal_rank(ranking: GradedRanking, settings: Settings) -> float:
    """
    Reciprocal rank: 1 / the rank of the first relevant document, 0 without one.

    Source: Kantor & Voorhees (2000).

    >>> score_grades("RR", [0, 1, 1])
    0.5
    """
    for rank, is_relevant in enumerate(ranking.relevant(settings.level), start=1):
        if is_relevant:
            return 1.0 / rank
    return 0.0


@reciprocal_rank.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    hits = batch.relevant(settings.level, settings.cutoff)
    # The hits are sorted by query and rank: the first one of a query stands where the query changes.
    first = np.flatnonzero(np.diff(hits.query, prepend=-1))
    values = np.zeros(batch.queries)
    values[hits.query[first]] = 1.0 / hits.rank[first]
    return values


@Definition("AP", parameters=BINARY, worth=relevance)
def average_precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    Average precision: the sum, over the relevant ranks, of the precision at that rank, divided by R.

    A cutoff cuts the ranking, not R, so that a cutoff below R keeps it below 1.

    Source: Harman (1992); Buckley & Voorhees (2005).

    >>> round(score_grades("AP", [1, 0, 1]), 4)
    0.8333
    """
    found = 0
    sum_of_precisions = 0.0
    for rank, is_relevant in enumerate(ranking.relevant(settings.level), start=1):
        if is_relevant:
            found += 1
            sum_of_precisions += found / rank
    return sum_of_precisions / ranking.total_relevant(settings.level)


@average_precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    hits = batch.relevant(settings.level, settings.cutoff)
    precisions = hits.numbers() / hits.rank
    return batch.ratio(batch.per_query(hits.query, precisions), batch_total(batch, settings))


@Definition("Rprec", parameters=BINARY, cutoff=Cutoff.NONE, worth=relevance)
def r_precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    The precision at rank R, where precision equals recall.

    Source: Buckley & Voorhees (2005).

    >>> score_grades("Rprec", [1, 0, 1])
    0.5
    """
    total = ranking.total_relevant(settings.level)
    return sum(ranking.relevant(settings.level)[:total]) / total


@r_precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    hits, total = batch.relevant(settings.level), batch_total(batch, settings)
    return batch.ratio(batch.per_query(hits.query[hits.rank <= total[hits.query]]), total)


@Definition("Success", parameters=BINARY, worth=relevance)
def success(ranking: GradedRanking, settings: Settings) -> float:
    """
    1 if a relevant document is among the first k, else 0.

    Source: Craswell & Hawking (2004).

    >>> score_grades("Success@2", [0, 1])
    1.0
    """
    return float(any(ranking.relevant(settings.level)))


@success.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    return (batch_found(batch, settings) > 0).astype(float)


@Definition(
    "IPrec",
    parameters={**LEVEL, "recall": Number(None, 0.0, 1.0), "rounding": Choice("up", ("up", "nearest")), **CONDENSED},
    cutoff=Cutoff.NONE,
    at="recall",
    worth=relevance,
)
def interpolated_precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    The greatest precision at any rank at which at least *recall* of the R relevant documents is found, else 0.

    *recall* times R is seldom a whole number of documents. A fraction of at least a tenth is rounded up; with
    ``rounding=nearest`` it is rounded to the nearest.

    Source: Manning, Raghavan & Schütze (2008), section 8.4; the rounding is that of trec_eval 9, or 10.

    >>> score_grades("IPrec@0.6", [1, 0, 1, 0])
    0.6666666666666666
    """
    rounding = 0.5 if settings.word("rounding") == "nearest" else 0.9
    needed = int(settings.number("recall") * ranking.total_relevant(settings.level) + rounding)
    greatest, found = 0.0, 0
    for rank, is_relevant in enumerate(ranking.relevant(settings.level), start=1):
        # Precision only falls at the ranks between two relevant documents.
        if is_relevant:
            found += 1
            if found >= needed:
                greatest = max(greatest, found / rank)
    return greatest


@interpolated_precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
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


MEASURES = (
    precision,
    recall,
    f_measure,
    reciprocal_rank,
    average_precision,
    r_precision,
    success,
    interpolated_precision,
)
