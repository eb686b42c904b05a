"""docs/engines/others.md: by the paths that it shows, answers of the shape that each service publishes are read."""

import json
import re
from pathlib import Path

import pytest

from harness.model.run import Failure, FailureKind, Ranking
from harness.search.service_answers import read_error, read_service_answer
from harness.search.service_documents import explain_unwritable, fill_documents_request
from harness.search.service_sizes import read_size, write_size
from harness.suites import load_suite
from harness.suites.requests import build_requests

PAGE = (Path(__file__).parents[2] / "docs" / "engines" / "others.md").read_text(encoding="utf-8")
PAGE = PAGE.partition("\n## Services that were not run\n")[2]
SECTION = re.compile(r"^### (.+?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
SERVICES = {name: re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1] for name, text in SECTION.findall(PAGE)}

ANSWERS = {
    "Vespa": {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "fields": {"totalCount": 2},
            "coverage": {"coverage": 100, "documents": 321, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
            "children": [
                {"id": "group:root:0", "relevance": 1.0, "children": []},
                {"id": "id:shop:products::1", "relevance": 0.7, "fields": {"sku": "sku-1", "title": "Tent"}},
                {"id": "id:shop:products::2", "relevance": 0.5, "fields": {"sku": "sku-2", "title": "Tarp"}},
            ],
        }
    },
    "Algolia": {
        "hits": [
            {"objectID": "sku-1", "title": "Tent", "price": 119, "_highlightResult": {}},
            {"objectID": "sku-2", "title": "Tarp", "price": 39, "_highlightResult": {}},
        ],
        "nbHits": 2,
        "page": 0,
        "hitsPerPage": 10,
        "exhaustive": {"nbHits": True, "typo": True},
        "processingTimeMS": 1,
        "query": "tent",
    },
    "Meilisearch": {
        "hits": [
            {"id": "sku-1", "title": "Tent", "price": 119, "_rankingScore": 0.9},
            {"id": "sku-2", "title": "Tarp", "price": 39, "_rankingScore": 0.8},
        ],
        "query": "tent",
        "processingTimeMs": 2,
        "hitsPerPage": 10,
        "page": 1,
        "totalPages": 1,
        "totalHits": 2,
    },
    "Qdrant": {
        "result": {
            "points": [
                {"id": 1, "version": 3, "score": 0.9, "payload": {"sku": "sku-1", "title": "Tent"}},
                {"id": 2, "version": 3, "score": 0.8, "payload": {"sku": "sku-2", "title": "Tarp"}},
            ]
        },
        "status": "ok",
        "time": 0.002,
    },
    "Azure AI Search": {
        "@odata.context": "https://shop.search.windows.net/indexes('products')/$metadata#docs(*)",
        "@odata.count": 2,
        "value": [
            {"@search.score": 2.5, "sku": "sku-1", "title": "Tent", "price": 119},
            {"@search.score": 1.5, "sku": "sku-2", "title": "Tarp", "price": 39},
        ],
    },
}
ERRORS = {
    "Vespa": {"root": {"errors": [{"code": 4, "summary": "Invalid query parameter", "message": "no field 'titel'"}]}},
    "Algolia": {"message": "no field 'titel'", "status": 400},
    "Meilisearch": {"message": "no field 'titel'", "code": "invalid_search_q", "type": "invalid_request", "link": ""},
    "Qdrant": {"status": {"error": "no field 'titel'"}, "time": 0.001},
    "Azure AI Search": {"error": {"code": "", "message": "no field 'titel'"}},
}


@pytest.fixture
def make_request(tmp_path, monkeypatch):
    """Makes the request of a service, for a query of its suite."""
    monkeypatch.chdir(tmp_path)
    Path("vectors").mkdir()
    Path("vectors/minilm.jsonl").write_text('{"id": "tents", "vector": [0.5, 1]}\n', encoding="utf-8")

    def make(service):
        queries = "queries: [{id: tents, text: tent, judgments: {sku-1: 1}}]\n"
        Path("s.relevance.yaml").write_text(f"suite: s\n{SERVICES[service]}{queries}", encoding="utf-8")
        [request] = build_requests(load_suite(Path("s.relevance.yaml"), {}), None)
        return request.http

    return make


def test_each_section_has_an_answer_and_says_that_it_was_not_run():
    assert SERVICES.keys() == ANSWERS.keys() == ERRORS.keys()
    assert all(text.startswith("\nNot run. ") for _, text in SECTION.findall(PAGE))


@pytest.mark.parametrize("service", SERVICES)
def test_an_answer_is_read(service, make_request):
    ranking = read_service_answer(ANSWERS[service], make_request(service))
    assert isinstance(ranking, Ranking)
    assert [(hit.id, hit.title) for hit in ranking.hits] == [("sku-1", "Tent"), ("sku-2", "Tarp")]
    assert ranking.total == (None if service == "Qdrant" else 2)
    assert not ranking.total_is_lower_bound
    assert [hit.score is None for hit in ranking.hits] == [service == "Algolia"] * 2
    assert (ranking.took is not None) == (service in ("Algolia", "Meilisearch"))


@pytest.mark.parametrize("service", SERVICES)
def test_the_reason_of_an_error_is_read(service, make_request):
    assert read_error(ERRORS[service], make_request(service)) == "no field 'titel'"


IN_REQUESTS = {
    "Vespa": 'select * from products where sku in ("a,b", "c\\"d")',
    "Algolia": 'objectID:"a,b" OR objectID:"c\\"d"',
    "Meilisearch": "id IN [",
    "Qdrant": ["a,b", 'c"d'],
    "Azure AI Search": "search.in(sku, 'a,b|c\"d', '|')",
}
"""How two ids stand in a request by ids."""


@pytest.mark.parametrize("service", SERVICES)
def test_documents_are_asked_for_by_their_ids(service, make_request):
    documents = make_request(service).documents
    ids = ["a,b", 'c"d']
    if service == "Meilisearch":  # whose ids have no such characters
        assert explain_unwritable(documents, 'c"d')
        ids = ["a", "c"]
    filled = fill_documents_request(documents, ids)
    assert json.dumps(IN_REQUESTS[service])[1:-1] in json.dumps([filled.params, filled.json])
    ranking = read_service_answer(ANSWERS[service], filled)
    assert [(hit.id, hit.title) for hit in ranking.hits] == [("sku-1", "Tent"), ("sku-2", "Tarp")]


@pytest.mark.parametrize("service", SERVICES)
def test_the_number_of_hits_stands_where_it_is_said(service, make_request):
    request = make_request(service)
    assert read_size(request) == 10
    assert read_size(write_size(request, 100)) == 100


def test_what_is_not_complete_is_not_scored(make_request):
    root = ANSWERS["Vespa"]["root"]
    degraded = {**root, "coverage": {**root["coverage"], "full": False, "degraded": {"timeout": True}}}
    failure = read_service_answer({"root": degraded}, make_request("Vespa"))
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.PARTIAL
    without_hits = {"root": {"id": "toplevel", "fields": {"totalCount": 0}, "coverage": root["coverage"]}}
    assert read_service_answer(without_hits, make_request("Vespa")).hits == ()
    about = {**ANSWERS["Algolia"], "nbHits": 1000, "exhaustive": {"nbHits": False}}
    assert read_service_answer(about, make_request("Algolia")).total_is_lower_bound
