"""What extensions add to the tests that hold for each command: the module `cases` beside the tests of each."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from harness.extensions import NAMES


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
