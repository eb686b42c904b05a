"""What a score cannot know: how much of a ranking is judged, and where it would stand if the rest were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.errors import UndefinedScore
from harness.measures.score import score_query
from harness.metrics.incomplete import judged
from harness.metrics.ranking import grade_ranking
from harness.model import Gain, Measure, Profile

__all__ = ["UnjudgedBounds", "unjudged_bounds"]


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """
    A score beside what it would be if every unjudged hit had the *worst*, or the *best*, grade.

    *judged* is the share of the hits that have a judgment, down to the cutoff. A value is None where it is undefined.
    The two need not enclose the score, nor each other: a document that turns out good also raises the ideal.
    """

    judged: float
    if_worst: float | None
    as_judged: float | None
    if_best: float | None


def unjudged_bounds(
    measure: Measure,
    ranking: Sequence[str],
    grades: Mapping[str, float],
    *,
    worst: float = 0.0,
    best: float,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
) -> UnjudgedBounds:
    """
    Where a score would stand if the unjudged hits down to the cutoff were all the worst, or all the best.

    Args:
        measure: What is measured.
        ranking: Document ids, best first.
        grades: Document id to grade, all judged documents of the query.
        worst: The scale's lowest grade.
        best: The scale's top grade.
        gain: What a grade is worth where the measure's text does not say.
        profile: Whose rules hold.

    Raises:
        MeasureError: a grade that the gain map or the measure's scale does not hold.

    >>> from harness.measures import parse_measure
    >>> bounds = unjudged_bounds(parse_measure("P@2"), ["a", "x"], {"a": 1}, best=1)
    >>> bounds.judged, bounds.if_worst, bounds.as_judged, bounds.if_best
    (0.5, 0.5, 0.5, 1.0)
    """
    hits = grade_ranking(ranking, grades, measure.cutoff)
    unjudged = [document for document, grade in zip(hits.ids, hits.grades, strict=True) if grade is None]

    def score(supposed: float | None) -> float | None:
        known = grades if supposed is None else {**grades, **dict.fromkeys(unjudged, supposed)}
        try:
            return score_query(measure, ranking, known, gain=gain, profile=profile)
        except UndefinedScore:
            return None

    return UnjudgedBounds(judged(hits.grades), score(worst), score(None), score(best))
