"""Reads the state of a target before, between and after the searches of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING

from harness.model.request import SearchRequest
from harness.model.run import Definitions, IndexState
from harness.model.suite import Suite
from harness.model.timing import ShardCopy
from harness.search.definitions import EVERYTHING, References
from harness.search.dialects import find_dialect

if TYPE_CHECKING:
    from harness.search.protocol import Search

_SECONDS_FOR_STATE = 5.0
"""How long one request of a look may take."""

_SLOW = 1.0
"""Seconds of a look from which repeats are not each followed by one: without a master, a cluster does not answer it."""

_SHARE = 0.05
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
        read_definitions: Callable[[float], Definitions] | None = None,
        budget: float | None = None,
        once: bool = False,
    ) -> None:
        """
        Args:
            read: Returns the state without definitions, given the seconds for each request and the `preference` whose
                shard copies it lists (None for that of runs); None to watch nothing.
            read_definitions: Returns what the server has stored, given the seconds for each request.
            budget: Seconds for the run, after which the state is not read again.
            once: Whether to read the state without definitions only once: a point in time has the same documents.
        """
        self.states: list[IndexState] = []
        self._read = read
        self._read_definitions = read_definitions
        self._begun = perf_counter()
        self._budget = budget
        self._once = once
        self._due = self._begun
        self._is_slow = False

    @property
    def seconds_left(self) -> float | None:
        """What is left of the budget, in seconds; None where there is none."""
        if self._budget is None:
            return None
        return self._budget - (perf_counter() - self._begun)

    @property
    def first_state(self) -> IndexState | None:
        """The first state, None if it is unknown."""
        return self.states[0] if self.states else None

    def read_state(self) -> None:
        """Read the target's state now, with its definitions; called before and after the searches."""
        state = self._read_documents()
        if state is None:
            return
        if self._read_definitions is not None and state != IndexState():
            state = replace(state, definitions=self._read_definitions(self._seconds_for_request()))
        self._add(state)

    def read_state_if_due(self) -> None:
        """
        Read the target's state if that was not done lately; called whenever queries have their responses.

        Definitions are left as they were read last: a mapping may be large.
        """
        if perf_counter() < self._due or (self._once and self.states):
            return
        state = self._read_documents()
        if state is not None:
            if self.states:
                state = replace(state, definitions=self.states[-1].definitions)
            self._add(state)

    def _read_documents(self) -> IndexState | None:
        """The state without definitions, which is that of the first look at a point in time; None to watch nothing."""
        if self._read is None:
            return None
        if self._once and self.first_state is not None:
            return self.first_state
        return self._read_and_time(self._read, None)

    def _add(self, state: IndexState) -> None:
        last = self.states[-1] if self.states else IndexState()
        if state != last:
            self.states.append(state)

    def read_copies(self, preference: str) -> Mapping[str, tuple[ShardCopy, ...]] | None:
        """
        The shard copies that answer searches with *preference*, the first copy of each shard.

        Returns:
            None if they are unknown, or if a cluster that takes seconds to report them was asked lately.
        """
        if self._read is None or (self._is_slow and perf_counter() < self._due):
            return None
        return self._read_and_time(self._read, preference).copies

    def _seconds_for_request(self) -> float:
        seconds_left = self.seconds_left
        return _SECONDS_FOR_STATE if seconds_left is None else min(_SECONDS_FOR_STATE, seconds_left)

    def _read_and_time(self, read: Callable[[float, str | None], IndexState], preference: str | None) -> IndexState:
        """The result of *read* within the budget; its time decides when the next one is due."""
        begun = perf_counter()
        state = read(self._seconds_for_request(), preference)
        ended = perf_counter()
        seconds = ended - begun
        self._is_slow = seconds > _SLOW
        self._due = ended + seconds / _SHARE
        return state


@contextmanager
def open_point_in_time(suite: Suite, request: str | None, search: Search) -> Iterator[Search]:
    """
    *search*, with a point in time as the target of *suite* if the suite says so, until the end of the block.

    Raises:
        SearchError: The point in time cannot be opened.
    """
    if not suite.target.point_in_time or not suite.queries:
        yield search
        return
    first = _build_first_request(suite, request)
    with search.at_point_in_time(first.index, first.url_params) as pinned:
        yield pinned


def _build_first_request(suite: Suite, request: str | None) -> SearchRequest:
    from harness.suites.requests import build_request, choose_template

    return build_request(suite, choose_template(suite, request), suite.queries[0])


def watch_target(
    suite: Suite, request: str | None, search: Search, *, references: References, budget: float | None
) -> TargetWatch:
    """
    A watch of the target of *suite* with its request *request*, a name; a point in time has the same documents always.

    Args:
        suite: The suite with the queries that run.
        request: The name of the request; the first where it is None.
        search: Reads the states.
        references: What of the definitions is watched.
        budget: Seconds for the run.

    Raises:
        SuiteError: The first query's values make a request that cannot be sent.
    """
    dialect = find_dialect(suite.target.service)
    first = _build_first_request(suite, request)
    if dialect.is_pinned(first):
        return TargetWatch(None, budget=budget)

    def read(seconds: float, preference: str | None) -> IndexState:
        request = first if preference is None else dialect.prefer(first, preference)
        return search.index_state(request.index, timeout=seconds, url_params=request.url_params)

    def read_definitions(seconds: float) -> Definitions:
        return search.read_definitions(first.index, references, timeout=seconds, url_params=first.url_params)

    is_pinned = suite.target.point_in_time
    return TargetWatch(read, read_definitions=read_definitions, budget=budget, once=is_pinned)


def find_target_references(suite: Suite, request: str | None, *, is_changed_by_hooks: bool) -> References:
    """
    What the requests of *suite* can name of what a server has stored.

    Args:
        suite: The suite with the queries of all parts of a run: what one part has read is compared with what another
            has, so that both have to read the same.
        request: The name of the request; the first where it is None.
        is_changed_by_hooks: Whether hooks may change the requests, which may then name any field.

    Raises:
        SuiteError: A query's values make a request that cannot be sent.
    """
    from harness.suites.requests import build_request, choose_template

    dialect = find_dialect(suite.target.service)
    template = choose_template(suite, request)
    values = chain.from_iterable((query.text, query.params) for query in suite.queries)
    references = dialect.find_references(template, values)
    if any("{{" in name for _, name in references.objects):
        requests = (build_request(suite, template, query) for query in suite.queries)
        references = replace(references, objects=dialect.find_objects(requests))
    return references | EVERYTHING if is_changed_by_hooks else references
