"""Runs of a loaded suite over a connection that is open, without the command's way to it."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from harness.gate.selection import QueryFilter, select
from harness.hooks import Hooks
from harness.masking import Masker
from harness.model import Suite, SuiteReport
from harness.options import RunOptions
from harness.run.checks import Targets
from harness.run.connections import FixtureBuilds
from harness.run.execution import FinishedSuite, SuiteExecution, conclude
from harness.search import Search


def with_hooks(options: RunOptions) -> RunOptions:
    """*options* with hooks in force, of which there are none."""
    return options if options.hooks else replace(options, hooks=Hooks())


def execution_of(
    suite: Suite, options: RunOptions, cluster: str = "default", masker: Masker | None = None, **fields: Any
) -> SuiteExecution:
    """The selected queries of *suite*; *fields* are those of a `SuiteExecution`, with builds and targets of its own."""
    builds = FixtureBuilds(allow_write=options.allow_write or options.embedded)
    shared = {"builds": builds, "targets": Targets(), **fields}
    selection = select(suite, QueryFilter.of(options), options.day())
    return SuiteExecution(selection, with_hooks(options), cluster, masker or Masker({}), **shared)


def finish(suite: Suite, search: Search, options: RunOptions) -> FinishedSuite:
    """Run *suite*, and decide its thresholds."""
    with ExitStack() as still:
        return conclude(execution_of(suite, options, masker=Masker(suite.variables)).over(search, still))


def run_suite(suite: Suite, search: Search, options: RunOptions) -> SuiteReport:
    """The report of `finish`."""
    return finish(suite, search, options).report
