"""The choice among trials and what it gains, from tables of scores: with noise, on flat optima, with constraints."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("scipy")

import numpy as np

from harness.extensions.tuning.decision import (
    TiedScores,
    TunedQueries,
    choose_optimum,
    compute_gain,
    decide_gain,
    decide_with_ties,
    estimate_by_folds,
    estimate_spread,
)
from harness.extensions.tuning.hold_outs import draw_hold_out
from harness.extensions.tuning.model import TuningDecision, TuningTrial
from harness.model.suite import ParameterKind, Query, TunedParameter, TuningSpace

BOOST = TunedParameter("boost", ParameterKind.FLOAT, today=2, low=1, high=11)
SPACE = TuningSpace((BOOST,), {})


def tune_table(boosts, table, broken=(), weights=None):
    """Trials of these *boosts*, whose scores by query are the rows of *table*."""
    rows = {number: {f"q{place}": score for place, score in enumerate(row)} for number, row in enumerate(table)}
    trials = []
    for number, boost in enumerate(boosts):
        mean = float(np.mean(table[number]))
        trials.append(TuningTrial(number, {"boost": boost}, mean, 1.0, ("a threshold",) if number in broken else ()))
    weights = weights or [1.0] * len(table[0])
    return TunedQueries(SPACE, trials, rows, {f"q{place}": weight for place, weight in enumerate(weights)})


class TestTheChoice:
    def test_nearest_to_today_is_chosen(self):
        """Of trials that are as good within noise the nearest to today is chosen."""
        table = [[0.1, 0.2, 0.3, 0.2], [0.5, 0.61, 0.7, 0.6], [0.51, 0.6, 0.7, 0.61], [0.3, 0.4, 0.5, 0.4]]
        optimum = choose_optimum(tune_table([2, 3, 9, 2.5], table))
        assert (optimum.best, optimum.chosen, optimum.flat) == (2, 1, (1, 2))
        assert optimum.distances == {1: pytest.approx(0.1), 2: pytest.approx(0.7)}

    def test_noise_excuses_no_large_loss(self):
        """A trial that loses much of the gain is not as good, however noisy."""
        table = [[0.0, 0.0, 0.0, 0.0], [0.9, 0.0, 0.9, 0.0], [0.0, 0.9, 0.1, 0.1]]
        assert choose_optimum(tune_table([2, 9, 3], table)).flat == (1,)

    def test_today_stays_where_nothing_is_better(self):
        optimum = choose_optimum(tune_table([2, 3], [[0.5, 0.6], [0.6, 0.5]]))
        assert (optimum.best, optimum.chosen) == (0, 0)

    def test_broken_constraint_is_not_chosen(self):
        """A trial that breaks a constraint is not chosen."""
        table = [[0.1, 0.2], [0.9, 0.9], [0.4, 0.5]]
        assert choose_optimum(tune_table([2, 3, 4], table, broken=[1])).best == 2

    def test_weights_decide(self):
        table = [[0.5, 0.5], [1.0, 0.4], [0.4, 1.0]]
        assert choose_optimum(tune_table([2, 3, 4], table, weights=[1.0, 9.0])).best == 2


class TestTheGain:
    def test_it_has_the_interval_and_the_p_of_the_gate(self):
        today = {f"q{number}": 0.5 for number in range(12)}
        chosen = {query: score + 0.1 + 0.01 * place for place, (query, score) in enumerate(today.items())}
        gain = compute_gain(today, chosen, dict.fromkeys(today, 1.0), is_tested=True)
        assert gain.p_value == pytest.approx(2 / 2**12)
        assert gain.low < gain.difference < gain.high
        assert decide_gain(gain) is TuningDecision.GAIN
        loss = compute_gain(chosen, today, dict.fromkeys(today, 1.0), is_tested=True)
        assert decide_gain(loss) is TuningDecision.LOSS

    def test_queries_without_a_score_of_both_are_left_out(self):
        gain = compute_gain({"a": 0.1, "b": 0.2}, {"b": 0.4, "c": 0.3}, {"a": 1, "b": 1, "c": 1}, is_tested=False)
        assert (gain.queries, gain.difference, gain.p_value) == (1, pytest.approx(0.2), None)

    def test_without_common_queries_there_is_none(self):
        assert compute_gain({}, {"b": 0.4}, {"b": 1}, is_tested=True) is None


def test_folds_score_what_they_did_not_choose():
    table = [[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 0.5, 0.5], [0.5, 0.5, 0.9, 0.9]]
    estimate = estimate_by_folds(tune_table([2, 3, 4], table), [{"q0", "q1"}, {"q2", "q3"}])
    assert estimate.chosen == (2, 1)
    assert (estimate.by_fold, estimate.difference) == ((0.0, 0.0), 0.0)


def test_the_spread_is_that_of_trials_that_differ():
    generator = np.random.default_rng(1)
    today = generator.random(50)
    table = [today, today, today + generator.normal(0, 0.1, 50)]
    assert estimate_spread(tune_table([2, 3, 4], table)) == pytest.approx(0.1, rel=0.2)
    assert estimate_spread(tune_table([2, 3], table[:2])) is None


def test_noise_is_seldom_a_gain():
    """
    80 tunings of parameters without effect: 12 trials, 60 queries of which 24 are held out.

    A two-sided test at 5 % calls 2.5 % of them a gain on average; 8 are 10 %. On the queries that chose,
    the mean gain is far above 0, and that is what a tuner without a hold-out reports.
    """
    generator = np.random.default_rng(20_261_125)
    gains, tuned_gains, held_out_gains = 0, [], []
    queries = [Query(f"q{number}", "") for number in range(60)]
    for run in range(80):
        held_out = set(draw_hold_out(queries, 0.4, run).queries)
        table = np.clip(generator.normal(0.5, 0.25, (13, 60)), 0, 1)
        places = [place for place, query in enumerate(queries) if query.id not in held_out]
        tuned = tune_table(range(1, 14), table[:, places].tolist())
        optimum = choose_optimum(tuned)
        if optimum.chosen == 0:
            continue
        rest = [place for place, query in enumerate(queries) if query.id in held_out]
        today = {f"q{place}": float(table[0, place]) for place in rest}
        chosen = {f"q{place}": float(table[optimum.chosen, place]) for place in rest}
        gain = compute_gain(today, chosen, dict.fromkeys(today, 1.0), is_tested=True)
        gains += decide_gain(gain) is TuningDecision.GAIN
        tuned_gains.append(tuned.trials[optimum.chosen].score - tuned.trials[0].score)
        held_out_gains.append(gain.difference)
    assert gains <= 8
    assert np.mean(tuned_gains) > 0.05
    assert abs(np.mean(held_out_gains)) < 0.02


LOW = {f"q{number}": 0.3 for number in range(12)}
HIGH = {f"q{number}": 1.0 for number in range(12)}
WEIGHTS = dict.fromkeys(LOW, 1.0)


class TestTies:
    @pytest.mark.parametrize(
        ("today", "chosen", "decision"),
        [
            (TiedScores(LOW, {}), TiedScores(HIGH, {}), TuningDecision.GAIN),
            (TiedScores(LOW, HIGH), TiedScores(HIGH, {}), TuningDecision.UNDECIDED),
            (TiedScores(HIGH, {}), TiedScores(LOW, HIGH), TuningDecision.UNDECIDED),
            (TiedScores(LOW, {"q0": 0.9}), TiedScores(HIGH, {}), TuningDecision.GAIN),
            (TiedScores(HIGH, {}), TiedScores(LOW, {"q0": 0.9}), TuningDecision.LOSS),
            (TiedScores(LOW, HIGH), TiedScores(LOW, HIGH), TuningDecision.UNDECIDED),
        ],
    )
    def test_gain_holds_in_every_order_of_ties(self, today, chosen, decision):
        """A gain or a loss holds in every order of ties."""
        assert decide_with_ties(today, chosen, WEIGHTS)[0] is decision

    def test_how_far_they_move_the_difference_is_kept(self):
        _, gain = decide_with_ties(TiedScores(LOW, HIGH), TiedScores(LOW, HIGH), WEIGHTS)
        assert (gain.least, gain.difference, gain.greatest) == (pytest.approx(-0.7), 0, pytest.approx(0.7))

    def test_without_common_queries_nothing_is_decided(self):
        assert decide_with_ties(TiedScores({}, {}), TiedScores({"a": 1}, {}), {"a": 1}) == (TuningDecision.OPEN, None)
