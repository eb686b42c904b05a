"""A plugin that looks for examples in docstrings only where there are some."""

from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """
    Leave out the modules whose text has no example.

    To find that a module has none, `--doctest-modules` imports it and looks at each of its functions and classes.
    """
    collectors = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [collector for collector in collectors if type(collector).__name__ != "DoctestModule"]
    return collectors
