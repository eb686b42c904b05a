"""How many queries show an effect: against known tables, by the power of the test, and where nothing follows."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

import numpy as np
from scipy import stats

from harness.errors import StatisticError, UsageError
from harness.statistics.compare import pair_up
from harness.statistics.planning import PlanSettings, plan_queries
from harness.statistics.power import detectable_by_t, limit_spread, queries_by_t

MOVES = [0.1, -0.1, 0.3, 0.0, 0.0, 0.2, -0.2, 0.1, 0.0, 0.1]


def pair_of(moves, weights=()):
    reference = {f"q{place}": 0.5 for place in range(len(moves))}
    candidate = {f"q{place}": 0.5 + move for place, move in enumerate(moves)}
    return pair_up("nDCG@10", reference, candidate, dict(zip(reference, weights, strict=False)))


class TestQueriesByT:
    @pytest.mark.parametrize(
        ("effect", "power", "alternative", "queries"),
        [
            (0.5, 0.8, "two-sided", 34),
            (0.5, 0.9, "two-sided", 44),
            (0.2, 0.8, "two-sided", 199),
            (0.8, 0.8, "two-sided", 15),
            (0.5, 0.8, "greater", 27),
            (0.5, 0.95, "less", 45),
        ],
    )
    def test_it_agrees_with_published_tables(self, effect, power, alternative, queries):
        """Those of G*Power 3.1 for the difference of two dependent means, by d."""
        assert queries_by_t(1.0, effect, alternative=alternative, power=power) == queries
        assert queries_by_t(0.3, 0.3 * effect, alternative=alternative, power=power) == queries

    @pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
    def test_so_many_find_it_and_one_fewer_does_not(self, power):
        queries = queries_by_t(0.3, 0.05, level=0.01, power=power)
        assert detectable_by_t(0.3, queries, level=0.01, power=power) <= 0.05
        assert detectable_by_t(0.3, queries - 1, level=0.01, power=power) > 0.05

    def test_it_is_the_noncentral_t(self):
        queries = queries_by_t(0.3, 0.05, power=0.9)
        shift, critical = 0.05 / 0.3 * queries**0.5, stats.t.isf(0.025, queries - 1)
        assert stats.nct.sf(critical, queries - 1, shift) == pytest.approx(0.9, abs=0.002)

    def test_two_are_the_fewest(self):
        assert queries_by_t(0.001, 1.0, power=0.5) == 2

    def test_millions_are_counted_as_if_the_spread_were_known(self):
        assert queries_by_t(1.0, 1e-3) == pytest.approx(7_848_880, rel=1e-6)
        assert queries_by_t(1.0, 1e-8) == pytest.approx(7.84888e16, rel=1e-4)

    @pytest.mark.parametrize(("spread", "difference"), [(0.0, 0.1), (0.1, 0.0), (0.1, -0.1), (1.0, 1e-10)])
    def test_without_a_spread_or_a_difference_there_is_none(self, spread, difference):
        with pytest.raises(StatisticError, match="a number of queries needs a spread above 0, and a difference"):
            queries_by_t(spread, difference)

    def test_the_level_is_below_the_power(self):
        with pytest.raises(StatisticError, match=r"the level must be above 0 and below the power, 0\.5; found 0\.6"):
            queries_by_t(0.1, 0.1, level=0.6, power=0.5)


def test_the_limit_of_the_spread_holds_that_of_all():
    draw = np.random.default_rng(3)
    held = [limit_spread(draw.normal(0, 0.2, 300)) >= 0.2 for _ in range(400)]
    assert 0.9 <= np.mean(held) <= 0.99


class TestPlan:
    def test_it_has_a_line_for_each_power(self):
        plan = plan_queries(pair_of(MOVES), PlanSettings(0.05))
        deviation = float(np.std(MOVES, ddof=1))
        assert (plan.measure, plan.queries) == ("nDCG@10", 10)
        assert plan.difference == pytest.approx(0.05)
        assert plan.standard_deviation == pytest.approx(deviation)
        assert [planned.power for planned in plan.plans] == [0.5, 0.8, 0.9, 0.95]
        for planned in plan.plans:
            assert planned.queries == queries_by_t(deviation, 0.05, power=planned.power)
            assert planned.queries_at_most == queries_by_t(limit_spread(MOVES), 0.05, power=planned.power)
            assert planned.queries_at_most > planned.queries
            assert planned.detectable == pytest.approx(detectable_by_t(deviation, 10, power=planned.power))

    def test_level_and_side_are_those_of_the_test(self):
        plan = plan_queries(pair_of(MOVES), PlanSettings(0.05, 0.01, "greater"))
        deviation = float(np.std(MOVES, ddof=1))
        test = {"level": 0.01, "alternative": "greater", "power": 0.8}
        assert plan.plans[1].queries == queries_by_t(deviation, 0.05, **test)
        assert plan.plans[1].queries_at_most == queries_by_t(limit_spread(MOVES), 0.05, **test)
        assert plan.plans[1].detectable == pytest.approx(detectable_by_t(deviation, 10, **test))

    def test_weights_count_in_the_difference_and_the_spread(self):
        weights = [1.0, 3.0] * 5
        plan = plan_queries(pair_of(MOVES, weights), PlanSettings(0.05))
        weighed = np.array(MOVES) * weights / 2
        assert plan.difference == pytest.approx(weighed.mean())
        assert plan.standard_deviation == pytest.approx(weighed.std(ddof=1))

    def test_few_queries_and_equal_differences_say_nothing_of_the_spread(self):
        assert plan_queries(pair_of(MOVES[:6]), PlanSettings(0.05)).plans
        few = plan_queries(pair_of(MOVES[:5]), PlanSettings(0.05))
        assert (few.plans, few.reason) == ((), "5 queries with a score on both sides, expected 6 or more")
        equal = plan_queries(pair_of([0.1] * 8), PlanSettings(0.05))
        assert (equal.plans, equal.standard_deviation) == ((), None)
        assert equal.reason == "the difference is the same for each query, so that nothing is known of its spread"

    @pytest.mark.parametrize("effect", [0.0, -0.02, float("inf"), float("nan")])
    def test_an_effect_is_above_zero(self, effect):
        with pytest.raises(UsageError, match=r"found the effect .*, expected a difference of means above 0"):
            PlanSettings(effect)

    @pytest.mark.parametrize("level", [0.0, 0.5, 1.0, float("nan")])
    def test_a_level_is_below_the_least_power(self, level):
        with pytest.raises(UsageError, match=r"found level .*, expected one above 0 and below 0\.5, such as 0\.05"):
            PlanSettings(0.02, level)
