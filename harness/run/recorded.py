"""
A run that goes on with an earlier one of the same cell, from a journal or of this process.

Rankings of the earlier run are not sent again; where it leaves no query to send, it takes the place of the run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate.variants import join_run
from harness.model.run import IndexState, Ranking
from harness.run.cell import (
    AnsweredCell,
    Cell,
    SharedState,
    add_titles,
    build_fixture,
    mark_hooked,
    start_progress,
    watch_cell,
)
from harness.run.finished import FinishedSuite
from harness.store.header import NOT_ASKED
from harness.store.journal import RunRecord

if TYPE_CHECKING:
    from harness.search.protocol import Search


def make_rerun(cell: Cell, earlier: FinishedSuite) -> RunRecord | None:
    """The record of a run of *cell* that goes on with *earlier*; None if that had another suite."""
    if earlier.suite != cell.selection.selected:
        return None
    run = join_run(earlier.run)
    is_whole = all(isinstance(run.responses.get(query.id), Ranking) for query in cell.searched.queries)
    return RunRecord(run, is_whole=is_whole)


def reuse_recorded_run(
    cell: Cell, shared_state: SharedState, record: RunRecord, search: Search | None
) -> AnsweredCell | None:
    """
    The earlier run of *record*, if it leaves no query to send, with *search* for look-ups.

    Returns:
        None too if its target is another by now, so that the queries are sent anew.
    """
    from harness.suites.requests import choose_template

    earlier = record.whole_run
    if earlier is None:
        return None
    start_progress(cell, shared_state, record)
    suite, index = cell.searched, earlier.index
    own_index = choose_template(suite, cell.options.request).index or suite.target.index
    if own_index is not None and cell.masker.mask(own_index) == index:
        index = own_index  # a journal has it masked
    engine, state = NOT_ASKED, None
    if search is not None:
        engine = search.engine
        state = read_state_now(cell, shared_state, search, index, builds=record.sends_queries)
    if not record.keep_if_same(engine, state):
        # A merge reports what its parts have, but looks up nothing in a target that is another by now.
        search = None
    whole_run = record.whole_run
    if whole_run is None:
        return None
    responses = {query.id: whole_run.responses[query.id] for query in suite.queries if query.id in whole_run.responses}
    run = replace(whole_run, index=index, responses=responses)
    if search is not None and cell.shows_all_titles:
        run = add_titles(cell, run, search, cell.options.budget)
    return AnsweredCell(
        cell, mark_hooked(cell, run), search, budget=cell.options.budget, recorded_cluster=record.cluster
    )


def read_state_now(
    cell: Cell, shared_state: SharedState, search: Search, index: str | None, *, builds: bool
) -> IndexState | None:
    """The state of *index*, the target of an earlier run; where it *builds*, the fixture is built first."""
    from harness.suites.requests import move_to_index

    if index is None:
        return None
    if builds:
        try:
            cell = build_fixture(cell, shared_state, search)
        except SearchError:
            return None
    if cell.searched.target.index is None:
        cell = replace(cell, searched=move_to_index(cell.searched, index))
    watch = watch_cell(cell, search)
    watch.read_state()
    return watch.first_state
