"""
Values, and nodes of a suite among them, as YAML.

A scalar that has a mark stays as it is written, so that `007`, `no` and ``${NAME}`` mean what they meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.model.suite import Json
from harness.suites.yaml import ScalarNode

_WIDTH = 100
"""Mappings and lists of this width are on one line."""

_FLOW_SAFE = re.compile(r"[\w.+^*/-]+", re.ASCII)


def escape_dollars(value: Json) -> Json:
    """
    *value* as a suite writes it, where ``${`` and ``$$`` have a meaning in texts; keys cannot have variables.

    >>> escape_dollars({"price": ["$5", "${low}"]})
    {'price': ['$5', '$${low}']}
    """
    if isinstance(value, str) and ("${" in value or "$$" in value):
        return value.replace("$", "$$")
    if isinstance(value, list):
        return [escape_dollars(item) for item in value]
    if isinstance(value, Mapping):
        return {key: escape_dollars(item) for key, item in value.items()}
    return value


def quote_doubly(text: str) -> str:
    r"""
    *text* as a YAML scalar in double quotes.

    >>> print(quote_doubly('red\u200b "shoes"'))
    "red\U0000200b \"shoes\""
    """
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in quoted)


_PLAIN = re.compile(r"(?!(?:true|false|yes|no|on|off|null)$)\w[\w./@^+-]*(?: [\w./@^+-]+)*", re.IGNORECASE)
"""Words that mean themselves in YAML 1.1 and 1.2, in a block and between braces, unless they begin with a digit."""


def format_scalar(value: Json, style: str | None = None, *, may_begin_with_digit: bool = False) -> str:
    """
    *value* on one line; a text has the quotes of *style*, or none where no reader takes it for another type.

    >>> [format_scalar(value) for value in ("red shoes", "75%", "no", "1b", 0.5, True)]
    ['red shoes', '"75%"', '"no"', '"1b"', '0.5', 'true']
    """
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    is_plain = not style and _PLAIN.fullmatch(value) is not None
    if is_plain and (may_begin_with_digit or not value[0].isdigit()):
        return str(value)
    return quote_doubly(value)


def format_flow(node: Any) -> str:
    """*node* on one line."""
    if isinstance(node, Mapping):
        pairs = [f"{format_flow(key)}: {format_flow(value)}" for key, value in node.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(node, list):
        return "[" + ", ".join(format_flow(item) for item in node) + "]"
    if isinstance(node, ScalarNode) and node.plain:
        return node.raw
    # What was in quotes may be a text that is a number to YAML.
    return format_scalar(node, '"' if isinstance(node, ScalarNode) else None)


def _is_flow_safe(node: Any) -> bool:
    """Whether no plain scalar below *node* means something else between braces."""
    if isinstance(node, Mapping):
        return all(_is_flow_safe(key) and _is_flow_safe(value) for key, value in node.items())
    if isinstance(node, list):
        return all(map(_is_flow_safe, node))
    if isinstance(node, ScalarNode) and node.plain:
        return _FLOW_SAFE.fullmatch(node.raw) is not None
    return True


def format_members(members: Mapping[Any, Any]) -> str:
    """*members*, the keys of a suite with their values, from the first column on."""
    return "".join(f"{line}\n" for line in _list_members(members, 0, 0))


def format_block(node: Any, indent: int, column: int) -> str:
    """What stands behind the colon of a key, or behind a dash: on its line, or on lines with *indent* more blanks."""
    flow = format_flow(node)
    if not isinstance(node, Mapping | list) or not node:
        lines = _format_lines(node, indent)
        return f" {lines}" if lines else f" {flow}"
    is_short = column + indent + len(flow) <= _WIDTH
    if is_short and _is_flow_safe(node):
        return f" {flow}"
    margin = " " * indent
    if isinstance(node, Mapping):
        return "".join(f"\n{margin}{member}" for member in _list_members(node, indent, column))
    # The first key of an item stands behind its dash.
    items = [format_block(item, indent + 2, column).lstrip() for item in node]
    return "".join(f"\n{margin}- {item}" for item in items)


def _list_members(node: Mapping[Any, Any], indent: int, column: int) -> list[str]:
    return [f"{format_flow(key)}:{format_block(value, indent + 2, column)}" for key, value in node.items()]


def _format_lines(value: Any, indent: int) -> str:
    """A text of several lines as a block of them; empty where it is none."""
    if not isinstance(value, str) or not value.replace("\n", "").isprintable():
        return ""
    body = value.removesuffix("\n")
    # Blanks at its begin would be taken for its indentation, and line ends at its end would be lost.
    if "\n" not in body or body.startswith((" ", "\n")) or body.endswith("\n"):
        return ""
    margin = " " * indent
    lines = [margin + line if line else "" for line in body.split("\n")]
    return "\n".join(["|" if value.endswith("\n") else "|-", *lines])
