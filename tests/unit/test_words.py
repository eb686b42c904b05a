"""What sentences share: nouns agree with their number, and lists stay short."""

import doctest

import pytest

from harness import words
from harness.words import count, listed, one_of


def test_docstring_examples_hold():
    assert doctest.testmod(words).failed == 0


@pytest.mark.parametrize(("size", "text"), [(0, "0 queries"), (1, "1 query"), (1234, "1,234 queries")])
def test_nouns_agree_with_their_number(size, text):
    assert count(size, "query") == text


@pytest.mark.parametrize(("names", "text"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")])
def test_one_of_several_is_expected(names, text):
    assert one_of(names) == text


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a", "b", "c"], "a, b, c"), (["a", *"bcde"], "a, b, c and 2 more")]
)
def test_a_list_stays_short(names, text):
    assert listed(names) == text
