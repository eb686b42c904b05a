"""What a command prints may come from a suite, a file or an index: in a log of a CI system it is no command there."""

import json
import re
import sys
import unicodedata
from pathlib import Path

import click
import pytest
from rich.console import Console

from builders.engine import ScriptedEngine
from builders.extension_cases import list_cases
from harness.cli import main
from harness.cli.exits import run_guarded
from harness.cli.streams import print_command

COMMANDS = ["::stop-commands::x", "##[stop-commands]x", "##vso[task.complete result=Succeeded]", "##teamcity[x]"]
CONTROLS = ["\x1b[2J", "\u202e", "\x9b2J", "\x07"]
EXECUTED = re.compile(r"^\s*::|##(vso|teamcity)?\[", re.MULTILINE)

SUITE = """\
suite: shop
target: {{index: products}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
thresholds: [mean nDCG@10 >= 0.8]
queries:
  - {{id: {hostile}, text: {hostile}, tags: [{hostile}], judgments: {{{hostile}: 3, "b": 1}}}}
  - {{id: shoes, text: red shoes, judgments: {{a: 3}}}}
"""


@pytest.fixture(params=[*COMMANDS, *CONTROLS])
def hostile(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param


def quote(text):
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def write_suite(text, hostile):
    Path("shop.relevance.yaml").write_text(text.format(hostile=quote(hostile)), encoding="utf-8")


def check_printed(capsys):
    printed = "".join(capsys.readouterr())
    assert printed
    assert not EXECUTED.search(printed)
    assert not [name for name in printed if name != "\n" and unicodedata.category(name) in ("Cc", "Cf")]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["validate"], []),
        (["run"], ["--url"]),
        (["run"], ["--json", "--url"]),
        (["show"], ["--query", "shoes", "--json", "--url"]),
        (["show"], ["--query", "shoes", "--url"]),
        *list_cases("PRINTED"),
    ],
)
def test_what_a_command_prints_is_no_command_of_a_log(hostile, capsys, command, options):
    write_suite(SUITE, hostile)
    with ScriptedEngine() as engine:
        engine.rankings |= {hostile: [hostile, "b"], "red shoes": [hostile]}
        url = [engine.url] if "--url" in options else []
        main([*command, "shop.relevance.yaml", *options, *url])
    check_printed(capsys)


@pytest.mark.parametrize("key", ["suite: shop", "mean nDCG@10 >= 0.8", "red shoes", "products"])
def test_a_problem_that_quotes_a_suite_is_no_command_of_a_log(hostile, capsys, key):
    write_suite(SUITE.replace(key, "suite: {hostile}" if key.startswith("suite") else "{hostile}", 1), hostile)
    main(["validate", "shop.relevance.yaml"])
    check_printed(capsys)
    main(["validate", f"{hostile}.relevance.yaml"])
    check_printed(capsys)


# What is printed by other ways than those above.


@pytest.mark.parametrize("text", [*COMMANDS, "  ::warning::y", "a\n::error::x", "a ##[error]b", "x::y"])
@pytest.mark.parametrize("way", ["print", "click", "rich", "parts", "error"])
def test_nothing_that_any_command_prints_is_a_command(capsys, way, text):
    def act():
        if way == "print":
            print(text)
        elif way == "click":
            click.echo(text)
        elif way == "rich":
            Console(file=sys.stdout, width=200).print(text, markup=False, highlight=False)
        elif way == "parts":
            for part in ("  ", text, "\n"):
                sys.stderr.write(part)
        else:
            raise click.ClickException(text)

    run_guarded(act)
    printed = "".join(capsys.readouterr())
    assert not EXECUTED.search(printed)
    assert "x::y" not in text or "x::y" in printed, "what is no command stays as it is"


def test_json_stays_json(capsys):
    content = {"##[error]": ["::x", "##vso[y]", r"\x23#[z]"]}
    run_guarded(lambda: click.echo(json.dumps(content, indent=1)))
    printed = capsys.readouterr().out
    assert not EXECUTED.search(printed)
    assert json.loads(printed) == content


def test_the_commands_of_the_harness_itself_are_given(capsys):
    run_guarded(lambda: print_command("::error file=a.yaml::x"))
    assert capsys.readouterr().out == "::error file=a.yaml::x\n"


def test_streams_are_as_they_were_when_the_command_has_ended(capsys):
    before = sys.stdout, sys.stderr
    assert run_guarded(lambda: 1 / 0) == 3
    assert (sys.stdout, sys.stderr) == before
