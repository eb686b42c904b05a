"""The requests of a suite, for an engine or over HTTP: read from the file, and filled for each query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from harness.config import CONFIG_NAME, Configs, engine_problem, lacks_scheme, url_problem
from harness.errors import ConfigError, SuiteError, UsageError
from harness.masking import names_login
from harness.model import (
    HttpRequest,
    Json,
    LatencyCondition,
    Query,
    RequestTemplate,
    SearchRequest,
    Suite,
    Target,
    Threshold,
)
from harness.suites.depth import check_window, find_window_problem
from harness.suites.placeholders import body_node, fill, fill_body, fill_text, format_value, source_node
from harness.suites.reading import Reading
from harness.suites.scalars import BESIDE_A_BODY, masked_variables, read_masked
from harness.suites.shape import HttpShape, RequestShape
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode, describe


def read_target(reading: Reading, templates: Collection[RequestTemplate]) -> Target:
    """The target, with cluster and engine checked as far as possible without a server."""
    shape = reading.shape.target
    service = _service(reading, templates)
    if shape is None:
        return Target(mark=reading.root.mark, service=service)
    if isinstance(shape.cluster, ScalarNode) and not shape.cluster.unset:
        sentence = url_problem(shape.cluster) if _is_address(shape.cluster) else None
        if sentence:
            reading.problems.note_without_excerpt(shape.cluster.mark, sentence)
    if isinstance(shape.engine, ScalarNode) and not shape.engine.unset:
        sentence = engine_problem(shape.engine)
        if sentence:
            reading.problems.note(shape.engine.mark, sentence)
    return Target(
        cluster="default" if shape.cluster is None else str(shape.cluster),
        index=None if shape.index is None else str(shape.index),
        engine=None if shape.engine is None else str(shape.engine),
        mark=reading.find_mark("target"),
        service=service,
        unique_ids=shape.ids == "unique",
        point_in_time=shape.point_in_time,
        id_field=None if shape.id_field is None else str(shape.id_field),
    )


def check_own_address(reading: Reading, folder: Path, configs: Configs) -> None:
    """
    Note variables that are named like logins if they would be sent to an address that the suite brings along.

    *folder* is that of the suite.
    """
    target = reading.shape.target
    cluster = "default" if target is None or target.cluster is None else target.cluster
    try:
        is_own = configs.is_own_address(cluster, folder)
    except ConfigError as error:
        reading.problems.extend(error.problems)
        return
    for name, scalar, offset in reading.used if is_own else ():
        if names_login(name):
            message = f"{name} is named like a login, and the suite sends it to an address of its own: "
            message += f"define the cluster in the {CONFIG_NAME} that you run with"
            reading.problems.note_inside(scalar, offset, message)


def check_indexes(target: Target, templates: Collection[RequestTemplate], reading: Reading) -> None:
    """Check that every request has an index: its own, the target's, or that of the fixture."""
    if target.index is not None or reading.shape.fixture is not None:
        return
    for template in templates:
        if template.http is None and template.index is None:
            message = f"the request {template.name!r} has no index; expected 'target: {{index: NAME}}'"
            reading.problems.note(target.mark, message)
            return


def check_point_in_time(target: Target, templates: Collection[RequestTemplate], reading: Reading) -> None:
    """Check that every request can be sent to a point in time, if the target has one."""
    if not target.point_in_time:
        return
    for template in templates:
        why = _why_unpinned(template)
        if why:
            reading.problems.note(template.mark, f"'point_in_time' in the target: the request {template.name!r} {why}")


def _why_unpinned(template: RequestTemplate) -> str:
    """Why *template* cannot search a point in time of the run's; empty if it can."""
    if template.http is not None:
        return "goes over HTTP, and only an engine has one"
    if "pit" in template.body:
        return "searches one of its own; remove either"
    if "template" in template.body:
        return "is a search template, which would have to name it; write its body here"
    filled = [name for name in ("preference", "routing") if "{{" in str(template.url_params.get(name, ""))]
    return f"has a {filled[0]!r} for each query, and a point in time has one" if filled else ""


def check_service(thresholds: Iterable[Threshold], reading: Reading) -> None:
    """Check that a suite over HTTP uses nothing that needs an engine."""
    for threshold in thresholds:
        if isinstance(threshold.condition, LatencyCondition):
            message = "latency is the engine's own time, which an HTTP service does not return; remove the threshold"
            reading.problems.note(threshold.mark, message)
    if reading.shape.fixture is not None:
        message = "a fixture needs an engine, but the requests go over HTTP; remove it"
        reading.problems.note(reading.find_mark("fixture"), message)
    target = reading.shape.target
    of_engine = {"ids: unique": target and target.ids == "unique", "id_field": target and target.id_field is not None}
    for key, is_given in of_engine.items():
        if is_given:
            message = f"'{key}' needs an engine, but the requests go over HTTP; remove it"
            reading.problems.note(reading.find_mark("target"), message)


def _service(reading: Reading, templates: Collection[RequestTemplate]) -> str:
    """The kind of service, which must be the same for all requests because a suite has one cluster."""
    over_http = [template for template in templates if template.http is not None]
    if over_http and len(over_http) < len(templates):
        message = (
            f"the request {over_http[0].name!r} goes over HTTP and others to an engine; expected one kind per suite"
        )
        reading.problems.note(over_http[0].mark, message)
    return "http" if over_http else "engine"


def _is_address(cluster: str) -> bool:
    """Whether *cluster* is a URL and not a name: it has a scheme or a port, or an @, which may belong to a login."""
    return "://" in cluster or "@" in cluster or lacks_scheme(cluster)


DEFAULT_NAME = "request"
"""The name of the only request of a suite."""

ASKING = frozenset({"query", "knn", "retriever", "sub_searches", "template"})
"""Keys of a body that select documents."""

PARTS_OF_A_BODY = ASKING | {
    "_source", "aggregations", "aggs", "collapse", "derived", "docvalue_fields", "explain", "ext", "fields", "from",
    "highlight", "indices_boost", "min_score", "pit", "post_filter", "profile", "rank", "rescore", "runtime_mappings",
    "script_fields", "search_after", "search_pipeline", "size", "slice", "sort", "stats", "stored_fields", "suggest",
    "terminate_after", "timeout", "track_scores", "track_total_hits", "version",
}  # fmt: skip
"""Keys of a body of _search."""


def read_templates(reading: Reading) -> dict[str, RequestTemplate]:
    """The templates by name, the default first."""
    nodes = request_nodes(reading)
    return {name: _with_masked(template, nodes[name]) for name, template in _plain_templates(reading).items()}


def _plain_templates(reading: Reading) -> dict[str, RequestTemplate]:
    shape, problems = reading.shape, reading.problems
    if shape.request is not None and shape.requests is not None:
        problems.note(reading.find_mark("requests"), "found both 'request' and 'requests', expected one of them")
    if shape.requests is not None:
        if not shape.requests:
            problems.note(reading.find_mark("requests"), "found no requests, expected at least one")
        return {
            str(name): _template(str(name), entry, reading.root.find_child("requests").find_child(name), problems)
            for name, entry in shape.requests.items()
        }
    if shape.request is not None:
        return {DEFAULT_NAME: _template(DEFAULT_NAME, shape.request, reading.root.find_child("request"), problems)}
    if not reading.broken & {"request", "requests"}:
        problems.note(
            reading.root.mark, "the suite has no 'request'; expected the body of _search, or 'requests' by name"
        )
    return {}


def request_nodes(reading: Reading) -> dict[str, Node]:
    """The requests by name, as nodes of the file."""
    nodes = {DEFAULT_NAME: reading.root.find_child("request")} if reading.shape.request is not None else {}
    several = reading.root.find_child("requests") if reading.shape.requests is not None else {}
    return nodes | {str(name): node for name, node in several.items()}


def _template(name: str, entry: Any, node: Node, problems: Problems) -> RequestTemplate:
    if not isinstance(entry, RequestShape):
        if name == DEFAULT_NAME:
            _refuse_several(node, problems)
        _check_body(node, problems)
        return RequestTemplate(name, entry, mark=node.mark)
    if (entry.body is None) == (entry.http is None):
        found = "neither 'body' nor 'http'" if entry.body is None else "both 'body' and 'http'"
        problems.note(node.mark, f"found {found}, expected one of them: {{index: NAME, body: …}} or {{http: …}}")
    if entry.http is not None:
        if entry.index is not None:
            problems.note(entry.index.mark, "an HTTP service has no index; use the path or the params")
        if entry.routing is not None or entry.url_params:
            problems.note(
                node.mark, "'routing' and 'url_params' need an engine, but the request goes over HTTP; use params"
            )
        _check_service_request(entry.http, node, problems)
        return RequestTemplate(name, entry.http.json_body, http=_http(entry.http, problems), mark=node.mark)
    if isinstance(node, MappingNode):
        _check_body(node.find_child("body"), problems)
    parameters = _url_params(entry, problems)
    return RequestTemplate(name, entry.body or {}, _optional(entry.index), mark=node.mark, url_params=parameters)


OF_THE_ANSWER = frozenset(
    {
        "error_trace", "filter_path", "format", "human", "pretty", "rest_total_hits_as_int", "scroll", "source",
        "source_content_type", "typed_keys",
    }
)  # fmt: skip
"""Parameters that change the form of an answer, which the harness reads."""

OF_A_TEXT = frozenset({"analyze_wildcard", "analyzer", "default_operator", "df", "lenient", "q"})
"""Parameters of a query in the URL, in place of that in the body."""


def _url_params(shape: RequestShape, problems: Problems) -> dict[str, Json]:
    """The parameters of the URL, with the routing, and checked."""
    parameters: dict[str, Json] = {}
    for key, value in shape.url_params.items():
        why = _why_no_parameter(str(key), value)
        if why:
            problems.note(key.mark, why)
        parameters[str(key)] = value
    if shape.routing is not None:
        if "routing" in parameters:
            problems.note(shape.routing.mark, "found 'routing' here and in 'url_params', expected one of them")
        parameters["routing"] = str(shape.routing)
    return parameters


def _why_no_parameter(name: str, value: Json) -> str:
    """Why *name* cannot be a parameter with *value*; empty where it can."""
    if name == "index":
        return "found 'index' in 'url_params', expected it beside them: {index: NAME, url_params: …}"
    if name == "allow_partial_search_results":
        return f"{name!r} is the harness's own: it sends false, so that a failed shard is an error"
    if name in OF_THE_ANSWER:
        return f"{name!r} changes the form of the answer, which the harness reads; remove it"
    if name in OF_A_TEXT:
        return f"{name!r} belongs to a query in the URL; write query_string in the body"
    if name in PARTS_OF_A_BODY - {"search_pipeline"} or name.startswith(("_source", "suggest_")):
        return f"{name!r} is a part of the body of _search; write it there"
    items = value if isinstance(value, list) else [value]
    if not items or any(item is None or isinstance(item, (list, Mapping)) for item in items):
        return f"the parameter {name!r} should be a text, a number, true, false, or a list of these"
    return ""


def _with_masked(template: RequestTemplate, node: Node) -> RequestTemplate:
    """*template* of *node*, with its masked form if it has values from the environment."""
    if not any(masked_variables(node)):
        return template
    parts = {"body": body_node(node)}
    if parts["body"] is not node and isinstance(node, MappingNode):
        parts |= {name: node.find_child(name) for name in ("index", "http", "url_params", "routing")}
    masked = {name: read_masked(part) for name, part in parts.items() if part is not None}
    if "routing" in masked:
        masked["url_params"] = {**masked.get("url_params", {}), "routing": masked.pop("routing")}
    return replace(template, masked=masked)


def _check_body(body: Node | None, problems: Problems) -> None:
    """Check the literal parts of a body, or of the source of a search template."""
    check_search_template(body, problems)
    check_window(body, problems)
    check_window(source_node(body), problems)


_BESIDE = ("template", "size")
_EXPECTED = "expected a search template: {id: NAME, params: …} or {source: …, params: …}"


def check_search_template(body: Node | None, problems: Problems) -> None:
    """Check *body* if it is a search template."""
    if not isinstance(body, MappingNode) or "template" not in body:
        return
    for key in body:
        if key not in _BESIDE:
            problems.note(
                key.mark, f"found {str(key)!r} beside 'template'; a search template may have only size beside it"
            )
    template = body.find_child("template")
    if not isinstance(template, MappingNode):
        problems.note(template.mark, f"found {describe(template)}, {_EXPECTED}")
        return
    given = [key for key in ("id", "source") if key in template]
    if len(given) != 1:
        found = "both 'id' and 'source'" if given else "neither 'id' nor 'source'"
        problems.note(template.mark, f"found {found}, {_EXPECTED}")
    params = template.find_child("params")
    if params is not None and not isinstance(params, MappingNode):
        problems.note(params.mark, f"found {describe(params)}, expected params as a mapping")


def _refuse_several(node: Node, problems: Problems) -> None:
    """Refuse bodies by name under `request`: each has keys of a body, and no name is one."""
    if not isinstance(node, MappingNode) or not node or node.keys() & PARTS_OF_A_BODY:
        return
    if all(isinstance(body, MappingNode) and body.keys() & {*ASKING, *BESIDE_A_BODY} for body in node.values()):
        names = ", ".join(node)
        problems.note(node.mark, f"found requests by name ({names}) in place of a body; expected the key 'requests'")


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


def _check_service_request(shape: HttpShape, node: Node, problems: Problems) -> None:
    """Tell what no service may be sent in the request at *node*; values of queries are checked when filled in."""
    from harness.search.service_requests import header_problem, parameter_problem, path_problem

    if sentence := path_problem(shape.path):
        problems.note(shape.path.mark, sentence)
    for name, value in shape.headers.items():
        if sentence := header_problem(name, value):
            problems.note(name.mark, sentence)
    body = node.find_child("http").find_child("json") if isinstance(node, MappingNode) else None
    names = list(body) if isinstance(body, MappingNode) else []
    for name in (*shape.params, *names):
        if sentence := parameter_problem(name):
            problems.note(name.mark, sentence)


def _check_path(expression: ScalarNode, problems: Problems) -> None:
    from harness.search.jsonpaths import path_problem

    sentence = path_problem(expression)
    if sentence:
        problems.note(
            expression.mark, f"found {expression.raw!r}, expected a JSONPath such as $.hits[*].id: {sentence}"
        )


def _optional(text: Any) -> str | None:
    return None if text is None else str(text)


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


def on_index(suite: Suite, index: str | None) -> Suite:
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
            http = _fill_http(template.http, values)
            return SearchRequest(query.id, None, http.json, http, built_for=query)
        body = _fill_body(template.body, values, suite.depth)
        parameters = _fill_params(template.url_params, values)
    except UsageError as error:
        mark = template.mark
        sentence = f"the request {template.name!r} cannot be filled for query {query.id!r}: {error}"
        raise SuiteError.at(mark.path or suite.path, mark.line, mark.column, sentence) from None
    index = template.index or suite.target.index
    return SearchRequest(
        query.id,
        index,
        {"size": suite.depth if size is None else size, **body},
        unique_ids=suite.target.unique_ids,
        id_field=suite.target.id_field,
        url_params=parameters,
        built_for=query,
    )


def _fill_params(parameters: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, str]:
    """Each parameter as text; a list has commas between its values."""
    filled = {name: value if isinstance(value, list) else [value] for name, value in fill(parameters, values).items()}
    return {name: ",".join(format_value(item, name) for item in items) for name, items in filled.items()}


def _fill_body(template: Json, values: Mapping[str, Json], depth: int) -> Json:
    body = fill_body(template, values)
    sentence = find_window_problem(template, body, depth)
    if sentence:
        raise UsageError(sentence)
    return body


def _fill_http(http: HttpRequest, values: Mapping[str, Json]) -> HttpRequest:
    """Fill path, params, headers and body; a value in the path is one encoded segment, in a header one line."""
    from harness.search.service_requests import find_problem

    headers = {name: fill_text(value, values) for name, value in http.headers.items()}
    for name, value in headers.items():
        if not value.isprintable():
            raise UsageError(f"the header {name} would hold a line break or a control character")
    filled = replace(
        http,
        path=fill_text(http.path, values, encode=lambda text: quote(text, safe="")),
        params=fill(http.params, values),
        headers=headers,
        json=fill(http.json, values),
    )
    if sentence := find_problem(filled):
        raise UsageError(sentence)
    return filled
