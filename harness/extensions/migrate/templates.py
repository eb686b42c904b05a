"""Builds one request with placeholders from many bodies, and converts placeholders of other systems."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.model.suite import Json
from harness.suites.placeholders import RESERVED
from harness.words import choose_unused

_WORDS = ("query", "text", "q", "value", "query_text", "query_string", "query_word", "keywords")
"""Keys whose value is likely the text of the query."""

_CLAUSES = {
    "match", "match_phrase", "match_phrase_prefix", "match_bool_prefix", "multi_match", "query_string",
    "simple_query_string", "combined_fields", "term", "prefix", "params",
}  # fmt: skip


@dataclass(slots=True)
class _Slot:
    """A place in the request where the bodies differ, with the value of each query."""

    path: tuple[str, ...]
    values: list[Json]
    name: str = ""


@dataclass(slots=True)
class _Slots:
    """The places in a request that become placeholders."""

    by_values: dict[str, _Slot] = field(default_factory=dict)
    """By their values as JSON: places with the same values share one placeholder."""

    def merge(self, values: Sequence[Json], path: tuple[str, ...] = ()) -> Json:
        """
        The request that *values* have in common, with a `_Slot` wherever they differ.

        Args:
            values: The same part of each body, one for each query.
            path: The keys down to this part; empty for the bodies themselves.
        """
        first = values[0]
        if _have_same_keys(values):
            merged: dict[str, Json] = {}
            for key in first:
                merged[key] = self.merge([value[key] for value in values], (*path, key))
            return merged
        if all(isinstance(value, list) and len(value) == len(first) for value in values):
            # The first elements of all lists, then the second ones, and so on.
            return [self.merge(elements, path) for elements in zip(*values, strict=True)]
        first_text = json.dumps(first, sort_keys=True)
        is_same = all(json.dumps(value, sort_keys=True) == first_text for value in values)
        # A suite would take braces in a value for a placeholder of its own.
        if is_same and "{{" not in first_text:
            return first
        return self.add(values, path)

    def add(self, values: Sequence[Json], path: tuple[str, ...]) -> _Slot:
        """The slot for *values*, new or with the same values."""
        return self.by_values.setdefault(json.dumps(values, sort_keys=True), _Slot(path, list(values)))

    def find_text(self) -> _Slot | None:
        """The slot that is most likely the text of the query: always a text, and below a usual key or the only text."""
        texts = []
        for slot in self.by_values.values():
            if all(isinstance(value, str) and value.strip() for value in slot.values):
                if _is_likely(slot.path):
                    return slot
                texts.append(slot)
        return texts[0] if len(texts) == 1 else None

    def place_text(self, value: Json, path: tuple[str, ...], queries: int) -> Json:
        """
        *value*, in which nothing differs, with a slot for its first value that is likely the text of the query.

        The slot has that text for each of *queries*, their number.
        """
        if isinstance(value, dict):
            return {key: self.place_text(child, (*path, key), queries) for key, child in value.items()}
        if isinstance(value, list):
            return [self.place_text(child, path, queries) for child in value]
        if not self.by_values and isinstance(value, str) and value.strip() and _is_likely(path):
            return self.add([value] * queries, path)
        return value


def _have_same_keys(values: Sequence[Json]) -> bool:
    """Whether all *values* are objects with the same keys, none of which has braces: no placeholder is a key."""
    first = values[0]
    if not all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return False
    return not any("{{" in key for key in first)


def build_common_request(bodies: Sequence[Json]) -> tuple[Json, list[str | None], list[dict[str, Json]]]:
    """
    Build the request that becomes each of *bodies* when its placeholders are filled in.

    The text of the query becomes ``{{text}}`` if it can be identified; other differences become params. A value that
    contains ``{{`` becomes a param too, as a suite would take it for a placeholder.

    Args:
        bodies: The body of each query: at least one, all objects with the same keys.

    Returns:
        The request; the text of each query, None if it was not identified; and the params of each query.

    >>> build_common_request([{"query": {"match": {"title": word}}} for word in ("tent", "rope")])
    ({'query': {'match': {'title': '{{text}}'}}}, ['tent', 'rope'], [{}, {}])
    """
    slots = _Slots()
    template = slots.merge(bodies)
    text_slot = slots.find_text()
    if not slots.by_values:
        # Nothing differs: there is one query, or all have the same text. A suite still needs a place for it.
        for key, value in template.items():
            if key in ("query", "template"):
                template[key] = slots.place_text(value, (key,), len(bodies))
        text_slot = next(iter(slots.by_values.values()), None)
        if text_slot is None and "query" in template:
            template["query"] = slots.add([template["query"]] * len(bodies), ("query",))
    params: list[dict[str, Json]] = [{} for _ in bodies]
    used_names = set(RESERVED)
    for slot in slots.by_values.values():
        if slot is text_slot:
            slot.name = "text"
            continue
        last_key = slot.path[-1] if slot.path else ""
        slot.name = make_param_name(last_key, used_names)
        for params_of_query, value in zip(params, slot.values, strict=True):
            params_of_query[slot.name] = value
    texts: list[str | None] = [None] * len(bodies)
    if text_slot is not None:
        texts = [str(value) for value in text_slot.values]
    return _fill_in_names(template), texts, params


def _is_likely(path: tuple[str, ...]) -> bool:
    return bool(path) and (path[-1].lower() in _WORDS or bool(_CLAUSES & set(path[-3:-1])))


def make_param_name(wanted: str, taken: set[str]) -> str:
    """
    A name for a placeholder similar to *wanted* and not in *taken*, to which it is added.

    >>> taken = {"text"}
    >>> [make_param_name(wanted, taken) for wanted in ("$brand-1", "$brand.1", "2nd", "$text", "")]
    ['brand_1', 'brand_1_2', '_2nd', 'text_2', 'value']
    """
    base = re.sub(r"[^A-Za-z0-9_]+", "_", wanted).strip("_") or "value"
    if base[0].isdigit():
        base = f"_{base}"
    return choose_unused(base, taken, "_")


def _fill_in_names(template: Json) -> Json:
    """*template* with the placeholder of each slot."""
    if isinstance(template, _Slot):
        return "{{" + template.name + "}}"
    if isinstance(template, dict):
        return {key: _fill_in_names(value) for key, value in template.items()}
    if isinstance(template, list):
        return [_fill_in_names(value) for value in template]
    return template


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def convert_placeholders(
    text: str, pattern: re.Pattern[str], find_name: Callable[[re.Match[str]], str]
) -> tuple[str, set[str]]:
    r"""
    Replace the placeholders of another system in *text* by those of a suite.

    Args:
        text: A template. It need not be JSON: a placeholder outside quotes may stand for a number or a list.
        pattern: Matches the placeholders of the other system.
        find_name: Returns the name in the suite for a match.

    Returns:
        The text, in which each placeholder is in quotes; and the names of those that were not in quotes, whose values
        are not strings.

    >>> import re
    >>> convert_placeholders('{"a": "$q", "b": $n}', re.compile(r"\$(\w)"), lambda match: match[1])
    ('{"a": "{{q}}", "b": "{{n}}"}', {'n'})
    """
    parts: list[str] = []
    unquoted: set[str] = set()
    for segment, is_string in _split_at_strings(text):
        end = 0
        for match in pattern.finditer(segment):
            name = find_name(match)
            placeholder = "{{" + name + "}}"
            if not is_string:
                unquoted.add(name)
                placeholder = f'"{placeholder}"'
            parts += (segment[end : match.start()], placeholder)
            end = match.end()
        parts.append(segment[end:])
    return "".join(parts), unquoted


def _split_at_strings(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of *text*, each with whether it is a string of JSON in its quotes."""
    end = 0
    for match in _STRING.finditer(text):
        yield text[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield text[end:], False


def parse_value(text: str) -> Json:
    """The value of *text* if it is JSON, such as a number or a list, or else *text* itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
