"""What extensions add to tests that hold for each command, in the module `cases` beside their own tests; and a mark."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from harness.extensions import NAMES


def needs_extension(name: str) -> pytest.MarkDecorator:
    """
    Marks a test of the core that takes a command of the extension *name*: it is skipped where that was taken away.

    What the test imports of the extension it imports itself.
    """
    return pytest.mark.skipif(name not in NAMES, reason=f"needs the extension {name}")


def list_cases(kind: str) -> list[Any]:
    """The cases of this *kind* of all extensions: what each has in its list of this name."""
    return [case for cases in _find_cases(kind) for case in cases]


def map_cases(kind: str) -> dict[str, Any]:
    """The cases of this *kind* of all extensions by their names."""
    return {name: case for cases in _find_cases(kind) for name, case in cases.items()}


def _find_cases(kind: str) -> Iterator[Any]:
    for name in NAMES:
        cases = importlib.import_module(f"extensions.{name}.cases")
        if hasattr(cases, kind):
            yield getattr(cases, kind)
