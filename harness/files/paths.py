"""
Paths as they are shown, and the names of files: those beside a suite, and of the configuration.

Every session of pytest imports this module, if the package is installed; it imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError

CONFIG_NAME = "relevance.toml"
FORMER_NAME = "harness.toml"
"""The name before version 1.0. It may hold `addresses` and `variables`, so a file of that name is not ignored."""


def config_path(start: Path) -> Path | None:
    """
    The relevance.toml in the folder *start* or the nearest folder above it, None where there is none.

    A broken link is returned too, and a file of the former name, so that reading it raises an error: a file further up
    may name other servers.
    """
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        for path in (candidate / CONFIG_NAME, candidate / FORMER_NAME):
            if path.is_file() or path.is_symlink():
                return path
    return None


def cut_suffix(suite: Path) -> str:
    """
    The name of the file of a suite without its suffix, by which the files beside it are named.

    >>> cut_suffix(Path("suites/shop.relevance.yaml"))
    'shop'
    """
    return suite.name.removesuffix(".yaml").removesuffix(".relevance")


def shorten_path(path: Path) -> Path:
    """*path* relative to the working folder where possible, as reports show it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def refuse_repeated(sources: Sequence[str], *, are_files: bool = True) -> None:
    """
    Refuse a source that is given twice: its clicks, queries or judgments would count twice.

    Args:
        sources: As the user gave them; files may have their kind before them, as in ``qrels=FILE``.
        are_files: Whether they are files, which may be given by several paths; else they are names.

    Raises:
        UsageError: Names the source, and its other path.
    """
    by_identity: dict[object, str] = {}
    for source in sources:
        identity = _identify_file(source) if are_files else source
        if identity in by_identity:
            earlier = by_identity[identity]
            reason = "is given twice" if earlier == source else f"is the same as {earlier}"
            raise UsageError(f"{source} {reason}, and would count twice; give it once")
        by_identity[identity] = source


def _identify_file(source: str) -> tuple[int, int] | str:
    """What two paths of one file have in common; the text itself where there is no such file."""
    for path in (source, source.partition("=")[2]):  # FILE or KIND=FILE
        if not path:
            continue
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            continue
        # A file system without inode numbers has 0 for each file, and all would be the same.
        if status.st_ino:
            return status.st_dev, status.st_ino
    return source
