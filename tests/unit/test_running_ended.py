"""A run that is followed: its responses come one by one, and another thread may end it."""

import json
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from builders.engine import ScriptedEngine
from builders.suites import make_suite
from harness.config import Configs
from harness.model.suite import HttpRequest, Query, RequestTemplate, Target
from harness.options import RunOptions
from harness.run import Runner
from harness.run.ending import FollowedRun, RunEnded

COUNT = 1000
QUERIES = [Query(f"q{number}", f"word {number}", judgments={"a": 1}) for number in range(COUNT)]


@pytest.fixture
def engine():
    with ScriptedEngine() as engine:
        engine.rankings = {query.text: ["a", "b"] for query in QUERIES}
        yield engine


@contextmanager
def open_run(url, suite, followed):
    """Calls the run in a thread of its own; what it raised is in the list."""
    options = RunOptions(url=url, no_checks=True)
    raised = []
    with Runner({}) as runner:
        answer = partial(runner.answer, [suite], options, configs=Configs())

        def run():
            try:
                answer(followed=followed)
            except RunEnded as error:
                raised.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        yield thread, raised, answer
        thread.join()


def test_each_response_arrives_once_before_the_run_is_over(engine):
    suite = make_suite(*QUERIES[:30])
    received = []
    followed = FollowedRun(lambda query, response: received.append((query, [hit.id for hit in response.hits])))
    with Runner({}) as runner:
        [answered] = runner.answer(
            [suite], RunOptions(url=engine.url, no_checks=True), configs=Configs(), followed=followed
        )
    assert sorted(received) == sorted((query.id, ["a", "b"]) for query in suite.queries)
    assert answered.run.responses.keys() == {query.id for query in suite.queries}


def test_batches_that_were_not_sent_are_not_sent_after_the_end(engine):
    """The engine holds its answers: the run ends at once, not with the first of them."""
    suite, begun, may_answer = make_suite(*QUERIES), threading.Semaphore(0), threading.Event()
    engine.before_search = lambda: (begun.release(), may_answer.wait(30))
    followed = FollowedRun(lambda *_: None)
    with open_run(engine.url, suite, followed) as (thread, raised, answer):
        for _ in range(4):
            assert begun.acquire(timeout=30)
        followed.end()
        thread.join(30)
        assert not thread.is_alive()
        assert len(raised) == 1
        asked = sum(engine.asked.values())
        assert asked == 0
        may_answer.set()
        # The next run is whole, and over the same connections.
        received = []
        [answered] = answer(followed=FollowedRun(lambda query, _: received.append(query)))
    assert len(received) == COUNT
    assert answered.run.has_rankings
    # Four batches were under way.
    assert COUNT < sum(engine.asked.values()) < 2 * COUNT
    assert [path for _, path in engine.sent].count("/") == 1


def test_what_is_ended_before_it_begins_sends_nothing(engine):
    followed = FollowedRun(lambda *_: None)
    followed.end()
    with open_run(engine.url, make_suite(*QUERIES[:5]), followed) as (thread, raised, _):
        thread.join(30)
    assert len(raised) == 1
    assert sum(engine.asked.values()) == 0


def test_an_end_from_the_thread_that_receives_ends_the_run(engine):
    received = []
    followed = FollowedRun(lambda query, _: (received.append(query), followed.end()))
    with open_run(engine.url, make_suite(*QUERIES), followed) as (thread, raised, _):
        thread.join(30)
    assert (len(received), len(raised)) == (1, 1)


def test_an_end_after_the_run_ends_none_that_follows(engine):
    suite = make_suite(*QUERIES[:5])
    with Runner({}) as runner:
        options = RunOptions(url=engine.url, no_checks=True)
        first = FollowedRun(lambda *_: None)
        runner.answer([suite], options, configs=Configs(), followed=first)
        received = []

        def receive(query, _):
            received.append(query)
            first.end()

        runner.answer([suite], options, configs=Configs(), followed=FollowedRun(receive))
    assert len(received) == 5


def test_a_service_is_sent_nothing_more_after_the_end(httpserver: HTTPServer):
    begun, may_answer, searched = threading.Semaphore(0), threading.Event(), []

    def respond(request):
        searched.append(request.args["q"])
        begun.release()
        may_answer.wait(30)
        return Response(json.dumps({"hits": [{"id": "a"}]}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    http = HttpRequest("GET", "/search", "$.hits[*].id", params={"q": "{{text}}"})
    suite = make_suite(*QUERIES[:50], requests={"current": RequestTemplate("current", {}, http=http)})
    suite = replace(suite, target=Target(service="http"))
    followed = FollowedRun(lambda *_: None)
    with open_run(httpserver.url_for(""), suite, followed) as (thread, raised, answer):
        assert begun.acquire(timeout=30)
        followed.end()
        thread.join(30)
        may_answer.set()
        assert len(raised) == 1
        assert len(searched) <= 4
        received = []
        answer(followed=FollowedRun(lambda query, _: received.append(query)))
    assert len(received) == 50


def test_the_end_of_a_run_ends_no_look_up_of_another_thread(engine):
    """A page looks up titles over the connection of the run that it ends."""
    suite, begun, may_answer = make_suite(*QUERIES[:30]), threading.Semaphore(0), threading.Event()
    engine.before_search = lambda: (begun.release(), may_answer.wait(30))
    followed = FollowedRun(lambda *_: None)
    found = []
    with open_run(engine.url, suite, followed) as (thread, raised, answer):
        assert begun.acquire(timeout=30)
        other = threading.Thread(target=lambda: found.append(answer(followed=None)[0].run))
        other.start()
        assert begun.acquire(timeout=30)
        followed.end()
        thread.join(30)
        may_answer.set()
        other.join(30)
    assert len(raised) == 1
    assert found[0].has_rankings
