"""The server of the judging page: whom it answers, and with what."""

import pytest

pytest.importorskip("werkzeug")
pytest.importorskip("waitress")

import http.client
import json
import socket
import time
from contextlib import closing
from dataclasses import replace

from extensions.judging.builders.judging import link_of, make_server, make_view
from harness.errors import UsageError
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.session import GradeChoice
from harness.extensions.judging.writing import FilesChanged
from harness.files.judge_files import JudgeFile
from harness.local_server import HEADERS
from harness.local_server.slow_requests import LONGEST_REQUEST
from harness.model.suite import Query, Suite, Target

SUITE = Suite("shop", "s.yaml", Target(), {}, (), (Query("q", "red shoes", {"n": 1}),))
DOCUMENTS = (
    PooledDocument("q", "red shoes", "a", {"current": 1}),
    PooledDocument("q", "red shoes", "b", {"current": 2}),
)
A, B = ("q", "a"), ("q", "b")


@pytest.fixture
def server(tmp_path):
    choices = (GradeChoice(0.0, "bad", "0"), GradeChoice(2.0, "good", "2"))
    view = make_view(SUITE, DOCUMENTS, choices, JudgeFile(tmp_path / "shop.judged-by.anna.jsonl"))
    server = make_server(view, lambda: ["wrote 1 new grade to s.yaml"])
    server.local.start()
    yield server
    server.local.close()


@pytest.fixture
def kept(server):
    """The file of the judge."""
    return server.judges.by_name["anna"].view.file


@pytest.fixture
def ask(server):
    """Sends a request as the page does, with other headers where they are given; status, headers and content."""

    def send(method, path, body=None, **headers):
        own = {
            "Host": f"127.0.0.1:{server.local.address.port}",
            "X-Relevance-Token": server.access.token,
            "Sec-Fetch-Site": "same-origin",
        }
        if method == "POST":
            own |= {"Origin": f"http://127.0.0.1:{server.local.address.port}", "Content-Type": "application/json"}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", server.local.address.port, timeout=10)
        connection.putrequest(method, path, skip_host=True)
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        for name, value in (own | {"Content-Length": str(len(data))}).items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), content

    return send


def test_the_page_holds_no_secret_and_the_token_counts_as_a_header_only(server, ask):
    status, headers, page = ask("GET", "/", X_Relevance_Token=None)
    assert (status, b"<h1" in page) == (200, True)
    assert headers.items() >= HEADERS.items()
    assert "no-store" in headers["Cache-Control"]
    token = server.access.token
    assert link_of(server) == f"http://127.0.0.1:{server.local.address.port}/#token={token}"
    assert len(token) >= 32
    assert make_server(server.judges.by_name["anna"].view).access.token != token
    for path in (f"/session?token={token}", f"/session#token={token}"):
        assert ask("GET", path, X_Relevance_Token=None)[0] == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Relevance_Token": None},
        {"X_Relevance_Token": "x"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": None},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/session"), ("POST", "/grade"), ("POST", "/finish")])
def test_another_page_gets_nothing_and_changes_nothing(server, ask, method, path, headers, kept):
    body = {"query": "q", "document": "a", "grade": 2}
    assert ask(method, path, body if method == "POST" else None, **headers)[0] == 403
    assert not kept.path.exists()
    assert not server.local.finished.is_set()


def test_a_name_that_somebody_points_at_this_machine_leads_nowhere(server, ask):
    assert ask("GET", "/", Host=f"evil.example:{server.local.address.port}")[0] == 403
    assert ask("GET", "/judge.js", Host=f"evil.example:{server.local.address.port}")[0] == 403


def test_a_grade_is_kept_before_the_answer_and_undone(server, ask, kept):
    assert ask("POST", "/grade", {"query": "q", "document": "a", "grade": 2})[0] == 200
    assert JudgeFile.read(kept.path).grades == {A: 2.0}
    shown = json.loads(ask("GET", "/session")[2])
    assert [(one["document"], one["grade"]) for one in shown["documents"]] == [("a", 2.0), ("b", None)]
    undone = {"query": "q", "document": "a", "grade": None, "cannot_tell": False, "comment": "", "quotes": []}
    assert json.loads(ask("POST", "/undo", {})[2]) == undone
    assert json.loads(ask("POST", "/undo", {})[2]) == {}
    assert JudgeFile.read(kept.path).grades == {}


@pytest.mark.parametrize("grade", [1, 3, -1, "2", 1e300, float("nan"), float("inf"), True, [2], {}, "9" * 60_000])
def test_a_grade_off_the_scale_is_refused_with_the_scale(server, ask, grade, kept):
    status, _, content = ask("POST", "/grade", {"query": "q", "document": "a", "grade": grade})
    answer = json.loads(content)
    assert (status, answer["scale"]) == (400, [0, 2])
    assert answer["error"].endswith(" as a grade, expected one of 0 (bad), 2 (good)")
    assert len(answer["error"]) < 200
    assert not kept.path.exists()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"query": "q", "document": "z", "grade": 2},
            "found document 'z' of query 'q', expected a document of this pool",
        ),
        ({"query": ["q"], "document": "a", "grade": 2}, "expected a document of this pool"),
        ({"query": "q", "document": "a"}, "found no grade, expected a number, or null to take the grade away"),
    ],
)
def test_what_is_no_grade_of_the_pool_is_refused(server, ask, body, said, kept):
    status, _, content = ask("POST", "/grade", body)
    assert status == 400
    assert said in json.loads(content)["error"]
    assert not kept.path.exists()


def test_nothing_else_is_served(ask):
    assert [ask("GET", path)[0] for path in ("/judge.html", "/../judge.py", "/grade", "/favicon.ico")] == [404] * 4
    assert ask("PUT", "/grade", {})[0] == 404
    assert ask("POST", "/grade", b" " * 100_000)[0] == 413


def test_a_grade_that_could_not_be_kept_is_said_and_does_not_count(server, ask, kept):
    kept.path.mkdir()
    status, _, content = ask("POST", "/grade", {"query": "q", "document": "a", "grade": 2})
    assert (status, json.loads(content)) == (500, {"error": "the grade could not be kept: Is a directory"})
    assert kept.grades == {}


def test_finishing_says_what_was_written_and_ends(server, ask):
    assert json.loads(ask("POST", "/finish", {})[2]) == {"said": ["wrote 1 new grade to s.yaml"]}
    assert server.local.finished.wait(5)
    assert server.said == ["wrote 1 new grade to s.yaml"]


def test_a_file_that_changed_meanwhile_is_written_only_where_the_judge_says_so(server, ask):
    changed = [True]

    def write():
        if changed[0]:
            raise FilesChanged("s.yaml was changed")
        return ["wrote it"]

    server.target.write = write
    server.target.reread = lambda: changed.__setitem__(0, False)
    status, _, content = ask("POST", "/finish", {})
    assert (status, json.loads(content)) == (409, {"error": "s.yaml was changed", "changed": True})
    assert not server.local.finished.is_set()
    assert json.loads(ask("POST", "/finish", {"reread": True})[2]) == {"said": ["wrote it"]}


@pytest.mark.parametrize("sent", [b"[" * 60_000, b'{"reread": ', b"[]", b"\xff"], ids=["deep", "cut", "list", "bytes"])
@pytest.mark.parametrize("path", ["/grade", "/finish"])
def test_what_is_no_json_object_is_a_bad_request_and_finishes_nothing(server, ask, capfd, path, sent):
    status, headers, content = ask("POST", path, sent)
    assert (status, content) == (400, b"Bad Request\n")
    assert headers.items() >= HEADERS.items()
    assert not server.local.finished.is_set()
    assert capfd.readouterr().err == ""


def test_a_body_that_does_not_arrive_keeps_nobody_waiting(server, ask):
    port, token = server.local.address.port, server.access.token
    head = f"POST /grade HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Relevance-Token: {token}\r\n"
    with socket.create_connection(("127.0.0.1", server.local.address.port)) as waiting:
        waiting.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n".encode())
        time.sleep(0.2)
        assert ask("POST", "/grade", {"query": "q", "document": "a", "grade": 2})[0] == 200


def test_truth_is_no_grade(server, ask, kept):
    choices = (GradeChoice(0.0, "", "0"), GradeChoice(1.0, "", "1"))
    served = server.judges.by_name["anna"]
    served.view = replace(served.view, task=replace(served.view.task, choices=choices))
    for given in (True, False):
        assert ask("POST", "/grade", {"query": "q", "document": "a", "grade": given})[0] == 400
    assert not kept.path.exists()


def test_a_port_that_is_taken_is_named(server):
    port = server.local.address.port
    with pytest.raises(UsageError, match=f"port {port} cannot be used: Address already in use"):
        make_server(server.judges.by_name["anna"].view, port=port).local.start()


def test_a_comment_stays_with_the_next_grade_and_is_removed_by_an_empty_one(ask, kept):
    given = {"query": "q", "document": "a"}
    answer = json.loads(
        ask("POST", "/grade", {**given, "grade": None, "cannot_tell": True, "comment": "Two of them."})[2]
    )
    assert answer == {**given, "grade": None, "cannot_tell": True, "comment": "Two of them.", "quotes": []}
    assert json.loads(ask("POST", "/grade", {**given, "grade": 2})[2])["comment"] == "Two of them."
    ask("POST", "/grade", {**given, "grade": 2, "comment": ""})
    answer = JudgeFile.read(kept.path).answers[A]
    assert (answer.grade, answer.cannot_tell, answer.comment) == (2.0, False, "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"grade": 2, "cannot_tell": True}, "found a grade and that the judge cannot tell, expected one of them"),
        ({"grade": 2, "comment": "x" * 4001}, "expected a text of at most 4,000 characters as a comment"),
        ({"grade": 2, "comment": ["x"]}, "expected a text of at most 4,000 characters as a comment"),
    ],
)
def test_an_answer_that_contradicts_itself_is_refused(ask, kept, given, said):
    status, _, content = ask("POST", "/grade", {"query": "q", "document": "a", **given})
    assert (status, json.loads(content)["error"]) == (400, said)
    assert not kept.path.exists()


def test_no_documents_are_searched_where_the_target_cannot_be_asked(ask):
    status, _, content = ask("POST", "/search", {"query": "q", "words": "boots"})
    assert (status, json.loads(content)["error"]) == (422, "no documents can be searched for this query")
    assert json.loads(ask("GET", "/session")[2])["searches"] is False


@pytest.mark.parametrize(
    "sent", [b"G", b"GET / HTTP/1.1\r\nX: ", b"POST /grade HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_request_that_takes_too_long_holds_no_connection(server, ask, sent):
    """A byte now and then is no idle connection; the time is given, and no test waits for it."""
    look = server.local._http.trigger.pull_trigger
    with closing(socket.create_connection(("127.0.0.1", server.local.address.port), 30)) as slow:
        slow.sendall(sent)
        while not any(channel.request for channel in list(server.local._http.active_channels.values())):
            time.sleep(0.01)
        [channel] = server.local._http.active_channels.values()
        began = channel.request_began
        slow.sendall(b"y")
        look(lambda: server.local._http.maintenance(began + LONGEST_REQUEST - 1))
        assert ask("GET", "/")[0] == 200
        assert not channel.will_close
        look(lambda: server.local._http.maintenance(began + LONGEST_REQUEST + 1))
        assert slow.recv(1) == b""
    assert ask("GET", "/")[0] == 200


def test_a_connection_on_which_nothing_comes_is_closed_as_one_with_a_slow_request(server, ask):
    def look(now):
        server.local._http.trigger.pull_trigger(lambda: server.local._http.maintenance(now))

    with closing(socket.create_connection(("127.0.0.1", server.local.address.port), timeout=30)) as silent:
        while not server.local._http.active_channels:
            time.sleep(0.01)
        [channel] = server.local._http.active_channels.values()
        look(channel.creation_time + LONGEST_REQUEST - 1)
        assert ask("GET", "/")[0] == 200
        assert not channel.will_close
        look(channel.creation_time + LONGEST_REQUEST + 1)
        assert silent.recv(1) == b""
    assert ask("GET", "/")[0] == 200


def test_a_connection_between_two_requests_stays(server, ask):
    with closing(http.client.HTTPConnection("127.0.0.1", server.local.address.port, timeout=30)) as connection:
        for _ in range(2):
            connection.request("GET", "/judge.css")
            assert connection.getresponse().read()
            server.local._http.trigger.pull_trigger(
                lambda: server.local._http.maintenance(time.time() + LONGEST_REQUEST + 1)
            )
            assert ask("GET", "/")[0] == 200
