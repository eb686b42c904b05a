"""Search templates: the suite's placeholders are filled in their params, and their source is the engine's to fill."""

import pytest

from builders.refusals import list_problems
from harness.errors import SuiteError
from harness.suites import load_suite
from harness.suites.requests import build_requests

AWKWARD = 'a "quoted" {{text}} \\ {brace}'
SUITE = """\
suite: shop
target: {index: products}
request: REQUEST
measures: ["nDCG@5"]
queries:
  - {id: shoes, text: 'a "quoted" {{text}} \\ {brace}', params: {brand: acme}, judgments: {sku-1: 1}}
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load_request(request, text=SUITE):
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(text.replace("REQUEST", request), encoding="utf-8")
        return load_suite(path.relative_to(tmp_path), {})

    return load_request


@pytest.mark.parametrize(
    ("written", "source"),
    [
        (
            """'{"query": {"match": {"{{field}}": "{{q}}"}}, "size": {{size}}}'""",
            '{"query": {"match": {"{{field}}": "{{q}}"}}, "size": {{size}}}',
        ),
        (
            '{query: {match: {title: "{{q}}"}}, size: "{{size}}"}',
            {"query": {"match": {"title": "{{q}}"}}, "size": "{{size}}"},
        ),
        ('"{{#toJson}}q{{/toJson}}"', "{{#toJson}}q{{/toJson}}"),
    ],
)
def test_the_source_is_passed_as_it_is_and_params_are_filled(load, written, source):
    params = '{q: "{{text}}", field: title, brand: "for {{brand}}"}'
    suite = load(f"{{template: {{source: {written}, params: {params}}}}}")
    (request,) = build_requests(suite, None)
    assert request.body == {
        "size": 10,
        "template": {"params": {"q": AWKWARD, "field": "title", "brand": "for acme"}, "source": source},
    }


def test_a_stored_template_may_be_chosen_by_a_param(load):
    (request,) = build_requests(load('{template: {id: "products-{{brand}}", params: {q: "{{text}}"}}}'), None)
    assert request.body["template"] == {"id": "products-acme", "params": {"q": AWKWARD}}


def test_a_request_with_an_index_of_its_own_may_be_a_template(load):
    request = '{index: next, body: {template: {source: {query: {match: {t: "{{q}}"}}, size: 10}, params: PARAMS}}}'
    (built,) = build_requests(load(request.replace("PARAMS", '{q: "{{text}} {{brand}}"}')), None)
    assert built.index == "next"
    assert built.body["template"]["params"] == {"q": f"{AWKWARD} acme"}


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (
            "{template: products}",
            "3:21 found 'products', expected a search template: {id: NAME, params: …} or {source: …, params: …}",
        ),
        (
            '{template: {params: {q: "{{text}}"}}}',
            "3:21 found neither 'id' nor 'source', expected a search template: {id: NAME, params: …} or "
            "{source: …, params: …}",
        ),
        (
            '{template: {id: a, source: b, params: {q: "{{text}}"}}}',
            "3:21 found both 'id' and 'source', expected a search template: {id: NAME, params: …} or "
            "{source: …, params: …}",
        ),
        ('{template: {id: a, params: ["{{text}}"]}}', "3:37 found a list, expected params as a mapping"),
        (
            '{template: {id: a, params: {q: "{{text}}"}}, sort: [price]}',
            "3:55 found 'sort' beside 'template'; a search template may have only size beside it",
        ),
        (
            '{template: {source: {from: 10, size: 10, query: {match: {t: "{{q}}"}}}, params: {q: "{{text}}"}}}',
            "3:37 a ranking begins at its first hit; remove `from`, which skips hits",
        ),
        (
            '{template: {source: {size: 3, query: {match: {t: "{{q}}"}}}, params: {q: "{{text}}"}}}',
            "3:10 the request 'request' has size 3, but 'nDCG@5' needs 5 hits",
        ),
    ],
)
def test_what_is_wrong_with_a_template_is_told(load, request_, refusal):
    assert list_problems(load, request_, SUITE.replace(", params: {brand: acme}", "")) == [refusal]


@pytest.mark.parametrize(
    ("source", "params", "is_refused"),
    [
        ('{from: "{{from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: 5}', True),
        ('{from: "{{from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: 0}', False),
        ('{from: "{{from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: "0"}', False),
        ('{from: "{{from}}{{^from}}0{{/from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}"}', False),
        ('{from: "{{from}}{{^from}}0{{/from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: 5}', True),
        ('{from: "{{from}}{{^from}}5{{/from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}"}', True),
        ('{from: "{{from}}{{^from}}0{{/from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: 0}', False),
        ("""'{"query": {"match": {"t": "{{q}}"}}{{#p}}, "from": 7{{/p}}}'""", '{q: "{{text}}", p: 0}', True),
        ("""'{"query": {"match": {"t": "{{q}}"}}{{#p}}, "from": 7{{/p}}}'""", '{q: "{{text}}", p: ""}', False),
        ('{from: "{{page.start}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", page: {start: 0}}', False),
        ('{from: "{{&from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}", from: 0}', False),
        ("""'{"from": 5, "query": {"match": {"t": "{{q}} {{other}}"}}}'""", '{q: "{{text}}"}', True),
        ("""'{"query": {"match": {"t": "{{q}}"}}{{#p}}, "from": {{p}}{{/p}}}'""", '{q: "{{text}}", p: 5}', True),
        ("""'{"from": 5, "query": {"terms": {"t": {{#toJson}}q{{/toJson}} }}}'""", '{q: "{{text}}"}', False),
        ("""'{"from": 5, "query": {"terms": {"t": [{{#q}}"{{.}}"{{/q}}] }}}'""", '{q: ["{{text}}"]}', False),
        ('{from: "{{from}}", query: {match: {t: "{{q}}"}}}', '{q: "{{text}}"}', False),
        ("""'{"from": 5, "query": {"match": {"t": "the {{q}} b"}}}'""", '{q: "{{text}}"}', True),
        ("""'{"from": {{start}}, "query": {"match": {"t": "{{q}}"}}}'""", '{q: "{{text}}", start: 5}', True),
        ("""'{"query": {"range": {"price": {"from": 5}}, "match": {"t": "{{q}}"}}}'""", '{q: "{{text}}"}', False),
        ("""'{"query": {"match": {"t": "{{q}}"}}{{#p}}, "size": 5{{/p}}}'""", '{q: "{{text}}"}', False),
    ],
)
def test_a_template_that_skips_hits_by_its_text_or_a_param_is_refused(load, source, params, is_refused):
    text = SUITE.replace(", params: {brand: acme}", "")
    suite = load(f"{{template: {{source: {source}, params: {params}}}}}", text)
    if not is_refused:
        build_requests(suite, None)
        return
    with pytest.raises(SuiteError, match="a ranking begins at its first hit; remove `from`, which skips hits"):
        build_requests(suite, None)


def test_a_template_that_does_not_say_its_size_gets_the_ten_hits_of_the_engine(load):
    text = SUITE.replace(", params: {brand: acme}", "").replace("nDCG@5", "nDCG@20")
    request = '{template: {source: {query: {match: {t: "{{q}}"}}}, params: {q: "{{text}}"}}}'
    assert list_problems(load, request, text) == ["3:10 the request 'request' has size 10, but 'nDCG@20' needs 20 hits"]
    filled = request.replace("{query:", '{size: "{{size}}", query:')
    assert load(filled, text).depth == 20


def test_a_placeholder_of_the_suite_in_a_source_is_told_to_go_through_params(load):
    text = SUITE.replace(", params: {brand: acme}", "")
    request = '{template: {source: {query: {match: {t: "{{text}} {{q}}"}}}, params: {q: "{{text}}"}}}'
    assert list_problems(load, request, text) == [
        "3:50 found {{text}}, which the template's params do not have; the engine fills placeholders of a source from "
        'params; expected params: {text: "{{text}}"}'
    ]
    passed = request.replace("params: {q:", 'params: {text: "{{text}}", q:')
    assert load(passed, text).requests["request"].body["template"]["params"] == {"text": "{{text}}", "q": "{{text}}"}


def test_a_template_whose_params_take_nothing_of_the_query_is_refused(load):
    text = SUITE.replace(", params: {brand: acme}", "")
    request = '{template: {source: {query: {match: {t: "{{q}}"}}}, params: {q: shoes}}}'
    assert list_problems(load, request, text) == [
        "3:10 this request is the same for every query: expected {{text}} somewhere in it, among the params of its "
        "template"
    ]


# ------------------------------------------------------------------------------------------------ any request


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ("{query: {match_all: {}}}", "3:10"),
        ('{query: {match: {title: red}}, size: "{{depth}}"}', "3:10"),
        ("{http: {path: /find, ids: $.ids}}", "3:10"),
    ],
)
def test_a_request_that_no_query_changes_is_refused(load, request_, place):
    text = SUITE.replace(", params: {brand: acme}", "")
    assert list_problems(load, request_, text) == [
        f"{place} this request is the same for every query: expected {{{{text}}}} somewhere in it"
    ]


def test_each_request_of_a_suite_is_held_to_that(load):
    text = SUITE.replace("request: REQUEST", 'requests:\n  a: {query: {term: {t: "{{text}} {{brand}}"}}}\n  b: REQUEST')
    assert list_problems(load, "{query: {match_all: {}}}", text) == [
        "5:6 this request is the same for every query: expected {{text}} somewhere in it"
    ]


@pytest.mark.parametrize(
    "request_",
    ['{query: {term: {brand: "{{brand}}"}}}', '{http: {path: "/find/{{brand}}", ids: $.ids}}'],
)
def test_a_param_changes_a_request_as_a_text_does(load, request_):
    assert load(request_).queries[0].text == AWKWARD


# ------------------------------------------------------------------------------------------------ request, requests


def test_bodies_by_name_under_the_key_for_one_are_told(load):
    text = SUITE.replace(", params: {brand: acme}", "")
    request = '{current: {query: {match: {t: "{{text}}"}}}, next: {index: n, body: {query: {match: {t: "{{text}}"}}}}}'
    assert list_problems(load, request, text) == [
        "3:10 found requests by name (current, next) in place of a body; expected the key 'requests'"
    ]


@pytest.mark.parametrize(
    "request_",
    [
        '{query: {query: "{{text}} {{brand}}"}}',
        '{rescore: {query: {rescore_query: {match: {t: "{{text}} {{brand}}"}}}}}',
        '{new_part: {of: "{{text}} {{brand}}"}}',
    ],
)
def test_a_body_is_not_taken_for_several(load, request_):
    assert load(request_).requests["request"].body


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$[1:2:3:4]", "found ':4]' at character 8, which is invalid there"),
        ("$.a, $.b", "found ', $.b' at character 4, which is invalid there"),
        ("$.hits[", "found the end: unexpected end of query"),
        ("hits", "it should begin with $"),
    ],
)
def test_a_json_path_is_refused_in_words_of_its_own(load, path, found):
    text = SUITE.replace(", params: {brand: acme}", "")
    request = f'{{http: {{path: "/{{{{text}}}}", ids: "{path}"}}}}'
    assert list_problems(load, request, text) == [
        f"3:42 found {path!r}, expected a JSONPath such as $.hits[*].id: {found}"
    ]
