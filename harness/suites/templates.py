"""
The requests of a suite: templates for an engine, its search templates, or HTTP; their placeholders, and the hits they
ask for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.errors import UsageError
from harness.model import HttpRequest, Json, RequestTemplate, SearchRequest
from harness.suites.reading import Reading
from harness.suites.scalars import BESIDE_A_BODY, masked_variables, read_masked
from harness.suites.shape import HttpShape, RequestShape
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, Written, describe, resolve

# ``{{text}}`` and the other placeholders of a request, filled structurally.
#
# A string that is one placeholder becomes the value itself, with its type: a list stays a list. Inside a longer
# string, and in a key, the value is put in as text. What was put in is never looked at again, so a query's text may
# hold quotes, braces, `{{` or `$`.


RESERVED = ("text", "depth")
"""Placeholders that every query fills: its text, and the number of hits asked for."""

_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_name(text: str) -> bool:
    """Whether a placeholder can have this name."""
    return _NAME.fullmatch(text) is not None


def placeholders_in(text: str) -> Iterator[tuple[str, int, bool]]:
    """Each placeholder in *text*: what stands between its braces, where, and whether it is put in as text."""
    matches = list(_PLACEHOLDER.finditer(text))
    for match in matches:
        yield match[1].strip(), match.start(), len(matches) > 1 or match.group() != text


def fill(template: Json, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> Json:
    """
    *template* with its placeholders filled.

    Args:
        template: A JSON value.
        values: By the placeholder's name; must hold each that occurs.
        encode: What is done to a value that is put into a longer string.

    Raises:
        UsageError: A list or an object would have to be put into a string, or two keys become the same.

    >>> fill({"terms": {"brand": "{{brands}}"}, "name": "for {{text}}"}, {"brands": ["a", "b"], "text": '"x" {{y}}'})
    {'terms': {'brand': ['a', 'b']}, 'name': 'for "x" {{y}}'}
    """
    if isinstance(template, Mapping):
        return _fill_mapping(template, values, encode)
    if isinstance(template, list):
        return [fill(item, values, encode=encode) for item in template]
    if not isinstance(template, str):
        return template
    whole = _PLACEHOLDER.fullmatch(template)
    if whole and is_name(whole[1].strip()):
        return values[whole[1].strip()]
    return fill_text(template, values, encode=encode)


def fill_text(template: str, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> str:
    """*template* with each placeholder put in as text, even where it is all there is."""
    return _PLACEHOLDER.sub(lambda match: encode(as_text(values[match[1].strip()], match[1].strip())), template)


def as_text(value: Json, name: str) -> str:
    """A value as it stands inside a longer string."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (list, Mapping)):
        kind = "nothing" if value is None else "a list" if isinstance(value, list) else "a mapping"
        raise UsageError(f"{{{{{name}}}}} is {kind}, which cannot stand inside a text")
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


# Search templates in a suite: bodies that the engine fills in, from `params` alone.
#
# The braces of a template's `source` are the engine's, so they are left alone; the suite's own placeholders are
# filled in `params`, as values, and the engine writes them into the source as JSON. So no text of a query can break
# the source.


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


# Which hits a body asks for: a ranking begins at its first hit, and is as deep as what the suite looks at.
#
# And how deep the same search may be asked to go beyond that.


BEGINS_LATER = "a ranking begins at its first hit; leave `{key}` out, which turns to a later page"
"""Said of a body that skips hits: they would be scored as if the best had never been there."""

SKIPPING = ("from", "search_after")
"""Keys of a body that skip hits."""

COSTLY = frozenset(
    {
        "_source", "aggregations", "aggs", "docvalue_fields", "explain", "fields", "highlight", "profile",
        "script_fields", "suggest", "track_total_hits",
    }
)  # fmt: skip
"""Keys of a body that rank nothing; a deeper search, which is for ids alone, and counts as usual, leaves them out."""

RESULT_WINDOW = 10_000
"""The deepest hit that engines give unless an index says otherwise (`index.max_result_window`)."""

RESCORED = 10
"""Hits of a shard that a rescorer looks at where it does not say (`window_size`)."""

BY_SIZE = frozenset({"retriever", "rank", "sub_searches", "search_pipeline", "ext", "hybrid", "semantic"})
"""What ranks by the number of hits that are asked for: it fuses, normalises or reranks as many."""

OF_NEAREST = frozenset({"knn", "neural", *BY_SIZE})
"""What ends a list before all that matches is in it."""


def skips_hits(key: str, value: Json) -> bool:
    """Whether *value* under *key*, one of `SKIPPING`, leaves out the first hits; what turns to no page does not."""
    return value is not None and (key == "search_after" or isinstance(value, bool) or value != 0)


def window_problem(template: Json, body: Json, depth: int) -> str | None:
    """
    What keeps the answer to *body* from being the best *depth* hits.

    Args:
        template: The body before it was filled: a size that stands there as a number was held to the suite already.
        body: As it is sent.
        depth: How many hits the suite asks for.
    """
    if not isinstance(template, Mapping) or not isinstance(body, Mapping):
        return None
    for key in SKIPPING:
        if skips_hits(key, body.get(key)):
            return BEGINS_LATER.format(key=key)
    size = body.get("size")
    if not isinstance(template.get("size"), str):
        return None
    if isinstance(size, bool) or not isinstance(size, int):
        return f"the size becomes {size!r}, expected a whole number"
    if size < depth:
        return f"the size becomes {size}, and the suite looks at {depth} hits: write {{{{depth}}}}, or set 'depth'"
    return None


def deepest_size(body: Json) -> int:
    """
    The most hits that *body* may be asked for, so that the first of them are those of a smaller size.

    Hits below a rescorer's window keep their first score, and are sorted in with it; `knn` without a `k` takes the
    size for it. 0 where any other size may rank otherwise.
    """
    sizes = [RESULT_WINDOW]
    for key, value in _members(body):
        if key in BY_SIZE:
            return 0
        if key == "knn":
            sizes += [_nearest(clause) for clause in (value if isinstance(value, list) else [value])]
        elif key == "rescore":
            sizes += [_window(clause) for clause in (value if isinstance(value, list) else [value])]
    return min(sizes)


def shows_all(body: Json) -> bool:
    """Whether an answer to *body* that is as long as its total holds all that match."""
    return not any(key in OF_NEAREST for key, _ in _members(body))


def deeper(request: SearchRequest, size: int) -> SearchRequest:
    """The same search for *size* hits, and for nothing but ids."""
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


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    """Each key anywhere in *value*, with what stands under it."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key, member
            yield from _members(member)
    elif isinstance(value, list) and not isinstance(next(iter(value), 0), float):  # vectors are long
        for item in value:
            yield from _members(item)


def _nearest(clause: Json) -> int:
    """The `k` of a `knn`, which in OpenSearch stands under the name of the field; 0 where there is none."""
    if not isinstance(clause, Mapping):
        return 0
    inner = [member for member in clause.values() if isinstance(member, Mapping)]
    return next((k for one in (clause, *inner) if (k := _whole(one.get("k")))), 0)


def _window(clause: Json) -> int:
    return _whole(clause.get("window_size", RESCORED)) if isinstance(clause, Mapping) else 0


def _whole(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


# The requests of a suite: templates for an engine, its search templates, or HTTP; their placeholders, and the hits
# they ask for.


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
    if not any(masked_variables(node)):
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
