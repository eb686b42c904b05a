"""The number of hits that a suite requests, and the hits that a body requests."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.metrics.measures import get_measure
from harness.model.suite import (
    AgreementCondition,
    FieldExpectation,
    InTop,
    Json,
    Measure,
    RequestTemplate,
    Threshold,
)
from harness.search.esql import is_esql
from harness.suites.placeholders import locate_placeholders
from harness.suites.reading import Reading
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode, resolve

LEAST_DEPTH = 10
"""The least number of hits requested: a page of results."""


def choose_depth(
    reading: Reading, templates: Iterable[RequestTemplate], measures: Iterable[Measure], thresholds: Iterable[Threshold]
) -> int:
    """
    The depth of the suite: its `depth`, else the deepest of its cutoffs, expectations and requests' sizes.

    A request's own size must not be smaller than needed, and must equal the suite's `depth` if there is one. The
    minimum of 10 applies only if a request has no size.
    """
    needed, needed_by = max(_iterate_needs(measures, thresholds), default=(0, ""))
    depth: int | None = reading.shape.depth
    if depth is not None and depth < needed:
        message = f"depth {depth} is too shallow for '{needed_by}', which needs {needed} hits"
        reading.problems.note(reading.find_mark("depth"), message)
    sizes, least = [], 1
    for template in templates:
        if template.http is not None:
            _check_largest_size(template, depth or needed, reading)
        size = find_size(template)
        if size is None:
            least = LEAST_DEPTH
            continue
        sizes.append(size)
        word, remedy = "size", "remove one of them"
        if is_esql(template.body):
            word, remedy = "LIMIT", "write LIMIT ?depth, or remove 'depth'"
        message = ""
        if depth is not None and size != depth:
            message = f"the request {template.name!r} has {word} {size}, but depth is {depth}; {remedy}"
        elif size < needed:
            message = f"the request {template.name!r} has {word} {size}, but '{needed_by}' needs {needed} hits"
        if message:
            _note_size(template, message, reading)
    return depth or max(least, needed, *sizes)


def _note_size(template: RequestTemplate, message: str, reading: Reading) -> None:
    """Note a problem of the size of *template*: at its request, and of ES|QL at its LIMIT."""
    limit = None
    if is_esql(template.body):
        from harness.suites.esql import find_limit

        limit = find_limit(template.name, reading)
    if limit is None:
        reading.problems.note(template.mark, message)
    else:
        reading.problems.note_inside(*limit, message)


def _check_largest_size(template: RequestTemplate, needed: int, reading: Reading) -> None:
    """Note a request to a service that returns fewer hits than are *needed*."""
    largest = None if template.http is None else template.http.max_size
    if largest is not None and largest < needed:
        message = f"the request {template.name!r} has max_size {largest}, but the suite needs {needed} hits"
        reading.problems.note(template.mark, message)


def _iterate_needs(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> Iterator[tuple[int, str]]:
    """Each rank that a measure, threshold or expectation needs, with its text."""
    for measure in measures:
        yield measure.cutoff or 0, measure.text
    for threshold in thresholds:
        condition = threshold.condition
        measure_of_threshold = get_measure(threshold)
        if measure_of_threshold is not None:
            yield measure_of_threshold.cutoff or 0, threshold.text
        elif isinstance(condition, InTop | FieldExpectation):
            yield condition.k, threshold.text
        elif isinstance(condition, AgreementCondition):
            yield condition.agreement.cutoff or 0, threshold.text


DEFAULT_SIZE = 10
"""Hits that an engine returns if a body has no size."""


def find_size(template: RequestTemplate) -> int | None:
    """The number of hits that a request asks for; None if it does not say so, or if that is filled in later."""
    http = template.http
    if http is not None and http.size is not None:
        from harness.search.service_sizes import read_size

        # The suite says where in the request it is.
        return read_size(http)
    body = template.body if isinstance(template.body, Mapping) else {}
    if http is None and "template" in body:
        size = _find_size_of_search_template(body["template"])
        if size is not None:
            return size
    return _read_size(body.get("size"))


def _find_size_of_search_template(search_template: Json) -> int | None:
    """The size in the source of a search template, if that is a mapping."""
    if not isinstance(search_template, Mapping):
        return None
    source = search_template.get("source")
    if not isinstance(source, Mapping):
        return None
    return _read_size(source.get("size", DEFAULT_SIZE))


def _read_size(value: Json) -> int | None:
    """*value* if it is a number of hits, else None."""
    size = _read_whole(value)
    return size if size > 0 else None


BEGINS_LATER = "a ranking begins at its first hit; remove `{key}`, which skips hits"
"""The error for a body that skips hits, whose ranking would lack the best documents."""

SKIPPING_KEYS = ("from", "search_after")
"""Keys of a body that skip hits."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING_KEYS`, skips hits; `from: 0` does not."""
    if value is None:
        return False
    return key == "search_after" or isinstance(value, bool) or value not in (0, "0")


def check_window(body: Node | None, problems: Problems) -> None:
    """Check literal values; those with placeholders are checked when they are filled."""
    if not isinstance(body, MappingNode):
        return
    size = _find_known_value(body, "size")
    if size is not None:
        value = None
        if isinstance(size, ScalarNode) and (size.plain or size.whole):
            value = resolve(size)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.note(size.mark, "expected the number of hits as size: a whole number of at least 1")
    for key in SKIPPING_KEYS:
        start = _find_known_value(body, key)
        if start is None:
            continue
        value = resolve(start) if isinstance(start, ScalarNode) else True
        if skips_hits(key, value):
            problems.note(start.mark, BEGINS_LATER.format(key=key))


def _find_known_value(body: MappingNode, key: str) -> Node | None:
    """The value under *key*, of any type; None if there is none, or a variable or a placeholder is to give it."""
    value: Node | None = body.find_child(key)
    if isinstance(value, ScalarNode) and (value.unset or locate_placeholders(value)):
        return None
    return value


def find_window_problem(template: Json, body: Json, depth: int) -> str | None:
    """
    Why the answer to *body* may not be the best *depth* hits; None if it is.

    Args:
        template: The body before it was filled; a literal size in it is already checked.
        body: As it is sent.
        depth: The suite's.
    """
    if not isinstance(template, Mapping) or not isinstance(body, Mapping):
        return None
    rendered = find_rendered_body(body["template"]) if "template" in body else body
    for key in SKIPPING_KEYS:
        if skips_hits(key, body.get(key)) or (rendered is not body and skips_hits(key, rendered.get(key))):
            return BEGINS_LATER.format(key=key)
    size = body.get("size")
    if not isinstance(template.get("size"), str):
        return None
    word, remedy = "size", "{{depth}}"
    if is_esql(body):
        word, remedy = "LIMIT", "LIMIT ?depth"
    if isinstance(size, bool) or not isinstance(size, int):
        return f"the {word} becomes {size!r}, expected a whole number"
    if size < depth:
        return f"the {word} becomes {size}, but the suite needs {depth} hits: write {remedy}, or set 'depth'"
    return None


# Mustache: {{name}} or {{{name}}} with the quotes around it, and a section that is kept with, or without, its param
_PARAM = re.compile(r'("?)\{\{(\{)?\s*(\w+)\s*(?(2)\}\}\}|\}\})("?)')
_TAG = re.compile(r"\{\{([#^/])\s*(\w+)\s*\}\}")
_FUNCTIONS = frozenset({"toJson", "join", "url"})


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of Mustache, from *start* to *end* of the text."""

    start: int
    end: int
    is_inverted: bool
    name: str
    content: str


def _find_sections(text: str) -> list[_Section]:
    """The sections of *text* that are in no other: each from its tag to the first closing tag of the same name."""
    tags = list(_TAG.finditer(text))
    closings: dict[str, deque[re.Match[str]]] = {}
    for tag in tags:
        if tag[1] == "/":
            closings.setdefault(tag[2], deque()).append(tag)
    sections: list[_Section] = []
    end = 0
    for tag in tags:
        following = closings.get(tag[2])
        if tag[1] == "/" or tag.start() < end or following is None:
            continue
        while following and following[0].start() < tag.end():
            following.popleft()
        if following:
            closing = following[0]
            end = closing.end()
            content = text[tag.end() : closing.start()]
            sections.append(_Section(tag.start(), end, tag[1] == "^", tag[2], content))
    return sections


def find_rendered_body(template: Json) -> Mapping[str, Json]:
    """
    The body that a search template with a source becomes; empty where that takes more of Mustache than params and
    sections that are kept where a param is given.
    """
    if not isinstance(template, Mapping) or "source" not in template:
        return {}
    params = template.get("params")
    if not isinstance(params, Mapping):
        params = {}
    source = template["source"]
    text = source if isinstance(source, str) else json.dumps(source)
    names = {section.name for section in _find_sections(text)}
    # A section of a list is repeated, one of a mapping looks its names up in that.
    if names & _FUNCTIONS or any(isinstance(params.get(name), Mapping | list) for name in names):
        return {}
    if "{{" in _PARAM.sub("", _TAG.sub("", text)):
        return {}  # such as {{page.from}}, {{&from}} and {{! a remark }}
    text = _render_sections(text, params)
    if "{{#" in text or "{{^" in text:
        return {}
    try:
        body = json.loads(_render_params(text, params))
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


def _render_sections(text: str, params: Mapping[str, Json]) -> str:
    """*text* with the content of each section that is kept, and without the others."""
    rendered, end = "", 0
    for section in _find_sections(text):
        rendered += text[end : section.start]
        end = section.end
        # To the engines' Mustache, 0 is a value as any other.
        value = params.get(section.name)
        is_given = value is not None and value is not False and value != ""
        if is_given != section.is_inverted:
            rendered += section.content
    return rendered + text[end:]


def _render_params(text: str, params: Mapping[str, Json]) -> str:
    """*text* with the value of each param, as JSON where quotes are around its name."""
    rendered, end = "", 0
    for match in _PARAM.finditer(text):
        rendered += text[end : match.start()]
        end = match.end()
        before, _, name, after = match.groups()
        is_quoted = before and after
        if is_quoted:
            rendered += json.dumps(params.get(name))
        elif name in params:
            value = json.dumps(params[name])
            if isinstance(params[name], str):
                value = value.removeprefix('"').removesuffix('"')
            rendered += f"{before}{value}{after}"
        else:
            rendered += f"{before}{after}"
    return rendered + text[end:]


def _read_whole(value: Json) -> int:
    """*value* if it is a whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
