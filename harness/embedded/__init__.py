"""The embedded node, a real OpenSearch: started for a run, or in the background by ``harness engine up``."""

from __future__ import annotations

import importlib
import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.embedded import launch as embedded
from harness.embedded.jars import DownloadProgress, cache_folder, require_extra
from harness.embedded.lock import DEFAULT_VERSION, load_lock, versions
from harness.errors import UsageError
from harness.files.writing import write_whole

if TYPE_CHECKING:
    import psutil

    from harness.embedded.launch import EmbeddedNode, start

__all__ = [
    "DEFAULT_VERSION",
    "EmbeddedNode",
    "NodeState",
    "down",
    "find_running",
    "open_node",
    "start",
    "status",
    "up",
    "versions",
]


# Engines that the harness starts itself: the embedded node.
#
# What is named here is imported when it is first used.


_HOMES = {
    "harness.embedded": ("NodeState", "down", "find_running", "open_node", "status", "up"),
    "harness.embedded.launch": ("EmbeddedNode", "start"),
    "harness.embedded.lock": ("DEFAULT_VERSION", "versions"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Nodes that stay: ``harness engine up``, ``down`` and ``status``.
#
# A state file a version in the cache folder says where the node is. A process counts as the node only if its command
# line names the node's own folder, so a process id that the system has given to something else is never mistaken for
# it.


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node in the background: *version* is as in ``3.8``, *data* the folder with its data and its log."""

    url: str
    version: str
    pid: int
    data: str

    @property
    def log(self) -> Path:
        """What the node printed."""
        return Path(self.data) / "node.log"


def up(
    version: str = DEFAULT_VERSION,
    port: int | None = None,
    progress: DownloadProgress | None = None,
    *,
    heap: str = "1g",
) -> NodeState:
    """
    Start a node that stays until `down`, or find the one that runs.

    Args:
        version: A version that has a lock file.
        port: Where it is to listen on 127.0.0.1; a free port where none is given.
        progress: As for `harness.embedded.start`.
        heap: The Java heap, as in ``-Xmx``; a node that runs keeps its own.

    Raises:
        UsageError: there is no such version, or the version runs on another port than the one asked for.
        EngineStartError: it cannot be started.
    """
    from filelock import FileLock

    load_lock(version)
    require_extra()
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{version}.lock"):
        running = find_running(version)
        if running is None:
            return _launch(version, port or 0, progress, heap)
        if port is not None and not running.url.endswith(f":{port}"):
            raise UsageError(
                f"OpenSearch {version} runs already, at {running.url}: "
                f"stop it with `harness engine down` to have it on port {port}"
            )
        return running


def find_running(version: str = DEFAULT_VERSION) -> NodeState | None:
    """
    The node of *version* that `up` started and that is still there; None where there is none.

    Raises:
        EngineStartError: there may be one, and the extra that can tell is not installed.
    """
    state = _read(version)
    return state if state is not None and _process(state) is not None else None


@contextmanager
def open_node(version: str = DEFAULT_VERSION, *, progress: DownloadProgress | None = None) -> Iterator[str]:
    """
    The URL of a node of *version*: the one that `up` started, or one for the time of the ``with`` block.

    Raises:
        UsageError: there is no such version.
        EngineStartError: it cannot be started.
    """
    load_lock(version)
    running = find_running(version)
    if running is not None:
        yield running.url
        return
    with embedded.start(version, progress=progress) as node:
        yield node.url


def status() -> tuple[NodeState, ...]:
    """The nodes that run, newest version first."""
    return tuple(state for version in versions() if (state := find_running(version)) is not None)


def down(version: str | None = None) -> tuple[NodeState, ...]:
    """
    Stop the nodes that `up` started, or only that of *version*, and remove their data.

    Returns:
        Those that were running. What a node that died left behind is removed as well.
    """
    chosen = versions() if version is None else (version,)
    return tuple(state for name in chosen if (state := _stop(name)) is not None)


def _launch(version: str, port: int, progress: DownloadProgress | None, heap: str) -> NodeState:
    _forget(version)
    launched = embedded.launch(version, port=port, heap=heap, progress=progress, background=True)
    node = launched.node
    with warnings.catch_warnings():
        # A process that is let go while it runs is warned of; this one is meant to go on.
        warnings.simplefilter("ignore", ResourceWarning)
        del launched
    state = NodeState(node.url, node.version, node.pid, str(node.home))
    write_whole(_file(version), json.dumps(asdict(state)))
    return state


def _stop(version: str) -> NodeState | None:
    state = _read(version)
    process = None if state is None else _process(state)
    if process is not None:
        _end(process)
    _forget(version)
    return state if process is not None else None


def _end(process: psutil.Process) -> None:
    import psutil

    try:
        process.terminate()
        process.wait(embedded.END_LIMIT)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(embedded.END_LIMIT)
    except psutil.NoSuchProcess:
        pass


def _process(state: NodeState) -> psutil.Process | None:
    """The process of *state*, if it is the one that was started and has not ended."""
    require_extra()
    import psutil

    try:
        process = psutil.Process(state.pid)
        alive = process.status() != psutil.STATUS_ZOMBIE and state.data in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if alive else None


def _forget(version: str) -> None:
    """Remove the state file, and the folder of a node that no longer runs."""
    state = _read(version)
    if state is not None:
        shutil.rmtree(state.data, ignore_errors=True)
    _file(version).unlink(missing_ok=True)


def _read(version: str) -> NodeState | None:
    """What the state file says; a file that is not one of ours counts as none."""
    try:
        return NodeState(**json.loads(_file(version).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _folder() -> Path:
    return cache_folder() / "nodes"


def _file(version: str) -> Path:
    return _folder() / f"{version}.json"
