"""What a suite file is made of before it is given a shape: scalars, mappings and lists, each with its mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.errors import Problem
from harness.model import Mark


class Written(str):
    """
    A scalar as it stands in the file, so that an id `007` or `1.10` stays what it is.

    *plain* says that it has no quotes, only then it may mean a number. *raw* is the text before variables were put
    in, *variables* are their names, *unset* those that have no value yet. *whole* says that it is one variable and
    nothing else. *masked* is the text with ``${NAME}`` for each value from the environment that may be a secret.
    """

    __slots__ = ("mark", "masked", "plain", "raw", "unset", "variables", "whole")

    mark: Mark
    plain: bool
    raw: str
    masked: str
    variables: tuple[str, ...]
    unset: tuple[str, ...]
    whole: bool

    def __new__(cls, text: str, mark: Mark, *, plain: bool) -> Written:
        """*text* as it stands at *mark*, no variable looked for in it yet."""
        written = super().__new__(cls, text)
        written.mark = mark
        written.plain = plain
        written.raw = written.masked = text
        written.variables = written.unset = ()
        written.whole = False
        return written

    def filled(
        self, text: str, masked: str, variables: tuple[str, ...], unset: tuple[str, ...], *, whole: bool
    ) -> Written:
        """The same scalar with its variables replaced: now it reads *text*, and *masked* where it is kept."""
        written = Written(text, self.mark, plain=self.plain)
        written.masked = masked
        written.raw, written.variables, written.unset, written.whole = self.raw, variables, unset, whole
        return written

    @property
    def empty(self) -> bool:
        """Whether nothing was written at all, as after `key:`."""
        return self.plain and not self.raw


class MappingNode(dict[Written, Any]):
    """A mapping; its keys are scalars with marks. What stands behind a key once more is in *repeats*."""

    __slots__ = ("mark", "repeats")

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark
        self.repeats: list[Repeat] = []

    def key(self, text: str) -> Written:
        """The key *text* as it stands in the file."""
        return next(key for key in self if key == text)

    def child(self, key: str) -> Any:
        """The node below *key*, None where there is no such key."""
        return next((value for name, value in self.items() if name == key), None)


class ListNode(list[Any]):
    """A list."""

    __slots__ = ("mark",)

    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark


Node: TypeAlias = Written | MappingNode | ListNode


@dataclass(frozen=True, slots=True)
class Repeat:
    """A pair whose *key* its mapping has already, and the *problem* that this is."""

    key: Written
    value: Node
    problem: Problem


def describe(node: Node) -> str:
    """What was found, for an error: ``a list``, ``'abc'``, ``nothing``."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, ListNode):
        return "a list"
    return "nothing" if node.empty else repr(shortened(node.raw))


def shortened(text: str, length: int = 60) -> str:
    """*text*, cut where it is too long for a sentence."""
    return text if len(text) <= length else text[: length - 1] + "…"
