"""The document of a history: made from its timelines, and printed on a terminal and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

from harness.extensions.history.model import ChangeKind, Drift, Step, Timeline, TimelinePoint
from harness.extensions.history.steps import WINDOW
from harness.model.suite import Json
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
    Paragraph,
    Section,
    Span,
    Table,
    Tone,
    make_name,
    make_notes,
    make_words,
)
from harness.report.sentences import format_difference, format_score
from harness.words import count

SPARK_WIDTH = 30
"""Characters of a line drawn in a table."""

_CHANGES_SHOWN = 15
"""Runs before which something changed that a table lists, the latest."""

MOVEMENTS_SHOWN = 12
"""Steps and drifts that are told of a timeline, the largest."""

_BLOCKS = "▁▂▃▄▅▆▇█"


def build_history_document(timelines: Sequence[Timeline]) -> Document:
    """All that is said of *timelines*, which are those of one suite, and at least one."""
    closing = make_notes([write_history_closing(timelines)], Tone.QUIET)
    return Document(write_timeline_headline(timelines[0]), closing, tuple(map(_build_section, timelines)))


def list_facts(timeline: Timeline) -> dict[str, Json]:
    """The runs of *timeline* with their means and what changed before them, and its steps and drifts: for programs."""
    runs: list[Json] = []
    for point in timeline.points:
        entry = point.entry
        means: dict[str, Json] = {measure: point.find_mean(measure) for measure in timeline.measures}
        of_day: dict[str, Json] = {measure: figure.mean for measure, figure in entry.measures.items()}
        changes: list[Json] = [str(change.kind) for change in point.changes]
        runs.append(
            {
                "created": entry.created,
                "commit": entry.commit,
                "means": means,
                "means_of_the_day": of_day,
                "changes": changes,
            }
        )
    steps: list[Json] = []
    drifts: list[Json] = []
    for measure in timeline.measures:
        steps += [
            {"measure": measure, "run": step.place, "before": step.before, "after": step.after}
            for step in timeline.steps.get(measure, ())
        ]
        drifts += [
            {
                "measure": measure,
                "first": drift.first,
                "last": drift.last,
                "before": drift.before,
                "after": drift.after,
            }
            for drift in timeline.drifts.get(measure, ())
        ]
    return {
        "suite": timeline.suite,
        "request": timeline.request,
        "index": timeline.chosen_index,
        "runs": runs,
        "steps": steps,
        "drifts": drifts,
    }


def _build_section(timeline: Timeline) -> Section:
    title = (
        Span(timeline.suite, Tone.STRONG),
        Span("  request ", Tone.QUIET),
        Span(write_title(timeline), Tone.STRONG),
    )
    blocks: list[Block] = [build_timeline_facts(timeline)]
    if timeline.measures:
        blocks.append(build_measures(timeline))
    else:
        blocks.append(Paragraph(make_words("no query has a score: the suite has no measure")))
    movements = [describe_movement(timeline, movement) for movement in list_movements(timeline)]
    if movements:
        blocks.append(Notes(make_notes(movements, Tone.NOTED)))
    changes = build_run_changes(timeline)
    if changes.rows:
        blocks.append(changes)
    remarks = list_timeline_remarks(timeline)
    if remarks:
        blocks.append(Notes(remarks))
    return Section(title, tuple(blocks))


def write_history_closing(timelines: Sequence[Timeline]) -> str:
    """How many runs are shown."""
    points = [point for timeline in timelines for point in timeline.points]
    return f"{count(len(points), 'run')} {describe_days(points)}, scored with the judgments of today"


def describe_days(points: Sequence[TimelinePoint]) -> str:
    """The days of runs; not those of the first and the last one, as a clock may have gone back."""
    days = [point.entry.created[:10] for point in points]
    first, last = min(days), max(days)
    return f"of {first}" if first == last else f"from {first} to {last}"


def write_timeline_headline(timeline: Timeline) -> str:
    """The first measure of the last run, how it changed, and the newest step."""
    if not timeline.measures:
        return f"{timeline.suite}: {count(len(timeline.points), 'run')}"
    measure = timeline.measures[0]
    line = list_means(timeline, measure)
    text = f"{timeline.suite}: {measure} {format_score(line[-1])}"
    change = compute_change_from_median(line)
    if change is not None:
        difference = format_difference(change)
        if difference == format_difference(0.0):
            difference = "no change"
        text += f", {difference} against the median of the {WINDOW} runs before"
    step = _find_newest_step(timeline)
    if step is None:
        return text
    place = step[1].place
    run = f"run {number_run(timeline, place):,} ({timeline.points[place].entry.created[:10]})"
    return f"{text}; newest step: {_describe_change(*step)} with {run}"


def _find_newest_step(timeline: Timeline) -> tuple[str, Step] | None:
    """The last step and its measure, the first of those that step with the same run."""
    newest = None
    for measure in timeline.measures:
        for step in timeline.steps.get(measure, ()):
            if newest is None or step.place > newest[1].place:
                newest = measure, step
    return newest


def write_title(timeline: Timeline) -> str:
    """The request, and the index that was chosen in place of the suite's own."""
    return f"{timeline.request} on {timeline.chosen_index}" if timeline.chosen_index else timeline.request


def describe_timeline_run(timeline: Timeline, place: int) -> str:
    """
    A run in words: its number, day and commit.

    Runs are numbered from the oldest that is kept, so that a number stays the same when fewer are shown.
    """
    entry = timeline.points[place].entry
    commit = f", commit {entry.commit[:9]}" if entry.commit else ""
    return f"run {number_run(timeline, place):,} ({entry.created[:10]}{commit})"


def describe_commits(timeline: Timeline, place: int) -> str:
    """
    The commit of a run; where the run before it is of another one, both, as ``git diff`` takes them.

    Empty if it is unknown.
    """
    commit = (timeline.points[place].entry.commit or "")[:9]
    before = ""
    if place > 0:
        before = (timeline.points[place - 1].entry.commit or "")[:9]
    if commit and before and commit != before:
        return f"{before}..{commit}"
    return commit


def number_run(timeline: Timeline, place: int) -> int:
    """The number of the run at *place* of the points that are shown."""
    return timeline.older + place + 1


def list_means(timeline: Timeline, measure: str, tag: str | None = None) -> list[float | None]:
    """The line of *measure*, by the judgments of today as far as rankings allow."""
    return [point.find_mean(measure, tag) for point in timeline.points]


def compute_change_from_median(line: Sequence[float | None]) -> float | None:
    """The last value minus the median of the runs before; None if there are fewer than `WINDOW`."""
    before = [value for value in line[:-1] if value is not None]
    if line[-1] is None or len(before) < WINDOW:
        return None
    return line[-1] - median(before[-WINDOW:])


def draw_sparkline(line: Sequence[float | None], width: int = SPARK_WIDTH) -> str:
    """
    A line as characters of eight heights, from its least value to its greatest; a blank for runs without a value.

    More runs than *width* are joined in groups, each with its mean.

    >>> draw_sparkline([0.1, 0.2, None, 0.4]), draw_sparkline([0.5, 0.5]), draw_sparkline([0.0, 1.0] * 4, width=4)
    ('▁▃ █', '▄▄', '▄▄▄▄')
    """
    groups = max(1, min(width, len(line)))
    borders = [round(group * len(line) / groups) for group in range(groups + 1)]
    values: list[float | None] = []
    for begin, end in pairwise(borders):
        numbers = [value for value in line[begin:end] if value is not None]
        values.append(mean(numbers) if numbers else None)
    means = [value for value in values if value is not None]
    least, greatest = min(means, default=0.0), max(means, default=0.0)
    characters = []
    for value in values:
        if value is None:
            characters.append(" ")
        elif greatest - least < 1e-9:
            characters.append(_BLOCKS[3])
        else:
            characters.append(_BLOCKS[int((value - least) / (greatest - least) * (len(_BLOCKS) - 1))])
    return "".join(characters)


# The parts of a section.


def build_timeline_facts(timeline: Timeline) -> Facts:
    """The runs, the last of them, and their target."""
    last = timeline.points[-1].entry
    runs = f"{count(len(timeline.points), 'run')} {describe_days(timeline.points)}"
    if timeline.older:
        runs += f", and {timeline.older:,} older"
    facts = [Fact("runs", make_words(runs))]
    facts.append(Fact("last run", make_words(describe_timeline_run(timeline, len(timeline.points) - 1))))
    where = " ".join(part for part in (last.cluster, last.index) if part)
    facts.append(Fact("target", (Span(where, is_name=True), Span(f", {last.engine}"))))
    return Facts(tuple(facts))


def build_measures(timeline: Timeline) -> Table:
    """A row of each measure over all queries, and one of each tag for the first measure."""
    columns = [Column("measure"), Column("tag")] if timeline.tags else [Column("measure")]
    columns.append(Column("trend", ColumnKind.TREND))
    figures = ("last", f"against {WINDOW} before", "least", "greatest", "of the day")
    columns += [Column(heading, ColumnKind.FIGURE) for heading in figures]
    rows = []
    for measure in timeline.measures:
        # The tags of one measure are enough to see which of them moved.
        tags = timeline.tags if measure == timeline.measures[0] else ()
        for tag in (None, *tags):
            line = list_means(timeline, measure, tag)
            if any(value is not None for value in line):
                rows.append(_build_measure_row(timeline, measure, tag, line))
    return Table(tuple(columns), tuple(rows), overflow=Overflow.STACK, caption="Measures of the last run")


def _build_measure_row(
    timeline: Timeline, measure: str, tag: str | None, line: Sequence[float | None]
) -> tuple[Cell, ...]:
    known = [value for value in line if value is not None]
    change = compute_change_from_median(line)
    tone = Tone.PLAIN
    if change is not None and tag is None and timeline.steps.get(measure):
        tone = Tone.NOTED
    names = [make_name(measure)]
    if tag is not None:
        names.append(make_name(tag))
    elif timeline.tags:
        names.append(make_words("all queries", Tone.QUIET))
    of_day = None
    figure = timeline.points[-1].get_figures(tag).get(measure)
    if figure is not None and figure.of_day is not None:
        of_day = figure.of_day.mean
    return (
        *names,
        make_words(draw_sparkline(line), tone),
        make_words(format_score(line[-1]), Tone.STRONG if tag is None else Tone.PLAIN),
        make_words(format_difference(change)),
        make_words(format_score(min(known))),
        make_words(format_score(max(known))),
        make_words(format_score(of_day), Tone.QUIET),
    )


@dataclass(frozen=True, slots=True)
class Movement:
    """A step or a drift of several measures between the same runs, the measure that moved most first."""

    parts: tuple[tuple[str, Step | Drift], ...]

    @property
    def change(self) -> float:
        """The greatest change of a measure."""
        return abs(self.parts[0][1].change)

    @property
    def span(self) -> tuple[int, int]:
        """The places of the runs between which the measures moved."""
        movement = self.parts[0][1]
        if isinstance(movement, Step):
            return movement.place - 1, movement.place
        return movement.first, movement.last


def list_movements(timeline: Timeline) -> list[Movement]:
    """The steps and drifts of all measures, the latest first; of more than are shown, the largest."""
    by_span: dict[tuple[type, tuple[int, int]], list[tuple[str, Step | Drift]]] = {}
    for measure in timeline.measures:
        moved: list[Step | Drift] = [*timeline.steps.get(measure, ()), *timeline.drifts.get(measure, ())]
        for movement in moved:
            span = Movement(((measure, movement),)).span
            by_span.setdefault((type(movement), span), []).append((measure, movement))
    movements = []
    for parts in by_span.values():
        parts.sort(key=lambda part: -abs(part[1].change))
        movements.append(Movement(tuple(parts)))
    movements.sort(key=lambda movement: -movement.change)
    return sorted(movements[:MOVEMENTS_SHOWN], key=lambda movement: movement.span[::-1], reverse=True)


def describe_movement(timeline: Timeline, movement: Movement) -> str:
    """A step with what changed before its run, or a drift, as a sentence."""
    first, last = movement.span
    told = ", ".join(_describe_change(measure, part) for measure, part in movement.parts)
    if isinstance(movement.parts[0][1], Drift):
        first_run, last_run = describe_timeline_run(timeline, first), describe_timeline_run(timeline, last)
        return f"{told}, without a step, from {first_run} to {last_run}"
    entry = timeline.points[last].entry
    commits = describe_commits(timeline, last)
    when = f"{entry.created[:10]}, commit {commits}" if commits else entry.created[:10]
    text = f"{told}, with run {number_run(timeline, last):,} ({when})"
    changes = [change.text for change in timeline.points[last].changes]
    if changes:
        return f"{text}, before which changed: {'; '.join(changes)}"
    return f"{text}, before which nothing is known to have changed"


def _describe_change(measure: str, movement: Step | Drift) -> str:
    verb = "rose" if movement.change > 0 else "fell"
    return f"{measure} {verb} by {format_score(abs(movement.change))} to {format_score(movement.after)}"


def list_changed(timeline: Timeline) -> list[int]:
    """The places of the runs before which more than documents changed, the latest first: some indexes change daily."""
    places = []
    for place, point in enumerate(timeline.points):
        if any(change.kind is not ChangeKind.DOCUMENTS for change in point.changes):
            places.append(place)
    return places[::-1]


def build_run_changes(timeline: Timeline) -> Table:
    """The runs before which something changed, the latest first."""
    measure = timeline.measures[0] if timeline.measures else None
    places = list_changed(timeline)
    rows = []
    for place in places[:_CHANGES_SHOWN]:
        point = timeline.points[place]
        change = None
        if measure is not None:
            value, before = point.find_mean(measure), timeline.points[place - 1].find_mean(measure)
            if value is not None and before is not None:
                change = value - before
        rows.append(
            (
                make_words(f"{number_run(timeline, place):,}"),
                make_words(point.entry.created[:10]),
                make_name(describe_commits(timeline, place)),
                make_words(format_difference(change)),
                make_words(describe_point_changes(point)),
            )
        )
    columns = (
        Column("run", ColumnKind.FIGURE),
        Column("day", ColumnKind.WORD),
        Column("commit", ColumnKind.WORD),
        Column(measure or "", ColumnKind.FIGURE, is_name=True),
        Column("what changed before it"),
    )
    remarks = []
    more = len(places) - len(rows)
    if more:
        remarks.append(f"and {count(more, 'earlier run')} before which something changed")
    others = sum(bool(point.changes) for point in timeline.points) - len(places)
    if others and rows:
        remarks.append(f"before {count(others, 'other run')} only documents changed")
    return Table(columns, tuple(rows), remarks=tuple(remarks), caption="Runs before which something changed")


def describe_point_changes(point: TimelinePoint) -> str:
    """What changed before *point*, each with its kind."""
    texts = []
    for change in point.changes:
        if change.kind.value in change.text:
            texts.append(change.text)
        else:
            texts.append(f"{change.kind}: {change.text}")
    return "; ".join(texts)


def list_timeline_remarks(timeline: Timeline) -> tuple[Span, ...]:
    """What the lines do not count, and documents that change all the time."""
    return make_notes(list(_describe_remarks(timeline)), Tone.QUIET)


def _describe_remarks(timeline: Timeline) -> Iterator[str]:
    if not list_changed(timeline):
        documents = sum(bool(point.changes) for point in timeline.points)
        if documents:
            yield f"before {count(documents, 'run')} documents changed, and nothing else"
    asked = {query for point in timeline.points for query in point.changed_queries}
    if asked:
        queries = count(len(asked), "query")
        yield f"{queries} had another text or other params in earlier runs, which are left out there"
    deep = []
    for measure in timeline.measures:
        figures = [point.figures[measure] for point in timeline.points if measure in point.figures]
        if any(figure.rescored is None for figure in figures):
            deep.append(measure)
    if deep:
        yield (
            f"{', '.join(deep)}: runs that keep too few hits, or whose measure the suite has no longer, have their "
            "figure of the day"
        )
