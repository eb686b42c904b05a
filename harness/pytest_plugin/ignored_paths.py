"""
Paths in a folder that pytest ignores although they are named like suites, or hold suites.

Each becomes a collector beside the folder's others, so that it is reported if the whole folder is collected, and not if
only one of its files was named.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness.suites.discovery import is_suite_name, misnamed_text

if TYPE_CHECKING:
    from harness.pytest_plugin.session import RelevanceSession

__all__ = ["MisnamedFile", "RelevanceWarning", "left_out_in"]


class RelevanceWarning(pytest.PytestWarning):
    """A threshold of severity warning that fails; or a file that only its name keeps from being a suite."""


class MisnamedFile(pytest.File):
    """A file with almost the suffix of a suite: a warning, and no item."""

    def collect(self) -> Iterator[pytest.Item]:
        """
        Warn of it.

        Raises:
            CollectError: warnings are errors in this session.
        """
        try:
            self.warn(RelevanceWarning(misnamed_text(Path(self.nodeid))))
        except RelevanceWarning as warning:
            raise self.CollectError(str(warning)) from None
        yield from ()


class LeftOutPath(pytest.File):
    """A folder or a suite that pytest ignores: no item."""

    def __init__(self, *, relevance: RelevanceSession, **others: Any) -> None:
        super().__init__(**others)
        self.relevance = relevance

    def collect(self) -> Iterator[pytest.Item]:
        """Record the path for the summary."""
        self.relevance.left_out.append(self.path)
        yield from ()


def left_out_in(folder: pytest.Directory, relevance: RelevanceSession) -> Iterator[pytest.Collector]:
    """Collectors of the paths that pytest ignored in *folder*, after the folder was collected."""
    for path in relevance.ignored.pop(folder.path, ()):
        if path.is_dir() or is_suite_name(path.name):
            yield LeftOutPath.from_parent(folder, path=path, relevance=relevance)
