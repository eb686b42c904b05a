"""JSON with the place of each value, and with what nobody read of it."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import FormatError, InputError
from harness.files.opening import Source, read_source
from harness.files.records import read_number
from harness.model import Json

__all__ = ["MOST_BYTES", "Placed", "json_in", "members_within", "parse_placed", "placed_lines", "read_placed"]

MOST_BYTES = 512 * 2**20
"""Of a file that is imported."""

_TOKEN = re.compile(r'[ \t\n\r]*([{}\[\]:,]|"(?:[^"\\]|\\.)*"|[^ \t\n\r{}\[\]:,"]+)')
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_OPENING, _CLOSING = ("{", "["), ("}", "]")
_NOT_JSON = "this is not JSON: "
_DEEPEST = 100
"""Levels of objects and lists; a suite has fewer."""
_LARGEST = 2**31 - 1


class Placed:
    """
    A JSON value at its place in a file.

    *value* is a dict or a list of placed values, or a scalar. What is asked for through the methods below counts as
    read; `unread` gives the rest, so that an importer cannot lose a key that it does not know.
    """

    __slots__ = ("offset", "read", "source", "value")

    def __init__(self, source: Source, offset: int, value: Any) -> None:
        self.source = source
        self.offset = offset
        self.value = value
        self.read = False

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line and column."""
        return (self.source.path, *self.source.place(self.offset))

    def refuse(self, expected: str) -> NoReturn:
        """Fail because this is not what was *expected*."""
        raise FormatError([self.source.problem(*self.place[1:], f"found {self.described()}, expected {expected}")])

    def described(self) -> str:
        """The value in an error."""
        if isinstance(self.value, dict):
            return "an object"
        if isinstance(self.value, list):
            return "a list"
        written = json.dumps(self.value, ensure_ascii=False)
        return written if len(written) <= 60 else written[:59] + "…"

    def get(self, *keys: str) -> Placed | None:
        """The value of the first of *keys* that the object has and that is not null."""
        for key in keys:
            child = self.members().get(key)
            if child is not None:
                child.read = True
                if child.value is not None:
                    return child
        return None

    def need(self, *keys: str) -> Placed:
        """
        As `get`.

        Raises:
            FormatError: The object has none of *keys*.
        """
        child = self.get(*keys)
        if child is None:
            found = f"found an object without {' or '.join(map(repr, keys))}"
            raise FormatError([self.source.problem(*self.place[1:], f"{found}, expected one with it")])
        return child

    def members(self) -> dict[str, Placed]:
        """The object's values by key; they count as unread."""
        self.read = True
        if not isinstance(self.value, dict):
            self.refuse("an object")
        return self.value

    def items(self) -> Iterator[tuple[str, Placed]]:
        """The object's pairs, which count as read."""
        for key, child in self.members().items():
            child.read = True
            yield key, child

    def elements(self) -> Iterator[Placed]:
        """The list's values."""
        self.read = True
        if not isinstance(self.value, list):
            self.refuse("a list")
        for child in self.value:
            child.read = True
            yield child

    def text(self) -> str:
        """A string, or a whole number as it is written."""
        self.read = True
        if isinstance(self.value, str):
            return self.value
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.refuse("a string")
        return str(self.value)

    def words(self) -> str:
        """As `text`, without blanks around it; it holds something else."""
        text = self.text().strip()
        if not text:
            self.refuse("a text")
        return text

    def number(self) -> float:
        """A finite number, be it written as a number or as a string."""
        self.read = True
        scalar = self.value
        number = None
        if isinstance(scalar, (str, int, float)) and not isinstance(scalar, bool):
            number = read_number(scalar.strip() if isinstance(scalar, str) else scalar)
        if number is None or not math.isfinite(number):
            self.refuse("a finite number")
        return number

    def integer(self) -> int:
        """As `number`, cut at the point, of 32 bits as the engines and Quepid have it."""
        number = self.number()
        if abs(number) > _LARGEST:
            self.refuse(f"a number of at most {_LARGEST}")
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
        return [child.json() for child in self.value] if isinstance(self.value, list) else self.value

    def object(self) -> dict[str, Json]:
        """As `json`, of an object."""
        self.members()
        value: dict[str, Json] = self.json()
        return value

    def unread(self, path: str = "") -> Iterator[tuple[str, Placed]]:
        """What nobody asked for and says something, by its path, such as ``queries[].notes``."""
        if not self.read:
            if self.value not in (None, "", {}, []):
                yield path, self
        elif isinstance(self.value, dict):
            for key, child in self.value.items():
                yield from child.unread(f"{path}.{key}" if path else key)
        elif isinstance(self.value, list):
            for child in self.value:
                yield from child.unread(f"{path}[]")


class _Indexed(Source):
    """A text of which many places are asked for: where its lines begin is found once."""

    @cached_property
    def _begins(self) -> list[int]:
        ends = accumulate(len(line) + 1 for line in self.text.split("\n"))
        return [0, *ends]

    def place(self, offset: int) -> tuple[int, int]:
        """As `Source` has it; JSON has no line ends but those with a line feed."""
        line = bisect_right(self._begins, offset)
        return line, offset - self._begins[line - 1] + 1

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.split("\n")


def read_placed(path: Path) -> Placed:
    """
    Read a JSON file.

    Raises:
        InputError: It cannot be read, is not JSON, or has a key twice in an object.
    """
    return parse_placed(read_source(path, str(path), limit=MOST_BYTES))


def parse_placed(source: Source) -> Placed:
    """The JSON value of *source*; errors as `read_placed` has them."""
    try:
        json.loads(source.text, parse_constant=_refuse_constant)
    except RecursionError:
        raise InputError.at(source.path, 0, 0, "the JSON is nested too deeply") from None
    except ValueError as error:
        offset, message = getattr(error, "pos", 0), getattr(error, "msg", str(error))
        raise FormatError([source.problem(*source.place(offset), f"{_NOT_JSON}{message}")]) from None
    return _build(source if isinstance(source, (_Line, _Inside)) else _Indexed(source.path, source.text))


def json_in(text: str) -> Json:
    """
    The JSON value that another file holds as a text.

    Raises:
        ValueError: It is not JSON, has a key twice in an object, or is nested too deeply; says which.
    """
    try:
        return parse_placed(Source("", text)).json()
    except InputError as error:
        raise ValueError(error.problems[0].message.removeprefix(_NOT_JSON)) from None


def members_within(placed: Placed | None) -> dict[str, Placed]:
    """The values of an object, or of a text that is one as JSON; none of anything else, which stays unread."""
    if placed is None or not isinstance(placed.value, (dict, str)):
        return {}
    if isinstance(placed.value, str):
        try:
            found = parse_placed(_Inside(placed)).value
        except InputError:
            return {}
        if not isinstance(found, dict):
            return {}
        placed.value = found
    return placed.members()


def placed_lines(source: Source) -> Iterator[Placed]:
    """The objects of JSON lines; errors as `read_placed` has them, each at its line."""
    for number, line in enumerate(source.lines, start=1):
        if line.strip():
            yield parse_placed(_Line(source, number))


class _Line(Source):
    """One line of a file; its places are those of the file."""

    def __init__(self, source: Source, number: int) -> None:
        super().__init__(source.path, source.line(number))
        self._source = source
        self._number = number

    def place(self, offset: int) -> tuple[int, int]:
        """In the file."""
        return self._number, offset + 1

    def line(self, number: int) -> str:
        """Of the file."""
        return self._source.line(number)


class _Inside(Source):
    """A text of a file that is JSON itself; its places are that of the text."""

    def __init__(self, placed: Placed) -> None:
        super().__init__(placed.source.path, placed.value)
        self._placed = placed

    def place(self, offset: int) -> tuple[int, int]:  # noqa: ARG002
        """In the file."""
        return self._placed.place[1:]

    def line(self, number: int) -> str:
        """Of the file."""
        return self._placed.source.line(number)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON has")


def _build(source: Source) -> Placed:
    """The value of a text that is known to be JSON."""
    root: list[Placed] = []
    open_values: list[Placed] = []
    key: str | None = None
    for match in _TOKEN.finditer(source.text):
        token = match[1]
        if token in _CLOSING:
            open_values.pop()
            continue
        if token in (",", ":"):
            continue
        holder = open_values[-1].value if open_values else root
        if isinstance(holder, dict) and key is None:
            key = _scalar(source, match)
            if key in holder:
                message = f"the object has the key {key!r} twice"
                raise FormatError([source.problem(*source.place(match.start(1)), message)])
            continue
        value = {} if token == "{" else [] if token == "[" else _scalar(source, match)
        placed = Placed(source, match.start(1), value)
        if isinstance(holder, dict):
            holder[str(key)], key = placed, None
        else:
            holder.append(placed)
        if token in _OPENING:
            open_values.append(placed)
            if len(open_values) > _DEEPEST:
                message = f"the JSON is nested too deeply; expected at most {_DEEPEST} levels"
                raise FormatError([source.problem(*source.place(match.start(1)), message)])
    return root[0]


def _scalar(source: Source, match: re.Match[str]) -> Any:
    value = json.loads(match[1])
    if isinstance(value, float) and not math.isfinite(value):
        message = f"found {match[1][:60]}, expected a number that a 64-bit float can hold"
        raise FormatError([source.problem(*source.place(match.start(1)), message)])
    if isinstance(value, str) and _HALF_A_CHARACTER.search(value):
        message = f"found {match[1][:60]}, which holds half of a character (a lone surrogate)"
        raise FormatError([source.problem(*source.place(match.start(1)), message)])
    return value


def first_of_each(found: Iterable[tuple[str, Placed]]) -> dict[str, list[Placed]]:
    """What `Placed.unread` found, by path."""
    grouped: dict[str, list[Placed]] = {}
    for path, placed in found:
        grouped.setdefault(path, []).append(placed)
    return grouped
