"""Suites from Python: run one, or compare two runs side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from harness.api.choices import CompareChoices, Options, check_options, merged, read_argument, refuse
from harness.api.evaluating import evaluate
from harness.api.scores import Scores
from harness.errors import UsageError
from harness.gate import exit_status
from harness.model import QueryReport, SideKind, Status, SuiteReport, Verdict
from harness.run.execution import FinishedSuite, Progress
from harness.run.options import RunOptions
from harness.run.sharing import SharedConnections
from harness.search.wire import Closing

if TYPE_CHECKING:
    from harness.api.comparing import ComparedRuns, Wanted
    from harness.compare.sides import ComparedSide

__all__ = ["Relevance", "SuiteRun"]


class SuiteRun(Scores):
    """A suite that ran, with its report and verdicts."""

    def __init__(self, finished: FinishedSuite, today: date) -> None:
        """
        Args:
            finished: The suite, its run and the report on it.
            today: The day that waivers were held against.
        """
        super().__init__(finished.suite, finished.run, depth=finished.suite.depth, today=today)
        self.report: SuiteReport = finished.report

    def contender(self, name: str) -> ComparedSide:  # noqa: ARG002
        """As in `Scores`, called by its suite and its request."""
        from harness.compare.sides import of_run

        return of_run(self.suite, self.report, f"{self.report.name}, request {self.report.request}", SideKind.PYTHON)

    @property
    def queries(self) -> tuple[QueryReport, ...]:
        """What is known of each query: outcome, scores, ranking with grades, missing documents."""
        return self.report.queries

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What the gate decided about each threshold."""
        return self.report.verdicts

    def assert_thresholds(self) -> None:
        """
        Hold the rankings to the suite's thresholds.

        Raises:
            AssertionError: a threshold failed or could not be judged, or a query has no answer; the message shows the
                worst queries with their rankings.
            UsageError: the suite has no thresholds that could hold.
        """
        if not self.verdicts:
            raise UsageError(f"{self.report.path}: there are no thresholds to hold the rankings to")
        if exit_status([self.report]) != 0:
            raise AssertionError("\n\n".join(self._complaints()))

    def _complaints(self) -> list[str]:
        from harness.report.terminal.run import failure_text

        broken = [one for one in self.verdicts if one.status is Status.FAILED or one.status.is_undecided]
        complaints = [failure_text(self.report, verdict) for verdict in broken]
        blamed = {query for verdict in broken for query in verdict.blamed}
        unanswered = [query for query in self.queries if query.outcome.is_unanswered]
        return complaints + [f"{query.id}: {query.reason}" for query in unanswered if query.id not in blamed]


class Relevance(Closing):
    """
    Runs suites from Python.

    A context manager: connections, and the embedded node where one is asked for, stay open from one suite to the next.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        options: RunOptions | None = None,
        environ: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """
        Args:
            root: The folder that relative suite paths start from; the working directory where None.
            options: What holds for every suite unless a call says otherwise.
            environ: Where variables and logins are looked up; the process's own where None.
            progress: Told how far a run is.

        Raises:
            UsageError: an argument is not of its kind.
        """
        self._root = read_argument("root", root) or Path()
        self._options = RunOptions() if options is None else check_options(options)
        self._environ = _environ_of(environ)
        if not isinstance(progress, Progress | None):
            refuse("progress", progress, "an object with the methods of harness.run.execution.Progress, or None")
        self._shared = SharedConnections(self._environ, progress)

    def run(self, suite: str | os.PathLike[str], **options: Unpack[Options]) -> SuiteRun:
        """
        Run one suite and decide its thresholds; whether they hold is for `SuiteRun.assert_thresholds` to say.

        Args:
            suite: The path of its file.
            options: What this run asks for otherwise. *url*, *cluster*, *embedded* and *client* each take the place of
                the others.

        Raises:
            InputError: the suite or harness.toml is wrong.
            UsageError: *suite* is a folder, or an option is not known or asks for what cannot be.
            EngineStartError: the embedded node could not be started.
        """
        asked = merged(self._options, options)
        path = self._root / read_argument("suite", suite)
        if path.is_dir():
            raise UsageError(f"{path} is a folder, expected the file of a suite")
        return SuiteRun(self._finish(path, asked), asked.day())

    def compare(
        self,
        reference: Wanted,
        candidate: Wanted,
        *,
        suite: str | os.PathLike[str] | None = None,
        **options: Unpack[CompareChoices],
    ) -> ComparedRuns:
        """
        Compare *candidate* with *reference*; whether thresholds hold is for `ComparedRuns.assert_thresholds` to say.

        Args:
            reference: What is compared with: a text as ``harness compare`` takes it, such as ``request:current`` or
                ``baseline``, the path of a file, or what `run` or `evaluate` returned.
            candidate: What is compared.
            suite: The path of a suite, which gives queries, judgments and requests. Without, what `run` or `evaluate`
                returned is scored by its own.
            options: What this comparison asks for otherwise; those of `run` hold where a side has to be asked.

        Raises:
            InputError: the suite, or a file that is compared, is wrong.
            UsageError: an option is not known, or what is asked for cannot be.
            BaselineError: a baseline cannot be read.
            EngineStartError: the embedded node could not be started.
        """
        from harness.api.comparing import compare_runs

        path = None if suite is None else self._root / read_argument("suite", suite)
        return compare_runs((reference, candidate), path, options, self._options, self._finish, self._environ)

    def _finish(self, path: Path, asked: RunOptions) -> FinishedSuite:
        """Run the suite at *path*; a session that runs each suite once does this otherwise."""
        return self._shared.run(path, asked)

    evaluate = staticmethod(evaluate)

    def close(self) -> None:
        """Close the connections, and end the embedded node."""
        self._shared.close()


def _environ_of(given: object) -> Mapping[str, str]:
    if given is not None and not isinstance(given, Mapping):
        refuse("environ", given, "a mapping from variable to value, or None")
    return os.environ if given is None else given
