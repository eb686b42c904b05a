"""
Nothing sound is refused: whatever a request can ask of a real engine, its answer is read as a ranking without a doubt.

The other half, that nothing unsound is read as a ranking, is told by answers that no engine gives: see
tests/plugin/test_plugin_answers.py.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Ranking, Response
from harness.search.engine import EngineSearch
from harness.search.lookup import LookUp, look_up_documents

SHOES = {str(n): {"title": f"red shoes {'worn ' * n}", "price": n, "color": ["red", "blue"][n % 2]} for n in range(12)}
MAPPINGS = {
    "properties": {"title": {"type": "text"}, "price": {"type": "long"}, "color": {"type": "keyword"}},
}
VECTORS = {**MAPPINGS["properties"], "v": {"type": "dense_vector", "dims": 2, "index": True, "similarity": "l2_norm"}}
RED: dict[str, Any] = {"match": {"title": "red"}}
NONE: dict[str, Any] = {"match": {"title": "green"}}
MakeIndex = Callable[..., str]

SOUND: dict[str, tuple[dict[str, Any], int, int | None, bool]] = {
    # the body, how many hits come, the total and whether that is a lower bound
    "a match": ({"query": RED}, 10, 12, False),
    "no match": ({"query": NONE}, 0, 0, False),
    "no match, not counted": ({"query": NONE, "track_total_hits": False}, 0, None, False),
    "all of them": ({"query": RED, "size": 50}, 12, 12, False),
    "no hits wanted": ({"query": RED, "size": 0}, 0, 12, False),
    "counted": ({"query": RED, "track_total_hits": True}, 10, 12, False),
    "counted to 3": ({"query": RED, "track_total_hits": 3, "size": 2}, 2, 3, True),
    "counted to 3, and more come": ({"query": RED, "track_total_hits": 3}, 10, 3, True),
    "not counted": ({"query": RED, "track_total_hits": False}, 10, None, False),
    "sorted by a field": ({"query": RED, "sort": [{"price": "desc"}]}, 10, 12, False),
    "sorted by a field, with scores": (
        {"query": RED, "sort": [{"price": "desc"}], "track_scores": True},
        10,
        12,
        False,
    ),
    "sorted by score and a field": ({"query": RED, "sort": ["_score", {"price": "desc"}]}, 10, 12, False),
    "sorted by a field, not counted": (
        {"query": RED, "sort": [{"price": "desc"}], "track_total_hits": False},
        10,
        None,
        False,
    ),
    "the first in the index": ({"query": RED, "sort": ["_doc"], "track_total_hits": False, "size": 1}, 1, None, False),
    "collapsed": ({"query": RED, "collapse": {"field": "color"}}, 2, 12, False),
    "collapsed, with the others": (
        {"query": RED, "collapse": {"field": "color", "inner_hits": {"name": "others", "size": 2}}},
        2,
        12,
        False,
    ),
    "rescored": (
        {"query": RED, "rescore": {"window_size": 5, "query": {"rescore_query": {"match": {"title": "worn"}}}}},
        10,
        12,
        False,
    ),
    "a function's scores": (
        {"query": {"function_score": {"query": RED, "field_value_factor": {"field": "price", "modifier": "log1p"}}}},
        10,
        12,
        False,
    ),
    "a script's scores": (
        {"query": {"script_score": {"query": RED, "script": {"source": "doc['price'].value + 1"}}}},
        10,
        12,
        False,
    ),
    "the greatest scores that there are": (
        {"query": {"constant_score": {"filter": RED, "boost": 3.4e38}}},
        10,
        12,
        False,
    ),
    "a least score": ({"query": RED, "min_score": 1000}, 0, 0, False),
    "filtered behind": ({"query": RED, "post_filter": {"term": {"color": "red"}}}, 6, 6, False),
    "within a time limit": ({"query": RED, "timeout": "30s"}, 10, 12, False),
    "told to stop early, and came to the end": ({"query": RED, "terminate_after": 1000}, 10, 12, False),
    "profiled": ({"query": RED, "profile": True, "size": 3}, 3, 12, False),
    "explained": ({"query": RED, "explain": True, "version": True, "seq_no_primary_term": True}, 10, 12, False),
    "with suggestions": ({"query": RED, "suggest": {"s": {"text": "rad", "term": {"field": "title"}}}}, 10, 12, False),
    "with aggregations of nothing": (
        {"query": NONE, "aggs": {"mean": {"avg": {"field": "price"}}, "most": {"max": {"field": "price"}}}},
        0,
        0,
        False,
    ),
    "with fields": (
        {"query": RED, "_source": False, "fields": ["title"], "highlight": {"fields": {"title": {}}}},
        10,
        12,
        False,
    ),
}


def ask(search: EngineSearch, index: str | None, *bodies: Any, unique_ids: bool = False) -> list[Response]:
    return search.search([SearchRequest(str(n), index, body, unique_ids=unique_ids) for n, body in enumerate(bodies)])


def sound(response: Response) -> Ranking:
    assert isinstance(response, Ranking), response
    assert (response.total_doubt, response.took_doubt) == ("", "")
    assert response.took is not None
    return response


@pytest.fixture
def shoes(index: MakeIndex) -> str:
    """An index of three shards, since some members say something of several only."""
    return index(SHOES, mappings=MAPPINGS, settings={"number_of_shards": 3})


def test_every_request_of_the_list_is_answered_with_a_ranking(search: EngineSearch, shoes: str) -> None:
    responses = ask(search, shoes, *(body for body, *_ in SOUND.values()))

    found = {name: sound(response) for name, response in zip(SOUND, responses, strict=True)}
    told = {name: [len(one.hits), one.total, one.total_is_lower_bound] for name, one in found.items()}
    assert told == {name: expected for name, (_, *expected) in SOUND.items()}
    assert not any(one.stopped_early for one in found.values())


def test_a_search_that_stops_early_as_it_was_told_to_is_a_ranking_of_what_it_saw(
    search: EngineSearch, shoes: str
) -> None:
    [response] = ask(search, shoes, {"query": RED, "terminate_after": 2})

    found = sound(response)
    assert found.stopped_early
    assert found.total_is_lower_bound
    assert 0 < len(found.hits) <= 6


def test_vectors(search: EngineSearch, index: MakeIndex) -> None:
    if search.engine.kind != "elasticsearch":
        pytest.skip("this OpenSearch has no plugin for vectors")
    documents = {name: {**document, "v": [document["price"], 1]} for name, document in SHOES.items()}
    name = index(documents, mappings={"properties": VECTORS}, settings={"number_of_shards": 2})
    knn = {"field": "v", "query_vector": [1, 1], "k": 3, "num_candidates": 10}

    responses = ask(
        search,
        name,
        {"knn": knn},
        {"query": RED, "knn": knn},
        {"query": {"knn": {key: value for key, value in knn.items() if key != "k"}}},
        {"retriever": {"knn": knn}},
        {"retriever": {"standard": {"query": RED}}},
    )

    assert [len(sound(response).hits) for response in responses] == [3, 10, 10, 3, 10]


def test_search_templates(search: EngineSearch, shoes: str, call: Callable[..., Any]) -> None:
    if search.engine.kind != "opensearch":
        pytest.skip("this Elasticsearch has no module for search templates")
    kept = f"relevance-{uuid.uuid4().hex[:8]}"
    source = {"query": RED, "terminate_after": 2, "size": "{{size}}"}
    call("PUT", f"/_scripts/{kept}", {"script": {"lang": "mustache", "source": source}})
    params = {"size": 10}
    try:
        responses = ask(
            search,
            shoes,
            {"template": {"source": {"query": RED}, "params": params}},
            {"template": {"source": '{"query": {"match": {"title": "red"}}, "terminate_after": 2}', "params": params}},
            {"template": {"source": source, "params": params}},
            {"template": {"id": kept, "params": params}},
        )
    finally:
        call("DELETE", f"/_scripts/{kept}")

    assert [sound(response).stopped_early for response in responses] == [False, True, True, True]


def test_a_point_in_time(search: EngineSearch, shoes: str, call: Callable[..., Any]) -> None:
    if search.engine.kind == "elasticsearch":
        pit = call("POST", f"/{shoes}/_pit?keep_alive=1m")["id"]
    else:
        pit = call("POST", f"/{shoes}/_search/point_in_time?keep_alive=1m")["pit_id"]

    whole, part = ask(
        search,
        None,
        {"query": RED, "pit": {"id": pit}},
        {"query": RED, "pit": {"id": pit}, "slice": {"id": 0, "max": 2}},
    )

    assert len(sound(whole).hits) == 10
    assert 0 < len(sound(part).hits) < 12


def test_shards_that_cannot_match_are_skipped_and_not_missed(search: EngineSearch, index: MakeIndex) -> None:
    cheap = index({"a": {"title": "red", "price": 1}}, mappings=MAPPINGS)
    dear = index({"b": {"title": "red", "price": 100}}, mappings=MAPPINGS)
    body = {
        "query": {"bool": {"must": [RED], "filter": [{"range": {"price": {"gte": 50}}}]}},
        "sort": [{"price": "asc"}],
    }

    [response] = ask(search, f"{cheap},{dear}", body)

    assert [hit.id for hit in sound(response).hits] == ["b"]


@pytest.fixture
def stream(search: EngineSearch, call: Callable[..., Any]) -> Iterator[str]:
    """A data stream whose two indexes hold a document each."""
    name = f"relevance-test-{uuid.uuid4().hex[:8]}"
    call(
        "PUT",
        f"/_index_template/{name}",
        {
            "index_patterns": [name],
            "data_stream": {},
            "priority": 900,
            "template": {"settings": {"number_of_replicas": 0}},
        },
    )
    call("PUT", f"/{name}/_create/a", {"@timestamp": "2026-01-01T00:00:00Z", "title": "red"})
    call("POST", f"/{name}/_rollover")
    call("PUT", f"/{name}/_create/b", {"@timestamp": "2026-02-01T00:00:00Z", "title": "red"})
    call("POST", f"/{name}/_refresh")
    yield name
    search.connection.perform("DELETE", f"/_data_stream/{name}")
    search.connection.perform("DELETE", f"/_index_template/{name}")


def test_a_data_stream_is_one_ranking(search: EngineSearch, stream: str) -> None:
    late = {"query": {"range": {"@timestamp": {"gte": "2026-01-15"}}}}

    both, one = ask(search, stream, {"query": RED}, late)

    assert {hit.id for hit in sound(both).hits} == {"a", "b"}
    assert [hit.id for hit in sound(one).hits] == ["b"]


# ----------------------------------------------------------------------------------------------- one id, two documents


@pytest.fixture
def alias(search: EngineSearch, call: Callable[..., Any], index: MakeIndex) -> str:
    """An alias of two indexes, which both have a document `1`."""
    name = f"relevance-test-{uuid.uuid4().hex[:8]}"
    indexes = index({"1": {"title": "red shoes"}}), index({"1": {"title": "red hat"}, "2": {"title": "red"}})
    call("POST", "/_aliases", {"actions": [{"add": {"index": one, "alias": name}} for one in indexes]})
    return name


def test_the_same_id_in_two_indexes_is_an_error_of_its_query(search: EngineSearch, alias: str) -> None:
    both, one = ask(search, alias, {"query": RED}, {"query": {"match": {"title": "hat"}}})

    assert isinstance(both, Failure)
    assert both.kind is FailureKind.AMBIGUOUS
    assert both.reason.startswith('"1" is in relevance-test-')
    assert [hit.id for hit in sound(one).hits] == ["1"]


def test_where_ids_are_said_to_be_unique_the_copies_are_one_document(search: EngineSearch, alias: str) -> None:
    [response] = ask(search, alias, {"query": RED}, unique_ids=True)

    found = sound(response)
    assert sorted(hit.id for hit in found.hits) == ["1", "2"]
    assert found.duplicates == ("1",)


def test_the_same_id_under_two_routings_is_an_error_of_its_query(
    search: EngineSearch, shoes: str, call: Callable[..., Any]
) -> None:
    for routing in range(10):  # so many that two of them lead to different shards
        call("PUT", f"/{shoes}/_doc/routed?refresh=true&routing=r{routing}", {"title": "routed"})

    [response] = ask(search, shoes, {"query": {"match": {"title": "routed"}}})

    assert isinstance(response, Failure)
    assert response.kind is FailureKind.AMBIGUOUS
    assert 'routing "r' in response.reason


def test_a_look_up_finds_a_document_of_two_indexes(search: EngineSearch, alias: str) -> None:
    [known] = look_up_documents(search, [LookUp(SearchRequest("", alias, {}), ["1", "2", "3"])])

    assert (known.found, known.missing, known.repeated) == ({"1", "2"}, {"3"}, {"1"})


# ---------------------------------------------------------------------------------- what engines say and is no ranking


def test_scores_without_an_end_are_an_error_of_their_query(search: EngineSearch, shoes: str) -> None:
    script = {"source": "1.0e300 * (1 + doc['price'].value)"}

    [response] = ask(search, shoes, {"query": {"script_score": {"query": RED, "script": script}}})

    assert isinstance(response, Failure)
    assert (response.kind, response.reason) == (
        FailureKind.MALFORMED,
        '`hits.hits[0]._score` should be a finite number, found "Infinity"',
    )


def test_facts_of_an_index_are_read_in_full(search: EngineSearch, shoes: str) -> None:
    facts = search.index_facts(shoes)

    assert (facts.documents, facts.missing) == (12, ())
