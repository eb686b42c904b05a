"""harness.toml: the clusters that suites may name, how to log in to them, and how addresses are written."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from harness.errors import ConfigError, InputError, Problem, UsageError, did_you_mean
from harness.files.opening import Source, read_source
from harness.model import Cluster, Mark, Target

__all__ = ["CONFIG_NAME", "Config", "config_path", "find_config", "read_config", "resolve_cluster"]


# Where the keys of a TOML file stand, which the standard library's parser does not tell.


Key = tuple[str, ...]


@dataclass(slots=True)
class Places:
    """Line and column of each key, by its path of names from the top."""

    of: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def mark(self, key: Key, path: str) -> Mark:
        """The place of *key*, or of the nearest key above it that has one."""
        while key and key not in self.of:
            key = key[:-1]
        line, column = self.of.get(key, (1, 1))
        return Mark(path, line, column)


def find_places(text: str) -> Places:
    """
    The places of all keys in *text*, which is known to be valid TOML.

    Each statement, a table's header or a key with its value, is read alone by the parser, so that quotes, dots and
    several lines mean here what they mean to it.
    """
    places = Places()
    table: Key = ()
    for line, statement in _statements(text):
        content = tomllib.loads(statement)
        column = len(statement) - len(statement.lstrip()) + 1
        if statement.lstrip().startswith("["):
            table = _header(content)
            keys: list[Key] = [table[: end + 1] for end in range(len(table))]
        else:
            keys = [table + key for key in _keys(content)]
        for key in keys:
            places.of.setdefault(key, (line, column))
    return places


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with its first line: as many lines as it takes until the parser has a whole one."""
    pending, first = "", 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first = first if pending else number
        pending += line + "\n"
        try:
            tomllib.loads(pending)
        except tomllib.TOMLDecodeError:
            continue
        yield first, pending
        pending = ""


def _header(content: Mapping[str, Any]) -> Key:
    """The path of a table's header, as [a.b] gives {"a": {"b": {}}} and [[a]] gives {"a": [{}]}."""
    names: list[str] = []
    inner: Any = content
    while isinstance(inner, Mapping) and inner:
        name = next(iter(inner))
        names.append(name)
        inner = inner[name]
    return tuple(names)


def _keys(content: Mapping[str, Any]) -> Iterator[Key]:
    """Every path in what one statement sets: dotted keys, and those of inline tables."""
    for name, value in content.items():
        yield (name,)
        if isinstance(value, Mapping):
            yield from ((name, *rest) for rest in _keys(value))


# The address of a server, and what it is said to be, as suites, harness.toml and the command line write them.


_NO_LOGIN = (
    "a URL must not hold a login; name the environment variables that do under [clusters.NAME] in harness.toml: "
    "username_env and password_env, or api_key_env"
)
_ENGINE = re.compile(r"(\S+?)(?:\s+(\d+(?:\.\d+)*))?")
_HOST_AND_PORT = re.compile(r"(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}(?:/\S*)?")
_ENGINES = ("elasticsearch", "opensearch")


def lacks_scheme(text: str) -> bool:
    """Whether *text* is a host with its port, as a URL has them behind its scheme."""
    return _HOST_AND_PORT.fullmatch(text) is not None


def url_problem(url: str) -> str | None:
    """What keeps *url* from being the address of a server; the sentence never holds a login."""
    if lacks_scheme(url):
        return f"found {url!r}, expected a URL with http:// or https://, such as http://{url}"
    try:
        parts = urlsplit(url)
        port_is_wrong = parts.port == 0
    except ValueError:
        return "this is not a URL; expected one such as http://localhost:9200"
    if "@" in (parts.netloc or url):
        return _NO_LOGIN
    if parts.scheme not in ("http", "https"):
        return f"found a URL that begins with {parts.scheme or url[:20]!r}, expected http:// or https://"
    if not parts.hostname or port_is_wrong or re.search(r"\s", url):
        return f"found {url!r}, expected a URL such as http://localhost:9200"
    if parts.query or parts.fragment:
        return "a URL of a server has neither ? nor #; expected one such as http://localhost:9200"
    return None


def engine_problem(text: str) -> str | None:
    """What keeps *text* from naming an engine and its version."""
    match = _ENGINE.fullmatch(text.strip())
    if match and match[1] in _ENGINES:
        return None
    guess = did_you_mean(match[1], _ENGINES) if match else ""
    return (
        f"found {text!r}, expected an engine and its version such as 'elasticsearch 9.4.3' or 'opensearch 2.19'{guess}"
    )


# harness.toml: the clusters that suites may name, and how to log in to them.
#
# It is looked for in the suite's folder and upwards. It holds no secret: logins are the names of environment
# variables, a URL with a password in it is refused, and no error prints a value that could be one.


CONFIG_NAME = "harness.toml"
_MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Config:
    """One harness.toml: its *path*, and the clusters by name."""

    path: Path
    clusters: Mapping[str, Cluster] = field(default_factory=dict)


def config_path(start: Path) -> Path | None:
    """
    The harness.toml in the folder *start* or the nearest folder above it, None where there is none.

    One that is a link to nowhere is an error to whoever reads it: another one above would name other servers.
    """
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        path = candidate / CONFIG_NAME
        if path.is_file() or path.is_symlink():
            return path
    return None


def find_config(start: Path) -> Config | None:
    """
    The configuration that holds for the folder *start*, None where there is none.

    Raises:
        ConfigError: With everything that is wrong in it.
    """
    path = config_path(start)
    return None if path is None else read_config(path)


def read_config(path: Path) -> Config:
    """
    Read one harness.toml.

    Raises:
        ConfigError: With everything that is wrong in it.
    """
    source = _read(path)
    try:
        content = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_syntax_problem(source, str(error))]) from None
    except RecursionError:
        raise ConfigError.at(source.path, 0, 0, "the nesting is too deep") from None
    places = find_places(source.text)
    problems: list[Problem] = []
    clusters = check_clusters(content, lambda key, message: problems.append(_problem(source, places, key, message)))
    if problems:
        raise ConfigError(problems)
    marked = {
        name: replace(cluster, mark=places.mark(("clusters", name), source.path)) for name, cluster in clusters.items()
    }
    return Config(path, marked)


def resolve_cluster(target: Target, config: Config | None, *, url: str | None) -> Cluster:
    """
    The cluster that a suite runs on.

    Args:
        target: The suite's.
        config: The harness.toml above it.
        url: What the command line gave instead. A URL that harness.toml has brings the login that it has there; a login
            is never sent to another one.

    Raises:
        UsageError: No cluster has the name, the URL cannot be used, or a certificate's file is missing.
    """
    clusters = {} if config is None else dict(config.clusters)
    asked = target.cluster if url is None else url
    if "://" not in asked and url is None:
        cluster = clusters.get(asked)
        if cluster is None:
            raise UsageError(_unknown_cluster(asked, config))
    else:
        cluster = _cluster_at(asked, clusters, target.service)
    return _with_certificate(cluster, config)


def _cluster_at(url: str, clusters: Mapping[str, Cluster], service: str) -> Cluster:
    sentence = url_problem(url)
    if sentence:
        raise UsageError(sentence)
    for cluster in clusters.values():
        if cluster.url is not None and cluster.url.rstrip("/") == url.rstrip("/"):
            return cluster
    return Cluster(name=url, url=url, service=service)


def _unknown_cluster(name: str, config: Config | None) -> str:
    table = f'[clusters.{name}] with url = "http://localhost:9200"'
    remedy = f"give --url or --embedded, or define it in {CONFIG_NAME}: {table}"
    if config is None:
        where = f"as there is no {CONFIG_NAME} in the suite's folder or above"
        return f"the cluster {name!r} is not defined, {where}; {remedy}"
    known = f", which has {', '.join(config.clusters)}" if config.clusters else ""
    guess = did_you_mean(name, config.clusters)
    return f"the cluster {name!r} is not defined in {config.path}{known}{guess or ';'} {remedy}"


def _with_certificate(cluster: Cluster, config: Config | None) -> Cluster:
    """The cluster with the path of its certificate from here, and not from harness.toml."""
    if cluster.ca_certs is None or config is None:
        return cluster
    path = config.path.parent / cluster.ca_certs
    if not path.is_file():
        raise UsageError(f"{cluster.mark}: ca_certs of the cluster {cluster.name!r}: there is no file {path}")
    return replace(cluster, ca_certs=str(path))


def _read(path: Path) -> Source:
    try:
        return read_source(path, str(path), limit=_MOST_BYTES)
    except InputError as error:
        raise ConfigError([replace(problem, excerpt="") for problem in error.problems]) from None


def _syntax_problem(source: Source, sentence: str) -> Problem:
    """The parser's own sentence, which ends in its place; the line is left out, as it may hold a secret."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", sentence, re.DOTALL)
    if match is None:
        return Problem(source.path, 0, 0, f"this is not TOML: {sentence}")
    line, column = (int(match[2]), int(match[3])) if match[2] else source.place(len(source.text))
    return Problem(source.path, line, column, f"this is not TOML: {match[1][:1].lower()}{match[1][1:]}")


def _problem(source: Source, places: Places, key: tuple[str, ...], message: str) -> Problem:
    """A problem at a key. The excerpt ends at the =, as what follows may be a secret that does not belong there."""
    mark = places.mark(key, source.path)
    shown = source.line(mark.line).split("=")[0]
    excerpt = Source(source.path, "\n" * (mark.line - 1) + shown).excerpt(mark.line, mark.column)
    return Problem(source.path, mark.line, mark.column, message, excerpt)


# The shape of harness.toml, as pydantic models, and what takes several keys of a cluster to tell.


Tell = Callable[[tuple[str, ...], str], None]
"""Takes the path of a key and a sentence about it."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FINGERPRINT = re.compile(r"[0-9a-fA-F]{64}")
_TYPES = {
    "string_type": "text in quotes",
    "float_type": "a number",
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
    """A value that is no name may be the secret itself, so it is not repeated."""
    if _VARIABLE.fullmatch(name):
        return None
    return "expected the name of an environment variable, such as SEARCH_API_KEY, and not the secret itself"


def _service_problem(text: str) -> str | None:
    known = ("engine", "http")
    return None if text in known else f"found {text!r}, expected engine or http{did_you_mean(text, known)}"


def _fingerprint_problem(text: str) -> str | None:
    plain = text.replace(":", "")
    return None if _FINGERPRINT.fullmatch(plain) else "expected the certificate's SHA-256: 64 hexadecimal digits"


def _timeout_problem(seconds: float) -> str | None:
    return None if 0 < seconds < math.inf else f"found {seconds:g}, expected seconds, more than 0"


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
    headers_env: dict[str, _Variable] = Field(default_factory=dict)


def check_clusters(content: Mapping[str, Any], tell: Tell) -> dict[str, Cluster]:
    """The clusters of a harness.toml that was parsed; what is wrong goes to *tell*."""
    for key in content:
        if key != "clusters":
            tell((key,), f"unknown key {key!r}, expected clusters{did_you_mean(key, ['clusters'])}")
    tables = content.get("clusters", {})
    if not isinstance(tables, Mapping):
        tell(("clusters",), f"found {_type_name(tables)}, expected tables such as [clusters.default]")
        return {}
    clusters = {}
    for name, table in tables.items():
        cluster = _cluster(name, table, tell)
        if cluster is not None:
            clusters[name] = cluster
    return clusters


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
        return _unknown_key(str(failure["loc"][-1]))
    return f"found {_type_name(failure['input'])}, expected {_TYPES.get(kind, failure['msg'])}"


def _unknown_key(key: str) -> str:
    if key in ("api_key", "username", "password"):
        return f"{key!r} is not kept here; expected {key}_env, the name of the environment variable that holds it"
    known = list(_ClusterShape.model_fields)
    return f"unknown key {key!r}, expected {', '.join(known)}{did_you_mean(key, known)}"


def _check_together(shape: _ClusterShape, place: tuple[str, ...], tell: Tell) -> None:
    if (shape.url is None) == (shape.cloud_id is None):
        tell(place, f"found {'neither' if shape.url is None else 'both'} url and cloud_id, expected one of them")
    if (shape.username_env is None) != (shape.password_env is None):
        tell(place, "expected username_env and password_env together")
    if shape.api_key_env is not None and shape.username_env is not None:
        tell(place, "found two logins, expected api_key_env, or username_env and password_env")
    if shape.nodes and (shape.url is None or shape.service == "http"):
        tell((*place, "nodes"), "nodes are the addresses of an engine's other nodes, beside its url")
    if shape.service == "http" and shape.cloud_id is not None:
        tell(place, "an HTTP service has a url, not a cloud_id")
    secure = shape.cloud_id is not None or (shape.url or "").startswith("https://")
    if not secure and (shape.ca_certs is not None or shape.fingerprint is not None):
        tell(place, "ca_certs and fingerprint are for https only, and the url begins with http://")


def _type_name(value: Any) -> str:
    """What was found, without its content, which may be a secret."""
    names = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), "a date or a time")
