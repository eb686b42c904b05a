"""
The lock files: the jars of a server and their checksums.

A lock file has coordinates and checksums only; the repositories are part of the machine's configuration.
``scripts/lock-engine`` writes the files.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EngineStartError, UsageError
from harness.words import did_you_mean

DEFAULT_VERSION = "3.8"
LOCK_FOLDER = Path(__file__).parent
LOCK_PREFIX, LOCK_SUFFIX = "opensearch-", ".lock.toml"


@dataclass(frozen=True, slots=True)
class Jar:
    """One file of the class path: its coordinate ``group:artifact:version``, its size in bytes, its SHA-256 in hex."""

    coordinate: str
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        """Its path in a Maven repository."""
        group, artifact, version = self.coordinate.split(":")
        return Path(*group.split("."), artifact, version, f"{artifact}-{version}.jar")


@dataclass(frozen=True, slots=True)
class Lock:
    """The jars of one *version* of a *server*; *roots* are the requested ones, *jars* all resolved ones."""

    server: str
    version: str
    roots: tuple[str, ...]
    jars: tuple[Jar, ...]

    @property
    def size(self) -> int:
        """Bytes of all jars."""
        return sum(jar.size for jar in self.jars)


def versions() -> tuple[str, ...]:
    """The versions that have a lock file, newest first: ``("3.8", "2.19")``."""
    names = [
        path.name.removeprefix(LOCK_PREFIX).removesuffix(LOCK_SUFFIX)
        for path in LOCK_FOLDER.glob(f"{LOCK_PREFIX}*{LOCK_SUFFIX}")
    ]
    return tuple(sorted(names, key=lambda name: [int(part) for part in name.split(".")], reverse=True))


def load_lock(version: str) -> Lock:
    """
    The lock of *version*, such as ``3.8``.

    Raises:
        UsageError: there is no embedded node of that version.
        EngineStartError: the lock file cannot be used.
    """
    known = versions()
    if version not in known:
        hint = did_you_mean(version, known)
        raise UsageError(f"found engine version {version}, expected {' or '.join(known)}{hint}")
    path = LOCK_FOLDER / f"{LOCK_PREFIX}{version}{LOCK_SUFFIX}"
    return parse_lock(path.read_text(encoding="utf-8"), name=path.name)


def parse_lock(text: str, *, name: str) -> Lock:
    """
    The lock that *text* holds; *name* is the file's, for the error.

    Raises:
        EngineStartError: not TOML, or a key is missing.
    """
    try:
        table = tomllib.loads(text)
        jars = tuple(Jar(entry["coordinate"], int(entry["size"]), entry["sha256"]) for entry in table["jars"])
        return Lock(table["server"], table["version"], roots=tuple(table["roots"]), jars=jars)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise EngineStartError(
            f"{name}: not a lock file of the embedded node ({reason}): reinstall the package"
        ) from error


def dump_lock(lock: Lock) -> str:
    """The text of a lock file: one jar a line, in the order of the class path, so that a change is a small diff."""
    roots = [f'"{root}"' for root in lock.roots]
    jars = [_format_jar(jar) for jar in lock.jars]
    lines = ["# Written by scripts/lock-engine.", f'server = "{lock.server}"', f'version = "{lock.version}"']
    lines += _format_array("roots", roots)
    lines += _format_array("jars", jars)
    return "\n".join(lines) + "\n"


def _format_jar(jar: Jar) -> str:
    """*jar* as an inline table of TOML."""
    return f'{{ coordinate = "{jar.coordinate}", size = {jar.size}, sha256 = "{jar.sha256}" }}'


def _format_array(key: str, values: Iterable[str]) -> list[str]:
    """The lines of an array of TOML, a value a line."""
    return [f"{key} = [", *(f"  {value}," for value in values), "]"]
