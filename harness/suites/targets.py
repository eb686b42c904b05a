"""Where a suite runs, and whether every request of it has an index."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from harness.config import Configs, engine_problem, lacks_scheme, url_problem
from harness.errors import ConfigError
from harness.model import LatencyCondition, RequestTemplate, Target, Threshold
from harness.suites.reading import Reading
from harness.suites.yaml import Problems, Written


def read_target(reading: Reading, templates: Collection[RequestTemplate]) -> Target:
    """The target, its cluster and engine checked as far as that goes without asking anybody."""
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
    """A harness.toml that cannot be used ends every run of the suites below it, so it is told before one."""
    try:
        configs.above(folder)
    except ConfigError as error:
        problems.extend(error.problems)


def check_indexes(target: Target, templates: Collection[RequestTemplate], reading: Reading) -> None:
    """Every request goes to an index: its own, the target's, or the one that the suite builds."""
    if target.index is not None or reading.shape.fixture is not None:
        return
    for template in templates:
        if template.http is None and template.index is None:
            message = f"the request {template.name!r} has no index; expected 'target: {{index: NAME}}'"
            reading.problems.at(target.mark, message)
            return


def check_service(thresholds: Iterable[Threshold], reading: Reading) -> None:
    """Nothing is asked of a suite whose requests go over HTTP that only an engine can tell or do."""
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
    """What the requests are for: a suite has one cluster, so they are all for the same kind of service."""
    over_http = [template for template in templates if template.http is not None]
    if over_http and len(over_http) < len(templates):
        message = (
            f"the request {over_http[0].name!r} goes over HTTP and others to an engine; expected one kind per suite"
        )
        reading.problems.at(over_http[0].mark, message)
    return "http" if over_http else "engine"


def _is_address(cluster: str) -> bool:
    """Whether it is no name: a name has no scheme and no port, and what has an @ may hold a login."""
    return "://" in cluster or "@" in cluster or lacks_scheme(cluster)
