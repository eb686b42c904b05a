"""What the models of a suite share: known keys only, known words only, and one branch for each kind of node."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, ValidationInfo, model_validator

from harness.errors import did_you_mean, nearest
from harness.model import Mark
from harness.suites.leaves import expect_scalar, refuse
from harness.suites.nodes import ListNode, MappingNode, Node, describe


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that its mapping does not have."""

    mark: Mark
    key: str
    known: tuple[str, ...]

    @property
    def meant(self) -> str | None:
        """The key that was probably meant."""
        return nearest(self.key, self.known)

    def __str__(self) -> str:
        return f"unknown key {self.key!r}, expected {', '.join(self.known)}{did_you_mean(self.key, self.known)}"


class Shape(BaseModel):
    """A mapping with known keys only; unknown ones go to the list that is the context of the validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def known_keys(cls) -> list[str]:
        """The keys as a user writes them."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @classmethod
    def mistaken(cls, node: Node) -> str | None:  # noqa: ARG003
        """A sentence where *node* is something else that was only written like this; for shapes that know of one."""
        return None

    @model_validator(mode="before")
    @classmethod
    def _keep_known_keys(cls, node: Node, info: ValidationInfo) -> Node:
        known = cls.known_keys()
        sentence = cls.mistaken(node)
        if sentence:
            refuse(sentence, node.mark)
        if not isinstance(node, MappingNode):
            refuse(f"found {describe(node)}, expected a mapping with {', '.join(known)}", node.mark)
        kept = MappingNode(node.mark)
        unknown: list[UnknownKey] = info.context if isinstance(info.context, list) else []
        for key, value in node.items():
            if key in known:
                kept[key] = value
            else:
                unknown.append(UnknownKey(key.mark, str(key), tuple(known)))
        return kept


def _kind(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "<mapping>"
    return "<list>" if isinstance(node, ListNode) else "<text>"


def word_of(known: list[str]) -> BeforeValidator:
    """One of the *known* words, with the nearest for any other."""

    def read(node: Node) -> str | None:
        expected = ", ".join(known[:-1]) + " or " + known[-1]
        word = expect_scalar(node, expected)
        if word.unset:
            return known[0]
        if word not in known:
            refuse(f"found {describe(word)}, expected {expected}{did_you_mean(word, known)}", word.mark)
        return str(word)

    return BeforeValidator(read)


def either(expected: str) -> Discriminator:
    """Tells the branches of a union apart by what stands in the file; *expected* is said where it is none of them."""
    return Discriminator(_kind, custom_error_type="either", custom_error_message=expected)
