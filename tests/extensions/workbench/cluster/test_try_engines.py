"""Requests are tried on real engines: the whole loop, and an explanation in the engine's own time."""

import shutil
from pathlib import Path

import pytest
import yaml

from builders.solr import CORE
from extensions.workbench.builders.tried_shop import open_actions, send
from harness.suites import load_suite

PRODUCTS = Path(__file__).parents[4] / "suites" / "products.relevance.yaml"


@pytest.fixture
def path(tmp_path):
    shutil.copytree(PRODUCTS.parent / "products", tmp_path / "products")
    return Path(shutil.copy(PRODUCTS, tmp_path))


def test_the_loop_on_an_engine(path, engine_url):
    with open_actions(path, engine_url, judge="anna", run={"allow_write": True}) as actions:
        session = actions.show_session("", {})
        assert len(session["queries"]) == 45
        rows, last = send(actions, session["text"].replace("description]", "description^9]"))
        assert len(rows) == 45
        assert {row["error"] for row in rows.values()} == {None}
        summary = last["summary"]
        assert summary["wins"] + summary["losses"] > 0
        assert summary["wins"] + summary["losses"] + summary["same"] == 45
        moved = next(row["query"] for row in rows.values() if row["moved"])
        shown = actions.show_query("", {"id": moved, "try": "1"})
        assert all(hit["title"] for hit in shown["live"] + shown["try"])
        document = shown["try"][1]["document"]
        asked = {"query": moved, "document": document, "side": "try", "try": 1}
        lines = actions.explain("", {**asked, "above": False})["lines"]
        assert lines[0]["value"] > 0
        parts = [line["value"] for line in lines if line["depth"] == 1]
        assert sum(parts) == pytest.approx(lines[0]["value"], rel=1e-4)
        against = actions.explain("", {**asked, "above": True})["lines"]
        assert against[0]["value"] >= 0
        graded = actions.grade("", {"query": moved, "document": document, "grade": 0, "try": 1})
        assert graded["summary"]["graded_here"]["count"] == 1
        plan = {"try": 1, "how": "request", "name": "colourful"}
        token = actions.write("", plan)["token"]
        actions.write("", {**plan, "token": token, "write": True})
    assert "description^9" in load_suite(path, {}).requests["colourful"].body["query"]["multi_match"]["fields"]


@pytest.mark.one_engine
def test_a_fixture_is_checked_once_a_session(path, engine_url, monkeypatch):
    checked = []
    monkeypatch.setattr(
        "harness.run.connections._build_index",
        lambda suite, fixture, search, **_: checked.append(suite.name) or "no-such-index",
    )
    from harness.errors import SearchError

    with pytest.raises(SearchError), open_actions(path, engine_url, run={"allow_write": True}):
        pass
    assert checked == ["products"]


def test_the_loop_on_solr(path, solr_url, tmp_path):
    suite = yaml.safe_load(path.read_text(encoding="utf-8"))
    del suite["fixture"], suite["tune"]
    suite["target"] = {"cluster": "solr"}
    params = {
        "q": "{{text}}",
        "defType": "edismax",
        "qf": "title^3 brand^2 category colour tags description",
        "fl": "id,score,title,popularity",
        "sort": "score desc,popularity desc,id asc",
    }
    select = {"path": f"/{CORE}/select", "sort": ["$.score", "$.popularity", "$.id"], "fields": {"title": "$.title"}}
    suite["requests"] = {"current": {"http": {**select, "params": params}}}
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    config = tmp_path / "relevance.toml"
    config.write_text(f'[clusters.solr]\nurl = "{solr_url}/solr"\nservice = "solr"\n')
    with open_actions(path, None, run={"config": config}) as actions:
        session = actions.show_session("", {})
        assert [dial["name"] for dial in session["dials"]] == ["title^", "brand^"]
        _, last = send(actions, session["text"], values={"/http/params/qf^title": 1})
        assert last["try"]["name"] == "title^3 → ^1"
        assert last["summary"]["unanswered"] == 0
        assert last["summary"]["wins"] + last["summary"]["losses"] > 0
