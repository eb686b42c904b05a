"""Queries for which no result is right are in no figure of a comparison, and their false hits are told of each side."""

import pytest

pytest.importorskip("numpy")

from pathlib import Path

from builders.engine import ScriptedEngine
from extensions.compare.builders.comparing import told
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
measures: ["RR@3", "P@1", "Judged@3"]
queries:
  - {id: q, text: one, judgments: {a: 3, b: 1}}
  - {id: r, text: two, judgments: {b: 1}}
  - {id: xq, text: none, nothing: true, judgments: {a: 0}}
request: {query: {match: {title: "{{text}}"}}}
"""
FIRST = {"q": ["a"], "r": ["b"], "xq": ["a", "b"]}
SECOND = {"q": ["a"], "r": ["b"], "xq": []}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")


def check_left_out(report):
    [comparison] = report.comparisons
    assert [query.id for query in comparison.queries] == ["q", "r"]
    assert {row.measure: (row.queries, row.difference) for row in comparison.measures.measures} == {
        "RR@3": (2, 0),
        "P@1": (2, 0),
        "Judged@3": (2, 0),
    }
    assert comparison.agreement.queries == 2
    assert comparison.agreement.rbo == 1


def test_they_are_compared_in_nothing_and_counted(shop, capsys):
    for name, rankings in (("a.run", FIRST), ("b.run", SECOND)):
        lines = [
            f"{query} Q0 {document} 0 {10 - rank} t\n"
            for query, ranking in rankings.items()
            for rank, document in enumerate(ranking or ["z"])
        ]
        Path(name).write_text("".join(lines), encoding="utf-8")
    status, report = told(capsys, "a.run", "b.run", "--suite", "shop.relevance.yaml")
    assert status == 0
    check_left_out(report)
    sentence = (
        "no result is right for 1 query (xq), not compared; false hits: run:a.run 1 of 1 answered, "
        "run:b.run 1 of 1 answered"
    )
    assert sentence in report.notes


def test_two_reports_of_runs_leave_them_out(shop, capsys):
    with ScriptedEngine() as engine:
        for name, rankings in (("a.json", FIRST), ("b.json", SECOND)):
            engine.rankings = {"one": rankings["q"], "two": rankings["r"], "none": rankings["xq"]}
            assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--output", f"json={name}", "-q"]) in (0, 1)
    capsys.readouterr()
    status, report = told(capsys, "a.json", "b.json")
    assert status == 0
    check_left_out(report)
    false_hits = "false hits: report:a.json 1 of 1 answered, report:b.json 0 of 1 answered"
    assert f"no result is right for 1 query (xq), not compared; {false_hits}" in report.notes


def test_where_no_query_has_a_right_result_their_hits_are_all_that_is_told(shop, capsys):
    path = Path("shop.relevance.yaml")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "id: q" not in line and "id: r" not in line), encoding="utf-8")
    with ScriptedEngine() as engine:
        engine.rankings = {"none": ["a"]}
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
        assert "no threshold" not in capsys.readouterr().out
        assert main(["baseline", "diff", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 2
    reason = "no result is right for 1 query (xq), not compared; false hits: baseline 1 of 1 answered, "
    assert f"there is no query on which to compare request:request with baseline: {reason}" in capsys.readouterr().err


def test_a_baseline_is_compared_without_them(shop, capsys):
    with ScriptedEngine() as engine:
        engine.rankings = {"one": ["a"], "two": ["b"], "none": ["a", "b"]}
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
        engine.rankings["none"] = []
        capsys.readouterr()
        assert main(["baseline", "diff", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "no result is right for 1 query (xq), not compared; false hits: baseline 1 of 1 answered" in printed


def test_a_baseline_stays_good_where_one_was_added(shop, capsys):
    path = Path("shop.relevance.yaml")
    written = path.read_text(encoding="utf-8")
    thresholds = written.replace("request:", 'thresholds: ["drop every P@1 <= 0", "false hits <= 0%"]\nrequest:')
    path.write_text(written.replace("nothing: true, ", ""), encoding="utf-8")
    with ScriptedEngine() as engine:
        engine.rankings = {"one": ["a"], "two": ["b"], "none": ["a"]}
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
        path.write_text(thresholds, encoding="utf-8")
        engine.rankings["none"] = []
        assert main(["run", "shop.relevance.yaml", "--url", engine.url]) == 0
    printed = capsys.readouterr().out
    assert "false hits <= 0%" in printed
    assert "2 compared with the baseline" in printed
