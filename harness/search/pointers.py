"""JSON pointers (RFC 6901): places in the body of a request, such as `/query/limit`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from harness.model import Json

Pointer: TypeAlias = tuple[str, ...]
"""The keys and indexes of a JSON pointer, from the outermost."""

_INDEX = re.compile(r"0|[1-9][0-9]*")
"""An index of a list (RFC 6901, 4): without leading zeros."""


def parse_pointer(text: str) -> Pointer:
    """
    The keys and indexes in *text*.

    Raises:
        ValueError: It is no JSON pointer to a part of a body; the message is a sentence.

    >>> parse_pointer("/query/a~1b/0")
    ('query', 'a/b', '0')
    """
    if not text.startswith("/"):
        raise ValueError("a JSON pointer begins with /")
    if re.search("~(?![01])", text):
        raise ValueError("in a JSON pointer, ~ is written as ~0, and / in a key as ~1")
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in text[1:].split("/"))


def find_value(body: Json, pointer: Sequence[str]) -> Json:
    """
    The value at *pointer* in *body*; None where there is none.

    >>> find_value({"page": {"size": 20}}, ("page", "size")), find_value({"queries": [{"q": "tent"}]}, ("queries", "1"))
    (20, None)
    """
    value = body
    for key in pointer:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def put_value(body: Json, pointer: Sequence[str], value: Json) -> Json:
    """
    A copy of *body* with *value* at *pointer*; objects that lack on the way are added.

    Raises:
        ValueError: A part on the way is neither an object nor a list that has the index; the message is a sentence.

    >>> put_value({"q": "tent"}, ("page", "size"), 20)
    {'q': 'tent', 'page': {'size': 20}}
    >>> put_value({"queries": [{"q": "tent"}]}, ("queries", "0", "limit"), 20)
    {'queries': [{'q': 'tent', 'limit': 20}]}
    """
    if not pointer:
        return value
    key, *following = pointer
    if body is None:
        body = {}
    if isinstance(body, Mapping):
        return {**body, key: put_value(body.get(key), following, value)}
    if not isinstance(body, list) or not _INDEX.fullmatch(key) or int(key) >= len(body):
        raise ValueError(f"there is neither an object for {key!r} nor a list that has such an index")
    place = int(key)
    return [*body[:place], put_value(body[place], following, value), *body[place + 1 :]]
