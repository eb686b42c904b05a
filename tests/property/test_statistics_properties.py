"""What holds of every paired test, interval and correction, whatever the differences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics import benjamini_hochberg, bootstrap_interval, effect_size, holm, sign_flip, sign_test, wilcoxon

differences = st.lists(st.integers(-100, 100).map(lambda hundredths: hundredths / 100), min_size=1, max_size=14)
p_values = st.lists(st.floats(0, 1), max_size=12)
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


@given(values=differences.filter(lambda values: len(values) > 1))
def test_an_interval_is_in_order_and_within_the_differences(values):
    found = bootstrap_interval(values, samples=200)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@given(values=differences)
def test_wins_ties_and_losses_are_all_queries(values):
    found = effect_size(values)
    assert found.wins + found.ties + found.losses == len(values)
    assert found.rank_biserial is None or -1 - 1e-12 <= found.rank_biserial <= 1 + 1e-12


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
