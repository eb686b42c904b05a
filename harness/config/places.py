"""The line and column of each key of a TOML file, which Python's parser does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from harness.model import Mark

Key = tuple[str, ...]


class Places(dict[Key, tuple[int, int]]):
    """Line and column of each key, by its path of names from the top."""

    def mark(self, key: Key, path: str) -> Mark:
        """The place of *key*, or of the nearest key above it that has one."""
        while key and key not in self:
            key = key[:-1]
        line, column = self.get(key, (1, 1))
        return Mark(path, line, column)


def find_places(text: str) -> Places:
    """
    The places of all keys in *text*, which is known to be valid TOML.

    The parser reads each statement alone (a table's header, or a key with its value), so that quotes, dots and values
    of several lines are interpreted as in the whole file.
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
            places.setdefault(key, (line, column))
    return places


_TOKEN = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'''
    r"""|'''(?:[^']|'(?!''))*'{3,5}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[][{}\n]""",
    re.DOTALL,
)
"""The tokens that decide where a statement of valid TOML ends: strings, comments, brackets and line ends."""


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with its first line: it ends with the first line outside of strings and brackets."""
    depth, begin, line = 0, 0, 1
    for token in _TOKEN.finditer(f"{text}\n"):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] != "\n" or depth:
            continue
        statement = text[begin : token.end()]
        if statement.strip() and not statement.lstrip().startswith("#"):
            yield line, statement
        begin, line = token.end(), line + statement.count("\n")


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
