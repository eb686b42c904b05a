"""Requests are filled structurally: a value keeps its type, and nothing in it is ever read as structure."""

import pytest

from builders.suites import make_suite
from harness.errors import SuiteError
from harness.model.suite import HttpRequest, Query, RequestTemplate
from harness.suites.placeholders import fill
from harness.suites.requests import build_requests


def make_suite_with(*templates, queries=(), **fields):
    """A suite with the requests *templates*."""
    requests = {template.name: template for template in templates}
    return make_suite(*(queries or [Query("q1", "red shoes")]), requests=requests, **fields)


def body_of(template, text="red shoes", **params):
    query = Query("q1", text, params=params)
    (request,) = build_requests(make_suite_with(RequestTemplate("current", template), queries=(query,)), None)
    return request.body


@pytest.mark.parametrize("value", ["a", 12, 1.5, True, False, None, ["a", 1], {"gte": 10}, []])
def test_a_string_that_is_one_placeholder_becomes_the_value_with_its_type(value):
    found = body_of({"filter": ["{{value}}", {"x": "{{ value }}"}]}, value=value)["filter"]
    assert found == [value, {"x": value}]
    assert type(found[0]) is type(value)


@pytest.mark.parametrize(
    "text", ['say "hi"', "{{text}}", "{{unknown}}", "${HOME}", "$$", "\\", "'", "}}", "{", "ünï çødé", "a\nb", "\x00"]
)
def test_the_text_of_a_query_passes_through_unharmed(text):
    body = body_of({"a": "{{text}}", "b": "for {{text}}!", "c": {"{{text}}": 1}}, text)
    assert (body["a"], body["b"], body["c"]) == (text, f"for {text}!", {text: 1})


def test_inside_a_longer_string_a_value_is_put_in_as_text():
    body = body_of({"a": "{{brand}}-{{n}}-{{f}}-{{yes}}"}, brand="x", n=12, f=1.5, yes=True)
    assert body["a"] == "x-12-1.5-true"


@pytest.mark.parametrize(("value", "kind"), [(["a"], "a list"), ({"a": 1}, "a mapping"), (None, "nothing")])
def test_what_is_no_text_cannot_stand_inside_one(value, kind):
    with pytest.raises(SuiteError, match=f"'current' cannot be filled for query 'q1': {{{{v}}}} is {kind}, which"):
        body_of({"a": "x {{v}}"}, v=value)


def test_keys_are_filled_as_text():
    assert body_of({"match": {"title_{{lang}}": "{{text}}"}}, lang="de")["match"] == {"title_de": "red shoes"}


def test_two_keys_that_become_one_are_refused():
    with pytest.raises(SuiteError, match="two keys become 'a' when their placeholders are filled"):
        body_of({"x": {"a": 1, "{{key}}": 2}}, key="a")


def test_a_single_brace_and_an_open_pair_stay_as_they_are():
    assert body_of({"a": "{text} {{text", "b": 3})["a"] == "{text} {{text"


def test_a_body_gets_the_depth_as_size_unless_it_has_its_own():
    suite = make_suite_with(RequestTemplate("a", {"query": {}}), RequestTemplate("b", {"size": 50}), depth=25)
    assert build_requests(suite, "a")[0].body == {"size": 25, "query": {}}
    assert build_requests(suite, "b")[0].body == {"size": 50}


def test_depth_is_a_placeholder():
    assert body_of({"size": "{{depth}}", "rescore": {"window_size": "{{depth}}"}}) == {
        "size": 10,
        "rescore": {"window_size": 10},
    }


@pytest.mark.parametrize(
    ("body", "value", "sentence"),
    [
        ({"size": "{{n}}"}, 9, "the size becomes 9, but the suite needs 10 hits: write {{depth}}, or set 'depth'"),
        ({"size": "{{n}}"}, True, "the size becomes True, expected a whole number"),
        ({"size": "{{n}}"}, "20", "the size becomes '20', expected a whole number"),
        ({"from": "{{n}}"}, 10, "a ranking begins at its first hit; remove `from`, which skips hits"),
        ({"from": "{{n}}"}, "10", "a ranking begins at its first hit; remove `from`"),
        ({"search_after": "{{n}}"}, [7], "a ranking begins at its first hit; remove `search_after`"),
    ],
)
def test_a_value_cannot_make_the_ranking_shorter_or_begin_later(body, value, sentence):
    with pytest.raises(SuiteError) as caught:
        body_of(body, n=value)
    assert f"the request 'current' cannot be filled for query 'q1': {sentence}" in str(caught.value)


def test_a_value_may_ask_for_more_hits_and_for_the_first_page():
    assert body_of({"size": "{{n}}", "from": "{{page}}"}, n=10, page=0) == {"size": 10, "from": 0}


def test_the_template_is_not_changed_by_filling_it():
    template = RequestTemplate("current", {"a": ["{{text}}"]})
    build_requests(make_suite_with(template), None)
    assert template.body == {"a": ["{{text}}"]}


def test_one_request_a_query_in_the_order_of_the_suite():
    queries = (Query("b", "x"), Query("a", "y"))
    requests = build_requests(make_suite_with(RequestTemplate("r", {"q": "{{text}}"}), queries=queries), None)
    assert [(request.query, request.body["q"]) for request in requests] == [("b", "x"), ("a", "y")]


def test_the_first_request_is_the_default_and_each_may_have_its_own_index():
    suite = make_suite_with(RequestTemplate("current", {}), RequestTemplate("candidate", {}, index="next"))
    assert build_requests(suite, None)[0].index == "products"
    assert build_requests(suite, "candidate")[0].index == "next"


HTTP = HttpRequest(
    "POST",
    "/find/{{text}}",
    "$.ids",
    params={"q": "{{text}}", "n": "{{depth}}", "brands": "{{brands}}"},
    headers={"X-Query": "{{text}}"},
    json={"q": ["{{text}}"]},
)


def test_an_http_request_is_filled_in_all_its_parts():
    query = Query("q1", "50 % / red & {{x}}", params={"brands": ["a", "b"]})
    (request,) = build_requests(make_suite_with(RequestTemplate("web", None, http=HTTP), queries=(query,)), None)
    assert request.index is None
    assert request.http is not None
    assert request.http.path == "/find/50%20%25%20%2F%20red%20%26%20%7B%7Bx%7D%7D"
    assert request.http.params == {"q": "50 % / red & {{x}}", "n": 10, "brands": ["a", "b"]}
    assert request.http.headers == {"X-Query": "50 % / red & {{x}}"}
    assert request.http.json == request.body == {"q": ["50 % / red & {{x}}"]}


def test_a_value_cannot_add_a_header():
    query = Query("q1", "a\r\nX-Admin: 1", params={"brands": []})
    with pytest.raises(SuiteError, match="the header X-Query would hold a line break"):
        build_requests(make_suite_with(RequestTemplate("web", None, http=HTTP), queries=(query,)), None)


def test_what_was_put_in_is_not_looked_at_again():
    assert fill(["{{a}}", "x{{a}}"], {"a": "{{b}}", "b": "no"}) == ["{{b}}", "x{{b}}"]
