"""
The requests that thresholds compare the request of a cell with.

Each is sent once a run, before the first cell that is compared with it; where it is reported too, by its own cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from harness.gate.selection import QueryFilter, list_compared_requests, select
from harness.gate.variants import remove_variants, split_run
from harness.model.run import Run
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.run.cell import AnsweredCell, Cell, choose_searched
from harness.run.connections import keep_own_cluster, move_to_target


def list_compared(suite: Suite, requests: Sequence[str | None], query_filter: QueryFilter) -> tuple[str, ...]:
    """The requests of *suite* with which thresholds compare *requests*; None among these is its first."""
    names: dict[str, None] = {}
    for request in requests:
        name = request or next(iter(suite.requests), "")
        names |= dict.fromkeys(list_compared_requests(suite, name, query_filter))
    return tuple(names)


def add_compared(cells: Sequence[Cell], suite: Suite, options: RunOptions) -> list[Cell]:
    """
    The reported *cells* of *suite*, followed by those of the requests that they are compared with.

    *options* are those of the run, whose server not every request is sent to.
    """
    query_filter = QueryFilter.from_options(options)
    all_cells = [replace(cell, compared=list_compared(suite, [cell.request], query_filter)) for cell in cells]
    reported = {cell.request for cell in cells}
    compared = {name for cell in all_cells for name in cell.compared}
    all_cells = [replace(cell, is_reference=cell.request in compared) for cell in all_cells]
    sent = list(dict.fromkeys([*reported, *compared]))
    for cell in list(all_cells):
        for name in cell.compared:
            planned = {known.key for known in all_cells}
            if (suite.path, name, cell.options.index) not in planned:
                own = keep_own_cluster(options, suite, name, sent) if options.names_server else options
                own = replace(own, request=name, index=cell.options.index, repeat=None, save_baseline=False)
                all_cells.append(_make_reference(suite, replace(own, history=None, all_titles=False)))
    return all_cells


def _make_reference(suite: Suite, options: RunOptions) -> Cell:
    """The cell of *suite* that is sent with *options* for others to be compared with."""
    moved = move_to_target(remove_variants(suite), options.request)
    selection = select(moved, QueryFilter.from_options(options), options.day())
    searched = choose_searched(selection, options)
    return Cell(selection, searched, options, moved.target.cluster, is_reference=True, is_reported=False)


class AnsweredCells:
    """The answers of the cells of a run, of which some are compared with others: each cell is answered once."""

    def __init__(self, cells: Sequence[Cell], answer: Callable[[int, ExitStack], AnsweredCell]) -> None:
        """
        Args:
            cells: All of them.
            answer: Answers the cell at a place of *cells*; what it opens is put on the stack.
        """
        self._cells = cells
        self._answer = answer
        self._answered: dict[int, tuple[AnsweredCell, ExitStack]] = {}
        self._places = {cell.key: place for place, cell in enumerate(cells)}

    @contextmanager
    def answer(self, place: int) -> Iterator[AnsweredCell]:
        """The answers of the cell at *place*, with the runs that it is compared with; what it opened is closed then."""
        cell = self._cells[place]
        others: dict[str, Run] = {}
        for name in cell.compared:
            path, _, index = cell.key
            answered, _ = self._answer_once(self._places[path, name, index])
            others[name] = split_run(answered.run, answered.cell.selection.selected)
        answered, resources = self._answer_once(place)
        with resources:
            yield replace(answered, run=replace(answered.run, others=others)) if others else answered

    def _answer_once(self, place: int) -> tuple[AnsweredCell, ExitStack]:
        """The answers of the cell at *place*, and what stays open until it is reported."""
        if place not in self._answered:
            with ExitStack() as resources:
                answered = self._answer(place, resources)
                # What is only compared with is not looked up further: its point in time is closed with this block.
                kept = resources.pop_all() if self._cells[place].is_reported else ExitStack()
            self._answered[place] = answered, kept
        return self._answered[place]

    def close(self) -> None:
        """Close what cells opened that were not reported."""
        for _, resources in self._answered.values():
            resources.close()
