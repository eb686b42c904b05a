"""Which cells a run has, and what a suite cannot be run with."""

from dataclasses import replace

import pytest

from builders.suites import make_suite
from harness.errors import UsageError
from harness.model.suite import Fixture, HttpRequest, RequestTemplate, Target
from harness.options import RunOptions
from harness.run import Matrix


def make_suite_with(*requests, **fields):
    """A suite with *requests* by their names."""
    templates = {name: RequestTemplate(name, {}) for name in requests or ("request",)}
    return make_suite(**{"path": "s.relevance.yaml", "requests": templates, **fields})


def cells(matrix, suite):
    return [(cell.request, cell.index) for cell in matrix.list_cells(suite, RunOptions())]


def test_what_is_not_named_is_the_suite_s_own():
    assert cells(Matrix(), make_suite_with("current", "candidate")) == [(None, None)]


def test_a_cell_is_a_request_on_an_index_the_requests_in_the_order_they_were_named():
    suite = make_suite_with("current", "candidate")
    matrix = Matrix(("candidate", "current"), ("v1", "v2"))
    assert cells(matrix, suite) == [("candidate", "v1"), ("candidate", "v2"), ("current", "v1"), ("current", "v2")]


def test_a_name_given_twice_is_one_cell():
    suite = make_suite_with("current")
    assert cells(Matrix(("current", "current"), ("v1", "v1")), suite) == [("current", "v1")]


def test_all_requests_are_those_of_each_suite():
    matrix = Matrix(all_requests=True)
    assert cells(matrix, make_suite_with("current", "candidate")) == [("current", None), ("candidate", None)]
    assert cells(matrix, make_suite_with("plain")) == [(None, None)]


def test_the_other_options_hold_for_every_cell():
    options = RunOptions(url="http://x:9200", tags=("head",), request="left", index="out")
    found = Matrix(("current",), ("v1", "v2")).list_cells(make_suite_with("current"), options)
    assert found == tuple(replace(options, request="current", index=index) for index in ("v1", "v2"))


@pytest.mark.parametrize("options", [RunOptions(), RunOptions(request="candidate"), RunOptions("u", index="v1")])
def test_options_alone_are_a_matrix_of_one_cell(options):
    assert Matrix.from_options(options).list_cells(make_suite_with("current", "candidate"), options) == (options,)


# ------------------------------------------------------------------------------------------------ refusals


def refusal(matrix, *suites):
    with pytest.raises(UsageError) as caught:
        matrix.check(suites)
    return str(caught.value)


def test_an_unknown_request_names_each_suite_that_lacks_it():
    suites = [make_suite_with("current"), make_suite_with("current", "candidate")]
    Matrix().check(suites)
    Matrix(("current",)).check(suites)
    first, second = refusal(Matrix(("current", "candidates")), *suites).splitlines()
    assert first.startswith("s.relevance.yaml: found no request 'candidates', known are current")
    assert second.endswith("known are current, candidate; did you mean 'candidate'?")


def test_all_requests_and_named_ones_contradict_each_other():
    sentence = "found all requests and current, expected one or the other"
    assert refusal(Matrix(("current",), all_requests=True), make_suite_with("current")) == sentence


def test_a_suite_with_a_fixture_searches_what_it_builds():
    suite = make_suite_with(fixture=Fixture("d.jsonl"))
    Matrix().check([suite])
    assert refusal(Matrix(indexes=("v1",)), make_suite_with(), suite) == (
        "s.relevance.yaml: the suite builds its index itself, from its fixture, so that no other index can be asked for"
    )


def test_an_http_service_has_no_index():
    suite = make_suite_with()
    http = HttpRequest("GET", "/search", "$.ids")
    suite = replace(
        suite,
        target=Target(service="http"),
        requests={"request": RequestTemplate("request", None, http=http)},
    )
    assert "the request 'request' is for an HTTP service, which has no index to choose" in refusal(
        Matrix(indexes=("v1",)), suite
    )


def test_a_point_in_time_is_of_its_own_index():
    suite = make_suite_with("current", "candidate")
    pinned = RequestTemplate("candidate", {"pit": {"id": "x"}})
    suite = replace(suite, requests={**suite.requests, "candidate": pinned})
    Matrix(indexes=("v1",)).check([suite])
    sentence = "the request 'candidate' searches a point in time, which is one of its own index"
    assert sentence in refusal(Matrix(("candidate",), ("v1",)), suite)
    assert sentence in refusal(Matrix(indexes=("v1",), all_requests=True), suite)


def test_an_index_has_a_name():
    assert refusal(Matrix(indexes=("",)), make_suite_with()) == "an index without a name was asked for"


@pytest.mark.parametrize("index", [",", "v1,", "v1, ,v2"])
def test_each_index_of_a_list_has_a_name(index):
    Matrix(indexes=("v1,v2-*", "v3")).check([make_suite_with()])
    assert refusal(Matrix(indexes=("v1", index)), make_suite_with()).startswith(f"found the index {index!r}, expected")


def test_every_refusal_is_told_at_once():
    text = refusal(
        Matrix(("new",), ("v1",)), make_suite_with(path="a.yaml"), make_suite_with(path="b.yaml", fixture=Fixture("d"))
    )
    assert [line.split(":")[0] for line in text.splitlines()] == ["a.yaml", "b.yaml", "b.yaml"]
