"""The runs of a history in order, with what changed between them, and figures by the judgments of today. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from harness.errors import MeasureError
from harness.extensions.history.model import ChangeKind, StateChange, Timeline, TimelineFigure, TimelinePoint
from harness.extensions.history.steps import find_drifts, find_steps
from harness.gate.finding import read_weights
from harness.gate.ties import compute_bands
from harness.means import are_weighted, mean_of
from harness.metrics import measure_range, parse_measure
from harness.metrics.measures import common_measures
from harness.model.kept import HistoryEntry, HistoryFigure, KeptQuery, RescoredEntry
from harness.model.suite import Measure, Query, Suite
from harness.statistics.mean_intervals import compute_mean_interval
from harness.store.history import rescore
from harness.store.kept import restore_ranking
from harness.store.what_changed import fingerprint_judgments, list_changed_facts
from harness.words import count

MOST_TAGS = 20
"""Tags that have a line, those of most queries first."""


def build_timelines(entries: Iterable[HistoryEntry], suite: Suite, *, most: int | None = None) -> tuple[Timeline, ...]:
    """
    The timeline of each request and chosen index of *suite*, the one with the latest run first.

    Args:
        entries: Of the suite, in the order in which they were kept.
        suite: The suite of today.
        most: How many runs of each timeline count, the latest; None for all.
    """
    by_series: dict[tuple[str, str, str], list[HistoryEntry]] = {}
    for entry in entries:
        by_series.setdefault(entry.series, []).append(entry)
    timelines = []
    for series in sorted(by_series, key=lambda series: by_series[series][-1].moment, reverse=True):
        known = by_series[series]
        chosen = known if most is None else known[-most:]
        timelines.append(_build_timeline(chosen, suite, older=len(known) - len(chosen)))
    return tuple(timelines)


def _build_timeline(entries: Sequence[HistoryEntry], suite: Suite, *, older: int) -> Timeline:
    newest = entries[-1]
    measures = {measure.text: measure for measure in common_measures(suite)}
    texts = dict.fromkeys([*measures, *newest.measures])
    tags = _choose_tags(suite.queries)
    shown_measures = {**_parse_measures(texts), **measures}
    tagged = {tag: _list_tagged(suite.queries, tag) for tag in tags}
    queries = {query.id: query for query in suite.queries}
    rescoring = _Rescoring(suite, queries, measures, tuple(shown_measures.values()), tagged)
    points: list[TimelinePoint] = []
    for rescored in rescore(entries, suite):
        point = _build_point(rescored, rescoring)
        if points:
            point = replace(point, changes=list_changes(points[-1].entry, rescored.entry))
        points.append(point)
    steps, drifts = {}, {}
    for measure in texts:
        line = [point.find_mean(measure) for point in points]
        steps[measure] = find_steps(line)
        drifts[measure] = find_drifts(line, steps[measure])
    query_texts = {query: kept.text for entry in entries for query, kept in entry.queries.items()}
    return Timeline(
        suite=newest.suite,
        request=newest.request,
        chosen_index=newest.chosen_index or "",
        measures=tuple(texts),
        tags=tags,
        points=tuple(points),
        older=older,
        steps=steps,
        drifts=drifts,
        grades={query.id: query.judgments for query in suite.queries},
        texts=query_texts,
    )


def _choose_tags(queries: Iterable[Query]) -> tuple[str, ...]:
    counts = Counter(tag for query in queries for tag in query.tags)
    return tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))[:MOST_TAGS])


def _parse_measures(texts: Iterable[str]) -> dict[str, Measure]:
    """Those of *texts* that are measures: a later version of the harness may have kept others."""
    measures = {}
    for text in texts:
        with suppress(MeasureError):
            measures[text] = parse_measure(text)
    return measures


def _list_tagged(queries: Iterable[Query], tag: str) -> tuple[Query, ...]:
    return tuple(query for query in queries if tag in query.tags)


# Figures by the judgments of today.


@dataclass(frozen=True, slots=True)
class _Rescoring:
    """What figures are made from. Most rankings are the same in many runs, so their ties are ordered once."""

    suite: Suite
    queries: Mapping[str, Query]
    """Those of *suite*, by id."""
    measures: Mapping[str, Measure]
    """Those of *suite*."""
    shown_measures: Sequence[Measure]
    """Those of *suite*, and those of the newest run that it has no longer."""
    tagged: Mapping[str, Sequence[Query]]
    """The queries of each tag."""
    known_judgments: dict[str, str] = field(default_factory=dict)
    """The fingerprint of the judgments of a query."""
    known_bands: dict[tuple[object, ...], Mapping[str, tuple[float, float]]] = field(default_factory=dict)

    def compute_bands(self, query: Query, kept: KeptQuery) -> Mapping[str, tuple[float, float]]:
        """The least and the greatest score over all orders of the tied documents of *kept*, where ties move it."""
        if not kept.ties and not kept.tail:
            return {}
        key = (query.id, kept.ranking, kept.ties, kept.tail)
        if key not in self.known_bands:
            ranking = restore_ranking(kept)
            self.known_bands[key] = compute_bands(self.suite, query, ranking, self.shown_measures)
        return self.known_bands[key]

    def has_judgments_of_day(self, query: Query, kept: KeptQuery) -> bool:
        """Whether the judgments of *query* are those that *kept* was scored with."""
        if query.id not in self.known_judgments:
            self.known_judgments[query.id] = fingerprint_judgments(query)
        return self.known_judgments[query.id] == kept.judgments


def _build_point(rescored: RescoredEntry, rescoring: _Rescoring) -> TimelinePoint:
    entry = rescored.entry
    scores: dict[str, dict[str, float]] = {}
    for score in rescored.scores:
        if score.value is not None:
            scores.setdefault(score.query, {})[score.measure] = score.value
    figures = _build_figures(entry, None, scores, rescoring)
    tags = {tag: _build_figures(entry, tag, scores, rescoring) for tag in rescoring.tagged}
    return TimelinePoint(entry, figures, tags, scores, changed_queries=rescored.changed)


def _build_figures(
    entry: HistoryEntry, tag: str | None, scores: Mapping[str, Mapping[str, float]], rescoring: _Rescoring
) -> dict[str, TimelineFigure]:
    """The figures of *entry* over the queries of *tag*, over all if it is None; those of the day are known already."""
    figures = {}
    of_day = entry.measures if tag is None else entry.tags.get(tag, {})
    queries = rescoring.suite.queries if tag is None else rescoring.tagged[tag]
    for text in dict.fromkeys([*rescoring.measures, *of_day]):
        figure = None
        measure = rescoring.measures.get(text)
        if measure is not None:
            figure = _rescore_figure(entry, measure, scores, queries, rescoring)
        if figure is not None:
            figures[text] = replace(figure, of_day=of_day.get(text))
        elif text in of_day:
            figures[text] = TimelineFigure(of_day[text], None, _find_band_of_day(entry, text, tag, rescoring))
    return figures


def _rescore_figure(
    entry: HistoryEntry,
    measure: Measure,
    scores: Mapping[str, Mapping[str, float]],
    queries: Sequence[Query],
    rescoring: _Rescoring,
) -> TimelineFigure | None:
    """The mean of *measure* over those of *queries* that have a score; None if none has."""
    values, least, greatest = {}, {}, {}
    for query in queries:
        value = scores.get(query.id, {}).get(measure.text)
        if value is not None:
            values[query.id] = value
            bands = rescoring.compute_bands(query, entry.queries[query.id])
            least[query.id], greatest[query.id] = bands.get(measure.text, (value, value))
    if not values:
        return None
    suite = rescoring.suite
    weights = read_weights(queries, values)
    weights_of_values = [weights[query] for query in values] if weights else []
    bounds = measure_range(measure, suite.gain, suite.profile)
    rescored = HistoryFigure(
        mean=mean_of(values, weights),
        queries=len(values),
        interval=compute_mean_interval(list(values.values()), weights_of_values, bounds),
    )
    return TimelineFigure(None, rescored, _compute_band(least, greatest, weights))


def _compute_band(
    least: Mapping[str, float], greatest: Mapping[str, float], weights: Mapping[str, float]
) -> tuple[float, float] | None:
    """The means of the *least* and of the *greatest* values of queries; None if the two are the same."""
    if least == greatest:
        return None
    return mean_of(least, weights), mean_of(greatest, weights)


def _find_band_of_day(
    entry: HistoryEntry, measure: str, tag: str | None, rescoring: _Rescoring
) -> tuple[float, float] | None:
    """
    The band of the mean of *measure* on the day of *entry*, which has the ties and the scores but no judgments.

    None if ties do not move it, or where the suite of today scores otherwise, or judges otherwise a query with ties.
    """
    suite = rescoring.suite
    if (entry.gain, entry.profile) != (str(suite.gain), suite.profile):
        return None
    least, greatest, weights = {}, {}, {}
    for name, kept in entry.queries.items():
        value = kept.scores.get(measure)
        if value is None or (tag is not None and tag not in kept.tags):
            continue
        least[name], greatest[name], weights[name] = value, value, kept.weight
        if kept.ties or kept.tail:
            query = rescoring.queries.get(name)
            if query is None or not rescoring.has_judgments_of_day(query, kept):
                return None
            least[name], greatest[name] = rescoring.compute_bands(query, kept).get(measure, (value, value))
    if not are_weighted(weights.values()):
        weights = {}
    return _compute_band(least, greatest, weights)


# What changed between two runs.


def list_changes(before: HistoryEntry, after: HistoryEntry) -> tuple[StateChange, ...]:
    """What decides scores and is not the same in both runs, in the order of `ChangeKind`."""
    changes = []
    shared = before.queries.keys() & after.queries.keys()
    rejudged = sum(before.queries[query].judgments != after.queries[query].judgments for query in shared)
    if rejudged:
        changes.append(StateChange(ChangeKind.JUDGMENTS, f"judgments of {count(rejudged, 'query')}"))
    changes += [StateChange(ChangeKind.SUITE, text) for text in _list_suite_changes(before, after)]
    if before.state.request != after.state.request:
        changes.append(StateChange(ChangeKind.REQUEST, "the request"))
    of_target = list_changed_facts(_list_target_facts(before), _list_target_facts(after))
    for name in ("mapping", "settings"):
        if name in of_target:
            changes.append(StateChange(ChangeKind.MAPPING, f"the {name} of the index"))
    changes += [StateChange(ChangeKind.DOCUMENTS, text) for text in _list_document_changes(before, after, of_target)]
    for name in ("harness", "engine"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            changes.append(StateChange(ChangeKind.VERSIONS, f"{name} {new}, before {old}"))
    return tuple(changes)


def _list_suite_changes(before: HistoryEntry, after: HistoryEntry) -> list[str]:
    changes = []
    if before.state.suite != after.state.suite:
        added = len(after.queries.keys() - before.queries.keys())
        removed = len(before.queries.keys() - after.queries.keys())
        counts = []
        if added:
            counts.append(f"{count(added, 'query')} more")
        if removed:
            counts.append(f"{count(removed, 'query')} fewer")
        changes.append(", ".join(counts) or "texts, params, tags or weights of queries")
    for name in ("gain", "profile", "depth"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            changes.append(f"{name} {new}, before {old}")
    return changes


def _list_target_facts(entry: HistoryEntry) -> dict[str, object]:
    state = entry.state
    return {"mapping": state.mapping, "settings": state.settings, "index": entry.index, "content": state.content}


def _list_document_changes(before: HistoryEntry, after: HistoryEntry, of_target: Sequence[str]) -> list[str]:
    changes = []
    if "index" in of_target:
        changes.append(f"index {after.index}, before {before.index}")
    old, new = before.state.documents, after.state.documents
    if old is not None and new is not None and old != new:
        changes.append(f"{count(new, 'document')}, before {old:,}")
    elif "content" in of_target:
        changes.append("documents were written")
    return changes
