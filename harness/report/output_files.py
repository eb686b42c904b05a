"""Files of reports: what they hold, which of them are refused, and how they are written and removed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness.errors import UsageError
from harness.files.writing import PUBLIC, is_device, write_whole
from harness.report.outputs import Output

if TYPE_CHECKING:
    from harness.model.report import Report
    from harness.suites.inputs import RunInputs


def refuse_inputs(outputs: Sequence[Output], inputs: RunInputs) -> None:
    """
    Refuse outputs that the run reads, that are folders, or that are one file: they are overwritten, as by every tool.

    Files are compared by where they are, so that links to one are seen.

    Raises:
        UsageError: One of *outputs* is such a file.
    """
    files = [output for output in outputs if not is_device(output.path)]
    for output in files:
        if output.path.is_dir():
            raise UsageError(f"{output.path} is a folder, expected a file")
    refuse_twins(files)
    # A report in place of a baseline that is still to be saved would be read as one by the next run.
    read = [*inputs.named, *inputs.list_baselines()]
    # Loading suites finds the other files that they read: needed only where something would be overwritten.
    if any(output.path.exists() for output in files):
        read += inputs.list_files()
    for output in files:
        for other in read:
            if is_same_file(output.path, other):
                which = "" if str(other) == str(output.path) else f", as {other}"
                raise UsageError(
                    f"{output.path} is read by this run{which}, and {output.name} would overwrite it; "
                    "name another file to write"
                )


def refuse_twins(outputs: Sequence[Output]) -> None:
    """
    Refuse two outputs into one file, of which only the last would stay.

    Raises:
        UsageError: Two of *outputs* are.
    """
    files = [output for output in outputs if not is_device(output.path)]
    for number, output in enumerate(files):
        for other in files[:number]:
            if is_same_file(output.path, other.path):
                raise UsageError(
                    f"{output.path} is named for two outputs, {other.name} and {output.name}; "
                    "name another file for one of them"
                )


def is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by links too; of files that do not exist yet, whether they would."""
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    try:
        return path.samefile(other)
    except OSError:
        return False


def render(report: Report, kind: str) -> str | Iterable[str]:
    """*report* as text of the *kind*, one of `OUTPUT_KINDS`, or as parts of the text."""
    if kind == "codequality":
        from harness.report.annotations import dump_code_quality, find_gitlab_repository

        return dump_code_quality(report, find_gitlab_repository(os.environ))
    if kind == "json":
        from harness.report import json

        return json.dump_report_parts(report)
    if kind == "html":
        from harness.report.html import run as html

        return html.render(report)
    if kind == "markdown":
        from harness.report import markdown

        return markdown.render(report)
    if kind == "csv":
        from harness.report import csv

        return csv.render(report)
    if kind == "junit":
        from harness.report import junit

        return junit.render(report)
    # A kind that is listed and has no branch must not be written as another.
    raise ValueError(f"no form of a report on a run is called {kind!r}")


def write_report(report: Report, output: Output) -> None:
    """
    Write *report* as *output* says, whole or not at all.

    Raises:
        UsageError: the file could not be written.
    """
    write_output(output, render(report, output.kind), f"the {output.kind} report")


def write_output(output: Output, text: str | Iterable[str], called: str, rights: int = PUBLIC) -> None:
    """
    Write *text*, or its parts, whole or not at all; a missing folder is created. *called* is the name of the file in
    errors, *rights* are those of a new file.

    Raises:
        UsageError: the file could not be written.
    """
    try:
        output.path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(output.path, text, rights=rights)
    except OSError as error:
        raise UsageError(f"{output.path}: {called} could not be written: {error.strerror or error}") from None


FileState: TypeAlias = tuple[int, int, int, int]
"""What tells a file from one that takes its place: its device and number, its size, and when it was written."""


def read_states(outputs: Iterable[Output]) -> dict[Path, FileState]:
    """The files that stand at *outputs* now, devices left out: the reports of earlier runs, when a run begins."""
    states = {}
    for output in outputs:
        state = _read_state(output.path)
        if state is not None:
            states[output.path] = state
    return states


def _read_state(path: Path) -> FileState | None:
    """The state of the regular file at *path*; None if there is none."""
    if is_device(path) or not path.is_file():
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def list_unchanged(states: Mapping[Path, FileState]) -> list[Path]:
    """The files of *states* that no run has written since these were read."""
    return [path for path, state in states.items() if _read_state(path) == state]


def remove_outdated(states: Mapping[Path, FileState]) -> tuple[list[Path], list[str]]:
    """
    Remove the reports of earlier runs; returns those removed, and sentences on those that could not be.

    What the run reads must have been refused before, by `refuse_inputs`.

    Args:
        states: What `read_states` found before the run. What another run has written since is its report, and stays.
    """
    removed, problems = [], []
    for path in list_unchanged(states):
        try:
            path.unlink()
        except OSError as error:
            problems.append(f"{path}: the report of an earlier session could not be removed: {error.strerror or error}")
        else:
            removed.append(path)
    return removed, problems
