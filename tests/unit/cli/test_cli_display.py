"""What a suite displays of the hits of a service, from the paths of its request to reports, `show` and the journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from builders.extension_cases import needs_extension
from harness.cli import main

SUITE = """\
suite: shop
target: {cluster: shop}
display: {title: name, fields: [price, sizes, note], link: url}
request:
  http:
    path: /search
    params: {q: "{{text}}", lang: "${RELEVANCE_LANG:-en}"}
    ids: $.hits[*].id
    fields: {name: "$.hits[*].name", price: "$.hits[*].price", sizes: "$.sizes", note: "$.hits[*].note", url: "$.hits[*].url"}
thresholds: ["mean P@1 >= 1"]
queries:
  - {id: boots, text: boots, judgments: {b: 1}}
"""  # noqa: E501
ANSWER: dict[str, Any] = {
    "hits": [
        {"id": "a", "name": "Boots", "price": 49.5, "note": "for mountaineers", "url": "https://shop.example/a"},
        {"id": "b", "name": "Rubber boots", "price": None},
    ],
    "sizes": [[41, 42], "any"],
}
TEXTS = [
    {"field": "price", "text": "49.5", "spans": []},
    {"field": "sizes", "text": "41 · 42", "spans": []},
    {"field": "note", "text": "for mountaineers", "spans": []},
]


@pytest.fixture
def folder(tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    httpserver.expect_request("/search").respond_with_json(ANSWER)
    url = httpserver.url_for("").rstrip("/")
    (tmp_path / "relevance.toml").write_text(f'[clusters.shop]\nurl = "{url}"\nservice = "http"\n')
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    return tmp_path


def read_ranking(report: Path) -> list[dict[str, Any]]:
    [query] = json.loads(report.read_text())["suites"][0]["queries"]
    ranking: list[dict[str, Any]] = query["ranking"]
    return ranking


def test_reports_have_the_fields_of_a_service(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop.relevance.yaml", "-q", "--output", "json=r.json", "--output", "html=r.html"]) == 1
    first, second = read_ranking(folder / "r.json")
    assert (first["title"], first["texts"]["fields"]) == ("Boots", TEXTS)
    assert [field["field"] for field in second["texts"]["fields"]] == ["sizes"]
    assert "<span>price</span> <bdi>49.5</bdi>" in (folder / "r.html").read_text()
    assert main(["run", "shop.relevance.yaml"]) == 1
    assert "price 49.5 · sizes 41 · 42 · note for mountaineers" in capsys.readouterr().out
    assert main(["show", "shop.relevance.yaml", "boots"]) == 0
    assert "price 49.5 · sizes 41 · 42 · note for mountaineers" in capsys.readouterr().out


def test_a_run_that_goes_on_with_its_journal_has_the_fields_in_it(folder: Path, httpserver: HTTPServer) -> None:
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE + "  - {id: down, text: down, judgments: {x: 1}}\n")
    httpserver.clear()
    httpserver.expect_request("/search", query_string={"q": "boots", "lang": "en"}).respond_with_json(ANSWER)
    httpserver.expect_request("/search", query_string={"q": "down", "lang": "en"}).respond_with_data(status=400)
    command = ["run", "shop.relevance.yaml", "-q", "--output", "json=r.json"]
    assert main(command) == 3
    httpserver.clear()
    httpserver.expect_request("/search", query_string={"q": "down", "lang": "en"}).respond_with_json(ANSWER)
    assert main([*command, "--resume"]) == 1
    queries = json.loads((folder / "r.json").read_text())["suites"][0]["queries"]
    assert [query["ranking"][0]["texts"]["fields"] for query in queries] == [TEXTS, TEXTS]


@needs_extension("judging")
def test_a_secret_that_a_field_returns_is_masked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RELEVANCE_LANG", "mountaineers")
    assert main(["run", "shop.relevance.yaml", "-q", "--output", "json=r.json"]) == 1
    assert read_ranking(folder / "r.json")[0]["texts"]["fields"][2]["text"] == "for ${RELEVANCE_LANG}"
    assert main(["judgments", "pool", "shop.relevance.yaml", "-q", "--output", "csv=u.csv"]) == 0
    assert "for ${RELEVANCE_LANG}" in (folder / "u.csv").read_text()
    assert "mountaineers" not in (folder / "u.csv").read_text() + capsys.readouterr().out


@needs_extension("judging")
def test_a_field_that_no_pooled_document_has_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("$.hits[*].note", "$.hits[*].remark"))
    assert main(["judgments", "pool", "shop.relevance.yaml", "-q"]) == 0
    assert "none of 1 document has a text in note" in capsys.readouterr().out
