"""The value of the fixture `relevance`."""

from __future__ import annotations

import os
from pathlib import Path

from harness.api import Relevance
from harness.config import Configs
from harness.masking import Environment
from harness.model import Run, Suite
from harness.options import RunOptions
from harness.pytest_plugin.outcomes import run_properties
from harness.pytest_plugin.runs import SessionRuns
from harness.run.execution import FinishedSuite


class SessionRelevance(Relevance):
    """Runs suites as `Relevance` does, with the options of the session, and each suite once per session."""

    def __init__(self, runs: SessionRuns, root: Path) -> None:
        """
        Args:
            runs: The runs of the session, shared with its items.
            root: The folder that relative paths start from.
        """
        super().__init__(root, options=runs.run_options())
        self._runs = runs

    def _finish(self, path: Path, options: RunOptions) -> FinishedSuite:
        finished = self._runs.finished(path, options, Environment(os.environ))
        if (item := self._runs.session.item) is not None:
            told = run_properties(finished.report)
            item.user_properties.extend(one for one in told if one not in item.user_properties)
        return finished

    def _answer(self, suite: Suite, options: RunOptions, configs: Configs) -> Run:  # noqa: ARG002
        return self._runs.finished(Path(suite.path), options, Environment(os.environ)).run
