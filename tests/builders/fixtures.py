"""Fixtures that tests of all kinds take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the test, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def engine() -> Iterator[ScriptedEngine]:
    """The scripted engine, with the rankings that it begins with."""
    with ScriptedEngine() as server:
        yield server
