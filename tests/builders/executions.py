"""Runs of a loaded suite over a connection that is open, without the command's way to it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from harness.gate.selection import QueryFilter, select
from harness.hooks import Hooks
from harness.masking import Masker
from harness.model.report import SuiteReport
from harness.model.request import Cluster
from harness.model.run import IndexState, Run
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.run.cell import (
    AnsweredCell,
    Cell,
    OpenTarget,
    Progress,
    SharedState,
    answer_cell,
    answer_without_connection,
    choose_searched,
    conclude_cell,
    send_plan,
)
from harness.run.checks import Targets
from harness.run.connections import FixtureBuilds
from harness.run.finished import FinishedSuite
from harness.run.plan import plan_searches
from harness.run.recorded import reuse_recorded_run
from harness.run.streams import NeededHits, RecordedSearch
from harness.run.watching import TargetWatch
from harness.search.protocol import Search
from harness.store.journal import RunRecord


def with_hooks(options: RunOptions) -> RunOptions:
    """*options* with hooks in force, of which there are none."""
    return options if options.hooks else replace(options, hooks=Hooks())


def cell_of(
    suite: Suite,
    options: RunOptions,
    cluster: str = "default",
    masker: Masker | None = None,
    server: Cluster | None = None,
) -> Cell:
    """The selected queries of *suite*."""
    selection = select(suite, QueryFilter.from_options(options), options.day())
    options = with_hooks(options)
    return Cell(selection, choose_searched(selection, options), options, cluster, masker or Masker({}), server)


@contextmanager
def answered_by(
    search: Search | Exception,
    cell: Cell,
    *,
    progress: Progress | None = None,
    record: RunRecord | None = None,
    targets: Targets | None = None,
) -> Iterator[AnsweredCell]:
    """*cell*, answered by *search*, or failed with an error; its connection is open until the end of the block."""
    shared_state = SharedState(FixtureBuilds(), targets or Targets(), progress)
    with ExitStack() as resources:
        open_search = None if isinstance(search, Exception) else search
        recorded = None if record is None else reuse_recorded_run(cell, shared_state, record, open_search)
        if recorded is not None:
            yield recorded
        elif isinstance(search, Exception):
            yield answer_without_connection(cell, shared_state, search, record)
        else:
            yield answer_cell(cell, shared_state, search, resources, record)


def finish(suite: Suite, search: Search, options: RunOptions) -> FinishedSuite:
    """Run *suite*, and decide its thresholds."""
    with answered_by(search, cell_of(suite, options, masker=Masker(suite.variables))) as answered:
        return conclude_cell(answered)


def run_suite(suite: Suite, search: Search, options: RunOptions) -> SuiteReport:
    """The report of `finish`."""
    return finish(suite, search, options).report


def search_suite(
    suite: Suite,
    search: Search,
    *,
    targets: Targets | None = None,
    state: IndexState | None = None,
    whole: Suite | None = None,
    earlier: Run | None = None,
    budget: float | None = None,
    **options: Any,
) -> Run:
    """
    The run of *suite* over *search*, nothing more.

    Args:
        suite: The queries that run.
        search: What they are sent to.
        targets: Checks the target; None for no check.
        state: Of the target.
        whole: The suite with the queries that do not run, whose documents are looked up too.
        earlier: An earlier run, whose rankings are kept.
        budget: Seconds that the searches may take.
        options: Those of `plan_searches`.
    """
    plan = plan_searches(suite, **options)
    check = None
    if targets is not None:
        check = targets.prepare_check(whole or suite, plan, search, state)
    source = RecordedSearch(NeededHits(search, plan), RunRecord(earlier))
    return send_plan(plan, source, OpenTarget(search, search, TargetWatch(None, budget=budget)), check)


__all__: Sequence[str] = (
    "answered_by",
    "cell_of",
    "finish",
    "run_suite",
    "search_suite",
    "with_hooks",
)
