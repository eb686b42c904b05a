"""
One process at a time grades as a judge, and one serves the links of a suite's judges: a lock in a hidden file beside
the judge's file, or that of the links.

Two processes with one file would show stale grades, undo each other's steps, and take a line that the other has half
written for one that was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from harness.errors import UsageError
from harness.files.beside import BesideFile
from harness.files.locks import LockHeld


@contextmanager
def lock_judge_file(file: BesideFile, judge: str) -> Iterator[bool]:
    """
    Keep other processes from grading as *judge*, whose file is *file*, until the block ends.

    The block receives whether they are kept from it: False on a disk without locks.

    Raises:
        UsageError: Another process grades as *judge*, or the file of the lock cannot be opened.
    """
    remedy = "finish on its page or end it with Ctrl-C, or grade under another name with --judge"
    with _lock_file(file, f"grades as {judge} already; {remedy}") as is_held:
        yield is_held


@contextmanager
def lock_links(file: BesideFile) -> Iterator[bool]:
    """
    Keep other processes from serving the judges whose links are in *file*, as `lock_judge_file` does.

    Raises:
        UsageError: Another process serves them, or the file of the lock cannot be opened.
    """
    with _lock_file(
        file, "serves judges of this suite already; end it with Ctrl-C, or name its judges there"
    ) as is_held:
        yield is_held


@contextmanager
def _lock_file(file: BesideFile, conflict: str) -> Iterator[bool]:
    """Hold the lock beside *file*; *conflict* says what the process does that holds it already."""
    lock_path = build_lock_path(file.path)
    with ExitStack() as resources:
        try:
            is_held = resources.enter_context(replace(file, path=lock_path).hold_lock())
        except LockHeld as held:
            raise UsageError(f"{file.path}: {held.owner} {conflict}") from None
        except OSError as error:
            raise UsageError(
                f"{lock_path}: the lock on the judge's file cannot be opened: {error.strerror or error}; remove this "
                "file, or choose another folder with --progress"
            ) from None
        yield is_held


def build_lock_path(path: Path) -> Path:
    """
    The file of the lock for the judge's file *path*.

    >>> str(build_lock_path(Path("shop.judged-by.anna.jsonl")))
    '.shop.judged-by.anna.jsonl.lock'
    """
    return path.with_name(f".{path.name.removeprefix('.')}.lock")
