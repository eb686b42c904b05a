"""A point in time that a run opens itself, and warming up: what is sent, and what is refused."""

import json
from pathlib import Path

import pytest

from builders.engine import Fault, ScriptedEngine
from harness.cli import main
from harness.errors import SuiteError
from harness.model.request import Cluster, SearchRequest
from harness.report.json import loads_report
from harness.search.dialects import open_search
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products, point_in_time: true}
request:
  routing: north
  url_params: {search_type: dfs_query_then_fetch, ignore_unavailable: true}
  body: {query: {match: {title: "{{text}}"}}}
thresholds: ["mean RR@3 >= 0.6"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 1}}
  - {id: boots, text: rubber boots, judgments: {e: 1}}
"""
OPENED = "/products/{}?keep_alive=5m&preference=relevance-harness&ignore_unavailable=true&routing=north"
OPENSEARCH = {"version": {"number": "3.8.0", "distribution": "opensearch"}}


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Opens and closes points in time of both forms; *points* has what it was asked of them, *searched* all lines."""
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    with ScriptedEngine() as server:
        reply, searched = server.reply, server.search_all
        server.points, server.searched = [], []

        def answer(method, path, body):
            if "_pit" in path or "point_in_time" in path:
                server.points.append((method, path, json.loads(body) if body else None))
                return 200, {"id": "P1", "pit_id": "P1"}
            return reply(method, path, body)

        def search_all(lines, index):
            server.searched += map(json.loads, lines)
            return searched(lines, index)

        server.reply, server.search_all = answer, search_all
        yield server


def run(engine, *words):
    return main(["run", "shop.relevance.yaml", "--url", engine.url, "--output", "json=r.json", *words])


@pytest.mark.parametrize(
    ("root", "opened", "closed"),
    [
        (None, "_pit", ("DELETE", "/_pit", {"id": "P1"})),
        (OPENSEARCH, "_search/point_in_time", ("DELETE", "/_search/point_in_time", {"pit_id": ["P1"]})),
    ],
)
def test_a_run_opens_a_point_in_time_searches_it_and_closes_it(engine, root, opened, closed):
    engine.root = root or engine.root
    assert run(engine, "--repeat", "2") == 0
    assert engine.points == [("POST", OPENED.format(opened), None), closed]
    heads, bodies = engine.searched[::2], engine.searched[1::2]
    assert all(body["pit"] == {"id": "P1", "keep_alive": "5m"} for body in bodies)
    assert {name for head in heads for name in head} <= {"allow_partial_search_results", "search_type"}
    assert [head.get("search_type") for head in heads].count("dfs_query_then_fetch") >= 4


def test_it_is_closed_when_the_run_is_interrupted(engine):
    with (
        open_search(Cluster("test", url=engine.url), {}) as search,
        pytest.raises(KeyboardInterrupt),
        search.at_point_in_time("products", {}),
    ):
        raise KeyboardInterrupt
    assert [method for method, _, _ in engine.points] == ["POST", "DELETE"]


@pytest.mark.parametrize("words", [(), ("--repeat", "2")])
def test_what_is_missing_is_looked_for_in_the_same_point_in_time(engine, words):
    text = SUITE.replace("judgments: {a: 1}", "judgments: {z: 1}").replace(">= 0.6", ">= 0.9")
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    assert run(engine, *words) == 1
    bodies = engine.searched[1::2]
    assert any(body["size"] == 1000 for body in bodies), "a deeper search"
    assert all(body.get("pit") for body in bodies)
    assert [method for method, _, _ in engine.points] == ["POST", "DELETE"]
    assert engine.sent[-1][0] == "DELETE"


@pytest.mark.parametrize("words", [(), ("--explain", "a"), ("--explain", "z")])
def test_what_is_shown_of_a_query_is_from_the_point_in_time_that_it_searched(engine, words):
    text = SUITE.replace("judgments: {a: 1}", "judgments: {z: 1}")
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", engine.url, *words]) == 0
    bodies = [line for line in engine.searched if "query" in line]
    assert any(body["size"] == 1000 for body in bodies), "a deeper search"
    assert any("explain" in body for body in bodies) is bool(words)
    assert all(body.get("pit") for body in bodies)
    assert [method for method, _, _ in engine.points] == ["POST", "DELETE"]
    assert engine.sent[-1][0] == "DELETE"


def test_it_is_closed_when_what_comes_of_the_run_is_interrupted(engine, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.run.cell.decide", interrupted)
    assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 130
    assert [method for method, _, _ in engine.points] == ["POST", "DELETE"]


def test_after_it_ended_the_index_itself_is_searched(engine):
    with open_search(Cluster("test", url=engine.url), {}) as search:
        with search.at_point_in_time("products", {}) as pinned:
            pass
        pinned.search([SearchRequest("q", "products", {"query": {"match_all": {}}})])
    assert "pit" not in engine.searched[-1]


def test_an_engine_that_has_none_is_told_by_the_request_that_was_sent(engine, capsys):
    body = b'{"error": "no handler found for uri [/products/_pit] and method [POST]"}'
    engine.faults.append(Fault("/products/_pit", status=400, times=9, body=body))
    assert run(engine) == 3
    [shoes, _] = loads_report(Path("r.json").read_text(encoding="utf-8")).suites[0].queries
    assert shoes.reason.startswith("engine error: no point in time was opened by `POST /products/_pit?keep_alive=5m&")
    assert "no handler found for uri" in shoes.reason
    assert shoes.reason.endswith("if this engine has none, remove `point_in_time` from the target")
    assert engine.searched == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("routing: north", 'routing: "{{text}}"', "has a 'routing' for each query, and a point in time has one"),
        ("{query: {match", "{pit: {id: P}, query: {match", "searches one of its own; remove either"),
        (
            '{query: {match: {title: "{{text}}"}}}',
            '{template: {id: t, params: {q: "{{text}}"}}}',
            "is a search template",
        ),
    ],
)
def test_what_cannot_search_a_point_in_time_is_refused_when_the_suite_is_loaded(engine, old, new, sentence):
    Path("shop.relevance.yaml").write_text(SUITE.replace(old, new), encoding="utf-8")
    with pytest.raises(SuiteError, match=sentence):
        load_suite(Path("shop.relevance.yaml"), {})


@pytest.mark.parametrize(("words", "times"), [((), 3), (("--warm-up", "1"), 2)])
def test_answers_of_warming_up_are_thrown_away(engine, words, times):
    text = SUITE.replace("thresholds:", "warm_up: 2\nthresholds:").replace(", point_in_time: true", "")
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
    turns = iter([{"red shoes": ["z"]}] * (times - 1))
    engine.before_search = lambda: engine.rankings.update(next(turns, {"red shoes": ["a"]}))
    assert run(engine, *words) == 0
    assert engine.asked["red shoes"] == times
    [report] = loads_report(Path("r.json").read_text(encoding="utf-8")).suites
    assert [document.id for document in report.queries[0].ranking] == ["a"]
    sent = {3: "2 times", 2: "1 time"}[times]
    assert f"warm-up: all queries were sent {sent} before, for answers that were thrown away" in report.notes
