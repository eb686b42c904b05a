"""What holds of every paired test, interval and correction, whatever the differences."""

import pytest

pytest.importorskip("numpy")

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.statistics.intervals import FlipSettings, run_sign_flips, t_interval
from harness.statistics.power import Detectable, detectable_by_sign_flip
from harness.statistics.tests import (
    EXACT_LIMIT,
    benjamini_hochberg,
    effect_size,
    holm,
    least_p,
    paired_t,
    sign_flip,
    sign_test,
    wilcoxon,
)

differences = st.lists(st.integers(-100, 100).map(lambda hundredths: hundredths / 100), min_size=1, max_size=14)
p_values = st.lists(st.floats(0, 1), max_size=12)
simulated = settings(deadline=None, max_examples=25)
every_test = pytest.mark.parametrize("test", [sign_test, sign_flip, wilcoxon])


@every_test
@given(values=differences)
def test_swapping_the_runs_swaps_the_sides(test, values):
    swapped = [-value for value in values]
    assert test(values, alternative="less").p_value == pytest.approx(test(swapped, alternative="greater").p_value)
    assert test(values).p_value == pytest.approx(test(swapped).p_value)


@every_test
@given(values=differences, factor=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_the_unit_does_not_matter(test, values, factor):
    assert test(values).p_value == pytest.approx(test([factor * value for value in values]).p_value)


@every_test
@given(values=differences, data=st.data())
def test_the_order_of_the_queries_does_not_matter(test, values, data):
    assert test(values).p_value == pytest.approx(test(data.draw(st.permutations(values))).p_value)


@every_test
@given(values=differences)
def test_p_is_a_probability_that_the_queries_can_give(test, values):
    found = test(values)
    assert found.least_p - 1e-12 <= found.p_value <= 1


steps = st.lists(st.integers(-4, 6).map(lambda tenths: tenths / 10), min_size=2, max_size=60)
"""Differences of which many are equal or 0, of fewer queries than are counted exactly and of more."""


@settings(deadline=None, max_examples=100)
@given(
    values=st.one_of(differences.filter(lambda values: len(values) > 1), steps),
    alternative=st.sampled_from(["two-sided", "less", "greater"]),
    level=st.sampled_from([0.05, 0.01, 0.2]),
    samples=st.sampled_from([99, 999]),
    data=st.data(),
)
def test_0_is_inside_an_interval_exactly_where_p_is_above_the_level(values, alternative, level, samples, data):
    weight = st.sampled_from([1.0]) if data.draw(st.booleans()) else st.sampled_from([0.1, 1.0, 2.5, 40.0])
    weights = np.array(data.draw(st.lists(weight, min_size=len(values), max_size=len(values))))
    loads = weights / weights.mean()
    pulls = np.array(values) * loads
    [found] = run_sign_flips(pulls[:, np.newaxis], loads, FlipSettings(alternative, level, samples))
    mean = pulls.mean()
    if found.interval is None:
        assert found.significance.least_p > level or found.significance.p_value > level
        return
    low, high = found.interval.low, found.interval.high
    assert ((low is None or low <= 0) and (high is None or high >= 0)) == (found.significance.p_value > level)
    assert alternative != "two-sided" or low <= mean + 1e-12
    assert alternative != "two-sided" or high >= mean - 1e-12
    assert (low is None, high is None) == (alternative == "less", alternative == "greater")
    if np.count_nonzero(values) <= EXACT_LIMIT:
        assert found.significance == sign_flip(pulls, alternative=alternative)


@settings(deadline=None)
@given(values=steps.filter(lambda values: len(set(values)) > 1), alternative=st.sampled_from(["two-sided", "less"]))
def test_0_is_inside_an_interval_of_the_t_test_exactly_where_p_is_above_the_level(values, alternative):
    pulls = np.array(values)
    interval, p_value = (
        t_interval(pulls, np.ones(len(pulls)), alternative=alternative, level=0.05),
        paired_t(pulls, alternative=alternative).p_value,
    )
    assert interval is not None
    assert ((interval.low is None or interval.low <= 0) and interval.high >= 0) == (p_value > 0.05)


@settings(deadline=None)
@given(values=steps, data=st.data())
def test_an_interval_does_not_depend_on_the_unit_and_turns_with_the_sides(values, data):
    pulls, factor = np.array(values), data.draw(st.sampled_from([-1.0, 0.25, -8.0]))
    both = run_sign_flips(np.column_stack((pulls, factor * pulls)), np.ones(len(pulls)), FlipSettings(samples=99))
    first, second = (test.interval for test in both)
    assert (first is None) == (second is None)
    if first is not None:
        assert sorted((second.low, second.high)) == pytest.approx(
            sorted((factor * first.low, factor * first.high)), abs=1e-12
        )


@given(values=differences)
def test_wins_ties_and_losses_are_all_queries(values):
    found = effect_size(values)
    assert found.wins + found.ties + found.losses == len(values)


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
@given(values=p_values)
def test_a_correction_never_lowers_a_p_and_keeps_their_order(correct, values):
    adjusted = correct(values)
    assert all(after >= before - 1e-12 for before, after in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert all(adjusted[a] <= adjusted[b] + 1e-12 for a, b in pairwise(order))


@given(values=p_values)
def test_holm_is_at_least_as_strict_as_benjamini_and_hochberg(values):
    assert all(strict >= loose - 1e-12 for strict, loose in zip(holm(values), benjamini_hochberg(values), strict=True))


# ------------------------------------------------------------------------------------------------ power


@simulated
@given(values=differences, data=st.data())
def test_what_can_be_detected_does_not_depend_on_the_order_of_the_queries(values, data):
    found, shuffled = (
        detectable_by_sign_flip(one, alternative="less") for one in (values, data.draw(st.permutations(values)))
    )
    assert found == shuffled


@simulated
@given(values=differences, factor=st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_what_can_be_detected_is_in_the_unit_of_the_differences(values, factor):
    found, scaled = (
        detectable_by_sign_flip(one, alternative="less") for one in (values, [factor * value for value in values])
    )
    assert (found is None) == (scaled is None)
    if found is not None:
        assert scaled == Detectable(factor * found.difference, found.all_move)


@simulated
@given(values=differences, level=st.sampled_from([0.2, 0.05, 0.01]))
def test_none_can_be_detected_where_no_fall_of_all_queries_would_be(values, level):
    found = detectable_by_sign_flip(values, level=level, alternative="less")
    if least_p(len(values), "less") > level or not any(values):
        assert found is None
    elif found is not None:
        assert found.difference > 0


@simulated
@given(values=differences.filter(any), more=st.integers(1, 20))
def test_where_too_few_moved_queries_that_did_not_never_make_less_detectable_of_all(values, more):
    """In the sum over the queries, as what has to fall to be found; the rest is for the simulation."""
    found, among = (detectable_by_sign_flip(one, alternative="less") for one in (values, values + [0.0] * more))
    if found is not None and found.all_move and among is not None and among.all_move:
        assert among.difference * (len(values) + more) >= 0.9 * found.difference * len(values)
