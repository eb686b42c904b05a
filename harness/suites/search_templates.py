"""
Search templates in a suite: bodies that the engine fills in, from `params` alone.

The braces of a template's `source` are the engine's, so they are left alone; the suite's own placeholders are filled
in `params`, as values, and the engine writes them into the source as JSON. So no text of a query can break the source.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.model import Json
from harness.suites.nodes import ListNode, MappingNode, Node, Written, describe
from harness.suites.placeholders import fill, placeholders_in
from harness.suites.problems import Problems

ENGINES_SIZE = 10
"""Hits that an engine returns where a body does not say how many."""

_BESIDE = ("template", "size")
_EXPECTED = "expected a search template: {id: NAME, params: …} or {source: …, params: …}"


def fill_body(body: Json, values: Mapping[str, Json]) -> Json:
    """
    The body of a request with its placeholders filled; the source of a search template stays as it is.

    Raises:
        UsageError: As `fill` does.
    """
    template = body.get("template") if isinstance(body, Mapping) else None
    if not isinstance(template, Mapping) or "source" not in template:
        return fill(body, values)
    own = {key: value for key, value in template.items() if key != "source"}
    filled = fill({**body, "template": own}, values)
    return {**filled, "template": {**filled["template"], "source": template["source"]}}


def source_node(body: Node | None) -> Node | None:
    """The source of the search template that *body* is, None where it is none, or names one that the engine keeps."""
    template = body.child("template") if isinstance(body, MappingNode) else None
    source: Node | None = template.child("source") if isinstance(template, MappingNode) else None
    return source


def source_size(body: Json) -> int | None:
    """The hits that a template written out as a mapping asks for; None where the engine will say, or it is no such."""
    template = body.get("template") if isinstance(body, Mapping) else None
    source = template.get("source") if isinstance(template, Mapping) else None
    if not isinstance(source, Mapping):
        return None
    size = source.get("size", ENGINES_SIZE)
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else None


def check_search_template(body: Node | None, problems: Problems) -> None:
    """Where *body* is a search template, it is one that can be sent."""
    if not isinstance(body, MappingNode) or "template" not in body:
        return
    for key in body:
        if key not in _BESIDE:
            problems.at(key.mark, f"found {str(key)!r} beside 'template'; a search template stands alone, or with size")
    template = body.child("template")
    if not isinstance(template, MappingNode):
        problems.at(template.mark, f"found {describe(template)}, {_EXPECTED}")
        return
    given = [key for key in ("id", "source") if key in template]
    if len(given) != 1:
        found = "both 'id' and 'source'" if given else "neither 'id' nor 'source'"
        problems.at(template.mark, f"found {found}, {_EXPECTED}")
    params = template.child("params")
    if params is not None and not isinstance(params, MappingNode):
        problems.at(params.mark, f"found {describe(params)}, expected params as a mapping")


def check_source(body: Node | None, names: set[str], problems: Problems) -> None:
    """No source asks for one of *names*, the suite's own placeholders, that the template's params do not pass on."""
    source = source_node(body)
    if not isinstance(body, MappingNode) or source is None:
        return
    params = body.child("template").child("params")
    passed = set(map(str, params)) if isinstance(params, MappingNode) else set()
    lacking = names - passed - {"size"}
    for scalar in texts(source):
        for name, offset, _ in placeholders_in(scalar):
            if name in lacking:
                written = "{{" + name + "}}"
                remedy = f'in a source the engine fills it in, from params; expected params: {{{name}: "{written}"}}'
                problems.inside(scalar, offset, f"found {written}, which the template's params do not have; {remedy}")


def texts(node: Node) -> list[Written]:
    """All scalars below *node*, keys too."""
    if isinstance(node, Written):
        return [node]
    if isinstance(node, ListNode):
        return [scalar for item in node for scalar in texts(item)]
    return [scalar for key, value in node.items() for scalar in (key, *texts(value))]
