"""The target of a suite, and the index of every request."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from harness.config import Configs, engine_problem, lacks_scheme, url_problem
from harness.errors import ConfigError
from harness.model import LatencyCondition, RequestTemplate, Target, Threshold
from harness.suites.reading import Reading
from harness.suites.yaml import Problems, Written


def read_target(reading: Reading, templates: Collection[RequestTemplate]) -> Target:
    """The target, with cluster and engine checked as far as possible without a server."""
    shape = reading.shape.target
    service = _service(reading, templates)
    if shape is None:
        return Target(mark=reading.root.mark, service=service)
    if isinstance(shape.cluster, Written) and not shape.cluster.unset:
        sentence = url_problem(shape.cluster) if _is_address(shape.cluster) else None
        if sentence:
            reading.problems.without_excerpt(shape.cluster.mark, sentence)
    if isinstance(shape.engine, Written) and not shape.engine.unset:
        sentence = engine_problem(shape.engine)
        if sentence:
            reading.problems.at(shape.engine.mark, sentence)
    return Target(
        cluster="default" if shape.cluster is None else str(shape.cluster),
        index=None if shape.index is None else str(shape.index),
        engine=None if shape.engine is None else str(shape.engine),
        mark=reading.key_mark("target"),
        service=service,
        unique_ids=shape.ids == "unique",
    )


def check_config(folder: Path, problems: Problems, configs: Configs) -> None:
    """Note problems of harness.toml, which would end every run of the suites below it."""
    try:
        configs.above(folder)
    except ConfigError as error:
        problems.extend(error.problems)


def check_indexes(target: Target, templates: Collection[RequestTemplate], reading: Reading) -> None:
    """Check that every request has an index: its own, the target's, or that of the fixture."""
    if target.index is not None or reading.shape.fixture is not None:
        return
    for template in templates:
        if template.http is None and template.index is None:
            message = f"the request {template.name!r} has no index; expected 'target: {{index: NAME}}'"
            reading.problems.at(target.mark, message)
            return


def check_service(thresholds: Iterable[Threshold], reading: Reading) -> None:
    """Check that a suite over HTTP uses nothing that needs an engine."""
    for threshold in thresholds:
        if isinstance(threshold.condition, LatencyCondition):
            message = "latency is the engine's own time, which an HTTP service does not return; remove the threshold"
            reading.problems.at(threshold.mark, message)
    if reading.shape.fixture is not None:
        message = "a fixture needs an engine, but the requests go over HTTP; remove it"
        reading.problems.at(reading.key_mark("fixture"), message)
    if reading.shape.target is not None and reading.shape.target.ids == "unique":
        message = "'ids: unique' needs an engine, but the requests go over HTTP; remove it"
        reading.problems.at(reading.key_mark("target"), message)


def _service(reading: Reading, templates: Collection[RequestTemplate]) -> str:
    """The kind of service, which must be the same for all requests because a suite has one cluster."""
    over_http = [template for template in templates if template.http is not None]
    if over_http and len(over_http) < len(templates):
        message = (
            f"the request {over_http[0].name!r} goes over HTTP and others to an engine; expected one kind per suite"
        )
        reading.problems.at(over_http[0].mark, message)
    return "http" if over_http else "engine"


def _is_address(cluster: str) -> bool:
    """Whether *cluster* is a URL and not a name: it has a scheme or a port, or an @, which may belong to a login."""
    return "://" in cluster or "@" in cluster or lacks_scheme(cluster)
