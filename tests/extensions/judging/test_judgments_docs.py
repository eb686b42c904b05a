"""What docs/reference/judgments.md shows of ``relevance judgments`` is what it does."""

import re
from pathlib import Path

import click
import pytest

from harness.cli import main
from harness.extensions.judging.commands.judgments import command

TEXT = (Path(__file__).parents[3] / "docs" / "reference" / "judgments.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ relevance judgments (.*)$", TEXT, re.MULTILINE)

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@10"]
judgments: [tail.csv, tail.yaml]
queries:
  - {id: tents, text: tent, judgments: {sku-2: 0}}
  - {id: shoes, text: red shoes, judgments: {sku-17: 3}}
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    (tmp_path / "tail.csv").write_text("query,document,grade\nshoes,sku-4,1\nshoes,sku-4,1\nshoes,sku-9,7\n")
    (tmp_path / "tail.yaml").write_text("shoes:\n  sku-4: 0\n")
    return tmp_path


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_and_their_options_exist(line):
    name, *words = line.split()
    options = {option for parameter in command.commands[name].params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options
    for word in words:
        if word.endswith(".relevance.yaml") and "/" in word:
            assert (Path(__file__).parents[3] / word).is_file()


def test_the_findings_are_those_of_the_command(shop, capsys):
    [words] = [line.split() for line in COMMANDS if line.startswith("lint")]
    assert main(["judgments", *words, "--offline"]) == 1
    assert f"```\n{capsys.readouterr().out}```" in TEXT


def test_its_suite_cannot_run_as_it_is(shop, capsys):
    assert main(["validate", "shop.relevance.yaml"]) == 2
    assert "judged twice" in capsys.readouterr().err


def test_there_is_an_example_of_each_command():
    assert {line.split()[0] for line in COMMANDS} == set(command.commands) == {"pool", "lint", "age", "remap"}
    assert isinstance(command, click.Group)
