"""
One process at a time grades as a judge, and one serves the links of a suite's judges: a lock in a hidden file beside
the judge's file, or that of the links.

Two processes with one file would show stale grades, undo each other's steps, and take a line that the other has half
written for one that was cut off. The system ends a lock together with its process, so that a killed one leaves nothing
that blocks.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from harness.errors import UsageError

try:
    flock: Any = import_module("fcntl")
except ImportError:  # not on Windows
    flock = None

MOST_BYTES = 1000
"""Bytes that are read of who has the lock."""


@contextmanager
def hold_judge_file(path: Path, judge: str) -> Iterator[bool]:
    """
    Keep other processes from grading as *judge*, whose file is *path*, until the block ends.

    The block receives whether they are kept from it: False on Windows and on a disk without locks.

    Raises:
        UsageError: Another process grades as *judge*, or the file of the lock cannot be opened.
    """
    remedy = "finish on its page or end it with Ctrl-C, or grade under another name with --judge"
    with _hold(path, f"grades as {judge} already; {remedy}") as is_held:
        yield is_held


@contextmanager
def hold_links(path: Path) -> Iterator[bool]:
    """
    Keep other processes from serving the judges whose links are in the file *path*, as `hold_judge_file` does.

    Raises:
        UsageError: Another process serves them, or the file of the lock cannot be opened.
    """
    with _hold(path, "serves judges of this suite already; end it with Ctrl-C, or name its judges there") as is_held:
        yield is_held


@contextmanager
def _hold(path: Path, conflict: str) -> Iterator[bool]:
    """Hold the lock beside *path*; *conflict* says what the process does that holds it already."""
    lock_path = build_lock_path(path)
    if flock is None:
        yield False
        return
    file, is_locked = _open_locked(lock_path, path, conflict)
    with file:
        if not is_locked:
            yield False
            return
        try:
            _write_owner(file)
            yield True
        finally:
            # Removed while it is locked: a process that opened it meanwhile sees that it is gone, and makes a new one.
            lock_path.unlink(missing_ok=True)


def build_lock_path(path: Path) -> Path:
    """
    The file of the lock for the judge's file *path*.

    >>> str(build_lock_path(Path("shop.judged-by.anna.jsonl")))
    '.shop.judged-by.anna.jsonl.lock'
    """
    return path.with_name(f".{path.name.removeprefix('.')}.lock")


def _open_locked(lock_path: Path, path: Path, conflict: str) -> tuple[IO[bytes], bool]:
    """The file of the lock, and whether it is locked; raises as `hold_judge_file`."""
    while True:
        file = _open_lock_file(lock_path)
        try:
            flock.flock(file, flock.LOCK_EX | flock.LOCK_NB)
        except BlockingIOError:
            with file:
                owner = _describe_owner(file)
            raise UsageError(f"{path}: {owner} {conflict}") from None
        except OSError:
            return file, False  # a disk without locks
        # Its last owner may have removed the file after it was opened here. Then the lock keeps nobody out.
        if _is_at(lock_path, file):
            return file, True
        file.close()


def _open_lock_file(lock_path: Path) -> IO[bytes]:
    # A link is not followed: a stranger's folder may have one to any file, which would be overwritten.
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(lock_path, flags, 0o666), "r+b")
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(
            f"{lock_path}: the lock on the judge's file cannot be opened: {reason}; remove this file, or choose "
            "another folder with --progress"
        ) from None


def _is_at(path: Path, file: IO[bytes]) -> bool:
    """Whether *file* is still the one at *path*."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _write_owner(file: IO[bytes]) -> None:
    """Write who holds the lock, for the message to a second process."""
    owner = {
        "process": os.getpid(),
        "host": platform.node(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    file.truncate(0)
    file.write(json.dumps(owner).encode())
    file.flush()


def _describe_owner(file: IO[bytes]) -> str:
    """The process that holds the lock, as far as *file* says it."""
    try:
        owner = json.loads(file.read(MOST_BYTES))
        process, host = int(owner["process"]), str(owner["host"])
        started = datetime.fromisoformat(owner["started"]).astimezone()
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        # It began just now, or the file holds something else.
        return "another process"
    place = "" if host == platform.node() else f" on {host}"
    return f"process {process}{place}, started {started:%Y-%m-%d %H:%M},"
