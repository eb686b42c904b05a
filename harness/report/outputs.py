"""Report files: their kinds, their content, and how they are written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.files.writing import is_device, write_whole

if TYPE_CHECKING:
    from harness.model import ComparisonReport, Report


KINDS = ("html", "json", "markdown", "codequality")
"""The kinds of reports on runs."""

COMPARISON_KINDS = ("html", "json", "markdown")

SUFFIXES = {".html": "html", ".codequality.json": "codequality", ".json": "json", ".md": "markdown"}
"""The kind of a report by the end of its file name; the first that fits counts."""


_FIRST_BYTES = 65_536

_REPORT = re.compile(
    rb"""<!doctype\ html>.{,500}content="relevance-harness"
    | \{\s*"timing":.{,200}"harness":
    | \#\#\ [^\n]*\n\n(?:[0-9,]+\ suites?(?:\ in\ [0-9,]+\ cells)?,\ )?[0-9,]+\ quer(?:y|ies)\b  # below the headline
    | \[\s*(?:\]\s*\Z|\{.*"check_name":\ "relevance")
    | \Z""",
    re.VERBOSE | re.DOTALL,
)
_GRADES = {
    "csv": re.compile(rb"(\xef\xbb\xbf)?query,document,grade|\Z"),
    "jsonl": re.compile(rb'\{"query":|\Z'),
    "yaml": re.compile(rb"# [^\n]*: unjudged documents|\Z"),
}
"""How files begin that a file of the kind replaces, by kind; those of other kinds replace `_REPORT`."""


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write, and the *kind* of report to write to it."""

    kind: str
    path: Path


def output_named(path: Path) -> Output | None:
    """
    The output that the name of *path* stands for, None where it is not that of a report.

    >>> output_named(Path("out/Report.HTML"))
    Output(kind='html', path=PosixPath('out/Report.HTML'))
    """
    name = path.name.lower()
    return next((Output(kind, path) for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


def refuse_other_files(output: Output) -> None:
    """
    Refuse to replace a file that is none of the harness's own, such as a suite or its judgments.

    Raises:
        UsageError: there is such a file.
    """
    if is_device(output.path) or not output.path.is_file():
        return
    try:
        with output.path.open("rb") as file:
            begin = file.read(_FIRST_BYTES)
    except OSError as error:
        raise UsageError(f"{output.path} exists and cannot be read: {error.strerror or error}") from None
    if not _GRADES.get(output.kind, _REPORT).match(begin):
        what = "holds other documents than those to grade" if output.kind in _GRADES else "is not a report"
        raise UsageError(f"{output.path} exists and {what}: name another file, or remove it")


def shows_all_hits(outputs: Iterable[Output]) -> bool:
    """Whether one of *outputs* shows the hits of every query; the other kinds show those of the worst queries."""
    return any(output.kind in ("html", "json") for output in outputs)


def render(report: Report, kind: str) -> str | Iterable[str]:
    """*report* as text of the *kind*, one of `KINDS`, or as parts of the text."""
    if kind == "codequality":
        from harness.report.annotations import code_quality, gitlab_repository

        return code_quality(report, gitlab_repository(os.environ))
    if kind == "json":
        from harness.report import json

        return json.parts_of_report(report)
    if kind == "html":
        from harness.report import html

        return html.render(report)
    from harness.report import markdown

    return markdown.render(report)


def render_comparison(report: ComparisonReport, kind: str) -> str:
    """*report* as text of the *kind*, one of `COMPARISON_KINDS`."""
    if kind == "json":
        from harness.report import json

        return json.dumps_comparison(report)
    if kind == "html":
        from harness.report.html import comparison as html

        return html.render(report)
    from harness.report.markdown import comparison as markdown

    return markdown.render(report)


def write_report(report: Report, output: Output) -> None:
    """
    Write *report* as *output* says, whole or not at all.

    Raises:
        UsageError: the file could not be written.
    """
    write_output(output, render(report, output.kind), f"the {output.kind} report")


def write_output(output: Output, text: str | Iterable[str], called: str) -> None:
    """
    Write *text*, or its parts, whole or not at all; a missing folder is created. *called* is the name of the file in
    errors.

    Raises:
        UsageError: the file could not be written, or is none of the harness's own.
    """
    refuse_other_files(output)
    try:
        output.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output.path, text)
    except OSError as error:
        raise UsageError(f"{output.path}: {called} could not be written: {error.strerror or error}") from None


def remove_outdated(outputs: Iterable[Output]) -> tuple[list[Path], list[str]]:
    """Remove the reports of an earlier run; returns those removed, and sentences on those that could not be."""
    removed, problems = [], []
    for output in outputs:
        path = output.path
        if not path.is_file() or is_device(path):
            continue
        try:
            refuse_other_files(output)
            path.unlink()
        except UsageError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path}: the report of an earlier session could not be removed: {error.strerror or error}")
        else:
            removed.append(path)
    return removed, problems
