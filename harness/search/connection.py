"""What lies between the search door and a server: bytes out, a status and bytes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Thread
from typing import Protocol, TypeVar

from harness.errors import EngineUnreachable

__all__ = ["NDJSON", "PLAIN_JSON", "Answer", "Connection", "ConnectionClosed", "NoAnswerInTime", "within"]


T = TypeVar("T")

PLAIN_JSON = "application/json"
NDJSON = "application/x-ndjson"


class NoAnswerInTime(EngineUnreachable):
    """The connection stands, the answer did not come in time; a smaller request may still be answered."""


class ConnectionClosed(EngineUnreachable):
    """Somebody was there and went away without an answer, or with a part of one; the next request may be answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of any status; the names of *headers* are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Connection(Protocol):
    """Sends one request at a time. It never retries, and takes no status for an error."""

    @property
    def nodes(self) -> int:
        """How many servers there are to ask in turn before nobody can be reached."""
        ...

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = PLAIN_JSON, timeout: float | None = None
    ) -> Answer:
        """
        Send a request and wait for its answer.

        Args:
            method: GET, POST, PUT, DELETE or HEAD.
            path: From the slash on, encoded, with its parameters.
            body: As it goes out.
            mime: What *body* is.
            timeout: Seconds; the cluster's own where None.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
        """
        ...

    def is_alive(self, timeout: float) -> bool:
        """Whether the server answers anything at all."""
        ...

    def mask(self, text: str) -> str:
        """*text* with each secret of this connection replaced by the name of its variable."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """
    What *call* gives, or raises, if it does so in time.

    The timeouts of HTTP libraries are for one read of a socket: a server that sends a byte now and then is never late.
    So the call is made in a thread of its own, which is left to itself where it takes longer.

    Args:
        seconds: How long to wait; as long as it takes where None.
        call: Made once, with the caller's context variables.

    Raises:
        TimeoutError: It took longer.
    """
    if seconds is None:
        return call()
    outcome: Future[T] = Future()
    context = copy_context()

    def work() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # it is the caller's, whatever it is
            outcome.set_exception(error)

    Thread(target=work, name="relevance-request", daemon=True).start()
    return outcome.result(seconds)
