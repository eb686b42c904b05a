"""Whatever an engine does, in whatever order: each query has exactly one response, its own."""

from __future__ import annotations

import json
import threading
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.engine import item_of
from harness.errors import EngineUnreachable
from harness.model.request import SearchRequest
from harness.model.run import Engine, Failure, Ranking
from harness.search.connection import Answer, ConnectionClosed, NoAnswerInTime
from harness.search.engine import EngineSearch
from harness.search.server_health import Clock, Retries

FAULTS = ("429", "503", "413", "500", "504", "late", "closed", "away", "garbage", "items", "fewer")


class Faulty:
    """A connection of which each request may meet a fault; the search of query n finds document n."""

    nodes = 2

    def __init__(self, faults: list[str]) -> None:
        self.now = 0.0
        self.has_answered = False
        self._faults = faults
        self._lock = threading.Lock()

    def perform(self, method: str, path: str, *, body: bytes | None = None, **_: Any) -> Answer:
        if body is None:
            return Answer(200, b"{}")
        queries = [json.loads(line)["query"] for line in body.splitlines()[1::2]]
        with self._lock:
            fault = self._faults.pop() if self._faults else "none"
        if fault.isdigit():
            return Answer(int(fault), b'{"error": {"type": "x", "reason": "no"}}', {"retry-after": "1"})
        if fault == "late":
            raise NoAnswerInTime("no answer")
        if fault in ("closed", "away"):
            raise (ConnectionClosed if fault == "closed" else EngineUnreachable)("cannot reach it")
        if fault == "garbage":
            return Answer(200, b"<html>")
        busy = {"status": 502, "error": {"type": "busy", "reason": "later"}}
        items: list[Any] = [
            busy if fault == "items" and place % 2 else item_of([query]) for place, query in enumerate(queries)
        ]
        self.has_answered = True
        return Answer(200, json.dumps({"responses": items[1:] if fault == "fewer" else items}).encode())

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds

    has_login = False

    def mask(self, text: str) -> str:
        return text

    def close(self) -> None:
        pass

    def searching(self, concurrency: int) -> EngineSearch:
        clock = Clock(now=lambda: self.now, sleep=self.sleep, chance=lambda: 0.5)
        return EngineSearch(self, Engine("opensearch"), retries=Retries(clock=clock), concurrency=concurrency)


def requests(number: int) -> list[SearchRequest]:
    return [SearchRequest(str(query), "products", {"query": str(query)}) for query in range(number)]


@settings(deadline=None, max_examples=50)
@given(
    number=st.integers(0, 300),
    faults=st.lists(st.sampled_from(FAULTS), max_size=30),
    concurrency=st.integers(1, 6),
)
def test_each_query_has_one_response_and_it_is_its_own(number: int, faults: list[str], concurrency: int) -> None:
    connection = Faulty(list(faults))
    sent = requests(number)

    try:
        found = list(connection.searching(concurrency).stream(sent))
    except EngineUnreachable:
        assert not connection.has_answered
        return

    assert sorted(streamed.position for streamed in found) == list(range(number))
    for streamed in found:
        response = streamed.response
        assert streamed.request is sent[streamed.position]
        assert isinstance(response, Failure) or [hit.id for hit in response.hits] == [str(streamed.position)]


@settings(deadline=None, max_examples=50)
@given(
    number=st.integers(26, 300),
    faults=st.lists(st.sampled_from(["429", "503", "items", "closed"]), max_size=6),
    concurrency=st.integers(1, 6),
)
def test_faults_that_pass_cost_no_query(number: int, faults: list[str], concurrency: int) -> None:
    responses = Faulty(faults).searching(concurrency).search(requests(number))

    assert all(isinstance(response, Ranking) for response in responses)
