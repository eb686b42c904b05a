"""
Every error that a user can meet: a sentence with the place, what was found and what was expected, and the exit status
of the command.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import ClassVar, Literal, Self, TypeAlias

from harness.pages import Topic


class EntryPoint(Enum):
    """The entry points of the harness; each has its own names for the same options."""

    COMMAND = auto()
    PYTEST = auto()
    PYTHON = auto()


@dataclass(frozen=True, slots=True)
class Option:
    """
    An option in a sentence: its *word* on command lines, and its *keyword* in Python where that differs.

    >>> option = Option("allow-write")
    >>> [option.name_in(entry) for entry in EntryPoint]
    ['--allow-write', '--relevance-allow-write', 'allow_write']
    """

    word: str
    keyword: str = ""

    def name_in(self, entry: EntryPoint) -> str:
        """The name of the option at *entry*."""
        if entry is EntryPoint.PYTHON:
            return self.keyword or self.word.replace("-", "_")
        return f"--relevance-{self.word}" if entry is EntryPoint.PYTEST else f"--{self.word}"


Sentence: TypeAlias = tuple[str | Option, ...]
"""The parts of a sentence: texts and options."""


class HarnessError(Exception):
    """
    Base of all errors that the harness raises on purpose; its text is for the user to read.

    Its *parts* are texts and options, so that each entry point can use its own names of options. ``str()`` uses the
    names of Python.
    """

    exit_status = 2

    code: ClassVar[str] = "error"
    """What the error is, for programs; part of the JSON that commands print."""

    topic: ClassVar[Topic | None] = None
    """What explains errors of this class; None where their text says all that there is."""

    def __init__(self, *parts: str | Option) -> None:
        super().__init__(*parts)
        self.parts = parts

    @property
    def topics(self) -> Sequence[Topic]:
        """What explains this error."""
        return () if self.topic is None else (self.topic,)

    @classmethod
    def of_lines(cls, sentences: Iterable[Sentence]) -> Self:
        """An error with each of *sentences* on a line of its own."""
        parts: list[str | Option] = []
        for sentence in sentences:
            if parts:
                parts.append("\n")
            parts += sentence
        return cls(*parts)

    def __str__(self) -> str:
        return self.text(EntryPoint.PYTHON)

    def text(self, entry: EntryPoint) -> str:
        """The sentence, with the names that options have at *entry*."""
        return "".join(part.name_in(entry) if isinstance(part, Option) else str(part) for part in self.parts)


class UsageError(HarnessError):
    """The command line, an option or an argument is invalid, or they contradict each other."""

    code = "usage"


def pip_install(extra: str) -> str:
    """The command that installs *extra*."""
    return f"pip install 'relevance-harness[{extra}]'"


def missing_package(what_needs: str, package: str, extra: str) -> UsageError:
    """
    The error that a *package* of *extra* is not installed.

    >>> str(missing_package("Parquet files need", "pyarrow", "files"))
    "Parquet files need the package pyarrow: pip install 'relevance-harness[files]'"
    """
    return UsageError(f"{what_needs} the package {package}: {pip_install(extra)}")


ProblemCode: TypeAlias = Literal[
    "invalid-value",
    "unknown-key",
    "missing-key",
    "no-value",
    "unknown-name",
    "duplicate",
    "unknown-measure",
    "grammar",
    "syntax",
    "unreadable-file",
    "settings",
    "no-judgments",
    "no-text",
]
"""What a problem is, for programs; the codes are part of the JSON that commands print, and stay what they are."""

MEANINGS_OF_CODES: dict[ProblemCode, str] = {
    "invalid-value": "A value is not one of those expected. Also each problem without another code.",
    "unknown-key": "There is no such key.",
    "missing-key": "A key is missing.",
    "no-value": "A key has no value.",
    "unknown-name": "The suite has no request, query or tag of this name.",
    "duplicate": "It is given twice.",
    "unknown-measure": "There is no such measure.",
    "grammar": "A threshold or an expectation cannot be read.",
    "syntax": "The file is not YAML or JSON.",
    "unreadable-file": "The file is missing or cannot be read.",
    "settings": "relevance.toml cannot be used.",
    "no-judgments": "The suite has no judgments.",
    "no-text": "A query has no text, and the request uses it.",
}

TOPICS_OF_PROBLEMS: dict[ProblemCode, Topic] = {
    "unknown-measure": Topic.MEASURES,
    "grammar": Topic.GRAMMAR,
    "syntax": Topic.QUOTES_IN_YAML,
    "settings": Topic.SETTINGS,
    "no-judgments": Topic.GRADING,
}
"""What explains problems of a kind; the others say what was found and expected."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """
    One thing that is wrong in a file.

    *line* and *column* count from 1; 0 where the problem is about the whole file. *excerpt* is the line with a caret
    below it, ready to print, or empty. *count* is the number of problems that it stands for, if a file has too many to
    list.
    """

    path: str
    line: int
    column: int
    message: str
    excerpt: str = ""
    count: int = 1
    code: ProblemCode = "invalid-value"

    def __str__(self) -> str:
        place = self.path if not self.line else f"{self.path}:{self.line}:{self.column}"
        head = f"{place}: {self.message}"
        return f"{head}\n{self.excerpt}" if self.excerpt else head


def list_topics(problems: Iterable[Problem]) -> list[Topic]:
    """What explains *problems*."""
    return [TOPICS_OF_PROBLEMS[problem.code] for problem in problems if problem.code in TOPICS_OF_PROBLEMS]


class InputError(HarnessError):
    """A file, or a suite with its files, cannot be used; has all problems found in them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems))
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def topics(self) -> Sequence[Topic]:
        """What explains the class of the error, and its problems, each topic once."""
        return tuple(dict.fromkeys([*super().topics, *list_topics(self.problems)]))

    @classmethod
    def at(
        cls, path: str | Path, line: int, column: int, message: str, code: ProblemCode = "invalid-value"
    ) -> InputError:
        """An error with a single problem."""
        return cls([Problem(str(path), line, column, message, code=code)])


class SuiteError(InputError):
    """A suite, or a file that it names, cannot be used."""


class ConfigError(InputError):
    """relevance.toml cannot be used."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        # The problems of suites are told together with those of the relevance.toml that counts for them.
        super().__init__([replace(problem, code="settings") for problem in problems])


class FormatError(InputError):
    """A judgment or run file cannot be used."""


class GrammarError(HarnessError):
    """A short text, such as a threshold, does not fit its grammar; *offset* is the index of the error."""

    def __init__(self, message: str, offset: int = 0) -> None:
        self.offset = offset
        super().__init__(message)


class MeasureError(GrammarError):
    """The text of a measure is not one that the registry knows."""


class GradeError(MeasureError):
    """A measure or its gain does not take the *grade* of a document."""

    def __init__(self, message: str, grade: float = math.nan) -> None:
        self.grade = grade
        super().__init__(message)


class UnknownMeasure(MeasureError):
    """No known measure has the name; a measure of the user may have it that is registered elsewhere."""


class UndefinedScore(HarnessError):
    """A metric has no value for this query: nothing judged is relevant, so there is no ideal to compare with."""


class StatisticError(HarnessError):
    """A sample that the test, the interval or the effect size is not defined for."""


class SearchError(HarnessError):
    """The engine could not be asked. What concerns one query only is an outcome of that query, not an error."""

    exit_status = 3
    code = "search"


class EngineUnreachable(SearchError):
    """No connection, an unknown host, a TLS failure, or no answer in time."""

    code = "engine-unreachable"

    topic = Topic.CLUSTERS


class LoginRefused(SearchError):
    """The engine answered 401 or 403."""

    code = "login-refused"

    topic = Topic.CLUSTERS


class RequestRefused(SearchError):
    """The engine refused a request. *status* is that of its answer, *kinds* are the types of its errors."""

    code = "request-refused"

    def __init__(self, message: str, status: int, kinds: Collection[str]) -> None:
        self.status = status
        self.kinds = frozenset(kinds)
        super().__init__(message)


class FixtureError(SearchError):
    """An index of a suite's fixture could not be built, or an index stands there that the harness did not make."""

    code = "fixture"
    topic = Topic.FIXTURES


class HookError(SearchError):
    """A hook of the user's raised an error, or returned what it must not."""

    code = "hook"
    topic = Topic.HOOKS


class EngineStartError(HarnessError):
    """The embedded node could not be fetched or started."""

    exit_status = 3
    code = "engine-start"
    topic = Topic.EMBEDDED_ENGINE


class BaselineError(HarnessError):
    """A baseline is missing, unreadable or older than its suite."""

    exit_status = 1
    code = "baseline"
    topic: ClassVar[Topic | None] = Topic.UNUSABLE_BASELINES


class MissingBaseline(BaselineError):
    """There is no baseline of the suite, or none of the request."""


class UnwritableBaseline(BaselineError):
    """A run cannot be saved as a baseline: the file cannot be written, or the run does not belong to what it has."""

    exit_status = 2
    topic = None


class UnansweredBaseline(BaselineError):
    """A run with queries that have no answer cannot become a baseline."""

    exit_status = 3
    topic = Topic.OUTCOMES_OF_QUERIES


class HistoryError(HarnessError):
    """A file of a history cannot be read or written."""

    code = "history"
