"""A timeout is for the whole answer: a server that sends a byte now and then is late all the same."""

from __future__ import annotations

import pytest

pytest.importorskip("opensearchpy")

import contextlib
import gzip
import json
import socket
import threading
import time
import tracemalloc
import urllib.request
import weakref
import zlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import elasticsearch
import opensearchpy

from builders.engine import SHARDS, Fault, ScriptedEngine
from harness.errors import EngineUnreachable
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Failure, FailureKind, IndexState, Ranking, Response
from harness.model.suite import HttpRequest
from harness.model.timing import ShardCopy
from harness.process import gc_paused
from harness.search import answers, http_service, server_health
from harness.search.answers import AnswerLimits, find_answer_limits
from harness.search.connection import AnswerTooLarge, run_within
from harness.search.dialects import open_search
from harness.search.engine_state import NEWEST_DOCUMENT, SHARD_STATS
from harness.search.msearch import Entry
from harness.search.protocol import Search
from harness.search.server_health import Clock, Retries

SHOES = SearchRequest("shoes", "products", {"query": {"match": {"title": "red shoes"}}})
SERVICE = HttpRequest("GET", "/search", "$.ids", {"q": "red shoes"})
OPENSEARCH = {"version": {"number": "3.8.0", "distribution": "opensearch"}}


class Plain:
    """A client that is neither engine's, and has no timeout of its own."""

    def __init__(self, url: str) -> None:
        self.url = url

    def msearch(self, body: list[Any]) -> Any:
        lines = b"".join(json.dumps(line).encode() + b"\n" for line in body)
        with urllib.request.urlopen(f"{self.url}/_msearch", data=lines) as answer:
            return json.load(answer)


def cluster(engine: ScriptedEngine, **more: Any) -> Cluster:
    return Cluster("test", url=engine.url, timeout=1.0, **more)


def over_a_connection(engine: ScriptedEngine) -> Search:
    return open_search(cluster(engine), {})


def over_elasticsearch(engine: ScriptedEngine) -> Search:
    return open_search(cluster(engine), {}, client=elasticsearch.Elasticsearch(engine.url, max_retries=0))


def over_opensearchpy(engine: ScriptedEngine) -> Search:
    engine.root = OPENSEARCH
    return open_search(cluster(engine), {}, client=opensearchpy.OpenSearch([engine.url], max_retries=0))


def over_another_client(engine: ScriptedEngine) -> Search:
    return open_search(cluster(engine), {}, engine="opensearch 2.19", client=Plain(engine.url))


ENGINES = [over_a_connection, over_elasticsearch, over_opensearchpy, over_another_client]


def searched(search: Search, *requests: SearchRequest, budget: float | None = None) -> list[Response]:
    with search:
        return search.search(requests, budget=budget)


@pytest.mark.parametrize("opened", ENGINES)
def test_an_engines_answer_that_trickles_is_a_timeout(
    engine: ScriptedEngine, opened: Callable[[ScriptedEngine], Search]
) -> None:
    engine.faults.append(Fault("/_msearch", status=200, body=None, times=2, pause=0.05))

    [response] = searched(opened(engine), SHOES)

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.TIMEOUT
    assert "within 1 s" in response.reason


def test_an_engine_of_which_every_answer_trickles_is_given_up(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.search.server_health.MOST_SILENCES", 3)
    engine.faults.append(Fault("/_msearch", status=200, body=None, times=9999, pause=0.05))
    begun = time.monotonic()

    with over_a_connection(engine) as search, pytest.raises(EngineUnreachable, match="within 1 s"):
        search.search([replace(SHOES, query=str(number)) for number in range(300)])

    assert time.monotonic() - begun < 13


@pytest.mark.parametrize("opened", ENGINES)
def test_a_run_is_not_held_beyond_its_budget(
    engine: ScriptedEngine, opened: Callable[[ScriptedEngine], Search]
) -> None:
    engine.faults.append(Fault("/_msearch", status=200, body=None, pause=0.05))

    [response] = searched(opened(engine), SHOES, budget=0.3)

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.NOT_RUN


@pytest.mark.parametrize("opened", ENGINES)
def test_the_next_request_is_answered(engine: ScriptedEngine, opened: Callable[[ScriptedEngine], Search]) -> None:
    engine.faults.append(Fault("/_msearch", status=200, body=None, times=2, pause=0.05))

    with opened(engine) as search:
        [late] = search.search([SHOES])
        [found] = search.search([SHOES])

    assert isinstance(late, Failure)
    assert isinstance(found, Ranking)


@pytest.fixture
def service(engine: ScriptedEngine) -> ScriptedEngine:
    """The scripted engine as a service, which has no root."""
    engine.headers = {}
    engine.faults.append(Fault("/", status=404))
    return engine


def test_a_services_answer_that_trickles_is_a_timeout_and_the_next_is_answered(service: ScriptedEngine) -> None:
    body = json.dumps({"ids": ["a", "b"]} | {"more": "x" * 1000}).encode()
    service.faults[:0] = [
        Fault("/search", status=200, body=body, times=2, pause=0.05),
        Fault("/search", status=200, body=body),
    ]

    with open_search(cluster(service, service="http"), {}) as search:
        [late] = search.search([SearchRequest("shoes", None, None, SERVICE)])
        [found] = search.search([SearchRequest("shoes", None, None, SERVICE)])

    assert isinstance(late, Failure)
    assert late.kind is FailureKind.TIMEOUT
    assert isinstance(found, Ranking)


def test_a_run_on_a_service_is_not_held_beyond_its_budget(service: ScriptedEngine) -> None:
    service.faults[:0] = [Fault("/search", status=200, body=b"{" + b" " * 1000, pause=0.05)]

    [response] = searched(
        open_search(cluster(service, service="http"), {}), SearchRequest("shoes", None, None, SERVICE), budget=0.3
    )

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.NOT_RUN


def test_an_answer_of_which_the_head_trickles_is_late_too() -> None:
    ended = threading.Event()

    def trickle(listening: socket.socket) -> None:
        taken, _ = listening.accept()
        with taken, contextlib.suppress(OSError):
            for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000:
                taken.sendall(bytes([byte]))
                if ended.wait(0.05):
                    return

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = threading.Thread(target=trickle, args=(listening,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(EngineUnreachable, match="within 1 s"):
            open_search(Cluster("test", url=url, timeout=1.0), {})
        ended.set()
        thread.join()


# ------------------------------------------------------------------------------------------------ connections that end


@pytest.mark.parametrize("opened", ENGINES)
def test_a_connection_that_is_closed_on_the_first_search_is_opened_again(
    engine: ScriptedEngine, opened: Callable[[ScriptedEngine], Search]
) -> None:
    engine.faults.append(Fault("/_msearch", status=None))

    [response] = searched(opened(engine), SHOES)

    assert isinstance(response, Ranking)


@pytest.mark.parametrize("fault", [Fault("/", 502), Fault("/", 503), Fault("/", 429), Fault("/", None)])
@pytest.mark.parametrize("opened", ENGINES[:3])
def test_an_engine_that_is_busy_when_it_is_asked_what_it_is_is_asked_again(
    engine: ScriptedEngine, opened: Callable[[ScriptedEngine], Search], fault: Fault
) -> None:
    engine.faults.append(replace(fault))

    [response] = searched(opened(engine), SHOES)

    assert isinstance(response, Ranking)


def test_a_service_that_closes_the_first_connection_is_asked_again(service: ScriptedEngine) -> None:
    body = json.dumps({"ids": ["a"]}).encode()
    service.faults[:0] = [Fault("/search", status=None), Fault("/search", status=200, body=body)]

    with open_search(cluster(service, service="http"), {}) as search:
        [response] = search.search([SearchRequest("shoes", None, None, SERVICE)])

    assert isinstance(response, Ranking)


def test_an_engine_that_always_hangs_up_is_given_up(engine: ScriptedEngine) -> None:
    engine.faults.append(Fault("/", status=None, times=99))

    with pytest.raises(EngineUnreachable, match="closed the connection without an answer"):
        open_search(cluster(engine), {})
    assert engine.sent == [("GET", "/")] * 3


def test_a_proxy_that_closes_on_a_large_request_is_not_told_as_a_tls_mistake(engine: ScriptedEngine) -> None:
    with open_search(cluster(engine), {}) as search:
        engine.faults.append(Fault("/_msearch", status=None, times=99))
        large = {"query": {"match": {"title": "red shoes " * 4000}}}
        search.retries = Retries(clock=Clock(sleep=lambda _: None))
        with pytest.raises(EngineUnreachable, match=r"may find too large \(39 KB\)") as refused:
            search.search([SearchRequest("shoes", "products", large)])

    assert "TLS" not in str(refused.value)


# ------------------------------------------------------------------------------------------------- nodes that are away


@pytest.mark.parametrize("service", ["engine", "http"])
@pytest.mark.parametrize(
    ("number", "words"),
    [(socket.EAI_AGAIN, "host name cannot be resolved now"), (socket.EAI_NONAME, "unknown host name")],
)
def test_a_name_that_no_server_resolves_now_is_no_unknown_one(
    monkeypatch: pytest.MonkeyPatch, service: str, number: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(number, "no address")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    monkeypatch.setattr(server_health, "SECONDS_TO_RESOLVE", 0.0)
    there = Cluster("test", url="http://shop.example", service=service)
    request = SearchRequest("shoes", None, None, SERVICE) if service == "http" else SHOES

    with pytest.raises(EngineUnreachable, match=words), open_search(there, {}) as search:
        search.search([request])


@pytest.mark.parametrize("service", ["engine", "http"])
def test_a_name_that_is_resolved_a_moment_later_is_waited_for(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    if service == "http":
        engine.faults += [Fault("/search", status=200, body=b'{"ids": ["a"]}', times=9), Fault("/", 404, times=9)]
    failures = iter(range(3))
    original = socket.getaddrinfo

    def resolve_later(host: str, *others: Any, **more: Any) -> Any:
        if next(failures, None) is not None:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return original("127.0.0.1", *others, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_later)
    there = Cluster("test", url=engine.url.replace("127.0.0.1", "shop.example"), service=service)
    request = SearchRequest("shoes", None, None, SERVICE) if service == "http" else SHOES

    [response] = searched(open_search(there, {}), request)

    assert isinstance(response, Ranking)
    assert next(failures, None) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((status, b"<html>Welcome</html>") for status in (200, 302, 404, 500)),
        *((status, b"") for status in (200, 204, 302, 500)),
        (200, b" \n"),
        (500, b'{"error": "broken"}'),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_node_that_is_no_engine_is_left_out_and_the_others_answer(
    engine: ScriptedEngine, status: int, body: bytes, is_first: bool
) -> None:
    with ScriptedEngine() as broken:
        broken.faults.append(Fault("/", status=status, body=body, times=9999))
        urls = (broken.url, engine.url) if is_first else (engine.url, broken.url)
        with open_search(Cluster("test", url=urls[0], nodes=urls[1:], timeout=5), {}) as search:
            responses = search.search([replace(SHOES, query=str(number)) for number in range(600)])
            [response] = search.search([SHOES])

        assert all(isinstance(each, Ranking) for each in [*responses, response])
        # Those that were under way when its first answer came.
        assert len(broken.sent) <= 6


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b'{"error": "broken"}'])
def test_a_search_that_breaks_all_nodes_is_an_error(engine: ScriptedEngine, body: bytes) -> None:
    with ScriptedEngine() as second, open_search(Cluster("test", url=engine.url, nodes=(second.url,)), {}) as search:
        for node in (engine, second):
            node.faults.append(Fault("/_msearch", status=500, body=body, times=1))
        broken, sound = (search.search([SHOES])[0] for _ in range(2))

    assert isinstance(broken, Failure)
    assert broken.status == 500
    assert isinstance(sound, Ranking)


def test_a_node_that_is_stopped_is_left_out_and_the_others_answer(engine: ScriptedEngine) -> None:
    with socket.socket() as stopped, ScriptedEngine() as third:
        stopped.bind(("127.0.0.1", 0))
        stopped.listen()  # it takes connections and never answers
        nodes = (engine.url, third.url)
        url = f"http://127.0.0.1:{stopped.getsockname()[1]}"
        with open_search(Cluster("test", url=url, nodes=nodes, timeout=0.5), {}) as search:
            responses = search.search([replace(SHOES, query=str(number)) for number in range(300)])
            more = search.search([SHOES])

    assert all(isinstance(response, Ranking) for response in [*responses, *more])
    assert engine.asked["red shoes"] > 0 < third.asked["red shoes"]


def test_all_nodes_that_are_away_are_tried_before_the_cluster_is() -> None:
    urls = []
    for _ in range(3):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            urls.append(f"http://127.0.0.1:{closed.getsockname()[1]}")

    with pytest.raises(EngineUnreachable, match="connection refused") as refused:
        open_search(Cluster("test", url=urls[0], nodes=tuple(urls[1:])), {})
    assert all(url in str(refused.value) for url in urls)


# -------------------------------------------------------------------------------------------------------- huge answers


def test_an_answer_is_read_up_to_a_size_after_decompression(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LARGEST_BATCH_ANSWER", 2**20)
    bomb = gzip.compress(b" " * 50 * 2**20)
    engine.faults.append(Fault("/_msearch", status=200, body=bomb, headers={"Content-Encoding": "gzip"}))

    with open_search(cluster(engine), {}) as search:
        [response] = search.search([SHOES])

    assert isinstance(response, Failure)
    assert (response.kind, response.reason) == (FailureKind.MALFORMED, "the answer has more than 1 MB")


def test_a_services_answer_is_read_up_to_a_size(service: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_service, "LARGEST_BATCH_ANSWER", 2**20)
    bomb = gzip.compress(b" " * 50 * 2**20)
    service.faults[:0] = [Fault("/search", status=200, body=bomb, headers={"Content-Encoding": "gzip"})]

    with open_search(cluster(service, service="http"), {}) as search:
        [response] = search.search([SearchRequest("shoes", None, None, SERVICE)])

    assert isinstance(response, Failure)
    assert response.reason == "the answer has more than 1 MB"


def test_the_limits_of_an_answer_come_from_the_hits_that_are_asked_for() -> None:
    few, many = Entry(0, b"", size=10), Entry(1, b"", size=10_000)

    assert find_answer_limits([few]) == find_answer_limits([many] * 2) == AnswerLimits(64 * 2**20, 4_000_000)
    assert find_answer_limits([many]) == AnswerLimits(256 * 2**20, 20_000_000)


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate"])
def test_an_engine_whose_answers_are_all_huge_takes_the_memory_of_a_few(
    engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(answers, "LARGEST_BATCH_ANSWER", 2 * 2**20)
    content = b" " * 20 * 2**20
    bomb = zlib.compress(content) if encoding == "deflate" else gzip.compress(content)
    if encoding == "gzip, gzip":
        bomb = gzip.compress(bomb)
    engine.faults.append(Fault("/_msearch", 200, 10_000, bomb, {"Content-Encoding": encoding}))

    with open_search(replace(cluster(engine), timeout=30.0), {}) as search, gc_paused():
        tracemalloc.start()
        try:
            responses = search.search([SHOES] * 300)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert all(isinstance(response, Failure) for response in responses)
    assert peak < 40 * 2**20


# ------------------------------------------------------------------------------------------------------ a call in time


class Content:
    """What was read of an answer."""


@pytest.mark.parametrize("error_type", [AnswerTooLarge, TimeoutError, OSError, KeyboardInterrupt])
def test_a_call_that_fails_leaves_nothing_in_memory(error_type: type[BaseException]) -> None:
    contents: list[weakref.ref[Content]] = []

    def fail() -> None:
        content = Content()
        contents.append(weakref.ref(content))
        raise error_type("no answer")

    with gc_paused():
        with contextlib.suppress(error_type):
            run_within(5.0, fail)
        for thread in threading.enumerate():
            if thread.name == "relevance-request":
                thread.join(5)
        assert contents[0]() is None


KEPT: ContextVar[str] = ContextVar("kept", default="nothing")


def test_a_call_has_the_context_of_its_caller() -> None:
    token = KEPT.set("this")
    try:
        assert run_within(5.0, KEPT.get) == run_within(None, KEPT.get) == "this"
    finally:
        KEPT.reset(token)


def test_what_a_call_raises_is_raised() -> None:
    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        run_within(5.0, fail)


def test_a_call_that_takes_longer_is_left_to_itself() -> None:
    ended = threading.Event()

    with pytest.raises(TimeoutError):
        run_within(0.05, lambda: ended.wait(60))
    ended.set()


STATS = f"/products/_stats/docs?{urlencode(SHARD_STATS)}"


@pytest.mark.parametrize("status", [503, 429, None])
def test_the_state_of_an_index_is_asked_for_once_whatever_the_answer(
    engine: ScriptedEngine, status: int | None
) -> None:
    engine.faults.append(Fault("/products", status=status, times=99))

    with open_search(cluster(engine), {}) as search:
        assert search.index_state("products", timeout=5.0, url_params={}) == IndexState()
        assert search.index_state("products", timeout=0.0, url_params={}) == IndexState()
    asked = [path.partition("?")[0] for _, path in engine.sent if path.startswith("/products")]
    others = [f"/products/{name}" for name in ("_count", "_search_shards", "_stats/docs", "_search") if status]
    assert asked == ["/products/_settings/index.uuid", *others]


def copies_at(*highest: object) -> list[object]:
    """A copy of a shard on each of the nodes n1, n2, ..., with five documents, of which some are deleted."""
    return [
        {"seq_no": {"max_seq_no": one}, "docs": {"count": 3, "deleted": 1 + number}, "routing": {"node": f"n{number}"}}
        for number, one in enumerate(highest, start=1)
    ]


WRITTEN = {"indices": {"a": {"uuid": "u", "shards": {"0": copies_at(1)}}}}
SEARCHED = {"indices": {"a": {}}, "shards": [[{"index": "a", "shard": 0, "node": "n1"}]]}


def test_the_state_is_that_of_what_a_search_with_the_same_parameters_finds(engine: ScriptedEngine) -> None:
    held = {"state": "STARTED", "primary": True, "node": "n1", "index": "a", "shard": 0, "allocation_id": {"id": "x"}}
    away = {"state": "INITIALIZING", "primary": False, "node": "n2", "index": "a", "shard": 0}
    which = "expand_wildcards=open%2Chidden&ignore_unavailable=true"
    engine.gets |= {
        f"/products/_settings/index.uuid?{which}": {"a": {"settings": {"index": {"uuid": "u"}}}},
        f"/products/_count?preference=_local&{which}": {"count": 3, "_shards": SHARDS},
        f"/products/_search_shards?preference=_local&routing=north&{which}": {
            "nodes": {"n1": {"name": "es-1"}},
            "indices": {"a": {"aliases": ["products"]}},
            "shards": [[held, away]],
        },
        f"{STATS}&{which}": {"indices": {"a": {"uuid": "u", "shards": {"0": copies_at(7, 6), "1": copies_at(9)}}}},
        f"/products/_search?{urlencode(NEWEST_DOCUMENT)}&preference=_local&routing=north&{which}": {
            "hits": {"hits": [{"sort": [6]}]}
        },
    }
    given = {"ignore_unavailable": "true", "expand_wildcards": "open,hidden", "routing": "north"}
    with open_search(cluster(engine), {}) as search:
        state = search.index_state("products", timeout=5.0, url_params={**given, "preference": "_local"})
    copies = {"a[0]": (ShardCopy("es-1", "x", primary=True),)}
    assert state == IndexState({"a": "u"}, 3, copies, {"u[0]": 7}, {}, 6, {"u[0] n1": 5})


def test_the_state_has_a_fingerprint_of_each_filter_of_an_alias(engine: ScriptedEngine) -> None:
    def filters(**clauses: object) -> object:
        path = "/products/_search_shards?preference=relevance-harness"
        engine.gets[path] = {"nodes": {}, "indices": clauses, "shards": []}
        with open_search(cluster(engine), {}) as search:
            return search.index_state("products", timeout=5.0, url_params={}).filters

    engine.gets["/products/_settings/index.uuid"] = {"a": {"settings": {"index": {"uuid": "u"}}}}
    engine.gets["/products/_count?preference=relevance-harness"] = {"count": 3, "_shards": SHARDS}
    first = filters(a={"aliases": ["products"], "filter": {"range": {"n": {"lte": 7}}}}, b={})
    assert isinstance(first, dict)
    assert list(first) == ["a"]
    assert filters(a={"filter": {"range": {"n": {"gt": 7}}}}, b={}) != first
    assert filters(a={"filter": {"range": {"n": {"lte": 7}}}}, b={}) == first
    assert filters(a={}, b={}) == {}


def state_of_products(engine: ScriptedEngine, stats: object, searched: object) -> IndexState:
    engine.gets[STATS] = stats
    engine.gets["/products/_search_shards?preference=relevance-harness"] = searched
    with open_search(cluster(engine), {}) as search:
        return search.index_state("products", timeout=5.0, url_params={})


def test_writes_behind_the_filter_of_an_alias_are_left_out(engine: ScriptedEngine) -> None:
    stats = {"indices": {name: {"uuid": name, "shards": {"0": copies_at(1)}} for name in "ab"}}
    filtered = {"aliases": ["products"], "filter": {"term": {"tenant": "north"}}}
    searched = {
        "indices": {"a": {}, "b": filtered},
        "shards": [[{"index": name, "shard": 0, "node": "n1"}] for name in "ab"],
    }
    state = state_of_products(engine, stats, searched)
    assert (state.writes, state.visible) == ({"a[0]": 1}, {"a[0] n1": 5})


@pytest.mark.parametrize(
    ("stats", "searched"),
    [
        *(
            (stats, SEARCHED)
            for stats in (
                {},
                {"indices": {}},
                {"indices": {"a": {"uuid": "u", "shards": {"0": []}}}},
                {"indices": {"a": {"uuid": "u", "shards": {"0": copies_at(None)}}}},
                {"indices": {"a": {"shards": {"0": copies_at(1)}}}},
                {"indices": []},
            )
        ),
        *(
            (WRITTEN, searched)
            for searched in (
                {},
                {"shards": SEARCHED["shards"]},
                {"indices": {}, "shards": SEARCHED["shards"]},
                {"indices": {"a": None}, "shards": SEARCHED["shards"]},
                {"indices": {"a": {}}, "shards": [[]]},
                {"indices": {"a": {}}, "shards": []},
                {"indices": {"a": {"filter": {"term": {"tenant": "north"}}}}, "shards": SEARCHED["shards"]},
            )
        ),
    ],
)
def test_sequence_numbers_that_cannot_be_read_are_unknown(
    engine: ScriptedEngine, stats: object, searched: object
) -> None:
    state = state_of_products(engine, WRITTEN, SEARCHED)
    assert (state.writes, state.visible) == ({"u[0]": 1}, {"u[0] n1": 5})
    unknown = state_of_products(engine, stats, searched)
    assert unknown.writes is None
    assert unknown.visible is None or unknown.visible == state.visible  # one number may be there without the other


@pytest.mark.parametrize(
    "copy",
    [
        {},
        {"docs": {"count": 3}, "routing": {"node": "n1"}},
        {"docs": {"count": 3, "deleted": None}, "routing": {"node": "n1"}},
        {"docs": {"count": 3, "deleted": 0}, "routing": {"node": "n2"}},
        {"docs": {"count": 3, "deleted": 0}},
        {"docs": [], "routing": {"node": "n1"}},
    ],
)
def test_the_documents_of_a_shard_that_cannot_be_read_are_unknown(engine: ScriptedEngine, copy: object) -> None:
    """The second copy is refreshed at other times than the one that answers."""
    stats = {"indices": {"a": {"uuid": "u", "shards": {"0": [copy, *copies_at(1, 2)[1:]]}}}}
    assert state_of_products(engine, stats, SEARCHED).visible is None


@pytest.mark.parametrize(
    "hits", [None, {}, {"hits": []}, {"hits": [{}]}, {"hits": [{"sort": []}]}, {"hits": [{"sort": ["6"]}]}]
)
def test_a_sequence_number_that_no_search_returns_is_unknown(engine: ScriptedEngine, hits: object) -> None:
    path = f"/products/_search?{urlencode(NEWEST_DOCUMENT)}&preference=relevance-harness"
    for answer, newest in (({"hits": {"hits": [{"sort": [6]}]}}, 6), ({"hits": hits}, None)):
        engine.gets[path] = answer
        assert state_of_products(engine, WRITTEN, SEARCHED).newest == newest
