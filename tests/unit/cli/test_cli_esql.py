"""A suite of ES|QL from the command line: its run, what `relevance show` prints, and what it says it cannot do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders.engine import Fault
from builders.esql import EsqlEngine, table_of
from harness.cli import main
from harness.gate.ties import has_sort, suggest_tie_break
from harness.suites import load_suite

pytestmark = pytest.mark.usefixtures("working_folder")

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
request:
  esql: |
    FROM products METADATA _id, _score
    | WHERE MATCH(title, ?text)
    | SORT _score DESC
    | LIMIT ?depth
thresholds: ["every RR@1 >= 1"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3}, expect: ["a before c"]}
  - {id: boots, text: rubber boots, judgments: {e: 3}}
"""


@pytest.fixture
def esql() -> Iterator[EsqlEngine]:
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    with EsqlEngine() as engine:
        yield engine


def read_words(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, without line breaks."""
    return " ".join(capsys.readouterr().out.split())


def test_a_run_decides_thresholds_on_the_rows(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "shop.relevance.yaml", "--url", esql.url, "--json"]) == 0

    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert [verdict["status"] for verdict in suite["verdicts"]] == ["passed", "passed"]
    assert [param for asked in esql.asked_esql for param in asked["params"] if "depth" in param] == [{"depth": 10}] * 2


def test_another_index_takes_the_place_of_that_of_from(esql: EsqlEngine) -> None:
    assert main(["run", "shop.relevance.yaml", "--url", esql.url, "--index", "next"]) == 0

    assert {asked["query"].splitlines()[0] for asked in esql.asked_esql} == {"FROM next METADATA _id, _score"}


def test_a_partial_answer_fails_the_run(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    esql.tables["red shoes"] = table_of([["a", 1.0]], is_partial=True)

    assert main(["run", "shop.relevance.yaml", "--url", esql.url]) == 3
    assert "the answer is partial: `is_partial` is true" in read_words(capsys)


def test_what_was_sent_again_is_told(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    esql.faults.append(Fault("/_query", 429))

    assert main(["run", "shop.relevance.yaml", "--url", esql.url]) == 0
    assert "status 429" in capsys.readouterr().out


def test_show_prints_the_text_its_parameters_and_a_curl_line(
    esql: EsqlEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", esql.url, "--request-body"]) == 0

    out = capsys.readouterr().out
    assert f"POST {esql.url}/_query" in out
    assert '"params": [' in out
    assert '"text": "red shoes"' in out
    assert "curl" in out


def test_no_explanation_is_said(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", esql.url, "--explain", "a"]) == 0

    assert "Elasticsearch does not explain the scores of ES|QL" in read_words(capsys)


def test_opensearch_says_that_it_has_none(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    esql.root = {"version": {"number": "2.19.1", "distribution": "opensearch"}}

    assert main(["run", "shop.relevance.yaml", "--url", esql.url]) == 3
    assert "OpenSearch has no ES|QL: it is a language of Elasticsearch alone" in read_words(capsys)


def test_rank_eval_has_none(esql: EsqlEngine, capsys: pytest.CaptureFixture[str]) -> None:
    Path("shop.relevance.yaml").write_text(
        SUITE.replace("thresholds", "measures: [RR@10]\nthresholds"), encoding="utf-8"
    )
    pytest.importorskip("harness.extensions.migrate")

    assert main(["verify", "shop.relevance.yaml", "--url", esql.url]) == 2
    assert "the request 'request' is ES|QL, which has no _rank_eval" in capsys.readouterr().err


def test_ties_are_broken_in_the_words_of_es_ql() -> None:
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    template = load_suite(Path("shop.relevance.yaml"), {}).requests["request"]

    assert suggest_tie_break(template) == "break ties in the request (`SORT _score DESC, FIELD`, if a field is unique)"
    assert has_sort(template)
