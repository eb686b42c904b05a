"""A request may have a target of its own: its keys take the place of those of the suite's target."""

import pytest

from harness.errors import SuiteError
from harness.model.suite import Target
from harness.run.connections import move_to_target
from harness.suites import load_suite
from harness.suites.requests import build_requests

SUITE = """\
suite: shop
target: {{{suite_target}}}
requests:
  es: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  other: {{target: {{{target}}}, {request}}}
{more}queries: [{{id: q1, text: shoes, judgments: {{a: 1}}}}]
"""
BODY = 'body: {query: {match: {name: "{{text}}"}}}'
HTTP = 'http: {path: "/find", params: {q: "{{text}}"}, ids: "$.hits[*].id"}'


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load_text(target, request=BODY, suite_target="cluster: es, index: products", more="", environ=None):
        text = SUITE.format(suite_target=suite_target, target=target, request=request, more=more)
        (tmp_path / "shop.relevance.yaml").write_text(text)
        return load_suite(tmp_path.joinpath("shop.relevance.yaml").relative_to(tmp_path), environ)

    return load_text


def drop_mark(target):
    return Target(**{name: getattr(target, name) for name in Target.__slots__ if name != "mark"})


def test_a_request_without_a_target_has_that_of_the_suite(load):
    suite = load("cluster: solr", HTTP)
    assert suite.requests["es"].target is None
    assert suite.find_target("es") is suite.find_target(None) is suite.target


@pytest.mark.parametrize(
    ("suite_target", "target", "merged"),
    [
        ("cluster: es, index: products", "cluster: os", Target("os", "products")),
        ("cluster: es, index: products", "index: copy", Target("es", "copy")),
        ("index: products", "engine: opensearch 2.19", Target("default", "products", "opensearch 2.19")),
        ("index: p, engine: opensearch 2.19", "cluster: default", Target("default", "p", "opensearch 2.19")),
        (
            "cluster: es, index: p, ids: unique, id_field: sku, point_in_time: true",
            "cluster: os, ids: per_index, point_in_time: false",
            Target("os", "p", id_field="sku"),
        ),
        # What the suite says of its server is not said of another.
        ("cluster: es, index: p, engine: elasticsearch 9.4.3", "cluster: os", Target("os", "p")),
        (
            "cluster: es, index: p, engine: elasticsearch 9.4.3",
            "cluster: es, point_in_time: true",
            Target("es", "p", "elasticsearch 9.4.3", point_in_time=True),
        ),
        ("cluster: es", "index: copy", Target("es", "copy")),
    ],
)
def test_the_keys_of_a_requests_target_override_those_of_the_suites(load, suite_target, target, merged):
    if "index" not in suite_target:
        suite_target += ", index: x"
    suite = load(target, suite_target=suite_target)
    assert drop_mark(suite.find_target("other")) == merged
    assert drop_mark(move_to_target(suite, "other").target) == merged
    assert suite.find_target("es") == suite.target
    assert move_to_target(suite, "other").find_target("es") == suite.target


def test_a_request_over_http_takes_nothing_over_that_is_for_an_engine(load):
    suite = load("cluster: solr", HTTP, "index: p, ids: unique, id_field: sku, point_in_time: true")
    # A service may return a document twice, as an engine may.
    assert drop_mark(suite.find_target("other")) == Target("solr", service="http", unique_ids=True)
    assert drop_mark(suite.find_target("es")) == Target(
        "default", "p", unique_ids=True, id_field="sku", point_in_time=True
    )
    moved = move_to_target(suite, "other")
    [request] = build_requests(moved, "other")
    assert (request.index, request.id_field, request.http.params) == (None, None, {"q": "shoes"})


def test_a_suite_over_http_may_have_a_request_for_an_engine(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(f"""\
suite: shop
target: {{cluster: app}}
requests:
  engine: {{target: {{cluster: es, index: products}}, {BODY}}}
  app: {{{HTTP}}}
queries: [{{id: q1, text: shoes, judgments: {{a: 1}}}}]
""")
    suite = load_suite(path, None)
    assert (suite.target.service, suite.find_target("engine").service) == ("http", "engine")


def test_the_only_request_may_have_the_target_of_the_suite(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(f"""\
suite: shop
request: {{target: {{cluster: app}}, {HTTP}}}
queries: [{{id: q1, text: shoes, judgments: {{a: 1}}}}]
""")
    assert drop_mark(load_suite(path, None).find_target(None)) == Target("app", service="http")


def test_the_index_of_a_requests_target_is_searched_in_place_of_that_of_the_fixture(load, tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": "a"}\n')
    suite = load("cluster: os, index: there", suite_target="cluster: es", more="fixture: {documents: docs.jsonl}\n")
    moved = move_to_target(suite, "other")
    assert [request.index for request in build_requests(moved, "other")] == ["there"]
    assert moved.fixture is not None


def test_a_request_over_http_does_not_search_the_fixture(load, tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": "a"}\n')
    suite = load("cluster: app", HTTP, suite_target="cluster: es", more="fixture: {documents: docs.jsonl}\n")
    assert move_to_target(suite, "other").fixture is None
    assert move_to_target(suite, "es").fixture == suite.fixture


def test_a_request_has_the_preset_of_its_own_target(load):
    request = 'http: {path: "/solr/shop/select", params: {q: "{{text}}"}}'
    suite = load("cluster: app, service: solr", request)
    assert suite.find_target("other").service == "solr"
    assert suite.requests["other"].http.hits == "$.response.docs[*]"


def test_what_a_suite_over_http_says_of_its_service_is_not_said_of_another_cluster(tmp_path):
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(f"""\
suite: shop
target: {{cluster: one, service: solr}}
requests:
  one: {{http: {{path: "/solr/shop/select", params: {{q: "{{{{text}}}}"}}}}}}
  same: {{target: {{cluster: one}}, http: {{path: "/solr/new/select", params: {{q: "{{{{text}}}}"}}}}}}
  app: {{target: {{cluster: app}}, {HTTP}}}
  es: {{target: {{cluster: es, index: products}}, {BODY}}}
queries: [{{id: q1, text: shoes, judgments: {{a: 1}}}}]
""")
    suite = load_suite(path, None)
    services = {name: suite.find_target(name).service for name in suite.requests}
    assert services == {"one": "solr", "same": "solr", "app": "http", "es": "engine"}
    assert suite.requests["same"].http.hits == suite.requests["one"].http.hits
    assert suite.requests["app"].http.hits is None


REFUSED = {
    "service of a request to an engine": (
        "cluster: app, service: solr",
        BODY,
        "5:43: found 'solr', but the requests go to an engine; write them with 'http'",
    ),
    "unknown key": ("clustr: app", HTTP, "5:20: unknown key 'clustr'"),
    "no key of a target": ("http: 3", HTTP, "5:20: unknown key 'http'"),
    "two indexes": (
        "index: a",
        "index: b, body: {query: {match_all: {}}}",
        "5:27: found 'index' here and beside the request's 'target', expected one of them",
    ),
    "index of a service": (
        "cluster: app, index: a",
        HTTP,
        "5:34: 'index' needs an engine, but the request 'other' goes over HTTP; remove it",
    ),
    "point in time of a service": (
        "cluster: app, point_in_time: true",
        HTTP,
        "5:34: 'point_in_time' needs an engine, but the request 'other' goes over HTTP; remove it",
    ),
    "login in a URL": ("cluster: 'http://me:pass@app'", HTTP, "5:29: a URL must not contain a login"),
    "engine without a version": ("engine: solr", BODY, "5:28: found 'solr'"),
    "service on the cluster of an engine": (
        "cluster: es",
        HTTP,
        "5:10: the request 'other' goes over HTTP and 'es' to an engine, both to the cluster 'es'; expected 'target: "
        "{cluster: NAME}' in one of them",
    ),
    "point in time of a search template": (
        "point_in_time: true",
        "body: {template: {id: t, params: {q: '{{text}}'}}}",
        "5:10: 'point_in_time' in the target: the request 'other' is a search template",
    ),
}


@pytest.mark.parametrize(("target", "request_text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_wrong_in_a_target_is_told_with_its_place(load, target, request_text, message):
    with pytest.raises(SuiteError) as caught:
        load(target, request_text)
    assert message in str(caught.value)


def test_a_request_without_an_index_in_any_target_is_told_by_its_target(load):
    with pytest.raises(SuiteError) as caught:
        load("cluster: os", suite_target="cluster: es")
    assert "2:1: the request 'es' has no index" in str(caught.value)


def test_a_login_is_not_sent_to_an_address_of_one_request(load, tmp_path):
    (tmp_path / "relevance.toml").write_text(
        'variables = ["SHOP_TOKEN"]\n[clusters.es]\nurl = "http://es"\n[clusters.app]\nurl = "http://app"\n'
    )
    request = HTTP.replace('q: "{{text}}"', 'q: "{{text}}", token: "${SHOP_TOKEN}"')
    environ = {"SHOP_TOKEN": "s3cret"}
    load("cluster: app", request, environ=environ)
    with pytest.raises(SuiteError) as caught:
        load("cluster: 'http://theirs'", request, environ=environ)
    assert "SHOP_TOKEN is named like a login, and the suite sends it to an address of its own" in str(caught.value)
    assert "s3cret" not in str(caught.value)
