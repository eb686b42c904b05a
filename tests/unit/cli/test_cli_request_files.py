"""A request in a file of its own, in every command: it is the request that the suite would have inline."""

import json
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.suites import BODY
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {file: bodies/search.json}
  inline: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@3"]
thresholds: ["mean nDCG@3 >= 0.2"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, b: 1}}
  - {id: boots, text: rubber boots, judgments: {e: 3}}
"""
REQUEST, REPORT, JOURNAL = Path("bodies/search.json"), Path("report.json"), Path("run.journal")


@pytest.fixture
def engine(working_folder, engine):
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    REQUEST.parent.mkdir()
    REQUEST.write_text(json.dumps(BODY, indent=2), encoding="utf-8")
    return engine


def run(*words):
    return main([words[0], "shop.relevance.yaml", *words[1:]])


def run_on(engine, *words):
    return run("run", "--url", engine.url, "-q", *words)


@needs_extension("judging")
def test_all_that_reads_a_suite_reads_the_request(engine, capsys):
    assert run("validate") == 0
    assert main(["judgments", "lint", "shop.relevance.yaml", "--url", engine.url]) == 0
    assert run("show", "shoes", "--url", engine.url, "--json") == 0
    assert '"title": "red shoes"' in capsys.readouterr().out
    assert run_on(engine, "--all-requests", "--output", f"json={REPORT}") == 0
    current, inline = json.loads(REPORT.read_text())["suites"]
    assert [query["scores"] for query in current["queries"]] == [query["scores"] for query in inline["queries"]]


@pytest.mark.parametrize("command", ["validate", "run", "show"])
def test_a_mistake_in_the_file_is_a_mistake_of_the_suite(engine, capsys, command):
    REQUEST.write_text('{\n  "query": {"match": {"title": "{{txet}}"}}\n}\n')
    words = {"validate": [], "run": ["--url", engine.url], "show": ["shoes", "--url", engine.url]}[command]
    assert run(command, *words) == 2
    error = capsys.readouterr().err
    assert "bodies/search.json:2:32: unknown placeholder {{txet}}" in error
    assert '    2 |   "query": {"match": {"title": "{{txet}}"}}' in error
    assert not engine.asked


def test_a_baseline_sees_that_the_file_changed_and_not_that_the_request_moved_into_it(engine, capsys):
    text = SUITE.replace("thresholds: [", 'thresholds: ["drop nDCG@3 <= 0", ')
    Path("shop.relevance.yaml").write_text(text.replace("{file: bodies/search.json}", json.dumps(BODY)))
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "--force"]) == 0
    Path("shop.relevance.yaml").write_text(text)
    capsys.readouterr()
    assert run("run", "--url", engine.url) == 0
    assert "the request changed" not in capsys.readouterr().out
    REQUEST.write_text(json.dumps({**BODY, "min_score": 0.1}))
    assert run("run", "--url", engine.url) == 0
    assert "the request changed" in capsys.readouterr().out


def test_a_run_is_resumed_unless_the_file_changed(engine, capsys):
    assert run_on(engine, "--journal", str(JOURNAL)) == 0
    # Without its last line, which says that the run is finished.
    cut_short = JOURNAL.read_bytes()[:-30]
    JOURNAL.write_bytes(cut_short)
    assert run_on(engine, "--journal", str(JOURNAL), "--resume") == 0
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}
    REQUEST.write_text(json.dumps({**BODY, "min_score": 0.1}))
    JOURNAL.write_bytes(cut_short)
    capsys.readouterr()
    assert run_on(engine, "--journal", str(JOURNAL), "--resume") == 0
    assert "request" in capsys.readouterr().err
    assert engine.asked == {"red shoes": 2, "rubber boots": 2}


def test_an_output_does_not_replace_the_file(engine, capsys):
    assert run_on(engine, "--output", f"json={REQUEST}") == 2
    assert "search.json" in capsys.readouterr().err
    assert json.loads(REQUEST.read_text()) == BODY
