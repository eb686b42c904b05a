"""Thresholds on a drop: today's scores beside the baseline's, ties apart, and what stands in the way."""

import pytest

from builders.gating import TODAY, empty_run, queries_of, reference_of, scores_of, threshold
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.metrics.run_scores import score_run
from harness.model.kept import Reference
from harness.model.run import Engine, Failure, FailureKind, Run, Status
from harness.model.scores import Outcome
from harness.model.suite import Query, Waiver


def verdict_on(text, before, after, *, tags=None, reference=None, facts=None, **fields):
    """One threshold; *before* and *after* are values of its measure by query."""
    measure = threshold(text).condition.measure.text
    suite = make_suite(*queries_of(after, tags), thresholds=[text], **fields)
    reference = reference or reference_of(before, measure, **(facts or {}))
    [verdict] = decide(suite, empty_run(after), scores_of(after, measure), today=TODAY, reference=reference)
    return verdict


# ------------------------------------------------------------------------------------------------ the mean


def test_a_mean_that_fell_by_more_fails_and_blames_what_fell_most_first():
    before = {"a": 1.0, "b": 0.8, "c": 0.5, "d": 0.5, "e": 0.4}
    after = {"a": 0.9, "b": 0.3, "c": 0.4, "d": 0.6, "e": 0.4}
    verdict = verdict_on("drop nDCG@10 <= 0.02", before, after)
    assert verdict.status is Status.FAILED
    assert verdict.observed == pytest.approx(0.12)
    assert (verdict.required, verdict.counted, verdict.blamed) == (0.02, 5, ("b", "a", "c"))
    assert verdict.reason == (
        "mean nDCG@10 (gain exponential) fell by 0.1200 from 0.6400 to 0.5200, allowed 0.02, over 5 queries; "
        "fell most: b 0.8000 -> 0.3000, a 1.0000 -> 0.9000, c 0.5000 -> 0.4000"
    )


def test_a_mean_that_fell_by_no_more_passes_whatever_single_queries_did():
    verdict = verdict_on("drop P@10 <= 0.1", {"a": 0.9, "b": 0.1}, {"a": 0.1, "b": 0.7})
    assert (verdict.status, verdict.blamed) == (Status.PASSED, ())
    assert verdict.observed == pytest.approx(0.1)
    assert "fell by 0.1000 from 0.5000 to 0.4000, allowed 0.1" in verdict.reason


def test_a_mean_that_rose_reads_so():
    verdict = verdict_on("drop P@10 <= 0", {"a": 0.5}, {"a": 0.75})
    assert (verdict.status, verdict.observed) == (Status.PASSED, -0.25)
    assert verdict.reason == "mean P@10 rose by 0.2500 from 0.5000 to 0.7500, allowed 0, over 1 query"


def test_what_did_not_change_reads_so():
    verdict = verdict_on("drop P@10 <= 0", {"a": 0.5}, {"a": 0.5})
    assert verdict.reason == "mean P@10 is 0.5000 as in the baseline, allowed 0, over 1 query"


@pytest.mark.parametrize(("fall", "status"), [(5e-10, Status.PASSED), (5e-9, Status.FAILED)])
def test_a_fall_of_a_billionth_is_none(fall, status):
    verdict = verdict_on("drop P@10 <= 0.1", {"a": 0.5}, {"a": 0.4 - fall})
    assert verdict.status is status
    if status is Status.FAILED:
        assert float(verdict.reason.split("fell by ")[1].split()[0]) > 0.1


@pytest.mark.parametrize(("after", "status"), [(0.49, Status.PASSED), (0.4899, Status.FAILED)])
def test_a_relative_drop_is_a_share_of_what_the_mean_was(after, status):
    verdict = verdict_on("drop P@10 <= 2%", {"a": 0.5}, {"a": after})
    assert verdict.status is status
    assert verdict.observed == pytest.approx(1 - after / 0.5)
    assert "allowed 2%" in verdict.reason


def test_from_nothing_a_relative_drop_is_any_fall():
    assert verdict_on("drop CG@10 <= 50%", {"a": 0.0}, {"a": 0.0}).status is Status.PASSED
    fallen = verdict_on("drop CG@10 <= 50%", {"a": 0.0}, {"a": -0.1})
    assert (fallen.status, fallen.observed) == (Status.FAILED, None)


def test_below_zero_a_relative_drop_is_a_share_of_the_size():
    assert verdict_on("drop CG@10 <= 50%", {"a": -2.0}, {"a": -3.0}).status is Status.PASSED
    assert verdict_on("drop CG@10 <= 50%", {"a": -2.0}, {"a": -3.1}).status is Status.FAILED


def test_a_tag_limits_a_drop_to_its_queries():
    verdict = verdict_on("drop P@10 <= 0.1 for head", {"a": 0.5, "b": 1.0}, {"a": 0.5, "b": 0.0}, tags={"a": ("head",)})
    assert (verdict.status, verdict.counted, verdict.tag) == (Status.PASSED, 1, "head")


# ------------------------------------------------------------------------------------------------ each query


def test_no_query_may_fall_by_more():
    before, after = {"a": 0.9, "b": 0.9, "c": 0.5}, {"a": 0.6, "b": 0.8, "c": 1.0}
    verdict = verdict_on("drop every P@10 <= 0.2", before, after)
    assert (verdict.status, verdict.blamed) == (Status.FAILED, ("a",))
    assert verdict.observed == pytest.approx(0.3)
    assert verdict.reason == (
        "P@10 fell by no more than 0.2 for 2 of 3 queries, required for every one; fell most: a 0.9000 -> 0.6000"
    )
    assert verdict_on("drop every P@10 <= 0.3", before, after).status is Status.PASSED


def test_every_relative_drop_is_a_share_of_the_query_s_own_score():
    before, after = {"a": 1.0, "b": 0.1}, {"a": 0.9, "b": 0.05}
    verdict = verdict_on("drop every P@10 <= 20%", before, after)
    assert (verdict.status, verdict.blamed) == (Status.FAILED, ("b",))
    assert verdict.observed == pytest.approx(0.5)


def test_a_query_s_own_drop_looks_at_that_query_only():
    own = threshold("drop P@10 <= 0.1", of_query=True)
    suite = make_suite(Query("a", "a", thresholds=(own,)), Query("b", "b"))
    after = scores_of({"a": 0.5, "b": 0.0}, "P@10")
    reference = reference_of({"a": 0.7, "b": 1.0}, "P@10")
    [verdict] = decide(suite, empty_run("ab"), after, today=TODAY, reference=reference)
    assert (verdict.status, verdict.query, verdict.blamed) == (Status.FAILED, "a", ("a",))
    assert verdict.reason == "P@10 fell by 0.2000 from 0.7000 to 0.5000, allowed 0.1"


# ------------------------------------------------------------------------------------------------ no baseline


def test_without_a_baseline_a_drop_fails_and_says_what_to_do():
    missing = Reference(problem="there is no baseline: shop.baseline.json does not exist; REMEDY")
    verdict = verdict_on("drop P@10 <= 0.1", {}, {"a": 1.0}, reference=missing)
    assert (verdict.status, verdict.required, verdict.observed) == (Status.FAILED, None, None)
    assert verdict.reason == (
        "P@10 cannot be compared with the baseline: there is no baseline: shop.baseline.json does not exist; REMEDY"
    )


def test_nobody_gave_a_baseline():
    suite = make_suite(*queries_of("a"), thresholds=["drop P@10 <= 0.1"])
    [verdict] = decide(suite, empty_run("a"), scores_of({"a": 1.0}, "P@10"), today=TODAY)
    assert verdict.status is Status.FAILED
    assert "no baseline was given" in verdict.reason


def test_an_optional_baseline_that_is_missing_warns():
    missing = Reference(problem="there is none")
    verdict = verdict_on("drop P@10 <= 0.1", {}, {"a": 1.0}, reference=missing, baseline_optional=True)
    assert verdict.status is Status.WARNED


def test_an_optional_baseline_that_is_there_is_compared_with():
    verdict = verdict_on("drop P@10 <= 0.1", {"a": 1.0}, {"a": 0.0}, baseline_optional=True)
    assert verdict.status is Status.FAILED


def test_a_baseline_without_a_query_of_the_scope_is_older_than_its_suite():
    verdict = verdict_on("drop P@10 <= 0.1", {"a": 1.0}, {"a": 1.0, "b": 1.0})
    assert verdict.status is Status.FAILED
    assert verdict.reason.endswith(
        "the baseline of 2026-05-01 is older than the suite: it does not have 1 query (b); REMEDY"
    )


def test_a_query_that_is_new_outside_of_the_scope_does_not_matter():
    verdict = verdict_on("drop P@10 <= 0.1 for head", {"a": 1.0}, {"a": 1.0, "b": 1.0}, tags={"a": ("head",)})
    assert verdict.status is Status.PASSED


def test_a_query_that_the_suite_no_longer_has_does_not_matter():
    assert verdict_on("drop P@10 <= 0.1", {"a": 1.0, "gone": 1.0}, {"a": 1.0}).status is Status.PASSED


@pytest.mark.parametrize(
    ("measure", "depth", "status"),
    [("P@10", 10, Status.PASSED), ("P@10", 9, Status.FAILED), ("AP", 20, Status.PASSED), ("AP", 19, Status.FAILED)],
)
def test_a_baseline_that_is_not_deep_enough_is_older_than_its_suite(measure, depth, status):
    """A measure without a cutoff sees as deep as the suite asks."""
    verdict = verdict_on(f"drop {measure} <= 0.1", {"a": 1.0}, {"a": 1.0}, facts={"depth": depth}, depth=20)
    assert verdict.status is status
    if status is Status.FAILED:
        assert f"it keeps {depth} hits per query, but " in verdict.reason


@pytest.mark.parametrize(("measure", "status"), [("P@10", Status.PASSED), ("AP", Status.FAILED)])
def test_a_lowered_depth_does_not_hide_a_drop_of_a_measure_that_counts_all_hits(measure, status):
    verdict = verdict_on(f"drop {measure} <= 0.1", {"a": 1.0}, {"a": 1.0}, facts={"depth": 20}, depth=10)
    assert verdict.status is status
    if status is Status.FAILED:
        assert verdict.reason == (
            "AP cannot be compared with the baseline: the baseline of 2026-05-01 is older than the suite: it keeps "
            "20 hits per query, but the suite asks for 10, and AP counts them all; REMEDY, or name a cutoff"
        )


def test_a_lowered_depth_warns_where_the_baseline_is_optional():
    facts = {"depth": 20}
    verdict = verdict_on("drop AP <= 0.1", {"a": 1.0}, {"a": 1.0}, facts=facts, depth=10, baseline_optional=True)
    assert verdict.status is Status.WARNED


def test_where_the_run_is_to_become_the_baseline_nothing_is_compared():
    verdict = verdict_on("drop P@10 <= 0.1", {}, {"a": 0.0}, reference=Reference(updating=True))
    assert verdict.status is Status.SKIPPED


# ------------------------------------------------------------------------------------------------ missing never passes


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.NOT_RUN])
@pytest.mark.parametrize("text", ["drop P@10 <= 1", "drop every P@10 <= 1"])
def test_a_query_without_an_answer_makes_an_error(outcome, text):
    verdict = verdict_on(text, {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": outcome})
    assert (verdict.status, verdict.blamed) == (Status.ERROR, ("b",))
    assert "no score for 1 of 2 queries: b (why)" in verdict.reason


def test_an_error_wins_over_a_missing_baseline():
    missing = Reference(problem="there is none")
    verdict = verdict_on("drop P@10 <= 1", {}, {"a": Outcome.ERROR}, reference=missing, baseline_optional=True)
    assert verdict.status is Status.ERROR


@pytest.mark.parametrize("side", ["before", "after"])
def test_an_undefined_pair_fails_or_is_left_out_as_the_suite_says(side):
    before, after = {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 1.0}
    {"before": before, "after": after}[side]["b"] = Outcome.UNDEFINED
    failed = verdict_on("drop P@10 <= 1", before, after)
    assert (failed.status, failed.blamed) == (Status.FAILED, ("b",))
    assert "undefined for 1 of 2 queries: b" in failed.reason
    skipped = verdict_on("drop P@10 <= 1", before, after, skip_undefined=True)
    assert (skipped.status, skipped.counted, skipped.left_out) == (Status.PASSED, 1, 1)
    assert skipped.reason.endswith("; left out: 1 undefined")


def test_where_every_pair_is_left_out_nothing_passes():
    undefined = {"a": Outcome.UNDEFINED}
    verdict = verdict_on("drop P@10 <= 1", undefined, undefined, skip_undefined=True)
    assert verdict.status is Status.FAILED
    assert "no query is left to compare" in verdict.reason


def test_a_skipped_query_is_left_out_and_need_not_be_in_the_baseline():
    queries = [Query("a", "a"), Query("b", "b", skip=Waiver("winter"))]
    suite = make_suite(*queries, thresholds=["drop P@10 <= 0.1"])
    after = scores_of({"a": 1.0, "b": Outcome.SKIPPED}, "P@10")
    [verdict] = decide(suite, empty_run("a"), after, today=TODAY, reference=reference_of({"a": 1.0}, "P@10"))
    assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 1, 1)


def test_an_expected_drop_is_forgiven_and_an_error_is_not():
    suite = make_suite(*queries_of("a"), thresholds=[threshold("drop P@10 <= 0.1", xfail=Waiver("new analyzer"))])
    reference = reference_of({"a": 1.0}, "P@10")
    [fell] = decide(suite, empty_run("a"), scores_of({"a": 0.0}, "P@10"), today=TODAY, reference=reference)
    assert fell.status is Status.XFAILED
    broken = Run({"a": Failure(FailureKind.TIMEOUT, "late")}, Engine("fake"), "current")
    [error] = decide(suite, broken, score_run(suite, broken), today=TODAY, reference=reference)
    assert error.status is Status.ERROR


def test_what_changed_since_is_no_part_of_the_reason():
    """The report says it once; two thresholds that fail would say it twice."""
    changes = ("since the baseline of 2026-05-01 the judgments changed: 1 query (a)",)
    for after in (1.0, 0.0):
        verdict = verdict_on("drop P@10 <= 0.1", {"a": 1.0}, {"a": after}, facts={"changes": changes})
        assert changes[0] not in verdict.reason
