"""
What the core does without: each folder here has all of one extension, and can be taken away with its tests.

`NAMES` is the one table of them. Each says in the `EXTENSION` of its package what it adds to the core, as plain values:
the help reads all of them, so that such a package imports nothing but this module.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache

NAMES = ("distributed",)
"""The folders. Without its line an extension is not there."""


@dataclass(frozen=True, slots=True)
class AddedOption:
    """An option with a text as its value, which is None where it is not given."""

    word: str
    """Such as scheduler for ``--scheduler``."""
    metavar: str
    help: str

    @property
    def field(self) -> str:
        """The name of its value."""
        return self.word.replace("-", "_")


@dataclass(frozen=True, slots=True)
class AddedOptions:
    """
    The *options* that an extension adds to a *command* of the core.

    If one of them is given, the `command` of *module* is called in place of the command's own function, with the values
    of all options.
    """

    command: str
    module: str
    options: tuple[AddedOption, ...]


@dataclass(frozen=True, slots=True)
class Extension:
    """What an extension adds to the core; modules are named, and imported when they are used."""

    options: tuple[AddedOptions, ...] = ()


@cache
def load_extensions() -> tuple[Extension, ...]:
    """What each extension adds, in the order of the table."""
    return tuple(importlib.import_module(f"harness.extensions.{name}").EXTENSION for name in NAMES)
