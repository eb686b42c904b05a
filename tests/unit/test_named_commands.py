"""A command that a message, a help or a page names in backticks exists, with each option that is named."""

import re
from pathlib import Path

import click
import pytest

import harness
from builders.extension_cases import list_cases
from harness.cli import COMMANDS, root
from harness.extensions import load_extensions

ROOT = Path(harness.__file__).parents[1]
SOURCES = [*(ROOT / "harness").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]


def list_named(text):
    """What stands in backticks and begins with the name of the command, on one line."""
    return [" ".join(named.split()) for named in re.findall(r"`(relevance [a-z][^`]*)`", text)]


def find_problem(named):
    """What of a *named* command there is not; empty if all exists."""
    _, name, *words = named.split()
    if name not in COMMANDS:
        return f"there is no command {name}"
    context = click.Context(root)
    command = root.get_command(context, name)
    if isinstance(command, click.Group):
        if not words:
            return ""
        subcommand = command.get_command(context, words[0])
        if subcommand is None and command.short_for is None:
            return f"{name} has no command {words[0]}"
        command = subcommand or command.get_command(context, command.short_for)
    known = {option for parameter in command.params for option in (*parameter.opts, "-h", "--help")}
    unknown = [word for word in words if re.fullmatch(r"--[a-z-]+", word) and word not in known]
    return f"{named} has no {' '.join(unknown)}" if unknown else ""


def test_each_named_command_exists():
    problems = []
    for path in SOURCES:
        for named in list_named(path.read_text(encoding="utf-8")):
            problem = find_problem(named)
            if problem:
                problems.append(f"{path.relative_to(ROOT)}: {problem}")
    assert problems == []


def test_each_remedy_is_a_command():
    commands = [command for extension in load_extensions() for command in extension.remedies.values()]
    assert [find_problem(command) for command in commands if find_problem(command)] == []


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("relevance run --json", ""),
        ("relevance rum", "there is no command rum"),
        ("relevance baseline", ""),
        ("relevance baseline lend", "baseline has no command lend"),
        ("relevance run --jason", "relevance run --jason has no --jason"),
        *list_cases("NAMED"),
    ],
)
def test_what_is_not_there_is_seen(named, problem):
    assert find_problem(named) == problem
