"""Sends batches of searches from a few threads, and decides whether each is answered, divided, or sent again."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from typing import TypeAlias

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, Response
from harness.search.answers import (
    BUSY,
    TOO_SLOW,
    WHOLE,
    Reply,
    as_batch,
    failure_of,
    may_be_one_at_fault,
    read_answer,
    retry_after,
)
from harness.search.batches import FEWEST, Batch, Batches
from harness.search.connection import (
    NDJSON,
    PLAIN_JSON,
    Answer,
    AnswerTooLarge,
    Connection,
    ConnectionClosed,
    NoAnswerInTime,
)
from harness.search.msearch import Entry, body_of, path_of
from harness.search.server_health import INTERRUPTED, ServerHealth, is_alive

SECONDS_ALIVE = 10.0
"""How long to wait for an answer to `GET /`, to see whether a server answers at all."""

TOO_LARGE = 413
CLOSED = "connection closed"
UNREACHABLE = "unreachable"
TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a batch: *responses* by place, *parts* to send next, batches to send *again* when they are due."""

    responses: Mapping[int, Response] = field(default_factory=dict)
    parts: Sequence[Batch] = ()
    again: Sequence[Batch] = ()


Sent: TypeAlias = tuple[Batch, Answer | Outcome]


class BatchSender:
    """Sends what `Batches` hands out, over one connection."""

    def __init__(self, connection: Connection, health: ServerHealth, batches: Batches) -> None:
        self._connection = connection
        self._health = health
        self._batches = batches

    def send_all(self, searches: int, senders: int) -> Generator[tuple[int, Response], None, None]:
        """
        Send everything, and yield each response once, with the place of its search.

        An interrupt, or closing the generator, ends the waiting at once; a thread that waits for an answer then sends
        nothing more.

        Args:
            searches: The number of searches.
            senders: The number of threads; one is the calling thread.
        """
        if senders == 1:
            while (batch := self._batches.take()) is not None:
                yield from self._conclude(batch, self._send(batch)).items()
            return
        news: SimpleQueue[Sent | BaseException] = SimpleQueue()
        for _ in range(senders if searches else 0):
            context = copy_context()
            Thread(target=context.run, args=(self._thread, news), name="relevance-search", daemon=True).start()
        try:
            while searches:
                while news.empty() and self._batches.read_ahead():
                    time.sleep(0)  # a sender that waits for its batch goes first
                sent = news.get()
                if isinstance(sent, BaseException):
                    raise sent  # noqa: TRY301 - as if the calling thread had met it
                responses = self._conclude(*sent)
                searches -= len(responses)
                yield from responses.items()
        except BaseException:
            self._health.given_up = INTERRUPTED
            self._batches.stop()
            raise

    def _thread(self, news: SimpleQueue[Sent | BaseException]) -> None:
        """Send until nothing is left. Answers are read by the caller, so that reading one keeps no other waiting."""
        try:
            while (batch := self._batches.take()) is not None:
                news.put((batch, self._send(batch)))
        except BaseException as error:  # it is the caller's, whatever it is
            news.put(error)

    def _conclude(self, batch: Batch, result: Answer | Outcome) -> Mapping[int, Response]:
        """The responses that *batch* has; the rest is sent again."""
        outcome = self._read(batch, result) if isinstance(result, Answer) else result
        self._batches.release(answered=len(outcome.responses), parts=outcome.parts, again=outcome.again)
        return outcome.responses

    def _send(self, batch: Batch) -> Answer | Outcome:
        """Send *batch*; returns the answer if it has to be read, else the outcome."""
        if batch.entries[0].refusal is not None:
            return _all(batch, batch.entries[0].refusal)
        self._health.wait_until(batch.due)
        seconds = self._health.seconds()
        if isinstance(seconds, Failure):
            return _all(batch, seconds)
        begun, answers = self._health.now(), self._health.answers
        mime = PLAIN_JSON if batch.entries[0].path else NDJSON
        try:
            answer = self._connection.perform(
                "POST", path_of(batch.entries), body=body_of(batch.entries), mime=mime, timeout=seconds
            )
        except NoAnswerInTime as error:
            return self._silent(batch, Failure(FailureKind.TIMEOUT, str(error)), is_alive=False, answers=answers)
        except AnswerTooLarge as error:
            self._batches.refused(len(batch.entries))
            return self._divided(batch, Failure(FailureKind.MALFORMED, str(error)), "answer too large")
        except EngineUnreachable as error:
            return self._lost(batch, error)
        self._health.record_answer(timely=answer.status not in TOO_SLOW)
        if answer.status in TOO_SLOW:
            return self._silent(batch, failure_of(answer), is_alive=True, answers=answers)
        if answer.status in WHOLE:
            self._batches.served(len(batch.entries), self._health.now() - begun, len(answer.body))
            return answer
        return self._failed(batch, answer)

    def _failed(self, batch: Batch, answer: Answer) -> Outcome:
        """The outcome of *batch* after an *answer* that is an error of the whole batch."""
        failure = failure_of(answer)
        if answer.status in BUSY:
            return self._unserved(batch, failure, retry_after(answer.headers))
        self._health.refuses(failure)
        if not may_be_one_at_fault(answer):
            return self._read(batch, answer)
        if answer.status == TOO_LARGE:
            self._batches.refused(len(batch.entries))
        return self._divided(batch, failure, f"status {answer.status}")

    def _read(self, batch: Batch, answer: Answer) -> Outcome:
        replies = read_answer(as_batch(answer) if batch.entries[0].path else answer, batch.entries)
        first = replies[0].response
        if isinstance(first, Failure) and all(reply.again for reply in replies):
            return self._unserved(batch, first, replies[0].after)
        if answer.status in WHOLE:
            self._health.record_results()
        return self._sorted(batch, replies)

    def _sorted(self, batch: Batch, replies: Sequence[Reply]) -> Outcome:
        """The searches that are answered, and those that the engine was too busy for, which are sent again."""
        responses: dict[int, Response] = {}
        again: list[Entry] = []
        due = 0.0
        for entry, reply in zip(batch.entries, replies, strict=True):
            at = self._health.retry_at(batch.attempt, reply.after) if reply.again else None
            if at is None:
                responses[entry.place] = reply.noted(batch.attempt)
            else:
                again.append(entry)
                due = max(due, at)
                self._health.resent[entry.place] = reply.cause
        if not again:
            return Outcome(responses)
        self._batches.refused(len(batch.entries), least=FEWEST)
        return Outcome(responses, again=[Batch(again, batch.attempt + 1, due)])

    def _unserved(self, batch: Batch, failure: Failure, server_pause: float | None) -> Outcome:
        """The server was too busy for all: half of them may not be too much, after a pause."""
        self._batches.refused(len(batch.entries))
        self._health.unserved(failure, seen=batch.outages, server_pause=server_pause, nodes=self._connection.nodes)
        cause = f"status {failure.status}"
        return self._divided(batch, failure, cause) if len(batch.entries) > 1 else self._again(batch, failure, cause)

    def _lost(self, batch: Batch, error: EngineUnreachable) -> Outcome:
        """A connection that could not be opened; or was closed, which a proxy may do to a large request."""
        failure = self._health.record_loss(error)
        is_closed = isinstance(error, ConnectionClosed)
        if is_closed and len(batch.entries) > 1:
            self._batches.refused(len(batch.entries))
            return self._divided(batch, failure, CLOSED, self._health.retry_at(1, None) or 0.0)
        self._health.unserved(failure, seen=batch.outages, nodes=self._connection.nodes, is_away=not is_closed)
        return self._again(batch, failure, CLOSED if is_closed else UNREACHABLE)

    def _silent(self, batch: Batch, failure: Failure, *, is_alive: bool, answers: int) -> Outcome:
        """
        No answer in time: give up if the server answers nothing else; if it does, one search may be slow.

        Where no batch was answered since this one was sent, *answers* being their number then, no search of its own is
        the cause: a node may be stopped, and the cluster takes half a minute to go on without it.
        """
        no_time = self._health.seconds()
        if isinstance(no_time, Failure):
            return _all(batch, no_time)
        self._health.record_timeout(failure)
        if self._health.given_up is None and not (is_alive or self._is_alive()):
            self._health.given_up = failure
        if 0 < answers == self._health.answers and self._batches.under_way > 1:
            self._batches.probe()
            self._health.unserved(failure, seen=batch.outages)
            return self._again(batch, failure, TIMEOUT)
        self._batches.refused(len(batch.entries))
        return self._divided(batch, failure, TIMEOUT)

    def _is_alive(self) -> bool:
        """Whether any node answers anything, within what is left of the budget."""

        def seconds() -> float:
            left = self._health.seconds()
            return SECONDS_ALIVE if isinstance(left, Failure) else min(left, SECONDS_ALIVE)

        return is_alive(self._connection, seconds)

    def _divided(self, batch: Batch, failure: Failure, cause: str, due: float = 0.0) -> Outcome:
        """Send *batch* again in halves; *failure* is the response of a single search, or if nothing more is sent."""
        if self._health.given_up is not None:
            return _all(batch, self._health.given_up)
        if len(batch.entries) == 1:
            return _all(batch, failure)
        self._note(batch, cause)
        halves = (batch.entries[::2], batch.entries[1::2])  # neighbors may share an error
        return Outcome(parts=[Batch(half, due=due) for half in halves])

    def _again(self, batch: Batch, failure: Failure, cause: str) -> Outcome:
        """Send *batch* again as it is, as often as the retries allow, when the server may be asked again."""
        if self._health.given_up is not None:
            return _all(batch, self._health.given_up)
        attempt = batch.attempt if cause == UNREACHABLE else batch.attempt + 1  # nothing was sent
        if attempt > batch.attempt and self._health.retry_at(batch.attempt, None) is None:
            return _all(batch, Reply(failure, again=True).noted(batch.attempt))
        self._note(batch, cause)
        return Outcome(again=[Batch(batch.entries, attempt)])

    def _note(self, batch: Batch, cause: str) -> None:
        self._health.resent |= {entry.place: cause for entry in batch.entries}


def _all(batch: Batch, response: Response) -> Outcome:
    return Outcome({entry.place: response for entry in batch.entries})
