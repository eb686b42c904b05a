"""Grades by name, what they are worth, and whether everything in use has a gain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.errors import MeasureError, UndefinedScore, UsageError, did_you_mean
from harness.metrics import score_query
from harness.metrics.profiles import profile_gain
from harness.metrics.ranking import finite
from harness.metrics.run_scores import measure_named
from harness.model import Gain, GainKind, Mark, Measure, Profile, Query
from harness.suites.nodes import Written, describe
from harness.suites.problems import Problems
from harness.suites.scalars import resolve_number

GREATEST_EXPONENTIAL = 1000.0
"""The greatest grade that 2^grade - 1 is computed for; a 64-bit float ends at 1023."""


def read_grade_names(grades: Mapping[Written, float], problems: Problems) -> dict[str, float]:
    """The grades by name; a name that looks like a number could never be told from one."""
    names: dict[str, float] = {}
    for name, grade in grades.items():
        if resolve_number(name) is not None or not name.strip():
            problems.at(name.mark, f"found {str(name)!r} as the name of a grade, expected a word such as good")
        names[str(name)] = grade
    return names


def read_grade(written: Written, names: Mapping[str, float] | None, problems: Problems) -> float | None:
    """
    The grade that is written, by number or by name; None where it is neither, which is told.

    *names* is None where the suite's own could not be read, then no name is refused. NaN stands for a variable that is
    not set yet.
    """
    if written.unset:
        return math.nan
    number = resolve_number(written) if written.plain or written.whole else None
    if number is None and written.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        number = math.inf
    if number is not None:
        if finite(number) is not None:
            return float(number)
        problems.at(written.mark, f"found {describe(written)}, expected a finite grade")
    elif names is None:
        return math.nan
    elif written in names:
        return names[written]
    else:
        known = f"expected a number or one of {', '.join(names)}" if names else "expected a number"
        problems.at(written.mark, f"found {describe(written)} as a grade, {known}{did_you_mean(written, names)}")
    return None


def read_gain(written: Any, names: Mapping[str, float], profile: Profile, problems: Problems) -> Gain:
    """The suite's gain: the one it names, its map, or its profile's."""
    if written is None:
        return profile_gain(profile)
    if isinstance(written, str):
        return Gain(GainKind(written))
    table: dict[float, tuple[float, Written]] = {}
    for key, gain in written.items():
        grade = read_grade(key, names, problems)
        if grade is None:
            continue
        if grade in table:
            first = table[grade][1].mark
            problems.at(
                key.mark, f"grade {grade:g} has two gains, the first in line {first.line}, column {first.column}"
            )
        table[grade] = (gain, key)
    return Gain(GainKind.MAP, tuple(sorted((grade, gain) for grade, (gain, _) in table.items())))


def check_gain(gain: Gain, mark: Mark, queries: Sequence[Query], problems: Problems) -> None:
    """The suite's gain is defined for every grade in use; *mark* is where it stands."""
    sentence = _gap(gain, queries)
    if sentence:
        problems.at(mark, sentence)


def check_measure_gains(measures: Iterable[tuple[Measure, Mark, Sequence[Query]]], problems: Problems) -> None:
    """The gain that a measure's own text names is defined for every grade of the queries that it scores."""
    for measure, mark, queries in measures:
        gain = dict(measure.parameters).get("gain")
        sentence = _gap(gain, queries) if isinstance(gain, Gain) else None
        if sentence:
            problems.at(mark, f"{measure}: {sentence}")


def check_measures(
    measures: Iterable[tuple[Measure, Mark, Sequence[Query]]], gain: Gain, profile: Profile, problems: Problems
) -> None:
    """
    Each measure can score the queries that it is for: no grade is above its scale, nothing is missing that it needs.

    The measure itself is asked, with the best and the worst document of a query as its ranking.
    """
    for measure, mark, queries in measures:
        for query in queries:
            sentence = _refusal(measure, query, gain, profile)
            if sentence:
                problems.at(mark, f"{measure} cannot score query {query.id!r}: {sentence}")
                break


def measures_of(queries: Sequence[Query], thresholds: Iterable[Any]) -> list[tuple[Measure, Mark, Sequence[Query]]]:
    """Each measure that *thresholds* name, where, and the queries that it scores there."""
    return [
        (measure, threshold.mark, [q for q in queries if threshold.tag in (None, *q.tags)])
        for threshold in thresholds
        if (measure := measure_named(threshold)) is not None
    ]


def _refusal(measure: Measure, query: Query, gain: Gain, profile: Profile) -> str | None:
    grades = query.judgments
    if not grades or any(map(math.isnan, grades.values())):
        return None
    ranking = [max(grades, key=grades.__getitem__), min(grades, key=grades.__getitem__)]
    try:
        score_query(measure, ranking, grades, gain=gain, profile=profile)
    except UndefinedScore:
        return None
    except (MeasureError, UsageError) as error:
        return str(error)
    return None


def _gap(gain: Gain, queries: Sequence[Query]) -> str | None:
    """A sentence about the grades in use that *gain* does not cover, with one document for each."""
    covered = {grade for grade, _ in gain.table}
    uncovered: dict[float, str] = {}
    for query in queries:
        for document, grade in query.judgments.items():
            if not math.isnan(grade) and not _covers(gain.kind, covered, grade):
                uncovered.setdefault(grade, f"grade {grade:g}, given to {document!r} for query {query.id!r}")
    if not uncovered:
        return None
    uses = "; ".join(uncovered[grade] for grade in sorted(uncovered)[:5])
    if gain.kind is GainKind.MAP:
        return f"the gain map has no gain for {uses}"
    return f"an exponential gain cannot be computed for {uses}; grades go up to {GREATEST_EXPONENTIAL:g}"


def _covers(kind: GainKind, covered: set[float], grade: float) -> bool:
    if kind is GainKind.MAP:
        return grade in covered
    return kind is GainKind.LINEAR or grade <= GREATEST_EXPONENTIAL
