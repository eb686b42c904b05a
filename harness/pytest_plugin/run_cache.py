"""
The runs of suites in a session: each suite runs once, whichever of its items, fixtures or processes asks first.

In one process the runs stay in memory. Under pytest-xdist every worker has some of the items, so the workers also share
a folder: the first to get a suite's lock runs it and writes the report, or the error, to a file. The system releases
the lock of a worker that is killed; as there is no file then, the next worker runs the suite.

If an item runs again, queries without an answer are sent again and the others keep theirs, so that the report agrees
with the items that were decided before.
"""

from __future__ import annotations

import os
import secrets
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from harness.errors import EntryPoint, HarnessError, InputError, Problem, UsageError
from harness.files.folders import Folder
from harness.files.locks import hold_lock
from harness.files.versioned import VersionedJson
from harness.masking import fingerprint
from harness.model.report import SuiteReport
from harness.model.run import Run
from harness.options import RunOptions
from harness.run.finished import FinishedSuite

ENDING = (KeyboardInterrupt, pytest.exit.Exception)
"""What ends the session, also where a hook raises it. Other outcomes of pytest, such as a skip, belong to no suite."""


class RunFailed(HarnessError):
    """A suite could not run; the text is that of the first error, in whichever process it occurred."""


@dataclass(frozen=True, slots=True)
class CachedRun:
    """A suite that ran, here or in another process."""

    report: SuiteReport
    finished: FinishedSuite | None = field(default=None, compare=False)
    """None where another process ran the suite; see `load_run`."""
    file: Path | None = field(default=None, compare=False)
    """Has the run where another process ran the suite."""

    @property
    def path(self) -> str:
        """The suite's file."""
        return self.report.path

    def load_run(self) -> Run:
        """The run, read from its file where it is not in memory: few readers need it."""
        if self.finished is not None:
            return self.finished.run
        assert self.file is not None, "a run is in memory or in a file"
        return _RUN.read(self.file)


@dataclass(frozen=True, slots=True)
class CachedError:
    """Why the suite at *path* could not run."""

    path: str
    error: str
    """The whole message."""
    sentence: str
    """One line of it."""
    problems: tuple[Problem, ...] = ()
    """Those in files."""


CacheEntry: TypeAlias = CachedRun | CachedError


@dataclass(frozen=True, slots=True)
class SharedEntry:
    """An entry in a file: the report of a run with the name of the run's file, or an error."""

    report: SuiteReport | None = None
    run: str = ""
    error: CachedError | None = None


_RUN = VersionedJson(Run, "run of another process", had_no_version=True)
_ENTRY = VersionedJson(SharedEntry, "report of another process", had_no_version=True)

ExecuteSuite: TypeAlias = Callable[[Path, RunOptions, CachedRun | None], FinishedSuite]
"""Runs a suite under its options; given an earlier run, sends only the queries without an answer."""


class RunCache:
    """The runs of one process, shared with others where there is a *folder*."""

    def __init__(self, execute: ExecuteSuite, folder: Path | None = None) -> None:
        self._execute = execute
        self._folder = folder
        self._entries: dict[str, CacheEntry] = {}
        self._clients: list[Any] = []

    def run_once(self, path: Path, options: RunOptions, *, again: bool = False) -> CachedRun:
        """
        The run of the suite at *path*, which runs now if it has not yet.

        Args:
            path: The suite's file.
            options: The options of the run.
            again: Whether to send queries without an answer again, unless another process has done so meanwhile.

        Raises:
            RunFailed: it could not be run, here or in the process that tried first.
        """
        name = name_run(path, options)
        entry = self._entries.get(name)
        if entry is None or (again and _is_incomplete(entry)):
            # The name of a run has the id of its client, which another object would get if this one were dropped.
            self._clients.append(options.client)
            if self._folder is None:
                entry = self._make_entry(path, options, entry)
            else:
                entry = self._share_entry(self._folder / f"{name}.json", path, options, entry)
            self._entries[name] = entry
        if isinstance(entry, CachedError):
            raise RunFailed(entry.error)
        return entry

    def list_entries(self) -> dict[str, CacheEntry]:
        """The runs of this process, or of all that share the folder, by the names that `name_run` gives."""
        if self._folder is None:
            return dict(self._entries)
        return {file.stem: read_cached(file) for file in sorted(self._folder.glob("*.json"))}

    def _share_entry(self, file: Path, path: Path, options: RunOptions, known: CacheEntry | None) -> CacheEntry:
        """
        The entry in *file*, which processes share; where there is none, or only what is *known* here, the suite runs
        now and is written to it.
        """
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with hold_lock(Folder(file.parent), f"{file.stem}.lock", waits=True):
                stored = read_cached(file) if file.exists() else None
                # What is not known here is news of another process, which ran the suite, or ran it again. Entries are
                # equal if their reports are: the other fields of a CachedRun, of which a file has fewer than memory,
                # are not compared. A report is equal to the one read from its JSON form, which loses nothing.
                if stored is not None and stored != known:
                    return stored
                entry = self._make_entry(path, options, stored)
                write_cached(file, entry)
                return entry
        except (OSError, UsageError) as error:
            reason = f"{getattr(error, 'strerror', None) or error}; TMPDIR names another folder for it"
            sentence = f"the run cannot be written for the other workers: {reason}"
            return CachedError(str(locate_suite(path)), sentence, sentence)

    def _make_entry(self, path: Path, options: RunOptions, known: CacheEntry | None) -> CacheEntry:
        """Run the suite; of a run that is *known* only the queries without an answer are sent again."""
        path = locate_suite(path)
        known_run = known if isinstance(known, CachedRun) else None
        try:
            finished = self._execute(path, options, known_run)
        except HarnessError as error:
            text = error.text(EntryPoint.PYTEST)
            problems = error.problems if isinstance(error, InputError) else ()
            return CachedError(str(path), text, text.partition("\n")[0], problems)
        except ENDING:
            raise
        except BaseException:
            # A bug of the harness or of a plugin: every further item would only raise it again, or be skipped by it.
            text = traceback.format_exc()
            return CachedError(str(path), text, text.strip().splitlines()[-1])
        return CachedRun(finished.report, finished)


def _is_incomplete(entry: CacheEntry) -> bool:
    """Whether the suite could not run, or a query has no answer."""
    return isinstance(entry, CachedError) or bool(entry.report.unanswered)


def locate_suite(path: Path) -> Path:
    """The place of a suite; a link in another folder is another suite, with the files beside the link."""
    return path.parent.resolve() / path.name


def name_run(path: Path, options: RunOptions) -> str:
    """A name for the run, and of its file; with a client object it differs per process, as its server may."""
    # The client is not among the options that are printed: it counts by its identity.
    client = [] if options.client is None else [os.getpid(), id(options.client)]
    return fingerprint([str(locate_suite(path)), str(options), *client])


def write_cached(file: Path, entry: CacheEntry) -> None:
    """
    Write *entry* to *file*, and its run, which only some readers need, to another file beside it.

    Each call gives that file a new name, and *file*, which is written last, names it. So a reader always sees files of
    the same run, even if the process is killed meanwhile, or the suite ran again since *file* was read. No file is
    removed here, as another process may still read it.
    """
    if isinstance(entry, CachedError):
        shared = SharedEntry(error=entry)
    else:
        name = f"{file.stem}.{secrets.token_hex(4)}.run"
        _RUN.write(file.with_name(name), entry.load_run())
        shared = SharedEntry(entry.report, name)
    _ENTRY.write(file, shared)


def read_cached(file: Path) -> CacheEntry:
    """Read what `write_cached` wrote, but the run."""
    entry = _ENTRY.read(file)
    if entry.error is not None:
        return entry.error
    assert entry.report is not None, "an entry is a report or an error"
    return CachedRun(entry.report, file=file.with_name(entry.run))
