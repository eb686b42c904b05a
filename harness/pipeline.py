"""
The one composition: suites in, a report out. Command line, pytest plugin and Python API all come through here.

Every suite is loaded and every connection opened before the first query is sent, so that a mistake costs no results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__
from harness.connections import Connections, Door
from harness.errors import InputError, Problem, SuiteError, UsageError
from harness.execution import FinishedSuite, Progress, RunOptions, SuiteExecution
from harness.gate import exit_status
from harness.model import Report, Suite, SuiteReport
from harness.selection import check_requests, check_tags, queries_to_run, select_queries

if TYPE_CHECKING:
    from harness.search import Search

__all__ = [
    "FinishedSuite",
    "Progress",
    "RunOptions",
    "collect_suites",
    "connections_for",
    "make_report",
    "run_suite",
    "run_suites",
    "run_with",
]


def run_suites(
    paths: Sequence[Path], options: RunOptions, *, environ: Mapping[str, str], progress: Progress | None = None
) -> Report:
    """
    Run suites and decide their thresholds.

    Args:
        paths: Suite files, or folders that are searched for ``*.relevance.yaml``.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Told how far the run is.

    Raises:
        InputError: a suite or harness.toml is wrong; holds all problems of all files.
        UsageError: an option asks for what cannot be, or a variable that holds a login is not set.
        EngineStartError: the embedded node could not be started.
    """
    with connections_for(options, environ) as connections:
        runs = run_with(connections, paths, options, environ=environ, progress=progress)
    return make_report([run.report for run in runs])


def run_with(
    connections: Connections,
    paths: Sequence[Path],
    options: RunOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
) -> list[FinishedSuite]:
    """As `run_suites`, over *connections* that stay open for more, and with all that the reports were made from."""
    from harness.suites import load_suites

    suites = load_suites(collect_suites(paths), environ)
    _check_choices(suites, options)
    asked = [suite for suite in suites if queries_to_run(select_queries(suite, options.tags), options.day()).queries]
    doors = dict(zip((suite.path for suite in asked), connections.open_all(asked), strict=True))
    runs: list[FinishedSuite] = []
    problems: list[Problem] = []
    for suite in suites:
        try:
            runs.append(_run_through(doors.get(suite.path), suite, options, environ, progress))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise SuiteError(problems)
    return runs


def run_suite(suite: Suite, search: Search, options: RunOptions) -> SuiteReport:
    """
    Run one loaded suite over an open connection, and decide its thresholds.

    Raises:
        UsageError: the suite has no query with one of the tags, or no request of the name, that were asked for.
    """
    _check_choices([suite], options)
    return SuiteExecution(suite, options, suite.target.cluster).over(search).report


def make_report(reports: Sequence[SuiteReport]) -> Report:
    """The report of a whole run, made now."""
    created = datetime.now(UTC).isoformat(timespec="seconds")
    return Report(created, __version__, tuple(reports), exit_status(reports))


def connections_for(options: RunOptions, environ: Mapping[str, str]) -> Connections:
    """
    The connections that *options* ask for; none is open yet.

    Raises:
        UsageError: they contradict each other.
    """
    given = {f"the URL {options.url}": options.url, "the embedded engine": options.embedded, "a client": options.client}
    servers = [name for name, value in given.items() if value]
    if len(servers) > 1:
        raise UsageError(f"found {' and '.join(servers)}, expected one of them")
    if options.engine_version is not None and not options.embedded:
        raise UsageError("an engine version was given, which only the embedded engine can choose; ask for that too")
    return Connections(
        environ,
        url=options.url,
        embedded=options.embedded,
        engine_version=options.engine_version,
        client=options.client,
    )


def collect_suites(paths: Sequence[Path]) -> list[Path]:
    """
    The suite files that *paths* stand for, each once, in the order given.

    Raises:
        UsageError: a folder holds no suite, or no path was given.
    """
    from harness.suites import find_suites

    found: dict[Path, Path] = {}
    for path in paths:
        files = find_suites(path) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path}: found no suite in this folder, expected files named *.relevance.yaml")
        for file in files:
            # A link to a suite is another suite: its files are those beside the link.
            found.setdefault(file.parent.resolve() / file.name, file)
    if not found:
        raise UsageError("found no suite to run, expected a file named *.relevance.yaml or a folder that holds some")
    return list(found.values())


def _check_choices(suites: Sequence[Suite], options: RunOptions) -> None:
    """Refuse tags and a request that the suites do not have, all in one error."""
    refusals = []
    if options.baseline is not None and len(suites) > 1:
        refusals.append(f"{options.baseline} is the baseline of one suite, and {len(suites)} suites were given")
    for check in (partial(check_tags, suites, options.tags), partial(check_requests, suites, options.request)):
        try:
            check()
        except UsageError as error:
            refusals.append(str(error))
    if refusals:
        raise UsageError("\n".join(refusals))


def _run_through(
    door: Door | None, suite: Suite, options: RunOptions, environ: Mapping[str, str], progress: Progress | None
) -> FinishedSuite:
    if door is None:
        return SuiteExecution(suite, options, suite.target.cluster, None, progress).without(None)
    masker = door.masker(suite, environ)
    execution = SuiteExecution(suite, options, door.name, masker, progress)
    return execution.without(door.error) if door.search is None else execution.over(door.search)
