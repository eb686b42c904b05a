"""``relevance judgments lint`` of quotes: those that no document of the index holds, and those of another document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import harness.search.dialects
from harness.cli import main
from harness.model.request import SearchRequest
from harness.model.run import Hit, Ranking, Response
from harness.search.testing import FakeSearch

SUITE = """\
suite: manuals
target: {index: chunks}
display: {text: body}
request: {query: {match: {body: "{{text}}"}}}
measures: ["StRecall@3"]
queries:
  - id: valve
    text: when does the valve open
    quotes:
      - {text: "The valve opens at 3 bar", document: boiler}
      - {text: "It closes below 2 bar", document: DOCUMENT}
"""
CHUNKS = {"c-1": ("boiler", "All about it. The valve opens"), "c-2": ("boiler", "at 3 bar. It closes below 2 bar.")}


class Chunks(FakeSearch):
    """An index of chunks, all of which match any quote."""

    body_type = "text"

    def field_types(
        self,
        index: str,
        names: Sequence[str],
        url_params: Mapping[str, str],
    ) -> Mapping[str, frozenset[str]]:
        return {"manual": frozenset({"keyword"}), "body": frozenset({self.body_type})}

    def _respond(self, request: SearchRequest) -> Response:
        assert isinstance(request.body, dict)
        if "match" not in request.body["query"]:
            return Ranking()
        assert request.value_fields == ("body", "manual")
        return Ranking(
            tuple(Hit(name, values={"manual": (manual,), "body": (body,)}) for name, (manual, body) in CHUNKS.items())
        )


@pytest.fixture
def search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chunks:
    monkeypatch.chdir(tmp_path)
    Path("relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n', encoding="utf-8")
    search = Chunks({})
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: search)
    return search


def lint(document: str = "boiler", *words: str, suite: str = SUITE) -> int:
    Path("manuals.relevance.yaml").write_text(suite.replace("DOCUMENT", document), encoding="utf-8")
    return main(["judgments", "lint", "manuals.relevance.yaml", *words])


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("document", ["boiler", "c-2"])
def test_quotes_of_the_index_are_no_findings(capsys: pytest.CaptureFixture[str], document: str) -> None:
    assert lint(document) == 0
    assert "2 judgments of 1 suite checked: no findings" in capsys.readouterr().err


@pytest.mark.usefixtures("search")
def test_a_quote_with_a_typo_is_named_with_the_document_that_is_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(suite=SUITE.replace("closes below", "closes bellow")) == 1
    assert capsys.readouterr().out == (
        "manuals.relevance.yaml:11:16: the quote 'It closes bellow 2 bar' of query 'valve' is in no document of chunks"
        ", not even half of it; the document 'c-1' matches its words best; correct it, or "
        "shorten it where a border of chunks cuts it\n"
    )


@pytest.mark.usefixtures("search")
def test_a_document_that_no_holder_of_the_quote_names_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("pump") == 1
    assert capsys.readouterr().out == (
        "manuals.relevance.yaml:11:16: the quote 'It closes below 2 bar' of query 'valve' is in 'c-2', which has the "
        "document 'pump' in no field; correct `document`\n"
    )


@pytest.mark.usefixtures("search")
def test_documents_that_only_the_suite_knows_are_no_findings() -> None:
    assert lint("chapter two", suite=SUITE.replace("document: boiler", "document: chapter one")) == 0


def test_a_field_without_words_is_an_error(search: Chunks, capsys: pytest.CaptureFixture[str]) -> None:
    search.body_type = "keyword"
    assert lint() == 3
    assert "quotes cannot be looked for in chunks: the field 'body' has no text type there" in capsys.readouterr().err


@pytest.mark.usefixtures("search")
def test_without_an_engine_quotes_are_not_looked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("pump", "--offline") == 0
    assert "the judged documents were not looked up" in capsys.readouterr().err
