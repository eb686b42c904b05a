"""A suite of queries for which no result is right has runs, and no measure that goes over them."""

from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
thresholds: [false hits <= 0%]
queries:
  - {id: rome, text: flights, nothing: true}
"""


def test_no_measure_is_said_in_place_of_an_empty_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    with ScriptedEngine() as engine:
        engine.rankings["flights"] = ["a"]
        assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--history", "kept", "-q"]) == 1
    capsys.readouterr()

    assert main(["history", "shop.relevance.yaml", "--history", "kept", "--output", "html=page.html"]) == 0

    printed = capsys.readouterr().out
    assert "no query has a score: the suite has no measure" in printed
    assert "measure  trend" not in printed
