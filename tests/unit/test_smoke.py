"""The tests of `scripts/test --smoke`: a few that show each entry point."""

import re
from pathlib import Path

import pytest

from builders.extension_cases import list_cases

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "entry_point",
    [
        "relevance --help",
        "relevance run",
        "relevance evaluate",
        *list_cases("SMOKE"),
        "relevance validate",
        "pytest",
        "Python",
    ],
)
def test_each_entry_point_has_a_smoke_test(entry_point):
    mark = re.compile(rf'^@pytest\.mark\.smoke\("{entry_point}"\)\n(@.*\n)*def test_', re.MULTILINE)
    assert [path for path in TESTS.rglob("test_*.py") if mark.search(path.read_text(encoding="utf-8"))]
