"""The tree of two requests: what both have is there once, and a switch stands where they differ. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.model.suite import Json


class _Absent:
    """What a place without a value builds."""


ABSENT: Any = _Absent()


class Node(Protocol):
    """A part of two requests."""

    def build(self, on: frozenset[int]) -> Json:
        """The part with the switches *on*; `ABSENT` where it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Same:
    """A part that both requests have."""

    value: Json

    def build(self, on: frozenset[int]) -> Json:  # noqa: ARG002
        """See `Node`."""
        return self.value


@dataclass(frozen=True, slots=True)
class Switch:
    """A part that differs."""

    number: int
    before: Json
    after: Json

    def build(self, on: frozenset[int]) -> Json:
        """See `Node`."""
        return self.after if self.number in on else self.before


@dataclass(frozen=True, slots=True)
class Members:
    """An object, without members that are not there."""

    nodes: Mapping[str, Node]

    def build(self, on: frozenset[int]) -> Json:
        """See `Node`."""
        built = {key: node.build(on) for key, node in self.nodes.items()}
        return {key: value for key, value in built.items() if value is not ABSENT}


@dataclass(frozen=True, slots=True)
class Items:
    """A list, without items that are not there."""

    nodes: Sequence[Node]
    bare: bool = False
    """Whether a single item stands by itself, without a list."""
    empty: Json = field(default_factory=list)
    """What is built where no item is there."""

    def build(self, on: frozenset[int]) -> Json:
        """See `Node`."""
        built = [value for value in (node.build(on) for node in self.nodes) if value is not ABSENT]
        if not built:
            return self.empty
        return built[0] if self.bare and len(built) == 1 else built


@dataclass(frozen=True, slots=True)
class Wrapping:
    """A clause that one of the requests has within another: the frame is there if any of *reasons* is."""

    inner: Node
    frame: Node
    """Has *inner* in it."""
    reasons: Sequence[Switch]

    def build(self, on: frozenset[int]) -> Json:
        """See `Node`."""
        is_there = any(reason.build(on) is not ABSENT for reason in self.reasons)
        return self.frame.build(on) if is_there else self.inner.build(on)


@dataclass(frozen=True, slots=True)
class WeightedField:
    """A field of a list of fields; *weight* builds None where it has none."""

    name: Node
    weight: Node

    def build(self, on: frozenset[int]) -> tuple[str, str | None] | Any:
        """The name and the weight; `ABSENT` where the field is not there."""
        name = self.name.build(on)
        return ABSENT if name is ABSENT else (name, self.weight.build(on))


@dataclass(frozen=True, slots=True)
class FieldList:
    """A list of fields with their weights, in one of the forms that engines have."""

    fields: Sequence[WeightedField]
    write: Callable[[Sequence[tuple[str, str | None]]], Json]
    bare: bool = False

    def build(self, on: frozenset[int]) -> Json:
        """See `Node`."""
        built = [pair for pair in (weighted.build(on) for weighted in self.fields) if pair is not ABSENT]
        written = self.write(built)
        return written[0] if self.bare and len(written) == 1 else written
