"""The codes that say why a threshold has its verdict, where its figure did not decide."""

import pytest

from builders.gating import TODAY, empty_run, queries_of, ranking, reference_of, scores_of, threshold
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.gate.expectations import parse_expectation
from harness.model.kept import Reference
from harness.model.run import Cause, Engine, Failure, FailureKind, Repeat, Run, Status
from harness.model.scores import Outcome
from harness.model.suite import Query, Threshold, Waiver


def decide_one(text, values=None, reference=None, **fields):
    """The verdict of one threshold on the scores *values*, of queries without hits."""
    values = {"a": 0.5, "b": 0.7} if values is None else values
    gated = fields.pop("gated", None) or threshold(text)
    measure = getattr(gated.condition, "measure", None)
    suite = make_suite(*queries_of(values), thresholds=[gated], **fields)
    scores = scores_of(values, measure.text) if measure is not None else ()
    [verdict] = decide(suite, empty_run(values), scores, today=TODAY, reference=reference)
    return verdict


def expect(text, response):
    """The verdict of an expectation of one query."""
    query = Query("q", "q", thresholds=(Threshold(text, parse_expectation(text)),))
    [verdict] = decide(make_suite(query, depth=5), Run({"q": response}, Engine("fake")), [], today=TODAY)
    return verdict


@pytest.mark.parametrize("text", ["mean P@1 >= 0.5", "mean P@1 >= 0.9", "every P@1 >= 0.6"])
def test_a_figure_that_decides_has_none(text):
    assert decide_one(text).cause is None


def test_a_drop_that_is_compared_has_none():
    assert decide_one("drop P@1 <= 0.1", reference=reference_of({"a": 0.9, "b": 0.9}, "P@1")).cause is None


@pytest.mark.parametrize("text", ["mean P@1 >= 0.5", "drop P@1 <= 0.1"])
def test_scores_that_are_missing(text):
    reference = reference_of({"a": 0.5, "b": 0.7}, "P@1")
    assert decide_one(text, {"a": 0.5, "b": Outcome.ERROR}, reference).cause is Cause.UNANSWERED
    assert decide_one(text, {"a": 0.5, "b": Outcome.UNDEFINED}, reference).cause is Cause.UNDEFINED


def test_nothing_is_left():
    verdict = decide_one("mean P@1 >= 0.5", {"a": Outcome.UNDEFINED}, skip_undefined=True)
    assert verdict.cause is Cause.NOTHING_TO_DECIDE


@pytest.mark.parametrize(
    ("reference", "status", "cause"),
    [
        (None, Status.FAILED, Cause.NO_BASELINE),
        (Reference(problem="it is not there", cause=Cause.NO_BASELINE), Status.FAILED, Cause.NO_BASELINE),
        (Reference(problem="it cannot be read"), Status.FAILED, Cause.UNUSABLE_BASELINE),
        (reference_of({"a": 0.5}, "P@1"), Status.FAILED, Cause.UNUSABLE_BASELINE),
        (Reference(updating=True), Status.SKIPPED, Cause.NOT_COMPARED),
    ],
)
@pytest.mark.parametrize("text", ["drop P@1 <= 0.1", "mean RBO >= 0.1"])
def test_baselines_that_are_not_compared_with(text, reference, status, cause):
    verdict = decide_one(text, reference=reference)
    assert (verdict.status, verdict.cause) == (status, cause)


def test_a_baseline_that_is_optional_keeps_the_cause_of_its_warning():
    verdict = decide_one("drop P@1 <= 0.1", baseline_optional=True)
    assert (verdict.status, verdict.cause) == (Status.WARNED, Cause.NO_BASELINE)


def test_a_history_that_is_short():
    assert decide_one("drop P@1 <= 0.1 since 5 runs").cause is Cause.NO_BASELINE


def test_a_fall_that_no_test_can_see():
    reference = reference_of({"a": 0.9, "b": 0.7}, "P@1")
    assert decide_one("drop P@1 is not significant at 5%", reference=reference).cause is Cause.TOO_FEW_QUERIES


@pytest.mark.parametrize(
    ("text", "response", "cause"),
    [
        ("x in top 1", ranking("ab"), None),
        ("hits >= 1", ranking("ab", total=2), None),
        ("x in top 1", Failure(FailureKind.TIMEOUT, "it took too long"), Cause.UNANSWERED),
        ("x not in top 9", ranking("abcde"), Cause.MORE_HITS),
        ("hits <= 20", ranking("ab", total=10, total_is_lower_bound=True), Cause.MORE_HITS),
        ("hits = 20", ranking("ab", total=10, total_is_lower_bound=True), Cause.MORE_HITS),
    ],
)
def test_expectations(text, response, cause):
    assert expect(text, response).cause is cause


def test_an_answer_without_a_time():
    assert decide_one("max latency <= 5 ms").cause is Cause.NO_TIME


def test_a_skip():
    verdict = decide_one("", gated=threshold("mean P@1 >= 0.9", skip=Waiver("not yet")))
    assert (verdict.status, verdict.cause) == (Status.SKIPPED, Cause.SKIPPED)


def test_repeats_that_disagree():
    suite = make_suite(*queries_of("a"), thresholds=["mean P@1 >= 0.5"])
    run = empty_run("a")
    run = Run(run.responses, run.engine, "current", repeats=(Repeat(run.responses),))
    scores = [scores_of({"a": value}, "P@1") for value in (1.0, 0.0)]
    [verdict] = decide(suite, run, scores[0], today=TODAY, repeated=scores[1:])
    assert (verdict.status, verdict.cause) == (Status.INCONCLUSIVE, Cause.UNSTABLE)


def test_an_index_that_moved():
    run = Run({"a": ranking("b")}, Engine("fake"), "current", target_changed="products changed")
    suite = make_suite(*queries_of("a"), thresholds=["mean P@1 >= 0.5"])
    [verdict] = decide(suite, run, scores_of({"a": 1.0}, "P@1"), today=TODAY)
    assert (verdict.status, verdict.cause) == (Status.INCONCLUSIVE, Cause.MOVING_INDEX)
