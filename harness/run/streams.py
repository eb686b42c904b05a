"""
Searches around a search. Each yields the responses of the one inside it, and does one thing on the way.

From the outside in: record of an earlier run (`RecordedSearch`), who follows the run (`harness.run.ending`), progress
(`CountedSearch`), watch of the target (`WatchedSearch`), needed hits (`NeededHits`), hooks
(`harness.hooks.HookedSearch`), point in time and connection (`harness.search`). So the record has responses as hooks
changed them, cut to the needed hits; and rankings that it has are not counted as progress. A request that is of no
query, such as a check of the target, passes through all unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from harness.errors import SearchError
from harness.gate.selection import list_read_fields
from harness.model.request import SearchRequest
from harness.model.suite import Query
from harness.run.plan import SearchPlan, count_requested_hits
from harness.run.tails import cut_with_tail, keep_read_values
from harness.run.watching import TargetWatch
from harness.search.answers import exceeds_window
from harness.search.dialects import find_dialect
from harness.search.protocol import Dialect, ResponseStream, StreamedResponse

if TYPE_CHECKING:
    from harness.store.journal import RunRecord


class ResponseSource(Protocol):
    """Anything that requests can be sent to."""

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        ...


@dataclass(frozen=True, slots=True)
class NeededHits:
    """
    Cuts each response to the hits that are needed, keeps those that tie with the last one, and drops values of fields
    that nothing reads.

    An index may refuse the hit more than needed that a request asks for, because of its `index.max_result_window`: the
    request is sent again without it.
    """

    inner: ResponseSource
    plan: SearchPlan

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        read_fields = list_read_fields(self.plan.suite, self.plan.template.name)
        with closing(self._stream_in_window(requests, budget)) as stream:
            for streamed in stream:
                # The request as it was made: hooks may have changed the one that was sent.
                request = requests[streamed.position]
                if request.built_for is None:
                    yield streamed
                    continue
                depth = self._count_needed_hits(request, request.built_for)
                response = cut_with_tail(streamed.response, request, depth, self._dialect)
                if not self._dialect.has_indexes:
                    response = keep_read_values(response, read_fields)
                yield StreamedResponse(
                    streamed.position, streamed.request, response, streamed.resent, streamed.lacks_further_hit
                )

    def _stream_in_window(self, requests: Sequence[SearchRequest], budget: float | None) -> ResponseStream:
        begun = time.perf_counter()
        refused: dict[int, StreamedResponse] = {}
        with closing(self.inner.stream(requests, budget=budget)) as stream:
            for streamed in stream:
                is_of_query = streamed.request.built_for is not None
                if self.plan.further and is_of_query and exceeds_window(streamed.response):
                    refused[streamed.position] = streamed
                else:
                    yield streamed
        if not refused:
            return
        places = sorted(refused)
        # No request with a size of its own asks for more, so that the others need as many hits as the suite has ranks.
        again = [self._dialect.with_size(requests[place], self.plan.suite.depth) for place in places]
        seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
        with suppress(SearchError), closing(self.inner.stream(again, budget=seconds_left)) as stream:
            for streamed in stream:
                place = places[streamed.position]
                del refused[place]
                yield replace(streamed, position=place, lacks_further_hit=True)
        # What was not answered the second time stays refused.
        for streamed in refused.values():
            yield replace(streamed, lacks_further_hit=True)

    @property
    def _dialect(self) -> Dialect:
        return find_dialect(self.plan.suite.target.service)

    def _count_needed_hits(self, request: SearchRequest, query: Query) -> int:
        """How many hits are needed of those that *request*, which is for *query*, asks for; as far as it says."""
        from harness.suites.requests import build_request

        suite, template = self.plan.suite, self.plan.template
        if not self.plan.further:
            return count_requested_hits(request, suite)
        if not isinstance(template.body, Mapping) or not any("{{" in key for key in template.body):
            return suite.depth
        # The size is of a key that the query fills in: only the request without the further hit has it as it is.
        return count_requested_hits(build_request(suite, template, query), suite)


@dataclass(frozen=True, slots=True)
class WatchedSearch:
    """Reads the state of the target between responses."""

    inner: ResponseSource
    watch: TargetWatch

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        with closing(self.inner.stream(requests, budget=budget)) as stream:
            for streamed in stream:
                yield streamed
                if streamed.request.built_for is not None:
                    self.watch.read_state_if_due()


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """Yields the rankings of an earlier run, sends the other requests, and records their responses."""

    inner: ResponseSource
    record: RunRecord

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        rankings = self.record.rankings
        places: list[int] = []
        for place, request in enumerate(requests):
            if request.built_for is not None and request.query in rankings:
                yield StreamedResponse(place, request, rankings[request.query])
            else:
                places.append(place)
        with closing(self.inner.stream([requests[place] for place in places], budget=budget)) as stream:
            for streamed in stream:
                if streamed.request.built_for is not None:
                    self.record.add(streamed.request.query, streamed.response)
                yield replace(streamed, position=places[streamed.position])


@dataclass(frozen=True, slots=True)
class CountedSearch:
    """Counts the queries that have their response, each once, although some may be sent again."""

    inner: ResponseSource
    count: Callable[[int], None]
    counted: set[str] = field(default_factory=set)
    """The queries that were counted."""

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        with closing(self.inner.stream(requests, budget=budget)) as stream:
            for streamed in stream:
                query = streamed.request.query
                if streamed.request.built_for is not None and query not in self.counted:
                    self.counted.add(query)
                    self.count(1)
                yield streamed
