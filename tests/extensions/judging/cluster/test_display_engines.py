"""What a suite displays of documents, looked up on real engines: fields of any type, pictures, links, marked words."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.pools_and_lint import PoolOptions, TextOptions, pool_suites
from harness.model.run import Highlight
from harness.options import RunOptions
from harness.run import Matrix

PICTURE = "https://img.shop.example/tent.png?w=200"
MAPPINGS: dict[str, Any] = {
    "properties": {
        "name": {"type": "text", "analyzer": "english", "fields": {"plain": {"type": "text"}}},
        "summary": {"type": "text", "analyzer": "english", "copy_to": "everything"},
        "everything": {"type": "text", "analyzer": "english"},
        "brand": {"type": "keyword"},
        "price": {"type": "double"},
        "stock": {"type": "integer"},
        "new": {"type": "boolean"},
        "added": {"type": "date"},
        "place": {"type": "geo_point"},
        "net": {"type": "ip"},
        "vector": {"type": "float"},
        "shop": {"type": "object"},
    }
}
DOCUMENTS = {
    "sku-1": {
        "name": "Two tents in one",
        "summary": ["Light.", "A tent for two,  easy to pitch."],
        "brand": "Tent & Co",
        "price": 149.5,
        "stock": 3,
        "new": False,
        "added": "2026-01-31",
        "place": "46.9,7.4",
        "net": "10.0.0.1",
        "vector": [0.25] * 64,
        "shop": {"city": "Bern"},
        "image": [PICTURE, "https://img.shop.example/other.png"],
        "url": "https://shop.example/sku-1",
    },
    "sku-2": {"name": "Stove", "summary": "For a tent.", "image": "tent.png", "url": "javascript:alert(1)"},
    "sku-3": {"name": "Awning", "summary": "No match.", "price": 20},
}
FIELDS = ("summary", "brand", "price", "stock", "new", "added", "place", "net", "vector", "shop.city", "missing")
SUITE = """\
suite: shop
target: {{index: {index}}}
display: {{title: name, fields: [{fields}], image: image, link: url}}
request: {{query: {{{query}}}}}
measures: ["P@5"]
queries:
  - {{id: tents, text: tent two}}
"""
ANY_FIELD = 'multi_match: {query: "{{text}}", fields: [name.plain, everything]}'


@pytest.fixture
def pool(kept_index: Callable[..., str], engine_url: str, tmp_path: Path) -> Callable[..., dict[str, PooledDocument]]:
    """Pools the documents that *query* finds, by id."""

    def collect(query: str = ANY_FIELD, **settings: Any) -> dict[str, PooledDocument]:
        name = kept_index(DOCUMENTS, mappings=MAPPINGS, settings=settings)
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(SUITE.format(index=name, fields=", ".join(FIELDS), query=query), encoding="utf-8")
        options = PoolOptions(RunOptions(url=engine_url), Matrix(), shown=TextOptions(highlights=True))
        [collected] = pool_suites([path], options, environ={})
        [note] = collected.notes
        assert note.endswith("has a text in vector, missing"), "vectors are not shown"
        return {document.document: document for document in collected.documents}

    return collect


def list_words(highlights: Any) -> dict[str, list[str]]:
    return {
        field: [highlight.text[start:end] for start, end in highlight.spans] for field, highlight in highlights.items()
    }


def test_fields_of_any_type_are_texts_and_only_addresses_of_the_web_are_links(
    pool: Callable[..., dict[str, PooledDocument]],
) -> None:
    documents = pool()
    assert documents["sku-1"].texts == {
        "summary": "Light. · A tent for two, easy to pitch.",
        "brand": "Tent & Co",
        "price": "149.5",
        "stock": "3",
        "new": "false",
        "added": "2026-01-31",
        "place": "46.9,7.4",
        "net": "10.0.0.1",
        "shop.city": "Bern",
    }
    assert (documents["sku-1"].title, documents["sku-1"].snippet) == ("Two tents in one", None)
    assert (documents["sku-1"].image, documents["sku-1"].link) == (PICTURE, "https://shop.example/sku-1")
    assert (documents["sku-2"].image, documents["sku-2"].link) == (None, None)


def test_words_are_marked_in_fields_that_the_query_does_not_name(
    pool: Callable[..., dict[str, PooledDocument]],
) -> None:
    documents = pool()
    # Fields are analyzed as they are mapped: the English analyzer finds tents for tent, and a keyword is one word.
    assert list_words(documents["sku-1"].highlights) == {"name": ["Two", "tents"], "summary": ["tent", "two"]}
    assert documents["sku-2"].highlights == {"summary": Highlight("For a tent.", ((6, 10),))}


def test_where_the_engine_refuses_to_highlight_the_texts_are_there_all_the_same(
    pool: Callable[..., dict[str, PooledDocument]],
) -> None:
    documents = pool(**{"highlight.max_analyzed_offset": 1})
    assert documents["sku-2"].texts["summary"] == "For a tent."
    assert documents["sku-2"].highlights == {}


@pytest.mark.parametrize(
    "query",
    [
        'match_all: {_name: "{{text}}"}',
        'bool: {must: [{match: {name: "{{text}}"}}], filter: [{range: {price: {gte: 1}}}, {term: {new: false}}]}',
        'function_score: {query: {match: {summary: "{{text}}"}}, field_value_factor: {field: stock, missing: 1}}',
        'script_score: {query: {match: {summary: "{{text}}"}}, script: {source: "_score * 2"}}',
        'query_string: {query: "name:({{text}}) OR 149.5", fields: [name, price], lenient: true}',
    ],
)
def test_queries_of_many_kinds_can_be_marked(pool: Callable[..., dict[str, PooledDocument]], query: str) -> None:
    document = pool(query)["sku-1"]
    assert document.texts["price"] == "149.5"
    words = list_words(document.highlights)
    assert words.get("summary", []) == ([] if query.startswith("match_all") else ["tent", "two"])


RUN_SUITE = """\
suite: shop
target: {{index: {index}}}
display: {{title: name, fields: [summary, price, new, vector]}}
request: {{query: {{multi_match: {{query: "{{{{text}}}}", fields: [name.plain, everything]}}}}}}
thresholds: ["mean P@1 >= 1"]
queries:
  - {{id: tents, text: tent two, judgments: {{sku-2: 1, sku-3: 1}}}}
"""


def test_reports_and_show_have_fields_beside_the_title_with_the_words_of_the_query(
    kept_index: Callable[..., str],
    engine_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(RUN_SUITE.format(index=kept_index(DOCUMENTS, mappings=MAPPINGS, settings={})), encoding="utf-8")
    fields = "summary Light. · A tent for two, easy to pitch. · price 149.5 · new false"

    assert (
        main(["run", str(path), "--url", engine_url, "-q", "--output", "html=r.html", "--output", "json=r.json"]) == 1
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<bdi class="title"><mark>Two</mark> <mark>tents</mark> in one</bdi>' in page
    assert "<span>price</span> <bdi>149.5</bdi>" in page
    assert "Light. · A <mark>tent</mark> for <mark>two</mark>, easy" in page
    [query] = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["suites"][0]["queries"]
    [missing] = query["missing"]
    assert [(field["field"], field["text"]) for field in missing["texts"]["fields"]] == [
        ("summary", "No match."),
        ("price", "20"),
    ]
    assert query["ranking"][1]["texts"] == {
        "fields": [{"field": "summary", "text": "For a tent.", "spans": [[6, 10]]}],
        "title_spans": [],
    }
    capsys.readouterr()
    assert main(["run", str(path), "--url", engine_url]) == 1
    assert fields in capsys.readouterr().out
    assert main(["show", str(path), "tents", "--url", engine_url]) == 0
    assert fields in capsys.readouterr().out
