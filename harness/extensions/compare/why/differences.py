"""
The differences between two requests, each with a switch, so that any of them can be sent without the others. Pure.

Two bodies become one tree. A part that both have is there once; where they differ, a `Switch` stands that gives the
old part where it is off and the new one where it is on. With all switches off the tree gives the old request, with all
on the new one. What the order of fields and clauses, and `{must: c}` in place of `{must: [c]}`, change in the text
changes no ranking; where a rebuilt end is not the original text for that, it is sent beside it to prove so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.extensions.compare.why.clauses import (
    WRAPPINGS,
    are_in_order,
    are_same,
    find_hole,
    is_clause,
    make_list,
    pair_by,
    pair_items,
    write_json,
)
from harness.extensions.compare.why.fields import (
    COUPLED_NAMES,
    COUPLED_WEIGHTS,
    FIELD_LISTS,
    FIELD_TEXTS,
    NamedWeight,
    are_coupled,
    are_texts,
    find_base,
    find_stem,
    read_coupled,
    read_field,
    read_list,
    split_field_text,
    write_field,
    write_list,
    write_names,
    write_text,
    write_weights,
)
from harness.extensions.compare.why.tree import (
    ABSENT,
    FieldList,
    Items,
    Members,
    Node,
    Same,
    Switch,
    WeightedField,
    Wrapping,
)
from harness.model.suite import Json

UNORDERED = frozenset({"must", "should", "filter", "must_not", "functions"})
"""Keys of lists of clauses whose order changes no ranking."""

LISTS = UNORDERED | {"sort", "rescore"}
"""Keys whose value may be one item in place of a list of one."""

FIXTURE = "fixture"
"""The part of a request that is the index which it searches, as a suite builds it: no clauses are in it."""

SERVER = "server"
"""The part of a request that says where it is sent, as a side of a comparison: ``cluster:old``."""

FIXTURE_LISTS = frozenset({"synonyms"})
"""Keys of lists in a fixture whose lines are differences of their own; others, such as filters, are whole."""

WHOLE = frozenset({"script", "minimum_should_match"})
"""Keys whose values are never taken apart."""


class Kind(StrEnum):
    """How a place of the old request differs in the new one."""

    ADDED = "added"
    REMOVED = "removed"
    REPLACED = "replaced"
    RENAMED = "renamed"
    """A field, such as ``title`` that became ``title.synonyms``."""
    REWEIGHTED = "reweighted"
    """The weight of a field."""
    WRAPPED = "wrapped"
    UNWRAPPED = "unwrapped"


@dataclass(frozen=True, slots=True)
class Change:
    """One place in which two requests differ: the smallest thing that can be switched."""

    kind: Kind
    pointer: str
    """Of the place in the new request; of what was removed, in the old one."""
    before: Json = None
    after: Json = None
    group: str = ""
    """The same for changes that are the same replacement at sibling places."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes that are switched together: one, or the same at several places."""

    changes: tuple[Change, ...]
    switches: frozenset[int]

    @property
    def pointer(self) -> str:
        """The place, or the first of several."""
        return self.changes[0].pointer


@dataclass(frozen=True, slots=True)
class Splitting:
    """Two requests as one tree with a switch for each change."""

    old: Json
    new: Json
    tree: Node
    changes: tuple[Change, ...]
    """That of each switch, by its number."""

    def build(self, differences: Iterable[Difference]) -> Json:
        """The old request with *differences*."""
        return self.tree.build(frozenset().union(*(difference.switches for difference in differences)))

    def list_differences(self, *, each: bool = False) -> tuple[Difference, ...]:
        """
        The differences, in the order of their places.

        Args:
            each: Whether the same replacement at sibling places is taken apart.
        """
        groups: dict[str, list[int]] = {}
        for number, change in enumerate(self.changes):
            name = str(number) if each or not change.group else f"{change.kind} {change.group}"
            groups.setdefault(name, []).append(number)
        return tuple(self.join(numbers) for numbers in groups.values())

    def join(self, switches: Collection[int]) -> Difference:
        """One difference of several *switches*."""
        numbers = sorted(switches)
        return Difference(tuple(self.changes[number] for number in numbers), frozenset(numbers))


def split_requests(old: Json, new: Json, whole: Collection[str] = ()) -> Splitting:
    """
    Take two requests apart.

    Args:
        old: Its parts by name, such as the `body`.
        new: Likewise.
        whole: The pointers of places that are not taken apart: what is rebuilt there does not rank as the original.
    """
    splitter = _Splitter(whole)
    before, after = old, new
    if not whole:
        before, after = _take_query_as_retriever(old, new), _take_query_as_retriever(new, old)
    nodes = {}
    for part in dict.fromkeys([*before, *after]):
        # A place in the body is written as in a suite: from the body on.
        pointer = "" if part == "body" else _join_pointer("", part)
        splitter.is_query = part != FIXTURE
        nodes[part] = splitter.compare(before.get(part, ABSENT), after.get(part, ABSENT), _Place(pointer, pointer))
    return Splitting(old, new, Members(nodes), tuple(splitter.changes))


def _take_query_as_retriever(request: Json, other: Json) -> Json:
    """*request*, with a retriever in place of its `query` where *other* has a retriever."""
    body, other_body = request.get("body"), other.get("body")
    if not (isinstance(body, Mapping) and isinstance(other_body, Mapping)):
        return request
    if "query" not in body or "retriever" in body or "retriever" not in other_body:
        return request
    rest = {key: value for key, value in body.items() if key != "query"}
    return {**request, "body": {**rest, "retriever": {"standard": {"query": body["query"]}}}}


# Splitting.


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the old and in the new request, as JSON pointers."""

    before: str
    after: str

    def enter(self, before: object, after: object) -> _Place:
        """The place of the members, or items, of these names."""
        return _Place(_join_pointer(self.before, before), _join_pointer(self.after, after))


def _join_pointer(pointer: str, key: object) -> str:
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


class _Splitter:
    """Makes the tree of two requests, and notes the change of each switch."""

    def __init__(self, whole: Collection[str] = ()) -> None:
        self.changes: list[Change] = []
        self.is_query = True
        """Whether what is compared may hold clauses of a query, and lists of fields."""
        self._whole = whole

    def compare(self, old: Json, new: Json, place: _Place, key: str = "") -> Node:
        """The tree of two values of *key* at *place*."""
        if old is not ABSENT and new is not ABSENT and are_same(old, new):
            return Same(old)
        if key in WHOLE or place.after in self._whole:
            return self._switch(old, new, place)
        if not self.is_query:
            return self._compare_plainly(old, new, place, key)
        if key in FIELD_LISTS and are_texts(old) and are_texts(new):
            fields = self._pair_fields(read_list(old), read_list(new), place)
            return FieldList(fields, write_list, bare=isinstance(old, str))
        if key in FIELD_TEXTS and isinstance(old, str) and isinstance(new, str):
            texts = [[read_field(part) for part in split_field_text(text)] for text in (old, new)]
            return FieldList(self._pair_fields(texts[0], texts[1], place), write_text)
        if key in LISTS or (isinstance(old, list) and isinstance(new, list)):
            return self._compare_lists(old, new, place, key)
        old, new = _expand_shorthand(old, new), _expand_shorthand(new, old)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self._compare_objects(old, new, place)
        return self._switch(old, new, place)

    def _compare_plainly(self, old: Json, new: Json, place: _Place, key: str) -> Node:
        """The tree of two values that are no part of a query: objects key by key, and lists whole but for some."""
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return self._compare_members(old, new, place)
        if key in FIXTURE_LISTS and isinstance(old, list) and isinstance(new, list):
            return self._compare_lists(old, new, place, key)
        return self._switch(old, new, place)

    def _switch(
        self, before: Json, after: Json, place: _Place, kind: Kind | None = None, *, group: str | None = None
    ) -> Switch:
        """A switch between two values at *place*; its kind follows from them where it is None."""
        if kind is None:
            kind = Kind.REPLACED
            if before is ABSENT:
                kind = Kind.ADDED
            elif after is ABSENT:
                kind = Kind.REMOVED
        pointer = place.before if kind in (Kind.REMOVED, Kind.UNWRAPPED) else place.after
        old = None if before is ABSENT else before
        new = None if after is ABSENT else after
        if group is None:
            group = f"{re.sub('/[0-9]+', '/*', pointer)} {write_json([old, new])}"
        self.changes.append(Change(kind, pointer, old, new, group))
        return Switch(len(self.changes) - 1, before, after)

    def _switch_one_side(self, value: Json, place: _Place, kind: Kind | None = None, *, is_new: bool) -> Switch:
        """A switch for *value*, which only the new request has, or only the old one."""
        before, after = (ABSENT, value) if is_new else (value, ABSENT)
        return self._switch(before, after, place, kind)

    def _compare_objects(self, old: Mapping[str, Json], new: Mapping[str, Json], place: _Place) -> Node:
        if is_clause(old) and is_clause(new) and old.keys() != new.keys():
            return self._compare_clauses(old, new, place)
        return self._compare_members(old, new, place)

    def _compare_members(self, old: Mapping[str, Json], new: Mapping[str, Json], place: _Place) -> Node:
        keys = list(dict.fromkeys([*old, *new]))
        nodes: dict[str, Node] = {}
        if are_coupled(old) and are_coupled(new):
            fields = self._pair_fields(read_coupled(old), read_coupled(new), place.enter(COUPLED_NAMES, COUPLED_NAMES))
            nodes[COUPLED_NAMES] = FieldList(fields, write_names)
            nodes[COUPLED_WEIGHTS] = FieldList(fields, write_weights)
        for key in keys:
            if key not in nodes:
                before, after = old.get(key, ABSENT), new.get(key, ABSENT)
                nodes[key] = self.compare(before, after, place.enter(key, key), key)
        return Members(nodes)

    def _compare_clauses(self, old: Json, new: Json, place: _Place) -> Node:
        """The tree of two clauses of which one may hold the other."""
        hole = find_hole(new, old)
        if hole is not None:
            return self._wrap(old, new, hole, place, Kind.WRAPPED)
        hole = find_hole(old, new)
        if hole is not None:
            return self._wrap(new, old, hole, place, Kind.UNWRAPPED)
        return self._switch(old, new, place)

    def _wrap(self, clause: Json, wrapping: Json, hole: tuple[str, int], place: _Place, kind: Kind) -> Wrapping:
        """*wrapping*, in which *clause* stands at *hole*; it is in the new request where the *kind* is WRAPPED."""
        [(name, content)] = wrapping.items()
        is_new = kind is Kind.WRAPPED
        nodes: dict[str, Node] = {}
        reasons: list[Switch] = []
        inner: Node | None = None
        for key, value in content.items():
            if key != hole[0] and key not in WRAPPINGS[name][1]:
                nodes[key] = Same(value)
                continue
            items: list[Node] = []
            for number, item in enumerate(make_list(value)):
                steps = (name, key, number) if isinstance(value, list | tuple) else (name, key)
                if (key, number) == hole:
                    item_place = place
                    for step in steps:
                        item_place = _enter_wrapping(item_place, step, is_new=is_new)
                    pair = (clause, item) if is_new else (item, clause)
                    inner = self.compare(*pair, item_place)
                    items.append(inner)
                    continue
                item_place = place
                for step in steps:
                    item_place = item_place.enter(step, step)
                reasons.append(self._switch_one_side(item, item_place, is_new=is_new))
                items.append(reasons[-1])
            nodes[key] = Items(items, bare=not isinstance(value, list | tuple), empty=ABSENT)
        assert inner is not None  # the hole is one of the items
        if not reasons:
            # Nothing stands beside the clause: the frame itself is the difference.
            frame = {name: {key: value for key, value in content.items() if key != hole[0]}}
            reasons.append(self._switch_one_side(frame, place, kind, is_new=is_new))
        return Wrapping(inner, Members({name: Members(nodes)}), reasons)

    def _compare_lists(self, old: Json, new: Json, place: _Place, key: str) -> Node:
        before = [] if old is ABSENT else make_list(old)
        after = [] if new is ABSENT else make_list(new)
        may_be_texts = key in LISTS or key in FIXTURE_LISTS
        if not all(isinstance(item, Mapping) or may_be_texts for item in (*before, *after)):
            return self._switch(old, new, place)
        if key not in UNORDERED and (old is ABSENT or new is ABSENT):
            return self._switch(old, new, place)
        pairs = pair_items(before, after)
        if key not in UNORDERED and not are_in_order(pairs):
            return self._switch(old, new, place)
        nodes = []
        for first, second in pairs:
            item_place = _Place(
                _join_pointer(place.before, first) if isinstance(old, list) else place.before,
                _join_pointer(place.after, second) if isinstance(new, list) else place.after,
            )
            items = (ABSENT if first is None else before[first], ABSENT if second is None else after[second])
            nodes.append(self.compare(*items, item_place))
        is_bare = any(value is not ABSENT and not isinstance(value, list) for value in (old, new))
        return Items(nodes, is_bare, ABSENT if ABSENT in (old, new) else [])

    def _pair_fields(
        self, old: Sequence[NamedWeight], new: Sequence[NamedWeight], place: _Place
    ) -> list[WeightedField]:
        """
        The fields of two lists at *place*, as names and weights.

        They are paired by name, then by what stands before the dot, then as a field and its form with an underscore.
        """
        names = [[name for name, _ in fields] for fields in (old, new)]
        all_names = {*names[0], *names[1]}
        fields = []
        for first, second in pair_by(names[0], names[1], [str, find_base, lambda name: find_stem(name, all_names)]):
            item_place = place.enter(first, second)
            if first is None and second is not None:
                shown = write_field(*new[second])
                self._note(Kind.ADDED, item_place, None, shown)
                name: Node = Switch(len(self.changes) - 1, ABSENT, new[second][0])
                fields.append(WeightedField(name, Same(new[second][1])))
            elif second is None and first is not None:
                shown = write_field(*old[first])
                self._note(Kind.REMOVED, item_place, shown, None)
                name = Switch(len(self.changes) - 1, old[first][0], ABSENT)
                fields.append(WeightedField(name, Same(old[first][1])))
            elif first is not None and second is not None:
                fields.append(self._compare_fields(old[first], new[second], item_place, place.after))
        return fields

    def _compare_fields(self, old: NamedWeight, new: NamedWeight, place: _Place, list_pointer: str) -> WeightedField:
        name: Node = Same(old[0])
        weight: Node = Same(old[1])
        if old[0] != new[0]:
            base = min(len(find_base(old[0])), len(find_base(new[0])))
            group = f"{list_pointer} {old[0][base:]} {new[0][base:]}"
            name = self._switch(old[0], new[0], place, Kind.RENAMED, group=group)
        if old[1] != new[1]:
            group = f"{list_pointer} {old[1]} {new[1]}"
            self._note(Kind.REWEIGHTED, place, write_field(new[0], old[1]), write_field(*new), group)
            weight = Switch(len(self.changes) - 1, old[1], new[1])
        return WeightedField(name, weight)

    def _note(self, kind: Kind, place: _Place, before: Json, after: Json, group: str = "") -> None:
        pointer = place.before if kind is Kind.REMOVED else place.after
        self.changes.append(Change(kind, pointer, before, after, group))


def _enter_wrapping(place: _Place, step: object, *, is_new: bool) -> _Place:
    """*place* one step further in the request that has the wrapping."""
    if is_new:
        return replace(place, after=_join_pointer(place.after, step))
    return replace(place, before=_join_pointer(place.before, step))


def _expand_shorthand(value: Json, other: Json) -> Json:
    """*value*, such as the text of ``{title: tent}``, as an object like *other*, which has the same value by a key."""
    if isinstance(other, Mapping) and isinstance(value, str | int | float):
        for key in ("query", "value"):
            if key in other and are_same(other[key], value):
                return {key: value}
    return value
