"""
The options of a run: the type, the help and the entry points of each.

The fields of `RunOptions` are the one table. The options of the command, those of the pytest plugin with their ini
lines, and the checks of arguments in Python are made from it. `Options` repeats it for type checkers.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from enum import Enum, auto
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

from harness.errors import EntryPoint, Option, UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kind:
    """
    The type of an argument: *expected* in words, whether a value *fits*, *made* converts it; *optional*: or None.

    *each* is the type of the elements of a sequence.
    """

    expected: str
    fits: Callable[[Any], bool]
    made: Callable[[Any], Any] = lambda given: given
    optional: bool = False
    each: Kind | None = None


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda given: isinstance(given, types)


def _is_path(given: Any) -> bool:
    return isinstance(given, str | os.PathLike) and "\0" not in os.fsdecode(given)


def _is_sequence(given: Any) -> bool:
    """Whether *given* is an ordered collection: not one text, which iterates over letters, and not a set."""
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def _is_positive(given: Any) -> bool:
    is_number = not isinstance(given, bool) and isinstance(given, Real)
    return is_number and 0 < cast("float", given) <= sys.float_info.max


TEXT = Kind("a text", _is(str))
FLAG = Kind("True or False", _is(bool))
FILE = Kind("the path of a file", _is_path, lambda given: Path(os.fspath(given)))
FOLDER = Kind("the path of a folder", _is_path, lambda given: Path(os.fspath(given)))
WHOLE_NUMBER = Kind("a whole number", lambda given: isinstance(given, int) and not isinstance(given, bool))
COUNT = Kind("a whole number from 1 on", lambda given: WHOLE_NUMBER.fits(given) and given > 0)
SECONDS = Kind("a number of seconds above 0", _is_positive, float)
TAGS = Kind("a sequence of tags, such as ['head']", _is_sequence, tuple, each=TEXT)
VARIABLES = Kind("a sequence of names of variables, such as ['SHOP_LANGUAGE']", _is_sequence, tuple, each=TEXT)
IDS = Kind("a sequence of query ids, such as ['red-shoes']", _is_sequence, tuple, each=TEXT)
MEASURES = Kind("a sequence of measures, such as ['nDCG@10']", _is_sequence, tuple, each=TEXT)
DAY = Kind("a datetime.date without a time", lambda given: isinstance(given, date) and not isinstance(given, datetime))
CLIENT = Kind("a client object", lambda _: True)
SHARD = Kind("a part of the queries", lambda given: isinstance(given, Shard))
ENTRY = Kind("an EntryPoint", _is(EntryPoint))


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """Part *number*, from 1, of *parts* parts of each suite's queries, which are dealt out in turn."""

    number: int
    parts: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """
        Read a part from *text*.

        Raises:
            UsageError: *text* is not a part.

        >>> Shard.read("2/4")
        Shard(number=2, parts=4)
        """
        number, _, parts = text.partition("/")
        if not (
            text.isascii()
            and number.isdecimal()
            and parts.isdecimal()
            and 0 < len(parts) < 7
            and 1 <= int(number) <= int(parts)
        ):
            raise UsageError(f"found {text!r}, expected a part such as 2/4, the second of four")
        return cls(int(number), int(parts))

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"

    def take(self, queries: tuple[T, ...]) -> tuple[T, ...]:
        """
        The items of *queries* in this part.

        >>> Shard(2, 3).take(("a", "b", "c", "d", "e", "f", "g"))
        ('b', 'e')
        """
        return queries[self.number - 1 :: self.parts]


ALL_QUERIES = Shard(1, 1)


def read_seconds(text: str) -> float:
    """
    Read seconds from *text*.

    Raises:
        UsageError: *text* is not a finite number above 0.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not _is_positive(seconds):
        raise UsageError(f"found {text!r}, expected a number of seconds above 0, such as 60")
    return seconds


def read_count(text: str) -> int:
    """
    Read a number from *text*.

    Raises:
        UsageError: *text* is not a whole number from 1 on.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise UsageError(f"found {text!r}, expected a whole number from 1 on")
    return int(text)


class Commands(Enum):
    """Which commands have an option."""

    NONE = auto()
    OF_FILES = auto()
    """All commands that read suites, or ask an engine."""
    WITH_A_SERVER = auto()
    """All commands that ask an engine."""
    OF_SUITES = auto()
    """All commands that run suites."""
    OF_CELLS = auto()
    """All commands that run suites with several requests or on several indexes."""
    RUN = auto()
    """``harness run``."""


@dataclass(frozen=True, slots=True)
class RunOption:
    """
    One option: the *field* of `RunOptions`, its *kind*, its *help*.

    *word* is its name on command lines, where that differs from Python. *commands* have it, and *metavar* stands for
    its value in their help. If it may be repeated there, *several* names its values. The plugin has it on the command
    line if *pytest* or *ini* is true, and with *ini* as a line of the ini file too. Calls from Python accept it if
    *python* is true, and None for it if it is *optional*; `RunOptions` itself holds all options.
    """

    field: str
    kind: Kind
    help: str
    commands: Commands
    metavar: str | None
    word: str = ""
    several: str = ""
    pytest: bool = False
    ini: bool = False
    python: bool = True
    optional: bool = False

    @property
    def name(self) -> Option:
        """The option's names at all entry points."""
        return Option(self.word or self.field.replace("_", "-"), self.field)


def _option(
    default: Any,
    kind: Kind,
    help: str,
    commands: Commands = Commands.NONE,
    metavar: str | None = None,
    *,
    tells_apart: bool = True,
    **others: Any,
) -> Any:
    """
    A field of `RunOptions` with its row.

    Fields that do not distinguish runs, and clients, which have no value, are neither compared nor shown.
    """
    others = {"pytest": others.get("ini", False)} | others
    row = RunOption("", kind, help, commands, metavar, **others, optional=default is None)
    is_value = tells_apart and kind is not CLIENT
    return field(default=default, compare=is_value, repr=is_value, metadata={"row": row})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run, as the user gave them."""

    url: str | None = _option(
        None, TEXT, "Run on this server instead of the suites' own clusters.", Commands.WITH_A_SERVER, "URL", ini=True
    )
    embedded: bool = _option(False, FLAG, "Start an OpenSearch node and run on it.", Commands.WITH_A_SERVER, ini=True)
    engine_version: str | None = _option(
        None,
        TEXT,
        "The embedded node's version: 3.8 (the default) or 2.19.",
        Commands.WITH_A_SERVER,
        "VERSION",
        ini=True,
    )
    config: Path | None = _option(
        None,
        FILE,
        "The trusted configuration, instead of the harness.toml of the working directory or above it.",
        Commands.OF_FILES,
        "FILE",
        ini=True,
    )
    variables: tuple[str, ...] = _option(
        (),
        VARIABLES,
        "Let suites read this variable of the environment; may be repeated.",
        Commands.OF_FILES,
        "NAME",
        word="variable",
        several="variables",
        ini=True,
    )
    root: Path | None = _option(
        None,
        FOLDER,
        "Follow links of suites and their files into this folder too.",
        Commands.OF_SUITES,
        "DIR",
        ini=True,
        python=False,
        tells_apart=False,
    )
    listed_addresses: bool = _option(
        False,
        FLAG,
        "Refuse addresses that suites name, other than those of the trusted harness.toml and the command line.",
        Commands.WITH_A_SERVER,
        ini=True,
    )
    request: str | None = _option(
        None,
        TEXT,
        "Send the suites' request of this name; may be repeated.",
        Commands.OF_CELLS,
        "NAME",
        several="requests",
        ini=True,
    )
    index: str | None = _option(
        None,
        TEXT,
        "Search this index instead of the suites' own; may be repeated.",
        Commands.OF_CELLS,
        "NAME",
        several="indexes",
        ini=True,
    )
    cluster: str | None = _option(None, TEXT, "Run on the cluster of this name in harness.toml.")
    tags: tuple[str, ...] = _option(
        (),
        TAGS,
        "Run only queries with this tag; may be repeated.",
        Commands.OF_SUITES,
        "TAG",
        word="tag",
        several="tags",
        pytest=True,
    )
    queries: tuple[str, ...] = _option(
        (),
        IDS,
        "Run only the query with this id; may be repeated.",
        Commands.OF_SUITES,
        "ID",
        word="query",
        several="queries",
        pytest=True,
    )
    allow_write: bool = _option(
        False, FLAG, "Let suites build the index of their fixture.", Commands.OF_SUITES, ini=True
    )
    locate: bool = _option(True, FLAG, "Look with deeper searches for where missing documents rank.")
    baseline: Path | None = _option(
        None,
        FILE,
        "Compare with this baseline file, instead of the one beside the suite.",
        Commands.RUN,
        "FILE",
        pytest=True,
    )
    no_checks: bool = _option(
        False,
        FLAG,
        "Do not check that targets have the judged documents, and the fields that requests name.",
        Commands.OF_SUITES,
        ini=True,
    )
    save_baseline: bool = _option(
        False, FLAG, "The run becomes the baseline, so nothing is compared with the old one.", python=False
    )
    today: date | None = _option(None, DAY, "The day that decides which waivers hold; that of the clock where None.")
    budget: float | None = _option(
        None,
        SECONDS,
        "Stop sending queries of a suite after this many seconds; the rest did not run.",
        Commands.RUN,
        "SECONDS",
        ini=True,
    )
    repeat: int | None = _option(
        None,
        COUNT,
        "Search so many times, and decide nothing that is not the same each time.",
        Commands.RUN,
        "N",
        ini=True,
    )
    warm_up: int | None = _option(
        None,
        COUNT,
        "Send all queries so many times before, and throw the answers away; the suite says how often if this does not.",
        Commands.RUN,
        "N",
        ini=True,
    )
    journal: Path | None = _option(
        None,
        FILE,
        "Keep each response in this file as soon as it is there; otherwise beside the first report, until the end.",
        Commands.RUN,
        "FILE",
        python=False,
        tells_apart=False,
    )
    resume: bool = _option(
        False,
        FLAG,
        "Go on with the unfinished run in the journal, if it is one of the same suite, request, target and judgments.",
        Commands.RUN,
        python=False,
        tells_apart=False,
    )
    shard: Shard | None = _option(
        None,
        SHARD,
        "Send this part of the queries only, such as 2/4, and decide nothing; `harness merge` puts journals together.",
        Commands.RUN,
        "I/N",
        python=False,
    )
    strict_xfail: bool = _option(False, FLAG, "Count an unexpected pass as a failure.", Commands.RUN)
    report_only: bool = _option(
        False,
        FLAG,
        "Print all figures and decide nothing; end with 0 unless a suite is wrong (2) or no answer came (3).",
        Commands.RUN,
        python=False,
    )
    depth: int | None = _option(
        None, WHOLE_NUMBER, "Hits asked for, where that is more than the suite asks for.", python=False
    )
    unjudged: bool = _option(False, FLAG, "Run suites that score and have no judgment at all.", python=False)
    tails: bool = _option(
        False,
        FLAG,
        "Look for what ties with the last hits also where nothing is compared with a baseline.",
        python=False,
    )
    all_titles: bool = _option(
        True, FLAG, "Look up the titles of all hits, not only of the worst queries'.", python=False, tells_apart=False
    )
    titled: tuple[str, ...] = _option(
        (), IDS, "Documents whose titles are looked up, beside those of the hits.", python=False, tells_apart=False
    )
    client: Any = _option(None, CLIENT, "The user's own client object, in place of connections.")
    hooks: Any = _option(None, CLIENT, "The user's hooks; those of installed packages where None.", python=False)
    entry: EntryPoint = _option(EntryPoint.PYTHON, ENTRY, "Whose names of options messages have.", python=False)

    def searched(self) -> dict[str, str | bool] | None:
        """
        The given options that make a command search the same, by field; None where no command can.

        >>> RunOptions(url="http://localhost:9200", request="candidate", tags=("head",)).searched()
        {'url': 'http://localhost:9200', 'request': 'candidate'}
        """
        if self.client is not None or self.cluster is not None:
            return None
        given = {name: getattr(self, name) for name in SEARCHED_BY}
        return {name: value if isinstance(value, bool) else str(value) for name, value in given.items() if value}

    def day(self) -> date:
        """The day that decides which waivers are in force."""
        return self.today or date.today()

    def chosen(self) -> str:
        """
        The selected request and index, in words; empty where neither is given.

        >>> RunOptions(request="candidate", index="products_v2").chosen()
        'request candidate, index products_v2'
        """
        named = {"request": self.request, "index": self.index}
        return ", ".join(f"{what} {name}" for what, name in named.items() if name is not None)


OPTIONS: Mapping[str, RunOption] = {
    one.name: replace(one.metadata["row"], field=one.name) for one in fields(RunOptions)
}
"""The table, by field."""


class Options(TypedDict, total=False):
    """The options of one call of `Relevance.run`; `RunOptions` describes them."""

    url: str | None
    embedded: bool
    engine_version: str | None
    listed_addresses: bool
    request: str | None
    index: str | None
    config: str | os.PathLike[str] | None
    variables: tuple[str, ...] | list[str]
    cluster: str | None
    tags: tuple[str, ...] | list[str]
    queries: tuple[str, ...] | list[str]
    allow_write: bool
    locate: bool
    no_checks: bool
    baseline: str | os.PathLike[str] | None
    today: date | None
    strict_xfail: bool
    budget: float | None
    repeat: int | None
    warm_up: int | None
    client: Any


SEARCHED_BY = ("url", "embedded", "engine_version", "request", "index", "allow_write", "baseline")
"""The options that choose where a suite is searched, with which request, and what it is compared with."""


def option_words(given: Mapping[str, str | bool]) -> list[str]:
    """
    *given* options, by field, as words of a command.

    >>> option_words({"url": "http://shop", "allow_write": True})
    ['--url', 'http://shop', '--allow-write']
    """
    named = ((OPTIONS[field].name.name_in(EntryPoint.COMMAND), value) for field, value in given.items())
    return [word for name, value in named for word in ([name] if value is True else [name, str(value)])]


SENT_BY = (
    "url", "embedded", "engine_version", "request", "index", "tags", "queries", "allow_write", "no_checks", "budget",
    "warm_up", "listed_addresses", "config", "variables",
)  # fmt: skip
"""The options that decide what is sent, and where to."""

SERVERS = ("url", "cluster", "embedded", "client")
"""The options that name a server, of which only one may be given."""


def is_given(value: Any) -> bool:
    """Whether the *value* of such an option names a server; a client object of the user's may have no truth value."""
    return bool(value) if isinstance(value, bool | str) else value is not None


def check_servers(options: RunOptions) -> None:
    """
    Refuse options that name two servers, or a version without the embedded engine.

    Raises:
        UsageError: *options* do so.
    """
    named = [OPTIONS[name].name for name in SERVERS if is_given(getattr(options, name))]
    if len(named) > 1:
        raise UsageError(named[0], " and ", named[1], " name two engines; give one of them")
    if options.engine_version and not options.embedded:
        version, embedded = OPTIONS["engine_version"].name, OPTIONS["embedded"].name
        raise UsageError(version, " chooses the version of the embedded engine; give ", embedded, " too")


def baseline_refusal(file: Path | str | None, suites: int, how: str = "given") -> str:
    """
    Why *file*, the baseline that was named, cannot be that of so many *suites*; empty where it can.

    >>> baseline_refusal("kept.json", 2)
    'kept.json is the baseline of one suite, but 2 suites were given'
    """
    return "" if file is None or suites < 2 else f"{file} is the baseline of one suite, but {suites} suites were {how}"
