"""The clauses of a query that are tried on a document: where each stands, and which of them it has to match."""

from typing import Any

import pytest

from harness.search.explain import _walk_clauses

SHOE = {"match": {"title": "shoe"}}
CHEAP = {"range": {"price": {"lt": 40}}}
ACME = {"term": {"brand": "acme"}}


@pytest.mark.parametrize(
    ("query", "places"),
    [
        (SHOE, [("query", True)]),
        (
            {"bool": {"must": [SHOE, CHEAP], "filter": ACME, "must_not": [ACME]}},
            [
                ("query.bool.must[0]", True),
                ("query.bool.must[1]", True),
                ("query.bool.filter", True),
                ("query.bool.must_not[0]", False),
            ],
        ),
        ({"bool": {"should": [SHOE]}}, [("query.bool.should", True), ("query.bool.should[0]", None)]),
        ({"bool": {"must": SHOE, "should": ACME}}, [("query.bool.must", True), ("query.bool.should", None)]),
        (
            {"bool": {"filter": [SHOE], "should": [ACME], "minimum_should_match": 1}},
            [("query.bool.should", True), ("query.bool.filter[0]", True), ("query.bool.should[0]", None)],
        ),
        (
            {"dis_max": {"queries": [SHOE, {"bool": {"must_not": ACME}}]}},
            [("query", True), ("query.dis_max.queries[0]", None), ("query.dis_max.queries[1].bool.must_not", None)],
        ),
        ({"function_score": {"query": {"bool": {"must": SHOE}}}}, [("query.function_score.query.bool.must", True)]),
        ({"constant_score": {"filter": CHEAP}}, [("query.constant_score.filter", True)]),
        (
            {"match": {"title": {"query": "red shoe", "operator": "and", "minimum_should_match": 2}}},
            [("query", True), ("query without operator and minimum_should_match", None)],
        ),
        (
            {"multi_match": {"query": "shoe", "fields": ["title", "text"]}},
            [("query", True), ("query.multi_match.fields title", None), ("query.multi_match.fields text", None)],
        ),
        ({"multi_match": {"query": "shoe", "fields": ["title"]}}, [("query", True)]),
        (None, []),
    ],
)
def test_each_clause_has_its_place_and_whether_it_must_match(query: Any, places: list[tuple[str, bool | None]]) -> None:
    assert [(clause.place, clause.required) for clause in _walk_clauses(query, "query")] == places


@pytest.mark.parametrize(
    ("required", "matches", "fails"),
    [(True, False, True), (True, True, False), (False, True, True), (False, False, False), (None, False, False)],
)
def test_a_clause_keeps_out_what_it_requires_otherwise(required: bool | None, matches: bool, fails: bool) -> None:
    [clause] = _walk_clauses(SHOE, "query", required=required)
    assert clause.fails(matches) is fails
