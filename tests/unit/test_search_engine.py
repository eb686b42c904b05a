"""Asking an engine: what is divided, what is asked again, when it is given up. The connection is scripted."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from builders.engine import item_of
from harness.errors import EngineUnreachable, LoginRefused
from harness.model.request import SearchRequest
from harness.model.run import Engine, Failure, FailureKind, IndexState, Ranking, Response
from harness.model.suite import HttpRequest
from harness.search.answers import MOST_VALUES
from harness.search.connection import Answer, AnswerTooLarge, ConnectionClosed, NoAnswerInTime
from harness.search.engine import EngineSearch
from harness.search.protocol import NOTHING_KNOWN
from harness.search.server_health import MOST_REFUSALS, MOST_SILENCES, Clock, Retries

Script = Callable[[list[dict[str, Any]]], Answer]
"""From the bodies of a request to its answer, or an error that it raises."""


class Scripted:
    """
    A connection that answers as it is told. Time goes by as it is slept, and a silence takes its timeout; those that
    begin together end together.
    """

    def __init__(self, script: Script, *, nodes: int = 1, alive: bool = True) -> None:
        self.nodes = nodes
        self.alive = alive
        self.dead = 0
        self.asked: list[list[str]] = []
        self.timeouts: list[float | None] = []
        self.pings: list[float | None] = []
        self.slept: list[float] = []
        self.resent: dict[int, str] = {}
        self.now = 0.0
        self.script = script

    def perform(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        mime: str = "",
        timeout: float | None = None,
        most_bytes: int = 0,
    ) -> Answer:
        if (method, path) == ("GET", "/"):
            self.pings.append(timeout)
            self.dead -= 1
            if not self.alive or self.dead >= 0:
                raise NoAnswerInTime("no answer to GET /")
            return Answer(200, b"{}")
        assert (method, mime) == ("POST", "application/x-ndjson")
        assert body is not None
        bodies = [json.loads(line) for line in body.splitlines()[1::2]]
        self.asked.append([one.get("query", "template") for one in bodies])
        self.timeouts.append(timeout)
        begun = self.now
        try:
            return self.script(bodies)
        except NoAnswerInTime:
            self.now = max(self.now, begun + (timeout or 0.0))
            raise

    has_login = True

    def mask(self, text: str) -> str:
        return text.replace("hunter2", "${PASSWORD}")

    def close(self) -> None:
        self.asked.append(["closed"])

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def search(
        self,
        *queries: str,
        budget: float | None = None,
        attempts: int = 6,
        concurrency: int = 1,
        batch: int = 1000,
        timeout: float = 30,
    ) -> list[Response]:
        clock = Clock(now=lambda: self.now, sleep=self.sleep, chance=lambda: 0.5)
        retries = Retries(attempts=attempts, clock=clock)
        search = EngineSearch(
            self, Engine("opensearch"), timeout=timeout, retries=retries, concurrency=concurrency, batch=batch
        )
        requests = [SearchRequest(query, "products", {"query": query}) for query in queries]
        responses: dict[int, Response] = {}
        for streamed in search.stream(requests, budget=budget):
            responses[streamed.position] = streamed.response
            if streamed.resent:
                self.resent[streamed.position] = streamed.resent
        return [responses[place] for place in range(len(responses))]


def found(*ids: str) -> dict[str, Any]:
    return item_of([(identity, 1.0) for identity in ids])


def busy(status: int = 429) -> dict[str, Any]:
    return {"error": {"type": "es_rejected_execution_exception", "reason": "rejected"}, "status": status}


def answer(items: Sequence[Any], status: int = 200, **headers: str) -> Answer:
    return Answer(status, json.dumps({"took": 1, "responses": list(items)}).encode(), headers)


def each(bodies: list[dict[str, Any]]) -> Answer:
    """Every query finds the document that is called as itself."""
    return answer([found(body["query"]) for body in bodies])


def ids(responses: Sequence[Response]) -> list[str]:
    return [response.hits[0].id if isinstance(response, Ranking) else response.kind.name for response in responses]


def reason(response: Response) -> str:
    assert isinstance(response, Failure)
    return response.reason


def test_one_request_asks_all_and_the_order_is_kept() -> None:
    connection = Scripted(each)

    assert ids(connection.search("a", "b", "c")) == ["a", "b", "c"]
    assert connection.asked == [["a", "b", "c"]]


def test_nothing_to_ask_sends_nothing() -> None:
    connection = Scripted(each)

    assert connection.search() == []
    assert connection.asked == []


def test_a_request_for_an_http_service_fails_alone() -> None:
    search = EngineSearch(Scripted(each), Engine("opensearch"))
    http = HttpRequest("GET", "/search", "$.ids")

    responses = search.search([SearchRequest("x", None, None, http), SearchRequest("a", "products", {"query": "a"})])

    assert ids(responses) == ["ERROR", "a"]
    assert "HTTP request" in reason(responses[0])


class TestDividing:
    def test_one_wrong_body_refuses_the_batch_and_fails_alone(self) -> None:
        def refuse_b(bodies: list[dict[str, Any]]) -> Answer:
            if any(body["query"] == "b" for body in bodies):
                error = {"type": "parsing_exception", "reason": "unknown query [b]", "line": 1, "col": 2}
                return Answer(400, json.dumps({"error": error, "status": 400}).encode())
            return each(bodies)

        responses = Scripted(refuse_b).search("a", "b", "c", "d", "e")

        assert ids(responses) == ["a", "ERROR", "c", "d", "e"]
        assert "unknown query [b]" in reason(responses[1])

    def test_a_slow_search_is_found_and_the_others_are_answered(self) -> None:
        queries = [str(number) for number in range(250)]

        def hang_at_7(bodies: list[dict[str, Any]]) -> Answer:
            if any(body["query"] == "7" for body in bodies):
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        responses = Scripted(hang_at_7).search(*queries)

        assert ids(responses) == ["TIMEOUT" if query == "7" else query for query in queries]

    def test_after_a_division_batches_are_small_and_grow_slowly(self) -> None:
        def slow_over_125(bodies: list[dict[str, Any]]) -> Answer:
            if len(bodies) > 125:
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        connection = Scripted(slow_over_125)
        connection.search(*(str(number) for number in range(900)))

        assert [len(batch) for batch in connection.asked][:6] == [100, 400, 200, 100, 100, 112]

    def test_too_large_a_request_is_divided(self) -> None:
        connection = Scripted(lambda bodies: Answer(413, b"") if len(bodies) > 2 else each(bodies))

        assert ids(connection.search("a", "b", "c", "d")) == ["a", "b", "c", "d"]

    @pytest.mark.parametrize("status", [401, 403, 404, 405])
    def test_what_is_no_fault_of_one_search_is_not_divided(self, status: int) -> None:
        connection = Scripted(lambda bodies: Answer(status, b'{"error": "no"}'))

        if status in (401, 403):
            with pytest.raises(LoginRefused):
                connection.search("a", "b")
        else:
            assert ids(connection.search("a", "b")) == ["ERROR", "ERROR"]
        assert len(connection.asked) == 1


class TestLargeRequests:
    @pytest.mark.parametrize("concurrency", [1, 4])
    @pytest.mark.parametrize(
        "refusal",
        [Answer(429, b""), Answer(503, b""), Answer(413, b""), ConnectionClosed("closed"), NoAnswerInTime("")],
    )
    def test_a_batch_that_is_too_much_is_halved_and_nothing_is_lost(
        self, refusal: Answer | Exception, concurrency: int
    ) -> None:
        def bears_ten(bodies: list[dict[str, Any]]) -> Answer:
            if len(bodies) <= 10:
                return each(bodies)
            if isinstance(refusal, Exception):
                raise refusal
            return refusal

        queries = [str(number) for number in range(400)]
        connection = Scripted(bears_ten)

        assert ids(connection.search(*queries, concurrency=concurrency)) == queries
        refused = [batch for batch in connection.asked if len(batch) > 10]
        assert len(refused) < 20 + 10 * concurrency  # several may be under way when the first is refused
        assert connection.resent

    def test_senders_that_wait_side_by_side_are_not_given_up_before_their_batches_are_small(self) -> None:
        side_by_side = threading.Barrier(4)
        is_first_wave = iter([True] * 12)

        def bears_ten(bodies: list[dict[str, Any]]) -> Answer:
            if next(is_first_wave, False):
                side_by_side.wait(timeout=60)
            if len(bodies) <= 10:
                return each(bodies)
            raise NoAnswerInTime("")

        queries = [str(number) for number in range(400)]
        connection = Scripted(bears_ten)

        assert ids(connection.search(*queries, concurrency=4)) == queries
        assert [len(batch) for batch in connection.asked[:12]] == [100] * 4 + [50] * 4 + [25] * 4

    def test_a_batch_that_is_too_much_once_the_server_has_answered_is_divided_as_well(self) -> None:
        connection = Scripted(each)
        side_by_side = threading.Barrier(4)
        waits = iter([True] * 4)

        def bears_ten_later(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) <= 4 or len(bodies) <= 10:
                return each(bodies)
            if next(waits, False):
                side_by_side.wait(timeout=60)
            raise NoAnswerInTime("")

        connection.script = bears_ten_later
        queries = [str(number) for number in range(800)]

        assert ids(connection.search(*queries, concurrency=4, batch=25)) == queries

    def test_a_batch_has_no_more_searches_than_the_cluster_allows(self) -> None:
        connection = Scripted(each)

        connection.search(*(str(number) for number in range(200)), batch=30, concurrency=4)

        assert max(len(batch) for batch in connection.asked) == 30

    def test_an_answer_that_is_too_large_is_asked_for_in_parts(self) -> None:
        def large(bodies: list[dict[str, Any]]) -> Answer:
            if len(bodies) > 5 or any(body["query"] == "7" for body in bodies):
                raise AnswerTooLarge("the answer has more than 256 MB")
            return each(bodies)

        responses = Scripted(large).search(*(str(number) for number in range(20)))

        assert ids(responses) == ["MALFORMED" if number == 7 else str(number) for number in range(20)]

    def test_a_server_of_which_all_answers_are_too_large_is_given_up(self) -> None:
        def large(bodies: list[dict[str, Any]]) -> Answer:
            raise AnswerTooLarge("the answer has more than 64 MB")

        connection = Scripted(large)
        responses = connection.search(*(str(number) for number in range(500)))

        assert ids(responses) == ["MALFORMED"] * 500
        assert len(connection.asked) <= MOST_REFUSALS

    @pytest.mark.parametrize(
        ("repeated", "queries"), [(b"[],", 1), (b"{},", 1), (b"0,", 20), (b'{"a":[0]},', 1), (b"[[[]]],", 1)]
    )
    def test_an_answer_of_more_values_than_were_asked_for_is_not_read(self, repeated: bytes, queries: int) -> None:
        body = b'{"responses":[' + repeated * (MOST_VALUES // (len(repeated) - 1)) + repeated * MOST_VALUES + b"0]}"
        connection = Scripted(lambda bodies: Answer(200, body))

        [first, *_] = connection.search(*(str(number) for number in range(queries)))

        assert isinstance(first, Failure)
        assert first.reason == "the answer has more than 4,000,000 values"


class TestRetrying:
    @pytest.mark.parametrize("status", [429, 502, 503])
    def test_what_was_sent_again_is_reported_with_the_reason(self, status: int) -> None:
        answers = iter([answer([found("a"), busy(status)]), answer([found("b")])])
        connection = Scripted(lambda bodies: next(answers))

        assert ids(connection.search("a", "b")) == ["a", "b"]
        assert connection.resent == {1: f"status {status}"}

    def test_only_the_items_that_were_turned_away_are_asked_again(self) -> None:
        answers = iter([answer([found("a"), busy(), busy(503)]), answer([found("b"), busy()]), answer([found("c")])])
        connection = Scripted(lambda bodies: next(answers))

        assert ids(connection.search("a", "b", "c")) == ["a", "b", "c"]
        assert connection.asked == [["a", "b", "c"], ["b", "c"], ["c"]]
        assert connection.slept == [0.25, 0.5]

    @pytest.mark.parametrize("status", [429, 502, 503])
    def test_a_request_that_was_turned_away_is_asked_again(self, status: int) -> None:
        answers = iter([Answer(status, b"busy"), answer([found("a")])])

        assert ids(Scripted(lambda bodies: next(answers)).search("a")) == ["a"]

    def test_the_wait_that_the_server_asks_for_is_kept(self) -> None:
        answers = iter([Answer(503, b"", {"retry-after": "7"}), answer([found("a")])])
        connection = Scripted(lambda bodies: next(answers))

        connection.search("a")

        assert connection.slept == [7.25]

    def test_a_wait_beyond_the_patience_is_not_begun(self) -> None:
        connection = Scripted(lambda bodies: Answer(503, b"", {"retry-after": "3600"}))

        assert ids(connection.search("a")) == ["ERROR"]
        assert connection.slept == []

    def test_in_the_end_it_is_a_failure_that_says_how_often(self) -> None:
        connection = Scripted(lambda bodies: answer([busy() for _ in bodies]))

        [response] = connection.search("a", attempts=3)

        assert isinstance(response, Failure)
        assert (response.kind, response.status) == (FailureKind.ERROR, 429)
        assert f"given up after {len(connection.asked)} attempts" in response.reason
        assert 100 < connection.now <= 120

    def test_a_search_that_is_turned_away_while_others_are_answered_has_so_many_attempts(self) -> None:
        connection = Scripted(
            lambda bodies: answer([busy() if body["query"] == "7" else found(body["query"]) for body in bodies])
        )

        responses = connection.search(*map(str, range(20)), attempts=3)

        assert ids(responses) == ["ERROR" if number == 7 else str(number) for number in range(20)]

    def test_a_search_that_timed_out_alone_is_sent_once_more(self) -> None:
        def hang_once(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) == 1:
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        connection = Scripted(hang_once)

        assert ids(connection.search("a")) == ["a"]
        assert connection.resent == {0: "timeout"}

    def test_a_search_that_always_times_out_is_sent_twice(self) -> None:
        def hang(bodies: list[dict[str, Any]]) -> Answer:
            raise NoAnswerInTime("no answer within 30 s")

        connection = Scripted(hang)

        assert ids(connection.search("a")) == ["TIMEOUT"]
        assert len(connection.asked) == 2

    def test_a_wrong_query_is_not_asked_again(self) -> None:
        error = {"type": "index_not_found_exception", "reason": "no such index [products]"}
        connection = Scripted(lambda bodies: answer([{"error": error, "status": 404}]))

        assert ids(connection.search("a")) == ["ERROR"]
        assert len(connection.asked) == 1

    def test_a_connection_that_broke_is_tried_again_once_something_was_answered(self) -> None:
        def break_once(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) == 2:
                raise EngineUnreachable("the connection was reset")
            return each(bodies)

        connection = Scripted(break_once)

        responses = connection.search(*(str(number) for number in range(300)))

        assert ids(responses) == [str(number) for number in range(300)]
        assert [len(batch) for batch in connection.asked] == [100, 200, 200]


class TestGivingUp:
    def test_nobody_there_is_an_error_at_once(self) -> None:
        def refuse(bodies: list[dict[str, Any]]) -> Answer:
            raise EngineUnreachable("cannot reach http://x: refused")

        connection = Scripted(refuse)

        with pytest.raises(EngineUnreachable, match="refused"):
            connection.search("a", "b")
        assert (len(connection.asked), connection.slept) == (1, [])

    def test_each_node_is_tried_before(self) -> None:
        def refuse_twice(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) < 3:
                raise EngineUnreachable("refused")
            return each(bodies)

        connection = Scripted(refuse_twice, nodes=3)

        assert ids(connection.search("a")) == ["a"]
        assert connection.slept == []

    def test_an_engine_that_goes_away_fails_what_is_left_and_keeps_what_there_is(self) -> None:
        def answer_one(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 1:
                raise EngineUnreachable("refused")
            return each(bodies)

        connection = Scripted(answer_one)

        responses = connection.search(*(str(number) for number in range(600)), attempts=3)

        assert ids(responses) == [str(number) for number in range(100)] + ["ERROR"] * 500
        assert len(connection.asked) < 20
        assert "refused" in reason(responses[-1])
        assert 100 < connection.now <= 120

    def test_look_ups_wait_no_longer_for_an_engine_that_was_given_up(self) -> None:
        """They would each wait for the timeout, for titles and ranks of a run that has failed anyway."""

        def silent(bodies: list[dict[str, Any]]) -> Answer:
            raise NoAnswerInTime("no answer within 30 s")

        connection = Scripted(silent, alive=False)
        search = EngineSearch(connection, Engine("opensearch"), timeout=30, concurrency=1)
        with pytest.raises(EngineUnreachable, match="no answer within 30 s"):
            list(search.stream([SearchRequest("a", "shop", {"query": "a"})]))
        sent = len(connection.asked)

        with pytest.raises(EngineUnreachable, match="no answer within 30 s"):
            search.search([SearchRequest("b", "shop", {"query": "b"})])
        with pytest.raises(EngineUnreachable, match="no answer within 30 s"):
            search.field_types("shop", ["title"], {})
        assert search.index_state("shop", timeout=5, url_params={}) == IndexState()
        assert search.index_facts("shop") == NOTHING_KNOWN
        assert len(connection.asked) == sent

    @pytest.mark.parametrize("is_busy", [True, False])
    def test_a_server_that_was_given_up_is_asked_nothing_for_a_minute(self, is_busy: bool) -> None:
        """`GET /` may be answered all the same, by a node that lacks a shard, or by a proxy."""

        def fail(bodies: list[dict[str, Any]]) -> Answer:
            if is_busy:
                return Answer(503, b"no master")
            raise NoAnswerInTime("no answer within 30 s")

        connection = Scripted(fail)
        clock = Clock(now=lambda: connection.now, sleep=connection.sleep, chance=lambda: 0.5)
        search = EngineSearch(connection, Engine("opensearch"), retries=Retries(clock=clock), concurrency=1)
        requests = [SearchRequest(str(number), "shop", {"query": str(number)}) for number in range(200)]
        with suppress(EngineUnreachable):
            list(search.stream(requests))
        before = (len(connection.asked), len(connection.pings), connection.now)

        with pytest.raises(EngineUnreachable):
            search.search(requests[:1])
        assert search.index_facts("shop") == NOTHING_KNOWN
        assert (len(connection.asked), len(connection.pings), connection.now) == before

        connection.now += 60
        connection.script = each
        assert ids(search.search(requests[:1])) == ["0"]
        assert connection.pings[-1] == 1.0

    def test_an_engine_that_refuses_everything_is_looked_up_as_before(self) -> None:
        """It answers: the look-ups may say what is wrong."""
        connection = Scripted(lambda bodies: Answer(400, b"{}"))
        search = EngineSearch(connection, Engine("opensearch"), timeout=30, concurrency=1)
        requests = [SearchRequest(str(one), "shop", {"query": str(one)}) for one in range(200)]
        list(search.stream(requests))
        sent = len(connection.asked)

        search.search(requests[:1])

        assert len(connection.asked) == sent + 1
        assert connection.pings == []

    def test_an_engine_that_is_started_again_is_waited_for_however_many_attempts_that_takes(self) -> None:
        def away_for_a_while(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 1 and connection.now < 100:
                raise EngineUnreachable("refused")
            return each(bodies)

        connection = Scripted(away_for_a_while)

        assert ids(connection.search(*map(str, range(600)), attempts=3)) == [str(number) for number in range(600)]

    def test_a_silence_of_all_requests_is_waited_for_and_divides_nothing(self) -> None:
        """A data node that is stopped: the cluster needs half a minute to do without it."""
        begun = threading.Barrier(4)

        def silent_for_a_while(bodies: list[dict[str, Any]]) -> Answer:
            if sum(map(len, connection.asked)) > 100 and connection.now < 120:
                if connection.now == 0:
                    begun.wait(10)
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        connection = Scripted(silent_for_a_while)
        first = [str(number) for number in range(100)]
        rest = [str(number) for number in range(100, 2000)]

        assert ids(connection.search(*first, *rest, attempts=9, concurrency=4)) == first + rest
        assert len(connection.asked) < 60  # some twenty; thousands where what is not answered is divided
        assert set(connection.resent.values()) == {"timeout"}

    def test_a_node_that_is_not_alive_does_not_end_the_run_if_another_is(self) -> None:
        def hang_once(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) == 2:
                connection.dead = 1
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        connection = Scripted(hang_once, nodes=2)

        assert ids(connection.search(*map(str, range(200)))) == [str(number) for number in range(200)]

    def test_a_dead_engine_ends_the_waiting_after_one_silence(self) -> None:
        def hang(bodies: list[dict[str, Any]]) -> Answer:
            raise NoAnswerInTime("no answer within 30 s")

        connection = Scripted(hang, alive=False)

        with pytest.raises(EngineUnreachable, match="30 s"):
            connection.search(*(str(number) for number in range(600)))
        assert len(connection.asked) == 1

    def test_an_engine_that_lives_but_answers_no_search_is_given_up_too(self) -> None:
        def hang_later(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 1:
                raise NoAnswerInTime("no answer within 30 s")
            return each(bodies)

        connection = Scripted(hang_later)

        responses = connection.search(*(str(number) for number in range(600)))

        assert ids(responses)[:100] == [str(number) for number in range(100)]
        assert set(ids(responses)[100:]) == {"TIMEOUT"}
        assert len(connection.asked) < 20

    @pytest.mark.parametrize("timeout", [2.0, 5.0, 30.0, 120.0])
    @pytest.mark.parametrize("answered", [0, 3])
    def test_an_engine_that_answers_no_search_any_more_holds_a_run_no_longer_than_is_promised(
        self, timeout: float, answered: int
    ) -> None:
        def hang_later(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > answered:
                raise NoAnswerInTime(f"no answer within {timeout:g} s")
            return each(bodies)

        connection = Scripted(hang_later)

        with suppress(EngineUnreachable):
            responses = connection.search(*map(str, range(2000)), timeout=timeout)
            assert set(ids(responses)[1900:]) == {"TIMEOUT"}
        assert connection.now <= max(MOST_SILENCES * timeout, 120 + timeout)

    def test_a_login_that_everything_refuses_is_an_error(self) -> None:
        error = {"type": "security_exception", "reason": "action [search] is unauthorized, password hunter2"}
        connection = Scripted(lambda bodies: answer([{"error": error, "status": 403} for _ in bodies]))

        with pytest.raises(LoginRefused, match="privilege `read`") as caught:
            connection.search("a", "b")
        assert "hunter2" not in str(caught.value)
        assert "${PASSWORD}" in str(caught.value)

    def test_a_login_that_one_index_refuses_fails_that_query(self) -> None:
        error = {"type": "security_exception", "reason": "action [search] is unauthorized"}
        connection = Scripted(lambda bodies: answer([found("a"), {"error": error, "status": 403}]))

        assert ids(connection.search("a", "b")) == ["a", "ERROR"]

    @pytest.mark.parametrize("is_whole", [True, False])
    def test_a_block_of_the_index_is_no_refused_login(self, is_whole: bool) -> None:
        error = {"type": "cluster_block_exception", "reason": "blocked by: [FORBIDDEN/7/index read (api)];"}
        refusal = {"error": error, "status": 403}
        connection = Scripted(
            lambda bodies: Answer(403, json.dumps(refusal).encode()) if is_whole else answer([refusal for _ in bodies])
        )

        responses = connection.search("a", "b")
        assert ids(responses) == ["ERROR", "ERROR"]
        assert "index.blocks.*" in reason(responses[0])
        assert len(connection.asked) == 1

    @pytest.mark.parametrize("status", [400, 500])
    def test_an_error_of_every_request_ends_the_run(self, status: int) -> None:
        connection = Scripted(lambda bodies: Answer(status, b'{"error": {"type": "x", "reason": "broken"}}'))

        responses = connection.search(*(str(number) for number in range(10_000)), concurrency=4)

        assert {response.status for response in responses if isinstance(response, Failure)} == {status}
        assert "broken" in reason(responses[-1])
        assert MOST_REFUSALS <= len(connection.asked) < MOST_REFUSALS + 4

    @pytest.mark.parametrize("item", [True, False])
    def test_an_engine_that_is_always_busy_is_given_up_once(self, item: bool) -> None:
        connection = Scripted(lambda bodies: answer([busy(503) for _ in bodies]) if item else Answer(503, b"no master"))

        responses = connection.search(*(str(number) for number in range(3_000)), attempts=9, concurrency=4)

        assert set(ids(responses)) == {"ERROR"}
        assert re.match(
            "not sent, as the server was given up: .* \\(given up after 1[67] attempts\\)", reason(responses[-1])
        )
        assert len(connection.asked) < 4 * 2 + 17
        assert 100 < connection.now <= 120

    @pytest.mark.parametrize("item", [True, False])
    def test_two_minutes_without_service_are_waited_for(self, item: bool) -> None:
        def busy_for_a_while(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 3 and connection.now < 100:
                return answer([busy(503) for _ in bodies]) if item else Answer(503, b"no master")
            return each(bodies)

        connection = Scripted(busy_for_a_while)
        queries = [str(number) for number in range(1000)]

        assert ids(connection.search(*queries, attempts=9, concurrency=4)) == queries

    def test_a_server_that_serves_only_now_and_then_answers_all(self) -> None:
        """503 in 20 of 30 seconds, for much longer than the patience."""

        def serve_now_and_then(bodies: list[dict[str, Any]]) -> Answer:
            connection.now += 0.5
            return Answer(503, b"no master") if connection.now % 30 > 10 else each(bodies)

        connection = Scripted(serve_now_and_then)
        queries = [str(number) for number in range(1000)]

        assert ids(connection.search(*queries, attempts=9, batch=10)) == queries

    def test_silences_of_a_short_timeout_are_waited_for_as_long(self) -> None:
        """A master that is stopped: the cluster answers `GET /`, and no search for a minute and a half."""

        def silent_for_a_while(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 3 and connection.now < 90:
                raise NoAnswerInTime("no answer within 5 s")
            return each(bodies)

        connection = Scripted(silent_for_a_while)
        queries = [str(number) for number in range(2000)]

        assert ids(connection.search(*queries, attempts=9, concurrency=4, timeout=5)) == queries

    def test_a_pause_beyond_the_patience_says_so_and_what_was_not_sent(self) -> None:
        def turn_away(bodies: list[dict[str, Any]]) -> Answer:
            if len(connection.asked) > 1:
                return Answer(429, b"", {"retry-after": "3600"})
            return each(bodies)

        connection = Scripted(turn_away)
        responses = connection.search(*map(str, range(600)))

        assert ids(responses)[:100] == list(map(str, range(100)))
        assert "given up after 1 attempt, as it asks for a pause of 3600 s" in reason(responses[100])
        assert not reason(responses[100]).startswith("not sent")
        assert reason(responses[-1]).startswith("not sent, as the server was given up: ")
        assert connection.now == 0.0

    def test_a_pause_beyond_the_budget_ends_the_run(self) -> None:
        connection = Scripted(lambda bodies: Answer(429, b"", {"retry-after": "30"}))

        responses = connection.search(*(str(number) for number in range(225)), budget=20.0, concurrency=4)

        assert {response.status for response in responses if isinstance(response, Failure)} == {429}
        assert connection.now == 0.0

    def test_a_search_that_closes_the_connection_fails_alone(self) -> None:
        def close_at_7(bodies: list[dict[str, Any]]) -> Answer:
            if any(body["query"] == "7" for body in bodies):
                raise ConnectionClosed("it closed the connection")
            return each(bodies)

        responses = Scripted(close_at_7).search(*(str(number) for number in range(300)), concurrency=4)

        assert ids(responses) == ["ERROR" if number == 7 else str(number) for number in range(300)]


class TestInterrupts:
    def test_nothing_is_sent_after_the_stream_is_closed(self) -> None:
        hanging, ended = threading.Semaphore(0), threading.Event()

        def hang(bodies: list[dict[str, Any]]) -> Answer:
            hanging.release()
            ended.wait(60)
            return each(bodies)

        def answer_one(bodies: list[dict[str, Any]]) -> Answer:
            return each(bodies) if "0" in [body["query"] for body in bodies] else hang(bodies)

        connection = Scripted(answer_one)
        search = EngineSearch(connection, Engine("opensearch"), concurrency=2, batch=10)
        requests = [SearchRequest(str(number), "products", {"query": str(number)}) for number in range(100)]
        before = set(threading.enumerate())

        stream = search.stream(requests)
        next(stream)
        hanging.acquire()
        hanging.acquire()  # both senders wait for an answer
        stream.close()

        sent = len(connection.asked)
        ended.set()
        for thread in set(threading.enumerate()) - before:
            thread.join()
        assert len(connection.asked) == sent


class TestBudget:
    def test_what_is_left_when_the_time_is_spent_did_not_run(self) -> None:
        def slow(bodies: list[dict[str, Any]]) -> Answer:
            connection.now += 40.0
            return each(bodies)

        connection = Scripted(slow)

        responses = connection.search(*(str(number) for number in range(750)), budget=60.0)

        assert ids(responses) == [str(number) for number in range(200)] + ["NOT_RUN"] * 550
        assert connection.timeouts == [30.0, 20.0]

    def test_a_request_that_the_end_cuts_off_did_not_run_rather_than_time_out(self) -> None:
        def hang(bodies: list[dict[str, Any]]) -> Answer:
            raise NoAnswerInTime("no answer within 10 s")

        connection = Scripted(hang)

        assert ids(connection.search("a", "b", budget=10.0)) == ["NOT_RUN", "NOT_RUN"]

    def test_no_wait_reaches_beyond_the_end(self) -> None:
        connection = Scripted(lambda bodies: Answer(503, b"", {"retry-after": "9"}))

        connection.search("a", budget=5.0)

        assert connection.slept == []


class TestMalformed:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"<html>Bad gateway</html>", "<html>Bad gateway</html>"),
            (b"", "empty"),
            (b"\xff\xfe", "not JSON"),
            (b"[" * 100_000, "not JSON"),
            (b"[]", "`responses`"),
            (b'{"took": 1}', "`responses`"),
            (b'{"responses": {}}', "found an object"),
            (b'{"responses": []}', "2 searches were sent, and there are 0 responses"),
            (b'{"responses": [1, 2, 3]}', "there are 3 responses"),
        ],
    )
    def test_the_whole_answer(self, body: bytes, words: str) -> None:
        responses = Scripted(lambda bodies: Answer(200, body)).search("a", "b")

        assert ids(responses) == ["MALFORMED", "MALFORMED"]
        assert words in reason(responses[0])

    def test_one_answer_in_it(self) -> None:
        connection = Scripted(lambda bodies: answer([found("a"), {"hits": {"hits": [{"_score": 1}]}}]))

        assert ids(connection.search("a", "b")) == ["a", "MALFORMED"]

    def test_a_redirect_is_no_answer(self) -> None:
        responses = Scripted(lambda bodies: Answer(302, b"", {"location": "/login"})).search("a")

        assert ids(responses) == ["MALFORMED"]
        assert responses[0].status == 302
        assert reason(responses[0]) == "the server redirects to /login; no redirect is followed: correct the URL"


def test_secrets_are_masked_in_failures() -> None:
    error = {"type": "parsing_exception", "reason": "hunter2 is no field"}
    connection = Scripted(lambda bodies: answer([{"error": error, "status": 400}]))

    assert "hunter2" not in reason(connection.search("a")[0])


def test_an_interrupt_is_heard() -> None:
    def interrupt(bodies: list[dict[str, Any]]) -> Answer:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Scripted(interrupt).search("a")


def test_closing_the_search_closes_the_connection() -> None:
    connection = Scripted(each)

    with EngineSearch(connection, Engine("opensearch")):
        pass

    assert connection.asked == [["closed"]]


class TestTemplates:
    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b'{"error": "no handler found for uri [/_msearch/template] and method [POST]"}', "lang-mustache"),
            (
                b'{"error": {"type": "x", "reason": "Validation Failed: 1: no requests added;"}}',
                "no search template with",
            ),
        ],
    )
    def test_a_server_that_takes_none_is_asked_once_and_explained(self, body: bytes, words: str) -> None:
        connection = Scripted(lambda bodies: Answer(400, body))
        search = EngineSearch(connection, Engine("elasticsearch"))
        template = {"template": {"id": "products", "params": {}}}

        responses = search.search([SearchRequest(str(n), "products", template) for n in range(4)])

        assert all(words in reason(response) for response in responses)
        assert connection.asked == [["template"] * 4]
