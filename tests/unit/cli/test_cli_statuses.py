"""The exit status of the command, and what its reports say of it: the same, whatever was selected."""

import json

import pytest

import harness.search.dialects
from harness.api import Relevance
from harness.cli import main
from harness.errors import UsageError
from harness.model.run import Failure, FailureKind
from harness.search.testing import FakeSearch

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["RR@3"]
THRESHOLDS
queries:
  - {id: q, text: one, tags: [head, all], judgments: {a: 1}}
  - {id: r, text: two, tags: [tail, all], judgments: {b: 1}, EXPECT}
"""

GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": ".", "GITHUB_STEP_SUMMARY": "summary.md"}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """
    Runs a suite with *thresholds* and *expect*. Returns the exit status of the command, that of its JSON report, the
    first line of its job summary, the number of `::error` lines and that of findings of code quality.
    """
    monkeypatch.chdir(tmp_path)
    for name, value in GITHUB.items():
        monkeypatch.setenv(name, value)
    tmp_path.joinpath("relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')

    def call(*words, thresholds="", expect="params: {}", unanswered=()):
        suite = SUITE.replace("THRESHOLDS", f"thresholds: [{thresholds}]" if thresholds else "").replace(
            "EXPECT", expect
        )
        tmp_path.joinpath("shop.relevance.yaml").write_text(suite)
        responses = {"q": ["a"], "r": ["x", "b"]} | dict.fromkeys(unanswered, Failure(FailureKind.ERROR, "down"))
        fake = FakeSearch(responses)
        monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: fake)
        tmp_path.joinpath("summary.md").unlink(missing_ok=True)
        reports = ["--github", "--output", "json=report.json", "--output", "codequality=quality.json"]
        status = main(["run", "shop.relevance.yaml", *reports, *words])
        errors = sum(line.startswith("::error") for line in capsys.readouterr().out.splitlines())
        headline = tmp_path.joinpath("summary.md").read_text(encoding="utf-8").splitlines()[0]
        found = json.loads(tmp_path.joinpath("quality.json").read_text())
        in_json = json.loads(tmp_path.joinpath("report.json").read_text())["exit_status"]
        return status, in_json, headline, errors, len(found)

    return call


NOTHING = "## ❌ Nothing was decided: the selection of queries left no threshold"


@pytest.mark.parametrize(
    "words", [("--tag", "head"), ("--tag", "all"), ("--query", "q"), ("--query", "q", "--query", "r", "--tag", "all")]
)
@pytest.mark.parametrize("thresholds", ["", '"mean RR@3 >= 0.1"'])
def test_a_selection_that_leaves_no_threshold_fails_everywhere(run, words, thresholds):
    assert run(*words, thresholds=thresholds) == (1, 1, NOTHING, 1, 1)


def test_without_an_answer_that_is_what_is_said(run):
    status, in_json, headline, *_ = run("--tag", "head", unanswered=["q"])
    assert (status, in_json, headline) == (3, 3, "## ❌ 1 query had no answer")


@pytest.mark.parametrize("words", [(), ("--tag", "all")])
@pytest.mark.parametrize(
    ("least", "status", "sign", "errors"), [(0.1, 0, "✅", 0), (0.9, 1, "❌", 1)], ids=["holds", "fails"]
)
def test_a_threshold_that_is_left_decides_everywhere(run, words, least, status, sign, errors):
    found = run(*words, thresholds=f'"mean RR@3 >= {least} for all"')
    assert found[:2] == (status, status)
    assert found[2].startswith(f"## {sign} ")
    assert found[3:] == (errors, errors)


def test_an_expectation_of_a_query_decides_where_the_query_is_selected(run):
    assert run("--query", "r", expect='expect: ["b in top 1"]')[:2] == (1, 1)
    assert run("--query", "q", expect='expect: ["b in top 1"]') == (1, 1, NOTHING, 1, 1)


def test_a_run_that_only_reports_does_not_fail_for_it(run, tmp_path, capsys):
    run()
    assert main(["run", "shop.relevance.yaml", "--tag", "head", "--report-only", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exit_status"] == 0
    assert main(["run", "shop.relevance.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exit_status"] == 0, "a suite without thresholds gates nothing"


@pytest.mark.smoke("Python")
def test_the_report_that_python_writes_says_it_too(run, tmp_path):
    run()
    with Relevance() as relevance:
        found = relevance.run("shop.relevance.yaml", tags=["head"])
        found.write_report("python.json")
        with pytest.raises(UsageError, match="there are no thresholds"):
            found.assert_thresholds()
    assert json.loads(tmp_path.joinpath("python.json").read_text())["exit_status"] == 1
