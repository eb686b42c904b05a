"""One ranking with what is known of its documents, and what a grade is worth: what every formula is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import cast

from harness.errors import UsageError
from harness.metrics.gain import finite

__all__ = ["DiverseRanking", "GradedRanking", "check_grades", "cover_subtopics", "grade_ranking", "without_duplicates"]


@dataclass(frozen=True, slots=True)
class GradedRanking:
    """
    The hits of one query down to the cutoff, each with its grade.

    *ids* and *grades* run by rank, best first, and are equally long; a grade is None where the document is unjudged.
    *judgments* maps every judged document of the query to its grade, returned or not. *returned* counts the hits
    before the cut.
    """

    ids: Sequence[str]
    grades: Sequence[float | None]
    judgments: Mapping[str, float]
    returned: int

    def relevant(self, level: float) -> list[bool]:
        """Whether the document at each rank has at least the grade *level*."""
        return [grade is not None and grade >= level for grade in self.grades]

    def total_relevant(self, level: float) -> int:
        """How many judged documents have at least the grade *level*, returned or not."""
        return sum(grade >= level for grade in self.judgments.values())


@dataclass(frozen=True, slots=True)
class DiverseRanking:
    """
    The hits of one query down to the cutoff, each with the subtopics that it is relevant to.

    *covers* runs by rank. *judged_covers* holds the same for all judged documents, ordered by id from the last to the
    first, which is how equal ones are resolved. *subtopics* counts those that have a relevant document.
    """

    covers: Sequence[frozenset[str]]
    judged_covers: Sequence[frozenset[str]]
    subtopics: int


def cover_subtopics(
    ranking: Sequence[str], judgments: Mapping[str, Mapping[str, float]], level: float, cutoff: int | None
) -> DiverseRanking:
    """
    Look up what each document covers, down to *cutoff*; *judgments* maps document to subtopic to grade.

    A document is relevant to a subtopic from the grade *level* on. One that came twice counts once.
    """
    covered_by = {
        document: frozenset(subtopic for subtopic, grade in by_subtopic.items() if grade >= level)
        for document, by_subtopic in judgments.items()
    }
    covers = [covered_by.get(document, frozenset()) for document in without_duplicates(ranking)[:cutoff]]
    in_order = [covered_by[document] for document in sorted(covered_by, key=str.encode, reverse=True)]
    return DiverseRanking(covers, in_order, len(frozenset().union(*in_order)))


def grade_ranking(
    ranking: Sequence[str],
    judgments: Mapping[str, float],
    cutoff: int | None = None,
    *,
    judged_only: bool = False,
    least: float = -inf,
) -> GradedRanking:
    """
    Look up the grade of each document, down to *cutoff*.

    A document that came twice counts once, at its first place. With *judged_only* the unjudged documents are taken out
    before the cut, so that the ones below move up (Sakai 2007, condensed lists); those of a grade below *least* too.

    Raises:
        UsageError: a grade is not a finite number.
    """
    check_grades(judgments)
    unique = without_duplicates(ranking)
    known = {document for document, grade in judgments.items() if grade >= least} if judged_only else ()
    kept = [document for document in unique if document in known] if judged_only else unique
    ids = kept[:cutoff]
    return GradedRanking(ids, [judgments.get(document) for document in ids], judgments, len(kept))


def check_grades(judgments: Mapping[str, object]) -> None:
    """
    See that each grade is a finite number.

    Raises:
        UsageError: one is not; names the first.
    """
    try:
        if all(map(isfinite, cast("Iterable[float]", judgments.values()))):
            return
    except (TypeError, OverflowError):
        pass
    document, grade = next(each for each in judgments.items() if finite(each[1]) is None)
    shown = "too large" if isinstance(grade, int) else repr(grade)
    raise UsageError(f"the grade of document {document!r} is {shown}, and must be a finite number")


def without_duplicates(ranking: Sequence[str]) -> Sequence[str]:
    """The *ranking*, each document at its first place only."""
    if len(set(ranking)) == len(ranking):
        return ranking
    return list(dict.fromkeys(ranking))
