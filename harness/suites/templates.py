"""The requests of a suite: one or several templates, for an engine or over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.model import HttpRequest, RequestTemplate
from harness.suites.nodes import MappingNode, Node, Written
from harness.suites.placeholders import placeholders_in
from harness.suites.problems import Problems
from harness.suites.reading import Reading
from harness.suites.scalars import resolve
from harness.suites.shape import HttpShape, RequestShape
from harness.suites.window import BEGINS_LATER, SKIPPING, skips_hits

DEFAULT_NAME = "request"
"""What the only request of a suite is called."""


def read_templates(reading: Reading) -> dict[str, RequestTemplate]:
    """The templates by name, the default first."""
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


def size_of(template: RequestTemplate) -> int | None:
    """The number of hits that the body itself asks for."""
    size = template.body.get("size") if isinstance(template.body, Mapping) else None
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None


def _template(name: str, entry: Any, node: Node, problems: Problems) -> RequestTemplate:
    if not isinstance(entry, RequestShape):
        _check_window(node, problems)
        return RequestTemplate(name, entry, mark=node.mark)
    if (entry.body is None) == (entry.http is None):
        found = "neither 'body' nor 'http'" if entry.body is None else "both 'body' and 'http'"
        problems.at(node.mark, f"found {found}, expected one of them: {{index: NAME, body: …}} or {{http: …}}")
    if entry.http is not None:
        if entry.index is not None:
            problems.at(entry.index.mark, "an HTTP service has no index; put it into the path or the params")
        return RequestTemplate(name, entry.http.json_body, http=_http(entry.http, problems), mark=node.mark)
    if isinstance(node, MappingNode):
        _check_window(node.child("body"), problems)
    return RequestTemplate(name, entry.body or {}, _optional(entry.index), mark=node.mark)


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
    import jsonpath

    try:
        jsonpath.compile(str(expression))
    except jsonpath.JSONPathError as error:
        reason = str(error).splitlines()[0] if str(error) else "it cannot be read"
        problems.at(expression.mark, f"found {expression.raw!r}, expected a JSONPath such as $.hits[*].id: {reason}")


def _optional(text: Any) -> str | None:
    return None if text is None else str(text)
