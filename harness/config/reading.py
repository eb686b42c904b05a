"""One relevance.toml: found, read and checked. Which of several counts is decided by `harness.config.trust`."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.places import ConfigProblems, find_places
from harness.errors import ConfigError, InputError, Problem
from harness.files.opening import TextSource, read_source
from harness.files.paths import CONFIG_NAME, FORMER_NAME
from harness.model.request import AddressOrigin, Cluster

if TYPE_CHECKING:
    from harness.model.judging import MachineJudge
    from harness.model.suite import Mark

_MOST_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Config:
    """
    One relevance.toml at *path*. Each top-level key of the file has a field of its name.

    *clusters* are by name. *variables* are names, and patterns with ``*``, of the variables that suites may read.
    *addresses* are "any", or "listed": suites may then name none of their own. *private_keys* are the keys, with their
    places, that only a trusted file may have. *judge* has the language models that judge, by name. *intervals* says
    whether reports show means with their intervals. *history* is the folder in which runs are kept, relative to that of
    the file; None where they are not.
    """

    path: Path
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    addresses: str = "any"
    private_keys: tuple[tuple[str, Mark], ...] = ()
    judge: Mapping[str, MachineJudge] = field(default_factory=dict)
    intervals: bool = True
    history: str | None = None


def read_config(path: Path) -> Config:
    """
    Read one relevance.toml.

    Raises:
        ConfigError: With everything that is wrong in it.
    """
    from harness.config.shape import TOP_LEVEL, check_top_level, find_private_keys

    if path.name == FORMER_NAME:
        command = shlex.join(["mv", str(path), str(path.with_name(CONFIG_NAME))])
        raise ConfigError.at(str(path), 0, 0, f"found {FORMER_NAME}, expected {CONFIG_NAME}; rename it: `{command}`")
    source = _read_source(path)
    try:
        content = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([_make_syntax_problem(source, str(error))]) from None
    except ValueError:
        raise ConfigError.at(source.path, 0, 0, "a number has too many digits") from None
    except RecursionError:
        raise ConfigError.at(source.path, 0, 0, "the nesting is too deep") from None
    places = find_places(source.text)
    problems = ConfigProblems(source, places)
    check_top_level(content, problems)
    values = {name: key.read(content[name], problems) for name, key in TOP_LEVEL.items() if name in content}
    if problems.found:
        raise ConfigError(problems.found)
    clusters: dict[str, Cluster] = {}
    for name, cluster in values.get("clusters", {}).items():
        mark = places.find_mark(("clusters", name), source.path)
        clusters[name] = replace(cluster, mark=mark, origin=AddressOrigin.CONFIGURATION)
    values["clusters"] = clusters
    private_keys = tuple((key[-1], places.find_mark(key, source.path)) for key in find_private_keys(content))
    return Config(path, **values, private_keys=private_keys)


def _read_source(path: Path) -> TextSource:
    # A line of relevance.toml may hold a secret that does not belong there.
    try:
        return read_source(path, str(path), limit=_MOST_BYTES)
    except InputError as error:
        raise ConfigError([replace(problem, excerpt="") for problem in error.problems]) from None


def _make_syntax_problem(source: TextSource, sentence: str) -> Problem:
    """The parser's own sentence, which ends in its place; the line is left out, as it may hold a secret."""
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", sentence, re.DOTALL)
    if match is None:
        return Problem(source.path, 0, 0, f"this is not TOML: {sentence}")
    reason = f"{match[1][:1].lower()}{match[1][1:]}"
    line, column = source.find_place(len(source.text))
    if match[2]:
        line, column = int(match[2]), int(match[3])
    return Problem(source.path, line, column, f"this is not TOML: {reason}")
