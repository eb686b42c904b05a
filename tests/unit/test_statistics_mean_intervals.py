"""The interval of a mean: by hand, against scipy, and where there is none."""

import math
import random

import pytest

from harness.means import mean
from harness.statistics.mean_intervals import compute_mean_interval, count_by_weights, find_fewest, find_t_quantile

SCORES = [0.2, 0.4, 0.6, 0.8, 0.5, 0.5]
T_OF_FIVE = 2.5705818356363146  # the 0.975 quantile for five degrees of freedom


def test_the_interval_is_the_mean_and_the_quantile_times_its_error():
    error = math.sqrt((0.09 + 0.01 + 0.01 + 0.09) / 5 / 6)
    assert compute_mean_interval(SCORES) == pytest.approx((0.5 - T_OF_FIVE * error, 0.5 + T_OF_FIVE * error))


def test_a_weighted_mean_has_the_linearised_variance_of_a_ratio():
    """Twelve queries: seven of weight 1 and five of weight 2 count as 17^2 / 27 = 10.7 queries, rounded down."""
    scores = [0.0, 1.0] * 6
    weights = [1.0] * 7 + [2.0] * 5
    mean = (3 + 2 * 3) / 17  # three of the first seven are 1, and three of the last five
    residuals = [weight * (score - mean) for score, weight in zip(scores, weights, strict=True)]
    error = math.sqrt(12 / 11 * sum(residual**2 for residual in residuals)) / 17
    t_of_nine = 2.2621571627409915
    assert count_by_weights(weights) == 10
    assert compute_mean_interval(scores, weights) == pytest.approx((mean - t_of_nine * error, mean + t_of_nine * error))


def test_equal_weights_change_nothing():
    assert compute_mean_interval(SCORES, [3.0] * 6) == compute_mean_interval(SCORES)


def test_fewer_than_six_queries_have_none():
    assert compute_mean_interval(SCORES) is not None
    assert compute_mean_interval(SCORES[:5]) is None
    assert compute_mean_interval([]) is None


def test_queries_that_count_as_fewer_than_six_have_none():
    """One of seven queries has nearly all of the weight: its score is the mean, and the spread is not known."""
    assert compute_mean_interval([0.5, *SCORES], [60.0, 1, 1, 1, 1, 1, 1]) is None
    assert compute_mean_interval([0.5, *SCORES], [1.1, 1, 1, 1, 1, 1, 1]) is not None


@pytest.mark.parametrize(
    ("weights", "counts_as", "has_interval"),
    [
        ([2.0] * 10 + [1.0] * 20, 26, True),
        ([5.0] * 10 + [1.0] * 20, 18, False),  # of 30 queries, 20 are needed
        ([1.0 / rank for rank in range(1, 31)], 9, False),
        ([1.0 / rank**0.4 for rank in range(1, 31)], 25, True),
        ([40.0] + [1.0] * 29, 2, False),
    ],
)
def test_weights_that_are_too_unequal_have_none(weights, counts_as, has_interval):
    """Where a few queries decide the mean, most intervals of samples are far from the mean of all."""
    assert count_by_weights(weights) == counts_as
    assert find_fewest(len(weights)) == 20
    assert (compute_mean_interval([0.2, 0.4, 0.9] * 10, weights) is not None) is has_interval


@pytest.mark.parametrize("power", [0.5, 0.8, 1.0, 1.2])
@pytest.mark.parametrize("queries", [10, 30, 100])
def test_few_samples_of_a_log_have_an_interval_that_is_wrong(power, queries):
    """Weights by Zipf's law over 20,000 queries, of which the heaviest have the better scores."""
    draw = random.Random(queries)
    population = [(draw.random() if rank > 200 else 0.5 + draw.random() / 2, rank**-power) for rank in range(1, 20_001)]
    true_mean = mean([score for score, _ in population], [weight for _, weight in population])
    wrong = 0
    for _ in range(400):
        scores, weights = zip(*draw.choices(population, k=queries), strict=True)
        interval = compute_mean_interval(scores, weights)
        if interval is not None and not interval[0] <= true_mean <= interval[1]:
            wrong += 1
    # About 10 of 100 at most, by `scripts/bench/mean-intervals`; without the rule up to 50.
    assert wrong <= 0.12 * 400


@pytest.mark.parametrize("score", [0.0, 1.0, 0.1 + 0.2])
def test_equal_scores_have_none(score):
    assert compute_mean_interval([score] * 45) is None
    assert compute_mean_interval([score] * 44 + [score + 1e-12]) is None, "but for rounding"


def test_none_extends_beyond_what_the_measure_can_have():
    scores = [1.0] * 9 + [0.0]
    low, high = compute_mean_interval(scores)
    assert high > 1
    assert compute_mean_interval(scores, bounds=(0.0, 1.0)) == (low, 1.0)
    assert compute_mean_interval([1 - score for score in scores], bounds=(0.0, None)) == pytest.approx((0, 1 - low))


def test_scores_as_large_as_floats_have_none():
    assert compute_mean_interval([1e308, -1e308] * 5) is None
    low, high = compute_mean_interval([1e200, 3e200] * 5)
    assert low == pytest.approx(1.2459e200, rel=1e-4)
    assert high == pytest.approx(2.7541e200, rel=1e-4)


def test_the_quantile_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for freedom in [*range(1, 130), 225, 1_000, 100_000]:
        for probability in (0.6, 0.9, 0.975, 0.995):
            expected = stats.t.ppf(probability, freedom)
            assert find_t_quantile(probability, freedom) == pytest.approx(expected, rel=1e-9), freedom
