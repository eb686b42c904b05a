"""Each suite runs once in a session, whichever of its items, fixtures or processes asks first."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from harness.errors import EntryPoint, HarnessError, InputError, Problem
from harness.files.writing import write_whole
from harness.model import SuiteReport

if TYPE_CHECKING:
    from harness.model import Query, Run, Suite
    from harness.options import RunOptions
    from harness.run.execution import FinishedSuite

__all__ = ["Failed", "Finished", "RunFailed", "SuiteRuns", "read_folder"]


# Each suite runs once in a session, whichever of its items, fixtures or processes asks first.
#
# In one process the others find the report in memory. Under pytest-xdist every worker has some of the items, so the
# workers also share a folder: the first to get a suite's lock runs it and leaves the report, or what went wrong, in a
# file. The system lets go of the lock of a worker that is killed, and as that one left no file, the next runs the
# suite.
#
# Where an item runs again, what had no answer is asked again and what was answered stays, so that the report agrees
# with the items that were decided before.


class RunFailed(HarnessError):
    """A suite did not run; the text is that of the first error, in whichever process it came up."""


@dataclass(frozen=True, slots=True)
class Finished:
    """
    A suite that ran; *run* is not read back before somebody asks for it.

    *suite* is what ran, with the queries that were selected, and *others* are its other queries; None, and none, where
    another process ran it.
    """

    report: SuiteReport
    run: Callable[[], Run] = field(compare=False)
    suite: Suite | None = field(default=None, compare=False)
    others: tuple[Query, ...] = field(default=(), compare=False)

    @property
    def lacks_answers(self) -> bool:
        """Whether a query had none."""
        return any(query.outcome.is_unanswered for query in self.report.queries)


@dataclass(frozen=True, slots=True)
class Failed:
    """
    A suite that did not, and why: *error* is all that is known, *sentence* one line of it, *problems* what is wrong in
    files.
    """

    path: str
    error: str
    sentence: str
    problems: tuple[Problem, ...] = ()

    @property
    def lacks_answers(self) -> bool:
        """Nothing was answered."""
        return True


Execute: TypeAlias = "Callable[[Path, RunOptions, Finished | None], FinishedSuite]"
"""Runs a suite under its options; where it ran before, only what had no answer then is asked."""


class SuiteRuns:
    """The runs of one process, shared with others where there is a *folder*."""

    def __init__(self, run: Execute, folder: Path | None = None) -> None:
        self._run = run
        self._folder = folder
        self._done: dict[tuple[Path, RunOptions], Finished | Failed] = {}

    def finished(self, path: Path, options: RunOptions, *, again: bool = False) -> Finished:
        """
        The run of the suite at *path*, made now if it was not yet.

        Args:
            path: The suite's file.
            options: What was asked for.
            again: Whether to ask again what had no answer, unless another process has done so meanwhile.

        Raises:
            RunFailed: it could not be run, here or in the process that tried first.
        """
        key = (_identity(path), options)
        known = self._done.get(key)
        if known is None or (again and known.lacks_answers):
            share = self._folder
            self._done[key] = self._execute(*key, known) if share is None else self._share(share, *key, known)
        done = self._done[key]
        if isinstance(done, Failed):
            raise RunFailed(done.error)
        return done

    def all(self) -> list[Finished | Failed]:
        """What ran in this process, or in any that shares the folder."""
        return list(self._done.values()) if self._folder is None else read_folder(self._folder)

    def under(self, options: Callable[[Path], RunOptions]) -> list[Finished]:
        """What ran under the *options* of its path, here or in any process that shares the folder."""
        if self._folder is None:
            mine = [done for (path, asked), done in self._done.items() if asked == options(path)]
            return [done for done in mine if isinstance(done, Finished)]
        files = {file: _read(file) for file in sorted(self._folder.glob("*.json"))}
        return [
            done
            for file, done in files.items()
            if isinstance(done, Finished) and file.stem == _stem(_identity(Path(done.report.path)), options)
        ]

    def _share(
        self, folder: Path, path: Path, options: RunOptions, known: Finished | Failed | None
    ) -> Finished | Failed:
        """What is in the file, unless there is none, or nothing else than is *known*."""
        from filelock import FileLock

        folder.mkdir(parents=True, exist_ok=True)
        name = _name(path, options)
        file = folder / f"{name}.json"
        with FileLock(folder / f"{name}.lock"):
            found = _read(file) if file.exists() else None
            if found is not None and found != known:
                return found
            done = self._execute(path, options, found)
            _write(file, done)
        return done

    def _execute(self, path: Path, options: RunOptions, known: Finished | Failed | None) -> Finished | Failed:
        try:
            finished = self._run(path, options, known if isinstance(known, Finished) else None)
        except HarnessError as error:
            text = error.text(EntryPoint.PYTEST)
            problems = error.problems if isinstance(error, InputError) else ()
            return Failed(str(path), text, text.partition("\n")[0], problems)
        except Exception:
            # A defect of ours or of a plugin: every item that asked would only meet it again.
            text = traceback.format_exc()
            return Failed(str(path), text, text.strip().splitlines()[-1])
        return Finished(finished.report, lambda: finished.run, finished.suite, finished.others)


def _identity(path: Path) -> Path:
    """A link in another folder is another suite: its files and its harness.toml are those beside the link."""
    return path.parent.resolve() / path.name


def _name(path: Path, options: RunOptions) -> str:
    return hashlib.sha256(f"{path}\n{options}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _stem(path: Path, options: Callable[[Path], RunOptions]) -> str:
    return _name(path, options(path))


def read_folder(folder: Path) -> list[Finished | Failed]:
    """What is in a shared folder."""
    return [_read(file) for file in sorted(folder.glob("*.json"))]


def _write(file: Path, done: Finished | Failed) -> None:
    if isinstance(done, Failed):
        text = json.dumps(asdict(done))
    else:
        from harness.report.json import dumps_report
        from harness.run import make_report

        _write_run(file.with_suffix(".run"), done.run())
        text = dumps_report(make_report([done.report]))
    write_whole(file, text)


def _read(file: Path) -> Finished | Failed:
    text = file.read_text(encoding="utf-8")
    raw = json.loads(text)
    if "error" in raw:
        return Failed(**raw | {"problems": tuple(Problem(**problem) for problem in raw["problems"])})
    from harness.report.json import loads_report

    return Finished(loads_report(text, path=str(file)).suites[0], lambda: _read_run(file.with_suffix(".run")))


def _write_run(file: Path, run: Run) -> None:
    from pydantic import TypeAdapter

    from harness.model import Run

    file.write_text(json.dumps(TypeAdapter(Run).dump_python(run, mode="json")), encoding="utf-8")


def _read_run(file: Path) -> Run:
    from pydantic import TypeAdapter

    from harness.model import Run

    return TypeAdapter(Run).validate_python(json.loads(file.read_text(encoding="utf-8")))
