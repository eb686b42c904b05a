"""The suites of a pytest session: planned for items, run once each, and reported at the end."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from harness.config import Configs
from harness.errors import ConfigError, HarnessError, Problem, SuiteError, UsageError
from harness.files.paths import shorten_path
from harness.gate.conditions import gates_anything
from harness.gate.selection import QueryFilter, count_history_runs, needs_baseline, select
from harness.hooks import Hooks, load_installed_hooks, load_installed_plugins
from harness.masking import Environment
from harness.metrics.run_scores import score_run
from harness.model.kept import History, Reference
from harness.model.report import MissingSuite, Report, SuiteReport
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.process import terminated_as_interrupted
from harness.pytest_plugin.decisions import DecidingItems, mark_undecided_verdicts
from harness.pytest_plugin.node import LocalNode, RemoteNode
from harness.pytest_plugin.outcomes import CHANGED, SingleQueries
from harness.pytest_plugin.plan import PlannedItem, plan_items, repeat_for_cells
from harness.pytest_plugin.run_cache import (
    ENDING,
    CachedError,
    CachedRun,
    RunCache,
    RunFailed,
    locate_suite,
    name_run,
)
from harness.pytest_plugin.session import Assertion, RelevanceSession
from harness.report.github_step import GitHubStep
from harness.report.output_files import list_unchanged, refuse_inputs, remove_outdated, write_report
from harness.run import Runner, make_report
from harness.run.connections import keep_own_cluster, move_to_target
from harness.run.finished import FinishedSuite
from harness.run.keeping import find_history, keep_suite
from harness.run.notes import describe_other_requests
from harness.store.baseline import find_reference
from harness.store.commits import find_commit
from harness.store.what_changed import select_request_values
from harness.suites import load_suite
from harness.suites.given_body import GivenBody, read_given_body
from harness.suites.inputs import RunInputs


class SessionRuns:
    """The suites of a session: loaded and planned for its items, each run once, and reported at its end."""

    def __init__(self, relevance_session: RelevanceSession) -> None:
        """
        Args:
            relevance_session: Has the options, and receives what is to be shown.
        """
        self.relevance_session = relevance_session
        self._cache = RunCache(self._execute, relevance_session.folder)
        self._nodes: dict[str | None, LocalNode | RemoteNode] = {}
        self._configs = Configs.from_options(relevance_session.options.run, os.environ)
        self._outlines: dict[Path, Suite] = {}
        """The suites that were loaded, without their queries."""
        self._collected: dict[Path, dict[Path, bytes]] = {}
        """The suites that were collected, each with its files and a digest of their content."""
        self._reusable: dict[Path, Suite] = {}
        """Of these the ones that a run need not load again, as nothing in them depends on the environment."""

    def close(self) -> None:
        """Stop the nodes that were started here."""
        for node in self._nodes.values():
            node.close()

    # Collecting.

    def load(self, path: Path, environ: Mapping[str, str] | None, body: GivenBody | None = None) -> Suite:
        """
        The suite at *path*, without an environment where it is only collected, and with *body* in place of its own.

        Raises as `load_suite`.
        """
        try:
            suite = load_suite(shorten_path(path), environ, configs=self._configs, body=body)
        except SuiteError as error:
            self.relevance_session.record_refusals(error.problems)
            raise
        self._outlines[path.resolve()] = replace(suite, queries=())
        return suite

    def plan(self, suite: Suite) -> tuple[PlannedItem, ...]:
        """The items of *suite* under the options of this session, for each of several cells."""
        self.relevance_session.suites_collected.append(suite)
        # Absolute paths, as a test may change the working directory.
        files = [Path(file).absolute() for file in suite.files]
        place = locate_suite(Path(suite.path))
        self._collected[place] = {file: _digest_file(file) for file in files}
        if not suite.has_variables:
            self._reusable[place] = suite
        options = self.relevance_session.options
        query_filter = QueryFilter.from_options(options.run)
        today = self.relevance_session.today
        items = {}
        for request in options.requests or [None]:
            items[request] = plan_items(
                suite, request, each_query=options.each_query, query_filter=query_filter, today=today
            )
        return repeat_for_cells(items, suite, options.indexes)

    def list_ungated(self, suite: Suite) -> list[str]:
        """
        Sentences on the requests of the session that *suite* has no items for.

        A request has none if all thresholds and expectations are for other requests, which the sentences name.
        """
        requests = self.relevance_session.options.requests
        if not requests:
            # Without the option the first request of the suite is sent.
            requests = tuple(suite.requests)[:1]
        shown_path = shorten_path(Path(suite.path))
        sentences = []
        for request in requests:
            if request in suite.requests and not gates_anything(suite, request):
                sentences += [f"{shown_path}: {sentence}" for sentence in describe_other_requests(suite, request)]
        return sentences

    def make_options(self) -> RunOptions:
        """The options of a run of the session, with the first request and the first index that it selects."""
        options = self.relevance_session.options
        return replace(
            options.run,
            # The path that was found first: a test may have changed the working directory since.
            config=self._configs.path,
            request=next(iter(options.requests), None),
            index=next(iter(options.indexes), None),
            today=self.relevance_session.today,
            history=self._find_history(),
        )

    def make_item_options(self, path: Path, request: str | None = None, index: str | None = None) -> RunOptions:
        """
        As `make_options`, for items of the suite at *path* with *request* and *index*, where these are given.

        Where the session selects several requests, one of them may keep a cluster of its own, as for `relevance run`.
        """
        options = self.make_options()
        options = replace(options, request=request or options.request, index=index or options.index)
        requests = self.relevance_session.options.requests
        if len(requests) < 2 or not options.names_server:
            return options
        try:
            return keep_own_cluster(options, self._find_outline(path), options.request, requests)
        except HarnessError:
            # The run will raise it again.
            return options

    def _find_history(self) -> Path | None:
        """The folder of the session's history; None where relevance.toml is wrong, which each run will raise."""
        try:
            return self._configs.find_history(self.relevance_session.options.run)
        except ConfigError:
            return None

    # Running.

    def run_for_items(self, path: Path, request: str | None = None, index: str | None = None) -> SuiteReport:
        """
        The report on the suite at *path* under `make_item_options`; the suite runs if it has not yet. If an item runs
        again, the queries without an answer are sent again.

        Raises:
            RunFailed: the suite could not be run.
        """
        return self._run_once(path, self.make_item_options(path, request, index)).report

    def run_suite(self, path: Path, options: RunOptions) -> FinishedSuite:
        """
        As `run_for_items`, under any options, but returns all that the report was made from.

        Raises:
            RunFailed: the suite could not be run.
            SuiteError: the suite has changed since it ran, and is invalid now.
        """
        return self._complete(self._run_once(path, options), path, options)

    def find_single_queries(self, path: Path, request: str | None = None, index: str | None = None) -> SingleQueries:
        """What decides thresholds for single queries of the suite at *path*, on its run for items."""
        suite = SuiteOfItems(self, path, self.make_item_options(path, request, index))
        return SingleQueries(suite, self.relevance_session.today)

    def record_assertion(self, path: Path, options: RunOptions, status: int) -> None:
        """Record that the item that runs asserts the thresholds of a run, whose exit status is *status*."""
        nodeid = "" if self.relevance_session.item is None else self.relevance_session.item.nodeid
        name = name_run(path, self._normalize_options(path, options))
        self.relevance_session.assertions.append(Assertion(nodeid, name, status))

    def _run_once(self, path: Path, options: RunOptions) -> CachedRun:
        """The run of the suite at *path*, which runs now if it has not yet under these *options*."""
        options = self._normalize_options(path, options)
        return self._cache.run_once(path, options, again=self.relevance_session.runs_again)

    def _complete(self, cached: CachedRun, path: Path, options: RunOptions) -> FinishedSuite:
        """*cached* with its suite, which is loaded again where another process ran it."""
        if cached.finished is not None:
            return replace(cached.finished, options=options)
        run = cached.load_run()
        loaded = self.load(path, Environment(os.environ), read_given_body(options))
        whole_suite = move_to_target(loaded, run.request)
        selection = select(whole_suite, QueryFilter.from_options(options), self.relevance_session.today)
        suite = selection.selected
        used_values = select_request_values(suite, run.request, hooked=run.hooked)
        questions = {query.id: used_values.fingerprint(query) for query in suite.queries}
        # Its responses would be scored as those of other queries.
        if questions != {query.id: query.question for query in cached.report.queries}:
            raise RunFailed(f"{shorten_path(path)}: the suite was changed after it ran")
        return FinishedSuite(suite, run, score_run(suite, run), cached.report, selection.others, options)

    def _normalize_options(self, path: Path, options: RunOptions) -> RunOptions:
        """*options* without the first request and the suite's own index: the run is the same where these are given."""
        if options.request is None and options.index is None:
            return options
        try:
            outline = self._find_outline(path, needs_variables=options.index is not None)
        except HarnessError:
            # The run will raise it again.
            return options
        own_indexes = _list_own_indexes(outline)
        first_request = next(iter(own_indexes))
        request = None if options.request == first_request else options.request
        own_index = own_indexes.get(request or first_request)
        index = None if options.index == own_index else options.index
        return replace(options, request=request, index=index)

    def _find_outline(self, path: Path, *, needs_variables: bool = False) -> Suite:
        """
        The suite at *path* without its queries.

        Where the caller *needs_variables*, the variables of its indexes are replaced.
        """
        key = path.resolve()
        if key not in self._outlines:
            self.load(path, None)
        indexes = _list_own_indexes(self._outlines[key]).values()
        if needs_variables and any("${" in index for index in indexes if index):
            self.load(path, Environment(os.environ))
        return self._outlines[key]

    def _execute(self, path: Path, options: RunOptions, cached: CachedRun | None) -> FinishedSuite:
        """Run the suite now; where a run is *cached*, only its queries without an answer are sent."""
        self._refuse_changed_files(path)
        earlier = None if cached is None else self._complete(cached, path, options)
        hooks = self._find_hooks(path)
        run_options = replace(options, hooks=hooks)
        if options.embedded:
            url = self._find_node(options.engine_version).obtain_url()
            # The node is the session's own: it has no foreign indexes that a fixture could overwrite.
            run_options = replace(run_options, url=url, embedded=False, engine_version=None, allow_write=True)
        with terminated_as_interrupted(), Runner(Environment(os.environ)) as runner:
            suite = self._reusable.get(locate_suite(path))
            # A test may have changed the working directory, which the paths in a suite begin in.
            if suite is None or options.body is not None or suite.path != str(shorten_path(path)):
                [finished] = runner.run([shorten_path(path)], run_options, earlier=earlier)
            else:
                configs = Configs.from_options(run_options, Environment(os.environ))
                [finished] = runner.run_loaded([suite], run_options, earlier=earlier, configs=configs)
        searched = options.searched()
        if set(hooks.describe()) != set(load_installed_hooks().describe()):
            # A report tells the command that searches the same, and a command has no hooks of a conftest.py.
            searched = None
        return replace(finished, report=replace(finished.report, searched=searched))

    def _refuse_changed_files(self, path: Path) -> None:
        """
        Refuse a suite that is not the one that was collected: its items would be decided by what nobody saw collected,
        such as a threshold that is now expected to fail.

        Raises:
            RunFailed: the suite, or a file that it names, has changed since.
        """
        for file, digest in self._collected.get(locate_suite(path), {}).items():
            if _digest_file(file) != digest:
                raise RunFailed(f"{shorten_path(file)}: {CHANGED}, and is not what was collected; run pytest again")

    def _find_hooks(self, path: Path) -> Hooks:
        """The hooks of conftest.py and plugins for the suite at *path*, and those of installed packages."""
        if self.relevance_session.collector is None:
            return load_installed_hooks()
        manager = self.relevance_session.collector.config.pluginmanager
        for name, plugin in load_installed_plugins():
            if not manager.is_registered(plugin):
                manager.register(plugin, name)
        return Hooks(self.relevance_session.collector.gethookproxy(path), ENDING)

    def _find_node(self, version: str | None) -> LocalNode | RemoteNode:
        """The node of *version*: a worker gets the session's from the controller, and starts any other itself."""
        if version not in self._nodes:
            options = self.relevance_session.options.run
            is_node_of_session = options.embedded and version == options.engine_version
            if is_node_of_session and self.relevance_session.folder is not None:
                self._nodes[version] = RemoteNode(self.relevance_session.folder)
            else:
                self._nodes[version] = LocalNode(version)
        return self._nodes[version]

    # At the end of the session.

    def refuse_reports(self) -> None:
        """
        Refuse reports that would overwrite what the suites of the session read, of those that are known by now.

        Raises:
            UsageError: One of them would.
        """
        relevance_session = self.relevance_session
        paths = [suite.path for suite in relevance_session.suites_collected] + list(relevance_session.uncollected)
        # Under pytest-xdist only workers collect suites: the controller knows those that are due, and those that ran.
        paths += [path for path, _, _ in relevance_session.due_items]
        paths += [entry.path for entry in self._cache.list_entries().values()]
        suites = [Path(path) for path in dict.fromkeys(paths)]
        inputs = RunInputs(suites, self.make_options(), Environment(os.environ))
        refuse_inputs(relevance_session.options.reports, inputs)

    def finish(self, *, is_refused: bool) -> None:
        """
        Update the baselines and write the reports; a file that cannot be written is a problem of the session.

        If the session *is_refused*, and so no suite ran, all files stay as they are.
        """
        if self.relevance_session.options.run.save_baseline:
            self._update_baselines()
        if self.make_options().history is not None:
            self._keep_suites()
        report = self.build_report()
        self._write_reports(report, is_refused=is_refused)
        if self.relevance_session.options.github is not None:
            self._summarize(self.relevance_session.options.github, report)

    def build_report(self) -> Report | None:
        """
        All suites that ran, by their paths, then in the order of requests and indexes, and those that did not run
        beside them; None where none ran.
        """
        runs = {name: entry for name, entry in self._cache.list_entries().items() if isinstance(entry, CachedRun)}
        if not runs:
            return None
        reports = [cached.report for cached in runs.values()]
        if self.relevance_session.knows_due_items:
            due = self._list_due_items()
            reports = []
            for name, cached in runs.items():
                reports.append(mark_undecided_verdicts(cached.report, self._find_deciding_items(name, due)))
        return make_report(sorted(reports, key=self._sort_key), self._list_missing())

    def list_problems(self) -> list[Problem]:
        """The problems in files, each once, and the reasons of other suites that did not run."""
        problems = list(self.relevance_session.refusals)
        for failure in self.list_failures():
            problems += failure.problems or [Problem(failure.path, 0, 0, f"did not run: {failure.sentence}")]
        problems += [Problem(path, 0, 0, f"did not run: {reason}") for path, reason in self.list_unreached().items()]
        return list(dict.fromkeys(problems))

    def list_failures(self) -> list[CachedError]:
        """The suites that could not run, each once, but for those whose error a test in Python expects."""
        due = self._list_due_items()
        failures = {}
        for name, entry in self._cache.list_entries().items():
            if isinstance(entry, CachedRun):
                continue
            if name in due or self._find_deciding_items(name, due).asserted:
                failures[entry.path] = entry
        return [replace(failures[path], path=str(shorten_path(Path(path)))) for path in sorted(failures)]

    def list_unreached(self) -> dict[str, str]:
        """Why suites did not run, beside others that did, that were to run and did not fail either, by their paths."""
        runs = {name for name, entry in self._cache.list_entries().items() if isinstance(entry, CachedRun)}
        if not runs:
            return {}
        failed_paths = {failure.path for failure in self.list_failures()}
        unreached: dict[str, str] = {}
        for path, request, index in sorted(self.relevance_session.due_items, key=str):
            shown_path = str(shorten_path(Path(path)))
            options = self._normalize_options(Path(path), self.make_item_options(Path(path), request, index))
            if shown_path in failed_paths or name_run(Path(path), options) in runs:
                continue
            reason = "the session ended before it ran"
            if request is not None:
                reason += f" with the request {request!r}"
            if index is not None:
                reason += f" with the index {index!r}"
            unreached.setdefault(shown_path, reason)
        return unreached

    def _list_missing(self) -> list[MissingSuite]:
        """The suites that were to run and did not, by their paths."""
        reasons = {**self.list_unreached(), **self.relevance_session.uncollected}
        for failure in self.list_failures():
            reasons[failure.path] = "\n".join(map(str, failure.problems)) or failure.sentence
        return [MissingSuite(path, reasons[path]) for path in sorted(reasons)]

    def _list_due_items(self) -> dict[str, Mapping[str, Sequence[str]]]:
        """The items that are due, with the ids of the verdicts that each decides, by the name of the run they need."""
        due: dict[str, Mapping[str, Sequence[str]]] = {}
        for (path, request, index), items in self.relevance_session.due_items.items():
            options = self._normalize_options(Path(path), self.make_item_options(Path(path), request, index))
            due[name_run(Path(path), options)] = items
        return due

    def _find_deciding_items(self, name: str, due: Mapping[str, Mapping[str, Sequence[str]]]) -> DecidingItems:
        """
        The items that decide the run *name*: thresholds and queries of its suite, and tests in Python that assert it.

        *due* is what `_list_due_items` returns.
        """
        outcomes = self.relevance_session.outcomes
        asserted_statuses = []
        for assertion in self.relevance_session.assertions:
            has_failed = assertion.status != 0
            test_has_passed = not outcomes.get(assertion.nodeid)
            # A test that passed although its assertion failed expects that, and decides nothing.
            is_expected = has_failed and test_has_passed
            if assertion.run == name and not is_expected:
                asserted_statuses.append(assertion.status)
        return DecidingItems(due.get(name, {}), outcomes, asserted_statuses)

    def _sort_key(self, report: SuiteReport) -> tuple[str, int, str, int, str]:
        """
        A key that sorts reports by path, then by the order of the session's requests, then by that of its indexes.

        Those with other requests or indexes come last: a test in Python has run them.
        """
        requests, indexes = self.relevance_session.options.requests, self.relevance_session.options.indexes
        index = report.index or ""
        request_rank = requests.index(report.request) if report.request in requests else len(requests)
        index_rank = indexes.index(index) if index in indexes else len(indexes)
        return report.path, request_rank, report.request, index_rank, index

    def _update_baselines(self) -> None:
        """Save baselines from the runs of items; runs of a fixture under options of its own are not saved."""
        relevance_session = self.relevance_session
        try:
            suites = self._list_finished_suites([None])
        except HarnessError as error:
            relevance_session.problems.append(str(error))
            return
        refusal = relevance_session.explain_baseline_refusal(len({finished.report.path for finished in suites}))
        if refusal:
            # Each worker may have recorded it already.
            if refusal not in relevance_session.problems:
                relevance_session.problems.append(refusal)
            return
        lines = []
        for finished in suites:
            try:
                update = finished.add_to_baseline(self.make_options())
                update.write()
            except HarnessError as error:
                relevance_session.problems.append(str(error))
            else:
                lines.append(f"baseline written to {update.path}")
                lines += [f"  {note}" for note in update.notes]
        # Several requests of a suite are in one file.
        relevance_session.updated = list(dict.fromkeys(lines))

    def _keep_suites(self) -> None:
        """Keep the runs of items in the history; one that cannot be written is a problem of the session."""
        relevance_session = self.relevance_session
        try:
            finished_suites = self._list_finished_suites(relevance_session.options.indexes or [None])
        except HarnessError as error:
            relevance_session.problems.append(str(error))
            return
        for finished in finished_suites:
            kept = keep_suite(finished, os.environ)
            if kept.report.not_kept:
                relevance_session.problems.append(kept.report.not_kept)
            else:
                relevance_session.updated += kept.report.notes[len(finished.report.notes) :]

    def _list_finished_suites(self, indexes: Sequence[str | None]) -> list[FinishedSuite]:
        """The suites that ran for items on *indexes*, by requests, then by indexes and by paths."""
        runs = {name: entry for name, entry in self._cache.list_entries().items() if isinstance(entry, CachedRun)}
        paths = sorted({Path(cached.path) for cached in runs.values()})
        suites = []
        for request in self.relevance_session.options.requests or (None,):
            for index, path in product(indexes, paths):
                options = self.make_item_options(path, request, index)
                if name_run(path, self._normalize_options(path, options)) in runs:
                    suites.append(self.run_suite(path, options))
        return suites

    def _write_reports(self, report: Report | None, *, is_refused: bool) -> None:
        """
        Write *report* to the files of the options.

        Without one, remove the reports of an earlier session, unless the session *is_refused* and had no runs to do.
        """
        relevance_session = self.relevance_session
        try:
            self.refuse_reports()
        except UsageError as error:
            relevance_session.problems.append(f"--relevance-report: {error}")
            return
        if report is None:
            if is_refused:
                relevance_session.kept = list_unchanged(relevance_session.earlier_reports)
            elif relevance_session.expects_runs or self.list_failures():
                # Reports of an earlier session would look like those of this one.
                relevance_session.removed, problems = remove_outdated(relevance_session.earlier_reports)
                relevance_session.problems.extend(problems)
            return
        for output in relevance_session.options.reports:
            try:
                write_report(report, output)
            except HarnessError as error:
                relevance_session.problems.append(str(error))
            else:
                relevance_session.written.append(output.path)

    def _summarize(self, step: GitHubStep, report: Report | None) -> None:
        """Add the report, or why there is none, to the job's summary."""
        problems = "\n".join(map(str, self.list_problems()))
        try:
            if report is not None:
                step.summarize(report)
            elif problems:
                step.summarize_refusal(problems)
        except HarnessError as error:
            self.relevance_session.problems.append(str(error))


@dataclass(frozen=True, slots=True)
class SuiteOfItems:
    """A suite as it ran for its items, which is loaded again where another process ran it."""

    runs: SessionRuns
    path: Path
    options: RunOptions

    def load(self) -> FinishedSuite:
        """The suite with its run; raises as `SessionRuns.run_suite`."""
        return self.runs.run_suite(self.path, self.options)

    def find_reference(self, finished: FinishedSuite) -> Reference | None:
        """The reference of the thresholds on a drop of *finished*; None where there are none."""
        options = self.options
        if options.save_baseline:
            return Reference(updating=True)
        if not needs_baseline(finished.suite, finished.run.request):
            return None
        return find_reference(finished.suite, finished.run, options.baseline, options.searched(), finished.others)

    def find_history(self, finished: FinishedSuite) -> History | None:
        """The earlier runs that thresholds of *finished* compare with; None where none does."""
        if count_history_runs(finished.suite, finished.run.request) == 0:
            return None
        commit, _ = find_commit(os.environ, Path(finished.suite.path).parent)
        return find_history(finished.suite, finished.run, finished.options, commit)


def _digest_file(file: Path) -> bytes:
    """A digest of the content of *file*, empty where it cannot be read."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").digest()
    except OSError:
        return b""


def _list_own_indexes(suite: Suite) -> dict[str, str | None]:
    """The index of each request if none is selected; None where it has no name before the run, or there is none."""
    indexes: dict[str, str | None] = {}
    for name, template in suite.requests.items():
        indexes[name] = None
        # The index of a fixture gets its name when it is built.
        if template.http is None and suite.fixture is None:
            indexes[name] = template.index or suite.find_target(name).index
    return indexes
