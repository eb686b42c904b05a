"""The option ``--output KIND=FILE``, and the writing of reports to files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.errors import UsageError, did_you_mean
from harness.model import Report


def _html(report: Report) -> str:
    from harness.report import html

    return html.render(report)


def _json(report: Report) -> str:
    from harness.report import json

    return json.dumps_report(report)


def _markdown(report: Report) -> str:
    from harness.report import markdown

    return markdown.render(report)


def _codequality(report: Report) -> str:
    from harness.report.ci import codequality
    from harness.report.ci.annotations import gitlab_repository

    return codequality.render(report, gitlab_repository(os.environ))


WRITERS: dict[str, Callable[[Report], str]] = {
    "html": _html,
    "json": _json,
    "markdown": _markdown,
    "codequality": _codequality,
}


KINDS = f"{', '.join(list(WRITERS)[:-1])} or {list(WRITERS)[-1]}"


@dataclass(frozen=True, slots=True)
class Output:
    """A file to write: *kind* says what, a key of `WRITERS` where it is a report."""

    kind: str
    path: Path


class OutputType(click.ParamType[Output]):
    """Reads ``html=report.html``; the folder has to be there before a run is started for nothing."""

    name = "KIND=FILE"

    def __init__(self, kinds: Collection[str] = tuple(WRITERS), example: str = "html=report.html") -> None:
        """
        Args:
            kinds: Those that there are.
            example: What is shown to whom it was not given.
        """
        self._kinds = kinds
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """The output that *value* names."""
        kind, equals, file = str(value).partition("=")
        *others, last = self._kinds
        kinds = f"{', '.join(others)} or {last}"
        if not equals or not file:
            self.fail(
                f"{value!r} was found, KIND=FILE is expected with {kinds} as the kind, as in {self._example}",
                param,
                ctx,
            )
        if kind not in self._kinds:
            self.fail(f"there is no kind {kind!r}, only {kinds}{did_you_mean(kind, self._kinds)}", param, ctx)
        path = Path(file)
        if path.is_dir():
            self.fail(f"{file} is a folder, a file is expected", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"the folder {path.parent} is not there; create it first", param, ctx)
        return Output(kind, path)


@contextmanager
def outdated_removed(outputs: Iterable[Output]) -> Iterator[None]:
    """Where an error ends what is done meanwhile, remove what an earlier run left in *outputs*; the error goes on."""
    try:
        yield
    except BaseException:
        for path in (output.path for output in outputs if output.path.is_file()):
            with suppress(OSError):
                path.unlink()
                click.echo(f"removed {path}, which was of an earlier run", err=True)
        raise


def write_outputs(report: Report, outputs: Iterable[Output]) -> None:
    """
    Write *report* to each of *outputs*, each file whole or not at all.

    Raises:
        UsageError: a file could not be written.
    """
    for output in outputs:
        write_output(output, WRITERS[output.kind](report), f"the {output.kind} report")


def write_output(output: Output, text: str, called: str) -> None:
    """
    Write *text*, which errors call *called*, whole or not at all.

    Raises:
        UsageError: the file could not be written.
    """
    try:
        _write_whole(output.path, text)
    except OSError as error:
        raise UsageError(f"{output.path}: {called} could not be written: {error.strerror}") from None


def _write_whole(path: Path, text: str) -> None:
    """A reader never sees half a file, and a full disk leaves the one that was there."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")  # /dev/stdout, a pipe: nothing to replace
        return
    handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """The process's own, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
