"""
The embedded node of a session, started when the first suite needs it and ended with the session.

Under pytest-xdist the controller owns the node, as workers end at different times and may be killed: a worker asks
for it with a file in the folder they share, and finds the URL, or what went wrong, in another. A node that `harness
engine up` started is used where one of the same version runs, and is left running.
"""

from __future__ import annotations

import json
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from harness.errors import EngineStartError, HarnessError
from harness.files.writing import write_whole

__all__ = ["LocalNode", "Node", "NodeHost", "RemoteNode"]


POLL = 0.05  # seconds
END_LIMIT = 20.0  # seconds; a node that is still starting ends with this process


class Node(Protocol):
    """Where the embedded node answers."""

    def url(self) -> str:
        """Its address; starts it where nobody has."""
        ...

    def close(self) -> None:
        """End it, where it is ours to end."""
        ...


class LocalNode:
    """A node of this process."""

    def __init__(self, version: str | None) -> None:
        self._version = version
        self._url: str | None = None
        self._error: HarnessError | None = None
        self._resources = ExitStack()

    def url(self) -> str:
        """
        Its address; starts it the first time.

        Raises:
            UsageError: there is no such version.
            EngineStartError: it could not be fetched or started.
        """
        if self._error is not None:
            raise self._error
        if self._url is None:
            self._url = self._obtain()
        return self._url

    def close(self) -> None:
        """End it, if it was started here."""
        self._url = None
        self._resources.close()

    def _obtain(self) -> str:
        """A failure is kept: starting may take minutes to fail, and every suite of the session asks."""
        from harness.embedded import DEFAULT_VERSION, find_running, start

        version = self._version or DEFAULT_VERSION
        running = find_running(version)
        if running is not None:
            return running.url
        try:
            return self._resources.enter_context(start(version)).url
        except HarnessError as error:
            self._error = error
            raise


class RemoteNode:
    """The controller's node, as a worker sees it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def url(self) -> str:
        """
        Its address; asks the controller for it and waits.

        Raises:
            EngineStartError: the controller could not start it.
        """
        answer = self._folder / "node.answer"
        (self._folder / "node.wanted").touch()
        while not answer.exists():
            time.sleep(POLL)
        found = json.loads(answer.read_text(encoding="utf-8"))
        if "error" in found:
            raise EngineStartError(found["error"])
        return str(found["url"])

    def close(self) -> None:
        """The controller ends it."""


class NodeHost:
    """The controller's side: a thread that starts the node when a worker asks, and ends it when told to."""

    def __init__(self, version: str | None, folder: Path) -> None:
        self._node = LocalNode(version)
        self._folder = folder
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="relevance-node", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the node; a start that is under way is not waited for longer than it usually takes."""
        self._ended.set()
        self._thread.join(END_LIMIT)

    def _serve(self) -> None:
        while not (self._folder / "node.wanted").exists():
            if self._ended.wait(POLL):
                return
        try:
            self._answer()
            self._ended.wait()
        finally:
            self._node.close()

    def _answer(self) -> None:
        try:
            answer = {"url": self._node.url()}
        except HarnessError as error:
            answer = {"error": str(error)}
        except Exception:
            # Whatever it is, a worker waits for an answer.
            answer = {"error": traceback.format_exc()}
        write_whole(self._folder / "node.answer", json.dumps(answer))
