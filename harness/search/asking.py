"""Asking an engine many searches at once, by `_msearch`, and asking again what may be answered on another try."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, Response
from harness.search.answers import BUSY, Reply, may_be_one_at_fault, read_answer
from harness.search.retries import Retries, retry_after
from harness.search.session import ServerHealth
from harness.search.wire import NDJSON, PLAIN_JSON, Answer, Connection, Entry, NoAnswerInTime, body_of, path_of

__all__ = ["Asker", "Batches", "ask_one"]


# Asking an engine many searches at once, by `_msearch`, and asking again what may be answered on another try.


class Asker:
    """Asks batches over one connection; *comfortable* is the size of batch that was last found answered in time."""

    def __init__(self, connection: Connection, course: ServerHealth) -> None:
        """
        Args:
            connection: Where to.
            course: How it goes, and how long it may.
        """
        self.comfortable: int | None = None
        self._connection = connection
        self._course = course

    def ask(self, batch: Sequence[Entry]) -> list[Response]:
        """
        A response for each of *batch*, in its order.

        What the engine was too busy for is asked again, alone, until the attempts or the time are spent.
        """
        begun = self._course.now()
        responses: dict[int, Response] = {}
        pending = list(batch)
        attempt = 0
        while pending:
            attempt += 1
            replies = dict(zip((entry.place for entry in pending), self._send(pending), strict=True))
            responses |= {place: reply.noted(attempt) for place, reply in replies.items()}
            again = [entry for entry in pending if replies[entry.place].again]
            wished = max((replies[entry.place].after or 0.0 for entry in again), default=0.0)
            nodes = self._connection.nodes
            pending = again if again and self._course.wait(attempt, begun=begun, wished=wished, nodes=nodes) else []
        if self._course.loss is not None:
            self._course.given_up = Failure(FailureKind.ERROR, str(self._course.loss))
        return [responses[entry.place] for entry in batch]

    def _send(self, entries: Sequence[Entry]) -> list[Reply]:
        """A reply for each of *entries*, after one attempt at each."""
        seconds = self._course.seconds()
        if isinstance(seconds, Failure):
            return [Reply(seconds)] * len(entries)
        try:
            answer = self._connection.perform(
                "POST", path_of(entries), body=body_of(entries), mime=NDJSON, timeout=seconds
            )
        except NoAnswerInTime as error:
            return self._after_silence(entries, error)
        except EngineUnreachable as error:
            return [Reply(self._course.lost(error), again=True)] * len(entries)
        self._course.heard()
        if len(entries) > 1 and may_be_one_at_fault(answer):
            return self._divided(entries)
        return read_answer(answer, entries)

    def _divided(self, entries: Sequence[Entry]) -> list[Reply]:
        half = len(entries) // 2
        return [*self._send(entries[:half]), *self._send(entries[half:])]

    def _after_silence(self, entries: Sequence[Entry], error: NoAnswerInTime) -> list[Reply]:
        """Smaller batches where somebody is still there; where not, or where nothing comes of it, no more."""
        spent = self._course.seconds()
        if isinstance(spent, Failure):
            return [Reply(spent)] * len(entries)
        failure = self._course.silent(error)
        if self._course.given_up is None and not self._connection.is_alive(self._course.timeout):
            self._course.given_up = failure
        if self._course.given_up is not None or len(entries) == 1:
            return [Reply(failure)] * len(entries)
        self.comfortable = len(entries) // 2
        return self._divided(entries)


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
    The answer to a request that is no search, asked again like a search while the server is busy or hangs up.

    Args:
        connection: Where to; each of its nodes is tried before nobody is there.
        retries: How often, and how long.
        method: One that may be sent twice.
        path: See `Connection.perform`.
        body: The same.
        mime: The same.

    Raises:
        EngineUnreachable: There is no answer, the last time either.
    """
    course = ServerHealth(retries, timeout=math.inf)
    begun, attempt = course.now(), 0
    while True:
        attempt += 1
        try:
            answer = connection.perform(method, path, body=body, mime=mime)
        except NoAnswerInTime:
            if attempt >= connection.nodes:
                raise
            continue
        except EngineUnreachable as error:
            course.lost(error)
            if not course.wait(attempt, begun=begun, wished=0.0, nodes=connection.nodes):
                raise
            continue
        course.heard()
        wished = retry_after(answer.headers) or 0.0
        if answer.status not in BUSY or not course.wait(attempt, begun=begun, wished=wished):
            return answer


# Searches cut into batches, each of which is one request.


MOST_SEARCHES = 250
MOST_BYTES = 4 * 1024 * 1024


class Batches:
    """Entries cut into batches: templates apart, none over the limits of searches and bytes unless it is one search."""

    def __init__(self, entries: Sequence[Entry], *, most: int = MOST_SEARCHES, most_bytes: int = MOST_BYTES) -> None:
        self._entries = sorted(entries, key=lambda entry: (entry.is_template, entry.place))
        self._most = most
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        size = 0
        for entry in self._entries:
            if batch and not self._fits(entry, batch, size):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += len(entry.lines)
        if batch:
            yield batch

    def _fits(self, entry: Entry, batch: Sequence[Entry], size: int) -> bool:
        alike = entry.is_template == batch[0].is_template
        return alike and len(batch) < self._most and size + len(entry.lines) <= self._most_bytes

    def no_larger_than(self, most: int) -> None:
        """Cut what is still to come into batches of at most *most*."""
        self._most = max(1, min(self._most, most))
