"""Measures of all hits whatever their order, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.metrics.binary import (
    BINARY,
    batch_blend,
    batch_found,
    batch_recall,
    batch_total,
    blend,
    f_measure,
    recall,
    relevance,
)
from harness.metrics.definition import CONDENSED, LEVEL, Cutoff, Definition, Flag, Needs, Range, Settings
from harness.metrics.ranking import GradedRanking

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray


@Definition("SetP", parameters={**LEVEL, "relative": Flag(), **CONDENSED}, cutoff=Cutoff.NONE, worth=relevance)
def set_precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    Precision of all hits. With *relative* it is divided by the greatest that so many hits can have.

    Source: set_P and set_relative_P of trec_eval.

    >>> score_grades("SetP", [1, 0, 1]), score_grades("SetP(relative=true)", [1, 0, 1])
    (0.6666666666666666, 1.0)
    """
    ranks = len(ranking.grades)
    if settings.values["relative"]:
        ranks = min(ranks, ranking.total_relevant(settings.level))
    return sum(ranking.relevant(settings.level)) / ranks if ranks else 0.0


@set_precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    relative = settings.values["relative"]
    hits = np.minimum(batch.returned, batch_total(batch, settings)) if relative else batch.returned
    return batch.ratio(batch_found(batch, settings), hits)


SET_RECALL = Definition("SetR", recall.formula, LEVEL, Cutoff.NONE, batch=batch_recall, worth=relevance)


@Definition("SetF", parameters=f_measure.parameters, cutoff=Cutoff.NONE, worth=relevance)
def set_f(ranking: GradedRanking, settings: Settings) -> float:
    """
    (1 + beta) P R / (beta P + R) of all hits: recall counts the root of beta times as much as precision.

    Source: ir_measures; set_F of trec_eval, whose beta is the square of F's.

    >>> round(score_grades("SetF(beta=2)", [1, 0, 1], unreturned=[1, 1]), 4)
    0.5455
    """
    return blend(ranking, settings, settings.number("beta"))


@set_f.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    return batch_blend(batch, settings, settings.number("beta"))


@Definition("SetAP", parameters=BINARY, cutoff=Cutoff.NONE, worth=relevance)
def set_average_precision(ranking: GradedRanking, settings: Settings) -> float:
    """
    Precision times recall, of all hits: average precision for an unknown order.

    Source: ir_measures; set_map of trec_eval.

    >>> round(score_grades("SetAP", [1, 0, 1], unreturned=[1, 1]), 4)
    0.3333
    """
    found, ranks = sum(ranking.relevant(settings.level)), len(ranking.grades)
    share_of_ranks = found / ranks if ranks else 0.0
    return share_of_ranks * (found / ranking.total_relevant(settings.level))


@set_average_precision.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    found = batch_found(batch, settings)
    return batch.ratio(found, batch.returned) * batch.ratio(found, batch_total(batch, settings))


def find_range_of_count(settings: Settings) -> Range:
    """Documents among the hits: none, to all *cutoff* of them."""
    return 0.0, None if settings.cutoff is None else float(settings.cutoff)


@Definition("NumQ", cutoff=Cutoff.NONE, needs=Needs.NOTHING, summed=True, worth=relevance)
def count_query(_ranking: GradedRanking, _settings: Settings) -> float:
    """1 for each query."""
    return 1.0


@count_query.add_batch
def _(batch: Batch, _settings: Settings) -> FloatArray:
    return (batch.returned >= 0).astype(float)


@Definition("NumRet", needs=Needs.NOTHING, reach=find_range_of_count, summed=True, worth=relevance)
def count_hits(ranking: GradedRanking, _settings: Settings) -> float:
    """The number of hits."""
    return float(len(ranking.grades))


@count_hits.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    return batch.hits(settings.cutoff).astype(float)


@Definition(
    "NumRel",
    parameters=LEVEL,
    cutoff=Cutoff.NONE,
    needs=Needs.NOTHING,
    reach=find_range_of_count,
    summed=True,
    batch=batch_total,
    worth=relevance,
)
def count_relevant(ranking: GradedRanking, settings: Settings) -> float:
    """The number of judged documents that are relevant."""
    return float(ranking.total_relevant(settings.level))


@Definition(
    "NumRelRet",
    parameters=LEVEL,
    needs=Needs.NOTHING,
    reach=find_range_of_count,
    summed=True,
    batch=batch_found,
    worth=relevance,
)
def count_relevant_hits(ranking: GradedRanking, settings: Settings) -> float:
    """The number of relevant hits."""
    return float(sum(ranking.relevant(settings.level)))


MEASURES = (
    set_precision,
    SET_RECALL,
    set_f,
    set_average_precision,
    count_query,
    count_hits,
    count_relevant,
    count_relevant_hits,
)
