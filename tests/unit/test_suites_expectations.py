"""Expectations of the fields of hits in a suite: of a query, of all queries, of those of a tag."""

import pytest

from builders.refusals import list_problems
from harness.gate.expectations import parse_expectation
from harness.gate.selection import collect_thresholds
from harness.model.suite import UnresolvedCondition
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
expect:
EXPECT
queries:
  - {id: shoes, text: red shoes, tags: [head], expect: [brand = Acme in top 3]}
"""
SERVICE = """\
suite: shop
request: {http: {path: "/search?q={{text}}", ids: "$.hits[*].id", fields: {brand: "$.hits[*].b", group: "$.hits[*].g"}}}
expect:
EXPECT
queries:
  - {id: shoes, text: red shoes}
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load_lines(*lines, text=SUITE, environ=()):
        path = tmp_path / "shop.relevance.yaml"
        written = "\n".join(f"  - {line}" for line in lines)
        path.write_text(text.replace("EXPECT", written), encoding="utf-8")
        return load_suite(path.relative_to(tmp_path), None if environ is None else dict(environ))

    return load_lines


def test_a_suite_and_its_queries_have_expectations(load):
    suite = load("every hit in top 12 has in_stock = true for head", "{expect: hits >= 1, severity: warn}")
    every, hits = suite.thresholds
    assert every.condition == parse_expectation("every hit in top 12 has in_stock = true")
    assert (every.tag, every.mark.line, hits.tag, hits.warns) == ("head", 5, None, True)
    assert suite.queries[0].thresholds[0].condition == parse_expectation("brand = Acme in top 3")
    assert suite.depth == 12, "as many hits are requested as an expectation needs"
    assert [gated.id for gated in collect_thresholds(suite)] == [
        "every-hit-in-top-12-has-in_stock-eq-true-for-head",
        "hits-ge-1",
        "query.shoes.brand-eq-Acme-in-top-3",
    ]
    assert suite.measures == (), "no judgments are needed"


def test_sets_and_texts_in_quotes_are_written_as_lines(load):
    suite = load('brand in {Acme, "Big Co"} in top 3', "\"brand = 'Big Co' in top 3\"", "no repeated group in top 3")
    assert [threshold.text for threshold in suite.thresholds] == [
        'brand in {Acme, "Big Co"} in top 3',
        "brand = 'Big Co' in top 3",
        "no repeated group in top 3",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("brand = Big Co in top 3",
         "5:17 found 'Co', expected 'in top' after the value; put what has spaces in quotes"),
        ("sku-4 not in top 10",
         "5:5 an expectation of a document belongs to one query; move it below 'expect' of the query"),
        ("no repeated group in top 3 for tail", "5:5 no query has the tag 'tail'"),
        ("distinct group < 0 in top 3", "5:5 there cannot be fewer than 0 values; expected '< 1' or '= 0' for none"),
        ("{expect: no repeated group in top 3, requests: [next]}", "5:53 found no request 'next', known are request"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_expectation_has_its_place(load, line, problem):
    assert list_problems(load, line) == [problem]


def test_a_variable_may_be_a_value_or_a_rank_and_no_tag(load):
    line = "every hit in top ${RELEVANCE_K:-5} has brand = ${RELEVANCE_BRAND} for head"
    unset = load(line, environ=None).thresholds[0]
    assert (unset.condition, unset.tag) == (UnresolvedCondition(("RELEVANCE_K", "RELEVANCE_BRAND"), True), "head")
    filled = load(line, environ={"RELEVANCE_BRAND": "Acme"}).thresholds[0]
    assert filled.condition == parse_expectation("every hit in top 5 has brand = Acme")
    assert (filled.tag, filled.text) == ("head", line)
    assert list_problems(load, "no repeated group in top 3 for ${RELEVANCE_TAG:-head}") == [
        "5:5 found a variable in the tag, expected a tag as queries have it: it selects them"
    ]
    assert list_problems(load, "no repeated group in top ${RELEVANCE_K}", environ={"RELEVANCE_K": "3 for head"}) == [
        "5:5 the value of a variable has 'for head', expected it as written"
    ]


def test_a_service_needs_a_path_for_each_field(load):
    suite = load("brand = Acme in top 3", "no repeated group in top 3", text=SERVICE)
    assert len(suite.thresholds) == 2
    assert list_problems(load, "no repeated grup in top 3", text=SERVICE) == [
        "4:5 the request 'request' has no path for the field 'grup', expected one of brand, group; "
        "did you mean 'group'?"
    ]


def test_a_service_needs_no_path_for_a_request_that_an_expectation_is_not_for(load):
    now = 'now: {http: {path: "/now?q={{text}}", ids: $.ids}}'
    text = SERVICE.replace("request: {http", f"requests:\n  {now}\n  next: {{http")
    assert load("{expect: brand = Acme in top 3, requests: [next]}", text=text).thresholds
    assert list_problems(load, "brand = Acme in top 3", text=text) == [
        "6:5 the request 'now' has no path for the field 'brand', expected one under 'fields' beside 'ids'"
    ]
    text = text.replace("ids: $.ids}}", "ids: $.ids}, gate: false}")
    assert load("brand = Acme in top 3", text=text).thresholds
