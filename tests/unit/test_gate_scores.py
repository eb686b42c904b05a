"""Thresholds on measures: what is compared, what stands in the way, and what the reason says."""

from datetime import date

import pytest

from builders.gating import TODAY, empty_run, queries_of, scores_of, threshold
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.metrics import parse_measure
from harness.model.run import Status
from harness.model.scores import Outcome, Score
from harness.model.suite import Gain, GainKind, Mark, Query, Waiver


def verdict_on(text, values, *, tags=None, queries=None, **fields):
    """The verdict of one threshold over queries that scored *values* in whatever measure it names."""
    gated = threshold(text)
    suite = make_suite(*(queries or queries_of(values, tags)), thresholds=[gated], **fields)
    scores = scores_of(values, gated.condition.measure.text)
    [verdict] = decide(suite, empty_run(values), scores, today=TODAY)
    return verdict


# ------------------------------------------------------------------------------------------------ the five statistics


def test_a_mean_that_is_reached_passes():
    verdict = verdict_on("mean nDCG@10 >= 0.7", {"a": 0.5, "b": 1.0})
    assert (verdict.status, verdict.observed, verdict.required) == (Status.PASSED, 0.75, 0.7)
    assert (verdict.blamed, verdict.counted, verdict.left_out) == ((), 2, 0)
    assert verdict.reason == "mean nDCG@10 (gain exponential) is 0.7500, required >= 0.7, over 2 queries"


def test_a_mean_that_is_missed_fails_and_blames_the_queries_below_it_worst_first():
    verdict = verdict_on("mean nDCG@10 >= 0.8", {"a": 0.7, "b": 1.0, "c": 0.1, "d": 0.7}, gain=Gain(GainKind.LINEAR))
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(0.625)
    assert verdict.blamed == ("c", "a", "d")
    assert verdict.reason == (
        "mean nDCG@10 (gain linear) is 0.6250, required >= 0.8, over 4 queries; worst: c 0.1000, a 0.7000, d 0.7000"
    )


def test_the_reason_names_three_of_many():
    verdict = verdict_on("mean P@10 >= 0.8", {f"q{number}": number / 10 for number in range(5)})
    assert verdict.reason.endswith("worst: q0 0.0000, q1 0.1000, q2 0.2000 and 2 more")
    assert verdict.blamed == ("q0", "q1", "q2", "q3", "q4")


@pytest.mark.parametrize(
    ("values", "observed"),
    [([0.1, 0.9, 0.4], 0.4), ([0.1, 0.9, 0.4, 0.6], 0.5), ([0.3], 0.3)],
    ids=["odd", "even", "one"],
)
def test_a_median(values, observed):
    verdict = verdict_on("median P@10 >= 0.45", dict(zip("abcd", values, strict=False)))
    assert verdict.observed == pytest.approx(observed)
    assert verdict.status is (Status.PASSED if observed >= 0.45 else Status.FAILED)
    assert verdict.reason.startswith("median P@10 is")


def test_every_query_is_held_to_the_bound_and_the_worst_is_what_is_observed():
    verdict = verdict_on("every P@10 >= 0.3", {"a": 0.2, "b": 0.9, "c": 0.0})
    assert (verdict.status, verdict.observed, verdict.blamed) == (Status.FAILED, 0.0, ("c", "a"))
    assert verdict.reason == ("P@10 is >= 0.3 for 1 of 3 queries, required for every one; worst: c 0.0000, a 0.2000")
    passed = verdict_on("every P@10 >= 0.3", {"a": 0.5, "b": 0.9})
    assert (passed.status, passed.observed) == (Status.PASSED, 0.5)
    assert passed.reason == "P@10 is >= 0.3 for 2 of 2 queries, required for every one; the worst is 0.5000"


def test_an_upper_bound_turns_the_order_around():
    verdict = verdict_on("every NumRet@10 <= 5", {"a": 3.0, "b": 9.0, "c": 7.0})
    assert (verdict.status, verdict.observed, verdict.blamed) == (Status.FAILED, 9.0, ("b", "c"))


@pytest.mark.parametrize(("reached", "status"), [(19, Status.PASSED), (18, Status.FAILED)])
def test_a_share_of_the_queries_must_reach_the_bound(reached, status):
    values = {f"q{number:02}": 0.6 if number < reached else 0.4 for number in range(20)}
    verdict = verdict_on("95% nDCG@10 >= 0.5", values)
    assert (verdict.status, verdict.unit, verdict.required) == (status, "share", 0.95)
    assert verdict.observed == reached / 20
    assert f"is >= 0.5 for {reached} of 20 queries ({reached / 20:.2%}), required for 95%, that is 19" in verdict.reason


def test_a_share_counts_decimally_not_in_binary():
    values = {f"q{number}": 1.0 if number < 7 else 0.0 for number in range(100)}
    assert 0.07 * 100 > 7
    assert verdict_on("7% P@1 >= 1", values).status is Status.PASSED


def test_a_share_of_a_few_queries_rounds_up():
    assert verdict_on("50% P@1 >= 1", {"a": 1.0, "b": 0.0, "c": 0.0}).status is Status.FAILED
    assert verdict_on("50% P@1 >= 1", {"a": 1.0, "b": 1.0, "c": 0.0}).status is Status.PASSED


def test_a_query_s_own_threshold_looks_at_that_query_only():
    gated = threshold("nDCG@3 >= 0.9", of_query=True, mark=Mark("s.yaml", 7, 3), markers=("slow",))
    queries = (Query("a", "a", thresholds=(gated,), markers=("winter", "slow")), Query("b", "b"))
    suite = make_suite(*queries)
    scores = scores_of({"a": 0.81, "b": 0.1}, "nDCG@3")
    [verdict] = decide(suite, empty_run("ab"), scores, today=TODAY)
    assert (verdict.status, verdict.query, verdict.blamed, verdict.observed) == (Status.FAILED, "a", ("a",), 0.81)
    assert verdict.reason == "nDCG@3 (gain exponential) is 0.8100, required >= 0.9"
    assert (verdict.mark, verdict.markers) == (Mark("s.yaml", 7, 3), ("slow", "winter"))


def test_a_tag_limits_a_threshold_to_its_queries():
    verdict = verdict_on("mean P@10 >= 0.9 for head", {"a": 1.0, "b": 0.0}, tags={"a": ("head",)})
    assert (verdict.status, verdict.counted, verdict.tag) == (Status.PASSED, 1, "head")
    assert verdict.reason == "mean P@10 is 1.0000, required >= 0.9, over 1 query"


# ------------------------------------------------------------------------------------------------ comparing


@pytest.mark.parametrize(
    ("text", "value", "passes"),
    [
        ("mean P@10 >= 0.3", 0.1 + 0.2, True),
        ("mean P@10 <= 0.3", 0.1 + 0.2, True),
        ("mean P@10 = 0.3", 0.1 + 0.2, True),
        ("mean P@10 > 0.3", 0.1 + 0.2, False),
        ("mean P@10 < 0.3", 0.1 + 0.2, False),
        ("mean P@10 >= 0.8", 0.8 - 5e-10, True),
        ("mean P@10 >= 0.8", 0.8 - 5e-9, False),
        ("mean P@10 <= 0.8", 0.8 + 5e-9, False),
        ("mean P@10 > 0.8", 0.8 + 5e-9, True),
        ("mean P@10 < 0.8", 0.8 - 5e-9, True),
        ("mean P@10 = 0.8", 0.8 + 5e-9, False),
    ],
)
def test_numbers_that_differ_by_a_billionth_are_equal_and_no_others(text, value, passes):
    assert (verdict_on(text, {"a": value}).status is Status.PASSED) == passes


def test_a_mean_of_tenths_is_not_short_of_its_sum():
    values = {f"q{number}": 0.1 for number in range(10)}
    assert verdict_on("mean P@10 >= 0.1", values).observed == 0.1


@pytest.mark.parametrize("value", [0.79996, 0.7999996, 0.8 - 1.1e-9])
def test_a_shortfall_never_reads_as_if_it_had_been_enough(value):
    verdict = verdict_on("mean P@10 >= 0.80", {"a": value})
    shown = float(verdict.reason.split(" is ")[1].split(",")[0])
    assert verdict.status is Status.FAILED
    assert shown < 0.8


def test_a_strict_bound_that_is_passed_by_a_hair_reads_so():
    assert "is 0.80001, required > 0.8," in verdict_on("mean P@10 > 0.8", {"a": 0.80001}).reason


# ------------------------------------------------------------------------------------------------ missing never passes


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.NOT_RUN])
@pytest.mark.parametrize("text", ["mean P@5 >= 0", "median P@5 >= 0", "every P@5 >= 0", "1% P@5 >= 0"])
def test_a_query_without_an_answer_makes_an_error_however_well_the_others_do(outcome, text):
    verdict = verdict_on(text, {"a": 1.0, "b": outcome, "c": 1.0})
    assert (verdict.status, verdict.observed, verdict.blamed, verdict.counted) == (Status.ERROR, None, ("b",), 2)
    assert "cannot be decided: no score for 1 of 3 queries: b (why)" in verdict.reason


def test_an_error_outside_the_tag_is_none_of_the_threshold_s_business():
    values = {"a": 1.0, "b": Outcome.ERROR}
    assert verdict_on("mean P@5 >= 0.5 for head", values, tags={"a": ("head",)}).status is Status.PASSED


def test_a_score_that_was_never_made_is_an_error():
    verdict = verdict_on("mean P@5 >= 0", {"a": 1.0}, queries=queries_of("ab"))
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("b",))
    assert "b (did not run)" in verdict.reason


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("text", ["mean CG@5 >= -1", "every CG@5 <= 1", "mean CG@5 = 0"])
def test_a_score_that_is_no_finite_number_is_an_error(value, text):
    verdict = verdict_on(text, {"a": 0.0, "b": value})
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("b",))


def test_an_undefined_query_fails_with_the_remedy():
    verdict = verdict_on("mean nDCG@10 >= 0.1", {"a": 1.0, "b": Outcome.UNDEFINED})
    assert (verdict.status, verdict.observed, verdict.blamed, verdict.left_out) == (Status.FAILED, None, ("b",), 0)
    assert verdict.reason == (
        "mean nDCG@10 (gain exponential) is undefined for 1 of 2 queries: b; "
        "judge a relevant document for each, or set `undefined: skip` to leave such queries out"
    )


def test_an_undefined_query_is_left_out_and_counted_where_the_suite_says_so():
    verdict = verdict_on("mean nDCG@10 >= 0.9", {"a": 1.0, "b": Outcome.UNDEFINED}, skip_undefined=True)
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)
    assert verdict.reason.endswith("over 1 query; left out: 1 undefined")


def test_an_error_wins_over_an_undefined_query():
    values = {"a": Outcome.UNDEFINED, "b": Outcome.ERROR}
    assert verdict_on("mean P@5 >= 0", values).status is Status.ERROR


def test_where_every_query_is_left_out_there_is_nothing_to_judge_and_nothing_passes():
    undefined = verdict_on("mean P@5 >= 0", {"a": Outcome.UNDEFINED}, skip_undefined=True)
    assert (undefined.status, undefined.counted, undefined.left_out) == (Status.FAILED, 0, 1)
    assert undefined.reason == "mean P@5 has nothing to decide: every query is left out (1 undefined)"
    skipped = verdict_on("mean P@5 >= 0", {}, queries=[Query("a", "a", skip=Waiver("winter"))])
    assert (skipped.status, skipped.left_out) == (Status.FAILED, 1)
    assert skipped.reason == "mean P@5 has nothing to decide: every query is left out (1 skipped)"


def test_a_tag_that_no_query_has_passes_nothing():
    verdict = verdict_on("mean P@5 >= 0 for tail", {"a": 1.0})
    assert verdict.status is Status.FAILED
    assert verdict.reason == "mean P@5 has nothing to decide: no query is in its scope"


def test_zero_hits_count_as_their_score_and_are_named():
    suite = make_suite(*queries_of("ab"), thresholds=["mean P@5 >= 0.5"])
    scores = [Score("a", "P@5", 1.0, Outcome.SCORED), Score("b", "P@5", 0.0, Outcome.ZERO_HITS)]
    [verdict] = decide(suite, empty_run(()), scores, today=TODAY)
    assert (verdict.status, verdict.observed, verdict.counted) == (Status.PASSED, 0.5, 2)
    assert verdict.reason.endswith("over 2 queries; zero hits: b")


def test_a_skipped_query_is_left_out_of_the_mean():
    queries = [Query("a", "a"), Query("b", "b", skip=Waiver("winter"))]
    verdict = verdict_on("mean P@5 >= 0.9", {"a": 1.0, "b": Outcome.SKIPPED}, queries=queries)
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)
    assert verdict.reason.endswith("over 1 query; left out: 1 skipped")


def test_a_query_whose_skip_is_over_and_that_did_not_run_is_an_error():
    queries = [Query("a", "a"), Query("b", "b", skip=Waiver("winter", date(2026, 5, 31)))]
    verdict = verdict_on("mean P@5 >= 0.9", {"a": 1.0, "b": Outcome.SKIPPED}, queries=queries)
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("b",))


def test_a_drop_fails_while_there_is_no_baseline():
    verdict = verdict_on("drop nDCG@10 <= 0.02", {"a": 1.0})
    assert verdict.status is Status.FAILED
    assert "no baseline" in verdict.reason


def test_measures_are_told_apart_by_their_whole_text():
    suite = make_suite(*queries_of("a"), thresholds=["mean P(rel=2)@5 >= 0.5"])
    scores = [Score("a", "P@5", 1.0, Outcome.SCORED), Score("a", parse_measure("P(rel=2)@5").text, 0.2, Outcome.SCORED)]
    [verdict] = decide(suite, empty_run(()), scores, today=TODAY)
    assert (verdict.status, verdict.observed) == (Status.FAILED, 0.2)


def test_an_exact_number_blames_the_farthest_on_either_side_first():
    verdict = verdict_on("every NumRet@10 = 5", {"a": 7.0, "b": 5.0, "c": 2.0, "d": 6.0})
    assert (verdict.status, verdict.observed, verdict.blamed) == (Status.FAILED, 2.0, ("c", "a", "d"))


@pytest.mark.parametrize(("size", "ending"), [(3, "q2 0.2000"), (4, "q2 0.2000 and 1 more")])
def test_a_list_says_how_many_it_does_not_show(size, ending):
    values = {f"q{number}": number / 10 for number in range(size)}
    assert verdict_on("every P@10 >= 0.9", values).reason.endswith(ending)


def test_on_the_very_edge_of_the_tolerance_every_digit_is_shown():
    edge = 0.0019999989999999984
    verdict = verdict_on("mean P@10 >= 0.002", {"a": edge})
    assert verdict.status is Status.FAILED
    assert "is 0.0019999989999999984, required >= 0.002" in verdict.reason
