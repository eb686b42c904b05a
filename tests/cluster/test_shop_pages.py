"""docs/tutorials/shop.md and then docs/tutorials/pull-request.md, as a reader types them in one folder."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from builders.typed_page import BLOCK, assert_shown, split_commands, type_command

ROOT = Path(__file__).parents[2]
SHOP = (ROOT / "docs" / "tutorials" / "shop.md").read_text(encoding="utf-8")
PULL_REQUEST = (ROOT / "docs" / "tutorials" / "pull-request.md").read_text(encoding="utf-8")
SUITE = Path("products.relevance.yaml")
ENTRY = r"^  - id: {name}\n(?:    .*\n)+|^  - {{id: {name},.*\n"


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """A reader in an empty folder, with the commands of the harness and with git."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "84")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CI", raising=False)  # where no baseline is saved
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "anna")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "anna@example.org")


def edit_suite(block):
    """Put a block of the page where its text says: a key of the suite, or queries in place of one."""
    text = SUITE.read_text(encoding="utf-8")
    if block.startswith("  - "):
        first = re.search(r"id: ([\w-]+)", block)[1]
        place, block = ENTRY.format(name=first), block.rstrip("\n") + "\n"
    else:
        place = rf"^{block.split(':')[0]}:\n(?:  .*\n)+"
    text, replaced = re.subn(place, lambda _: block, text, flags=re.MULTILINE)
    assert replaced == 1, block
    SUITE.write_text(text, encoding="utf-8")


def type_page(page, monkeypatch, capfd):
    """Follow a page from its first block to its last, and give the number of commands."""
    commands = 0
    for language, block in BLOCK.findall(page):
        if language == "yml" and not block.startswith("- uses"):
            edit_suite(block)
        if language != "console":
            continue
        for line, shown in split_commands(block):
            commands += 1
            if line.startswith("cd "):
                monkeypatch.chdir(line.removeprefix("cd "))
                continue
            status, printed = type_command(line, capfd)
            assert status == (1 if "  FAILED  " in shown else 0), f"{line}\n{printed}"
            assert_shown(shown, printed, line)
    return commands


@pytest.mark.embedded
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.usefixtures("reader", "embedded_node")
def test_the_commands_lead_where_the_pages_say(monkeypatch, capfd):
    assert type_page(SHOP, monkeypatch, capfd) == 9
    assert type_page(PULL_REQUEST, monkeypatch, capfd) == 16
