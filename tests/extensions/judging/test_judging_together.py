"""The server of the judging page with several judges: whose page it is, what each sees of others, and what lasts."""

import pytest

pytest.importorskip("werkzeug")
pytest.importorskip("waitress")

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.page.session_json import build_session
from harness.extensions.judging.server import JudgingServer
from harness.extensions.judging.server.access import AccessFile
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import GradeChoice, JudgeView, JudgingTask
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile
from harness.local_server.addresses import Address
from harness.model.judging import JudgeAnswer
from harness.model.suite import Query, Suite, Target

SUITE = Suite("shop", "s.yaml", Target(), {}, (), (Query("q", "red shoes"),))
DOCUMENTS = [PooledDocument("q", "red shoes", document, {"current": rank}) for rank, document in enumerate("abc", 1)]
CHOICES = (GradeChoice(0.0, "bad", "0"), GradeChoice(2.0, "good", "2"))
A, B = ("q", "a"), ("q", "b")


class Team:
    """A server for *names*; asks it as one of them."""

    def __init__(self, folder, names, *, settler=None, absent=None, address=None):
        task = JudgingTask(SUITE, DOCUMENTS, CHOICES)
        views = {}
        for name in names:
            kept = JudgeFile(folder / f"shop.judged-by.{name}.jsonl")
            views[name] = JudgeView(task, name, kept, [] if name == settler else DOCUMENTS, settles=name == settler)
        self.written, self.told = [], []
        target = SimpleNamespace(write=self.write, reread=lambda: None)
        access = AccessFile.start_anew(BesideFile(folder / ".shop.judges.json"))
        judges = ServedJudges.from_views(views, settler, absent)
        self.server = JudgingServer(judges, access, target, address or Address(), tell=self.told.append)
        self.tokens = access.grant(names)
        self.server.local.start()

    def write(self):
        self.written.append(True)
        return ["wrote it"]

    def ask(self, judge, path, body=None, **headers):
        """Status and content."""
        port = self.server.local.address.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        own = {"Host": f"127.0.0.1:{port}", "X-Relevance-Token": self.tokens.get(judge, judge)}
        own |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data, own | {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        is_json = answer.getheader("Content-Type").startswith("application/json")
        return answer.status, json.loads(content) if is_json else content.decode()

    def grade(self, judge, document, grade):
        status, answer = self.ask(judge, "/grade", {"query": "q", "document": document, "grade": grade})
        assert (status, answer["grade"]) == (200, grade)

    def show(self, judge):
        status, session = self.ask(judge, "/session")
        assert status == 200
        return session

    def list_changes(self, judge, since):
        status, answer = self.ask(judge, f"/changes?since={since}")
        assert status == 200
        return answer


@pytest.fixture
def form(tmp_path):
    teams = []

    def start(*names, **details):
        teams.append(Team(tmp_path, names, **details))
        return teams[-1]

    yield start
    for team in teams:
        team.server.local.close()


def test_each_judge_grades_into_a_file_of_their_own_and_sees_no_grade_of_another(form, tmp_path):
    team = form("anna", "ben")
    team.grade("anna", "a", 2)
    team.grade("ben", "a", 0)
    assert {name: team.show(name)["documents"][0]["grade"] for name in ("anna", "ben")} == {"anna": 2, "ben": 0}
    assert [JudgeFile.read(tmp_path / f"shop.judged-by.{name}.jsonl").grades for name in ("anna", "ben")] == [
        {A: 2.0},
        {A: 0.0},
    ]
    shown = json.dumps(team.show("ben")["documents"])
    assert '"anna"' not in shown


def test_undo_is_that_of_the_judge(form):
    team = form("anna", "ben")
    team.grade("anna", "a", 2)
    assert team.ask("ben", "/undo", {}) == (200, {})
    assert team.ask("anna", "/undo", {})[1]["document"] == "a"


def test_a_link_that_was_revoked_or_is_not_of_a_served_judge_opens_nothing(form, tmp_path):
    team = form("anna", "ben")
    AccessFile.read(BesideFile(tmp_path / ".shop.judges.json")).revoke("anna")
    eve = AccessFile.read(BesideFile(tmp_path / ".shop.judges.json")).grant(["eve"])["eve"]
    for judge in ("anna", eve, "", "x"):
        for path, body in (("/session", None), ("/grade", {"query": "q", "document": "a", "grade": 2})):
            status, said = team.ask(judge, path, body)
            assert (status, said) == (403, "the link is not complete, or does not hold any more; ask for a new one\n")
    assert team.ask("ben", "/session")[0] == 200
    assert not list(tmp_path.glob("*.jsonl"))


def test_everybody_sees_how_far_each_is(form):
    team = form("anna", "ben")
    team.grade("anna", "a", 2)
    assert team.show("ben")["progress"] == [
        {"judge": "anna", "graded": 1, "documents": 3, "done": False},
        {"judge": "ben", "graded": 0, "documents": 3, "done": False},
    ]
    assert team.show("ben")["finish"] == "done"
    status, answer = team.ask("anna", "/finish", {})
    assert (status, answer["said"][0].partition(".")[0], team.written) == (200, "Thank you", [])
    assert team.told == ["anna is done: graded 1 of 3 documents"]
    assert [one["done"] for one in team.show("ben")["progress"]] == [True, False]
    assert not team.server.local.finished.is_set()
    team.grade("anna", "b", 2)
    assert [one["done"] for one in team.show("ben")["progress"]] == [False, False]


def test_two_windows_of_a_judge_see_each_other_and_nobody_else(form):
    team = form("anna", "ben")
    since = team.show("anna")["since"]
    assert team.list_changes("anna", since) | {"progress": []} == {
        "since": since,
        "reload": False,
        "changes": [],
        "progress": [],
    }
    for document, grade in (("a", 0), ("b", 2), ("a", 2)):
        team.grade("anna", document, grade)
    team.grade("ben", "c", 0)
    changed = team.list_changes("anna", since)
    assert [(one["document"], one["grade"]) for one in changed["changes"]] == [("a", 2), ("b", 2)]
    assert team.list_changes("anna", changed["since"])["changes"] == []
    team.ask("anna", "/undo", {})
    undone = team.list_changes("anna", changed["since"])
    assert [(one["document"], one["grade"]) for one in undone["changes"]] == [("a", 0)]


@pytest.mark.parametrize("since", ["", "x", "-", "0-0", "0-²", "{start}-" + "9" * 5000])
def test_a_page_of_an_earlier_server_reads_everything_again(form, since):
    team = form("anna")
    start = team.show("anna")["since"].partition("-")[0]
    assert team.list_changes("anna", since.replace("{start}", start).replace("²", "%C2%B2"))["reload"] is True


def list_others(document):
    return [(one["judge"], one["grade"], one["comment"]) for one in document["others"]]


def test_who_settles_is_given_what_others_differ_on_as_they_differ(form, tmp_path):
    eve = JudgeFile(tmp_path / "shop.judged-by.eve.jsonl")
    eve.record(JudgeAnswer(*B, 2.0, comment="Red enough."))
    eve.record(JudgeAnswer(*A, None, cannot_tell=True, comment="Which red?"))
    team = form("anna", "ben", "carol", settler="carol", absent={"eve": eve})
    since = team.show("carol")["since"]
    assert team.show("carol")["documents"] == []
    team.grade("anna", "a", 2)
    assert team.list_changes("carol", since)["reload"] is False
    team.grade("ben", "a", 0)
    team.grade("anna", "b", 0)
    changed = team.list_changes("carol", since)
    assert changed["reload"] is True
    documents = team.show("carol")["documents"]
    assert [(one["document"], list_others(one)) for one in documents] == [
        ("a", [("anna", 2, ""), ("ben", 0, ""), ("eve", None, "Which red?")]),
        ("b", [("anna", 0, ""), ("eve", 2, "Red enough.")]),
    ]
    now = team.list_changes("carol", changed["since"])
    assert team.list_changes("carol", now["since"])["reload"] is False
    team.grade("carol", "a", 2)
    assert team.list_changes("carol", now["since"])["changes"][0]["grade"] == 2
    assert team.ask("carol", "/grade", {"query": "q", "document": "c", "grade": 2})[0] == 400
    # Only those who see the same document without the others' grades are asked for it.
    assert all(one["others"] == [] for one in team.show("anna")["documents"])


def test_only_who_settles_writes_and_judging_goes_on(form):
    team = form("anna", "ben", "carol", settler="carol")
    assert team.show("carol")["finish"] == "write"
    assert team.ask("carol", "/finish", {}) == (200, {"said": ["wrote it"]})
    assert team.ask("ben", "/finish", {"reread": True})[0] == 200
    assert team.written == [True]
    assert team.told == [
        "carol is done: graded 0 of 0 documents",
        "wrote it",
        "ben is done: graded 0 of 3 documents",
    ]
    assert team.ask("anna", "/finish", {})[0] == 200
    assert team.told[-1] == "all judges are done; Ctrl-C ends the command"
    assert not team.server.local.finished.is_set()
    team.grade("anna", "a", 2)


def test_behind_a_proxy_the_names_of_the_proxy_count(form):
    team = form("anna", address=Address(public_url="https://shop.example"))
    body = {"query": "q", "document": "a", "grade": 2}
    proxied = {"Host": "shop.example", "Origin": "https://shop.example", "Sec_Fetch_Site": "same-origin"}
    assert team.ask("anna", "/grade", body, **proxied)[0] == 200
    for wrong in ({"Host": "evil.example"}, {"Origin": "http://shop.example"}, {"Origin": "https://evil.example"}):
        assert team.ask("anna", "/grade", body, **proxied | wrong)[0] == 403


def test_connections_that_are_held_open_keep_nobody_waiting(form):
    """Twenty browsers hold six each."""
    team = form("anna")
    with ExitStack() as connections:
        for _ in range(150):
            address = ("127.0.0.1", team.server.local.address.port)
            connections.enter_context(socket.create_connection(address))
        team.grade("anna", "a", 2)


JUDGES, DOCUMENTS_EACH = 20, 400


def test_nothing_that_was_acknowledged_is_lost_when_twenty_judges_grade_and_the_server_is_killed(tmp_path):
    words = [
        sys.executable,
        "-m",
        "extensions.judging.builders.judging_server",
        str(tmp_path),
        str(JUDGES),
        str(DOCUMENTS_EACH),
    ]
    server = subprocess.Popen(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)
    acknowledged: dict[str, dict[str, float]] = {}
    try:
        port, tokens = json.loads(server.stdout.readline())
        halfway = threading.Semaphore(0)

        def judge(name, token):
            graded = acknowledged[name] = {}
            headers = {"X-Relevance-Token": token, "Content-Type": "application/json"}
            with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
                for number in range(DOCUMENTS_EACH):
                    body = {"query": "q", "document": f"d{number}", "grade": number % 2}
                    try:
                        connection.request("POST", "/grade", json.dumps(body), headers)
                        answer = json.loads(connection.getresponse().read())
                    except (OSError, http.client.HTTPException, ValueError):
                        return
                    graded[f"d{number}"] = answer["grade"]
                    halfway.release()

        threads = [threading.Thread(target=judge, args=item) for item in tokens.items()]
        for thread in threads:
            thread.start()
        for _ in range(JUDGES * 20):
            assert halfway.acquire(timeout=30)
        os.kill(server.pid, signal.SIGKILL)
        for thread in threads:
            thread.join(30)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert len(acknowledged) == JUDGES
    assert sum(map(len, acknowledged.values())) >= JUDGES * 20
    for name, graded in acknowledged.items():
        kept = JudgeFile.read(tmp_path / f"shop.judged-by.{name}.jsonl").grades
        assert {("q", document): grade for document, grade in graded.items()}.items() <= kept.items()
        # What was on its way may be there too, but no more than one grade.
        assert len(kept) <= len(graded) + 1


def test_a_query_whose_hits_are_given_to_others_is_no_query_without_hits(tmp_path):
    judged = JudgingTask(SUITE, DOCUMENTS, CHOICES, queries=["q"], existing={("q", "c"): 2.0})
    kept = JudgeFile(tmp_path / "shop.judged-by.anna.jsonl")
    counts = [JudgeView(judged, "anna", kept, DOCUMENTS[:given]).count_elsewhere("q") for given in range(4)]
    assert counts == [2, 1, 0, 0]
    [query] = build_session(JudgeView(judged, "anna", kept, []))["queries"]
    assert (query["judged"], query["elsewhere"]) == (0, 2)
