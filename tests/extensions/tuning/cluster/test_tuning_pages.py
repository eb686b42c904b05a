"""docs/guides/tuning.md and docs/explanation/hold-out.md: their commands, typed on the embedded node."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("optuna")

from builders.typed_page import BLOCK, assert_shown, split_commands, type_command
from harness.cli import main

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "guides" / "tuning.md").read_text(encoding="utf-8")
HOLD_OUT = (ROOT / "docs" / "explanation" / "hold-out.md").read_text(encoding="utf-8")

pytestmark = [pytest.mark.embedded, pytest.mark.usefixtures("embedded_node")]


@pytest.fixture(autouse=True)
def _checkout(tmp_path, monkeypatch):
    """A copy of the example suites."""
    shutil.copytree(ROOT / "suites", tmp_path / "suites")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


def list_commands(text):
    """The commands of a page with what it shows of them."""
    return [command for kind, block in BLOCK.findall(text) if kind == "console" for command in split_commands(block)]


def test_the_page_shows_what_its_commands_print(capfd):
    for line, shown in list_commands(PAGE):
        status, printed = type_command(line, capfd)
        assert status == 0, line
        assert_shown(shown, printed, line)
    tuned, example = Path("suites/hybrid.relevance.yaml"), ROOT / "suites" / "hybrid.relevance.yaml"
    without_candidate = re.sub(r"  # Tuned from fused:.*?\n\n", "", tuned.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert without_candidate == example.read_text(encoding="utf-8")


def test_too_few_queries_and_no_gain(capfd):
    """Too few queries are refused, and a gain that is none is told."""
    (few, refusal), (line, shown) = list_commands(HOLD_OUT)
    assert main(shlex.split(few)[1:]) == 2
    # The page breaks the line.
    assert capfd.readouterr().err.split() == refusal.split()
    status, printed = type_command(line, capfd)
    assert status == 0
    assert_shown(shown, printed, line)
