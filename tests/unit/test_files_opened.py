"""Who opens files: what stands beside a suite is opened by one module, and each other module says what it opens."""

import ast
from pathlib import Path

import pytest

import harness
from builders.extension_cases import list_cases, map_cases
from builders.sources import list_nodes

ROOT = Path(harness.__file__).parent

OPENERS = {
    "files/folders.py": "opens for files/beside.py and files/writing.py, without following links",
    "files/beside.py": "opens what stands beside a suite, by files/folders.py",
    "files/locks.py": "locks what stands beside a suite, and folders of our own, by files/folders.py",
    "files/writing.py": "writes outputs that the user named",
    "files/opening.py": "reads what a suite names, behind the border, and what the user named",
    "files/vectors.py": "maps an array that a suite names, behind the border",
    "files/versioned.py": "reads reports and baselines that the user named",
    "store/baseline_files.py": "looks at a file of baselines that was refused, before it is replaced",
    "store/journal.py": "reads the journals that `relevance merge` names",
    "store/history_files.py": "makes a file without a name in the folder of a history, to see that it can be written",
    "suites/inputs.py": "reads a suite that is no YAML for names of files",
    "cli/next_steps.py": "looks into a suite for a fixture",
    "cli/exits.py": "looks into test files for a registration",
    "cli/streams.py": "opens the device for nothing",
    "search/indexes.py": "reads documents that a suite names, behind the border",
    "report/github_step.py": "adds to the summary that GitHub names",
    "report/html/__init__.py": "reads a template of the package",
    "local_server/__init__.py": "reads a file of a page, from its package",
    "local_server/browsers.py": "opens a page in the browser",
    "drafts/suite_texts.py": "reads a suite, which is written again",
    "suites/request_texts.py": "reads a suite again, for the text of a request",
    "embedded/jars.py": "writes to the user's own cache",
    "embedded/lock.py": "reads a file of the package",
    "embedded/node.py": "reads a file in the folder of a node",
    "embedded/process.py": "writes to the folder of a node",
    "embedded/state.py": "reads the user's own cache",
    "pytest_plugin/items.py": "reads the first bytes of a suite that pytest collects",
    "pytest_plugin/node.py": "reads a file in the folder that the workers of a session share",
    "pytest_plugin/runs.py": "reads the first bytes of a suite that pytest collects",
    "pytest_plugin/session.py": "reads a file in the folder that the workers of a session share",
    **map_cases("OPENERS"),
}
"""The modules that open files, with what they open. A module that opens what stands beside a suite is not added."""

METHODS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "fdopen", "flock", "locking"}
FUNCTIONS = {"open", "FileLock", "TemporaryFile", "NamedTemporaryFile", "mkstemp", "memmap", "open_memmap"}


def find_openings(nodes):
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id in FUNCTIONS:
            yield function.id, node.lineno
        if isinstance(function, ast.Attribute) and function.attr in METHODS | FUNCTIONS:
            yield function.attr, node.lineno


def list_openings():
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for called, line in find_openings(list_nodes(path)):
            yield name, called, line


def test_no_other_module_opens_a_file():
    others = [f"{name}:{line}: {called}" for name, called, line in list_openings() if name not in OPENERS]
    assert not others, "open what stands beside a suite by files/beside.py"


def test_each_module_that_may_open_files_does():
    by_folders = {"files/beside.py", "files/locks.py"}
    assert {name for name, _, _ in list_openings()} | by_folders >= OPENERS.keys()


@pytest.mark.parametrize(
    "name",
    [
        "files/query_samples.py",
        "files/judge_files.py",
        "suites/schema_file.py",
        *list_cases("OPENED_BESIDE"),
    ],
)
def test_what_stands_beside_a_suite_is_opened_in_one_way(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert name not in OPENERS
    assert "BesideFile" in text or "place_file" in text
    assert "write_whole" not in text


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open('x')", ["open"]),
        ("path.open()", ["open"]),
        ("Path(p).read_text()", ["read_text"]),
        ("import os\nos.open(p, 0)", ["open"]),
        ("with FileLock(p): pass", ["FileLock"]),
        ("fcntl.flock(f, 2)", ["flock"]),
        ("file.read()", []),
    ],
)
def test_an_opening_is_seen(code, found):
    assert [called for called, _ in find_openings(ast.walk(ast.parse(code)))] == found
