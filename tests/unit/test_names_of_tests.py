"""A test has a short name; what it shows is the sentence of its docstring."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
LONGEST = 49
FOLDERS = ["extensions/distributed", "extensions/sampling", "extensions/start", "extensions/tuning"]
"""Those in which each test has a short name."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_name_is_a_sentence(folder):
    if not (TESTS / folder).is_dir():
        pytest.skip("the extension was taken away")
    long_names = [
        f"{path.relative_to(TESTS)}: {node.name}"
        for path in sorted((TESTS / folder).rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and len(node.name) > LONGEST
    ]
    assert long_names == [], "give it a short name, and the sentence as its docstring"
