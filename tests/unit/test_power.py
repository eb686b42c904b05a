"""The smallest difference that so many queries show: by simulation, by the noncentral t, and where there is none."""

import pytest

pytest.importorskip("numpy")

import math

import numpy as np
from scipy import stats

from harness.errors import StatisticError
from harness.statistics.power import Detectable, detectable_by_sign_flip, detectable_by_t
from harness.statistics.tests import sign_flip

SIMULATED = 400
MOVED_OF_FORTY = [*np.random.default_rng(5).normal(0.01, 0.12, 18), *[0.0] * 22]
FEW_LARGE_LOSSES = [*-np.random.default_rng(6).exponential(0.1, 24), *[0.0] * 16]
TENTHS = [-0.2, -0.1, -0.1, -0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.3] * 2 + [0.0] * 20


def power_at(drop, differences, *, level=0.05, weights=None, seed=11):
    """How often the test finds *drop* in samples of *differences*, those that moved shifted until the mean is -drop."""
    values, loads = np.array(differences), np.ones(len(differences)) if weights is None else np.array(weights)
    values, loads = values * loads / loads.mean(), loads / loads.mean()
    moved = values != 0
    shift = (values.mean() + drop) / (loads * moved).mean()
    shifted = np.where(moved, values - shift * loads, 0.0)
    assert shifted.mean() == pytest.approx(-drop)
    draw = np.random.default_rng(seed)
    samples = (shifted[draw.integers(0, len(values), len(values))] for _ in range(SIMULATED))
    return np.mean([sign_flip(sample, alternative="less", samples=2_000).p_value <= level for sample in samples])


@pytest.fixture(params=[MOVED_OF_FORTY, FEW_LARGE_LOSSES, TENTHS], ids=["normal", "skewed", "P@10"])
def differences(request):
    return request.param


class TestSignFlip:
    def test_the_drop_is_found_four_times_in_five(self, differences):
        """And oftener, for what is named leaves room for a spread that is known from these queries alone."""
        found = detectable_by_sign_flip(differences, alternative="less")
        assert not found.all_move
        assert power_at(found.difference, differences) >= 0.8

    def test_half_of_it_is_not(self, differences):
        found = detectable_by_sign_flip(differences, alternative="less")
        assert power_at(found.difference / 2, differences) < 0.65

    def test_the_level_is_the_one_that_is_asked_for(self):
        strict = detectable_by_sign_flip(MOVED_OF_FORTY, alternative="less", level=0.01)
        assert power_at(strict.difference, MOVED_OF_FORTY, level=0.01) >= 0.8

    def test_a_weighted_mean_is_found_as_often(self):
        weights = np.random.default_rng(7).lognormal(0, 0.7, 40)
        found = detectable_by_sign_flip(MOVED_OF_FORTY, weights=weights.tolist(), alternative="less")
        assert power_at(found.difference, MOVED_OF_FORTY, weights=weights) >= 0.8
        assert power_at(found.difference / 2, MOVED_OF_FORTY, weights=weights) < 0.65
        assert found.difference > detectable_by_sign_flip(MOVED_OF_FORTY, alternative="less").difference

    def test_equal_weights_are_no_weights(self):
        with_weights = detectable_by_sign_flip(MOVED_OF_FORTY, weights=[3.0] * 40, alternative="less")
        assert with_weights == detectable_by_sign_flip(MOVED_OF_FORTY, alternative="less")

    def test_either_way_is_the_greater_of_a_drop_and_a_rise_at_half_the_level(self):
        both = detectable_by_sign_flip(FEW_LARGE_LOSSES).difference
        sides = [
            detectable_by_sign_flip(FEW_LARGE_LOSSES, alternative=side, level=0.025).difference
            for side in ("less", "greater")
        ]
        assert both == pytest.approx(max(sides), rel=1e-12)
        assert sides[0] != sides[1]

    def test_a_rise_of_the_differences_is_a_drop_of_their_opposites(self):
        rise = detectable_by_sign_flip(FEW_LARGE_LOSSES, alternative="greater").difference
        opposites = [-value for value in FEW_LARGE_LOSSES]
        assert detectable_by_sign_flip(opposites, alternative="less").difference == pytest.approx(rise, rel=0.1)

    def test_of_so_few_that_moved_no_shift_is_found_so_all_would_have_to(self):
        """The spread is that of the one that moved, 0.05; of 225 normal ones the t test finds 0.166 of it."""
        found = detectable_by_sign_flip([-0.05] + [0.0] * 224, alternative="less")
        assert found.all_move
        assert found.difference == pytest.approx(detectable_by_t(0.05, 225, alternative="less"), rel=0.03)

    def test_five_queries_have_all_to_fall(self):
        """P(all five below 0) = 0.8 where each is with 0.8 ** (1/5): 1.711 deviations, here of 0.2 ** 0.5."""
        found = detectable_by_sign_flip([-1.0] * 4 + [0.0], alternative="less")
        expected = stats.norm.ppf(0.8**0.2) * math.sqrt(0.2)
        assert found == Detectable(pytest.approx(expected, rel=0.01), all_move=True)

    def test_of_many_queries_it_is_about_what_the_t_test_finds(self):
        """And a little more, for the spread is known from the queries alone."""
        for queries, room in ((225, 1.12), (20_000, 1.04)):
            values = np.random.default_rng(8).normal(0, 0.15, queries)
            by_t = detectable_by_t(values.std(ddof=1), queries, alternative="less")
            assert by_t <= detectable_by_sign_flip(values, alternative="less").difference <= room * by_t

    @pytest.mark.parametrize("level", [0.5, 0.1, 0.001, 0.0001])
    def test_any_level(self, level):
        values = np.random.default_rng(9).normal(0, 0.15, 100)
        by_t = detectable_by_t(values.std(ddof=1), 100, alternative="less", level=level)
        assert detectable_by_sign_flip(values, alternative="less", level=level).difference == pytest.approx(
            by_t, rel=0.3
        )

    @pytest.mark.parametrize(
        ("differences", "level"),
        [
            pytest.param([0.0] * 30, 0.05, id="none moved"),
            pytest.param([-1.0] * 4, 0.05, id="four at 5%"),
            pytest.param([-0.1] * 30, 0.05, id="all equal"),
            pytest.param([0.3 - 0.2, 0.2 - 0.1] * 9, 0.05, id="all equal but for rounding"),
            pytest.param([-0.5, 0.5, -0.1, 0.3, 0.2, 0.1], 0.01, id="six at 1%"),
            pytest.param(MOVED_OF_FORTY, 1e-5, id="a level too low"),
        ],
    )
    def test_where_there_is_none(self, differences, level):
        assert detectable_by_sign_flip(differences, alternative="less", level=level) is None

    @pytest.mark.parametrize("unit", [1e-300, 1e300])
    def test_scores_of_any_size(self, unit):
        huge = detectable_by_sign_flip([value * unit for value in MOVED_OF_FORTY]).difference
        assert huge == pytest.approx(detectable_by_sign_flip(MOVED_OF_FORTY).difference * unit, rel=1e-9)

    def test_weights_of_any_size(self):
        for scale in (5e-324, 1e-300, 1e300):
            found = detectable_by_sign_flip(MOVED_OF_FORTY, weights=[scale, 2 * scale] * 20)
            plain = detectable_by_sign_flip(MOVED_OF_FORTY, weights=[1.0, 2.0] * 20)
            assert found.difference == pytest.approx(plain.difference, rel=1e-12)
        assert detectable_by_sign_flip(MOVED_OF_FORTY, weights=[1e-300, 1.0, 1.0, 1e300] * 10).difference > 0

    def test_the_level_must_be_below_the_power(self):
        with pytest.raises(StatisticError, match=r"the level must be above 0 and below the power, 0\.8; found 0\.9"):
            detectable_by_sign_flip(MOVED_OF_FORTY, level=0.9)


class TestT:
    @pytest.mark.parametrize("queries", [3, 10, 30, 225])
    @pytest.mark.parametrize("alternative", ["two-sided", "less"])
    def test_power_by_the_noncentral_t(self, queries, alternative):
        found = detectable_by_t(0.1, queries, alternative=alternative)
        critical = stats.t.isf(0.025 if alternative == "two-sided" else 0.05, queries - 1)
        assert stats.nct.sf(critical, queries - 1, found / 0.1 * math.sqrt(queries)) == pytest.approx(0.8, abs=1e-4)

    def test_cohen_1988_thirty_four_pairs_for_half_a_deviation(self):
        assert detectable_by_t(1.0, 34) < 0.5 < detectable_by_t(1.0, 33)

    def test_scales_with_the_spread(self):
        assert detectable_by_t(0.2, 30) == pytest.approx(2 * detectable_by_t(0.1, 30))

    @pytest.mark.parametrize(("deviation", "queries"), [(0.1, 1), (0.0, 30), (float("nan"), 30), (-0.1, 30)])
    def test_needs_queries_and_spread(self, deviation, queries):
        with pytest.raises(StatisticError, match="needs 2 queries and a spread above 0"):
            detectable_by_t(deviation, queries)

    def test_the_level_must_be_below_the_power(self):
        with pytest.raises(StatisticError, match=r"the level must be above 0 and below the power, 0\.8; found 0\.9"):
            detectable_by_t(0.1, 30, level=0.9)
