"""The fields that requests name, and those that indexes have."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from builders.engine import Fault, ScriptedEngine
from harness.errors import SearchError
from harness.model.request import Cluster
from harness.search import fields
from harness.search.dialects import open_search
from harness.search.fields import find_named_fields, list_unknown_fields

TITLE = {"match": {"title": "x"}}
NAMED: dict[str, tuple[Any, dict[str, str]]] = {
    "a match": ({"query": TITLE}, {"title": "query.match"}),
    "the match family": (
        {"query": {"bool": {"must": [{"match_phrase": {"a": "x"}}, {"match_bool_prefix": {"b": {"query": "x"}}}]}}},
        {"a": "query.bool.must[0].match_phrase", "b": "query.bool.must[1].match_bool_prefix"},
    ),
    "fields with boosts and wildcards": (
        {"query": {"multi_match": {"query": "x", "fields": ["title^3", "text.*", "*_en^2", "brand"]}}},
        {"title": "query.multi_match.fields[0]", "brand": "query.multi_match.fields[3]"},
    ),
    "the default of a query string": (
        {"query": {"query_string": {"query": "x", "default_field": "titel"}}},
        {"titel": "query.query_string.default_field"},
    ),
    "the default of a query string that is every field": (
        {"query": {"query_string": {"query": "x", "default_field": "*"}}},
        {},
    ),
    "terms and ranges in filters": (
        {
            "query": {
                "bool": {"filter": {"terms": {"brand": ["a"], "boost": 2}}, "must_not": [{"range": {"price": {}}}]}
            }
        },
        {"brand": "query.bool.filter.terms", "price": "query.bool.must_not[0].range"},
    ),
    "queries in queries": (
        {
            "query": {
                "function_score": {
                    "query": {"dis_max": {"queries": [{"constant_score": {"filter": {"term": {"a": 1}}}}]}},
                    "functions": [{"filter": {"term": {"b": 1}}, "weight": 2}, {"random_score": {"field": "c"}}],
                }
            }
        },
        {
            "a": "query.function_score.query.dis_max.queries[0].constant_score.filter.term",
            "b": "query.function_score.functions[0].filter.term",
            "c": "query.function_score.functions[1].random_score.field",
        },
    ),
    "a nested query": (
        {"query": {"nested": {"path": "offers", "query": {"term": {"offers.seller": "x"}}}}},
        {"offers.seller": "query.nested.query.term"},
    ),
    "a script": (
        {"query": {"script_score": {"query": TITLE, "script": {"params": {"term": {"x": 1}}}}}},
        {"title": "query.script_score.query.match"},
    ),
    "aggregations": (
        {"query": TITLE, "aggs": {"a": {"terms": {"field": "b", "order": {"best": "desc"}}}}},
        {"title": "query.match", "b": "aggs.a.terms.field"},
    ),
    "aggregations that sort, and those in aggregations": (
        {
            "aggregations": {
                "field": {
                    "terms": {"field": "brand"},
                    "meta": {"field": "of the user"},
                    "aggs": {
                        "best": {"top_hits": {"sort": [{"price": "asc"}, "_score"], "size": 3}},
                        "dear": {"top_metrics": {"metrics": [{"field": "cost"}], "sort": {"date": "desc"}}},
                        "page": {"bucket_sort": {"sort": [{"best": {"order": "desc"}}]}},
                        "red": {"filter": {"term": {"color": "red"}}},
                        "colors": {"filters": {"filters": {"blue": {"term": {"hue": "blue"}}}}},
                        "sums": {"scripted_metric": {"map_script": "…", "params": {"field": "x"}}},
                    },
                },
                "pairs": {"composite": {"sources": [{"day": {"date_histogram": {"field": "day"}}}]}},
                "mean": {"weighted_avg": {"value": {"field": "stars"}, "weight": {"field": "votes"}}},
                "several": {"matrix_stats": {"fields": ["width", "height"]}},
            }
        },
        {
            "brand": "aggregations.field.terms.field",
            "price": "aggregations.field.aggs.best.top_hits.sort[0]",
            "cost": "aggregations.field.aggs.dear.top_metrics.metrics[0].field",
            "date": "aggregations.field.aggs.dear.top_metrics.sort",
            "color": "aggregations.field.aggs.red.filter.term",
            "hue": "aggregations.field.aggs.colors.filters.filters.blue.term",
            "day": "aggregations.pairs.composite.sources[0].day.date_histogram.field",
            "stars": "aggregations.mean.weighted_avg.value.field",
            "votes": "aggregations.mean.weighted_avg.weight.field",
            "width": "aggregations.several.matrix_stats.fields[0]",
            "height": "aggregations.several.matrix_stats.fields[1]",
        },
    ),
    "the function of a function_score": (
        {"query": {"function_score": {"query": TITLE, "field_value_factor": {"field": "clicks", "missing": 1}}}},
        {"title": "query.function_score.query.match", "clicks": "query.function_score.field_value_factor.field"},
    ),
    "several functions": (
        {
            "query": {
                "function_score": {
                    "functions": [
                        {"field_value_factor": {"field": "clicks"}, "weight": 2},
                        {"gauss": {"date": {"origin": "now", "scale": "2d"}, "multi_value_mode": "avg"}},
                        {"exp": {"place": {"origin": "1,2", "scale": "2km"}}},
                        {"linear": {"price": {"origin": 0, "scale": 2}}, "filter": TITLE},
                        {"random_score": {"seed": 1}},
                        {"script_score": {"script": {"params": {"field": "x"}}}},
                    ],
                }
            }
        },
        {
            "clicks": "query.function_score.functions[0].field_value_factor.field",
            "date": "query.function_score.functions[1].gauss",
            "place": "query.function_score.functions[2].exp",
            "price": "query.function_score.functions[3].linear",
            "title": "query.function_score.functions[3].filter.match",
        },
    ),
    "features, existence, and whatever has a field": (
        {
            "query": {
                "bool": {
                    "should": [
                        {"rank_feature": {"field": "rank", "saturation": {"pivot": 8}}},
                        {"distance_feature": {"field": "date", "origin": "now", "pivot": "7d"}},
                        {"exists": {"field": "image"}},
                        {"sparse_vector": {"field": "tokens", "query": "x"}},
                        {"semantic": {"field": "meaning", "query": "x"}},
                        {"percolate": {"field": "stored", "document": {"field": "x"}}},
                    ]
                }
            }
        },
        {
            "rank": "query.bool.should[0].rank_feature.field",
            "date": "query.bool.should[1].distance_feature.field",
            "image": "query.bool.should[2].exists.field",
            "tokens": "query.bool.should[3].sparse_vector.field",
            "meaning": "query.bool.should[4].semantic.field",
            "stored": "query.bool.should[5].percolate.field",
        },
    ),
    "places and shapes": (
        {
            "query": {
                "bool": {
                    "filter": [
                        {"geo_distance": {"distance": "2km", "place": {"lat": 1, "lon": 2}, "distance_type": "plane"}},
                        {"geo_bounding_box": {"ignore_unmapped": True, "anywhere": {}}},
                        {"geo_shape": {"area": {"shape": {}}, "ignore_unmapped": False}},
                    ]
                }
            },
            "sort": [{"_geo_distance": {"home": [1, 2], "order": "asc", "unit": "km"}}],
        },
        {
            "place": "query.bool.filter[0].geo_distance",
            "area": "query.bool.filter[2].geo_shape",
            "home": "sort[0]._geo_distance",
        },
    ),
    "spans": (
        {
            "query": {
                "span_near": {
                    "clauses": [
                        {"span_term": {"title": "x"}},
                        {"span_multi": {"match": {"prefix": {"text": "x"}}}},
                        {"field_masking_span": {"query": {"span_term": {"body": "x"}}, "field": "mask"}},
                    ]
                }
            }
        },
        {
            "title": "query.span_near.clauses[0].span_term",
            "text": "query.span_near.clauses[1].span_multi.match.prefix",
            "mask": "query.span_near.clauses[2].field_masking_span.field",
            "body": "query.span_near.clauses[2].field_masking_span.query.span_term",
        },
    ),
    "fields beside a field": (
        {
            "query": {"terms_set": {"codes": {"terms": ["a"], "minimum_should_match_field": "least"}}},
            "sort": [{"offers.price": {"nested": {"path": "offers", "filter": {"term": {"offers.color": "x"}}}}}],
            "collapse": {"field": "family", "inner_hits": [{"name": "x", "sort": [{"stock": "asc"}]}]},
        },
        {
            "codes": "query.terms_set",
            "least": "query.terms_set.codes.minimum_should_match_field",
            "offers.price": "sort[0]",
            "offers.color": "sort[0].offers.price.nested.filter.term",
            "family": "collapse.field",
            "stock": "collapse.inner_hits[0].sort[0]",
        },
    ),
    "fields in one text": (
        {"query": {"multi_match": {"query": "x", "fields": "title^2"}}},
        {"title": "query.multi_match.fields"},
    ),
    "a retriever that reads a field": (
        {"retriever": {"text_similarity_reranker": {"retriever": {"standard": {"query": TITLE}}, "field": "text"}}},
        {
            "text": "retriever.text_similarity_reranker.field",
            "title": "retriever.text_similarity_reranker.retriever.standard.query.match",
        },
    ),
    "sorts": (
        {"sort": ["_score", "price", {"date": "desc"}, {"stock": {"order": "asc", "unmapped_type": "long"}}]},
        {"price": "sort[1]", "date": "sort[2]"},
    ),
    "one sort": ({"sort": {"price": {"order": "asc"}}}, {"price": "sort"}),
    "collapse": ({"collapse": {"field": "family"}}, {"family": "collapse.field"}),
    "knn of Elasticsearch": (
        {"knn": [{"field": "vector", "query_vector": [1.0], "filter": TITLE}]},
        {"vector": "knn[0].field", "title": "knn[0].filter.match"},
    ),
    "knn of OpenSearch": (
        {"query": {"knn": {"vector": {"vector": [1.0], "k": 3, "filter": TITLE}}}},
        {"vector": "query.knn", "title": "query.knn.vector.filter.match"},
    ),
    "rescore": (
        {"rescore": {"window_size": 50, "query": {"rescore_query": TITLE}}},
        {"title": "rescore.query.rescore_query.match"},
    ),
    "post_filter": ({"post_filter": {"term": {"brand": "x"}}}, {"brand": "post_filter.term"}),
    "retrievers": (
        {
            "retriever": {
                "linear": {
                    "retrievers": [
                        {"retriever": {"standard": {"query": TITLE, "sort": ["price"]}}, "weight": 2},
                        {"knn": {"field": "vector", "k": 3}},
                    ]
                }
            }
        },
        {
            "title": "retriever.linear.retrievers[0].retriever.standard.query.match",
            "price": "retriever.linear.retrievers[0].retriever.standard.sort[0]",
            "vector": "retriever.linear.retrievers[1].knn.field",
        },
    ),
    "rank_feature": (
        {"query": {"rank_feature": {"field": "features.clicks"}}},
        {"features.clicks": "query.rank_feature.field"},
    ),
    "a part of its own composite runtime field": (
        {"query": {"term": {"http.ip": "1"}}, "runtime_mappings": {"http": {"type": "composite"}}},
        {},
    ),
    "its own runtime field": ({"query": {"term": {"day": 1}}, "runtime_mappings": {"day": {"type": "long"}}}, {}),
    "the engine's own fields": (
        {"query": {"term": {"_index": "x"}}, "sort": ["_doc", {"_script": {"script": "…", "type": "number"}}]},
        {},
    ),
    "the same field twice": ({"query": TITLE, "sort": ["title"]}, {"title": "query.match"}),
    "no body": (None, {}),
    "not what it should be": ({"query": ["x", 3], "knn": 3, "sort": 3, "retriever": "x", "collapse": []}, {}),
}


@pytest.mark.parametrize(("body", "named"), NAMED.values(), ids=NAMED)
def test_a_body_names_fields(body: Any, named: dict[str, str]) -> None:
    assert find_named_fields(body) == named


def test_docstring_examples_hold() -> None:
    assert doctest.testmod(fields).failed == 0


def test_the_engine_is_asked_by_name(engine: ScriptedEngine) -> None:
    engine.unmapped = {"titel", "name.en"}
    with open_search(Cluster("test", url=engine.url), {}) as search:
        search.field_types("products", ["title"], {"expand_wildcards": "open,hidden"})
        assert engine.sent[-1] == ("GET", "/products/_field_caps?expand_wildcards=open%2Chidden&fields=title")
        types = search.field_types("products,others*", ["title", "titel", "name.en"], {})
    assert types == {"title": frozenset({"text"})}
    assert engine.sent[-1] == ("GET", "/products,others*/_field_caps?fields=title,titel,name.en")


def test_many_names_go_in_several_requests(engine: ScriptedEngine) -> None:
    names = [f"field-{number:04}" for number in range(500)]
    with open_search(Cluster("test", url=engine.url), {}) as search:
        assert list(search.field_types("products", names, {})) == names
    asked = [path for _, path in engine.sent if "_field_caps" in path]
    assert len(asked) == 3
    assert max(map(len, asked)) < 4096


@pytest.mark.parametrize("status", [403, 404, 405, 501])
def test_a_refusal_is_an_error(engine: ScriptedEngine, status: int) -> None:
    engine.faults.append(Fault("/products/_field_caps", status=status))
    with open_search(Cluster("test", url=engine.url), {}) as search, pytest.raises(SearchError, match=str(status)):
        search.field_types("products", ["title"], {})


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b'{"fields": []}', b'{"fields": {}, "failures": [{"indices": ["i"]}]}', b"<"]
)
def test_an_answer_that_cannot_be_read_is_an_error(engine: ScriptedEngine, body: bytes) -> None:
    engine.faults.append(Fault("/products/_field_caps", status=200, body=body))
    with open_search(Cluster("test", url=engine.url), {}) as search, pytest.raises(SearchError, match="not complete"):
        search.field_types("products", ["title"], {})


@pytest.mark.parametrize("engine_name", ["opensearch 3.8", "elasticsearch 9.4"])
def test_derived_fields_of_the_mapping_are_fields(engine: ScriptedEngine, engine_name: str) -> None:
    engine.unmapped = {"half", "offer", "offer.price", "titel"}
    derived = {"half": {"type": "double", "script": "x"}, "offer": {"type": "object", "script": "x"}}
    engine.gets["/products/_mapping?expand_wildcards=open"] = {
        "p-1": {"mappings": {}},
        "p-2": {"mappings": {"derived": derived}},
    }
    names = ["title", "half", "offer", "offer.price", "titel"]

    with open_search(Cluster("test", url=engine.url), {}, engine=engine_name) as search:
        types = search.field_types("products", names, {"expand_wildcards": "open"})

    unknown = list_unknown_fields(names, types)
    if engine_name.startswith("opensearch"):
        assert unknown == ["titel"]
    else:
        assert unknown == ["half", "offer", "offer.price", "titel"]
        assert not [path for _, path in engine.sent if "_mapping" in path]


def test_mappings_that_may_not_be_read_have_no_derived_fields(engine: ScriptedEngine) -> None:
    engine.unmapped = {"titel"}
    engine.faults.append(Fault("/products/_mapping", status=403, times=9))

    with open_search(Cluster("test", url=engine.url), {}, engine="opensearch 3.8") as search:
        assert set(search.field_types("products", ["title", "titel"], {})) == {"title"}


class MsearchOnly:
    def msearch(self, body: Any) -> Any:
        raise AssertionError(body)


def test_a_client_that_can_only_search_is_an_error() -> None:
    with (
        open_search(Cluster("test"), {}, engine="elasticsearch 9", client=MsearchOnly()) as search,
        pytest.raises(SearchError, match="MsearchOnly cannot send GET /products/_field_caps"),
    ):
        search.field_types("products", ["title"], {})


def test_parts_of_an_open_ended_field_are_known() -> None:
    types = {"attributes": frozenset({"flattened"}), "title": frozenset({"text"}), "offer": frozenset({"object"})}
    assert list_unknown_fields(["attributes.color.name", "title.raw", "offer.price", "title"], types) == [
        "title.raw",
        "offer.price",
    ]
