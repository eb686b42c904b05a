"""The number of hits that a suite requests, the hits that a body requests, and how deep a search may go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from harness.metrics.score import measure_named
from harness.model import (
    AgreementCondition,
    InTop,
    Json,
    Measure,
    RequestTemplate,
    SearchRequest,
    Threshold,
    iterate_members,
)
from harness.suites.placeholders import placeholders_in
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
    needed, by_what = max(_needs(measures, thresholds), default=(0, ""))
    given: int | None = reading.shape.depth
    if given is not None and given < needed:
        message = f"depth {given} is too shallow for '{by_what}', which needs {needed} hits"
        reading.problems.note(reading.find_mark("depth"), message)
    sizes, least = [], 1
    for template in templates:
        size = size_of(template)
        if size is None:
            least = LEAST_DEPTH
            continue
        sizes.append(size)
        _check_size(reading, template, size, needed, by_what)
    return given or max(least, needed, *sizes)


def _needs(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> Iterator[tuple[int, str]]:
    """Each rank that a measure, threshold or expectation needs, with its text."""
    for measure in measures:
        yield measure.cutoff or 0, measure.text
    for threshold in thresholds:
        condition = threshold.condition
        named = measure_named(threshold)
        if named is not None:
            yield named.cutoff or 0, threshold.text
        elif isinstance(condition, InTop):
            yield condition.k, threshold.text
        elif isinstance(condition, AgreementCondition):
            yield condition.agreement.cutoff or 0, threshold.text


def _check_size(reading: Reading, template: RequestTemplate, size: int, needed: int, by_what: str) -> None:
    given = reading.shape.depth
    if given is not None and size != given:
        message = f"the request {template.name!r} has size {size}, but depth is {given}; remove one of them"
        reading.problems.note(template.mark, message)
    elif size < needed:
        message = f"the request {template.name!r} has size {size}, but '{by_what}' needs {needed} hits"
        reading.problems.note(template.mark, message)


ENGINES_SIZE = 10
"""Hits that an engine returns if a body has no size."""


def size_of(template: RequestTemplate) -> int | None:
    """
    The size in the body, or in the source of its search template if that is a mapping.

    None if there is none, or if the engine will fill it in.
    """
    body = template.body if isinstance(template.body, Mapping) else {}
    search_template = body.get("template")
    source = search_template.get("source") if isinstance(search_template, Mapping) else None
    if template.http is None and isinstance(source, Mapping):
        return _positive(source.get("size", ENGINES_SIZE)) or _positive(body.get("size"))
    return _positive(body.get("size"))


def _positive(value: Json) -> int | None:
    number = _whole(value)
    return number if number > 0 else None


BEGINS_LATER = "a ranking begins at its first hit; remove `{key}`, which skips hits"
"""The error for a body that skips hits, whose ranking would lack the best documents."""

SKIPPING = ("from", "search_after")
"""Keys of a body that skip hits."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING`, skips hits; `from: 0` does not."""
    return value is not None and (key == "search_after" or isinstance(value, bool) or value not in (0, "0"))


def check_window(body: Node | None, problems: Problems) -> None:
    """Check literal values; those with placeholders are checked when they are filled."""
    if not isinstance(body, MappingNode):
        return
    size = _written_out(body, "size")
    if size is not None:
        value = resolve(size) if isinstance(size, ScalarNode) and (size.plain or size.whole) else None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.note(size.mark, "expected the number of hits as size: a whole number of at least 1")
    for key in SKIPPING:
        start = _written_out(body, key)
        if start is not None and skips_hits(key, resolve(start) if isinstance(start, ScalarNode) else True):
            problems.note(start.mark, BEGINS_LATER.format(key=key))


def _written_out(body: MappingNode, key: str) -> Node | None:
    """The value under *key*, None if there is none or it is not known yet."""
    value: Node | None = body.find_child(key)
    unknown = isinstance(value, ScalarNode) and (value.unset or list(placeholders_in(value)))
    return None if unknown else value


def window_problem(template: Json, body: Json, depth: int) -> str | None:
    """
    Why the answer to *body* may not be the best *depth* hits; None if it is.

    Args:
        template: The body before it was filled; a literal size in it is already checked.
        body: As it is sent.
        depth: The suite's.
    """
    if not isinstance(template, Mapping) or not isinstance(body, Mapping):
        return None
    rendered = _rendered(body["template"]) if "template" in body else body
    for key in SKIPPING:
        if skips_hits(key, body.get(key)) or skips_hits(key, rendered.get(key)):
            return BEGINS_LATER.format(key=key)
    size = body.get("size")
    if not isinstance(template.get("size"), str):
        return None
    if isinstance(size, bool) or not isinstance(size, int):
        return f"the size becomes {size!r}, expected a whole number"
    if size < depth:
        return f"the size becomes {size}, but the suite needs {depth} hits: write {{{{depth}}}}, or set 'depth'"
    return None


QUOTE = '"'
# Mustache: {{name}} or {{{name}}} with the quotes around it, and a section that is kept with, or without, its param
_PARAM = re.compile(r'("?)\{\{(\{)?\s*(\w+)\s*(?(2)\}\}\}|\}\})("?)')
_SECTION = re.compile(r"\{\{([#^])\s*(\w+)\s*\}\}(.*?)\{\{/\s*\2\s*\}\}", re.DOTALL)
_FUNCTIONS = frozenset({"toJson", "join", "url"})


def _rendered(template: Json) -> Mapping[str, Json]:
    """
    The body that a search template with a source becomes; empty where that takes more of Mustache than params and
    sections that are kept where a param is given.
    """
    if not isinstance(template, Mapping) or "source" not in template:
        return {}
    params = template.get("params")
    given = params if isinstance(params, Mapping) else {}

    def section(found: re.Match[str]) -> str:
        return found[3] if (found[1] == "#") == bool(given.get(found[2])) else ""

    def value(found: re.Match[str]) -> str:
        before, _, name, after = found.groups()
        if name not in given:
            return "null" if before and after else f"{before}{after}"
        written = json.dumps(given[name])
        if before and after:
            return written
        return f"{before}{written[1:-1] if written.startswith(QUOTE) else written}{after}"

    source = template["source"]
    text = source if isinstance(source, str) else json.dumps(source)
    names = {found[2] for found in _SECTION.finditer(text)}
    if names & _FUNCTIONS or any(isinstance(given.get(name), Mapping | list) for name in names):
        return {}
    text = _SECTION.sub(section, text)
    if "{{#" in text or "{{^" in text:
        return {}
    try:
        body = json.loads(_PARAM.sub(value, text))
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}


COSTLY = frozenset(
    {
        "_source", "aggregations", "aggs", "docvalue_fields", "explain", "fields", "highlight", "profile",
        "script_fields", "suggest", "track_total_hits",
    }
)  # fmt: skip
"""Keys of a body that do not affect the ranking; a deeper search, which needs only ids, leaves them out."""

RESULT_WINDOW = 10_000
"""The default of `index.max_result_window`, the deepest hit that engines return."""

RESCORED = 10
"""The default of a rescorer's `window_size`."""

BY_SIZE = frozenset({"retriever", "rank", "sub_searches", "search_pipeline", "ext", "hybrid", "semantic"})
"""Keys whose ranking depends on the size: they fuse, normalize or rerank that many hits."""

OF_NEAREST = frozenset({"knn", "neural", *BY_SIZE})
"""Keys whose list of hits may end before all matches are in it."""


def deepest_size(body: Json) -> int:
    """
    The greatest size of *body* that does not change the hits of a smaller size.

    Hits below a rescorer's window keep their first score, and are merged with the others; the default `k` of `knn` is
    the size. 0 if any other size may change the ranking.
    """
    sizes = [RESULT_WINDOW]
    for key, value in iterate_members(body):
        if key in BY_SIZE:
            return 0
        if key == "knn":
            sizes += [_nearest(clause) for clause in (value if isinstance(value, list) else [value])]
        elif key == "rescore":
            sizes += [_window(clause) for clause in (value if isinstance(value, list) else [value])]
    return min(sizes)


RETRIEVED = 10
"""The default of a retriever's `rank_window_size`."""

WITHOUT_WINDOW = frozenset({"standard", "knn"})
"""Retrievers that take any size."""


def window_of(body: Json) -> int | None:
    """
    The window of the retriever of *body*: engines refuse a greater size. None where nothing limits it.

    >>> window_of({"retriever": {"rrf": {"retrievers": [], "rank_window_size": 50}}}), window_of({"query": {}})
    (50, None)
    """
    if not isinstance(body, Mapping):
        return None
    template = body.get("template")
    source = template.get("source") if isinstance(template, Mapping) else body
    retriever = source.get("retriever") if isinstance(source, Mapping) else None
    if not isinstance(retriever, Mapping):
        return None
    for kind, inner in retriever.items():
        if kind == "rescorer" and isinstance(inner, Mapping):
            rescore = inner.get("rescore")
            return min(_window(clause) for clause in (rescore if isinstance(rescore, list) else [rescore]))
        if kind not in WITHOUT_WINDOW and isinstance(inner, Mapping):
            return _whole(inner.get("rank_window_size")) or RETRIEVED
    return None


def shows_all(body: Json) -> bool:
    """Whether an answer to *body* that is as long as its total has all matches."""
    return not any(key in OF_NEAREST for key, _ in iterate_members(body))


def collapses(body: Json) -> bool:
    """Whether *body* returns one document of each group, while its total counts all of them."""
    return isinstance(body, Mapping) and "collapse" in body


def is_short(returned: int, body: Json) -> bool:
    """Whether *returned* hits are fewer than *body* asks for."""
    size = body.get("size") if isinstance(body, Mapping) else None
    return isinstance(size, int) and returned < size


def deeper(request: SearchRequest, size: int) -> SearchRequest:
    """*request* for *size* hits, with ids only."""
    body = request.body
    if not isinstance(body, Mapping):
        return request
    if "template" in body:
        return replace(request, body={**body, "template": _deeper_template(body["template"], size), "size": size})
    return replace(request, body={key: value for key, value in body.items() if key not in COSTLY} | {"size": size})


def _deeper_template(template: Json, size: int) -> Json:
    if not isinstance(template, Mapping) or not isinstance(template.get("params"), Mapping):
        return template
    return {**template, "params": {**template["params"], "size": size}}


def _nearest(clause: Json) -> int:
    """The `k` of a `knn`, which in OpenSearch is below the name of the field; 0 if there is none."""
    if not isinstance(clause, Mapping):
        return 0
    inner = [member for member in clause.values() if isinstance(member, Mapping)]
    return next((k for one in (clause, *inner) if (k := _whole(one.get("k")))), 0)


def _window(clause: Json) -> int:
    return _whole(clause.get("window_size", RESCORED)) if isinstance(clause, Mapping) else 0


def _whole(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
