"""Search engines over HTTP whose paths and requests are known: the data, what they may be sent, and what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.refusals import list_problems
from harness.config import Configs
from harness.config.addresses import SERVICES
from harness.errors import SuiteError
from harness.model.request import AddressOrigin, Cluster
from harness.model.run import Failure, FailureKind, Ranking
from harness.model.suite import HttpRequest, Suite
from harness.search.dialects import DIALECTS
from harness.search.jsonpaths import find_path_problem
from harness.search.presets import PRESETS, find_offsets, find_preset_problem
from harness.search.service_answers import read_service_answer
from harness.search.service_documents import explain_unwritable
from harness.search.service_requests import Permissions
from harness.store.what_changed import fingerprint_request
from harness.suites import load_suite

NAMES = sorted(PRESETS)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads a suite of a target and keys of `http`, with a relevance.toml that gives the cluster `solr` its service."""
    monkeypatch.chdir(tmp_path)
    Path("relevance.toml").write_text(
        '[clusters.solr]\nurl = "http://localhost:8983/solr"\nservice = "solr"\n'
        '[clusters.other]\nurl = "http://localhost:9999"\nservice = "http"\n',
        encoding="utf-8",
    )

    def load_with(target: str, http: str, environ: dict[str, str] | None = None, **more: Any) -> Suite:
        text = f"suite: shop\ntarget: {target}\nrequest:\n  http: {http}\n"
        text += "queries:\n  - {id: shoes, text: red shoes, judgments: {a: 1}}\n"
        Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
        return load_suite(Path("shop.relevance.yaml"), environ, configs=Configs(), **more)

    return load_with


SELECT = '{path: /products/select, params: {q: "{{text}}"}}'


def refusals(load: Any, target: str, http: str) -> list[str]:
    return list_problems(load, target, http, {})


def test_a_baseline_knows_the_request_whoever_gave_its_paths(load: Any) -> None:
    """A set has no JSON, and what a preset gives is the request that a suite which spells it out has."""
    given = load("{cluster: solr}", SELECT)
    paths = {key: path for key, path in PRESETS["solr"].defaults.items() if key != "max_size"}
    spelled = json.dumps({"path": "/products/select", "params": {"q": "{{text}}"}, "size": "rows", **paths})
    written = load("{cluster: solr, service: http}", spelled)
    assert fingerprint_request(given, "request") == fingerprint_request(written, "request") is not None


# The data.


def test_each_preset_is_a_service_with_a_dialect() -> None:
    assert ["engine", "http", *PRESETS] == SERVICES
    assert list(DIALECTS) == SERVICES


@pytest.mark.parametrize("name", NAMES)
def test_the_paths_of_a_preset_are_paths(name: str) -> None:
    for key, value in PRESETS[name].defaults.items():
        if key not in ("method", "path", "max_size"):
            assert find_path_problem(value) is None, key


@pytest.mark.parametrize("name", NAMES)
def test_a_suite_needs_no_path_of_a_preset(load: Any, name: str) -> None:
    request = load(f"{{cluster: other, service: {name}}}", SELECT, {}).requests["request"].http

    assert (request.hits, request.ids) == (PRESETS[name].defaults["hits"], PRESETS[name].defaults["ids"])
    assert request.preset_paths == PRESETS[name].defaults.keys() - {"method", "path", "max_size"}


# Whose preset, and what of it.


@pytest.mark.parametrize(
    ("target", "has_preset"),
    [
        ("{cluster: solr}", True),
        ('{cluster: "http://localhost:8983/solr/"}', True),
        ("{cluster: other, service: solr}", True),
        ("{cluster: unknown, service: solr}", True),
        ("{service: solr}", True),
        ("{cluster: other}", False),
        ("{cluster: unknown}", False),
        ("{cluster: solr, service: http}", False),
    ],
)
def test_the_target_gives_the_service_or_else_the_configuration_does(load: Any, target: str, has_preset: bool) -> None:
    if has_preset:
        assert load(target, SELECT, {}).requests["request"].http.took == "$.responseHeader.QTime"
    else:
        assert refusals(load, target, SELECT) == ["4:9 the key 'ids' is missing"]


def test_the_keys_of_a_suite_win(load: Any) -> None:
    http = '{path: /products/select, params: {q: "{{text}}", rows: 20}, ids: $.sku, took: $.ms, size: rows}'

    request = load("{cluster: solr}", http, {}).requests["request"].http
    assert (request.ids, request.took, request.total) == ("$.sku", "$.ms", "$.response.numFound")
    assert request.preset_paths.isdisjoint({"ids", "took"})
    assert "total" in request.preset_paths


def test_a_variable_without_a_value_may_name_a_service_with_a_preset(load: Any) -> None:
    target = "{cluster: '${RELEVANCE_CLUSTER}'}"

    assert load(target, SELECT, None)
    assert load(target, SELECT, {"RELEVANCE_CLUSTER": "solr"}).requests["request"].http.ids == "$.id"


@pytest.mark.parametrize(
    ("http", "size"),
    [
        (SELECT, "rows"),
        ('{method: POST, path: /products/select, json: {query: "{{text}}"}}', "/limit"),
    ],
)
def test_the_number_of_hits_is_a_parameter_or_in_the_body(load: Any, http: str, size: str) -> None:
    assert load("{cluster: solr}", http, {}).requests["request"].http.size == size


@pytest.mark.parametrize(
    ("service", "path", "ids", "text"),
    [
        ("solr", "/products/select", "$.id", "{!terms f=id separator=\x01}{{ids}}"),
        ("solr", "/products/select", "$.sku", "{!terms f=sku separator=\x01}{{ids}}"),
        ("typesense", "/collections/products/documents/search", "$.document.sku", "sku:=[{{ids}}]"),
    ],
)
def test_documents_are_looked_up_in_the_field_of_the_ids(
    load: Any, service: str, path: str, ids: str, text: str
) -> None:
    http = f'{{path: {path}, params: {{q: "{{{{text}}}}"}}, ids: {ids}}}'
    request = load(f"{{service: {service}}}", http, {}).requests["request"].http

    assert text in request.documents.http.params.values()
    assert request.documents.http.ids == ids


@pytest.mark.parametrize(
    ("params", "are_looked_up"),
    [
        ("params: {q: '{{text}}', fq: 'collection:next'}", True),
        ("params: {q: '{{text}}', collection: next}", False),
        ("params: {q: '{{text}}', shards: shard1}", False),
        ("params: {q: '{{text}}', _route_: 'acme!'}", False),
        ("params: {q: '{{text}}', '{{text}}': x}", False),
        ("method: POST, json: {query: '{{text}}', params: {collection: next}}", False),
        ("params: {q: '{{text}}', collection: next}, documents: {params: {q: '{{ids}}'}}", True),
    ],
)
def test_documents_are_not_looked_up_elsewhere_than_the_search_goes(
    load: Any, params: str, are_looked_up: bool
) -> None:
    """A document that the other collection lacks would be taken for one that does not match."""
    http = load("{cluster: solr}", f"{{path: /products/select, {params}}}", {}).requests["request"].http
    assert (http.documents is not None) == are_looked_up


@pytest.mark.parametrize(
    ("service", "path"),
    [
        ("solr", '"/{{text}}/select"'),
        ("solr", '"/products/select?q={{text}}"'),
        ("typesense", "/multi_search"),
        ("typesense", "/other"),
    ],
)
def test_documents_are_not_looked_up_at_another_path(load: Any, service: str, path: str) -> None:
    http = f'{{path: {path}, params: {{q: "{{{{text}}}}"}}}}'

    assert load(f"{{service: {service}}}", http, {}).requests["request"].http.documents is None


@pytest.mark.parametrize(
    ("service", "id"), [("solr", "a\x01b"), ("typesense", "a`b"), ("typesense", "a\\"), ("typesense", " a")]
)
def test_ids_that_would_be_read_otherwise_are_not_sent(load: Any, service: str, id: str) -> None:
    path = "/products/select" if service == "solr" else "/collections/products/documents/search"
    http = (
        load(f"{{service: {service}}}", f'{{path: {path}, params: {{q: "{{{{text}}}}"}}}}', {}).requests["request"].http
    )

    assert explain_unwritable(http.documents, id)
    for readable in ("a,b", 'a"b', "a b", "a'b", "a\\b", "&&", "${x}", "(a]"):
        assert not explain_unwritable(http.documents, readable)


FIELDS = """
display: {title: title, fields: [shop.city]}
expect: ["in_stock = true in top 3", "no repeated brand in top 3"]
"""


@pytest.mark.parametrize(("service", "root"), [("solr", "$"), ("typesense", "$.document"), ("weaviate", "$")])
def test_fields_that_a_suite_names_are_read_in_the_document(load: Any, service: str, root: str) -> None:
    path = "/collections/products/documents/search" if service == "typesense" else "/products/select"
    http = f'{{path: {path}, params: {{q: "{{{{text}}}}"}}, fields: {{brand: $.maker.name}}}}'
    load(f"{{service: {service}}}", http, {})
    suite = Path("shop.relevance.yaml")
    suite.write_text(suite.read_text(encoding="utf-8") + FIELDS, encoding="utf-8")
    request = load_suite(suite, {}).requests["request"].http

    assert request.titles == f"{root}.title"
    assert request.fields == {
        "brand": "$.maker.name",
        "title": f"{root}.title",
        "shop.city": f'{root}["shop.city"]',
        "in_stock": f"{root}.in_stock",
    }
    assert all(find_path_problem(field_path) is None for field_path in request.fields.values())
    if request.documents is not None:
        assert (request.documents.http.fields, request.documents.http.titles) == (request.fields, request.titles)


def test_ids_of_an_unknown_place_are_not_looked_up(load: Any) -> None:
    http = '{path: /products/select, params: {q: "{{text}}"}, ids: "$.variants[0].sku"}'

    assert load("{cluster: solr}", http, {}).requests["request"].http.documents is None


def test_a_search_of_several_has_no_limit_without_a_place_for_the_number(load: Any) -> None:
    http = '{method: POST, path: /multi_search, json: {searches: [{q: "{{text}}"}]}, hits: "$.results[0].hits[*]"}'
    request = load("{service: typesense}", http, {}).requests["request"].http

    assert (request.size, request.max_size, request.ids) == (None, None, "$.document.id")


def test_a_service_of_another_kind_than_the_requests_is_refused(load: Any) -> None:
    assert refusals(load, "{service: engine}", '{path: "/{{text}}", ids: $.ids}') == [
        "2:19 found 'engine', but the requests go over HTTP; write them with 'body' and an index"
    ]
    Path("engine.relevance.yaml").write_text(
        'suite: shop\ntarget: {index: a, service: solr}\nrequest: {query: {match: {t: "{{text}}"}}}\n'
        "queries: [{id: a, text: b, judgments: {c: 1}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(
        SuiteError, match="2:29: found 'solr', but the requests go to an engine; write them with 'http'"
    ):
        load_suite(Path("engine.relevance.yaml"), {})


def test_an_unknown_service_is_refused_with_the_nearest(load: Any) -> None:
    [refusal] = refusals(load, "{service: sorl}", '{path: "/{{text}}", ids: $.id}')
    assert refusal == ("2:19 found 'sorl', expected engine, http, solr, typesense or weaviate; did you mean 'solr'?")


# What is sent.


def test_paths_to_what_an_answer_says_of_itself_change_no_ranking(load: Any) -> None:
    bare = '{path: /find, params: {q: "{{text}}"}, hits: $.hits, ids: $.id}'
    more = bare.replace("ids: $.id", "ids: $.id, took: $.ms, partial: $.part, error: $.error, total_exact: $.exact")
    sorted_by = bare.replace("ids: $.id", "ids: $.id, sort: $.rank")

    before, after, other = [
        fingerprint_request(load("{cluster: other}", http, {}), "request") for http in (bare, more, sorted_by)
    ]
    assert before == after != other


SOLR_SECRETS = [
    ("qt", "/update", "the parameter qt chooses the handler of the request; expected it in the path"),
    ("shards.qt", "/update", "the parameter shards.qt chooses the handler"),
    ("rows.qt", "/update", "the parameter rows.qt chooses the handler"),
    ("stream.url", "http://elsewhere/", "the parameter stream.url makes Solr read from elsewhere"),
    ("stream.body", "<delete/>", "the parameter stream.body makes Solr read from elsewhere"),
    ("rows.stream.file", "/etc/passwd", "the parameter rows.stream.file makes Solr read from elsewhere"),
    ("shards", "elsewhere:8983/solr/a", "the parameter shards may send the request to other servers"),
    ("shards", "${host}", "the parameter shards may send the request to other servers"),
    ("shards", ["shard1", "elsewhere.example"], "the parameter shards may send the request to other servers"),
    ("${a}", "x", "the parameter ${a} takes its name from another one"),
    ("json", '{"params": {"qt": "/update"}}', "the parameter json is a body in the URL"),
    ("wt", "xslt", "the parameter wt chooses another form of the answer"),
    ("%71t", "/update", "the parameter %71t chooses the handler"),
    ("%2571T ", "/update", "the parameter %2571T  chooses the handler"),
    (" shards%01", "elsewhere:8983/solr/a", "the parameter  shards%01 may send the request to other servers"),
    ("json.queries", '{"shards": "elsewhere:8983/solr/a"}', "the parameter json.queries sets other parameters"),
    ("json.queries.shards", '"elsewhere:8983/solr/a"', "the parameter json.queries.shards sets other parameters"),
    ("json.params", '{"qt": "/update"}', "the parameter json.params sets other parameters"),
    ("json.query", '{"join": {"zk\\u0048ost": "a"}}', "the parameter json.query may send the request to other"),
    ("json.query.join.zkHost", '"a"', "the parameter json.query.join.zkHost may send the request to other"),
    ("sync", "elsewhere:8983/solr/a", "the parameter sync makes Solr copy from other servers"),
    ("ie", "UTF-16BE", "the parameter ie spells all others in another character set"),
    ("suggest.build", True, "the parameter suggest.build makes Solr write a dictionary"),
    ("fq", "{!join method=crossCollection zkHost='a' from=b to=c}", "the parameter fq may send the request to other"),
    ("fq", ["a:b", "{!join solrUrl = 'http://a' from=b to=c}"], "the parameter fq may send the request to other"),
    ("q", r'_query_:"{!join zk\u0048ost=\"a\" from=b}"', "the parameter q may send the request to other"),
    ("q", r'a {!lucene v="{!join zk\Host=a}"}', "the parameter q may send the request to other"),
    (
        "q",
        r"a {!lucene v='\\u00\u00348ost {!join zk\u005cu0048ost=a}'}",
        "the parameter q may send the request to other",
    ),
    ("fq", "${a}${b}", "it has ${, for which Solr puts in other parameters"),
]


@pytest.mark.parametrize(("name", "value", "words"), SOLR_SECRETS)
def test_what_leaves_the_search_of_solr_is_refused_wherever_it_stands(name: str, value: Any, words: str) -> None:
    solr = PRESETS["solr"]
    in_params = HttpRequest("GET", "/products/select", "$.id", params={"q": "a", name: value})
    in_body = HttpRequest("POST", "/products/select", "$.id", json={"query": "a", "params": {name: value}})

    assert solr.find_problem(in_params).startswith(words)
    assert solr.find_problem(in_body).startswith(words)
    if isinstance(value, str):
        in_path = HttpRequest("GET", f"/products/select?q=a&{name}={value}", "$.id")
        assert solr.find_problem(in_path).startswith(words)
    permissions = Permissions(Cluster("solr", "http://localhost", service="solr"))
    assert permissions.find_problem(in_params).startswith(words)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", "stream.body=<delete/>"),
        ("shards", "shard1,shard2|shard3"),
        ("shards.tolerant", True),
        ("qf", "title^3 brand"),
        ("f.title.hl.snippets", 3),
        ("json.facet", "{}"),
        ("json.facet", "{brands: {type: terms, field: brand}}"),
        ("json.facet.brands.limit", 3),
        ("json.nl", "map"),
        ("ie", "UTF-8"),
        ("q", "zkHost=localhost:2181 in {solr.xml}"),
        ("fq", "{!join from=id to=parent}brand:a"),
        ("suggest.q", "build"),
        ("wt", "json"),
        ("fq", ["in_stock:true", "price:[1 TO 9]"]),
    ],
)
def test_what_searches_is_not(name: str, value: Any) -> None:
    assert PRESETS["solr"].find_problem(HttpRequest("GET", "/a/select", "$.id", params={name: value})) == ""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "a", "queries": {"shards": "elsewhere:8983/solr/a"}}, "the parameter shards may send the request"),
        ({"query": "a", "queries": {"rows.qt": "/update"}}, "the parameter rows.qt chooses the handler"),
        ({"query": {"join": {"zkHost": "elsewhere", "from": "a"}}}, "zkHost in the body may send the request"),
        ({"query": "a", "filter": [{"join": {"a=b zk\\u0048ost": 1}}]}, "a=b zk\\u0048ost in the body may send"),
        ({"query": "a", "filter": ["b", "{!join solrUrl=http://elsewhere}"]}, "the body may send the request"),
        ({"query": "a", "facet": {"a": {"type": "query", "q": "{!join zkHost=b}"}}}, "the body may send the request"),
        ({"query": "${a}", "params": {"a": "b"}}, "it has ${, for which Solr puts in other parameters"),
        ({"query": "a", "que${b}": {"shards": "a"}}, "it has ${, for which Solr puts in other parameters"),
    ],
)
def test_what_leaves_the_search_of_solr_is_refused_in_its_body(body: Any, words: str) -> None:
    solr = PRESETS["solr"]
    for method in ("GET", "POST"):
        assert solr.find_problem(HttpRequest(method, "/products/select", "$.id", json=body)).startswith(words)


def test_a_suite_with_such_a_body_is_refused_with_its_place(load: Any) -> None:
    start = '{method: POST, path: /products/select, json: {query: "{{text}}", '

    assert refusals(load, "{service: solr}", start + 'queries: {shards: "a:8983/solr/b"}}}') == [
        "4:54 the parameter shards may send the request to other servers; expected names of shards, shard1,shard2"
    ]
    load("{service: solr}", start + 'params: {shards: "{{text}}", wt: json}, filter: ["{{text}}", "a:b"]}}', {})


def test_a_text_with_a_macro_is_sent_where_solr_expands_none() -> None:
    solr = PRESETS["solr"]
    path = "/products/select"
    assert solr.find_problem(HttpRequest("GET", path, "$.id", params={"q": "${a}", "expandMacros": "false"})) == ""
    body = {"query": "${a}", "params": {"expandMacros": False}}
    assert solr.find_problem(HttpRequest("POST", path, "$.id", json=body)) == ""
    for params in ({"expandmacros": "false"}, {"expandMacros": ["false", "true"]}, {"expandMacros": "no"}):
        assert solr.find_problem(HttpRequest("GET", path, "$.id", params={"q": "${a}", **params}))


def test_a_suite_with_such_a_parameter_is_refused_with_its_place(load: Any) -> None:
    http = '{path: /products/select, params: {q: "{{text}}", qt: /update}}'

    assert refusals(load, "{service: solr}", http) == [
        "4:58 the parameter qt chooses the handler of the request; expected it in the path"
    ]


@pytest.mark.parametrize(
    ("http", "place", "problem"),
    [
        (
            '{method: POST, path: /p/select, json: [1, "{{text}}"]}',
            "[1",
            "Solr takes the number of hits at '/limit': '/limit' is no place in the body: there is no 'limit' at its"
            " place",
        ),
        (
            '{path: "/p/select?rows=5", params: {q: "{{text}}"}}',
            '"/p',
            "Solr takes the number of hits at 'rows': the path has the parameter 'rows', which the harness has to"
            " replace; write it under params",
        ),
        (
            '{method: POST, path: /p/select, json: ["{{text}}"], size: /limit}',
            "/limit",
            "'/limit' is no place in the body: there is no 'limit' at its place",
        ),
    ],
)
def test_a_request_without_a_place_for_the_number_of_hits_of_its_preset_is_refused_where_it_is_written(
    load: Any, http: str, place: str, problem: str
) -> None:
    column = len("  http: ") + 1 + http.index(place)
    assert refusals(load, "{cluster: solr}", http) == [f"4:{column} {problem}"]


OFFSETS = [
    ("solr", '{path: /products/select, params: {q: "{{text}}", start: 1}}', "start", 0),
    ("solr", '{path: /products/select, params: {q: "{{text}}", start: "20"}}', "start", 0),
    ("solr", '{path: /products/select, params: {q: "{{text}}", start: [0, 1]}}', "start", 0),
    ("solr", '{path: /products/select, params: {q: "{{text}}", cursorMark: AoE}}', "cursorMark", "*"),
    ("solr", '{path: /products/select, params: {q: "{{text}}", json.offset: 1}}', "json.offset", 0),
    ("solr", '{path: /products/select?start=1, params: {q: "{{text}}"}}', "start", 0),
    ("solr", '{method: POST, path: /p/select, json: {query: "{{text}}", offset: 1}}', "/offset", 0),
    ("solr", '{method: POST, path: /p/select, json: {query: "{{text}}", params: {start: 1}}}', "/params/start", 0),
    ("typesense", '{path: /collections/p/documents/search, params: {q: "{{text}}", page: 2}}', "page", 1),
    ("typesense", '{path: /collections/p/documents/search, params: {q: "{{text}}", offset: 5}}', "offset", 0),
    (
        "typesense",
        '{method: POST, path: /multi_search, hits: "$.results[0].hits",'
        ' json: {searches: [{q: "{{text}}", collection: p, page: 2}]}}',
        "/searches/0/page",
        1,
    ),
]


@pytest.mark.parametrize(("service", "http", "place", "first"), OFFSETS)
def test_a_request_that_skips_hits_is_refused_at_its_place(
    load: Any, service: str, http: str, place: str, first: Any
) -> None:
    [problem] = refusals(load, f"{{cluster: 'http://localhost:1', service: {service}}}", http)
    key = place.rpartition("/")[2]
    value = "/" if "?" in http else key
    column = len("  http: ") + 1 + (http.index("/p") if "?" in http else http.index(f"{key}: ") + len(f"{value}: "))
    remedy = f"remove `{place}`, which skips hits (or set it to {first})"
    assert problem == f"4:{column} a ranking begins at its first hit; {remedy}"


@pytest.mark.parametrize("start", ["0", '"0"', "null", '"${RELEVANCE_START:-0}"', '"${RELEVANCE_START}"'])
def test_a_request_that_begins_at_the_first_hit_is_not(load: Any, start: str) -> None:
    http = f'{{path: /products/select, params: {{q: "{{{{text}}}}", start: {start}, group.offset: 0}}}}'
    assert load("{cluster: solr}", http, None if "RELEVANCE_START}" in start else {}) is not None


def test_an_offset_that_a_query_gives_is_not_sent() -> None:
    http = HttpRequest("GET", "/products/select", "$.id", {"q": "tent", "start": 10})
    assert "remove `start`, which skips hits" in find_preset_problem(PRESETS["solr"], http)
    assert find_preset_problem(PRESETS["typesense"], http) == ""
    again = HttpRequest("POST", "/p/select", "$.id", json={"query": "tent", "offset": 10})
    assert "remove `/offset`, which skips hits" in find_preset_problem(PRESETS["solr"], again)


def permit(service: str, method: str, path: str, origin: AddressOrigin, **more: Any) -> str:
    """Why a request is not sent, empty if it is."""
    cluster = Cluster("c", "http://localhost", service=service, origin=origin, **more)
    refusal = Permissions(cluster).find_refusal(HttpRequest(method, path, "$.id"), may_be_engine=False)
    return "" if refusal is None else "".join(map(str, refusal))


OWN, TRUSTED = AddressOrigin.SUITE, AddressOrigin.CONFIGURATION
SEARCHES = [
    ("solr", "GET", "/products/select"),
    ("solr", "POST", "/products/select"),
    ("solr", "POST", "/solr/products/query"),
    ("typesense", "GET", "/collections/products/documents/search"),
    ("typesense", "POST", "/multi_search"),
    ("weaviate", "POST", "/v1/graphql"),
]


@pytest.mark.parametrize(("service", "method", "path"), SEARCHES)
def test_a_search_is_sent_where_the_configuration_gives_the_service(service: str, method: str, path: str) -> None:
    assert permit(service, method, path, TRUSTED) == ""
    refusal = permit(service, method, path, OWN)
    if method == "GET":
        assert refusal == ""
    else:
        assert refusal.startswith(f"{method} {path} was not sent: the method POST may change data; define the service")
        assert f'service = "{service}")' in refusal
        assert "requests = " not in refusal


@pytest.mark.parametrize("path", ["/admin/collections", "/products/update", "/products/browse", "/solr/admin/cores"])
@pytest.mark.parametrize("origin", [OWN, TRUSTED])
def test_a_get_request_that_may_change_solr_needs_to_be_listed(path: str, origin: AddressOrigin) -> None:
    refusal = permit("solr", "GET", path, origin)

    assert refusal.startswith(f"GET {path} was not sent: a GET request to Solr may change data unless it is a search")
    assert f'`requests = ["GET {path}"]`' in refusal
    assert permit("solr", "GET", path, TRUSTED, requests=(f"GET {path}",)) == ""
    assert permit("http", "GET", path, TRUSTED) == ""


@pytest.mark.parametrize(
    ("service", "method", "path"),
    [
        ("solr", "POST", "/products/update"),
        ("solr", "PUT", "/products/select"),
        ("solr", "POST", "/products/select/update"),
        ("solr", "POST", "/products%2fupdate/select"),
        ("typesense", "POST", "/collections/products/documents"),
        ("weaviate", "POST", "/v1/objects"),
    ],
)
def test_what_is_no_search_is_not_sent(service: str, method: str, path: str) -> None:
    assert "was not sent" in permit(service, method, path, TRUSTED)


# What is read.


def read_answer(name: str, content: Any) -> Any:
    defaults = PRESETS[name].defaults
    paths = {key: value for key, value in defaults.items() if key not in ("method", "path", "max_size")}
    return read_service_answer(content, HttpRequest("GET", "/", **paths, preset_paths=frozenset(paths)))


def test_an_answer_of_solr_is_read() -> None:
    documents = [{"id": "a", "score": 2.5}, {"id": "b", "score": 1.5}]
    header = {"status": 0, "QTime": 3}
    response = {"numFound": 12, "numFoundExact": False, "start": 0, "maxScore": 2.5, "docs": documents}

    ranking = read_answer("solr", {"responseHeader": header, "response": response})
    assert isinstance(ranking, Ranking)
    assert [(hit.id, hit.score) for hit in ranking.hits] == [("a", 2.5), ("b", 1.5)]
    assert (ranking.total, ranking.total_is_lower_bound, ranking.took) == (12, True, 3.0)
    partial = read_answer("solr", {"responseHeader": {**header, "partialResults": True}, "response": response})
    assert partial.kind is FailureKind.PARTIAL
    error = {"responseHeader": {"status": 400}, "error": {"msg": "undefined field nam", "code": 400}}
    assert read_answer("solr", error) == Failure(FailureKind.ERROR, "undefined field nam")
    # Without `score` in `fl`, and before 8.6, which had no numFoundExact.
    old = {"responseHeader": header, "response": {"numFound": 1, "docs": [{"id": "a"}]}}
    assert (read_answer("solr", old).hits[0].score, read_answer("solr", old).total_is_lower_bound) == (None, False)


def test_an_answer_of_typesense_is_read() -> None:
    hits = [{"document": {"id": "a"}, "text_match": 578730123365711993, "text_match_info": {"score": "5787"}}]
    content = {"found": 1, "out_of": 9, "search_time_ms": 4, "search_cutoff": False, "hits": hits}

    ranking = read_answer("typesense", content)
    assert [(hit.id, hit.score) for hit in ranking.hits] == [("a", 578730123365711993)]
    assert (ranking.total, ranking.took) == (1, 4.0)
    assert read_answer("typesense", {**content, "search_cutoff": True}).kind is FailureKind.PARTIAL
    assert read_answer("typesense", {"message": "Not Found"}) == Failure(FailureKind.ERROR, "Not Found")


def test_an_answer_of_weaviate_is_read() -> None:
    objects = [{"sku": "s1", "_additional": {"id": "a", "score": "2.25"}}]

    ranking = read_answer("weaviate", {"data": {"Get": {"Product": objects}}})
    assert [(hit.id, hit.score) for hit in ranking.hits] == [("a", 2.25)]
    errors = [{"locations": [], "message": "no class Prodct", "path": None}]
    for data in (None, {"Get": {"Product": None}}, {"Get": None}):
        answer = read_answer("weaviate", {"data": data, "errors": errors})
        assert answer == Failure(FailureKind.ERROR, "no class Prodct")
    answer = read_answer("weaviate", {"data": {"Get": {"Product": objects}}, "errors": errors})
    assert answer.kind is FailureKind.PARTIAL
    refused = json.loads('{"error": [{"message": "wrong body"}]}')
    assert read_answer("weaviate", refused) == Failure(FailureKind.ERROR, "wrong body")


@pytest.mark.parametrize(
    ("arguments", "variables", "skips"),
    [
        ("limit: 10, offset: 3", {}, True),
        ("offset:2 limit: 10", {}, True),
        ("limit: 10, offset: $first", {"first": 4}, True),
        ("limit: 10, offset: $first", {"first": 0}, False),
        ("limit: 10, offset: 0", {}, False),
        ('bm25: {query: "offset: 3"}', {}, False),
        ('bm25: {query: "5\\" offset: 3"}', {}, False),
        ('bm25: {query: """a "b" offset: 3"""}', {}, False),
        ("limit: 10 # offset: 3", {}, False),
        ('bm25: {query: "a # b"}, offset: 3', {}, True),
    ],
)
def test_graphql_that_skips_hits_is_not_sent_to_weaviate(
    arguments: str, variables: dict[str, int], skips: bool
) -> None:
    query = f"{{Get {{Product({arguments}\n) {{sku _additional {{id}}}}}}}}"
    http = HttpRequest("POST", "/v1/graphql", "$.sku", json={"query": query, "variables": variables})
    assert ("remove `offset`, which skips hits" in find_preset_problem(PRESETS["weaviate"], http)) is skips


# Where a suite says what skips hits.


@pytest.mark.parametrize(
    ("http", "first_page", "places"),
    [
        ({"params": {"offset": "3"}}, {"offset": 0}, ["offset"]),
        ({"params": {"offset": 4}}, {"offset": 0}, ["offset"]),
        ({"params": {"offset": "3.00"}}, {"offset": 0}, ["offset"]),
        ({"params": {"offset": "1e1"}}, {"offset": 0}, ["offset"]),
        ({"params": {"offset": "0.00"}}, {"offset": 0}, []),
        ({"params": {"offset": "inf"}}, {"offset": 0}, []),
        ({"params": {"offset": [0, 2]}}, {"offset": 0}, ["offset"]),
        ({"params": {"p": "0"}}, {"p": 1}, ["p"]),
        ({"params": {"p": 1.0}}, {"p": 1}, []),
        ({"params": {"p": " 2"}}, {"p": 1}, ["p"]),
        ({"path": "/find?skip=20&q=a"}, {"skip": 0}, ["skip"]),
        ({"json": {"page": {"from": 7}}}, {"/page/from": 0}, ["/page/from"]),
        ({"json": {"page": {"from": 0}}}, {"/page/from": 0}, []),
        ({"params": {"from": "Berlin", "start": "2026-01-01"}}, {"from": 0, "start": 0}, []),
        ({"params": {"cursor": "AoE"}}, {"cursor": "*"}, ["cursor"]),
        ({"params": {"offset": "3"}}, None, []),
        ({"params": {"offset": "{{first}}"}}, {"offset": 0}, []),
    ],
)
def test_a_whole_number_past_the_first_page_skips_hits(
    http: dict[str, Any], first_page: dict[str, Any] | None, places: list[str]
) -> None:
    request = HttpRequest("GET", **{"path": "/find", "ids": "$.ids", **http}, first_page=first_page)
    assert find_offsets(request) == places


@pytest.mark.parametrize(("value", "is_refused"), [("Berlin", False), ("2026-01-01", False), ("10", True), (5, True)])
def test_only_a_whole_number_skips_hits_of_a_preset(value: Any, is_refused: bool) -> None:
    request = HttpRequest("GET", "/shop/select", "$.id", {"start": value})
    assert bool(find_preset_problem(PRESETS["solr"], request)) is is_refused


def test_a_request_that_a_hook_made_skip_hits_is_not_sent() -> None:
    request = HttpRequest("GET", "/find", "$.ids", {"skip": 5}, first_page={"skip": 0})
    permissions = Permissions(Cluster("shop", "http://127.0.0.1:9", service="http"))
    assert "a ranking begins at its first hit" in permissions.find_problem(request)
