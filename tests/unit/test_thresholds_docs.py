"""docs/reference/thresholds.md: each example is read where the page says."""

import re
from pathlib import Path

import pytest

from harness.errors import GrammarError
from harness.gate import expectations, grammar
from harness.model.suite import Condition

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "thresholds.md"
TEXT = PAGE.read_text(encoding="utf-8")


def read_table(heading):
    """The examples of the table below *heading*, each with the places where it may stand."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \| .+ \| ([a-z, ]+) \|$", section, re.MULTILINE)
    return [(example, places.split(", ")) for example, places in rows]


def read_expectation(text, *, of_query):
    return expectations.parse_expectation(text) if of_query else expectations.parse_suite_expectation(text)


READERS = {"Thresholds": grammar.parse_threshold, "Expectations": read_expectation}
EXAMPLES = [(READERS[heading], *row) for heading in READERS for row in read_table(heading)]


@pytest.mark.parametrize(("read", "example", "places"), EXAMPLES)
def test_an_example_is_read_where_the_page_says(read, example, places):
    for place in ("suite", "query"):
        if place in places:
            assert read(example, of_query=place == "query")
        else:
            with pytest.raises(GrammarError):
                read(example, of_query=place == "query")


def test_each_kind_of_condition_has_an_example():
    results = [read(example, of_query="query" in places) for read, example, places in EXAMPLES]
    shown = {type(result[0] if isinstance(result, tuple) else result) for result in results}
    unresolved = "UnresolvedCondition"  # it stands for a condition whose variable has no value yet
    assert {kind.__name__ for kind in shown} == {kind.__name__ for kind in Condition.__args__} - {unresolved}


def test_what_the_first_table_sets_is_read():
    table = TEXT.split("| to notice | set |")[1].split("\n\n")[0]
    examples = re.findall(r"`(.+?)`", table)
    assert len(examples) == 12
    for example in examples:
        read = read_expectation if " in top " in example else grammar.parse_threshold
        assert read(example, of_query=example.startswith("sku-"))
