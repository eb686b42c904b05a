"""Expectations of the fields of hits, of one query and of each query of a suite."""

from dataclasses import replace

import pytest

from builders.gating import TODAY
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.gate.decide_answers import DOUBT_OF_SERVICE
from harness.gate.expectations import parse_expectation, parse_suite_expectation
from harness.gate.selection import list_read_fields
from harness.model.run import CheckedField, Engine, Failure, FailureKind, Hit, Ranking, Run, Status, TargetChecks
from harness.model.suite import HttpRequest, Query, RequestTemplate, Threshold, Waiver
from harness.report.sentences import format_figures, format_required, format_verdict_figure

DEPTH = 3


def ranking_of(*values, **fields):
    """A ranking of the documents a, b, …, each with *values* of fields; None where these are unknown."""
    hits = []
    for name, of_hit in zip("abcdefgh", values, strict=False):
        if of_hit is not None:
            of_hit = {field: value if isinstance(value, tuple) else (value,) for field, value in of_hit.items()}
        hits.append(Hit(name, values=of_hit))
    return Ranking(tuple(hits), **fields)


def expect(text, *values, checked=None, depth=DEPTH, **fields):
    """The verdict on one query with one expectation, whose hits have *values*."""
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    checks = None if checked is None else TargetChecks("shop", read_fields=tuple(checked))
    run = Run({"q": ranking_of(*values, **fields)}, Engine("fake"), "current", checks=checks)
    [verdict] = decide(make_suite(query, depth=depth), run, [], today=TODAY)
    assert verdict.blamed == (() if verdict.status is Status.PASSED else ("q",))
    assert verdict.counted == (0 if verdict.status.is_undecided else 1)
    return verdict


QUOTED = "; a value in quotes is compared as a text"
IN, OUT = {"in_stock": True}, {"in_stock": False}


@pytest.mark.parametrize(
    ("text", "values", "status", "reason", "figures"),
    [
        ("in_stock = true in top 2", [OUT, IN], Status.PASSED,
         "b at rank 2 has in_stock = true, required in the top 2", "rank 2; rank <= 2"),
        ("in_stock = true in top 1", [OUT, IN], Status.FAILED,
         "the first hit does not have in_stock = true: a (false)", "no rank; rank <= 1"),
        ("in_stock = true in top 2", [OUT, {}], Status.FAILED,
         "none of the first 2 hits has in_stock = true: a (false), b (no in_stock)", "no rank; rank <= 2"),
        ("in_stock = true in top 2", [], Status.FAILED,
         "there are no hits, required one with in_stock = true", "no rank; rank <= 2"),
        ("every hit in top 2 has in_stock = true", [IN, IN], Status.PASSED,
         "each of the first 2 hits has in_stock = true", "0 hits; 0 hits"),
        ("every hit in top 2 has in_stock = true", [IN, IN, OUT], Status.PASSED,
         "each of the first 2 hits has in_stock = true", "0 hits; 0 hits"),
        ("every hit in top 2 has in_stock = true", [IN], Status.PASSED,
         "the first hit has in_stock = true", "0 hits; 0 hits"),
        ("every hit in top 3 has in_stock = true", [IN, OUT, {}], Status.FAILED,
         "2 of the first 3 hits lack in_stock = true: b at rank 2 (false), c at rank 3 (no in_stock)",
         "2 hits; 0 hits"),
        ("every hit in top 3 has in_stock = true", [IN, OUT], Status.FAILED,
         "1 of the first 2 hits lacks in_stock = true: b at rank 2 (false)", "1 hit; 0 hits"),
        ("every hit in top 3 has in_stock = true", [], Status.FAILED,
         "there are no hits, required that every hit has in_stock = true", "0 hits; 0 hits"),
        ("every hit in top 3 has in_stock", [IN, {}], Status.FAILED,
         "1 of the first 2 hits lacks a value of in_stock: b at rank 2 (no in_stock)", "1 hit; 0 hits"),
        ("no hit in top 2 has in_stock = false", [IN, {}, OUT], Status.PASSED,
         "none of the first 2 hits has in_stock = false", "0 hits; 0 hits"),
        ("no hit in top 3 has in_stock = false", [IN, {}, OUT], Status.FAILED,
         "1 of the first 3 hits has in_stock = false: c at rank 3 (false)", "1 hit; 0 hits"),
        ("no hit in top 3 has in_stock = false", [OUT, OUT], Status.FAILED,
         "2 of the first 2 hits have in_stock = false: a at rank 1 (false), b at rank 2 (false)", "2 hits; 0 hits"),
        ("distinct g >= 2 in top 3", [{"g": "x"}, {"g": "y"}, {"g": "x"}], Status.PASSED,
         "2 distinct values of g in the first 3 hits, required >= 2", "2 values; 2 values"),
        ("distinct g >= 3 in top 3", [{"g": "x"}, {}, {"g": "x"}], Status.FAILED,
         "1 distinct value of g in the first 3 hits, required >= 3: c at rank 3 (x, as a), b has none",
         "1 value; 3 values"),
        ("distinct g <= 1 in top 3", [{"g": "x"}, {"g": ("y", "x")}], Status.FAILED,
         "2 distinct values of g in the first 2 hits, required <= 1: x, y", "2 values; 1 value"),
        ("distinct g = 0 in top 3", [], Status.PASSED,
         "0 distinct values of g in the first 0 hits, required = 0; no hit of the run has a value in the field 'g'",
         "0 values; 0 values"),
        ("no repeated g in top 3", [{"g": "x"}, {"g": "y"}, {}], Status.PASSED,
         "no two of the first 3 hits have the same g", "0 hits; 0 hits"),
        ("no repeated g in top 3", [{"g": ("x", "x")}, {}, {}], Status.PASSED,
         "no two of the first 3 hits have the same g", "0 hits; 0 hits"),
        ("no repeated g in top 2", [{"g": "x"}, {"g": "y"}, {"g": "x"}], Status.PASSED,
         "no two of the first 2 hits have the same g", "0 hits; 0 hits"),
        ("no repeated g in top 3", [{"g": ("x", "z")}, {"g": "y"}, {"g": ("y", "z")}], Status.FAILED,
         "1 of the first 3 hits repeats the g of an earlier one: c at rank 3 (y, as b)", "1 hit; 0 hits"),
    ],
)  # fmt: skip
def test_the_fields_of_the_first_hits_decide(text, values, status, reason, figures):
    verdict = expect(text, *values)
    assert (verdict.status, verdict.reason) == (status, reason)
    assert f"{format_verdict_figure(verdict)}; {format_required(verdict)}" == figures


@pytest.mark.parametrize(
    ("requirement", "value", "meets"),
    [
        ("f = Acme", "Acme", True),
        ("f = Acme", "acme", False),
        ("f = Acme", ("Nike", "Acme"), True),
        ("f = 42", 42, True),
        ("f = 42", 42.0, True),
        ("f = 42", "42", True),
        ("f = 42.0", "42", True),
        ("f = 42.0", "42.5", False),
        ("f = 9007199254740993", 9007199254740992, False),
        ("f = 0.3", 0.1 + 0.2, True),
        ("f = '42'", "42", True),
        ("f = '42'", 42, False),
        ("f = true", True, True),
        ("f = true", "true", True),
        ("f = true", "false", False),
        ("f = 'true'", True, False),
        ("f = 2026-01-31", "2026-01-31", True),
        ("f = 2026-01-31", "2026-01-31T23:59:59Z", True),
        ("f = 2026-01-31", "2026-02-01T00:30:00+01:00", True),
        ("f = '2026-01-31'", "2026-01-31T00:00:00Z", False),
        ("f = 2026-01-31T00:00Z", "2026-01-31", True),
        ("f in {Acme, 7}", "Acme", True),
        ("f in {Acme, 7}", 7, True),
        ("f in {Acme, 7}", 8, False),
        ("f <= 100", 100, True),
        ("f <= 100", 100.01, False),
        ("f <= 100", "99.5", True),
        ("f <= 100", (500, 50), True),
        ("f < 100", 100, False),
        ("f > 100", 100, False),
        ("f > 100", 101, True),
        ("f >= 100", 100, True),
        ("f in 10..100", 10, True),
        ("f in 10..100", 100, True),
        ("f in 10..100", 9.9, False),
        ("f in 10..100", (5, 500), False),
        ("f >= 2026-01-31", "2026-01-31T00:00:00Z", True),
        ("f > 2026-01-31", "2026-01-31T23:00:00Z", False),
        ("f <= 2026-01-31", "2026-01-31T23:00:00Z", True),
        ("f <= 2026-01-31T12:00Z", "2026-01-31T13:00:00Z", False),
        ("f >= 2026-01-31T00:00Z", "2026-01-31", True),
        ("f in 2026-01-01..2026-01-31", "2026-01-15", True),
    ],
)
def test_a_value_meets_a_requirement_or_not(requirement, value, meets):
    wanted = (Status.PASSED, Status.FAILED) if meets else (Status.FAILED, Status.PASSED)
    assert expect(f"{requirement} in top 1", {"f": value}).status is wanted[0]
    assert expect(f"every hit in top 1 has {requirement}", {"f": value}).status is wanted[0]
    assert expect(f"no hit in top 1 has {requirement}", {"f": value}).status is wanted[1]


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("f <= 100 in top 3", "cheap", "a at rank 1 has f = cheap, which cannot be compared with 100"),
        ("f <= 100 in top 3", True, "a at rank 1 has f = true, which cannot be compared with 100"),
        ("f >= 2026-01-31 in top 3", "soon", "a at rank 1 has f = soon, which cannot be compared with 2026-01-31"),
        ("f >= 2026-01-31 in top 3", 5, "a at rank 1 has f = 5, which cannot be compared with 2026-01-31"),
        ("f = 100 in top 3", "cheap", f"a at rank 1 has f = cheap, which cannot be compared with 100{QUOTED}"),
        ("f = 2026-01-31 in top 3", 5, f"a at rank 1 has f = 5, which cannot be compared with 2026-01-31{QUOTED}"),
    ],
)
def test_a_value_that_cannot_be_compared_is_an_error(text, value, reason):
    verdict = expect(text, {"f": value})
    assert (verdict.status, verdict.reason) == (Status.ERROR, f"cannot be decided: {reason}")
    verdict = expect(text, {"f": value}, checked=[CheckedField("f", ("keyword",))])
    assert verdict.reason == f"cannot be decided: {reason} (the field is mapped as keyword)"


@pytest.mark.parametrize(
    ("text", "values", "status", "reason"),
    [
        ("in_stock = true in top 4", [OUT, OUT, OUT], Status.INCONCLUSIVE,
         "cannot be decided: none of the first 3 hits has in_stock = true: a (false), b (false), c (false); other hits "
         "may follow the 3 hits requested, set `depth: 4`"),
        ("in_stock = true in top 4", [OUT, OUT, IN], Status.PASSED, None),
        ("every hit in top 4 has in_stock = true", [IN, IN, IN], Status.INCONCLUSIVE, None),
        ("every hit in top 4 has in_stock = true", [IN, IN, OUT], Status.FAILED, None),
        ("no hit in top 4 has in_stock = true", [OUT, OUT, OUT], Status.INCONCLUSIVE, None),
        ("no hit in top 4 has in_stock = true", [OUT, OUT, IN], Status.FAILED, None),
        ("distinct in_stock >= 2 in top 4", [IN, OUT, OUT], Status.PASSED, None),
        ("distinct in_stock > 1 in top 4", [IN, OUT, OUT], Status.PASSED, None),
        ("distinct in_stock >= 2 in top 4", [IN, IN, IN], Status.INCONCLUSIVE, None),
        ("distinct in_stock <= 1 in top 4", [IN, OUT, OUT], Status.FAILED, None),
        ("distinct in_stock <= 1 in top 4", [IN, IN, IN], Status.INCONCLUSIVE, None),
        ("distinct in_stock < 2 in top 4", [IN, OUT, OUT], Status.FAILED, None),
        ("distinct in_stock = 1 in top 4", [IN, OUT, OUT], Status.FAILED, None),
        ("distinct in_stock = 1 in top 4", [IN, IN, IN], Status.INCONCLUSIVE, None),
        ("no repeated in_stock in top 4", [IN, OUT, {}], Status.INCONCLUSIVE, None),
        ("no repeated in_stock in top 4", [IN, OUT, IN], Status.FAILED, None),
    ],
)  # fmt: skip
def test_hits_that_may_follow_leave_a_verdict_open_unless_they_cannot_change_it(text, values, status, reason):
    verdict = expect(text, *values)
    assert verdict.status is status
    assert reason in (None, verdict.reason)
    whole = expect(text, *values, total=3)
    assert not whole.status.is_undecided, "all matches are there"


def test_a_service_that_returns_fewer_hits_than_requested_leaves_it_open():
    text = "no hit in top 3 has in_stock = false"
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    http = HttpRequest("GET", "/search", "$.ids", fields={"in_stock": "$.in_stock"})
    suite = replace(make_suite(query, depth=DEPTH), requests={"current": RequestTemplate("current", None, http=http)})
    run = Run({"q": ranking_of(IN, IN)}, Engine("http"), "current")
    [verdict] = decide(suite, run, [], today=TODAY)
    assert (verdict.status, verdict.reason) == (
        Status.INCONCLUSIVE,
        "cannot be decided: none of the first 2 hits has in_stock = false; other hits may follow the 2 hits returned, "
        f"where 3 were requested; {DOUBT_OF_SERVICE}",
    )


def test_unknown_values_are_an_error():
    verdict = expect("no hit in top 2 has in_stock = false", IN, None)
    assert (verdict.status, verdict.reason) == (
        Status.ERROR,
        "cannot be decided: the values of 'in_stock' are unknown for b",
    )
    assert expect("no hit in top 1 has in_stock = false", IN, None).status is Status.PASSED, "rank 2 is not in the top"


def test_a_query_without_an_answer_is_an_error():
    text = "in_stock = true in top 3"
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    for responses in ({}, {"q": Failure(FailureKind.TIMEOUT, "slow")}):
        [verdict] = decide(make_suite(query), Run(responses, Engine("fake"), "current"), [], today=TODAY)
        assert verdict.status is Status.ERROR


# ------------------------------------------------------------------------------------------------ mappings


@pytest.mark.parametrize(
    ("text", "types", "reason"),
    [
        ("f = Acme in top 3", ("long",), "the field 'f' is mapped as long, which is never Acme; expected a number "
         "without quotes"),
        ("f in {1, b} in top 3", ("double", "long"), "the field 'f' is mapped as double or long, which is never b; "
         "expected a number without quotes"),
        ("f = '42' in top 3", ("integer",), "the field 'f' is mapped as integer, which is never \"42\"; expected a "
         "number without quotes"),
        ("f = yes in top 3", ("boolean",), "the field 'f' is mapped as boolean, which is never yes; expected true or "
         "false, without quotes"),
        ("f <= 3 in top 3", ("boolean",), "the field 'f' is mapped as boolean, which is never 3; expected true or "
         "false, without quotes"),
        ("f = soon in top 3", ("date",), "the field 'f' is mapped as date, which is never soon; expected a date or a "
         "number, without quotes"),
        ("f >= 2026-01-31 in top 3", ("float",), "the field 'f' is mapped as float, which is never 2026-01-31; "
         "expected a number without quotes"),
        ("f = 1 in top 3", ("nested",), "the field 'f' is mapped as nested, which has no value; name a field in it"),
        ("no repeated f in top 3", ("object",),
         "the field 'f' is mapped as object, which has no value; name a field in it"),
        ("no hit in top 3 has f = red", ("flattened",),
         "the field 'f' is mapped as flattened, which has no value; name a field in it"),
        ("no hit in top 3 has f = 3", ("integer_range",),
         "the field 'f' is mapped as integer_range, whose values cannot be compared"),
        ("no hit in top 3 has f >= 2026-01-05", ("date_range",),
         "the field 'f' is mapped as date_range, whose values cannot be compared"),
        ("no repeated f in top 3", (), "no searched index has a field 'f'; did you mean 'g'?"),
        ("no hit in top 3 has f = 1", (), "no searched index has a field 'f'; did you mean 'g'?"),
    ],
)  # fmt: skip
def test_what_no_document_can_have_by_the_mapping_is_an_error(text, types, reason):
    checked = CheckedField("f", types, None if types else "g")
    verdict = expect(text, {}, checked=[CheckedField("e", ("long",)), checked])
    assert (verdict.status, verdict.reason) == (Status.ERROR, f"cannot be decided: {reason}")


@pytest.mark.parametrize(
    ("text", "types", "value"),
    [
        ("f = 42 in top 3", ("long",), 42),
        ("f = true in top 3", ("boolean",), True),
        ("f = 2026-01-31 in top 3", ("date",), "2026-01-31"),
        ("f >= 5 in top 3", ("date",), 6),
        ("f = Acme in top 3", ("keyword", "long"), "Acme"),
        ("f = Acme in top 3", (), "Acme"),
        ("f = Acme in top 3", ("object",), "Acme"),
    ],
)
def test_what_a_hit_has_counts_whatever_the_mapping_says(text, types, value):
    assert expect(text, {"f": value}, checked=[CheckedField("f", types)]).status is Status.PASSED


def test_a_pass_on_a_field_that_nothing_shows_has_a_caveat():
    text = "no hit in top 3 has gone = true"
    verdict = expect(text, IN)
    assert (verdict.status, verdict.caveat) == (Status.PASSED, "no hit of the run has a value in the field 'gone'")
    assert expect(text, IN, checked=[CheckedField("gone", ("boolean",))]).caveat == ""
    assert expect("no hit in top 3 has in_stock = false", IN).caveat == ""


# ------------------------------------------------------------------------------------------------ kinds

DAY, NOON = 1775174400000, 1775217600000
"""2026-04-03 in milliseconds, and the noon of that day."""
TYPES = {"number": "scaled_float", "date": "date", "nanos": "date_nanos", "truth": "boolean", "text": "keyword"}


def decide_field(requirement, value, types=()):
    """The statuses of a requirement on one hit, by quantifier."""
    checked = [CheckedField("f", types)] if types else None
    texts = (f"{requirement} in top 1", f"every hit in top 1 has {requirement}", f"no hit in top 1 has {requirement}")
    return [expect(text, {"f": value}, checked=checked).status for text in texts]


@pytest.mark.parametrize(
    ("types", "value", "wanted", "order"),
    [
        # Numbers, also those that a document has as texts.
        (("double",), "12.50", "12.5", 0),
        (("double",), "1.25e1", "12.5", 0),
        (("long",), "+7", "7", 0),
        (("half_float", "integer"), "7.25", "7", 1),
        (("unsigned_long",), "18446744073709551615", "18446744073709551614", 1),
        (("long",), "9" * 320, "0.5", 1),
        (("double",), 1e-300, f"-1{'0' * 310}", 1),
        (("double",), 1e-11, "0", 1),
        (("double",), -2.5e-10, "0", -1),
        (("double",), 3e-10, "2e-10", 1),
        (("double",), 0.7 + 0.1, "0.8", 0),
        (("long",), 9007199254740995, "9007199254740994.0", 1),
        ((), "12.50", "12.5", 0),
        ((), "-3", "12", -1),
        # Dates, in the forms that a mapping may name.
        (("date",), DAY, "2026-04-03", 0),
        (("date",), NOON, "2026-04-03", 0),
        (("date",), str(NOON), "2026-04-03", 0),
        (("date",), NOON, "2026-04-03T12:00Z", 0),
        (("date",), NOON, "2026-04-03T11:59Z", 1),
        (("date",), DAY - 1, "2026-04-03", -1),
        (("date",), "2026/04/03", "2026-04-03", 0),
        (("date",), "2026/04/03 23:10:00", "2026-04-03", 0),
        (("date",), "2026/04/03 00:10:00 +0200", "2026-04-03", -1),
        (("date",), "2026-04-03 10:20:30", "2026-04-03", 0),
        (("date",), "20260403", "2026-04-03", 0),
        (("date",), 20260403, "2026-04-03", 0),
        (("date",), 20260403, "2026-04-02", 1),
        (("date",), "20260403T101500.000Z", "2026-04-03T10:15Z", 0),
        (("date",), "2026-04", "2026-04-01", 0),
        (("date",), "2027", "2026-12-31", 1),
        (("date", "date_nanos"), "2026-04-03T10:15:00.123456789Z", "2026-04-03", 0),
        (("date_nanos",), "2026-04-03T10:15:00.5000007Z", "2026-04-03T10:15:00.50000069Z", 1),
        (("date_nanos",), "2026-04-03T10:15:00.123456789+02:00", "2026-04-03T08:15:00.123456790Z", -1),
        (("date_nanos",), "2026-04-03T10:15:00.123456780Z", "2026-04-03T10:15:00.12345678Z", 0),
        (("date",), "2026-04-03", str(DAY), 0),
        (("date",), "202604031015", "202604031014", 1),
        (("date",), NOON, str(DAY), 1),
        (("date",), 1775217600, "1775217600", 0),  # in seconds, as the suite has it
        (("date",), 1775217600, "1775217601", -1),
        ((), "2026/04/03", "2026-04-03", 0),
        ((), "20260403", "2026-04-03", 0),
        ((), "2026-04-03T23:30:00-02:00", "2026-04-03", 1),
    ],
)
def test_all_operators_compare_alike(types, value, wanted, order):
    relations = {"=": order == 0, "<=": order <= 0, ">=": order >= 0, "<": order < 0, ">": order > 0}
    forms = {f"f {operator} {wanted}": meets for operator, meets in relations.items()}
    forms[f"f in {{{wanted}}}"] = order == 0
    forms[f"f in {wanted}..{wanted}"] = order == 0
    for requirement, meets in forms.items():
        yes, no = (Status.PASSED, Status.FAILED) if meets else (Status.FAILED, Status.PASSED)
        assert decide_field(requirement, value, types) == [yes, yes, no], requirement


@pytest.mark.parametrize(
    ("types", "value", "wanted"),
    [
        (("double",), "12,50", "12.5"),
        (("long",), "n/a", "3"),
        (("long",), True, "1"),
        (("date",), "03.04.2026", "2026-04-03"),
        (("date",), "Apr 3, 2026", "2026-04-03"),
        (("date",), 1775174400, "2026-04-03"),
        (("date",), "1775174400", "2026-04-03"),
        (("date",), 20261399, "2026-04-03"),
        (("date",), "20260403101500", "2026-04-03"),
        (("date",), "202604031015", "2026-04-03"),  # no milliseconds of 1976
        (("date",), 199912312359, "2026-04-03"),
        (("date",), False, "2026-04-03"),
        (("date",), "2026-04-03", "1775174400"),
        (("keyword",), "about 3", "3"),
        (("keyword",), "03.04.2026", "2026-04-03"),
        ((), "12,50", "12.5"),
        ((), "03.04.2026", "2026-04-03"),
        ((), DAY, "2026-04-03"),
        ((), 20260403, "2026-04-03"),
        ((), str(DAY), "2026-04-03"),
        ((), "2026-04-03", "3"),
        ((), True, "1"),
        (("date", "keyword"), DAY, "2026-04-03"),
    ],
)
def test_what_cannot_be_compared_is_neither_equal_nor_different(types, value, wanted):
    for requirement in (f"f = {wanted}", f"f in {{{wanted}}}", f"f <= {wanted}", f"f > {wanted}"):
        assert decide_field(requirement, value, types) == [Status.ERROR] * 3, requirement
    checked = [CheckedField("f", types)] if types else None
    reason = expect(f"f = {wanted} in top 1", {"f": value}, checked=checked).reason
    shown = str(value).lower() if isinstance(value, bool) else value
    assert f"a at rank 1 has f = {shown}, which cannot be compared with {wanted}" in reason


@pytest.mark.parametrize(
    ("types", "requirement", "value", "status"),
    [
        # Truths.
        (("boolean",), "f = true", "true", Status.PASSED),
        (("boolean",), "f = false", "", Status.PASSED),
        (("boolean",), "f = true", "yes", Status.ERROR),
        ((), "f = true", "yes", Status.ERROR),
        ((), "f = true", 1, Status.ERROR),
        ((), "f = True", True, Status.ERROR),
        (("keyword",), "f = true", "yes", Status.FAILED),
        # Texts.
        (("keyword",), "f = 0012", "0012", Status.PASSED),
        (("keyword",), "f = 12", "0012", Status.ERROR),
        (("keyword",), "f = '12'", "0012", Status.FAILED),
        (("keyword",), "f = 13", "0012", Status.FAILED),
        (("keyword",), "f = '12'", 12, Status.PASSED),
        (("keyword",), "f = 12", 12, Status.PASSED),
        (("keyword",), "f = '2026-04-03'", "2026-04-03T00:00:00Z", Status.FAILED),
        (("keyword",), "f = 2026-04-03", "2026-04-03T00:00:00Z", Status.ERROR),
        (("keyword",), "f = Acme", "Nike", Status.FAILED),
        (("keyword",), "f in {Acme, 7}", "Nike", Status.FAILED),
        ((), "f in {Acme, 7}", "Studio 54", Status.FAILED),
        ((), "f = '42'", "S", Status.FAILED),
        # Several values: any one decides, and each must be known.
        (("double",), "f = 9", ("n/a", "9.0"), Status.ERROR),
        (("double",), "f = 9", ("8", "9.0"), Status.PASSED),
        (("date",), "f = 2026-04-03", ("2026/01/01", DAY), Status.PASSED),
    ],
)
def test_kinds_of_values(types, requirement, value, status):
    assert decide_field(requirement, value, types)[:2] == [status, status]


def test_a_field_that_is_null_has_no_value_of_any_kind():
    for types in [*((name,) for name in TYPES.values()), ()]:
        wanted = {"keyword": "a", "boolean": "true", "date": "2026-04-03"}.get(types[0] if types else "", "3")
        checked = [CheckedField("f", types)] if types else None
        assert expect(f"no hit in top 1 has f = {wanted}", {"f": ()}, checked=checked).status is Status.PASSED


@pytest.mark.parametrize(
    ("types", "values", "distinct"),
    [
        (("double",), ("12.50", 12.5, "1.25e1"), 1),
        (("date",), (NOON, "2026-04-03T12:00:00Z", "2026/04/03 12:00:00"), 1),
        (("date",), (DAY, "2026-04-03", 20260403), 1),
        (("date_nanos",), ("2026-04-03T10:15:00.123456781Z", "2026-04-03T10:15:00.123456782Z"), 2),
        (("boolean",), ("true", True, False), 2),
        (("keyword",), ("12", 12, "12.0"), 2),
        ((), ("12", 12, True), 3),
    ],
)
def test_values_that_are_equal_by_the_mapping_are_one(types, values, distinct):
    hits = [{"f": value} for value in values]
    checked = [CheckedField("f", types)] if types else None
    assert expect("distinct f >= 1 in top 3", *hits, checked=checked).observed == distinct
    repeated = expect("no repeated f in top 3", *hits, checked=checked)
    assert repeated.status is (Status.PASSED if distinct == len(values) else Status.FAILED)


# ------------------------------------------------------------------------------------------------ suites


def decide_suite(text, responses, **queries):
    """The verdict on one expectation of a suite; *queries* have more fields by query."""
    condition, tag = parse_suite_expectation(text)
    all_queries = [Query(name, name, **queries.get(name, {})) for name in responses]
    suite = make_suite(*all_queries, thresholds=[Threshold(text, condition, tag)], depth=DEPTH)
    present = {name: response for name, response in responses.items() if response is not None}
    [verdict] = decide(suite, Run(present, Engine("fake"), "current"), [], today=TODAY)
    return verdict


EVERY = "every hit in top 2 has in_stock = true"


def test_a_suite_expects_it_of_each_query():
    verdict = decide_suite(EVERY, {"p": ranking_of(IN), "q": ranking_of(IN, IN)})
    assert (verdict.status, verdict.reason) == (Status.PASSED, "met by each of 2 queries")
    assert (verdict.observed, verdict.required, verdict.counted) == (0, 0, 2)
    verdict = decide_suite(EVERY, {"p": ranking_of(IN), "q": ranking_of(OUT, IN), "r": ranking_of(IN, OUT)})
    assert (verdict.status, verdict.blamed, verdict.observed, verdict.counted) == (Status.FAILED, ("q", "r"), 2, 3)
    assert verdict.reason == (
        "not met by 2 of 3 queries: q (1 of the first 2 hits lacks in_stock = true: a at rank 1 (false)), "
        "r (1 of the first 2 hits lacks in_stock = true: b at rank 2 (false))"
    )
    assert format_figures(verdict) == f"2 queries > 0 queries: {EVERY}"


def test_a_suite_expects_it_of_each_query_of_a_tag():
    responses = {"p": ranking_of(OUT), "q": ranking_of(IN)}
    verdict = decide_suite(f"{EVERY} for head", responses, q={"tags": ("head",)})
    assert (verdict.status, verdict.reason, verdict.tag) == (Status.PASSED, "met by the query", "head")
    verdict = decide_suite(f"{EVERY} for head", responses, p={"tags": ("head",)})
    assert verdict.blamed == ("p",)


def test_a_suite_expects_hits_of_each_query():
    verdict = decide_suite("hits >= 1", {"p": Ranking(total=0), "q": ranking_of(IN, total=1)})
    assert (verdict.status, verdict.reason) == (
        Status.FAILED,
        "not met by 1 of 2 queries: p (0 hits, required >= 1)",
    )


def test_a_query_without_an_answer_makes_the_expectation_of_a_suite_an_error():
    failure = Failure(FailureKind.TIMEOUT, "slow")
    verdict = decide_suite(EVERY, {"p": ranking_of(OUT), "q": failure, "r": ranking_of(IN, total=1)})
    assert (verdict.status, verdict.blamed, verdict.observed) == (Status.ERROR, ("q",), None)
    assert verdict.reason == "cannot be decided for 1 of 3 queries: q (timeout: slow)"


def test_a_failure_counts_before_what_is_open():
    few = "every hit in top 4 has in_stock = true"
    open_ranking = ranking_of(IN, IN, IN)
    assert decide_suite(few, {"p": open_ranking, "q": ranking_of(OUT)}).status is Status.FAILED
    verdict = decide_suite(few, {"p": open_ranking, "q": ranking_of(IN)})
    assert (verdict.status, verdict.blamed) == (Status.INCONCLUSIVE, ("p",))


def test_skipped_queries_are_left_out_and_expected_failures_excused():
    responses = {"p": ranking_of(OUT), "q": ranking_of(IN)}
    verdict = decide_suite(EVERY, responses, p={"skip": Waiver("broken")})
    assert (verdict.status, verdict.left_out) == (Status.PASSED, 1)
    verdict = decide_suite(EVERY, responses, p={"skip": Waiver("broken")}, q={"skip": Waiver("broken")})
    assert (verdict.status, verdict.reason) == (
        Status.FAILED,
        "has nothing to decide: every query is left out (2 skipped)",
    )
    verdict = decide_suite(EVERY, responses, p={"xfail": Waiver("restock")})
    assert verdict.status is Status.XFAILED


def test_the_caveat_of_a_field_is_that_of_the_suite():
    verdict = decide_suite("no hit in top 2 has gone = true", {"p": ranking_of(IN), "q": ranking_of(OUT)})
    assert verdict.caveat == "no hit of the run has a value in the field 'gone'"
    assert verdict.reason == f"met by each of 2 queries; {verdict.caveat}"


def test_repeats_that_differ_leave_it_undecided():
    from harness.model.run import Repeat

    text = "in_stock = true in top 1"
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    run = Run({"q": ranking_of(IN)}, Engine("fake"), "current", repeats=(Repeat({"q": ranking_of(OUT)}),))
    [verdict] = decide(make_suite(query), run, [], today=TODAY, repeated=[[]])
    assert verdict.status is Status.INCONCLUSIVE
    assert "the decision is not stable over 2 repeats: passed in 1, failed in 1" in verdict.reason


def test_fields_are_read_for_the_requests_that_an_expectation_is_for():
    def line(text, **fields):
        return Threshold(text, parse_expectation(text), **fields)

    query = Query("q", "q", thresholds=(line("brand = Acme in top 3"), line("sku in top 3")))
    suite = make_suite(
        query,
        thresholds=[
            line("no repeated group in top 3"),
            line("distinct group >= 2 in top 3"),
            line("price < 9 in top 3", requests=("next",)),
        ],
    )
    suite = replace(suite, requests={**suite.requests, "next": RequestTemplate("next", {})})
    assert list_read_fields(suite, "current") == ("group", "brand")
    assert list_read_fields(suite, "next") == ("group", "price", "brand")
