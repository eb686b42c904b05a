"""What others hold on to: commands and options, and names of the Python API."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import typing
from enum import Enum
from pathlib import Path

import pytest

import harness.api as harness_api
from builders.golden import hold, masked
from harness.extensions import NAMES, load_extensions

HERE = Path(__file__).parent
HELP_OF_THE_CORE = """
import click
import harness.extensions

harness.extensions.NAMES = ()
from harness.cli import COMMANDS, main, root

def list_words(words, command):
    yield words
    for name, subcommand in getattr(command, "commands", {}).items():
        yield from list_words([*words, name], subcommand)

for name in ["", *COMMANDS]:
    command = root.get_command(click.Context(root), name)
    for words in list_words(name.split(), command):
        print("$ relevance", *words, "-h", flush=True)
        print(f"--- exit status {main([*words, '-h'])}", flush=True)
"""
"""Prints the help of each command as it is without extensions."""


def test_interfaces(folder, inner_pytest, golden):
    """The help of each command, the options and the fixture of pytest, and the signatures of the Python API."""
    command = [sys.executable, "-c", HELP_OF_THE_CORE]
    helps = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    names = "".join(f"{line}\n" for name in sorted(harness_api.__all__) for line in describe(name))
    golden({"commands": helps, "pytest": describe_plugin(inner_pytest), "python": names})


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_an_extension(harness, folder, request, name):
    """What it adds to the command line is kept with its tests: commands with their help, and options."""
    extension = dict(zip(NAMES, load_extensions(), strict=True))[name]
    calls = [[added.group, added.name] for added in extension.subcommands]
    for added in extension.commands:
        command = importlib.import_module(added.module).command
        calls += [[added.name], *([added.name, word] for word in getattr(command, "commands", {}))]
    texts = [f"{added.group}: {added.name}: {added.sentence}\n" for added in extension.commands]
    for added in extension.options:
        texts += [f"{added.command} --{option.word} {option.metavar}: {option.help}\n" for option in added.options]
    helps = "\n".join([*texts, *(harness(*words, "-h") for words in calls)])
    outputs = HERE.parent / "extensions" / name / "outputs"
    update = request.config.getoption("update_golden")
    hold(outputs / "commands", {"commands": masked(helps, folder)}, update=update)


def describe_plugin(inner_pytest):
    """Only our own lines of pytest's help, and the fixture."""
    lines = inner_pytest("--help").splitlines(keepends=True)
    begin = next(number for number, line in enumerate(lines) if line.startswith("search relevance suites"))
    end = next(number for number in range(begin, len(lines)) if not lines[number].strip())
    ini = [line for line in lines[end:] if line.startswith("  relevance_")]
    fixtures = inner_pytest("--fixtures", "-q")
    [fixture] = re.findall(r"^relevance (\[session scope\]).*\n((?:    .*\n|\n(?=    ))*)", fixtures, re.MULTILINE)
    return "".join([*lines[begin:end], *ini, "\nrelevance ", "\n".join(fixture)])


def describe(name):
    value = getattr(harness_api, name)
    if typing.is_typeddict(value):
        return [name, *(f"  {key}: {_type_text(kind)}" for key, kind in value.__annotations__.items())]
    if inspect.isclass(value) and issubclass(value, Enum):
        return [name, *(f"  {member.name} = {member.value!r}" for member in value)]
    if inspect.isclass(value):
        return [f"{name}{inspect.signature(value)}", *_members(value)]
    return [f"{name}{inspect.signature(value)}" if callable(value) else name]


def _members(of):
    own = {name for base in of.__mro__ if base.__module__.startswith("harness") for name in vars(base)}
    for name in sorted(name for name in own if not name.startswith("_")):
        member = getattr(of, name, None)
        yield f"  {name}{inspect.signature(member) if inspect.isroutine(member) else ''}"


def _type_text(kind):
    return kind.__forward_arg__ if isinstance(kind, typing.ForwardRef) else str(kind)


def test_no_output_is_kept_that_no_test_gives():
    """A test holds its own folder; here, that each folder has its test."""
    tests = {
        name
        for path in HERE.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {path.name for path in (HERE / "outputs").iterdir()} - tests == set()
