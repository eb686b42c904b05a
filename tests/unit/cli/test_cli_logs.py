"""What a command prints may come from a suite, a file or an index: in a log of a CI system it is no command there."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main
from harness.model import JudgmentFinding, Mark
from harness.report.terminal.judgments import dump_findings

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
        (["judgments", "lint"], ["--json"]),
        (["show"], ["--query", "shoes", "--json", "--url"]),
        (["judgments", "lint"], []),
        (["judgments", "pool"], ["--url"]),
        (["show"], ["--query", "shoes", "--url"]),
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


def test_findings_in_json_are_no_command_of_a_log_and_have_no_control(hostile):
    findings = [JudgmentFinding(Mark("j.csv", 1, 1), "unknown", f"document {hostile} is not in the index")]

    text = dump_findings(findings)

    assert text.isascii()
    assert not EXECUTED.search(text)
    assert json.loads(text)[0]["message"] == findings[0].message
