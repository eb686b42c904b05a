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
        size = find_size(template)
        if size is None:
            least = LEAST_DEPTH
            continue
        sizes.append(size)
        if depth is not None and size != depth:
            message = f"the request {template.name!r} has size {size}, but depth is {depth}; remove one of them"
            reading.problems.note(template.mark, message)
        elif size < needed:
            message = f"the request {template.name!r} has size {size}, but '{needed_by}' needs {needed} hits"
            reading.problems.note(template.mark, message)
    return depth or max(least, needed, *sizes)


def _iterate_needs(measures: Iterable[Measure], thresholds: Iterable[Threshold]) -> Iterator[tuple[int, str]]:
    """Each rank that a measure, threshold or expectation needs, with its text."""
    for measure in measures:
        yield measure.cutoff or 0, measure.text
    for threshold in thresholds:
        condition = threshold.condition
        measure_of_threshold = measure_named(threshold)
        if measure_of_threshold is not None:
            yield measure_of_threshold.cutoff or 0, threshold.text
        elif isinstance(condition, InTop):
            yield condition.k, threshold.text
        elif isinstance(condition, AgreementCondition):
            yield condition.agreement.cutoff or 0, threshold.text


DEFAULT_SIZE = 10
"""Hits that an engine returns if a body has no size."""


def find_size(template: RequestTemplate) -> int | None:
    """
    The size in the body, or in the source of its search template if that is a mapping.

    None if there is none, or if the engine will fill it in.
    """
    body = template.body if isinstance(template.body, Mapping) else {}
    size = _read_whole(body.get("size"))
    search_template = body.get("template")
    if template.http is None and isinstance(search_template, Mapping):
        source = search_template.get("source")
        if isinstance(source, Mapping):
            size_of_source = _read_whole(source.get("size", DEFAULT_SIZE))
            size = size_of_source if size_of_source > 0 else size
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
    size = _find_literal(body, "size")
    if size is not None:
        value = None
        if isinstance(size, ScalarNode) and (size.plain or size.whole):
            value = resolve(size)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.note(size.mark, "expected the number of hits as size: a whole number of at least 1")
    for key in SKIPPING_KEYS:
        start = _find_literal(body, key)
        if start is None:
            continue
        value = resolve(start) if isinstance(start, ScalarNode) else True
        if skips_hits(key, value):
            problems.note(start.mark, BEGINS_LATER.format(key=key))


def _find_literal(body: MappingNode, key: str) -> Node | None:
    """The value under *key*, None if there is none or it is not known yet."""
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
    rendered = _render_template(body["template"]) if "template" in body else body
    for key in SKIPPING_KEYS:
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


# Mustache: {{name}} or {{{name}}} with the quotes around it, and a section that is kept with, or without, its param
_PARAM = re.compile(r'("?)\{\{(\{)?\s*(\w+)\s*(?(2)\}\}\}|\}\})("?)')
_SECTION = re.compile(r"\{\{([#^])\s*(\w+)\s*\}\}(.*?)\{\{/\s*\2\s*\}\}", re.DOTALL)
_FUNCTIONS = frozenset({"toJson", "join", "url"})


def _render_template(template: Json) -> Mapping[str, Json]:
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
    names = {section[2] for section in _SECTION.finditer(text)}
    # A section of a list is repeated, one of a mapping looks its names up in that.
    if names & _FUNCTIONS or any(isinstance(params.get(name), Mapping | list) for name in names):
        return {}
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
    for section in _SECTION.finditer(text):
        rendered += text[end : section.start()]
        end = section.end()
        is_inverted = section[1] == "^"
        if bool(params.get(section[2])) != is_inverted:
            rendered += section[3]
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


COSTLY_KEYS = frozenset(
    {
        "_source", "aggregations", "aggs", "docvalue_fields", "explain", "fields", "highlight", "profile",
        "script_fields", "suggest", "track_total_hits",
    }
)  # fmt: skip
"""Keys of a body that do not affect the ranking; a deeper search, which needs only ids, leaves them out."""

RESULT_WINDOW = 10_000
"""The default of `index.max_result_window`, the deepest hit that engines return."""

DEFAULT_RESCORE_WINDOW = 10
"""The default of a rescorer's `window_size`."""

SIZE_DEPENDENT_KEYS = frozenset({"retriever", "rank", "sub_searches", "search_pipeline", "ext", "hybrid", "semantic"})
"""Keys whose ranking depends on the size: they fuse, normalize or rerank that many hits."""

LIMITED_KEYS = frozenset({"knn", "neural", *SIZE_DEPENDENT_KEYS})
"""Keys whose list of hits may end before all matches are in it."""


def find_deepest_size(body: Json) -> int:
    """
    The greatest size of *body* that does not change the hits of a smaller size.

    Hits below a rescorer's window keep their first score, and are merged with the others; the default `k` of `knn` is
    the size. 0 if any other size may change the ranking.
    """
    sizes = [RESULT_WINDOW]
    for key, value in iterate_members(body):
        if key in SIZE_DEPENDENT_KEYS:
            return 0
        clauses = value if isinstance(value, list) else [value]
        if key == "knn":
            sizes += [_read_nearest(clause) for clause in clauses]
        elif key == "rescore":
            sizes += [_read_rescore_window(clause) for clause in clauses]
    return min(sizes)


DEFAULT_RETRIEVER_WINDOW = 10
"""The default of a retriever's `rank_window_size`."""

WINDOWLESS_RETRIEVERS = frozenset({"standard", "knn"})
"""Retrievers that take any size."""


def find_window(body: Json) -> int | None:
    """
    The window of the retriever of *body*: engines refuse a greater size. None where nothing limits it.

    >>> find_window({"retriever": {"rrf": {"retrievers": [], "rank_window_size": 50}}}), find_window({"query": {}})
    (50, None)
    """
    if not isinstance(body, Mapping):
        return None
    template = body.get("template")
    source = template.get("source") if isinstance(template, Mapping) else body
    retriever = source.get("retriever") if isinstance(source, Mapping) else None
    if not isinstance(retriever, Mapping):
        return None
    for kind, settings in retriever.items():
        if kind in WINDOWLESS_RETRIEVERS or not isinstance(settings, Mapping):
            continue
        if kind == "rescorer":
            rescore = settings.get("rescore")
            clauses = rescore if isinstance(rescore, list) else [rescore]
            return min(_read_rescore_window(clause) for clause in clauses)
        return _read_whole(settings.get("rank_window_size")) or DEFAULT_RETRIEVER_WINDOW
    return None


def shows_all(body: Json) -> bool:
    """Whether an answer to *body* that is as long as its total has all matches."""
    return not any(key in LIMITED_KEYS for key, _ in iterate_members(body))


def has_collapse(body: Json) -> bool:
    """Whether *body* returns one document of each group, while its total counts all of them."""
    return isinstance(body, Mapping) and "collapse" in body


def is_short(returned: int, body: Json) -> bool:
    """Whether *returned* hits are fewer than *body* asks for."""
    size = body.get("size") if isinstance(body, Mapping) else None
    return isinstance(size, int) and returned < size


def deepen(request: SearchRequest, size: int) -> SearchRequest:
    """*request* for *size* hits, with ids only."""
    body = request.body
    if not isinstance(body, Mapping):
        return request
    if "template" not in body:
        kept = {key: value for key, value in body.items() if key not in COSTLY_KEYS}
        return replace(request, body={**kept, "size": size})
    template = body["template"]
    # A template may name its size among its params; the engine ignores a param that it does not name.
    if isinstance(template, Mapping) and isinstance(template.get("params"), Mapping):
        template = {**template, "params": {**template["params"], "size": size}}
    return replace(request, body={**body, "template": template, "size": size})


def _read_nearest(clause: Json) -> int:
    """The `k` of a `knn`, which in OpenSearch is below the name of the field; 0 if there is none."""
    if not isinstance(clause, Mapping):
        return 0
    for settings in (clause, *clause.values()):
        k = _read_whole(settings.get("k")) if isinstance(settings, Mapping) else 0
        if k:
            return k
    return 0


def _read_rescore_window(clause: Json) -> int:
    return _read_whole(clause.get("window_size", DEFAULT_RESCORE_WINDOW)) if isinstance(clause, Mapping) else 0


def _read_whole(value: Json) -> int:
    """*value* if it is a whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
