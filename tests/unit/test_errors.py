"""Errors carry the options that they are about, and each entry point names these in its own words."""

import doctest

import pytest

from harness import errors
from harness.errors import EntryPoint, GrammarError, HarnessError, InputError, Option, UsageError

BOTH = UsageError("give ", Option("url"), " or ", Option("allow-write"), ", or say `relevance baseline save --url`")


def test_docstring_examples_hold():
    assert doctest.testmod(errors).failed == 0


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (EntryPoint.COMMAND, "give --url or --allow-write, or say `relevance baseline save --url`"),
        (EntryPoint.PYTEST, "give --relevance-url or --relevance-allow-write, or say `relevance baseline save --url`"),
        (EntryPoint.PYTHON, "give url or allow_write, or say `relevance baseline save --url`"),
    ],
)
def test_an_option_has_the_name_of_the_entry_point_and_a_text_stays_what_it_is(entry, text):
    assert BOTH.text(entry) == text


def test_where_nobody_asks_an_error_speaks_python():
    assert str(BOTH) == BOTH.text(EntryPoint.PYTHON)
    assert Option("tag", "tags").name_in(EntryPoint.PYTHON) == "tags"


@pytest.mark.parametrize("error", [HarnessError("a"), GrammarError("a", 3), InputError.at("f", 0, 0, "a")])
def test_an_error_about_no_option_reads_the_same_everywhere(error):
    assert {error.text(entry) for entry in EntryPoint} == {str(error)}


def test_several_sentences_are_lines_of_one_error():
    error = UsageError.of_lines([("give ", Option("url")), ("no more",)])
    assert error.text(EntryPoint.COMMAND) == "give --url\nno more"
