"""
Each suite runs once in a session, whichever of its items, fixtures or processes asks first.

In one process the report stays in memory. Under pytest-xdist every worker has some of the items, so the workers also
share a folder: the first to get a suite's lock runs it and writes the report, or the error, to a file. The system
releases the lock of a worker that is killed; as there is no file then, the next worker runs the suite.

If an item runs again, queries without an answer are sent again and the others keep theirs, so that the report agrees
with the items that were decided before.
"""

from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pytest
from filelock import FileLock

from harness.baseline import reference_for
from harness.baseline.questions import UsedValues
from harness.config import Configs
from harness.errors import EntryPoint, HarnessError, InputError, Problem, SuiteError, UsageError
from harness.gate.selection import QueryFilter, needs_baseline, select
from harness.hooks import Hooks, installed_hooks, installed_plugins
from harness.masking import Environment
from harness.metrics.score import score_run
from harness.model import MissingSuite, Reference, Report, Suite, SuiteReport
from harness.options import RunOptions
from harness.process import terminated_as_interrupted
from harness.pytest_plugin.decisions import DecidingItems, report_as_decided
from harness.pytest_plugin.node import LocalNode, RemoteNode
from harness.pytest_plugin.outcomes import LoneQueries
from harness.pytest_plugin.plan import PlannedItem, for_cells, plan_items
from harness.pytest_plugin.run_files import Failed, Finished, read_folder, read_run, write_run
from harness.pytest_plugin.session import Assertion, RelevanceSession, from_here
from harness.report.github_step import GitHubStep
from harness.report.outputs import refuse_inputs, remove_outdated, write_report
from harness.run import Runner, make_report
from harness.run.cell import FinishedSuite
from harness.suites import load_suite
from harness.suites.inputs import RunInputs


class RunFailed(HarnessError):
    """A suite could not run; the text is that of the first error, in whichever process it occurred."""


ENDING = (KeyboardInterrupt, pytest.exit.Exception)
"""What ends the session, also where a hook raises it. Other outcomes of pytest, such as a skip, belong to no suite."""

Execute: TypeAlias = "Callable[[Path, RunOptions, Finished | None], FinishedSuite]"
"""Runs a suite under its options; given an earlier run, sends only the queries without an answer."""


class SuiteRuns:
    """The runs of one process, shared with others where there is a *folder*."""

    def __init__(self, run: Execute, folder: Path | None = None) -> None:
        self._run = run
        self._folder = folder
        self._done: dict[tuple[Path, RunOptions, int | None], Finished | Failed] = {}

    def finished(self, path: Path, options: RunOptions, *, again: bool = False) -> Finished:
        """
        The run of the suite at *path*, which runs now if it has not yet.

        Args:
            path: The suite's file.
            options: The options of the run.
            again: Whether to send queries without an answer again, unless another process has done so meanwhile.

        Raises:
            RunFailed: it could not be run, here or in the process that tried first.
        """
        path, share = _identity(path), self._folder
        key = _key(path, options)
        known = self._done.get(key)
        if known is None or (again and (isinstance(known, Failed) or known.report.unanswered)):
            run = self._execute if share is None else partial(self._share, share)
            self._done[key] = run(path, options, known)
        done = self._done[key]
        if isinstance(done, Failed):
            raise RunFailed(done.error)
        return done

    def has_finished(self, path: Path, options: RunOptions) -> bool:
        """Whether the suite at *path* ran under *options*, here or in any process that shares the folder."""
        path = _identity(path)
        if self._folder is None:
            return isinstance(self._done.get(_key(path, options)), Finished)
        file = self._folder / f"{name_run(path, options)}.json"
        return file.exists() and isinstance(read_run(file), Finished)

    def named(self) -> dict[str, Finished | Failed]:
        """The runs of this process, or of all that share the folder, by the names that `name_run` gives."""
        if self._folder is None:
            return {name_run(path, options): done for (path, options, _), done in self._done.items()}
        return {file.stem: done for file, done in read_folder(self._folder).items()}

    def all(self) -> list[Finished | Failed]:
        """As `named`, without the names."""
        return list(self.named().values())

    def under(self, options: Callable[[Path], RunOptions]) -> list[Finished]:
        """The runs under the *options* of their paths, here or in any process that shares the folder."""
        if self._folder is None:
            mine = [done for key, done in self._done.items() if key == _key(key[0], options(key[0]))]
            return [done for done in mine if isinstance(done, Finished)]
        finished = [(file, done) for file, done in read_folder(self._folder).items() if isinstance(done, Finished)]
        named = ((file, done, _identity(Path(done.report.path))) for file, done in finished)
        return [done for file, done, path in named if file.stem == name_run(path, options(path))]

    def _share(
        self, folder: Path, path: Path, options: RunOptions, known: Finished | Failed | None
    ) -> Finished | Failed:
        """The run in the file; runs the suite if there is no file, or only the run that is *known*."""
        name = name_run(path, options)
        file = folder / f"{name}.json"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / f"{name}.lock"):
                found = read_run(file) if file.exists() else None
                if found is not None and found != known:
                    return found
                done = self._execute(path, options, found)
                write_run(file, done)
                return done
        except OSError as error:
            reason = f"{error.strerror or error}; TMPDIR names another folder for it"
            sentence = f"the run cannot be written for the other workers: {reason}"
            return Failed(str(path), sentence, sentence)

    def _execute(self, path: Path, options: RunOptions, known: Finished | Failed | None) -> Finished | Failed:
        try:
            finished = self._run(path, options, known if isinstance(known, Finished) else None)
        except HarnessError as error:
            text = error.text(EntryPoint.PYTEST)
            problems = error.problems if isinstance(error, InputError) else ()
            return Failed(str(path), text, text.partition("\n")[0], problems)
        except ENDING:
            raise
        except BaseException:
            # A bug of the harness or of a plugin: every further item would only raise it again, or be skipped by it.
            text = traceback.format_exc()
            return Failed(str(path), text, text.strip().splitlines()[-1])
        return Finished(finished.report, lambda: finished.run, finished.suite, finished.others)


def _identity(path: Path) -> Path:
    """The identity of a suite; a link in another folder is another suite, with the files beside the link."""
    return path.parent.resolve() / path.name


def _key(path: Path, options: RunOptions) -> tuple[Path, RunOptions, int | None]:
    """The key of a run; client objects count by identity, which is stable while options hold them."""
    return path, options, None if options.client is None else id(options.client)


def name_run(path: Path, options: RunOptions) -> str:
    """A name for the run, and of its file; with a client object it differs per process, as its server may."""
    client = "" if options.client is None else f"\n{os.getpid()} {id(options.client)}"
    return hashlib.sha256(f"{_identity(path)}\n{options}{client}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _own_index(suite: Suite, request: str) -> str | None:
    """The index of *request* if none is selected; None where it has no name before the run, or there is none."""
    template = suite.requests[request]
    is_known = template.http is None and suite.fixture is None
    return (template.index or suite.target.index) if is_known else None


class SessionRuns:
    """The suites of a session: loaded and planned for its items, each run once, and reported at its end."""

    def __init__(self, session: RelevanceSession) -> None:
        """
        Args:
            session: Has the options, and receives what is to be shown.
        """
        self.session = session
        self._runs = SuiteRuns(self._run, session.folder)
        self._nodes: dict[str | None, LocalNode | RemoteNode] = {}
        self._configs = Configs.of(session.options.run, os.environ)
        self._own_indexes: dict[Path, dict[str, str | None]] = {}

    def plan(self, suite: Suite) -> tuple[PlannedItem, ...]:
        """The items of *suite* under the options of this session, for each of several cells."""
        self.session.suites_collected.append(suite)
        options = self.session.options
        query_filter = QueryFilter.from_options(options.run)
        items = plan_items(suite, each_query=options.each_query, query_filter=query_filter, today=self.session.today)
        return for_cells(items, suite, options.requests, options.indexes)

    def load(self, path: Path, environ: Mapping[str, str] | None) -> Suite:
        """The suite at *path*, without an environment where it is only collected; raises as `load_suite`."""
        try:
            suite = load_suite(from_here(path), environ, configs=self._configs)
        except SuiteError as error:
            self.session.refused(error.problems)
            raise
        self._own_indexes[path.resolve()] = {name: _own_index(suite, name) for name in suite.requests}
        return suite

    def report_on(self, path: Path, request: str | None = None, index: str | None = None) -> SuiteReport:
        """
        The report on the suite at *path* under `run_options`; the suite runs if it has not yet. If an item runs again,
        the queries without an answer are sent again.

        Raises:
            RunFailed: the suite could not be run.
        """
        options = self._shared(path, self.run_options(request, index))
        return self._runs.finished(path, options, again=self.session.runs_again).report

    def lone_queries(self, path: Path, request: str | None = None, index: str | None = None) -> LoneQueries:
        """A judge of single queries of the suite at *path*, as it ran for its items."""
        options = self.run_options(request, index)

        def reference(done: FinishedSuite) -> Reference | None:
            if options.save_baseline:
                return Reference(updating=True)
            if not needs_baseline(done.suite):
                return None
            return reference_for(done.suite, done.run, options.baseline, options.searched(), done.others)

        def finished() -> FinishedSuite:
            return self.finished(path, options, Environment(os.environ))

        return LoneQueries(finished, self.session.today, reference)

    def finished(self, path: Path, options: RunOptions, environ: Mapping[str, str]) -> FinishedSuite:
        """
        As `report_on`, under other options, but returns all that the report was made from.

        Raises:
            RunFailed: the suite could not be run.
            SuiteError: the suite has changed since it ran, and is invalid now.
        """
        done = self._runs.finished(path, self._shared(path, options), again=self.session.runs_again)
        return self._whole(done, path, options, environ)

    def _whole(self, done: Finished, path: Path, options: RunOptions, environ: Mapping[str, str]) -> FinishedSuite:
        """*done* with its suite, which is loaded again where another process ran it."""
        suite, run, others = done.suite, done.run(), done.others
        if suite is None:
            selection = select(self.load(path, environ), QueryFilter.from_options(options), self.session.today)
            suite, others = selection.selected, selection.others
            used = UsedValues.of_run(suite, run)
            questions = {query.id: used.fingerprint(query) for query in suite.queries}
            if questions != {query.id: query.question for query in done.report.queries}:
                raise RunFailed(f"{from_here(path)}: the suite was changed after it ran")
        return FinishedSuite(suite, run, score_run(suite, run), done.report, others)

    def run_options(self, request: str | None = None, index: str | None = None) -> RunOptions:
        """The options of a run with *request* and *index*; None for the first that the session selects."""
        options = self.session.options
        return replace(
            options.run,
            config=self._configs.path,  # also in a test that changes the working directory
            request=request or next(iter(options.requests), None),
            index=index or next(iter(options.indexes), None),
            today=self.session.today,
        )

    def finish(self) -> None:
        """Update the baselines and write the reports; a file that cannot be written is a problem of the session."""
        if self.session.options.run.save_baseline:
            self._update_baselines()
        report = self.report()
        self._write_reports(report)
        if self.session.options.github is not None:
            self._summarize(self.session.options.github, report)

    def _update_baselines(self) -> None:
        """Save baselines from the runs of items; runs of a fixture under options of its own are not saved."""
        session, options = self.session, self.run_options()
        try:
            finished = [one for request in session.options.requests or (None,) for one in self._finished_with(request)]
        except HarnessError as error:
            session.problems.append(str(error))
            return
        refusal = session.baseline_refusal(len({one.report.path for one in finished}))
        if refusal:
            session.problems = list(dict.fromkeys([*session.problems, refusal]))
            return
        for one in finished:
            try:
                kept = one.add_to_baseline(options)
                kept.write()
            except HarnessError as error:
                session.problems.append(str(error))
            else:
                session.updated += [f"baseline written to {kept.path}", *(f"  {note}" for note in kept.notes)]
        session.updated = list(dict.fromkeys(session.updated))

    def _finished_with(self, request: str | None) -> Iterator[FinishedSuite]:
        options = self.run_options(request)
        done = self._runs.under(lambda path: self._shared(path, options))
        for path in sorted({Path(each.report.path) for each in done}):
            yield self.finished(path, options, Environment(os.environ))

    def refuse_reports(self) -> None:
        """
        Refuse reports that would overwrite what the suites of the session read, of those that are known by now.

        Raises:
            UsageError: One of them would.
        """
        session = self.session
        paths = [suite.path for suite in session.suites_collected]
        paths += [*session.uncollected, *(path for path, _, _ in session.due)]
        paths += [done.path if isinstance(done, Failed) else done.report.path for done in self._runs.all()]
        suites = [Path(path) for path in dict.fromkeys(paths)]
        refuse_inputs(session.options.reports, RunInputs(suites, self.run_options(), Environment(os.environ)))

    def _write_reports(self, report: Report | None) -> None:
        session = self.session
        try:
            self.refuse_reports()
        except UsageError as error:
            session.problems.append(f"--relevance-report: {error}")
            return
        if report is None:
            if session.is_due or self.failures():
                session.removed, problems = remove_outdated(session.options.reports)
                session.problems.extend(problems)
            return
        for output in session.options.reports:
            try:
                write_report(report, output)
            except HarnessError as error:
                session.problems.append(str(error))
            else:
                session.written.append(output.path)

    def _summarize(self, step: GitHubStep, report: Report | None) -> None:
        """Add the report, or why there is none, to the job's summary."""
        sentences = "\n".join(map(str, self.file_problems()))
        try:
            if report is not None:
                step.summarize(report)
            elif sentences:
                step.summarize_refusal(sentences)
        except HarnessError as error:
            self.session.problems.append(str(error))

    def file_problems(self) -> list[Problem]:
        """The problems in files, each once, and the reasons of other suites that did not run."""
        problems = list(self.session.refusals)
        for failed in self.failures():
            problems += failed.problems or [Problem(failed.path, 0, 0, f"did not run: {failed.sentence}")]
        problems += [Problem(path, 0, 0, f"did not run: {reason}") for path, reason in self.unreached().items()]
        return list(dict.fromkeys(problems))

    def unreached(self) -> dict[str, str]:
        """Why suites did not run, beside others that did, that were to run and did not fail either, by their paths."""
        tried, left = {failed.path for failed in self.failures()}, dict[str, str]()
        if not any(isinstance(one, Finished) for one in self._runs.all()):
            return left
        for path, request, index in sorted(self.session.due, key=str):
            shown, options = str(from_here(Path(path))), self._shared(Path(path), self.run_options(request, index))
            if shown not in tried and not self._runs.has_finished(Path(path), options):
                named = (("request", request), ("index", index))
                cell = "".join(f" with the {what} {name!r}" for what, name in named if name is not None)
                left.setdefault(shown, f"the session ended before it ran{cell}")
        return left

    def missing(self) -> list[MissingSuite]:
        """The suites that were to run and did not, by their paths."""
        failed = {one.path: "\n".join(map(str, one.problems)) or one.sentence for one in self.failures()}
        reasons = {**self.unreached(), **self.session.uncollected, **failed}
        return [MissingSuite(path, reasons[path]) for path in sorted(reasons)]

    def report(self) -> Report | None:
        """
        All suites that ran, by their paths, then in the order of requests and indexes, and those that did not run
        beside them; None where none ran.
        """
        done = {name: one.report for name, one in self._runs.named().items() if isinstance(one, Finished)}
        if not done:
            return None
        reports = list(done.values())
        if self.session.due or not self.session.is_due:  # else workers could not say which items they have
            due = self._due_by_run()
            reports = [report_as_decided(one, self._deciding_items(name, due)) for name, one in done.items()]
        return make_report(sorted(reports, key=self._place), self.missing())

    def record_assertion(self, path: Path, options: RunOptions, status: int) -> None:
        """Record that the item that runs asserts the thresholds of a run, whose exit status is *status*."""
        item = self.session.item
        name = name_run(path, self._shared(path, options))
        self.session.assertions.append(Assertion("" if item is None else item.nodeid, name, status))

    def _due_by_run(self) -> dict[str, Mapping[str, Sequence[str]]]:
        """The items that are due, with the ids of the verdicts that each decides, by the name of the run they need."""
        due = self.session.due.items()
        return {
            name_run(Path(path), self._shared(Path(path), self.run_options(request, index))): items
            for (path, request, index), items in due
        }

    def _deciding_items(self, name: str, due: Mapping[str, Mapping[str, Sequence[str]]]) -> DecidingItems:
        """The items that decide the run *name*; an assertion that a test expects to fail decides nothing."""
        outcomes = self.session.outcomes
        assertions = [one for one in self.session.assertions if one.run == name]
        asserted = [one.status for one in assertions if one.status == 0 or outcomes.get(one.nodeid)]
        return DecidingItems(due.get(name, {}), outcomes, asserted)

    def _place(self, report: SuiteReport) -> tuple[str, int, str, int, str]:
        """The sort key of *report*; runs of a fixture with other requests or indexes come last."""
        requests, indexes, index = self.session.options.requests, self.session.options.indexes, report.index or ""
        sent = requests.index(report.request) if report.request in requests else len(requests)
        searched = indexes.index(index) if index in indexes else len(indexes)
        return report.path, sent, report.request, searched, index

    def failures(self) -> list[Failed]:
        """The suites that did not run, each once, but for those whose error a test in Python expects."""
        due = self._due_by_run()
        failed = {
            done.path: done
            for name, done in self._runs.named().items()
            if isinstance(done, Failed) and (name in due or self._deciding_items(name, due).asserted)
        }
        return [replace(failed[path], path=str(from_here(Path(path)))) for path in sorted(failed)]

    def close(self) -> None:
        """Stop the nodes that were started here."""
        for node in self._nodes.values():
            node.close()

    def _shared(self, path: Path, options: RunOptions) -> RunOptions:
        """
        *options* normalized as the key of a run: naming the first request, or the suite's own index, makes no
        difference.
        """
        if options.request is None and options.index is None:
            return options
        try:
            own = self._indexes_of(path, filled=options.index is not None)
        except HarnessError:
            return options  # the run will raise the error
        first = next(iter(own))
        request = None if options.request == first else options.request
        index = None if options.index == own.get(request or first) else options.index
        return replace(options, request=request, index=index)

    def _indexes_of(self, path: Path, *, filled: bool) -> Mapping[str, str | None]:
        """The suite's own indexes by the names of its requests; *filled* says whether variables are replaced."""
        key = path.resolve()
        if key not in self._own_indexes:
            self.load(path, None)
        if filled and any("${" in index for index in self._own_indexes[key].values() if index):
            self.load(path, Environment(os.environ))
        return self._own_indexes[key]

    def _run(self, path: Path, options: RunOptions, done: Finished | None) -> FinishedSuite:
        earlier = None if done is None else self._whole(done, path, options, Environment(os.environ))
        given = options
        if options.embedded:
            # The node is the session's own: it has no foreign indexes.
            url = self._node(options.engine_version).url()
            options = replace(options, url=url, embedded=False, engine_version=None, allow_write=True)
        hooks = self._hooks(path)
        options = replace(options, hooks=hooks)
        with terminated_as_interrupted(), Runner(Environment(os.environ)) as runner:
            [finished] = runner.run([from_here(path)], options, earlier=earlier)
        # a command knows no hooks of conftest.py
        searched = given.searched() if set(hooks.in_force()) == set(installed_hooks().in_force()) else None
        return replace(finished, report=replace(finished.report, searched=searched))

    def _hooks(self, path: Path) -> Hooks:
        """The hooks of conftest.py and plugins for the suite at *path*, and those of installed packages."""
        if self.session.collector is None:
            return installed_hooks()
        manager = self.session.collector.config.pluginmanager
        for name, plugin in installed_plugins():
            if not manager.is_registered(plugin):
                manager.register(plugin, name)
        return Hooks(self.session.collector.gethookproxy(path), ENDING)

    def _node(self, version: str | None) -> LocalNode | RemoteNode:
        """The node of *version*: a worker gets the session's from the controller, and starts any other itself."""
        if version not in self._nodes:
            of_session = self.session.options.run
            is_shared = of_session.embedded and version == of_session.engine_version
            shared = self.session.folder if is_shared else None
            self._nodes[version] = LocalNode(version) if shared is None else RemoteNode(shared)
        return self._nodes[version]
