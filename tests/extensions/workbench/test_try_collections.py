"""Collections that texts inside a request name: only those of the suite's own requests may be searched."""

import json
from contextlib import contextmanager

import pytest

pytest.importorskip("pytest_httpserver")

from werkzeug import Response

from extensions.workbench.builders.tried_shop import begin, open_actions, send
from harness.extensions.workbench.named_indexes import list_named_indexes
from harness.local_server import RefusedAction

GRAPHQL = """\
suite: shop
target: {cluster: shop}
measures: [P@1]
depth: 5
request:
  http:
    method: POST
    path: /v1/graphql
    json:
      variables: {text: "{{text}}"}
      query: |
        query search($text: String!) {
          Get {
            Products(bm25: {query: $text, properties: ["title^3"]}, limit: 5) { sku title }
          }
        }
    hits: $.data.Get.Products
    ids: $.sku
queries:
  - {id: q0, text: q0, judgments: {a: 1}}
"""

TYPESENSE = """\
suite: shop
target: {cluster: shop}
measures: [P@1]
depth: 5
request:
  http:
    path: /search
    params: {q: "{{text}}", filter_by: "$stock(left:>0)", weights: "3"}
    hits: $.data.Get.Products
    ids: $.sku
queries:
  - {id: q0, text: q0, judgments: {a: 1}}
"""


@contextmanager
def open_service(httpserver, folder, suite):
    asked = []

    def answer(request):
        asked.append(request.get_data(as_text=True) or request.full_path)
        body = {"data": {"Get": {"Products": [{"sku": "a", "title": "A"}]}}}
        return Response(json.dumps(body), content_type="application/json")

    for path in ("/v1/graphql", "/search"):
        httpserver.expect_request(path).respond_with_handler(answer)
    config = folder / "relevance.toml"
    reads = 'requests = ["POST /v1/graphql"]'
    config.write_text(f'[clusters.shop]\nurl = "{httpserver.url_for("")}"\nservice = "http"\n{reads}\n')
    path = folder / "shop.relevance.yaml"
    path.write_text(suite)
    with open_actions(path, None, run={"config": config}) as actions:
        asked.clear()
        yield actions, asked


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Products(", "Secrets(", "Secrets"),
        ("Get {", "Get { Secrets(limit: 1) { sku }", "Secrets"),
        ("Get {", "Get { Secrets { sku }", "Secrets"),
        ("Get {", "Get { # Products\n Products: Secrets(limit: 1) { sku } }  Get {", "Secrets"),
        ("Get {", "Explore(limit: 1) { beacon }  Get {", "Explore"),
        ("Get {", "Aggregate { Products { meta { count } } }  Get {", "Aggregate"),
        ("sku title", "sku title ... on Secrets { key }", "Secrets"),
        ("sku title", "sku title owner { ... on secrets { key } }", "secrets"),
        ("Get {", "users { name }  Get {", "users"),
    ],
)
def test_another_collection_in_graphql_is_refused(httpserver, tmp_path, old, new, found):
    with open_service(httpserver, tmp_path, GRAPHQL) as (actions, asked):
        text = actions.show_session("", {})["text"]
        with pytest.raises(RefusedAction) as refused:
            begin(actions, text.replace(old, new.replace("\n", "\n          ")))
        assert f"found {found!r}, which searches another index" in refused.value.answer["error"]
        assert refused.value.answer["line"] == 6
        assert asked == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title^3", "title^6"),
        ("limit: 5", 'limit: 4, where: {operator: Equal, path: ["brand"], valueText: "Secrets { sku }"}'),
        ("sku title", "sku title _additional { score }"),
        ("sku title", "sku title  # not of Secrets { sku }"),
    ],
)
def test_the_same_collection_in_graphql_is_searched(httpserver, tmp_path, old, new):
    with open_service(httpserver, tmp_path, GRAPHQL) as (actions, asked):
        _, last = send(actions, actions.show_session("", {})["text"].replace(old, new))
        assert (last["error"], len(asked)) == (None, 1)
        assert new in json.loads(asked[0])["query"]


@pytest.mark.parametrize("param", ['filter_by: "$secrets(key:*)"', 'include_fields: "$ secrets(*), $secrets (*)"'])
def test_another_collection_of_a_join_is_refused(httpserver, tmp_path, param):
    with open_service(httpserver, tmp_path, TYPESENSE) as (actions, asked):
        text = actions.show_session("", {})["text"].replace('filter_by: "$stock(left:>0)"', param)
        with pytest.raises(RefusedAction) as refused:
            begin(actions, text)
        assert "found 'secrets', which searches another index" in refused.value.answer["error"]
        assert asked == []


def test_the_join_of_the_suite_is_changed(httpserver, tmp_path):
    with open_service(httpserver, tmp_path, TYPESENSE) as (actions, asked):
        _, last = send(actions, actions.show_session("", {})["text"].replace("left:>0", "left:>5"))
        assert (last["error"], len(asked)) == (None, 1)


@pytest.mark.parametrize(
    ("key", "text", "names"),
    [
        ("query", "red shoes", []),
        ("query", "{!edismax qf='title^3'}{{text}}", []),
        ("query", '{ Get { A(q: """ B { """) { x } } }', ["Get", "A"]),
        ("json.query", "{ b: products { x } }", ["products"]),
        ("yql", "select * from a where b contains 'c'", ["a"]),
        ("yql", "select * from sources a, b limit 5", ["a", "b"]),
        ("q", "from a where", []),
        ("price", "costs $5", []),
    ],
)
def test_the_names_in_a_text(key, text, names):
    assert list(list_named_indexes(key, text)) == names
