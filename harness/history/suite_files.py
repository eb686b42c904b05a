"""Which entries of a history are of one file of a suite: two files may have suites of one name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from harness.config import CONFIG_NAME
from harness.model.history import HistoryEntry


def name_suite_file(suite: Path, folder: Path) -> str:
    """
    The file of a *suite* as entries in *folder* have it: the same in each checkout, from any working folder.

    It is relative to the root of the project, or to *folder* where no root is found. Links are followed.
    """
    path, root = suite.resolve(), _find_root(suite, folder)
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:
        # On Windows, the two may be on two drives.
        return path.name


def _find_root(suite: Path, folder: Path) -> Path:
    """The root of the project of *suite*: its working tree of git, else the uppermost folder with a relevance.toml."""
    folders = suite.resolve().parents
    for parent in folders:
        if (parent / ".git").exists():
            return parent
    for parent in reversed(folders):
        if (parent / CONFIG_NAME).is_file():
            return parent
    return folder.resolve()


def select_of_file(
    entries: Sequence[HistoryEntry], suite: Path, folder: Path
) -> tuple[list[HistoryEntry], tuple[str, ...]]:
    """
    Those of *entries* that are of the file *suite*, and the other files that the rest is of.

    An entry that names no file counts: it is of an earlier version. So does one of a file that the project has no
    longer, if it was kept before all entries of *suite*: the file was renamed or moved. If such a file ends with the
    same path, the root of its project was found in another place, and all of its entries count.

    Args:
        entries: Of suites of the name of this one, in the order in which they were kept.
        suite: The file of the suite.
        folder: The folder of the history.
    """
    own, root = name_suite_file(suite, folder), _find_root(suite, folder)
    first = next((place for place, entry in enumerate(entries) if entry.file == own), len(entries))
    others: dict[str, None] = {}
    for name in dict.fromkeys(entry.file for entry in entries):
        if name is None or name == own:
            continue
        last = max(place for place, entry in enumerate(entries) if entry.file == name)
        is_moved = last < first or _is_same_end(name, own)
        if (root / name).is_file() or not is_moved:
            others[name] = None
    return [entry for entry in entries if entry.file not in others], tuple(others)


def _is_same_end(first: str, second: str) -> bool:
    """Whether one of two relative paths ends with the other."""
    short, long = sorted((PurePosixPath(first).parts, PurePosixPath(second).parts), key=len)
    return long[len(long) - len(short) :] == short
