"""Annotations on single lines of suites: thresholds that do not hold, unanswered queries, problems of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.errors import Problem
from harness.model import Mark, Report, Status, SuiteReport, Verdict
from harness.report.overview import cell_names
from harness.report.run_sentences import LOOKED_AT, only_repeats_unanswered, outcome_lines
from harness.report.sentences import waiver_not_in_reason
from harness.words import count

__all__ = ["Annotation", "Severity", "gitlab_repository", "path_in", "problem_annotations", "report_annotations"]


# Annotations on single lines of suites: thresholds that do not hold, queries without an answer, problems of a file.


class Severity(StrEnum):
    """The severity of an annotation, the worst first."""

    ERROR = "error"
    FAILURE = "failure"
    WARNING = "warning"
    NOTICE = "notice"


SEVERITIES = {
    Status.ERROR: Severity.ERROR,
    Status.INCONCLUSIVE: Severity.ERROR,
    Status.FAILED: Severity.FAILURE,
    Status.WARNED: Severity.WARNING,
    Status.XPASSED: Severity.NOTICE,
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """
    A sentence on a place in a file; *mark* may be without a line, or without a path.

    *key* identifies its subject, and stays the same from run to run while figures change.
    """

    severity: Severity
    title: str
    message: str
    mark: Mark
    key: str


def report_annotations(report: Report) -> list[Annotation]:
    """The annotations of *report*, the worst first, thresholds of whole suites before those of single queries."""
    named = zip(cell_names(report.suites), report.suites, strict=True)
    found = [one for name, suite in named for one in _of_suite(suite, name)]
    return sorted(found, key=lambda one: list(Severity).index(one.severity))


def problem_annotations(problems: Iterable[Problem]) -> list[Annotation]:
    """The annotations for problems in files."""
    return [
        Annotation(
            Severity.ERROR,
            "relevance",
            problem.message,
            Mark(problem.path, problem.line, problem.column),
            problem.message,
        )
        for problem in problems
    ]


def _of_suite(suite: SuiteReport, name: str) -> Iterator[Annotation]:
    told = {verdict.id: verdict for verdict in suite.verdicts if only_repeats_unanswered(verdict, suite.unanswered)}
    yield from _unanswered(suite, name, list(told.values()))
    to_tell = [one for one in suite.verdicts if one.status in LOOKED_AT and one.id not in told]
    for verdict in sorted(to_tell, key=lambda one: one.query is not None):
        yield _of_verdict(verdict, suite, name)


def _unanswered(suite: SuiteReport, name: str, told: Sequence[Verdict]) -> Iterator[Annotation]:
    """Queries without an answer, once for each reason, at the line of the first threshold that needs them."""
    thresholds = f"; {count(len(told), 'threshold')} could not be decided" if told else ""
    mark = _mark(told[0], suite) if told else Mark(suite.path)
    title = f"{name}: {count(len(suite.unanswered), 'query')} without an answer"
    for line in outcome_lines(suite.unanswered.values()):
        yield Annotation(Severity.ERROR, title, f"{line}{thresholds}", mark, f"{name}: no answer")


def _of_verdict(verdict: Verdict, suite: SuiteReport, name: str) -> Annotation:
    of_query = "" if verdict.query is None else f" (query {verdict.query})"
    waiver = waiver_not_in_reason(verdict)
    message = verdict.reason if waiver is None else f"{verdict.reason}; waived: {waiver}"
    title = f"{name}: {verdict.threshold}{of_query}"
    return Annotation(SEVERITIES[verdict.status], title, message, _mark(verdict, suite), f"{name}: {verdict.id}")


def _mark(verdict: Verdict, suite: SuiteReport) -> Mark:
    return verdict.mark if verdict.mark.path else Mark(suite.path)


# Paths relative to the root of a repository, whatever the working folder.


def path_in(repository: Path, path: str) -> str:
    """*path* from the root of *repository*, with slashes; as it is where the file is not in there."""
    views: tuple[Callable[[str | Path], str], ...] = (os.path.abspath, os.path.realpath)
    for view in views:  # a link to a suite is a file of the repository, and its root may be below a link
        place, root = Path(view(path)), Path(view(repository))
        if place.is_relative_to(root):
            return place.relative_to(root).as_posix()
    return Path(path).as_posix()


def gitlab_repository(environ: Mapping[str, str]) -> Path:
    """The root of the repository in a job of GitLab CI; elsewhere the working folder."""
    return Path(environ.get("CI_PROJECT_DIR") or ".")
