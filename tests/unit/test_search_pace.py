"""Searches a second, by clocks that go on only while somebody sleeps."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from builders.engine import ROOT, ScriptedEngine
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Engine, Failure, Ranking
from harness.model.suite import HttpRequest
from harness.search.answers import TIME_SPENT
from harness.search.connection import Answer
from harness.search.dialects import find_dialect
from harness.search.engine import EngineSearch
from harness.search.http_service import HttpSearch
from harness.search.pace import Pace
from harness.search.protocol import ConnectOptions
from harness.search.server_health import Clock, Retries, ServerHealth, ServerRequest, ask_one
from harness.search.service_requests import Permissions


class ThreadClock:
    """Each thread has a time of its own, so that the order in which threads run does not matter."""

    def __init__(self) -> None:
        self._local = threading.local()

    def now(self) -> float:
        return getattr(self._local, "now", 0.0)

    def sleep(self, seconds: float) -> None:
        self._local.now = self.now() + seconds

    def retries(self, rate: float | None) -> Retries:
        pace = None if rate is None else Pace(rate)
        return Retries(clock=Clock(self.now, self.sleep, lambda: 0.0), pace=pace)


class Recorded:
    """A connection to an engine, or to a service, that records when how many searches were sent."""

    nodes = 1
    has_login = False

    def __init__(self, clock: ThreadClock, answer: Callable[[int], Answer] | None = None) -> None:
        self.clock = clock
        self.sent: list[tuple[float, int]] = []
        self._answer = answer or answer_all

    def perform(self, *args: Any, body: bytes | None = None, **_: Any) -> Answer:
        if isinstance(args[0], HttpRequest):
            self.sent.append((self.clock.now(), 1))
            return Answer(200, b'{"ids": ["a"]}')
        searches = len(body.splitlines()) // 2 if body else 1
        self.sent.append((self.clock.now(), searches))
        return self._answer(searches)

    def ask_roots(self, seconds: float) -> Any:
        return type("Root", (), {"is_known": True, "engine_url": ""})

    def mask(self, text: str) -> str:
        return text

    def has_secret(self, text: str) -> bool:
        return False

    def close(self) -> None:
        pass


def answer_all(searches: int) -> Answer:
    hits = {"total": {"value": 0, "relation": "eq"}, "hits": []}
    item = {"status": 200, "timed_out": False, "took": 1, "hits": hits, "_shards": SHARDS}
    return Answer(200, json.dumps({"took": 1, "responses": [item] * searches}).encode())


SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}


def make_requests(number: int) -> list[SearchRequest]:
    return [SearchRequest(str(place), "products", {"query": {}, "size": 1}) for place in range(number)]


def most_within_a_second(sent: list[tuple[float, int]]) -> int:
    """The most searches that were sent within one second, its end left out."""
    return max(sum(searches for time, searches in sent if begin <= time < begin + 0.999) for begin, _ in sent)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("rate", [20, 7.5, 1])
def test_searches_of_all_threads_are_sent_at_the_rate_and_each_of_a_batch_counts(rate, concurrency):
    clock = ThreadClock()
    connection = Recorded(clock)
    search = EngineSearch(connection, Engine("opensearch"), retries=clock.retries(rate), concurrency=concurrency)
    responses = [streamed.response for streamed in search.stream(make_requests(60))]
    assert all(isinstance(response, Ranking) for response in responses)
    assert sum(searches for _, searches in connection.sent) == 60
    last, in_last = max(connection.sent)
    assert last == pytest.approx((60 - in_last) / rate, abs=1e-6)
    # The searches of two neighboring batches may be within a second of each other.
    assert most_within_a_second(connection.sent) <= 2 * rate
    assert max(searches for _, searches in connection.sent) <= rate


def test_without_a_rate_nothing_waits():
    clock = ThreadClock()
    connection = Recorded(clock)
    search = EngineSearch(connection, Engine("opensearch"), retries=clock.retries(None), concurrency=1)
    assert len(list(search.stream(make_requests(500)))) == 500
    assert {time for time, _ in connection.sent} == {0.0}


def test_turns_of_many_threads_are_all_different():
    pace = Pace(10)
    with ThreadPoolExecutor(8) as pool:
        turns = list(pool.map(lambda _: pace.take_turn(1, now=0.0), range(400)))
    assert sorted(turns) == pytest.approx([number / 10 for number in range(400)])


def test_a_pause_is_followed_by_no_burst():
    pace = Pace(2)
    assert [pace.take_turn(1, now) for now in (0.0, 0.0, 60.0, 60.0, 60.0)] == [0.0, 0.5, 60.0, 60.5, 61.0]


def test_what_is_sent_again_counts_again():
    clock = ThreadClock()
    refusals = iter([Answer(429, b'{"error": "busy"}', {})])
    connection = Recorded(clock, lambda searches: next(refusals, None) or answer_all(searches))
    search = EngineSearch(connection, Engine("opensearch"), retries=clock.retries(4), concurrency=1)
    assert all(isinstance(streamed.response, Ranking) for streamed in search.stream(make_requests(4)))
    assert connection.sent == [(0.0, 4), (1.0, 2), (1.5, 2)]


def test_look_ups_and_other_requests_share_the_limit_with_queries():
    clock = ThreadClock()
    connection = Recorded(clock)
    search = EngineSearch(connection, Engine("opensearch"), retries=clock.retries(2), concurrency=1)
    search.search(make_requests(2))
    ask_one(connection, search.retries, ServerRequest("GET", "/products/_mapping"))
    search.search(make_requests(1))
    assert connection.sent == [(0.0, 2), (1.0, 1), (1.5, 1)]


def test_the_budget_ends_the_waiting():
    clock = ThreadClock()
    connection = Recorded(clock)
    search = EngineSearch(connection, Engine("opensearch"), retries=clock.retries(1), concurrency=1)
    responses = [streamed.response for streamed in search.stream(make_requests(10), budget=3.5)]
    assert connection.sent == [(0.0, 1), (1.0, 1), (2.0, 1), (3.0, 1)]
    assert [response for response in responses if isinstance(response, Failure)] == [TIME_SPENT] * 6
    assert clock.now() == 3.5


def test_a_thread_that_waits_sees_that_the_run_ended():
    clock = ThreadClock()
    retries = clock.retries(0.001)
    health = ServerHealth(retries, timeout=30)
    health.wait_for_turn(1)

    def end_soon(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now() >= 2:
            health.given_up = TIME_SPENT

    health._retries = Retries(clock=Clock(clock.now, end_soon), pace=retries.pace)
    health.wait_for_turn(1)
    assert clock.now() == 2


def test_each_request_to_a_service_is_a_search():
    clock = ThreadClock()
    connection = Recorded(clock)
    cluster = Cluster("shop", "http://shop", service="http", concurrency=3)
    search = HttpSearch(connection, Permissions(cluster), retries=clock.retries(4))
    request = SearchRequest("q", None, None, HttpRequest("GET", "search", "$.ids"))
    assert len(list(search.stream([request] * 9))) == 9
    assert sorted(connection.sent) == [(number / 4, 1) for number in range(9)]


@pytest.mark.parametrize("service", ["engine", "http"])
def test_the_rate_of_a_cluster_is_that_of_its_search(service):
    with ScriptedEngine() as server:
        server.root = ROOT
        engine = "opensearch 3.0" if service == "engine" else None
        cluster = Cluster("shop", server.url, service=service, rate=3, engine=engine)
        with find_dialect(service).connect(cluster, ConnectOptions({})) as search:
            assert search.retries.pace.limit_batch(1000) == 3
