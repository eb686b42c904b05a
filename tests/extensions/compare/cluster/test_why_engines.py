"""``relevance compare --why`` on real engines: the fixtures of two versions of a suite, and what is removed after."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="comparisons need the extra statistics")

from builders.typed_page import assert_shown
from harness.cli import main
from harness.extensions.compare.model import ComparisonReport
from harness.extensions.compare.outputs import loads_comparison
from harness.extensions.compare.why.model import Finding
from harness.masking import fingerprint
from harness.model.request import Cluster
from harness.search.dialects import open_search

ROOT = Path(__file__).parents[4]
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


@pytest.mark.one_engine
def test_the_product_suite(tmp_path: Path, engine_url: str) -> None:
    """Of eight differences of the two requests the fields with synonyms are the one cause."""
    path = ROOT / "suites" / "products.relevance.yaml"
    report = explain(tmp_path, engine_url, "request:current", "request:candidate", "--suite", str(path), "--why")
    why = report.why
    assert why is not None
    assert (len(why.differences), why.queries) == (8, 45)
    assert [cause.name for cause in why.causes] == ["title → title.synonyms, and 3 alike"]
    assert sum(bool(query.causes) for query in why.moved) > len(why.moved) / 2


PARTS = (
    ("            - trainers => running shoes\n", ""),
    ("            - thermos => vacuum flask, insulated flask\n", ""),
    ("            - wellies, wellingtons => wellington boots\n", ""),
    ("title.synonyms^3", "title.synonyms^2"),
    ('{brand: {query: "{{text}}", boost: 2}}', '{brand: {query: "{{text}}", boost: 1}}'),
)
"""What the pull request of the page changes."""


@pytest.mark.one_engine
def test_the_pull_request_of_the_page(
    tmp_path: Path, engine_url: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands of docs/guides/why.md: with all five parts, and with the harmless two."""
    monkeypatch.delenv("COLUMNS", raising=False)
    page = (ROOT / "docs" / "guides" / "why.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
    for folder in ("main", "work"):
        shutil.copytree(ROOT / "suites", tmp_path / folder / "suites")
    monkeypatch.chdir(tmp_path / "work")
    suite = Path("suites", "products.relevance.yaml")
    text = suite.read_text(encoding="utf-8").replace("suite: products", f"suite: {name}")
    (Path("..", "main") / suite).write_text(text, encoding="utf-8")
    for block, parts in zip(blocks, (PARTS, (PARTS[2], PARTS[4])), strict=True):
        changed = text
        for before, after in parts:
            assert changed.count(before) == 1, before
            changed = changed.replace(before, after)
        suite.write_text(changed, encoding="utf-8")
        [line] = [line for line in block.splitlines() if line.startswith("$ relevance ")]
        command = line.removeprefix("$ relevance ").replace("--embedded", f"--url {engine_url} --allow-write")
        assert main([*shlex.split(command), "--request", "candidate"]) == 0
        assert_shown(block.partition(f"{line}\n")[2], capsys.readouterr().out, line)


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


@pytest.mark.one_engine
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


def make_index(engine_url: str, index: str, analyzer: str, documents: Mapping[str, str]) -> None:
    """An index of *documents*, each with its title by its id."""
    mappings = {"properties": {"title": {"type": "text", "analyzer": analyzer}}}
    # One shard: the statistics of terms are those of the index.
    content = {"mappings": mappings, "settings": {"number_of_shards": 1}}
    lines = []
    for document, title in documents.items():
        lines += [json.dumps({"index": {"_id": document}}), json.dumps({"title": title})]
    with open_search(Cluster("test", url=engine_url), {}) as search:
        perform = search.connection.perform  # type: ignore[attr-defined]
        perform("PUT", f"/{index}", body=json.dumps(content).encode())
        answer = perform("POST", f"/{index}/_bulk?refresh=true", body=("\n".join(lines) + "\n").encode())
        assert not json.loads(answer.body)["errors"]


def write_live(folder: Path, name: str, queries: Mapping[str, str], more: str) -> Path:
    """A suite of *queries*, each a text by the id of its only relevant document."""
    path = folder / "live.relevance.yaml"
    head = f"suite: {name}\ntarget: {{index: {name}-a}}\nmeasures: [RR]\nchecks: false\ndepth: 2\nqueries:\n"
    lines = [
        f"  - {{id: q-{document}, text: {text}, judgments: {{{document}: 1}}}}" for document, text in queries.items()
    ]
    path.write_text("\n".join([head + "\n".join(lines), more, ""]), encoding="utf-8")
    return path


def test_live_indexes_are_listed(tmp_path: Path, name: str, engine_url: str) -> None:
    """Of two indexes that exist the differences are listed; the index as a whole is measured, nothing is built."""
    sofas = {f"d{number}": f"sofa{number}" for number in range(12)}
    shared = {"c1": "chair", "c2": "chairs stool"}
    make_index(engine_url, f"{name}-a", "standard", {**sofas, **shared, "x1": "lampshade"} | {"d11": "other"})
    make_index(engine_url, f"{name}-b", "english", {**sofas, **shared, "x1": "lamp", "x2": "rug"})
    body = 'body: {query: {match: {title: "{{text}}"}}}'
    requests = f"requests:\n  old: {{index: {name}-a, {body}}}\n  new: {{index: {name}-b, {body}}}"
    queries = {**sofas, "c1": "chairs", "x1": "lamp"}
    path = write_live(tmp_path, name, queries, requests)
    with open_search(Cluster("test", url=engine_url), {}) as search:
        perform = search.connection.perform  # type: ignore[attr-defined]
        perform("DELETE", f"/{name}-a/_doc/d11?refresh=true")
    report = explain(tmp_path, engine_url, "request:old", "request:new", "--suite", str(path), "--why")
    why = report.why
    assert why is not None
    assert why.indexes[0] == f"{name}-a has 14 documents, {name}-b has 16"
    assert "/properties/title/analyzer" in why.indexes[1]
    prints = [fingerprint({"title": title}) for title in ("lampshade", "lamp")]
    assert set(why.indexes[-3:]) == {
        f"q-d11: d11, at rank 1 in the other, is not in {name}-a",
        f"q-c1: title has the tokens chairs in {name}-a, chair in {name}-b",
        f"q-x1: x1 is another: its source has the fingerprint {prints[0]} in {name}-a, {prints[1]} in {name}-b",
    }


def test_two_requests_on_two_live_indexes(tmp_path: Path, name: str, engine_url: str) -> None:
    """Four runs; where documents, tokens and mappings are alike, the statistics of terms are what differs."""
    shared = {"r": "rug", "c": "carpet", "l": "lamp"}
    # Long texts with the one word, or the other, which are below the first two.
    long = {f"n{number}": "{word} " + "of a long text " * 5 for number in range(8)}
    for index, word in (("a", "carpet"), ("b", "rug")):
        others = {document: text.format(word=word) for document, text in long.items()}
        make_index(engine_url, f"{name}-{index}", "standard", {**shared, **others})
    body = 'body: {query: {match: {title: "{{text}}"}}'
    requests = f"requests:\n  old: {{{body}}}}}\n  new: {{{body}, min_score: 0}}}}"
    path = write_live(tmp_path, name, {"r": "rug carpet", "c": "carpet rug", "l": "lamp"}, requests)
    sides = ("request:old", "request:new", f"index:{name}-a", f"index:{name}-b")
    report = explain(tmp_path, engine_url, *sides, "--suite", str(path), "--why")
    why = report.why
    assert why is not None
    assert [(part.name, part.finding) for part in why.parts] == [("the request", None), ("the index", None)]
    assert why.together is not None
    assert why.together.value == 0
    statistics = f"title:rug, by the number of documents with it: 1 in {name}-a, 9 in {name}-b"
    assert sorted(why.indexes[-2:]) == [f"q-c: {statistics}", f"q-r: {statistics}"]


@pytest.mark.one_engine
def test_two_servers(tmp_path: Path, name: str, engine_url: str) -> None:
    """A fixture is built on each server that a side names; here both are one, by two of its names."""
    old = write(tmp_path / "old", name, '"a => b"')
    new = write(tmp_path / "new", name, '"a => b", "sofa0 => couch0"', ", min_score: 0")
    places = ("request:request", "request:request", f"cluster:{engine_url}", f"cluster:{engine_url}/")
    output = tmp_path / "report.json"
    words = ["--allow-write", "-q", "--output", f"json={output}", "--suite", str(new), "--old-suite", str(old), "--why"]
    assert main(["compare", *places, *words]) == 0
    why = loads_comparison(output.read_text(encoding="utf-8")).why
    assert why is not None
    names = [difference.places[0] for difference in why.differences]
    assert names == ["/min_score", "/fixture/settings/analysis/filter/words/synonyms/1", "/server"]
    assert [query.causes for query in why.moved if query.id == "q0"] == [((1,),)]
    assert why.differences[2].finding in (None, Finding.NOTHING)
