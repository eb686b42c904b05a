"""``relevance judgments`` and a threshold on Judged@k on real engines: a deleted document, an alias of two indexes."""

from __future__ import annotations

import csv
import json
import shutil
import uuid
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders.pages import JudgingPage
from harness.cli import main
from harness.search.engine import EngineSearch
from harness.search.transport import TransportConnection
from harness.suites import load_suite

CATALOGUE = Path(__file__).parents[4] / "suites"

DOCUMENTS = {
    "sku-1": {"title": "Red running shoes", "text": "Light shoes for long runs on roads.", "code": "x" * 400},
    "sku-2": {"title": "Red hiking shoes", "text": "Sturdy shoes with a deep tread, " + "made to last and last, " * 30},
    "sku-3": {"title": "Blue shoes", "text": "Plain shoes.", "vector": [0.1, 0.2]},
    "SKU-4": {"title": "Red socks", "text": "Warm socks of merino wool."},
    "007": {"title": "Red shoes =cmd", "text": "=1+1 is no formula here."},
}

SUITE = """\
suite: shop
target: {{index: {index}}}
display: {{title: title}}
grades: {{good: 2, bad: 0}}
requests:
  any: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  all: {{query: {{match: {{title: {{query: "{{{{text}}}}", operator: and}}}}}}}}
measures: ["nDCG@5"]
thresholds: ["mean Judged@5 >= 0.9", "every Judged@5 >= 0.9"]
judgments: {files}
queries:
  - {{id: shoes, text: red shoes, judgments: {{sku-1: good}}}}
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def write_suite(index: str, files: str = "[]", **contents: str) -> Path:
        for name, content in contents.items():
            (tmp_path / name.replace("_", ".")).write_text(content, encoding="utf-8")
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(SUITE.format(index=index, files=files), encoding="utf-8")
        return path

    return write_suite


@pytest.fixture
def alias(call: Callable[..., Any], search: EngineSearch) -> Iterator[Callable[..., str]]:
    """An alias over indexes; it goes with them."""

    def make(*indexes: str) -> str:
        name = f"relevance-test-{uuid.uuid4().hex[:12]}"
        call("POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": name}} for index in indexes]})
        return name

    return make


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def judgments(*words: str) -> int:
    return main(["judgments", *words])


def test_the_pool_of_two_requests_holds_titles_and_snippets(
    index: Callable[..., str], engine_url: str, write: Write, tmp_path: Path
) -> None:
    write(index(DOCUMENTS))
    words = ("shop.relevance.yaml", "--url", engine_url, "--all-requests", "-q", "--output", "csv=u.csv")
    assert judgments("pool", *words) == 0
    found = {row["document"]: row for row in rows(tmp_path / "u.csv")}
    assert set(found) == {"sku-2", "sku-3", "SKU-4", "'007"}
    assert found["SKU-4"]["snippet"] == "Warm socks of merino wool."
    assert found["sku-2"]["snippet"].startswith("Sturdy shoes with a deep tread")
    assert len(found["sku-2"]["snippet"]) <= 200
    assert found["'007"]["snippet"] == "'=1+1 is no formula here."
    assert found["'007"]["title"] == "Red shoes =cmd"
    assert {row["rank all"] != "" for row in (found["sku-3"], found["SKU-4"])} == {False}
    assert {row["rank all"] != "" for row in (found["sku-2"], found["'007"])} == {True}


@pytest.mark.one_engine
def test_the_gate_holds_once_the_pool_is_graded_on_the_page(
    index: Callable[..., str], engine_url: str, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: dict[str, Any] = {}

    def grade_all(url: str) -> bool:
        page = JudgingPage(url)
        shown.update({one["document"]: one for one in page.documents})
        page.grade({f"shoes/{document}": 2 if document == "sku-2" else 0 for document in shown})
        return bool(page.ask("/finish", {}))

    monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=grade_all))
    path = write(index(DOCUMENTS))
    before = path.read_text(encoding="utf-8")
    words = (
        "judge",
        "shop.relevance.yaml",
        "--url",
        engine_url,
        "--all-requests",
        "-q",
        "--fields",
        "title,text,vector",
    )
    assert main(words) == 0
    assert shown.keys() == {"sku-2", "sku-3", "SKU-4", "007"}
    texts = {name: {field["name"]: field["text"] for field in one["fields"]} for name, one in shown.items()}
    assert texts["sku-3"] == {"title": "Blue shoes", "text": "Plain shoes.", "vector": "0.1 · 0.2"}
    assert len(texts["sku-2"]["text"]) > 600
    assert (shown["SKU-4"]["title"], shown["SKU-4"]["snippet"]) == ("Red socks", None)
    new = 'sku-2: good, sku-3: bad, SKU-4: bad, "007": bad'
    after = path.read_text(encoding="utf-8")
    assert sorted(after.split("sku-1: good, ")[1].split("}")[0].split(", ")) == sorted(new.split(", "))
    assert after.split("sku-1: good")[0] == before.split("sku-1: good")[0]
    assert main(["run", ".", "--url", engine_url, "-q"]) == 0


@pytest.mark.parametrize("kind", ["csv", "yaml"])
@pytest.mark.one_engine
def test_the_gate_fails_for_want_of_judgments_and_holds_once_the_pool_is_graded(
    index: Callable[..., str],
    engine_url: str,
    write: Write,
    tmp_path: Path,
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = index(DOCUMENTS)
    write(name)
    assert main(["run", ".", "--url", engine_url, "-q"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "FAILED mean Judged@5 >= 0.9: mean Judged@5 is 0.2000, required >= 0.9" in said
    assert "unjudged hits of shoes: " in said
    assert "SKU-4 (rank " in said
    assert judgments("pool", ".", "--url", engine_url, "-q", "--output", f"{kind}=u.{kind}") == 0
    file = tmp_path / f"u.{kind}"
    if kind == "csv":
        graded = [{**row, "grade": "bad"} for row in rows(file)]
        with file.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, graded[0].keys())
            writer.writeheader()
            writer.writerows(graded)
    else:
        lines = file.read_text(encoding="utf-8").splitlines()
        file.write_text("".join(f"{line} bad\n" if line.startswith('  "') else f"{line}\n" for line in lines))
    write(name, f"[u.{kind}]")
    assert judgments("lint", ".", "--url", engine_url) == 0
    assert main(["run", ".", "--url", engine_url, "-q"]) == 0


def test_without_a_stored_source_there_is_no_snippet(
    index: Callable[..., str],
    engine_url: str,
    write: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(index(DOCUMENTS, mappings={"_source": {"enabled": False}}))
    path.write_text(path.read_text().replace("display: {title: title}\n", ""))
    assert judgments("pool", ".", "--url", engine_url, "-q", "--output", "csv=u.csv") == 0
    assert "have no snippet: engine error (400): " in " ".join(capsys.readouterr().out.split())
    assert [(row["title"], row["snippet"]) for row in rows(tmp_path / "u.csv")] == [("", "")] * 4


def test_nothing_is_asked_but_searches(
    index: Callable[..., str], engine_url: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right to read the index is enough: what answers is asked once, and all else are searches."""
    asked: list[tuple[str, str]] = []
    perform = TransportConnection.perform

    def recorded(self: TransportConnection, method: str, path: str, **rest: Any) -> Any:
        asked.append((method, path))
        return perform(self, method, path, **rest)

    name = index(DOCUMENTS)
    write(name)
    monkeypatch.setattr(TransportConnection, "perform", recorded)
    assert judgments("pool", ".", "--url", engine_url, "-q") == 0
    assert judgments("lint", ".", "--url", engine_url) == 0
    assert {(method, path.partition("?")[0]) for method, path in asked} == {("GET", "/"), ("POST", f"/{name}/_msearch")}


def test_a_deleted_document_is_found_and_the_id_that_is_there(
    index: Callable[..., str],
    call: Callable[..., Any],
    engine_url: str,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = index(DOCUMENTS)
    call("DELETE", f"/{name}/_doc/sku-3?refresh=true")
    graded = "query,document,grade\nshoes,sku-2,0\nshoes,sku-3,1\nshoes,sku-4,2\nshoes,007,1\n"
    write(name, "[j.csv]", j_csv=graded)
    assert judgments("lint", ".", "--url", engine_url, "--json") == 1
    found = json.loads(capsys.readouterr().out)["facts"]["findings"]
    assert [(one["line"], one["kind"]) for one in found] == [(3, "missing-document"), (4, "missing-document")]
    assert f"document 'sku-3' for query 'shoes' is not in index {name}; " in found[0]["message"]
    assert "but 'SKU-4' is, which differs only in letter case" in found[1]["message"]


def test_an_alias_over_two_indexes_is_found_where_they_share_a_judged_document(
    index: Callable[..., str],
    alias: Callable[..., str],
    engine_url: str,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    both = index(DOCUMENTS), index({"sku-1": DOCUMENTS["sku-1"], "sku-9": {"title": "Red boots"}})
    apart = index({"sku-9": {"title": "Red boots"}})
    graded = "query,document,grade\nshoes,sku-2,0\nshoes,sku-9,1\n"
    write(alias(*both), "[j.csv]", j_csv=graded)
    assert judgments("lint", ".", "--url", engine_url) == 1
    [line] = capsys.readouterr().out.splitlines()
    assert "leads to several indexes, and 1 judged document is in more than one of them: 'sku-1'; " in line
    write(alias(both[0], apart), "[j.csv]", j_csv=graded)
    assert judgments("lint", ".", "--url", engine_url) == 0


def test_hundreds_of_judged_documents_are_looked_up(
    index: Callable[..., str], engine_url: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    graded = "".join(f"shoes,d{n},0\n" for n in range(350))
    write(index({"sku-1": {}, "d7": {}, "d349": {}}), "[j.csv]", j_csv=f"query,document,grade\n{graded}")
    assert judgments("lint", ".", "--url", engine_url) == 1
    assert len(capsys.readouterr().out.splitlines()) == 348


def test_an_index_that_is_not_there_is_no_finding_and_3(
    engine_url: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("relevance-test-no-such-index")
    assert judgments("lint", ".", "--url", engine_url) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "cannot look up documents in relevance-test-no-such-index: " in err


@pytest.mark.one_engine
def test_the_pool_of_the_catalogue_graded_makes_it_judged_throughout(
    engine_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example suite says which of its queries are judged in part; they are those of the pool, and no others."""
    shutil.copytree(CATALOGUE, tmp_path / "suites")
    suite = tmp_path / "suites" / "products.relevance.yaml"
    partial = {query.id for query in load_suite(suite, None).queries if "partial" in query.tags}
    words = (str(suite), "--url", engine_url, "--allow-write", "--all-requests", "-q")
    graded = suite.parent / "graded.yaml"
    assert judgments("pool", *words, "--output", f"yaml={graded}", "--output", f"csv={tmp_path / 'u.csv'}") == 0
    found = rows(tmp_path / "u.csv")
    assert partial
    assert {row["query"] for row in found} <= partial
    assert all(row["title"] and row["snippet"] and row["title"] != row["snippet"] for row in found)
    lines = graded.read_text(encoding="utf-8").splitlines()
    graded.write_text("".join(f"{line} 0\n" if line.startswith('  "') else f"{line}\n" for line in lines))
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("judgments:\n  - ", "judgments:\n  - graded.yaml\n  - ", 1), encoding="utf-8")
    capsys.readouterr()
    assert judgments("pool", *words) == 0
    assert "no hit of the top 10 is unjudged" in capsys.readouterr().out
    assert judgments("lint", str(suite), "--url", engine_url) == 0
