"""The table of extensions: each can be named, and names what is there."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.extensions import NAMES, load_extensions

ROOT = Path(__file__).parents[2]
FOLDER = Path(harness.__file__).parent / "extensions"
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


def test_each_extension_can_be_taken_away():
    # scripts/check --without NAME needs these lines: it removes them.
    table = (FOLDER / "__init__.py").read_text(encoding="utf-8").splitlines()
    layers = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    for name in NAMES:
        assert table.count(f'    "{name}",') == 1
        assert sum(line.startswith(f"| 13 | `extensions/{name}/` |") for line in layers) == 1


def test_ci_takes_another_one_away_each_day():
    assert "scripts/check --without by-turns" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
