"""Requests that gate nothing, and thresholds for some requests: what a run says of them, and its exit status."""

import json
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.suites import write_changed
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {query: {match: {title: "new {{text}}"}}}
  helper: {body: {query: {match: {title: "old {{text}}"}}}, gate: false}
measures: ["nDCG@3"]
thresholds:
  - {threshold: "mean nDCG@3 >= 0.9", requests: [current]}
  - mean nDCG@3 >= 0.2
queries:
  - id: shoes
    text: red shoes
    judgments: {a: 3, b: 1}
    expect: [{expect: "a in top 1", requests: [current]}]
  - {id: boots, text: rubber boots, judgments: {e: 3}}
"""
REPORT = Path("report.json")
UNGATED = "the request 'helper' gates nothing: it has `gate: false`"
OTHERS = "2 thresholds are for other requests than 'candidate': mean nDCG@3 >= 0.9 (current), a in top 1 (current)"


@pytest.fixture
def engine(working_folder, engine, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    write_changed(SUITE)
    engine.rankings |= {"new red shoes": ["b", "a"], "new rubber boots": ["d", "e"]}
    engine.rankings |= {"old red shoes": [], "old rubber boots": ["x"]}
    return engine


def run(engine, *words):
    return main(["run", "shop.relevance.yaml", "--url", engine.url, *words])


def test_a_helper_does_not_fail_the_gate_and_is_shown(engine, capsys):
    assert run(engine, "--all-requests", "--output", f"json={REPORT}", "--output", "html=report.html") == 0
    printed = capsys.readouterr().out
    assert UNGATED in printed
    assert OTHERS in printed
    assert "4 thresholds: 4 passed" in printed
    report = json.loads(REPORT.read_text())
    assert [(suite["request"], suite["gates"], suite["for_other_requests"]) for suite in report["suites"]] == [
        ("current", True, 0),
        ("candidate", True, 2),
        ("helper", False, 3),
    ]
    assert [len(suite["verdicts"]) for suite in report["suites"]] == [3, 1, 0]
    assert report["suites"][2]["summaries"][0]["mean"] == 0
    assert "gates nothing" in Path("report.html").read_text()


def test_a_threshold_fails_for_the_request_that_it_is_for(engine):
    engine.rankings["rubber boots"] = ["d"]
    assert run(engine, "--all-requests", "-q") == 1
    assert run(engine, "--request", "candidate", "-q") == 0


def test_a_query_of_a_helper_without_an_answer_is_shown_and_decides_nothing(engine, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    engine.broken["old red shoes"] = 500
    assert run(engine, "--all-requests", "-q", "--github") == 0
    printed = capsys.readouterr().out
    assert "1 query with outcome error: engine error (500)" in printed
    assert "1 query without an answer of requests that gate nothing" in printed
    assert "::error" not in printed
    engine.broken["red shoes"] = 500
    assert run(engine, "--all-requests", "-q") == 3


@pytest.mark.parametrize(
    ("changes", "request_name"),
    [
        ((), "helper"),
        (
            (("  - mean nDCG@3 >= 0.2\n", "  - {threshold: mean nDCG@3 >= 0.2, requests: [current]}\n"),),
            "candidate",
        ),
    ],
)
def test_a_run_of_such_a_request_alone_decides_nothing_and_does_not_pass(engine, capsys, changes, request_name):
    write_changed(SUITE, *changes)
    assert run(engine, "--request", request_name) == 1
    printed = capsys.readouterr()
    assert f"the request '{request_name}' gates nothing" in printed.out
    sentence = f"nothing was decided: no threshold is for the request {request_name}; select another request, or all"
    assert sentence in printed.err
    assert run(engine, "--request", request_name, "--report-only") == 0


def test_a_baseline_that_no_threshold_of_the_request_compares_with_is_not_missed(engine):
    write_changed(SUITE, ("  - mean nDCG@3 >= 0.2\n", "  - {threshold: drop nDCG@3 <= 0.2, requests: [current]}\n"))
    assert run(engine, "--request", "current", "-q") == 1
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "--force"]) == 0
    assert run(engine, "--all-requests", "-q") == 0


@needs_extension("distributed")
def test_parts_that_are_merged_gate_as_the_whole(engine, capsys):
    for part in ("1/2", "2/2"):
        run(engine, "--all-requests", "-q", "--shard", part, "--journal", f"{part[0]}.journal")
    capsys.readouterr()
    assert main(["merge", "1.journal", "2.journal"]) == 0
    assert UNGATED in capsys.readouterr().out


def test_validate_says_which_requests_gate_nothing(engine, capsys):
    assert main(["validate", "shop.relevance.yaml"]) == 0
    assert "requests that gate nothing: helper" in capsys.readouterr().out
