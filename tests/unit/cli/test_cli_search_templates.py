"""Search templates that only the engine can fill: those that skip hits are refused, or it is said that this is open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.engine import Fault, ScriptedEngine
from harness.cli import main

pytestmark = pytest.mark.usefixtures("working_folder")

SUITE = """\
suite: shop
target: {index: products}
request: {template: {id: find-products, params: {q: "{{text}}", first: "{{first}}"}}}
thresholds: ["every RR@1 >= 1"]
queries:
  - {id: shoes, text: red shoes, params: {first: 0}, judgments: {a: 3}}
  - {id: boots, text: rubber boots, params: {first: FIRST}, judgments: {e: 3}}
"""


def run(engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], first: str = "0") -> tuple[int, Any]:
    Path("shop.relevance.yaml").write_text(SUITE.replace("FIRST", first), encoding="utf-8")
    status = main(["run", "shop.relevance.yaml", "--url", engine.url, "--json"])
    [suite] = json.loads(capsys.readouterr().out)["suites"]
    return status, suite


def store(engine: ScriptedEngine, **more: Any) -> None:
    engine.templates["find-products"] = {
        "query": {"match": {"title": "{{q}}"}},
        **more,
    }


@pytest.mark.parametrize("more", [{"from": 2}, {"from": "3"}, {"search_after": [7, "d1"]}])
def test_a_stored_template_that_skips_hits_is_refused(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], more: dict[str, Any]
) -> None:
    store(engine, **more)
    status, suite = run(engine, capsys)

    assert status == 3
    [key] = more
    for query in suite["queries"]:
        assert f"the search template 'find-products' becomes a body with `{key}`" in query["reason"]
    assert not engine.asked


def test_so_is_one_whose_params_skip_hits_for_one_query(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    store(engine, **{"from": "{{first}}"})
    assert run(engine, capsys)[0] == 0
    assert run(engine, capsys, first="4")[0] == 3


@pytest.mark.parametrize("status", [403, 404])
def test_a_template_that_may_not_be_rendered_is_a_note(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    store(engine)
    engine.faults.append(Fault("/_render/template", status, times=9))
    exit_status, suite = run(engine, capsys)

    assert exit_status == 0
    assert any("whether the search template skips hits (`from`) is unknown" in note for note in suite["notes"])


@pytest.mark.parametrize("more", [{}, {"collapse": {"field": "brand"}}])
def test_fewer_hits_than_match_are_told_unless_the_template_groups_them(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], more: dict[str, Any]
) -> None:
    store(engine, **more)

    def count_more(answer: dict[str, Any]) -> dict[str, Any]:
        for item in answer["responses"]:
            item["hits"]["total"]["value"] += 5
        return answer

    engine.change_all = count_more
    status, suite = run(engine, capsys)

    assert status == 0
    [threshold] = suite["verdicts"]
    assert ("shoes (3 hits of 8)" in threshold["reason"]) is not bool(more)
    assert ("shoes (3 hits of 8)" in threshold["caveat"]) is not bool(more)
    assert any("shoes (3 hits of 8)" in note for note in suite["notes"]) is not bool(more)
