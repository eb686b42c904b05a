"""The mean of a suite from a sample that people judged and the scores of a machine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StatisticError, UsageError
from harness.statistics.prediction_powered import (
    JudgedSample,
    correct_scores,
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
    draws = 2000
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
