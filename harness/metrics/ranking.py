"""The input of every formula: a ranking with the grades of its documents; and the gains of grades."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, isfinite
from numbers import Integral, Real
from operator import le
from typing import TypeVar, cast

from harness.errors import GradeError, UsageError
from harness.model.suite import Gain, GainKind
from harness.words import format_exactly

T = TypeVar("T")


def gain_of(gain: Gain, grade: float) -> float:
    """
    The gain of one *grade*.

    Exponential is 2^grade - 1 (Burges et al. 2005), linear the grade (Järvelin & Kekäläinen 2002); both give 0 to a
    grade below 0. A map gives what it says, and may be negative.

    Raises:
        MeasureError: the map does not hold the grade, or the exponential gain of it is no finite number.

    >>> gain_of(Gain(GainKind.EXPONENTIAL), 3)
    7.0
    >>> gain_of(Gain(GainKind.LINEAR), -1)
    0.0
    """
    return gain_function(gain)(grade)


@lru_cache(maxsize=64)
def gain_function(gain: Gain) -> Callable[[float], float]:
    """The function from a grade to its gain, for loops over many grades; raises as `gain_of`."""
    if gain.kind is GainKind.LINEAR:
        return _linear
    if gain.kind is GainKind.EXPONENTIAL:
        return _exponential
    return _mapped(gain)


def _linear(grade: float) -> float:
    return float(grade) if grade > 0 else 0.0


def _exponential(grade: float) -> float:
    if grade <= 0:
        return 0.0
    try:
        return float(2.0**grade) - 1.0
    except OverflowError:
        message = (
            f"the exponential gain of grade {format_exactly(grade)} is too large for a float; use gain: linear or a map"
        )
        raise GradeError(message, grade) from None


def _mapped(gain: Gain) -> Callable[[float], float]:
    table = {float(grade): float(worth) for grade, worth in gain.table}

    def mapped(grade: float) -> float:
        try:
            return table[grade]
        except KeyError:
            raise GradeError(f"grade {format_exactly(grade)} has no gain: the map in use is {gain}", grade) from None

    return mapped


def gains_of(gain: Gain, grades: Iterable[float | None], unjudged: float | None = None) -> list[float]:
    """The gain at each rank; an unjudged document (None) gains nothing, or as if its grade were *unjudged*."""
    worth = gain_function(gain)
    unknown = 0.0 if unjudged is None else worth(unjudged)
    return [unknown if grade is None else worth(grade) for grade in grades]


def ideal_gains(gain: Gain, judged: Iterable[float], cutoff: int | None) -> Sequence[float]:
    """
    The gains of the best ranking there can be: all judged documents of positive gain, best first, cut at *cutoff*.

    A document of negative gain is never in it: leaving it out is the best there is.
    """
    worth = gain_function(gain)
    return sorted((value for value in map(worth, judged) if value > 0), reverse=True)[:cutoff]


def finite(value: object) -> float | None:
    """
    *value* as a float where it is a finite number; None for a text, a truth value, NaN, or a number that is too large.

    >>> finite(3), finite("3"), finite(True), finite(10**400)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def exact_number(value: object) -> int | float | None:
    """
    As `finite`, but an integer stays one: a float holds no more than 53 bits of it.

    >>> exact_number(2**60 + 1), exact_number(0.5), exact_number(10**400)
    (1152921504606846977, 0.5, None)
    """
    number = finite(value)
    return int(value) if number is not None and isinstance(value, Integral) else number


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
        # Counted without a loop, as this is done for each query and measure: scripts/bench/runner --by-hand.
        return sum(map(partial(le, level), self.judgments.values()))


@dataclass(frozen=True, slots=True)
class Covering:
    """That a hit covers a subtopic: the *grade* that it has for it, and the *share* of the subtopic that it adds."""

    grade: float
    share: float = 1.0
    """A fraction: less than 1 for a quote that a hit holds only in part."""


@dataclass(frozen=True, slots=True)
class DiverseRanking:
    """
    The hits of one query down to the cutoff, each with the subtopics that it is relevant to.

    *hits* runs by rank. *judged* holds the same for all judged documents, ordered by id from the last to the first,
    which is how equal ones are resolved.
    """

    hits: Sequence[Mapping[str, Covering]]
    judged: Sequence[Mapping[str, Covering]]

    @property
    def covers(self) -> list[frozenset[str]]:
        """The subtopics that the document at each rank covers."""
        return list(map(frozenset, self.hits))

    @property
    def subtopics(self) -> int:
        """The number of subtopics that have a relevant document."""
        return len(frozenset().union(*self.judged))


def cover_subtopics(
    ranking: Sequence[str], judgments: Mapping[str, Mapping[str, float]], level: float, cutoff: int | None
) -> DiverseRanking:
    """
    Look up what each document covers, down to *cutoff*; *judgments* maps document to subtopic to grade.

    A document is relevant to a subtopic from the grade *level* on. One that came twice counts once.
    """
    covers_by_document: dict[str, dict[str, Covering]] = {}
    for document, by_subtopic in judgments.items():
        relevant_to = {subtopic: Covering(grade) for subtopic, grade in by_subtopic.items() if grade >= level}
        covers_by_document[document] = relevant_to
    hits = [covers_by_document.get(document, {}) for document in without_duplicates(ranking)[:cutoff]]
    ids = sorted(covers_by_document, key=str.encode, reverse=True)
    return DiverseRanking(hits, [covers_by_document[document] for document in ids])


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
    documents = without_duplicates(ranking)
    if judged_only:
        judged = {document for document, grade in judgments.items() if grade >= least}
        documents = [document for document in documents if document in judged]
    ids = documents[:cutoff]
    return GradedRanking(ids, list(map(judgments.get, ids)), judgments, len(documents))


def check_grades(judgments: Mapping[str, object]) -> None:
    """
    Check that each grade is a finite number.

    Raises:
        UsageError: a grade is not; names the first.
    """
    # All at once, as this is done for each query: scripts/bench/metrics. What is wrong is looked for only then.
    with suppress(TypeError, OverflowError):
        if all(map(isfinite, cast("Iterable[float]", judgments.values()))):
            return
    for document, grade in judgments.items():
        if finite(grade) is None:
            shown = "too large" if isinstance(grade, int) else repr(grade)
            raise UsageError(f"the grade of document {document!r} is {shown}, and must be a finite number")


def without_duplicates(ranking: Sequence[str]) -> Sequence[str]:
    """The *ranking*, each document at its first place only."""
    if len(set(ranking)) == len(ranking):
        return ranking
    return list(dict.fromkeys(ranking))
