"""
What follows from the scores of trials: the choice, what is as good as the best within noise, and gains. Pure.

A table has the scores of the queries by trial. Trial 0 is today's request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from harness.errors import StatisticError
from harness.extensions.tuning.model import (
    TUNING_LEVEL,
    FalseHitsChange,
    FoldsEstimate,
    TuningDecision,
    TuningGain,
    TuningOptimum,
    TuningTrial,
)
from harness.means import are_weighted, mean_of
from harness.model.suite import Json, TunedParameter, TuningSpace
from harness.statistics.compare import ComparisonOptions, PairedScores, compare, pair_up
from harness.statistics.paired import EQUAL, pair_defined
from harness.statistics.planning import FEWEST_QUERIES
from harness.statistics.power import detectable_by_t
from harness.statistics.tests import effect_size

ScoresByTrial: TypeAlias = Mapping[int, Mapping[str, float]]
"""Trial to query to score; a query without a score is not in it."""

TODAY = 0
"""The number of the trial that is today's request."""

KEPT_GAIN = 0.75
"""The share of the best trial's gain that a trial has to keep to be as good within noise."""


@dataclass(frozen=True, slots=True)
class TunedQueries:
    """The trials of a study, and their scores on the tuning queries."""

    space: TuningSpace
    trials: Sequence[TuningTrial]
    table: ScoresByTrial
    weights: Mapping[str, float]
    """The weight of each query."""


def measure_distance(
    parameters: Sequence[TunedParameter], first: Mapping[str, Json], second: Mapping[str, Json]
) -> float:
    """
    How far two trials are apart: the mean over *parameters*, each from 0 to 1.

    >>> from harness.model.suite import ParameterKind
    >>> boost = TunedParameter("boost", ParameterKind.FLOAT, 2, low=1, high=16, log=True)
    >>> measure_distance([boost], {"boost": 2}, {"boost": 8})
    0.5
    """
    distances = []
    for parameter in parameters:
        first_value, second_value = first[parameter.name], second[parameter.name]
        if parameter.has_choices:
            distances.append(float(first_value != second_value))
        elif parameter.log:
            log_ratio = math.log(first_value / second_value)
            distances.append(abs(log_ratio) / math.log(parameter.high / parameter.low))
        else:
            distances.append(abs(first_value - second_value) / (parameter.high - parameter.low))
    return math.fsum(distances) / len(distances)


def choose_optimum(tuned: TunedQueries, queries: Set[str] | None = None) -> TuningOptimum:
    """
    Choose a trial by the scores of the tuning queries, or by those of *queries* among them.

    The best is the trial with the highest mean that breaks no constraint. The mean of a maximum is too high, and the
    best of many trials on a flat optimum is a matter of chance. So a trial counts as good as the best if its mean is
    within one standard error of it, that of the paired difference (the rule of Breiman et al., "Classification and
    Regression Trees", 1984), and if it keeps most of the gain. The one that is nearest to today's values is chosen: it
    changes least for the same.

    Where no trial is better than today's request, that is chosen. Where today's request has more false hits than are
    allowed, the best of the trials that have not is chosen, if there is one, though its mean may be lower.
    """
    today = _select(tuned.table[TODAY], queries)
    is_today_possible = not tuned.trials[TODAY].broken
    means: dict[int, float] = {}
    for trial in tuned.trials:
        if trial.is_possible and trial.same_as is None:
            scores = _select(tuned.table[trial.number], queries)
            means[trial.number] = mean_of(scores, tuned.weights)
    today_mean = mean_of(today, tuned.weights)
    if is_today_possible or not means:
        means[TODAY] = today_mean
    # Of equal means the first: max keeps today's request where nothing is better.
    best = max(sorted(means), key=means.__getitem__)
    if best == TODAY or (is_today_possible and means[best] - today_mean <= EQUAL):
        return TuningOptimum(TODAY, TODAY, (TODAY,), {TODAY: 0.0})
    distances = {}
    for trial in tuned.trials:
        if trial.number not in means or trial.number == TODAY:
            continue
        # Where today's request is out of the question, no gain over it is to be kept.
        least_mean = today_mean + KEPT_GAIN * (means[best] - today_mean) if is_today_possible else -math.inf
        keeps_gain = means[trial.number] >= least_mean - EQUAL
        pair = _pair(tuned, trial.number, best, queries)
        if keeps_gain and (trial.number == best or _is_within_noise(pair)):
            distances[trial.number] = measure_distance(tuned.space.parameters, tuned.space.today, trial.values)

    def rank_trial(number: int) -> tuple[float, float, int]:
        """Sorts the trial nearest to today's values first, of these the best, and of these the earliest."""
        return distances[number], -means[number], number

    flat = sorted(distances, key=rank_trial)
    return TuningOptimum(best, flat[0], tuple(flat), {number: distances[number] for number in flat})


def _select(scores: Mapping[str, float], queries: Set[str] | None) -> Mapping[str, float]:
    """The *scores* of *queries*; all of them where that is None."""
    if queries is None:
        return scores
    return {query: score for query, score in scores.items() if query in queries}


def _pair(tuned: TunedQueries, reference: int, candidate: int, queries: Set[str] | None = None) -> PairedScores:
    """The scores of two trials by their numbers, query by query; of *queries* alone where these are given."""
    weights = tuned.weights if are_weighted(tuned.weights.values()) else {}
    first = dict(_select(tuned.table[reference], queries))
    second = dict(_select(tuned.table[candidate], queries))
    return pair_up("", first, second, weights)


def _is_within_noise(pair: PairedScores) -> bool:
    """Whether the mean of the differences of *pair* is at most their standard error."""
    if len(pair.queries) < 2:
        return False
    spread = effect_size(pair.weighed).standard_deviation
    return float(np.mean(pair.weighed)) <= spread / math.sqrt(len(pair.queries)) + EQUAL


def compute_gain(
    today: Mapping[str, float], chosen: Mapping[str, float], weights: Mapping[str, float], *, is_tested: bool
) -> TuningGain | None:
    """
    The gain of the choice over the queries that have a score of both; None where none has.

    With *is_tested* the difference has its p-value and its interval, by the sign-flip test of the gate and of
    `relevance compare`.
    """
    pairs = pair_defined(today, chosen)
    if not pairs:
        return None
    weights = weights if are_weighted(weights[query] for query in pairs) else {}
    if not is_tested:
        mean_today = mean_of({query: today[query] for query in pairs}, weights)
        mean_chosen = mean_of({query: chosen[query] for query in pairs}, weights)
        return TuningGain(len(pairs), mean_today, mean_chosen, mean_chosen - mean_today)
    comparison = compare(
        {"": dict(today)}, {"": dict(chosen)}, options=ComparisonOptions(level=TUNING_LEVEL), weights=weights or None
    )
    [row] = comparison.measures
    return TuningGain(
        queries=row.queries,
        today=row.reference,
        chosen=row.candidate,
        difference=row.difference,
        low=row.low,
        high=row.high,
        p_value=row.p_value,
        changed=row.changed,
        least_p=row.least_p,
        detectable=row.detectable,
    )


def compare_false_hits(
    queries: Sequence[str], today: Sequence[str], chosen: Sequence[str], *, is_tested: bool
) -> FalseHitsChange | None:
    """
    Compare on which of *queries*, for which no result is right, there are hits with today's request and the choice.

    None where there is no such query.
    """
    if not queries:
        return None
    change = FalseHitsChange(len(queries), len(today), len(chosen))
    if not is_tested:
        return change
    before, after = ({query: float(query in false_hits) for query in queries} for false_hits in (today, chosen))
    tested = compute_gain(before, after, dict.fromkeys(queries, 1.0), is_tested=True)
    return change if tested is None else replace(change, p_value=tested.p_value)


def decide_with_false_hits(
    decision: TuningDecision, change: FalseHitsChange | None, *, is_allowed: bool
) -> TuningDecision:
    """
    What the hold-out says of the choice by its scores, which is *decision*, and by its false hits.

    A loss in either is one. A gain in either is one if the choice does not find more than *is_allowed*: not more than
    the threshold on false hits says, or without one, not more than today's request.
    """
    if change is None or decision is TuningDecision.OPEN:
        return decision
    is_shown = change.p_value is not None and change.p_value <= TUNING_LEVEL
    if decision is TuningDecision.LOSS or (is_shown and change.chosen > change.today):
        return TuningDecision.LOSS
    if not is_allowed:
        return TuningDecision.UNDECIDED
    if is_shown and change.chosen < change.today:
        return TuningDecision.GAIN
    return decision


@dataclass(frozen=True, slots=True)
class TiedScores:
    """The scores of a request on some queries, at their least and at their greatest over the orders of ties."""

    least: Mapping[str, float]
    greatest: Mapping[str, float]
    """By query; without those that ties do not move."""

    def list_greatest(self) -> dict[str, float]:
        """The greatest score of each query."""
        return {**self.least, **self.greatest}


def decide_with_ties(
    today: TiedScores, chosen: TiedScores, weights: Mapping[str, float]
) -> tuple[TuningDecision, TuningGain | None]:
    """
    What the scores on the hold-out say of the choice, with its gain; no gain where no query has a score of both.

    Where the engine has no order for tied documents, a gain has to hold whatever their order: with those of today's
    request in their best order and those of the choice in their worst; a loss the other way round.
    """
    gain = compute_gain(today.least, chosen.least, weights, is_tested=True)
    if gain is None:
        return TuningDecision.OPEN, None
    decision = decide_gain(gain)
    if not today.greatest and not chosen.greatest:
        return decision, gain
    worst = compute_gain(today.list_greatest(), chosen.least, weights, is_tested=True)
    best = compute_gain(today.least, chosen.list_greatest(), weights, is_tested=True)
    assert worst is not None
    assert best is not None
    gain = replace(gain, least=worst.difference, greatest=best.difference)
    in_any_order = _decide_between(worst, best)
    return (decision if decision is in_any_order else TuningDecision.UNDECIDED), gain


def _decide_between(worst: TuningGain, best: TuningGain) -> TuningDecision:
    """A gain where the *worst* order shows one, a loss where even the *best* does; else neither is shown."""
    if decide_gain(worst) is TuningDecision.GAIN:
        return TuningDecision.GAIN
    if decide_gain(best) is TuningDecision.LOSS:
        return TuningDecision.LOSS
    return TuningDecision.UNDECIDED


def decide_gain(gain: TuningGain) -> TuningDecision:
    """What the gain on the hold-out says of the choice, in one order of ties."""
    assert gain.p_value is not None
    if gain.p_value > TUNING_LEVEL:
        return TuningDecision.UNDECIDED
    return TuningDecision.GAIN if gain.difference > 0 else TuningDecision.LOSS


def estimate_by_folds(tuned: TunedQueries, folds: Sequence[Set[str]]) -> FoldsEstimate:
    """What choosing among the trials gains: in each of *folds* of the tuning queries, by the choice of the others."""
    today = tuned.table[TODAY]
    differences: dict[str, float] = {}
    by_fold, chosen = [], []
    for fold in folds:
        optimum = choose_optimum(tuned, today.keys() - fold)
        scores = tuned.table[optimum.chosen]
        of_fold = {query: scores[query] - today[query] for query in today if query in fold}
        by_fold.append(mean_of(of_fold, tuned.weights))
        chosen.append(optimum.chosen)
        differences |= of_fold
    return FoldsEstimate(len(folds), mean_of(differences, tuned.weights), tuple(by_fold), tuple(chosen))


def estimate_spread(tuned: TunedQueries) -> float | None:
    """
    How far the differences of queries to today's request spread: the median over the trials that differ from it.

    None where no trial does, or where there are too few queries to know it.
    """
    spreads = []
    for trial in tuned.trials:
        if trial.number == TODAY or trial.score is None or trial.same_as is not None:
            continue
        pair = _pair(tuned, TODAY, trial.number)
        if len(pair.queries) >= FEWEST_QUERIES:
            spread = effect_size(pair.weighed).standard_deviation
            if spread > 0:
                spreads.append(spread)
    return float(np.median(spreads)) if spreads else None


def find_detectable(spread: float, queries: int) -> float | None:
    """The smallest gain that *queries* with this spread of differences show with a chance of 80 %."""
    try:
        return detectable_by_t(spread, queries, level=TUNING_LEVEL)
    except StatisticError:
        return None
