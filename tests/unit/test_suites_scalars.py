"""Plain scalars by YAML 1.2's core schema, checked against the regular expressions of section 10.3.2."""

import math

import pytest

from harness.suites.yaml import resolve, resolve_number


@pytest.mark.parametrize("text", ["null", "Null", "NULL", "~", ""])
def test_nulls(text):
    assert resolve(text) is None


@pytest.mark.parametrize(("text", "value"), [("true", True), ("TRUE", True), ("False", False), ("false", False)])
def test_truth_values(text, value):
    assert resolve(text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-19", -19),
        ("+12", 12),
        ("0o7", 7),
        ("0x3A", 58),
        ("0.", 0.0),
        (".5", 0.5),
        ("+12e03", 12000.0),
        ("-2E+05", -200000.0),
    ],
)
def test_numbers(text, value):
    assert (resolve(text), type(resolve(text))) == (value, type(value))


@pytest.mark.parametrize(("text", "value"), [(".inf", math.inf), ("-.Inf", -math.inf), ("+.INF", math.inf)])
def test_infinities_are_numbers(text, value):
    assert resolve_number(text) == value


def test_not_a_number_is_a_number():
    assert all(math.isnan(resolve_number(text)) for text in (".nan", ".NaN", ".NAN"))


@pytest.mark.parametrize(
    "text",
    [
        *("no", "yes", "on", "off", "y", "12:30", "1:2:3", "2027-01-01", "2027-01-01T00:00:00Z", "1_000", "0b11"),
        *("1e", "e1", ".", "-", "+", "1.2.3", "0x", "0o8", "0xG", "nan", "inf", "tRue", "nULL", "١٢", " 1", "1\n"),
    ],
)
def test_everything_else_is_text(text):
    assert resolve(text) == text
    assert resolve_number(text) is None


@pytest.mark.parametrize("text", ["012", "00", "-01", "01.5", "007"])
def test_a_leading_zero_makes_text(text):
    assert resolve(text) == text


def test_an_integer_too_long_for_any_engine_is_no_finite_number():
    assert resolve_number("9" * 5000) == math.inf
    assert resolve_number("0x" + "f" * 5000) == math.inf
