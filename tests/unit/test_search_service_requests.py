"""What a suite may send to an HTTP service: paths, headers, parameters, and what only the trusted file allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import SuiteError
from harness.model.request import AddressOrigin, Cluster
from harness.model.suite import HttpRequest
from harness.search.service_requests import Permissions, explain_write, find_problem, is_listed
from harness.suites import load_suite
from harness.suites.requests import build_requests

MOVING_PATHS = [
    "/../admin",
    "/search/../../admin",
    "..",
    "/search/..",
    "/search/.",
    "/./search",
    "/%2e%2e/admin",
    "/%2E./admin",
    "/search%2f..%2fadmin",
    "/%252e%252e%252fadmin",
    "/%25252e%25252e/admin",
    "/..\\admin",
    "/search\\..\\admin",
    "/..%5cadmin",
    "/..%255cadmin",
    "/..;/admin",
    "/..;x=1/admin",
    "/..%3b/admin",
    "/.. /admin",
    "/..%20/admin",
    "/..%00/admin",
    "/.%09./admin",
    "/.%0a./admin",
    "/\uff0e\uff0e/admin",
    "/%ef%bc%8e%ef%bc%8e/admin",
    "/..\uff0fadmin",
    "/%c0%ae%c0%ae/admin",
    "http://other.example/search",
    "HTTPS://other.example/",
    "file:/etc/passwd",
    "//other.example/search",
    "\\\\other.example/search",
    "/\\other.example/search",
    "/search#/x",
]
STAYING_PATHS = [
    "search",
    "/search/",
    "/search/tents%20%26%20more",
    "/search/a%2Fb",
    "/search/50%25",
    "/v1.2/search..old",
    "/...",
    "/search;lang=de",
    "/search?q=../x&path=..",
    "/",
    "/search/%E3%82%B7",
    "/lookup/http%3A%2F%2Fshop.example",
]


@pytest.mark.parametrize("path", MOVING_PATHS)
def test_a_path_that_may_leave_the_url_of_the_service(path: str) -> None:
    problem = find_problem(HttpRequest("GET", path, "$.ids"))

    assert problem.startswith("the path ")
    assert "admin" not in problem, "it may have the value of a variable"


@pytest.mark.parametrize("path", STAYING_PATHS)
def test_a_path_that_stays(path: str) -> None:
    assert find_problem(HttpRequest("GET", path, "$.ids")) == ""


METHOD_HEADERS = [
    "X-HTTP-Method-Override",
    "x-http-method-override",
    "X_HTTP_Method_Override",
    "X-Http-Method",
    "X-Method-Override",
    "XHTTPMethodOverride",
    "X-Original-Method",
    "Http-Method",
    "_method",
    "X.HTTP.Method",
]
HOST_HEADERS = ["Host", "host", "HOST", "X-Forwarded-Host", "X_Forwarded_Host", "X-Host", "Forwarded"]
PATH_HEADERS = ["X-Original-URL", "X-Rewrite-URL", "X_Original_URI", "X-Forwarded-Prefix", "X-Forwarded-Path"]
CONNECTION_HEADERS = [
    "Transfer-Encoding",
    "transfer_encoding",
    "Content-Length",
    "CONTENT-LENGTH",
    "Content_Length",
    "Connection",
    "Keep-Alive",
    "Proxy-Connection",
    "Proxy-Authorization",
    "TE",
    "Trailer",
    "Upgrade",
    "HTTP2-Settings",
    "Expect",
]
NO_NAMES = ["Transfer-Encoding ", " Content-Length", "X-A:", "X-A\r\nHost", "Content-Length\x0b", "", "X-Ä"]
HEADERS = [*METHOD_HEADERS, *HOST_HEADERS, *PATH_HEADERS, *CONNECTION_HEADERS, *NO_NAMES]


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_no_suite_may_have(name: str) -> None:
    for method in ("GET", "POST"):
        assert find_problem(HttpRequest(method, "/search", "$.ids", headers={"X-Locale": "de", name: "x"})), method


@pytest.mark.parametrize(
    "name",
    [
        "Accept",
        "Accept-Language",
        "Authorization",
        "Content-Type",
        "Cookie",
        "User-Agent",
        "X-Forwarded-For",
        "X-Tenant",
    ],
)
def test_a_header_of_a_suite(name: str) -> None:
    assert find_problem(HttpRequest("GET", "/search", "$.ids", headers={name: "application/json"})) == ""


@pytest.mark.parametrize("value", ["application/x-www-form-urlencoded", "Multipart/Form-Data; boundary=x"])
def test_a_body_is_not_said_to_be_a_form(value: str) -> None:
    http = HttpRequest("POST", "/search", "$.ids", headers={"content-type": value}, json="&_method=DELETE&")
    assert find_problem(http).startswith("the header content-type says that the body is a form")


@pytest.mark.parametrize("value", ["日本", "€ 12", "\udc80"])
def test_a_value_that_headers_cannot_hold_is_refused(value: str) -> None:
    http = HttpRequest("GET", "/search", "$.ids", headers={"X-Query": value})
    assert find_problem(http).startswith("the header X-Query has a character that headers cannot hold")


METHOD_PARAMETERS = [
    "_method",
    "_METHOD",
    "_Method",
    "__method",
    "_method[]",
    "_method[0]",
    " _method",
    "%5fmethod",
    "%255Fmethod",
    "$method",
    "$httpMethod",
    "http_method",
    "httpMethod",
    "X-HTTP-Method-Override",
    "x-http-method",
    "methodOverride",
    "\uff3fmethod",
]


@pytest.mark.parametrize("name", METHOD_PARAMETERS)
def test_a_parameter_in_place_of_the_method(name: str) -> None:
    requests = [
        HttpRequest("POST", "/search", "$.ids", params={"q": "x", name: "DELETE"}),
        HttpRequest("POST", "/search", "$.ids", json={"q": "x", name: "DELETE"}),
        HttpRequest("POST", f"/search?q=x&{name}=DELETE", "$.ids"),
        HttpRequest("POST", f"/search?{name}", "$.ids"),
        HttpRequest("POST", f"/search?q=x;{name}=DELETE", "$.ids"),
    ]
    for http in requests:
        assert "may replace the method" in find_problem(http), http


@pytest.mark.parametrize(
    "name", ["method", "shipping_method", "payment-method", "methods", "q", "filter[method]", "_source"]
)
def test_a_parameter_of_a_search(name: str) -> None:
    assert find_problem(HttpRequest("GET", "/search", "$.ids", params={name: "x"}, json={name: "x"})) == ""


@pytest.mark.parametrize(
    "path",
    [
        "/_search",
        "shop/%5fsearch",
        "shop/%255Fsearch",
        "shop%2f_search",
        "shop\\_close",
        "a/%20_close",
        "a/\uff3fclose",
    ],
)
def test_a_name_of_an_engines_interface(path: str) -> None:
    assert explain_write(HttpRequest("GET", path, "$.ids")).startswith("the path has ")


@pytest.mark.parametrize("path", ["/search", "/a_b/search", "/search?_source=x", "/a/b%5f"])
def test_no_name_of_an_engines_interface(path: str) -> None:
    assert explain_write(HttpRequest("GET", path, "$.ids")) == ""


LISTED = ["POST /indexes/*/search", "GET /shop/_search", "PUT /a*z"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/indexes/shop/search"),
        ("POST", "indexes/shop/search?q=1"),
        ("POST", "/indexes//shop/search/"),
        ("POST", "/indexes/red%20shoes/search"),
        ("GET", "/shop/_search"),
        ("GET", "/shop/%5Fsearch"),
        ("PUT", "/abcz"),
    ],
)
def test_a_listed_request(method: str, path: str) -> None:
    assert is_listed(HttpRequest(method, path, "$.ids"), LISTED)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/indexes/shop/search"),
        ("POST", "/indexes/shop/books/search"),
        ("POST", "/indexes/shop%2Fbooks/search"),
        ("POST", "/indexes/shop%252Fbooks/search"),
        ("POST", "/indexes/shop%2Fsearch"),
        ("POST", "/indexes%252Fshop/search"),
        ("POST", "/indexes\\shop\\search"),
        ("POST", "/indexes/shop\uff0fsearch"),
        ("POST", "/indexes/shop/search%2F"),
        ("POST", "/indexes/shop/%2573earch"),
        ("POST", "/indexes/shop/\uff53earch"),
        ("POST", "/indexes//search"),
        ("POST", "/indexes/;x/search"),
        ("POST", "/indexes/a%3Fb/search"),
        ("POST", "/indexes/a%23b/search"),
        ("POST", "/indexes/shop/search/all"),
        ("POST", "/api/indexes/shop/search"),
        ("POST", "/indexes/shop/Search"),
        ("POST", "/indexes/shop/search;x"),
        ("POST", "/"),
        ("PUT", "/az"),
        ("PUT", "/a/z"),
    ],
)
def test_a_request_that_is_not_listed(method: str, path: str) -> None:
    assert not is_listed(HttpRequest(method, path, "$.ids"), LISTED)


@pytest.mark.parametrize(
    ("path", "params", "words"),
    [
        ("/solr/admin/collections", {"action": "DELETE", "name": "shop"}, "the path has admin with a parameter action"),
        ("/solr/admin/cores?action=UNLOAD&core=shop", {}, "the path has admin with a parameter action"),
        ("/solr/shop/replication", {"command": "fetchindex"}, "the path has replication with a parameter"),
        ("/solr/shop/dataimport", {"Command": "full-import"}, "the path has dataimport with a parameter"),
        ("/solr/shop/update", {"stream.body": "<delete/>"}, "it has the parameter stream.body"),
        ("/admin/cores?a%63tion=UNLOAD&core=shop", {}, "the path has admin with a parameter action"),
        ("/admin/cores?a%2563tion=UNLOAD&core=shop", {}, "the path has admin with a parameter action"),
        ("/admin;y/cores", {"action": "UNLOAD"}, "the path has admin with a parameter action"),
        ("/%61dmin%20;y=1/cores", {"action": "UNLOAD"}, "the path has admin with a parameter action"),
        ("/admin/cores", {"action ": "UNLOAD"}, "the path has admin with a parameter action"),
        ("/admin/cores?action%01=UNLOAD", {}, "the path has admin with a parameter action"),
        ("/admin/cores", {"ie": "UTF-16BE"}, "it has the parameter ie"),
        ("/shop/update?stre%61m.body=x", {}, "it has the parameter stream.body"),
        ("/shop/update", {" stream.body": "x"}, "it has the parameter stream.body"),
        ("/shop/update", {"optimize": True}, "the path has update with a parameter optimize"),
        ("/shop/stream", {"expr": "delete(shop, …)"}, "the path has stream with a parameter expr"),
        ("/shop/get", {"getVersions": 9, "sync": "a:8983/solr/b"}, "the path has get with a parameter sync"),
        ("/shop/import", {"command": "full-import"}, "it has the parameter command"),
        ("/shop/select", {"shards": "a", "shards.qt": "/admin/cores"}, "it has the parameter shards.qt"),
        ("/shop/select", {"json.queries": '{"shards.qt": "/admin/cores"}'}, "it has the parameter json.queries"),
    ],
)
def test_a_command_to_solr_in_a_get_request_may_change_data(path: str, params: dict[str, Any], words: str) -> None:
    assert explain_write(HttpRequest("GET", path, "$.ids", params=params)).startswith(words)


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/admin/search", {"q": "a"}),
        ("/search", {"action": "find"}),
        ("/live-stream.body", {"stream": "a"}),
        ("/update/search", {"ie": "UTF-8", "qt": "dismax", "command": "find"}),
    ],
)
def test_what_looks_like_a_command_to_solr_is_none(path: str, params: dict[str, Any]) -> None:
    assert explain_write(HttpRequest("GET", path, "$.ids", params=params)) == ""


@pytest.mark.parametrize("service", ["http", "solr"])
@pytest.mark.parametrize("body", [{"delete": {"query": "*:*"}}, {}, "", [], False, 0])
def test_a_get_request_with_a_body_may_change_data(service: str, body: Any) -> None:
    http = HttpRequest("GET", "/products/update?commit=true", "$.ids", json=body)
    assert explain_write(http) == "a GET request with a body may change data"
    for origin in AddressOrigin:
        cluster = Cluster("shop", "http://localhost", service=service, origin=origin)
        assert Permissions(cluster).find_refusal(http, may_be_engine=False) is not None
        assert Permissions(cluster, allows_writes=True).find_refusal(http, may_be_engine=False) is None
    listed = Cluster("shop", "http://localhost", origin=AddressOrigin.CONFIGURATION, requests=("GET /products/update",))
    assert Permissions(listed).find_refusal(http, may_be_engine=True) is None


class TestSuites:
    """`relevance validate` and a run load a suite in the same way."""

    @staticmethod
    def load(folder: Path, http: str, query: str = "text: tents") -> Any:
        path = folder / "shop.relevance.yaml"
        path.write_text(
            f"suite: shop\ntarget: {{cluster: api}}\nrequest:\n  http:\n    ids: $.ids\n    {http}\n"
            f"measures: [nDCG@5]\nqueries:\n  - {{id: tents, {query}, judgments: {{sku-1: 1}}}}\n",
            encoding="utf-8",
        )
        return load_suite(path, {"RELEVANCE_PART": "x/../y"})

    @pytest.mark.parametrize(
        ("http", "place", "words"),
        [
            ('path: "/../{{text}}"', (6, 11), "the path may leave the URL of the service"),
            ('path: "/{{text}}/${RELEVANCE_PART}"', (6, 11), "the path may leave the URL of the service"),
            ('path: "/{{text}}"\n    headers: {X: a, Host: b}', (7, 21), "the header Host may choose another host"),
            ('path: "/{{text}}"\n    params: {a: 1, _method: b}', (7, 20), "the parameter _method may replace"),
            ('path: "/{{text}}"\n    json: {_method: b}', (7, 12), "the parameter _method may replace"),
        ],
    )
    def test_a_request_that_none_may_have(self, http: str, place: tuple[int, int], words: str, tmp_path: Path) -> None:
        with pytest.raises(SuiteError) as caught:
            self.load(tmp_path, http)
        [problem] = caught.value.problems
        assert problem.message.startswith(words)
        assert (problem.line, problem.column) == place

    @pytest.mark.parametrize(
        ("http", "query"),
        [
            ('path: "/search/{{text}}"', 'text: ".."'),
            ('path: "/search/{{text}}"', "text: a/../../b"),
            ('path: "/search/{{text}}"', "text: ..%2fb"),
            ('path: "/search/{{text}}"', "text: ..;b"),
            ('path: "{{text}}"', 'text: "."'),
            ('path: "/{{text}}/{{a}}"', 'text: x, params: {a: ".."}'),
        ],
    )
    def test_a_value_of_a_query_does_not_leave_either(self, http: str, query: str, tmp_path: Path) -> None:
        suite = self.load(tmp_path, http, query)
        with pytest.raises(SuiteError, match="cannot be filled for query 'tents': the path may leave the URL"):
            build_requests(suite, None)

    @pytest.mark.parametrize("text", ["'and/or'", "'50% off; today?'", "'AC\\DC'", "'...'", "'größe & more'"])
    def test_other_values_are_filled(self, text: str, tmp_path: Path) -> None:
        suite = self.load(tmp_path, 'path: "/search/{{text}}"', f"text: {text}")
        [request] = build_requests(suite, None)
        assert request.http is not None
