"""docs/reference/cli.md and the command line say the same."""

import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from harness.cli import COMMANDS, root
from harness.report.html import Limits

DOCS = Path(__file__).parents[3] / "docs"
CONTEXT = click.Context(root)


def section(name):
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    return re.split(r"^## ", text.split(f"## harness {name}\n")[1], flags=re.MULTILINE)[0]


def options_of(command):
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    return {max(p.opts, key=len) for one in commands for p in one.params if isinstance(p, click.Option)}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_manual_and_no_other(name):
    documented = set(re.findall(r"`(--[a-z-]+)", section(name)))
    real = options_of(root.get_command(CONTEXT, name))
    assert documented == real


def test_the_page_s_limits_are_told():
    text = (DOCS / "reference" / "reports.md").read_text(encoding="utf-8")
    for field in fields(Limits):
        assert f"{field.default:,}" in text
