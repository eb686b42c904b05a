"""The suite that ``relevance init`` writes: six judged queries over a small catalog, for the embedded engine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from harness.errors import UsageError
from harness.files.beside import BesideFile
from harness.files.writing import refuse_existing

__all__ = ["IGNORED", "keep_out_of_git", "list_not_ignored", "list_scaffold_files", "write_scaffold"]

IGNORE_FILE = ".gitignore"

IGNORED = ("*.journal", "*.journal.lock", ".*.judges.json", ".*.lock", ".*.part")
"""
What stands beside a suite and is of this machine only: journals with answers and trials, whose links the judges have,
locks, and what a killed process has half written.
"""


def list_scaffold_files() -> dict[str, str]:
    """Each file's path, with slashes, and its text."""
    return dict(sorted(_iterate_files(resources.files(__name__) / "files", "")))


def write_scaffold(folder: Path, remedy: str = "") -> list[Path]:
    """
    Write the suite to *folder*, which is created if it is missing; *remedy* is for the error if a file is there.

    Returns:
        The files written.

    Raises:
        UsageError: one of the files exists already, and then none is written; or the folder cannot be written to.
    """
    files = {folder / name: text for name, text in list_scaffold_files().items()}
    refuse_existing(files, remedy)
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    return list(files)


def keep_out_of_git(folder: Path) -> Path | None:
    """
    Write a file to *folder* that keeps out of git what is of this machine only, unless there is one.

    Returns:
        The path if it was written.

    Raises:
        UsageError: It cannot be written.
    """
    path = folder / IGNORE_FILE
    file = BesideFile(path)
    if file.exists():
        return None
    try:
        file.write("\n".join(["# What relevance keeps beside suites for this machine only.", *IGNORED, ""]))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path


def list_not_ignored(folder: Path) -> list[str]:
    """Which lines of `IGNORED` the file of *folder* that says what git ignores lacks; none if it cannot be read."""
    try:
        lines = BesideFile(folder / IGNORE_FILE).read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    known = {line.strip() for line in lines}
    return [line for line in IGNORED if line not in known]


def _iterate_files(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _iterate_files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_text(encoding="utf-8")
