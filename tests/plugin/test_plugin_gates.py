"""Requests that gate nothing, and thresholds that are for some requests: the items of a session, as the command."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.workers import IN_TWO_WORKERS

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

REQUESTS = """\
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match: {title: "new {{text}}"}}}
  helper: {body: {query: {match: {title: "old {{text}}"}}}, gate: false}
"""
THRESHOLDS = """\
thresholds:
  - {threshold: "mean nDCG@10 >= 0.8", requests: [current]}
  - mean nDCG@10 >= 0.1
"""
ALL = tuple(word for name in ("current", "candidate", "helper") for word in ("--relevance-request", name))
UNGATED = "shop.relevance.yaml: the request 'helper' gates nothing: it has `gate: false`; it has no items"


@pytest.fixture
def gated(suite: Suite, engine: object) -> Path:
    path = suite(THRESHOLDS, shoes='expect: [{expect: "a in top 1", requests: [current]}]')
    text = path.read_text(encoding="utf-8")
    start, end = text.index("request:"), text.index("measures:")
    path.write_text(text[:start] + REQUESTS + text[end:], encoding="utf-8")
    engine.rankings |= {"new red shoes": ["b", "a"], "new rubber boots": ["e", "d"]}
    engine.rankings |= {"old red shoes": ["x"], "old rubber boots": ["x"]}
    return path


def test_items_are_those_of_the_thresholds_for_each_request(gated: Path, run: Run, engine: object) -> None:
    result = run("-v", "--junitxml=junit.xml", *ALL)

    result.assert_outcomes(passed=4)
    names = [case.get("name") for case in ET.parse("junit.xml").iter("testcase")]
    assert names == [
        "mean-nDCG-10-ge-0.8[current]",
        "mean-nDCG-10-ge-0.1[current]",
        "query.shoes[current]",
        "mean-nDCG-10-ge-0.1[candidate]",
    ]
    result.stdout.fnmatch_lines([UNGATED])
    assert not any(text.startswith("old") for text in engine.asked)


@pytest.mark.parametrize("options", [(), IN_TWO_WORKERS], ids=["one process", "workers"])
def test_each_query_has_an_item_unless_the_request_gates_nothing(
    gated: Path, run: Run, options: tuple[str, ...]
) -> None:
    result = run("--relevance-each-query", *ALL, *options)
    result.assert_outcomes(passed=7)
    assert [line for line in result.outlines if "gates nothing" in line] == [UNGATED]


def test_a_session_of_a_helper_alone_has_no_items(gated: Path, run: Run) -> None:
    result = run("--relevance-request", "helper")
    assert result.ret is pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines([UNGATED])
    result.stdout.no_fnmatch_line("*no thresholds and expectations*")


def test_a_threshold_that_fails_fails_for_its_request_only(gated: Path, run: Run, engine: object) -> None:
    engine.rankings["red shoes"] = ["x"]
    result = run(*ALL)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*shop: mean nDCG@10 >= 0.8, request current*"])
