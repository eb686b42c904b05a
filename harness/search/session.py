"""The common part of searches: a connection, the health of the server, and retries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Generic, TypeVar

from harness.errors import EngineUnreachable, LoginRefused
from harness.model import Engine, Failure, FailureKind, Ranking, Response
from harness.search.answers import BUSY, TIME_SPENT, refusal_of_all
from harness.search.connection import (
    PLAIN_JSON,
    Answer,
    Closing,
    Connection,
    ConnectionClosed,
    MaskingConnection,
    NoAnswerInTime,
)
from harness.search.hits import printable
from harness.search.retries import Retries, retry_after

MOST_SILENCES = 12
"""
Consecutive timeouts after which searching is given up. More than the divisions that isolate one slow search of a
batch, so that it alone does not end a run.
"""

MOST_HANGUPS = 3
"""
Closed connections without any answer after which no more are opened: a server that shuts down closes one, a server
that expects TLS closes all.
"""


class ServerHealth:
    """
    The state of a server during the searches of one run; several threads may report to it.

    *given_up* is set when the server no longer answers; then nothing more is sent. *answered* says whether there was
    an answer, *reached* whether a connection was accepted. *loss* is the last connection error, None after the next
    answer.
    """

    def __init__(self, retries: Retries, *, timeout: float, budget: float | None = None) -> None:
        """
        Args:
            retries: The limits of retries.
            timeout: Seconds for one request.
            budget: Seconds for all requests together.
        """
        self.given_up: Failure | None = None
        self.answered = False
        self.reached = False
        self.loss: EngineUnreachable | None = None
        self.timeout = timeout
        self._retries = retries
        self._end = None if budget is None else self.now() + budget
        self._silences = 0
        self._lock = Lock()

    def now(self) -> float:
        """Seconds on the clock of the retries."""
        return self._retries.clock.now()

    def seconds(self) -> float | Failure:
        """Seconds for the next request, or why nothing more is sent."""
        if self.given_up is not None:
            return self.given_up
        left = self.timeout if self._end is None else min(self.timeout, self._end - self.now())
        return left if left > 0 else TIME_SPENT

    def heard(self) -> None:
        """Record an answer."""
        with self._lock:
            self.answered, self.reached, self.loss, self._silences = True, True, None, 0

    def lost(self, error: EngineUnreachable) -> Failure:
        """Record a connection that failed or was closed."""
        with self._lock:
            self.loss = error
            self.reached = self.reached or isinstance(error, ConnectionClosed)
        return Failure(FailureKind.ERROR, str(error))

    def silent(self, error: EngineUnreachable) -> Failure:
        """Record a timeout; after many of these in a row nothing more is sent."""
        failure = Failure(FailureKind.TIMEOUT, str(error))
        with self._lock:
            self._silences += 1
            if self._silences >= MOST_SILENCES:
                self.given_up = failure
        return failure

    def wait(self, attempt: int, *, started: float, server_pause: float, nodes: int = 1) -> bool:
        """
        Wait before the next attempt; False, at once, if there is none.

        Args:
            attempt: The number of attempts so far.
            started: The time of the first one, by `now`.
            server_pause: Seconds of a Retry-After header, 0 if there is none.
            nodes: The number of nodes to try before the cluster is unreachable.
        """
        if not self.reached:
            return attempt < nodes  # the next node, without a pause
        if not self.answered and attempt >= max(nodes, MOST_HANGUPS):
            return False
        return self._retries.wait(attempt, started=started, server_pause=server_pause or None, end=self._end)


def ask_one(
    connection: Connection,
    retries: Retries,
    method: str,
    path: str,
    *,
    body: bytes | None = None,
    mime: str = PLAIN_JSON,
) -> Answer:
    """
    The answer to a request that is not a search, with the same retries.

    Args:
        connection: Each of its nodes is tried.
        retries: The limits of retries.
        method: An idempotent one.
        path: See `Connection.perform`.
        body: The same.
        mime: The same.

    Raises:
        EngineUnreachable: The last attempt had no answer.
    """
    health = ServerHealth(retries, timeout=math.inf)
    started, attempt = health.now(), 0
    while True:
        attempt += 1
        try:
            answer = connection.perform(method, path, body=body, mime=mime)
        except NoAnswerInTime:
            if attempt >= connection.nodes:
                raise
            continue
        except EngineUnreachable as error:
            health.lost(error)
            if not health.wait(attempt, started=started, server_pause=0.0, nodes=connection.nodes):
                raise
            continue
        health.heard()
        server_pause = retry_after(answer.headers) or 0.0
        if answer.status not in BUSY or not health.wait(attempt, started=started, server_pause=server_pause):
            return answer


ConnectionT = TypeVar("ConnectionT", bound=MaskingConnection)


class ConnectedSearch(Closing, Generic[ConnectionT]):
    """A search over a connection, which it closes; secrets in failures are masked."""

    def __init__(
        self, connection: ConnectionT, engine: Engine, *, timeout: float = 30.0, retries: Retries | None = None
    ) -> None:
        """
        Args:
            connection: To the server.
            engine: What the server is.
            timeout: Seconds for one request.
            retries: The limits of retries.
        """
        self.connection = connection
        self.engine = engine
        self.timeout = timeout
        self.retries = retries or Retries()

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()

    def _health(self, budget: float | None) -> ServerHealth:
        return ServerHealth(self.retries, timeout=self.timeout, budget=budget)

    def _raise_if_nobody_answers(self, health: ServerHealth) -> None:
        if health.given_up and not health.answered:
            raise EngineUnreachable(self.connection.mask(health.given_up.reason))

    def _raise_if_refused(self, responses: Sequence[Response], what: str, remedies: Mapping[int, str]) -> None:
        """Raise if *what* refused the login in all *responses*; *remedies* by status follow its reason."""
        refusal = refusal_of_all(responses)
        if refusal is None:
            return
        remedy = remedies.get(refusal.status or 0)
        sentence = f"{what} refuses the login (status {refusal.status}: {refusal.reason})"
        raise LoginRefused(self.connection.mask(f"{sentence}: {remedy}" if remedy else sentence))

    def _masked(self, response: Response) -> Response:
        if isinstance(response, Ranking):
            return response
        return replace(response, reason=printable(self.connection.mask(response.reason)))
