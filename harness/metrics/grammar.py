"""
The text of a measure, such as ``nDCG(gain=linear)@10``, read against the registry and made canonical.

::

    measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff ]
    cutoff    = whole number of at least 1, or the number that a measure takes in its place
    parameter = name "=" value
    value     = word | number | "{" grade ":" gain { "," grade ":" gain } "}"

Blanks are allowed around every part. Offsets count characters from 0 in the text as given. An agreement of rankings,
such as ``RBO(p=0.8)@20``, is written in the same way; it is in no registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from harness.errors import MeasureError
from harness.metrics.definition import Cutoff, Definition, as_text
from harness.metrics.registry import find_definition, settings_of
from harness.model.suite import Measure, Parameter


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
    definition = find_definition(parts.name.text, parts.name.offset)
    given = _read_parameters(definition, parts)
    cutoff = None
    if definition.at is None:
        cutoff = parts.cutoff
        if definition.cutoff is Cutoff.NONE and parts.at is not None:
            raise MeasureError(f"{definition.name} has no cutoff; remove @{cutoff}", parts.at.offset)
    parameters = tuple((name, given[name]) for name in definition.parameters if name in given)
    measure = Measure(definition.name, cutoff, parameters, _format_measure(definition, parameters, cutoff))
    objection = definition.check(settings_of(measure))
    if objection:
        raise MeasureError(f"{measure.text}: {objection}", parts.name.offset)
    return measure


def _read_parameters(definition: Definition, parts: Parts) -> dict[str, Parameter]:
    given: dict[str, Parameter] = {}
    parameters = list(parts.parameters)
    if definition.at and parts.at:
        parameters.append((Part(definition.at, parts.at.offset), parts.at))
    for name, value in parameters:
        kind = definition.parameters.get(name.text)
        if kind is None:
            raise MeasureError(_describe_unknown_parameter(definition, name.text), name.offset)
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


def _describe_unknown_parameter(definition: Definition, name: str) -> str:
    known = list(definition.parameters)
    if not known:
        return f"{definition.name} has no parameters, found {name}"
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
    return f"{definition.name} has no parameter {name}; {hint}"


def _format_measure(definition: Definition, parameters: Sequence[tuple[str, Parameter]], cutoff: int | None) -> str:
    texts = {name: as_text(value) for name, value in parameters}
    text, ending = definition.name, ""
    if cutoff is not None:
        ending = f"@{cutoff}"
    elif definition.at in texts:
        ending = f"@{texts.pop(definition.at)}"
    if texts:
        text += f"({','.join(f'{name}={value}' for name, value in texts.items())})"
    return text + ending


RBO = "RBO"
OVERLAP = "overlap"
_AGREEMENT = re.compile(rf"(?:{RBO}|{OVERLAP})(?![\w.])")


def begins_agreement(text: str, position: int) -> bool:
    """Whether *text* has the name of an agreement at *position*."""
    return _AGREEMENT.match(text, position) is not None


def read_agreement(text: str) -> Measure:
    """
    Read one agreement.

    Raises:
        MeasureError: It has a parameter that it does not know, or one that is out of range.

    >>> read_agreement("RBO( p = .80 )@10").text
    'RBO(p=0.8)@10'
    """
    parts = take_apart(text)
    parameters: tuple[tuple[str, Parameter], ...] = ()
    for name, value in parts.parameters:
        if parts.name.text != RBO or name.text != "p":
            known = "it has p" if parts.name.text == RBO else "it has none"
            raise MeasureError(f"{parts.name.text} has no parameter {name.text}; {known}", name.offset)
        if parameters:
            raise MeasureError("p is given twice", name.offset)
        parameters = (("p", _read_persistence(value.text, value.offset)),)
    inside = "".join(f"(p={value:g})" for _, value in parameters)
    cutoff = "" if parts.cutoff is None else f"@{parts.cutoff}"
    return Measure(parts.name.text, parts.cutoff, parameters, f"{parts.name.text}{inside}{cutoff}")


def _read_persistence(text: str, offset: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise MeasureError(f"RBO's p: found {text}, expected a number above 0 and below 1, such as 0.9", offset)
    return value


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")
LONGEST_CUTOFF = 9  # digits: a billion ranks


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the text and where it starts."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a measure's text, before names are looked up; *at* is the part behind ``@``, None without one."""

    name: Part
    parameters: tuple[tuple[Part, Part], ...]
    at: Part | None

    @property
    def cutoff(self) -> int | None:
        """
        The cutoff, None where there is none.

        Raises:
            MeasureError: the part behind ``@`` is not a cutoff.
        """
        return None if self.at is None else _read_cutoff(self.at)


def take_apart(text: str) -> Parts:
    """
    Read the text of a measure.

    Raises:
        MeasureError: the text does not fit the grammar.
    """
    start = _skip_blanks(text, 0)
    match = _NAME.match(text, start)
    if not match:
        found = repr(text[start:]) if start < len(text) else "nothing"
        raise MeasureError(f"expected the name of a measure, such as nDCG@10, found {found}", start)
    at = _skip_blanks(text, match.end())
    parameters: tuple[tuple[Part, Part], ...] = ()
    if text[at : at + 1] == "(":
        # Braces of a gain map may hold commas, but no parentheses.
        close = text.find(")", at)
        if close < 0:
            raise MeasureError(f"the parenthesis of {text[: at + 1].strip()} is not closed", at)
        parameters = tuple(_split_parameters(text, at + 1, close))
        at = _skip_blanks(text, close + 1)
    behind = None
    if text[at : at + 1] == "@":
        at = _skip_blanks(text, at + 1)
        behind = Part(text[at:].rstrip(), at)
    elif at < len(text):
        raise MeasureError(f"expected @ and a cutoff, or the end, after {text[:at].strip()}, found {text[at:]!r}", at)
    return Parts(Part(match.group(), start), parameters, behind)


def _read_cutoff(at: Part) -> int:
    if not _DIGITS.fullmatch(at.text):
        found = repr(at.text) if at.text else "nothing"
        raise MeasureError(f"expected a cutoff after @, a whole number of at least 1, found {found}", at.offset)
    digits = at.text.lstrip("0")
    if not digits:
        raise MeasureError(f"the cutoff must be at least 1, found {at.text}", at.offset)
    if len(digits) > LONGEST_CUTOFF:
        raise MeasureError(f"the cutoff {digits} is larger than any ranking", at.offset)
    return int(digits)


def _split_parameters(text: str, start: int, end: int) -> Iterator[tuple[Part, Part]]:
    if not text[start:end].strip():
        raise MeasureError("expected a parameter such as rel=2 in the parentheses, found none", start)
    for piece_start, piece_end in _split_at_commas(text, start, end):
        piece = text[piece_start:piece_end]
        name, equals, value = piece.partition("=")
        name_offset = piece_start + len(piece) - len(piece.lstrip())
        if not equals or not _NAME.fullmatch(name.strip()):
            found = piece.strip() or "nothing"
            raise MeasureError(f"expected a parameter such as rel=2, found {found}", min(name_offset, piece_end))
        value_offset = piece_start + len(name) + 1 + len(value) - len(value.lstrip())
        if not value.strip():
            raise MeasureError(f"expected a value for {name.strip()}, found nothing", min(value_offset, piece_end))
        yield Part(name.strip(), name_offset), Part(value.strip(), value_offset)


def _split_at_commas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut at the commas that stand outside braces."""
    depth = 0
    for at in range(start, end):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth <= 0:
            yield start, at
            start = at + 1
    yield start, end


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
