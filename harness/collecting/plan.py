"""Which items a suite has: one for each of its thresholds, one for each query that has its own, or for every query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.model import Mark, Query, ScoreCondition, StatisticKind, Suite, Unresolved, Waiver
from harness.selection import Gated, gated_thresholds, is_selected, query_ids, request_ids
from harness.waivers import first_in_force

__all__ = ["PlannedItem", "for_requests", "plan_items"]


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """
    One item before it runs.

    *name* is the last part of its node id, *headline* says the same to people. *verdicts* are the ids of the
    verdicts that decide it; of the verdicts in *shared*, which are about many queries, only what they say of
    *query* counts, and nothing more than that of those in *waived*. *skip* and *xfail* are waivers of the whole item
    that hold today. *request* is the one that it is about, None where a session sends one of each suite.
    """

    name: str
    headline: str
    mark: Mark
    verdicts: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()
    query: str | None = None
    keywords: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    skip: Waiver | None = None
    xfail: Waiver | None = None
    skip_undefined: bool = False
    selected: bool = True
    request: str | None = None


def plan_items(suite: Suite, *, each_query: bool, tags: Collection[str], today: date) -> tuple[PlannedItem, ...]:
    """
    The items of *suite*, its thresholds first, then its queries, in the order of the file.

    Args:
        suite: As loaded, with an environment or without one; names are the same.
        each_query: Make an item of every query. One without thresholds of its own is held to the `every` thresholds
            that it falls under.
        tags: Where given, what is not about queries with one of these tags is not selected.
        today: Decides which skips hold.

    Returns:
        Items with names that are unique in the suite and consist of [A-Za-z0-9_.-].
    """
    gated = gated_thresholds(suite)
    names = query_ids(suite)
    items = [_of_threshold(threshold, suite, tags, today) for threshold in gated if threshold.query is None]
    own = _by_query(gated)
    of_each = [threshold for threshold in gated if each_query and _is_of_each(threshold)]
    for query in suite.queries:
        if query.id in own or each_query:
            shared = tuple(threshold for threshold in of_each if threshold.threshold.tag in (None, *query.tags))
            items.append(_of_query(query, names[query.id], own.get(query.id, ()), shared, suite, tags, today))
    return tuple(items)


def for_requests(items: Sequence[PlannedItem], suite: Suite, requests: Sequence[str]) -> tuple[PlannedItem, ...]:
    """
    *items* once for each of *requests*, those of the first before those of the next.

    Their names end with the request's id in brackets, as a parameter does. A request that *suite* lacks, which is
    refused once everything is collected, has none.
    """
    ids = request_ids(suite)
    return tuple(_for_request(item, request, ids[request]) for request in requests if request in ids for item in items)


def _for_request(item: PlannedItem, request: str, id_: str) -> PlannedItem:
    return replace(
        item,
        name=f"{item.name}[{id_}]",
        headline=f"{item.headline}, request {request}",
        keywords=(*item.keywords, request),
        properties=(*item.properties, ("relevance.request", request)),
        request=request,
    )


def _by_query(gated: Iterable[Gated]) -> Mapping[str, tuple[Gated, ...]]:
    owned: dict[str, tuple[Gated, ...]] = {}
    for threshold in gated:
        if threshold.query is not None:
            owned[threshold.query.id] = (*owned.get(threshold.query.id, ()), threshold)
    return owned


def _is_of_each(gated: Gated) -> bool:
    """Whether it holds each query to a score; one whose variables are not filled yet is known by its first word."""
    condition = gated.threshold.condition
    if isinstance(condition, Unresolved):
        return gated.threshold.text.split()[0] == StatisticKind.EVERY
    return isinstance(condition, ScoreCondition) and condition.statistic is StatisticKind.EVERY


def _of_threshold(gated: Gated, suite: Suite, tags: Collection[str], today: date) -> PlannedItem:
    threshold = gated.threshold
    return PlannedItem(
        name=gated.id,
        headline=f"{suite.name}: {threshold.text}",
        mark=threshold.mark,
        verdicts=(gated.id,),
        keywords=(suite.name, *_given(threshold.tag)),
        markers=_unique(suite.markers, threshold.markers),
        properties=(
            ("relevance.suite", suite.name),
            ("relevance.place", str(threshold.mark)),
            ("relevance.threshold", threshold.text),
        ),
        skip=first_in_force(today, threshold.skip),
        selected=is_selected(gated, tags),
    )


def _of_query(
    query: Query,
    name: str,
    own: tuple[Gated, ...],
    shared: tuple[Gated, ...],
    suite: Suite,
    tags: Collection[str],
    today: date,
) -> PlannedItem:
    return PlannedItem(
        name=name,
        headline=f"{suite.name}: query {query.id}",
        mark=query.mark,
        verdicts=tuple(gated.id for gated in own),
        shared=tuple(gated.id for gated in shared),
        waived=tuple(
            gated.id for gated in shared if first_in_force(today, gated.threshold.skip, gated.threshold.xfail)
        ),
        query=query.id,
        keywords=(suite.name, query.id, *query.tags),
        markers=_unique(suite.markers, query.markers, *(gated.threshold.markers for gated in own)),
        properties=(
            ("relevance.suite", suite.name),
            ("relevance.place", str(query.mark)),
            ("relevance.query", query.id),
            ("relevance.text", query.text),
            *(("relevance.threshold", gated.threshold.text) for gated in own),
        ),
        skip=first_in_force(today, query.skip),
        xfail=first_in_force(today, query.xfail),
        skip_undefined=suite.skip_undefined,
        selected=not tags or not set(tags).isdisjoint(query.tags),
    )


def _given(tag: str | None) -> tuple[str, ...]:
    return () if tag is None else (tag,)


def _unique(*groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marker for group in groups for marker in group))
