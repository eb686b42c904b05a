"""
``{{text}}`` and the other placeholders of a request, filled structurally.

A string that is one placeholder becomes the value itself, with its type: a list stays a list. Inside a longer string,
and in a key, the value is put in as text. What was put in is never looked at again, so a query's text may hold
quotes, braces, `{{` or `$`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.errors import UsageError
from harness.model import Json

RESERVED = ("text", "depth")
"""Placeholders that every query fills: its text, and the number of hits asked for."""

_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_name(text: str) -> bool:
    """Whether a placeholder can have this name."""
    return _NAME.fullmatch(text) is not None


def placeholders_in(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each placeholder in *text*: what stands between its braces, where, and whether it is put in as text."""
    matches = list(_PLACEHOLDER.finditer(text))
    for match in matches:
        yield match[1].strip(), match.start(), len(matches) > 1 or match.group() != text


def fill(template: Json, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> Json:
    """
    *template* with its placeholders filled.

    Args:
        template: A JSON value.
        values: By the placeholder's name; must hold each that occurs.
        encode: What is done to a value that is put into a longer string.

    Raises:
        UsageError: A list or an object would have to be put into a string, or two keys become the same.

    >>> fill({"terms": {"brand": "{{brands}}"}, "name": "for {{text}}"}, {"brands": ["a", "b"], "text": '"x" {{y}}'})
    {'terms': {'brand': ['a', 'b']}, 'name': 'for "x" {{y}}'}
    """
    if isinstance(template, Mapping):
        return _fill_mapping(template, values, encode)
    if isinstance(template, list):
        return [fill(item, values, encode=encode) for item in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole and is_name(whole[1].strip()):
        return values[whole[1].strip()]
    return fill_text(template, values, encode=encode)


def fill_text(template: str, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> str:
    """*template* with each placeholder put in as text, even where it is all there is."""
    return _PLACEHOLDER.sub(lambda match: encode(as_text(values[match[1].strip()], match[1].strip())), template)


def as_text(value: Json, name: str) -> str:
    """A value as it stands inside a longer string."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (list, Mapping)):
        kind = "nothing" if value is None else "a list" if isinstance(value, list) else "a mapping"
        raise UsageError(f"{{{{{name}}}}} is {kind}, which cannot stand inside a text")
    return json.dumps(value)


def _fill_mapping(
    template: Mapping[str, Any], values: Mapping[str, Json], encode: Callable[[str], str]
) -> dict[str, Json]:
    filled: dict[str, Json] = {}
    for key, value in template.items():
        name = fill_text(key, values)
        if name in filled:
            raise UsageError(f"two keys become {name!r} when their placeholders are filled")
        filled[name] = fill(value, values, encode=encode)
    return filled
