"""``nDCG(gain=linear)@10`` <-> Measure: the text is checked against the registry and made canonical."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from harness.errors import MeasureError
from harness.measures.builtin import definition_named
from harness.measures.definition import Cutoff, Definition
from harness.measures.grammar import Parts, take_apart
from harness.measures.parameters import as_text
from harness.measures.settings import settings_of
from harness.model import Measure, Parameter

__all__ = ["parse_measure"]


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
    definition = definition_named(parts.name.text, parts.name.offset)
    _check_cutoff(definition, parts)
    given = _read_parameters(definition, parts)
    parameters = tuple((name, given[name]) for name in definition.parameters if name in given)
    canonical = _canonical(definition.name, parameters, parts.cutoff)
    measure = Measure(definition.name, parts.cutoff, parameters, canonical)
    objection = definition.check(settings_of(measure))
    if objection:
        raise MeasureError(f"{measure.text}: {objection}", parts.name.offset)
    return measure


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
    known = list(definition.parameters)
    if not known:
        return f"{definition.name} has no parameters, found {name}"
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    return f"{definition.name} has no parameter {name}; {hint}"


def _canonical(name: str, parameters: Sequence[tuple[str, Parameter]], cutoff: int | None) -> str:
    inside = ",".join(f"{key}={as_text(value)}" for key, value in parameters)
    return name + (f"({inside})" if inside else "") + (f"@{cutoff}" if cutoff is not None else "")
