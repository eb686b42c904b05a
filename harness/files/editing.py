"""
Edits a text by place, so that everything else keeps its comments, order, quotes and line ends.

YAML is not parsed and dumped again, because that would change other lines too: what is new is put where the nodes of
the parser begin and end. `harness.suites.dumping` writes values as YAML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import yaml

from harness.errors import UsageError
from harness.files.yaml import choose_yaml_loader


class NoPlace(UsageError):
    """A text cannot hold what is to be put into it."""


Edit: TypeAlias = tuple[int, int, str]
"""A replacement: the text between two offsets becomes the third member."""


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """*text* with *edits*, whose places do not overlap."""
    # A judgment file may have a hundred thousand of them, so the text is not copied for each.
    parts, done = [], 0
    for begin, end, new in sorted(edits):
        parts += [text[done:begin], new]
        done = end
    return "".join([*parts, text[done:]])


# Lines.


def split_lines(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def find_line_break(text: str) -> str:
    """The line break of *text*."""
    return "\r\n" if "\r\n" in text else "\n"


def insert_after_line(text: str, offset: int, lines: Sequence[str]) -> Edit:
    """*lines* below the one that *offset* is in."""
    end = text.find("\n", offset)
    if end < 0:
        end = len(text)
    elif text[:end].endswith("\r"):
        end -= 1
    line_break = find_line_break(text)
    return end, end, "".join(line_break + line for line in lines)


def append_lines(text: str, lines: Sequence[str]) -> Edit:
    """*lines* at the end of *text*."""
    line_break = find_line_break(text)
    # The last line of the file may lack its end.
    begin = "" if not text or text.endswith("\n") else line_break
    return len(text), len(text), begin + "".join(line + line_break for line in lines)


# Nodes of YAML.


def compose_nodes(text: str) -> Any:
    """The nodes of PyYAML, each with the offsets at which it begins and ends; None for an empty text."""
    return yaml.compose(text, Loader=choose_yaml_loader(text))


def find_node(node: Any, keys: Sequence[str | int]) -> Any:
    """The node below *keys*, which are keys of mappings and places in lists; None where there is none."""
    for key in keys:
        if isinstance(key, int):
            node = node.value[key]
            continue
        members = node.value if isinstance(node, yaml.MappingNode) else []
        node = next((value for name, value in members if name.value == key), None)
    return node


def replace_node(text: str, node: Any, new: str) -> Edit:
    """*new* in the place of *node*, whose anchor stays."""
    begin, last = node.start_mark.index, node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        last = last.value[-1][1] if isinstance(last, yaml.MappingNode) else last.value[-1]
    anchor = _ANCHOR.match(text, begin)
    if anchor is not None:
        begin = anchor.end()
    end = max(begin, len(text[: last.end_mark.index].rstrip()))
    # Nothing stands behind the colon of a key without a value.
    if begin == end and text[begin - 1] == ":":
        new = f" {new}"
    return begin, end, new


_ANCHOR = re.compile(r"&\S+\s+")


def add_members(text: str, node: Any, members: Sequence[str]) -> list[Edit]:
    """*members* at the end of a mapping: on the line of the last one, or on lines of their own as the others are."""
    if not node.flow_style:
        return [insert_below(text, node, members)]
    if not node.value:
        begin = node.start_mark.index + 1
        return [(begin, begin, ", ".join(members))]
    marks = [key.start_mark for key, _ in node.value]
    last_end = node.value[-1][1].end_mark.index
    closing = node.end_mark.index - 1
    comma = _COMMA.match(text, last_end, closing)
    end = comma.end() if comma else last_end
    if node.start_mark.line == marks[-1].line or "\n" not in text[end:closing]:
        return [(last_end, last_end, "".join(f", {member}" for member in members))]
    column = min(mark.column for mark in marks if mark.line == marks[-1].line)
    lines = [f"{' ' * column}{member}," for member in members]
    if comma:
        return [insert_after_line(text, end, lines)]
    # The last member has no comma: it gets one, and the new last member has none. A comment may be between the two.
    lines[-1] = lines[-1].removesuffix(",")
    begin, _, new = insert_after_line(text, end, lines)
    if begin == end:
        return [(end, end, f",{new}")]
    return [(end, end, ","), (begin, begin, new)]


_COMMA = re.compile(r"(?:\s|#[^\n]*\n)*,")
"""The comma behind the last member of a flow mapping, with the comments before it."""


def insert_below(text: str, node: Any, lines: Sequence[str]) -> Edit:
    """*lines* behind all that a block mapping has, indented as its keys are."""
    indented = [" " * node.start_mark.column + line if line else "" for line in lines]
    return insert_after_line(text, find_end(text, node), indented)


def find_end(text: str, node: Any) -> int:
    """Where *node* ends; the mark of a block is that of what follows it, behind comments that belong to that."""
    kept = text[: node.end_mark.index].rstrip()
    is_block = isinstance(node, yaml.CollectionNode) and not node.flow_style
    while is_block:
        begin = kept.rfind("\n") + 1
        line = kept[begin:]
        indent = len(line) - len(line.lstrip())
        if not line.lstrip().startswith("#") or indent >= node.start_mark.column:
            break
        kept = kept[:begin].rstrip()
    return len(kept)
