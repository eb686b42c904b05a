"""Where jars come from: a download, checked against the lock file, and what to say where it fails."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.engines.cache import CACHE_VARIABLE, cache_folder
from harness.engines.lock import Jar, Lock
from harness.engines.progress import DownloadProgress
from harness.errors import EngineStartError

if TYPE_CHECKING:
    from requests import Session

__all__ = ["Source", "open_session", "repositories"]


ATTEMPTS = 3
TIMEOUTS = (10, 30)  # seconds to connect, and without a byte
BLOCK = 1 << 16
PASSING = (429, 500, 502, 503, 504)


def repositories() -> list[str]:
    """The URLs of Maven repositories: those of jgo's configuration, then Maven Central unless they replace it."""
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL

    named = {**GlobalSettings.load().repositories}
    named.setdefault("central", MAVEN_CENTRAL_URL)
    return [url.rstrip("/") for url in named.values()]


def open_session(connections: int) -> Session:
    """A session that several threads share; it asks again where a server says that it is busy."""
    from requests import Session
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    retry = Retry(
        ATTEMPTS - 1,
        connect=0,
        read=0,
        status_forcelist=PASSING,
        backoff_factor=0.3,
        respect_retry_after_header=False,
        raise_on_status=False,
    )
    session = Session()
    session.headers["Accept-Encoding"] = "identity"
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(pool_maxsize=connections, max_retries=retry))
    return session


@dataclass(frozen=True, slots=True)
class Source:
    """Repositories, asked over *session* for what *lock* names; files lie in *staging* until they were checked."""

    lock: Lock
    urls: Sequence[str]
    session: Session
    staging: Path
    progress: DownloadProgress
    stopped: threading.Event = field(default_factory=threading.Event)

    def fetch(self, jar: Jar, folder: Path) -> None:
        """
        Put *jar* under its final name in *folder*, once its checksum was right.

        Raises:
            EngineStartError: no repository gave it, or it is not what the lock file says.
        """
        staged = self.staging / jar.coordinate.replace(":", "_")
        found = self._download(jar, staged)
        if found != jar.sha256:
            raise EngineStartError(
                f"{jar.coordinate} from {self._places()}: expected SHA-256 {jar.sha256} ({jar.size} bytes), "
                f"found {found} ({staged.stat().st_size} bytes); the file was refused. "
                "A proxy or a mirror may have answered with something else"
            )
        final = folder / jar.path
        final.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(final)

    def _download(self, jar: Jar, staged: Path) -> str:
        """The SHA-256 of what the first repository that has *jar* gave, with another try where a connection broke."""
        from requests import ConnectTimeout, HTTPError

        failures: list[OSError] = []
        for url in self.urls:
            for _ in range(ATTEMPTS):
                try:
                    return self._stream(f"{url}/{jar.path.as_posix()}", staged)
                except OSError as error:  # requests' errors are of this kind, too
                    failures.append(error)
                    if isinstance(error, ConnectTimeout | HTTPError):
                        break
        raise EngineStartError(self._failure(jar, failures[0])) from failures[0]

    def _stream(self, url: str, staged: Path) -> str:
        digest = hashlib.sha256()
        written = 0
        try:
            with self.session.get(url, stream=True, timeout=TIMEOUTS) as response, staged.open("wb") as file:
                response.raise_for_status()
                for block in response.iter_content(BLOCK):
                    self._end_if_stopped()
                    file.write(block)
                    digest.update(block)
                    written += len(block)
                    self.progress.advance(len(block))
        except BaseException:
            self.progress.advance(-written)
            raise
        return digest.hexdigest()

    def _end_if_stopped(self) -> None:
        if self.stopped.is_set():
            raise EngineStartError("the download was stopped")

    def _failure(self, jar: Jar, error: OSError) -> str:
        lock = self.lock
        return (
            f"the embedded node could not be downloaded (OpenSearch {lock.opensearch}, {len(lock.jars)} jars, "
            f"{lock.size / 1e6:.0f} MB, once): {jar.coordinate} from {self._places()}: {_reason(error)}. "
            "Connect this machine to the network, "
            "or name a mirror of Maven Central in the section [repositories] of ~/.config/jgo.conf, "
            f"or copy {cache_folder()} from a machine that has it and set {CACHE_VARIABLE} to the copy, "
            "or give the URL of an engine that runs already"
        )

    def _places(self) -> str:
        return " or ".join(map(_without_login, self.urls))


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _reason(error: OSError) -> str:
    """What went wrong in words; the library's own sentences can repeat a URL with its password."""
    from requests import ConnectionError as NoConnection
    from requests import HTTPError, RequestException, Timeout
    from requests.exceptions import ProxyError, SSLError

    if isinstance(error, HTTPError):
        return f"it answered {error.response.status_code} {error.response.reason}"
    words = (
        (ProxyError, "the proxy refused"),
        (SSLError, "the TLS certificate was not accepted"),
        (Timeout, "no answer in time"),
        (NoConnection, "no connection"),
        (RequestException, "the answer broke off or was malformed"),
    )
    return next((sentence for kind, sentence in words if isinstance(error, kind)), error.strerror or str(error))
