"""What calls of a language model cost, before and after they are sent. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.extensions.judging.machine.prompt import Message
from harness.extensions.judging.machine.reading import Tokens
from harness.model.suite import Json

MILLION = 1_000_000

BYTES_PER_TOKEN = 4
"""Of English text; other texts have more tokens."""

TOKENS_AROUND = 16
"""Tokens that the template of a chat adds to a message, at most."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens, of those sent and those of answers, in any currency."""

    input: float
    output: float

    def compute_cost(self, tokens: Tokens) -> float:
        """
        The price of *tokens*.

        >>> Prices(0.5, 1.5).compute_cost(Tokens(2_000_000, 1_000_000))
        2.5
        """
        return (tokens.input * self.input + tokens.output * self.output) / MILLION


def estimate_input(messages: Sequence[Message], schema: Json = None) -> int:
    """
    About how many tokens *messages* with *schema* have.

    >>> estimate_input([Message("user", "red running shoes")])
    21
    """
    return TOKENS_AROUND * len(messages) + math.ceil(_count_bytes(messages, schema) / BYTES_PER_TOKEN)


def bound_input(messages: Sequence[Message], schema: Json = None) -> int:
    """
    A number of tokens that *messages* with *schema* do not exceed: models read texts by bytes at worst.

    >>> bound_input([Message("user", "red running shoes")])
    33
    """
    return TOKENS_AROUND * len(messages) + _count_bytes(messages, schema)


def _count_bytes(messages: Sequence[Message], schema: Json) -> int:
    """The bytes of *messages* and of *schema*, as they are sent."""
    size = sum(len(message.content.encode(errors="replace")) for message in messages)
    if schema is not None:
        size += len(json.dumps(schema))
    return size


@dataclass(slots=True)
class Budget:
    """
    What may still be spent: each call reserves the most that it can cost, and gives back what it did not.

    So calls that are under way together cannot exceed *limit* either.
    """

    prices: Prices | None = None
    limit: float | None = None
    """In the currency of *prices*; None for no limit."""
    spent: Tokens = field(default_factory=Tokens)
    """Of the calls that have ended."""
    reserved: Tokens = field(default_factory=Tokens)
    """Of those under way."""

    def reserve(self, tokens: Tokens) -> bool:
        """Whether a call of at most *tokens* may be sent; then they are reserved."""
        if self.prices is not None and self.limit is not None:
            committed = self.spent + self.reserved + tokens
            if self.prices.compute_cost(committed) > self.limit:
                return False
        self.reserved += tokens
        return True

    def charge(self, reserved: Tokens, used: Tokens) -> None:
        """Record that a call, for which tokens were *reserved*, has ended and has *used* these."""
        self.reserved = Tokens(self.reserved.input - reserved.input, self.reserved.output - reserved.output)
        self.spent += used

    @property
    def cost(self) -> float | None:
        """The cost of the calls that have ended; None without prices."""
        if self.prices is None:
            return None
        return self.prices.compute_cost(self.spent)
