"""What the fixture `relevance` gives."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from harness.api import Relevance
from harness.options import RunOptions
from harness.run.execution import FinishedSuite

if TYPE_CHECKING:
    from harness.config import Configs
    from harness.model import Run, Suite
    from harness.pytest_plugin.session import RelevanceSession

__all__ = ["SessionRelevance"]


class SessionRelevance(Relevance):
    """Runs suites as `Relevance` does, under the options of the session, and each suite once in it."""

    def __init__(self, session: RelevanceSession, root: Path) -> None:
        """
        Args:
            session: Runs the suites, for their items too.
            root: The folder that relative paths start from.
        """
        super().__init__(root, options=session.run_options())
        self._session = session

    def _finish(self, path: Path, asked: RunOptions) -> FinishedSuite:
        if asked.client is not None:
            # Another client may be another server: what ran over it is nobody else's.
            return super()._finish(path, asked)
        return self._session.finished(path, asked, os.environ)

    def _answer(self, suite: Suite, asked: RunOptions, configs: Configs) -> Run:
        if asked.client is not None:
            return super()._answer(suite, asked, configs)
        return self._session.finished(Path(suite.path), asked, os.environ).run
