"""The shape of harness.toml, as pydantic models, and the checks that involve several keys of a cluster."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from harness.config.addresses import VARIABLE_PATTERN, engine_problem, url_problem
from harness.model import Cluster
from harness.words import did_you_mean, listed, unknown_key

Tell = Callable[[tuple[str, ...], str], None]
"""Takes the path of a key and a sentence about it."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FINGERPRINT = re.compile(r"[0-9a-fA-F]{64}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HOST = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_REQUEST = re.compile(r"(?:GET|POST|PUT) /[^\s?#\\]*")
MOST_AT_ONCE = 64
"""The most concurrent requests; each has a thread and a connection."""

_TYPES = {
    "string_type": "text in quotes",
    "bool_type": "true or false",
    "float_type": "a number",
    "int_type": "a whole number",
    "dict_type": "a table",
    "tuple_type": "a list",
    "model_type": "a table",
    "missing": "a value",
}


def _check(sentence_of: Callable[[Any], str | None]) -> AfterValidator:
    def check(value: Any) -> Any:
        sentence = sentence_of(value)
        if sentence:
            raise PydanticCustomError("harness", "{sentence}", {"sentence": sentence})
        return value

    return AfterValidator(check)


def _variable_problem(name: str) -> str | None:
    """Why *name* is not the name of a variable; it is not repeated, as it may be the secret itself."""
    if _VARIABLE.fullmatch(name):
        return None
    return "expected the name of an environment variable, such as SEARCH_API_KEY, not the secret itself"


def _header_problem(name: str) -> str | None:
    return None if _HEADER.fullmatch(name) else f"found {name!r}, expected the name of a header, such as X-Tenant"


def _host_problem(text: str) -> str | None:
    return None if _HOST.fullmatch(text) else f"found {text!r}, expected a host such as shop.example, or with its port"


def _request_problem(text: str) -> str | None:
    if _REQUEST.fullmatch(text) and not {".", ".."}.intersection(text.split("/")):
        return None
    return f"found {text!r}, expected a method and a path below the url, such as POST /indexes/*/search"


def _proxy_problem(url: str) -> str | None:
    if "@" in url:
        return "a URL must not contain a login; name its variables: proxy_username_env and proxy_password_env"
    return url_problem(url)


SERVICES = ["engine", "http"]
"""The kinds of server; `harness.search.DIALECTS` has the dialect of each."""


def _service_problem(text: str) -> str | None:
    if text in SERVICES:
        return None
    return f"found {text!r}, expected {' or '.join(SERVICES)}{did_you_mean(text, SERVICES)}"


def _fingerprint_problem(text: str) -> str | None:
    plain = text.replace(":", "")
    return None if _FINGERPRINT.fullmatch(plain) else "expected the certificate's SHA-256: 64 hexadecimal digits"


def _timeout_problem(seconds: float) -> str | None:
    return None if 0 < seconds < math.inf else f"found {seconds:g}, expected seconds, more than 0"


def _concurrency_problem(number: int) -> str | None:
    return None if 1 <= number <= MOST_AT_ONCE else f"found {number}, expected requests at once, 1 to {MOST_AT_ONCE}"


def _batch_problem(number: int) -> str | None:
    return None if number >= 1 else f"found {number}, expected searches of one request, at least 1"


def _blank_problem(text: str) -> str | None:
    return None if text.strip() else "found blank text, expected text"


_Text = Annotated[str, _check(_blank_problem)]
_Variable = Annotated[str, _check(_variable_problem)]


class _ClusterShape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Annotated[str, _check(url_problem)] | None = None
    nodes: tuple[Annotated[str, _check(url_problem)], ...] = Field(default=(), strict=False)
    cloud_id: _Text | None = None
    engine: Annotated[str, _check(engine_problem)] | None = None
    service: Annotated[str, _check(_service_problem)] = "engine"
    api_key_env: _Variable | None = None
    username_env: _Variable | None = None
    password_env: _Variable | None = None
    ca_certs: _Text | None = None
    fingerprint: Annotated[str, _check(_fingerprint_problem)] | None = None
    timeout: Annotated[float, _check(_timeout_problem)] = 30.0
    headers_env: dict[Annotated[str, _check(_header_problem)], _Variable] = Field(default_factory=dict)
    bearer_token_env: _Variable | None = None
    client_cert: _Text | None = None
    client_key: _Text | None = None
    client_key_password_env: _Variable | None = None
    verify_certs: bool = True
    proxy: Annotated[str, _check(_proxy_problem)] | None = None
    proxy_username_env: _Variable | None = None
    proxy_password_env: _Variable | None = None
    host: Annotated[str, _check(_host_problem)] | None = None
    requests: tuple[Annotated[str, _check(_request_problem)], ...] = Field(default=(), strict=False)
    concurrency: Annotated[int, _check(_concurrency_problem)] = 4
    batch: Annotated[int, _check(_batch_problem)] | None = None


PLAIN_KEYS = frozenset({"url", "nodes", "engine", "timeout", "concurrency", "batch"})
"""The keys of a cluster that a harness.toml beside a suite may have: with them it is a plain address."""


def _read_variables(names: Any, tell: Tell) -> tuple[str, ...]:
    """The names, or patterns with `*`, of the variables that suites may read."""
    if not isinstance(names, list) or not all(
        isinstance(name, str) and VARIABLE_PATTERN.fullmatch(name) for name in names
    ):
        tell(("variables",), "expected a list of names of environment variables, such as SHOP_LANGUAGE or SHOP_*")
        return ()
    return tuple(names)


def _read_addresses(text: Any, tell: Tell) -> str:
    """Whether suites may name addresses of their own."""
    known = ("any", "listed")
    if text not in known:
        found = repr(text) if isinstance(text, str) else _type_name(text)
        tell(("addresses",), f"found {found}, expected any or listed{did_you_mean(str(text), known)}")
    return str(text)


def _read_clusters(tables: Any, tell: Tell) -> dict[str, Cluster]:
    if not isinstance(tables, Mapping):
        tell(("clusters",), f"found {_type_name(tables)}, expected tables such as [clusters.default]")
        return {}
    clusters = {}
    for name, table in tables.items():
        cluster = _cluster(name, table, tell)
        if cluster is not None:
            clusters[name] = cluster
    return clusters


TOP_LEVEL: Mapping[str, Callable[[Any, Tell], Any]] = {
    "clusters": _read_clusters,
    "variables": _read_variables,
    "addresses": _read_addresses,
}
"""
What reads each top-level key: it takes the value, returns that of the field of the same name in `Config`, and tells
problems.
"""


def check_top_level(content: Mapping[str, Any], tell: Tell) -> None:
    """Tell keys of a parsed harness.toml that are unknown."""
    for key in content:
        if key not in TOP_LEVEL:
            tell((key,), unknown_key(key, tuple(TOP_LEVEL)))


def find_private_keys(content: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The paths of the keys in a valid harness.toml that only the configuration of the person who runs it may have."""
    keys: list[tuple[str, ...]] = [(key,) for key in content if key != "clusters"]
    for name, table in content.get("clusters", {}).items():
        keys += [("clusters", name, key) for key in table if key not in PLAIN_KEYS]
    return keys


def _cluster(name: str, table: Any, tell: Tell) -> Cluster | None:
    place = ("clusters", name)
    if "://" in name or not name.strip():
        tell(place, "expected the name of a cluster, such as default; its address is its url")
    try:
        shape = _ClusterShape.model_validate(table)
    except ValidationError as error:
        for failure in error.errors(include_url=False):
            tell((*place, *map(str, failure["loc"])), _sentence(failure))
        return None
    _check_together(shape, place, tell)
    return Cluster(name=name, **shape.model_dump())


def _sentence(failure: Any) -> str:
    kind = failure["type"]
    if kind == "harness":
        return str(failure["msg"])
    if kind == "extra_forbidden":
        return _not_a_key(str(failure["loc"][-1]))
    return f"found {_type_name(failure['input'])}, expected {_TYPES.get(kind, failure['msg'])}"


def _not_a_key(key: str) -> str:
    if f"{key}_env" in _ClusterShape.model_fields:
        return f"{key!r} is not allowed here; expected {key}_env, the name of an environment variable"
    return unknown_key(key, _ClusterShape.model_fields)


def _check_together(shape: _ClusterShape, place: tuple[str, ...], tell: Tell) -> None:
    if (shape.url is None) == (shape.cloud_id is None):
        tell(place, f"found {'neither' if shape.url is None else 'both'} url and cloud_id, expected one of them")
    if shape.nodes and (shape.url is None or shape.service == "http"):
        tell((*place, "nodes"), "nodes are URLs of an engine's other nodes, in addition to its url")
    if shape.requests and shape.service != "http":
        tell((*place, "requests"), 'requests are those of an HTTP service, which has service = "http"')
    if shape.service == "http" and shape.batch is not None:
        tell((*place, "batch"), "an HTTP service has one search in each request")
    if shape.service == "http" and shape.cloud_id is not None:
        tell(place, "an HTTP service has a url, not a cloud_id")
    _check_logins(shape, place, tell)
    _check_tls(shape, place, tell)


NEEDED = {"client_key": "client_cert", "client_key_password_env": "client_cert", "proxy_username_env": "proxy"}
"""Keys that need another key."""

OF_TLS = ("ca_certs", "fingerprint", "client_cert")


def _check_logins(shape: _ClusterShape, place: tuple[str, ...], tell: Tell) -> None:
    for name, password in (("username_env", "password_env"), ("proxy_username_env", "proxy_password_env")):
        if (getattr(shape, name) is None) != (getattr(shape, password) is None):
            tell(place, f"expected {name} and {password} together")
    logins = Cluster("", **shape.model_dump()).logins
    if len(logins) > 1:
        tell(place, f"found {len(logins)} logins, {listed(logins)}, expected one of them")
    for key, needed in NEEDED.items():
        if getattr(shape, key) is not None and getattr(shape, needed) is None:
            tell((*place, key), f"{key} needs {needed}")


def _check_tls(shape: _ClusterShape, place: tuple[str, ...], tell: Tell) -> None:
    is_secure = shape.cloud_id is not None or (shape.url or "").startswith("https://")
    found = [key for key in OF_TLS if getattr(shape, key) is not None]
    if found and not is_secure:
        tell((*place, found[0]), f"{found[0]} needs https, but the url begins with http://")
    verifying = [key for key in found if key != "client_cert"]
    if verifying and not shape.verify_certs:
        tell((*place, "verify_certs"), f"{verifying[0]} verifies the certificate; expected no verify_certs = false")


def _type_name(value: Any) -> str:
    """The type of *value* in words, without the value, which may be a secret."""
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), "a date or a time")
