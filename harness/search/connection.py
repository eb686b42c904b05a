"""What lies between the search door and a server: bytes out, a status and bytes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.errors import EngineUnreachable

__all__ = ["NDJSON", "PLAIN_JSON", "Answer", "Connection", "NoAnswerInTime"]

PLAIN_JSON = "application/json"
NDJSON = "application/x-ndjson"


class NoAnswerInTime(EngineUnreachable):
    """The connection stands, the answer did not come in time; a smaller request may still be answered."""


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
            NoAnswerInTime: The server did not answer within *timeout*.
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
