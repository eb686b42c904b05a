"""
What the core does without: each folder here has all of one extension, and can be taken away with its tests.

`NAMES` is the one table of them. Each says in the `EXTENSION` of its package what it adds to the core, as plain values:
the help reads all of them, so that such a package imports nothing but this module.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache

NAMES = (
    "sampling",
    "judging",
    "migrate",
    "history",
    "tuning",
    "compare",
    "distributed",
    "start",
    "workbench",
)
"""The folders, in the order of the help. Without its line an extension is not there."""


class Remedy(Enum):
    """What a sentence of the core says to do, if the extension is there whose command does it."""

    GRADE = auto()
    """Documents of a suite that nobody has judged."""
    POOL = auto()
    """Unjudged hits of suites, collected."""
    ASK_MACHINE = auto()
    """Documents that a machine has not graded yet."""
    DRAW_SAMPLE = auto()
    """A random sample of queries that people grade, drawn or opened again."""
    IMPORT = auto()
    """Grades of another system, with whose they are."""
    IMPORT_QUEPID = auto()
    """Ratings of Quepid."""
    EXPLAIN = auto()
    """Which difference between the request of a baseline and that of today moved the results."""
    EXPLAIN_FIXTURE = auto()
    """Which difference between the suite of another branch and that of today moved the results, of its fixture too."""
    MERGE = auto()
    """Journals of the parts of a run."""


@dataclass(frozen=True, slots=True)
class AddedCommand:
    """A command, which is `command` in its *module*; the help says the *sentence*, in the *group* of that title."""

    name: str
    group: str
    sentence: str
    module: str
    before: str = ""
    """The command of the core that it stands before; without one it stands at the end of its group."""


@dataclass(frozen=True, slots=True)
class AddedSubcommand:
    """A command in the *group* of the core, such as ``relevance baseline``; it is `command` in its *module*."""

    group: str
    name: str
    module: str


@dataclass(frozen=True, slots=True)
class AddedSchema:
    """The JSON Schema of a *kind* of file: what the *function* in *module* returns."""

    kind: str
    module: str
    function: str


@dataclass(frozen=True, slots=True)
class AddedMethod:
    """What a method of `harness.api.running.Relevance` does: it calls the *function* in *module*."""

    name: str
    module: str
    function: str


@dataclass(frozen=True, slots=True)
class AddedSide:
    """
    A form in which `relevance compare` takes a side: ``WORD:VALUE``, with the *word* of an extension.

    The *function* in *module* takes the value and the suite, and returns a side that is not searched.
    """

    word: str
    value: str
    """What is written behind the colon, such as N."""
    sentence: str
    """What it is, for the help."""
    module: str
    function: str


@dataclass(frozen=True, slots=True)
class AddedChooser:
    """
    What chooses requests by queries of a suite, so that these queries are no evidence for such a request.

    The *function* in *module* takes the suite and the fingerprint of a request. It returns the ids of the queries that
    chose the request, none where it was not chosen.
    """

    module: str
    function: str


@dataclass(frozen=True, slots=True)
class Step:
    """A command to go on with, and its purpose."""

    command: str
    purpose: str


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

    commands: tuple[AddedCommand, ...] = ()
    subcommands: tuple[AddedSubcommand, ...] = ()
    options: tuple[AddedOptions, ...] = ()
    schemas: tuple[AddedSchema, ...] = ()
    methods: tuple[AddedMethod, ...] = ()
    sides: tuple[AddedSide, ...] = ()
    choosers: tuple[AddedChooser, ...] = ()
    first_steps: tuple[Step, ...] = ()
    """What to do in a folder without suites."""
    steps: tuple[Step, ...] = ()
    """What to do in a folder with suites."""
    pages: tuple[str, ...] = ()
    """The pages of the documentation that go with it, in the folder docs."""
    remedies: Mapping[Remedy, str] = field(default_factory=dict)
    """Its commands that sentences of the core name, with words in braces for their arguments."""


@cache
def load_extensions() -> tuple[Extension, ...]:
    """What each extension adds, in the order of the table."""
    return tuple(importlib.import_module(f"harness.extensions.{name}").EXTENSION for name in NAMES)


def find_remedy(remedy: Remedy, sentence: str, **words: str) -> str:
    """
    The *sentence* with a command of an extension; empty if that extension is not there.

    Args:
        remedy: What the command does.
        sentence: It has {command} in the command's place.
        words: The arguments of the command, by their names.
    """
    command = find_command(remedy, **words)
    if not command:
        return ""
    return sentence.replace("{command}", command)


def find_command(remedy: Remedy, **words: str) -> str:
    """The command of an extension for a *remedy*, with *words* as its arguments; empty if there is none."""
    for extension in load_extensions():
        if remedy in extension.remedies:
            return extension.remedies[remedy].format(**words)
    return ""
