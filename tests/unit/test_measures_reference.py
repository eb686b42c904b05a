"""docs/reference/measures.md: its examples run, and it has a section on every measure."""

import doctest
import re
from pathlib import Path

import pytest

from harness.metrics import registry
from harness.metrics.registry import DEFINITIONS, Registry

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "measures.md"


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    """The page registers a measure; nothing of it is to stay."""
    monkeypatch.setattr(registry, "_REGISTRY", Registry(DEFINITIONS))


def test_its_examples_run():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 40


def test_every_measure_has_a_section_with_an_example():
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    assert set(sections) == {definition.name for definition in DEFINITIONS}
    assert [name for name, text in sections.items() if f'"{name}' not in text or ">>>" not in text] == []


def test_every_parameter_is_written_of():
    text = PAGE.read_text(encoding="utf-8")
    parameters = {name for definition in DEFINITIONS for name in definition.parameters}
    assert [name for name in sorted(parameters) if f"`{name}`" not in text and f"`{name}=" not in text] == []
