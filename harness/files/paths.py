"""Paths as they are shown, and the names of files beside a suite."""

from __future__ import annotations

from pathlib import Path


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
