"""
The tuning of a request: trials on a part of the queries, and the decision on queries that no trial has seen.

Scores are in the unit of the measure, and differences are those of the choice minus today's. Means use the weights of
queries where these have any.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.suite import Json, TunedParameter

SAMPLERS = ("tpe", "grid", "random", "cmaes")
"""What proposes the values of the next trial."""
TRIALS = 100
"""How many a study has in the end, unless the user says it."""
TUNING_SEED = 1
"""Of the hold-out and the sampler, unless the user says it."""
EFFECT = 0.02
"""The smallest gain worth having, unless the user says it."""
TUNING_LEVEL = 0.05
"""The level of the test on the hold-out."""


@dataclass(frozen=True, slots=True)
class TuningTrial:
    """The request with certain values of its parameters, on the tuning queries."""

    number: int
    """From 0, which is today's request."""
    values: Mapping[str, Json]
    """The value of each parameter; one without effect has its value of today."""
    score: float | None
    """
    The mean over the tuning queries, of the least scores over the orders of ties; None where a query has no answer, or
    no query a score.
    """
    judged: float | None
    """The mean share of judged hits among the first k; None as *score*."""
    broken: tuple[str, ...] = ()
    """The constraints that it breaks, each with its reason."""
    same_as: int | None = None
    """The earlier trial with the same requests, so that nothing was sent; None if it was sent."""
    failure: str = ""
    """Why it has no score."""
    false_hits: int = 0
    """How many of the tuning queries for which no result is right have a hit."""

    @property
    def is_possible(self) -> bool:
        """Whether it may be chosen: it has a score and breaks no constraint."""
        return self.score is not None and not self.broken


@dataclass(frozen=True, slots=True)
class HoldOutLook:
    """A decision that was made on a hold-out."""

    created: str
    """UTC, ISO 8601."""
    measure: str
    request: str
    compared: str
    """A fingerprint of the two requests, the measure and the judgments: looking at the same again is no other look."""
    difference: float
    p_value: float
    choice: str | None = None
    """The fingerprint of the chosen request, by which it is known again in a suite; None in earlier files."""


@dataclass(frozen=True, slots=True)
class HoldOut:
    """The queries that no trial is sent: drawn at random before the first one, and kept in a file."""

    seed: int
    share: float
    """Of the queries, in (0, 1)."""
    queries: tuple[str, ...]
    """Their ids, in the order of the suite."""
    population: str
    """A fingerprint of the ids of all queries from which they were drawn."""
    looks: tuple[HoldOutLook, ...] = ()
    """The decisions that were made on it, the oldest first."""
    schema: int = 1
    """The version of its file."""


class TuningDecision(StrEnum):
    """What the hold-out says of the choice."""

    GAIN = "gain"
    """It is better than today's request, beyond chance."""
    LOSS = "loss"
    """It is worse, beyond chance."""
    UNDECIDED = "no gain shown"
    """It may be better, worse or neither."""
    TODAY = "today's request stays"
    """No trial was better than today's request on the tuning queries."""
    OPEN = "not decided"
    """The queries of the hold-out have no answers."""


@dataclass(frozen=True, slots=True)
class TuningGain:
    """The means of today's request and of the choice over some queries."""

    queries: int
    """Those with a score of both."""
    today: float
    chosen: float
    difference: float
    low: float | None = None
    """The limits of the differences that the sign-flip test does not reject; None where it was not made or has none."""
    high: float | None = None
    p_value: float | None = None
    """Two-sided; None where no test was made."""
    judged_today: float | None = None
    """The mean share of judged hits among the first k."""
    judged_chosen: float | None = None
    least: float | None = None
    """
    Where ties move the scores: the difference with the ties of today's request in their best order and those of the
    choice in their worst. Only a gain that this shows too is one.
    """
    greatest: float | None = None
    """The difference with the orders the other way round; None as *least*."""
    changed: int | None = None
    """The queries with another score; None where no test was made."""
    least_p: float | None = None
    """The smallest p-value that so many changed queries can give; above the level nothing can be shown."""
    detectable: float | None = None
    """The smallest true difference that the test finds with a chance of 80 %; None where it is unknown."""


@dataclass(frozen=True, slots=True)
class FalseHitsChange:
    """How many queries for which no result is right have a hit, with today's request and with the choice."""

    queries: int
    today: int
    chosen: int
    p_value: float | None = None
    """Two-sided, of the sign-flip test; None where no test was made."""


@dataclass(frozen=True, slots=True)
class TagGain:
    """The means of today's request and of the choice over the queries with a tag."""

    tag: str
    held_out: TuningGain | None
    """None where no query of the hold-out has the tag."""
    overall: TuningGain
    """On all queries, by most of which the choice was made: a loss is more than it seems, a gain less."""


@dataclass(frozen=True, slots=True)
class FoldsEstimate:
    """
    What choosing among the trials gains, by k folds of the tuning queries: for each, the choice that the others make.

    It is approximate: folds share the queries that they choose by, so that no unbiased estimate of its variance exists
    (Bengio & Grandvalet 2004); and it estimates the procedure on average, not the final request (Bates, Hastie &
    Tibshirani 2023). The trials were proposed by scores of all tuning queries besides.
    """

    folds: int
    difference: float
    by_fold: tuple[float, ...]
    """The difference in each fold."""
    chosen: tuple[int, ...]
    """The number of the trial that each fold chose."""


@dataclass(frozen=True, slots=True)
class QueryCost:
    """What the choice costs or brings one query."""

    query: str
    text: str
    today: float
    chosen: float
    is_held_out: bool
    tags: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def difference(self) -> float:
        """Its score with the choice, minus that of today's request."""
        return self.chosen - self.today


@dataclass(frozen=True, slots=True)
class TuningOptimum:
    """The best trial on the tuning queries, and what is as good within noise."""

    best: int
    """The number of the trial with the highest mean that breaks no constraint."""
    chosen: int
    """Of *flat*, the one that is nearest to today's values."""
    flat: tuple[int, ...]
    """The trials within noise of the best, the nearest to today's values first."""
    distances: Mapping[int, float]
    """Of each of *flat* to today's values: the mean over the parameters, each from 0 to 1."""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """What a tuning found."""

    suite: str
    """Its file."""
    name: str
    request: str
    engine: str
    index: str | None
    measure: str
    sampler: str
    seed: int
    created: str
    """UTC, ISO 8601."""
    parameters: tuple[TunedParameter, ...]
    trials: tuple[TuningTrial, ...]
    """The first is today's request."""
    optimum: TuningOptimum
    decision: TuningDecision
    hold_out: HoldOut
    """With the look of this decision."""
    tuning_queries: int
    held_out_gain: TuningGain | None
    """What the decision is made from; None where today's request stays, or where the queries have no answers."""
    tuned_gain: TuningGain
    """On the queries by which the choice was made: too high on average."""
    optimistic_gain: TuningGain | None
    """On all queries, most of which chose it; None as *held_out_gain*."""
    folds: FoldsEstimate | None
    """None where no folds were asked for, or where they are fewer than the tuning queries allow."""
    importance: Mapping[str, float]
    """How much of the spread of the trials' scores each parameter explains, from 0 to 1; empty where unknown."""
    costs: tuple[QueryCost, ...]
    """All queries whose score the choice changes, the greatest loss first."""
    constraints: tuple[str, ...]
    """The thresholds that the choice has to hold on the tuning queries."""
    not_held: tuple[str, ...]
    """The thresholds that today's request does not hold there, with the reasons; they are no constraints."""
    effect: float
    """The smallest gain worth having."""
    detectable: float | None
    """
    The smallest gain that the hold-out shows with a chance of 80 %, by the differences of the choice there, else by
    those of the first trials on the tuning queries; None where it is not known.
    """
    depth: int
    """The k of judged hits."""
    level: float = TUNING_LEVEL
    held_out_false_hits: FalseHitsChange | None = None
    """Of the hold-out; None where it has no query for which no result is right, or as *held_out_gain*."""
    tuned_false_hits: FalseHitsChange | None = None
    """Of the queries by which the choice was made; None where none is such a query."""
    tags: tuple[TagGain, ...] = ()
    """By tag, the greatest loss on all queries first; empty where today's request stays or no query has a tag."""
    is_seen: bool = False
    """Whether trials of earlier tunings were sent queries of the hold-out."""
    broken: tuple[str, ...] = ()
    """The thresholds that the choice breaks on all queries and today's request holds, with the reasons."""
    weighted: bool = False
    """Whether means use weights of queries."""
    warnings: tuple[str, ...] = ()
    """What makes the decision say less than it seems to."""
    notes: tuple[str, ...] = ()
    sent: int = 0
    """The searches that were sent."""
    saved: int = 0
    """The searches that were not, since equal ones had been answered."""
    stopped: str = ""
    """Why fewer trials were made than asked for; empty where all were."""
    tied: int = 0
    """The trials whose score the order of tied documents moves: theirs is the least over the orders."""
    changed_body: Mapping[str, Json] = field(default_factory=dict)
    """The body of the chosen request, before it is filled for a query."""
    exit_status: int = 0
    """3 where the queries of the hold-out have no answers, else 0: a tuning is no gate."""
    schema: int = 1
    """The version of the JSON form."""

    @property
    def today(self) -> TuningTrial:
        """Today's request."""
        return self.trials[0]

    @property
    def best(self) -> TuningTrial:
        """The best trial on the tuning queries."""
        return self._find_trial(self.optimum.best)

    @property
    def chosen(self) -> TuningTrial:
        """The trial that was compared with today's request on the hold-out."""
        return self._find_trial(self.optimum.chosen)

    @property
    def can_show(self) -> bool:
        """Whether enough queries of the hold-out change for the test to show anything."""
        gain = self.held_out_gain
        return gain is None or gain.least_p is None or gain.least_p <= self.level

    def _find_trial(self, number: int) -> TuningTrial:
        return next(trial for trial in self.trials if trial.number == number)
