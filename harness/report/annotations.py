"""
Annotations on single lines of suites: thresholds that do not hold, unanswered queries, problems of a file; and the
forms in which CI systems read them, which are workflow commands of GitHub and code quality of GitLab.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.errors import Problem, SearchError
from harness.gate import compute_exit_status
from harness.model import Mark, Report, Status, SuiteReport, Verdict
from harness.report.attention import LOOKED_AT, only_repeats_unanswered
from harness.report.overview import cell_names
from harness.report.run_sentences import outcome_lines, ranking_causes
from harness.report.sentences import printable, waiver_not_in_reason
from harness.words import count


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
    if report.undecided:
        found += [_undecided(suite, report.undecided) for suite in report.suites]
    return sorted(found, key=lambda one: list(Severity).index(one.severity))


def _undecided(suite: SuiteReport, why: str) -> Annotation:
    return Annotation(Severity.FAILURE, f"{suite.name}: nothing was decided", why, Mark(suite.path), suite.name)


def problem_annotations(problems: Iterable[Problem]) -> list[Annotation]:
    """The annotations for problems in files."""
    return [
        Annotation(Severity.ERROR, "relevance", one.message, Mark(one.path, one.line, one.column), one.message)
        for one in problems
    ]


def _of_suite(suite: SuiteReport, name: str) -> Iterator[Annotation]:
    told = {verdict.id: verdict for verdict in suite.verdicts if only_repeats_unanswered(verdict, suite.unanswered)}
    yield from _unanswered(suite, name, list(told.values()))
    to_tell = [one for one in suite.verdicts if one.status in LOOKED_AT and one.id not in told]
    causes = tuple(ranking_causes(suite.queries, suite.checks))
    for verdict in sorted(to_tell, key=lambda one: one.query is not None):
        yield _of_verdict(verdict, suite, name, causes if verdict.status is Status.FAILED else ())


def _unanswered(suite: SuiteReport, name: str, told: Sequence[Verdict]) -> Iterator[Annotation]:
    """Queries without an answer, once for each reason, at the line of the first threshold that needs them."""
    thresholds = f"; {count(len(told), 'threshold')} could not be decided" if told else ""
    mark = _mark(told[0], suite) if told else Mark(suite.path)
    title = f"{name}: {count(len(suite.unanswered), 'query')} without an answer"
    if compute_exit_status([suite]) != SearchError.exit_status:
        return  # no item of the session needs their answers
    for line in outcome_lines(suite.unanswered.values()):
        yield Annotation(Severity.ERROR, title, f"{line}{thresholds}", mark, f"{name}: no answer")


def _of_verdict(verdict: Verdict, suite: SuiteReport, name: str, causes: Sequence[str]) -> Annotation:
    of_query = "" if verdict.query is None else f" (query {verdict.query})"
    waiver = waiver_not_in_reason(verdict)
    waived = () if waiver is None else (f"waived: {waiver}",)
    message = "; ".join((verdict.reason, *waived, *causes))
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


# GitHub Actions.


SHOWN = 10
"""The number of annotations of a kind that GitHub shows for one step."""

MOST_TITLE = 200
MOST_MESSAGE = 4000

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.FAILURE: "error",
    Severity.WARNING: "warning",
    Severity.NOTICE: "notice",
}


def workflow_commands(annotations: Iterable[Annotation], repository: Path) -> Iterator[str]:
    """
    The lines to print in a step of GitHub Actions.

    Args:
        annotations: The worst first. The last of a kind gives the number of those that GitHub would not show.
        repository: The root of the repository, to which paths are relative.
    """
    by_command: dict[str, list[Annotation]] = {command: [] for command in _COMMANDS.values()}
    for annotation in annotations:
        by_command[_COMMANDS[annotation.severity]].append(annotation)
    for command, found in by_command.items():
        for annotation in _shown(found):
            yield _line(command, annotation, repository)


def _shown(annotations: Sequence[Annotation]) -> Iterator[Annotation]:
    if len(annotations) <= SHOWN:
        yield from annotations
        return
    yield from annotations[: SHOWN - 1]
    rest = annotations[SHOWN - 1 :]
    title = f"{count(len(rest), 'more annotation')}"
    yield Annotation(rest[0].severity, title, "GitHub shows ten of a kind; the job summary has more", Mark(), "")


def _line(command: str, annotation: Annotation, repository: Path) -> str:
    mark = annotation.mark
    places = {
        "file": path_in(repository, mark.path) if mark.path else "",
        "line": mark.line or "",
        "col": mark.column or "",
        "title": printable(annotation.title)[:MOST_TITLE],
    }
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in places.items() if value)
    message = "\n".join(map(printable, annotation.message.splitlines()))[:MOST_MESSAGE]
    return f"::{command} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# GitLab.


_CHECK = "relevance"

CODE_QUALITY = {
    Severity.ERROR: "critical",
    Severity.FAILURE: "major",
    Severity.WARNING: "minor",
    Severity.NOTICE: "info",
}


def code_quality(report: Report, repository: Path) -> str:
    """
    The annotations of *report* as GitLab's code quality, so that a merge request shows which lines do not hold.

    It is the part of Code Climate's form that GitLab reads; its documentation describes it under Code Quality.

    Args:
        report: The report; one in which everything holds gives an empty list.
        repository: The root of the repository, to which paths are relative.
    """
    seen: dict[str, int] = {}
    entries = []
    for annotation in (*_missing_suites(report), *report_annotations(report)):
        path = path_in(repository, annotation.mark.path)
        identity = f"{path}\n{annotation.key}"
        seen[identity] = seen.get(identity, 0) + 1
        entries.append(_entry(annotation, path, f"{identity}\n{seen[identity]}"))
    return json.dumps(entries, indent=2) + "\n"


def _missing_suites(report: Report) -> Iterator[Annotation]:
    for suite in report.missing:
        yield Annotation(Severity.ERROR, f"{suite.path} did not run", suite.reason, Mark(suite.path), "did not run")


def _entry(annotation: Annotation, path: str, identity: str) -> dict[str, object]:
    """An entry; its fingerprint has no figures and no lines, as GitLab finds new entries of a merge request by it."""
    return {
        "description": printable(f"{annotation.title}: {annotation.message}"),
        "check_name": _CHECK,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest(),
        "severity": CODE_QUALITY[annotation.severity],
        "location": {"path": path, "lines": {"begin": annotation.mark.line or 1}},
    }
