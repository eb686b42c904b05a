"""The mean of a suite from a sample that people judged and the scores of a machine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StatisticError, UsageError
from harness.statistics.mean_intervals import count_by_weights
from harness.statistics.prediction_powered import (
    MISSED_ERRORS,
    JudgedSample,
    correct_scores,
    count_by_skewness,
    estimate_by_people,
    estimate_mean,
    find_tuning,
    make_sample,
)

QUERIES = 300
JUDGED = 60


def draw_scores(seed: int) -> tuple[np.random.Generator, np.ndarray]:
    """Scores of a suite: most in the middle, some queries perfect and some without a relevant hit."""
    generator = np.random.default_rng(seed)
    scores = generator.beta(2, 1.5, QUERIES)
    scores[generator.random(QUERIES) < 0.1] = 1.0
    scores[generator.random(QUERIES) < 0.05] = 0.0
    return generator, scores


MACHINES = {
    "biased": lambda scores, generator: np.clip(0.4 + 0.6 * scores + generator.normal(0, 0.05, len(scores)), 0, 1),
    "noisy": lambda scores, generator: np.clip(scores + generator.normal(0, 0.2, len(scores)), 0, 1),
    "useless": lambda scores, generator: generator.beta(2, 2, len(scores)),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_each_bound_holds_as_often_as_it_says(machine: str) -> None:
    generator, scores = draw_scores(7)
    by_machine = MACHINES[machine](scores, generator)
    below = above = 0
    draws = 1000
    for _ in range(draws):
        drawn = generator.choice(QUERIES, JUDGED, replace=False)
        powered = estimate_mean(make_sample(scores[drawn], by_machine[drawn], by_machine))
        assert powered.low is not None
        assert powered.high is not None
        below += powered.low <= scores.mean()
        above += powered.high >= scores.mean()
    # Two points, and the bounds are the seeded draws' own: nothing here is left to chance.
    assert below / draws == pytest.approx(0.95, abs=0.02)
    assert above / draws == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    ("machine", "least", "most"), [("biased", 0.1, 0.6), ("noisy", 0.3, 0.8), ("useless", 0.9, 1.1)]
)
def test_the_better_the_machine_the_narrower_the_bounds(machine: str, least: float, most: float) -> None:
    generator, scores = draw_scores(8)
    by_machine = MACHINES[machine](scores, generator)
    drawn = generator.choice(QUERIES, JUDGED, replace=False)
    sample = make_sample(scores[drawn], by_machine[drawn], by_machine)
    powered, alone = estimate_mean(sample).width, estimate_by_people(sample).width
    assert powered is not None
    assert alone is not None
    assert least < powered / alone < most


def test_a_machine_that_is_always_wrong_by_the_same_is_corrected() -> None:
    generator, scores = draw_scores(9)
    lenient = scores * 0.5 + 0.5
    means = []
    for _ in range(500):
        drawn = generator.choice(QUERIES, JUDGED, replace=False)
        means.append(estimate_mean(make_sample(scores[drawn], lenient[drawn], lenient)).mean)
    assert lenient.mean() - scores.mean() > 0.1
    assert np.mean(means) == pytest.approx(scores.mean(), abs=0.005)


def test_of_a_suite_that_people_judged_as_a_whole_the_mean_is_known() -> None:
    people = np.array([0.0, 0.5, 1.0, 0.7])
    powered = estimate_mean(make_sample(people, people[::-1], people[::-1]))
    assert powered.low == powered.high == powered.mean == pytest.approx(0.55)


def test_skewness_counts_less_the_more_of_the_queries_are_judged() -> None:
    """Half of a population that is drawn has a mean that is not skewed: both bounds are as far from it."""
    people = np.array([1.0] * 27 + [0.0, 0.2, 0.3])
    machine = np.zeros(30)
    halves = estimate_mean(make_sample(people, machine, np.zeros(60)))
    few = estimate_mean(make_sample(people, machine, np.zeros(3000)))
    for powered, is_even in ((halves, True), (few, False)):
        assert powered.low is not None
        assert powered.high is not None
        below, above = powered.mean - powered.low, powered.high - powered.mean
        assert (below == pytest.approx(above)) is is_even
        assert below >= above - 1e-12


def test_equal_scores_of_the_sample_say_nothing_of_other_queries() -> None:
    powered = estimate_mean(make_sample([1.0] * 45, [1.0] * 45, [1.0] * 60))
    assert (powered.mean, powered.low, powered.high, powered.width) == (1.0, None, None, None)


def test_a_machine_that_is_never_wrong_in_the_sample_is_not_believed_beyond_it() -> None:
    people = np.linspace(0, 1, 40)
    sample = make_sample(people, people, np.append(people, [0.1] * 60))
    assert estimate_mean(sample) == estimate_by_people(sample)


@pytest.mark.parametrize(("factor", "mean"), [(0.0, 0.633333333), (0.4, 0.6), (1.0, 0.55)])
def test_with_a_given_factor_the_mean_is_that_of_the_package_ppi_python(factor: float, mean: float) -> None:
    """*mean* is what `ppi_mean_pointestimate(people, machine, others, lam=factor)` of version 0.2.3 returns."""
    people, machine = np.array([0.9, 0.4, 0.7, 0.6, 0.2, 1.0]), np.array([0.8, 0.5, 0.9, 0.7, 0.1, 0.8])
    # The package takes the queries that people did not judge as another sample, with a mean of its own.
    others = np.array([0.3, 0.6, 0.7, 0.9, 0.2, 0.5, 0.8, 0.4])
    sample = JudgedSample(people, machine, float(others.mean()), len(others))
    assert correct_scores(sample, np.full(6, factor)).mean() == pytest.approx(mean, abs=1e-9)


def test_the_factor_is_the_packages_but_for_a_population_that_is_known() -> None:
    """
    For these arrays the package's factor makes its mean 0.588243460. There the machine's scores of other queries are a
    sample too, so its factor is covariance / ((1 + n/N) * variance of all of the machine's scores).
    """
    people, machine = np.array([0.9, 0.4, 0.7, 0.6, 0.2, 1.0]), np.array([0.8, 0.5, 0.9, 0.7, 0.1, 0.8])
    others = np.array([0.3, 0.6, 0.7, 0.9, 0.2, 0.5, 0.8, 0.4])
    sample = JudgedSample(people, machine, float(others.mean()), len(others))
    variance_of_all = np.append(machine, others).var(ddof=1)
    covariance = find_tuning(people, machine) * machine.var(ddof=1)
    # Its covariance is divided by n, ours by n - 1.
    theirs = covariance * 5 / 6 / ((1 + 6 / 8) * variance_of_all)
    assert correct_scores(sample, np.full(6, theirs)).mean() == pytest.approx(0.58824346, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(30, 60))
def test_the_factor_is_between_0_and_1_and_the_mean_between_the_bounds(seed: int, judged: int) -> None:
    generator = np.random.default_rng(seed)
    people, machine = generator.random(judged), generator.random(100)
    powered = estimate_mean(make_sample(people, machine[:judged], machine))
    assert 0 <= powered.tuning <= 1
    assert powered.low is not None
    assert powered.high is not None
    assert powered.low <= powered.mean <= powered.high


@pytest.mark.parametrize(
    ("people", "machine", "everywhere"), [([0.1, 0.2], [0.1], [0.1, 0.2]), ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [1, 0])]
)
def test_lengths_that_do_not_fit_are_an_error(
    people: list[float], machine: list[float], everywhere: list[float]
) -> None:
    with pytest.raises((UsageError, StatisticError)):
        make_sample(people, machine, everywhere)


class TestQueriesWithoutAScore:
    """The mean is over the queries that have a score by people's grades, whatever the machine finds for the others."""

    MACHINES = (
        ("noisy", lambda scores, generator: np.clip(scores + generator.normal(0, 0.2, len(scores)), 0, 1)),
        ("good", lambda scores, generator: np.clip(scores + generator.normal(0, 0.02, len(scores)), 0, 1)),
    )

    @pytest.mark.parametrize(
        ("machine", "share", "found"), [(0, 0.05, 0.5), (0, 0.4, 1.0), (0, 0.4, 0.0), (1, 0.05, 1.0), (1, 0.4, 0.5)]
    )
    def test_each_bound_holds_as_often_as_it_says(self, machine: int, share: float, found: float) -> None:
        generator, people = draw_scores(11)
        by_machine = self.MACHINES[machine][1](people, generator)
        undefined = generator.choice(QUERIES, round(share * QUERIES), replace=False)
        people[undefined] = np.nan
        # One hit with a grade is the whole ideal ranking.
        by_machine[undefined] = 1 / np.log2(1 + generator.integers(1, 11, len(undefined)))
        by_machine[undefined[round(found * len(undefined)) :]] = np.nan
        truth = np.nanmean(people)
        below = above = 0
        draws = 400
        for _ in range(draws):
            drawn = generator.choice(QUERIES, 80, replace=False)
            powered = estimate_mean(make_sample(people[drawn], by_machine[drawn], by_machine))
            assert powered.low is not None
            assert powered.high is not None
            below += powered.low <= truth
            above += powered.high >= truth
        # Bounds that allow for missed errors hold more often; 1.1 points are a standard deviation.
        assert below / draws > 0.925
        assert above / draws > 0.925

    def test_by_people_alone_it_is_their_mean(self) -> None:
        people = np.array([0.2, np.nan, 0.6, 1.0, np.nan])
        sample = make_sample(people, np.ones(5), np.ones(50))
        assert estimate_by_people(sample).mean == pytest.approx(0.6)
        assert estimate_mean(sample).mean == pytest.approx(0.6)

    def test_their_number_is_estimated_too(self) -> None:
        """Were it known, the bounds would be those of as many judged queries as have a score."""
        _, people = draw_scores(12)
        some = np.where(np.arange(60) % 3 == 0, np.nan, people[:60])
        all_defined = estimate_by_people(make_sample(people[:60], np.zeros(60), np.zeros(3000)))
        some_defined = estimate_by_people(make_sample(some, np.zeros(60), np.zeros(3000)))
        assert some_defined.width is not None
        assert all_defined.width is not None
        assert some_defined.width / all_defined.width == pytest.approx(1.5**0.5, rel=0.1)

    def test_of_a_suite_that_people_judged_as_a_whole_the_mean_is_known(self) -> None:
        powered = estimate_mean(make_sample([0.0, np.nan, 1.0, 0.5], [1.0] * 4, [1.0] * 4))
        assert powered.low == powered.high == powered.mean == pytest.approx(0.5)

    def test_a_machine_that_finds_nothing_anywhere_says_nothing(self) -> None:
        people, nothing = np.linspace(0, 1, 40), np.full(40, np.nan)
        sample = make_sample(people, nothing, np.full(90, np.nan))
        assert estimate_mean(sample) == estimate_by_people(sample)

    @pytest.mark.parametrize("people", [[np.nan] * 3, [0.1, np.inf, 0.2], [0.1, -np.inf, 0.2]])
    def test_without_a_score_there_is_nothing_to_estimate(self, people: list[float]) -> None:
        with pytest.raises(StatisticError):
            make_sample(people, [0.5] * 3, [0.5] * 6)


class TestWeights:
    """The weighted mean is a ratio of two sums, which the sample estimates both."""

    def test_by_people_alone_it_is_the_weighted_mean_of_the_sample(self) -> None:
        people, weights = np.array([0.9, 0.2, 0.4, 1.0]), np.array([10.0, 1.0, 2.0, 3.0])
        all_weights = np.append(weights, [1.0] * 20)
        sample = make_sample(people, np.zeros(4), np.zeros(24), weights, all_weights)
        assert estimate_by_people(sample).mean == pytest.approx(np.average(people, weights=weights))

    def test_equal_scores_are_no_spread_however_the_weights_differ(self) -> None:
        weights = np.arange(1.0, 51.0)
        sample = make_sample([1.0] * 40, [1.0] * 40, [1.0] * 50, weights[:40], weights)
        assert estimate_mean(sample).low is None

    @pytest.mark.parametrize("factor", [1e-200, 3.0, 1e300])
    def test_only_their_ratios_matter(self, factor: float) -> None:
        generator, people = draw_scores(13)
        weights = generator.lognormal(0, 0.5, QUERIES)
        first = make_sample(people[:60], people[:60] ** 2, people**2, weights[:60], weights)
        scaled = make_sample(people[:60], people[:60] ** 2, people**2, factor * weights[:60], factor * weights)
        assert estimate_mean(scaled).low == pytest.approx(estimate_mean(first).low)

    @pytest.mark.parametrize(
        "weigh",
        [
            lambda generator: generator.lognormal(0, 0.5, QUERIES),
            lambda generator: generator.permutation(np.arange(1.0, QUERIES + 1) ** -0.3),
            lambda generator: np.where(np.arange(QUERIES) == 17, 6.0, 1.0),
        ],
    )
    def test_where_they_count_as_enough_each_bound_holds_as_often_as_it_says(self, weigh) -> None:
        below = above = draws = 0
        for seed in range(5):
            generator, people = draw_scores(seed)
            by_machine = np.clip(people + generator.normal(0, 0.2, QUERIES), 0, 1)
            weights = weigh(generator)
            truth = np.average(people, weights=weights)
            size = int(np.ceil(30 * QUERIES / count_by_skewness(weights)))
            assert size < QUERIES // 2
            for _ in range(100):
                drawn = generator.choice(QUERIES, size, replace=False)
                sample = make_sample(people[drawn], by_machine[drawn], by_machine, weights[drawn], weights)
                powered = estimate_mean(sample)
                assert powered.low is not None
                assert powered.high is not None
                below += powered.low <= truth
                above += powered.high >= truth
                draws += 1
        assert below / draws > 0.925
        assert above / draws > 0.925

    @given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=40))
    def test_they_count_as_no_more_than_for_the_variance(self, weights: list[float]) -> None:
        counted = count_by_skewness(weights)
        assert 1 - 1e-9 <= counted <= len(weights) * (1 + 1e-9)
        assert int(counted - 1e-6) <= count_by_weights(weights)


def test_a_machine_that_was_nearly_always_right_in_the_sample_may_have_errors_outside_of_it() -> None:
    """Errors in one of twenty queries are missed by a fifth of the samples of thirty, as if there were none."""
    generator, people = draw_scores(14)
    by_machine = np.clip(people + generator.normal(0, 0.005, QUERIES), 0, 1)
    wrong = generator.choice(QUERIES, 15, replace=False)
    by_machine[wrong] = 1.0
    holds = 0
    for _ in range(250):
        drawn = generator.choice(QUERIES, 30, replace=False)
        powered = estimate_mean(make_sample(people[drawn], by_machine[drawn], by_machine))
        assert powered.high is not None
        assert powered.low is not None
        holds += powered.low <= people.mean() <= powered.high
    assert holds / 250 > 0.85


def test_the_bounds_of_a_perfect_machine_have_a_least_width() -> None:
    generator, people = draw_scores(15)
    by_machine = np.clip(people + generator.normal(0, 1e-4, QUERIES), 0, 1)
    sample = make_sample(people[:60], by_machine[:60], by_machine)
    powered, alone = estimate_mean(sample).width, estimate_by_people(sample).width
    assert powered is not None
    assert alone is not None
    assert powered / alone == pytest.approx((MISSED_ERRORS / 60) ** 0.5, rel=0.05)


@pytest.mark.parametrize("sizes", [(30, 60), (30, 60, 90)])
def test_at_all_looks_together_a_bound_is_wrong_as_seldom_as_promised(sizes: tuple[int, ...]) -> None:
    generator, people = draw_scores(16)
    by_machine = np.clip(people + generator.normal(0, 0.2, QUERIES), 0, 1)
    draws, unnamed, named = 200, 0, 0
    for _ in range(draws):
        order = generator.permutation(QUERIES)
        samples = [make_sample(people[order[:size]], by_machine[order[:size]], by_machine) for size in sizes]
        lows = [estimate_mean(sample).low or 0.0 for sample in samples]
        unnamed += max(lows) > people.mean()
        lows = [estimate_mean(sample, level=0.05 / len(sizes)).low or 0.0 for sample in samples]
        named += max(lows) > people.mean()
    assert named / draws < 0.06
    assert named < unnamed
