"""Finished and failed runs of suites, in files of a folder that the workers of pytest-xdist share."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from harness.errors import Problem
from harness.files.writing import write_whole
from harness.model import Query, Run, Suite, SuiteReport
from harness.report.json import dumps_report, loads_report
from harness.run import make_report


@dataclass(frozen=True, slots=True)
class Finished:
    """
    A suite that ran; *run* is read back on first access.

    *suite* is the suite with the queries that were selected, and *others* are its other queries; None and empty where
    another process ran it.
    """

    report: SuiteReport
    run: Callable[[], Run] = field(compare=False)
    suite: Suite | None = field(default=None, compare=False)
    others: Sequence[Query] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Failed:
    """A suite that could not run: *error* is the message, *sentence* one line of it, *problems* those in files."""

    path: str
    error: str
    sentence: str
    problems: tuple[Problem, ...] = ()


def read_folder(folder: Path) -> dict[Path, Finished | Failed]:
    """The runs in a shared folder, by their files."""
    return {file: read_run(file) for file in sorted(folder.glob("*.json"))}


def write_run(file: Path, done: Finished | Failed) -> None:
    """
    Write *done* to *file*, and its run, which only some readers need, to another file beside it.

    Each call gives that file a new name, and *file*, which is written last, names it. So a reader always sees files of
    the same run, even if the process is killed meanwhile, or the suite ran again since *file* was read. No file is
    removed here, as another process may still read it.
    """
    if isinstance(done, Failed):
        content = asdict(done)
    else:
        name = f"{file.stem}.{secrets.token_hex(4)}"
        _write_run(file.with_name(f"{name}.run"), done.run())
        content = {"report": dumps_report(make_report([done.report])), "name": name}
    write_whole(file, json.dumps(content))


def read_run(file: Path) -> Finished | Failed:
    """Read what `write_run` wrote; the run itself is read on access."""
    content = json.loads(file.read_text(encoding="utf-8"))
    if "error" in content:
        return Failed(**content | {"problems": tuple(Problem(**problem) for problem in content["problems"])})
    [report] = loads_report(content["report"], path=str(file)).suites
    return Finished(report, lambda: _read_run(file.with_name(f"{content['name']}.run")))


def _write_run(file: Path, run: Run) -> None:
    write_whole(file, json.dumps(TypeAdapter(Run).dump_python(run, mode="json")))


def _read_run(file: Path) -> Run:
    return TypeAdapter(Run).validate_python(json.loads(file.read_text(encoding="utf-8")))
