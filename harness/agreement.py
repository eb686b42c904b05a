"""
How far judges agree: Cohen's and Fleiss' kappa, Krippendorff's alpha, and the documents on which they differ; and the
resolution of several grades of a document to one. Pure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from harness.errors import UsageError, missing_package
from harness.model.judging import Disagreement, JudgeAgreement
from harness.words import listed

Pair: TypeAlias = tuple[str, str]
"""A query and a document."""

Grades: TypeAlias = Mapping[Pair, float]
"""The grades of one judge."""


_Grade = TypeVar("_Grade")


def group_by_query(grades: Mapping[Pair, _Grade]) -> dict[str, dict[str, _Grade]]:
    """
    *grades* by query, then by document.

    >>> group_by_query({("q", "d"): 2, ("r", "d"): 0, ("q", "e"): 1})
    {'q': {'d': 2, 'e': 1}, 'r': {'d': 0}}
    """
    groups: dict[str, dict[str, _Grade]] = {}
    for (query, document), grade in grades.items():
        groups.setdefault(query, {})[document] = grade
    return groups


# Coefficients. All of them are 1 - observed / expected disagreement, so 1 for judges who always agree and about 0 for
# judges who agree as often as by chance. None where no disagreement is expected, because only one grade was given.


class Weights(StrEnum):
    """The cost of a disagreement between two grades of a scale: one, the steps between them, or their square."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def cohen_kappa(
    pairs: Sequence[tuple[float, float]], scale: Collection[float] = (), *, weights: Weights = Weights.NONE
) -> float | None:
    """
    The agreement of two judges.

    Args:
        pairs: The two grades of each document that both graded.
        scale: The possible grades; grades that were given are added. Weights count the steps between two grades on it,
            so that 0, 1, 3 are one step apart each.
        weights: The cost of a disagreement.

    Returns:
        At most 1; None where it is undefined.

    Source: Cohen (1960), A coefficient of agreement for nominal scales; with weights Cohen (1968), Weighted kappa.

    >>> round(cohen_kappa([(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15), 4)
    0.4
    """
    grades = set(scale)
    for pair in pairs:
        grades.update(pair)
    steps = {grade: step for step, grade in enumerate(sorted(grades))}
    size = max(len(pairs), 1)
    observed = sum(_compute_cost(steps[first], steps[second], weights) for first, second in pairs)
    # By chance, each judge gives each grade as often as now, and to any document.
    first_counts = Counter(first for first, _ in pairs)
    second_counts = Counter(second for _, second in pairs)
    expected = 0
    for first, first_count in first_counts.items():
        for second, second_count in second_counts.items():
            cost = _compute_cost(steps[first], steps[second], weights)
            expected += cost * first_count * second_count
    return float(1 - Fraction(observed, size) / Fraction(expected, size**2)) if expected else None


def _compute_cost(first: int, second: int, weights: Weights) -> int:
    """The cost of two grades that are these steps of the scale."""
    apart = abs(first - second)
    if weights is Weights.QUADRATIC:
        return apart**2
    return apart if weights is Weights.LINEAR else int(apart > 0)


def fleiss_kappa(graded: Sequence[Sequence[float]]) -> float | None:
    """
    The agreement of several judges, who need not be the same for each document.

    Args:
        graded: The grades of each document, equally many, >= 2.

    Returns:
        At most 1; None where it is undefined.

    Source: Fleiss (1971), Measuring nominal scale agreement among many raters.

    >>> round(fleiss_kappa([[1, 1, 1], [1, 1, 2], [2, 2, 2], [1, 2, 2]]), 4)
    0.3333
    """
    judges = len(graded[0]) if graded else 0
    if judges < 2:
        return None
    # Of all ordered pairs of judges, over all documents, those that gave the same grade.
    agreed = 0
    total: Counter[float] = Counter()
    for grades in graded:
        counts = Counter(grades)
        agreed += sum(times * (times - 1) for times in counts.values())
        total += counts
    observed = Fraction(agreed, len(graded) * judges * (judges - 1))
    expected = sum(Fraction(times, len(graded) * judges) ** 2 for times in total.values())
    return float((observed - expected) / (1 - expected)) if expected != 1 else None


def krippendorff_alphas(rows: Sequence[Sequence[float | None]]) -> dict[str, float | None]:
    """
    Krippendorff's alpha for grades as names (nominal), as ranks (ordinal) and as numbers (interval), by that level.

    Args:
        rows: The grades of each judge, None for a document that the judge did not grade; equally long.

    Raises:
        UsageError: The package krippendorff is not installed.

    Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    try:
        import krippendorff
    except ImportError:
        raise missing_package("Krippendorff's alpha needs", "krippendorff", "judge") from None
    levels: tuple[Any, ...] = ("nominal", "ordinal", "interval")
    # Only documents with two grades or more count. The package fails where these have one grade only.
    pairable = set()
    for column in zip(*rows, strict=True):
        grades = [grade for grade in column if grade is not None]
        if len(grades) > 1:
            pairable.update(grades)
    if len(pairable) < 2:
        return dict.fromkeys(levels)
    data = [[math.nan if grade is None else grade for grade in row] for row in rows]
    return {level: float(krippendorff.alpha(reliability_data=data, level_of_measurement=level)) for level in levels}


# All coefficients, for two or more judges.


def compute_agreement(judges: Mapping[str, Grades], scale: Collection[float] = ()) -> JudgeAgreement:
    """
    The agreement of *judges*, by name; those who share no document with another are left out of the coefficients.

    Args:
        judges: The grades of each judge; at least two judges.
        scale: The possible grades, as in `cohen_kappa`.

    Raises:
        UsageError: A package is not installed, or no two judges graded the same document.
    """
    if len(judges) < 2:
        who = f"only {next(iter(judges))} has" if judges else "nobody has"
        raise UsageError(f"agreement needs the grades of at least two judges, and {who} graded documents")
    by_pair = _group_by_pair(judges)
    shared = {pair: grades for pair, grades in by_pair.items() if len(grades) > 1}
    if not shared:
        raise UsageError(
            "agreement needs documents that two judges graded, found none among those of "
            f"{listed(list(judges))}; let one of them grade what another one graded"
        )
    sharing = {judge for grades in shared.values() for judge in grades}
    alone = tuple(judge for judge in judges if judge not in sharing)
    judges_sharing = {judge: grades for judge, grades in judges.items() if judge in sharing}
    complete = [tuple(grades.values()) for grades in shared.values() if len(grades) == len(sharing)]
    disagreements = find_disagreements(judges)
    cohen: dict[str, float | None] = {}
    if len(sharing) == 2:
        pairs = [(grades[0], grades[1]) for grades in complete]
        cohen = {str(weights): cohen_kappa(pairs, scale, weights=weights) for weights in Weights}
    return JudgeAgreement(
        graded={judge: len(grades) for judge, grades in judges.items()},
        alone=alone,
        shared=len(shared),
        complete=len(complete),
        same=len(shared) - len(disagreements),
        cohen=cohen,
        fleiss=fleiss_kappa(complete),
        alpha=krippendorff_alphas([[grades.get(pair) for pair in shared] for grades in judges_sharing.values()]),
        disagreements=disagreements,
    )


def find_disagreements(judges: Mapping[str, Grades]) -> tuple[Disagreement, ...]:
    """
    The documents on which *judges* differ, the one whose grades are furthest apart first.

    >>> find_disagreements({"anna": {("q", "d"): 2, ("q", "e"): 0}, "bob": {("q", "d"): 1, ("q", "e"): 0}})
    (Disagreement(query='q', document='d', grades={'anna': 2, 'bob': 1}),)
    """
    shared = [Disagreement(*pair, grades) for pair, grades in _group_by_pair(judges).items()]
    return _sort_furthest_first(disagreement for disagreement in shared if disagreement.spread)


def _sort_furthest_first(disagreements: Iterable[Disagreement]) -> tuple[Disagreement, ...]:
    return tuple(sorted(disagreements, key=lambda item: (-item.spread, item.query, item.document)))


def _group_by_pair(judges: Mapping[str, Grades]) -> dict[Pair, dict[str, float]]:
    """The grades of each document by judge, in the order of queries and documents."""
    by_pair: dict[Pair, dict[str, float]] = {}
    for judge, grades in judges.items():
        for pair, grade in grades.items():
            by_pair.setdefault(pair, {})[judge] = grade
    return dict(sorted(by_pair.items()))


# One grade from several.


class ResolutionRule(StrEnum):
    """How to resolve the grades of several judges to one."""

    AGREED = "agreed"
    """The grade that all of them gave; else none."""
    MAJORITY = "majority"
    """The grade that more than half of them gave; else none."""
    MEDIAN = "median"
    """The median grade; the lower of two."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The *grades* that a rule found, and the documents that it left *open*."""

    grades: Mapping[Pair, float]
    open: tuple[Disagreement, ...]


def resolve(
    judges: Mapping[str, Grades], rule: ResolutionRule, *, most_apart: float = math.inf, settler: str | None = None
) -> Resolution:
    """
    One grade for each document.

    Args:
        judges: The grades of each judge, by name.
        rule: Decides where they differ.
        most_apart: A document whose grades are further apart is left open.
        settler: The judge whose grade is that of the document, whatever others gave.

    >>> judges = {"anna": {("q", "d"): 2, ("q", "e"): 0}, "bob": {("q", "d"): 2, ("q", "e"): 1}, "eve": {("q", "e"): 1}}
    >>> dict(resolve(judges, ResolutionRule.MAJORITY).grades)
    {('q', 'd'): 2, ('q', 'e'): 1}
    >>> dict(resolve(judges, ResolutionRule.AGREED).grades)
    {('q', 'd'): 2}
    """
    resolved: dict[Pair, float] = {}
    left_open: list[Disagreement] = []
    settled = judges.get(settler, {}) if settler is not None else {}
    for pair, grades in _group_by_pair(judges).items():
        if settler is not None and pair in settled:
            disagreement = Disagreement(*pair, {settler: settled[pair]})
        else:
            disagreement = Disagreement(*pair, grades)
        grade = None
        if disagreement.spread <= most_apart:
            grade = _resolve_grades(list(disagreement.grades.values()), rule)
        if grade is None:
            left_open.append(disagreement)
        else:
            resolved[pair] = grade
    return Resolution(resolved, _sort_furthest_first(left_open))


def _resolve_grades(grades: Sequence[float], rule: ResolutionRule) -> float | None:
    """The one grade of several; None where *rule* finds none."""
    if rule is ResolutionRule.MEDIAN:
        return sorted(grades)[(len(grades) - 1) // 2]
    grade, times = Counter(grades).most_common(1)[0]
    needed = len(grades) if rule is ResolutionRule.AGREED else len(grades) // 2 + 1
    return grade if times >= needed else None
