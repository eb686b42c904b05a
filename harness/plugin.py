"""
The pytest plugin: suites become items, one per threshold.

This module has the hooks only, which import what they need once there is a suite: every pytest run imports this module
if the package is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from harness import hookspecs
from harness.errors import Problem, UsageError
from harness.files.paths import config_path
from harness.pytest_plugin.plugin_options import add_options, describe_options, only_shows_items, read_options
from harness.pytest_plugin.session import Assertion, MisnamedFile, RelevanceSession, collect_left_out
from harness.suites.names import find_broken_links, is_misnamed, is_suite_name

if TYPE_CHECKING:
    from harness.api import Relevance
    from harness.pytest_plugin.runs import SessionRuns


SESSION = pytest.StashKey[RelevanceSession]()
_RUNS = pytest.StashKey["SessionRuns"]()
_FOLDER = "relevance_folder"
PROBLEMS = "relevance_problems"
REFUSALS = "relevance_refusals"
UNCOLLECTED = "relevance_uncollected"
_LEFT_OUT = "relevance_left_out"
SUITES_WITHOUT_ITEMS = "relevance_suites_without_items"
UNGATED = "relevance_ungated"
ASSERTIONS = "relevance_assertions"


def _find_runs(config: pytest.Config) -> SessionRuns:
    """The suites of the session; the modules that run them are imported with the first suite."""
    if _RUNS not in config.stash:
        from harness.pytest_plugin.runs import SessionRuns

        config.stash[_RUNS] = SessionRuns(config.stash[SESSION])
    return config.stash[_RUNS]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the hooks for clients, requests and responses."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register `--relevance-…` and the lines of the ini file, before any conftest.py is read."""
    add_options(parser)
    # Only an earlier session of the same process has registered measures.
    measures = sys.modules.get("harness.metrics.registry")
    if measures is not None:
        measures.let_measures_be_replaced()


def pytest_configure(config: pytest.Config) -> None:
    """Read the options; a worker of pytest-xdist also receives the shared folder."""
    folder = getattr(config, "workerinput", {}).get(_FOLDER)
    relevance_session = RelevanceSession(read_options(config), Path(folder) if folder else None)
    paths = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    relevance_session.command_line_paths = frozenset(Path(os.path.normpath(path)) for path in paths)
    config.stash[SESSION] = relevance_session
    config.pluginmanager.register(_Outcomes(relevance_session))


class _Outcomes:
    """Records how items end, in the controller of pytest-xdist too. An object, as its hook is called without config."""

    def __init__(self, relevance_session: RelevanceSession) -> None:
        self._relevance_session = relevance_session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record how an item ended, for the reports on suites."""
        self._relevance_session.record_outcome(report)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Send the shared folder to a new worker of pytest-xdist."""
    node.workerinput[_FOLDER] = str(node.config.stash[SESSION].open_folder())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """
    Receive what a worker of pytest-xdist has recorded, as plain values; `pytest_sessionfinish` sends it.

    A worker that was killed sends nothing.
    """
    output = getattr(node, "workeroutput", {})
    relevance_session = node.config.stash[SESSION]
    for problem in output.get(PROBLEMS, []):
        # Each worker may have found it.
        if problem not in relevance_session.problems:
            relevance_session.problems.append(problem)
    relevance_session.record_refusals(Problem(*fields) for fields in output.get(REFUSALS, []))
    relevance_session.left_out += map(Path, output.get(_LEFT_OUT, []))
    relevance_session.suites_without_items += map(Path, output.get(SUITES_WITHOUT_ITEMS, []))
    relevance_session.ungated += output.get(UNGATED, [])
    relevance_session.uncollected |= output.get(UNCOLLECTED, {})
    relevance_session.assertions += [Assertion(*fields) for fields in output.get(ASSERTIONS, [])]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Store the session, which knows the conftest.py of each folder."""
    session.config.stash[SESSION].collector = session


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the embedded node, however the session ended."""
    if _RUNS in config.stash:
        config.stash[_RUNS].close()
    if SESSION in config.stash:
        config.stash[SESSION].close()


def pytest_report_header(config: pytest.Config) -> str | None:
    """Where suites run, if an option says so."""
    return describe_options(config.stash[SESSION].options)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect suites by their suffix, and any that is given on the command line."""
    if file_path.suffix.lower() not in (".yaml", ".yml"):
        return None
    relevance_session = parent.config.stash[SESSION]
    is_named = file_path in relevance_session.command_line_paths
    if is_named or is_suite_name(file_path.name):
        from harness.pytest_plugin.items import SuiteFile, looks_like_suite

        if is_suite_name(file_path.name) or looks_like_suite(file_path):
            return SuiteFile.from_parent(parent, path=file_path, runs=_find_runs(parent.config))
    if is_misnamed(file_path.name) and not is_named:
        return MisnamedFile.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> Generator[None, bool | None, bool | None]:
    """Record paths that pytest ignores, for whatever reason; paths on the command line with suites are not ignored."""
    is_ignored = yield
    if is_ignored:
        relevance_session = config.stash[SESSION]
        if relevance_session.has_named_suites(collection_path):
            return False
        relevance_session.record_ignored(collection_path)
    return is_ignored


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Add collectors for the ignored paths of a folder."""
    report = yield
    if report.passed and isinstance(collector, pytest.Directory):
        relevance_session = collector.config.stash[SESSION]
        suites = find_broken_links(collector.path)
        if suites:
            from harness.pytest_plugin.items import SuiteFile

            runs = _find_runs(collector.config)
            report.result.extend(SuiteFile.from_parent(collector, path=path, runs=runs) for path in suites)
        report.result.extend(collect_left_out(collector, relevance_session))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run the suite of an item in its setup: a query that could not be sent or answered is an error, not a failure."""
    relevance_session = item.config.stash[SESSION]
    relevance_session.record_setup(item)
    if relevance_session.suites_collected:
        from harness.pytest_plugin.items import SuiteItem

        if isinstance(item, SuiteItem):
            item.read_outcome()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the cause to the report of an item that only refers to it."""
    report = yield
    if item.config.stash[SESSION].suites_collected:
        from harness.pytest_plugin.items import SuiteItem

        if isinstance(item, SuiteItem):
            item.add_cause(report)
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse choices that no suite has, and deselect items by `--relevance-tag` and `--relevance-query`."""
    relevance_session = config.stash[SESSION]
    if not relevance_session.suites_collected:
        return
    from harness.pytest_plugin.items import check_choices, deselect

    relevance_session.expects_runs = not only_shows_items(config)
    check_choices(relevance_session)
    deselect(config, items)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Record which suites are to run, after all plugins have deselected items; refuse what these cannot have."""
    relevance_session = session.config.stash[SESSION]
    suites: set[Path] = set()
    if relevance_session.suites_collected:
        from harness.pytest_plugin.items import SuiteItem

        for item in session.items:
            if isinstance(item, SuiteItem):
                suites.add(item.path)
                if item.needs_run:
                    relevance_session.due_items.setdefault(item.cell, {})[item.nodeid] = item.planned.verdicts
    relevance_session.expects_runs = not only_shows_items(session.config) and bool(suites or relevance_session.refusals)
    relevance_session.write_due_items()
    refusal = relevance_session.explain_baseline_refusal(len(suites))
    if refusal:
        # A worker of pytest-xdist cannot end the session: the controller does, with its problems.
        if not relevance_session.is_worker:
            raise pytest.UsageError(refusal)
        relevance_session.problems.append(refusal)
    _refuse_reports(session.config)
    has_suites = bool(relevance_session.suites_collected or relevance_session.refusals)
    # In a project without suites, searching the folders that pytest ignores would take time.
    may_lack_suites = not has_suites and session.items and relevance_session.left_out
    if may_lack_suites and config_path(session.config.rootpath) is None:
        relevance_session.left_out.clear()


def _refuse_reports(config: pytest.Config) -> None:
    """Refuse reports that would overwrite what a suite reads, before anything is sent."""
    relevance_session = config.stash[SESSION]
    has_suites = bool(relevance_session.suites_collected or relevance_session.refusals)
    if has_suites and relevance_session.options.reports and not relevance_session.is_worker:
        try:
            _find_runs(config).refuse_reports()
        except UsageError as error:
            raise pytest.UsageError(f"--relevance-report: {error}") from None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the reports: after the workers have ended, before the summary is printed."""
    relevance_session = session.config.stash[SESSION]
    if relevance_session.is_worker:
        output = session.config.workeroutput  # type: ignore[attr-defined]
        output[PROBLEMS] = relevance_session.problems
        output[REFUSALS] = [astuple(problem) for problem in relevance_session.refusals]
        output[_LEFT_OUT] = [str(path) for path in relevance_session.left_out]
        output[SUITES_WITHOUT_ITEMS] = [str(path) for path in relevance_session.suites_without_items]
        output[UNGATED] = relevance_session.ungated
        output[UNCOLLECTED] = relevance_session.uncollected
        output[ASSERTIONS] = [astuple(assertion) for assertion in relevance_session.assertions]
        return
    relevance_session.read_due_items()
    has_runs = _RUNS in session.config.stash or relevance_session.has_shared_runs
    if has_runs or relevance_session.expects_runs or relevance_session.refusals:
        runs = _find_runs(session.config)
        # Problems that are known by now are of workers, which cannot end a session as the controller does.
        is_refused = session.exitstatus == pytest.ExitCode.USAGE_ERROR or bool(relevance_session.problems)
        if relevance_session.refusals and not runs.list_failures():
            is_refused = True
        runs.finish(is_refused=is_refused)
    if relevance_session.problems and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.USAGE_ERROR


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """A line for each suite that ran."""
    relevance_session = config.stash[SESSION]
    has_runs = _RUNS in config.stash or relevance_session.has_shared_runs
    has_problems = relevance_session.problems or relevance_session.refusals
    has_no_items = relevance_session.suites_without_items or relevance_session.ungated
    if has_runs or has_problems or relevance_session.left_out or has_no_items:
        from harness.pytest_plugin.summary import print_summary

        print_summary(terminalreporter, _find_runs(config))


@pytest.fixture(scope="session")
def relevance(pytestconfig: pytest.Config) -> Iterator[Relevance]:
    """
    Runs suites, and scores rankings, in tests written in Python.

    ``relevance.run("suites/products.relevance.yaml").mean("nDCG@10")``; the path is relative to the rootdir, as
    node ids are.
    """
    from harness.pytest_plugin.fixture import SessionRelevance

    fixture = SessionRelevance(_find_runs(pytestconfig), pytestconfig.rootpath)
    with fixture:
        yield fixture
