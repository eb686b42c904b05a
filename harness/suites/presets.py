"""
What a preset such as `service: solr` fills in beside the keys of `http` that a suite gives.

It is put in before anything is checked, so that defaults are validated, filled and fingerprinted as what stands in the
suite. Their place is that of the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.config import Configs
from harness.model.suite import HttpRequest, Json, RequestTemplate
from harness.search.presets import ID_FIELD, PRESETS, Preset
from harness.suites.scalars import DEFAULT_NAME
from harness.suites.yaml import MappingNode, Node, ScalarNode, find_child, make_node

_PATHS = frozenset(
    {"hits", "ids", "scores", "titles", "sort", "total", "total_exact", "took", "partial", "error"}
)  # fmt: skip
"""The keys of `http` that are paths, but for those of fields."""

_REQUIRED = ("path", "ids")
"""The keys of `http` that a request needs, unless a preset gives them."""


@dataclass(frozen=True, slots=True)
class FilledPreset:
    """The preset of a request, and what the suite leaves to it."""

    preset: Preset
    paths: frozenset[str]
    """The keys of `http` whose paths are the preset's."""
    gives_size: bool = False
    """Whether `size` is the preset's."""


@dataclass(slots=True)
class PresetFilling:
    """Puts the defaults of presets into the requests of a suite; *configs* say which services there are."""

    configs: Configs
    filled: dict[str, FilledPreset] = field(default_factory=dict)
    """By the name of the request."""

    def insert(self, suite: MappingNode) -> MappingNode:
        """A copy of *suite* with the defaults in it."""
        target = suite.find_child("target")
        copy = MappingNode(suite.mark)
        copy.repeats = suite.repeats
        for key, node in suite.items():
            if key == "request":
                copy[key] = self._insert_into(node, target, DEFAULT_NAME)
            elif key == "requests" and isinstance(node, MappingNode):
                requests = MappingNode(node.mark)
                requests.repeats = node.repeats
                for name, request in node.items():
                    requests[name] = self._insert_into(request, target, str(name))
                copy[key] = requests
            else:
                copy[key] = node
        return copy

    def _insert_into(self, request: Node, target: Node | None, name: str) -> Node:
        """*request* with the defaults of the service that it, or else *target*, is for."""
        http = find_child(request, "http")
        if not isinstance(request, MappingNode) or not isinstance(http, MappingNode):
            return request
        service = self._find_service(_merge_targets(request.find_child("target"), target))
        completed = MappingNode(http.mark, http.items())
        completed.repeats = http.repeats
        if isinstance(service, ScalarNode) and service.unset:
            # A variable without a value yet: what the preset would give is not known, and not missing.
            for key in _REQUIRED:
                if key not in http:
                    completed[ScalarNode(key, http.mark, plain=True)] = service
        elif service in PRESETS:
            preset = PRESETS[service]
            defaults = _list_defaults(preset, http)
            self.filled[name] = FilledPreset(preset, _PATHS.intersection(defaults), gives_size="size" in defaults)
            for key, value in defaults.items():
                completed[ScalarNode(key, http.mark, plain=True)] = make_node(value, http.mark)
        copy = MappingNode(request.mark, request.items())
        copy.repeats = request.repeats
        copy[request.find_key("http")] = completed
        return copy

    def _find_service(self, target: Node | None) -> str:
        """
        The service that *target* names, or that the configuration gives to its cluster; empty if neither does.

        If it depends on a variable without a value yet, the node with that variable.
        """
        cluster = "default"
        if isinstance(target, MappingNode):
            service, written = target.find_child("service"), target.find_child("cluster")
            if isinstance(service, ScalarNode):
                return service
            if isinstance(written, ScalarNode):
                cluster = written
                if written.unset:
                    return written
        found = self.configs.find_cluster(cluster)
        return "" if found is None else found.service


def _merge_targets(own: Node | None, target: Node | None) -> Node | None:
    """
    What *own*, the target of a request, and *target*, that of the suite, say of a server.

    What the suite says of its server is not said of another cluster.
    """
    if not isinstance(own, MappingNode):
        return target
    if not isinstance(target, MappingNode):
        return own
    if "cluster" in own and own.find_child("cluster") != (target.find_child("cluster") or "default"):
        return own
    merged = MappingNode(own.mark, target.items())
    for key, node in own.items():
        merged[key] = node
    return merged


def _list_defaults(preset: Preset, http: MappingNode) -> dict[str, Json]:
    """The keys that *preset* adds to *http*, with their values."""
    defaults = dict(preset.defaults)
    size = preset.body_size if "json" in http else preset.size
    if size:
        defaults["size"] = size
    if not size and "size" not in http:
        defaults.pop("max_size", None)
    id_field = preset.find_field(str(http.find_child("ids") or defaults["ids"]))
    answers_documents = _answers_documents(preset, str(http.find_child("path") or ""))
    if preset.documents and id_field and answers_documents and not _searches_elsewhere(preset, http):
        defaults["documents"] = _name_id_field(preset.documents, id_field)
    return {key: value for key, value in defaults.items() if key not in http}


def _answers_documents(preset: Preset, path: str) -> bool:
    """Whether the request by ids of *preset* can go to *path*: to no other one for each query, or with parameters."""
    return "{{" not in path and "?" not in path and re.fullmatch(preset.documents_paths, path) is not None


def _searches_elsewhere(preset: Preset, http: MappingNode) -> bool:
    """Whether a parameter of *http* may make an engine of *preset* search elsewhere than its path says."""
    body = http.find_child("json")
    params_of_body = find_child(body, "params")
    for params in (http.find_child("params"), params_of_body):
        for name in params if isinstance(params, MappingNode) else ():
            if str(name) in preset.moving_parameters or "{{" in str(name):
                return True
    return False


def add_field_paths(
    templates: Mapping[str, RequestTemplate], presets: Mapping[str, FilledPreset], names: Iterable[str]
) -> dict[str, RequestTemplate]:
    """*templates*, of which those with a preset read the fields *names* of the documents, unless they have paths."""
    completed = {}
    for name, template in templates.items():
        filled = presets.get(name)
        if filled is not None and template.http is not None:
            paths = {field: filled.preset.make_field_path(field) for field in names}
            template = replace(template, http=_add_paths(template.http, paths))
        completed[name] = template
    return completed


def _add_paths(http: HttpRequest, paths: Mapping[str, str]) -> HttpRequest:
    """*http*, and its request by ids, with those of *paths* that neither has."""
    documents = http.documents
    missing = {name: path for name, path in paths.items() if name not in http.known_fields}
    if documents is not None:
        documents_http = replace(documents.http, fields={**documents.http.fields, **missing})
        documents = replace(documents, http=documents_http)
    return replace(http, fields={**http.fields, **missing}, documents=documents)


def _name_id_field(value: Json, name: str) -> Json:
    """*value* with the *name* of the field of ids in its texts."""
    if isinstance(value, Mapping):
        return {key: _name_id_field(member, name) for key, member in value.items()}
    if isinstance(value, list):
        return [_name_id_field(member, name) for member in value]
    return value.replace(ID_FIELD, name) if isinstance(value, str) else value
