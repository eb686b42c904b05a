"""
Shows that the rest is whole without an extension: a copy of the tree, without the extension, is checked.

Taken away are the extension's folder, its line in the table of extensions, its pages, its row in docs/architecture.md,
and its tests; and with it the extensions that import it, which is said.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bootstrap

sys.path.insert(0, str(bootstrap.ROOT))

from harness.extensions import NAMES, load_extensions

EXTENSIONS = bootstrap.ROOT / "harness" / "extensions"
SMOKE = "@pytest.mark.smoke("
MOST_LINES = 60
"""Of the output of a check that failed; of one that passed, the last."""

IMPORT_ALL = """
import importlib
import pkgutil
import harness
names = [module.name for module in pkgutil.walk_packages(harness.__path__, "harness.")]
for name in names:
    if name != "harness.__main__":
        importlib.import_module(name)
print(f"{len(names)} modules")
"""
"""Imports each module: the type check may find in .venv what the copy lacks, as the project is installed there."""

HELP_OF_ALL = """
import sys
import click
from harness.cli import COMMANDS, main, root

def list_leaves(name, command):
    yield [*name, "--help"]
    for word, subcommand in getattr(command, "commands", {}).items():
        yield from list_leaves([*name, word], subcommand)

context = click.Context(root)
calls = [["--help"]]
for name in COMMANDS:
    calls += list_leaves([name], root.get_command(context, name))
failed = [call for call in calls if main(call) != 0]
print(f"the help of {len(calls)} commands", file=sys.stderr)
sys.exit(f"no help: {failed}" if failed else 0)
"""
"""Prints the help of each command; ends with 1 if one has none."""


def check_without(name: str) -> int:
    """Check the tree without the extension *name*; the number of checks that failed."""
    if name not in NAMES:
        sys.exit(f"there is no extension {name!r}, only {', '.join(NAMES)}")
    names = [name, *find_dependents(name)]
    if len(names) > 1:
        bootstrap.say(f"without {name} there is no {', '.join(names[1:])} either: that needs {name}")
    with tempfile.TemporaryDirectory(prefix="without-") as folder:
        root = Path(folder, "tree")
        copy_tree(root)
        for removed in names:
            remove_extension(root, removed)
        remove_tests(root, names)
        return run_checks(root)


def find_dependents(name: str) -> list[str]:
    """The extensions that import the extension *name*, or one that does."""
    needed = [name]
    for extension in needed:
        for other in NAMES:
            modules = (EXTENSIONS / other).rglob("*.py")
            if other not in needed and any(imports_extension(module, extension) for module in modules):
                needed.append(other)
    return needed[1:]


def imports_extension(path: Path, name: str) -> bool:
    """Whether the module at *path* imports the extension *name*."""
    pattern = rf"^\s*(?:from|import) harness\.extensions\.{name}\b"
    return re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def copy_tree(root: Path) -> None:
    """Copy the files that git knows, and new ones, to *root*."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=bootstrap.ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        source = bootstrap.ROOT / name
        if source.is_file():
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    cache = bootstrap.ROOT / ".mypy_cache"
    if cache.is_dir():
        shutil.copytree(cache, root / ".mypy_cache")


def remove_extension(root: Path, name: str) -> None:
    """Remove the folder of the extension, its line in the table, its pages and its row in the table of layers."""
    shutil.rmtree(root / "harness" / "extensions" / name)
    remove_lines(root / "harness" / "extensions" / "__init__.py", f'    "{name}",')
    remove_lines(root / "docs" / "architecture.md", f"| 13 | `extensions/{name}/` |")
    for page in load_extensions()[NAMES.index(name)].pages:
        (root / "docs" / page).unlink()


def remove_lines(path: Path, beginning: str) -> None:
    """Remove the lines of the file at *path* that begin so; there must be one."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(beginning)]
    assert len(kept) == len(lines) - 1, f"{path}: expected one line that begins with {beginning}"
    path.write_text("".join(kept), encoding="utf-8")


def remove_tests(root: Path, names: list[str]) -> None:
    """Remove the tests of the extensions *names*, and those of other extensions that need them."""
    tests = root / "tests" / "extensions"
    for name in names:
        shutil.rmtree(tests / name, ignore_errors=True)
    # What a test imports itself, it imports with the mark `needs_extension`.
    pattern = re.compile(rf"^(?:from|import) (?:harness\.)?extensions\.(?:{'|'.join(names)})\b", re.MULTILINE)
    for path in sorted(tests.rglob("*.py")):
        if pattern.search(path.read_text(encoding="utf-8")):
            bootstrap.say(f"{path.relative_to(root)} goes too")
            path.unlink()


def run_checks(root: Path) -> int:
    """The types, the smoke tests, the layers, the help of each command, and more in *root*; how many failed."""
    smoke = [str(path) for path in (root / "tests").rglob("test_*.py") if SMOKE in path.read_text(encoding="utf-8")]
    pytest = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")
    commands = {
        "the imports": ("-c", IMPORT_ALL),
        "the types": ("-m", "mypy"),
        "the smoke tests": (*pytest, "-m", "smoke", *smoke),
        "the layers": (*pytest, str(root / "tests" / "unit" / "test_layers.py")),
        # A test of the core imports no extension when it is collected: tests/unit/test_extensions.py holds that.
        "other extensions' tests, collected": (*pytest, "--collect-only", "-q", str(root / "tests" / "extensions")),
        "the help of each command": ("-c", HELP_OF_ALL),
    }
    environment = {**os.environ, "PYTHONPATH": str(root)}
    failed = 0
    for title, words in commands.items():
        bootstrap.say(title)
        command = [bootstrap.BIN / "python", *words]
        done = subprocess.run(
            command, cwd=root, env=environment, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        lines = done.stdout.splitlines()
        print("\n".join(lines[-1:] if done.returncode == 0 else lines[-MOST_LINES:]), flush=True)
        failed += done.returncode != 0
    return failed
