"""How far hits that nobody judged may move the difference of two rankings. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from harness.errors import MeasureError, UndefinedScore
from harness.metrics.definition import Needs
from harness.metrics.profiles import rules_of
from harness.metrics.registry import definition_of, settings_of
from harness.metrics.score import score_query
from harness.model.run import Ranking
from harness.model.suite import GainKind, Measure, Query, Suite


def needs_grades(measure: Measure) -> bool:
    """Whether the score of *measure* depends on the grades of returned documents."""
    definition = definition_of(measure)
    return definition.diverse is None and definition.needs is not Needs.NOTHING


def counts_unjudged(measure: Measure) -> bool:
    """Whether *measure* counts an unjudged hit as not relevant, and has a setting to leave it out instead."""
    return "judged_only" in definition_of(measure).parameters and not dict(measure.parameters).get("judged_only")


def find_scale_ends(suite: Suite, measure: Measure) -> tuple[float, float]:
    """
    The grades of least and of greatest gain for *measure*, among those that have a name or a gain, or are in use.

    Where no grade is known, 0 and 1. Only a gain map can give a lower grade the greater gain.
    """
    settings = settings_of(measure, suite.gain, suite.profile)
    if settings.gain.kind is GainKind.MAP:
        grades = sorted((gain, grade) for grade, gain in settings.gain.table)
        return grades[0][1], grades[-1][1]
    in_use = [0.0, *suite.grades.values()]
    for query in suite.queries:
        in_use += query.judgments.values()
    best = max(in_use)
    top = settings.values.get("max")
    if isinstance(top, int | float):
        best = min(best, float(top))
    return min(in_use), best if best > 0 else 1.0


def bound_differences(
    suite: Suite, measure: Measure, rankings: Mapping[str, tuple[Ranking, Ranking]]
) -> dict[str, tuple[float, float]]:
    """
    The least and the greatest difference of each query, over the grades that its unjudged hits may have.

    Args:
        suite: Gives the judgments, the gain and the profile.
        measure: The measure, which `needs_grades`.
        rankings: Query to the ranking before and after; the difference is that of the second from the first.

    Returns:
        Nothing for a query that has no score as judged, nor for any if the measure cannot score such grades.
    """
    ends = find_scale_ends(suite, measure)
    ranges = {}
    for query in suite.queries:
        if query.id not in rankings:
            continue
        try:
            differences = _list_possible_differences(suite, query, measure, rankings[query.id], ends)
        except MeasureError:
            return {}
        if differences:
            ranges[query.id] = (min(differences), max(differences))
    return ranges


def has_unjudged(query: Query, measure: Measure, rankings: Sequence[Ranking]) -> bool:
    """Whether a hit of one of *rankings* that *measure* looks at has no judgment."""
    return any(hit.id not in query.judgments for ranking in rankings for hit in ranking.hits[: measure.cutoff])


def _list_possible_differences(
    suite: Suite, query: Query, measure: Measure, rankings: tuple[Ranking, Ranking], ends: tuple[float, float]
) -> list[float]:
    """
    The difference as judged, and with grades given to the unjudged hits; none for a query without a score.

    A document has one grade on both sides. The grades are: all the worst, all the best, and those that favor one side:
    the best for what it ranks higher, or has alone, the worst for what the other does, and either for the rest. These
    are the ends for measures without an ideal; with one, a few mixed grades may reach a little further.
    """
    worst, best = ends
    before, after = ({hit.id: rank for rank, hit in enumerate(ranking.hits[: measure.cutoff])} for ranking in rankings)
    unjudged = [document for document in before | after if document not in query.judgments]
    supposed: list[Mapping[str, float]] = [{}]
    # The same documents in the same order have the same score, whatever their grades are; a profile may sort them anew.
    if unjudged and (list(before) != list(after) or rules_of(suite.profile).sorts):
        rises = [document for document in unjudged if after.get(document, math.inf) < before.get(document, math.inf)]
        falls = [document for document in unjudged if before.get(document, math.inf) < after.get(document, math.inf)]
        entered = [document for document in rises if document not in before]
        left = [document for document in falls if document not in after]
        # The grade of a document that both sides have, or have at one rank, may help neither; but it may hide what is
        # below it, or raise the ideal. So both its grades are supposed.
        for others in (worst, best):
            supposed.append(dict.fromkeys(unjudged, others))
            for favored, opposed in ((rises, falls), (falls, rises), (entered, left), (left, entered)):
                mixed = dict.fromkeys(unjudged, others) | dict.fromkeys(favored, best) | dict.fromkeys(opposed, worst)
                # Scores take time, and many of these are alike.
                if mixed not in supposed:
                    supposed.append(mixed)
    differences = []
    for grades in supposed:
        judgments = {**query.judgments, **grades}
        try:
            first, second = (_score_ranking(suite, measure, ranking, judgments) for ranking in rankings)
        except UndefinedScore:
            # Without a score as judged the query does not count. Supposed grades may only leave it undefined, such as
            # the worst ones where no other document is relevant: those add nothing.
            if not grades:
                return []
            continue
        differences.append(second - first)
    return differences


def _score_ranking(suite: Suite, measure: Measure, ranking: Ranking, grades: Mapping[str, float]) -> float:
    return score_query(
        measure,
        ranking.ids,
        grades,
        gain=suite.gain,
        profile=suite.profile,
        scores=ranking.scores,
    )
