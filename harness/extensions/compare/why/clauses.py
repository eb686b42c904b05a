"""Which clauses of two requests are the same, took the place of one another, or hold one another. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from harness.model.suite import Json

PlacePair: TypeAlias = tuple[int | None, int | None]
"""The places of an item in an old and in a new list; None where one of them does not have it."""

WRAPPINGS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bool": (("must", "should"), ("must", "should", "filter", "must_not")),
    "dis_max": (("queries",), ("queries",)),
    "hybrid": (("queries",), ("queries",)),
    "function_score": (("query",), ("functions",)),
    "script_score": (("query",), ()),
    "constant_score": (("filter",), ()),
    "nested": (("query",), ()),
    "boosting": (("positive",), ()),
    "pinned": (("organic", "retriever"), ()),
    "rule": (("organic", "retriever"), ()),
    "rrf": (("retrievers",), ("retrievers",)),
    "text_similarity_reranker": (("retriever",), ()),
    "rescorer": (("retriever",), ()),
}
"""Clauses that hold another: the keys where it may stand, and the keys of lists of clauses that may stand beside it."""


def are_same(first: Json, second: Json) -> bool:
    """Whether two values are the same JSON; for Python true is 1."""
    return write_json(first) == write_json(second)


def write_json(value: Json) -> str:
    """*value* as JSON; values that are the same have the same text."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=dict)


def is_clause(value: Json) -> bool:
    """Whether *value* may be a clause of a query: an object with one key."""
    return isinstance(value, Mapping) and len(value) == 1


def identify_clause(clause: Json) -> Json:
    """The kind and the field of *clause*: what two clauses have in common of which one took the place of the other."""
    if not isinstance(clause, Mapping):
        return write_json(clause)
    if not is_clause(clause):
        return sorted(clause)
    [(kind, content)] = clause.items()
    if kind in WRAPPINGS or not isinstance(content, Mapping):
        return [kind, content.get("path") if isinstance(content, Mapping) else content]
    if "field" in content:
        return [kind, content["field"]]
    names = [name for name in content if name not in ("boost", "_name")]
    return [kind, names[0] if len(names) == 1 else None]


def find_hole(wrapping: Json, clause: Json) -> tuple[str, int] | None:
    """The key and the place in *wrapping* where *clause* stands, or what it became; None where it does not."""
    if not is_clause(wrapping) or not is_clause(clause):
        return None
    [(kind, content)] = wrapping.items()
    if kind not in WRAPPINGS or not isinstance(content, Mapping):
        return None
    places = []
    for key in WRAPPINGS[kind][0]:
        places += [(key, place, item) for place, item in enumerate(make_list(content.get(key, [])))]
    identity = identify_clause(clause)
    for matches in (
        lambda item: are_same(item, clause),
        lambda item: identify_clause(item) == identity,
        lambda item: find_hole(item, clause) is not None,
    ):
        for key, place, item in places:
            if matches(item):
                return key, place
    return None


def make_list(value: Json) -> Sequence[Json]:
    """*value*, in a list where it is none."""
    return value if isinstance(value, list | tuple) else [value]


def pair_items(old: Sequence[Json], new: Sequence[Json]) -> list[PlacePair]:
    """The places of items that are the same, or of the same kind and field; then of those that hold one another."""
    pairs = pair_by(old, new, [write_json, lambda item: write_json(identify_clause(item))])
    for first, _ in [pair for pair in pairs if pair[1] is None]:
        assert first is not None
        for _, second in [pair for pair in pairs if pair[0] is None]:
            assert second is not None
            if find_hole(new[second], old[first]) or find_hole(old[first], new[second]):
                pairs.remove((first, None))
                pairs[pairs.index((None, second))] = (first, second)
                break
    return pairs


def pair_by(old: Sequence[Any], new: Sequence[Any], keys: Sequence[Callable[[Any], str]]) -> list[PlacePair]:
    """
    Pairs of places in *old* and *new* of items with an equal key, by the first of *keys* that has them equal.

    They are in the order of *new*; what only *old* has stands behind what it stood behind.
    """
    partners: dict[int, int] = {}
    for key in keys:
        open_places = [place for place in range(len(new)) if place not in partners.values()]
        for first, item in enumerate(old):
            if first in partners:
                continue
            second = next((place for place in open_places if key(new[place]) == key(item)), None)
            if second is not None:
                partners[first] = second
                open_places.remove(second)
    firsts = {second: first for first, second in partners.items()}
    pairs: list[PlacePair] = [(firsts.get(second), second) for second in range(len(new))]
    for first in range(len(old)):
        if first not in partners:
            before = [place for place, pair in enumerate(pairs) if pair[0] is not None and pair[0] == first - 1]
            pairs.insert(before[0] + 1 if before else 0, (first, None))
    return pairs


def are_in_order(pairs: Iterable[PlacePair]) -> bool:
    """Whether what both lists have is in the same order in both."""
    firsts = [first for first, second in pairs if first is not None and second is not None]
    return firsts == sorted(firsts)
