"""
The process of the embedded node, a real OpenSearch: started and ended, with no container engine and no Java installed.

The node listens on 127.0.0.1 only, on a free port, has its data in a temporary folder, and stops with the process
that started it, even if that is killed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.embedded.jars import ensure_jars, require_extra
from harness.embedded.lock import DEFAULT_VERSION, load_lock
from harness.errors import EngineStartError
from harness.waits import show_work

_START_LIMIT = 120.0  # seconds; five is usual
END_LIMIT = 15.0
HEAP = "1g"  # of Java, as in -Xmx
POLL = 0.05
HOME_PREFIX = "relevance-node-"
# Lines of the node's log in an error. What Java says stands before the traceback, which Python 3.13 made longer.
LOG_TAIL = 30

# They would change the configuration of the Java machine.
UNWANTED_VARIABLES = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH")


@dataclass(frozen=True, slots=True)
class EmbeddedNode:
    """A node that answers: its *version* is as in ``3.8``, *home* its folder with data and log."""

    url: str
    version: str
    pid: int
    home: Path
    name: str
    """In its answers; no other node has it."""

    @property
    def log(self) -> Path:
        """What the node printed."""
        return self.home / "node.log"


@contextmanager
def start(version: str = DEFAULT_VERSION) -> Iterator[EmbeddedNode]:
    """
    An OpenSearch node for a ``with`` block, at a free port of 127.0.0.1; its data is removed afterwards.

    Args:
        version: A version that has a lock file, such as ``3.8`` or ``2.19``.

    Raises:
        UsageError: there is no such version.
        EngineStartError: the extra is not installed, a jar cannot be downloaded, or the node does not start.
    """
    node, process = launch(version, port=0, background=False)
    try:
        yield node
    finally:
        _end_process(process)
        shutil.rmtree(node.home, ignore_errors=True)


def launch(
    version: str, *, port: int, background: bool, quiet: bool = False
) -> tuple[EmbeddedNode, subprocess.Popen[bytes]]:
    """
    Download missing jars, start the node and wait until it answers.

    Args:
        version: As for `start`.
        port: As for `start`.
        background: Whether the node outlives this process.
        quiet: Whether neither the download of the jars on first use nor the start is shown.

    Returns:
        The node and its process, which the caller has to end.

    Raises:
        UsageError: there is no such version.
        EngineStartError: it cannot be started.
    """
    lock = load_lock(version)
    require_extra()
    classpath = [str(path) for path in ensure_jars(lock, quiet=quiet)]
    home = Path(tempfile.mkdtemp(prefix=HOME_PREFIX))
    name = f"relevance-{secrets.token_hex(16)}"
    config = {"name": name, "classpath": classpath, "port": port, "heap": HEAP}
    config |= {"parent": os.getpid(), "background": background}
    try:
        (home / "node.json").write_text(json.dumps(config), encoding="utf-8")
        process = _start_process(home, background=background)
        try:
            with show_work(f"starting OpenSearch {lock.version}", quiet=quiet):
                ready = _wait_until_ready(process, home, lock.version)
        except BaseException:
            _end_process(process)
            raise
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return EmbeddedNode(ready["url"], version, ready["pid"], home, name), process


def _start_process(home: Path, *, background: bool) -> subprocess.Popen[bytes]:
    """Start the process of the node in *home*, whose output goes to a log there."""
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED_VARIABLES}
    with (home / "node.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.embedded.node", str(home)],
            stdin=subprocess.DEVNULL if background else subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=home,
            # Else Ctrl-C in the terminal reaches the node before its parent handles it.
            start_new_session=True,
        )


def _wait_until_ready(process: subprocess.Popen[bytes], home: Path, opensearch: str) -> dict[str, Any]:
    """
    Wait until the node in *home* answers; returns what it wrote then: its URL, and the id of its process.

    Raises:
        EngineStartError: *process* has ended, or the node does not answer in time; *opensearch* is its version.
    """
    ready_file = home / "ready.json"
    deadline = time.monotonic() + _START_LIMIT
    while not ready_file.exists():
        if process.poll() is not None:
            _refuse_taken_port(home)
            raise _make_start_error("exited during start-up", opensearch, home)
        if time.monotonic() > deadline:
            raise _make_start_error(f"did not answer within {_START_LIMIT:.0f} s", opensearch, home)
        time.sleep(POLL)
    return dict(json.loads(ready_file.read_text(encoding="utf-8")))


def _refuse_taken_port(home: Path) -> None:
    """
    Raises:
        EngineStartError: the node exited because its port is in use.
    """
    port = json.loads((home / "node.json").read_text(encoding="utf-8"))["port"]
    if "Address already in use" in (home / "node.log").read_text(encoding="utf-8", errors="replace"):
        raise EngineStartError(f"the embedded node did not start: port {port} of 127.0.0.1 is taken; choose another")


def _make_start_error(what: str, opensearch: str, home: Path) -> EngineStartError:
    """An error that says *what* went wrong, with the end of the log in *home*."""
    lines = (home / "node.log").read_text(encoding="utf-8", errors="replace").splitlines()
    tail = "\n".join(f"  {line}" for line in lines[-LOG_TAIL:])
    return EngineStartError(f"the embedded node (OpenSearch {opensearch}) {what}. The end of its log:\n{tail}")


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """Terminate the process; kill it if it does not end in time."""
    if process.stdin is not None:
        process.stdin.close()
    process.terminate()
    try:
        process.wait(END_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
