"""Vectors that are written in a request: the page shows `[768 numbers]`, what is sent and what is written has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import yaml

from harness.errors import Problem, SuiteError
from harness.files.editing import Edit, apply_edits, compose_nodes, replace_node
from harness.masking import is_vector
from harness.suites.request_texts import TEXT
from harness.suites.yaml import resolve

Read = TypeVar("Read")

_LIKE_PLACEHOLDER = re.compile(r"\d+\s*num\w*\b.*", re.DOTALL)
"""What a placeholder is, or was before somebody edited it."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a suite's requests, each as a list on one line, by the placeholder that stands for it."""

    by_placeholder: Mapping[str, str]

    @classmethod
    def collect(cls, texts: Iterable[str]) -> Vectors:
        """Those in *texts*, requests as they are written; one of a length that another has gets a number behind it."""
        found: dict[str, str] = {}
        for text in texts:
            for node in _iterate_vectors(text):
                vector = _format_vector(node)
                number = 1
                placeholder = words = f"[{len(node.value)} numbers]"
                while found.get(placeholder, vector) != vector:
                    number += 1
                    placeholder = f"{words[:-1]} ({number})]"
                found[placeholder] = vector
        return cls(found)

    def hide(self, text: str) -> str:
        """*text* with placeholders."""
        if not self.by_placeholder:
            return text
        placeholders = {vector: placeholder for placeholder, vector in self.by_placeholder.items()}
        edits = []
        for node in _iterate_vectors(text):
            placeholder = placeholders.get(_format_vector(node))
            if placeholder is not None:
                edits.append(replace_node(text, node, placeholder))
        return apply_edits(text, edits)

    def restore(self, text: str) -> str:
        """
        *text* with the vectors in the places of their placeholders.

        Raises:
            SuiteError: A placeholder was edited.
        """
        return apply_edits(text, self._list_edits(text))

    def read(self, text: str, read: Callable[[str], Read]) -> Read:
        """What *read* makes of *text* with its vectors; problems that it raises are at the places of *text* itself."""
        edits = self._list_edits(text)
        try:
            return read(apply_edits(text, edits))
        except SuiteError as error:
            if not edits:
                raise
            raise SuiteError([_move_back(problem, text, edits) for problem in error.problems]) from None

    def _list_edits(self, text: str) -> list[Edit]:
        """What takes the places of the placeholders; raises SuiteError where one was edited."""
        if not self.by_placeholder or "num" not in text:
            return []
        try:
            root = compose_nodes(text)
        except yaml.YAMLError:
            # Whoever reads the text says where it is wrong.
            return []
        edits = []
        placed: set[int] = set()
        for node in _iterate_nodes(root):
            is_list = isinstance(node, yaml.SequenceNode) and len(node.value) == 1
            item = node.value[0] if is_list else node
            if not isinstance(item, yaml.ScalarNode) or item.style or id(item) in placed:
                continue
            if is_list and f"[{item.value}]" in self.by_placeholder:
                placed.add(id(item))
                edits.append(replace_node(text, node, self.by_placeholder[f"[{item.value}]"]))
            elif _LIKE_PLACEHOLDER.fullmatch(item.value):
                place = node.start_mark
                known = ", ".join(self.by_placeholder)
                message = f"found {item.value!r}, expected {known} as it was: a vector cannot be edited here"
                raise SuiteError([Problem(TEXT, place.line + 1, place.column + 1, message)])
        return edits


def _iterate_vectors(text: str) -> Iterator[Any]:
    """The nodes of the vectors in *text*; none in one that is no YAML."""
    try:
        root = compose_nodes(text)
    except yaml.YAMLError:
        return
    for node in _iterate_nodes(root):
        is_list = isinstance(node, yaml.SequenceNode)
        if not is_list or not all(isinstance(item, yaml.ScalarNode) for item in node.value):
            continue
        if is_vector([item.value if item.style else resolve(item.value) for item in node.value]):
            yield node


def _iterate_nodes(root: Any) -> Iterator[Any]:
    """*root* and what is below it, each before what is below itself; one that aliases stand for once."""
    seen: set[int] = set()
    waiting = [] if root is None else [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [value for _, value in reversed(node.value)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)


def _format_vector(node: Any) -> str:
    return "[" + ", ".join(item.value for item in node.value) + "]"


def _move_back(problem: Problem, text: str, edits: Iterable[Edit]) -> Problem:
    """*problem*, whose column counts what the vectors of *edits* have more than their placeholders."""
    added = 0
    for begin, end, vector in sorted(edits):
        line, column = text.count("\n", 0, begin) + 1, begin - text.rfind("\n", 0, begin)
        if line != problem.line or problem.column <= column + added:
            continue
        if problem.column < column + added + len(vector):
            return replace(problem, column=column)
        added += len(vector) - (end - begin)
    return replace(problem, column=problem.column - added)
