"""The command is `relevance`: what it was called before stands nowhere but where the rename is told."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from harness.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
FORMER = "harness"
FORMER_COMMAND = re.compile(
    rf"(?<!-m )(?<!from )(?<![\w./-]){FORMER}(?= -| (?:{'|'.join(COMMANDS)})\b)"
    rf"|bin/{FORMER}\b|{FORMER}\.toml|{FORMER}_toml|#{FORMER}-|\b_?{FORMER.upper()}_[A-Z]+"
)
TELL_THE_RENAME = {
    "CHANGELOG.md", "docs/reference/settings.md", "harness/files/paths.py", "scripts/bench/compare-checkouts",
    "tests/plugin/test_plugin_config.py",
    "tests/unit/test_config.py",
    "tests/unit/test_command_name.py",
}  # fmt: skip
SUFFIXES = {
    "",
    ".cfg",
    ".html",
    ".ini",
    ".jinja",
    ".js",
    ".json",
    ".md",
    ".py",
    ".svg",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
}
FOLDERS = (".ci", ".github", "docs", "harness", "scripts", "suites", "tests")


def list_texts() -> list[Path]:
    """The files of the project that people and programs read, without those that only this checkout has."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return [path for path in paths if path.suffix in SUFFIXES]


def test_the_former_command_stands_nowhere():
    found = []
    for path in list_texts():
        name = path.relative_to(ROOT).as_posix()
        if name in TELL_THE_RENAME:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {match[0]}" for match in FORMER_COMMAND.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "harness run suites/",
        "`harness judge SUITE`",
        ".venv/bin/harness",
        "harness.toml",
        "HARNESS_DEBUG",
        "harness -h",
    ],
)
def test_the_former_command_would_be_found(text):
    assert FORMER_COMMAND.search(text)


@pytest.mark.parametrize("text", ["python -m harness run", "the harness sends it", "relevance-harness", "harness/run/"])
def test_the_package_is_not_the_command(text):
    assert not FORMER_COMMAND.search(text)


def test_one_command_and_one_plugin_are_installed():
    scripts = [entry for entry in entry_points(group="console_scripts") if entry.value.startswith(FORMER)]
    assert [(entry.name, entry.value) for entry in scripts] == [("relevance", "harness.cli:main")]
    [plugin] = entry_points(group="pytest11", name="relevance")
    assert plugin.value == "pytest_relevance"


def test_a_configuration_of_the_former_name_ends_with_2(tmp_path, monkeypatch, capsys):
    (tmp_path / f"{FORMER}.toml").write_text('addresses = "listed"\n', encoding="utf-8")
    (tmp_path / "shop.relevance.yaml").write_text("name: shop\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "."]) == 2
    assert "rename it: `mv " in capsys.readouterr().err


@pytest.mark.parametrize("theirs", ["harness/__init__.py", "harness.py"])
def test_another_package_of_the_name_ends_the_session_with_one_sentence(tmp_path, theirs):
    path = tmp_path / theirs
    path.parent.mkdir(exist_ok=True)
    path.write_text("", encoding="utf-8")
    (tmp_path / "test_theirs.py").write_text("def test_nothing(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    [line] = done.stderr.split("\n\n")[0].splitlines()
    assert line.startswith("ERROR: relevance-harness: `import harness` finds ")
    assert "`-p no:relevance`" in line


def test_without_the_plugin_another_package_of_the_name_is_found(tmp_path):
    (tmp_path / "harness.py").write_text("", encoding="utf-8")
    (tmp_path / "test_theirs.py").write_text("import harness\ndef test_nothing(): pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:relevance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
