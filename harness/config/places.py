"""The line and column of each key of a TOML file, which Python's parser does not tell, and problems at them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import Problem
from harness.files.opening import TextSource
from harness.model.suite import Mark

KeyPath = tuple[str, ...]


class Places(dict[KeyPath, tuple[int, int]]):
    """Line and column of each key, by its path of names from the top."""

    def find_mark(self, key: KeyPath, path: str) -> Mark:
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
    table: KeyPath = ()
    for line, statement in _iterate_statements(text):
        content = tomllib.loads(statement)
        column = len(statement) - len(statement.lstrip()) + 1
        if statement.lstrip().startswith("["):
            table = _read_header(content)
            keys: list[KeyPath] = [table[: end + 1] for end in range(len(table))]
        else:
            keys = [table + key for key in _iterate_keys(content)]
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


def _iterate_statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with its first line: it ends with the first line outside of strings and brackets."""
    depth, begin, line = 0, 0, 1
    for token in _TOKEN.finditer(f"{text}\n"):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        if token[0] != "\n" or depth:
            continue
        statement = text[begin : token.end()]
        if statement.strip() and not statement.lstrip().startswith("#"):
            yield line, statement
        begin, line = token.end(), line + statement.count("\n")


def _read_header(content: Mapping[str, Any]) -> KeyPath:
    """The path of a table's header, as [a.b] gives {"a": {"b": {}}} and [[a]] gives {"a": [{}]}."""
    names: list[str] = []
    inner: Any = content
    while isinstance(inner, Mapping) and inner:
        name = next(iter(inner))
        names.append(name)
        inner = inner[name]
    return tuple(names)


def _iterate_keys(content: Mapping[str, Any]) -> Iterator[KeyPath]:
    """Every path in what one statement sets: dotted keys, and those of inline tables."""
    for name, value in content.items():
        yield (name,)
        if isinstance(value, Mapping):
            for key in _iterate_keys(value):
                yield (name, *key)


@dataclass(frozen=True, slots=True)
class ConfigProblems:
    """The problems of one relevance.toml."""

    source: TextSource
    places: Places
    found: list[Problem] = field(default_factory=list)

    def note(self, key: KeyPath, message: str) -> None:
        """Note a problem at *key*, with an excerpt."""
        # The excerpt ends at the =: what follows may be a secret that does not belong there.
        mark = self.places.find_mark(key, self.source.path)
        shown = self.source.get_line(mark.line).split("=")[0]
        lines_before = "\n" * (mark.line - 1)
        excerpt = TextSource(self.source.path, lines_before + shown).make_excerpt(mark.line, mark.column)
        self.found.append(Problem(self.source.path, mark.line, mark.column, message, excerpt))
