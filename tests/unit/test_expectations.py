"""The text of expectations of the fields of hits; `test_thresholds` has those of documents."""

import pytest

from harness.errors import GrammarError
from harness.gate.expectations import parse_expectation, parse_suite_expectation, read_date, read_number
from harness.gate.grammar import check_reach
from harness.model.suite import (
    Before,
    DistinctValues,
    FieldBound,
    FieldInTop,
    FieldRequirement,
    FieldValue,
    Gain,
    HitCount,
    HitQuantifier,
    InTop,
    NoRepeats,
    Operator,
)

ANY, EVERY, NO = HitQuantifier


def equal(field, *texts, quoted=False):
    return FieldRequirement(field, allowed=tuple(FieldValue(text, quoted) for text in texts))


def within(field, *bounds):
    return FieldRequirement(field, bounds=tuple(FieldBound(operator, FieldValue(text)) for operator, text in bounds))


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("in_stock = true in top 10", FieldInTop(ANY, equal("in_stock", "true"), 10)),
        ("brand = Acme in  top 3", FieldInTop(ANY, equal("brand", "Acme"), 3)),
        ("brand =Acme in top 3", FieldInTop(ANY, equal("brand", "Acme"), 3)),
        ("brand = 'Big Co' in top 3", FieldInTop(ANY, equal("brand", "Big Co", quoted=True), 3)),
        ('brand = "" in top 3', FieldInTop(ANY, equal("brand", "", quoted=True), 3)),
        ("brand = in in top 3", FieldInTop(ANY, equal("brand", "in"), 3)),
        ("'the brand' = a=b in top 3", FieldInTop(ANY, equal("the brand", "a=b"), 3)),
        ("before = 1 in top 3", FieldInTop(ANY, equal("before", "1"), 3)),
        ('"hits" = 1 in top 3', FieldInTop(ANY, equal("hits", "1"), 3)),
        ("price <= 100 in top 5", FieldInTop(ANY, within("price", (Operator.AT_MOST, "100")), 5)),
        ("price > 0.5 in top 5", FieldInTop(ANY, within("price", (Operator.ABOVE, "0.5")), 5)),
        ("added >= 2026-01-31 in top 5", FieldInTop(ANY, within("added", (Operator.AT_LEAST, "2026-01-31")), 5)),
        (
            "price in 10..99.5 in top 5",
            FieldInTop(ANY, within("price", (Operator.AT_LEAST, "10"), (Operator.AT_MOST, "99.5")), 5),
        ),
        (
            "price in -1 .. 5 in top 5",
            FieldInTop(ANY, within("price", (Operator.AT_LEAST, "-1"), (Operator.AT_MOST, "5")), 5),
        ),
        (
            'brand in {Acme, "Big Co"} in top 3',
            FieldInTop(ANY, FieldRequirement("brand", (FieldValue("Acme"), FieldValue("Big Co", True))), 3),
        ),
        ("brand in{a,b} in top 3", FieldInTop(ANY, equal("brand", "a", "b"), 3)),
        ("every hit in top 10 has in_stock = true", FieldInTop(EVERY, equal("in_stock", "true"), 10)),
        ("every hit in top 10 has in_stock=true", FieldInTop(EVERY, equal("in_stock", "true"), 10)),
        ("every hit in top 10 has image", FieldInTop(EVERY, FieldRequirement("image"), 10)),
        ("no hit in top 4 has price > 9", FieldInTop(NO, within("price", (Operator.ABOVE, "9")), 4)),
        ("no hit in top 4 has brand in {a}", FieldInTop(NO, equal("brand", "a"), 4)),
        ("distinct group >= 8 in top 10", DistinctValues("group", Operator.AT_LEAST, 8, 10)),
        ("distinct group<3 in top 10", DistinctValues("group", Operator.BELOW, 3, 10)),
        ("distinct 'the group' = 1 in top 10", DistinctValues("the group", Operator.EQUAL, 1, 10)),
        ("no repeated group in top 10", NoRepeats("group", 10)),
        ("no repeated shop.id in top 10", NoRepeats("shop.id", 10)),
    ],
)
def test_an_expectation_of_a_field_is_read(text, condition):
    assert parse_expectation(text) == condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("brand in top 3", InTop("brand", 3)),
        ("in_stock=true in top 3", InTop("in_stock=true", 3)),
        ("price<=100 not in top 3", InTop("price<=100", 3, negated=True)),
        ("every in top 3", InTop("every", 3)),
        ("no not in top 3", InTop("no", 3, negated=True)),
        ("no before repeated", Before("no", "repeated")),
        ("distinct in top 3", InTop("distinct", 3)),
        ("distinct before >=", Before("distinct", ">=")),
        ("1..3 in top 3", InTop("1..3", 3)),
        ("{a} in top 3", InTop("{a}", 3)),
        ("hits >= 1", HitCount(Operator.AT_LEAST, 1)),
    ],
)
def test_what_was_about_a_document_stays_so(text, condition):
    assert parse_expectation(text) == condition


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("brand = Big Co in top 3", 12,
         "found 'Co', expected 'in top' after the value; put what has spaces in quotes"),
        ("brand = Acme", 12, "found the end, expected 'in top' after the value"),
        ("brand =", 7, "found the end, expected a value"),
        ("brand = 'Acme in top 3", 8, "found \"'Acme\", expected a value with its closing quote"),
        ("brand != Acme in top 3", 6,
         "found '!=', expected a comparison: >=, >, <=, < or =; for hits without a value write "
         "'no hit in top 10 has brand = …'"),
        ("price => 3 in top 3", 6, "found '=>', expected a comparison: >=, >, <=, < or ="),
        ("price <= cheap in top 3", 9, "found 'cheap', expected a number or a date such as 2026-01-31"),
        ("price <= '3' in top 3", 9,
         "found a text in quotes after '<=', expected a number or a date such as 2026-01-31"),
        ("price <= 2026-02-30 in top 3", 9, "found '2026-02-30', expected a number or a date such as 2026-01-31"),
        ("price in a..b in top 3", 6, "found 'a', expected a number or a date such as 2026-01-31"),
        ("price in 1.. in top 3", 6, "found 'in', expected a number or a date such as 2026-01-31"),
        ("price in 1..2026-01-31 in top 3", 6, "found '1' and '2026-01-31', expected two numbers or two dates"),
        ("price in 9..1 in top 3", 6, "found the range 9..1, expected the least first"),
        ("brand in {} in top 3", 10, "found '}', expected a value of the set"),
        ("brand in {a b} in top 3", 12, "found 'b}', expected ',' or '}'; put a value with spaces in quotes"),
        ("brand in {a, a} in top 3", 13, "the value 'a' is named twice"),
        ("brand in {a", 11, "found the end, expected ',' or '}'; put a value with spaces in quotes"),
        ("brand in {a}", 12, "found the end, expected 'in top' after the value"),
        ("'' = a in top 3", 0, "found an empty name of a field"),
        ("every hit in top 10", 19, "found the end, expected 'has' and a field, as in 'has in_stock = true'"),
        ("every hit in top 0 has a", 17, "found '0', expected a rank such as 10, at least 1"),
        ("every hit in top 10 has", 23, "found the end, expected the name of a field"),
        ("no hit in top 10 has in_stock = true in top 3", 37, "found 'in', expected nothing after it"),
        ("no repeated in top 3", 15,
         "found 'top', expected 'in top' after the field 'in'; put what has spaces in quotes"),
        ("no repeated group", 17, "found the end, expected 'in top' after the field 'group'"),
        ("distinct group >= 1.5 in top 3", 18, "found '1.5', expected a number of values such as 8, at least 0"),
        ("distinct group >= 8", 19, "found the end, expected 'in top' after the number of values"),
        ("in_stock = true in top 10 for head", 26, "found 'for', expected nothing after it"),
    ],
)  # fmt: skip
def test_an_expectation_of_a_field_out_of_grammar_is_refused(text, offset, message):
    with pytest.raises(GrammarError) as caught:
        parse_expectation(text)
    assert (caught.value.offset, str(caught.value)) == (offset, message)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("every hit in top 10 has in_stock = true", None),
        ("every hit in top 10 has in_stock = true for head", "head"),
        ("every hit in top 10 has image for long tail", "long tail"),
        ("every hit in top 10 has name = 'all for one'", None),
        ("in_stock = true in top 3 for head", "head"),
        ("distinct group >= 8 in top 10 for head", "head"),
        ("no repeated group in top 10 for head", "head"),
        ("hits >= 1 for head", "head"),
    ],
)
def test_an_expectation_of_a_suite_may_have_a_tag(text, tag):
    condition, found = parse_suite_expectation(text)
    assert found == tag
    assert condition == parse_expectation(text.removesuffix(f" for {tag}"))


@pytest.mark.parametrize("text", ["sku-17 in top 3", "sku-17 before sku-9 for head"])
def test_an_expectation_of_a_document_belongs_to_a_query(text):
    with pytest.raises(GrammarError, match="belongs to one query; move it below 'expect' of the query"):
        parse_suite_expectation(text)


def test_a_tag_needs_its_for():
    with pytest.raises(GrammarError, match="found 'head', expected 'for' and a tag"):
        parse_suite_expectation("no repeated group in top 10 head")


def test_fewer_than_no_values_are_out_of_reach():
    condition = parse_expectation("distinct group < 0 in top 3")
    assert check_reach(condition, Gain()) == "there cannot be fewer than 0 values; expected '< 1' or '= 0' for none"


def test_a_set_of_more_values_than_hits_is_out_of_reach():
    assert check_reach(parse_expectation("distinct group = 0 in top 3"), Gain()) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1), ("-0.5", -0.5), ("1e3", 1000.0), ("1e999", None), ("9" * 500, None), ("true", None), ("", None)],
)
def test_numbers_are_read(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T12:00", "2026-01-31 12:00:00+00:00"),
        ("2026-01-31T12:00:00.250Z", "2026-01-31 12:00:00.250000+00:00"),
        ("2026-01-31 12:00:00-02:00", "2026-01-31 14:00:00+00:00"),
        ("0001-01-01T00:00+10:00", "None"),
        ("2026-13-01", "None"),
        ("2026", "None"),
    ],
)
def test_dates_are_read(text, shown):
    assert str(read_date(text)) == shown
