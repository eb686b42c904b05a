"""What a command with ``--json`` prints where it fails: each problem for programs, and the exit status."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import Problem
from harness.files.versioned import VersionedJson

_EXPECTATION = re.compile(
    r"(?:found (?P<found>.+?)|.+?)[,;] expected (?P<expected>.+?)(?:; (?P<remedy>.+))?", re.DOTALL
)
"""The form of a sentence that says what was found and expected."""


@dataclass(frozen=True, slots=True)
class ReportedProblem:
    """
    A problem, with the parts of its sentence.

    *file* is None where it is about no file, *line* and *column* where it is about a whole file. *found*, *expected*
    and *remedy* are None where the sentence does not say them.
    """

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    found: str | None = None
    expected: str | None = None
    remedy: str | None = None


@dataclass(frozen=True)
class ProblemReport:
    """Why a command did not do what it was asked."""

    problems: Sequence[ReportedProblem]
    exit_status: int
    schema: int = 1


_FORM = VersionedJson(ProblemReport, "list of problems")

problems_schema = _FORM.schema


def dump_problems(problems: Sequence[Problem], exit_status: int) -> str:
    """*problems* of files as JSON."""
    reported = []
    for problem in problems:
        line = problem.line or None
        column = problem.column if line else None
        found, expected, remedy = split_sentence(problem.message)
        reported.append(
            ReportedProblem(problem.code, problem.message, problem.path, line, column, found, expected, remedy)
        )
    return _FORM.dumps(ProblemReport(reported, exit_status))


def dump_failure(code: str, message: str, exit_status: int) -> str:
    """A failure that is about no file as JSON."""
    found, expected, remedy = split_sentence(message)
    problem = ReportedProblem(code, message, found=found, expected=expected, remedy=remedy)
    return _FORM.dumps(ProblemReport([problem], exit_status))


def split_sentence(message: str) -> tuple[str | None, str | None, str | None]:
    """
    What *message* says was found, what was expected, and what to do.

    >>> split_sentence("unknown key 'tresholds', expected thresholds, queries; did you mean 'thresholds'?")
    (None, 'thresholds, queries', "did you mean 'thresholds'?")
    >>> split_sentence("found '07', expected a whole number of at least 1")
    ("'07'", 'a whole number of at least 1', None)
    >>> split_sentence("the merge key << is not supported; repeat the keys")
    (None, None, 'repeat the keys')
    """
    match = _EXPECTATION.fullmatch(message)
    if match:
        return match["found"], match["expected"], match["remedy"]
    _, _, remedy = message.partition("; ")
    return None, None, remedy or None
