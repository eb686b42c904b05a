"""What the fixture `relevance` gives."""

from __future__ import annotations

import os
from pathlib import Path

from harness.api import Relevance
from harness.config import Configs
from harness.model import Run, Suite
from harness.options import RunOptions
from harness.pytest_plugin.runs import SessionRuns
from harness.run.execution import FinishedSuite

__all__ = ["SessionRelevance"]


class SessionRelevance(Relevance):
    """Runs suites as `Relevance` does, under the options of the session, and each suite once in it."""

    def __init__(self, runs: SessionRuns, root: Path) -> None:
        """
        Args:
            runs: Of the session, for its items too.
            root: The folder that relative paths start from.
        """
        super().__init__(root, options=runs.run_options())
        self._runs = runs

    def _finish(self, path: Path, options: RunOptions) -> FinishedSuite:
        if options.client is not None:
            # Another client may be another server: what ran over it is nobody else's.
            return super()._finish(path, options)
        return self._runs.finished(path, options, os.environ)

    def _answer(self, suite: Suite, options: RunOptions, configs: Configs) -> Run:
        if options.client is not None:
            return super()._answer(suite, options, configs)
        return self._runs.finished(Path(suite.path), options, os.environ).run
