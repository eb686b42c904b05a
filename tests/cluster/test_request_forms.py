"""The forms of requests that docs/guides/hybrid.md shows, and the kinds of targets, on real engines."""

import json
import re
import uuid
from pathlib import Path

import pytest
import yaml

from harness.api import Relevance
from harness.model.inspection import Explained
from harness.model.report import Absence
from harness.model.request import SearchRequest
from harness.options import RunOptions
from harness.search.explain import explain_documents

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "hybrid.md").read_text(encoding="utf-8")
SUITES = re.findall(r"```yaml\n(suite: nearest\n.*?)```", PAGE, re.DOTALL)
DOCUMENTS = {
    "sku-2": {"title": "red tent", "brand": "north", "price": 20, "vector": [1.0, 0.1]},
    "sku-3": {"title": "tent pole", "brand": "north", "price": 5, "vector": [0.8, 0.4]},
    "sku-7": {"title": "climbing rope", "brand": "south", "price": 30, "vector": [0.1, 1.0]},
    "sku-8": {"title": "rope", "brand": "south", "price": 10, "vector": [0.5, 0.5]},
}
PROPERTIES = {"title": {"type": "text"}, "brand": {"type": "keyword"}, "price": {"type": "integer"}}
VECTORS = {
    "elasticsearch": {"type": "dense_vector", "dims": 2, "index": True, "similarity": "cosine"},
    "opensearch": {"type": "float"},
}
NEAREST = {"tents": ["sku-2", "sku-3", "sku-8", "sku-7"], "rope": ["sku-7", "sku-8", "sku-3", "sku-2"]}
MATCHING = {"tents": ["sku-2", "sku-3"], "rope": ["sku-7", "sku-8"]}
EXPECTED = {
    "elasticsearch": [
        {"nearest": NEAREST, "hybrid": NEAREST, "exact": NEAREST, "knn-query": NEAREST, "knn-retriever": NEAREST,
         "rrf": "unknown retriever [rrf]"},
        {"script": MATCHING, "nearest": "[knn] unknown field [vector]",
         "hybrid": "Unknown key for a VALUE_STRING in [search_pipeline]"},
    ],
    "opensearch": [
        {"nearest": "Unknown key for a START_OBJECT in [knn]", "hybrid": "Unknown key for a START_OBJECT in [knn]",
         "exact": "compile error", "knn-query": "unknown query [knn]", "knn-retriever": "START_OBJECT in [retriever]",
         "rrf": "START_OBJECT in [retriever]"},
        {"script": MATCHING, "nearest": "unknown query [knn]", "hybrid": "unknown query [hybrid]"},
    ],
}  # fmt: skip
"""What each request of the two suites gives, by the engine: a ranking a query, or a part of the reason of each."""


@pytest.fixture
def products(kept_index, search):
    properties = {**PROPERTIES, "vector": VECTORS[search.engine.kind]}
    return kept_index(DOCUMENTS, mappings={"properties": properties})


@pytest.fixture
def rankings(engine_url, tmp_path):
    """Runs a request of a suite, and gives the ranking of each query, or why it has none."""
    (tmp_path / "vectors.jsonl").write_text(
        '{"id": "tents", "vector": [1, 0]}\n{"id": "rope", "vector": [0, 1]}\n', encoding="utf-8"
    )

    def run(suite, index, request=None):
        path = tmp_path / "forms.relevance.yaml"
        path.write_text(json.dumps({**suite, "target": {**suite.get("target", {}), "index": index}}), encoding="utf-8")
        with Relevance(options=RunOptions(url=engine_url, locate=False)) as relevance:
            report = relevance.run(path, request=request)
        return {query.id: [hit.id for hit in query.ranking] or query.reason for query in report.queries}

    return run


@pytest.mark.parametrize("place", [0, 1], ids=["elasticsearch", "opensearch"])
def test_the_requests_of_the_page_are_answered_or_refused_with_the_engines_reason(place, products, rankings, search):
    suite, expected = yaml.safe_load(SUITES[place]), EXPECTED[search.engine.kind][place]
    assert suite["requests"].keys() == expected.keys()
    for name, wanted in expected.items():
        found = rankings(suite, products, name)
        if isinstance(wanted, str):
            assert all(wanted in why for why in found.values()), (name, found)
        else:
            assert found == wanted, name


QUERIES = [{"id": "rope", "text": "rope", "judgments": {"sku-7": 1}}]
MATCH = {"match": {"title": "{{text}}"}}
HALF = {"half": {"type": "double", "script": "emit(doc['price'].value / 2.0)"}}
BY_HALF = {"query": MATCH, "sort": [{"half": "desc"}]}
OF_SOUTH = {"query_weight": 0, "rescore_query_weight": 1, "rescore_query": {"match": {"title": "climbing"}}}
FORMS = {
    "rescore": ({"query": MATCH, "rescore": {"window_size": 20, "query": OF_SOUTH}}, ["sku-7", "sku-8"]),
    "collapse": ({"query": MATCH, "collapse": {"field": "brand"}}, ["sku-8"]),
    "runtime field": ({"runtime_mappings": HALF, **BY_HALF}, ["sku-7", "sku-8"]),
    "derived field": ({"derived": HALF, **BY_HALF}, ["sku-7", "sku-8"]),
}
LACKING = {("elasticsearch", "derived field"), ("opensearch", "runtime field")}


@pytest.mark.parametrize("form", FORMS)
def test_other_forms_are_answered_as_they_are_written(form, products, rankings, search):
    body, expected = FORMS[form]
    found = rankings({"suite": "forms", "request": body, "queries": QUERIES}, products)["rope"]
    if (search.engine.kind, form) in LACKING:
        assert "Unknown key for a START_OBJECT" in found
    else:
        assert found == expected


def test_a_stored_template_is_filled_by_the_engine(products, rankings, search, call):
    name = f"relevance-test-{uuid.uuid4().hex[:12]}"
    suite = {"suite": "forms", "queries": QUERIES}
    suite["request"] = {"template": {"id": name, "params": {"q": "{{text}}"}}}
    if search.engine.kind == "elasticsearch":
        assert "lang-mustache" in rankings(suite, products)["rope"]
        return
    source = {"query": {"match": {"title": "{{q}}"}}, "size": "{{size}}"}
    call("PUT", f"/_scripts/{name}", {"script": {"lang": "mustache", "source": source}})
    try:
        assert rankings(suite, products)["rope"] == ["sku-8", "sku-7"]
    finally:
        call("DELETE", f"/_scripts/{name}")


def test_an_alias_is_a_target(products, rankings, call):
    alias = f"{products}-south"
    filtered = {"index": products, "alias": alias, "filter": {"term": {"brand": "south"}}}
    call("POST", "/_aliases", {"actions": [{"add": filtered}]})
    request = {"query": {"bool": {"should": [MATCH, {"match_all": {}}]}}}
    suite = {"suite": "forms", "request": request, "queries": QUERIES}
    assert rankings(suite, alias)["rope"] == ["sku-8", "sku-7"]


def test_a_data_stream_is_a_target(rankings, search, call):
    if search.engine.kind == "elasticsearch":
        pytest.skip("this Elasticsearch has no module for data streams")
    name = f"relevance-test-{uuid.uuid4().hex[:12]}"
    template = {"index_patterns": [name], "data_stream": {}, "template": {"settings": {"number_of_replicas": 0}}}
    call("PUT", f"/_index_template/{name}", template)
    try:
        for number, (key, document) in enumerate(DOCUMENTS.items()):
            if number == 2:
                call("POST", f"/{name}/_rollover")
            call("PUT", f"/{name}/_create/{key}?refresh=true", {"@timestamp": "2026-01-01T00:00:00Z", **document})
        assert rankings({"suite": "forms", "request": {"query": MATCH}, "queries": QUERIES}, name)["rope"] == [
            "sku-8",
            "sku-7",
        ]
    finally:
        call("DELETE", f"/_data_stream/{name}")
        call("DELETE", f"/_index_template/{name}")


def test_an_index_of_another_cluster_is_a_target(products, rankings, search, call):
    if search.engine.kind == "opensearch":
        pytest.skip("the embedded node has not the role of a client of remote clusters")
    [node] = call("GET", "/_nodes/_local/transport")["nodes"].values()
    remote = f"relevance-test-{uuid.uuid4().hex[:12]}"
    seeds = f"cluster.remote.{remote}.seeds"
    call("PUT", "/_cluster/settings", {"persistent": {seeds: [node["transport"]["publish_address"]]}})
    suite = {"suite": "forms", "request": {"query": MATCH}, "queries": QUERIES}
    try:
        assert rankings(suite, f"{remote}:{products}")["rope"] == ["sku-8", "sku-7"]
        both = rankings(suite, f"{products},{remote}:{products}")["rope"]
        assert "ambiguous id" in both
        same = rankings({**suite, "target": {"ids": "unique"}}, f"{products},{remote}:{products}")["rope"]
        assert sorted(same) == ["sku-7", "sku-8"]
        missing = rankings(suite, f"{remote}:relevance-test-nowhere")["rope"]
        assert f"1 of 1 clusters did not answer in full: {remote}: index_not_found_exception" in missing
    finally:
        call("PUT", "/_cluster/settings", {"persistent": {seeds: None}})


VARIANTS = {
    "a": {"title": "red tent", "sku": "tent-1", "shop": {"number": 7}},
    "b": {"title": "tent pole", "sku": "pole-1", "shop": {"number": 8}},
    "c": {"title": "tent pole of steel", "sku": "pole-1", "shop": {"number": 9}},
    "d": {"title": "rope", "sku": "rope-1", "shop": {"number": 10}},
}
OF_VARIANTS = {
    "title": {"type": "text"}, "sku": {"type": "keyword"}, "shop": {"properties": {"number": {"type": "integer"}}},
}  # fmt: skip


def test_ids_may_be_those_of_a_field(kept_index, engine_url, tmp_path):
    name = kept_index(VARIANTS, mappings={"properties": OF_VARIANTS})
    path = tmp_path / "fields.relevance.yaml"
    path.write_text(
        f"""\
suite: fields
target: {{index: {name}, id_field: sku}}
display: {{title: title}}
measures: ["nDCG@10"]
requests:
  plain: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  own-fields: {{query: {{match: {{title: "{{{{text}}}}"}}}}, fields: [shop.number], _source: [title]}}
queries:
  - {{id: red, text: red, judgments: {{tent-1: 1, rope-1: 1, gone-1: 1}}, thresholds: ["nDCG@10 = 1"]}}
  - {{id: tent, text: pole, judgments: {{pole-1: 1}}}}
""",
        encoding="utf-8",
    )
    with Relevance(options=RunOptions(url=engine_url)) as relevance:
        for request in ("plain", "own-fields"):
            red, pole = relevance.run(path, request=request).queries
            assert [(hit.id, hit.title) for hit in red.ranking] == [("tent-1", "red tent")]
            assert {one.id: one.absence for one in red.missing} == {
                "rope-1": Absence.NO_MATCH,
                "gone-1": Absence.NOT_VISIBLE,
            }
            assert f'"pole-1" is in {name} (_id b) at rank 1 and in {name} (_id c) at rank 2' in pole.reason
        path.write_text(path.read_text().replace("id_field: sku", "id_field: sku, ids: unique"), encoding="utf-8")
        _, pole = relevance.run(path).queries
        assert [hit.id for hit in pole.ranking] == ["pole-1"]
        numbered = path.read_text().replace("id_field: sku", "id_field: shop.number").replace("{pole-1: 1}", "{8: 1}")
        path.write_text(numbered, encoding="utf-8")
        assert [hit.id for hit in relevance.run(path).queries[1].ranking] == ["8", "9"]
        path.write_text(path.read_text().replace("id_field: shop.number", "id_field: ean"), encoding="utf-8")
        assert "one text or whole number in 'ean', the `id_field` of the target, found nothing" in (
            relevance.run(path).queries[0].reason
        )


def test_documents_are_explained_by_the_ids_of_a_field(kept_index, search):
    name = kept_index(VARIANTS, mappings={"properties": OF_VARIANTS})
    request = SearchRequest("red", name, {"query": {"match": {"title": "red"}}, "size": 10}, id_field="sku")
    found = explain_documents(search, request, ["tent-1", "rope-1", "gone-1"], ranking=["tent-1"], known=[])
    assert [one.outcome for one in found] == [Explained.SCORED, Explained.UNMATCHED, Explained.INVISIBLE]
    assert found[0].score == pytest.approx(sum(part.score for part in found[0].parts))
