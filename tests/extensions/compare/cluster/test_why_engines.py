"""``relevance compare --why`` on real engines: the fixtures of two versions of a suite, and what is removed after."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="comparisons need the extra statistics")

from harness.cli import main
from harness.extensions.compare.model import ComparisonReport
from harness.extensions.compare.outputs import loads_comparison
from harness.extensions.compare.why.model import Finding
from harness.model.request import Cluster
from harness.search.dialects import open_search

SUITE = """\
suite: {name}
target: {{index: {name}}}
fixture:
  documents: documents.jsonl
  settings:
    analysis:
      filter: {{words: {{type: synonym, synonyms: [{synonyms}]}}}}
      analyzer: {{shop: {{tokenizer: standard, filter: [lowercase, words]}}}}
  mappings: {{properties: {{title: {{type: text, search_analyzer: shop, analyzer: standard}}}}}}
measures: [RR]
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}{more}}}
queries:
{queries}
"""


@pytest.fixture
def name(engine_url: str) -> Iterator[str]:
    """The name of a suite; its indexes are removed after the test."""
    name = f"why-{uuid.uuid4().hex[:8]}"
    yield name
    for index in list_indexes(engine_url, name):
        with open_search(Cluster("test", url=engine_url), {}) as search:
            search.connection.perform("DELETE", f"/{index}")  # type: ignore[attr-defined]


def list_indexes(engine_url: str, name: str) -> list[str]:
    with open_search(Cluster("test", url=engine_url), {}) as search:
        answer = search.connection.perform("GET", f"/{name}-*/_settings")  # type: ignore[attr-defined]
    return sorted(json.loads(answer.body))


def write(folder: Path, name: str, synonyms: str, more: str = "") -> Path:
    """A suite of 12 queries for a sofa, each with one document that only calls it a couch."""
    folder.mkdir()
    documents = [{"id": f"d{number}", "title": f"couch{number} couch"} for number in range(12)]
    documents += [{"id": f"x{number}", "title": f"lamp {number}"} for number in range(12)]
    lines = [json.dumps(document) for document in documents]
    (folder / "documents.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    queries = "\n".join(f"  - {{id: q{n}, text: sofa{n}, judgments: {{d{n}: 1}}}}" for n in range(12))
    path = folder / "shop.relevance.yaml"
    path.write_text(SUITE.format(name=name, synonyms=synonyms, more=more, queries=queries), encoding="utf-8")
    return path


def explain(folder: Path, engine_url: str, *words: str) -> ComparisonReport:
    output = folder / "report.json"
    assert main(["compare", "--url", engine_url, "--allow-write", "-q", "--output", f"json={output}", *words]) == 0
    return loads_comparison(output.read_text(encoding="utf-8"))


def test_a_line_of_synonyms_moves_a_query(tmp_path: Path, name: str, engine_url: str) -> None:
    """A new line moves one query, and a part of the request none; the indexes of arms are removed."""
    old = write(tmp_path / "old", name, '"sofa, divan", "lamp => light"')
    new = write(tmp_path / "new", name, '"sofa, divan", "lamp => light", "sofa0 => couch0"', ", min_score: 0")
    report = explain(tmp_path, engine_url, "--suite", str(new), "--old-suite", str(old), "--why")
    why = report.why
    assert why is not None
    places = [difference.places[0] for difference in why.differences]
    assert places == ["/min_score", "/fixture/settings/analysis/filter/words/synonyms/2"]
    assert [query.causes for query in why.moved if query.id == "q0"] == [((1,),)]
    assert [part.name for part in why.parts] == ["the request", "the index"]
    assert why.together is not None
    assert why.together.value == 0
    assert len(list_indexes(engine_url, name)) == 2


def test_a_fixture_that_moves_all(tmp_path: Path, name: str, engine_url: str) -> None:
    """The documents are a difference, named as a cause."""
    old = write(tmp_path / "old", name, '"a => b"')
    new = write(tmp_path / "new", name, '"a => b"', ", min_score: 0")
    texts = (tmp_path / "new" / "documents.jsonl").read_text(encoding="utf-8")
    (tmp_path / "new" / "documents.jsonl").write_text(texts.replace("couch", "sofa"), encoding="utf-8")
    report = explain(tmp_path, engine_url, "--suite", str(new), "--old-suite", str(old), "--why")
    why = report.why
    assert why is not None
    assert [(difference.places[0], difference.finding) for difference in why.differences] == [
        ("/min_score", Finding.NOTHING),
        ("/fixture/documents", Finding.CAUSE),
    ]
    assert [part.finding for part in why.parts] == [Finding.NOTHING, Finding.CAUSE]


def test_live_indexes_are_listed(tmp_path: Path, name: str, engine_url: str) -> None:
    """Of two indexes that exist the differences are listed; the index as a whole is measured, nothing is built."""
    with open_search(Cluster("test", url=engine_url), {}) as search:
        perform = search.connection.perform  # type: ignore[attr-defined]
        for index, analyzer, documents in ((f"{name}-a", "standard", 11), (f"{name}-b", "english", 12)):
            mappings = {"properties": {"title": {"type": "text", "analyzer": analyzer}}}
            perform("PUT", f"/{index}", body=json.dumps({"mappings": mappings}).encode())
            for number in range(documents):
                content = json.dumps({"title": f"sofa{number}"}).encode()
                perform("PUT", f"/{index}/_doc/d{number}?refresh=true", body=content)
    path = tmp_path / "live.relevance.yaml"
    queries = "\n".join(f"  - {{id: q{n}, text: sofa{n}, judgments: {{d{n}: 1}}}}" for n in range(12))
    body = 'body: {query: {match: {title: "{{text}}"}}}'
    requests = f"  old: {{index: {name}-a, {body}}}\n  new: {{index: {name}-b, {body}}}"
    head = f"suite: {name}\ntarget: {{index: {name}-a}}\nmeasures: [RR]\nchecks: false\n"
    path.write_text(f"{head}queries:\n{queries}\nrequests:\n{requests}\n", encoding="utf-8")
    report = explain(tmp_path, engine_url, "request:old", "request:new", "--suite", str(path), "--why")
    why = report.why
    assert why is not None
    assert why.indexes[0] == f"{name}-a has 11 documents, {name}-b has 12"
    assert "/properties/title/analyzer" in why.indexes[1]
    assert why.indexes[-1] == f"q11: d11, at rank 1 in the other, is not in {name}-a"
