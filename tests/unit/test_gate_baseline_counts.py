"""Thresholds on how many queries fell, and on whether chance explains a drop; and warnings in place of failures."""

import pytest

pytest.importorskip("numpy")

import importlib.util
import re
from dataclasses import replace

import harness.gate.decide_drops
from builders.gating import TODAY, empty_run, queries_of, reference_of, scores_of, threshold
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.model.suite import Waiver
from harness.statistics.power import detectable_by_sign_flip
from harness.statistics.tests import sign_flip
from harness.words import count


def verdict_on(text, before, after, **fields):
    """One threshold; *before* and *after* are scores of its measure, a query each."""
    gated = threshold(text, **fields)
    measure = gated.condition.measure.text
    names = [f"q{place:02}" for place in range(len(before))]
    first, second = (dict(zip(names, values, strict=True)) for values in (before, after))
    reference = reference_of(first, measure)
    [verdict] = decide(
        make_suite(*queries_of(names), thresholds=[gated]),
        empty_run(names),
        scores_of(second, measure),
        today=TODAY,
        reference=reference,
    )
    return verdict


# ------------------------------------------------------------------------------------------------ how many


BEFORE = [0.5] * 20
AFTER = [0.2, 0.3, 0.4, 0.39] + [0.9] * 16
"""Three queries fell by more than 0.1, one by 0.1 itself."""


@pytest.mark.parametrize(
    ("allowed", "status"),
    [("3 queries", Status.PASSED), ("2 queries", Status.FAILED), ("15%", Status.PASSED), ("14.9%", Status.FAILED)],
)
def test_so_many_queries_may_be_worse(allowed, status):
    verdict = verdict_on(f"worse P@10 by 0.1 <= {allowed}", BEFORE, AFTER)
    assert verdict.status is status
    assert verdict.blamed == (() if status is Status.PASSED else ("q00", "q01", "q03"))
    assert (verdict.observed, verdict.unit) == ((0.15, "share") if "%" in allowed else (3, "queries"))


def test_the_reason_counts_and_names_the_worst():
    verdict = verdict_on("worse P@10 by 0.1 <= 2 queries", BEFORE, AFTER)
    assert verdict.reason == (
        "P@10 fell by more than 0.1 for 3 of 20 queries, allowed 2; "
        "fell most: q00 0.5000 -> 0.2000, q01 0.5000 -> 0.3000, q03 0.5000 -> 0.3900"
    )
    share = verdict_on("worse P@10 by 0.1 <= 10%", BEFORE, AFTER)
    assert share.reason.startswith("P@10 fell by more than 0.1 for 3 of 20 queries (15.00%), allowed 10%; fell most: ")


def test_a_share_counts_decimally():
    before, after = [1.0] * 100, [0.0] * 7 + [1.0] * 93
    assert verdict_on("worse P@1 by 0.5 <= 7%", before, after).status is Status.PASSED


def test_by_nothing_counts_every_fall():
    assert verdict_on("worse P@10 by 0 <= 0 queries", [0.5], [0.5]).status is Status.PASSED
    assert verdict_on("worse P@10 by 0 <= 0 queries", [0.5], [0.49]).status is Status.FAILED


@pytest.mark.parametrize("text", ["worse P@10 by 1 <= 100%", "drop P@10 is not significant at 5%"])
def test_a_query_without_an_answer_is_an_error_however_much_is_allowed(text):
    assert verdict_on(text, [0.5] * 6, [Outcome.ERROR] + [0.5] * 5).status is Status.ERROR


# ------------------------------------------------------------------------------------------------ chance


def test_a_fall_of_nearly_all_is_more_than_chance():
    before = [0.8] * 10
    after = [0.5, 0.6, 0.7, 0.7, 0.6, 0.5, 0.7, 0.6, 0.8, 0.85]
    verdict = verdict_on("drop P@10 is not significant at 5%", before, after)
    expected = sign_flip([now - was for was, now in zip(before, after, strict=True)], alternative="less").p_value
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(expected)
    assert expected <= 0.05 == verdict.required
    assert verdict.reason.startswith(
        "the drop of mean P@10, from 0.8000 to 0.6550, is significant at 5%: "
        f"p is {expected:.4f} (paired sign-flip test, one-sided, 10 queries); fell most: q00 0.8000 -> 0.5000, "
    )
    assert verdict.blamed[0] == "q00"
    assert "q09" not in verdict.blamed


NOT_SIGNIFICANT = "drop P@10 is not significant at 5%"


def test_a_fall_that_chance_explains_passes_and_says_what_could_have_been_found():
    before = [0.5] * 10
    after = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.2, 0.7, 0.4, 0.5]
    verdict = verdict_on(NOT_SIGNIFICANT, before, after)
    differences = [now - was for was, now in zip(before, after, strict=True)]
    smallest = detectable_by_sign_flip(differences, alternative="less").difference
    assert verdict.status is Status.PASSED
    assert (verdict.observed, verdict.required) == (sign_flip(differences, alternative="less").p_value, 0.05)
    assert verdict.reason.endswith(f"; {verdict.caveat}")
    assert re.fullmatch(r"smallest detectable drop 0\.\d\d \(80 % power on average\)", verdict.caveat)
    assert smallest <= float(verdict.caveat.split()[3]) < smallest + 0.01


@pytest.mark.parametrize("after", [0.5, 0.6])
def test_where_nothing_fell_there_is_nothing_to_tell(after):
    verdict = verdict_on(NOT_SIGNIFICANT, [0.5] * 10, [after] + [0.5] * 9)
    assert verdict.status is Status.PASSED
    assert verdict.reason.endswith("(paired sign-flip test, one-sided, 10 queries)")
    assert verdict.caveat == ""


def test_a_rise_is_never_a_drop():
    assert verdict_on(NOT_SIGNIFICANT, [0.1] * 10, [0.9] * 10).observed == 1.0


@pytest.mark.parametrize("queries", [1, 4, 5, 30])
@pytest.mark.parametrize("after", [0.5, 0.6])
def test_what_did_not_fall_passes_however_few_the_queries(queries, after):
    verdict = verdict_on(NOT_SIGNIFICANT, [0.5] * queries, [after] + [0.5] * (queries - 1))
    assert (verdict.status, verdict.caveat, verdict.blamed) == (Status.PASSED, "", ())
    assert verdict.observed == 1.0


@pytest.mark.parametrize("queries", [1, 2, 4])
@pytest.mark.parametrize("after", [0.49, 0.0])
def test_a_fall_over_so_few_queries_that_none_could_be_found_fails(queries, after):
    verdict = verdict_on(NOT_SIGNIFICANT, [0.5] * queries, [after] + [0.5] * (queries - 1))
    assert (verdict.status, verdict.blamed, verdict.required) == (Status.FAILED, ("q00",), None)
    assert verdict.observed == pytest.approx((0.5 - after) / queries)
    assert verdict.reason.endswith(
        f" cannot be tested at 5%: 1 of {count(queries, 'query')} changed, and p cannot be below 0.5, so no drop is "
        "detectable: compare more queries, or use `drop P@10 <= …`"
    )


def test_a_fall_of_one_query_of_many_passes_with_what_could_have_been_found():
    verdict = verdict_on(NOT_SIGNIFICANT, [0.5] * 225, [0.45] + [0.5] * 224)
    assert verdict.status is Status.PASSED
    figure = (
        r"smallest detectable drop 0\.008\d \(80 % power on average\) if all 225 queries changed \(rough: only 1 did\)"
    )
    assert re.fullmatch(figure, verdict.caveat)
    assert verdict.reason == (
        "the drop of mean P@10, from 0.5000 to 0.4998, cannot be tested at 5%: 1 of 225 queries changed, and p cannot "
        f"be below 0.5; {verdict.caveat}"
    )
    assert verdict.observed == pytest.approx(0.05 / 225)
    assert verdict.required == pytest.approx(0.0083, abs=0.0001)


def test_a_fall_of_four_queries_of_five_from_one_to_nothing_fails():
    """P(p <= 5 %) is 0.8 from 0.765 on: 1.711 deviations of 0.2 ** 0.5."""
    verdict = verdict_on(NOT_SIGNIFICANT, [1.0] * 5, [0.0] * 4 + [1.0])
    assert (verdict.status, verdict.caveat) == (Status.FAILED, "")
    assert (verdict.observed, verdict.required) == (pytest.approx(0.8), pytest.approx(0.765, abs=0.005))
    assert verdict.reason == (
        "the drop of mean P@10, from 1.0000 to 0.2000, cannot be tested at 5%: 4 of 5 queries changed, and p cannot be "
        f"below 0.0625; it fell by 0.8000, more than the smallest detectable drop {verdict.required:.4f} "
        "(80 % power on average); fell most: q00 1.0000 -> 0.0000, q01 1.0000 -> 0.0000, q02 1.0000 -> 0.0000 "
        "and 1 more"
    )


def test_a_smallest_detectable_drop_that_no_scores_can_have_is_said_to_be_one():
    verdict = verdict_on(NOT_SIGNIFICANT, [1.0] * 5, [0.0] + [1.0] * 4)
    assert verdict.status is Status.PASSED
    rough = "if all 5 queries changed (rough: only 1 did)"
    assert (
        verdict.caveat
        == f"smallest detectable drop 1.6 (80 % power on average) {rough}, more than P@10 can fall from 1.0000"
    )
    assert "can fall" not in verdict_on(NOT_SIGNIFICANT, [1.0] * 8, [0.0] + [1.0] * 7).caveat


@pytest.mark.parametrize(("level", "status"), [("5%", Status.FAILED), ("1%", Status.PASSED)])
def test_whether_enough_moved_depends_on_the_level(level, status):
    """Five that fall give p = 1/32."""
    verdict = verdict_on(f"drop P@10 is not significant at {level}", [0.5] * 30, [0.4] * 4 + [0.3] + [0.5] * 25)
    assert verdict.status is status
    assert ("cannot be tested" in verdict.reason) == (level == "1%")


def test_a_drop_that_reaches_the_level_exactly_is_significant():
    """Of 5 queries that all fell the p-value is 1/32, the least that 5 queries can have."""
    verdict = verdict_on("drop P@10 is not significant at 3.125%", [0.5] * 5, [0.4] * 5)
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.03125)


def test_too_few_that_moved_may_be_enough_for_the_test_and_not_for_its_power():
    verdict = verdict_on(NOT_SIGNIFICANT, [0.5] * 60, [0.2, 0.3, 0.4, 0.6, 0.45, *[0.5] * 55])
    assert verdict.status is Status.PASSED
    assert "p is 0.1250 (paired" in verdict.reason
    assert verdict.caveat.endswith(" (80 % power on average) if all 60 queries changed (rough: only 5 did)")


def test_at_a_level_that_no_simulation_reaches_the_figure_is_unknown():
    after = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.2, 0.7, 0.4, 0.4] * 2
    verdict = verdict_on("drop P@10 is not significant at 0.001%", [0.5] * 20, after)
    assert verdict.status is Status.PASSED
    assert verdict.caveat == "smallest detectable drop unknown at so low a level (80 % power on average)"


def test_without_numpy_it_is_an_error(monkeypatch):
    def find(name):
        return None if name == "numpy" else importlib.util.find_spec(name)

    monkeypatch.setattr(harness.gate.decide_drops, "find_spec", find)
    verdict = verdict_on("drop P@10 is not significant at 5%", [0.5] * 9, [0.5] * 9)
    assert verdict.status is Status.ERROR
    assert (
        "cannot be tested without numpy, which `pip install 'relevance-harness[statistics]'` brings" in verdict.reason
    )


# ------------------------------------------------------------------------------------------------ warnings


def test_what_is_only_to_warn_warns_where_it_would_fail():
    failed = verdict_on("worse P@10 by 0 <= 0 queries", [0.5], [0.4])
    warned = verdict_on("worse P@10 by 0 <= 0 queries", [0.5], [0.4], warns=True)
    assert warned == replace(failed, status=Status.WARNED)
    assert verdict_on("worse P@10 by 0 <= 0 queries", [0.5], [0.5], warns=True).status is Status.PASSED


def test_a_warning_forgives_no_error_and_an_expected_failure_stays_one():
    assert verdict_on("drop P@10 <= 0", [0.5], [Outcome.ERROR], warns=True).status is Status.ERROR
    waived = verdict_on("drop P@10 <= 0", [0.5], [0.4], warns=True, xfail=Waiver("soon"))
    assert waived.status is Status.XFAILED


def test_a_warning_does_not_fail_a_run():
    suite = make_suite(*queries_of("a"), thresholds=[threshold("mean P@10 >= 0.9", warns=True)])
    [verdict] = decide(suite, empty_run("a"), scores_of({"a": 0.5}, "P@10"), today=TODAY)
    assert (verdict.status, verdict.blamed) == (Status.WARNED, ("a",))
