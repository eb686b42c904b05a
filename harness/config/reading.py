"""One harness.toml: found, read and checked. Which of several counts is decided by `harness.config.trust`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.config.places import Key, Places, find_places
from harness.errors import ConfigError, InputError, Problem
from harness.files.opening import TextSource, read_source
from harness.model import AddressOrigin, Cluster, Mark

CONFIG_NAME = "harness.toml"
_MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Config:
    """
    One harness.toml at *path*. Each top-level key of the file has a field of its name.

    *clusters* are by name. *variables* are names, and patterns with ``*``, of the variables that suites may read.
    *addresses* are "any", or "listed": suites may then name none of their own. *private_keys* are the keys, with their
    places, that only a trusted file may have.
    """

    path: Path
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    addresses: str = "any"
    private_keys: tuple[tuple[str, Mark], ...] = ()


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


def read_config(path: Path) -> Config:
    """
    Read one harness.toml.

    Raises:
        ConfigError: With everything that is wrong in it.
    """
    from harness.config.shape import TOP_LEVEL, check_top_level, find_private_keys

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

    check_top_level(content, tell)
    values = {key: check(content[key], tell) for key, check in TOP_LEVEL.items() if key in content}
    if problems:
        raise ConfigError(problems)
    values["clusters"] = {
        name: replace(cluster, mark=places.mark(("clusters", name), source.path), origin=AddressOrigin.CONFIGURATION)
        for name, cluster in values.get("clusters", {}).items()
    }
    private_keys = tuple((key[-1], places.mark(key, source.path)) for key in find_private_keys(content))
    return Config(path, **values, private_keys=private_keys)


def _read(path: Path) -> TextSource:
    try:
        return read_source(path, str(path), limit=_MOST_BYTES)
    except InputError as error:
        raise ConfigError([replace(problem, excerpt="") for problem in error.problems]) from None


def _syntax_problem(source: TextSource, sentence: str) -> Problem:
    """The parser's own sentence, which ends in its place; the line is left out, as it may hold a secret."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", sentence, re.DOTALL)
    if match is None:
        return Problem(source.path, 0, 0, f"this is not TOML: {sentence}")
    line, column = (int(match[2]), int(match[3])) if match[2] else source.find_place(len(source.text))
    return Problem(source.path, line, column, f"this is not TOML: {match[1][:1].lower()}{match[1][1:]}")


def _problem(source: TextSource, places: Places, key: Key, message: str) -> Problem:
    """A problem at a key. The excerpt ends at the =, as what follows may be a secret that does not belong there."""
    mark = places.mark(key, source.path)
    shown = source.get_line(mark.line).split("=")[0]
    excerpt = TextSource(source.path, "\n" * (mark.line - 1) + shown).make_excerpt(mark.line, mark.column)
    return Problem(source.path, mark.line, mark.column, message, excerpt)
