"""The texts of suites are searched in the time of their length, and what is found is what an expression finds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.suite import PLACEHOLDER, match_placeholders
from harness.suites.depth import _find_sections
from harness.suites.reading import _DOLLAR, _match_dollars
from harness.words import list_repeated

SECTION = re.compile(r"\{\{([#^])\s*(\w+)\s*\}\}(.*?)\{\{/\s*\2\s*\}\}", re.DOTALL)

PLACEHOLDERS = st.text("{} a\n", max_size=30)
DOLLARS = st.lists(st.sampled_from(["$", "${", "${A", "${A:-", "}", "b", "\n", "$$"]), max_size=12).map("".join)
TAGS = ["{{#a}}", "{{^b}}", "{{/a}}", "{{/ b }}", "{{#", "{{", "}}", "a", " ", "{"]
SECTIONS = st.lists(st.sampled_from(TAGS), max_size=12).map("".join)


@given(PLACEHOLDERS)
def test_placeholders(text: str) -> None:
    expected = [match.span() for match in PLACEHOLDER.finditer(text)]
    assert [match.span() for match in match_placeholders(text)] == expected


@given(DOLLARS)
def test_variables(text: str) -> None:
    expected = [(match.span(), match[1], match[2]) for match in _DOLLAR.finditer(text)]
    assert [(match.span(), match[1], match[2]) for match in _match_dollars(text)] == expected


@given(SECTIONS)
def test_sections(text: str) -> None:
    expected = [(match.start(), match.end(), match[1] == "^", match[2], match[3]) for match in SECTION.finditer(text)]
    found = [
        (section.start, section.end, section.is_inverted, section.name, section.content)
        for section in _find_sections(text)
    ]
    assert found == expected


@given(st.lists(st.sampled_from("abc")))
def test_repeated_names(names: list[str]) -> None:
    assert set(list_repeated(names)) == {name for name in names if names.count(name) > 1}


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (match_placeholders, "{{" * 200_000),
        (match_placeholders, "{{a" * 200_000),
        (match_placeholders, "{{a}}" * 200_000),
        (_match_dollars, "${A:-" * 200_000),
        (_match_dollars, "${A" * 200_000),
        (_match_dollars, "${A:-}" + "${A:-" * 200_000),
        (_find_sections, "{{#a}}" * 200_000),
        (_find_sections, "{{#a}}{{/b}}" * 100_000),
        (_find_sections, "{{#a}}" * 100_000 + "{{/b}}" * 100_000),
    ],
)
def test_the_time_grows_with_the_length(search: Callable[[str], object], text: str) -> None:
    begun = time.process_time()
    list(search(text))  # type: ignore[call-overload]
    assert time.process_time() - begun < 10
