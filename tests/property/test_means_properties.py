"""What must hold of weighted means whatever the values and the weights, beside exact fractions."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gate.decide import decide
from harness.means import are_weighted, mean, mean_of, scale_by_weights
from harness.metrics import parse_measure
from harness.model.run import Engine, Run, Status
from harness.model.scores import Outcome, Score
from harness.model.suite import Operator, Query, ScoreCondition, StatisticKind, Suite, Target, Threshold

MEASURE = parse_measure("DCG@10")

values = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 12))
weights = st.one_of(st.floats(1e-6, 1e6), st.integers(1, 10_000).map(float))
weighted = st.lists(st.tuples(values, weights), min_size=1, max_size=40)


def unzipped(pairs):
    return [value for value, _ in pairs], [weight for _, weight in pairs]


def exact(pairs):
    return sum(Fraction(value) * Fraction(weight) for value, weight in pairs) / sum(Fraction(w) for _, w in pairs)


@given(weighted)
def test_it_is_the_fraction_that_the_definition_says(pairs):
    assert mean(*unzipped(pairs)) == pytest.approx(float(exact(pairs)), rel=1e-12, abs=1e-12)


@given(st.lists(values, min_size=1, max_size=40), weights)
def test_equal_weights_are_none(sample, weight):
    assert mean(sample, [weight] * len(sample)) == pytest.approx(mean(sample), rel=1e-12, abs=1e-12)
    assert not are_weighted([weight] * len(sample))


@given(weighted, st.floats(1e-9, 1e9))
def test_only_the_ratios_of_weights_matter(pairs, scale):
    sample, loads = unzipped(pairs)
    scaled = mean(sample, [weight * scale for weight in loads])
    assert scaled == pytest.approx(mean(sample, loads), rel=1e-12, abs=1e-12)


@given(st.lists(st.tuples(values, st.integers(1, 20)), min_size=1, max_size=15))
def test_a_weight_of_n_is_the_query_n_times_over(pairs):
    sample, times = unzipped(pairs)
    repeated = [value for value, count in pairs for _ in range(count)]
    assert mean(sample, [float(count) for count in times]) == pytest.approx(mean(repeated), rel=1e-12, abs=1e-12)


@given(weighted)
def test_it_lies_between_the_least_and_the_greatest(pairs):
    sample, loads = unzipped(pairs)
    assert min(sample) - 1e-9 <= mean(sample, loads) <= max(sample) + 1e-9


@given(weighted, st.randoms(use_true_random=False))
def test_the_order_does_not_matter_to_the_last_digit(pairs, random):
    before = mean(*unzipped(pairs))
    random.shuffle(pairs)
    assert mean(*unzipped(pairs)) == before


@given(weighted)
def test_the_plain_mean_of_what_was_weighed_is_the_weighted_one(pairs):
    sample, loads = unzipped(pairs)
    assert mean(scale_by_weights(sample, loads)) == pytest.approx(mean(sample, loads), rel=1e-9, abs=1e-9)


@given(weighted)
def test_by_query_it_is_the_same(pairs):
    by_query = {f"q{number}": value for number, (value, _) in enumerate(pairs)}
    loads = {f"q{number}": weight for number, (_, weight) in enumerate(pairs)}
    assert mean_of(by_query, {**loads, "another": 9.0}) == mean(*unzipped(pairs))
    assert mean_of(by_query, {}) == mean(list(by_query.values()))


@given(weighted, st.sampled_from(list(Operator)), values)
def test_the_gate_decides_on_that_mean_and_blames_by_cost(pairs, operator, required):
    queries = tuple(Query(f"q{number}", "", weight=weight) for number, (_, weight) in enumerate(pairs))
    scores = [
        Score(query.id, MEASURE.text, value, Outcome.SCORED) for query, (value, _) in zip(queries, pairs, strict=True)
    ]
    condition = ScoreCondition(StatisticKind.MEAN, MEASURE, operator, required)
    suite = Suite("s", "s", Target(), {}, (), queries, (Threshold("t", condition),))
    [verdict] = decide(suite, Run({}, Engine("fake")), scores, today=date(2026, 6, 1))
    assert verdict.observed == pytest.approx(float(exact(pairs)), rel=1e-12, abs=1e-12)
    assert bool(verdict.blamed) == (verdict.status is Status.FAILED)
    if are_weighted(weight for _, weight in pairs):
        costs = [pairs[int(name[1:])][1] * abs(pairs[int(name[1:])][0] - required) for name in verdict.blamed]
        assert costs == sorted(costs, reverse=True)
