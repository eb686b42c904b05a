"""Paired tests, intervals, corrections and power: worked by hand, and against scipy where scipy has the same."""

import pytest

pytest.importorskip("numpy")

import itertools
import math

import numpy as np
from scipy import stats

from harness.errors import StatisticError
from harness.statistics.intervals import (
    ALL_SUBSETS_LIMIT,
    FlipSettings,
    Interval,
    MeanTest,
    run_sign_flips,
    t_interval,
)
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


def run_test(values, weights=None, **settings) -> MeanTest:
    """The test of the mean of *values*, and its interval."""
    loads = np.ones(len(values)) if weights is None else np.array(weights) / np.mean(weights)
    pulls = np.array(values) * loads
    return run_sign_flips(pulls[:, np.newaxis], loads, FlipSettings(**settings))[0]


def limits_of(interval: Interval) -> tuple[float, float]:
    return (
        -math.inf if interval.low is None else interval.low,
        math.inf if interval.high is None else interval.high,
    )


class TestIntervals:
    def test_six_queries_by_hand(self):
        """2 of the 64 sign patterns may be beyond: all alike. The next are those with one sign changed."""
        interval = run_test([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).interval
        assert limits_of(interval) == (pytest.approx(0.1), pytest.approx(0.6))

    @pytest.mark.parametrize("weights", [None, [1.0, 5.0, 2.0, 0.5, 3.0, 3.0, 8.0, 1.0, 1.0, 0.1]])
    @pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
    @pytest.mark.parametrize(
        "values",
        [
            [0.31, -0.12, 0.05, 0.27, 0.4, -0.22, 0.18, 0.02, 0.09, 0.11],
            [0.1, 0.1, 0.1, 0.2, -0.1, 0.1, 0.0, 0.0, 0.2, 0.1],  # ties, and queries that did not change
            [-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.5, -0.25, -0.5],
        ],
    )
    def test_the_limits_are_the_last_differences_that_the_test_does_not_reject(self, values, level, weights):
        loads = np.ones(10) if weights is None else np.array(weights)
        found = run_test(values, weights, level=level)
        for limit, outwards in zip(limits_of(found.interval), (-1e-7, 1e-7), strict=True):
            assert sign_flip(loads * (np.array(values) - limit)).p_value > level
            assert sign_flip(loads * (np.array(values) - limit - outwards)).p_value <= level

    @pytest.mark.parametrize("queries", [ALL_SUBSETS_LIMIT + 1, 30, 80])
    def test_drawn_flips_give_nearly_the_exact_limits(self, queries):
        values = differences(queries)
        low, high = limits_of(run_test(values).interval)
        width = high - low
        for limit in (low, high):
            p_value = sign_flip(values - limit, samples=100_000).p_value
            assert p_value == pytest.approx(0.05, abs=0.01)
        t = t_interval(values, np.ones(queries), alternative="two-sided", level=0.05)
        assert (low, high) == (pytest.approx(t.low, abs=0.2 * width), pytest.approx(t.high, abs=0.2 * width))

    @pytest.mark.parametrize("changed", [0, 1, 2, 3, 4, 5])
    @pytest.mark.parametrize("unchanged", [0, 5, 100])
    def test_too_few_changed_queries_have_none(self, changed, unchanged):
        assert run_test([0.3, 0.2, 0.3, 0.1, 0.4][:changed] + [0.0] * unchanged + [0.0]).interval is None

    def test_the_level_decides_how_few_are_too_few(self):
        assert run_test([0.3, 0.2, 0.3, 0.1, 0.4]).interval is None
        assert run_test([0.3, 0.2, 0.3, 0.1, 0.4], level=0.1).interval is not None
        assert run_test([0.3, 0.2, 0.3, 0.1, 0.4], alternative="greater").interval == Interval(pytest.approx(0.1), None)

    @pytest.mark.parametrize("queries", [9, 60])
    def test_a_one_sided_test_leaves_a_side_open(self, queries):
        values = differences(queries)
        low, high = (run_test(values, alternative=alternative).interval for alternative in ("greater", "less"))
        assert (low.high, high.low) == (None, None)
        assert low.low < values.mean() < high.high
        both = run_test(values, level=0.1).interval
        assert (low.low, high.high) == (pytest.approx(both.low, abs=0.01), pytest.approx(both.high, abs=0.01))

    def test_without_spread_it_is_a_point(self):
        assert run_test([0.25] * 8).interval == Interval(0.25, 0.25)
        low, high = limits_of(run_test([0.1 + 0.2 - 0.2] * 40, [1.0, 7.0] * 20).interval)
        assert low <= 0.1 <= high
        assert high - low < 1e-12

    def test_a_query_with_nearly_all_of_the_weight_shows_little(self):
        """Without it the mean is that of the others, whose limits are near 0."""
        found = run_test([0.5, *differences(11)], [1e6] + [1.0] * 11)
        assert found.interval.low < 0.05

    def test_measures_share_the_flips(self):
        values = differences(50)
        both = run_sign_flips(np.column_stack((values, 2 * values)), np.ones(50), FlipSettings())
        assert both[1].interval.low == pytest.approx(2 * both[0].interval.low)
        assert both[0].interval == run_test(values).interval

    def test_a_handful_of_samples_has_none_or_an_honest_one(self):
        for samples, seed in itertools.product((1, 2, 19, 20), range(5)):
            found = run_test(differences(45), samples=samples, seed=seed)
            if found.interval is not None:
                assert (found.interval.low <= 0 <= found.interval.high) == (found.significance.p_value > 0.05)

    def test_holds_the_mean_of_symmetric_differences_as_often_as_it_says(self):
        generator = np.random.default_rng(11)
        for queries in (7, 12, 40):
            held = 0
            for trial in range(400):
                weights, values = generator.uniform(1, 5, queries), generator.normal(0.05, 0.1, queries)
                low, high = limits_of(run_test(values, weights, level=0.1, samples=400, seed=trial).interval)
                held += low <= 0.05 <= high
            assert held / 400 == pytest.approx(0.9, abs=4 * math.sqrt(0.9 * 0.1 / 400))


class TestIntervalsByT:
    def test_is_scipys(self):
        values = differences(40)
        found = t_interval(values, np.ones(40), alternative="two-sided", level=0.05)
        reference = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert limits_of(found) == (pytest.approx(reference.low), pytest.approx(reference.high))
        found = t_interval(values, np.ones(40), alternative="less", level=0.05)
        reference = stats.ttest_1samp(values, 0.0, alternative="less").confidence_interval(0.95)
        assert limits_of(found) == (pytest.approx(reference.low), pytest.approx(reference.high))

    def test_weighted_limits_are_those_that_the_test_does_not_reject(self):
        values, weights = differences(12), np.random.default_rng(2).uniform(1, 9, 12)
        loads = weights / weights.mean()
        found = t_interval(values * loads, loads, alternative="two-sided", level=0.05)
        for limit in limits_of(found):
            assert paired_t(loads * (values - limit)).p_value == pytest.approx(0.05)

    def test_weights_too_unequal_have_none(self):
        loads = np.array([11.0, *([0.1] * 10)])
        loads = loads / loads.mean()
        assert t_interval(differences(11) * loads, loads, alternative="two-sided", level=0.05) is None

    def test_no_change_has_none(self):
        assert t_interval(np.zeros(9), np.ones(9), alternative="two-sided", level=0.05) is None


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
