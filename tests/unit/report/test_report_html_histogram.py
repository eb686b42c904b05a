import math
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.html.charts import count_bins, round_up


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_every_score_is_in_one_bin(scores):
    bins = count_bins(scores)
    assert sum(one.count for one in bins) == len(scores)
    assert bins[0].low <= min(scores)
    assert bins[-1].high >= max(scores)
    assert all(left.high == right.low for left, right in pairwise(bins))


LARGEST = sys.float_info.max


@given(st.lists(st.floats(-LARGEST, LARGEST) | st.sampled_from([LARGEST, -LARGEST]), min_size=1), st.booleans())
def test_every_edge_is_a_number_however_large_the_scores_are(scores, around_zero):
    bins = count_bins(scores, around_zero=around_zero)
    assert all(math.isfinite(one.low) and math.isfinite(one.high) for one in bins)
    assert sum(one.count for one in bins) == len(scores)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_scores_between_0_and_1_are_shown_over_all_of_it(scores):
    bins = count_bins(scores)
    assert (bins[0].low, bins[-1].high) == (0, 1)


def test_edges_belong_to_the_bin_above_and_1_to_the_last():
    bins = count_bins([0, 0.25, 0.5, 0.95, 1.0])
    assert {place: one.count for place, one in enumerate(bins) if one.count} == {0: 1, 5: 1, 10: 1, 19: 2}


def test_what_is_no_number_is_not_counted():
    assert count_bins([None, math.inf, math.nan]) == ()
    assert sum(one.count for one in count_bins([None, math.inf, 0.5])) == 1


def test_equal_scores_beyond_1_still_have_an_interval():
    bins = count_bins([7.0, 7.0])
    assert (bins[0].low, bins[-1].high) == (6.5, 7.5)
    assert max(one.count for one in bins) == 2


@pytest.mark.parametrize("scores", [[1e17, 1e17], [-1.7e308, 1.7e308], [5e-324, 2.0], [-5e-324, 5e-324]])
def test_extreme_scores_are_counted_too(scores):
    assert sum(one.count for one in count_bins(scores)) == len(scores)


@pytest.mark.parametrize("scores", [[-1.0, 0.5], [0.0, 12.5]])
def test_other_scores_are_shown_over_their_span(scores):
    bins = count_bins(scores)
    assert (bins[0].low, bins[-1].high) == (scores[0], scores[1])


@given(st.lists(st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6), min_size=1))
def test_around_zero_what_fell_is_in_the_lower_half_and_what_rose_in_the_upper(differences):
    bins = count_bins(differences, around_zero=True)
    half = len(bins) // 2
    assert bins[0].low == -bins[-1].high
    assert sum(one.count for one in bins[:half]) == sum(value < 0 for value in differences)
    assert sum(one.count for one in bins[half:]) == sum(value > 0 for value in differences)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_an_axis_ends_at_or_little_above_the_greatest(value):
    assert value <= round_up(value) <= 2.5000001 * value


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_an_axis_of_nothing_ends_at_1(value):
    assert round_up(value) == 1.0
