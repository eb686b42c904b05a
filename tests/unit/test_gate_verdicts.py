"""Waivers, tags and the exit status."""

from datetime import date

import pytest

from builders.gating import empty_run, reference_of, scores_of, threshold
from builders.suites import make_suite
from harness.gate.decide import compute_exit_status, decide
from harness.gate.selection import QueryFilter
from harness.model.report import QueryReport, SuiteReport
from harness.model.run import Engine, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Profile, Query, Waiver

LAST_DAY = date(2026, 6, 1)
AFTER = date(2026, 6, 2)
WAIVER = Waiver("waits for synonyms", LAST_DAY)


def verdict_of(value, *, today=LAST_DAY, strict_xfail=False, on_query=None, **fields):
    """The verdict of a query's own ``P@1 >= 0.5``, the waivers given on the threshold or on its query."""
    gated = threshold("P@1 >= 0.5", of_query=True, **fields)
    query = Query("q", "q", thresholds=(gated,), **(on_query or {}))
    scores = scores_of({"q": value}, "P@1")
    [verdict] = decide(make_suite(query), empty_run("q"), scores, today=today, strict_xfail=strict_xfail)
    return verdict


@pytest.mark.parametrize("where", ["threshold", "query"])
class TestExpectedFailure:
    def decide(self, where, value, waiver=WAIVER, **fields):
        if where == "query":
            return verdict_of(value, on_query={"xfail": waiver}, **fields)
        return verdict_of(value, xfail=waiver, **fields)

    def test_a_failure_is_expected_up_to_the_last_day(self, where):
        verdict = self.decide(where, 0.0)
        assert (verdict.status, verdict.waiver, verdict.blamed) == (Status.XFAILED, WAIVER, ("q",))
        assert verdict.reason == (
            "P@1 is 0.0000, required >= 0.5; expected to fail until 2026-06-01: waits for synonyms"
        )

    def test_after_the_last_day_it_fails_and_says_that_the_waiver_is_over(self, where):
        verdict = self.decide(where, 0.0, today=AFTER)
        assert (verdict.status, verdict.waiver) == (Status.FAILED, None)
        assert verdict.reason.endswith("; the waiver 'waits for synonyms' ended on 2026-06-01 and no longer holds")

    def test_without_a_last_day_it_holds_for_ever(self, where):
        verdict = self.decide(where, 0.0, Waiver("never mind"), today=date(9999, 1, 1))
        assert verdict.status is Status.XFAILED
        assert verdict.reason.endswith("; expected to fail: never mind")

    def test_an_unexpected_pass_is_reported(self, where):
        verdict = self.decide(where, 1.0)
        assert verdict.status is Status.XPASSED
        assert "passed, though expected to fail until 2026-06-01: waits for synonyms" in verdict.reason

    def test_an_unexpected_pass_fails_where_that_is_asked_for(self, where):
        assert self.decide(where, 1.0, strict_xfail=True).status is Status.FAILED
        assert self.decide(where, 0.0, strict_xfail=True).status is Status.XFAILED

    @pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.NOT_RUN])
    def test_a_missing_answer_is_never_an_expected_failure(self, where, outcome):
        assert self.decide(where, outcome).status is Status.ERROR

    def test_an_undefined_score_can_be_expected(self, where):
        assert self.decide(where, Outcome.UNDEFINED).status is Status.XFAILED


def test_the_waiver_that_still_holds_counts_where_the_nearer_one_is_over():
    query = {"xfail": Waiver("the whole query")}
    verdict = verdict_of(0.0, today=AFTER, xfail=WAIVER, on_query=query)
    assert (verdict.status, verdict.waiver) == (Status.XFAILED, query["xfail"])


def test_a_query_s_waiver_does_not_reach_a_mean():
    query = Query("q", "q", xfail=WAIVER)
    suite = make_suite(query, thresholds=["mean P@1 >= 0.5"])
    [verdict] = decide(suite, empty_run("q"), scores_of({"q": 0.0}, "P@1"), today=LAST_DAY)
    assert verdict.status is Status.FAILED


class TestWhatAsksEachQuery:
    """`every` holds each query by itself, so what a query is expected to fall short of is expected here too."""

    def decide(self, text, after, *waived, today=LAST_DAY, before=None):
        queries = [Query(name, name, xfail=WAIVER if name in waived else None) for name in after]
        measure = threshold(text).condition.measure.text
        reference = reference_of(before, measure) if before else None
        [verdict] = decide(
            make_suite(*queries, thresholds=[text]),
            empty_run(after),
            scores_of(after, measure),
            today=today,
            reference=reference,
        )
        return verdict

    def test_it_is_expected_where_all_that_fall_short_are(self):
        verdict = self.decide("every P@1 >= 0.5", {"a": 0.0, "b": 1.0, "c": 0.25}, "a", "c")
        assert (verdict.status, verdict.waiver, verdict.blamed) == (Status.XFAILED, WAIVER, ("a", "c"))
        assert verdict.reason.endswith(
            "expected to fail: a until 2026-06-01 (waits for synonyms), c until 2026-06-01 (waits for synonyms)"
        )

    def test_it_fails_where_another_falls_short_too(self):
        verdict = self.decide("every P@1 >= 0.5", {"a": 0.0, "b": 0.25}, "a")
        assert (verdict.status, verdict.waiver) == (Status.FAILED, None)

    def test_it_fails_after_the_last_day(self):
        assert self.decide("every P@1 >= 0.5", {"a": 0.0, "b": 1.0}, "a", today=AFTER).status is Status.FAILED

    def test_it_passes_where_none_falls_short(self):
        assert self.decide("every P@1 >= 0.5", {"a": 1.0}, "a").status is Status.PASSED

    def test_an_undefined_query_hides_no_other(self):
        after = {"a": Outcome.UNDEFINED, "b": 0.0}
        assert self.decide("every P@1 >= 0.5", after, "a").status is Status.FAILED

    def test_a_missing_answer_is_an_error(self):
        assert self.decide("every P@1 >= 0.5", {"a": Outcome.ERROR, "b": 1.0}, "a").status is Status.ERROR

    def test_a_drop_of_every_query_is_like_it_and_one_of_the_mean_is_not(self):
        before, after = {"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 1.0}
        assert self.decide("drop every P@1 <= 0.1", after, "a", before=before).status is Status.XFAILED
        assert self.decide("drop P@1 <= 0.1", after, "a", before=before).status is Status.FAILED

    def test_a_share_of_the_queries_is_a_figure_over_all(self):
        assert self.decide("90% P@1 >= 0.5", {"a": 0.0, "b": 1.0}, "a").status is Status.FAILED


@pytest.mark.parametrize("value", [0.0, 1.0, Outcome.SKIPPED])
def test_a_skip_holds_up_to_its_last_day(value):
    for fields in ({"skip": WAIVER}, {"on_query": {"skip": WAIVER}}):
        verdict = verdict_of(value, **fields)
        assert (verdict.status, verdict.waiver, verdict.observed) == (Status.SKIPPED, WAIVER, None)
        assert verdict.reason == "skipped until 2026-06-01: waits for synonyms"


def test_after_its_last_day_a_skip_is_over_and_the_reason_says_so():
    for fields in ({"skip": WAIVER}, {"on_query": {"skip": WAIVER}}):
        verdict = verdict_of(1.0, today=AFTER, **fields)
        assert (verdict.status, verdict.observed) == (Status.PASSED, 1.0)
        assert verdict.reason.endswith("ended on 2026-06-01 and no longer holds")
        assert verdict_of(Outcome.SKIPPED, today=AFTER, **fields).status is Status.ERROR


# ------------------------------------------------------------------------------------------------ tags


def test_a_selection_decides_only_what_the_selected_queries_can():
    head = Query("a", "a", tags=("head",), thresholds=(threshold("P@1 >= 0.5", of_query=True),))
    tail = Query("b", "b", tags=("tail",), thresholds=(threshold("P@1 >= 0.5", of_query=True),))
    suite = make_suite(
        head, tail, thresholds=["mean P@1 >= 0.5", "mean P@1 >= 0.5 for head", "mean P@1 >= 0.5 for tail"]
    )
    scores, run = scores_of({"a": 1.0}, "P@1"), empty_run("ab")
    verdicts = decide(suite, run, scores, today=LAST_DAY, query_filter=QueryFilter(tags=("head",)))
    assert [(verdict.id, verdict.status) for verdict in verdicts] == [
        ("mean-P-1-ge-0.5-for-head", Status.PASSED),
        ("query.a.P-1-ge-0.5", Status.PASSED),
    ]
    whole = decide(suite, run, scores, today=LAST_DAY)
    assert len(whole) == 5
    assert {verdict.id for verdict in verdicts} < {verdict.id for verdict in whole}


# ------------------------------------------------------------------------------------------------ exit status


def report(*statuses, outcomes=()):
    verdicts = tuple(Verdict(f"v{number}", "t", status, "r") for number, status in enumerate(statuses))
    queries = tuple(QueryReport(f"q{number}", "q", outcome) for number, outcome in enumerate(outcomes))
    return SuiteReport(
        "s", "s", "request", "c", None, Engine("fake"), Profile.STANDARD, "exponential", 10, (), verdicts, queries
    )


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((), 0),
        ((Status.PASSED, Status.WARNED, Status.XFAILED, Status.XPASSED, Status.SKIPPED), 0),
        ((Status.PASSED, Status.FAILED), 1),
        ((Status.PASSED, Status.ERROR), 3),
        ((Status.FAILED, Status.ERROR, Status.FAILED), 3),
    ],
)
def test_the_worst_verdict_is_the_exit_status(statuses, expected):
    assert compute_exit_status([report(*statuses)]) == expected
    assert compute_exit_status([report(), report(*statuses), report(Status.PASSED)]) == expected


def test_an_error_in_one_suite_wins_over_a_failure_in_another():
    assert compute_exit_status([report(Status.FAILED), report(Status.ERROR)]) == 3
    assert compute_exit_status([report(Status.ERROR), report(Status.FAILED)]) == 3


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.ERROR, 3),
        (Outcome.NOT_RUN, 3),
        (Outcome.SKIPPED, 0),
        (Outcome.ZERO_HITS, 0),
        (Outcome.UNDEFINED, 0),
        (Outcome.SCORED, 0),
    ],
)
def test_a_query_without_an_answer_is_an_error_though_no_threshold_is_about_it(outcome, expected):
    assert compute_exit_status([report(Status.PASSED, outcomes=[Outcome.SCORED, outcome])]) == expected


def test_nothing_ran_and_nothing_failed():
    assert compute_exit_status([]) == 0
