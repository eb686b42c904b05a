"""Findings in judgments are no commands of the log of a CI."""

import json
import re
from pathlib import Path

import pytest

from harness.cli import main
from harness.extensions.judging.document import dump_findings
from harness.extensions.judging.model import JudgmentFinding
from harness.model.suite import Mark

COMMANDS = ["::stop-commands::x", "##[stop-commands]x", "##vso[task.complete result=Succeeded]", "##teamcity[x]"]


CONTROLS = ["\x1b[2J", "\u202e", "\x9b2J", "\x07"]


EXECUTED = re.compile(r"^\s*::|##(vso|teamcity)?\[", re.MULTILINE)


@pytest.fixture(params=[*COMMANDS, *CONTROLS])
def hostile(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param


def test_findings_in_json_are_no_command_of_a_log_and_have_no_control(hostile):
    findings = [JudgmentFinding(Mark("j.csv", 1, 1), "unknown", f"document {hostile} is not in the index")]

    text = dump_findings(findings)

    assert text.isascii()
    assert not EXECUTED.search(text)
    assert json.loads(text)[0]["message"] == findings[0].message


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
