"""
A search without a server, for tests.

>>> from harness.model import SearchRequest
>>> search = FakeSearch({"shoes": ["a", "b", "c"]})
>>> [response] = search.search([SearchRequest("shoes", "products", {"size": 2})])
>>> [hit.id for hit in response.hits]
['a', 'b']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.model import (
    Definitions,
    Engine,
    Failure,
    FailureKind,
    Hit,
    IndexFacts,
    IndexState,
    Json,
    Ranking,
    Response,
    SearchRequest,
)
from harness.search.definitions import References
from harness.search.protocol import ResponseStream, Search, StreamedResponse

Answer: TypeAlias = Sequence[str | Hit] | Ranking | Failure
"""The answer to a query: its whole ranking, best first, which `size` cuts; or a complete response."""

DEFAULT_SIZE = 10
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
        self, rankings: Mapping[str, Answer], *, engine: Engine | None = None, error: Exception | None = None
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
        spent = Failure(FailureKind.NOT_RUN, "the time budget of the run is used up")
        is_spent = budget is not None and budget <= 0
        for request in () if is_spent else requests:
            (self.requests if request.query else self.look_ups).append(request)
        for place, request in enumerate(requests):
            yield StreamedResponse(place, request, spent if is_spent else self._respond(request))

    def _respond(self, request: SearchRequest) -> Response:
        answer = self._rankings.get(request.query)
        if answer is None and not request.query:
            answer = self._looked_up(request.body)
        if answer is None:
            return Failure(FailureKind.NOT_RUN, f'the fake search has no ranking for query "{request.query}"')
        if isinstance(answer, (Ranking, Failure)):
            return answer
        hits = tuple(
            hit if isinstance(hit, Hit) else Hit(hit, score=float(len(answer) - place))
            for place, hit in enumerate(answer)
        )
        if isinstance(request.body, Mapping) and "bool" in request.body.get("post_filter", {}):
            first, *_ = request.body["post_filter"]["bool"]["filter"]  # as those of `harness.run.look_ups`
            hits = tuple(hit for hit in hits if hit.id in _named(first))
        if request.title_field is None and request.http is None:
            hits = tuple(replace(hit, title=None) for hit in hits)
        size = request.body.get("size", DEFAULT_SIZE) if isinstance(request.body, Mapping) else DEFAULT_SIZE
        return Ranking(hits[:size], total=len(hits), took=1.0)

    def _looked_up(self, body: Json) -> Answer:
        """The documents of all rankings, or those of them that *body* names by id."""
        every = [one for one in self._rankings.values() if not isinstance(one, Failure)]
        hits = [hit for one in every for hit in (one.hits if isinstance(one, Ranking) else one)]
        known = {hit if isinstance(hit, str) else hit.id: hit for hit in hits}
        wanted = None if "match_all" in body["query"] else _named(body["query"])
        return [hit for name, hit in known.items() if wanted is None or name in wanted]

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
        known = names if self.fields is None else self.fields
        return {name: frozenset({"text"}) for name in known if name in names or "*" in names}

    def index_state(
        self,
        index: str | None,  # noqa: ARG002
        *,
        timeout: float,  # noqa: ARG002
        url_params: Mapping[str, str],  # noqa: ARG002
    ) -> IndexState:
        """The first of the states that were set, and later the others; the last of them stays."""
        return self.states.pop(0) if len(self.states) > 1 else next(iter(self.states), IndexState())

    def read_definitions(
        self,
        index: str | None,  # noqa: ARG002
        references: References,  # noqa: ARG002
        *,
        timeout: float,  # noqa: ARG002
        url_params: Mapping[str, str],  # noqa: ARG002
    ) -> Definitions:
        """The first of the definitions that were set, and later the others; the last of them stays."""
        return self.definitions.pop(0) if len(self.definitions) > 1 else next(iter(self.definitions), Definitions())

    def close(self) -> None:
        """Record that it was closed."""
        self.closed = True


def _named(query: Json) -> Sequence[str]:
    """The ids of a query of `harness.search.bodies.make_ids_query`."""
    if "ids" in query:
        ids: Sequence[str] = query["ids"]["values"]
        return ids
    [ids] = query["terms"].values()
    return ids
