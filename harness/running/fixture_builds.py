"""The indexes that suites of one run build for themselves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.model import Fixture, Suite

if TYPE_CHECKING:
    from harness.search import Search

__all__ = ["FixtureBuilds"]


class FixtureBuilds:
    """Builds each index once, however many requests are sent to it; what went wrong is told to each of them."""

    def __init__(self, *, allow_write: bool) -> None:
        """
        Args:
            allow_write: Whether the user said that the harness may write to the cluster.
        """
        self._allow_write = allow_write
        self._built: dict[str, str | SearchError] = {}

    def index_of(self, suite: Suite, fixture: Fixture, search: Search) -> str:
        """
        The index of *fixture*, which is that of *suite*; raises as `ensure_index`.

        A file of the suite that cannot be used is no outcome of its queries, and is told anew each time.
        """
        if suite.path not in self._built:
            self._built[suite.path] = self._build(suite, fixture, search)
        built = self._built[suite.path]
        if isinstance(built, SearchError):
            raise built
        return built

    def _build(self, suite: Suite, fixture: Fixture, search: Search) -> str | SearchError:
        from harness.search.fixtures import ensure_index

        base = Path(suite.path).parent
        try:
            return ensure_index(search, fixture, base, suite.name, allow_write=self._allow_write)
        except SearchError as error:
            return error
