"""
A service of a shop's own: it searches by a text, and returns documents by their ids, a page of them at most.

Its rankings are those that a test gives it, so that the test knows every rank. As a `WebConnection` it is asked without
a network; `serve` answers over one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from harness.model.request import Cluster
from harness.model.suite import HttpRequest
from harness.search.connection import Answer
from harness.search.http_service import HttpSearch, Root
from harness.search.service_requests import Permissions


@dataclass
class CatalogueService:
    """A service with *documents*, of which a search finds those of its text in *rankings*, best first."""

    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    rankings: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """A text to ids and scores. An id that is in no document is not found."""
    page: int = 1000
    """The most hits of an answer, whatever is asked for."""
    says_total: bool = True
    ignores_ids: bool = False
    """Whether a request by ids returns the first documents, as a service does that does not know the parameter."""
    hidden_fields: frozenset[str] = frozenset()
    """The fields that a search does not return, and a request by ids does."""
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    """The parameters of each request."""

    def answer(self, params: Mapping[str, list[str]]) -> dict[str, Any]:
        """The answer to a search, perhaps for some ids `only`, or to a request by ids, which has `id`."""
        self.asked.append({name: list(values) for name, values in params.items()})
        if "id" in params:
            ids = list(self.documents) if self.ignores_ids else [id for id in params["id"] if id in self.documents]
            hits = [{"id": id, **self.documents[id]} for id in dict.fromkeys(ids)]
        else:
            ranking = self.rankings.get(params["q"][0], [])
            hits = []
            for id, score in ranking:
                if id in self.documents and ("only" not in params or id in params["only"]):
                    shown = {name: v for name, v in self.documents[id].items() if name not in self.hidden_fields}
                    hits.append({"id": id, "score": score, **shown})
        rows = int(params.get("rows", ["10"])[0])
        answer: dict[str, Any] = {"hits": hits[: min(rows, self.page)]}
        if self.says_total:
            answer["total"] = len(hits)
        return answer

    def serve(self, server: HTTPServer) -> None:
        """Answer over *server*, below ``/api``."""
        server.expect_request("/api/search").respond_with_handler(self.respond)
        server.expect_request("/api/documents").respond_with_handler(self.respond)

    def respond(self, request: Request) -> Response:
        """The answer as HTTP."""
        answer = self.answer(request.args.to_dict(flat=False))
        return Response(json.dumps(answer), content_type="application/json")

    def open(self) -> HttpSearch:
        """A search of it without a network."""
        connection: Any = ServiceConnection(self)
        return HttpSearch(connection, Permissions(Cluster("shop", "http://shop", service="http")))


@dataclass
class ServiceConnection:
    """A `WebConnection` to *service* without a network."""

    service: CatalogueService
    has_login: bool = False

    def perform(self, http: HttpRequest, timeout: float) -> Answer:
        """The answer to *http*."""
        params: dict[str, list[str]] = {}
        for name, value in http.params.items():
            params[name] = [str(item) for item in value] if isinstance(value, list) else [str(value)]
        return Answer(200, json.dumps(self.service.answer(params)).encode(), {})

    def ask_roots(self, timeout: float) -> Root:
        """No engine."""
        return Root(is_known=True)

    def mask(self, text: str) -> str:
        """*text*: there is no secret."""
        return text

    def has_secret(self, text: str) -> bool:
        """There is none."""
        return False

    def close(self) -> None:
        """Nothing is open."""
