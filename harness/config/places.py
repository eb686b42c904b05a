"""Where the keys of a TOML file stand, which the standard library's parser does not tell."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.model import Mark

Key = tuple[str, ...]


@dataclass(slots=True)
class Places:
    """Line and column of each key, by its path of names from the top."""

    of: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def mark(self, key: Key, path: str) -> Mark:
        """The place of *key*, or of the nearest key above it that has one."""
        while key and key not in self.of:
            key = key[:-1]
        line, column = self.of.get(key, (1, 1))
        return Mark(path, line, column)


def find_places(text: str) -> Places:
    """
    The places of all keys in *text*, which is known to be valid TOML.

    Each statement, a table's header or a key with its value, is read alone by the parser, so that quotes, dots and
    several lines mean here what they mean to it.
    """
    places = Places()
    table: Key = ()
    for line, statement in _statements(text):
        content = tomllib.loads(statement)
        column = len(statement) - len(statement.lstrip()) + 1
        if statement.lstrip().startswith("["):
            table = _header(content)
            keys: list[Key] = [table[: end + 1] for end in range(len(table))]
        else:
            keys = [table + key for key in _keys(content)]
        for key in keys:
            places.of.setdefault(key, (line, column))
    return places


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with its first line: as many lines as it takes until the parser has a whole one."""
    pending, first = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first = first if pending else number
        pending += line + "\n"
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        yield first, pending
        pending = ""


def _header(content: Mapping[str, Any]) -> Key:
    """The path of a table's header, as [a.b] gives {"a": {"b": {}}} and [[a]] gives {"a": [{}]}."""
    names: list[str] = []
    inner: Any = content
    while isinstance(inner, Mapping) and inner:
        name = next(iter(inner))
        names.append(name)
        inner = inner[name]
    return tuple(names)


def _keys(content: Mapping[str, Any]) -> Iterator[Key]:
    """Every path in what one statement sets: dotted keys, and those of inline tables."""
    for name, value in content.items():
        yield (name,)
        if isinstance(value, Mapping):
            yield from ((name, *rest) for rest in _keys(value))
