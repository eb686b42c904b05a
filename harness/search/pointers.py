"""Places in the body of a request: JSON pointers (RFC 6901) such as `/query/limit`, and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.model.suite import Json

_INDEX = re.compile(r"0|[1-9][0-9]*")
"""An index of a list (RFC 6901, 4): without leading zeros."""


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """
    The keys and indexes that *pointer* goes through.

    Raises:
        LookupError: It is no JSON pointer to a part of a body; the message is a sentence.

    >>> parse_pointer("/query/a~1b/0")
    ('query', 'a/b', '0')
    """
    if not pointer.startswith("/"):
        raise LookupError("a JSON pointer begins with /")
    if re.search("~(?![01])", pointer):
        raise LookupError("in a JSON pointer, ~ is written as ~0, and / in a key as ~1")
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/"))


def find_value(body: Json, pointer: str) -> Json:
    """
    The value at *pointer* in *body*.

    Raises:
        LookupError: It leads nowhere.

    >>> find_value({"queries": [{"limit": 20}]}, "/queries/0/limit")
    20
    """
    value = body
    for key in parse_pointer(pointer):
        value = value[_find_key(value, key)]
    return value


def put_value(body: Json, pointer: str, value: Json) -> Json:
    """
    A copy of *body* with *value* in place of what is at *pointer*.

    Raises:
        LookupError: It leads nowhere.

    >>> put_value({"a": [{"b": 1}, 2]}, "/a/0/b", 3)
    {'a': [{'b': 3}, 2]}
    """
    find_value(body, pointer)
    return add_value(body, pointer, value)


def add_value(body: Json, pointer: str, value: Json) -> Json:
    """
    A copy of *body* with *value* at *pointer*, and with the objects on the way that it lacks.

    Raises:
        LookupError: On the way is neither an object nor a list that has the index.

    >>> add_value({"q": "tent"}, "/page/size", 20)
    {'q': 'tent', 'page': {'size': 20}}
    """
    return _add(body, parse_pointer(pointer), value)


def _add(node: Json, keys: Sequence[str], value: Json) -> Json:
    if not keys:
        return value
    if node is None:
        node = {}
    if isinstance(node, Mapping):
        return {**node, keys[0]: _add(node.get(keys[0]), keys[1:], value)}
    place = _find_key(node, keys[0])
    return [*node[:place], _add(node[place], keys[1:], value), *node[place + 1 :]]


def iterate_keys(body: Json) -> Iterator[str]:
    """
    All keys in *body*, at any depth.

    Unlike `iterate_members` it leaves no list out: what must not stand in a request may stand behind a number.

    >>> list(iterate_keys({"a": [0.5, {"b": 1}], "c": 2}))
    ['a', 'c', 'b']
    """
    if isinstance(body, Mapping):
        yield from body
        for member in body.values():
            yield from iterate_keys(member)
    elif isinstance(body, list):
        for member in body:
            yield from iterate_keys(member)


def _find_key(node: Json, key: str) -> Any:
    """The key or the index in *node* that *key* means, which is there."""
    if isinstance(node, list) and _INDEX.fullmatch(key) and int(key) < len(node):
        return int(key)
    if isinstance(node, Mapping) and key in node:
        return key
    raise LookupError(f"there is no {key!r} at its place")
