"""A run with another body of _search in place of that of the suite."""

import copy
import re

import pytest

import harness.search.dialects
from builders.extension_cases import needs_extension
from harness.api import Relevance
from harness.api.choices import merge_options
from harness.errors import InputError, UsageError
from harness.options import RunOptions
from harness.search.testing import FakeSearch

BODY = {"query": {"match": {"body": {"query": "{{text}}", "boost": 2.5}}}, "track_total_hits": True}
TARGET = 'target: {cluster: "http://one:9200", index: products}\n'
REST = """\
suite: small
measures: ["P@1"]
thresholds: ["mean P@1 >= 0.5"]
queries: [{id: q, text: shoe, judgments: {a: 1}}]
"""
ONE = REST + TARGET + 'request: {query: {match: {title: "{{text}}"}}}\n'
WITH_INDEX = REST + TARGET + 'request: {index: other, routing: de, body: {query: {match: {title: "{{text}}"}}}}\n'
NAMED = 'current: {query: {match: {a: "{{text}}"}}}, candidate: {index: new, body: {query: {match: {b: "{{text}}"}}}}'
SEVERAL = REST + TARGET + f"requests: {{{NAMED}}}\n"
OVER_HTTP = REST + 'target: {cluster: "http://one"}\nrequest: {http: {path: "/s?q={{text}}", ids: "$.ids[*]"}}\n'


@pytest.fixture
def search(monkeypatch):
    search = FakeSearch({"q": ["a"]})
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: search)
    return search


@pytest.fixture
def run(tmp_path, search):
    def call(text, **options):
        (tmp_path / "small.relevance.yaml").write_text(text)
        return Relevance(tmp_path, environ={"RELEVANCE_FIELD": "description"}).run("small.relevance.yaml", **options)

    return call


@pytest.mark.parametrize(
    ("text", "request_name", "index", "url_params"),
    [
        (ONE, None, "products", {}),
        (ONE, "request", "products", {}),
        (WITH_INDEX, None, "other", {"routing": "de"}),
        (SEVERAL, None, "products", {}),
        (SEVERAL, "candidate", "new", {}),
    ],
)
def test_the_body_is_sent_for_each_query_and_the_rest_of_the_request_stays(
    run, search, text, request_name, index, url_params
):
    suite_run = run(text, body=BODY, request=request_name)
    [sent] = [request for request in search.requests if request.query == "q"]
    match = {"body": {"query": "shoe", "boost": 2.5}}
    assert sent.body == {"size": sent.body["size"], "query": {"match": match}, "track_total_hits": True}
    assert (sent.index, sent.url_params) == (index, url_params)
    assert suite_run.mean("P@1") == 1.0
    assert suite_run.query("q").sent.body["query"] == {"match": match}


def test_a_request_in_a_file_keeps_its_index_too(run, search, tmp_path):
    (tmp_path / "search.json").write_text('{"index": "other", "body": {"query": {"match": {"title": "{{text}}"}}}}')
    run(REST + TARGET + "request: {file: search.json}\n", body=BODY)
    assert search.requests[-1].index == "other"
    assert search.requests[-1].body["track_total_hits"] is True
    (tmp_path / "search.json").write_text('{"http": {"path": "/s?q={{text}}", "ids": "$.ids[*]"}}')
    with pytest.raises(UsageError, match=r"search\.json:1:1: this request goes over HTTP"):
        run(REST + TARGET + "request: {file: search.json}\n", body=BODY)


def test_the_report_says_so_and_names_no_command_that_would_send_the_suite_s_body(run):
    report = run(SEVERAL, body=BODY).report
    assert "the request current was sent with another body than that of the suite, given in Python" in report.notes
    assert report.searched is None
    assert not any("another body" in note for note in run(SEVERAL).report.notes)


def test_the_body_is_that_of_the_call_though_it_is_changed_later():
    body = copy.deepcopy(BODY)
    options = RunOptions(body=body)
    merged = merge_options(options, {"body": body})
    body["query"].clear()
    assert merged.body == BODY


def test_each_value_of_json_is_sent_as_it_is(run, search):
    values = {"text": "null", "number": "007", "none": None, "yes": True, "no": False, "whole": 3, "part": 0.5,
              "small": 1e-07, "list": [1, [], {}], "tuple": (1, 2), "quoted": 'a "b"\n', "key: {{": "x"}  # fmt: skip
    run(ONE, body={**BODY, "ext": values})
    assert search.requests[-1].body["ext"] == {**values, "tuple": [1, 2]}


def test_numbers_of_numpy_are_numbers(run, search):
    numpy = pytest.importorskip("numpy")
    run(ONE, body={"min_score": numpy.float32(0.5), "from": numpy.int64(0), **BODY})
    assert (search.requests[-1].body["min_score"], search.requests[-1].body["from"]) == (0.5, 0)


def test_variables_are_filled_and_masked_as_in_a_suite(run, search):
    suite_run = run(ONE, body={"query": {"match": {"title": {"query": "{{text}}", "analyzer": "${RELEVANCE_FIELD}"}}}})
    assert search.requests[-1].body["query"]["match"]["title"]["analyzer"] == "description"
    assert "description" not in str(suite_run.report)


CYCLE = {"query": {}}
CYCLE["query"]["bool"] = CYCLE


@pytest.mark.parametrize(
    ("text", "body", "sentence"),
    [
        (ONE, [BODY], "body is of type list, expected the body of _search as a dict or None"),
        (ONE, "{}", "body is the text '{}', expected the body of _search as a dict or None"),
        (ONE, {"http": {"path": "/s"}}, "body has the key 'http', which stands beside a body in a suite; expected the"),
        (ONE, {"index": "a", "body": BODY}, "body has the key 'index', 'body', which stands beside a body"),
        (ONE, {"query": {1: 2}}, "body['query'] has the key 1, expected a text"),
        (ONE, {"query": {"terms": {"tag": {"a"}}}}, "body['query']['terms']['tag'] is of type set, expected a text, a"),
        (ONE, {"min_score": float("nan")}, "body['min_score'] is nan, expected a finite number"),
        (ONE, {"min_score": [0, 10**400]}, "body['min_score'][1] is inf, expected a finite number"),
        (ONE, CYCLE, "body is nested deeper than 64 levels"),
        (
            OVER_HTTP,
            BODY,
            "small.relevance.yaml:6:10: this request goes over HTTP and has no body of _search that body",
        ),
        (REST + TARGET + "request: {index: a, http: {path: /s}}\n", BODY, "this request goes over HTTP"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(run, search, text, body, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        run(text, body=body)
    assert not search.requests


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"query": {"match": {"title": "{{txt}}"}}}, "body['query']['match']['title']: "),
        ({"template": {"id": "a"}, "query": {}}, "body: found 'query' beside 'template'"),
        ({"query": {"match_all": {}}}, "body: this request is the same for every query: expected {{text}} somewhere"),
        ({"size": -1}, "body['size']: "),
        ({"query": {"match": {"title": "${RELEVANCE_LOST}"}}}, "body['query']['match']['title']: the environment"),
    ],
)
def test_what_a_suite_may_not_have_is_told_with_its_place_in_python(run, search, body, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        run(ONE, body=body)
    assert not search.requests


def test_a_request_that_the_suite_lacks_is_told_as_ever(run):
    with pytest.raises(UsageError, match="found no request 'candidat', known are current, candidate; did you mean"):
        run(SEVERAL, body=BODY, request="candidat")


@needs_extension("compare")
def test_runs_with_two_bodies_are_compared(run):
    pytest.importorskip("numpy")
    before = run(ONE)
    after = run(ONE, body=BODY)
    compared = Relevance().compare(before, after)
    assert compared.agreement.queries == 1
    assert compared.report.candidate.name == "small, request request with another body"
    with pytest.raises(UsageError, match="compare takes no body; give what run"):
        Relevance().compare(before, after, body=BODY)
