"""Pages and the code say the same, where the pages are not generated."""

import re
from dataclasses import fields
from pathlib import Path

import click

from harness.cli import COMMANDS, root
from harness.report.html.run import Limits

DOCS = Path(__file__).parents[3] / "docs"
CONTEXT = click.Context(root)


def list_options(command):
    if isinstance(command, click.Group):
        return [option for subcommand in command.commands.values() for option in list_options(subcommand)]
    return [option for parameter in command.params for option in parameter.opts]


def test_the_page_of_commands_names_no_other_option():
    options = {option for name in COMMANDS for option in list_options(root.get_command(CONTEXT, name))}
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= options


def test_the_page_of_commands_has_them_in_the_order_of_the_help():
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## relevance ([a-z]+)$", text, re.MULTILINE) == list(COMMANDS)


def test_the_page_s_limits_are_told():
    text = (DOCS / "reference" / "reports.md").read_text(encoding="utf-8")
    for field in fields(Limits):
        assert f"{field.default:,}" in text
