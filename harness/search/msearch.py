"""The search door to an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.model import Failure, FailureKind, IndexFacts, Response, SearchRequest
from harness.search.asking import Asker, Batches
from harness.search.identity import read_facts
from harness.search.session import ConnectedSearch
from harness.search.wire import Connection, Entry, entry_of

__all__ = ["EngineSearch"]


NO_REQUEST = Failure(FailureKind.ERROR, "the request is one for an HTTP service, and its cluster is an engine")

REMEDIES = {401: "is it set, and right?", 403: "it needs the privilege `read` on the index"}


class EngineSearch(ConnectedSearch[Connection]):
    """Searches Elasticsearch or OpenSearch by `_msearch`, over any connection."""

    def search(
        self,
        requests: Sequence[SearchRequest],
        *,
        on_done: Callable[[int], None] | None = None,
        budget: float | None = None,
    ) -> list[Response]:
        """See `Search.search`."""
        responses: dict[int, Response] = {}
        entries: list[Entry] = []
        for place, request in enumerate(requests):
            entry = entry_of(place, request) if request.http is None else NO_REQUEST
            if isinstance(entry, Failure):
                responses[place] = entry
            else:
                entries.append(entry)
        self._tell(on_done, len(responses))
        responses |= self._ask_all(entries, on_done, budget)
        return [self._masked(responses[place]) for place in range(len(requests))]

    def _ask_all(
        self, entries: Sequence[Entry], on_done: Callable[[int], None] | None, budget: float | None
    ) -> dict[int, Response]:
        course = self._course(budget)
        asker = Asker(self.connection, course)
        batches = Batches(entries)
        responses: dict[int, Response] = {}
        for batch in batches:
            answered = asker.ask(batch)
            responses |= {entry.place: response for entry, response in zip(batch, answered, strict=True)}
            if asker.comfortable:
                batches.no_larger_than(asker.comfortable)
            self._raise_if_nobody_answers(course)
            self._tell(on_done, len(batch))
        self._raise_if_refused(list(responses.values()), "the engine", REMEDIES)
        return responses

    @staticmethod
    def _tell(on_done: Callable[[int], None] | None, count: int) -> None:
        if on_done is not None and count:
            on_done(count)

    def index_facts(self, index: str | None) -> IndexFacts:
        """See `Search.index_facts`."""
        return read_facts(self.connection, index, self.retries)
