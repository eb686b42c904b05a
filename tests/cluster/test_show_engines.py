"""``relevance show`` on engines: parts of scores add up, and documents that a request does not find have a cause."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.model.inspection import Explained, PartKind
from harness.model.request import SearchRequest
from harness.search.engine import EngineSearch
from harness.search.explain import explain_documents

ROOT = Path(__file__).parents[2]
EXACT = 1e-4

Show = Callable[..., tuple[int, str]]

DOCUMENTS = {
    "1": {"title": "red running shoe", "text": "a red shoe for running fast", "brand": "acme", "price": 50},
    "2": {"title": "blue shoe", "text": "a sneaker in blue, not red", "brand": "acme", "price": 30},
    "3": {"title": "green hat", "text": "a hat", "brand": "hats", "price": 90},
    "4": {"title": "red hat", "text": "a hat for running in red shoes", "brand": "hats", "price": 20},
}
MAPPINGS = {
    "properties": {
        "title": {"type": "text"},
        "text": {"type": "text"},
        "brand": {"type": "keyword"},
        "price": {"type": "integer"},
    }
}
PRICE = {"field": "price"}
SHOE = {"match": {"title": "red shoe"}}


def queries() -> dict[str, Any]:
    fields = ["title^3", "text"]
    acme = {"term": {"brand": "acme"}}
    return {
        "match": {"query": SHOE},
        "best_fields": {"query": {"multi_match": {"query": "red shoe", "fields": fields}}},
        "tie_breaker": {"query": {"multi_match": {"query": "red shoe", "fields": fields, "tie_breaker": 0.3}}},
        "most_fields": {"query": {"multi_match": {"query": "red shoe", "fields": fields, "type": "most_fields"}}},
        "cross_fields": {"query": {"multi_match": {"query": "red shoe", "fields": fields, "type": "cross_fields"}}},
        "phrase": {"query": {"multi_match": {"query": "running shoe", "fields": fields, "type": "phrase"}}},
        "bool": {
            "query": {
                "bool": {
                    "must": [SHOE],
                    "should": [
                        {"constant_score": {"filter": acme, "boost": 2.5}},
                        {"match": {"text": {"query": "red", "boost": 4}}},
                    ],
                    "filter": [{"range": {"price": {"lte": 60}}}],
                }
            }
        },
        "boosting": {"query": {"boosting": {"positive": SHOE, "negative": acme, "negative_boost": 0.5}}},
        "dis_max": {"query": {"dis_max": {"queries": [SHOE, {"match": {"text": "red"}}], "tie_breaker": 0.5}}},
        "wildcard": {"query": {"bool": {"should": [{"wildcard": {"title": "sho*"}}, {"match_all": {}}]}}},
        "fuzzy": {"query": {"match": {"title": {"query": "shoo", "fuzziness": 1}}}},
        "rescore": {
            "query": SHOE,
            "rescore": {
                "window_size": 10,
                "query": {
                    "rescore_query": {"match_phrase": {"title": "running shoe"}},
                    "query_weight": 0.7,
                    "rescore_query_weight": 1.2,
                },
            },
        },
        "sort": {"query": SHOE, "sort": [{"price": "asc"}]},
    }  # fmt: skip


@pytest.fixture
def explain(search: EngineSearch, kept_index: Callable[..., str]) -> Callable[..., Any]:
    """Gives the hits of a body, and the explanations of documents, through an alias."""
    name = kept_index(DOCUMENTS, mappings=MAPPINGS)
    actions = json.dumps({"actions": [{"add": {"index": name, "alias": f"{name}-alias"}}]}).encode()
    assert search.connection.perform("POST", "/_aliases", body=actions).status == 200

    def run(body: Any, *documents: str) -> Any:
        request = SearchRequest("q", f"{name}-alias", {"size": 10, **body})
        [ranking] = search.search([request])
        ids = [hit.id for hit in ranking.hits]  # type: ignore[union-attr]
        return ranking, explain_documents(search, request, documents or ids, ranking=ids)

    return run


@pytest.mark.parametrize("name", queries())
def test_the_parts_of_every_hit_add_up_to_its_score(explain: Callable[..., Any], name: str) -> None:
    ranking, explanations = explain(queries()[name])
    assert explanations
    for rank, (hit, found) in enumerate(zip(ranking.hits, explanations, strict=True), start=1):
        assert (found.document, found.outcome, found.rank) == (hit.id, Explained.SCORED, rank)
        assert math.fsum(part.score for part in found.parts) == pytest.approx(found.score, abs=EXACT)
        assert hit.score is None or found.score == pytest.approx(hit.score, abs=EXACT)
        assert {part.kind for part in found.parts} <= {PartKind.TERM, PartKind.CONSTANT}


@pytest.mark.parametrize(
    ("body", "kinds", "factors"),
    [
        (
            {"query": {"script_score": {"query": SHOE, "script": {"source": "_score + doc['price'].value"}}}},
            {PartKind.SCRIPT},
            set(),
        ),
        (
            {"query": {"function_score": {"query": SHOE, "field_value_factor": PRICE}}},
            {PartKind.TERM},
            {"function score"},
        ),
        (
            {"query": {"function_score": {"query": SHOE, "field_value_factor": PRICE, "boost_mode": "sum"}}},
            {PartKind.TERM, PartKind.FUNCTION},
            set(),
        ),
        (
            {"query": {"function_score": {"query": SHOE, "field_value_factor": PRICE, "boost_mode": "replace"}}},
            {PartKind.FUNCTION},
            set(),
        ),
    ],
)  # fmt: skip
def test_functions_and_scripts_are_named_with_their_value(
    explain: Callable[..., Any], body: Any, kinds: set[PartKind], factors: set[str]
) -> None:
    ranking, explanations = explain(body)
    for hit, found in zip(ranking.hits, explanations, strict=True):
        assert math.fsum(part.score for part in found.parts) == pytest.approx(hit.score, rel=EXACT)
        assert {part.kind for part in found.parts} == kinds
        assert {factor.name for part in found.parts for factor in part.factors} == factors


LOG = {"field_value_factor": {"field": "price", "modifier": "log1p"}, "weight": 2}
FUNCTIONS = [
    LOG,
    {"filter": {"term": {"brand": "acme"}}, "weight": 3},
    {"linear": {"price": {"origin": 0, "scale": 100}}},
    {"script_score": {"script": {"source": "doc['price'].value * params.k", "params": {"k": 2}}}},
]


@pytest.mark.parametrize("boost_mode", ["multiply", "sum", "replace"])
@pytest.mark.parametrize("score_mode", ["sum", "multiply", "max"])
def test_each_function_is_told_in_the_words_of_the_engine(
    explain: Callable[..., Any], boost_mode: str, score_mode: str
) -> None:
    modes = {"boost_mode": boost_mode, "score_mode": score_mode}
    _, [found] = explain({"query": {"function_score": {"query": SHOE, "functions": FUNCTIONS, **modes}}}, "1")
    details = [detail for part in found.parts for detail in part.details]
    details += [detail for factor in found.parts[0].factors for detail in factor.details]
    for words in (
        "field value function: log1p(doc['price'].value",
        "match filter: ",
        "Function for field price",
        "script score function",
        f"score mode [{score_mode}]",
    ):
        assert any(words in detail.description for detail in details), words


FEATURES = {"properties": {"rank": {"type": "rank_feature"}, "day": {"type": "date"}}}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"rank_feature": {"field": "rank"}}, ["Saturation function", "S, feature value"]),
        ({"rank_feature": {"field": "rank", "log": {"scaling_factor": 2}}}, ["Log function", "a, scaling factor"]),
        (
            {"distance_feature": {"field": "day", "origin": "2020-01-01", "pivot": "2d"}},
            ["Distance score", "pivotDistance"],
        ),
    ],
)
def test_the_inputs_of_a_feature_are_told(
    search: EngineSearch,
    kept_index: Callable[..., str],
    query: Any,
    words: list[str],
    skip_without_module: Callable[..., Any],
) -> None:
    with skip_without_module("rank_feature", "[rank_feature] declared"):
        name = kept_index({"1": {"rank": 3, "day": "2020-01-02"}}, mappings=FEATURES)
    [found] = explain_documents(search, SearchRequest("q", name, {"query": query}), ["1"], ranking=["1"])
    texts = " / ".join(detail.description for part in found.parts for detail in part.details)
    assert all(word in texts for word in words)


def test_the_nearest_vectors_have_a_similarity(search: EngineSearch, index: Callable[..., str]) -> None:
    if search.engine.kind != "elasticsearch":
        pytest.skip("this node has no vectors")
    vectors = {"1": {"v": [1, 0]}, "2": {"v": [0.5, 0.5]}, "3": {"v": [0, 1]}}
    mappings = {"properties": {"v": {"type": "dense_vector", "dims": 2, "index": True, "similarity": "cosine"}}}
    knn = {"field": "v", "query_vector": [1, 0.2], "k": 2, "num_candidates": 3}
    request = SearchRequest("q", index(vectors, mappings=mappings), {"knn": knn, "size": 10})
    near, far = explain_documents(search, request, ["1", "3"], ranking=["1", "2"])
    [part] = near.parts
    assert (part.kind, part.clause, part.score) == (PartKind.VECTOR, "vector similarity", near.score)
    assert (far.outcome, far.reason) == (
        Explained.UNMATCHED,
        "it is not among the nearest documents that `knn` asks for",
    )


@pytest.mark.parametrize(
    ("body", "document", "failing"),
    [
        ({"query": SHOE}, "3", ["query"]),
        (
            {"query": {"bool": {"must": [SHOE], "filter": [{"range": {"price": {"gte": 40}}}]}}},
            "2",
            ["query.bool.filter[0]"],
        ),
        ({"query": {"bool": {"must": SHOE, "must_not": {"term": {"brand": "acme"}}}}}, "1", ["query.bool.must_not"]),
        ({"query": {"bool": {"should": [SHOE, {"term": {"brand": "x"}}]}}}, "3", ["query.bool.should"]),
        ({"query": {"multi_match": {"query": "sneaker", "fields": ["title", "text"]}}}, "1", ["query"]),
        (
            {"query": {"function_score": {"query": {"match": {"title": {"query": "red shoe", "operator": "and"}}}}}},
            "4",
            ["query.function_score.query"],
        ),
    ],
)  # fmt: skip
def test_the_clause_is_named_that_a_document_fails(
    explain: Callable[..., Any], body: Any, document: str, failing: list[str]
) -> None:
    _, [found] = explain(body, document)
    assert found.outcome is Explained.UNMATCHED
    assert found.index.startswith("relevance-test-")
    assert [clause.place for clause in found.clauses if clause.decides] == failing


def test_a_clause_on_a_runtime_field_is_tried_as_it_is_sent(explain: Callable[..., Any], search: EngineSearch) -> None:
    if search.engine.kind != "elasticsearch":
        pytest.skip("OpenSearch has no runtime fields")
    body = {
        "runtime_mappings": {"cheap": {"type": "boolean", "script": {"source": "emit(doc['price'].value < 40)"}}},
        "query": {"bool": {"must": [SHOE], "filter": [{"term": {"cheap": True}}]}},
    }
    _, [found] = explain(body, "1")
    assert [(one.place, one.decides) for one in found.clauses][-1] == ("query.bool.filter[0]", True)
    _, [found] = explain({**body, "size": 1}, "2")
    assert found.outcome is Explained.SCORED


def test_a_term_too_few_is_told_from_none(explain: Callable[..., Any]) -> None:
    body = {"query": {"match": {"title": {"query": "red shoe", "operator": "and"}}}}
    for document, loosely in (("4", True), ("3", False)):
        _, [found] = explain(body, document)
        assert [(one.place, one.matches) for one in found.clauses] == [
            ("query", False),
            ("query without operator", loosely),
        ]


@pytest.mark.parametrize(
    ("beside", "reason"),
    [
        ({"post_filter": {"term": {"brand": "hats"}}}, "the `post_filter` of the request leaves it out"),
        ({"min_score": 50}, "its score is below the `min_score` 50 of the request"),
    ],
)
def test_what_stands_beside_the_query_is_told_with_the_score(
    explain: Callable[..., Any], beside: Any, reason: str
) -> None:
    _, [plain] = explain({"query": SHOE}, "1")
    _, [found] = explain({"query": SHOE, **beside}, "1")
    assert (found.outcome, found.score, found.rank) == (Explained.LEFT_OUT, plain.score, None)
    assert (found.parts, found.reason) == (plain.parts, reason)


def test_a_document_that_another_routing_holds_is_left_out(search: EngineSearch, call: Callable[..., Any]) -> None:
    name = f"relevance-test-routed-{uuid.uuid4().hex[:8]}"
    call("PUT", f"/{name}", {"settings": {"number_of_shards": 2, "number_of_replicas": 0}, "mappings": MAPPINGS})
    try:
        for number, key in enumerate("abcdefgh"):
            call("PUT", f"/{name}/_doc/{number}?routing={key}&refresh=true", DOCUMENTS["1"])
        request = SearchRequest("q", name, {"query": SHOE, "size": 10}, url_params={"routing": "a"})
        [ranking] = search.search([request])
        ids = [hit.id for hit in ranking.hits]  # type: ignore[union-attr]
        other = next(one for one in map(str, range(8)) if one not in ids)
        near, far = explain_documents(search, request, [ids[0], other], ranking=ids)
        assert (near.outcome, near.rank) == (Explained.SCORED, 1)
        assert far.outcome is Explained.LEFT_OUT
        assert far.reason == "the query matches it, and the request does not search its shard (routing a)"
    finally:
        call("DELETE", f"/{name}")


def test_a_document_below_the_hits_has_the_score_that_it_has_there(explain: Callable[..., Any]) -> None:
    ranking, _ = explain({"query": SHOE})
    last = ranking.hits[-1]
    _, [found] = explain({"query": SHOE, "size": 1}, last.id)
    assert (found.outcome, found.rank) == (Explained.SCORED, None)
    assert found.score == pytest.approx(last.score, abs=EXACT)


def test_a_document_that_nobody_sees_is_not_visible(explain: Callable[..., Any]) -> None:
    _, [found] = explain({"query": SHOE}, "11")
    assert (found.outcome, found.nearest) == (Explained.INVISIBLE, "1")


def test_a_judged_document_is_not_the_nearest_to_itself(search: EngineSearch, kept_index: Callable[..., str]) -> None:
    request = SearchRequest("q", kept_index(DOCUMENTS, mappings=MAPPINGS), {"query": SHOE, "size": 10})
    [found] = explain_documents(search, request, ["sku-1"], ranking=["1"], known=["sku-1", "sku-11"])
    assert (found.outcome, found.nearest) == (Explained.INVISIBLE, "sku-11")


def test_a_request_that_an_engine_refuses_is_unknown(explain: Callable[..., Any], search: EngineSearch) -> None:
    request = SearchRequest("q", "relevance-test-*", {"query": {"nothing": {}}, "size": 10})
    [found] = explain_documents(search, request, ["1"], ranking=["1"])
    assert found.outcome is Explained.UNKNOWN
    assert "unknown query [nothing]" in found.reason


# Suites.


@pytest.fixture
def show(engine_url: str, capsys: pytest.CaptureFixture[str]) -> Show:
    def run(suite: Path | str, query: str, *words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(["show", str(suite), query, "--url", engine_url, "--allow-write", *words])
        printed = capsys.readouterr()
        assert printed.err == ""
        return status, printed.out

    return run


def adds_up(printed: str) -> int:
    """How many documents of the JSON are explained, all of whose parts add up to the engine's score."""
    inspection = json.loads(printed)
    hits = {hit["id"]: hit["score"] for hit in inspection["query"]["ranking"]}
    for found in inspection["explanations"]:
        assert math.fsum(part["score"] for part in found["parts"]) == pytest.approx(found["score"], abs=EXACT)
        assert found["score"] == pytest.approx(hits[found["document"]], abs=EXACT)
    if inspection["differences"]:
        first, second = (found["score"] for found in inspection["explanations"])
        total = math.fsum(one["difference"] for one in inspection["differences"])
        assert total == pytest.approx(first - second, abs=EXACT)
    return len(inspection["explanations"])


@pytest.mark.parametrize("request_", ["current", "candidate"])
@pytest.mark.parametrize("query", ["running-shoes", "tent", "bike"])
def test_the_catalogue_is_explained(show: Show, request_: str, query: str) -> None:
    suite = ROOT / "suites" / "products.relevance.yaml"
    ranked = [
        hit["id"] for hit in json.loads(show(suite, query, "--request", request_, "--json")[1])["query"]["ranking"]
    ]
    for first, second in zip(ranked[::2], ranked[1::2], strict=True):
        status, printed = show(suite, query, "--request", request_, "--explain", first, second, "--json")
        assert (status, adds_up(printed)) == (0, 2)
    text = show(suite, query, "--request", request_, "--explain", ranked[0])[1]
    assert ("function score, in the engine's words" in text) is (request_ == "candidate")
    assert ("field value function: " in text) is (request_ == "candidate")


@pytest.mark.cranfield
@pytest.mark.one_engine
def test_cranfield_is_explained(
    cranfield: Path, search: EngineSearch, engine_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All hits of all questions."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "make-cranfield", cranfield, tmp_path],
        capture_output=True,
        text=True,
        check=True,
    )
    suite = Path(made.stdout.strip())
    assert main(["run", str(suite), "--url", engine_url, "--allow-write", "--json"]) == 0
    [report] = json.loads(capsys.readouterr().out)["suites"]
    explained = 0
    for query in report["queries"]:
        text = {"multi_match": {"query": query["text"], "fields": ["title^2", "text"]}}
        request = SearchRequest(query["id"], report["index"], {"query": text, "size": 10})
        ids = [hit["id"] for hit in query["ranking"]]
        for hit, found in zip(query["ranking"], explain_documents(search, request, ids, ranking=ids), strict=True):
            assert found.score == pytest.approx(hit["score"], abs=EXACT)
            assert math.fsum(part.score for part in found.parts) == pytest.approx(hit["score"], abs=EXACT)
            assert {part.kind for part in found.parts} == {PartKind.TERM}
            explained += 1
    assert explained == 2250
