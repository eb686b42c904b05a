"""
``{{text}}`` and the other placeholders of a request: filled structurally, and checked against the queries.

A string that consists of one placeholder becomes the value itself, with its type: a list stays a list. Inside a longer
string, and in a key, the value is inserted as text. Inserted values are not searched for placeholders, so a query's
text may contain quotes, braces, `{{` or `$`.

The braces in the `source` of a search template belong to the engine. The suite's own placeholders are filled in
`params`, as values, and the engine inserts them into the source as JSON. So no text of a query can break the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.errors import UsageError
from harness.model import Json, Query
from harness.model.suite import PLACEHOLDER
from harness.suites.scalars import BESIDE_A_BODY
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode
from harness.words import did_you_mean

RESERVED = ("text", "depth")
"""Placeholders that every query fills: its text, and the number of hits requested."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_name(text: str) -> bool:
    """Whether a placeholder can have this name."""
    return _NAME.fullmatch(text) is not None


def placeholders_in(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each placeholder in *text*: its name, its offset, and whether it is inserted as text."""
    matches = list(PLACEHOLDER.finditer(text))
    for match in matches:
        yield match[1].strip(), match.start(), len(matches) > 1 or match.group() != text


def fill(template: Json, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> Json:
    """
    *template* with its placeholders filled.

    Args:
        template: A JSON value.
        values: By the placeholder's name; must contain each that occurs.
        encode: Applied to a value that is inserted into a longer string.

    Raises:
        UsageError: A list or an object would be inserted into a string, or two keys become the same.

    >>> fill({"terms": {"brand": "{{brands}}"}, "name": "for {{text}}"}, {"brands": ["a", "b"], "text": '"x" {{y}}'})
    {'terms': {'brand': ['a', 'b']}, 'name': 'for "x" {{y}}'}
    """
    if isinstance(template, str):
        whole = PLACEHOLDER.fullmatch(template) if "{{" in template else None
        if whole and is_name(whole[1].strip()):
            return values[whole[1].strip()]
        return fill_text(template, values, encode=encode)
    if isinstance(template, Mapping):
        return _fill_mapping(template, values, encode)
    return [fill(item, values, encode=encode) for item in template] if isinstance(template, list) else template


def fill_text(template: str, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> str:
    """*template* with each placeholder inserted as text, even if it is the whole string."""
    if "{{" not in template:
        return template
    return PLACEHOLDER.sub(lambda match: encode(as_text(values[match[1].strip()], match[1].strip())), template)


def as_text(value: Json, name: str) -> str:
    """A value as text for a longer string."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (list, Mapping)):
        kind = "nothing" if value is None else "a list" if isinstance(value, list) else "a mapping"
        raise UsageError(f"{{{{{name}}}}} is {kind}, which cannot be inserted into a text")
    return json.dumps(value)


def _fill_mapping(
    template: Mapping[str, Any], values: Mapping[str, Json], encode: Callable[[str], str]
) -> dict[str, Json]:
    filled: dict[str, Json] = {}
    for key, value in template.items():
        name = fill_text(key, values)
        if name in filled:
            raise UsageError(f"two keys become {name!r} when their placeholders are filled")
        filled[name] = fill(value, values, encode=encode)
    return filled


def fill_body(body: Json, values: Mapping[str, Json]) -> Json:
    """
    The body of a request with its placeholders filled; the source of a search template is not changed.

    Raises:
        UsageError: As `fill` does.
    """
    template = body.get("template") if isinstance(body, Mapping) else None
    if not isinstance(template, Mapping) or "source" not in template:
        return fill(body, values)
    own = {key: value for key, value in template.items() if key != "source"}
    filled = fill({**body, "template": own}, values)
    return {**filled, "template": {**filled["template"], "source": template["source"]}}


def check_placeholders(requests: Mapping[str, Node], queries: Sequence[Query], problems: Problems) -> None:
    """
    Check that every placeholder has a value in every query, every param a placeholder, every request a placeholder.

    *requests* are the suite's, by name, as nodes of the file.
    """
    params = {name for query in queries for name in query.params}
    used: set[str] = set()
    for node in requests.values():
        named = _check_request(node, params, queries, problems)
        if not named - {"depth"} and not _has_problem(node, problems):
            problems.note(node.mark, _unchanging(node))
        check_source(body_node(node), {*params, *RESERVED}, problems)
        used |= named
    _check_params(queries, used, problems)


def _check_request(node: Node, params: set[str], queries: Sequence[Query], problems: Problems) -> set[str]:
    """The names of all placeholders of a request; notes those that a query cannot fill."""
    named = set()
    for scalar, is_key in _scalars(node, but=source_node(body_node(node))):
        for name, offset, inside in placeholders_in(scalar):
            named.add(name)
            sentence = _unknown(name, params)
            if sentence:
                problems.note_inside(scalar, offset, sentence)
            else:
                _check_values(name, queries, problems, inside=inside or is_key)
    return named


def _unchanging(node: Node) -> str:
    """The problem of a request that is the same for every query."""
    of_template = "" if source_node(body_node(node)) is None else ", among the params of its template"
    return f"this request is the same for every query: expected {{{{text}}}} somewhere in it{of_template}"


def _has_problem(node: Node, problems: Problems) -> bool:
    """Whether a problem was found in the lines of *node*, such as a placeholder that lost its quotes."""
    first = node.mark.line
    last = max((scalar.mark.line for scalar, _ in _scalars(node)), default=first)
    return any(problem.path == node.mark.path and first <= problem.line <= last for problem in problems.found)


def check_source(body: Node | None, names: set[str], problems: Problems) -> None:
    """Check that a source uses none of *names*, the suite's placeholders, that is not in the template's params."""
    source = source_node(body)
    if not isinstance(body, MappingNode) or source is None:
        return
    params = body.find_child("template").find_child("params")
    passed = set(map(str, params)) if isinstance(params, MappingNode) else set()
    lacking = names - passed - {"size"}
    for scalar, _ in _scalars(source):
        for name, offset, _ in placeholders_in(scalar):
            if name in lacking:
                written = "{{" + name + "}}"
                remedy = (
                    f'the engine fills placeholders of a source from params; expected params: {{{name}: "{written}"}}'
                )
                problems.note_inside(
                    scalar, offset, f"found {written}, which the template's params do not have; {remedy}"
                )


def source_node(body: Node | None) -> Node | None:
    """The source of the search template in *body*, None if there is none, or the template is stored in the engine."""
    template = body.find_child("template") if isinstance(body, MappingNode) else None
    source: Node | None = template.find_child("source") if isinstance(template, MappingNode) else None
    return source


def body_node(request: Node) -> Node | None:
    """The body of _search in a request, which may be the request itself."""
    if isinstance(request, MappingNode) and request.keys() & set(BESIDE_A_BODY):
        body: Node | None = request.find_child("body")
        return body
    return request


def _scalars(node: Node, *, but: Node | None = None) -> Iterator[tuple[ScalarNode, bool]]:
    """All scalars below *node* except those of the node *but*, and whether each is a key."""
    if node is but:
        return
    if isinstance(node, ScalarNode):
        yield node, False
    elif isinstance(node, MappingNode):
        for key, value in node.items():
            yield key, True
            yield from _scalars(value, but=but)
    else:
        for item in node:
            yield from _scalars(item, but=but)


def _unknown(name: str, params: set[str]) -> str | None:
    if name in RESERVED or name in params:
        return None
    known = [*RESERVED, *sorted(params)]
    written = "{{" + name + "}}"
    expected = ", ".join("{{" + other + "}}" for other in known)
    if not is_name(name):
        return f"found {written}, expected a placeholder such as {expected}"
    guess = did_you_mean(name, known)
    return f"unknown placeholder {written}, expected {expected}, or the name of a param of the queries{guess}"


def _check_values(name: str, queries: Sequence[Query], problems: Problems, *, inside: bool) -> None:
    """Check that each query has a value for the placeholder that can be inserted there."""
    for query in queries:
        sentence = _gap(name, query.text, query.params, inside=inside)
        if sentence:
            problems.note(query.mark, f"query {query.id!r} {sentence}", "no text" if name == "text" else "")


def _gap(name: str, text: str, params: Mapping[str, Json], *, inside: bool) -> str | None:
    if name == "depth":
        return None
    if name == "text":
        return None if text else "has no text, but the request uses {{text}}"
    if name not in params:
        return f"has no param {name!r}, which the request uses"
    if not inside:
        return None
    try:
        as_text(params[name], name)
    except UsageError as error:
        return f"cannot fill the request: {error}"
    return None


def _check_params(queries: Sequence[Query], used: set[str], problems: Problems) -> None:
    """Check that no param has a reserved name, or one that no request uses, which is noted once."""
    reported: set[str] = set()
    for query in queries:
        for name in query.params:
            if name in RESERVED:
                problems.note(query.mark, f"query {query.id!r} has a param {name!r}, which is a reserved name")
            elif name not in used and name not in reported:
                reported.add(name)
                guess = did_you_mean(name, used - set(RESERVED))
                problems.note(query.mark, f"query {query.id!r} has a param {name!r}, which no request uses{guess}")
