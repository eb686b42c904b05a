"""What must hold of the gate whatever the scores: monotone, indifferent to order, exact, nothing missing passes."""

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from builders.gating import TODAY, empty_run, queries_of, scores_of
from builders.suites import make_suite
from harness.gate.decide import decide
from harness.gate.finding import format_observed, is_met
from harness.metrics import parse_measure
from harness.model.run import Status
from harness.model.scores import Outcome
from harness.model.suite import Operator, ScoreCondition, StatisticKind, Threshold, Waiver

MEASURE = parse_measure("DCG@10")

values = st.one_of(
    st.floats(-100, 100, allow_nan=False),
    st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1 / 3, 0.5, 1.0]),
)
samples = st.lists(values, min_size=1, max_size=40)
operators = st.sampled_from(list(Operator))
per_cents = st.integers(1, 10_000).map(lambda hundredths: Fraction(hundredths, 10_000))
statistics = st.sampled_from([StatisticKind.MEAN, StatisticKind.MEDIAN, StatisticKind.EVERY, StatisticKind.SHARE])
missing = st.sampled_from([Outcome.ERROR, Outcome.NOT_RUN, Outcome.UNDEFINED, Outcome.SKIPPED])


def verdict_on(condition, outcomes, *, skip_undefined=False, xfail=None):
    """The verdict over queries q0, q1, … whose value, or whose Outcome without one, is in *outcomes* by id."""
    suite = make_suite(
        *queries_of(outcomes),
        thresholds=[Threshold("threshold", condition, xfail=xfail)],
        skip_undefined=skip_undefined,
    )
    scores = scores_of(outcomes, MEASURE.text)
    [verdict] = decide(suite, empty_run(outcomes), scores, today=TODAY)
    return verdict


def named(sample):
    return {f"q{number}": value for number, value in enumerate(sample)}


@st.composite
def conditions(draw):
    statistic = draw(statistics)
    share = float(draw(per_cents)) if statistic is StatisticKind.SHARE else None
    return ScoreCondition(statistic, MEASURE, draw(operators), draw(values), share)


def with_required(condition, required):
    return ScoreCondition(condition.statistic, MEASURE, condition.operator, required, condition.share)


@given(samples, conditions(), st.floats(0, 100))
def test_a_stricter_bound_never_turns_a_failure_into_a_pass(sample, condition, more):
    assume(condition.operator is not Operator.EQUAL)
    upwards = condition.operator in (Operator.AT_LEAST, Operator.ABOVE)
    stricter = with_required(condition, condition.required + (more if upwards else -more))
    if verdict_on(condition, named(sample)).status is Status.FAILED:
        assert verdict_on(stricter, named(sample)).status is Status.FAILED


@given(samples, conditions(), st.data())
def test_a_better_score_never_turns_a_pass_into_a_failure(sample, condition, data):
    assume(condition.operator in (Operator.AT_LEAST, Operator.ABOVE))
    better = list(sample)
    better[data.draw(st.integers(0, len(sample) - 1))] += data.draw(st.floats(0, 100))
    if verdict_on(condition, named(sample)).status is Status.PASSED:
        assert verdict_on(condition, named(better)).status is Status.PASSED


@given(samples, conditions(), st.randoms(use_true_random=False))
def test_the_order_of_the_queries_changes_nothing(sample, condition, random):
    items = list(named(sample).items())
    before = verdict_on(condition, dict(items))
    random.shuffle(items)
    assert verdict_on(condition, dict(items)) == before


@given(samples, per_cents, operators, values)
def test_a_share_is_counted_exactly(sample, share, operator, required):
    condition = ScoreCondition(StatisticKind.SHARE, MEASURE, operator, required, float(share))
    reached = sum(is_met(value, operator, required) for value in sample)
    enough = Fraction(reached, len(sample)) >= share
    verdict = verdict_on(condition, named(sample))
    assert verdict.status is (Status.PASSED if enough else Status.FAILED)
    assert verdict.observed == reached / len(sample)


@given(samples, operators, values)
def test_every_is_a_share_of_all(sample, operator, required):
    every = verdict_on(ScoreCondition(StatisticKind.EVERY, MEASURE, operator, required), named(sample))
    whole = verdict_on(ScoreCondition(StatisticKind.SHARE, MEASURE, operator, required, 1.0), named(sample))
    assert every.status is whole.status
    assert (whole.observed == 1) == is_met(every.observed, operator, required)
    assert (every.status is Status.PASSED) == all(is_met(value, operator, required) for value in sample)


@given(samples, conditions())
def test_a_failure_blames_someone_and_a_pass_nobody(sample, condition):
    verdict = verdict_on(condition, named(sample))
    assert bool(verdict.blamed) == (verdict.status is Status.FAILED)


@given(samples, conditions())
def test_blame_goes_from_the_worst_to_the_least_bad(sample, condition):
    outcomes = named(sample)
    blamed = [outcomes[query] for query in verdict_on(condition, outcomes).blamed]
    if condition.operator is Operator.EQUAL:
        distances = [abs(value - condition.required) for value in blamed]
        assert distances == sorted(distances, reverse=True)
    else:
        upwards = condition.operator in (Operator.AT_LEAST, Operator.ABOVE)
        assert blamed == sorted(blamed, reverse=not upwards)


@given(st.lists(st.one_of(values, missing), max_size=20), conditions(), st.booleans(), st.booleans())
def test_what_is_missing_never_passes(sample, condition, skip_undefined, expected):
    outcomes = named(sample)
    xfail = Waiver("expected") if expected else None
    verdict = verdict_on(condition, outcomes, skip_undefined=skip_undefined, xfail=xfail)
    kinds = [value for value in sample if isinstance(value, Outcome)]
    if set(kinds) - {Outcome.UNDEFINED}:
        # no query here has a waiver for its skip, so one that was skipped all the same did not run
        assert verdict.status is Status.ERROR
    elif (kinds and not skip_undefined) or len(kinds) == len(sample):
        assert verdict.status in (Status.FAILED, Status.XFAILED)
    if verdict.status in (Status.PASSED, Status.XPASSED):
        assert verdict.counted == len(sample) - len(kinds) > 0


@given(samples, conditions())
def test_leaving_a_query_out_is_as_if_it_were_not_there(sample, condition):
    without = verdict_on(condition, named(sample))
    beside = verdict_on(condition, {**named(sample), "zz": Outcome.UNDEFINED}, skip_undefined=True)
    assert (beside.status, beside.observed, beside.counted) == (without.status, without.observed, without.counted)
    assert beside.left_out == 1


@given(values, operators, values)
def test_exactly_one_of_less_equal_and_greater_holds(observed, operator, required):
    assert (
        is_met(observed, Operator.BELOW, required)
        + is_met(observed, Operator.EQUAL, required)
        + is_met(observed, Operator.ABOVE, required)
        == 1
    )
    assert is_met(observed, Operator.AT_LEAST, required) != is_met(observed, Operator.BELOW, required)
    assert is_met(observed, Operator.AT_MOST, required) != is_met(observed, Operator.ABOVE, required)


@given(values, operators, values)
def test_a_number_is_never_shown_on_the_other_side_of_its_bound(observed, operator, required):
    shown = float(format_observed(observed, operator, required))
    assert is_met(shown, operator, required) == is_met(observed, operator, required)
    assert abs(shown - observed) <= 0.00005 + 1e-12
