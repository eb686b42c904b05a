"""``nDCG(gain=linear)@10`` <-> Measure: the text is checked against the registry and made canonical."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from harness.errors import MeasureError
from harness.measures.builtin import definition_named
from harness.measures.definition import Cutoff, Definition
from harness.measures.grammar import Part, Parts, take_apart
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
    given = _read_parameters(definition, parts)
    cutoff = _read_cutoff(definition, parts) if definition.at is None else None
    parameters = tuple((name, given[name]) for name in definition.parameters if name in given)
    measure = Measure(definition.name, cutoff, parameters, _canonical(definition, parameters, cutoff))
    objection = definition.check(settings_of(measure))
    if objection:
        raise MeasureError(f"{measure.text}: {objection}", parts.name.offset)
    return measure


def _read_cutoff(definition: Definition, parts: Parts) -> int | None:
    cutoff = parts.cutoff
    if definition.cutoff is Cutoff.NONE and parts.at is not None:
        raise MeasureError(f"{definition.name} has no cutoff; leave out @{cutoff}", parts.at.offset)
    if definition.cutoff is Cutoff.REQUIRED and cutoff is None:
        raise MeasureError(f"{definition.name} needs a cutoff, such as {definition.name}@10", parts.name.offset)
    return cutoff


def _read_parameters(definition: Definition, parts: Parts) -> dict[str, Parameter]:
    given: dict[str, Parameter] = {}
    behind = [(Part(definition.at, parts.at.offset), parts.at)] if definition.at and parts.at else []
    for name, value in [*parts.parameters, *behind]:
        kind = definition.parameters.get(name.text)
        if kind is None:
            raise MeasureError(_unknown_parameter(definition, name.text), name.offset)
        if name.text in given:
            raise MeasureError(f"{name.text} is given twice", name.offset)
        try:
            given[name.text] = kind.read(value.text)
        except MeasureError as error:
            raise MeasureError(f"{definition.name}'s {name.text}: {error}", value.offset + error.offset) from None
    if definition.at and definition.at not in given:
        raise MeasureError(
            f"{definition.name} needs a {definition.at}, such as {definition.name}@0.5", parts.name.offset
        )
    return given


def _unknown_parameter(definition: Definition, name: str) -> str:
    known = list(definition.parameters)
    if not known:
        return f"{definition.name} has no parameters, found {name}"
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    return f"{definition.name} has no parameter {name}; {hint}"


def _canonical(definition: Definition, parameters: Sequence[tuple[str, Parameter]], cutoff: int | None) -> str:
    texts = {name: as_text(value) for name, value in parameters}
    behind = texts.pop(definition.at or "", None if cutoff is None else str(cutoff))
    inside = ",".join(f"{name}={value}" for name, value in texts.items())
    return definition.name + (f"({inside})" if inside else "") + (f"@{behind}" if behind is not None else "")
