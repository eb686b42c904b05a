"""
The embedded node, a real OpenSearch: started for a run, or in the background by ``relevance engine up``.

A state file per version in the runtime folder of the user describes a background node. It is searched only if its
process is the one that was started and the node answers with its own name; see `embedded.state`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.embedded.jars import require_extra
from harness.embedded.lock import DEFAULT_VERSION, load_lock, versions
from harness.embedded.process import END_LIMIT, EmbeddedNode, launch, start
from harness.embedded.state import find_process, is_answering, make_state_folder, read_state, remove_state, write_state
from harness.errors import UsageError
from harness.files.folders import Folder
from harness.files.locks import hold_lock

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


def up(version: str = DEFAULT_VERSION, port: int | None = None, *, quiet: bool = False) -> EmbeddedNode:
    """
    Start a node that stays until `down`, or find the one that runs.

    Args:
        version: A version that has a lock file.
        port: On 127.0.0.1; by default a free one.
        quiet: Whether the download of the jars on first use is not shown.

    Raises:
        UsageError: there is no such version, or it runs on another port.
        EngineStartError: it cannot be started.
    """
    load_lock(version)
    require_extra()
    folder = make_state_folder()
    with hold_lock(Folder(folder), f"{version}.lock", waits=True):
        running = find_running(version)
        if running is None:
            # One that no longer answers would run on without a state file.
            _stop_node(version)
            return _launch(version, port or 0, quiet=quiet)
        if port is not None and not running.url.endswith(f":{port}"):
            raise UsageError(
                f"OpenSearch {version} already runs at {running.url}: "
                f"stop it with `relevance engine down` to have it on port {port}"
            )
        return running


def find_running(version: str) -> EmbeddedNode | None:
    """
    The running node of *version* that `up` started; None if there is none.

    Raises:
        EngineStartError: there may be one, but the extra that checks it is not installed.
    """
    state = read_state(version)
    if state is None or find_process(state) is None or not is_answering(state.node):
        return None
    return state.node


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


def _launch(version: str, port: int, *, quiet: bool) -> EmbeddedNode:
    """Start a node that outlives this process, and write its state file."""
    node, process = launch(version, port=port, background=True, quiet=quiet)
    with warnings.catch_warnings():
        # Python warns of a process that is still running when its object is deleted; this one keeps running.
        warnings.simplefilter("ignore", ResourceWarning)
        del process
    write_state(node)
    return node


def _stop_node(version: str) -> EmbeddedNode | None:
    """Stop the node of *version*, also one that no longer answers, and remove its files; None if it was not running."""
    state = read_state(version)
    stopped_node = None
    if state is not None:
        process = find_process(state)
        if process is not None:
            _end_process(process)
            stopped_node = state.node
    remove_state(version)
    return stopped_node


def _end_process(process: psutil.Process) -> None:
    """Terminate *process*; kill it if it does not end in time."""
    import psutil

    try:
        process.terminate()
        process.wait(END_LIMIT)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(END_LIMIT)
    except psutil.NoSuchProcess:
        pass
