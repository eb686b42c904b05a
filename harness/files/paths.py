"""Paths as they are shown."""

from __future__ import annotations

from pathlib import Path


def shorten_path(path: Path) -> Path:
    """*path* relative to the working folder where possible, as reports show it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
