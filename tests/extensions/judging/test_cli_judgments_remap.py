"""`relevance judgments remap`: what it says, what it writes, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main
from harness.errors import UsageError
from harness.extensions.judging.graded_documents import GradedDocument, build_record_path, write_graded_documents
from harness.extensions.judging.writing import GradedFiles
from harness.files.beside import BesideFile
from harness.masking import fingerprint

pytestmark = pytest.mark.usefixtures("working_folder")

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
request: {query: {match: {title: "{{text}}"}}}
judgments: shop.qrels
queries:
  - {id: shoes, text: red shoes, expect: ["a before b"]}
  - {id: boots, text: rubber boots, judgments: {e: 3}}
"""
QRELS = "# graded by anna\nshoes 0 a 3\nshoes 0 b 1\nshoes 0 x 1\nshoes 0 t1 2\n"
OLD = {"a": "red shoe", "b": "blue shoe", "e": "boot", "x": "sold out", "t1": "twin", "t2": "twin"}
NEW = {"b": "red shoe", "a": "blue shoe", "e2": "boot", "t1n": "twin", "new": "new"}


class IndexedEngine(ScriptedEngine):
    """Has whole indexes, of which *titles* has those of the documents by id, that are read by pages of two."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: dict[str, dict[str, Any]] = {"products": OLD, "products-v2": NEW}
        self.on_index[("products-v2", "red shoes")] = ["b", "a"]
        self.on_index[("products-v2", "rubber boots")] = ["e2"]

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if path.endswith("max_result_window?flat_settings=true"):
            return 200, {"i": {"settings": {"index.max_result_window": "2"}}}
        if "/_pit?" in path:
            return 200, {"id": path.split("/")[1]}
        if path == "/_search":
            return 200, {"hits": {"hits": self.list_page(json.loads(body))}}
        return super().reply(method, path, body)

    def list_page(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        begin = body.get("search_after", [0])[0]
        documents = list(self.titles[body["pit"]["id"]].items())[begin : begin + body["size"]]
        hits = []
        for place, (name, title) in enumerate(documents, start=begin + 1):
            source = {} if title is None else {"title": title}
            hits.append({"_id": name, "_source": source, "sort": [place]})
        return hits


@pytest.fixture
def engine() -> Iterator[IndexedEngine]:
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    Path("shop.qrels").write_text(QRELS, encoding="utf-8")
    with IndexedEngine() as opened:
        yield opened


def remap(engine: IndexedEngine, *words: str, index: str | None = "products-v2") -> int:
    target = [] if index is None else ["--index", index]
    return main(["judgments", "remap", "shop.relevance.yaml", "--url", engine.url, "-q", *target, *words])


# By hand: 2^g - 1 gives b, a the DCG 1 + 7 / log2(3) by the old ids and 7 + 1 / log2(3) by the new ones, of an ideal
# 7 + 3 / log2(3) + 1 / 2 + 1 / log2(5); rubber boots has 0 and 1.


def test_it_says_what_moved_and_how_far_ndcg_moves(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert remap(engine) == 0

    assert capsys.readouterr().out.splitlines() == [
        "shop.relevance.yaml: 5 documents judged or expected, by title: 3 moved, 1 ambiguous, 1 gone",
        "  moved  a -> b",
        "  moved  b -> a",
        "  moved  e -> e2",
        "  ambiguous  t1: 2 documents were equal before",
        "  gone  x",
        "mean nDCG@10 on products-v2: 0.2757 with the ids of before, 0.8884 with the new ones, over 2 queries",
    ]
    assert Path("shop.qrels").read_text(encoding="utf-8") == QRELS
    assert not Path("shop.remapped-ids.json").exists()


def test_it_writes_all_files_and_the_map(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    Path("shop.baseline.json").write_text("{}", encoding="utf-8")
    assert remap(engine, "--write") == 0

    assert Path("shop.qrels").read_text(encoding="utf-8") == (
        "# graded by anna\nshoes 0 b 3\nshoes 0 a 1\nshoes 0 x 1\nshoes 0 t1 2\n"
    )
    expected = SUITE.replace("a before b", "b before a").replace("{e: 3}", "{e2: 3}")
    assert Path("shop.relevance.yaml").read_text(encoding="utf-8") == expected
    [kept] = json.loads(Path("shop.remapped-ids.json").read_text(encoding="utf-8"))["remaps"]
    assert (kept["index"], kept["fields"], kept["ids"]) == ("products-v2", ["title"], {"a": "b", "b": "a", "e": "e2"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == [
        "wrote 3 new ids to shop.relevance.yaml and shop.qrels",
        "kept the map in shop.remapped-ids.json",
        "shop.baseline.json has the ids of before: save it again with relevance baseline save",
    ]


def test_swapped_ids_are_not_swapped_back(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert remap(engine, "--write") == 0
    written = Path("shop.qrels").read_bytes()
    capsys.readouterr()

    assert remap(engine, "--write") == 2
    assert "2 ids such as 'a' moved to products-v2 on" in capsys.readouterr().err
    assert remap(engine) == 0
    assert "2 ids such as 'a' moved to products-v2 on" in capsys.readouterr().out
    assert Path("shop.qrels").read_bytes() == written


def test_a_file_of_two_suites_is_not_written_twice(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert remap(engine, "--write") == 0
    written = Path("shop.qrels").read_bytes()
    suite = "suite: other\ntarget: {index: products}\ndisplay: {title: title}\njudgments: shop.qrels\n"
    request = 'request: {query: {match: {title: "{{text}}"}}}\n'
    queries = "queries: [{id: shoes, text: red shoes, judgments: {e: 1}}]\n"
    Path("other.relevance.yaml").write_text(suite + request + queries, encoding="utf-8")

    words = ["judgments", "remap", "other.relevance.yaml", "--url", engine.url, "--index", "products-v2", "--write"]
    assert main(words) == 2
    assert "shop.remapped-ids.json: 3 ids such as 'a' moved to products-v2 on" in capsys.readouterr().err
    assert Path("shop.qrels").read_bytes() == written


def test_no_map_stays_where_nothing_was_written(
    engine: IndexedEngine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise UsageError("the disk is full")

    monkeypatch.setattr(GradedFiles, "replace_all", refuse)

    assert remap(engine, "--write") == 2
    assert "the disk is full" in capsys.readouterr().err
    assert not Path("shop.remapped-ids.json").exists()


def test_an_export_says_what_documents_were_like(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"_id": "a", "_source": {"title": "red shoe"}}, {"id": "b", "title": "blue shoe"}]
    Path("before.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    engine.titles["products"] = NEW

    assert remap(engine, "--before", "before.jsonl", index=None) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "shop.relevance.yaml: 5 documents judged or expected, by title: 2 moved, 3 not known from before"
    )


def test_a_document_without_the_fields_is_ambiguous(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.titles["products"] = {**OLD, "a": None, "b": "  "}

    assert remap(engine) == 0
    out = capsys.readouterr().out
    assert "  ambiguous  a: it lacked one of the fields" in out
    assert "  ambiguous  b: it lacked one of the fields" in out


def test_ids_in_a_file_of_queries_are_refused(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    suite = SUITE[: SUITE.index("queries:")] + "queries: queries.jsonl\n"
    Path("shop.relevance.yaml").write_text(suite, encoding="utf-8")
    query = {"id": "shoes", "text": "red shoes", "expect": ["a in top 3"]}
    Path("queries.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")

    assert remap(engine, "--write") == 2
    assert "queries.jsonl: names 'a', and ids are not edited in a file of queries" in capsys.readouterr().err
    assert Path("shop.qrels").read_text(encoding="utf-8") == QRELS
    assert not Path("shop.remapped-ids.json").exists()


REFUSED = {
    "no index": ([], None, "name the index that has the documents now, --index NEW, or a file"),
    "its own index": ([], "products", "name the index that has the documents now, --index NEW, or a file"),
    "no export": (["--before", "none.jsonl"], "products-v2", "there is no such file"),
    "a field that no document has": (["--by", "nope"], "products-v2", "products: no document has a value in 'nope'"),
    "a field that no document has now": ([], "untitled", "untitled: no document has a value in 'title'"),
    "an export without ids": (["--before", "shop.map.jsonl"], "products-v2", "the document has no id"),
}


@pytest.mark.parametrize(("words", "index", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_found_is_refused(
    engine: IndexedEngine, capsys: pytest.CaptureFixture[str], words: list[str], index: str | None, reason: str
) -> None:
    Path("shop.map.jsonl").write_text('{"title": "red shoe"}\n', encoding="utf-8")
    engine.titles["untitled"] = dict.fromkeys(NEW)
    engine.on_index[("untitled", "red shoes")] = ["b"]

    assert remap(engine, *words, index=index) == 2
    assert reason in capsys.readouterr().err


def test_a_suite_without_a_title_needs_a_field(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    Path("shop.relevance.yaml").write_text(SUITE.replace("display: {title: title}\n", ""), encoding="utf-8")

    assert remap(engine) == 2
    assert "name the fields that tell a document apart: --by FIELD" in capsys.readouterr().err
    assert remap(engine, "--by", "title") == 0


def keep_titles(titles: dict[str, str]) -> None:
    """Keep fingerprints of *titles*, as `judgments age --record` does."""
    records = [
        GradedDocument("shoes", document, 1.0, date(2026, 1, 2), {"title": fingerprint(title)})
        for document, title in titles.items()
    ]
    write_graded_documents(BesideFile(build_record_path(Path("shop.relevance.yaml"))), records)


def lint(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The findings of the lint on documents that moved."""
    main(["judgments", "lint", "shop.relevance.yaml", "--url", engine.url])
    return [line for line in capsys.readouterr().out.splitlines() if "under other ids" in line]


def test_the_lint_names_titles_that_are_there_under_other_ids(
    engine: IndexedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_titles({"e": "boot", "x": "sold out", "t1": "twin"})
    engine.titles["products"] = NEW
    engine.hidden = {"e", "x", "t1", "a"}

    assert lint(engine, capsys) == [
        "shop.relevance.yaml:2:1: 4 of 5 judged documents are not in index products, and the titles of 2 of them are "
        "there under other ids: 'e' is 'e2', 't1' is 't1n'; relevance judgments remap finds the new ids"
    ]


def test_it_names_none_where_most_are_there_or_no_title_is_known(
    engine: IndexedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.titles["products"] = NEW
    engine.hidden = {"e", "x", "t1"}
    assert lint(engine, capsys) == []

    keep_titles({"e": "boot"})
    engine.hidden = {"e"}
    engine.rankings["red shoes"] = ["a", "b", "x", "t1"]
    assert lint(engine, capsys) == []


def test_programs_read_the_map(engine: IndexedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert remap(engine, "--json") == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert facts["moved"] == {"a": "b", "b": "a", "e": "e2"}
    assert facts["others"] == {"t1": "ambiguous", "x": "gone"}
