import math

import pytest

from harness.model.run import Status, Unit, Verdict
from harness.model.suite import Operator, Waiver
from harness.report.safe_text import printable
from harness.report.sentences import (
    format_figures,
    format_required,
    format_score,
    format_span,
    format_value,
    format_verdict_figure,
)


def verdict(observed, required, measure="nDCG@10"):
    return Verdict("id", "text", Status.FAILED, "", observed, required, measure)


@pytest.mark.parametrize(
    ("observed", "required", "text"),
    [
        (0.5, 0.8, "0.5000"),
        (0.79996, 0.8, "0.79996"),
        (0.7999999, 0.8, "0.7999999"),
        (0.8, 0.8, "0.8000"),
        (None, 0.8, "–"),
        (math.inf, 0.8, "inf"),
        (math.nextafter(0.1, 0), 0.1, "0.09999999999999999"),
    ],
)
def test_an_observed_number_never_looks_like_the_required_one_unless_it_is(observed, required, text):
    assert format_verdict_figure(verdict(observed, required)) == text


def test_a_whole_score_has_decimals():
    assert format_verdict_figure(verdict(1.0, 3)) == "1.0000"


@pytest.mark.parametrize(
    ("observed", "required", "texts"),
    [
        (212.0, 2000.0, ("212 ms", "2000 ms")),
        (None, 200, ("–", "200 ms")),
        (10.5, 10.0, ("10.5 ms", "10 ms")),
        (2000.0001, 2000, ("2000.0001 ms", "2000 ms")),
    ],
)
def test_a_figure_with_a_unit_names_it(observed, required, texts):
    latency = Verdict("id", "text", Status.FAILED, "", observed, required, unit=Unit.MILLISECONDS)
    assert (format_verdict_figure(latency), format_required(latency)) == texts


@pytest.mark.parametrize(
    ("observed", "required", "texts"),
    [
        (0.662, 0.8, ("66.2%", "80%")),
        (2 / 3, 0.67, ("66.67%", "67%")),
        (0.6699999, 0.67, ("66.99999%", "67%")),
        (1.0, 1.0, ("100%", "100%")),
        (0.0, 0.5, ("0%", "50%")),
        (None, 0.5, ("–", "50%")),
    ],
)
def test_a_share_is_in_per_cent_and_never_looks_like_the_required_one_unless_it_is(observed, required, texts):
    share = Verdict("id", "text", Status.FAILED, "", observed, required, unit=Unit.SHARE)
    assert (format_verdict_figure(share), format_required(share)) == texts


@pytest.mark.parametrize(
    ("unit", "observed", "text"),
    [
        (Unit.DROP, 0.0038, "drop 0.0038"),
        (Unit.DROP, 0.0, "drop 0.0000"),
        (Unit.DROP, -0.0038, "rise 0.0038"),
        (Unit.DROP, -1.0, "rise 1.0000"),
        (Unit.DROP, -1e-17, "drop 0.0000"),
        (Unit.SHARE, 0.5209, "52.09%"),
        (Unit.SHARE, -0.0038, "rise 0.38%"),
        (Unit.SHARE, -1e-17, "0%"),
    ],
)
def test_a_drop_below_0_is_a_rise(unit, observed, text):
    dropped = Verdict("id", "drop nDCG@10 <= …", Status.PASSED, "", observed, 0.05, measure="nDCG@10", unit=unit)
    assert format_verdict_figure(dropped) == text
    spread = "drop 0.0200" if unit is Unit.DROP else "2%"
    assert format_span(dropped, (observed, 0.02)) == f"{text} to {spread}"


@pytest.mark.parametrize(
    ("unit", "texts"), [(Unit.HITS, ("1 hit", "3 hits")), (Unit.QUERIES, ("1 query", "3 queries"))]
)
def test_one_of_a_kind_is_no_many(unit, texts):
    counted = Verdict("id", "text", Status.FAILED, "", 1, 3, unit=unit)
    assert (format_verdict_figure(counted), format_required(counted)) == texts


def test_a_number_of_queries_is_no_score_though_it_is_what_was_required():
    worse = Verdict("id", "worse RR by 0 <= 1 query", Status.PASSED, "", 1.0, 1.0, measure="RR", unit=Unit.QUERIES)
    assert (format_verdict_figure(worse), format_required(worse)) == ("1 query", "1 query")


def test_a_score_has_no_unit():
    assert format_required(verdict(0.5, 0.8)) == "0.8"


@pytest.mark.parametrize(("value", "text"), [(-0.00001, "0.0000"), (None, "–"), (math.nan, "nan"), (0.12345, "0.1235")])
def test_a_score_has_four_decimals(value, text):
    assert format_score(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (2.5, "2.5"), (1073741823.0, "1073741823"), (1 / 3, "0.333333"), (-1.0, "-1"), (None, "–")],
)
def test_a_grade_has_the_decimals_it_needs(value, text):
    assert format_value(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 走るための赤い靴 ½ é", "plain 走るための赤い靴 ½ é"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202eevil", r"\u202eevil"),
        ("\x9b31m", r"\x9b31m"),
        ("line\u2028end", r"line\u2028end"),
        ("\ud800", r"\ud800"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_what_cannot_be_read_is_written_as_its_escape(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"observed": 0.4758, "required": 0.8, "operator": Operator.AT_LEAST}, "0.4758 < 0.8: T"),
        ({"observed": 0.79996, "required": 0.8, "operator": Operator.AT_LEAST}, "0.79996 < 0.8: T"),
        ({"observed": 0.5, "required": 0.5, "operator": Operator.ABOVE}, "0.5000 <= 0.5: T"),
        ({"observed": 0.4, "required": 0.02, "operator": Operator.AT_MOST}, "0.4000 > 0.02: T"),
        ({"observed": 0.9, "required": 1, "operator": Operator.EQUAL}, "0.9000 != 1: T"),
        ({"observed": 0.662, "required": 0.8, "operator": Operator.AT_LEAST, "unit": Unit.SHARE}, "66.2% < 80%: T"),
        ({"observed": 6, "required": 3, "operator": Operator.AT_MOST, "unit": Unit.RANK}, "rank 6: T"),
        ({"required": 3, "operator": Operator.AT_MOST, "unit": Unit.RANK, "counted": 1}, "no rank: T"),
        ({"observed": 0, "required": 1, "operator": Operator.AT_LEAST, "unit": Unit.HITS}, "0 hits: T"),
        ({"required": 0.8, "operator": Operator.AT_LEAST}, ""),
        ({"observed": 0.4, "required": 0.8, "operator": Operator.AT_LEAST, "status": Status.ERROR}, ""),
        ({"observed": 0.9, "required": 0.8, "operator": Operator.AT_LEAST, "status": Status.PASSED}, ""),
        (
            {"observed": 0.9, "required": 0.8, "operator": Operator.AT_LEAST, "waiver": Waiver("waits")},
            "unexpected pass: T",
        ),
    ],
)
def test_the_figures_of_what_failed_come_first(fields, text):
    verdict = Verdict(**{"id": "id", "threshold": "T", "status": Status.FAILED, "reason": "", **fields})
    assert format_figures(verdict) == text
