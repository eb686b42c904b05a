"""What a run asks engines for beyond its depth, and what that shows of ties, on real engines."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from harness.cli import main
from harness.gate.ties import suggest_tie_break
from harness.model.report import SuiteReport
from harness.model.request import SearchRequest
from harness.model.run import Status
from harness.model.suite import RequestTemplate
from harness.report.json import loads_report
from harness.search.bodies import deepen, find_deepest_size
from harness.search.engine import EngineSearch

DEPTH = 10
MATCH = {"query": {"match": {"title": "red shoe"}}}
RESCORE = {"query": {"score_mode": "multiply", "rescore_query": {"function_score": {"script_score": {
    "script": "0.001 + doc['stock'].value / 1000.0"}}}}}  # fmt: skip
VECTOR = {"field": "place", "query_vector": [0.5, 0.5, 0.5, 0.5], "num_candidates": 30}

SAFE = {
    "plain": MATCH,
    "one score": {"query": {"constant_score": {"filter": MATCH["query"]}}},
    "collapse": {**MATCH, "collapse": {"field": "brand"}},
    "rescore": {**MATCH, "rescore": {"window_size": 50, **RESCORE}},
    "min_score": {**MATCH, "min_score": 0.5},
    "terminate_after": {**MATCH, "terminate_after": 50},
}
OF_VECTORS = {
    "knn": {"knn": {**VECTOR, "k": 20}},
    "knn beside others": {
        "query": {"bool": {"should": [{"match": {"title": "red"}}, {"knn": {**VECTOR, "k": 20, "boost": 3}}]}}
    },
}


@pytest.fixture
def products(index: Callable[..., str], call: Callable[..., Any], search: EngineSearch) -> Callable[[int], str]:
    """Makes an index of 300 documents with few distinct scores, on as many shards as are asked for."""

    def make(shards: int) -> str:
        properties: dict[str, Any] = {
            "brand": {"type": "keyword"},
            "sku": {"type": "keyword"},
            "stock": {"type": "integer"},
        }
        if search.engine.kind == "elasticsearch":
            properties["place"] = {"type": "dense_vector", "dims": 4, "index": True, "similarity": "l2_norm"}
        name = index({}, mappings={"properties": properties}, settings={"number_of_shards": shards})
        draw, lines = random.Random(7), []
        for n in range(300):
            words = " ".join(draw.choices(["red", "shoe", "blue", "boot", "hat"], k=draw.randint(1, 5)))
            document = {
                "title": words,
                "brand": str(draw.randint(0, 40)),
                "sku": f"{n:03}",
                "stock": draw.randint(0, 50),
            }
            if "place" in properties:
                document["place"] = [draw.random() for _ in range(4)]
            lines += [json.dumps({"index": {"_id": str(n)}}), json.dumps(document)]
        body = ("\n".join(lines) + "\n").encode()
        search.connection.perform("POST", f"/{name}/_bulk?refresh=true", body=body, mime="application/x-ndjson")
        return name

    return make


def ids(search: EngineSearch, index: str, body: Any, size: int) -> list[str]:
    [ranking] = search.search([SearchRequest("q", index, {**body, "size": size})])
    assert not hasattr(ranking, "reason"), ranking
    return [hit.id for hit in ranking.hits]


@pytest.mark.parametrize("shards", [1, 3])
def test_the_hits_above_stay_as_they_are(products: Callable[[int], str], search: EngineSearch, shards: int) -> None:
    name = products(shards)
    bodies = SAFE | (OF_VECTORS if search.engine.kind == "elasticsearch" else {})
    for what, body in bodies.items():
        first = ids(search, name, body, DEPTH)
        for size in (DEPTH + 1, 20, 100, 1000):
            if size <= find_deepest_size(body):
                deep = deepen(SearchRequest("q", name, body), size).body
                assert ids(search, name, deep, size)[:DEPTH] == first, (what, size)


def test_a_rescorer_does_not_leave_them_where_its_window_ends(
    products: Callable[[int], str], search: EngineSearch
) -> None:
    """Or it need not be told from other requests."""
    name, body = products(1), {**MATCH, "rescore": RESCORE}
    assert find_deepest_size(body) == DEPTH
    assert ids(search, name, body, DEPTH + 1)[:DEPTH] != ids(search, name, body, DEPTH)


def test_engines_take_the_sort_that_is_proposed(products: Callable[[int], str], search: EngineSearch) -> None:
    name = products(1)
    bodies = SAFE | (OF_VECTORS | {"retriever": {"retriever": {"standard": MATCH}}}
                     if search.engine.kind == "elasticsearch" else {})  # fmt: skip
    for what, body in bodies.items():
        request = SearchRequest("q", name, {**body, "size": DEPTH, "sort": ["_score", "sku"]})
        [answer] = search.search([request])
        takes = not hasattr(answer, "reason")
        assert takes is bool(suggest_tie_break(RequestTemplate("request", body))), (what, answer)


# ------------------------------------------------------------------------------------------------ more than a thousand


class Alike:
    """A suite whose documents all have one score, of which a few are judged."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.indexes = folder, url, set[str]()
        self.path = folder / "alike.relevance.yaml"
        self.suite: dict[str, Any] = {
            "suite": f"ties-{uuid4().hex[:8]}",
            "fixture": {
                "documents": "documents.jsonl",
                "mappings": {
                    "properties": {"id": {"type": "keyword"}, "title": {"type": "text"}, "brand": {"type": "keyword"}}
                },
            },
            "request": {"query": {"match": {"title": "{{text}}"}}},
            "thresholds": ["drop nDCG@10 <= 0.02", "drop every nDCG@10 <= 0.02"],
            "queries": [{"id": "q", "text": "shoe", "judgments": {f"d{n:04}": 3 for n in range(10)}}],
        }

    def run(self, *names: str, gone: int = 0) -> tuple[int, SuiteReport]:
        """
        Build the index with *names*, in that order, and run; the first time that is the baseline.

        The last of them that are *gone* match no more.
        """
        titles = ["shoe"] * (len(names) - gone) + ["boot"] * gone
        documents = [{"id": name, "title": title, "brand": "acme"} for name, title in zip(names, titles, strict=True)]
        lines = [json.dumps(document) for document in documents]
        (self.folder / "documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.path.write_text(yaml.safe_dump(self.suite, sort_keys=False), encoding="utf-8")
        words = [str(self.path), "--url", self.url, "--allow-write", "-q"]
        if not self.path.with_name("alike.baseline.json").exists():
            assert main(["baseline", "save", *words]) == 0
        output = self.folder / "report.json"
        status = main(["run", *words, "--output", f"json={output}"])
        [report] = loads_report(output.read_text(encoding="utf-8")).suites
        self.indexes.add(str(report.index))
        return status, report


@pytest.fixture
def alike(tmp_path: Path, engine_url: str, search: EngineSearch) -> Any:
    suite = Alike(tmp_path, engine_url)
    yield suite
    for name in suite.indexes:
        search.connection.perform("DELETE", f"/{name}")


def named(count: int) -> list[str]:
    return [f"d{n:04}" for n in range(count)]


@pytest.mark.parametrize(
    ("count", "sort"),
    [(40, None), (400, None), (400, ["_score", "brand"]), (400, "brand"), (400, [{"brand": "asc"}, "_doc"])],
    ids=str,
)
def test_documents_that_tie_in_another_order_pass_where_all_are_found(alike: Alike, count: int, sort: Any) -> None:
    if sort is not None:
        alike.suite["request"]["sort"] = sort
    alike.run(*named(count))
    status, report = alike.run(*reversed(named(count)))
    assert report.queries[0].scores["nDCG@10"] == 0.0, "the relevant ones are no longer among the first"
    assert (status, {one.observed for one in report.verdicts}) == (0, {0.0})
    assert len(report.queries[0].tail) == count - 10
    assert any(note.startswith("1 query repeated for ties below rank 10") for note in report.notes)


def test_documents_that_are_gone_from_among_them_fail(alike: Alike) -> None:
    alike.run(*named(400))
    status, report = alike.run(*reversed(named(400)), gone=10)
    assert (status, {one.status for one in report.verdicts}) == (1, {Status.FAILED})


def test_more_than_are_looked_for_are_inconclusive_until_the_request_orders_them(alike: Alike) -> None:
    alike.run(*named(1500))
    status, report = alike.run(*reversed(named(1500)))
    assert (status, {one.status for one in report.verdicts}) == (3, {Status.INCONCLUSIVE})
    assert "(`sort: [_score, FIELD]`, if a field is unique)" in report.verdicts[0].reason
    alike.path.with_name("alike.baseline.json").unlink()
    alike.suite["request"]["sort"] = ["_score", "id"]
    alike.run(*named(1500))
    status, report = alike.run(*reversed(named(1500)))
    assert (status, report.queries[0].scores["nDCG@10"]) == (0, 1.0)
    assert not any(note.startswith("1 query repeated for ties") for note in report.notes)


@pytest.mark.parametrize(("field", "status"), [("id", 1), ("brand", 0)])
def test_the_sort_of_a_stored_template_is_known_by_the_answers(
    alike: Alike, call: Callable[..., Any], search: EngineSearch, field: str, status: int
) -> None:
    """An order by brand is another one because the index was built anew, an order by id because the template is."""
    if search.engine.kind == "elasticsearch":
        pytest.skip("this Elasticsearch has no module for search templates")
    name = f"by-{uuid4().hex[:8]}"
    alike.suite["request"] = {"template": {"id": name, "params": {"words": "{{text}}", "size": "{{depth}}"}}}

    def run(order: str, names: list[str]) -> int:
        source = {"query": {"match": {"title": "{{words}}"}}, "size": "{{size}}", "sort": ["_score", {field: order}]}
        call("PUT", f"/_scripts/{name}", {"script": {"lang": "mustache", "source": source}})
        return alike.run(*names)[0]

    try:
        assert run("asc", named(40)) == 0
        assert run("desc", named(40)[::-1]) == status
    finally:
        call("DELETE", f"/_scripts/{name}")


def test_equal_values_of_a_sort_are_inconclusive_until_its_last_key_is_unique(alike: Alike) -> None:
    alike.suite["request"]["sort"] = ["brand"]
    alike.run(*named(1500))
    status, report = alike.run(*reversed(named(1500)))
    assert (status, {one.status for one in report.verdicts}) == (3, {Status.INCONCLUSIVE})
    assert "end the `sort` of the request with a unique field" in report.verdicts[0].reason
    alike.path.with_name("alike.baseline.json").unlink()
    alike.suite["request"]["sort"] = ["brand", "id"]
    alike.run(*named(1500))
    status, report = alike.run(*reversed(named(1500)))
    assert (status, report.queries[0].scores["nDCG@10"]) == (0, 1.0)
