"""
Kinds of values in a suite: how each is read from its node, and its JSON Schema.

A kind is a leaf with a function that reads it, a list or a mapping of a kind, branches by what kind of node is
written, or a `Shape`, which is a mapping with known keys. Reading goes on after a mistake, so that all are found.
"""

# Not of pydantic, with which a first model takes longer than all else that loads a small suite: scripts/bench/startup.

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NoReturn, Protocol, Self, TypeAlias

from harness.errors import ProblemCode
from harness.model.suite import Mark
from harness.suites.yaml import ListNode, MappingNode, Node, ScalarNode, describe
from harness.words import did_you_mean, find_nearest, one_of, unknown_key

Place: TypeAlias = tuple[int | str, ...]
"""The keys and indexes from the top of a suite to a value, with the branch that was taken where there are several."""

Schema: TypeAlias = dict[str, Any]


class Refused(Exception):
    """A value that cannot be read; *message* says what was found and expected, at *mark*."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.message = message
        self.mark = mark


def refuse(message: str, mark: Mark) -> NoReturn:
    """Fail to read a value, with a message at *mark*."""
    raise Refused(message, mark)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value at *place* that cannot be read, or is not there; *code* says which, for programs."""

    place: Place
    mark: Mark
    message: str
    code: ProblemCode


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that is not allowed in its mapping."""

    mark: Mark
    key: str
    known: tuple[str, ...]

    @property
    def meant(self) -> str | None:
        """The key that was probably meant."""
        return find_nearest(self.key, self.known)

    def __str__(self) -> str:
        return unknown_key(self.key, self.known)


@dataclass(slots=True)
class Mistakes:
    """What is wrong in a suite, in the order in which it was read."""

    found: list[Mistake] = field(default_factory=list)
    unknown: list[UnknownKey] = field(default_factory=list)

    def add(self, place: Place, node: Node, message: str, mark: Mark | None = None) -> None:
        """Add a mistake of *node*, at its own mark or at *mark*."""
        is_empty = isinstance(node, ScalarNode) and node.empty
        self.found.append(Mistake(place, mark or node.mark, message, "no-value" if is_empty else "invalid-value"))

    def add_unexpected(self, place: Place, node: Node, expected: str) -> None:
        """Add that *node* is not what is *expected*."""
        self.add(place, node, f"found {describe(node)}, expected {expected}")


class Kind(Protocol):
    """How a value is read and described. What is read has no meaning where there are mistakes."""

    def read(self, node: Node, mistakes: Mistakes, place: Place) -> Any:
        """The value of *node*, which stands at *place*."""

    def make_schema(self, definitions: dict[str, Schema]) -> Schema:
        """The JSON Schema of the value; shapes add theirs to *definitions*, and are named."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that a function reads from a node, or refuses."""

    read_node: Callable[[Any], Any]
    schema: Schema

    def read(self, node: Node, mistakes: Mistakes, place: Place) -> Any:
        """See `Kind`."""
        try:
            return self.read_node(node)
        except Refused as refusal:
            mistakes.add(place, node, refusal.message, refusal.mark)
            return None

    def make_schema(self, definitions: dict[str, Schema]) -> Schema:  # noqa: ARG002
        """See `Kind`."""
        return dict(self.schema)


def accept_words(words: list[str]) -> Leaf:
    """A leaf that is one of *words*, and suggests the nearest for any other; the first while its variable is unset."""
    schema: Schema = {"const": words[0]} if len(words) == 1 else {"enum": words}
    return Leaf(partial(_read_word, words=words), {**schema, "type": "string"})


def _read_word(node: Node, words: list[str]) -> str:
    expected = one_of(words)
    word = expect_scalar(node, expected)
    if word.unset:
        return words[0]
    if word not in words:
        refuse(f"found {describe(word)}, expected {expected}{did_you_mean(word, words)}", word.mark)
    return str(word)


def expect_scalar(node: Node, expected: str) -> ScalarNode:
    """*node* if it is a scalar that is not empty."""
    if not isinstance(node, ScalarNode) or node.empty:
        # An unquoted placeholder leaves an empty mapping behind.
        has_braces = isinstance(node, MappingNode) and not node
        hint = '; put {{text}} in quotes: "{{text}}"' if has_braces else ""
        refuse(f"found {describe(node)}, expected {expected}{hint}", node.mark)
    return node


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one kind."""

    item: Kind
    is_filled: bool = False
    """Whether the schema asks for an item."""

    def read(self, node: Node, mistakes: Mistakes, place: Place) -> list[Any]:
        """See `Kind`."""
        if not isinstance(node, ListNode):
            mistakes.add_unexpected(place, node, "a list")
            return []
        return [self.item.read(child, mistakes, (*place, index)) for index, child in enumerate(node)]

    def make_schema(self, definitions: dict[str, Schema]) -> Schema:
        """See `Kind`."""
        schema = {"items": self.item.make_schema(definitions), "type": "array"}
        return {"minItems": 1, **schema} if self.is_filled else schema


@dataclass(frozen=True, slots=True)
class MappingOf:
    """A mapping with keys of the user's own, and values of one kind."""

    key: Leaf
    value: Kind

    def read(self, node: Node, mistakes: Mistakes, place: Place) -> dict[Any, Any]:
        """See `Kind`."""
        if not isinstance(node, MappingNode):
            mistakes.add_unexpected(place, node, "a mapping")
            return {}
        values = {}
        for key, child in node.items():
            place_of_child = (*place, str(key))
            values[self.key.read(key, mistakes, place_of_child)] = self.value.read(child, mistakes, place_of_child)
        return values

    def make_schema(self, definitions: dict[str, Schema]) -> Schema:
        """See `Kind`."""
        return {"additionalProperties": self.value.make_schema(definitions) or True, "type": "object"}


TEXT_BRANCH, LIST_BRANCH, MAPPING_BRANCH = "<text>", "<list>", "<mapping>"


def _find_branch(node: Node) -> str:
    if isinstance(node, MappingNode):
        return MAPPING_BRANCH
    return LIST_BRANCH if isinstance(node, ListNode) else TEXT_BRANCH


@dataclass(frozen=True, slots=True)
class Branches:
    """A value of one of several kinds, by name; *expected* is the message if none fits the node."""

    expected: str
    kinds: Mapping[str, Kind]
    find_branch: Callable[[Node], str] = _find_branch

    def read(self, node: Node, mistakes: Mistakes, place: Place) -> Any:
        """See `Kind`."""
        branch = self.find_branch(node)
        kind = self.kinds.get(branch)
        if kind is None:
            mistakes.add_unexpected(place, node, self.expected)
            return None
        return kind.read(node, mistakes, (*place, branch))

    def make_schema(self, definitions: dict[str, Schema]) -> Schema:
        """See `Kind`."""
        return {"oneOf": [kind.make_schema(definitions) for kind in self.kinds.values()]}


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key of a shape: the *kind* of its value, and its *attribute*, which has *default* where it is not written."""

    kind: Kind
    description: str
    default: Any
    is_required: bool
    written: str
    attribute: str = ""


def key(kind: Kind, description: str, default: Any = None, *, is_required: bool = False, written: str = "") -> Any:
    """
    Declare an attribute of a shape, which is the key of the same name in a suite, or the key *written*.

    A default that could be changed is shared by all shapes, and nothing changes it.
    """
    return KnownKey(kind, description, default, is_required, written)


class Shape:
    """
    A mapping with known keys only.

    Its attributes are declared with `key`. Those that are written are in `vars(shape)`, all others have their defaults.
    """

    known_keys: ClassVar[dict[str, KnownKey]] = {}
    """The keys as a user writes them."""

    def __init_subclass__(cls) -> None:
        """Collect the keys, with those of the base, and put the defaults in their place."""
        cls.known_keys = dict(cls.known_keys)
        for attribute, declared in list(vars(cls).items()):
            if isinstance(declared, KnownKey):
                cls.known_keys[declared.written or attribute] = replace(declared, attribute=attribute)
                setattr(cls, attribute, declared.default)

    def __init__(self, **values: Any) -> None:
        """A shape with these *values* of its attributes."""
        vars(self).update(values)

    @classmethod
    def explain_mistake(cls, node: Node) -> str | None:  # noqa: ARG003
        """A message if *node* is a common mistake; overridden by shapes that know one."""
        return None

    @classmethod
    def read(cls, node: Node, mistakes: Mistakes, place: Place) -> Self | None:
        """See `Kind`; None where *node* is no mapping."""
        sentence = cls.explain_mistake(node)
        if sentence:
            mistakes.add(place, node, sentence)
            return None
        if not isinstance(node, MappingNode):
            mistakes.add_unexpected(place, node, f"a mapping with {', '.join(cls.known_keys)}")
            return None
        return cls.read_mapping(node, mistakes, place)

    @classmethod
    def read_mapping(cls, node: MappingNode, mistakes: Mistakes, place: Place) -> Self:
        """As `read`, for a mapping."""
        shape = cls()
        values = vars(shape)
        for name, child in node.items():
            known = cls.known_keys.get(name)
            if known is None:
                mistakes.unknown.append(UnknownKey(name.mark, str(name), tuple(cls.known_keys)))
            else:
                values[known.attribute] = known.kind.read(child, mistakes, (*place, str(name)))
        for required, known in cls.known_keys.items():
            if known.is_required and required not in node:
                message = f"the key {required!r} is missing"
                mistakes.found.append(Mistake((*place, required), node.mark, message, "missing-key"))
        return shape

    @classmethod
    def make_schema(cls, definitions: dict[str, Schema]) -> Schema:
        """See `Kind`."""
        if cls.__name__ not in definitions:
            definitions[cls.__name__] = cls.describe_keys(definitions)
        return {"$ref": f"#/$defs/{cls.__name__}"}

    @classmethod
    def describe_keys(cls, definitions: dict[str, Schema]) -> Schema:
        """The JSON Schema of the shape itself."""
        properties = {}
        for name, known in cls.known_keys.items():
            properties[name] = {"description": known.description, **known.kind.make_schema(definitions)}
            # No default, an empty list and an empty mapping say the same: there is nothing.
            if known.default not in (None, [], {}):
                properties[name]["default"] = known.default
        required = [name for name, known in cls.known_keys.items() if known.is_required]
        schema = {
            "description": cls.__doc__,
            "type": "object",
            "properties": properties,
            "additionalProperties": False,
        }
        return {**schema, "required": required} if required else schema
