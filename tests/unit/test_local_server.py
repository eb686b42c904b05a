"""The server of a page on this machine: whom it answers, and what an action may say."""

import pytest

pytest.importorskip("werkzeug")
pytest.importorskip("waitress")

import http.client
import json
from contextlib import closing

from harness.errors import UsageError
from harness.local_server import HEADERS, SHARED_ASSETS, LocalServer, RefusedAction, Site
from harness.local_server.access import OneUser


def echo(user, sent):
    return {"user": user, **sent}


def refuse(_, sent):
    raise RefusedAction(409, {"error": "the file changed", **sent})


def fail(_, sent):
    raise UsageError(f"found {sent['text']}")


def lose(*_):
    raise OSError(28, "No space left on device")


@pytest.fixture
def server():
    actions = {
        ("GET", "/echo"): echo,
        ("POST", "/echo"): echo,
        ("POST", "/refuse"): refuse,
        ("POST", "/fail"): fail,
        ("POST", "/lose"): lose,
    }
    server = LocalServer(Site(SHARED_ASSETS, actions, 1000, ("pictures.example",)), OneUser("anna"))
    actions[("POST", "/finish")] = lambda *_: server.finish() or {"done": True}
    server.start()
    yield server
    server.close()


@pytest.fixture
def ask(server):
    def send(method, path, body=None, **headers):
        own = {"Host": f"127.0.0.1:{server.address.port}", "X-Relevance-Token": server.access.token}
        own["Content-Type"] = "application/json"
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", server.address.port, timeout=10)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), own)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    return send


def test_an_action_gets_the_user_and_what_was_sent(ask):
    assert json.loads(ask("POST", "/echo", {"a": [1]})[2]) == {"user": "anna", "a": [1]}
    assert json.loads(ask("GET", "/echo?a=1&b=x")[2]) == {"user": "anna", "a": "1", "b": "x"}
    assert json.loads(ask("POST", "/echo")[2]) == {"user": "anna"}


@pytest.mark.parametrize(
    ("path", "status", "answer"),
    [
        ("/refuse", 409, {"error": "the file changed", "text": "é"}),
        ("/fail", 422, {"error": "found é"}),
        ("/lose", 500, {"error": "this could not be kept: No space left on device"}),
    ],
)
def test_what_an_action_refuses_is_an_answer(ask, path, status, answer):
    found = ask("POST", path, {"text": "é"})
    assert (found[0], json.loads(found[2])) == (status, answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Relevance_Token": "x"},
        {"X_Relevance_Token": ""},
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_another_page_gets_nothing(ask, headers):
    assert ask("POST", "/echo", {}, **headers)[0] == 403


def test_files_are_for_everybody_and_actions_are_not(ask):
    status, headers, content = ask("GET", "/server.js", X_Relevance_Token="")
    assert (status, headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert b"export const ask" in content
    assert headers.items() >= HEADERS.items()
    assert "img-src data: pictures.example;" in headers["Content-Security-Policy"]
    assert [ask("GET", path)[0] for path in ("/", "/nothing", "/../server.js")] == [404] * 3


def test_a_request_above_the_limit_is_refused(ask):
    assert ask("POST", "/echo", {"a": "x" * 900})[0] == 200
    assert ask("POST", "/echo", {"a": "x" * 1000})[0] == 413


def test_half_a_character_is_refused(ask):
    assert ask("POST", "/echo", {"text": "\ud800"})[0] == 400
    assert ask("POST", "/echo", {"text": "\U0001f600"})[0] == 200


def test_the_server_is_finished_after_the_answer(server, ask):
    ask("GET", "/echo")
    assert not server.finished.is_set()
    assert json.loads(ask("POST", "/finish", {})[2]) == {"done": True}
    assert server.finished.wait(5)


def test_each_shared_file_is_there(ask):
    assert {path: ask("GET", path)[0] for path in SHARED_ASSETS} == dict.fromkeys(SHARED_ASSETS, 200)
