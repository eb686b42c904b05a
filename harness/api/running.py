"""Suites from Python: run one and decide its thresholds."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Unpack

from harness.api.choices import (
    Options,
    check_options,
    merge_options,
    read_argument,
    refuse,
)
from harness.api.evaluation import Scores, evaluate
from harness.config import Configs
from harness.errors import HarnessError, UsageError
from harness.extensions import load_extensions
from harness.gate.decide import compute_exit_status
from harness.gate.selection import QueryFilter
from harness.masking import Environment
from harness.model.report import QueryReport, RankedDocument, SuiteReport
from harness.model.run import Run, Status, Verdict
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.report.output_files import refuse_inputs, write_report
from harness.report.outputs import SUFFIXES, find_output
from harness.report.terminal import run as run_texts
from harness.run import Runner, choose_history, explain_undecided, make_report
from harness.run.cell import Progress
from harness.run.finished import FinishedSuite
from harness.run.keeping import keep_suite
from harness.search.connection import Closing
from harness.suites.inputs import RunInputs
from harness.words import did_you_mean, one_of


def _find_method(name: str) -> Callable[..., Any]:
    """
    The function of an extension that a method calls.

    Raises:
        UsageError: No extension has it.
    """
    for extension in load_extensions():
        for method in extension.methods:
            if method.name == name:
                function: Callable[..., Any] = getattr(import_module(method.module), method.function)
                return function
    raise UsageError(f"{name} is no part of this installation")


class SuiteRun(Scores):
    """A suite that ran, with its report and verdicts."""

    def __init__(self, finished: FinishedSuite, options: RunOptions) -> None:
        """
        Args:
            finished: The suite, its run and the report on it.
            options: Those of the run.
        """
        super().__init__(finished.suite, finished.run, depth=finished.suite.depth, today=options.day())
        self.report: SuiteReport = finished.report
        self._options = options
        self._undecided = explain_undecided([finished.report], QueryFilter.from_options(options))

    @property
    def title(self) -> str:
        """Its suite and its request."""
        title = f"{self.report.name}, request {self.report.request}"
        if self._options.body is not None:
            title += " with another body"
        return title

    @property
    def queries(self) -> Sequence[QueryReport]:
        """The report of each query: outcome, scores, ranking with grades, missing documents."""
        return self.report.queries

    def query(self, query: str) -> QueryReport:
        """
        The report of one query, by its id: outcome, scores, ranking with grades, missing documents.

        Raises:
            UsageError: there is no such query.
        """
        by_id = {report.id: report for report in self.report.queries}
        if read_argument("query", query) not in by_id:
            raise UsageError(f"there is no query {query!r}{did_you_mean(query, by_id)}")
        return by_id[query]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of the gate on each threshold."""
        return self.report.verdicts

    def _list_measures(self) -> Sequence[str]:
        """The suite's measures, and those of the thresholds of tags and queries."""
        return list(dict.fromkeys(measure for query in self.report.queries for measure in query.scores))

    def _iterate_rankings(self) -> Iterator[tuple[str, Sequence[RankedDocument]]]:
        """As in `Scores`, with the titles that were looked up."""
        for query in self.report.queries:
            yield query.id, query.ranking

    def _repr_html_(self) -> str:
        """The report in short, for notebooks."""
        from harness.report.html.notebook import render_run_summary

        return render_run_summary(self.report)

    def write_report(self, path: str | os.PathLike[str]) -> None:
        """
        Write the report, as the end of the name says: `.html`, `.json`, `.md`, `.csv`, `.junit.xml`, or
        `.codequality.json` for GitLab.

        Raises:
            UsageError: *path* is no path, the suffix is unknown, the run reads the file, or it could not be written; an
                existing file then stays.
        """
        output = find_output(read_argument("path", path))
        if output is None:
            raise UsageError(f"{os.fspath(path)}: a report's name ends with {one_of(SUFFIXES)}")
        refuse_inputs([output], RunInputs([Path(self.report.path)], self._options, os.environ))
        write_report(make_report([self.report], undecided=self._undecided), output)

    def assert_thresholds(self) -> None:
        """
        Raise AssertionError unless the suite's thresholds hold.

        Raises:
            AssertionError: a threshold failed or could not be judged, or a query has no answer; the message shows the
                worst queries with their rankings.
            UsageError: the suite has no thresholds that could hold.
        """
        if not self.verdicts:
            for_request = f" for the request {self.report.request!r}" if self.report.for_other_requests else ""
            raise UsageError(f"{self.report.path}: there are no thresholds{for_request}")
        if compute_exit_status([self.report]) != 0:
            raise AssertionError("\n\n".join(self._list_complaints()))

    def _list_complaints(self) -> list[str]:
        """What does not hold, then the queries without an answer that no threshold names."""
        complaints = []
        blamed: set[str] = set()
        for verdict in self.verdicts:
            if verdict.status is Status.FAILED or verdict.status.is_undecided:
                complaints.append(run_texts.format_failure(self.report, verdict))
                blamed.update(verdict.blamed)
        unanswered = self.report.unanswered.values()
        complaints += [f"{query.id}: {query.reason}" for query in unanswered if query.id not in blamed]
        return complaints


P = ParamSpec("P")
T = TypeVar("T")


def _raise_here(call: Callable[P, T]) -> Callable[P, T]:
    """
    *call*, whose errors for users have no frames below: their local variables hold logins and texts of queries.

    A file name that the system does not take is one of them.
    """

    @wraps(call)
    def call_here(*arguments: P.args, **named_arguments: P.kwargs) -> T:
        """Call it, and raise its error from here. pytest shows no frame that has the name below."""
        __tracebackhide__ = True
        try:
            return call(*arguments, **named_arguments)
        except HarnessError as error:
            raise error.with_traceback(None) from None
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise UsageError(f"{str(error.filename)[:100]}…: the file name is too long") from None

    return call_here


@dataclass(frozen=True, slots=True)
class Caller:
    """What a `Relevance` gives to an extension that runs suites: its options, its way to answer, its environment."""

    options: RunOptions
    answer: Callable[[Suite, RunOptions, Configs], tuple[Run, str]]
    environ: Mapping[str, str]


class Relevance(Closing):
    """
    Runs suites from Python.

    A context manager: connections, and the embedded node if one is used, stay open from one suite to the next.
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
            options: The defaults for every call.
            environ: Where variables and logins are looked up; the process's own where None.
            progress: Receives how far a run is.

        Raises:
            UsageError: an argument has the wrong type.
        """
        self._root = read_argument("root", root) or Path()
        self._options = RunOptions() if options is None else check_options(options)
        if environ is not None and not isinstance(environ, Mapping):
            refuse("environ", environ, "a mapping from variable to value, or None")
        self._environ = Environment(os.environ if environ is None else environ)
        if not isinstance(progress, Progress | None):
            refuse("progress", progress, "an object with the methods of harness.run.cell.Progress, or None")
        self._runner = Runner(self._environ, progress)

    @_raise_here
    def run(self, suite: str | os.PathLike[str], **options: Unpack[Options]) -> SuiteRun:
        """
        Run one suite and decide its thresholds; call `SuiteRun.assert_thresholds` to raise where they do not hold.

        Args:
            suite: The path of its file.
            options: Options of this run. *url*, *cluster*, *embedded* and *client* each replace the others.

        Raises:
            InputError: the suite or relevance.toml is wrong.
            UsageError: *suite* is a folder, or an option is unknown or cannot be met.
            EngineStartError: the embedded node could not be started.
        """
        run_options = merge_options(self._options, options)
        path = self._root / read_argument("suite", suite)
        if path.is_dir():
            raise UsageError(f"{path} is a folder, expected the file of a suite")
        return self._run(path, run_options)

    @_raise_here
    def compare(
        self,
        reference: str | os.PathLike[str] | Scores,
        candidate: str | os.PathLike[str] | Scores,
        *,
        suite: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """
        Compare *candidate* with *reference*; call `ComparedRuns.assert_thresholds` to raise where thresholds do not
        hold.

        Args:
            reference: The side to compare with: a text as for ``relevance compare``, such as ``request:current`` or
                ``baseline``, the path of a file, or the result of `run` or `evaluate`.
            candidate: The side to compare, in the same forms.
            suite: The path of a suite, which gives queries, judgments and requests. Without it, results of `run` or
                `evaluate` are scored by their own judgments.
            options: Options of this comparison; those of `run` apply to sides that are searched.

        Returns:
            What was compared: a `ComparedRuns`.

        Raises:
            InputError: the suite, or a file that is compared, is wrong.
            UsageError: an option is unknown, or cannot be met.
            BaselineError: a baseline cannot be read.
            EngineStartError: the embedded node could not be started.
        """
        path = None if suite is None else self._root / read_argument("suite", suite)
        caller = Caller(self._options, self._answer, self._environ)
        return _find_method("compare")(caller, (reference, candidate), path, options)

    def _run(self, path: Path, options: RunOptions) -> SuiteRun:
        """Run the suite at *path*; overridden where a session runs each suite once."""
        configs = Configs.from_options(options, self._environ)
        options = choose_history(options, configs)
        [finished] = self._runner.run([path], options, configs=configs)
        finished = keep_suite(finished, self._environ)
        if finished.report.not_kept:
            warnings.warn(finished.report.not_kept, RuntimeWarning, stacklevel=4)
        return SuiteRun(finished, options)

    def _answer(self, suite: Suite, options: RunOptions, configs: Configs) -> tuple[Run, str]:
        """Run a loaded suite as a side of a comparison; overridden as `_run`."""
        return self._runner.answer_suite(suite, options, configs)

    evaluate = staticmethod(evaluate)

    def close(self) -> None:
        """Close the connections, and end the embedded node."""
        self._runner.close()
