"""
A search without a server, for tests.

>>> from harness.model.request import SearchRequest
>>> search = FakeSearch({"shoes": ["a", "b", "c"]})
>>> [response] = search.search([SearchRequest("shoes", "products", {"size": 2})])
>>> [hit.id for hit in response.hits]
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.model.request import SearchRequest
from harness.model.run import Definitions, Engine, Failure, FailureKind, Hit, IndexFacts, IndexState, Ranking, Response
from harness.model.suite import Json
from harness.search.definitions import References
from harness.search.protocol import ResponseStream, Search, StreamedResponse

FakeAnswer: TypeAlias = Sequence[str | Hit] | Ranking | Failure
"""The answer to a query: its whole ranking, best first, which `size` cuts; or a complete response."""

_DEFAULT_SIZE = 10
"""Hits that an engine returns if the request has no size."""


class FakeSearch(Search):
    """
    Answers each query with a given ranking.

    *requests* are those that were sent for queries, *look_ups* those without a query's id, *facts* those of any index,
    *fields* its fields, None where it has all, *states* and *definitions* those that it has one after the other.
    *closed* says whether `close` was called. A query without a ranking fails. Documents that are looked up by id are
    those of all rankings. A hit has its title if the request asks for it.
    """

    service = "engine"

    def __init__(
        self, rankings: Mapping[str, FakeAnswer], *, engine: Engine | None = None, error: Exception | None = None
    ) -> None:
        """
        Args:
            rankings: Query id to answer.
            engine: Its engine.
            error: Raised by `search`, such as `EngineUnreachable`.
        """
        self.engine = engine or Engine("elasticsearch", "9.4.3")
        self.requests: list[SearchRequest] = []
        self.look_ups: list[SearchRequest] = []
        self.facts = IndexFacts()
        self.fields: Sequence[str] | None = None
        self.states: list[IndexState] = []
        self.definitions: list[Definitions] = []
        self.closed = False
        self._rankings = dict(rankings)
        self._error = error

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """Answer *requests* from the rankings; with a *budget* of 0 none of them runs."""
        if self._error is not None:
            raise self._error
        if budget is not None and budget <= 0:
            for position, request in enumerate(requests):
                failure = Failure(FailureKind.NOT_RUN, "the time budget of the run is used up")
                yield StreamedResponse(position, request, failure)
            return
        for request in requests:
            if request.query:
                self.requests.append(request)
            else:
                self.look_ups.append(request)
        for position, request in enumerate(requests):
            yield StreamedResponse(position, request, self._respond(request))

    def _respond(self, request: SearchRequest) -> Response:
        """The response to *request*, from the ranking of its query, or from all of them for a look-up."""
        answer = self._rankings.get(request.query)
        if answer is None and not request.query:
            answer = self._look_up(request.body)
        if answer is None:
            return Failure(FailureKind.NOT_RUN, f'the fake search has no ranking for query "{request.query}"')
        if isinstance(answer, (Ranking, Failure)):
            return answer
        hits = []
        for position, hit in enumerate(answer):
            # A document without a score has a lower one at each rank.
            hits.append(hit if isinstance(hit, Hit) else Hit(hit, score=float(len(answer) - position)))
        body = request.body if isinstance(request.body, Mapping) else {}
        if "bool" in body.get("post_filter", {}):
            # That of `Dialect.filter_to_documents`, whose first filter has the ids.
            ids = _read_ids(body["post_filter"]["bool"]["filter"][0])
            hits = [hit for hit in hits if hit.id in ids]
        if request.title_field is None and request.http is None:
            hits = [replace(hit, title=None) for hit in hits]
        return Ranking(tuple(hits[: body.get("size", _DEFAULT_SIZE)]), total=len(hits), took=1.0)

    def _look_up(self, body: Json) -> FakeAnswer:
        """The documents of all rankings, or those of them that *body* names by id."""
        documents: dict[str, str | Hit] = {}
        for answer in self._rankings.values():
            if isinstance(answer, Failure):
                continue
            for hit in answer.hits if isinstance(answer, Ranking) else answer:
                documents[hit if isinstance(hit, str) else hit.id] = hit
        if "match_all" in body["query"]:
            return list(documents.values())
        ids = _read_ids(body["query"])
        return [hit for document, hit in documents.items() if document in ids]

    def index_facts(self, index: str | None) -> IndexFacts:  # noqa: ARG002
        """The facts that were set."""
        return self.facts

    def field_types(
        self,
        index: str,  # noqa: ARG002
        names: Sequence[str],
        url_params: Mapping[str, str],  # noqa: ARG002
    ) -> Mapping[str, frozenset[str]]:
        """Each of *names* as a text, unless *fields* says which there are."""
        fields = names if self.fields is None else self.fields
        return {name: frozenset({"text"}) for name in fields if name in names or "*" in names}

    def index_state(
        self,
        index: str | None,  # noqa: ARG002
        *,
        timeout: float,  # noqa: ARG002
        url_params: Mapping[str, str],  # noqa: ARG002
    ) -> IndexState:
        """The first of the states that were set, and later the others; the last of them stays."""
        if not self.states:
            return IndexState()
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def read_definitions(
        self,
        index: str | None,  # noqa: ARG002
        references: References,  # noqa: ARG002
        *,
        timeout: float,  # noqa: ARG002
        url_params: Mapping[str, str],  # noqa: ARG002
    ) -> Definitions:
        """The first of the definitions that were set, and later the others; the last of them stays."""
        if not self.definitions:
            return Definitions()
        return self.definitions.pop(0) if len(self.definitions) > 1 else self.definitions[0]

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True


def _read_ids(query: Json) -> Sequence[str]:
    """The ids of a query of `harness.search.bodies.make_ids_query`."""
    if "ids" in query:
        ids: Sequence[str] = query["ids"]["values"]
        return ids
    [ids] = query["terms"].values()
    return ids
