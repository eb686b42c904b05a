"""The suite that ``harness init`` writes: six judged queries over a small catalog, for the embedded engine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from harness.errors import UsageError
from harness.files.writing import refuse_existing

__all__ = ["list_scaffold_files", "write_scaffold"]


def list_scaffold_files() -> dict[str, str]:
    """Each file's path, with slashes, and its text."""
    return dict(sorted(_iterate_files(resources.files(__name__) / "files", "")))


def write_scaffold(folder: Path) -> list[Path]:
    """
    Write the suite to *folder*, which is created if it is missing.

    Returns:
        The files written.

    Raises:
        UsageError: one of the files exists already, and then none is written; or the folder cannot be written to.
    """
    files = {folder / name: text for name, text in list_scaffold_files().items()}
    refuse_existing(files)
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise UsageError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    return list(files)


def _iterate_files(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _iterate_files(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_text(encoding="utf-8")
