"""
The embedded node of a session, started when the first suite needs it and ended with the session.

Under pytest-xdist the controller owns the node, as workers end at different times and may be killed: a worker requests
it with a file in the shared folder, and reads the URL, or the error, from another. A node of the same version that
`relevance engine up` started is used if it runs, and is left running.
"""

from __future__ import annotations

import json
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path

from harness.errors import EngineStartError, HarnessError
from harness.files.writing import write_whole

_POLL = 0.05  # seconds
_END_LIMIT = 20.0  # seconds; a node that is still starting ends with this process


class LocalNode:
    """A node of this process."""

    def __init__(self, version: str | None) -> None:
        self._version = version
        self._url: str | None = None
        self._error: HarnessError | None = None
        self._resources = ExitStack()

    def obtain_url(self) -> str:
        """
        The node's URL; starts it on the first call.

        Raises:
            UsageError: there is no such version.
            EngineStartError: it could not be fetched or started.
        """
        if self._error is not None:
            raise self._error
        if self._url is None:
            self._url = self._start()
        return self._url

    def close(self) -> None:
        """Stop the node, if it was started here."""
        self._url = None
        self._resources.close()

    def _start(self) -> str:
        """Start the node; a failure is cached, as it may take minutes and every suite of the session asks."""
        from harness.embedded import DEFAULT_VERSION, open_node

        try:
            return self._resources.enter_context(open_node(self._version or DEFAULT_VERSION))
        except HarnessError as error:
            self._error = error
            raise


class RemoteNode:
    """The controller's node, as a worker sees it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def obtain_url(self) -> str:
        """
        The node's URL; requests it from the controller and waits.

        Raises:
            EngineStartError: the controller could not start it.
        """
        answer = self._folder / "node.answer"
        (self._folder / "node.wanted").touch()
        while not answer.exists():
            time.sleep(_POLL)
        content = json.loads(answer.read_text(encoding="utf-8"))
        if "error" in content:
            raise EngineStartError(content["error"])
        return str(content["url"])

    def close(self) -> None:
        """Do nothing: the controller stops the node."""


class NodeHost:
    """The controller's side: a thread that starts the node on a worker's request, and stops it on `close`."""

    def __init__(self, node: LocalNode, folder: Path) -> None:
        self._node = node
        self._folder = folder
        self._must_stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="relevance-node", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the node; waits for a start in progress only as long as one usually takes."""
        self._must_stop.set()
        self._thread.join(_END_LIMIT)

    def _serve(self) -> None:
        """Wait for the request of a worker, start the node, and keep it until `close`; runs in the thread."""
        # Most sessions need no node: it starts when the first worker requests it.
        while not (self._folder / "node.wanted").exists():
            if self._must_stop.wait(_POLL):
                return
        try:
            self._answer()
            self._must_stop.wait()
        finally:
            self._node.close()

    def _answer(self) -> None:
        """Write the URL, or why there is none, for the workers that wait."""
        try:
            answer = {"url": self._node.obtain_url()}
        except HarnessError as error:
            answer = {"error": str(error)}
        except Exception:
            # Whatever it is, a worker waits for an answer.
            answer = {"error": traceback.format_exc()}
        write_whole(self._folder / "node.answer", json.dumps(answer))
