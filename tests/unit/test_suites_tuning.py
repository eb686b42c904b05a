"""``tune: parameters:`` of a suite: read, checked, and filled with the values of today in every ordinary run."""

import json
import re

import pytest
import yaml

from harness.errors import SuiteError, UsageError
from harness.model.suite import ParameterKind
from harness.search.pointers import put_value
from harness.suites import load_suite
from harness.suites.parameters import choose_today, fill_parameters
from harness.suites.requests import build_requests
from harness.suites.shape import suite_schema

SUITE = """\
suite: shop
target: {index: products}
tune:
  parameters:
PARAMETERS
REQUEST
measures: [nDCG@10]
queries:
  - {id: tents, text: tent, judgments: {sku-2: 1}}
"""
REQUEST = """\
request:
  query:
    multi_match:
      query: "{{text}}"
      fields: ["title^{{param:boost}}", body]
      minimum_should_match: "{{param:match}}"
"""
PARAMETERS = """\
    boost: {from: 0.5, to: 8, log: true, today: 2}
    match: {choices: ["1", "75%"], today: "75%"}
"""


@pytest.fixture
def write(tmp_path):
    def write(parameters=PARAMETERS, request=REQUEST):
        path = tmp_path / "shop.relevance.yaml"
        text = SUITE.replace("PARAMETERS\n", parameters).replace("REQUEST\n", request)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def build_body(suite):
    [request] = build_requests(suite, None)
    return request.body["query"]["multi_match"]


def test_a_run_has_the_values_of_today(write):
    body = build_body(load_suite(write(), {}))
    assert body["fields"] == ["title^2", "body"]
    assert body["minimum_should_match"] == "75%"


def test_a_trial_has_other_values_with_their_types(write):
    request = """\
request:
  query: {multi_match: {query: "{{text}}", fields: "{{param:fields}}", tie_breaker: "{{param:tie}}"}}
"""
    parameters = """\
    fields: {choices: [[title], [title, body]], today: [title]}
    tie: {from: 0, to: 1, today: 0.3}
"""
    suite = load_suite(write(parameters, request), {})
    body = build_body(fill_parameters(suite, {"fields": ["title", "body"], "tie": 0.5}))
    assert (body["fields"], body["tie_breaker"]) == (["title", "body"], 0.5)
    assert build_body(suite)["fields"] == ["title"]


def test_a_pointer_leads_to_the_value_of_today(write):
    request = """\
requests:
  plain: {query: {match: {title: "{{text}}"}}}
  boosted: {query: {bool: {should: [{match: {title: {query: "{{text}}", boost: 3}}}]}}}
"""
    parameters = "    boost: {from: 1, to: 9, integer: true, pointer: /query/bool/should/0/match/title/boost}\n"
    suite = load_suite(write(parameters, request), {})
    [parameter] = suite.tuning.parameters
    assert (parameter.today, parameter.kind) == (3, ParameterKind.INTEGER)
    filled = fill_parameters(suite, {"boost": 7})
    assert filled.requests["boosted"].body["query"]["bool"]["should"][0]["match"]["title"]["boost"] == 7
    assert filled.requests["plain"] == suite.requests["plain"]


def test_each_request_keeps_its_own_value_at_a_pointer(write):
    request = """\
requests:
  current: {query: {match: {title: {query: "{{text}}", boost: 3}}}}
  candidate: {query: {match: {title: {query: "{{text}}", boost: 5}}}}
  old: {query: {match: {title: {query: "{{text}}", boost: 11}}}}
"""
    parameters = "    boost: {from: 1, to: 9, pointer: /query/match/title/boost}\n"
    suite = load_suite(write(parameters, request), {})
    boosts = {name: template.body["query"]["match"]["title"]["boost"] for name, template in suite.requests.items()}
    assert boosts == {"current": 3, "candidate": 5, "old": 11}
    assert choose_today(suite.tuning, "candidate").today == {"boost": 5}
    with pytest.raises(UsageError, match="the request 'old' has 11 at '/query/match/title/boost', expected a number"):
        choose_today(suite.tuning, "old")


@pytest.mark.parametrize(
    ("boost", "pointer", "sentence"),
    [
        ("9", "/query/match/title/boost", "has 9 at '/query/match/title/boost', expected a number from 1 to 8"),
        ("[1]", "/query/match/title/boost", "has [1] at '/query/match/title/boost', expected a number from 1 to 8"),
        ("2", "/query/match/body/boost", "the parameter 'boost' leads nowhere in the body of a request"),
    ],
)
def test_what_was_edited_at_a_pointer_is_an_error_of_a_tuning_alone(write, boost, pointer, sentence):
    request = f"""\
request:
  query: {{match: {{title: {{query: "{{{{text}}}}", boost: {boost}}}}}}}
"""
    suite = load_suite(write(f"    boost: {{from: 1, to: 8, pointer: {pointer}}}\n", request), {})
    assert suite.requests["request"].body["query"]["match"]["title"]["boost"] == yaml.safe_load(boost)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        choose_today(suite.tuning, "request")


def test_a_service_has_its_values_encoded(write):
    request = """\
request:
  http: {path: "/search/{{param:mode}}", params: {q: "{{text}}", boost: "{{param:boost}}"}, ids: "$.ids"}
"""
    parameters = """\
    mode: {choices: [a b, c], today: a b}
    boost: {from: 1, to: 9, today: 4}
"""
    path = write(parameters, request)
    path.write_text(path.read_text().replace("index: products", 'cluster: "http://localhost:8080"'))
    suite = load_suite(path, {})
    http = fill_parameters(suite, {"mode": "a b", "boost": 5}).requests["request"].http
    assert (http.path, http.params["boost"]) == ("/search/a%20b", 5)


def test_a_parameter_without_effect_keeps_the_value_of_today(write):
    parameters = """\
    match: {choices: ["1", "75%"], today: "75%"}
    boost: {from: 1, to: 8, today: 2, only_if: {match: "1"}}
"""
    space = load_suite(write(parameters), {}).tuning
    assert space.settle({"match": "75%", "boost": 5}) == {"match": "75%", "boost": 2}
    assert space.settle({"match": "1", "boost": 5}) == {"match": "1", "boost": 5}


def test_the_source_of_a_search_template_stays_the_engine_s(write):
    request = """\
request:
  template:
    source: {query: {match: {title: {query: "{{query}}", boost: "{{boost}}"}}}}
    params: {query: "{{text}}", boost: "{{param:boost}}"}
"""
    suite = load_suite(write("    boost: {from: 1, to: 8, today: 2}\n", request), {})
    template = suite.requests["request"].body["template"]
    assert template["params"]["boost"] == 2
    assert template["source"]["query"]["match"]["title"]["boost"] == "{{boost}}"


BOOST = '  query: {match: {title: "{{text}} {{param:boost}}"}}\n'


@pytest.mark.parametrize(
    ("parameters", "request_", "place", "sentence"),
    [
        ("    boost: {from: 8, to: 1, today: 2}\n", None, (5, 13), "found 8 to 1, expected a 'from' below 'to'"),
        ("    boost: {from: 1, today: 2}\n", None, (5, 5), "found a range without 'to'"),
        ("    boost: {from: 0, to: 1, log: true, today: 1}\n", None, (5, 13), "expected a 'from' above 0"),
        ("    boost: {from: 0.5, to: 2, integer: true, today: 1}\n", None, (5, 13), "expected a whole number"),
        ("    boost: {from: 1, to: 2, grid: 1, today: 1}\n", None, (5, 29), "expected at least 2 values in a grid"),
        ("    boost: {from: 1, to: 8, today: 9}\n", None, (5, 29), "found 9 as the value of today"),
        ("    boost: {from: 1, to: 8}\n", None, (5, 5), "the key 'today' is missing"),
        ("    boost: {today: 8}\n", None, (5, 5), "found neither a range nor choices nor a switch"),
        ("    boost: {switch: true, choices: [1, 2], today: 1}\n", None, (5, 5), "found choices and a switch"),
        ("    boost: {choices: [1], today: 1}\n", None, (5, 13), "found 1 choice, expected 2 to 100"),
        ("    boost: {choices: [1, 1], today: 1}\n", None, (5, 13), "found 1 more than once"),
        ("    boost: {switch: true, log: true, today: true}\n", None, (5, 27), "'log' is for a range"),
        ("    boost: {from: 1, to: 8, today: '${RELEVANCE_X:-2}'}\n", None, (5, 36), "without variables"),
        ("    boost: {from: 1, to: 8, pointer: a}\n", None, (5, 29), "expected a JSON pointer"),
        ("    boost: {from: 1, to: 8, today: 1, pointer: /query}\n", None, (5, 29), "found 'today' beside 'pointer'"),
        ("    boost: {from: 1, to: 8, today: 1, only_if: {x: 1}}\n", None, (5, 49), "and none stands above it"),
        ("    boost: {from: 1, to: 8, today: 1, frm: 2}\n", None, (5, 39), "did you mean 'from'"),
        ("    bosst: {from: 1, to: 8, today: 1}\n", None, (7, 36), "did you mean 'bosst'"),
        ("    boost: {choices: [[a], b], today: b}\n", None, (7, 36), "cannot stand here"),
        (
            "    boost: {from: 1, to: 8, today: 1}\n",
            '  query: {match: {title: "{{text}}"}}\n',
            (5, 5),
            "no request has",
        ),
    ],
)
def test_each_problem_has_its_place(write, parameters, request_, place, sentence):
    with pytest.raises(SuiteError) as caught:
        load_suite(write(parameters, "request:\n" + (request_ or BOOST)), {})
    found = [(problem.line, problem.column) for problem in caught.value.problems if sentence in problem.message]
    assert found == [place], [str(problem) for problem in caught.value.problems]


def test_a_request_without_a_place_of_a_query_is_refused_though_it_has_parameters(write):
    request = 'request:\n  query: {match: {title: "{{param:boost}}"}}\n'
    with pytest.raises(SuiteError, match="this request is the same for every query"):
        load_suite(write("    boost: {from: 1, to: 8, today: 1}\n", request), {})


def test_a_pointer_may_have_escapes():
    assert put_value({"a/b": {"c~d": 1}}, "/a~1b/c~0d", 2) == {"a/b": {"c~d": 2}}


def test_editors_know_the_keys():
    keys = json.dumps(suite_schema()["$defs"]["ParameterShape"])
    assert all(f'"{key}"' in keys for key in ("from", "to", "log", "choices", "switch", "only_if", "today", "pointer"))
