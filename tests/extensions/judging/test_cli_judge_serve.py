"""``relevance judge team``: links, locks, shares and decisions; each judge is a function that has the link."""

import pytest

pytest.importorskip("werkzeug")
pytest.importorskip("waitress")

import json
import re
import signal
import socket
import subprocess
import sys

import harness.extensions.judging.commands.team
import harness.search.dialects
from builders.pages import JudgingPage
from extensions.judging.builders.judged_shop import SUITE, set_up_shop
from harness.cli import main

LOCAL = ("--serve", "127.0.0.1:0")


@pytest.fixture
def folder(working_folder, monkeypatch):
    set_up_shop(working_folder, monkeypatch)
    return working_folder


def run(*words):
    return main(["judge", "team", "shop.relevance.yaml", "-q", *LOCAL, *words])


@pytest.fixture
def serve(folder, monkeypatch, capsys):
    """
    Runs the command until *act*, which is given the page of each judge, has ended; what it printed.

    *pages* are those of an earlier call, whose links hold.
    """

    def serve(*words, act=lambda **pages: None, pages=()):
        lines = []

        def wait():
            lines.extend(capsys.readouterr().out.splitlines())
            port = re.search(r":(\d+); Ctrl-C", lines[0])[1]
            links = {line.split()[0]: line.rpartition(": ")[2] for line in lines if "#token=" in line}
            for name, page in dict(pages).items():
                links[name] = re.sub(r":\d+/", f":{port}/", page.parts.geturl())
            act(**{name: JudgingPage(link) for name, link in links.items()})
            raise KeyboardInterrupt

        monkeypatch.setattr(harness.extensions.judging.commands.team, "wait_for_interrupt", wait)
        assert run(*words) == 130
        return lines

    return serve


def test_each_judge_gets_a_link_and_grades_into_a_file_of_their_own(folder, serve, capsys):
    def act(anna, ben):
        anna.grade({"shoes/x": 1, "boots/z": 2})
        ben.grade({"shoes/x": 0})
        ben.ask("/finish", {})

    lines = serve("--judge", "anna", "--judge", "ben", act=act)
    assert re.fullmatch(
        r"3 documents to judge on http://127\.0\.0\.1:\d+; Ctrl-C ends, and all grades are kept", lines[0]
    )
    for line, name in zip(lines[1:], ("anna", "ben"), strict=True):
        assert re.fullmatch(
            rf"{name} has 3 documents, 0 of them graded: http://127\.0\.0\.1:\d+/#token=[\w-]{{32,}}", line
        )
    printed = capsys.readouterr()
    assert printed.out == "ben is done: graded 1 of 3 documents\n"
    assert printed.err.splitlines() == [
        "anna graded 2 of 3 documents: shop.judged-by.anna.jsonl",
        "ben graded 1 of 3 documents: shop.judged-by.ben.jsonl",
        "the grades are kept; relevance judge write shop.relevance.yaml writes them to the suite",
    ]
    assert (folder / "shop.relevance.yaml").read_text() == SUITE
    assert {path.name for path in folder.glob("*.jsonl")} == {"shop.judged-by.anna.jsonl", "shop.judged-by.ben.jsonl"}
    assert not list(folder.glob(".*.lock"))


def test_what_judges_disagree_on_is_decided_and_written_while_they_go_on(folder, serve, capsys):
    def act(anna, ben, carol):
        anna.grade({"shoes/x": 1, "shoes/y": 0})
        ben.grade({"shoes/x": 0, "shoes/y": 0})
        [document] = carol.documents
        assert [(one["judge"], one["grade"]) for one in document["others"]] == [("anna", 1), ("ben", 0)]
        carol.grade({"shoes/x": 2})
        assert carol.ask("/finish", {})["said"] == ["wrote 2 new grades to shop.relevance.yaml"]
        anna.grade({"boots/z": 1})
        ben.grade({"boots/z": 2})
        assert [one["document"] for one in carol.documents] == ["x", "z"]
        carol.grade({"boots/z": 0})

    lines = serve("--judge", "anna", "--judge", "ben", "--settler", "carol", act=act)
    assert lines[3].startswith("carol settles what the others grade differently, 0 by now: http://")
    assert "judgments: {a: 2, b: 0, x: 2, y: 0}" in (folder / "shop.relevance.yaml").read_text()
    assert "judgments: {d: 1}" in (folder / "shop.relevance.yaml").read_text()
    # The command that is printed at the end lets the decisions stand.
    command = re.search(r"relevance (judge write .*) writes them", capsys.readouterr().err)[1]
    assert main(command.split()) == 0
    assert "judgments: {d: 1, z: 0}" in (folder / "shop.relevance.yaml").read_text()


def test_with_an_overlap_each_document_is_given_to_so_many_judges(serve):
    given = []

    def act(**pages):
        given.extend((one["query"], one["document"]) for page in pages.values() for one in page.documents)

    serve("--judge", "anna", "--judge", "ben", "--judge", "carol", "--overlap", "2", act=act)
    assert sorted(given) == sorted(2 * [("shoes", "x"), ("shoes", "y"), ("boots", "z")])


def test_links_hold_over_a_start_that_keeps_them_until_they_are_revoked(folder, serve, capsys):
    pages = {}
    serve("--judge", "anna", "--judge", "ben", act=lambda **given: pages.update(given))
    statuses = []

    def act(anna, ben, **others):
        anna.grade({"shoes/x": 1})
        revoke = ["judge", "revoke", "shop.relevance.yaml", "ben"]
        statuses.append(main(revoke))
        assert main(revoke) == 2
        with pytest.raises(json.JSONDecodeError):
            ben.ask("/session")
        anna.grade({"shoes/y": 1})

    words = ["--judge", "anna", "--judge", "ben", "--keep-links"]
    lines = serve(*words, act=act, pages=pages)
    assert [line.rpartition(": ")[2] for line in lines[1:]] == ["the link from before"] * 2
    assert statuses == [0]
    printed = capsys.readouterr()
    assert "the link of ben does not hold any more\n" in printed.out
    assert ".shop.judges.json: ben has no link" in printed.err
    lines = serve(*words)
    assert lines[1].endswith("the link from before")
    assert "#token=" in lines[2]
    lines = serve(*words[:-1])
    assert all("#token=" in line for line in lines[1:])


def test_no_other_command_grades_as_one_of_the_judges_meanwhile(serve, capsys):
    pytest.importorskip("fcntl", reason="this system has no locks")
    statuses = []

    def act(anna, ben):
        statuses.append(main(["judge", "shop.relevance.yaml", "-q", "--judge", "ben"]))
        statuses.append(run("--judge", "eve"))
        anna.grade({"shoes/x": 1})
        statuses.append(main(["judge", "write", "shop.relevance.yaml"]))

    serve("--judge", "anna", "--judge", "ben", act=act)
    assert statuses == [2, 2, 0]
    printed = capsys.readouterr().err
    assert "grades as ben already" in printed
    # Its start would end the links of this one.
    assert re.search(r"\.shop\.judges\.json: process \d+, started .*, serves judges of this suite already", printed)


def test_links_that_cannot_be_kept_are_refused_before_anything_is_asked(folder, capsys):
    (folder / ".shop.judges.json").write_text("{}")
    (folder / ".shop.judges.json").chmod(0o644)
    assert run(*TEAM, "--keep-links") == 2
    assert "with the rights 644, expected one of your own with the rights 600" in capsys.readouterr().err


def test_where_every_hit_has_a_grade_nothing_is_served(folder, serve, capsys):
    suite = SUITE.replace("{a: 2, b: 0}", "{a: 2, b: 0, x: 1, y: 1}").replace("{d: 1}", "{d: 1, z: 1}")
    (folder / "shop.relevance.yaml").write_text(suite)
    assert run("--judge", "anna", "--judge", "ben") == 0
    assert capsys.readouterr().out == "nothing to judge: every hit in the pool has a grade\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_and_its_locks(tmp_path, httpserver, sent):
    httpserver.expect_request("/search").respond_with_json({"hits": [{"id": "a"}]})
    (tmp_path / "relevance.toml").write_text(
        f'[clusters.default]\nurl = "{httpserver.url_for("/")}"\nservice = "http"\n'
    )
    request = '{http: {path: /search, params: {q: "{{text}}"}, ids: "$.hits[*].id"}}'
    suite = f"suite: shop\ntarget: {{cluster: default}}\nrequest: {request}\nmeasures: [nDCG@5]\n"
    (tmp_path / "shop.relevance.yaml").write_text(f"{suite}queries: [{{id: q, text: shoes}}]\n")
    words = [sys.executable, "-m", "harness", "judge", "team", "shop.relevance.yaml", "-q", *LOCAL, "--judge", "anna"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    page = JudgingPage(process.stdout.readline().rpartition(": ")[2].strip())
    page.grade({"q/a": 1})
    assert len(list(tmp_path.glob(".*.lock"))) == 2
    process.send_signal(sent)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert said.splitlines()[-2] == "anna graded 1 of 1 document: shop.judged-by.anna.jsonl"
    assert not list(tmp_path.glob(".*.lock"))


TEAM = ("--judge", "anna", "--judge", "ben")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*TEAM, "--judge", "anna"), "found --judge anna twice, expected each judge once"),
        (
            (*TEAM, "--settler", "anna"),
            "anna decides what the others grade differently",
        ),
        ((*TEAM, "--overlap", "3"), "found --overlap 3, expected at most 2, the number of --judge"),
        ((*TEAM, "--overlap", "1", "--settler", "carol"), "`relevance judge SUITE --settler carol` settles"),
        (("--judge", "anna", "--settler", "carol"), "--settler has nothing to decide unless two judges"),
        (("--serve", "0.0.0.0:80", *TEAM), "where other machines could read grades and links on their way"),
        (("--serve", "8000", *TEAM), "found '8000' for --serve, expected HOST:PORT"),
        (("--judge", "../a"), "as the name of a judge"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(folder, capsys, words, said):
    assert run(*words) == 2
    assert said in " ".join(capsys.readouterr().err.split())
    assert not list(folder.glob("*.jsonl"))
    assert not list(folder.glob(".shop*"))


def test_an_address_that_is_taken_is_named(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run("--serve", f"127.0.0.1:{port}", *TEAM) == 2
    assert f"port {port} cannot be used: Address already in use" in capsys.readouterr().err


def test_no_link_is_in_a_file(folder, serve):
    lines = serve(*TEAM)
    tokens = [line.partition("#token=")[2] for line in lines[1:]]
    for path in folder.iterdir():
        assert not any(token in path.read_text() for token in tokens)
