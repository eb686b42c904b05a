"""Reports of tunings, as `relevance tune` makes them."""

import math
from dataclasses import replace

from harness.extensions.tuning.model import (
    FoldsEstimate,
    HoldOut,
    HoldOutLook,
    QueryCost,
    TagGain,
    TuningDecision,
    TuningGain,
    TuningOptimum,
    TuningReport,
    TuningTrial,
)
from harness.model.suite import ParameterCondition, ParameterKind, TunedParameter

BOOST = TunedParameter("title_boost", ParameterKind.FLOAT, 2, low=0.5, high=8, log=True)
MATCH = TunedParameter("must_match", ParameterKind.CHOICE, "1", choices=("1", "75%", "100%"))
PHRASE = TunedParameter("phrase", ParameterKind.SWITCH, False, choices=(False, True))
SLOP = TunedParameter("slop", ParameterKind.INTEGER, 0, low=0, high=5, only_if=(ParameterCondition("phrase", (True,)),))


def make_trials(number=40):
    """Trials whose score is best at a boost of 4, and lower for stricter matches; one has none."""
    trials = [TuningTrial(0, {"title_boost": 2, "must_match": "1", "phrase": False, "slop": 0}, 0.7, 0.95)]
    for place in range(1, number):
        boost = 0.5 * 16 ** (place * 0.618 % 1)
        match, phrase = MATCH.choices[place % 3], place % 2 == 0
        slop = place % 6 if phrase else 0
        score = 0.78 - 0.02 * abs(math.log2(boost / 4)) - 0.03 * (place % 3) + 0.002 * slop
        broken = ("mean RR@10 >= 0.9: it is 0.85",) if place % 11 == 0 else ()
        values = {"title_boost": boost, "must_match": match, "phrase": phrase, "slop": slop}
        trials.append(TuningTrial(place, values, score, 0.9 - 0.05 * (place % 3), broken))
    failed = replace(trials[-1], number=number, score=None, judged=None, failure="2 queries have no answer")
    return (*trials, failed)


def tuning_report(text="tent", **changes):
    """A gain; *text* is that of queries, values and notes."""
    trials = make_trials()
    possible = [trial for trial in trials[1:] if trial.is_possible]
    flat = sorted(possible, key=lambda trial: -trial.score)[:8]
    gain = TuningGain(40, 0.71, 0.762, 0.052, 0.011, 0.094, 0.0123, 0.95, 0.89)
    report = TuningReport(
        suite="shop.relevance.yaml",
        name="shop",
        request="current",
        engine="opensearch 3.8.0",
        index="products",
        measure="nDCG@10",
        sampler="tpe",
        seed=1,
        created="2026-11-25T12:00:00+00:00",
        parameters=(BOOST, MATCH, PHRASE, SLOP),
        trials=trials,
        optimum=TuningOptimum(
            flat[0].number,
            flat[-1].number,
            tuple(trial.number for trial in reversed(flat)),
            {trial.number: 0.1 * place for place, trial in enumerate(reversed(flat), start=1)},
        ),
        decision=TuningDecision.GAIN,
        hold_out=HoldOut(
            1, 0.4, ("q1", "q2"), "09de", (HoldOutLook("2026-11-25", "nDCG@10", "current", "a", 0.05, 0.01),)
        ),
        tuning_queries=60,
        held_out_gain=gain,
        tuned_gain=replace(gain, difference=0.07, low=None, high=None, p_value=None),
        optimistic_gain=replace(gain, difference=0.06, low=None, high=None, p_value=None),
        folds=FoldsEstimate(5, 0.04, (0.03, 0.05, 0.04, 0.06, 0.02), (1, 2, 3, 4, 5)),
        importance={"title_boost": 0.6, "must_match": 0.3, "phrase": 0.1, "slop": 0.0},
        costs=tuple(
            QueryCost(f"query-{place}", text, 0.5 - place / 100, 0.5 + (place - 6) * 0.03, place % 3 == 0)
            for place in range(30)
        ),
        tags=(
            TagGain("head", TuningGain(12, 0.8, 0.75, -0.05), TuningGain(30, 0.8, 0.76, -0.04)),
            TagGain("tail", None, TuningGain(20, 0.6, 0.7, 0.1)),
        ),
        constraints=("mean RR@10 >= 0.9",),
        not_held=("every nDCG@10 >= 0.3: worst is 0.1",),
        effect=0.02,
        detectable=0.05,
        depth=10,
        warnings=(f"the hold-out was looked at before: {text}",),
        notes=(text,),
        sent=2400,
        changed_body={"query": {"match": {"title": text}}},
    )
    return replace(report, **changes)


def undecided_report():
    """No trial is better than today's request."""
    trials = make_trials()
    return tuning_report(
        decision=TuningDecision.TODAY,
        optimum=TuningOptimum(0, 0, (0,), {0: 0.0}),
        held_out_gain=None,
        optimistic_gain=None,
        folds=None,
        importance={},
        costs=(),
        tags=(),
        trials=trials,
        warnings=(),
        changed_body={},
    )
