"""
What pytest passes over in a folder, though it is called as suites are, or holds some.

Each becomes a collector beside the folder's others, so that it is told where the folder is collected whole, and not
where one of its files was named.
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
    """A threshold that fails, in a suite that asks for a warning then; or a file that is no suite by its name alone."""


class MisnamedFile(pytest.File):
    """A file that is called almost as suites are: a warning, and no item."""

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
    """A folder that pytest does not enter, or a suite that it was told to ignore: no item."""

    def __init__(self, *, relevance: RelevanceSession, **others: Any) -> None:
        super().__init__(**others)
        self.relevance = relevance

    def collect(self) -> Iterator[pytest.Item]:
        """Keep it for the summary."""
        self.relevance.left_out.append(self.path)
        yield from ()


def left_out_in(folder: pytest.Directory, relevance: RelevanceSession) -> Iterator[pytest.Collector]:
    """Collectors of what *folder* holds and pytest ignored, once it has been collected."""
    for path in relevance.ignored.pop(folder.path, ()):
        if path.is_dir() or is_suite_name(path.name):
            yield LeftOutPath.from_parent(folder, path=path, relevance=relevance)
