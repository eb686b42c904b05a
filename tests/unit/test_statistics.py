"""Paired tests, intervals, corrections and power: worked by hand, and against scipy where scipy has the same."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticError
from harness.statistics.bootstrap import bca_limits, bootstrap_intervals, bootstrap_means
from harness.statistics.tests import (
    BLOCK,
    benjamini_hochberg,
    effect_size,
    holm,
    least_p,
    paired_t,
    sign_flip,
    sign_flip_p_values,
    sign_test,
    wilcoxon,
)

ALTERNATIVES = ["two-sided", "less", "greater"]


def differences(queries: int, *, mean: float = 0.02, seed: int = 7) -> np.ndarray:
    return np.round(np.random.default_rng(seed).normal(mean, 0.1, queries), 3)


EQUAL_TENTHS = [(tenths + 1) / 10 - tenths / 10 for tenths in range(10)]
"""A tenth each, but for rounding: the first is 0.1 and the third 0.09999999999999998."""


class TestPairedT:
    def test_student_1908_hours_of_sleep(self):
        gained = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]  # Student's own table, the ten patients
        found = paired_t(gained)
        assert found.p_value == pytest.approx(0.00283, abs=5e-6)  # t is 4.0621

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_is_scipys(self, alternative):
        values = differences(40)
        reference = stats.ttest_rel(values, np.zeros(40), alternative=alternative)
        assert paired_t(values, alternative=alternative).p_value == pytest.approx(reference.pvalue, abs=1e-12)

    @pytest.mark.parametrize(
        "noisy", [EQUAL_TENTHS, [-value for value in EQUAL_TENTHS], [1e200 * value for value in EQUAL_TENTHS]]
    )
    def test_differences_that_are_equal_but_for_rounding_have_no_t(self, noisy):
        assert len(set(noisy)) > 1
        with pytest.raises(StatisticError, match="no spread"):
            paired_t(noisy)

    def test_differences_of_nothing_but_rounding_are_none(self):
        assert paired_t([0.1 + 0.2 - 0.3, 0.0, 0.3 - 0.2 - 0.1]).p_value == 1.0

    def test_equal_differences_have_no_t(self):
        with pytest.raises(StatisticError, match="no spread"):
            paired_t([0.1, 0.1, 0.1])

    def test_two_runs_that_are_the_same_do_not_differ(self):
        assert paired_t([0.0, 0.0, 0.0]).p_value == 1.0

    def test_one_query_is_too_few(self):
        with pytest.raises(StatisticError, match="at least 2 queries; found 1"):
            paired_t([0.1])


class TestSign:
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("wins", range(8))
    def test_is_the_binomial_test(self, wins, alternative):
        values = [0.1] * wins + [-0.2] * (7 - wins) + [0.0] * 3
        found = sign_test(values, alternative=alternative)
        assert found.p_value == pytest.approx(stats.binomtest(wins, 7, alternative=alternative).pvalue, abs=1e-12)
        assert found.least_p == least_p(7, alternative)

    def test_nothing_differs(self):
        found = sign_test([0.0, 0.0])
        assert (found.p_value, found.least_p) == (1.0, 1.0)


class TestWilcoxon:
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("queries", [12, 30])
    def test_exact_is_scipys_with_noughts_left_out(self, queries, alternative):
        values = np.random.default_rng(3).normal(0.02, 0.1, queries)
        reference = stats.wilcoxon(values, alternative=alternative, method="exact")
        found = wilcoxon([*values, 0.0, 0.0], alternative=alternative)
        assert found.p_value == pytest.approx(reference.pvalue, abs=1e-12)
        assert found.least_p == least_p(queries, alternative)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_with_ties_it_is_scipys_count_of_all_patterns(self, alternative):
        values = [0.1, 0.1, -0.1, 0.2, 0.3, 0.3, -0.3, 0.4]
        reference = stats.wilcoxon(values, alternative=alternative, method=stats.PermutationMethod(n_resamples=10_000))
        assert wilcoxon(values, alternative=alternative).p_value == pytest.approx(reference.pvalue, abs=1e-12)

    def test_many_queries_take_the_normal_approximation(self):
        values = differences(200, mean=0.005)
        reference = stats.wilcoxon(values[values != 0], method="asymptotic")
        assert wilcoxon(values).p_value == pytest.approx(reference.pvalue, abs=1e-12)

    def test_nothing_differs(self):
        assert wilcoxon([0.0, 0.0, 0.0]).p_value == 1.0


class TestSignFlip:
    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    @pytest.mark.parametrize("queries", [1, 2, 3, 8, 11])
    def test_exact_is_the_count_over_all_patterns(self, queries, alternative):
        values = differences(queries)
        sums = np.array([np.dot(signs, values) for signs in itertools.product((-1, 1), repeat=queries)])
        observed = values.sum()
        less, greater = (sums <= observed + 1e-9).mean(), (sums >= observed - 1e-9).mean()
        expected = {"less": less, "greater": greater, "two-sided": min(1.0, 2 * min(less, greater))}[alternative]
        assert sign_flip(values, alternative=alternative).p_value == pytest.approx(expected, abs=1e-15)

    def test_exact_is_scipys_permutation_test(self):
        values = differences(14)
        reference = stats.permutation_test(
            (values,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert sign_flip(values).p_value == pytest.approx(reference.pvalue, abs=1e-12)

    def test_four_queries_cannot_be_significant_at_five_per_cent(self):
        found = sign_flip([0.1, 0.2, 0.3, 0.4])
        assert found.p_value == found.least_p == 0.125

    def test_sums_that_are_equal_but_for_rounding_count_as_equal(self):
        # Of the 8 patterns of .1, .2, -.3 three pairs give sums that are equal only in exact arithmetic.
        found = sign_flip([0.1, 0.2, -0.3])
        assert found.p_value == 1.0
        assert sign_flip([0.1, 0.2, -0.3], alternative="greater").p_value == pytest.approx(5 / 8)

    def test_differences_of_nought_change_nothing(self):
        values = differences(10)
        assert sign_flip([*values, 0.0, 0.0]).p_value == pytest.approx(sign_flip(values).p_value, abs=1e-15)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_sampled_comes_near_the_exact(self, alternative):
        values = differences(30)
        exact = sign_flip(values, alternative=alternative).p_value
        sampled = sign_flip_p_values(values, alternative=alternative, samples=40_000)[0]
        spread = math.sqrt(exact * (1 - exact) / 40_000)
        assert abs(sampled - exact) < 5 * spread

    @pytest.mark.parametrize("queries", [9, 10_003])  # one block of draws, and several
    def test_a_seed_flips_the_same_signs_whatever_is_multiplied_at_a_time(self, queries):
        values = np.random.default_rng(3).normal(0.02 / math.sqrt(queries), 0.01, queries)
        generator, rows = np.random.Generator(np.random.PCG64(9)), BLOCK // queries
        sizes = [min(rows, 900 - start) for start in range(0, 900, rows)]
        drawn = [generator.bytes(count * ((queries + 7) // 8)) for count in sizes]
        bits = [np.frombuffer(each, np.uint8).reshape(count, -1) for each, count in zip(drawn, sizes, strict=True)]
        signs = 1.0 - 2.0 * np.unpackbits(np.vstack(bits), axis=1, count=queries)
        found = int((np.abs(signs @ values) >= abs(values.sum()) - 1e-9).sum())
        assert 0 < found < 900
        assert sign_flip_p_values(values, samples=900, seed=9)[0] == pytest.approx((found + 1) / 901, abs=1e-15)

    def test_many_queries_are_sampled(self):
        found = sign_flip(differences(400, mean=0.2), samples=999)
        assert (found.p_value, found.least_p) == (0.001, 0.001)

    def test_the_same_seed_gives_the_same_p(self):
        values = differences(100, mean=0.01)
        assert sign_flip(values, samples=500, seed=3) == sign_flip(values, samples=500, seed=3)
        assert sign_flip(values, samples=500, seed=3).p_value != sign_flip(values, samples=500, seed=4).p_value


class TestBootstrap:
    def test_bca_is_scipys_on_the_same_samples(self):
        values = np.random.default_rng(5).exponential(0.1, 60) - 0.08
        reference = stats.bootstrap((values,), np.mean, n_resamples=2_000, method="BCa", rng=np.random.default_rng(1))
        low, high = bca_limits(reference.bootstrap_distribution, values, 0.95)
        assert low == pytest.approx(reference.confidence_interval.low, abs=1e-9)
        assert high == pytest.approx(reference.confidence_interval.high, abs=1e-9)

    def test_means_are_the_means_of_the_samples_drawn(self):
        values = np.array([[0.0], [1.0], [10.0]])
        means = bootstrap_means(values, samples=4_000, seed=1)[:, 0]
        possible = {round(sum(draw) / 3, 9) for draw in itertools.product((0, 1, 10), repeat=3)}
        assert {round(float(mean), 9) for mean in means} == possible
        assert means.mean() == pytest.approx(11 / 3, abs=5 * means.std() / math.sqrt(4_000))

    @pytest.mark.parametrize("queries", [7, 10_007, 70_001])  # one block of draws, several, and more queries than 2^16
    def test_a_seed_draws_the_same_samples_whatever_is_multiplied_at_a_time(self, queries):
        values = np.random.default_rng(3).normal(0.01, 0.1, (queries, 2))
        generator, kind = np.random.Generator(np.random.PCG64(9)), np.uint16 if queries <= 1 << 16 else np.uint32
        samples, rows = 700 if queries <= 1 << 16 else 65, BLOCK // queries
        blocks = [min(rows, samples - start) for start in range(0, samples, rows)]
        drawn = np.vstack([generator.integers(0, queries, size=(count, queries), dtype=kind) for count in blocks])
        means = bootstrap_means(values, samples=samples, seed=9)
        assert means == pytest.approx(np.array([values[row].mean(axis=0) for row in drawn]), abs=1e-14)

    def test_weighted_means_are_those_of_the_samples_drawn_with_their_weights(self):
        values, weights = np.array([[0.0], [1.0], [10.0]]), [1.0, 2.0, 5.0]
        means = bootstrap_means(values, samples=4_000, seed=1, weights=weights)[:, 0]
        draws = itertools.product(((0, 1), (1, 2), (10, 5)), repeat=3)
        possible = {round(sum(v * w for v, w in draw) / sum(w for _, w in draw), 9) for draw in draws}
        assert {round(float(mean), 9) for mean in means} == possible

    def test_a_weighted_interval_is_scipys_on_the_same_samples(self):
        """scipy's acceleration is the jackknife's, which differs from the influence's by less than a part in n."""
        generator = np.random.default_rng(5)
        values, weights = generator.exponential(0.1, 200) - 0.08, generator.uniform(1, 9, 200)
        reference = stats.bootstrap(
            (values, weights), lambda v, w, axis=-1: (v * w).sum(axis) / w.sum(axis), paired=True, vectorized=True,
            n_resamples=2_000, method="BCa", rng=np.random.default_rng(1),
        )  # fmt: skip
        low, high = bca_limits(reference.bootstrap_distribution, values, 0.95, weights.tolist())
        width = high - low
        assert low == pytest.approx(reference.confidence_interval.low, abs=0.02 * width)
        assert high == pytest.approx(reference.confidence_interval.high, abs=0.02 * width)

    def test_equal_weights_change_no_interval(self):
        values = differences(40)
        (plain,) = bootstrap_intervals(values, samples=500)
        (same,) = bootstrap_intervals(values, samples=500, weights=[3.0] * 40)
        assert (same.low, same.high) == (pytest.approx(plain.low, abs=1e-12), pytest.approx(plain.high, abs=1e-12))

    def test_a_weighted_interval_holds_the_true_mean_as_often_as_it_says(self):
        generator = np.random.default_rng(11)
        held = 0
        for trial in range(300):
            weights = generator.uniform(1, 5, 60).tolist()
            values = generator.normal(0.05, 0.1, 60)
            (found,) = bootstrap_intervals(values, weights=weights, level=0.9, samples=400, seed=trial)
            held += found.low <= 0.05 <= found.high
        assert held / 300 == pytest.approx(0.9, abs=4 * math.sqrt(0.9 * 0.1 / 300))

    def test_holds_the_true_mean_as_often_as_it_says(self):
        generator = np.random.default_rng(11)
        held = 0
        for trial in range(300):
            found = bootstrap_intervals(generator.normal(0.05, 0.1, 50), level=0.9, samples=400, seed=trial)[0]
            held += found.low <= 0.05 <= found.high
        assert held / 300 == pytest.approx(0.9, abs=4 * math.sqrt(0.9 * 0.1 / 300))

    def test_measures_share_the_samples(self):
        values = differences(50)
        both = bootstrap_intervals(np.column_stack((values, 2 * values)))
        assert both[1].low == pytest.approx(2 * both[0].low, abs=1e-12)
        alone = bootstrap_intervals(values)[0]  # summed in another order, with means that tie but for rounding
        assert (both[0].low, both[0].high) == pytest.approx((alone.low, alone.high), abs=1e-12)

    def test_without_spread_it_is_a_point(self):
        found = bootstrap_intervals([0.25, 0.25, 0.25])[0]
        assert (found.low, found.high) == (0.25, 0.25)

    @pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
    def test_a_level_is_a_fraction(self, level):
        with pytest.raises(StatisticError, match="between 0 and 1"):
            bootstrap_intervals([0.1, 0.2], level=level)

    def test_one_query_is_too_few(self):
        with pytest.raises(StatisticError, match="at least 2 queries"):
            bootstrap_intervals([0.1])

    def test_undefined_scores_are_refused(self):
        with pytest.raises(StatisticError, match="finite"):
            bootstrap_intervals([0.1, float("nan")])


class TestCorrections:
    def test_holm_1979_by_hand(self):
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_benjamini_hochberg_is_scipys(self):
        p_values = list(np.random.default_rng(2).uniform(0, 1, 20) ** 2)
        assert benjamini_hochberg(p_values) == pytest.approx(list(stats.false_discovery_control(p_values)))

    @pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
    def test_none_and_one(self, correct):
        assert correct([]) == []
        assert correct([0.2]) == [0.2]


class TestEffectSize:
    def test_by_hand(self):
        found = effect_size([0.1, 0.2, -0.1, 0.0])
        assert (found.wins, found.ties, found.losses) == (2, 1, 1)
        assert found.standard_deviation == pytest.approx(math.sqrt(0.05 / 3))
        assert found.cohen_dz == pytest.approx(0.05 / math.sqrt(0.05 / 3))

    def test_where_nothing_differs_there_is_none(self):
        for equal in (EQUAL_TENTHS, [1e200 * value for value in EQUAL_TENTHS], [0.25, 0.25]):
            assert (effect_size(equal).standard_deviation, effect_size(equal).cohen_dz) == (0.0, None)
        assert effect_size([0.1, 0.1, 0.1001]).cohen_dz == pytest.approx(1732.63, rel=1e-5)

        assert effect_size([0.0, 0.0]).cohen_dz is None


def test_least_p():
    assert least_p(5) == 0.0625
    assert least_p(5, "less") == 0.03125
    assert least_p(0) == 1.0


@pytest.mark.parametrize("test", [paired_t, sign_test, wilcoxon, sign_flip, effect_size])
class TestInput:
    def test_undefined_scores_are_refused(self, test):
        with pytest.raises(StatisticError, match="finite"):
            test([0.1, float("nan"), 0.2])

    def test_no_queries(self, test):
        with pytest.raises(StatisticError, match="found 0"):
            test([])

    def test_a_table_is_not_one_number_a_query(self, test):
        with pytest.raises(StatisticError, match="one number per query"):
            test([[0.1], [0.2]])
