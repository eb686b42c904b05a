"""Exports have no place for `nothing: true`, and say so."""

from pathlib import Path

import pytest

from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
queries:
  - {id: shoes, text: shoes, judgments: {a: 1}}
  - {id: xq, text: xq, nothing: true}
"""


@pytest.mark.parametrize("kind", ["csv", "jsonl", "trec"])
def test_that_no_result_is_right_is_not_carried_over(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    assert main(["export", kind, "shop.relevance.yaml", "--output", "out", "--strict"]) == 1
    assert "shop.relevance.yaml:6:10: 'nothing' of queries" in capsys.readouterr().err
