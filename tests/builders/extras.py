"""Packages that extras install, for files of tests that need them."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

__all__ = ["skip_without"]


def skip_without(*packages: str) -> None:
    """
    Skip the file of tests unless all *packages* are installed.

    None is imported, as `pytest.importorskip` would in each process that collects, for up to a second in those
    that this is meant for.
    """
    for package in packages:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed", allow_module_level=True)
