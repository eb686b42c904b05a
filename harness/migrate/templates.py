"""Builds one request with placeholders from many bodies, and converts placeholders from and to other systems."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.migrate.exported import format_json
from harness.model import Json, Suite
from harness.suites.placeholders import RESERVED
from harness.words import unused

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
class _Search:
    slots: dict[str, _Slot] = field(default_factory=dict)
    """By their values as JSON: places with the same values share one placeholder."""

    def template(self, values: Sequence[Json], path: tuple[str, ...] = ()) -> Json:
        """What *values*, one for each query, have in common, with a `_Slot` wherever they differ."""
        first = values[0]
        if all(isinstance(one, dict) and one.keys() == first.keys() for one in values) and "{{" not in "".join(first):
            return {key: self.template([one[key] for one in values], (*path, key)) for key in first}
        if all(isinstance(one, list) and len(one) == len(first) for one in values):
            return [self.template([one[index] for one in values], path) for index in range(len(first))]
        written = [json.dumps(one, sort_keys=True) for one in values]
        if len(set(written)) == 1 and "{{" not in written[0]:
            return first
        return self.slot(values, path)

    def slot(self, values: Sequence[Json], path: tuple[str, ...]) -> _Slot:
        return self.slots.setdefault(json.dumps(values, sort_keys=True), _Slot(path, list(values)))


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
    search = _Search()
    template = search.template(bodies)
    text = _text_slot(list(search.slots.values()))
    if not search.slots:
        template, text = _with_text(template, len(bodies), search)
    taken = set(RESERVED)
    for slot in search.slots.values():
        slot.name = "text" if slot is text else make_param_name(slot.path[-1] if slot.path else "", taken)
    slots = [slot for slot in search.slots.values() if slot is not text]
    params = [{slot.name: slot.values[index] for slot in slots} for index in range(len(bodies))]
    texts: list[str | None] = [None] * len(bodies) if text is None else list(map(str, text.values))
    return _named(template), texts, params


def _text_slot(slots: list[_Slot]) -> _Slot | None:
    """The slot that is most likely the text of the query: always a text, and below a usual key or the only text."""
    texts = [slot for slot in slots if all(isinstance(value, str) and value.strip() for value in slot.values)]
    likely = [slot for slot in texts if _is_likely(slot.path)]
    return likely[0] if likely else texts[0] if len(texts) == 1 else None


def _is_likely(path: tuple[str, ...]) -> bool:
    return bool(path) and (path[-1].lower() in _WORDS or bool(_CLAUSES & set(path[-3:-1])))


def _with_text(template: Json, queries: int, search: _Search) -> tuple[Json, _Slot | None]:
    """
    *template*, in which nothing differs, with a slot for the text of the query; also returns the slot.

    If no text is found, the slot replaces the whole query, and None is returned.
    """
    found: list[_Slot] = []

    def placed(value: Json, path: tuple[str, ...]) -> Json:
        if isinstance(value, dict):
            return {key: placed(child, (*path, key)) for key, child in value.items()}
        if isinstance(value, list):
            return [placed(child, path) for child in value]
        if not found and isinstance(value, str) and value.strip() and _is_likely(path):
            found.append(search.slot([value] * queries, path))
            return found[0]
        return value

    replaced = {
        key: placed(value, (key,)) if key in ("query", "template") else value for key, value in template.items()
    }
    if not found and "query" in template:
        replaced["query"] = search.slot([template["query"]] * queries, ("query",))
    return replaced, found[0] if found else None


def make_param_name(wanted: str, taken: set[str]) -> str:
    """
    A name for a placeholder similar to *wanted* and not in *taken*, to which it is added.

    >>> taken = {"text"}
    >>> [make_param_name(wanted, taken) for wanted in ("$brand-1", "$brand.1", "2nd", "$text", "")]
    ['brand_1', 'brand_1_2', '_2nd', 'text_2', 'value']
    """
    base = re.sub(r"[^A-Za-z0-9_]+", "_", wanted).strip("_") or "value"
    base = base if not base[0].isdigit() else f"_{base}"
    return unused(base, taken, "_")


def _named(template: Json) -> Json:
    if isinstance(template, _Slot):
        return "{{" + template.name + "}}"
    if isinstance(template, dict):
        return {key: _named(value) for key, value in template.items()}
    return [_named(value) for value in template] if isinstance(template, list) else template


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_OURS = re.compile(r'("?)\{\{\s*([A-Za-z_][\w-]*)\s*\}\}("?)')


def convert_placeholders(
    text: str, theirs: re.Pattern[str], name: Callable[[re.Match[str]], str]
) -> tuple[str, set[str]]:
    r"""
    *text* with the placeholders of another system replaced by those of a suite.

    Args:
        text: A template. It need not be JSON: a placeholder outside quotes may stand for a number or a list.
        theirs: Matches the placeholders of the other system.
        name: Returns the name in the suite for a match.

    Returns:
        The text, in which each placeholder is in quotes; and the names of those that were not in quotes, whose values
        are not strings.

    >>> import re
    >>> convert_placeholders('{"a": "$q", "b": $n}', re.compile(r"\$(\w)"), lambda match: match[1])
    ('{"a": "{{q}}", "b": "{{n}}"}', {'n'})
    """
    bare: set[str] = set()

    def in_quotes(match: re.Match[str]) -> str:
        return "{{" + name(match) + "}}"

    def outside(match: re.Match[str]) -> str:
        bare.add(name(match))
        return f'"{in_quotes(match)}"'

    parts, end = [], 0
    for string in _STRING.finditer(text):
        parts += [theirs.sub(outside, text[end : string.start()]), theirs.sub(in_quotes, string[0])]
        end = string.end()
    return "".join([*parts, theirs.sub(outside, text[end:])]), bare


def parse_value(text: str) -> Json:
    """The value of *text* if it is JSON, such as a number or a list, or else *text* itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def format_template(body: Json, suite: Suite, marker: Callable[[str], str]) -> str:
    """
    *body* as JSON, with the placeholders of another system.

    Args:
        body: A request of the suite, with placeholders of a suite.
        suite: A placeholder whose param is not a string in some query is written without quotes, and that of the number
            of hits is replaced by the number.
        marker: Returns the placeholder of the other system for a name.
    """
    bare = {name for query in suite.queries for name, value in query.params.items() if not isinstance(value, str)}

    def written(match: re.Match[str]) -> str:
        before, name, after = match.groups()
        if name == "depth":
            return str(suite.depth) if before and after else f"{before}{suite.depth}{after}"
        return marker(name) if name in bare and before and after else f"{before}{marker(name)}{after}"

    return _OURS.sub(written, format_json(body))
