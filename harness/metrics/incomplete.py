"""Measures for judgments that do not cover what was returned: Judged, Bpref and inferred AP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.metrics.binary import relevance
from harness.metrics.definition import (
    LEVEL,
    NEGATIVE,
    Cutoff,
    Definition,
    Needs,
    Settings,
)
from harness.metrics.ranking import GradedRanking

if TYPE_CHECKING:
    from harness.metrics.bulk.batch import Batch
    from harness.statistics.tests import FloatArray

SMOOTHING = 0.00001
"""The constant with which inferred AP smooths a precision estimated from few judgments; trec_eval's."""


def _is_judged(grade: float | None, _: Settings) -> float:
    return float(grade is not None)


@Definition("Judged", needs=Needs.NOTHING, worth=_is_judged)
def judged(ranking: GradedRanking, _settings: Settings) -> float:
    """
    The judged documents among the first k hits, divided by the number of these hits; 0 without hits.

    A short ranking is not an unjudged one, so it is not divided by k.

    Source: Judged@k of ir_measures.

    >>> score_grades("Judged", [3, None, 0, None])
    0.5
    """
    return find_judged_share(ranking.grades)


def find_judged_share(grades: Sequence[float | None]) -> float:
    """
    The share of *grades* that are not None; 0 without any.

    >>> find_judged_share([3, None, 0, None])
    0.5
    """
    return sum(grade is not None for grade in grades) / len(grades) if grades else 0.0


@judged.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    return batch.ratio(batch.per_query(batch.query[batch.select_within(settings.cutoff)]), batch.hits(settings.cutoff))


def _find_preference(grade: float | None, settings: Settings) -> float:
    """The worth of a document: 1 if relevant, 0 if not; 0.5 if it does not count."""
    if grade is None or grade < settings.least_judged:
        return 0.5
    return relevance(grade, settings)


@Definition("Bpref", parameters={**LEVEL, **NEGATIVE}, cutoff=Cutoff.NONE, worth=_find_preference)
def bpref(ranking: GradedRanking, settings: Settings) -> float:
    """
    Binary preference: how often a relevant document comes before the judged non-relevant ones.

    It is 1 / R times the sum, over the relevant documents returned, of 1 - min(n, R) / min(N, R). n is the number of
    judged non-relevant documents above the document, N that of all. With ``negative=skipped``, as in trec_eval, a
    grade below 0 is unjudged.

    Source: Buckley & Voorhees (2004), as corrected in trec_eval 8.

    >>> score_grades("Bpref", [0, 1, None, 1], unreturned=[0])
    0.5
    """
    level, least = settings.level, settings.least_judged
    counted = [grade for grade in ranking.judgments.values() if grade >= least]
    relevant = sum(grade >= level for grade in counted)
    most = min(len(counted) - relevant, relevant)
    non_relevant_before, value = 0, 0.0
    for grade in ranking.grades:
        if grade is None or grade < least:
            continue
        if grade < level:
            non_relevant_before += 1
        elif non_relevant_before:
            value += 1.0 - min(non_relevant_before, relevant) / most
        else:
            value += 1.0  # *most* may be 0
    return value / relevant


@bpref.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    import numpy as np

    from harness.metrics.bulk.batch import count_before, reaches_level

    total = batch.total(settings.level)
    most = np.minimum(batch.total(settings.least_judged) - total, total)
    is_judged = batch.grade >= settings.least_judged
    query, relevant = batch.query[is_judged], reaches_level(batch.grade, settings.level)[is_judged]
    before = count_before(query, ~relevant)[relevant]
    query = query[relevant]
    lost = batch.ratio(np.minimum(before, total[query]), most[query])
    return batch.ratio(batch.per_query(query, 1.0 - lost), total)


@Definition("infAP", parameters=LEVEL, cutoff=Cutoff.NONE)
def inferred_ap(ranking: GradedRanking, settings: Settings) -> float:
    """
    Average precision, estimated if only a sample of the pool was judged.

    The precision at a relevant document at rank r is estimated as 1/r + (r - 1)/r times the share of the documents
    above it that were in the pool, times the relevant share of the judged ones above it. A grade below 0 marks a
    document that was in the pool and not judged. One without a grade was not in the pool, and counts as non-relevant.

    Source: Yilmaz & Aslam (2006).

    >>> round(score_grades("infAP", [1, -1, None, 1]), 4)
    0.875
    """
    level = settings.level
    relevant = other = unknown = 0
    value = 0.0
    for above, grade in enumerate(ranking.grades):
        if grade is None:
            continue
        if grade < 0:
            unknown += 1
        elif grade < level:
            other += 1
        else:
            value += _estimate_precision(above, relevant, other, unknown)
            relevant += 1
    return value / ranking.total_relevant(settings.level)


def _estimate_precision(above: int, relevant: int, other: int, unknown: int) -> float:
    """At a relevant document with so many documents *above* it, so many of each kind among them."""
    if not above:
        return 1.0
    in_pool = (relevant + other + unknown) / above
    of_judged = (relevant + SMOOTHING) / (relevant + other + 2 * SMOOTHING)
    return 1 / (above + 1) + above / (above + 1) * in_pool * of_judged


@inferred_ap.add_batch
def _(batch: Batch, settings: Settings) -> FloatArray:
    from harness.metrics.bulk.batch import count_before, reaches_level

    relevant, unknown = reaches_level(batch.grade, settings.level), batch.grade < 0
    # What stands above each relevant hit.
    relevant_above = count_before(batch.query, relevant)[relevant]
    other_above = count_before(batch.query, ~relevant & ~unknown)[relevant]
    unknown_above = count_before(batch.query, unknown)[relevant]
    above = batch.rank[relevant] - 1.0
    in_pool = batch.ratio(relevant_above + other_above + unknown_above, above)
    of_judged = (relevant_above + SMOOTHING) / (relevant_above + other_above + 2 * SMOOTHING)
    estimated = 1.0 / (above + 1.0) + above / (above + 1.0) * in_pool * of_judged
    return batch.ratio(batch.per_query(batch.query[relevant], estimated), batch.total(settings.level))


MEASURES = (judged, bpref, inferred_ap)
