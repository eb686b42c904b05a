"""The values of fields that expectations read: how they are requested, and read from hits."""

import json

import pytest

from harness.model.request import SearchRequest
from harness.model.suite import HttpRequest
from harness.search.bodies import make_ids_request
from harness.search.hits import read_ranking, read_values
from harness.search.msearch import make_entry
from harness.search.protocol import LookUpOptions
from harness.search.service_answers import read_service_answer


def body_of(body, **fields):
    """The body as it is sent."""
    entry = make_entry(0, SearchRequest("q", "products", body, **fields))
    return json.loads(entry.lines.splitlines()[1])


@pytest.mark.parametrize(
    ("body", "added"),
    [
        ({}, {"_source": ["brand", "price"], "fields": ["brand", "price"]}),
        ({"_source": ["name"]}, {"fields": ["brand", "price"]}),
        ({"_source": False}, {"fields": ["brand", "price"]}),
        ({"fields": ["name", {"field": "x"}]},
         {"_source": ["brand", "price"], "fields": ["name", {"field": "x"}, "brand", "price"]}),
    ],
)  # fmt: skip
def test_the_request_returns_the_fields_beside_those_that_it_selects(body, added):
    body = {"query": {"match_all": {}}, "size": 3, **body}
    assert body_of(body, value_fields=("brand", "price")) == {**body, **added}


def test_a_title_and_an_id_field_are_returned_too():
    sent = body_of({}, value_fields=("brand", "sku"), title_field="brand", id_field="sku")
    assert sent == {"_source": ["brand", "sku"], "fields": ["brand", "sku"]}
    assert body_of({}, value_fields=("brand",), title_field="name", id_field="sku") == {
        "_source": ["name", "brand"],
        "fields": ["brand", "sku"],
    }


def test_nothing_is_added_to_a_search_template():
    body = {"template": {"id": "products", "params": {"q": "x"}}, "size": 3}
    assert body_of(body, value_fields=("brand",)) == {"id": "products", "params": {"size": 3, "q": "x"}}
    assert make_entry(0, SearchRequest("q", "p", body, value_fields=("brand",))).value_fields == ("brand",)


def test_a_look_up_returns_the_fields():
    request = SearchRequest("q", "products", {"query": {"match_all": {}}})
    looked_up = make_ids_request(request, ["a"], LookUpOptions(value_fields=("brand",)))
    assert looked_up.value_fields == ("brand",)


@pytest.mark.parametrize(
    ("hit", "values"),
    [
        ({"_source": {"f": "Acme"}}, ("Acme",)),
        ({"_source": {"f": "Acme"}, "fields": {"f": ["acme"]}}, ("Acme",)),
        ({"_source": {"g": 1}, "fields": {"f": ["acme"]}}, ("acme",)),
        ({"fields": {"f": [1, 2]}}, (1, 2)),
        ({"_source": {"f": [1, [2, None], "x", False]}}, (1, 2, "x", False)),
        ({"_source": {"f": None}}, None),
        ({"_source": {"f": []}}, None),
        ({"_source": {"f": {"x": 1}}}, None),
        ({"_source": {"f": 0}}, (0,)),
        ({"_source": {"f": ""}}, ("",)),
        ({"_source": {"f": float("inf")}}, None),
        ({"_source": {"f": "\ud800"}}, ("?",)),
        ({}, None),
    ],
)
def test_the_values_of_a_hit_are_read(hit, values):
    found = read_values(hit, ["f"])
    assert found == ({} if values is None else {"f": values})
    assert list(map(type, found.get("f", ()))) == list(map(type, values or ()))


@pytest.mark.parametrize(
    "source",
    [
        {"offers": [{"price": 1}, {"price": [2, 3]}, {"name": "x"}]},
        {"offers.price": [1, 2, 3]},
        {"offers": {"price": [1, 2, 3]}},
    ],
)
def test_a_path_leads_into_objects_and_lists(source):
    assert read_values({"_source": source}, ["offers.price"]) == {"offers.price": (1, 2, 3)}


def test_hits_of_an_engine_have_the_values_that_were_requested():
    answer = {
        "hits": {
            "total": {"value": 2, "relation": "eq"},
            "hits": [
                {"_index": "p", "_id": "a", "_score": 2.0, "_source": {"brand": "Acme", "price": 5}},
                {"_index": "p", "_id": "b", "_score": 1.0},
            ],
        }
    }
    for fields, values in (("brand", "g"), [{"brand": ("Acme",)}, {}]), ((), [None, None]):
        entry = make_entry(0, SearchRequest("q", "p", {}, value_fields=fields))
        assert [hit.values for hit in read_ranking(answer, entry).hits] == values


def test_hits_of_a_service_have_the_values_of_its_paths():
    http = HttpRequest("GET", "/", "$.hits[*].id", fields={"brand": "$.hits[*].brand", "tags": "$.hits[*].tags"})
    content = {"hits": [{"id": "a", "brand": "Acme", "tags": ["x", 1]}, {"id": "b", "brand": None}]}
    ranking = read_service_answer(content, http)
    assert [hit.values for hit in ranking.hits] == [{"brand": ("Acme",), "tags": ("x", 1)}, {}]
    without = read_service_answer(content, HttpRequest("GET", "/", "$.hits[*].id"))
    assert [hit.values for hit in without.hits] == [None, None]
