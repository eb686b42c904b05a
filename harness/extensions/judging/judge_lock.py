"""
One process at a time grades as a judge, and one serves the links of a suite's judges: a lock in a hidden file beside
the judge's file, or that of the links.

Two processes with one file would show stale grades, undo each other's steps, and take a line that the other has half
written for one that was cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.files.beside import BesideFile

_REMEDY = "remove this file, or choose another folder with --progress"


@contextmanager
def lock_judge_file(file: BesideFile, judge: str) -> Iterator[bool]:
    """
    Keep other processes from grading as *judge*, whose file is *file*, until the block ends.

    The block receives whether they are kept from it: False on a disk without locks.

    Raises:
        UsageError: Another process grades as *judge*, or the file of the lock cannot be opened.
    """
    remedy = "finish on its page or end it with Ctrl-C, or grade under another name with --judge"
    with file.keep_others_out(f"grades as {judge} already; {remedy}", _REMEDY) as is_held:
        yield is_held


@contextmanager
def lock_links(file: BesideFile) -> Iterator[bool]:
    """
    Keep other processes from serving the judges whose links are in *file*, as `lock_judge_file` does.

    Raises:
        UsageError: Another process serves them, or the file of the lock cannot be opened.
    """
    conflict = "serves judges of this suite already; end it with Ctrl-C, or name its judges there"
    with file.keep_others_out(conflict, _REMEDY) as is_held:
        yield is_held
