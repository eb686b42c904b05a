"""Measures of all hits whatever their order, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.metrics.binary import (
    BINARY,
    F,
    R,
    batch_blend,
    batch_found,
    batch_total,
    blend,
    precision,
    recall,
    relevance,
    require_relevant,
)
from harness.metrics.definition import CONDENSED, LEVEL, Cutoff, Definition, Flag, Needs, Range, Settings
from harness.metrics.ranking import GradedRanking

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch, Floats


def relative_precision(relevant: Sequence[bool], total: int) -> float:
    """
    Precision over the greatest that so many hits can have: relevant hits over the lesser of the hits and *total*.

    Source: set_relative_P of trec_eval.

    >>> relative_precision([True, False, True], total=2)
    1.0
    """
    ranks = min(len(relevant), require_relevant(total))
    return sum(relevant) / ranks if ranks else 0.0


def _set_precision(ranking: GradedRanking, settings: Settings) -> float:
    relevant = ranking.relevant(settings.level)
    if settings.values["relative"]:
        return relative_precision(relevant, ranking.total_relevant(settings.level))
    return precision(relevant, None)


def _batch_set_precision(batch: Batch, settings: Settings) -> Floats:
    import numpy as np

    relative = settings.values["relative"]
    hits = np.minimum(batch.returned, batch_total(batch, settings)) if relative else batch.returned
    return batch.ratio(batch_found(batch, settings), hits)


SET_P = Definition(
    "SetP",
    _set_precision,
    {**LEVEL, "relative": Flag(), **CONDENSED},
    Cutoff.NONE,
    batch=_batch_set_precision,
    worth=relevance,
)


SET_R = Definition("SetR", R.formula, LEVEL, Cutoff.NONE, batch=R.batch, worth=relevance)


def set_f(relevant: Sequence[bool], total: int, weight: float = 1.0) -> float:
    """
    (1 + beta) P R / (beta P + R) of all hits: recall counts the root of beta times as much as precision.

    Source: ir_measures; set_F of trec_eval, whose beta is the square of F's.

    >>> round(set_f([True, False, True], total=4, weight=2.0), 4)
    0.5455
    """
    return blend(precision(relevant, None), recall(relevant, total), weight)


SET_F = Definition(
    "SetF",
    lambda ranking, settings: set_f(
        ranking.relevant(settings.level), ranking.total_relevant(settings.level), settings.number("beta")
    ),
    F.parameters,
    Cutoff.NONE,
    batch=lambda batch, settings: batch_blend(batch, settings, settings.number("beta")),
    worth=relevance,
)


def set_average_precision(relevant: Sequence[bool], total: int) -> float:
    """
    Precision times recall, of all hits: average precision for an unknown order.

    Source: ir_measures; set_map of trec_eval.

    >>> round(set_average_precision([True, False, True], total=4), 4)
    0.3333
    """
    return precision(relevant, None) * recall(relevant, total)


def _batch_set_average_precision(batch: Batch, settings: Settings) -> Floats:
    found = batch_found(batch, settings)
    return batch.ratio(found, batch.returned) * batch.ratio(found, batch_total(batch, settings))


SET_AP = Definition(
    "SetAP",
    lambda ranking, settings: set_average_precision(
        ranking.relevant(settings.level), ranking.total_relevant(settings.level)
    ),
    BINARY,
    Cutoff.NONE,
    batch=_batch_set_average_precision,
    worth=relevance,
)


def _count_range(settings: Settings) -> Range:
    """Documents among the hits: none, to all *cutoff* of them."""
    return 0.0, None if settings.cutoff is None else float(settings.cutoff)


NUM_Q = Definition(
    "NumQ",
    lambda _ranking, _settings: 1.0,
    {},
    Cutoff.NONE,
    Needs.NOTHING,
    summed=True,
    batch=lambda batch, _: (batch.returned >= 0).astype(float),
    worth=relevance,
)


NUM_RET = Definition(
    "NumRet",
    lambda ranking, _: float(len(ranking.grades)),
    {},
    Cutoff.OPTIONAL,
    Needs.NOTHING,
    _count_range,
    summed=True,
    batch=lambda batch, settings: batch.hits(settings.cutoff).astype(float),
    worth=relevance,
)


NUM_REL = Definition(
    "NumRel",
    lambda ranking, settings: float(ranking.total_relevant(settings.level)),
    LEVEL,
    Cutoff.NONE,
    Needs.NOTHING,
    _count_range,
    summed=True,
    batch=batch_total,
    worth=relevance,
)


NUM_REL_RET = Definition(
    "NumRelRet",
    lambda ranking, settings: float(sum(ranking.relevant(settings.level))),
    LEVEL,
    Cutoff.OPTIONAL,
    Needs.NOTHING,
    _count_range,
    summed=True,
    batch=batch_found,
    worth=relevance,
)


MEASURES = (SET_P, SET_R, SET_F, SET_AP, NUM_Q, NUM_RET, NUM_REL, NUM_REL_RET)
