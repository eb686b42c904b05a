"""Where jars come from: a download, checked against the lock file, and what to say where it fails."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.engines.cache import CACHE_VARIABLE, cache_folder
from harness.engines.lock import Jar, Lock
from harness.errors import EngineStartError

if TYPE_CHECKING:
    from jgo.maven import MavenContext

__all__ = ["Source", "sha256_of"]

ATTEMPTS = 3


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """The repositories of *context*, asked for what *lock* names."""

    lock: Lock
    context: MavenContext

    def fetch(self, jar: Jar, folder: Path) -> None:
        """
        Put *jar* under its final name in *folder*, once its checksum was right.

        Raises:
            EngineStartError: no repository gave it, or it is not what the lock file says.
        """
        staged = self._download(jar)
        found = sha256_of(staged)
        if found != jar.sha256:
            raise EngineStartError(
                f"{jar.coordinate} from {self._repositories()}: expected SHA-256 {jar.sha256} ({jar.size} bytes), "
                f"found {found} ({staged.stat().st_size} bytes); the file was refused. "
                "A proxy or a mirror may have answered with something else"
            )
        final = folder / jar.path
        final.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(final)

    def _download(self, jar: Jar) -> Path:
        """One jar in the staging folder, with a second and a third try where a connection broke."""
        from requests import ConnectTimeout

        group, artifact, version = jar.coordinate.split(":")
        wanted = self.context.project(group, artifact).at_version(version).artifact()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return Path(wanted.resolve())
            except (OSError, RuntimeError) as error:
                # jgo takes a file that is there for whole.
                (self.context.repo_cache / jar.path).unlink(missing_ok=True)
                if attempt == ATTEMPTS or isinstance(error, ConnectTimeout):
                    raise EngineStartError(self._failure(jar, error)) from error
        raise AssertionError("the last attempt returns or raises")

    def _failure(self, jar: Jar, error: Exception) -> str:
        lock = self.lock
        return (
            f"the embedded node could not be downloaded (OpenSearch {lock.opensearch}, {len(lock.jars)} jars, "
            f"{lock.size / 1e6:.0f} MB, once): {jar.coordinate} from {self._repositories()}: {_reason(error)}. "
            "Connect this machine to the network, "
            "or name a mirror of Maven Central in the section [repositories] of ~/.config/jgo.conf, "
            f"or copy {cache_folder()} from a machine that has it and set {CACHE_VARIABLE} to the copy, "
            "or give the URL of an engine that runs already"
        )

    def _repositories(self) -> str:
        return " or ".join(map(_without_login, self.context.remote_repos.values()))


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _reason(error: Exception) -> str:
    """What went wrong in words; jgo's own sentence repeats the repositories with their passwords."""
    from requests import ConnectionError as NoConnection
    from requests import RequestException, Timeout
    from requests.exceptions import ProxyError, SSLError

    words = (
        (ProxyError, "the proxy refused"),
        (SSLError, "the TLS certificate was not accepted"),
        (Timeout, "no answer in time"),
        (NoConnection, "no connection"),
        (RequestException, "the answer broke off or was malformed"),
        (OSError, f"{getattr(error, 'strerror', None) or 'the file could not be written'}"),
    )
    return next((sentence for kind, sentence in words if isinstance(error, kind)), "no repository has it")
