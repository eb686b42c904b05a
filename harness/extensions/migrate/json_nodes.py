"""Reads JSON with the place of each value, and keeps track of the values that no importer reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from harness.drafts.draft import Draft
from harness.errors import InputError
from harness.files.json import NOT_JSON, PlacedJson, WrongJson, build_tree, check_syntax
from harness.files.opening import TextSource, read_source
from harness.files.tables import read_number
from harness.model.suite import Json, Mark
from harness.words import grouped, shorten

LARGEST_IMPORT = 512 * 2**20
"""The largest file that is imported, in bytes."""

LARGEST_INTEGER = 2**31 - 1


def explain_grades(word: str, names: Mapping[str, float]) -> str:
    """What was expected in place of *word*, a label that is neither a number nor one of the *names* of grades."""
    if names:
        return f"a finite number, or one of {', '.join(names)}, as --grades says"
    if not word or set(word) & set(",=") or not word.isprintable():
        return "a finite number"
    return f"a finite number; --grades {shorten(word)}=NUMBER,… gives labels in words their grades"


class JsonNode(PlacedJson):
    """
    A JSON value with its place in a file.

    *value* is a dict or a list of `JsonNode` values, or a scalar. A value that is accessed by the methods below counts
    as read. `unread` lists the others, so that an importer reports the keys that it does not know. The methods raise
    FormatError, with the place, if the value is not of the expected type.
    """

    __slots__ = ("read", "source")

    def __init__(self, source: TextSource, offset: int, value: Any) -> None:
        super().__init__(offset, value)
        self.source = source
        self.read = False

    @property
    def place(self) -> Mark:
        """Its place in the file."""
        return Mark(self.source.path, *self.source.find_place(self.offset))

    def refuse(self, expected: str) -> NoReturn:
        """Raise FormatError: the value is not what was *expected*."""
        raise self.source.make_error(
            *self.source.find_place(self.offset), f"found {self.describe()}, expected {expected}"
        )

    def describe(self) -> str:
        """The value as error messages show it, at most 60 characters."""
        if isinstance(self.value, dict):
            return "an object"
        if isinstance(self.value, list):
            return "a list"
        return shorten(json.dumps(self.value, ensure_ascii=False))

    def get(self, *keys: str) -> JsonNode | None:
        """The value of the first of *keys* that the object has and whose value is not null; None if there is none."""
        for key in keys:
            child = self.members().get(key)
            if child is not None:
                child.read = True
                if child.value is not None:
                    return child
        return None

    def require(self, *keys: str) -> JsonNode:
        """
        The value of the first of *keys*, as `get` returns it.

        Raises:
            FormatError: The object has none of *keys*, or only with null.
        """
        child = self.get(*keys)
        if child is None:
            message = f"found an object without {' or '.join(map(repr, keys))}, expected one with it"
            raise self.source.make_error(*self.source.find_place(self.offset), message)
        return child

    def members(self) -> dict[str, JsonNode]:
        """The object's values by key; they do not count as read."""
        self.read = True
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.value

    def items(self) -> Iterator[tuple[str, JsonNode]]:
        """The object's keys and values; the values count as read."""
        for key, child in self.members().items():
            child.read = True
            yield key, child

    def elements(self) -> Iterator[JsonNode]:
        """The list's values; they count as read."""
        self.read = True
        if not isinstance(self.value, list):
            self.refuse("a list")
        for child in self.value:
            child.read = True
            yield child

    def text(self) -> str:
        """A string, or an integer as a string."""
        self.read = True
        if isinstance(self.value, str):
            return self.value
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.refuse("a string")
        return str(self.value)

    def words(self) -> str:
        """The value of `text` without surrounding blanks; it must not be empty."""
        text = self.text().strip()
        if not text:
            self.refuse("a text")
        return text

    def number(self) -> float:
        """A finite number, written as a number or as a string."""
        self.read = True
        value = self.value.strip() if isinstance(self.value, str) else self.value
        number = None
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            number = read_number(value)
        if number is None or not math.isfinite(number):
            self.refuse("a finite number")
        return number

    def grade(self, names: Mapping[str, float]) -> float:
        """The value of `number`, or the grade that *names* has for a word."""
        if not isinstance(self.value, str) or read_number(self.value.strip()) is not None:
            return self.number()
        word = self.value.strip()
        if word not in names:
            self.refuse(explain_grades(word, names))
        self.read = True
        return names[word]

    def integer(self) -> int:
        """The value of `number`, truncated to a 32-bit integer, as the engines and Quepid do."""
        number = self.number()
        if abs(number) > LARGEST_INTEGER:
            self.refuse(f"a number of at most {LARGEST_INTEGER}")
        return int(number)

    def flag(self) -> bool:
        """True or false."""
        self.read = True
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def json(self) -> Json:
        """The value without places; all of it counts as read."""
        self.read = True
        if isinstance(self.value, dict):
            return {key: child.json() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.json() for child in self.value]
        return self.value

    def object(self) -> dict[str, Json]:
        """The value of `json`, which must be an object."""
        self.members()
        value: dict[str, Json] = self.json()
        return value

    def unread(self, path: str = "") -> Iterator[tuple[str, JsonNode]]:
        """The values that were not read and are not empty, each with its path, such as ``queries[].notes``."""
        if not self.read:
            if self.value not in (None, "", {}, []):
                yield path, self
        elif isinstance(self.value, dict):
            for key, child in self.value.items():
                yield from child.unread(f"{path}.{key}" if path else key)
        elif isinstance(self.value, list):
            for child in self.value:
                yield from child.unread(f"{path}[]")


def read_node(path: Path) -> JsonNode:
    """
    Read a JSON file.

    Raises:
        InputError: The file cannot be read, is not JSON, is nested too deeply, repeats a key in an object, or contains
            a number or a character that cannot be represented.
    """
    return parse_node(read_import(path))


def read_import(path: Path) -> TextSource:
    """The text of a file to import; raises InputError as `read_source` does."""
    return read_source(path, str(path), limit=LARGEST_IMPORT)


def parse_node(source: TextSource) -> JsonNode:
    """The JSON value of *source*; raises InputError as `read_node` does."""
    try:
        check_syntax(source.text)
        return build_tree(source.text, partial(JsonNode, source))
    except WrongJson as error:
        raise source.make_error(*source.find_place(error.offset), str(error)) from None


def parse_text(text: str) -> Json:
    """
    The JSON value of *text*, which is a part of another file.

    Raises:
        ValueError: The text cannot be read; the message is that of `read_node`, without a place.
    """
    try:
        check_syntax(text)
        return build_tree(text, partial(JsonNode, TextSource("", text))).json()
    except WrongJson as error:
        raise ValueError(str(error).removeprefix(NOT_JSON)) from None


def parse_members(node: JsonNode | None) -> dict[str, JsonNode]:
    """
    The values by key of an object, or of a string that contains a JSON object; they do not count as read.

    Empty for any other value, which does not count as read either.
    """
    if node is None or not isinstance(node.value, (dict, str)):
        return {}
    if isinstance(node.value, str):
        try:
            content = parse_node(_Inside(node)).value
        except InputError:
            return {}
        if not isinstance(content, dict):
            return {}
        node.value = content
    return node.members()


def parse_lines(source: TextSource) -> Iterator[JsonNode]:
    """The value of each line that is not blank; raises InputError as `read_node` does, with the line in the file."""
    for number, line in source.drain_written_lines():
        yield parse_node(_Line(source, number, line))


class _Line(TextSource):
    """One line of a file as a source; places are those in the file."""

    def __init__(self, source: TextSource, number: int, line: str) -> None:
        super().__init__(source.path, line)
        self._source = source
        self._number = number

    def find_place(self, offset: int) -> tuple[int, int]:
        """Line and column of *offset* in the file."""
        return self._number, offset + 1

    def get_line(self, number: int) -> str:
        """Line *number* of the file."""
        return self._source.get_line(number)


class _Inside(TextSource):
    """A string in a file that contains JSON; the place of each value in it is that of the string."""

    def __init__(self, node: JsonNode) -> None:
        super().__init__(node.source.path, node.value)
        self._node = node

    def find_place(self, offset: int) -> tuple[int, int]:  # noqa: ARG002
        """Line and column of the string in the file."""
        return self._node.source.find_place(self._node.offset)

    def get_line(self, number: int) -> str:
        """Line *number* of the file."""
        return self._node.source.get_line(number)


def note_unread(draft: Draft, root: JsonNode) -> None:
    """Note the values below *root* that no importer read, each path once."""
    for path, nodes in grouped(root.unread()).items():
        draft.add_leftover(nodes[0].place, repr(path), len(nodes))
