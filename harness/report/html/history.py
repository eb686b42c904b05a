"""
A history as one HTML page: lines of measures, and runs side by side with their queries.

The page has its figures once, as JSON, from which its script draws. What changed little is written as changes: most
queries have the same score and the same hits in many runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from harness.extensions.history.document import (
    build_history_document,
    describe_changes,
    describe_movement,
    list_movements,
    number_run,
)
from harness.extensions.history.model import ChangeKind, Timeline, TimelineFigure, TimelinePoint
from harness.model.kept import HistoryFigure
from harness.report.document import HistorySection
from harness.report.html import make_environment, render_template
from harness.report.sentences import printable
from harness.words import count, shorten

DECIMALS = 4
LONGEST_TEXT = 120
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
class MovementView:
    """A step or a drift in words, and the runs to compare: their numbers."""

    text: str
    run: int
    before: int


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A timeline on the page."""

    anchor: str
    section: HistorySection
    timeline: Timeline
    movements: tuple[MovementView, ...]
    rows: tuple[tuple[int, TimelinePoint], ...]
    """Runs by their number, the latest first."""
    left_out: tuple[str, ...]


def render(timelines: Sequence[Timeline], *, limits: HistoryLimits | None = None) -> str:
    """*timelines* of one suite as an HTML page; *limits* bound its size, the usual ones where none are given."""
    if limits is None:
        limits = HistoryLimits()
    document = build_history_document(timelines)
    # Timelines share the room, so that a suite with many requests has no larger page.
    share = HistoryLimits(
        scores=limits.scores // len(timelines),
        documents=limits.documents // len(timelines),
        ranks=limits.ranks,
        rows=limits.rows,
    )
    views, data = [], []
    for number, (timeline, section) in enumerate(zip(timelines, document.sections, strict=True), start=1):
        queries, left_out = _build_queries(timeline, share)
        views.append(_build_view(f"s{number}", timeline, section, left_out, share))
        data.append({**_build_data(timeline), "queries": queries})
    return render_template(
        _make_history_environment(),
        "history.html.jinja",
        ["report.css", "history.css"],
        script="history.js",
        product="Relevance history",
        headline=document.headline,
        closing=document.closing,
        suite=document.suite,
        views=views,
        data=Markup(_dump(data)),
    )


def _build_view(
    anchor: str, timeline: Timeline, section: HistorySection, left_out: Sequence[str], limits: HistoryLimits
) -> HistoryView:
    movements = []
    for movement in list_movements(timeline):
        before, run = movement.span
        text = describe_movement(timeline, movement)
        movements.append(MovementView(text, number_run(timeline, run), number_run(timeline, before)))
    rows = [(number_run(timeline, place), point) for place, point in enumerate(timeline.points)]
    return HistoryView(anchor, section, timeline, tuple(movements), tuple(rows[::-1][: limits.rows]), tuple(left_out))


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
        least, most = shown.band or (None, None)
        values = {"mean": shown.mean, "low": low, "high": high, "least": least, "most": most, "day": of_day.mean}
        for name, value in values.items():
            line[name].append(_round(value))
    # Most lines have no tied hits, and many no intervals.
    return {name: values for name, values in line.items() if values.count(None) < len(values)}


_NO_FIGURE = TimelineFigure(None, None)
_NO_MEAN = HistoryFigure(None, 0)


def _round(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(value, DECIMALS)


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
            "text": shorten(timeline.texts[query], LONGEST_TEXT),
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
            value = _round(point.scores.get(query, {}).get(measure))
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


def _dump(data: object) -> str:
    """*data* as JSON that a script element can hold: no tag and no comment begins in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _make_history_environment() -> Environment:
    return make_environment(
        {"change_text": describe_changes, "mean_of": lambda point, measure: point.find_mean(measure)}
    )
