"""
The requests of a suite: templates for an engine, its search templates, or HTTP; their placeholders, and the hits they
ask for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.model import HttpRequest, RequestTemplate
from harness.suites.leaves import BESIDE_A_BODY, is_masked, read_masked
from harness.suites.nodes import MappingNode, Node, Written
from harness.suites.placeholders import placeholders_in
from harness.suites.problems import Problems
from harness.suites.reading import Reading
from harness.suites.scalars import resolve
from harness.suites.search_templates import check_search_template, source_node, source_size
from harness.suites.shape import HttpShape, RequestShape
from harness.suites.window import BEGINS_LATER, SKIPPING, skips_hits

DEFAULT_NAME = "request"
"""What the only request of a suite is called."""

ASKING = frozenset({"query", "knn", "retriever", "sub_searches", "template"})
"""Keys by which a body says what it asks for."""

PARTS_OF_A_BODY = ASKING | {
    "_source", "aggregations", "aggs", "collapse", "docvalue_fields", "explain", "ext", "fields", "from", "highlight",
    "indices_boost", "min_score", "pit", "post_filter", "profile", "rank", "rescore", "runtime_mappings",
    "script_fields", "search_after", "search_pipeline", "size", "slice", "sort", "stats", "stored_fields", "suggest",
    "terminate_after", "timeout", "track_scores", "track_total_hits", "version",
}  # fmt: skip
"""Keys that a body of _search has."""


def read_templates(reading: Reading) -> dict[str, RequestTemplate]:
    """The templates by name, the default first."""
    nodes = request_nodes(reading)
    return {name: _with_masked(template, nodes[name]) for name, template in _plain_templates(reading).items()}


def _plain_templates(reading: Reading) -> dict[str, RequestTemplate]:
    shape, problems = reading.shape, reading.problems
    if shape.request is not None and shape.requests is not None:
        problems.at(reading.key_mark("requests"), "found both 'request' and 'requests', expected one of them")
    if shape.requests is not None:
        if not shape.requests:
            problems.at(reading.key_mark("requests"), "found no requests, expected at least one")
        return {
            str(name): _template(str(name), entry, reading.root.child("requests").child(name), problems)
            for name, entry in shape.requests.items()
        }
    if shape.request is not None:
        return {DEFAULT_NAME: _template(DEFAULT_NAME, shape.request, reading.root.child("request"), problems)}
    if not reading.broken & {"request", "requests"}:
        problems.at(
            reading.root.mark, "the suite has no 'request'; expected the body of _search, or 'requests' by name"
        )
    return {}


def request_nodes(reading: Reading) -> dict[str, Node]:
    """The requests by name, as they stand in the file."""
    nodes = {DEFAULT_NAME: reading.root.child("request")} if reading.shape.request is not None else {}
    several = reading.root.child("requests") if reading.shape.requests is not None else {}
    return nodes | {str(name): node for name, node in several.items()}


def body_node(request: Node) -> Node | None:
    """The body of _search in a request, which may be all that the request is."""
    if isinstance(request, MappingNode) and request.keys() & set(BESIDE_A_BODY):
        body: Node | None = request.child("body")
        return body
    return request


def size_of(template: RequestTemplate) -> int | None:
    """The number of hits that the body itself asks for."""
    if template.http is None and (size := source_size(template.body)) is not None:
        return size
    size = template.body.get("size") if isinstance(template.body, Mapping) else None
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None


def _template(name: str, entry: Any, node: Node, problems: Problems) -> RequestTemplate:
    if not isinstance(entry, RequestShape):
        if name == DEFAULT_NAME:
            _refuse_several(node, problems)
        _check_body(node, problems)
        return RequestTemplate(name, entry, mark=node.mark)
    if (entry.body is None) == (entry.http is None):
        found = "neither 'body' nor 'http'" if entry.body is None else "both 'body' and 'http'"
        problems.at(node.mark, f"found {found}, expected one of them: {{index: NAME, body: …}} or {{http: …}}")
    if entry.http is not None:
        if entry.index is not None:
            problems.at(entry.index.mark, "an HTTP service has no index; put it into the path or the params")
        return RequestTemplate(name, entry.http.json_body, http=_http(entry.http, problems), mark=node.mark)
    if isinstance(node, MappingNode):
        _check_body(node.child("body"), problems)
    return RequestTemplate(name, entry.body or {}, _optional(entry.index), mark=node.mark)


def _with_masked(template: RequestTemplate, node: Node) -> RequestTemplate:
    """*template*, which stands at *node*, with what is kept of it where it has values from the environment."""
    if not is_masked(node):
        return template
    parts = {"body": body_node(node)}
    if parts["body"] is not node and isinstance(node, MappingNode):
        parts |= {"index": node.child("index"), "http": node.child("http")}
    masked = {name: read_masked(part) for name, part in parts.items() if part is not None}
    return replace(template, masked=masked)


def _check_body(body: Node | None, problems: Problems) -> None:
    """What is written out in a body, or in the source of a search template, can be sent."""
    check_search_template(body, problems)
    _check_window(body, problems)
    _check_window(source_node(body), problems)


def _refuse_several(node: Node, problems: Problems) -> None:
    """Bodies by name under the key for one: each of them has what a body has, and none is called like a part of one."""
    if not isinstance(node, MappingNode) or not node or node.keys() & PARTS_OF_A_BODY:
        return
    if all(isinstance(body, MappingNode) and body.keys() & {*ASKING, *BESIDE_A_BODY} for body in node.values()):
        names = ", ".join(node)
        problems.at(node.mark, f"found requests by name ({names}) where one body stands; expected the key 'requests'")


def _check_window(body: Node | None, problems: Problems) -> None:
    """What is written out is checked here; what is a placeholder is known only when it is filled."""
    if not isinstance(body, MappingNode):
        return
    size = _written_out(body, "size")
    if size is not None:
        value = resolve(size) if isinstance(size, Written) and (size.plain or size.whole) else None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.at(size.mark, "expected the number of hits as size: a whole number of at least 1")
    for key in SKIPPING:
        start = _written_out(body, key)
        if start is not None and skips_hits(key, resolve(start) if isinstance(start, Written) else True):
            problems.at(start.mark, BEGINS_LATER.format(key=key))


def _written_out(body: MappingNode, key: str) -> Node | None:
    """The value under *key*, None where there is none or it is not known yet."""
    value: Node | None = body.child(key)
    unknown = isinstance(value, Written) and (value.unset or list(placeholders_in(value)))
    return None if unknown else value


def _http(shape: HttpShape, problems: Problems) -> HttpRequest:
    for expression in (shape.ids, shape.scores, shape.titles, shape.total):
        if expression is not None and not expression.unset:
            _check_path(expression, problems)
    return HttpRequest(
        method=shape.method,
        path=str(shape.path),
        ids=str(shape.ids),
        params={str(name): value for name, value in shape.params.items()},
        headers={str(name): str(value) for name, value in shape.headers.items()},
        json=shape.json_body,
        scores=_optional(shape.scores),
        titles=_optional(shape.titles),
        total=_optional(shape.total),
    )


def _check_path(expression: Written, problems: Problems) -> None:
    from harness.search.http import path_problem

    sentence = path_problem(expression)
    if sentence:
        problems.at(expression.mark, f"found {expression.raw!r}, expected a JSONPath such as $.hits[*].id: {sentence}")


def _optional(text: Any) -> str | None:
    return None if text is None else str(text)
