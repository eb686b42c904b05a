"""Masks the texts of values, such as a run or a report: all, but for the fields that are listed here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from operator import is_
from typing import Any, TypeAlias, TypeVar

from harness.model.comparison import MovedDocument
from harness.model.inspection import ClauseMatch, Explanation, ScorePart
from harness.model.kept import TextDiff
from harness.model.late import LateFields
from harness.model.report import (
    BaselineSummary,
    ComparedRequest,
    MissedHit,
    MissingDocument,
    QueryBaseline,
    QueryReport,
    RankedDocument,
    SuiteReport,
)
from harness.model.run import (
    CheckedField,
    Definitions,
    FoundQuotes,
    Highlight,
    Hit,
    HitColumns,
    IndexState,
    NamedField,
    Ranking,
    Repeat,
    Run,
    TargetChecks,
    Verdict,
)
from harness.model.suite import Json
from harness.model.timing import ShardCopy

Mask: TypeAlias = Callable[[str], str]
T = TypeVar("T")

UNMASKED_FIELDS: Mapping[type, tuple[str, ...]] = {
    Run: ("engine", "request", "index", "facts", "resent", "deepened", "target_changed"),
    Ranking: ("duplicates", "total_doubt", "took_doubt"),
    Hit: ("id", "values"),
    FoundQuotes: ("quotes", "shares"),
    IndexState: ("writes", "visible"),
    ShardCopy: ("allocation",),
    TargetChecks: ("examples", "absent", "unread"),
    CheckedField: ("name",),
    NamedField: ("place",),
    SuiteReport: ("path", "request", "engine", "gain", "summaries", "tags", "timing", "repeats"),
    QueryReport: ("id", "tags", "scores", "duplicates", "question", "tail", "failure", "sent"),
    RankedDocument: ("id",),
    MissingDocument: ("id", "similar"),
    MissedHit: ("id",),
    ComparedRequest: ("request",),
    QueryBaseline: ("scores",),
    BaselineSummary: ("created",),
    TextDiff: ("name",),
    Verdict: ("id", "measure", "tag", "query", "blamed", "mark", "markers", "caveat", "timing"),
    MovedDocument: ("id",),
    Explanation: ("document", "index", "nearest"),
    ScorePart: ("field",),
    ClauseMatch: ("place",),
}
"""
The fields that are not masked, by class: ids, which connect values, values that expectations compare, names in suites,
and texts that were masked before or are the harness's own. All others are, so that a new field is masked too.
"""

UNMASKED: Mapping[str, bool] = {"masked": False}
"""The metadata of a field of an extension's that is not masked, for the same reasons."""

Rule: TypeAlias = Callable[[Any, Mask], Any]
"""How a field is masked: its value, and the mask."""


def redact(value: T, mask: Mask) -> T:
    """*value*, such as a run or a report, with *mask* applied to its texts, except those of `UNMASKED_FIELDS`."""
    return _mask_value(value, mask)  # type: ignore[no-any-return]


def _mask_value(value: Any, mask: Mask) -> Any:
    """*value* masked; itself where nothing in it is, as a run has millions of values without a secret."""
    kind: type = type(value)
    if kind is str:
        return mask(value)
    if kind in WITHOUT_TEXT:
        return value
    if kind is tuple or kind is list:
        masked_items = [_mask_value(item, mask) for item in value]
        return value if all(map(is_, masked_items, value)) else kind(masked_items)
    rules = _find_rules(kind)
    if rules is None:
        return _mask_other(value, mask)
    return _mask_fields(value, rules, mask)


def _mask_fields(value: Any, rules: Iterable[tuple[str, Rule]], mask: Mask) -> Any:
    """*value*, a dataclass, with its fields masked by *rules*; late fields are masked when they are made."""
    make_field = value.late_maker if isinstance(value, LateFields) else None
    changed = {}
    for name, rule in rules:
        if make_field is not None and name in value.LATE:
            continue
        field_value = getattr(value, name)
        if not field_value:
            continue
        masked = rule(field_value, mask)
        if masked is not field_value:
            changed[name] = masked
    if make_field is None:
        return replace(value, **changed) if changed else value
    # Hits of ids and scores have no text that is masked.
    if isinstance(make_field, HitColumns):
        return value.change(**changed) if changed else value
    return value.change(partial(_make_masked_field, type(value), make_field, mask), **changed)


def _make_masked_field(kind: type, make_field: Callable[[str], Any], mask: Mask, name: str) -> Any:
    """A late field of a value of *kind*, masked when it is made."""
    field_value = make_field(name)
    for masked_name, rule in _find_rules(kind) or ():
        if masked_name == name:
            return rule(field_value, mask)
    return field_value


def _mask_other(value: Any, mask: Mask) -> Any:
    if isinstance(value, str):
        # Words of an enum are the harness's own.
        return value if isinstance(value, Enum) else mask(value)
    if isinstance(value, Mapping):
        return {key: _mask_value(item, mask) for key, item in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, bytes):
        kind = frozenset if isinstance(value, Set) else tuple
        return kind(_mask_value(item, mask) for item in value)
    return value


def _mask_names(values: Mapping[str, Any], mask: Mask) -> Mapping[str, Any]:
    """*values* by names of indexes or of their shards, which are masked; a text is a fingerprint or a uuid."""
    masked = {}
    for name, value in values.items():
        masked[mask(name)] = value if isinstance(value, str) else _mask_value(value, mask)
    return masked


def _mask_parts(values: Mapping[str, Mapping[str, str]], mask: Mask) -> Mapping[str, Mapping[str, str]]:
    """*values*, which are fingerprints, by names in two levels, which are masked."""
    return {mask(name): _mask_names(parts, mask) for name, parts in values.items()}


def _mask_sort_values(values: tuple[Json, ...], mask: Mask) -> tuple[Json, ...]:
    """No values where one is masked: two that differ might be equal then, and tie."""
    return values if _mask_value(values, mask) == values else ()


def _mask_highlights(values: Mapping[str, Highlight], mask: Mask) -> Mapping[str, Highlight]:
    """*values* without those in which something is masked: their spans are places in the text."""
    return {field: highlight for field, highlight in values.items() if mask(highlight.text) == highlight.text}


WITHOUT_TEXT = frozenset({type(None), bool, int, float})

_RULES: Mapping[type, Mapping[str, Rule]] = {
    Repeat: {"copies": _mask_names},
    Definitions: {"named": _mask_parts, "matched": _mask_parts},
    IndexState: {"uuids": _mask_names, "filters": _mask_names, "copies": _mask_names},
    Hit: {"sort": _mask_sort_values, "highlights": _mask_highlights},
    RankedDocument: {"sort": _mask_sort_values},
}
"""The fields that are masked in a way of their own, by class."""


@cache
def _find_rules(kind: type) -> tuple[tuple[str, Rule], ...] | None:
    """The fields of a dataclass that may have texts to mask, and how; None for any other class."""
    if not is_dataclass(kind):
        return None
    kept, rules = UNMASKED_FIELDS.get(kind, ()), _RULES.get(kind, {})
    rules_by_field = []
    for field in fields(kind):
        has_text = not _ONLY_NUMBERS.fullmatch(str(field.type))
        if has_text and field.name not in kept and field.metadata.get("masked", True):
            rules_by_field.append((field.name, rules.get(field.name, _mask_value)))
    return tuple(rules_by_field)


_ONLY_NUMBERS = re.compile(r"(int|float|bool|None)( \| (int|float|bool|None))*")
