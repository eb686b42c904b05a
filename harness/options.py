"""
The options of a run: the type, the help and the entry points of each.

`OPTIONS` is the one table. The options of the command, those of the pytest plugin with their ini lines, and the checks
of arguments in Python are made from it. `RunOptions` has the values, and `Options` the types of arguments in Python.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum, auto
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

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


TEXT = ArgumentKind("a text", _is_text)
FLAG = ArgumentKind("True or False", _is_flag)
FILE = ArgumentKind("the path of a file", _is_path, _make_path)
FOLDER = ArgumentKind("the path of a folder", _is_path, _make_path)
NEW_FOLDER = ArgumentKind("the path of a folder, new or not", _is_path, _make_path)
WHOLE_NUMBER = ArgumentKind("a whole number", _is_whole_number)
COUNT = ArgumentKind("a whole number from 1 on", _is_count)
SECONDS = ArgumentKind("a number of seconds above 0", _is_positive, float)
TAGS = ArgumentKind("a sequence of tags, such as ['head']", _is_sequence, tuple, element=TEXT)
VARIABLES = ArgumentKind(
    "a sequence of names of variables, such as ['SHOP_LANGUAGE']", _is_sequence, tuple, element=TEXT
)
IDS = ArgumentKind("a sequence of query ids, such as ['red-shoes']", _is_sequence, tuple, element=TEXT)
MEASURES = ArgumentKind("a sequence of measures, such as ['nDCG@10']", _is_sequence, tuple, element=TEXT)
DAY = ArgumentKind("a datetime.date without a time", _is_day)
BODY = ArgumentKind("the body of _search as a dict", _is_mapping, deepcopy)
CLIENT = ArgumentKind("a client object", accept_all)
SHARD = ArgumentKind("a part of the queries", _is_shard)
ENTRY = ArgumentKind("an EntryPoint", _is_entry_point)


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

    @property
    def name(self) -> Option:
        """The option's names at all entry points."""
        return Option(self.word or self.field.replace("_", "-"), self.field)


_TABLE = (
    RunOption(
        "url",
        TEXT,
        "Run on this server instead of the suites' own clusters.",
        commands=Commands.WITH_A_SERVER,
        metavar="URL",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "embedded",
        FLAG,
        "Run on an OpenSearch node that is started for it, or on that of `relevance engine up`.",
        commands=Commands.WITH_A_SERVER,
        pytest=True,
        ini=True,
    ),
    RunOption(
        "engine_version",
        TEXT,
        "The embedded node's version: 3.8 (the default) or 2.19.",
        commands=Commands.WITH_A_SERVER,
        metavar="VERSION",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "config",
        FILE,
        "The trusted configuration, instead of the relevance.toml of the working directory or above it.",
        commands=Commands.OF_FILES,
        metavar="FILE",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "variables",
        VARIABLES,
        "Let suites read this variable of the environment, or those of a pattern such as SHOP_*; may be repeated.",
        commands=Commands.OF_FILES,
        metavar="NAME",
        word="variable",
        several="variables",
        pytest=True,
        ini=True,
    ),
    RunOption(
        "listed_addresses",
        FLAG,
        "Refuse addresses that suites name, other than those of the trusted relevance.toml and the command line.",
        commands=Commands.WITH_A_SERVER,
        pytest=True,
        ini=True,
    ),
    RunOption(
        "request",
        TEXT,
        "Send the suites' request of this name; may be repeated.",
        commands=Commands.OF_CELLS,
        metavar="NAME",
        several="requests",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "index",
        TEXT,
        "Search this index instead of the suites' own; may be repeated.",
        commands=Commands.OF_CELLS,
        metavar="NAME",
        several="indexes",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "cluster",
        TEXT,
        "Run on the cluster of this name in relevance.toml.",
        optional=True,
    ),
    RunOption(
        "tags",
        TAGS,
        "Run only queries with this tag; may be repeated.",
        commands=Commands.OF_SUITES,
        metavar="TAG",
        word="tag",
        several="tags",
        pytest=True,
    ),
    RunOption(
        "queries",
        IDS,
        "Run only the query with this id; may be repeated.",
        commands=Commands.OF_SUITES,
        metavar="ID",
        word="query",
        several="queries",
        pytest=True,
    ),
    RunOption(
        "allow_write",
        FLAG,
        "Let suites build the index of their fixture.",
        commands=Commands.OF_SUITES,
        pytest=True,
        ini=True,
    ),
    RunOption(
        "locate",
        FLAG,
        "Look with deeper searches for where missing documents rank. Default: True.",
    ),
    RunOption(
        "baseline",
        FILE,
        "Compare with this baseline file, instead of the one beside the suite.",
        commands=Commands.RUN,
        metavar="FILE",
        pytest=True,
        optional=True,
    ),
    RunOption(
        "history",
        NEW_FOLDER,
        "Keep each whole run in this folder, for `relevance history` and thresholds `since` earlier runs.",
        commands=Commands.RUN,
        metavar="DIR",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "no_checks",
        FLAG,
        "Do not check that targets have the judged documents, and the fields that requests name.",
        commands=Commands.OF_SUITES,
        pytest=True,
        ini=True,
    ),
    RunOption(
        "root",
        FOLDER,
        "Follow links of suites and their files into this folder too.",
        commands=Commands.OF_SUITES,
        metavar="DIR",
        pytest=True,
        ini=True,
        python=False,
        optional=True,
    ),
    RunOption(
        "save_baseline",
        FLAG,
        "The run becomes the baseline, so nothing is compared with the old one.",
        python=False,
    ),
    RunOption(
        "today",
        DAY,
        "The day on which `xfail` and `skip` are judged; by default today.",
        optional=True,
    ),
    RunOption(
        "budget",
        SECONDS,
        "Stop sending queries of a suite after this many seconds; the remaining ones did not run.",
        commands=Commands.RUN,
        metavar="SECONDS",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "repeat",
        COUNT,
        "Search N times; a threshold that passes in some of them only is inconclusive.",
        commands=Commands.RUN,
        metavar="N",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "warm_up",
        COUNT,
        "Send all queries N times before the run, to warm caches, in place of the suites' `warm_up`.",
        commands=Commands.RUN,
        metavar="N",
        pytest=True,
        ini=True,
        optional=True,
    ),
    RunOption(
        "journal",
        FILE,
        "Keep each response in this file as it arrives; without it, beside the first report until that is written.",
        commands=Commands.RUN,
        metavar="FILE",
        python=False,
        optional=True,
    ),
    RunOption(
        "resume",
        FLAG,
        "Continue the unfinished run in the journal, if suite, request, target and judgments are the same.",
        commands=Commands.RUN,
        python=False,
    ),
    RunOption(
        "shard",
        SHARD,
        "Send this part of the queries only, such as 2/4, and decide nothing; `relevance merge` joins the journals.",
        commands=Commands.RUN,
        metavar="I/N",
        python=False,
        optional=True,
    ),
    RunOption(
        "strict_xfail",
        FLAG,
        "Count an unexpected pass as a failure.",
        commands=Commands.RUN,
    ),
    RunOption(
        "no_intervals",
        FLAG,
        "Show means without their intervals.",
        commands=Commands.RUN,
        pytest=True,
        ini=True,
    ),
    RunOption(
        "report_only",
        FLAG,
        "Print all figures and decide nothing; end with 0 unless a suite is wrong (2) or no answer came (3).",
        commands=Commands.RUN,
        python=False,
    ),
    RunOption(
        "depth",
        WHOLE_NUMBER,
        "Hits asked for, where that is more than the suite asks for.",
        python=False,
        optional=True,
    ),
    RunOption(
        "unjudged",
        FLAG,
        "Run suites that score and have no judgment at all.",
        python=False,
    ),
    RunOption(
        "tails",
        FLAG,
        "Look for what ties with the last hits also where nothing is compared with a baseline.",
        python=False,
    ),
    RunOption(
        "all_titles",
        FLAG,
        "Look up the titles of all hits, not only of the worst queries'.",
        python=False,
    ),
    RunOption(
        "titled",
        IDS,
        "Documents whose titles are looked up, beside those of the hits.",
        python=False,
    ),
    RunOption(
        "client",
        CLIENT,
        "The user's own client object, in place of connections.",
        optional=True,
    ),
    RunOption(
        "body",
        BODY,
        "The body of _search that is sent in place of that of the request.",
        optional=True,
    ),
    RunOption(
        "hooks",
        CLIENT,
        "The user's hooks; those of installed packages where None.",
        python=False,
        optional=True,
    ),
    RunOption(
        "keeps_cluster",
        FLAG,
        "Whether the request keeps a cluster of its own, although the user named a server.",
        python=False,
    ),
    RunOption(
        "entry",
        ENTRY,
        "Whose names of options messages have.",
        python=False,
    ),
)

OPTIONS: Mapping[str, RunOption] = {option.field: option for option in _TABLE}
"""The options by field, in the order in which help lists them."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """
    The options of a run, as the user gave them; `OPTIONS` describes each.

    Those that do not distinguish runs, and objects of the user's, are neither compared nor shown.
    """

    url: str | None = None
    embedded: bool = False
    engine_version: str | None = None
    config: Path | None = None
    variables: tuple[str, ...] = ()
    listed_addresses: bool = False
    request: str | None = None
    index: str | None = None
    cluster: str | None = None
    tags: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    allow_write: bool = False
    locate: bool = True
    baseline: Path | None = None
    history: Path | None = None
    no_checks: bool = False
    root: Path | None = field(default=None, compare=False, repr=False)
    save_baseline: bool = False
    today: date | None = None
    budget: float | None = None
    repeat: int | None = None
    warm_up: int | None = None
    journal: Path | None = field(default=None, compare=False, repr=False)
    resume: bool = field(default=False, compare=False, repr=False)
    shard: Shard | None = None
    strict_xfail: bool = False
    no_intervals: bool = False
    report_only: bool = False
    depth: int | None = None
    unjudged: bool = False
    tails: bool = False
    all_titles: bool = field(default=True, compare=False, repr=False)
    titled: tuple[str, ...] = field(default=(), compare=False, repr=False)
    client: Any = field(default=None, compare=False, repr=False)
    body: Mapping[str, Any] | None = None
    hooks: Any = field(default=None, compare=False, repr=False)
    keeps_cluster: bool = field(default=False, compare=False, repr=False)
    entry: EntryPoint = EntryPoint.PYTHON

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


class Options(TypedDict, total=False):
    """The types of the options of one call of `Relevance.run`."""

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
    history: str | os.PathLike[str] | None
    today: date | None
    strict_xfail: bool
    no_intervals: bool
    budget: float | None
    repeat: int | None
    warm_up: int | None
    client: Any
    body: Mapping[str, Any] | None


SEARCH_OPTIONS = ("url", "embedded", "engine_version", "request", "index", "allow_write", "baseline")
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


SENDING_OPTIONS = (
    "url", "embedded", "engine_version", "request", "index", "tags", "queries", "allow_write", "no_checks", "budget",
    "warm_up", "listed_addresses", "config", "variables",
)  # fmt: skip
"""The options that decide what is sent, and where to."""

SERVER_OPTIONS = ("url", "cluster", "embedded", "client")
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
