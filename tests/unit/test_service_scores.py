"""Scores of a service are what they are: hits tie where they are equal, and integers of any size stay exact."""

from __future__ import annotations

import pytest

pytest.importorskip("pytest_httpserver")

import json
import math
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from builders.commands import run_to_report
from builders.extension_cases import needs_extension
from harness.cli import main

SUITE = """\
suite: shop
request:
  http: {path: /search, params: {q: "{{text}}"}, ids: "$.hits[*].id", scores: "$.hits[*].score"}
measures: ["nDCG@10"]
thresholds: ["drop nDCG@10 <= 0.01"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}}
"""

GREAT, LESSER = 578730123365711993, 578730123365187705
ONE_APART = 2**60 + 1, 2**60
AN_ULP_APART = math.nextafter(0.3, 1), 0.3
NEAR = 12.345678, 12.345677
PAIRS = [(GREAT, LESSER), ONE_APART, (-(2**60), -(2**60) - 1), AN_ULP_APART, NEAR]
IDS = ["packed", "one apart", "below zero", "an ulp apart", "within a millionth"]


class Shop:
    """A service; *hits* are its answer."""

    def __init__(self, server: HTTPServer) -> None:
        self.hits: list[tuple[str, Any]] = []
        self.turns: list[list[tuple[str, Any]]] = []
        server.expect_request("/search").respond_with_handler(self.answer)

    def answer(self, _: Request) -> Response:
        hits = self.turns.pop(0) if self.turns else self.hits
        answer = {"hits": [{"id": document, "score": score} for document, score in hits]}
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def shop(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.chdir(tmp_path)
    toml = f'[clusters.default]\nurl = "{httpserver.url_for("/")}"\nservice = "http"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return Shop(httpserver)


def save_baseline() -> None:
    assert main(["baseline", "save", "shop.relevance.yaml", "-q"]) == 0


@pytest.mark.smoke("relevance run")
@pytest.mark.parametrize(("great", "lesser"), PAIRS, ids=IDS)
def test_another_order_of_near_scores_is_a_drop(shop: Shop, great: float, lesser: float) -> None:
    shop.hits = [("a", great), ("b", lesser)]
    save_baseline()
    shop.hits = [("b", great), ("a", lesser)]
    status, suite = run_to_report()
    assert status == 1
    assert "ties" not in suite["verdicts"][0]["reason"]
    assert [document["tied"] for document in suite["queries"][0]["ranking"]] == [False, False]


@pytest.mark.parametrize("score", [GREAT, 2**60 + 1, 0.3, 7])
def test_another_order_of_equal_scores_is_one_of_ties(shop: Shop, score: float) -> None:
    shop.hits = [("a", score), ("b", score), ("c", 0)]
    save_baseline()
    shop.hits = [("b", score), ("a", score), ("c", 0)]
    status, suite = run_to_report()
    assert status == 0
    assert "only the order of ties changed" in suite["verdicts"][0]["reason"]


@pytest.mark.parametrize(("great", "lesser"), PAIRS, ids=IDS)
def test_what_is_kept_has_the_scores_of_the_service(shop: Shop, great: float, lesser: float) -> None:
    """A baseline, a report, and a journal from which a run goes on."""
    shop.hits = [("a", great), ("b", lesser)]
    save_baseline()
    kept = json.loads(Path("shop.baseline.json").read_text(encoding="utf-8"))["requests"]["request"]["queries"]["shoes"]
    assert kept["ranking"] == [["a", great], ["b", lesser]]
    assert kept["exact_scores"] is True
    _, suite = run_to_report("--journal", "run.journal")
    shop.hits = []
    assert [document["score"] for document in suite["queries"][0]["ranking"]] == [great, lesser]
    line = next(line for line in Path("run.journal").read_text(encoding="utf-8").splitlines() if '"query"' in line)
    assert [hit["score"] for hit in json.loads(line)["ranking"]["hits"]] == [great, lesser]
    whole = Path("run.journal").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("run.journal").write_text("".join(whole[:2]), encoding="utf-8")
    _, resumed = run_to_report("--journal", "run.journal", "--resume")
    assert resumed["queries"][0]["ranking"] == suite["queries"][0]["ranking"]


@needs_extension("compare")
@pytest.mark.parametrize("source", ["baseline", "report:before.json"])
@pytest.mark.parametrize(("great", "lesser"), PAIRS, ids=IDS)
def test_a_comparison_with_what_was_kept_takes_no_near_scores_as_ties(
    shop: Shop, source: str, great: float, lesser: float
) -> None:
    shop.hits = [("a", great), ("b", lesser)]
    save_baseline()
    run_to_report("--output", "json=before.json")
    shop.hits = [("b", great), ("a", lesser)]
    words = ["compare", source, "request:request", "--suite", "shop.relevance.yaml", "--output", "json=compared.json"]
    assert main([*words, "--threshold", "drop nDCG@10 <= 0.01", "-q"]) == 1
    [query] = json.loads(Path("compared.json").read_text(encoding="utf-8"))["queries"]
    assert [document["tied"] for document in query["documents"]] == [False, False]


@pytest.mark.parametrize(("great", "lesser"), PAIRS, ids=IDS)
def test_repeats_that_differ_in_near_scores_do_not_differ_in_ties(shop: Shop, great: float, lesser: float) -> None:
    first, second = [("a", great), ("b", lesser)], [("b", great), ("a", lesser)]
    shop.hits = first
    save_baseline()
    shop.turns = [first, second]
    _, suite = run_to_report("--repeat", "2")
    assert [one["cause"] for one in suite["repeats"]["unstable"]] == ["unknown"]


def test_a_baseline_of_an_earlier_version_with_rounded_integers_excuses_nothing(shop: Shop) -> None:
    shop.hits = [("a", GREAT), ("b", LESSER)]
    save_baseline()
    text = Path("shop.baseline.json").read_text(encoding="utf-8")
    text = text.replace(str(GREAT), repr(float(GREAT))).replace(str(LESSER), repr(float(LESSER)))
    text = text.replace('"exact_scores": true,\n', "")
    assert "exact_scores" not in text
    Path("shop.baseline.json").write_text(text, encoding="utf-8")
    shop.hits = [("b", GREAT), ("a", LESSER)]
    assert run_to_report()[0] == 1


def test_an_integer_is_shown_whole(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.hits = [("b", GREAT), ("a", LESSER)]
    main(["show", "shop.relevance.yaml", "shoes"])
    shown = capsys.readouterr().out
    assert str(GREAT) in shown
    assert str(LESSER) in shown


@pytest.mark.parametrize("score", ['"many"', "1e999", "true", "[1]"])
def test_what_is_no_number_is_no_score(httpserver: HTTPServer, shop: Shop, score: str) -> None:
    httpserver.clear()
    body = f'{{"hits": [{{"id": "a", "score": {score}}}]}}'
    httpserver.expect_request("/search").respond_with_data(body, content_type="application/json")
    status, suite = run_to_report()
    assert status == 3
    assert suite["queries"][0]["reason"].startswith("malformed answer (200): `$.hits[*].score` should be a finite ")
