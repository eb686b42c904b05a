"""docs/reference/measures.md: its examples run, every measure has a section, and the profiles score as it says."""

import doctest
import re
from pathlib import Path

import pytest

from harness.errors import UndefinedScore
from harness.metrics import parse_measure, registry, score_query
from harness.metrics.registry import DEFINITIONS, Registry
from harness.model.suite import Profile

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "measures.md"
PROFILES = PAGE.with_name("profiles.md")
GUIDE = PAGE.parents[1] / "guides" / "custom-measures.md"


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    """The page registers a measure; nothing of it is to stay."""
    monkeypatch.setattr(registry, "_REGISTRY", Registry(DEFINITIONS))


@pytest.mark.parametrize(("page", "least"), [(PAGE, 35), (GUIDE, 8)])
def test_the_examples_run(page, least):
    results = doctest.testfile(str(page), module_relative=False)
    assert results.failed == 0
    assert results.attempted > least


def test_every_measure_has_a_section_with_an_example():
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    assert set(sections) == {definition.name for definition in DEFINITIONS}
    assert [name for name, text in sections.items() if f'"{name}' not in text or ">>>" not in text] == []


def test_every_parameter_is_written_of():
    text = PAGE.read_text(encoding="utf-8")
    parameters = {name for definition in DEFINITIONS for name in definition.parameters}
    assert [name for name in sorted(parameters) if f"`{name}`" not in text and f"`{name}=" not in text] == []


CASES = [
    ("abcdef", dict(zip("abcdefg", [3, 2, 3, 0, 1, 2, 3], strict=True))),
    ("a", dict.fromkeys("abcde", 3)),
    ("abcdefghij", dict.fromkeys("abcdefghijklmno", 3)),
    ("a", {"a": 0}),
    ("a", {"a": 3}),
    ("abcdefghij", {**dict.fromkeys("abc", 3), **dict.fromkeys("def", 1)}),
    ("ab", {"a": 3}),
]
"""The ranking and the grades of each row of the table of profiles."""


def score_case(measure, ranking, grades, profile):
    try:
        score = score_query(parse_measure(measure), list(ranking), grades, profile=profile)
    except UndefinedScore:
        return "undefined"
    return f"{round(score, 4):g}"


def test_the_profiles_score_as_the_table_says():
    table = PROFILES.read_text(encoding="utf-8")
    [header, _, *rows] = [line.strip("| ").split(" | ") for line in table.split("\n\n")[2].splitlines()]
    profiles = [Profile(name.strip("`")) for name in header[1:]]
    assert len(rows) == len(CASES)
    for (case, *shown), (ranking, grades) in zip(rows, CASES, strict=True):
        measure = case.partition(":")[0]
        assert [score_case(measure, ranking, grades, profile) for profile in profiles] == shown, case
