"""Which items a suite has: one per threshold, and one per query with thresholds of its own, or per query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from harness.gate.selection import (
    GatedThreshold,
    QueryFilter,
    assign_ids,
    collect_thresholds,
    is_per_query,
    is_selected,
    name_queries,
)
from harness.model import Mark, Query, Suite, UnresolvedCondition, Waiver
from harness.model.suite import find_first_in_force
from harness.words import grouped


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """
    One item before it runs.

    *name* is the last part of its node id, *headline* the same for people. *verdicts* are the ids of the verdicts that
    decide it; the verdicts in *shared* are about many queries, and count only for *query*, and those in *waived* are
    forgiven. *skip* and *xfail* are waivers of the whole item that are in force today. *request* and *index* are the
    item's, None where the session has one for each suite.
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
    index: str | None = None


def plan_items(suite: Suite, *, each_query: bool, query_filter: QueryFilter, today: date) -> tuple[PlannedItem, ...]:
    """
    The items of *suite*, its thresholds first, then its queries, in the order of the file.

    Args:
        suite: The suite, loaded with or without an environment; names are the same.
        each_query: Make an item of every query. The `every` thresholds that apply to it decide a query without
            thresholds of its own.
        query_filter: The queries that the user selected; items about others are not selected.
        today: Decides which skips are in force.

    Returns:
        Items with names that are unique in the suite and consist of [A-Za-z0-9_.-].
    """
    gated = collect_thresholds(suite)
    names = name_queries(suite)
    items = [_of_threshold(threshold, suite, query_filter, today) for threshold in gated if threshold.query is None]
    own = grouped((threshold.query.id, threshold) for threshold in gated if threshold.query is not None)
    of_each = [threshold for threshold in gated if each_query and _is_of_each(threshold)]
    for query in suite.queries:
        if query.id in own or each_query:
            shared = [threshold for threshold in of_each if threshold.threshold.tag in (None, *query.tags)]
            items.append(_of_query(query, names[query.id], own.get(query.id, ()), shared, suite, query_filter, today))
    return tuple(items)


def for_cells(
    items: Sequence[PlannedItem], suite: Suite, requests: Sequence[str], indexes: Sequence[str] = ()
) -> tuple[PlannedItem, ...]:
    """
    *items* once for each of *requests* on each of *indexes*, all of the first request before those of the next.

    Where there are several requests, or indexes, names end with their ids in brackets, as with a parameter:
    ``[request]``, ``[index]`` or ``[request@index]``. A request that *suite* lacks, which is refused once everything is
    collected, has no items.
    """
    sent, searched = _distinct_ids(assign_ids(suite.requests), requests), _distinct_ids(assign_ids(indexes), indexes)
    cells = [(request, index) for request in sent for index in searched]
    return tuple(_for_cell(item, request, index, sent, searched) for request, index in cells for item in items)


def _distinct_ids(ids: Mapping[str, str], names: Sequence[str]) -> Mapping[str | None, str]:
    """The ids of *names*; a single name needs no id and is None."""
    return {None: ""} if len(names) < 2 else {name: ids[name] for name in names if name in ids}


def _for_cell(
    item: PlannedItem,
    request: str | None,
    index: str | None,
    sent: Mapping[str | None, str],
    searched: Mapping[str | None, str],
) -> PlannedItem:
    named = [(what, name) for what, name in (("request", request), ("index", index)) if name is not None]
    label = "@".join(part for part in (sent[request], searched[index]) if part)
    return replace(
        item,
        name=f"{item.name}[{label}]" if label else item.name,
        headline=", ".join([item.headline, *(f"{what} {name}" for what, name in named)]),
        keywords=(*item.keywords, *(name for _, name in named)),
        properties=(*item.properties, *((f"relevance.{what}", name) for what, name in named)),
        request=request,
        index=index,
    )


def _is_of_each(gated: GatedThreshold) -> bool:
    """Whether the threshold checks each query by itself; with unset variables, its first words decide."""
    condition = gated.threshold.condition
    if isinstance(condition, UnresolvedCondition):
        return "every" in gated.threshold.text.split()[:2]
    return is_per_query(condition)


def _of_threshold(gated: GatedThreshold, suite: Suite, query_filter: QueryFilter, today: date) -> PlannedItem:
    threshold = gated.threshold
    return PlannedItem(
        name=gated.id,
        headline=f"{suite.name}: {threshold.text}",
        mark=threshold.mark,
        verdicts=(gated.id,),
        keywords=(suite.name,) if threshold.tag is None else (suite.name, threshold.tag),
        markers=_unique(suite.markers, threshold.markers),
        properties=(
            ("relevance.suite", suite.name),
            ("relevance.place", str(threshold.mark)),
            ("relevance.threshold", threshold.text),
        ),
        skip=find_first_in_force(today, threshold.skip),
        selected=is_selected(gated, query_filter),
    )


def _of_query(
    query: Query,
    name: str,
    own: Sequence[GatedThreshold],
    shared: Sequence[GatedThreshold],
    suite: Suite,
    query_filter: QueryFilter,
    today: date,
) -> PlannedItem:
    return PlannedItem(
        name=name,
        headline=f"{suite.name}: query {query.id}",
        mark=query.mark,
        verdicts=tuple(gated.id for gated in own),
        shared=tuple(gated.id for gated in shared),
        waived=tuple(
            gated.id for gated in shared if find_first_in_force(today, gated.threshold.skip, gated.threshold.xfail)
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
        skip=find_first_in_force(today, query.skip),
        xfail=find_first_in_force(today, query.xfail),
        skip_undefined=suite.skip_undefined,
        selected=query_filter.has(query),
    )


def _unique(*groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marker for group in groups for marker in group))
