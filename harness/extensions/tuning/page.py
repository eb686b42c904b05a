"""A tuning as one HTML page: what its document says, and charts of its trials."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.extensions.tuning.document import (
    build_constraints,
    build_false_hits,
    build_gain_notes,
    build_gains,
    build_tags,
    build_tuning_facts,
    build_values,
    build_warnings,
    describe_values,
    format_parameter_value,
    list_tuning_remarks,
    split_costs,
    write_tuning_closing,
    write_tuning_headline,
)
from harness.extensions.tuning.model import QueryCost, TuningDecision, TuningGain, TuningReport, TuningTrial
from harness.extensions.tuning.scatter import Axis, Dot, Scatter, make_plane
from harness.model.run import Status
from harness.model.suite import TunedParameter
from harness.report.document import (
    Block,
    Cell,
    Code,
    Column,
    ColumnKind,
    Details,
    Difference,
    Document,
    Drawing,
    Heading,
    Notes,
    Paragraph,
    Section,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.html import Columns, Page, note_omissions, render_page
from harness.report.html.charts import Whisker, draw_whisker, round_up
from harness.report.sentences import format_difference, format_score
from harness.words import count

_STATUSES = {
    TuningDecision.GAIN: Status.PASSED,
    TuningDecision.LOSS: Status.FAILED,
    TuningDecision.UNDECIDED: Status.NOT_DECIDED,
    TuningDecision.TODAY: Status.NOT_DECIDED,
    TuningDecision.OPEN: Status.ERROR,
}
"""The colours of decisions are those of verdicts."""

_TRIALS = 1_000
"""The trials in the table; the charts have all."""
COSTS = 200
"""The queries that lose, and as many that gain."""
COSTS_UNFOLDED = 10

WIDE = (620, 190)
"""The size of a chart across the page."""
LOW = (620, 70)
NARROW = (300, 150)
BAR = 120
CIRCLE = 4

NOTES = {"today": "today's request", "chosen": "the choice", "flat": "as good as the best"}

_TEMPLATE = "extensions/tuning/page.html.jinja"


@dataclass(frozen=True, slots=True)
class GainInterval(Drawing):
    """The interval of the gain on the hold-out; *way* is its class."""

    template: ClassVar[str] = _TEMPLATE

    whisker: Whisker
    label: str
    way: str


@dataclass(frozen=True, slots=True)
class TrialKey(Drawing):
    """How trials of each kind are drawn."""

    template: ClassVar[str] = _TEMPLATE

    kinds: Collection[str]


@dataclass(frozen=True, slots=True)
class TrialChart(Drawing):
    """A chart of trials; *choices* stand below one of a parameter that has them."""

    template: ClassVar[str] = _TEMPLATE

    title: Cell
    remark: str
    label: str
    chart: Scatter
    choices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CostRow:
    """A query whose score changes, with the coordinates of both scores."""

    cost: QueryCost
    today: float
    chosen: float
    difference: str


@dataclass(frozen=True, slots=True)
class CostTable(Drawing):
    """What the choice costs queries, drawn beside their scores."""

    template: ClassVar[str] = _TEMPLATE

    caption: str
    rows: Sequence[CostRow]


def render(report: TuningReport, *, change: Sequence[str] = ()) -> str:
    """*report* as an HTML page, with the *change* of the suite that has the chosen values, as lines of a diff."""
    title = (
        Span(report.name, is_name=True),
        Span(", request "),
        Span(report.request, is_name=True),
        Span(" "),
        Span(report.decision, status=_STATUSES[report.decision]),
    )
    page = Page(
        document=Document(
            headline=write_tuning_headline(report),
            closing=make_notes([write_tuning_closing(report)], Tone.PLAIN),
            sections=(Section(title, tuple(build_tuning_blocks(report, change)), "t"),),
        ),
        product="Relevance tuning",
        footer=(
            Span("A tuning decides nothing for a build. "),
            Span("relevance compare", is_name=True),
            Span(" puts the rankings of two requests beside each other, and thresholds of the suite are the gate."),
        ),
        created=report.created,
        maker="relevance-harness",
        style="extensions/tuning/page.css",
    )
    return render_page(page)


def build_tuning_blocks(report: TuningReport, change: Sequence[str] = ()) -> list[Block]:
    """All that the page shows below its title."""
    blocks: list[Block] = [build_tuning_facts(report), *build_warnings(report), Heading("The decision")]
    blocks += _draw_decision(report)
    blocks += [build_gains(report), *build_false_hits(report), build_gain_notes(report)]
    if report.tags:
        blocks += [Heading("By tag"), build_tags(report)]
    blocks += [Heading("The values"), build_values(report)]
    if report.importance:
        meaning = "The importance is the share of the spread of the trials' scores that a parameter explains."
        blocks.append(Paragraph(make_words(meaning)))
    if change:
        blocks.append(Difference("The change of the suite", tuple(change), "", is_open=True))
    if report.changed_body:
        body = json.dumps(report.changed_body, indent=2, ensure_ascii=False)
        blocks.append(Details("The body of the chosen request", (Code(body),)))
    blocks += [*_draw_trials(report), *_draw_parameters(report)]
    constraints = build_constraints(report)
    if constraints:
        blocks += [Heading("Constraints"), *constraints]
    blocks += _draw_costs(report)
    blocks.append(Details(f"All {count(len(report.trials), 'trial')}", (_build_all_trials(report),)))
    remarks = (*list_tuning_remarks(report), *note_omissions(list_left_out(report)))
    if remarks:
        blocks += [Heading("Notes"), Notes(remarks)]
    return blocks


def _draw_decision(report: TuningReport) -> Iterator[Block]:
    """The gain on the hold-out with its interval; nothing where it has none."""
    if report.held_out_gain is None:
        return
    whisker = draw_gain(report.held_out_gain)
    if whisker is None:
        return
    queries = "of the hold-out" if report.is_seen else "that no trial was sent"
    meaning = (
        f"What the choice changes on queries {queries}: the difference from today's request, and the differences that "
        "the test does not reject."
    )
    yield Paragraph(make_words(meaning))
    css_class = {TuningDecision.GAIN: " better", TuningDecision.LOSS: " worse"}.get(report.decision, "")
    yield GainInterval(whisker, write_tuning_headline(report), css_class)


def draw_gain(gain: TuningGain) -> Whisker | None:
    """The interval of *gain* around zero; None where it has not both limits."""
    if gain.low is None or gain.high is None:
        return None
    end = round_up(max(abs(gain.low), abs(gain.high), abs(gain.difference)))
    return draw_whisker(gain.low, gain.high, gain.difference, end)


def list_left_out(report: TuningReport) -> Iterator[str]:
    """What the page has no room for."""
    if len(report.trials) > _TRIALS:
        yield f"the rows of {count(len(report.trials) - _TRIALS, 'trial')}"
    for costs, verb in zip(split_costs(report), ("lose", "gain"), strict=True):
        if len(costs) > COSTS:
            yield f"{count(len(costs) - COSTS, 'query')} that {verb} less"


# Charts of trials.


def _draw_trials(report: TuningReport) -> Iterator[Block]:
    """Charts of all trials: their scores, their judged hits, and how far those as good as the best are from today."""
    yield Heading("The trials")
    meaning = (
        "Scores are means over the queries that were tuned on. The dashed line is today's request; the other line is "
        "the best so far that breaks no constraint."
    )
    yield Paragraph(make_words(meaning))
    yield TrialKey({choose_kind(report, trial) for trial in report.trials if trial.score is not None})
    history = draw_history(report)
    trials = count(len(report.trials), "trial")
    yield TrialChart(
        title=make_words(f"{report.measure} of each trial"),
        remark="",
        label=f"The {report.measure} of {trials}, from {history.lowest} to {history.highest}",
        chart=history,
    )
    judged = draw_judged(report)
    if judged is not None:
        yield TrialChart(
            title=make_words("Judged hits of each trial"),
            remark="A hit without a judgment counts as not relevant: fewer of them raise a score, more lower it.",
            label=f"The share of judged hits of each trial, from {judged.lowest} to {judged.highest}",
            chart=judged,
        )
    optimum = draw_optimum(report)
    if optimum is not None:
        yield TrialChart(
            title=make_words("How flat the optimum is"),
            remark=(
                "The trials that are as good as the best within noise, by how far they are from today's values. The "
                "nearest is chosen."
            ),
            label="Trials that are as good as the best, by their distance to today's values",
            chart=optimum,
        )


def _draw_parameters(report: TuningReport) -> Iterator[Block]:
    """The trials by each parameter, the most important first."""
    parameters = sorted(report.parameters, key=lambda parameter: -report.importance.get(parameter.name, 0.0))
    charts = [draw_slice(report, parameter) for parameter in parameters]
    meaning = "Each trial by its value of one parameter; the other parameters differ too."
    if any(chart.chart.band is not None for chart in charts):
        meaning += " The shaded part spans the trials that are as good as the best."
    yield Heading("The parameters")
    yield Paragraph(make_words(meaning))
    yield Columns([[chart] for chart in charts])


def choose_kind(report: TuningReport, trial: TuningTrial) -> str:
    """How *trial* is drawn; a shape for each, as a colour alone says nothing to some."""
    if trial.number == report.today.number:
        return "today"
    if report.decision is not TuningDecision.TODAY and trial.number == report.chosen.number:
        return "chosen"
    if trial.broken:
        return "broken"
    if trial.number in report.optimum.flat:
        return "flat"
    return "other"


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
    """The score of each trial that has one, by its number."""
    return {trial.number: trial.score for trial in report.trials if trial.score is not None}


def draw_history(report: TuningReport) -> Scatter:
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


def draw_judged(report: TuningReport) -> Scatter | None:
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


def draw_optimum(report: TuningReport) -> Scatter | None:
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


def draw_slice(report: TuningReport, parameter: TunedParameter) -> TrialChart:
    """The scores of the trials by the values of one parameter."""
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
    chart = Scatter(
        plane=plane,
        dots=tuple(map(plane.place, dots)),
        first=first,
        last=last,
        lowest=format_score(plane.up.low),
        highest=format_score(plane.up.high),
        level=plane.up.place(scores[0]),
        band=band,
    )
    chosen = format_parameter_value(report.chosen.values[parameter.name])
    values = f"today {format_parameter_value(parameter.today)}, choice {chosen}"
    remark = values
    if parameter.name in report.importance:
        remark += f", importance {report.importance[parameter.name]:.0%}"
    return TrialChart(
        title=make_name(parameter.name),
        remark=remark,
        label=f"Scores by the value of {parameter.name}: {values}",
        chart=chart,
        choices=[format_parameter_value(choice) for choice in parameter.choices],
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
        # Trials with the same choice are strewn over the middle of its part, so that they do not cover each other:
        # multiples of the golden ratio are spread evenly, however many there are.
        shift = 0.2 + 0.6 * (trial.number * 0.618 % 1)
        return (parameter.choices.index(value) + shift) / len(parameter.choices)
    if parameter.log:
        return math.log(value / parameter.low) / math.log(parameter.high / parameter.low)
    return float((value - parameter.low) / (parameter.high - parameter.low))


def _name_ends(parameter: TunedParameter) -> tuple[str, str]:
    """The texts at the left and at the right end of the axis of *parameter*; empty for choices."""
    if parameter.has_choices:
        return "", ""
    high = f"{parameter.high:g}"
    if parameter.log:
        high += " (log)"
    return f"{parameter.low:g}", high


# Queries and trials.


def _draw_costs(report: TuningReport) -> Iterator[Block]:
    """The queries that lose, and those that gain; nothing where no score changes."""
    if not report.costs:
        return
    meaning = (
        f"{report.measure} of each query whose score the choice changes: a circle is today's, a dot that of the "
        "choice. Queries that were tuned on gain too much."
    )
    yield Heading("What it costs whom")
    yield Paragraph(make_words(meaning))
    losing, gaining = split_costs(report)
    yield Columns([_draw_changed(report, losing[:COSTS], "lose"), _draw_changed(report, gaining[:COSTS], "gain")])


def _draw_changed(report: TuningReport, costs: Sequence[QueryCost], verb: str) -> list[Block]:
    """The queries of *costs*, of which the first are not folded away."""
    heading = Heading(f"Queries that {verb}", level=4)
    if not costs:
        return [heading, Paragraph(make_words("None."))]
    rows = _make_cost_rows(report, costs)
    caption = f"Queries that {verb} most"
    blocks: list[Block] = [heading, CostTable(caption, rows[:COSTS_UNFOLDED])]
    if len(rows) > COSTS_UNFOLDED:
        more = count(len(rows) - COSTS_UNFOLDED, "query")
        blocks.append(Details(f"{more} more", (CostTable(caption, rows[COSTS_UNFOLDED:]),)))
    return blocks


def _make_cost_rows(report: TuningReport, costs: Sequence[QueryCost]) -> list[CostRow]:
    """A row for each of *costs*, which are some of those of *report*: the bars of all of them share an axis."""
    scores = [0.0, 1.0]
    for cost in report.costs:
        scores += (cost.today, cost.chosen)
    axis = Axis(min(scores), max(scores), CIRCLE, BAR - CIRCLE)
    rows = []
    for cost in costs:
        today, chosen = axis.place(cost.today), axis.place(cost.chosen)
        rows.append(CostRow(cost, today, chosen, format_difference(cost.difference)))
    return rows


def _build_all_trials(report: TuningReport) -> Table:
    """A row for each trial, in the order in which they were made."""
    figures = (Column(heading, ColumnKind.FIGURE) for heading in ("trial", "score", "judged"))
    rows = []
    for trial in report.trials[:_TRIALS]:
        judged = "–" if trial.judged is None else f"{trial.judged:.0%}"
        note = _describe_kind(report, trial) or "–"
        texts = (f"{trial.number}", format_score(trial.score), judged, describe_values(report, trial), note)
        rows.append(tuple(map(make_words, texts)))
    return Table((*figures, Column("values"), Column("note")), tuple(rows), caption="All trials")


def _describe_kind(report: TuningReport, trial: TuningTrial) -> str:
    """What there is to say of *trial*, if anything."""
    kind = choose_kind(report, trial)
    notes = [NOTES[kind]] if kind in NOTES else []
    if trial.broken:
        notes = [f"breaks {text}" for text in trial.broken]
    if trial.same_as is not None:
        notes.append(f"the same requests as trial {trial.same_as}")
    if trial.failure:
        notes.append(trial.failure)
    return "; ".join(notes)
