"""Paths as a repository knows its files, whichever folder a command was given in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["gitlab_repository", "path_in"]


def path_in(repository: Path, path: str) -> str:
    """*path* from the root of *repository*, with slashes; as it is where the file is not in there."""
    views: tuple[Callable[[str | Path], str], ...] = (os.path.abspath, os.path.realpath)
    for view in views:  # a link to a suite is a file of the repository, and its root may be below a link
        place, root = Path(view(path)), Path(view(repository))
        if place.is_relative_to(root):
            return place.relative_to(root).as_posix()
    return Path(path).as_posix()


def gitlab_repository(environ: Mapping[str, str]) -> Path:
    """The root of the repository in a job of GitLab CI; elsewhere the working folder."""
    return Path(environ.get("CI_PROJECT_DIR") or ".")
