"""The requests of a suite, for an engine or over HTTP: read from the file, and filled for each query."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from harness.errors import SuiteError, UsageError
from harness.model.request import SearchRequest
from harness.model.suite import (
    DocumentsRequest,
    HttpRequest,
    Json,
    Query,
    RequestTemplate,
    Suite,
    Threshold,
    find_placeholders,
)
from harness.search.esql import ESQL, is_esql
from harness.search.pointers import parse_pointer
from harness.search.presets import Preset, explain_offset, find_offset_problem, find_offsets, list_offsets
from harness.suites.depth import check_window, find_window_problem
from harness.suites.esql import check_body as check_esql_body
from harness.suites.esql import complete_body, explain_own_index, find_index, finish_body
from harness.suites.placeholders import body_node, documents_node, fill, fill_body, fill_text, format_value, source_node
from harness.suites.presets import FilledPreset
from harness.suites.reading import Reading
from harness.suites.request_files import SELECTING_KEYS
from harness.suites.scalars import BESIDE_A_BODY, DEFAULT_NAME, format_optional, iterate_masked_variables, read_masked
from harness.suites.shape import DocumentsShape, HttpShape, RequestShape
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode, describe, find_child

BODY_KEYS = SELECTING_KEYS | {
    "_source", "aggregations", "aggs", "collapse", "derived", "docvalue_fields", "explain", "ext", "fields", "from",
    "highlight", "indices_boost", "min_score", "pit", "post_filter", "profile", "rank", "rescore", "runtime_mappings",
    "script_fields", "search_after", "search_pipeline", "size", "slice", "sort", "stats", "stored_fields", "suggest",
    "terminate_after", "timeout", "track_scores", "track_total_hits", "version",
}  # fmt: skip
"""Keys of a body of _search."""


def read_templates(reading: Reading) -> dict[str, RequestTemplate]:
    """The templates by name, the default first."""
    shape, problems = reading.shape, reading.problems
    if shape.request is not None and shape.requests is not None:
        problems.note(reading.find_mark("requests"), "found both 'request' and 'requests', expected one of them")
    entries: dict[str, Any] = {}
    if shape.requests is not None:
        if not shape.requests:
            problems.note(reading.find_mark("requests"), "found no requests, expected at least one")
        entries = {str(name): entry for name, entry in shape.requests.items()}
    elif shape.request is not None:
        entries = {DEFAULT_NAME: shape.request}
    elif not reading.broken & {"request", "requests"}:
        message = "the suite has no 'request'; expected the body of _search, or 'requests' by name"
        problems.note(reading.root.mark, message)
    nodes = list_request_nodes(reading)
    templates = {}
    for name, entry in entries.items():
        template = _read_template(name, entry, nodes[name], reading.presets.get(name), problems)
        has_own_index = isinstance(entry, RequestShape) and entry.index is not None
        if shape.fixture is not None and is_esql(template.body) and not has_own_index:
            # What the text names stands for the index of the fixture, whose name is another one in each run.
            template = replace(template, index=None)
        templates[name] = _add_masked(template, nodes[name]) if reading.used else template
    return templates


def list_request_nodes(reading: Reading) -> dict[str, Node]:
    """The requests by name, as nodes of the file."""
    nodes: dict[str, Node] = {}
    if reading.shape.request is not None:
        nodes[DEFAULT_NAME] = reading.root.find_child("request")
    if reading.shape.requests is not None:
        nodes |= {str(name): node for name, node in reading.root.find_child("requests").items()}
    return nodes


def _read_template(
    name: str, entry: Any, node: Node, preset: FilledPreset | None, problems: Problems
) -> RequestTemplate:
    if not isinstance(entry, RequestShape):
        if name == DEFAULT_NAME:
            _refuse_several(node, problems)
        _refuse_gate(node, problems)
        _check_body(node, problems)
        return RequestTemplate(name, complete_body(entry), find_index(entry), mark=node.mark)
    if (entry.body is None) == (entry.http is None):
        found = "neither 'body', 'file' nor 'http'" if entry.body is None else "both 'body' and 'http'"
        expected = "expected one of them: {index: NAME, body: …}, {index: NAME, file: …} or {http: …}"
        problems.note(node.mark, f"found {found}, {expected}")
    if entry.http is not None:
        if entry.index is not None:
            problems.note(entry.index.mark, "an HTTP service has no index; use the path or the params")
        if entry.routing is not None or entry.url_params:
            message = "'routing' and 'url_params' need an engine, but the request goes over HTTP; use params"
            problems.note(node.mark, message)
        http_node = find_child(node, "http")
        _check_service_request(entry.http, http_node, problems)
        http = _read_http(entry.http, problems)
        if preset is not None:
            http = replace(http, preset_paths=preset.paths)
            _check_preset_parameters(entry.http, preset.preset, problems)
            _check_preset_body(http, preset.preset, http_node, problems)
        _check_offsets(http, preset, http_node, problems)
        _check_size(http, entry.http, preset, http_node, problems)
        if entry.http.documents is not None:
            documents = _read_documents(entry.http.documents, http, documents_node(node), problems)
            http = replace(http, documents=documents)
        return RequestTemplate(name, entry.http.json_body, http=http, mark=node.mark, gates=entry.gate)
    return _read_engine_template(name, entry, node, problems)


def _read_engine_template(name: str, entry: RequestShape, node: Node, problems: Problems) -> RequestTemplate:
    """The template of a body with keys beside it."""
    if isinstance(node, MappingNode):
        _check_body(node.find_child("body"), problems)
    template = RequestTemplate(
        name,
        complete_body(entry.body or {}),
        format_optional(entry.index) or find_index(entry.body),
        mark=node.mark,
        url_params=_read_url_params(entry, problems),
        gates=entry.gate,
    )
    if is_esql(template.body):
        _check_beside_esql(template, entry, problems)
    return template


def _check_beside_esql(template: RequestTemplate, entry: RequestShape, problems: Problems) -> None:
    """Note what stands beside ES|QL and says nothing to it."""
    if template.url_params:
        message = "'routing' and 'url_params' are parameters of _search, and ES|QL has none of them; remove them"
        problems.note(template.mark, message)
    sentence = "" if entry.index is None else explain_own_index(template, str(entry.index))
    if sentence:
        problems.note(entry.index.mark, sentence)


def check_gates(templates: Collection[RequestTemplate], thresholds: Collection[Threshold], reading: Reading) -> None:
    """Check that some request is gated, if there is a threshold."""
    if templates and thresholds and not any(template.gates for template in templates):
        key = "request" if reading.shape.requests is None else "requests"
        message = "each request has 'gate: false', so that no threshold is decided; remove it from one"
        reading.problems.note(reading.find_mark(key), message)


def _refuse_gate(body: Node, problems: Problems) -> None:
    """Refuse ``gate: false`` among the keys of a body, which would be sent to the engine."""
    # A key of a body has an object or a list, if an engine has such a key at all.
    if isinstance(body, MappingNode) and isinstance(body.find_child("gate"), ScalarNode):
        message = "found 'gate' among the keys of a body; expected it beside the key 'body': {gate: false, body: …}"
        problems.note(body.find_key("gate").mark, message)


ANSWER_PARAMETERS = frozenset(
    {
        "error_trace", "filter_path", "format", "human", "pretty", "rest_total_hits_as_int", "scroll", "source",
        "source_content_type", "typed_keys",
    }
)  # fmt: skip
"""Parameters that change the form of an answer, which the harness reads."""

URL_QUERY_PARAMETERS = frozenset({"analyze_wildcard", "analyzer", "default_operator", "df", "lenient", "q"})
"""Parameters of a query in the URL, in place of that in the body."""


def _read_url_params(shape: RequestShape, problems: Problems) -> dict[str, Json]:
    """The parameters of the URL, with the routing, and checked."""
    parameters: dict[str, Json] = {}
    for key, value in shape.url_params.items():
        reason = _explain_refusal(str(key), value)
        if reason:
            problems.note(key.mark, reason)
        parameters[str(key)] = value
    if shape.routing is not None:
        if "routing" in parameters:
            problems.note(shape.routing.mark, "found 'routing' here and in 'url_params', expected one of them")
        parameters["routing"] = str(shape.routing)
    return parameters


def _explain_refusal(name: str, value: Json) -> str:
    """Why *name* cannot be a parameter with *value*; empty where it can."""
    if name == "index":
        return "found 'index' in 'url_params', expected it beside them: {index: NAME, url_params: …}"
    if name == "allow_partial_search_results":
        return f"{name!r} is the harness's own: it sends false, so that a failed shard is an error"
    if name in ANSWER_PARAMETERS:
        return f"{name!r} changes the form of the answer, which the harness reads; remove it"
    if name in URL_QUERY_PARAMETERS:
        return f"{name!r} belongs to a query in the URL; write query_string in the body"
    if name in BODY_KEYS - {"search_pipeline"} or name.startswith(("_source", "suggest_")):
        return f"{name!r} is a part of the body of _search; write it there"
    items = value if isinstance(value, list) else [value]
    if not items or any(item is None or isinstance(item, (list, Mapping)) for item in items):
        return f"the parameter {name!r} should be a text, a number, true, false, or a list of these"
    return ""


def _add_masked(template: RequestTemplate, node: Node) -> RequestTemplate:
    """*template* of *node*, with its masked form if it has values from the environment."""
    if not any(iterate_masked_variables(node)):
        return template
    body = body_node(node)
    nodes = {"body": body}
    if body is not node and isinstance(node, MappingNode):
        for name in ("index", "http", "url_params", "routing"):
            nodes[name] = node.find_child(name)
        target = node.find_child("target")
        if nodes["index"] is None and isinstance(target, MappingNode):
            nodes["index"] = target.find_child("index")
    masked = {name: read_masked(child) for name, child in nodes.items() if child is not None}
    # The routing is a parameter of the URL: it has a key of its own because it is used most.
    if "routing" in masked:
        masked["url_params"] = {**masked.get("url_params", {}), "routing": masked.pop("routing")}
    return replace(template, masked=masked)


def _check_body(body: Node | None, problems: Problems) -> None:
    """Check the literal parts of a body, or of the source of a search template."""
    if isinstance(body, MappingNode) and ESQL in body:
        check_esql_body(body, problems)
        return
    check_window(body, problems)
    if isinstance(body, MappingNode) and "template" in body:
        _check_search_template(body, problems)
        check_window(source_node(body), problems)


_EXPECTED_TEMPLATE = "expected a search template: {id: NAME, params: …} or {source: …, params: …}"


def _check_search_template(body: MappingNode, problems: Problems) -> None:
    """Check *body*, which is a search template."""
    for key in body:
        if key not in ("template", "size"):
            message = f"found {str(key)!r} beside 'template'; a search template may have only size beside it"
            problems.note(key.mark, message)
    template = body.find_child("template")
    if not isinstance(template, MappingNode):
        problems.note(template.mark, f"found {describe(template)}, {_EXPECTED_TEMPLATE}")
        return
    if ("id" in template) == ("source" in template):
        found = "both 'id' and 'source'" if "id" in template else "neither 'id' nor 'source'"
        problems.note(template.mark, f"found {found}, {_EXPECTED_TEMPLATE}")
    params = template.find_child("params")
    if params is not None and not isinstance(params, MappingNode):
        problems.note(params.mark, f"found {describe(params)}, expected params as a mapping")


def _refuse_several(node: Node, problems: Problems) -> None:
    """Refuse bodies by name under `request`: each has keys of a body, and no name is one."""
    if not isinstance(node, MappingNode) or not node or node.keys() & BODY_KEYS:
        return
    request_keys = {*SELECTING_KEYS, *BESIDE_A_BODY}
    for body in node.values():
        if not isinstance(body, MappingNode) or not body.keys() & request_keys:
            return
    names = ", ".join(node)
    problems.note(node.mark, f"found requests by name ({names}) in place of a body; expected the key 'requests'")


def _read_http(shape: HttpShape, problems: Problems) -> HttpRequest:
    sort = shape.sort if isinstance(shape.sort, list) else [shape.sort]
    hit_paths = [shape.ids, shape.scores, shape.titles, *sort, *shape.fields.values()]
    answer_paths = [shape.total, shape.total_exact, shape.took, shape.partial, shape.error]
    _check_paths(shape.hits, hit_paths, answer_paths, problems)
    first_page = None
    if shape.first_page is not None:
        first_page = {str(name): value for name, value in shape.first_page.items()}
    return HttpRequest(
        method=shape.method,
        path=str(shape.path),
        ids=str(shape.ids),
        params={str(name): value for name, value in shape.params.items()},
        headers={str(name): str(value) for name, value in shape.headers.items()},
        json=shape.json_body,
        hits=format_optional(shape.hits),
        scores=format_optional(shape.scores),
        titles=format_optional(shape.titles),
        sort=tuple(map(str, sort)),
        fields={str(name): str(path) for name, path in shape.fields.items()},
        total=format_optional(shape.total),
        total_exact=format_optional(shape.total_exact),
        took=format_optional(shape.took),
        partial=format_optional(shape.partial),
        error=format_optional(shape.error),
        ids_optional=shape.ids_optional,
        partial_optional=shape.partial_optional,
        size=format_optional(shape.size),
        max_size=shape.max_size,
        first_page=first_page,
    )


def _read_documents(
    shape: DocumentsShape, search: HttpRequest, node: Node | None, problems: Problems
) -> DocumentsRequest:
    """The request by ids beside *search*, of which it has the paths for the response that it does not give itself."""
    from harness.search.service_documents import find_documents_problem

    _check_paths(shape.hits, [shape.ids, shape.titles, *shape.fields.values()], [shape.total], problems)
    _check_service_request(shape, node, problems)
    path, each = search.path, "{{id}}"
    if shape.path is not None:
        path = str(shape.path)
    if shape.each is not None:
        each = str(shape.each)
    # Documents that are looked up have no order.
    http = replace(
        search,
        method=shape.method,
        path=path,
        params={str(name): value for name, value in shape.params.items()},
        headers={str(name): str(value) for name, value in shape.headers.items()},
        json=shape.json_body,
        hits=format_optional(shape.hits) or search.hits,
        ids=format_optional(shape.ids) or search.ids,
        scores=None,
        sort=(),
        titles=format_optional(shape.titles) or search.titles,
        total=format_optional(shape.total) or search.total,
        fields={**search.fields, **{str(name): str(path) for name, path in shape.fields.items()}},
        size=None,
        # What the search says of itself need not be in the answer to a look-up, whose hits are no ranking.
        partial_optional=True,
        unique_ids=True,
        first_page=None,
    )
    documents = DocumentsRequest(
        http,
        join=format_optional(shape.join),
        each=each,
        escape={str(text): str(written) for text, written in shape.escape.items()},
        unwritable=tuple(map(str, shape.unwritable)),
        batch=shape.batch,
        filter={str(name): value for name, value in shape.filter.items()},
    )
    sentence = find_documents_problem(documents)
    if sentence and node is not None:
        problems.note(node.mark, f"in 'documents': {sentence}")
    return documents


def _check_service_request(shape: HttpShape | DocumentsShape, node: Node | None, problems: Problems) -> None:
    """Note what no service may be sent in the request at *node*; values of queries are checked when filled in."""
    from harness.search.service_requests import find_header_problem, find_parameter_problem, find_path_problem

    sentence = "" if shape.path is None else find_path_problem(shape.path)
    if sentence:
        problems.note(shape.path.mark, sentence)
    for name, value in shape.headers.items():
        sentence = find_header_problem(name, value)
        if sentence:
            problems.note(name.mark, sentence)
    names = list(shape.params)
    if isinstance(shape, DocumentsShape):
        names += shape.filter
    # The shape has the body as plain JSON, whose keys have no places.
    body = find_child(node, "json")
    if isinstance(body, MappingNode):
        names += body
    for name in names:
        sentence = find_parameter_problem(name)
        if sentence:
            problems.note(name.mark, sentence)


def _check_preset_parameters(shape: HttpShape, preset: Preset, problems: Problems) -> None:
    """Note parameters that an engine of *preset* must not be sent; a value with placeholders is checked when it is."""
    for name, value in shape.params.items():
        if not find_placeholders(value):
            sentence = preset.find_parameter_problem(name, value)
            if sentence:
                problems.note(name.mark, sentence)


def _check_preset_body(http: HttpRequest, preset: Preset, node: Node | None, problems: Problems) -> None:
    """Note what an engine of *preset* must not be sent in a body; values with placeholders are checked when filled."""
    macros = {name: value for name, value in http.params.items() if name == "expandMacros"}
    sentence = preset.find_problem(replace(http, path="", params=macros, json=_leave_out_placeholders(http.json)))
    body = find_child(node, "json")
    if sentence and body is not None:
        problems.note(body.mark, sentence)


def _leave_out_placeholders(value: Json) -> Json:
    """*value* without the texts in it that have placeholders."""
    if isinstance(value, dict):
        return {name: _leave_out_placeholders(item) for name, item in value.items() if not _is_to_fill(item)}
    if isinstance(value, list):
        return [_leave_out_placeholders(item) for item in value if not _is_to_fill(item)]
    return value


def _is_to_fill(value: Json) -> bool:
    return isinstance(value, str) and bool(find_placeholders(value))


def _check_offsets(http: HttpRequest, filled: FilledPreset | None, node: Node | None, problems: Problems) -> None:
    """Note what makes a service skip hits; a value with placeholders is checked when it is filled."""
    wrong = [place for place, value in (http.first_page or {}).items() if not _is_first_value(value)]
    for place in wrong:
        message = f"expected the value of {place!r} at the first page: a whole number or a text"
        problems.note(_find_first_page(node).mark, message)
    if wrong:
        return
    preset = None if filled is None else filled.preset
    for place in find_offsets(http, preset):
        written = _find_written(node, place)
        if not isinstance(written, ScalarNode) or not written.unset:
            problems.note(written.mark, explain_offset(place, list_offsets(http, preset)))


def _is_first_value(value: Json) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _find_first_page(http: Node | None) -> Node:
    """What the suite has under `first_page` of *http*."""
    assert isinstance(http, MappingNode)
    found: Node = http.find_child("first_page")
    return found


def _find_written(http: Node | None, place: str) -> Node:
    """What the suite has in *http* at *place*, a parameter or a JSON pointer into the body; else the path."""
    assert isinstance(http, MappingNode)
    keys = parse_pointer(place) if place.startswith("/") else [place]
    node: Node | None = http.find_child("json" if place.startswith("/") else "params")
    for key in keys:
        node = node[int(key)] if isinstance(node, ListNode) else find_child(node, key)
    return http.find_child("path") if node is None else node


def _check_size(
    http: HttpRequest, shape: HttpShape, preset: FilledPreset | None, node: Node | None, problems: Problems
) -> None:
    """Note a place of the number of hits that is none, and a limit without a place."""
    from harness.search.service_sizes import find_size_problem, is_pointer

    if shape.size is None:
        if shape.max_size is not None:
            problems.note(shape.path.mark, "'max_size' needs 'size', which says where the number of hits stands")
        return
    sentence = find_size_problem(http)
    written: Node = shape.size
    if preset is not None and preset.gives_size and isinstance(node, MappingNode):
        # The suite has no such place, but the body or the path in which its preset looks for it.
        written = node.find_child("json" if is_pointer(shape.size) else "path")
        if sentence:
            sentence = f"{preset.preset.title} takes the number of hits at {str(shape.size)!r}: {sentence}"
    if sentence and not (isinstance(written, ScalarNode) and written.unset):
        problems.note(written.mark, sentence)


def _check_paths(
    hits: ScalarNode | None,
    hit_paths: Sequence[ScalarNode | None],
    answer_paths: Sequence[ScalarNode | None],
    problems: Problems,
) -> None:
    """Note what is no JSONPath, and *hit_paths* that begin in the answer although *hits* is given."""
    for path in (hits, *answer_paths, *hit_paths):
        if path is not None and not path.unset:
            _check_path(path, problems)
    if hits is None or hits.unset:
        return
    for path in hit_paths:
        if path is not None and not path.unset:
            _check_path_in_hit(path, hits, problems)


def _check_path(expression: ScalarNode, problems: Problems) -> None:
    from harness.search.jsonpaths import find_path_problem

    sentence = find_path_problem(expression)
    if sentence:
        message = f"found {expression.raw!r}, expected a JSONPath such as $.hits[*].id: {sentence}"
        problems.note(expression.mark, message)


def _check_path_in_hit(path: ScalarNode, hits: ScalarNode, problems: Problems) -> None:
    """Note a *path* that begins in the answer, as the path of the *hits* does, and not in a hit."""
    # A path to a list selects its elements, so that it may end with [*] or not.
    list_path = hits.removesuffix("[*]")
    rest = path[len(list_path) :]
    if list_path == "$" and not rest.startswith("[*]"):
        return
    if not path.startswith(list_path) or not rest.startswith(("[", ".")):
        return
    in_hit = "$" + rest.removeprefix("[*]")
    message = f"found {path.raw!r}, expected a path in a hit such as {in_hit!r}: with `hits`, `$` is the hit"
    problems.note(path.mark, message)


def build_requests(suite: Suite, request: str | None) -> tuple[SearchRequest, ...]:
    """
    Fill a request with every query of the suite.

    Args:
        suite: Loaded with an environment.
        request: The name of one of its requests; None is the first.

    Returns:
        One request per query, in the suite's order. A body without a `size` of its own gets the suite's depth.

    Raises:
        SuiteError: A query's value makes a request that cannot be sent, such as one with the same key twice.
    """
    template = choose_template(suite, request)
    return tuple(build_request(suite, template, query) for query in suite.queries)


def choose_template(suite: Suite, request: str | None) -> RequestTemplate:
    """The template of the name *request*, which the suite has; the first where it is None."""
    return suite.requests[next(iter(suite.requests)) if request is None else request]


def move_to_index(suite: Suite, index: str | None) -> Suite:
    """*suite* with every request sent to *index*, including those with their own index."""
    requests = {name: replace(template, index=None) for name, template in suite.requests.items()}
    return replace(suite, target=replace(suite.target, index=index), requests=requests)


def build_request(suite: Suite, template: RequestTemplate, query: Query, size: int | None = None) -> SearchRequest:
    """
    As `build_requests`, for one *query*; *size* instead of the suite's depth in a body without a `size` of its own.

    Raises:
        SuiteError: A value of it makes a request that cannot be sent.
    """
    values = {**query.params, "text": query.text, "depth": suite.depth}
    try:
        if template.http is not None:
            http = _fill_http(template.http, values, suite.depth if size is None else size)
            unique_ids = suite.find_target(template.name).unique_ids
            http = replace(http, unique_ids=unique_ids)
            return SearchRequest(query.id, None, http.json, http, unique_ids=unique_ids, built_for=query)
        body = _fill_body(template.body, values, suite.depth)
        url_params = _fill_url_params(template.url_params, values)
        index = template.index or suite.target.index
        if is_esql(body):
            body = finish_body(body, index)
    except UsageError as error:
        mark = template.mark
        sentence = f"the request {template.name!r} cannot be filled for query {query.id!r}: {error}"
        raise SuiteError.at(mark.path or suite.path, mark.line, mark.column, sentence) from None
    return SearchRequest(
        query.id,
        index,
        {"size": suite.depth if size is None else size, **body},
        unique_ids=suite.target.unique_ids,
        id_field=suite.target.id_field,
        url_params=url_params,
        built_for=query,
    )


def _fill_body(template: Json, values: Mapping[str, Json], depth: int) -> Json:
    body = fill_body(template, values)
    sentence = find_window_problem(template, body, depth)
    if sentence:
        raise UsageError(sentence)
    return body


def _fill_url_params(url_params: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, str]:
    """Each parameter as text; a list has commas between its values."""
    filled: dict[str, str] = {}
    for name, value in fill(url_params, values).items():
        items = value if isinstance(value, list) else [value]
        filled[name] = ",".join(format_value(item, name) for item in items)
    return filled


def _fill_http(http: HttpRequest, values: Mapping[str, Json], size: int) -> HttpRequest:
    """
    Fill path, params, headers and body, and *size* where the number of hits stands, unless the suite has written one.

    A value in the path is one encoded segment, in a header one line.
    """
    from harness.search.service_requests import find_problem
    from harness.search.service_sizes import has_own_size, read_size, write_size

    headers = {name: fill_text(value, values) for name, value in http.headers.items()}
    for name, value in headers.items():
        if not value.isprintable():
            raise UsageError(f"the header {name} would hold a line break or a control character")
    filled = replace(
        http,
        path=fill_text(http.path, values, encode=partial(quote, safe="")),
        params=fill(http.params, values),
        headers=headers,
        json=fill(http.json, values),
    )
    if not has_own_size(filled):
        filled = write_size(filled, size)
    own_size = read_size(filled)
    depth = values["depth"]
    if own_size is not None and own_size < depth:
        raise UsageError(f"{filled.size!r} becomes {own_size}, but the suite needs {depth} hits: write {{{{depth}}}}")
    sentence = find_problem(filled) or find_offset_problem(filled)
    if sentence:
        raise UsageError(sentence)
    return filled
