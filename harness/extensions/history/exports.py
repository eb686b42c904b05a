"""
The last run of each request and index in the formats of services that draw lines over commits: pure.

Sources: the README of github-action-benchmark (`customBiggerIsBetter`), and the JSON Schema of the Bencher Metric
Format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from harness.model.kept import HistoryEntry, HistoryFigure
from harness.model.suite import Json
from harness.words import count

LONGEST_MEASURE = 64
"""The characters of a measure's name that Bencher takes."""


def select_last_entries(entries: Iterable[HistoryEntry]) -> list[HistoryEntry]:
    """The last of each series of *entries*, which come oldest first."""
    last = {entry.series: entry for entry in entries}
    return [last[series] for series in sorted(last)]


def render_export(entries: Iterable[HistoryEntry], name: str) -> str:
    """*entries* as JSON of the format *name*."""
    return json.dumps(EXPORT_FORMATS[name](entries), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def make_benchmark_action(entries: Iterable[HistoryEntry]) -> Json:
    """
    A list of benchmarks, as github-action-benchmark reads it for the tool `customBiggerIsBetter`.

    Its `range` is half of the interval's width.
    """
    benchmarks: list[Json] = []
    for entry in entries:
        for place, measure, figure in _iterate_figures(entry):
            benchmark: dict[str, Json] = {"name": f"{place}: {measure}", "unit": "score", "value": figure.mean}
            if figure.interval is not None:
                low, high = figure.interval
                benchmark["range"] = f"± {(high - low) / 2:.4f}"
            benchmark["extra"] = "\n".join(_describe(entry, figure))
            benchmarks.append(benchmark)
    return benchmarks


def make_bencher(entries: Iterable[HistoryEntry]) -> Json:
    """A benchmark for each request, index and tag, with its measures and their intervals, as Bencher reads it."""
    benchmarks: dict[str, Json] = {}
    for entry in entries:
        for place, measure, figure in _iterate_figures(entry):
            metric: dict[str, Json] = {"value": figure.mean}
            if figure.interval is not None:
                metric["lower_value"], metric["upper_value"] = figure.interval
            benchmarks.setdefault(place, {})[measure[:LONGEST_MEASURE]] = metric
    return benchmarks


EXPORT_FORMATS: Mapping[str, Callable[[Iterable[HistoryEntry]], Json]] = {
    "github-action-benchmark": make_benchmark_action,
    "bencher": make_bencher,
}


def _iterate_figures(entry: HistoryEntry) -> Iterator[tuple[str, str, HistoryFigure]]:
    """The name of what a mean is over, its measure and its figure, without those of which there is no mean."""
    places = {_name_series(entry): entry.measures}
    for tag, figures in entry.tags.items():
        places[f"{_name_series(entry)}, tag {tag}"] = figures
    for place, figures in places.items():
        for measure, figure in figures.items():
            if figure.mean is not None:
                yield place, measure, figure


def _name_series(entry: HistoryEntry) -> str:
    """
    The suite, with the request and the index that was chosen.

    A name must be the same in each export: it is what a line is drawn of.
    """
    name = f"{entry.suite}, request {entry.request}"
    return name if entry.chosen_index is None else f"{name}, index {entry.chosen_index}"


def _describe(entry: HistoryEntry, figure: HistoryFigure) -> Iterator[str]:
    yield f"mean over {count(figure.queries, 'query')}"
    yield f"run of {entry.created[:19]}Z"
    if entry.commit is not None:
        yield f"commit {entry.commit}"
    yield entry.engine
