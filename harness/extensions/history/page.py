"""
A history as one HTML page: lines of measures, and runs side by side with their queries.

The page has its figures once, as JSON, from which its script draws. What changed little is written as changes: most
queries have the same score and the same hits in many runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.extensions.history.document import (
    build_measures,
    build_run_changes,
    build_timeline_facts,
    describe_movement,
    describe_point_changes,
    list_movements,
    list_timeline_remarks,
    number_run,
    write_history_closing,
    write_timeline_headline,
    write_title,
)
from harness.extensions.history.model import ChangeKind, Timeline, TimelineFigure, TimelinePoint
from harness.model.kept import HistoryFigure
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Details,
    Document,
    Drawing,
    Heading,
    Link,
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
from harness.report.html import Page, render_page
from harness.report.safe_text import printable
from harness.report.sentences import format_score
from harness.words import count, shorten

_DECIMALS = 4
"""Of figures that are only shown. Means and scores have all digits: the script subtracts them."""
_LONGEST_TEXT = 120
"""Characters of the text of a query."""


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """
    The limits of the page, for all timelines together: *scores* and *documents* are numbers in its JSON.

    A query is on the page with all its scores, and with its hits if there is room for them; those whose scores differed
    most come first. *ranks* are those of a ranking.
    """

    scores: int = 200_000
    documents: int = 150_000
    ranks: int = 10
    rows: int = 300
    """Runs in the table, the latest."""


@dataclass(frozen=True, slots=True)
class Lines(Drawing):
    """The lines of a timeline, and two of its runs beside each other, which the page's script draws."""

    template: ClassVar[str] = "extensions/history/page.html.jinja"

    anchor: str
    measures: Sequence[str]
    tags: Sequence[str]
    runs: int


def render(timelines: Sequence[Timeline], *, limits: HistoryLimits | None = None) -> str:
    """*timelines* of one suite as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = HistoryLimits()
    # Timelines share the room, so that a suite with many requests has no larger page.
    share = HistoryLimits(
        scores=limits.scores // len(timelines),
        documents=limits.documents // len(timelines),
        ranks=limits.ranks,
        rows=limits.rows,
    )
    sections, data = [], []
    for number, timeline in enumerate(timelines, start=1):
        queries, left_out = _build_queries(timeline, share)
        title = (Span("Request "), Span(write_title(timeline), is_name=True))
        blocks = _build_blocks(timeline, f"s{number}", left_out, share)
        sections.append(Section(title, tuple(blocks), f"s{number}"))
        data.append({**_build_data(timeline), "queries": queries})
    lines = [write_history_closing(timelines), f"suite {timelines[0].suite}"]
    page = Page(
        document=Document(write_timeline_headline(timelines[0]), make_notes(lines, Tone.PLAIN), tuple(sections)),
        product="Relevance history",
        footer=(
            Span(
                "Figures are by the judgments of today, as far as the kept rankings allow. Dashed lines are the "
                "figures of the day. A step is a difference of the medians of the five runs before and after. "
            ),
            Span("relevance history", is_name=True),
            Span(" prints the same on a terminal."),
        ),
        style="extensions/history/page.css",
        script="extensions/history/page.js",
        data=json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")),
    )
    return render_page(page)


def _build_blocks(timeline: Timeline, anchor: str, left_out: Sequence[str], limits: HistoryLimits) -> Iterator[Block]:
    """All that the page shows of *timeline*."""
    yield build_timeline_facts(timeline)
    movements = list_movements(timeline)
    if movements:
        yield Heading("Steps and drifts")
    for movement in movements:
        before, run = (number_run(timeline, place) for place in movement.span)
        link = Link(f"#{anchor}/{run}-{before}", label=f"Compare run {run} with run {before}")
        yield Paragraph((Span(f"{describe_movement(timeline, movement)}. "), Span("Compare", link=link)))
    yield Heading("Lines")
    yield Lines(anchor, timeline.measures, timeline.tags, len(timeline.points))
    if left_out:
        yield Paragraph(make_words(f"This page omits {' and '.join(left_out)} to limit its size."))
    yield Heading("Measures")
    yield build_measures(timeline)
    changes = build_run_changes(timeline)
    if changes.rows:
        yield Heading("What changed")
        yield changes
    remarks = list_timeline_remarks(timeline)
    if remarks:
        yield Notes(remarks)
    yield Details("Runs as a table", (_build_runs(timeline, anchor, limits.rows),))


def _build_runs(timeline: Timeline, anchor: str, most: int) -> Table:
    """A row for each run, the latest first."""
    measures = (Column(measure, ColumnKind.FIGURE, is_name=True) for measure in timeline.measures)
    columns = (
        Column("run", ColumnKind.FIGURE),
        Column("time"),
        Column("commit"),
        *measures,
        Column("changed before it"),
    )
    rows = []
    for place, point in list(enumerate(timeline.points))[::-1][:most]:
        number = number_run(timeline, place)
        means = [format_score(point.find_mean(measure)) for measure in timeline.measures]
        rows.append(
            (
                (Span(f"{number}", link=Link(f"#{anchor}/{number}")),),
                make_words(point.entry.created[:16].replace("T", " ")),
                make_name((point.entry.commit or "–")[:9]),
                *map(make_words, means),
                make_words(describe_point_changes(point) or "–"),
            )
        )
    remarks = []
    if len(rows) < len(timeline.points):
        remarks.append(f"the {len(rows)} latest of {len(timeline.points):,} runs")
    return Table(columns, tuple(rows), tuple(remarks), caption=f"Runs of {write_title(timeline)}")


# The figures of the lines.


def _build_data(timeline: Timeline) -> dict[str, Any]:
    """The runs and the lines, as JSON values."""
    kinds = [str(kind) for kind in ChangeKind]
    runs = []
    for place, point in enumerate(timeline.points):
        entry = point.entry
        changes = [[kinds.index(str(change.kind)), printable(change.text)] for change in point.changes]
        about = [entry.commit and entry.commit[:9], entry.branch, entry.engine, f"harness {entry.harness}", entry.index]
        if entry.state.documents is not None:
            about.append(count(entry.state.documents, "document"))
        runs.append(
            {
                "number": number_run(timeline, place),
                "time": entry.created[:16].replace("T", " "),
                "about": [printable(text) for text in about if text],
                "changes": changes,
                "queries": len(entry.queries),
            }
        )
    lines = {}
    for tag in (None, *timeline.tags):
        by_measure = {}
        for measure in timeline.measures:
            figures = [_pick_figure(point, measure, tag) for point in timeline.points]
            by_measure[measure] = _build_line(figures)
        lines[tag or ""] = by_measure
    return {"kinds": kinds, "measures": timeline.measures, "tags": timeline.tags, "runs": runs, "lines": lines}


def _pick_figure(point: TimelinePoint, measure: str, tag: str | None) -> TimelineFigure | None:
    return point.get_figures(tag).get(measure)


def _build_line(figures: Sequence[TimelineFigure | None]) -> dict[str, list[float | None]]:
    """The means of a line by the judgments of today, their intervals and bands, and the figures of the day."""
    line: dict[str, list[float | None]] = {name: [] for name in ("mean", "low", "high", "least", "most", "day")}
    for figure in figures:
        if figure is None:
            figure = _NO_FIGURE
        of_day = figure.of_day or _NO_MEAN
        shown = figure.rescored or of_day
        low, high = shown.interval or (None, None)
        least, most = figure.band or (None, None)
        values = {"low": low, "high": high, "least": least, "most": most, "day": of_day.mean}
        line["mean"].append(_drop_infinite(shown.mean))
        for name, value in values.items():
            line[name].append(_round(value))
    # Most lines have no tied hits, and many no intervals.
    return {name: values for name, values in line.items() if values.count(None) < len(values)}


_NO_FIGURE = TimelineFigure(None, None)
_NO_MEAN = HistoryFigure(None, 0)


def _drop_infinite(value: float | None) -> float | None:
    """*value*; None for a number that JSON has not."""
    if value is None or not math.isfinite(value):
        return None
    return value


def _round(value: float | None) -> float | None:
    finite = _drop_infinite(value)
    return None if finite is None else round(finite, _DECIMALS)


# The queries.


def _build_queries(timeline: Timeline, limits: HistoryLimits) -> tuple[list[dict[str, Any]], list[str]]:
    """
    The queries that the page has room for, and sentences on what it has not.

    A query whose score differed most over the runs comes first.
    """
    scores = {query: _build_score_changes(timeline, query) for query in timeline.texts}
    order = sorted(scores, key=lambda query: (-_find_range(scores[query].values()), query))
    shown: list[dict[str, Any]] = []
    with_hits = room = documents = 0
    for query in order:
        room += sum(map(len, scores[query].values()))
        if room > limits.scores:
            break
        item: dict[str, Any] = {
            "id": query,
            "text": shorten(timeline.texts[query], _LONGEST_TEXT),
            "scores": scores[query],
        }
        rankings = _build_ranking_changes(timeline, query, limits.ranks)
        documents += sum(len(ids) for _, ids in rankings)
        if documents <= limits.documents:
            grades = timeline.grades.get(query, {})
            seen = dict.fromkeys(document for _, ids in rankings for document in ids)
            item["hits"] = _number_documents(rankings, seen)
            item["documents"] = [[printable(document), _round(grades.get(document))] for document in seen]
            with_hits += 1
        shown.append(item)
    left_out = []
    if len(shown) < len(order):
        left_out.append(f"the scores of {count(len(order) - len(shown), 'query')} that differed less over the runs")
    if with_hits < len(shown):
        left_out.append(f"the hits of {count(len(shown) - with_hits, 'query')}")
    return shown, left_out


def _build_score_changes(timeline: Timeline, query: str) -> dict[str, list[float | None]]:
    """The score of *query* by each measure: the place of a run, the score from there on, the place of the next."""
    changes: dict[str, list[float | None]] = {}
    for measure in timeline.measures:
        line: list[float | None] = []
        last: float | None = None
        for place, point in enumerate(timeline.points):
            value = _drop_infinite(point.scores.get(query, {}).get(measure))
            if value != last:
                line += [place, value]
                last = value
        if line:
            changes[measure] = line
    return changes


def _find_range(lines: Iterable[list[float | None]]) -> float:
    """The greatest difference of two scores of a query by the same measure."""
    greatest = 0.0
    for line in lines:
        values = [value for value in line[1::2] if value is not None]
        if values:
            greatest = max(greatest, max(values) - min(values))
    return greatest


def _build_ranking_changes(timeline: Timeline, query: str, ranks: int) -> list[tuple[int, tuple[str, ...]]]:
    """The first hits of *query*: the place of a run, and the ids from there on."""
    changes: list[tuple[int, tuple[str, ...]]] = []
    for place, point in enumerate(timeline.points):
        ids: tuple[str, ...] = ()
        if query in point.entry.queries:
            ids = point.entry.queries[query].ranking[:ranks]
        if not changes or changes[-1][1] != ids:
            changes.append((place, ids))
    return changes


def _number_documents(rankings: Sequence[tuple[int, Sequence[str]]], seen: Mapping[str, None]) -> list[list[Any]]:
    """*rankings* with documents as their numbers among those *seen*, as ids may be long."""
    numbers = {document: number for number, document in enumerate(seen)}
    return [[place, [numbers[document] for document in ids]] for place, ids in rankings]
