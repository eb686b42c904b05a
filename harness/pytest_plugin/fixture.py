"""The value of the fixture `relevance`."""

from __future__ import annotations

from pathlib import Path

from harness.api import Relevance
from harness.api.running import SuiteRun
from harness.config import Configs
from harness.errors import HarnessError
from harness.gate.decide import compute_exit_status
from harness.model.run import Run
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.pytest_plugin.outcomes import list_run_properties
from harness.pytest_plugin.runs import SessionRuns
from harness.pytest_plugin.session import ERROR
from harness.run.finished import FinishedSuite


class SessionRelevance(Relevance):
    """Runs suites as `Relevance` does, with the options of the session, and each suite once per session."""

    def __init__(self, runs: SessionRuns, root: Path) -> None:
        """
        Args:
            runs: The runs of the session, shared with its items.
            root: The folder that relative paths start from.
        """
        super().__init__(root, options=runs.make_options())
        self._runs = runs

    def _run(self, path: Path, options: RunOptions) -> SuiteRun:
        """As `Relevance` does; the suite runs once per session, and its figures are properties of the test."""
        finished = self._finish(path, options)
        item = self._runs.relevance_session.item
        if item is not None:
            # A test may run a suite several times.
            properties = list_run_properties(finished.report)
            item.user_properties.extend(entry for entry in properties if entry not in item.user_properties)
        return SessionSuiteRun(finished, path, options, self._runs)

    def _answer(self, suite: Suite, options: RunOptions, configs: Configs) -> tuple[Run, str]:  # noqa: ARG002
        """As `Relevance` does, from the run of the session."""
        finished = self._finish(Path(suite.path), options)
        return finished.run, finished.report.cluster

    def _finish(self, path: Path, options: RunOptions) -> FinishedSuite:
        """The suite at *path* with its run; one that cannot run is recorded as an error, and raised."""
        try:
            return self._runs.run_suite(path, options)
        except HarnessError:
            self._runs.record_assertion(path, options, ERROR)
            raise


class SessionSuiteRun(SuiteRun):
    """A suite that ran for a test. The reports of the session decide its thresholds if the test asserts them."""

    def __init__(self, finished: FinishedSuite, path: Path, options: RunOptions, runs: SessionRuns) -> None:
        """
        Args:
            finished: The suite, its run and the report on it.
            path: The file of the suite.
            options: Those of the run.
            runs: The runs of the session.
        """
        super().__init__(finished, options)
        self._path, self._options, self._runs = path, options, runs

    def assert_thresholds(self) -> None:
        """As in `SuiteRun`."""
        __tracebackhide__ = True
        if self.verdicts:
            self._runs.record_assertion(self._path, self._options, compute_exit_status([self.report]))
        super().assert_thresholds()
