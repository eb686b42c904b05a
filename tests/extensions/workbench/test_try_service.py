"""Requests over HTTP are tried: params and JSON are changed, and nothing else."""

import json

import pytest

pytest.importorskip("pytest_httpserver")

from werkzeug import Response

from extensions.workbench.builders.tried_shop import begin, open_actions, send
from harness.errors import UsageError
from harness.local_server import RefusedAction

SUITE = """\
suite: shop
target: {cluster: shop}
measures: [nDCG@3]
depth: 3
requests:
  current:
    http:
      path: /search
      params: {q: "{{text}}", boost: "3", rows: "{{depth}}"}
      hits: $.hits
      ids: $.id
      scores: $.score
      titles: $.title
queries:
  - {id: q0, text: red, judgments: {a: 2, b: 1}}
  - {id: q1, text: blue, judgments: {a: 2, b: 1}}
  - {id: q2, text: broken, judgments: {a: 2, b: 1}}
"""


@pytest.fixture
def asked():
    return []


@pytest.fixture
def actions(tmp_path, httpserver, asked):
    def respond(request):
        asked.append((request.method, request.args.to_dict()))
        if request.args["q"] == "broken" and request.args["boost"] != "3":
            return Response("no", status=400)
        ids = ["a", "b", "c"] if float(request.args["boost"]) > 5 else ["b", "a", "c"]
        hits = [{"id": name, "score": 9 - rank, "title": f"Shoe {name}"} for rank, name in enumerate(ids)]
        return Response(json.dumps({"hits": hits}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    config = tmp_path / "relevance.toml"
    config.write_text(f'[clusters.shop]\nurl = "{httpserver.url_for("")}"\nservice = "http"\n')
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE)
    with open_actions(path, None, run={"config": config}) as actions:
        yield actions


def test_params_are_dials_and_are_changed(actions, asked):
    session = actions.show_session("", {})
    assert session["has_explain"] is False
    asked.clear()
    rows, last = send(actions, session["text"].replace('boost: "3"', 'boost: "6"'))
    assert {params["boost"] for _, params in asked} == {"6"}
    assert {method for method, _ in asked} == {"GET"}
    assert (rows["q0"]["score"], rows["q2"]["score"]) == (1.0, None)
    assert rows["q2"]["error"].startswith("engine error (400)")
    assert (last["summary"]["wins"], last["try"]["name"]) == (2, "params boost 3 → 6")
    shown = actions.show_query("", {"id": "q0", "try": "1"})
    assert [(hit["document"], hit["move"]) for hit in shown["try"]] == [("a", 1), ("b", -1), ("c", 0)]


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("path: /search", "path: /other", "path"),
        ("path: /search", "path: /search\n  method: POST", "method"),
        ("ids: $.id", "ids: $.name", "ids"),
        ("titles: $.title", "titles: $.title\n  headers: {X-Other: x}", "headers"),
    ],
)
def test_where_a_request_goes_is_not_changed(actions, asked, old, new, key):
    text = actions.show_session("", {})["text"]
    asked.clear()
    with pytest.raises(RefusedAction) as refused:
        begin(actions, text.replace(old, new))
    assert refused.value.answer["error"] == f"{key!r} of 'http' is not that of the suite: change its params or its json"
    assert asked == []


@pytest.mark.parametrize("name", ["fromIndex", r"from\\u0049ndex"])
def test_a_join_with_another_core_is_refused(actions, asked, name):
    text = actions.show_session("", {})["text"]
    asked.clear()
    with pytest.raises(RefusedAction) as refused:
        begin(actions, text.replace('"{{text}}"', f'"{{!join {name}=secrets from=a to=b}}{{{{text}}}}"'))
    assert "fromIndex, which searches another index" in refused.value.answer["error"]
    assert asked == []


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("boost:", "collection: secrets, boost:", "collection"),
        ("boost:", "hits.collection: secrets, boost:", "hits.collection"),
        ("boost:", "shards: secrets, boost:", "shards"),
        ("boost:", "Index: secrets, boost:", "Index"),
        ("hits:", "json: {query: {join: {fromIndex: secrets}}}\n  hits:", "fromIndex"),
    ],
)
def test_another_core_in_a_key_is_refused(actions, asked, old, new, key):
    text = actions.show_session("", {})["text"]
    asked.clear()
    with pytest.raises(RefusedAction) as refused:
        begin(actions, text.replace(old, new))
    assert f"found {key!r}, which names another index" in refused.value.answer["error"]
    assert asked == []


def test_a_service_explains_nothing(actions):
    with pytest.raises(UsageError, match="scores are explained by an engine only"):
        actions.explain("", {"query": "q0", "document": "a", "side": "live", "try": None, "above": False})
