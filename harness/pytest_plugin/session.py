"""One pytest session's suites: its options, its runs, its engine, and what is left to do at its end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError, Problem, SuiteError
from harness.pytest_plugin.node import LocalNode, Node, NodeHost, RemoteNode
from harness.pytest_plugin.runs import Failed, Finished, RunFailed, SuiteRuns

if TYPE_CHECKING:
    from harness.model import Report, Suite, SuiteReport
    from harness.options import RunOptions
    from harness.pytest_plugin.options import PluginOptions
    from harness.pytest_plugin.outcomes import LoneQueries
    from harness.pytest_plugin.plan import PlannedItem
    from harness.run.execution import FinishedSuite

__all__ = ["RelevanceSession"]


class RelevanceSession:
    """
    What the hooks share.

    Without pytest-xdist one process does all. With it the workers run suites, and the controller owns the folder
    they share, the embedded node, the reports and the summary. *is_due* says that a suite is to run, so that
    a session without a report came to grief. *runs_again* says that the item which is set up was set up just before.
    *named* are the paths of the command line. *ignored* maps a folder to what pytest ignores in it, *left_out* are such
    paths in folders that it collects whole.
    """

    def __init__(self, options: PluginOptions, folder: Path | None = None) -> None:
        """
        Args:
            options: What the user asked for.
            folder: In a worker, the folder that the controller made.
        """
        self.options = options
        self.written: list[Path] = []
        self.removed: list[Path] = []
        self.updated: list[str] = []
        self.problems: list[str] = []
        self.refusals: list[Problem] = []
        self.suites_collected: list[Suite] = []
        self.named: frozenset[Path] = frozenset()
        self.ignored: dict[Path, list[Path]] = {}
        self.left_out: list[Path] = []
        self.is_due = False
        self.runs_again = False
        self._setting_up: str | None = None
        self._today = date.today()
        self.is_worker = folder is not None
        self._folder = folder
        self._nodes: dict[str | None, Node] = {}
        self._host: NodeHost | None = None
        self._runs = SuiteRuns(self._run, folder)
        self._first_requests: dict[Path, str] = {}

    def plan(self, suite: Suite) -> tuple[PlannedItem, ...]:
        """The items of *suite* under the options of this session, one of each for each of several cells."""
        from harness.pytest_plugin.plan import for_cells, plan_items

        self.suites_collected.append(suite)
        options = self.options
        items = plan_items(suite, each_query=options.each_query, tags=options.run.tags, today=self._today)
        return for_cells(items, suite, options.requests, options.indexes)

    def load(self, path: Path, environ: Mapping[str, str] | None) -> Suite:
        """The suite at *path*, without an environment where it is only collected; raises as `load_suite`."""
        from harness.suites import load_suite

        try:
            suite = load_suite(_from_here(path), environ)
        except SuiteError as error:
            self.refused(error.problems)
            raise
        self._first_requests[path.resolve()] = next(iter(suite.requests))
        return suite

    def refused(self, problems: Iterable[Problem]) -> None:
        """Keep what is wrong in suites, each problem once, however many processes found it."""
        self.refusals.extend(problem for problem in problems if problem not in self.refusals)

    def ignores(self, path: Path) -> bool:
        """
        Whether to ignore *path* as pytest would, and keep that it is.

        Not where it is named, or holds what is, and that holds suites: of ``. build`` pytest 9 takes the first alone.
        """
        from harness.suites.discovery import suites_left_in

        above = [named for named in self.named if named.is_relative_to(path)]
        if any(suites_left_in(named) if named.is_dir() else named.suffix in (".yaml", ".yml") for named in above):
            return False
        self.ignored.setdefault(path.parent, []).append(path)
        return True

    def set_up(self, nodeid: str) -> None:
        """Know whether the item of that id runs again, as pytest-rerunfailures and others have it."""
        self.runs_again, self._setting_up = nodeid == self._setting_up, nodeid

    def report_on(self, path: Path, request: str | None = None, index: str | None = None) -> SuiteReport:
        """
        The report on the suite at *path* under `run_options`; it runs if it has not, and what had no answer is asked
        again where an item runs again.

        Raises:
            RunFailed: it could not be run.
        """
        options = self._shared(path, self.run_options(request, index))
        return self._runs.finished(path, options, again=self.runs_again).report

    def lone_queries(self, path: Path, request: str | None = None, index: str | None = None) -> LoneQueries:
        """Judges single queries of the suite at *path* as it ran for its items."""
        from harness.pytest_plugin.outcomes import LoneQueries

        return LoneQueries(lambda: self.finished(path, self.run_options(request, index), os.environ), self._today)

    def finished(self, path: Path, options: RunOptions, environ: Mapping[str, str]) -> FinishedSuite:
        """
        As `report_on`, under other options, with all that the report was made from.

        Raises:
            RunFailed: it could not be run.
            SuiteError: it has changed since it ran, and is wrong now.
        """
        done = self._runs.finished(path, self._shared(path, options), again=self.runs_again)
        return self._whole(done, path, options, environ)

    def _whole(self, done: Finished, path: Path, options: RunOptions, environ: Mapping[str, str]) -> FinishedSuite:
        """*done* with its suite, which is read anew where another process ran it."""
        from harness.gate.selection import select
        from harness.masking import question_fingerprint
        from harness.metrics.run_scores import score_run
        from harness.run.execution import FinishedSuite

        suite, run, others = done.suite, done.run(), done.others
        if suite is None:
            selection = select(self.load(path, environ), options.tags, self._today)
            suite, others = selection.selected, selection.others
            asked = {query.id: question_fingerprint(query) for query in suite.queries}
            if asked != {query.id: query.question for query in done.report.queries}:
                raise RunFailed(f"{_from_here(path)}: the suite was changed after it ran")
        return FinishedSuite(suite, run, score_run(suite, run), done.report, others)

    def run_options(self, request: str | None = None, index: str | None = None) -> RunOptions:
        """
        The options as the pipeline takes them, with *request* and *index*, or with the first that was asked for where
        one is None.
        """
        options = self.options
        return replace(
            options.run,
            request=request or next(iter(options.requests), None),
            index=index or next(iter(options.indexes), None),
            today=self._today,
        )

    def shared_folder(self) -> Path:
        """The folder that workers share, made by the controller for its first worker."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="relevance-session-"))
            self._runs = SuiteRuns(self._run, self._folder)
            if self.options.run.embedded:
                self._host = NodeHost(self.options.run.engine_version, self._folder)
        return self._folder

    def finish(self) -> None:
        """Write what was asked for, in the controller; what cannot be written is a problem to show."""
        if self.is_worker:
            return
        if self.options.run.save_baseline:
            self._update_baselines()
        if self.options.reports or self.options.github:
            self._write_reports()

    def _update_baselines(self) -> None:
        """Keep what ran for items; what a fixture ran under options of its own is not what suites are held to."""
        from harness.pytest_plugin.options import save_baselines

        try:
            finished = [done for request in self.options.requests or (None,) for done in self._finished_with(request)]
        except HarnessError as error:
            self.problems.append(str(error))
            return
        self.updated, problems = save_baselines(finished, self.run_options())
        self.problems.extend(problems)

    def _finished_with(self, request: str | None) -> Iterator[FinishedSuite]:
        asked = self.run_options(request)
        done = self._runs.under(lambda path: self._shared(path, asked))
        for path in sorted({Path(each.report.path) for each in done}):
            yield self.finished(path, asked, os.environ)

    def _write_reports(self) -> None:
        from harness.pytest_plugin.options import summarise
        from harness.report.outputs import remove_outdated, render, write_output

        report, outputs = self.report(), self.options.reports
        if report is not None:
            for output in outputs:
                try:
                    write_output(output, render(report, output.kind), "the report")
                except HarnessError as error:
                    self.problems.append(str(error))
                else:
                    self.written.append(output.path)
        elif self.is_due or self.failures():
            self.removed, problems = remove_outdated(outputs)
            self.problems.extend(problems)
        if self.options.github is not None:
            self.problems.extend(summarise(self.options.github, report, self.failures(), self.refusals))

    def report(self) -> Report | None:
        """All suites that ran, by their paths, then in the order of requests and indexes; None where none did."""
        done = [each.report for each in self._runs.all() if isinstance(each, Finished)]
        if not done:
            return None
        from harness.run import make_report

        return make_report(sorted(done, key=self._place))

    def _place(self, report: SuiteReport) -> tuple[str, int, str, int, str]:
        """Where *report* stands among others; what a fixture ran with names of its own comes behind."""
        requests, indexes, index = self.options.requests, self.options.indexes, report.index or ""
        sent = requests.index(report.request) if report.request in requests else len(requests)
        searched = indexes.index(index) if index in indexes else len(indexes)
        return report.path, sent, report.request, searched, index

    def unread(self) -> dict[Path, int]:
        """How many suites each of the paths holds that pytest left out, as far as there are any."""
        from harness.suites.discovery import suites_left_in

        counts = {path: len(suites_left_in(path)) if path.is_dir() else 1 for path in sorted(set(self.left_out))}
        return {_from_here(path): count for path, count in counts.items() if count}

    def failures(self) -> list[Failed]:
        """The suites that did not run, each once."""
        failed = {each.path: each for each in self._runs.all() if isinstance(each, Failed)}
        return [replace(failed[path], path=str(_from_here(Path(path)))) for path in sorted(failed)]

    def close(self) -> None:
        """End what was started, and remove what was shared."""
        for node in self._nodes.values():
            node.close()
        if self._host is not None:
            self._host.close()
        if self._folder is not None and not self.is_worker:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _shared(self, path: Path, options: RunOptions) -> RunOptions:
        """*options* as the key of a run: the first request is the same one whether or not it is named."""
        if options.request is None:
            return options
        try:
            first = self._first_requests.get(path.resolve()) or next(iter(self.load(path, None).requests))
        except HarnessError:
            return options  # the run will tell what is wrong
        return replace(options, request=None) if options.request == first else options

    def _run(self, path: Path, options: RunOptions, done: Finished | None) -> FinishedSuite:
        from harness.run import connections_for, run_with

        earlier = None if done is None else self._whole(done, path, options, os.environ)
        if options.embedded:
            # The node is the session's own: nobody else's index can be on it.
            url = self._node(options.engine_version).url()
            options = replace(options, url=url, embedded=False, engine_version=None, allow_write=True)
        with connections_for(options, os.environ) as connections:
            [finished] = run_with(connections, [_from_here(path)], options, environ=os.environ, earlier=earlier)
        return finished

    def _node(self, version: str | None) -> Node:
        """The node of *version*: a worker gets the session's from the controller, and any other is its own."""
        if version not in self._nodes:
            shared = self._folder if self.options.run.embedded and version == self.options.run.engine_version else None
            self._nodes[version] = LocalNode(version) if shared is None else RemoteNode(shared)
        return self._nodes[version]


def _from_here(path: Path) -> Path:
    """*path* as short as people write it, since reports show it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
