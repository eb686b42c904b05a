"""The time of day may jump while a suite runs: no duration is measured with it, and nothing waits for it."""

import itertools
import json
import time
from pathlib import Path

import pytest

from builders.engine import Fault, ScriptedEngine
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3}}
  - {id: boots, text: rubber boots, judgments: {e: 3}}
thresholds: ["mean nDCG@3 >= 0.5"]
"""


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_a_jump_of_the_clock_moves_no_duration_and_no_outcome(step, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    now, jumps = time.time(), itertools.count(1)
    with ScriptedEngine() as engine:
        engine.faults = [Fault(status=503), Fault(status=None)]  # so that there are pauses
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: now + step * next(jumps))
            status = main(["run", "shop.relevance.yaml", "--url", engine.url, "--budget", "600", "--json"])
    assert status == 0
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    assert 0 <= suite["timing"]["search_seconds"] < 600
    assert {query["outcome"] for query in suite["queries"]} == {"scored"}


def test_the_budget_of_a_run_limits_how_long_it_asks_what_the_server_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    with ScriptedEngine() as engine:
        engine.faults = [Fault(path="/", headers={"Retry-After": "4"})]
        assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--budget", "1"]) == 3
        assert engine.sent == [("GET", "/")]
    assert "status 503" in capsys.readouterr().out
