"""Reads the state of a target before, between and after the searches of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.model import IndexState, SearchRequest, ShardCopy, Suite
from harness.search.msearch import pinned_of, preferring

if TYPE_CHECKING:
    from harness.search import Search

SECONDS_FOR_STATE = 5.0
"""How long one request of a look may take."""

SLOW = 1.0
"""Seconds of a look from which repeats are not each followed by one: without a master, a cluster does not answer it."""

SHARE = 0.05
"""The part of the time of a run that looks may take while its queries are under way."""


class TargetWatch:
    """
    The *states* of a target during a run, consecutive equal ones once.

    A change that is reverted before the searches end, such as an alias that is moved and moved back, is seen if the
    state is read in between. The quicker the server answers, the more often the state is read.
    """

    def __init__(
        self,
        read: Callable[[float, str | None], IndexState] | None,
        *,
        budget: float | None = None,
        once: bool = False,
    ) -> None:
        """
        Args:
            read: Returns the state, given the seconds for each request and the `preference` whose shard copies it lists
                (None for that of runs); None to watch nothing.
            budget: Seconds for the run, after which the state is not read again.
            once: Whether to read the state only once: a point in time does not change.
        """
        self.states: list[IndexState] = []
        self._read = read
        self._begun = perf_counter()
        self._budget = budget
        self._once = once
        self._due = self._begun
        self._is_slow = False

    @property
    def left(self) -> float | None:
        """What is left of the budget, in seconds; None where there is none."""
        return None if self._budget is None else self._budget - (perf_counter() - self._begun)

    @property
    def first(self) -> IndexState | None:
        """The first state, None if it is unknown."""
        return self.states[0] if self.states else None

    def read_state(self) -> None:
        """Read the target's state now."""
        if self._read is None:
            return
        state = self._timed(self._read, None)
        if state != (self.states[-1] if self.states else IndexState()):
            self.states.append(state)
        if self._once:
            self._read = None

    def copies_with(self, preference: str) -> Mapping[str, tuple[ShardCopy, ...]] | None:
        """
        The shard copies that answer searches with *preference*, the first copy of each shard.

        Returns:
            None if they are unknown, or if a cluster that takes seconds to report them was asked lately.
        """
        if self._read is None or (self._is_slow and perf_counter() < self._due):
            return None
        return self._timed(self._read, preference).copies

    def _timed(self, read: Callable[[float, str | None], IndexState], preference: str | None) -> IndexState:
        """The result of *read* within the budget; its time decides when the next one is due."""
        begun = perf_counter()
        state = read(min(SECONDS_FOR_STATE, SECONDS_FOR_STATE if self.left is None else self.left), preference)
        ended = perf_counter()
        self._due, self._is_slow = ended + (ended - begun) / SHARE, ended - begun > SLOW
        return state

    def read_state_if_due(self) -> None:
        """Read the target's state if that was not done lately; called whenever queries have their responses."""
        if perf_counter() >= self._due:
            self.read_state()


@contextmanager
def with_point_in_time(suite: Suite, request: str | None, search: Search) -> Iterator[Search]:
    """
    *search*, with a point in time as the target of *suite* if the suite says so, until the end of the block.

    Raises:
        SearchError: The point in time cannot be opened.
    """
    if not suite.target.point_in_time or not suite.queries:
        yield search
        return
    from harness.search.engine import EngineSearch

    first = _first_request(suite, request)
    if not isinstance(search, EngineSearch) or first.index is None:
        raise SearchError("a point in time needs an engine and an index")
    with search.at_point_in_time(first.index, first.url_params) as pinned:
        yield pinned


def _first_request(suite: Suite, request: str | None) -> SearchRequest:
    from harness.suites.requests import build_requests

    return build_requests(replace(suite, queries=suite.queries[:1]), request)[0]


def watch_target(suite: Suite, request: str | None, search: Search, *, budget: float | None) -> TargetWatch:
    """
    A watch of the target of *suite* with its request *request*, a name; a point in time cannot change.

    Raises:
        SuiteError: The first query's values make a request that cannot be sent.
    """
    first = _first_request(suite, request)
    if pinned_of(first.body) is not None:
        return TargetWatch(None, budget=budget)

    def read(seconds: float, preference: str | None) -> IndexState:
        asked = first if preference is None else preferring(preference, first)
        return search.index_state(asked.index, timeout=seconds, url_params=asked.url_params)

    return TargetWatch(read, budget=budget, once=suite.target.point_in_time)
