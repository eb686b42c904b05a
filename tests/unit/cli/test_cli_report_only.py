"""`relevance run --report-only`: figures, and no verdict."""

import re
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main
from harness.model.run import Status
from harness.report import json

GATED = """\
suite: shop
target: {index: products}
request:
  query: {match: {title: "{{text}}"}}
measures: ["nDCG@10"]
thresholds: ["mean nDCG@10 >= 0.8", "mean nDCG@10 >= 0.9", "every nDCG@10 >= 0.9 for head"]
queries:
  - {id: shoes, text: red shoes, tags: [head], judgments: {a: 3, b: 1}, expect: ["c in top 1"]}
  - {id: boots, text: rubber boots, judgments: {d: 3}, expect: ["e in top 1"], xfail: {reason: later}}
  - {id: hats, text: hats, judgments: {h: 1}, thresholds: ["nDCG@10 >= 1"], skip: {reason: winter}}
"""


@pytest.fixture
def gated(tmp_path, monkeypatch):
    """Runs a suite of which some thresholds fail, one would pass unexpectedly, and one is skipped."""
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(GATED, encoding="utf-8")
    with ScriptedEngine() as engine:
        run = ["run", "shop.relevance.yaml", "--url", engine.url]
        assert main(run) == 1
        yield engine, lambda *words: main([*run, "--report-only", *words])


def test_report_only_prints_every_figure_and_decides_nothing(gated, capsys):
    _, run = gated
    capsys.readouterr()
    assert run() == 0
    text = capsys.readouterr().out
    for line in ("not decided  mean nDCG@10 >= 0.8 ", "not decided  mean nDCG@10 >= 0.9 ", "0.8155", "rank 3"):
        assert line in text
    assert "query shoes  red shoes" in text
    assert "query boots  rubber boots" in text
    assert text.splitlines()[-1] == "1 suite, 6 thresholds: 1 skipped, 5 not decided; --report-only decides nothing"
    assert not re.search("passed|failed|held|expected", text.lower())


def test_report_only_says_so_in_every_report(gated, capsys, monkeypatch, tmp_path):
    _, run = gated
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert run("--github", "--json", "--output", "html=page.html", "--output", "markdown=report.md") == 0
    printed = capsys.readouterr()
    told = json.loads_report(printed.out)
    assert (told.exit_status, told.suites[0].report_only) == (0, True)
    assert {verdict.status for verdict in told.suites[0].verdicts} == {Status.NOT_DECIDED, Status.SKIPPED}
    assert "::error" not in printed.err + printed.out
    for name in ("page.html", "report.md", "summary.md"):
        text = Path(name).read_text(encoding="utf-8")
        assert "Nothing was decided: --report-only" in text or "Nothing was decided: \\-\\-report\\-only" in text
        assert "✅" not in text
    assert "status-passed" not in Path("page.html").read_text(encoding="utf-8").partition("<body")[2]


def test_report_only_ends_with_2_for_what_is_wrong_and_3_without_an_answer(gated, capsys):
    engine, run = gated
    assert run("--tag", "haed") == 2
    assert run("--output", "codequality=q.json") == 2
    assert "--report-only decides nothing, so there is no codequality report" in capsys.readouterr().err
    assert run("--query", "boots", "--tag", "head") == 0
    engine.broken["red shoes"] = 400
    assert run() == 3
    assert "1 query with outcome error" in capsys.readouterr().out
    assert run("--query", "boots") == 0
    engine.broken["rubber boots"] = 400
    assert run() == 3
    assert "2 queries with outcome error" in capsys.readouterr().out
