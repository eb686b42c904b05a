"""What others hold on to: commands and options, names of the Python API, schemas of what is written."""

from __future__ import annotations

import inspect
import re
import typing
from enum import Enum
from pathlib import Path

import harness.api
from builders.golden import json_lines
from harness.cli import main

OUTPUTS = Path(__file__).parent / "outputs"
COMMANDS = (
    "", "run", "show", "validate", "verify", "baseline", "baseline save", "baseline show", "baseline diff",
    "judgments", "judgments pool", "judgments lint", "judge", "import", "init", "engine", "engine up", "engine down",
    "engine status", "evaluate", "compare", "significance", "schema", "merge",
)  # fmt: skip


def test_help(harness, golden):
    golden({f"harness {command}".strip().replace(" ", "-"): harness(*command.split(), "-h") for command in COMMANDS})


def test_pytest_options(inner_pytest, golden):
    """Only our own lines of pytest's help, and the fixture."""
    lines = inner_pytest("--help").splitlines(keepends=True)
    begin = next(at for at, line in enumerate(lines) if line.startswith("search relevance suites"))
    end = next(at for at in range(begin, len(lines)) if not lines[at].strip())
    ini = [line for line in lines[end:] if line.startswith("  relevance_")]
    fixture = inner_pytest("--fixtures", "-q")
    [known] = re.findall(r"^relevance (\[session scope\]).*\n((?:    .*\n|\n(?=    ))*)", fixture, re.MULTILINE)
    golden({"options": "".join([*lines[begin:end], *ini]), "fixture": "relevance " + "\n".join(known)})


def test_schemas(capsys, golden):
    found = {}
    for name in ("suite", "report", "comparison", "inspection"):
        assert main(["schema", *([] if name == "suite" else [f"--{name}"])]) == 0
        found[f"{name}.json"] = json_lines(capsys.readouterr().out)
    golden(found)


def test_api(golden):
    """Public names, their arguments with defaults and types, and the public members of classes."""
    golden({"names": "".join(f"{line}\n" for name in sorted(harness.api.__all__) for line in described(name))})


def described(name):
    value = getattr(harness.api, name)
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
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {path.name for path in OUTPUTS.iterdir()} - tests == set()
