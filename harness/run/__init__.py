"""The one composition: suites in, a report out. Command line, pytest plugin and Python API all come through here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness import __version__
from harness.errors import InputError, Problem, SuiteError, UsageError
from harness.gate import exit_status
from harness.gate.selection import check_tags, queries_to_run, select_queries
from harness.model import Report, Suite, SuiteReport
from harness.options import RunOptions
from harness.run.connections import Connections, FixtureBuilds, OpenCluster
from harness.run.execution import FinishedSuite, Progress, SuiteExecution
from harness.run.matrix import Matrix

if TYPE_CHECKING:
    from harness.search import Search

__all__ = ["connections_for", "make_report", "run_suite", "run_suites", "run_with"]


def run_suites(
    paths: Sequence[Path],
    options: RunOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    matrix: Matrix | None = None,
) -> Report:
    """
    Run suites and decide their thresholds.

    Args:
        paths: Suite files, or folders that are searched for ``*.relevance.yaml``.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Told how far the run is.
        matrix: The requests and indexes that each suite runs with, in place of those of *options*.

    Raises:
        InputError: a suite or harness.toml is wrong; holds all problems of all files.
        UsageError: an option asks for what cannot be, or a variable that holds a login is not set.
        EngineStartError: the embedded node could not be started.
    """
    with connections_for(options, environ) as connections:
        runs = run_with(connections, paths, options, environ=environ, progress=progress, matrix=matrix)
    return make_report([run.report for run in runs])


def run_with(
    connections: Connections,
    paths: Sequence[Path],
    options: RunOptions,
    *,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    matrix: Matrix | None = None,
    earlier: FinishedSuite | None = None,
) -> list[FinishedSuite]:
    """
    As `run_suites`, over *connections* that stay open for more, and with all that the reports were made from.

    Where *earlier* is what came of the same suite under the same options, only the queries that had no answer are
    asked, and the others keep theirs.
    """
    from harness.suites import load_suites
    from harness.suites.discovery import find_suites

    loaded = load_suites(find_suites(paths).suites, environ, needs_judgments=not options.unjudged)
    suites = [_to_depth(suite, options.depth) for suite in loaded]
    cells = matrix or Matrix.of_one(options)
    _check_choices(suites, options, cells)
    asked = [suite for suite in suites if queries_to_run(select_queries(suite, options.tags), options.day()).queries]
    doors = dict(zip((suite.path for suite in asked), connections.open_all(asked), strict=True))
    builds = FixtureBuilds(allow_write=options.allow_write or options.embedded)
    runs: list[FinishedSuite] = []
    problems: dict[Problem, None] = {}
    for suite in suites:
        through = _OpenSuite(doors.get(suite.path), suite, environ, progress, builds, earlier)
        for cell in cells.cells(suite, options):
            try:
                runs.append(through.run(cell))
            except InputError as error:
                problems.update(dict.fromkeys(error.problems))
    if problems:
        raise SuiteError(list(problems))
    return runs


def run_suite(suite: Suite, search: Search, options: RunOptions) -> SuiteReport:
    """
    Run one loaded suite over an open connection, and decide its thresholds.

    Raises:
        UsageError: the suite has no query with one of the tags, or no request of the name, that were asked for.
    """
    _check_choices([suite], options, Matrix.of_one(options))
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
    given = {
        f"the URL {options.url}": options.url,
        f"the cluster {options.cluster}": options.cluster,
        "the embedded engine": options.embedded,
        "a client": options.client,
    }
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
        cluster=options.cluster,
        client=options.client,
        entry=options.entry,
    )


def _to_depth(suite: Suite, depth: int | None) -> Suite:
    return suite if depth is None else replace(suite, depth=max(suite.depth, depth))


def _check_choices(suites: Sequence[Suite], options: RunOptions, matrix: Matrix) -> None:
    """Refuse tags and requests that the suites do not have, and an index that they cannot search, all in one error."""
    refusals = []
    if options.baseline is not None and len(suites) > 1:
        refusals.append(f"{options.baseline} is the baseline of one suite, and {len(suites)} suites were given")
    for check in (partial(check_tags, suites, options.tags), partial(matrix.check, suites)):
        try:
            check()
        except UsageError as error:
            refusals.append(str(error))
    if refusals:
        raise UsageError("\n".join(refusals))


@dataclass(frozen=True, slots=True)
class _OpenSuite:
    """The way of one suite to its engine, for all of its cells; *door* is None where no query is to be sent."""

    door: OpenCluster | None
    suite: Suite
    environ: Mapping[str, str]
    progress: Progress | None
    builds: FixtureBuilds
    earlier: FinishedSuite | None

    def run(self, options: RunOptions) -> FinishedSuite:
        """One cell of the suite."""
        door, suite = self.door, self.suite
        if door is None:
            return SuiteExecution(suite, options, suite.target.cluster, None, self.progress).without(None)
        masker = door.masker(suite, self.environ)
        execution = SuiteExecution(suite, options, door.name, masker, self.progress, self.builds, self.earlier)
        return execution.without(door.error) if door.search is None else execution.over(door.search)
