"""What commands print of queries for which no result is right."""

import json
from pathlib import Path

import pytest

from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: [nDCG@3]
thresholds: [false hits <= 0%]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 2}}
  - {id: boots, text: rubber boots}
  - {id: rome, text: flights, nothing: true}
"""


@pytest.fixture(autouse=True)
def _shop(working_folder):
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")


def test_show_has_no_gain_where_no_result_is_right(engine, capsys):
    engine.rankings["flights"] = ["a"]
    assert main(["show", "shop.relevance.yaml", "rome", "--url", engine.url]) == 0
    printed = capsys.readouterr().out
    assert "no result is right" in printed
    assert "the ranks add" not in printed
    [heading] = [line.split() for line in printed.splitlines() if "document" in line and "score" in line]
    assert heading == ["rank", "document", "grade", "score"]
    assert main(["show", "shop.relevance.yaml", "rome", "--url", engine.url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["contributions"] is None
