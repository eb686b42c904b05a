"""
The embedded node, a real OpenSearch: started for a run, or in the background by ``harness engine up``.

A state file per version in the cache folder describes a background node. A process counts as the node only if its
command line contains the node's own folder, so a reused process id is never mistaken for it.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from harness.embedded.jars import DownloadProgress, cache_folder, require_extra
from harness.embedded.lock import DEFAULT_VERSION, load_lock, versions
from harness.embedded.process import END_LIMIT, EmbeddedNode, launch, start
from harness.errors import UsageError
from harness.files.writing import write_whole

if TYPE_CHECKING:
    import psutil

__all__ = [
    "DEFAULT_VERSION",
    "EmbeddedNode",
    "down",
    "find_running",
    "open_node",
    "start",
    "status",
    "up",
    "versions",
]


def up(
    version: str = DEFAULT_VERSION, port: int | None = None, progress: DownloadProgress | None = None
) -> EmbeddedNode:
    """
    Start a node that stays until `down`, or find the one that runs.

    Args:
        version: A version that has a lock file.
        port: On 127.0.0.1; by default a free one.
        progress: Shows the download of the jars on first use.

    Raises:
        UsageError: there is no such version, or it runs on another port.
        EngineStartError: it cannot be started.
    """
    from filelock import FileLock

    load_lock(version)
    require_extra()
    folder = _get_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{version}.lock"):
        running = find_running(version)
        if running is None:
            return _launch(version, port or 0, progress)
        if port is not None and not running.url.endswith(f":{port}"):
            raise UsageError(
                f"OpenSearch {version} already runs at {running.url}: "
                f"stop it with `harness engine down` to have it on port {port}"
            )
        return running


def find_running(version: str) -> EmbeddedNode | None:
    """
    The running node of *version* that `up` started; None if there is none.

    Raises:
        EngineStartError: there may be one, but the extra that checks it is not installed.
    """
    state = _read_state(version)
    return state if state is not None and _find_process(state) is not None else None


@contextmanager
def open_node(version: str = DEFAULT_VERSION) -> Iterator[str]:
    """
    The URL of a node of *version*: the one that `up` started, or a new one for the ``with`` block.

    Raises:
        UsageError: there is no such version.
        EngineStartError: it cannot be started.
    """
    load_lock(version)
    running = find_running(version)
    if running is not None:
        yield running.url
        return
    with start(version) as node:
        yield node.url


def status() -> tuple[EmbeddedNode, ...]:
    """The nodes that run, newest version first."""
    nodes = (find_running(version) for version in versions())
    return tuple(node for node in nodes if node is not None)


def down(version: str | None = None) -> tuple[EmbeddedNode, ...]:
    """
    Stop the nodes that `up` started, or only that of *version*, and remove their data.

    Returns:
        Those that were running. The files of a node that died are removed too.
    """
    chosen = versions() if version is None else (version,)
    nodes = [_stop_node(name) for name in chosen]
    return tuple(node for node in nodes if node is not None)


def _launch(version: str, port: int, progress: DownloadProgress | None) -> EmbeddedNode:
    _remove_state(version)
    node, process = launch(version, port=port, progress=progress, background=True)
    with warnings.catch_warnings():
        # Python warns of a process that is still running when its object is deleted; this one keeps running.
        warnings.simplefilter("ignore", ResourceWarning)
        del process
    write_whole(_get_state_file(version), json.dumps(asdict(node), default=str))
    return node


def _stop_node(version: str) -> EmbeddedNode | None:
    """Stop the node of *version* and remove its files; None if it was not running."""
    state = find_running(version)
    if state is not None:
        process = _find_process(state)
        if process is not None:
            _end_process(process)
    _remove_state(version)
    return state


def _end_process(process: psutil.Process) -> None:
    import psutil

    try:
        process.terminate()
        process.wait(END_LIMIT)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(END_LIMIT)
    except psutil.NoSuchProcess:
        pass


def _find_process(state: EmbeddedNode) -> psutil.Process | None:
    """The process of *state*, if it is still running."""
    require_extra()
    import psutil

    try:
        process = psutil.Process(state.pid)
        alive = process.status() != psutil.STATUS_ZOMBIE and str(state.home) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    return process if alive else None


def _remove_state(version: str) -> None:
    """Remove the state file, and the folder of a node that no longer runs."""
    state = _read_state(version)
    if state is not None:
        shutil.rmtree(state.home, ignore_errors=True)
    _get_state_file(version).unlink(missing_ok=True)


def _read_state(version: str) -> EmbeddedNode | None:
    """The state file; None if there is none, or an invalid one."""
    try:
        state = json.loads(_get_state_file(version).read_text(encoding="utf-8"))
        return EmbeddedNode(state["url"], state["version"], state["pid"], Path(state["home"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _get_folder() -> Path:
    return cache_folder() / "nodes"


def _get_state_file(version: str) -> Path:
    return _get_folder() / f"{version}.json"
