"""What others hold on to: commands and options, and names of the Python API."""

from __future__ import annotations

import inspect
import re
import typing
from enum import Enum
from pathlib import Path

import harness.api as harness_api

HERE = Path(__file__).parent
COMMANDS = (
    "", "run", "show", "validate", "verify", "baseline", "baseline save", "baseline show", "baseline diff",
    "queries", "queries sample", "judgments", "judgments pool", "judgments lint", "judge", "judge page", "judge team",
    "judge revoke", "judge machine", "judge agreement", "judge write", "import", "init", "engine",
    "engine up", "engine down", "engine status", "evaluate", "compare", "schema", "merge",
)  # fmt: skip


def test_interfaces(harness, inner_pytest, golden):
    """The help of each command, the options and the fixture of pytest, and the signatures of the Python API."""
    helps = "\n".join(harness(*command.split(), "-h") for command in COMMANDS)
    names = "".join(f"{line}\n" for name in sorted(harness_api.__all__) for line in describe(name))
    golden({"commands": helps, "pytest": describe_plugin(inner_pytest), "python": names})


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
        for path in (
            *HERE.glob("test_*.py"),
            HERE.parent / "extensions" / "judging" / "browser" / "test_judging_page.py",
        )
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {path.name for path in (HERE / "outputs").iterdir()} - tests == set()
