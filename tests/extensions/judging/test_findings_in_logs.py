"""Findings in judgments are no commands of the log of a CI."""

import json
import re
from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.results import CommandResult, print_result
from harness.extensions.judging.document import list_findings
from harness.extensions.judging.model import FindingKind, JudgmentFinding
from harness.model.suite import Mark

COMMANDS = ["::stop-commands::x", "##[stop-commands]x", "##vso[task.complete result=Succeeded]", "##teamcity[x]"]


CONTROLS = ["\x1b[2J", "\u202e", "\x9b2J", "\x07"]


EXECUTED = re.compile(r"^\s*::|##(vso|teamcity)?\[", re.MULTILINE)


@pytest.fixture(params=[*COMMANDS, *CONTROLS])
def hostile(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param


def test_findings_in_json_are_no_command_of_a_log_and_have_no_control(hostile, capsys):
    findings = [
        JudgmentFinding(Mark("j.csv", 1, 1), FindingKind.UNKNOWN_QUERY, f"document {hostile} is not in the index")
    ]

    print_result(CommandResult("judgments lint", facts={"findings": list_findings(findings)}))
    text = capsys.readouterr().out

    assert text.isascii()
    assert not EXECUTED.search(text)
    assert json.loads(text)["facts"]["findings"][0]["message"] == findings[0].message


def test_findings_in_judgments_give_no_command_as_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("s.relevance.yaml").write_text(
        'suite: s\ntarget: {index: i}\nrequest: {query: {match: {t: "{{text}}"}}}\nmeasures: ["P@1"]\n'
        'queries:\n  - {id: q, text: q, judgments: {"##[error]a": 3}}\n'
    )
    assert main(["judgments", "lint", "s.relevance.yaml", "--offline", "--scale", "0..2"]) == 1
    printed = capsys.readouterr().out
    assert r"\x23#[error]a" in printed
    assert not EXECUTED.search(printed)
