"""The numbers of a request: where each stands in its text, the text with others, and what a text changes in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from harness.files.editing import Edit, apply_edits, compose_nodes
from harness.model.suite import Json, ParameterKind, TuningSpace
from harness.suites.yaml import resolve
from harness.words import shorten

PARAMETER = "param:"
"""How the pointer of a parameter of `tune` begins."""

_BOOST = re.compile(r"(?<![\w^.])([\w.*-]+)\^(\d+(?:\.\d+)?)(?![\w.])")
"""A field with its weight, such as title^3."""

MOST_DIALS = 200
"""More numbers are data, and no dials: a page with thousands of them serves nobody."""

LONGEST_TEXT = 100_000
"""The characters of a text in which numbers are looked for."""

_NO_DIALS = frozenset({"size", "from"})
_NAMES_SHOWN = 3
_LONGEST_VALUE = 20


@dataclass(frozen=True, slots=True)
class Dial:
    """A number of a request."""

    pointer: str
    """Where it stands: a JSON pointer, with ``^FIELD`` behind it for the weight of a field; or ``param:NAME``."""
    name: str
    value: float
    step: float
    place: tuple[int, int] = (0, 0)
    """Where its digits stand in the text."""


def find_dials(text: str) -> list[Dial]:
    """The first numbers in *text*, a request in YAML, in its order; none in one of more than `LONGEST_TEXT`."""
    if len(text) > LONGEST_TEXT:
        return []
    root = compose_nodes(text)
    dials = []
    for keys, node in _iterate_scalars(root):
        pointer = "".join(f"/{_escape(key)}" for key in keys)
        if keys and keys[-1] in _NO_DIALS and len(keys) == 1:
            continue
        begin, end = node.start_mark.index, node.end_mark.index
        value = node.value if node.style else resolve(node.value)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            dials.append(Dial(pointer, _name_keys(keys), value, _choose_step(value), (begin, end)))
            continue
        for match in _BOOST.finditer(text, begin, end):
            weight = float(match[2])
            if math.isfinite(weight):
                dials.append(Dial(f"{pointer}^{match[1]}", f"{match[1]}^", weight, _choose_step(weight), match.span(2)))
        if len(dials) >= MOST_DIALS:
            break
    return dials[:MOST_DIALS]


def list_parameters(space: TuningSpace | None, values: Mapping[str, Json]) -> list[Dial]:
    """The parameters of `tune` that are numbers, with *values*; one with a pointer is a number of the text."""
    dials = []
    for parameter in () if space is None else space.parameters:
        value = values.get(parameter.name, parameter.today)
        if parameter.pointer or parameter.kind not in (ParameterKind.FLOAT, ParameterKind.INTEGER):
            continue
        step = 1.0 if parameter.kind is ParameterKind.INTEGER else (parameter.high - parameter.low) / 20
        dials.append(Dial(f"{PARAMETER}{parameter.name}", parameter.name, float(value), step))
    return dials


def put_numbers(text: str, numbers: Mapping[str, float]) -> str:
    """*text* with *numbers* in the places of its dials; raises KeyError for a pointer that is none."""
    dials = {dial.pointer: dial for dial in find_dials(text)}
    edits: list[Edit] = []
    for pointer, number in numbers.items():
        begin, end = dials[pointer].place
        edits.append((begin, end, format_number(number)))
    return apply_edits(text, edits)


def format_number(number: float) -> str:
    """
    *number* as it is written in a request.

    >>> format_number(3.0), format_number(0.30000000000000004)
    ('3', '0.3')
    """
    rounded = float(f"{number:.12g}")
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e15 else repr(rounded)


def describe_change(live: str, text: str, live_values: Mapping[str, Json], values: Mapping[str, Json]) -> str:
    """What *text* with *values* changes in *live* with its own, in a few words; empty where nothing is, or too much."""
    if max(len(live), len(text)) > LONGEST_TEXT:
        return ""
    before, after = _list_leaves(live), _list_leaves(text)
    parts = []
    for name, value in values.items():
        if live_values.get(name) != value:
            parts.append(f"{name} {live_values.get(name)} → {value}")
    for pointer, (name, value) in after.items():
        if pointer in before and before[pointer][1] != value:
            parts.append(_describe_value(name, before[pointer][1], value))
        elif pointer not in before:
            is_short = len(value) < _LONGEST_VALUE and value != name
            parts.append(f"+ {name} {value}" if is_short else f"+ {name}")
    parts += [f"− {name}" for pointer, (name, _) in before.items() if pointer not in after]
    shown = ", ".join(parts[:_NAMES_SHOWN])
    others = len(parts) - _NAMES_SHOWN
    return shown if others <= 0 else f"{shown} and {others} more"


def _describe_value(name: str, before: str, after: str) -> str:
    weights, others = dict(_BOOST.findall(before)), dict(_BOOST.findall(after))
    if weights.keys() == others.keys() and _BOOST.sub(r"\1", before) == _BOOST.sub(r"\1", after):
        changed = [
            f"{field}^{weights[field]} → ^{others[field]}" for field in weights if weights[field] != others[field]
        ]
        return ", ".join(changed)
    return f"{name} {shorten(before)} → {shorten(after)}"


def _list_leaves(text: str) -> dict[str, tuple[str, str]]:
    """Each scalar of *text* by its place, with its name and what it is; fields in lists are known by their names."""
    leaves: dict[str, tuple[str, str]] = {}
    for keys, node in _iterate_scalars(compose_nodes(text)):
        pointer = "".join(f"/{key}" for key in keys)
        is_item = bool(keys) and isinstance(keys[-1], int)
        if is_item:
            pointer = "".join(f"/{key}" for key in keys[:-1]) + f"/{node.value.partition('^')[0]}"
        leaves[pointer] = (node.value if is_item else _name_keys(keys), node.value)
    return leaves


def _iterate_scalars(root: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The scalars below *root*, each with its keys; one that aliases stand for once, as it stands once in the text."""
    seen: set[int] = set()

    def iterate(node: Any, keys: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            yield keys, node
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield from iterate(value, (*keys, str(key.value)))
        elif isinstance(node, yaml.SequenceNode):
            for place, item in enumerate(node.value):
                yield from iterate(item, (*keys, place))

    return iterate(root, ())


def _name_keys(keys: Sequence[str | int]) -> str:
    """The last two keys, places in lists left out: what a reader knows the number by."""
    words = [str(key) for key in keys if not isinstance(key, int)]
    return " ".join(words[-2:])


def _escape(key: str | int) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _choose_step(value: float) -> float:
    if float(value).is_integer() and abs(value) >= 1:
        return 1.0
    return 0.1 if abs(value) >= 0.1 or value == 0 else 0.01
