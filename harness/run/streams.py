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
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from harness.errors import SearchError
from harness.gate.selection import list_read_fields
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Ranking, Response
from harness.model.suite import Query
from harness.run.plan import SearchPlan, count_requested_hits
from harness.run.tails import SIZES, cut_with_tail, keep_read_values
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

    Where several hits are of one document, which counts once, it asks for more hits, until there are as many documents
    as are needed or the server has no more.

    An index may refuse the hit more than needed that a request asks for, because of its `index.max_result_window`: the
    request is sent again without it.
    """

    inner: ResponseSource
    plan: SearchPlan

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """See `Search.stream`."""
        read_fields = list_read_fields(self.plan.suite, self.plan.template.name)
        with closing(self._stream_full(requests, budget)) as stream:
            for streamed, request in stream:
                if request.built_for is None:
                    yield streamed
                    continue
                depth = self._count_needed_hits(requests[streamed.position], request.built_for)
                response = cut_with_tail(streamed.response, request, depth, self._dialect)
                if not self._dialect.has_indexes:
                    response = keep_read_values(response, read_fields)
                yield replace(streamed, response=response)

    def _stream_full(
        self, requests: Sequence[SearchRequest], budget: float | None
    ) -> Generator[tuple[StreamedResponse, SearchRequest], None, None]:
        """Each response with its request as it was made, perhaps with a greater size; hooks may have changed it."""
        begun = time.perf_counter()
        short: dict[int, tuple[StreamedResponse, SearchRequest]] = {}
        with closing(self._stream_in_window(requests, budget)) as stream:
            for streamed in stream:
                request = requests[streamed.position]
                if self._lacks_documents(streamed.response, request):
                    short[streamed.position] = streamed, request
                else:
                    yield streamed, request
        for size in SIZES:
            seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
            self._deepen(short, requests, size, seconds_left)
        yield from short.values()

    def _deepen(
        self,
        short: dict[int, tuple[StreamedResponse, SearchRequest]],
        requests: Sequence[SearchRequest],
        size: int,
        budget: float | None,
    ) -> None:
        """Ask for *size* hits where the responses of *short* still lack documents, and put what comes into *short*."""
        deeper: dict[int, SearchRequest] = {}
        for place, (streamed, request) in sorted(short.items()):
            deepest = min(size, self._dialect.find_deepest_size(requests[place]))
            is_deeper = deepest > count_requested_hits(request, self.plan.suite)
            if is_deeper and self._lacks_documents(streamed.response, request):
                deeper[place] = self._dialect.deepen(requests[place], deepest)
        unanswered = set(deeper)
        if deeper and (budget is None or budget > 0):
            for place, streamed in self._ask_deeper(deeper, budget):
                unanswered.discard(place)
                first, _ = short[place]
                if _continues(first.response, streamed.response):
                    short[place] = _take_over(first, streamed.response, deeper[place], self.plan), deeper[place]
                elif _may_answer_later(streamed.response):
                    short[place] = replace(first, response=streamed.response), deeper[place]
        for place in unanswered:
            # Too few documents are no ranking: without the others the query would count as worse than it is.
            first, _ = short[place]
            short[place] = replace(first, response=_NOT_ASKED), deeper[place]

    def _ask_deeper(
        self, requests: Mapping[int, SearchRequest], budget: float | None
    ) -> Iterator[tuple[int, StreamedResponse]]:
        """The responses to *requests* by their places; those that are not answered are left out."""
        places = list(requests)
        with suppress(SearchError), closing(self.inner.stream(list(requests.values()), budget=budget)) as stream:
            for streamed in stream:
                yield places[streamed.position], streamed

    def _lacks_documents(self, response: Response, request: SearchRequest) -> bool:
        """Whether *response* repeats documents, has fewer of them than are needed, and the server may have more."""
        if request.built_for is None or not isinstance(response, Ranking) or not response.duplicates:
            return False
        if len(response.ids) >= self._count_needed_hits(request, request.built_for):
            return False
        if not self._dialect.takes_size(request) or self._dialect.has_all_matches(response, request):
            return False
        return response.returned >= count_requested_hits(request, self.plan.suite)

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


_NOT_ASKED = Failure(
    FailureKind.NOT_RUN, "several hits are of one document, and the run ended before it could ask for more hits"
)
"""What a query has whose further hits nobody could ask for."""

_BUSY = frozenset({429, 502, 503, 504})
"""Statuses of a server that may answer later; others may say that a size is too large for it."""


def _may_answer_later(response: Response) -> bool:
    """Whether *response* is a failure that says nothing of how many hits there are."""
    if not isinstance(response, Failure):
        return False
    return response.kind in (FailureKind.TIMEOUT, FailureKind.NOT_RUN) or response.status in _BUSY


def _continues(first: Response, deeper: Response) -> bool:
    """Whether *deeper* begins with the documents of *first*: an engine may rank otherwise with another size."""
    if not isinstance(first, Ranking) or not isinstance(deeper, Ranking):
        return False
    return deeper.ids[: len(first.ids)] == first.ids


def _take_over(first: StreamedResponse, deeper: Response, request: SearchRequest, plan: SearchPlan) -> StreamedResponse:
    """*first* with the hits of *deeper*; its times stay those of what users send."""
    assert isinstance(first.response, Ranking), "only rankings repeat documents"
    assert isinstance(deeper, Ranking), "only a ranking continues another"
    response = replace(deeper, took=first.response.took, to_last_byte=first.response.to_last_byte)
    return replace(first, response=response, deepened=count_requested_hits(request, plan.suite))


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
