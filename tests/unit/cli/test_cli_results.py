"""What commands print with ``--json`` that have no report of their own, and that nearly all have the option."""

import json
from pathlib import Path

import click
import jsonschema
import pytest

from harness.cli import COMMANDS, main, root
from harness.cli.results import result_schema

SUITE = """\
suite: shop
target: {index: shop}
request: {query: {match: {title: "{{text}}"}}}
thresholds: ["mean nDCG@10 >= 0.8"]
queries:
  - {id: shoes, text: shoes, judgments: {sku-1: 1, sku-2: 0}}
  - {id: boots, text: boots}
"""

WITHOUT = {
    "judge page": "opens a page",
    "judge team": "serves a page",
    "try": "opens a page",
    "schema": "prints a schema",
    "history export": "prints what another service reads",
}
"""The commands without --json, and why."""


def list_commands(command, words=()):
    """Each command below *command*, with its words."""
    if not isinstance(command, click.Group):
        return {" ".join(words): command}
    found = {}
    context = click.Context(command)
    for name in command.list_commands(context):
        found |= list_commands(command.get_command(context, name), (*words, name))
    return found


def run_json(capsys, *words, status=0):
    """The result that a command printed."""
    assert main(words) == status
    result = json.loads(capsys.readouterr().out)
    jsonschema.validate(result, result_schema())
    return result


@pytest.fixture
def suite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("shop.relevance.yaml")
    path.write_text(SUITE, encoding="utf-8")
    return str(path)


def test_each_command_that_prints_something_has_the_option():
    assert COMMANDS
    without = {
        words
        for words, command in list_commands(root).items()
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without <= set(WITHOUT)


def test_validate(suite, capsys):
    assert run_json(capsys, "validate", suite, "--json")["facts"] == {
        "suites": [
            {
                "file": suite,
                "suite": "shop",
                "queries": 2,
                "unjudged": 1,
                "judgments": 2,
                "ungraded": 0,
                "quotes": 0,
                "measures": 1,
                "thresholds": 1,
                "requests": 1,
            }
        ]
    }


def test_a_baseline_that_is_not_there_is_a_problem(suite, capsys):
    assert main(["baseline", "show", suite, "--json"]) == 1
    [problem] = json.loads(capsys.readouterr().out)["problems"]
    assert problem["code"] == "baseline"


def test_no_node_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("RELEVANCE_CACHE_DIR", str(tmp_path))
    result = run_json(capsys, "engine", "status", "--json", status=3)
    assert (result["facts"], result["exit_status"]) == ({"nodes": []}, 3)
    assert run_json(capsys, "engine", "down", "--json")["facts"] == {"nodes": []}


def test_all_results_are_of_one_schema(suite, capsys):
    assert main(["schema", "results"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {"report", "problems", "result", "inspection"} <= set(schema["$defs"])
    main(["validate", suite, "--json"])
    jsonschema.validate(json.loads(capsys.readouterr().out), schema)
    main(["validate", "nothing.relevance.yaml", "--json"])
    jsonschema.validate(json.loads(capsys.readouterr().out), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"problems": 3}, schema)
