"""The table of extensions: each can be named, and names what is there."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.extensions import NAMES, Remedy, find_remedy, load_extensions

ROOT = Path(__file__).parents[2]
CORE = Path(harness.__file__).parent
FOLDER = CORE / "extensions"
EXTENSIONS = dict(zip(NAMES, load_extensions(), strict=True))


def test_the_table_names_each_folder():
    assert sorted(NAMES) == sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_names_modules_and_pages_that_are_there(name):
    extension = EXTENSIONS[name]
    for added in (*extension.commands, *extension.subcommands, *extension.options):
        assert added.module.startswith(f"harness.extensions.{name}.")
        assert importlib.import_module(added.module).command
    for added in (*extension.schemas, *extension.methods):
        assert added.module.startswith(f"harness.extensions.{name}.")
        assert getattr(importlib.import_module(added.module), added.function)
    for page in extension.pages:
        assert (ROOT / "docs" / page).is_file()


def test_the_table_imports_nothing_of_an_extension_but_its_package():
    code = (
        "import sys; from harness.extensions import load_extensions; load_extensions();"
        "print(sorted(name for name in sys.modules if name.startswith('harness.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(sorted(["harness.extensions", *(f"harness.extensions.{name}" for name in NAMES)]))


def list_commands():
    """The commands of extensions, as a user types them."""
    for extension in EXTENSIONS.values():
        yield from (f"relevance {command.name}" for command in extension.commands)
        yield from (f"{command.group} {command.name}" for command in extension.subcommands)


def list_texts(path):
    """The strings of a module, and each list of strings as one, with their lines; without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value
        elif isinstance(node, ast.List | ast.Tuple):
            words = [element.value for element in node.elts if isinstance(element, ast.Constant)]
            yield node.lineno, " ".join(map(str, words))


def test_the_core_names_no_command_of_an_extension():
    """Without the extension the command is not there: what names one is a remedy of the extension."""
    pattern = re.compile(rf"\b({'|'.join(list_commands())})\b")
    core = [path for path in CORE.rglob("*.py") if FOLDER not in path.parents]
    assert len(core) > 100
    named = [
        f"{path.relative_to(CORE)}:{line}: {text}"
        for path in core
        for line, text in list_texts(path)
        if pattern.search(text)
    ]
    assert named == []


def test_a_command_in_a_string_or_a_list_is_seen(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('"""`relevance a`"""\nX = f"grade {1} with `relevance b {2}`"\nY = ["relevance", "c", X]\n')
    assert {text for _, text in list_texts(path)} == {
        *("relevance c", "relevance", "c"),
        *("grade ", " with `relevance b ", "`"),
    }


def test_a_remedy_is_there_with_its_extension_alone(monkeypatch):
    words = {"suite": "a.yaml", "judge": "small", "file": "", "request": "new"}
    words |= {"size": "60", "seed": "1", "old": "../main/a.yaml"}
    remedies = [remedy for extension in EXTENSIONS.values() for remedy in extension.remedies]
    for remedy in remedies:
        assert find_remedy(remedy, "; `{command}` does it", **words).startswith("; `relevance ")
    assert len(remedies) == len(set(remedies)), "two extensions have a command for it"
    monkeypatch.setattr("harness.extensions.load_extensions", lambda: ())
    for remedy in Remedy:
        assert find_remedy(remedy, "; `{command}` does it", **words) == ""


def test_no_test_of_the_core_needs_an_extension_to_be_collected():
    """What a test imports of one, it imports itself, with the mark `needs_extension`."""
    tests = ROOT / "tests"
    importing = [
        path.relative_to(tests).as_posix()
        for path in sorted(tests.rglob("*.py"))
        if tests / "extensions" not in path.parents
        and re.search(r"^(from|import) (harness\.)?extensions\.", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert importing == []


def test_each_extension_can_be_taken_away():
    # scripts/check --without NAME needs these lines: it removes them.
    table = (FOLDER / "__init__.py").read_text(encoding="utf-8").splitlines()
    layers = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    for name in NAMES:
        assert table.count(f'    "{name}",') == 1
        assert sum(line.startswith(f"| 13 | `extensions/{name}/` |") for line in layers) == 1


def test_ci_takes_another_one_away_each_day():
    assert "scripts/check --without by-turns" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
