"""Which items a suite has: one per threshold, and one per query with thresholds of its own, or per query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.gate.conditions import gates_anything, is_for_request
from harness.gate.selection import (
    GatedThreshold,
    QueryFilter,
    assign_ids,
    collect_thresholds,
    is_per_query,
    is_selected,
    make_query_ids,
    select_counted,
)
from harness.model.suite import Mark, Query, Suite, UnresolvedCondition, Waiver, find_first_in_force


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item before it runs."""

    name: str
    """The last part of its node id."""
    headline: str
    """The name for people."""
    mark: Mark
    verdicts: tuple[str, ...] = ()
    """The ids of the verdicts that decide it."""
    shared: tuple[str, ...] = ()
    """The ids of verdicts about many queries, which count only for *query*."""
    waived: tuple[str, ...] = ()
    """Those of *shared* that are forgiven."""
    query: str | None = None
    keywords: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    """For JUnit XML."""
    skip: Waiver | None = None
    """The waiver of the whole item that is in force today."""
    xfail: Waiver | None = None
    """As *skip*."""
    skip_undefined: bool = False
    selected: bool = True
    """Whether the item is to run, unless it is skipped."""
    request: str | None = None
    """None where the session has one request for each suite."""
    index: str | None = None
    """None where the session has one index for each suite."""


def plan_items(
    suite: Suite, request: str | None = None, *, each_query: bool, query_filter: QueryFilter, today: date
) -> tuple[PlannedItem, ...]:
    """
    The items of *suite* with *request*, its thresholds first, then its queries, in the order of the file.

    Args:
        suite: The suite, loaded with or without an environment; names are the same.
        request: The name of one of its requests; None is the first. Thresholds for others, and queries whose thresholds
            are all for others, have no items; nothing has one where it gates nothing.
        each_query: Make an item of every query. The `every` thresholds that apply to it decide a query without
            thresholds of its own.
        query_filter: The queries that the user selected; items about others are not selected.
        today: Decides which skips are in force.

    Returns:
        Items with names that are unique in the suite and consist of [A-Za-z0-9_.-].
    """
    name = next(iter(suite.requests), "") if request is None else request
    if not gates_anything(suite, name):
        return ()
    items = []
    shared_by_all = []
    own_thresholds: dict[str, list[GatedThreshold]] = {}
    for gated in collect_thresholds(suite):
        if not is_for_request(gated.threshold, suite, name):
            continue
        if gated.query is not None:
            own_thresholds.setdefault(gated.query.id, []).append(gated)
            continue
        item = _plan_threshold(gated, suite, today)
        items.append(replace(item, selected=is_selected(gated, query_filter)))
        if each_query and _is_per_query(gated):
            shared_by_all.append(gated)
    names = make_query_ids(suite)
    for query in suite.queries:
        own = own_thresholds.get(query.id, [])
        if own or each_query:
            shared_by_query = [
                gated
                for gated in shared_by_all
                if gated.threshold.tag in (None, *query.tags) and select_counted(gated.condition, [query])
            ]
            item = _plan_query(query, own, shared_by_query, suite, today)
            items.append(replace(item, name=names[query.id], selected=query_filter.has(query)))
    return tuple(items)


def repeat_for_cells(
    items: Mapping[str | None, Sequence[PlannedItem]], suite: Suite, indexes: Sequence[str] = ()
) -> tuple[PlannedItem, ...]:
    """
    The *items* of each request on each of *indexes*, all of the first request before those of the next. The only
    request may be None.

    Where there are several requests, or indexes, names end with their ids in brackets, as with a parameter:
    ``[request]``, ``[index]`` or ``[request@index]``. A request that *suite* lacks, which is refused once everything is
    collected, has no items.
    """
    request_ids: Mapping[str | None, str] = dict.fromkeys(items, "")
    if len(items) > 1:
        ids = assign_ids(suite.requests)
        request_ids = {request: ids[request] for request in items if request is not None and request in ids}
    index_ids: Mapping[str | None, str] = {None: ""}
    if len(indexes) > 1:
        ids = assign_ids(indexes)
        index_ids = {index: ids[index] for index in indexes}
    repeated = []
    for request, request_id in request_ids.items():
        for index, index_id in index_ids.items():
            label = "@".join(part for part in (request_id, index_id) if part)
            named_request = request if request_id else None
            repeated += [_name_cell(item, named_request, index, label) for item in items[request]]
    return tuple(repeated)


def _name_cell(item: PlannedItem, request: str | None, index: str | None, label: str) -> PlannedItem:
    """*item* for one request on one index; *label* is what stands in brackets after its name."""
    headline, keywords, properties = item.headline, item.keywords, item.properties
    for field, name in (("request", request), ("index", index)):
        if name is not None:
            headline += f", {field} {name}"
            keywords += (name,)
            properties += ((f"relevance.{field}", name),)
    return replace(
        item,
        name=f"{item.name}[{label}]" if label else item.name,
        headline=headline,
        keywords=keywords,
        properties=properties,
        request=request,
        index=index,
    )


def _is_per_query(gated: GatedThreshold) -> bool:
    """Whether the threshold checks each query by itself; with unset variables, its first words decide."""
    condition = gated.threshold.condition
    if isinstance(condition, UnresolvedCondition) and not condition.is_expectation:
        return "every" in gated.threshold.text.split()[:2]
    return is_per_query(condition)


def _plan_threshold(gated: GatedThreshold, suite: Suite, today: date) -> PlannedItem:
    """The item of a threshold of *suite* over many queries."""
    threshold = gated.threshold
    keywords = [suite.name]
    if threshold.tag is not None:
        keywords.append(threshold.tag)
    return PlannedItem(
        name=gated.id,
        headline=f"{suite.name}: {threshold.text}",
        mark=threshold.mark,
        verdicts=(gated.id,),
        keywords=tuple(keywords),
        markers=_merge_markers(suite.markers, threshold.markers),
        properties=(
            ("relevance.suite", suite.name),
            ("relevance.place", str(threshold.mark)),
            ("relevance.threshold", threshold.text),
        ),
        skip=find_first_in_force(today, threshold.skip),
    )


def _plan_query(
    query: Query, own: Sequence[GatedThreshold], shared: Sequence[GatedThreshold], suite: Suite, today: date
) -> PlannedItem:
    """The item of *query*, with its *own* thresholds and those that are *shared* with other queries."""
    waived = [gated.id for gated in shared if find_first_in_force(today, gated.threshold.skip, gated.threshold.xfail)]
    return PlannedItem(
        name=query.id,
        headline=f"{suite.name}: query {query.id}",
        mark=query.mark,
        verdicts=tuple(gated.id for gated in own),
        shared=tuple(gated.id for gated in shared),
        waived=tuple(waived),
        query=query.id,
        keywords=(suite.name, query.id, *query.tags),
        markers=_merge_markers(suite.markers, query.markers, *(gated.threshold.markers for gated in own)),
        properties=(
            ("relevance.suite", suite.name),
            ("relevance.place", str(query.mark)),
            ("relevance.query", query.id),
            ("relevance.text", query.text),
            *(("relevance.threshold", gated.threshold.text) for gated in own),
        ),
        skip=find_first_in_force(today, query.skip),
        xfail=find_first_in_force(today, query.xfail),
        skip_undefined=suite.skip_undefined,
    )


def _merge_markers(*groups: tuple[str, ...]) -> tuple[str, ...]:
    """All markers, each once: an inner one may repeat that of the suite."""
    merged: dict[str, None] = {}
    for markers in groups:
        merged.update(dict.fromkeys(markers))
    return tuple(merged)
