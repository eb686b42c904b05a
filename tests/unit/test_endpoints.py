"""The requests that commands send to an engine only read, and are those that docs/evidence/security.md lists."""

import re
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.extension_cases import list_cases
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
requests:
  a: {query: {match: {title: "{{text}}"}}}
  b: {query: {match: {title: "{{text}}"}}, _name: b}
queries:
  - {id: shoes, text: red shoes, judgments: {a: 3, gone: 1}, expect: [a in top 1]}
  - {id: boots, text: rubber boots, judgments: {e: 3}}
thresholds: ["mean nDCG@3 >= 0.1", "drop nDCG@3 <= 0.1"]
"""
COMMANDS = [
    ["baseline", "save", "shop.relevance.yaml"],
    ["run", "shop.relevance.yaml"],
    ["run", "shop.relevance.yaml", "--repeat", "2"],
    ["show", "shop.relevance.yaml", "shoes"],
    *list_cases("REQUESTS"),
]
PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "security.md"


def listed() -> list[re.Pattern[str]]:
    """The table of the page, INDEX and DOCUMENT being any name."""
    section = PAGE.read_text(encoding="utf-8").partition("## Requests to an engine\n")[2]
    found = re.findall(r"`((?:GET|POST|DELETE) /[^`]*)`", section)
    return [re.compile(re.sub("INDEX|DOCUMENT", "[^/?]+", one) + r"(\?.*)?") for one in found]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_every_request_is_one_that_is_listed(command, tmp_path, monkeypatch, capsys):
    pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    with ScriptedEngine() as engine:
        if command[0] == "run":
            main([*COMMANDS[0], "--url", engine.url])
        main([*command, "--url", engine.url])
    allowed = listed()
    sent = {f"{method} {path}" for method, path in engine.sent}
    assert sent, capsys.readouterr()
    assert not [one for one in sorted(sent) if not any(pattern.fullmatch(one) for pattern in allowed)]
