"""
harness.toml: the clusters that suites may name, and how to log in to them.

It is looked for in the suite's folder and upwards. It holds no secret: logins are the names of environment variables,
a URL with a password in it is refused, and no error prints a value that could be one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.config.addresses import (
    ENGINES,
    NAMED_INDEXES,
    engine_problem,
    lacks_index_name,
    lacks_scheme,
    url_problem,
)
from harness.errors import ConfigError, InputError, Option, Problem, UsageError
from harness.files.opening import Source, read_source
from harness.model import AddressOrigin, Cluster, Mark, Target
from harness.words import did_you_mean

__all__ = [
    "CONFIG_NAME",
    "ENGINES",
    "NAMED_INDEXES",
    "Config",
    "Configs",
    "config_path",
    "engine_problem",
    "lacks_index_name",
    "lacks_scheme",
    "read_config",
    "resolve_cluster",
    "url_problem",
]


Key = tuple[str, ...]


class Places(dict[Key, tuple[int, int]]):
    """Line and column of each key, by its path of names from the top."""

    def mark(self, key: Key, path: str) -> Mark:
        """The place of *key*, or of the nearest key above it that has one."""
        while key and key not in self:
            key = key[:-1]
        line, column = self.get(key, (1, 1))
        return Mark(path, line, column)


def find_places(text: str) -> Places:
    """
    The places of all keys in *text*, which is known to be valid TOML.

    The parser reads each statement alone (a table's header, or a key with its value), so that quotes, dots and values
    of several lines are interpreted as in the whole file.
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
            places.setdefault(key, (line, column))
    return places


_TOKEN = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'''
    r"""|'''(?:[^']|'(?!''))*'{3,5}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[][{}\n]""",
    re.DOTALL,
)
"""The tokens that decide where a statement of valid TOML ends: strings, comments, brackets and line ends."""


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each statement with its first line: it ends with the first line outside of strings and brackets."""
    depth, begin, line = 0, 0, 1
    for token in _TOKEN.finditer(f"{text}\n"):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] != "\n" or depth:
            continue
        statement = text[begin : token.end()]
        if statement.strip() and not statement.lstrip().startswith("#"):
            yield line, statement
        begin, line = token.end(), line + statement.count("\n")


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


CONFIG_NAME = "harness.toml"
_MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Config:
    """
    One harness.toml: its *path*, the clusters by name, and patterns of the variables that suites may read.

    *variables* is None where it has no such list.
    """

    path: Path
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    variables: tuple[str, ...] | None = None


def config_path(start: Path) -> Path | None:
    """
    The harness.toml in the folder *start* or the nearest folder above it, None where there is none.

    A broken link is returned too, so that reading it raises an error: a file further up may name other servers.
    """
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        path = candidate / CONFIG_NAME
        if path.is_file() or path.is_symlink():
            return path
    return None


class Configs:
    """Finds the harness.toml of folders; reads each file once."""

    def __init__(self) -> None:
        self._read: dict[Path, Config] = {}

    def above(self, folder: Path) -> Config | None:
        """
        The configuration that applies to *folder*, None where there is none.

        Raises:
            ConfigError: With everything that is wrong in it.
        """
        path = config_path(folder)
        if path is not None and path not in self._read:
            self._read[path] = read_config(path)
        return None if path is None else self._read[path]


def read_config(path: Path) -> Config:
    """
    Read one harness.toml.

    Raises:
        ConfigError: With everything that is wrong in it.
    """
    from harness.config.shape import check_clusters, check_variables

    source = _read(path)
    try:
        content = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_syntax_problem(source, str(error))]) from None
    except ValueError:
        raise ConfigError.at(source.path, 0, 0, "a number has too many digits") from None
    except RecursionError:
        raise ConfigError.at(source.path, 0, 0, "the nesting is too deep") from None
    places = find_places(source.text)
    problems: list[Problem] = []

    def tell(key: Key, message: str) -> None:
        problems.append(_problem(source, places, key, message))

    clusters, variables = check_clusters(content, tell), check_variables(content, tell)
    if problems:
        raise ConfigError(problems)
    marked = {
        name: replace(cluster, mark=places.mark(("clusters", name), source.path), origin=AddressOrigin.CONFIGURATION)
        for name, cluster in clusters.items()
    }
    return Config(path, marked, variables)


def resolve_cluster(target: Target, config: Config | None, *, url: str | None) -> Cluster:
    """
    The cluster that a suite runs on.

    Args:
        target: The suite's target.
        config: The harness.toml above it.
        url: The URL on the command line, which replaces the target's. A URL in harness.toml has the login given there;
            a login is never sent to another URL.

    Raises:
        UsageError: No cluster has the name, the URL cannot be used, or a certificate's file is missing.
    """
    clusters = {} if config is None else dict(config.clusters)
    name = target.cluster if url is None else url
    if "://" not in name and url is None:
        cluster = clusters.get(name)
        if cluster is None:
            raise _unknown_cluster(name, config)
    else:
        origin = AddressOrigin.SUITE if url is None else AddressOrigin.COMMAND_LINE
        cluster = _find_or_create_cluster(name, clusters, service=target.service, origin=origin)
    return _with_files(cluster, config)


def _find_or_create_cluster(
    url: str, clusters: Mapping[str, Cluster], *, service: str, origin: AddressOrigin
) -> Cluster:
    sentence = url_problem(url)
    if sentence:
        raise UsageError(sentence)
    for cluster in clusters.values():
        if cluster.url is not None and cluster.url.rstrip("/") == url.rstrip("/"):
            return cluster
    return Cluster(name=url, url=url, service=service, origin=origin)


def _unknown_cluster(name: str, config: Config | None) -> UsageError:
    if config is None:
        found = f"the cluster {name!r} is not defined, as there is no {CONFIG_NAME} in the suite's folder or above;"
    else:
        known = f", which has {', '.join(config.clusters)}" if config.clusters else ""
        guess = did_you_mean(name, config.clusters) or ";"
        found = f"the cluster {name!r} is not defined in {config.path}{known}{guess}"
    table = f'[clusters.{name}] with url = "http://localhost:9200"'
    define = f", or define it in {CONFIG_NAME}: {table}"
    return UsageError(f"{found} give ", Option("url"), " or ", Option("embedded"), define)


def _with_files(cluster: Cluster, config: Config | None) -> Cluster:
    """The cluster with the paths of its certificates resolved against the folder of harness.toml."""
    if config is None:
        return cluster
    found: dict[str, Any] = {}
    for key in ("ca_certs", "client_cert", "client_key"):
        if name := getattr(cluster, key):
            path = config.path.parent / name
            if not path.is_file():
                raise UsageError(f"{cluster.mark}: {key} of the cluster {cluster.name!r}: there is no file {path}")
            found[key] = str(path)
    return replace(cluster, **found) if found else cluster


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


def _problem(source: Source, places: Places, key: Key, message: str) -> Problem:
    """A problem at a key. The excerpt ends at the =, as what follows may be a secret that does not belong there."""
    mark = places.mark(key, source.path)
    shown = source.line(mark.line).split("=")[0]
    excerpt = Source(source.path, "\n" * (mark.line - 1) + shown).excerpt(mark.line, mark.column)
    return Problem(source.path, mark.line, mark.column, message, excerpt)
