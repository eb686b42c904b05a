"""What a server has stored that decides how a request matches and scores: what requests name of it and what is read."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from builders.engine import Fault, ScriptedEngine
from harness.gate.stability import explain_changed_target
from harness.model.request import Cluster
from harness.model.run import Definitions, Engine, IndexState, Run
from harness.search.definitions import EVERYTHING, References, find_references
from harness.search.dialects import open_search

PROPERTIES = {
    "title": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
    "title_en": {"type": "text"},
    "labels": {"type": "flattened"},
    "maker": {"properties": {"name": {"type": "text"}}},
    "heading": {"type": "alias", "path": "title"},
    "unrelated": {"type": "keyword"},
}


@pytest.fixture
def engine(engine: ScriptedEngine) -> ScriptedEngine:
    set_up(engine)
    return engine


def set_up(engine: ScriptedEngine, mapping: Any = None, settings: Any = None, **stored: Any) -> None:
    """Give the index `products` a *mapping* and *settings*, and the server what it has *stored*, by its path."""
    engine.root = {}
    engine.gets["/products/_mapping"] = {"products": {"mappings": mapping or {"properties": PROPERTIES}}}
    engine.gets["/products/_settings"] = {"products": {"settings": {"index": settings or {}}}}
    engine.gets |= stored


def read(engine: ScriptedEngine, references: References, **options: Any) -> Definitions:
    with open_search(Cluster("test", url=engine.url, engine="elasticsearch 9.4.3"), {}) as search:
        return search.read_definitions("products", references, **{"timeout": 5.0, "url_params": {}, **options})


def fields_named(engine: ScriptedEngine, body: Any, *values: Any) -> list[str]:
    return sorted(read(engine, find_references(body, {}, values)).named["mapping of products"])


@pytest.mark.parametrize(
    ("body", "values", "expected"),
    [
        ({"query": {"match": {"title": "{{text}}"}}}, [], ["title"]),
        ({"query": {"match": {"title.raw": "{{text}}"}}}, [], ["title", "title.raw"]),
        ({"query": {"multi_match": {"fields": ["title^3", "maker.name"]}}}, [], ["maker", "maker.name", "title"]),
        ({"query": {"term": {"labels.priority": "high"}}}, [], ["labels"]),
        ({"script": {"source": "doc['title.raw'].size() * 2"}}, [], ["title", "title.raw"]),
        ({"query": {"match": {"{{field}}": "{{text}}"}}}, [{"field": "title"}], ["title"]),
        (
            {"query": {"query_string": {"query": "{{text}}", "fields": ["x"]}}},
            ["maker.name:acme"],
            ["maker", "maker.name"],
        ),
        # A pattern names what is computed from other fields, as that may change what is found in documents of today.
        ({"query": {"query_string": {"query": "{{text}}"}}}, [], ["heading"]),
        ({"query": {"multi_match": {"fields": ["head*"]}}}, [], ["heading"]),
        (
            {"template": {"source": '{"query": {"multi_match": {"query": "{{q}}", "fields": ["head*^2"]}}}'}},
            [],
            ["heading"],
        ),
        ({"query": {"match_all": {}}}, [[0.5, 0.25]], []),
    ],
)
def test_fields_that_a_request_names_are_read(engine: ScriptedEngine, body: Any, values: Any, expected: Any) -> None:
    found = fields_named(engine, body, *values)
    assert [field for field in found if field != "title" or "heading" not in found] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"query": {"multi_match": {"fields": ["title*"]}}}, ["title", "title.raw", "title_en"]),
        ({"query": {"match": {"title_{{lang}}": "{{text}}"}}}, ["title_en"]),
        ({"query": {"match": {"unrelated": "{{text}}"}}}, []),
    ],
)
def test_fields_that_a_pattern_names_are_apart(engine: ScriptedEngine, body: Any, expected: Any) -> None:
    found = read(engine, find_references(body, {}))
    everything = found.named["mapping of products"] | found.matched["mapping of products"]
    assert set(expected) <= everything.keys()
    assert found.matched["mapping of products"].keys() == {*expected} - found.named["mapping of products"].keys()


def test_requests_that_hooks_change_may_name_all_fields(engine: ScriptedEngine) -> None:
    found = read(engine, EVERYTHING)
    everything = found.named["mapping of products"] | found.matched["mapping of products"]
    assert everything.keys() >= {"title", "title.raw", "title_en", "maker.name", "heading", "unrelated"}


RUNTIME = {"type": "long", "script": {"source": "emit(1)"}}
OTHER = {"type": "long", "script": {"source": "emit(2)"}}
TITLE = {"type": "text"}
NAMED = "the mapping of products changed (title)"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({"properties": {"title": TITLE}}, {"properties": {"title": {**TITLE, "search_analyzer": "stop"}}}, NAMED),
        ({"properties": {"title": TITLE}}, {"properties": {"title": {**TITLE, "norms": False}}}, NAMED),
        ({"properties": {}}, {"properties": {"title": TITLE}}, NAMED),
        ({"runtime": {"title": RUNTIME}}, {"runtime": {"title": OTHER}}, NAMED),
        ({"runtime": {"title": RUNTIME}}, {"properties": {}}, NAMED),
        ({"derived": {"title": RUNTIME}}, {"derived": {"title": OTHER}}, NAMED),
        # What cannot change a ranking of documents that are there.
        ({"properties": {"title": TITLE}}, {"properties": {"title": {**TITLE, "meta": {"unit": "m"}}}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": {**TITLE, "copy_to": "all"}}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": {**TITLE, "fields": {"raw": TITLE}}}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": TITLE, "added": TITLE}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": TITLE}, "runtime": {"added": RUNTIME}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": TITLE}, "_meta": {"version": 2}}, ""),
        ({"properties": {"title": TITLE}}, {"properties": {"title": TITLE}, "dynamic": "strict"}, ""),
    ],
)
def test_a_mapping_changed_where_a_ranking_may(engine: ScriptedEngine, before: Any, after: Any, reason: str) -> None:
    references = find_references({"query": {"match": {"title": "{{text}}"}}}, {})
    assert change_between(engine, references, {"mapping": before}, {"mapping": after}) == reason


def change_between(engine: ScriptedEngine, references: References, before: Any, after: Any) -> str:
    """How a run tells what changed; empty if nothing did."""
    found = []
    for given in (before, after):
        set_up(engine, **given)
        found.append(IndexState({"products": "u"}, 3, definitions=read(engine, references)))
    return explain_changed_target(Run({}, Engine("fake"), "request", "products", states=tuple(found))).partition(
        "run: "
    )[2]


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ({}, {"similarity": {"default": {"type": "boolean"}}}, "similarity"),
        ({"analysis": {"filter": {"s": {"synonyms": ["a, b"]}}}}, {"analysis": {"filter": {}}}, "analysis"),
        ({}, {"query": {"default_field": ["title"]}}, "query"),
        ({"search": {"default_pipeline": "_none"}}, {"search": {}}, "search.default_pipeline"),
        ({"knn": {"algo_param": {"ef_search": "100"}}}, {"knn": {"algo_param": {"ef_search": "10"}}}, "knn"),
        ({"number_of_replicas": "0"}, {"number_of_replicas": "1"}, ""),
        ({"refresh_interval": "1s"}, {"refresh_interval": "-1"}, ""),
        ({}, {"lifecycle": {"name": "hot"}}, ""),
        ({}, {"default_pipeline": "of writes", "final_pipeline": "of writes"}, ""),
        ({}, {"search": {"slowlog": {"threshold": {"query": {"warn": "1s"}}}}}, ""),
        ({}, {"blocks": {"write": "true"}, "routing": {"allocation": {"total_shards_per_node": "2"}}}, ""),
    ],
)
def test_settings_changed_where_a_ranking_may(engine: ScriptedEngine, before: Any, after: Any, reason: str) -> None:
    expected = f"the settings of products changed ({reason})" if reason else ""
    assert change_between(engine, References(), {"settings": before}, {"settings": after}) == expected


STORED_BY_REQUEST = [
    ({"query": {"script_score": {"script": {"id": "a b"}}}}, {}, "/_scripts/{}", "stored script"),
    ({"sort": {"_script": {"script": {"id": "a b"}}}}, {}, "/_scripts/{}", "stored script"),
    (
        {"query": {"terms_set": {"x": {"minimum_should_match_script": {"id": "a b"}}}}},
        {},
        "/_scripts/{}",
        "stored script",
    ),
    ({"template": {"id": "a b", "params": {}}}, {}, "/_scripts/{}", "search template"),
    ({"query": {}, "search_pipeline": "a b"}, {}, "/_search/pipeline/{}", "search pipeline"),
    ({"query": {}}, {"search_pipeline": "a b"}, "/_search/pipeline/{}", "search pipeline"),
    ({"retriever": {"rule": {"ruleset_ids": ["a b"]}}}, {}, "/_query_rules/{}", "query ruleset"),
]


@pytest.mark.parametrize(("body", "url_params", "path", "kind"), STORED_BY_REQUEST)
def test_what_a_request_names_by_an_id_is_read(
    engine: ScriptedEngine, body: Any, url_params: Any, path: str, kind: str
) -> None:
    references, place = find_references(body, url_params), path.format(quote("a b"))
    contents = {place: {"content": 1}}, {place: {"content": 2}}
    assert change_between(engine, references, *contents) == f"the {kind} a b changed"
    assert change_between(engine, references, contents[0], contents[0]) == ""
    engine.faults.append(Fault(place, status=404, times=99))
    assert (gone := read(engine, references)).named[f"{kind} a b"] == {}
    assert not gone.unread


def test_what_is_stored_names_more(engine: ScriptedEngine) -> None:
    template = {
        "script": {
            "source": '{"query": {"script_score": {"script": {"id": "boost"}}, "match": {"maker.name": "{{q}}"}}}'
        }
    }
    settings = {"analysis": {"filter": {"s": {"synonyms_set": "shop"}}}, "search": {"default_pipeline": "hybrid"}}
    stored = {
        "/_scripts/by-title": template,
        "/_scripts/boost": {"script": {"source": "doc['title.raw'].value"}},
        "/_synonyms/shop?size=10000": {"synonyms_set": []},
        "/_search/pipeline/hybrid": {"hybrid": {}},
    }
    set_up(engine, settings=settings, **stored)
    found = read(engine, find_references({"template": {"id": "by-title"}}, {}))
    objects = {"search template by-title", "stored script boost", "synonyms set shop", "search pipeline hybrid"}
    assert found.named.keys() == objects | {"mapping of products", "settings of products"}
    assert found.named["mapping of products"].keys() >= {"maker.name", "title.raw"}
    assert found.unread == ()


@pytest.mark.parametrize("status", [403, 500, None])
def test_what_cannot_be_read_is_told_and_is_no_change(engine: ScriptedEngine, status: int | None) -> None:
    set_up(engine, **{"/_scripts/boost": {"script": {"source": "1"}}})
    references = find_references({"query": {"script_score": {"script": {"id": "boost"}}}}, {})
    known = read(engine, references)
    engine.faults.append(Fault("/", status=status, times=99))
    unknown = read(engine, references)
    assert unknown == Definitions(unread=("the settings", "the stored script boost", "the mapping"))
    assert read(engine, references, timeout=0.0) == unknown
    states = [IndexState({"products": "u"}, 3, definitions=one) for one in (known, unknown, known)]
    assert explain_changed_target(Run({}, Engine("fake"), states=tuple(states))) == ""


def test_an_index_that_the_target_gained_or_lost_is_told_as_such() -> None:
    before = Definitions({"mapping of a": {"title": "1"}, "settings of a": {}})
    after = Definitions({"mapping of b": {"title": "2"}, "settings of b": {}})
    states = (IndexState({"a": "1"}, 3, definitions=before), IndexState({"b": "2"}, 3, definitions=after))
    told = explain_changed_target(Run({}, Engine("fake"), states=states))
    assert told == "the target changed during the run: it stood for a and stands for b"
