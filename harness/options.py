"""
The options of a run: the type, the help and the entry points of each.

A field of `RunOptions` is the one place of an option: its type, its default and all that `RunOption` says of it. The
options of the command, those of the pytest plugin with their ini lines, and the checks of arguments in Python are made
from it. Only their types for type checkers stand a second time, in `Options` of `harness.api.choices`.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from enum import Enum, auto
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar, cast

from harness.errors import EntryPoint, Option, UsageError

T = TypeVar("T")


def _keep(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """The type of an argument."""

    expected: str
    """What is expected, in words."""
    accepts: Callable[[Any], bool]
    """Whether a value is of this type."""
    convert: Callable[[Any], Any] = _keep
    """Makes the option's value of one that is accepted."""
    optional: bool = False
    """Whether None is accepted too."""
    element: ArgumentKind | None = None
    """The type of the elements of a sequence."""
    read: Callable[[str], Any] | None = None
    """Reads a value from a text of a command line, where that is not the text itself."""
    json: tuple[type, ...] = (str,)
    """The types that a value has in JSON; a list holds texts."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and "\0" not in os.fsdecode(value)


def _make_path(value: Any) -> Path:
    return Path(os.fspath(value))


def _is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole_number(value) and value > 0


def _is_positive(value: Any) -> bool:
    is_number = not isinstance(value, bool) and isinstance(value, Real)
    return is_number and 0 < cast("float", value) <= sys.float_info.max


def _is_sequence(value: Any) -> bool:
    """Whether *value* is an ordered collection: not one text, which iterates over letters, and not a set."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_day(value: Any) -> bool:
    # A datetime is a date too, for Python.
    return isinstance(value, date) and not isinstance(value, datetime)


def _is_shard(value: Any) -> bool:
    return isinstance(value, Shard)


def _is_entry_point(value: Any) -> bool:
    return isinstance(value, EntryPoint)


def accept_all(value: Any) -> bool:  # noqa: ARG001
    """Any value is accepted: what it is used for checks it."""
    return True


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
        are_numbers = text.isascii() and number.isdecimal() and parts.isdecimal() and len(parts) < 7
        if not are_numbers or not 1 <= int(number) <= int(parts):
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


TEXT = ArgumentKind("a text", _is_text)
FLAG = ArgumentKind("True or False", _is_flag, json=(bool,))
FILE = ArgumentKind("the path of a file", _is_path, _make_path)
FOLDER = ArgumentKind("the path of a folder", _is_path, _make_path)
NEW_FOLDER = ArgumentKind("the path of a folder, new or not", _is_path, _make_path)
WHOLE_NUMBER = ArgumentKind("a whole number", _is_whole_number)
COUNT = ArgumentKind("a whole number from 1 on", _is_count, read=read_count, json=(int,))
SECONDS = ArgumentKind("a number of seconds above 0", _is_positive, float, read=read_seconds, json=(int, float))
TAGS = ArgumentKind("a sequence of tags, such as ['head']", _is_sequence, tuple, element=TEXT, json=(list,))
VARIABLES = ArgumentKind(
    "a sequence of names of variables, such as ['SHOP_LANGUAGE']", _is_sequence, tuple, element=TEXT, json=(list,)
)
IDS = ArgumentKind("a sequence of query ids, such as ['red-shoes']", _is_sequence, tuple, element=TEXT, json=(list,))
MEASURE_NAMES = ArgumentKind(
    "a sequence of measures, such as ['nDCG@10']", _is_sequence, tuple, element=TEXT, json=(list,)
)
DAY = ArgumentKind("a datetime.date without a time", _is_day)
BODY = ArgumentKind("the body of _search as a dict", _is_mapping, deepcopy)
CLIENT = ArgumentKind("a client object", accept_all)
SHARD = ArgumentKind("a part of the queries", _is_shard)
ENTRY = ArgumentKind("an EntryPoint", _is_entry_point)


ALL_QUERIES = Shard(1, 1)


class Heading(Enum):
    """Under which heading of a command's help an option stands, in this order."""

    DAILY = "Options"
    TRUST = "Trust"
    RARE = "Rare"


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
    """``relevance run``."""


@dataclass(frozen=True, slots=True)
class RunOption:
    """One option of a run, and which entry points have it."""

    field: str
    """Its name in `RunOptions` and in Python."""
    kind: ArgumentKind
    help: str
    commands: Commands = Commands.NONE
    """The commands that have it."""
    metavar: str | None = None
    """What stands for its value in the help of commands and of pytest."""
    word: str = ""
    """Its name on command lines, if that differs from Python."""
    several: str = ""
    """The name of its values, if it may be repeated on command lines."""
    pytest: bool = False
    """Whether pytest has it on its command line."""
    ini: bool = False
    """Whether pytest has it as a line of the ini file."""
    python: bool = True
    """Whether calls from Python accept it."""
    optional: bool = False
    """Whether these accept None for it."""
    heading: Heading = Heading.DAILY
    names_server: bool = False
    """Whether it names a server."""
    searches: bool = False
    """Whether it chooses where a suite is searched, with which request, or what it is compared with."""
    sends: bool = False
    """Whether it decides what is sent, or where to."""
    decides: bool = False
    """Whether it affects only how responses are decided."""

    @property
    def name(self) -> Option:
        """The option's names at all entry points."""
        return Option(self.word or self.field.replace("_", "-"), self.field)


def _option(kind: ArgumentKind, help: str, *, default: Any = None, compare: bool = True, **attributes: Any) -> Any:
    """
    A field of `RunOptions`; *attributes* are those of `RunOption`.

    One that does not distinguish runs is neither compared nor shown.
    """
    option = RunOption("", kind, help, optional=default is None, **attributes)
    return field(default=default, compare=compare, repr=compare, metadata={"option": option})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run, as the user gave them; `OPTIONS` has what each of these fields says of its option."""

    url: str | None = _option(
        TEXT,
        "Run on this server instead of the suites' own clusters.",
        commands=Commands.WITH_A_SERVER,
        metavar="URL",
        pytest=True,
        ini=True,
        names_server=True,
        searches=True,
        sends=True,
    )
    embedded: bool = _option(
        FLAG,
        "Run on an OpenSearch node that is started for it, or on that of `relevance engine up`.",
        default=False,
        commands=Commands.WITH_A_SERVER,
        pytest=True,
        ini=True,
        names_server=True,
        searches=True,
        sends=True,
    )
    engine_version: str | None = _option(
        TEXT,
        "The embedded node's version: 3.8 (the default) or 2.19.",
        commands=Commands.WITH_A_SERVER,
        heading=Heading.RARE,
        metavar="VERSION",
        pytest=True,
        ini=True,
        searches=True,
        sends=True,
    )
    config: Path | None = _option(
        FILE,
        "The trusted configuration, instead of the relevance.toml of the working directory or above it.",
        commands=Commands.OF_FILES,
        heading=Heading.TRUST,
        metavar="FILE",
        pytest=True,
        ini=True,
        sends=True,
    )
    variables: tuple[str, ...] = _option(
        VARIABLES,
        "Let suites read this variable of the environment, or those of a pattern such as SHOP_*; may be repeated.",
        default=(),
        commands=Commands.OF_FILES,
        heading=Heading.TRUST,
        metavar="NAME",
        word="variable",
        several="variables",
        pytest=True,
        ini=True,
        sends=True,
    )
    listed_addresses: bool = _option(
        FLAG,
        "Refuse addresses that suites name, other than those of the trusted relevance.toml and the command line.",
        default=False,
        commands=Commands.WITH_A_SERVER,
        heading=Heading.TRUST,
        pytest=True,
        ini=True,
        sends=True,
    )
    request: str | None = _option(
        TEXT,
        "Send the suites' request of this name; may be repeated.",
        commands=Commands.OF_CELLS,
        metavar="NAME",
        several="requests",
        pytest=True,
        ini=True,
        searches=True,
        sends=True,
    )
    index: str | None = _option(
        TEXT,
        "Search this index instead of the suites' own; may be repeated.",
        commands=Commands.OF_CELLS,
        metavar="NAME",
        several="indexes",
        pytest=True,
        ini=True,
        searches=True,
        sends=True,
    )
    cluster: str | None = _option(TEXT, "Run on the cluster of this name in relevance.toml.", names_server=True)
    tags: tuple[str, ...] = _option(
        TAGS,
        "Run only queries with this tag; may be repeated.",
        default=(),
        commands=Commands.OF_SUITES,
        metavar="TAG",
        word="tag",
        several="tags",
        pytest=True,
        sends=True,
    )
    queries: tuple[str, ...] = _option(
        IDS,
        "Run only the query with this id; may be repeated.",
        default=(),
        commands=Commands.OF_SUITES,
        metavar="ID",
        word="query",
        several="queries",
        pytest=True,
        sends=True,
    )
    allow_write: bool = _option(
        FLAG,
        "Let suites build the index of their fixture.",
        default=False,
        commands=Commands.OF_SUITES,
        heading=Heading.TRUST,
        pytest=True,
        ini=True,
        searches=True,
        sends=True,
    )
    locate: bool = _option(
        FLAG, "Look with deeper searches for where missing documents rank. Default: True.", default=True
    )
    baseline: Path | None = _option(
        FILE,
        "Compare with this baseline file, instead of the one beside the suite.",
        commands=Commands.RUN,
        metavar="FILE",
        pytest=True,
        searches=True,
        decides=True,
    )
    history: Path | None = _option(
        NEW_FOLDER,
        "Keep each whole run in this folder, for its history and thresholds `since` earlier runs.",
        commands=Commands.RUN,
        metavar="DIR",
        pytest=True,
        ini=True,
        decides=True,
    )
    no_checks: bool = _option(
        FLAG,
        "Do not check that targets have the judged documents, and the fields that requests name.",
        default=False,
        commands=Commands.OF_SUITES,
        heading=Heading.RARE,
        pytest=True,
        ini=True,
        sends=True,
    )
    root: Path | None = _option(
        FOLDER,
        "Follow links of suites and their files into this folder too.",
        commands=Commands.OF_SUITES,
        heading=Heading.TRUST,
        metavar="DIR",
        pytest=True,
        ini=True,
        python=False,
        compare=False,
    )
    save_baseline: bool = _option(
        FLAG, "The run becomes the baseline, so nothing is compared with the old one.", default=False, python=False
    )
    today: date | None = _option(DAY, "The day on which `xfail` and `skip` are judged; by default today.")
    budget: float | None = _option(
        SECONDS,
        "Stop sending queries of a suite after this many seconds; the remaining ones did not run.",
        commands=Commands.RUN,
        heading=Heading.RARE,
        metavar="SECONDS",
        pytest=True,
        ini=True,
        sends=True,
    )
    repeat: int | None = _option(
        COUNT,
        "Search N times; a threshold that passes in some of them only is inconclusive.",
        commands=Commands.RUN,
        heading=Heading.RARE,
        metavar="N",
        pytest=True,
        ini=True,
    )
    warm_up: int | None = _option(
        COUNT,
        "Send all queries N times before the run, to warm caches, in place of the suites' `warm_up`.",
        commands=Commands.RUN,
        heading=Heading.RARE,
        metavar="N",
        pytest=True,
        ini=True,
        sends=True,
    )
    journal: Path | None = _option(
        FILE,
        "Keep each response in this file as it arrives; without it, beside the first report until that is written.",
        commands=Commands.RUN,
        heading=Heading.RARE,
        metavar="FILE",
        python=False,
        compare=False,
    )
    resume: bool = _option(
        FLAG,
        "Continue the unfinished run in the journal, if suite, request, target and judgments are the same.",
        default=False,
        commands=Commands.RUN,
        heading=Heading.RARE,
        python=False,
        compare=False,
    )
    shard: Shard | None = _option(
        SHARD,
        "The part of the queries that is sent.",
        python=False,
    )
    strict_xfail: bool = _option(
        FLAG,
        "Count an unexpected pass as a failure.",
        default=False,
        commands=Commands.RUN,
        heading=Heading.RARE,
        decides=True,
    )
    no_intervals: bool = _option(
        FLAG,
        "Show means without their intervals.",
        default=False,
        commands=Commands.RUN,
        heading=Heading.RARE,
        pytest=True,
        ini=True,
        decides=True,
    )
    report_only: bool = _option(
        FLAG,
        "Print all figures and decide nothing; end with 0 unless a suite is wrong (2) or no answer came (3).",
        default=False,
        commands=Commands.RUN,
        heading=Heading.RARE,
        python=False,
        decides=True,
    )
    depth: int | None = _option(
        WHOLE_NUMBER, "Hits asked for, where that is more than the suite asks for.", python=False
    )
    unjudged: bool = _option(FLAG, "Run suites that score and have no judgment at all.", default=False, python=False)
    tails: bool = _option(
        FLAG,
        "Look for what ties with the last hits also where nothing is compared with a baseline.",
        default=False,
        python=False,
    )
    all_titles: bool = _option(
        FLAG,
        "Look up the titles of all hits, not only of the worst queries'.",
        default=True,
        python=False,
        compare=False,
    )
    titled: tuple[str, ...] = _option(
        IDS, "Documents whose titles are looked up, beside those of the hits.", default=(), python=False, compare=False
    )
    client: Any = _option(
        CLIENT, "The user's own client object, in place of connections.", names_server=True, compare=False
    )
    body: Mapping[str, Any] | None = _option(BODY, "The body of _search that is sent in place of that of the request.")
    hooks: Any = _option(
        CLIENT, "The user's hooks; those of installed packages where None.", python=False, compare=False
    )
    keeps_cluster: bool = _option(
        FLAG,
        "Whether the request keeps a cluster of its own, although the user named a server.",
        default=False,
        python=False,
        compare=False,
    )
    entry: EntryPoint = _option(ENTRY, "Whose names of options messages have.", default=EntryPoint.PYTHON, python=False)

    @property
    def names_server(self) -> bool:
        """Whether a server is named, which takes the place of the clusters of suites."""
        return any(is_given(getattr(self, name)) for name in SERVER_OPTIONS)

    def without_server(self) -> RunOptions:
        """The options without those that name a server."""
        return replace(self, url=None, cluster=None, embedded=False, engine_version=None, client=None)

    def searched(self) -> dict[str, str | bool] | None:
        """
        The given options that make a command search the same, by field; None where no command can.

        >>> RunOptions(url="http://localhost:9200", request="candidate", tags=("head",)).searched()
        {'url': 'http://localhost:9200', 'request': 'candidate'}
        """
        if self.client is not None or self.cluster is not None or self.body is not None:
            return None
        options: dict[str, str | bool] = {}
        for name in SEARCH_OPTIONS:
            value = getattr(self, name)
            if value:
                options[name] = value if isinstance(value, bool) else str(value)
        return options

    def day(self) -> date:
        """The day that decides which waivers are in force."""
        return self.today or date.today()

    def chosen(self) -> str:
        """
        The selected request and index, in words; empty where neither is given.

        >>> RunOptions(request="candidate", index="products_v2").chosen()
        'request candidate, index products_v2'
        """
        names = {"request": self.request, "index": self.index}
        return ", ".join(f"{what} {name}" for what, name in names.items() if name is not None)


OPTIONS: Mapping[str, RunOption] = {
    field.name: replace(field.metadata["option"], field=field.name) for field in fields(RunOptions)
}
"""The options by field, in the order in which help lists them."""


SEARCH_OPTIONS = tuple(option.field for option in OPTIONS.values() if option.searches)
"""The options that choose where a suite is searched, with which request, and what it is compared with."""


def format_options(given: Mapping[str, str | bool]) -> list[str]:
    """
    *given* options, by field, as words of a command.

    >>> format_options({"url": "http://shop", "allow_write": True})
    ['--url', 'http://shop', '--allow-write']
    """
    words: list[str] = []
    for name, value in given.items():
        words.append(OPTIONS[name].name.name_in(EntryPoint.COMMAND))
        if value is not True:
            words.append(str(value))
    return words


SENDING_OPTIONS = tuple(option.field for option in OPTIONS.values() if option.sends)
"""The options that decide what is sent, and where to."""

SERVER_OPTIONS = tuple(option.field for option in OPTIONS.values() if option.names_server)
"""The options that name a server, of which only one may be given."""

DECIDING_OPTIONS = tuple(option.field for option in OPTIONS.values() if option.decides)
"""The options that only affect how responses are decided."""


def is_given(value: Any) -> bool:
    """Whether the *value* of such an option names a server; a client object of the user's may have no truth value."""
    return bool(value) if isinstance(value, bool | str) else value is not None


def check_servers(options: RunOptions) -> None:
    """
    Refuse options that name two servers, or a version without the embedded engine.

    Raises:
        UsageError: *options* do so.
    """
    named = [OPTIONS[name].name for name in SERVER_OPTIONS if is_given(getattr(options, name))]
    if len(named) > 1:
        raise UsageError(named[0], " and ", named[1], " name two engines; give one of them")
    if options.engine_version and not options.embedded:
        version, embedded = OPTIONS["engine_version"].name, OPTIONS["embedded"].name
        raise UsageError(version, " chooses the version of the embedded engine; give ", embedded, " too")


def explain_baseline_refusal(file: Path | str | None, suites: int, how: str = "given") -> str:
    """
    Why *file*, the baseline that was named, cannot be that of so many *suites*; empty where it can.

    >>> explain_baseline_refusal("kept.json", 2)
    'kept.json is the baseline of one suite, but 2 suites were given'
    """
    if file is None or suites < 2:
        return ""
    return f"{file} is the baseline of one suite, but {suites} suites were {how}"
