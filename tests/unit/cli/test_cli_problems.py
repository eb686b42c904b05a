"""What commands with ``--json`` print on standard output where they fail."""

import json
from pathlib import Path
from typing import get_args

import click
import jsonschema
import pytest

from harness.cli import main
from harness.cli.exits import run_guarded
from harness.cli.problem_report import problems_schema
from harness.errors import BaselineError, EngineUnreachable, ProblemCode, SearchError, SuiteError, UsageError

SUITE = """\
suite: shop
tresholds: []
request: {query: {match: {title: "{{text}}"}}}
queries:
  - {id: shoes, text: shoes, judgments: {sku-1: 1}, weight: heavy}
  - {id: shoes, text: boots, judgments: {sku-2: 1}}
  - {text: boots}
"""


def run_json(capsys, *words):
    """The exit status of a command, and the JSON that it printed."""
    status = main(words)
    reported = json.loads(capsys.readouterr().out)
    jsonschema.validate(reported, problems_schema())
    return status, reported


def test_each_problem_of_a_suite_has_its_code_and_place(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    status, reported = run_json(capsys, "run", "shop.relevance.yaml", "--json")
    assert (status, reported["exit_status"]) == (2, 2)
    problems = {(problem["code"], problem["line"], problem["column"]) for problem in reported["problems"]}
    assert problems >= {("unknown-key", 2, 1), ("invalid-value", 5, 61), ("missing-key", 7, 5)}
    assert {problem["file"] for problem in reported["problems"]} == {"shop.relevance.yaml"}
    [unknown] = [problem for problem in reported["problems"] if problem["code"] == "unknown-key"]
    assert unknown["expected"].startswith("suite, target, ")
    assert unknown["remedy"] == "did you mean 'thresholds'?"
    [weight] = [problem for problem in reported["problems"] if problem["line"] == 5]
    assert (weight["found"], weight["remedy"]) == ("'heavy'", None)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("thresholds: ['mean nDGC@10 >= 0.8']", "unknown-measure"),
        ("thresholds: ['mean nDCG@10 > = 0.8']", "grammar"),
        ("thresholds: ['mean nDCG@10 >= 0.8 for tail']", "unknown-name"),
        ("thresholds: ['mean nDCG@10 >= 0.8'", "syntax"),
        ("judgments: nothing.qrels", "unreadable-file"),
        ("measures: [nDCG@10, nDCG@10]", "duplicate"),
        ("depth:", "no-value"),
    ],
)
def test_the_codes_of_problems(lines, code, capsys, tmp_path):
    suite = tmp_path / "shop.relevance.yaml"
    suite.write_text(
        "suite: shop\ntarget: {index: shop}\nrequest: {query: {match: {title: '{{text}}'}}}\n"
        f"queries: [{{id: shoes, text: shoes, judgments: {{sku-1: 1}}}}]\n{lines}\n",
        encoding="utf-8",
    )
    status, reported = run_json(capsys, "run", str(suite), "--json")
    assert (status, [problem["code"] for problem in reported["problems"]]) == (2, [code])
    assert code in get_args(ProblemCode)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["run", "--jsno", "--json"], "usage"), (["run", "nothing.relevance.yaml", "--json"], "unreadable-file")],
)
def test_what_is_wrong_with_a_command_line(words, code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, reported = run_json(capsys, *words)
    [problem] = reported["problems"]
    assert (status, problem["code"], problem["line"]) == (2, code, None)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (UsageError("no"), "usage", 2),
        (EngineUnreachable("gone"), "engine-unreachable", 3),
        (SearchError("odd"), "search", 3),
        (BaselineError("old"), "baseline", 1),
        (SuiteError.at("s.yaml", 3, 1, "wrong"), "invalid-value", 2),
        (KeyboardInterrupt(), "interrupted", 130),
        (click.FileError("x"), "usage", 2),
        (ZeroDivisionError("secret-password"), "internal", 3),
    ],
)
def test_each_error_has_its_code(error, code, status, capsys):
    def fail():
        raise error

    assert run_guarded(fail, as_json=True) == status
    printed = capsys.readouterr()
    reported = json.loads(printed.out)
    assert ([problem["code"] for problem in reported["problems"]], reported["exit_status"]) == ([code], status)
    assert "secret-password" not in printed.out
    # People read standard error as without the option.
    run_guarded(fail)
    assert capsys.readouterr().err == printed.err
