"""`url_params` and `routing` of a request: read from a suite, filled for each query, and sent."""

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from builders.engine import ScriptedEngine, item_of
from harness.cli import main
from harness.errors import SuiteError
from harness.search.msearch import HEADER_PARAMS, make_entry
from harness.store.what_changed import build_request_json, fingerprint_request
from harness.suites import load_suite
from harness.suites.requests import build_requests

SUITE = """\
suite: shop
target: {{index: products}}
request:
{beside}
  body:
    query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= 0.5"]
queries:
  - {{id: shoes, text: red shoes, params: {{shop: north}}, judgments: {{a: 3}}}}
  - {{id: boots, text: rubber boots, params: {{shop: south}}, judgments: {{d: 3}}}}
"""
ROUTED = (
    '  routing: "{{shop}}"\n  url_params: {preference: _local, request_cache: false, expand_wildcards: [open, hidden]}'
)
BY_ITSELF = '  routing: "{{shop}}"\n  url_params: {batched_reduce_size: 5}'


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(beside):
        Path("shop.relevance.yaml").write_text(SUITE.format(beside=beside), encoding="utf-8")
        return Path("shop.relevance.yaml")

    return write


def make_header(request):
    return json.loads(make_entry(0, request).lines.splitlines()[0])


def test_they_are_filled_for_each_query_and_go_into_the_header_of_an_msearch(shop):
    suite = load_suite(shop(ROUTED), {})
    first, second = build_requests(suite, None)
    own = {"preference": "_local", "request_cache": "false", "expand_wildcards": "open,hidden"}
    assert first.url_params == {**own, "routing": "north"}
    assert second.url_params == {**own, "routing": "south"}
    harness = {"allow_partial_search_results": False}
    assert make_header(first) == {**harness, **own, "routing": "north"}


def test_an_msearch_carries_what_both_engines_take(shop):
    assert all(
        make_entry(0, replace(one, url_params={name: "x"})).path == ""
        for name in HEADER_PARAMS
        for one in build_requests(load_suite(shop(ROUTED), {}), None)
    )


def test_a_baseline_keeps_them_and_sees_that_they_changed(shop):
    before = load_suite(shop(ROUTED), {})
    assert build_request_json(before, "request")["url_params"]["routing"] == "{{shop}}"
    after = load_suite(shop(ROUTED.replace("_local", "_only_local")), {})
    assert fingerprint_request(before, "request") != fingerprint_request(after, "request")


def test_a_value_of_the_environment_is_kept_by_its_name(shop):
    suite = load_suite(
        shop('  routing: "${RELEVANCE_TENANT_TOKEN}"\n  url_params: {preference: "{{shop}}"}'),
        {"RELEVANCE_TENANT_TOKEN": "hunter2hunter2"},
    )
    assert build_request_json(suite, "request")["url_params"] == {
        "preference": "{{shop}}",
        "routing": "${RELEVANCE_TENANT_TOKEN}",
    }
    assert build_requests(suite, None)[0].url_params == {"preference": "north", "routing": "hunter2hunter2"}


REFUSED = {
    "routing: north\n  url_params: {routing: south}": "found 'routing' here and in 'url_params', expected one of them",
    "url_params: {index: other}": "found 'index' in 'url_params', expected it beside them",
    "url_params: {typed_keys: true}": "'typed_keys' changes the form of the answer, which the harness reads; remove it",
    "url_params: {filter_path: hits}": "'filter_path' changes the form of the answer",
    "url_params: {scroll: 1m}": "'scroll' changes the form of the answer",
    "url_params: {format: yaml}": "'format' changes the form of the answer",
    "url_params: {allow_partial_search_results: true}": "is the harness's own: it sends false",
    "url_params: {size: 5}": "'size' is a part of the body of _search; write it there",
    "url_params: {_source_includes: title}": "'_source_includes' is a part of the body of _search",
    "url_params: {q: shoes}": "'q' belongs to a query in the URL; write query_string in the body",
    "url_params: {preference: {a: 1}}": "the parameter 'preference' should be a text, a number, true, false, or a list",
    "url_params: {preference: []}": "the parameter 'preference' should be a text",
    'url_params: {preference: "{{shp}}"}': "unknown placeholder {{shp}}",
}


@pytest.mark.parametrize("beside", REFUSED)
def test_what_cannot_be_a_parameter_is_refused_where_it_stands(shop, beside):
    with pytest.raises(SuiteError) as caught:
        load_suite(shop(f"  {beside}"), {})
    [problem, *_] = caught.value.problems
    assert REFUSED[beside] in problem.message
    assert (problem.line, problem.column > 1) in ((4, True), (5, True))


def test_an_http_service_has_its_own_params(shop):
    path = shop("  routing: north")
    path.write_text(
        path.read_text().replace("body:", "http: {path: /search, ids: $.ids, params: {q: '{{text}}'}}\n  xx:")
    )
    with pytest.raises(SuiteError, match="'routing' and 'url_params' need an engine"):
        load_suite(path, {})


class SingleSearches(ScriptedEngine):
    """Answers `_search` too, and keeps what it was asked there; *statuses* come before answers."""

    def __init__(self):
        super().__init__()
        self.searches = []
        self.statuses = []

    def reply(self, method, path, body):
        if "/_search" not in path:
            return super().reply(method, path, body)
        asked = json.loads(body)
        self.searches.append((urlsplit(path).path, parse_qs(urlsplit(path).query), asked))
        if self.statuses:
            return self.statuses.pop(0), {"error": {"type": "busy", "reason": "too many requests"}, "status": 429}
        answer = item_of(self.rankings[asked["query"]["match"]["title"]], size=asked["size"])
        return 200, {name: value for name, value in answer.items() if name != "status"}


@pytest.fixture
def engine():
    with SingleSearches() as server:
        yield server


def test_what_an_msearch_cannot_carry_goes_by_itself_and_the_report_says_so(shop, engine, capsys):
    shop(BY_ITSELF)
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--json"]) == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert [query["scores"]["nDCG@10"] for query in suite["queries"]] == pytest.approx([1, 0.6309], abs=1e-4)
    assert suite["notes"][0] == (
        "each query is sent by itself with _search, as _msearch does not take batched_reduce_size"
    )
    found = {
        query["match"]["title"]: (path, params) for path, params, body in engine.searches for query in [body["query"]]
    }
    assert found["red shoes"] == (
        "/products/_search",
        {
            "allow_partial_search_results": ["false"],
            "preference": ["relevance-harness"],
            "routing": ["north"],
            "batched_reduce_size": ["5"],
        },
    )
    assert found["rubber boots"][1]["routing"] == ["south"]


def test_a_search_by_itself_is_retried_and_read_like_others(shop, engine, capsys):
    shop(BY_ITSELF)
    engine.statuses = [429]
    assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 0
    assert len(engine.searches) >= 3
    engine.statuses = [400] * 2
    assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 3
    assert "too many requests" in capsys.readouterr().out
