"""What a session leaves behind: report files, the summary of a job, and annotations for GitHub's runner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError, Problem

if TYPE_CHECKING:
    from harness.collecting.runs import Failed
    from harness.model import Report
    from harness.report.github_step import GitHubStep

__all__ = ["REPORT_SUFFIXES", "annotation_lines", "remove_outdated", "summarise", "write_reports"]


CODE_QUALITY = ".codequality.json"
REPORT_SUFFIXES = (".html", ".json", ".md")


def write_reports(report: Report, paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """Write *report* to files in the kind that their names say: which were written, and why others were not."""
    written, problems = [], []
    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_rendered(report, path.name.lower()), encoding="utf-8")
        except OSError as error:
            problems.append(f"{path}: the report could not be written: {error.strerror or error}")
        else:
            written.append(path)
    return written, problems


def remove_outdated(paths: Iterable[Path]) -> tuple[list[Path], list[str]]:
    """Remove reports of an earlier session, lest they are taken for this one's: which were, and why others were not."""
    removed, problems = [], []
    for path in filter(Path.is_file, paths):
        try:
            path.unlink()
        except OSError as error:
            problems.append(f"{path}: the report of an earlier session could not be removed: {error.strerror or error}")
        else:
            removed.append(path)
    return removed, problems


def summarise(
    step: GitHubStep, report: Report | None, failures: Sequence[Failed], refusals: Sequence[Problem]
) -> list[str]:
    """Add to the job's summary what ran, and what could not; why it could not be added to."""
    sentences = [str(problem) for problem in _problems(failures, refusals)]
    try:
        if sentences:
            step.summarise_refusal("\n".join(sentences))
        if report is not None:
            step.summarise(report)
    except HarnessError as error:
        return [str(error)]
    return []


def annotation_lines(
    step: GitHubStep, report: Report | None, failures: Sequence[Failed], refusals: Sequence[Problem]
) -> list[str]:
    """The lines for GitHub's runner: what could not run before what does not hold."""
    told = step.problems(_problems(failures, refusals))
    return told if report is None else told + step.annotations(report)


def _problems(failures: Iterable[Failed], refusals: Iterable[Problem]) -> list[Problem]:
    """What is wrong in files, each problem once, and of other suites that did not run why."""
    problems = list(refusals)
    for failed in failures:
        problems += failed.problems or [Problem(failed.path, 0, 0, f"did not run: {failed.sentence}")]
    return list(dict.fromkeys(problems))


def _rendered(report: Report, name: str) -> str:
    if name.endswith(CODE_QUALITY):
        from harness.report.ci import codequality
        from harness.report.ci.annotations import gitlab_repository

        return codequality.render(report, gitlab_repository(os.environ))
    if name.endswith(".json"):
        from harness.report.json import dumps_report

        return dumps_report(report)
    if name.endswith(".md"):
        from harness.report import markdown

        return markdown.render(report)
    from harness.report import html

    return html.render(report)
