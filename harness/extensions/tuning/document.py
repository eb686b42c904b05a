"""The document of a tuning: made from the values of its report, and printed by all outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.extensions.tuning.model import (
    FalseHitsChange,
    QueryCost,
    TagGain,
    TuningDecision,
    TuningGain,
    TuningReport,
    TuningTrial,
)
from harness.model.comparison import FEWEST_CHANGED
from harness.model.suite import Json, ParameterKind
from harness.report.document import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Document,
    Fact,
    Facts,
    Notes,
    Overflow,
    Section,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.sentences import format_difference, format_limits, format_p, format_score
from harness.words import count, listed, shorten

TRIALS_SHOWN = 10
CHOICES_SHOWN = 8
"""Choices of a parameter with the number of their trials."""
COSTS_SHOWN = 5
_TAGS_SHOWN = 20
VALUE_LENGTH = 60
"""Characters of a value, such as a list of fields, in a table."""

DECIDED = {
    TuningDecision.GAIN: Tone.GOOD,
    TuningDecision.LOSS: Tone.BAD,
    TuningDecision.UNDECIDED: Tone.NOTED,
    TuningDecision.TODAY: Tone.NOTED,
    TuningDecision.OPEN: Tone.UNDECIDED,
}

_CLOSING_TONES = {
    TuningDecision.GAIN: Tone.BEST,
    TuningDecision.LOSS: Tone.BAD,
    TuningDecision.OPEN: Tone.WARNING,
}

APPROXIMATE = (
    "approximate: the folds share the queries that they choose by, so that its variance cannot be estimated (Bengio & "
    "Grandvalet 2004); it is of the procedure on average, not of this choice (Bates, Hastie & Tibshirani 2023)"
)


def build_tuning_document(report: TuningReport, *, most: int = COSTS_SHOWN) -> Document:
    """All that is said of *report*; at most *most* queries that lose, and as many that gain."""
    blocks: list[Block] = [
        build_tuning_facts(report),
        *build_warnings(report),
        build_gains(report),
        *build_false_hits(report),
        build_gain_notes(report),
    ]
    if report.tags:
        blocks.append(build_tags(report))
    blocks += [build_values(report), *build_constraints(report), build_trials(report)]
    costs = build_costs(report, most)
    if costs.rows:
        blocks.append(costs)
    more_costs = _count_more_costs(report, most)
    if more_costs:
        blocks.append(Notes(make_notes([more_costs], Tone.QUIET)))
    remarks = list_tuning_remarks(report)
    if remarks:
        blocks.append(Notes(remarks))
    title = (Span(f"{report.name}  {report.request}", Tone.STRONG), Span(" tuned"))
    closing = Span(write_tuning_closing(report), _CLOSING_TONES.get(report.decision, Tone.STRONG))
    return Document(
        headline=write_tuning_headline(report),
        closing=(Span(write_tuning_headline(report)), closing),
        sections=(Section(title, tuple(blocks)),),
    )


def build_warnings(report: TuningReport) -> list[Notes]:
    """What makes the decision say less than it seems to; no block for nothing."""
    return [Notes(make_notes(report.warnings, Tone.WARNING))] if report.warnings else []


def format_parameter_value(value: Json) -> str:
    """
    A value of a parameter in a line: texts without quotes, others as JSON.

    >>> format_parameter_value("75%"), format_parameter_value(["title", "body"]), format_parameter_value(True)
    ('75%', '["title", "body"]', 'true')
    """
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(text, VALUE_LENGTH)


def describe_values(report: TuningReport, trial: TuningTrial) -> str:
    """What *trial* changes of today's values; "today's values" where it changes nothing."""
    changes = []
    for parameter in report.parameters:
        value = trial.values[parameter.name]
        if value != parameter.today:
            changes.append(f"{parameter.name} {format_parameter_value(value)}")
    return ", ".join(changes) or "today's values"


def write_tuning_headline(report: TuningReport) -> str:
    """The decision, with its figures."""
    gain, measure = report.held_out_gain, report.measure
    if report.decision is TuningDecision.TODAY:
        return f"no trial of {len(report.trials) - 1} is better than today's request on the tuning queries"
    if gain is None:
        return "not decided: the queries of the hold-out have no answers"
    if report.held_out_false_hits is not None:
        return _write_headline_of_both(report, gain, report.held_out_false_hits)
    interval = format_limits(gain.low, gain.high)
    assert gain.p_value is not None
    figures = f"{format_difference(gain.difference)} (95 % interval {interval}, p {format_p(gain.p_value)})"
    which_queries = "of the hold-out" if report.is_seen else "that no trial has seen"
    queries = f"on {count(gain.queries, 'query')} {which_queries}"
    if report.decision is TuningDecision.GAIN:
        return f"a gain in {measure}: {figures} {queries}"
    if report.decision is TuningDecision.LOSS:
        return f"a loss in {measure}: {figures} {queries}"
    # It would be one in the order that the figures are of.
    only_in_one_order = ", but not in every order of ties" if gain.p_value <= report.level else ""
    return f"no gain in {measure} shown: {figures} {queries}{only_in_one_order}"


def _write_headline_of_both(report: TuningReport, gain: TuningGain, change: FalseHitsChange) -> str:
    """The decision by two figures: the scores of the queries with results, and the false hits of the others."""
    assert gain.p_value is not None
    interval = format_limits(gain.low, gain.high)
    p_of_change = "–" if change.p_value is None else format_p(change.p_value)
    decision = {TuningDecision.GAIN: "a gain", TuningDecision.LOSS: "a loss"}.get(report.decision, "no gain shown")
    return (
        f"{decision}: {report.measure} {format_difference(gain.difference)} (95 % interval {interval}, "
        f"p {format_p(gain.p_value)}) on {count(gain.queries, 'query')} of the hold-out, and false hits "
        f"{change.today} → {change.chosen} of {change.queries} (p {p_of_change})"
    )


def write_tuning_closing(report: TuningReport) -> str:
    """What follows from the decision."""
    changes = describe_values(report, report.chosen)
    if report.decision is TuningDecision.GAIN:
        return f"a gain: {changes}"
    if report.decision is TuningDecision.TODAY:
        return "today's request stays"
    if report.decision is TuningDecision.OPEN:
        return "not decided"
    if report.decision is TuningDecision.LOSS:
        return f"today's request stays: {changes} is worse on the hold-out"
    return f"today's request stays: that {changes} is better is not shown"


def build_tuning_facts(report: TuningReport) -> Facts:
    """What was tuned, on which queries, and how."""
    held_out = len(report.hold_out.queries)
    queries = (
        f"{report.tuning_queries:,} to tune on, {held_out:,} held out ({report.hold_out.share:.0%}, drawn with seed "
        f"{report.hold_out.seed})"
    )
    trials = f"{count(len(report.trials), 'trial')} by {report.sampler}, seed {report.seed}"
    trials += f"; {report.sent:,} searches sent now"
    if report.saved:
        trials += f", {report.saved:,} saved as equal ones were answered"
    facts = [
        Fact("measure", make_name(report.measure)),
        Fact("queries", make_words(queries)),
        Fact("trials", make_words(trials)),
    ]
    if report.engine:
        target = report.engine
        if report.index:
            target += f", {report.index}"
        facts.append(Fact("engine", make_words(target)))
    if report.stopped:
        facts.append(Fact("stopped", make_words(report.stopped, Tone.NOTED)))
    if not report.can_show:
        facts.append(Fact("hold-out shows", make_words("nothing: too few of its queries changed", Tone.NOTED)))
    elif report.detectable is not None:
        text = f"gains from {format_score(report.detectable)} with a chance of 80 %"
        text += f"; the smallest gain asked for is {report.effect:g}"
        facts.append(Fact("hold-out shows", make_words(text)))
    return Facts(tuple(facts))


# Gains.

_GAIN_COLUMNS = (
    Column("queries"),
    Column("n", ColumnKind.FIGURE),
    Column("today", ColumnKind.SCORE),
    Column("choice", ColumnKind.SCORE),
    Column("difference", ColumnKind.SCORE),
    Column("95 % interval", ColumnKind.SCORE),
    Column("p", ColumnKind.SCORE),
    Column("judged", ColumnKind.SCORE),
)


def build_gains(report: TuningReport) -> Table:
    """The gain on the hold-out first: only that decides."""
    rows = []
    if report.held_out_gain is not None:
        rows.append(_build_gain("hold-out", report.held_out_gain, DECIDED[report.decision]))
    rows.append(_build_gain("tuned on (too high)", report.tuned_gain, Tone.QUIET))
    if report.optimistic_gain is not None:
        rows.append(_build_gain("all (optimistic)", report.optimistic_gain, Tone.QUIET))
    caption = "Today's request and the choice, by the queries that they are compared on"
    return Table(_GAIN_COLUMNS, tuple(rows), caption=caption)


def _build_gain(name: str, gain: TuningGain, tone: Tone) -> tuple[Cell, ...]:
    """The row of *gain*, which is on the queries *name*, in the columns of `_GAIN_COLUMNS`."""
    p_value = "–" if gain.p_value is None else format_p(gain.p_value)
    judged = "–"
    if gain.judged_today is not None and gain.judged_chosen is not None:
        judged = f"{gain.judged_today:.0%} → {gain.judged_chosen:.0%}"
    figures = (
        f"{gain.queries:,}",
        format_score(gain.today),
        format_score(gain.chosen),
        format_difference(gain.difference),
        format_limits(gain.low, gain.high),
        p_value,
        judged,
    )
    return (make_words(name), *(make_words(figure, tone) for figure in figures))


def build_false_hits(report: TuningReport) -> list[Table]:
    """On how many queries for which no result is right there are hits; no block where there is no such query."""
    parts = [("hold-out", report.held_out_false_hits), ("tuned on", report.tuned_false_hits)]
    rows = []
    for name, change in parts:
        if change is not None:
            p_value = "–" if change.p_value is None else format_p(change.p_value)
            figures = (f"{change.queries:,}", f"{change.today:,}", f"{change.chosen:,}", p_value)
            rows.append((make_words(name), *map(make_words, figures)))
    if not rows:
        return []
    columns = (
        Column("no result is right"),
        Column("n", ColumnKind.FIGURE),
        Column("false hits today", ColumnKind.FIGURE),
        Column("choice", ColumnKind.FIGURE),
        Column("p", ColumnKind.SCORE),
    )
    return [Table(columns, tuple(rows), caption="Queries for which no result is right, and those that have hits")]


def build_gain_notes(report: TuningReport) -> Notes:
    """How the figures were made, and which of them are no evidence."""
    return Notes(make_notes(list(_describe_gains(report)), Tone.QUIET))


def _describe_gains(report: TuningReport) -> Iterator[str]:
    """Sentences on the rows of the table of gains."""
    weighted = ", with the weights of queries" if report.weighted else ""
    if report.held_out_gain is not None:
        seen = "earlier trials were sent some of these queries" if report.is_seen else "no trial was sent these queries"
        yield f"hold-out: sign-flip test at {report.level:g}, two-sided{weighted}; {seen}"
        yield from _describe_interval(report.held_out_gain)
        yield "tuned on, all: the choice was made by these queries, so that the gain is too high; it has no p"
    if report.tied or (report.held_out_gain is not None and report.held_out_gain.least is not None):
        moved = f" of {count(report.tied, 'trial')}" if report.tied else "s on the hold-out"
        yield (
            f"the order of tied documents moves the score{moved}: the figures are the least over these orders, and "
            "`relevance run` may show more"
        )
    if report.folds is not None:
        folds = report.folds
        yield (
            f"{folds.folds} folds, no evidence: choosing anew by the others of {folds.folds} parts of the tuning "
            f"queries gains {format_difference(folds.difference)}; {APPROXIMATE}"
        )
    yield f"judged: the share of the first {report.depth} hits that have a grade"


def _describe_interval(gain: TuningGain) -> Iterator[str]:
    """Where the interval is none of 95 %, as `relevance compare` says it."""
    if gain.changed is not None and gain.changed < FEWEST_CHANGED and gain.low is not None:
        changed = f"only {count(gain.changed, 'query')} changed"
        yield f"hold-out: {changed}, so the interval is of differences not rejected, no confidence interval"


def build_tags(report: TuningReport) -> Table:
    """The tags that lose most on all queries first."""
    columns = (
        Column("tag"),
        Column("held out", ColumnKind.FIGURE),
        Column("today", ColumnKind.SCORE),
        Column("choice", ColumnKind.SCORE),
        Column("difference", ColumnKind.SCORE),
        Column("all", ColumnKind.FIGURE),
        Column("difference on all", ColumnKind.SCORE),
    )
    rows = tuple(_build_tag(gain) for gain in report.tags[:_TAGS_SHOWN])
    remarks = []
    if len(report.tags) > len(rows):
        others = count(len(report.tags) - len(rows), "more tag")
        remarks.append(f"{others} that gained more, in the JSON")
    return Table(columns, rows, tuple(remarks), caption="Today's request and the choice, by the tags of queries")


def _build_tag(gain: TagGain) -> tuple[Cell, ...]:
    """The row of a tag: its queries of the hold-out, then all of its queries."""
    held_out = ["0", "–", "–", "–"]
    if gain.held_out is not None:
        figures = gain.held_out
        held_out = [f"{figures.queries:,}", format_score(figures.today), format_score(figures.chosen)]
        held_out.append(format_difference(figures.difference))
    overall = gain.overall
    cells = [make_words(cell) for cell in (*held_out, f"{overall.queries:,}")]
    tone = Tone.BAD if overall.difference < 0 else Tone.PLAIN
    return (make_name(gain.tag), *cells, make_words(format_difference(overall.difference), tone))


# Values and trials.


def build_values(report: TuningReport) -> Table:
    """Each parameter: today, the choice, the best, and what is as good within noise."""
    columns = [Column("parameter", is_name=False), Column("today"), Column("choice"), Column("best"), Column("as good")]
    if report.importance:
        columns.append(Column("importance", ColumnKind.FIGURE))
    flat = [trial for trial in report.trials if trial.number in report.optimum.flat]
    rows = []
    for parameter in report.parameters:
        chosen = report.chosen.values[parameter.name]
        tone = Tone.STRONG if chosen != parameter.today else Tone.PLAIN
        cells = [
            make_name(parameter.name),
            make_words(format_parameter_value(parameter.today)),
            make_words(format_parameter_value(chosen), tone),
            make_words(format_parameter_value(report.best.values[parameter.name])),
            make_words(format_range(parameter.kind, [trial.values[parameter.name] for trial in flat]), Tone.QUIET),
        ]
        if report.importance:
            share = report.importance.get(parameter.name)
            cells.append(make_words("–" if share is None else f"{share:.0%}"))
        rows.append(tuple(cells))
    remarks = [*_describe_optimum(report), *_describe_choices(report)]
    caption = "Parameters with today's values and the chosen ones"
    return Table(tuple(columns), tuple(rows), tuple(remarks), caption=caption)


def format_range(kind: ParameterKind, values: Sequence[Json]) -> str:
    """
    The values of one parameter: from where to where, or each.

    >>> format_range(ParameterKind.FLOAT, [3, 2.5, 4]), format_range(ParameterKind.CHOICE, ["a", "b", "a"])
    ('2.5 to 4', 'a, b')
    """
    if not values:
        return "–"
    if kind in (ParameterKind.FLOAT, ParameterKind.INTEGER):
        low, high = min(values), max(values)
        if low == high:
            return f"{low:g}"
        return f"{low:g} to {high:g}"
    return listed(list(dict.fromkeys(map(format_parameter_value, values))))


def _describe_optimum(report: TuningReport) -> Iterator[str]:
    """Why the trial was chosen: how many are as good as the best."""
    optimum = report.optimum
    if report.decision is TuningDecision.TODAY:
        return
    if len(optimum.flat) == 1:
        yield f"no other trial is as good as trial {optimum.best} within its noise: it is chosen"
        return
    yield (
        f"{count(len(optimum.flat), 'trial')} are as good as the best, trial {optimum.best}: within one standard error "
        f"of it, with most of its gain; trial {optimum.chosen} is chosen, as it is nearest to today's values"
    )


def _describe_choices(report: TuningReport) -> Iterator[str]:
    """How many trials had each choice of a parameter, with the best score: a sampler tries some choices seldom."""
    for parameter in report.parameters:
        if not parameter.has_choices:
            continue
        scores: dict[str, list[float]] = {format_parameter_value(choice): [] for choice in parameter.choices}
        for trial in report.trials:
            if trial.score is not None and parameter.is_in_force(trial.values):
                scores[format_parameter_value(trial.values[parameter.name])].append(trial.score)
        texts = []
        for choice, of_choice in scores.items():
            best = f", best {format_score(max(of_choice))}" if of_choice else ""
            texts.append(f"{choice} in {count(len(of_choice), 'trial')}{best}")
        yield f"{parameter.name}: {'; '.join(texts[:CHOICES_SHOWN])}"


def build_trials(report: TuningReport) -> Table:
    """Today's request, the choice, and the best of the others."""
    counts_false_hits = report.tuned_false_hits is not None
    columns = [
        Column("trial", ColumnKind.FIGURE),
        Column("score", ColumnKind.SCORE),
        Column("judged", ColumnKind.SCORE),
    ]
    if counts_false_hits:
        columns.append(Column("false hits", ColumnKind.FIGURE))
    columns.append(Column("values", ColumnKind.TITLE))
    scored = [trial for trial in report.trials[1:] if trial.score is not None and trial.same_as is None]
    best = sorted(scored, key=lambda trial: -(trial.score or 0.0))[:TRIALS_SHOWN]
    shown = {trial.number: trial for trial in (report.today, report.chosen, *best)}
    rows = []
    for trial in shown.values():
        note = ""
        if trial.number == report.today.number:
            note = " (today)"
        elif trial.number == report.chosen.number:
            note = " (choice)"
        elif trial.broken:
            note = f" (breaks {listed([name_constraint(text) for text in trial.broken])})"
        judged = "–" if trial.judged is None else f"{trial.judged:.0%}"
        score_tone = Tone.STRONG if trial.number == report.chosen.number else Tone.PLAIN
        values_tone = Tone.QUIET if trial.broken else Tone.PLAIN
        cells = [
            make_words(f"{trial.number}"),
            make_words(format_score(trial.score), score_tone),
            make_words(judged),
        ]
        if counts_false_hits:
            cells.append(make_words(f"{trial.false_hits}"))
        cells.append(make_words(describe_values(report, trial) + note, values_tone))
        rows.append(tuple(cells))
    remarks = []
    if len(scored) > len(best):
        remarks.append(f"{count(len(scored) - len(best), 'more trial')} scored lower")
    return Table(tuple(columns), tuple(rows), tuple(remarks), overflow=Overflow.STACK)


def name_constraint(broken: str) -> str:
    """
    The threshold of *broken*, which has the reason behind it.

    >>> name_constraint("every RR@5 >= 0.3 of q1: worst is 0.25")
    'every RR@5 >= 0.3 of q1'
    """
    return shorten(broken.partition(": ")[0], VALUE_LENGTH)


def build_constraints(report: TuningReport) -> list[Notes]:
    """What the choice has to hold; no block for nothing."""
    lines = list(_describe_constraints(report))
    if not lines:
        return []
    return [Notes(make_notes(lines, Tone.PLAIN))]


def _describe_constraints(report: TuningReport) -> Iterator[str]:
    """The constraints with the number of trials that broke one, and the thresholds that are no constraints."""
    if report.constraints:
        breaking = sum(bool(trial.broken) for trial in report.trials)
        broke = f"; {count(breaking, 'trial')} broke one" if breaking else ""
        yield f"constraints on the tuning queries: {listed(list(report.constraints), TRIALS_SHOWN)}{broke}"
    for text in report.not_held:
        yield f"no constraint, as today's request does not hold it on the tuning queries: {text}"


# Queries.


def build_costs(report: TuningReport, most: int) -> Table:
    """The queries that lose most, then those that gain most."""
    columns = (
        Column("query"),
        Column("text", ColumnKind.TITLE),
        Column("today", ColumnKind.SCORE),
        Column("choice", ColumnKind.SCORE),
        Column("difference", ColumnKind.SCORE),
        Column("part", ColumnKind.WORD),
    )
    losing, gaining = split_costs(report)
    return Table(columns, tuple(_build_cost(cost) for cost in (*losing[:most], *gaining[:most])))


def split_costs(report: TuningReport) -> tuple[list[QueryCost], list[QueryCost]]:
    """The queries that lose, and those that gain, each with the greatest change first."""
    losing = [cost for cost in report.costs if cost.difference < 0]
    gaining = [cost for cost in reversed(report.costs) if cost.difference > 0]
    return losing, gaining


def _build_cost(cost: QueryCost) -> tuple[Cell, ...]:
    """The row of a query whose score the choice changes."""
    tone = Tone.BAD if cost.difference < 0 else Tone.GOOD
    part = "held out" if cost.is_held_out else "tuned on"
    return (
        make_name(cost.query),
        make_words(cost.text),
        make_words(format_score(cost.today)),
        make_words(format_score(cost.chosen)),
        make_words(format_difference(cost.difference), tone),
        make_words(part),
    )


def _count_more_costs(report: TuningReport, most: int) -> str:
    """How many queries lose or gain beyond the first *most*, in words; empty if none does."""
    losing, gaining = split_costs(report)
    more = []
    for costs, verb in ((losing, "lose"), (gaining, "gain")):
        if len(costs) > most:
            more.append(f"{count(len(costs) - most, 'more query')} {verb}")
    return ", ".join(more)


def list_tuning_remarks(report: TuningReport) -> tuple[Span, ...]:
    """What else is to be known."""
    remarks = list(report.notes)
    if report.decision in (TuningDecision.GAIN, TuningDecision.UNDECIDED, TuningDecision.LOSS):
        remarks.append(
            "a tuning decides nothing for a build: its exit status is 0; a threshold of the suite is the gate"
        )
    return make_notes(remarks, Tone.QUIET)
