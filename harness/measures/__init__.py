"""
Measures: their text, their registry, and the score of one query.

``nDCG(gain=linear)@10`` is a measure: a metric's name, parameters where they differ from the usual, a cutoff. Its
canonical text is its identity. Nothing here imports numpy; `harness.evaluation` computes many queries at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from harness.errors import MeasureError, UndefinedScore
from harness.measures.builtin import DEFINITIONS
from harness.measures.definition import Cutoff, Definition, Needs, Range, Settings
from harness.measures.grammar import Part, Parts, take_apart
from harness.measures.parameters import as_text
from harness.measures.profiles import by_score, profile_gain, rules_of
from harness.measures.registry import Registry
from harness.metrics.gain import gain_function
from harness.metrics.ranking import GradedRanking, grade_ranking
from harness.model import Gain, Measure, Parameter, Profile

__all__ = [
    "Cutoff",
    "Definition",
    "GradedRanking",
    "Needs",
    "Settings",
    "deepest_cutoff",
    "definition_of",
    "gain_in_force",
    "measure_range",
    "parse_measure",
    "profile_gain",
    "register_measure",
    "score_query",
    "settings_of",
]

_REGISTRY = Registry(DEFINITIONS)


def register_measure(definition: Definition) -> None:
    """
    Make a measure of your own known, so that suites can name it; in a conftest.py, or by an entry point.

    Raises:
        UsageError: the name is taken, or cannot stand in a measure's text.
    """
    _REGISTRY.add(definition)


def parse_measure(text: str) -> Measure:
    """
    Read the text of a measure: ``nDCG@10``, ``P(rel=2)@5``, ``nDCG(gain={0: 0, 1: 1, 2: 5}, log=e)@20``.

    Returns:
        The measure with its canonical text: parameters in the registry's order, numbers as short as they can be.

    Raises:
        MeasureError: what was found and what was expected, with its offset and the nearest known name.

    >>> parse_measure(" P( rel = 2.0 ) @ 5").text
    'P(rel=2)@5'
    """
    parts = take_apart(text)
    definition = _known(parts.name)
    _check_cutoff(definition, parts)
    given = _read_parameters(definition, parts)
    if "missing" in given and parts.cutoff is None:
        message = f"missing= fills the ranking up to the cutoff, so {definition.name} needs one, such as @10"
        raise MeasureError(message, parts.cutoff_offset)
    parameters = tuple((name, given[name]) for name in definition.parameters if name in given)
    return Measure(definition.name, parts.cutoff, parameters, _canonical(definition.name, parameters, parts.cutoff))


def measure_range(measure: Measure, gain: Gain | None = None) -> Range:
    """
    The least and the greatest value that *measure* can reach, None where there is no such bound.

    *gain* is the suite's, used where the measure's text gives none; None stands for the standard one.
    """
    settings = settings_of(measure, gain, Profile.STANDARD)
    return definition_of(measure).reach(settings)


def deepest_cutoff(measures: Iterable[Measure]) -> int | None:
    """The largest cutoff among *measures*, None where none of them has one."""
    return max((measure.cutoff for measure in measures if measure.cutoff is not None), default=None)


def gain_in_force(measure: Measure, gain: Gain | None = None, profile: Profile = Profile.STANDARD) -> Gain:
    """The gain that a score is computed with: the measure's own, else *gain*, else the profile's."""
    own = dict(measure.parameters).get("gain")
    if isinstance(own, Gain):
        return own
    return profile_gain(profile) if gain is None else gain


def score_query(
    measure: Measure,
    ranking: Sequence[str],
    grades: Mapping[str, float],
    *,
    gain: Gain | None = None,
    profile: Profile = Profile.STANDARD,
    scores: Sequence[float | None] | None = None,
) -> float:
    """
    The score of one query.

    Args:
        measure: What is measured.
        ranking: Document ids, best first; one that comes twice counts once.
        grades: Document id to grade, all judged documents of the query, returned or not.
        gain: What a grade is worth where the measure's text does not say; None is the profile's own.
        profile: Whose rules hold.
        scores: The engine's score of each hit. Only the trec profile orders by them, and only where all are known.

    Raises:
        UndefinedScore: nothing that the measure needs is judged, in a profile that does not call that 0.
        MeasureError: a grade that the gain map or the measure's scale does not hold.
        UsageError: a grade or a score that is not a number.

    >>> round(score_query(parse_measure("nDCG@3"), ["a", "x", "b"], {"a": 3, "b": 1, "c": 2}), 4)
    0.7985
    """
    rules = rules_of(profile)
    settings = settings_of(measure, gain, profile)
    if rules.sorts and scores is not None:
        known = [score for score in scores if score is not None]
        ranking = by_score(ranking, known) if len(known) == len(scores) else ranking
    definition = definition_of(measure)
    condensed = bool(settings.values.get("judged_only"))
    graded = grade_ranking(ranking, grades, settings.cutoff, judged_only=condensed)
    formula = rules.formulas.get(definition.name, definition.formula)
    try:
        _check_defined(definition, graded, settings)
        return formula(graded, settings)
    except UndefinedScore:
        if rules.zero_undefined:
            return 0.0
        raise


def definition_of(measure: Measure) -> Definition:
    """What the registry knows of *measure*."""
    return _known(Part(measure.name, 0))


def _known(name: Part) -> Definition:
    definition = _REGISTRY.find(name.text)
    if definition is None:
        near = _REGISTRY.nearest(name.text)
        hint = f"did you mean {near}?" if near else f"known are {', '.join(_REGISTRY.names())}"
        raise MeasureError(f"unknown measure {name.text}; {hint}", name.offset)
    return definition


def _check_cutoff(definition: Definition, parts: Parts) -> None:
    if definition.cutoff is Cutoff.NONE and parts.cutoff is not None:
        raise MeasureError(f"{definition.name} has no cutoff; leave out @{parts.cutoff}", parts.cutoff_offset)
    if definition.cutoff is Cutoff.REQUIRED and parts.cutoff is None:
        raise MeasureError(f"{definition.name} needs a cutoff, such as {definition.name}@10", parts.cutoff_offset)


def _read_parameters(definition: Definition, parts: Parts) -> dict[str, Parameter]:
    given: dict[str, Parameter] = {}
    for name, value in parts.parameters:
        kind = definition.parameters.get(name.text)
        if kind is None:
            raise MeasureError(_unknown_parameter(definition, name.text), name.offset)
        if name.text in given:
            raise MeasureError(f"{name.text} is given twice", name.offset)
        try:
            given[name.text] = kind.read(value.text)
        except MeasureError as error:
            raise MeasureError(f"{definition.name}'s {name.text}: {error}", value.offset + error.offset) from None
    return given


def _unknown_parameter(definition: Definition, name: str) -> str:
    from difflib import get_close_matches

    known = list(definition.parameters)
    if not known:
        return f"{definition.name} has no parameters, found {name}"
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    return f"{definition.name} has no parameter {name}; {hint}"


def _canonical(name: str, parameters: Sequence[tuple[str, Parameter]], cutoff: int | None) -> str:
    inside = ",".join(f"{key}={as_text(value)}" for key, value in parameters)
    return name + (f"({inside})" if inside else "") + (f"@{cutoff}" if cutoff is not None else "")


@lru_cache(maxsize=512)
def settings_of(measure: Measure, gain: Gain | None, profile: Profile) -> Settings:
    """*measure* made ready: defaults filled in, the gain in force chosen."""
    defaults = {name: kind.default for name, kind in definition_of(measure).parameters.items()}
    values = {**defaults, **dict(measure.parameters)}
    return Settings(measure.cutoff, gain_in_force(measure, gain, profile), values)


def _check_defined(definition: Definition, ranking: GradedRanking, settings: Settings) -> None:
    if definition.needs is Needs.RELEVANT and not ranking.total_relevant(settings.number("rel")):
        raise UndefinedScore(f"no judged document has a grade of at least {settings.number('rel'):g}")
    if definition.needs is Needs.GAIN:
        worth = gain_function(settings.gain)
        gains = [worth(grade) for grade in ranking.judgments.values()]  # all, so that a gap in a map is always found
        if not any(gain > 0 for gain in gains):
            raise UndefinedScore("no judged document has a positive gain")
