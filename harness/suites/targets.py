"""The targets of a suite and of its requests: where each request is sent, and what it needs there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from harness.config import Configs, find_engine_problem, find_url_problem, lacks_scheme
from harness.errors import ConfigError
from harness.files.paths import CONFIG_NAME
from harness.masking import names_login
from harness.model.suite import Mark, RequestTemplate, Suite, Target
from harness.search.esql import is_esql
from harness.suites.esql import check_targets_of_esql, explain_own_index
from harness.suites.reading import Reading
from harness.suites.requests import list_request_nodes
from harness.suites.scalars import format_optional
from harness.suites.shape import RequestShape, TargetShape
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode

DEFAULT_CLUSTER = "default"

ENGINE_KEYS = frozenset({"index", "engine", "point_in_time", "id_field"})
"""Keys of a target that say nothing to an HTTP service."""

SERVER_KEYS = frozenset({"engine", "service"})
"""Keys of a target that describe its cluster, and so no other one."""


def read_target(reading: Reading, templates: Collection[RequestTemplate]) -> Target:
    """The target of the suite, with cluster and engine checked as far as possible without a server."""
    shape = reading.shape.target
    cluster = DEFAULT_CLUSTER if shape is None or shape.cluster is None else str(shape.cluster)
    service = _find_service(cluster, templates)
    if shape is None:
        return Target(mark=reading.root.mark, service=service)
    if templates:
        is_of_esql = any(is_esql(template.body) for template in templates if template.target is None)
        target = reading.root.find_child("target")
        service = _choose_service(shape, service, target, reading.problems, is_of_esql=is_of_esql)
    else:
        service = shape.service or service
    _check_server(shape, reading.problems)
    return _make_target(shape, reading.find_mark("target"), service)


def read_own_targets(
    reading: Reading, templates: Mapping[str, RequestTemplate], nodes: Mapping[str, Node]
) -> dict[str, RequestTemplate]:
    """*templates*, each with the target of its own that its node among *nodes* has."""
    entries = reading.shape.requests or {}
    if reading.shape.request is not None:
        entries = dict.fromkeys(templates, reading.shape.request)
    shapes = {str(name): entry for name, entry in entries.items() if isinstance(entry, RequestShape)}
    with_targets = dict(templates)
    for name, template in templates.items():
        node = nodes[name]
        own = shapes[name].target if name in shapes else None
        if own is not None and isinstance(node, MappingNode):
            with_targets[name] = _read_own_target(template, own, node, reading)
    return with_targets


def _read_own_target(
    template: RequestTemplate, own: TargetShape, node: MappingNode, reading: Reading
) -> RequestTemplate:
    """*template* with *own*, the target that its *node* has, which takes over the other keys of the suite's target."""
    target_node = node.find_child("target")
    _check_server(own, reading.problems)
    if own.index is not None and is_esql(template.body):
        sentence = explain_own_index(template, str(own.index))
        if sentence:
            reading.problems.note(own.index.mark, sentence)
    elif own.index is not None and template.index is not None:
        message = "found 'index' here and beside the request's 'target', expected one of them"
        reading.problems.note(own.index.mark, message)
    if template.http is not None:
        for key in target_node:
            if key in ENGINE_KEYS:
                message = f"'{key}' needs an engine, but the request {template.name!r} goes over HTTP; remove it"
                reading.problems.note(key.mark, message)
    merged = _merge_targets(own, reading.shape.target, over_http=template.http is not None)
    kind, is_of_esql = _find_kind(template), is_esql(template.body)
    service = _choose_service(merged, kind, target_node, reading.problems, is_of_esql=is_of_esql)
    target = _make_target(merged, node.find_key("target").mark, service)
    # An index of its own is searched in place of that of a fixture, wherever it is written.
    index = template.index if own.index is None or template.http is not None else str(own.index)
    return replace(template, target=target, index=index)


def _merge_targets(own: TargetShape, of_suite: TargetShape | None, *, over_http: bool) -> TargetShape:
    """*own* with those keys of the suite's target that it lacks, and that say something about its server."""
    if of_suite is None:
        return own
    left_out: set[str] = set()
    if own.cluster is not None and own.cluster != (of_suite.cluster or DEFAULT_CLUSTER):
        left_out |= SERVER_KEYS
    if over_http:
        left_out |= ENGINE_KEYS
    inherited = {name: value for name, value in vars(of_suite).items() if name not in left_out}
    return TargetShape(**inherited | vars(own))


def _check_server(shape: TargetShape, problems: Problems) -> None:
    cluster, engine = shape.cluster, shape.engine
    if isinstance(cluster, ScalarNode) and not cluster.unset and _is_address(cluster):
        sentence = find_url_problem(cluster)
        if sentence:
            problems.note_without_excerpt(cluster.mark, sentence)
    if isinstance(engine, ScalarNode) and not engine.unset:
        sentence = find_engine_problem(engine)
        if sentence:
            problems.note(engine.mark, sentence)


def _make_target(shape: TargetShape, mark: Mark, service: str) -> Target:
    return Target(
        cluster=DEFAULT_CLUSTER if shape.cluster is None else str(shape.cluster),
        index=format_optional(shape.index),
        engine=format_optional(shape.engine),
        mark=mark,
        service=service,
        unique_ids=shape.ids == "unique",
        point_in_time=shape.point_in_time,
        id_field=format_optional(shape.id_field),
    )


def _find_service(cluster: str, templates: Collection[RequestTemplate]) -> str:
    """The kind of server that *cluster*, the suite's own, is: by the first request that is sent there."""
    sent_there = [template for template in templates if template.target is None or template.target.cluster == cluster]
    for template in sent_there or templates:
        return _find_kind(template)
    return "engine"


def _find_kind(template: RequestTemplate) -> str:
    return "engine" if template.http is None else "http"


def _choose_service(
    shape: TargetShape, service: str, node: MappingNode, problems: Problems, *, is_of_esql: bool
) -> str:
    """
    The service that *shape* states, if its requests are written as those for *service* are; else *service*.

    *is_of_esql* says that one of them is ES|QL.
    """
    stated: str | None = shape.service
    if stated is None:
        return service
    from harness.search.dialects import find_dialect

    goes_over_http = find_dialect(stated).takes_http_requests
    if goes_over_http == find_dialect(service).takes_http_requests:
        return stated
    message = f"found {stated!r}, but the requests go over HTTP; write them with 'body' and an index"
    if goes_over_http:
        message = f"found {stated!r}, but the requests go to an engine; write them with 'http'"
        if is_of_esql:
            message = f"found {stated!r}, which has no ES|QL: it is a language of Elasticsearch alone"
    # What is taken over from the target of the suite has its problem there.
    if "service" in node:
        problems.note(node.find_child("service").mark, message)
    return service


def _is_address(cluster: str) -> bool:
    """Whether *cluster* is a URL and not a name: it has a scheme or a port, or an @, which may belong to a login."""
    return "://" in cluster or "@" in cluster or lacks_scheme(cluster)


# What is refused.


def check_own_addresses(reading: Reading, suite: Suite, configs: Configs) -> None:
    """
    Note variables that are named like logins if they would be sent to an address that the suite brings along.

    A value may be sent with each request, since all of them are filled with the same queries.
    """
    folder = Path(suite.path).parent
    clusters = dict.fromkeys(suite.find_target(name).cluster for name in suite.requests)
    try:
        if not any(configs.is_own_address(cluster, folder) for cluster in clusters or [suite.target.cluster]):
            return
    except ConfigError as error:
        reading.problems.extend(error.problems)
        return
    for name, scalar, offset in reading.used:
        if names_login(name):
            message = f"{name} is named like a login, and the suite sends it to an address of its own: "
            message += f"define the cluster in the {CONFIG_NAME} that you run with"
            reading.problems.note_inside(scalar, offset, message)


def check_targets(suite: Suite, reading: Reading) -> None:
    """Check that each request can be sent to its target; the targets, the requests and the fixture are valid."""
    _check_kinds(suite, reading)
    check_targets_of_esql(suite, reading, list_request_nodes(reading))
    _check_indexes(suite, reading)
    _check_points_in_time(suite, reading)


def _check_kinds(suite: Suite, reading: Reading) -> None:
    """Check that no cluster is sent requests of two kinds: it is an engine, or it is a service."""
    first_of_cluster: dict[str, RequestTemplate] = {}
    for name, template in suite.requests.items():
        cluster = suite.find_target(name).cluster
        first = first_of_cluster.setdefault(cluster, template)
        if (first.http is None) == (template.http is None):
            continue
        over_http, other = (template, first) if first.http is None else (first, template)
        message = f"the request {over_http.name!r} goes over HTTP and {other.name!r} to an engine, both to the cluster "
        message += f"{cluster!r}; expected 'target: {{cluster: NAME}}' in one of them"
        reading.problems.note(over_http.mark, message)
        return


def _check_indexes(suite: Suite, reading: Reading) -> None:
    """Check that every request for an engine has an index: its own, that of a target, or that of the fixture."""
    if suite.fixture is not None or reading.shape.fixture is not None:
        return
    for name, template in suite.requests.items():
        target = suite.find_target(name)
        if template.http is None and template.index is None and target.index is None:
            message = f"the request {name!r} has no index; expected 'target: {{index: NAME}}'"
            reading.problems.note(target.mark, message)
            return


def _check_points_in_time(suite: Suite, reading: Reading) -> None:
    """Check that every request can be sent to a point in time, if its target has one."""
    for name, template in suite.requests.items():
        reason = _explain_unpinned(template) if suite.find_target(name).point_in_time else ""
        if reason:
            message = f"'point_in_time' in the target: the request {name!r} {reason}"
            reading.problems.note(template.mark, message)


def _explain_unpinned(template: RequestTemplate) -> str:
    """Why *template* cannot search a point in time of the run's; empty if it can."""
    if template.http is not None:
        return "goes over HTTP, and only an engine has one"
    if "pit" in template.body:
        return "searches one of its own; remove either"
    if is_esql(template.body):
        return "is ES|QL, which searches none; remove it"
    if "template" in template.body:
        return "is a search template, which would have to name it; write its body here"
    for name in ("preference", "routing"):
        if "{{" in str(template.url_params.get(name, "")):
            return f"has a {name!r} for each query, and a point in time has one"
    return ""


def check_services(suite: Suite, reading: Reading) -> None:
    """Check that a suite over HTTP uses nothing that needs an engine."""
    if not suite.requests or any(template.http is None for template in suite.requests.values()):
        return
    if reading.shape.fixture is not None:
        message = "a fixture needs an engine, but the requests go over HTTP; remove it"
        reading.problems.note(reading.find_mark("fixture"), message)
    target = reading.shape.target
    if target is None:
        return
    if target.id_field is not None:
        message = "'id_field' needs an engine, but the requests go over HTTP; remove it"
        reading.problems.note(reading.find_mark("target"), message)
