"""Which grades there may be."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.errors import UsageError
from harness.judgment_findings.findings import FindingKind, JudgmentFinding, PlacedJudgment
from harness.metrics import settings_of
from harness.metrics.run_scores import common_measures, measures_of
from harness.model import Measure, Suite

__all__ = ["Scale", "off_scale", "parse_scale", "scales_of"]


_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
_SCALE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")


@dataclass(frozen=True, slots=True)
class Scale:
    """The *least* and the *greatest* grade, infinite where there is no such bound, and whose scale it is."""

    least: float
    greatest: float
    owner: str


def parse_scale(text: str) -> Scale:
    """
    A scale as it is given on the command line.

    Raises:
        UsageError: *text* is no scale.

    >>> parse_scale("0..3")
    Scale(least=0.0, greatest=3.0, owner='--scale')
    """
    found = _SCALE.fullmatch(text)
    if found is None or float(found[1]) > float(found[2]):
        raise UsageError(f"found {text!r} as a scale, expected the least and the greatest grade, as in 0..3")
    return Scale(float(found[1]), float(found[2]), "--scale")


def scales_of(suite: Suite) -> tuple[Scale, ...]:
    """The scale of the suite's named grades, and those of its measures that name their top, each top once."""
    named = [Scale(min(suite.grades.values()), max(suite.grades.values()), "`grades`")] if suite.grades else []
    measures = [measure for query in suite.queries for measure in measures_of(suite, query)]
    tops: dict[float, Scale] = {}
    for measure in [*common_measures(suite), *measures]:
        top = _top_of(measure, suite)
        if top is not None:
            tops.setdefault(top, Scale(-math.inf, top, measure.text))
    return (*named, *tops.values())


def off_scale(judged: Iterable[PlacedJudgment], scales: Iterable[Scale]) -> Iterator[JudgmentFinding]:
    """Each grade that is on one of *scales* not; the first of them is named."""
    known = tuple(scales)
    for one in judged:
        sentence = None if one.grade is None else next(_sentences(one, one.grade, known), None)
        if sentence is not None:
            yield JudgmentFinding(one.mark, FindingKind.OFF_SCALE, sentence)


def _sentences(one: PlacedJudgment, grade: float, scales: Iterable[Scale]) -> Iterator[str]:
    for scale in scales:
        if grade > scale.greatest:
            bound = f"above {scale.greatest:g}, the greatest of {scale.owner}"
        elif grade < scale.least:
            bound = f"below {scale.least:g}, the least of {scale.owner}"
        else:
            continue
        yield f"grade {grade:g} of {one} is {bound}; correct the grade, or the scale"


def _top_of(measure: Measure, suite: Suite) -> float | None:
    top = settings_of(measure, suite.gain, suite.profile).values.get("max")
    return float(top) if isinstance(top, int | float) and not isinstance(top, bool) else None
