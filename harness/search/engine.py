"""The search door to an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from harness.errors import EngineUnreachable, LoginRefused
from harness.model import Engine, Failure, FailureKind, IndexFacts, Ranking, Response, SearchRequest
from harness.search.answers import refusal_of_all
from harness.search.asking import Asker
from harness.search.batches import Batches
from harness.search.connection import Connection
from harness.search.facts import read_facts
from harness.search.multisearch import Entry, entry_of
from harness.search.retries import Retries

__all__ = ["EngineSearch"]

NO_REQUEST = Failure(FailureKind.ERROR, "the request is one for an HTTP service, and its cluster is an engine")


class EngineSearch:
    """Searches Elasticsearch or OpenSearch by `_msearch`, over any connection."""

    def __init__(
        self, connection: Connection, engine: Engine, *, timeout: float = 30.0, retries: Retries | None = None
    ) -> None:
        """
        Args:
            connection: To the cluster.
            engine: What it is.
            timeout: Seconds that one request, of many searches, may take.
            retries: How patient to be with a busy engine.
        """
        self.connection = connection
        self.engine = engine
        self.timeout = timeout
        self.retries = retries or Retries()

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
        asker = Asker(self.connection, self.retries, timeout=self.timeout, budget=budget)
        batches = Batches(entries)
        responses: dict[int, Response] = {}
        for batch in batches:
            answered = asker.ask(batch)
            responses |= {entry.place: response for entry, response in zip(batch, answered, strict=True)}
            if asker.comfortable:
                batches.no_larger_than(asker.comfortable)
            if asker.given_up and not asker.answered:
                raise EngineUnreachable(self.connection.mask(asker.given_up.reason))
            self._tell(on_done, len(batch))
        self._raise_if_refused(list(responses.values()))
        return responses

    def _raise_if_refused(self, responses: Sequence[Response]) -> None:
        refusal = refusal_of_all(responses)
        if refusal is None:
            return
        remedy = "it needs the privilege `read` on the index" if refusal.status == 403 else "is it set, and right?"
        raise LoginRefused(
            self.connection.mask(f"the engine refuses the login (status {refusal.status}: {refusal.reason}): {remedy}")
        )

    def _masked(self, response: Response) -> Response:
        if isinstance(response, Ranking):
            return response
        return replace(response, reason=self.connection.mask(response.reason))

    @staticmethod
    def _tell(on_done: Callable[[int], None] | None, count: int) -> None:
        if on_done is not None and count:
            on_done(count)

    def index_facts(self, index: str | None) -> IndexFacts:
        """See `Search.index_facts`."""
        return read_facts(self.connection, index)

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
