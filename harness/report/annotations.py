"""
Annotations on single lines of suites: thresholds that do not hold, unanswered queries, problems of a file; and the
forms in which CI systems read them, which are workflow commands of GitHub and code quality of GitLab.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.errors import Problem, SearchError
from harness.gate.decide import compute_exit_status
from harness.model.report import Report, SuiteReport
from harness.model.run import Status, Verdict
from harness.model.suite import Mark
from harness.report.attention import LOOKED_AT, only_repeats_unanswered
from harness.report.overview import name_cells
from harness.report.run_sentences import describe_outcomes, describe_ranking_causes
from harness.report.safe_text import printable
from harness.report.sentences import describe_waiver
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


def annotate_report(report: Report) -> list[Annotation]:
    """The annotations of *report*, the worst first, thresholds of whole suites before those of single queries."""
    annotations: list[Annotation] = []
    for name, suite in zip(name_cells(report.suites), report.suites, strict=True):
        annotations += _annotate_suite(suite, name)
    if report.undecided:
        for suite in report.suites:
            title = f"{suite.name}: nothing was decided"
            annotations.append(Annotation(Severity.FAILURE, title, report.undecided, Mark(suite.path), key=suite.name))
    worst_first = list(Severity)
    return sorted(annotations, key=lambda annotation: worst_first.index(annotation.severity))


def annotate_problems(problems: Iterable[Problem]) -> list[Annotation]:
    """The annotations for problems in files."""
    annotations = []
    for problem in problems:
        mark = Mark(problem.path, problem.line, problem.column)
        annotations.append(Annotation(Severity.ERROR, "relevance", problem.message, mark, key=problem.message))
    return annotations


def _annotate_suite(suite: SuiteReport, name: str) -> Iterator[Annotation]:
    """The annotations of *suite*, which is called *name*: queries without an answer, then thresholds."""
    unanswered = suite.unanswered
    repeating = []
    others = []
    for verdict in suite.verdicts:
        if only_repeats_unanswered(verdict, unanswered):
            repeating.append(verdict)
        elif verdict.status in LOOKED_AT:
            others.append(verdict)
    yield from _annotate_unanswered(suite, name, repeating)
    causes = list(describe_ranking_causes(suite.queries, suite.checks))
    # Thresholds of the whole suite before those of single queries.
    for verdict in sorted(others, key=lambda verdict: verdict.query is not None):
        causes_of_verdict = causes if verdict.status is Status.FAILED else ()
        yield _annotate_verdict(verdict, suite, name, causes_of_verdict)


def _annotate_unanswered(suite: SuiteReport, name: str, repeating: Sequence[Verdict]) -> Iterator[Annotation]:
    """
    Queries without an answer, once for each reason, at the line of the first threshold that needs them.

    The verdicts *repeating* that are not annotated by themselves.
    """
    # In a pytest session the status may be another: then no item of the session needs their answers.
    if compute_exit_status([suite]) != SearchError.exit_status:
        return
    title = f"{name}: {count(len(suite.unanswered), 'query')} without an answer"
    mark = Mark(suite.path)
    undecided = ""
    if repeating:
        mark = _find_mark(repeating[0], suite)
        undecided = f"; {count(len(repeating), 'threshold')} could not be decided"
    for line in describe_outcomes(suite.unanswered.values()):
        yield Annotation(Severity.ERROR, title, f"{line}{undecided}", mark, key=f"{name}: no answer")


def _annotate_verdict(verdict: Verdict, suite: SuiteReport, name: str, causes: Sequence[str]) -> Annotation:
    """The annotation of *verdict*, with probable *causes* of its failure."""
    title = f"{name}: {verdict.threshold}"
    if verdict.query is not None:
        title += f" (query {verdict.query})"
    parts = [verdict.reason]
    waiver = describe_waiver(verdict)
    if waiver is not None:
        parts.append(f"waived: {waiver}")
    message = "; ".join([*parts, *causes])
    mark = _find_mark(verdict, suite)
    return Annotation(SEVERITIES[verdict.status], title, message, mark, key=f"{name}: {verdict.id}")


def _find_mark(verdict: Verdict, suite: SuiteReport) -> Mark:
    """The place of the threshold; the suite where it has none."""
    if verdict.mark.path:
        return verdict.mark
    return Mark(suite.path)


# Paths relative to the root of a repository, whatever the working folder.


def make_relative(repository: Path, path: str) -> str:
    """*path* from the root of *repository*, with slashes; as it is where the file is not in there."""
    # A link to a suite is a file of the repository, and the root of the repository may be below a link.
    for make_absolute in (os.path.abspath, os.path.realpath):
        file, root = Path(make_absolute(path)), Path(make_absolute(repository))
        if file.is_relative_to(root):
            return file.relative_to(root).as_posix()
    return Path(path).as_posix()


def find_gitlab_repository(environ: Mapping[str, str]) -> Path:
    """The root of the repository in a job of GitLab CI; elsewhere the working folder."""
    return Path(environ.get("CI_PROJECT_DIR") or ".")


# GitHub Actions.


_SHOWN = 10
"""The number of annotations of a kind that GitHub shows for one step."""

_MOST_TITLE = 200
_MOST_MESSAGE = 4000

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.FAILURE: "error",
    Severity.WARNING: "warning",
    Severity.NOTICE: "notice",
}


def format_workflow_commands(annotations: Iterable[Annotation], repository: Path) -> Iterator[str]:
    """
    The lines to print in a step of GitHub Actions.

    Args:
        annotations: The worst first. The last of a kind gives the number of those that GitHub would not show.
        repository: The root of the repository, to which paths are relative.
    """
    by_command: dict[str, list[Annotation]] = {command: [] for command in _COMMANDS.values()}
    for annotation in annotations:
        by_command[_COMMANDS[annotation.severity]].append(annotation)
    for command, of_command in by_command.items():
        shown = of_command
        if len(of_command) > _SHOWN:
            hidden = of_command[_SHOWN - 1 :]
            title = count(len(hidden), "more annotation")
            message = "GitHub shows ten of a kind; the job summary has more"
            shown = [*of_command[: _SHOWN - 1], Annotation(hidden[0].severity, title, message, Mark(), key="")]
        for annotation in shown:
            yield _format_command(command, annotation, repository)


def _format_command(command: str, annotation: Annotation, repository: Path) -> str:
    """*annotation* as a line such as "::error file=a.yaml,line=3,title=b::c"; what it does not have is left out."""
    mark = annotation.mark
    values = {
        "file": make_relative(repository, mark.path) if mark.path else "",
        "line": mark.line or "",
        "col": mark.column or "",
        "title": printable(annotation.title)[:_MOST_TITLE],
    }
    properties = [f"{name}={_escape_property(str(value))}" for name, value in values.items() if value]
    message = "\n".join(map(printable, annotation.message.splitlines()))[:_MOST_MESSAGE]
    return f"::{command} {','.join(properties)}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


# GitLab.


_CHECK = "relevance"

CODE_QUALITY = {
    Severity.ERROR: "critical",
    Severity.FAILURE: "major",
    Severity.WARNING: "minor",
    Severity.NOTICE: "info",
}


def dump_code_quality(report: Report, repository: Path) -> str:
    """
    The annotations of *report* as GitLab's code quality, so that a merge request shows which lines do not hold.

    It is the part of Code Climate's form that GitLab reads; its documentation describes it under Code Quality.

    Args:
        report: The report; one in which everything holds gives an empty list.
        repository: The root of the repository, to which paths are relative.
    """
    annotations = []
    for suite in report.missing:
        title, mark = f"{suite.path} did not run", Mark(suite.path)
        annotations.append(Annotation(Severity.ERROR, title, suite.reason, mark, key="did not run"))
    annotations += annotate_report(report)
    uses: Counter[str] = Counter()
    entries = []
    for annotation in annotations:
        path = make_relative(repository, annotation.mark.path)
        identity = f"{path}\n{annotation.key}"
        # Suites of one file may have thresholds of one id.
        uses[identity] += 1
        entries.append(_make_entry(annotation, path, f"{identity}\n{uses[identity]}"))
    return json.dumps(entries, indent=2) + "\n"


def _make_entry(annotation: Annotation, path: str, identity: str) -> dict[str, object]:
    """An entry; its fingerprint has no figures and no lines, as GitLab finds new entries of a merge request by it."""
    return {
        "description": printable(f"{annotation.title}: {annotation.message}"),
        "check_name": _CHECK,
        "fingerprint": hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest(),
        "severity": CODE_QUALITY[annotation.severity],
        "location": {"path": path, "lines": {"begin": annotation.mark.line or 1}},
    }
