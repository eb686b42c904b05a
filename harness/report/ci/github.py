"""GitHub Actions: annotations as workflow commands, and the step whose summary and output are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.model import Mark
from harness.report.ci.annotations import Annotation, Severity, path_in
from harness.report.sentences import printable
from harness.words import count

__all__ = ["SHOWN", "commands"]


SHOWN = 10
"""The number of annotations of a kind that GitHub shows for one step."""

MOST_TITLE = 200
MOST_MESSAGE = 4000

COMMANDS = {
    Severity.ERROR: "error",
    Severity.FAILURE: "error",
    Severity.WARNING: "warning",
    Severity.NOTICE: "notice",
}


def commands(annotations: Iterable[Annotation], repository: Path) -> Iterator[str]:
    """
    The lines to print.

    Args:
        annotations: The worst first. The last of a kind gives the number of those that GitHub would not show.
        repository: The root of the repository, to which paths are relative.
    """
    by_command: dict[str, list[Annotation]] = {command: [] for command in COMMANDS.values()}
    for annotation in annotations:
        by_command[COMMANDS[annotation.severity]].append(annotation)
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
