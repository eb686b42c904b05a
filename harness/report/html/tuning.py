"""A tuning as one HTML page: this module chooses and limits the content, the template lays it out."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment

from harness.extensions.tuning.document import (
    build_tuning_document,
    describe_values,
    format_parameter_value,
    split_costs,
)
from harness.extensions.tuning.model import QueryCost, TuningDecision, TuningGain, TuningReport, TuningTrial
from harness.model.suite import TunedParameter
from harness.report.html import make_environment, render_template
from harness.report.html.charts import Whisker, draw_whisker, round_up
from harness.report.html.scatter import Axis, Dot, Scatter, make_plane
from harness.report.sentences import format_difference, format_limits, format_p, format_score
from harness.words import count

STATUSES = {
    TuningDecision.GAIN: "passed",
    TuningDecision.LOSS: "failed",
    TuningDecision.UNDECIDED: "not decided",
    TuningDecision.TODAY: "not decided",
    TuningDecision.OPEN: "error",
}
"""The colours of decisions are those of verdicts."""

TRIALS = 1_000
"""The trials in the table; the charts have all."""
COSTS = 200
"""The queries that lose, and as many that gain."""

WIDE = (620, 190)
"""The size of a chart across the page."""
LOW = (620, 70)
NARROW = (300, 150)
BAR = 120
CIRCLE = 4

NOTES = {"today": "today's request", "chosen": "the choice", "flat": "as good as the best"}


@dataclass(frozen=True, slots=True)
class SliceView:
    """The scores of the trials by the values of one parameter."""

    parameter: TunedParameter
    importance: float | None
    today: str
    chosen: str
    chart: Scatter


@dataclass(frozen=True, slots=True)
class CostView:
    """A query whose score changes, with the coordinates of both scores."""

    cost: QueryCost
    today: float
    chosen: float


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial in the table; *kind* as in the charts, *note* in words."""

    trial: TuningTrial
    kind: str
    values: str
    note: str


@dataclass(frozen=True, slots=True)
class TuningView:
    """All that the page shows beside the document."""

    gain: Whisker | None
    """That of the hold-out; None where it has no interval."""
    history: Scatter
    judged: Scatter | None
    """The judged hits of each trial; None where they are alike."""
    optimum: Scatter | None
    """The trials that are as good as the best, by their distance to today's values; None for one."""
    slices: Sequence[SliceView]
    losing: Sequence[CostView]
    gaining: Sequence[CostView]
    trials: Sequence[TrialRow]
    kinds: Collection[str]
    """How trials are drawn."""
    has_bands: bool
    body: str
    """The body of the chosen request; empty where it has none."""
    left_out: Sequence[str]


def render(report: TuningReport, *, change: Sequence[str] = ()) -> str:
    """*report* as an HTML page, with the *change* of the suite that has the chosen values, as lines of a diff."""
    document = build_tuning_document(report, most=0)
    return render_template(
        _make_tuning_environment(),
        "tuning.html.jinja",
        ["report.css", "comparison.css", "tuning.css"],
        report=report,
        document=document,
        view=make_tuning_view(report),
        change=change,
        status=STATUSES[report.decision],
        product="Relevance tuning",
        headline=document.headline,
        closing=document.closing,
    )


def make_tuning_view(report: TuningReport) -> TuningView:
    """The page's view of *report*."""
    gain = report.held_out_gain
    losing, gaining = split_costs(report)
    slices = [_make_slice(report, parameter) for parameter in _order_by_importance(report)]
    return TuningView(
        gain=None if gain is None else draw_gain(gain),
        history=_draw_history(report),
        judged=_draw_judged(report),
        optimum=_draw_optimum(report),
        slices=slices,
        losing=_make_cost_views(report, losing[:COSTS]),
        gaining=_make_cost_views(report, gaining[:COSTS]),
        trials=[_make_trial_row(report, trial) for trial in report.trials[:TRIALS]],
        kinds={choose_kind(report, trial) for trial in report.trials if trial.score is not None},
        has_bands=any(view.chart.band is not None for view in slices),
        body=json.dumps(report.changed_body, indent=2, ensure_ascii=False) if report.changed_body else "",
        left_out=tuple(_describe_left_out(report, losing, gaining)),
    )


def draw_gain(gain: TuningGain) -> Whisker | None:
    """The interval of *gain* around zero; None where it has not both limits."""
    if gain.low is None or gain.high is None:
        return None
    end = round_up(max(abs(gain.low), abs(gain.high), abs(gain.difference)))
    return draw_whisker(gain.low, gain.high, gain.difference, end)


def _describe_left_out(
    report: TuningReport, losing: Sequence[QueryCost], gaining: Sequence[QueryCost]
) -> Iterator[str]:
    if len(report.trials) > TRIALS:
        yield f"the rows of {count(len(report.trials) - TRIALS, 'trial')}"
    for costs, verb in ((losing, "lose"), (gaining, "gain")):
        if len(costs) > COSTS:
            yield f"{count(len(costs) - COSTS, 'query')} that {verb} less"


# Charts of trials.


def choose_kind(report: TuningReport, trial: TuningTrial) -> str:
    """How *trial* is drawn; a shape for each, as a colour alone says nothing to some."""
    if trial.number == report.today.number:
        return "today"
    if report.decision is not TuningDecision.TODAY and trial.number == report.chosen.number:
        return "chosen"
    if trial.broken:
        return "broken"
    return "flat" if trial.number in report.optimum.flat else "other"


def describe_trial(report: TuningReport, trial: TuningTrial) -> str:
    """*trial* in one line."""
    return f"trial {trial.number}: {format_score(trial.score)}, {describe_values(report, trial)}"


def _make_dots(report: TuningReport, xs: Mapping[int, float], ys: Mapping[int, float]) -> list[Dot]:
    """The trials that have both coordinates, the choice and today's request last, so that nothing covers them."""
    dots = []
    for trial in report.trials:
        if trial.number in xs and trial.number in ys:
            x, y = xs[trial.number], ys[trial.number]
            dots.append(Dot(x, y, choose_kind(report, trial), describe_trial(report, trial)))
    order = ("broken", "other", "flat", "today", "chosen")
    return sorted(dots, key=lambda dot: order.index(dot.kind))


def _get_scores(report: TuningReport) -> dict[int, float]:
    return {trial.number: trial.score for trial in report.trials if trial.score is not None}


def _draw_history(report: TuningReport) -> Scatter:
    """The score of each trial, in the order in which they were made, and the best so far."""
    scores = _get_scores(report)
    best: list[tuple[float, float]] = []
    for trial in report.trials:
        if trial.score is not None and trial.is_possible and (not best or trial.score > best[-1][1]):
            best.append((trial.number, trial.score))
    best.append((report.trials[-1].number, best[-1][1]))
    dots = _make_dots(report, {number: float(number) for number in scores}, scores)
    plane = make_plane(*WIDE, dots, [scores[0]])
    return Scatter(
        plane=plane,
        dots=tuple(map(plane.place, dots)),
        first="trial 0",
        last=f"trial {report.trials[-1].number}",
        lowest=format_score(plane.up.low),
        highest=format_score(plane.up.high),
        level=plane.up.place(scores[0]),
        path=plane.trace_steps(best),
    )


def _draw_judged(report: TuningReport) -> Scatter | None:
    """The judged hits of each trial."""
    shares = {trial.number: trial.judged for trial in report.trials if trial.judged is not None}
    if len(set(shares.values())) < 2:
        return None
    dots = _make_dots(report, {number: float(number) for number in shares}, shares)
    plane = make_plane(*LOW, dots)
    return Scatter(
        plane=plane,
        dots=tuple(map(plane.place, dots)),
        first="trial 0",
        last=f"trial {report.trials[-1].number}",
        lowest=f"{plane.up.low:.0%}",
        highest=f"{plane.up.high:.0%}",
        level=plane.up.place(shares[0]) if 0 in shares else None,
    )


def _draw_optimum(report: TuningReport) -> Scatter | None:
    """The trials that are as good as the best, by how far they are from today's values."""
    distances = report.optimum.distances
    if report.decision is TuningDecision.TODAY or len(distances) < 2:
        return None
    dots = _make_dots(report, distances, _get_scores(report))
    plane = make_plane(*WIDE, dots, span=(0.0, max(distances.values())))
    return Scatter(
        plane=plane,
        dots=tuple(map(plane.place, dots)),
        first="today's values",
        last=f"{max(distances.values()):.0%} of the ranges away",
        lowest=format_score(plane.up.low),
        highest=format_score(plane.up.high),
    )


# Slices.


def _order_by_importance(report: TuningReport) -> list[TunedParameter]:
    return sorted(report.parameters, key=lambda parameter: -report.importance.get(parameter.name, 0.0))


def _make_slice(report: TuningReport, parameter: TunedParameter) -> SliceView:
    scores = _get_scores(report)
    xs: dict[int, float] = {}
    for trial in report.trials:
        # A value without effect says nothing of the score.
        if parameter.is_in_force(trial.values):
            xs[trial.number] = place_value(parameter, trial)
    first, last = _name_ends(parameter)
    dots = _make_dots(report, xs, scores)
    plane = make_plane(*NARROW, dots, [scores[0]], (0.0, 1.0))
    band = None
    flat = [plane.across.place(xs[number]) for number in report.optimum.flat if number in xs]
    if flat and not parameter.has_choices and report.decision is not TuningDecision.TODAY:
        band = min(flat), round(max(flat) - min(flat), 1)
    return SliceView(
        parameter=parameter,
        importance=report.importance.get(parameter.name),
        today=format_parameter_value(parameter.today),
        chosen=format_parameter_value(report.chosen.values[parameter.name]),
        chart=Scatter(
            plane=plane,
            dots=tuple(map(plane.place, dots)),
            first=first,
            last=last,
            lowest=format_score(plane.up.low),
            highest=format_score(plane.up.high),
            level=plane.up.place(scores[0]),
            band=band,
        ),
    )


def place_value(parameter: TunedParameter, trial: TuningTrial) -> float:
    """
    Where the value that *trial* has of *parameter* stands, from 0 to 1; choices stand side by side.

    >>> from harness.model.suite import ParameterKind
    >>> boost = TunedParameter("boost", ParameterKind.FLOAT, 2, low=1, high=16, log=True)
    >>> place_value(boost, TuningTrial(1, {"boost": 4}, 0.5, 1.0))
    0.5
    """
    value: Any = trial.values[parameter.name]
    if parameter.has_choices:
        width = 1 / len(parameter.choices)
        # Trials with the same choice are strewn, so that they do not cover each other.
        return (parameter.choices.index(value) + 0.2 + 0.6 * (trial.number * 0.618 % 1)) * width
    if parameter.log:
        return math.log(value / parameter.low) / math.log(parameter.high / parameter.low)
    return float((value - parameter.low) / (parameter.high - parameter.low))


def _name_ends(parameter: TunedParameter) -> tuple[str, str]:
    if parameter.has_choices:
        return "", ""
    return f"{parameter.low:g}", f"{parameter.high:g}" + (" (log)" if parameter.log else "")


# Queries and trials.


def _make_cost_views(report: TuningReport, costs: Sequence[QueryCost]) -> list[CostView]:
    """A view of each of *costs*, whose lines share an axis."""
    scores = [score for cost in report.costs for score in (cost.today, cost.chosen)]
    axis = Axis(min([0.0, *scores]), max([1.0, *scores]), CIRCLE, BAR - CIRCLE)
    return [CostView(cost, axis.place(cost.today), axis.place(cost.chosen)) for cost in costs]


def _make_trial_row(report: TuningReport, trial: TuningTrial) -> TrialRow:
    kind = choose_kind(report, trial)
    notes = [NOTES[kind]] if kind in NOTES else []
    if trial.broken:
        notes = [f"breaks {text}" for text in trial.broken]
    if trial.same_as is not None:
        notes.append(f"the same requests as trial {trial.same_as}")
    if trial.failure:
        notes.append(trial.failure)
    return TrialRow(trial, kind, describe_values(report, trial), "; ".join(notes))


@cache
def _make_tuning_environment() -> Environment:
    return make_environment(
        {
            "difference": format_difference,
            "limits": format_limits,
            "p": format_p,
            "parameter_value": format_parameter_value,
        }
    )
