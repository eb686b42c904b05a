"""
JSON that is checked, with the place of what is wrong and of each value.

`json.loads` takes the last value of a key that is there twice, and NaN and Infinity, which JSON does not have. Here
these are errors, as is nesting too deep to be read and a number with thousands of digits. Pure.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

_DEEPEST = 100
"""The largest depth of nested objects and lists whose places are known."""

TOKEN = re.compile(r'[ \t\n\r]*([{}\[\]:,]|"(?:[^"\\]|\\.)*"|[^ \t\n\r{}\[\]:,"]+)')
"""A bracket, a colon, a comma, a string or another scalar of a text that is JSON."""

NOT_JSON = "this is not JSON: "
"""How the sentence on a text that is not JSON begins."""

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_MOST_DIGITS = 4300
"""Of an integer that Python reads."""


class WrongJson(ValueError):
    """A text that is not JSON, or has an object with a key twice; *offset* is the place in it."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset

    @property
    def column(self) -> int:
        """The place in a text of one line, from 1."""
        return self.offset + 1


class WrongNumber(WrongJson):
    """A number that JSON may have, and no 64-bit float."""


def parse_json(text: str) -> Any:
    """
    The value of *text*.

    Raises:
        WrongJson: It is not JSON, is nested too deeply, or has an object with a key twice.
    """
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        # The decoder knows no place where it calls a function; a wrong text is read again for that.
        check_syntax(text)
        build_tree(text, PlacedJson)
        raise


def check_syntax(text: str) -> None:
    """
    Check that *text* is JSON, in which a key may be there twice: the order of its tokens can be trusted afterwards.

    Raises:
        WrongJson: It is not; the message quotes nothing but a constant.
    """
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise WrongJson("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise WrongJson(f"{NOT_JSON}{error.msg}", error.pos) from None
    except ValueError:
        # Everything before the place is JSON.
        for match in TOKEN.finditer(text):
            if match[1] in _CONSTANTS:
                message = f"{NOT_JSON}{match[1]} is not a number that JSON has"
                raise WrongJson(message, match.start(1)) from None
            if len(match[1]) > _MOST_DIGITS and match[1].removeprefix("-").isdigit():
                raise WrongJson("a number has too many digits", match.start(1)) from None
        raise


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _make_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise WrongJson(_describe_repeat(key))
    return value


def _describe_repeat(key: str) -> str:
    return f"the object has the key {key!r} twice"


_DECODER = json.JSONDecoder(object_pairs_hook=_make_object, parse_constant=_refuse_constant)
"""One for all texts: `json.loads` with a hook makes one for each, which takes as long as a line of a file."""


class PlacedJson:
    """A JSON value with its *offset* in a text: a dict or a list of such values, or a scalar."""

    __slots__ = ("offset", "value")

    def __init__(self, offset: int, value: Any) -> None:
        self.offset = offset
        self.value = value

    def find_offset(self, location: Sequence[Any]) -> int:
        """
        The place of the value at *location*, or of the innermost one around it that is there.

        >>> build_tree('{"suites": [{"name": 1}]}', PlacedJson).find_offset(["suites", 0, "name"])
        21
        """
        node = self
        for step in location:
            value = node.value
            if (isinstance(value, dict) and step in value) or (isinstance(value, list) and isinstance(step, int)):
                node = value[step]
        return node.offset


Node = TypeVar("Node", bound=PlacedJson)


def build_tree(text: str, make_node: Callable[[int, Any], Node]) -> Node:
    """
    The value of *text*, which `check_syntax` has passed, of nodes that *make_node* makes of an offset and a value.

    Raises:
        WrongJson: A key is repeated, the nesting is too deep, or no file can hold a value.
    """
    root: list[Node] = []
    open_nodes: list[Node] = []
    key: str | None = None
    for match in TOKEN.finditer(text):
        token, offset = match[1], match.start(1)
        if token in ("}", "]"):
            open_nodes.pop()
            continue
        if token in (",", ":"):
            continue
        holder: Any = open_nodes[-1].value if open_nodes else root
        # In an object, keys and values take turns.
        if isinstance(holder, dict) and key is None:
            key = read_scalar(token, offset)
            if key in holder:
                raise WrongJson(_describe_repeat(key), offset)
            continue
        if token in ("{", "["):
            node = make_node(offset, {} if token == "{" else [])
            open_nodes.append(node)
            if len(open_nodes) > _DEEPEST:
                raise WrongJson(f"the JSON is nested too deeply; expected at most {_DEEPEST} levels", offset)
        else:
            node = make_node(offset, read_scalar(token, offset))
        if key is None:
            holder.append(node)
        else:
            holder[key] = node
            key = None
    return root[0]


def read_scalar(token: str, offset: int) -> Any:
    """
    The string, number or constant that *token* is, which stands at *offset*.

    Raises:
        WrongJson: No file in UTF-8, or no 64-bit float can hold it.
    """
    value = json.loads(token)
    if isinstance(value, float) and not math.isfinite(value):
        raise WrongNumber(f"found {token[:60]}, expected a number that a 64-bit float can hold", offset)
    # An escape such as "\ud83d" alone is JSON.
    if isinstance(value, str) and _HALF_A_CHARACTER.search(value):
        raise WrongJson("this text has half of a character; write both halves, as in \\ud83d\\ude00", offset)
    return value
