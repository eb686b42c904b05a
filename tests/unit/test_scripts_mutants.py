"""The mistakes that scripts/bench/mutants makes: one at a time, at its place, with all else as it was."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "scripts" / "bench" / "mistakes.py"

SOURCE = '''\
LIMIT = 3


def find(value: "int", names=("a",)):
    """Find it."""
    if not value or value < 5:  # “too small”
        raise ValueError("too small")
    names = sorted(names, key=len)
    if value in names:
        names = []
        value = 0
    return value is None
'''


@pytest.fixture
def mistakes(monkeypatch):
    spec = importlib.util.spec_from_file_location("mistakes", PATH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mistakes", module)
    spec.loader.exec_module(module)
    return module


def test_each_mistake_is_made_at_its_place(mistakes):
    source = mistakes.Source("find.py", SOURCE.encode())
    mutants = [source.make_mutant(edit) for edit in source.list_edits()]
    assert [(mutant.line, mutant.kind, mutant.new.strip()) for mutant in mutants] == [
        (7, "branch removed", "pass"),
        (6, "and or", "if not value and value < 5:  # “too small”"),
        (6, "not dropped", "if value or value < 5:  # “too small”"),
        (6, "negated", "if not value or value >= 5:  # “too small”"),
        (6, "off by one", "if not value or value <= 5:  # “too small”"),
        (6, "constant", "if not value or value < 6:  # “too small”"),
        (8, "argument dropped", "names = sorted(names)"),
        (10, "branch removed", "pass"),
        (9, "negated", "if value not in names:"),
        (11, "constant", "value = 1"),
        (12, "return", "return None"),
        (12, "negated", "return value is not None"),
    ]
    for mutant in mutants:
        assert SOURCE.replace(mutant.old, mutant.new).encode() != source.content
    assert mutants[7].old == "        names = []\n        value = 0\n"


def test_what_says_the_same_or_is_no_source_is_no_mutant(mistakes):
    source = mistakes.Source("one.py", b"def give():\n    return 1\n")
    [edit, _] = source.list_edits()
    for text in ("(1)", ")"):
        assert source.make_mutant(mistakes.Edit("return", edit.start, edit.end, text)) is None
