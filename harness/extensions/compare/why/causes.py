"""
Which differences moved the mean: two arms each, and intervals that hold for all differences at once. Pure.

A difference is a cause only if it moves the mean the same way beside the rest (the new request against the new one
without it) and alone (the old request with it against the old one), if both intervals over queries leave out 0, and if
no grades of unjudged hits could undo that. The intervals are those of sign flips at the level divided by the number of
differences (Bonferroni), so that a comparison without a true cause names one with at most the chance of the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from harness.extensions.compare.why.model import ArmEffect, Estimate, Finding
from harness.means import scale_by_weights
from harness.statistics.intervals import FlipSettings, run_sign_flips, t_interval
from harness.statistics.paired import EQUAL, compute_change
from harness.statistics.tests import FloatArray

LEVEL = 0.05

ScoresByQuery: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ScoredArm:
    """The scores of one arm, with what unjudged hits leave open of its effect."""

    scores: ScoresByQuery
    judged: float | None = None
    limits: tuple[float, float] | None = None
    """The least and the greatest mean effect over the grades of unjudged hits; None if all hits are judged."""


@dataclass(frozen=True, slots=True)
class ArmPair:
    """The two arms of a difference, each None where the engine refuses it."""

    reverted: ScoredArm | None
    """The new request without it."""
    alone: ScoredArm | None
    """The old request with it."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The scores of both requests, and the weights of the queries; empty where all weigh the same."""

    old: ScoresByQuery
    new: ScoresByQuery
    weights: Mapping[str, float]
    floor: float = 0.0
    """How far the mean of the same request moved between two sends."""


@dataclass(frozen=True, slots=True)
class DecidedCauses:
    """The whole difference, and for each of several differences its arms and whether it is a cause."""

    whole: Estimate
    effects: tuple[tuple[ArmEffect | None, ArmEffect | None], ...]
    """Reverted, then alone."""
    findings: tuple[Finding | None, ...]
    unexplained: tuple[float, float] | None


def decide_causes(ends: Ends, pairs: Sequence[ArmPair], level: float = LEVEL) -> DecidedCauses:
    """
    Decide which of the differences of *pairs* moved the mean.

    Args:
        ends: The scores of both requests, which have the same queries, as have all arms.
        pairs: The arms of each difference.
        level: The greatest chance of naming any cause where there is none.
    """
    queries = list(ends.old)
    loads = np.ones(len(queries))
    if ends.weights:
        loads = np.array(scale_by_weights([1.0] * len(queries), [ends.weights[query] for query in queries]))

    def pull(before: ScoresByQuery, after: ScoresByQuery) -> FloatArray:
        return np.array([compute_change(before[query], after[query]) for query in queries]) * loads

    whole_pulls = pull(ends.old, ends.new)
    [whole] = _estimate_means([whole_pulls], loads, level)
    arms: list[ScoredArm | None] = []
    pulls: list[FloatArray] = []
    for pair in pairs:
        arms += [pair.reverted, pair.alone]
        if pair.reverted is not None:
            pulls.append(pull(pair.reverted.scores, ends.new))
        if pair.alone is not None:
            pulls.append(pull(ends.old, pair.alone.scores))
    estimates = iter(zip(_estimate_means(pulls, loads, level / max(len(pairs), 1)), pulls, strict=True))
    effects: list[ArmEffect | None] = []
    for arm in arms:
        if arm is None:
            effects.append(None)
            continue
        estimate, pulls_of_arm = next(estimates)
        low, high = arm.limits or (None, None)
        share = _estimate_share(pulls_of_arm, whole_pulls, level) if whole.is_certain else None
        effects.append(ArmEffect(estimate, share, arm.judged, low, high))
    pairs_of_effects = tuple(zip(effects[::2], effects[1::2], strict=True))
    findings: tuple[Finding | None, ...] = (None,) * len(pairs)
    if whole.is_certain and abs(whole.value) > ends.floor + EQUAL:
        findings = tuple(judge_difference(*effects_of_pair, ends.floor) for effects_of_pair in pairs_of_effects)
    return DecidedCauses(whole, pairs_of_effects, findings, _find_unexplained(whole, pairs_of_effects))


def estimate_interaction(ends: Ends, reverted: ScoresByQuery, alone: ScoresByQuery, level: float = LEVEL) -> Estimate:
    """
    How much two differences do together beyond what each does alone.

    Args:
        ends: The scores of both requests.
        reverted: Those of the new request without the first difference.
        alone: Those of the old request with it.
        level: Of the interval.
    """
    beyond = {query: ends.new[query] - reverted[query] - alone[query] + score for query, score in ends.old.items()}
    return decide_causes(Ends(dict.fromkeys(beyond, 0.0), beyond, ends.weights), [], level).whole


def judge_difference(reverted: ArmEffect | None, alone: ArmEffect | None, floor: float) -> Finding:
    """Whether a difference with these effects is a cause of the mean, and if not, why."""
    if reverted is None or alone is None:
        return Finding.REFUSED
    means = (reverted.mean, alone.mean)
    if all(abs(mean.value) <= EQUAL for mean in means):
        return Finding.NOTHING
    certain = [mean.is_certain for mean in means]
    if not any(certain):
        return Finding.UNCERTAIN
    if not all(certain):
        return Finding.ONLY_BESIDE if certain[0] else Finding.ONLY_ALONE
    if (means[0].value > 0) != (means[1].value > 0):
        return Finding.OPPOSED
    if min(abs(mean.value) for mean in means) <= floor + EQUAL:
        return Finding.NOISE
    if _may_be_undone(reverted) or _may_be_undone(alone):
        return Finding.UNJUDGED
    return Finding.CAUSE


def _may_be_undone(effect: ArmEffect) -> bool:
    """Whether grades of unjudged hits could bring the mean to 0, or beyond."""
    if effect.range_low is None or effect.range_high is None:
        return False
    return effect.range_low <= EQUAL if effect.mean.value > 0 else effect.range_high >= -EQUAL


def _estimate_means(pulls: Sequence[FloatArray], loads: FloatArray, level: float) -> list[Estimate]:
    """The mean of each of *pulls*, with its interval."""
    if not pulls:
        return []
    tests = run_sign_flips(np.column_stack(pulls), loads, FlipSettings(level=level))
    estimates = []
    for column, test in zip(pulls, tests, strict=True):
        estimate = Estimate(float(column.mean()))
        if test.interval is not None:
            estimate = replace(estimate, low=test.interval.low, high=test.interval.high)
        estimates.append(estimate)
    return estimates


def _estimate_share(pulls: FloatArray, whole_pulls: FloatArray, level: float) -> Estimate:
    """
    The share of an effect in the whole difference, a ratio of two means over the same queries.

    Source: Fieller, "Some problems in interval estimation" (JRSS B 1954), by `t_interval`.
    """
    share = float(pulls.mean() / whole_pulls.mean())
    sign = np.sign(whole_pulls.mean())
    interval = t_interval(sign * pulls, sign * whole_pulls, alternative="two-sided", level=level)
    if interval is None:
        return Estimate(share)
    return Estimate(share, interval.low, interval.high)


def _find_unexplained(
    whole: Estimate, effects: Sequence[tuple[ArmEffect | None, ArmEffect | None]]
) -> tuple[float, float] | None:
    """What the sums of all effects leave of the whole: where differences act together, the two are apart."""
    sums = [0.0, 0.0]
    for pair in effects:
        for place, effect in enumerate(pair):
            if effect is None:
                return None
            sums[place] += effect.mean.value
    rests = sorted(whole.value - total for total in sums)
    return rests[0], rests[1]
