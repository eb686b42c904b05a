"""A user's own client object as the connection."""

from __future__ import annotations

import pytest

pytest.importorskip("opensearchpy")

import json
from typing import Any

import elasticsearch
import opensearchpy
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.engine import item_of
from harness.errors import EngineUnreachable, LoginRefused, UsageError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking
from harness.run.notes import describe_connection
from harness.search.dialects import open_search

NOWHERE = Cluster("given")
FOUND = item_of([("a", 2.0)])
MISSING = {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}
INFO = {"version": {"number": "9.4.3", "build_flavor": "default"}, "tagline": "You Know, for Search"}
OPENSEARCH_INFO = {"version": {"number": "3.8.0", "distribution": "opensearch"}}


@pytest.fixture
def engine(httpserver: HTTPServer) -> HTTPServer:
    def answer(request: Request) -> Response:
        bodies = [json.loads(line) for line in request.data.splitlines()][1::2]
        items = [FOUND if body["size"] == 1 else MISSING for body in bodies]
        headers = {"X-Elastic-Product": "Elasticsearch"}
        return Response(json.dumps({"responses": items}), content_type="application/json", headers=headers)

    httpserver.expect_request("/products/_msearch", method="POST").respond_with_handler(answer)
    return httpserver


def elastic(server: HTTPServer, info: Any = INFO, status: int = 200) -> elasticsearch.Elasticsearch:
    headers = {"X-Elastic-Product": "Elasticsearch"}
    server.expect_request("/").respond_with_json(info, status=status, headers=headers)
    return elasticsearch.Elasticsearch(server.url_for(""), max_retries=0)


def opensearch(server: HTTPServer, info: Any = OPENSEARCH_INFO, status: int = 200) -> opensearchpy.OpenSearch:
    server.expect_request("/").respond_with_json(info, status=status)
    return opensearchpy.OpenSearch([server.url_for("")], max_retries=0)


class Plain:
    """Neither client, but something that searches as they do."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []

    def msearch(self, body: list[Any]) -> dict[str, Any]:
        self.bodies.append(body)
        return {"responses": [FOUND, MISSING]}


REQUESTS = [SearchRequest("one", "products", {"size": 1}), SearchRequest("two", "products", {"size": 2})]


@pytest.mark.parametrize("make", [elastic, opensearch])
def test_searches_and_is_asked_what_it_is(engine: HTTPServer, make: Any) -> None:
    with open_search(NOWHERE, {}, client=make(engine)) as search:
        found, missing = search.search(REQUESTS)

    assert (
        search.engine.kind == make.__name__ if make is opensearch else search.engine == Engine("elasticsearch", "9.4.3")
    )
    assert found == Ranking((Hit("a", 2.0),), total=1, took=1.0)
    assert isinstance(missing, Failure)
    assert (missing.kind, missing.status) == (FailureKind.ERROR, 404)


@pytest.mark.parametrize("make", [elastic, opensearch])
def test_a_refused_login(engine: HTTPServer, make: Any) -> None:
    with pytest.raises(LoginRefused, match="bad password"):
        open_search(NOWHERE, {}, client=make(engine, {"error": {"type": "security", "reason": "bad password"}}, 401))


@pytest.mark.parametrize("make", [elastic, opensearch])
def test_nobody_there(httpserver: HTTPServer, make: Any) -> None:
    client = make(httpserver)
    httpserver.stop()

    try:
        with pytest.raises(EngineUnreachable, match="refused"):
            open_search(NOWHERE, {}, client=client)
    finally:
        httpserver.start()


def test_another_client_searches_by_msearch_and_has_to_be_stated() -> None:
    client = Plain()

    with open_search(NOWHERE, {}, engine="opensearch 2.19", client=client) as search:
        responses = search.search(REQUESTS)

    assert responses[0] == Ranking((Hit("a", 2.0),), total=1, took=1.0)
    assert [line.get("index") for line in client.bodies[0][::2]] == ["products", "products"]


def test_another_client_leaves_the_facts_on_an_index_unknown() -> None:
    search = open_search(NOWHERE, {}, engine="elasticsearch 9.4.3", client=Plain())
    assert search.index_facts("products").missing == ("mapping", "settings", "documents")


def test_the_engine_of_another_client_that_cannot_say_it_is_unknown() -> None:
    with open_search(NOWHERE, {}, client=Plain()) as search:
        assert str(search.engine) == "unknown"
        assert isinstance(search.search(REQUESTS)[0], Ranking)
        assert list(describe_connection(None, search.engine)) == [
            "the engine is unknown, because the client has no `info`: state `engine` in the target"
        ]


def test_another_client_may_say_what_it_is() -> None:
    class Informed(Plain):
        def info(self) -> Any:
            return OPENSEARCH_INFO

    with open_search(NOWHERE, {}, client=Informed()) as search:
        assert search.engine.kind == "opensearch"


def test_an_error_of_its_own_kind_is_told_with_its_name() -> None:
    class Broken(Plain):
        def msearch(self, body: list[Any]) -> dict[str, Any]:
            raise RuntimeError("out of order")

    with (
        open_search(NOWHERE, {}, engine="opensearch 2.19", client=Broken()) as search,
        pytest.raises(EngineUnreachable, match=r"RuntimeError.*out of order"),
    ):
        search.search(REQUESTS)


def test_a_client_that_times_out() -> None:
    class Slow(Plain):
        def msearch(self, body: list[Any]) -> dict[str, Any]:
            if len(body) > 2 or body[1]["size"] == 2:
                raise TimeoutError("too slow")
            return {"responses": [FOUND]}

        def info(self) -> Any:
            return OPENSEARCH_INFO

    with open_search(NOWHERE, {}, client=Slow()) as search:
        found, slow = search.search(REQUESTS)

    assert isinstance(found, Ranking)
    assert isinstance(slow, Failure)
    assert slow.kind is FailureKind.TIMEOUT


class Asynchronous:
    async def msearch(self, body: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("client", "words"), [(object(), "no `msearch`"), (Asynchronous(), "asynchronous")], ids=["object", "async"]
)
def test_what_cannot_search_is_refused(client: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        open_search(NOWHERE, {}, client=client)


def test_the_users_client_stays_open(engine: HTTPServer) -> None:
    client = elastic(engine)

    open_search(NOWHERE, {}, client=client).close()

    assert client.info().body == INFO
