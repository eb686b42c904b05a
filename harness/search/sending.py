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
from harness.model.run import Failure, FailureKind, Response
from harness.search.answers import (
    BUSY,
    COMPLETE,
    TOO_SLOW,
    RetriableResponse,
    check_values,
    find_answer_limits,
    may_be_fault_of_one,
    read_answer,
    read_failure,
    read_retry_after,
    wrap_single_answer,
)
from harness.search.batches import FEWEST, Batches, SearchBatch
from harness.search.connection import (
    NDJSON,
    PLAIN_JSON,
    Answer,
    AnswerTooLarge,
    Connection,
    ConnectionClosed,
    NoAnswerInTime,
    may_be_fault_of_node,
)
from harness.search.msearch import Entry, choose_path, join_lines
from harness.search.server_health import INTERRUPTED, RunEnded, ServerHealth, has_living_node

SECONDS_ALIVE = 10.0
"""How long to wait for an answer to `GET /`, to see whether a server answers at all."""

TOO_LARGE = 413
_CLOSED = "connection closed"
UNREACHABLE = "unreachable"
TIMEOUT = "timeout"
NO_ENGINE = "an answer that is no engine's"


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What becomes of the searches of a batch: each has a response, or is sent again."""

    responses: Mapping[int, Response] = field(default_factory=dict)
    """By the position of the search."""
    parts: Sequence[SearchBatch] = ()
    """Of the batch, to send next."""
    again: Sequence[SearchBatch] = ()
    """To send again when they are due."""


SentBatch: TypeAlias = tuple[SearchBatch, Answer | BatchResult]
"""A batch, with its answer if that is still to be read."""


class BatchSender:
    """Sends what `Batches` hands out, over one connection."""

    def __init__(self, connection: Connection, health: ServerHealth, batches: Batches) -> None:
        self._connection = connection
        self._health = health
        self._batches = batches

    def send_all(self, searches: int, senders: int) -> Generator[tuple[int, Response], None, None]:
        """
        Send everything, and yield each response once, with the position of its search.

        An interrupt, closing the generator, or the end of the health ends the waiting at once; a thread that waits for
        an answer then sends nothing more.

        Args:
            searches: The number of searches.
            senders: The number of threads; one is the calling thread.

        Raises:
            RunEnded: The health was ended.
        """
        if senders == 1:
            while (batch := self._batches.take()) is not None:
                yield from self._conclude(batch, self._send(batch)).items()
                if self._health.given_up is INTERRUPTED:
                    raise RunEnded
            return
        sent_batches: SimpleQueue[SentBatch | BaseException] = SimpleQueue()
        self._health.call_at_end(self._batches.stop)
        self._health.call_at_end(lambda: sent_batches.put(RunEnded()))
        for _ in range(senders if searches else 0):
            context = copy_context()
            sender = Thread(target=context.run, args=(self._send_taken, sent_batches), name="relevance-search")
            # A thread that waits for an answer does not keep an interrupted process alive.
            sender.daemon = True
            sender.start()
        unanswered = searches
        try:
            while unanswered:
                # While nothing has to be read, requests are built, so that no sender waits for that.
                while sent_batches.empty() and self._batches.read_ahead():
                    time.sleep(0)  # a sender that waits for its batch goes first
                sent = sent_batches.get()
                if isinstance(sent, BaseException):
                    raise sent  # noqa: TRY301 - as if the calling thread had met it
                responses = self._conclude(*sent)
                unanswered -= len(responses)
                yield from responses.items()
        except BaseException:
            self._health.given_up = INTERRUPTED
            self._batches.stop()
            raise

    def _send_taken(self, sent_batches: SimpleQueue[SentBatch | BaseException]) -> None:
        """Send until nothing is left. Answers are read by the caller, so that reading one keeps no other waiting."""
        try:
            while (batch := self._batches.take()) is not None:
                sent_batches.put((batch, self._send(batch)))
        except BaseException as error:  # it is the caller's, whatever it is
            sent_batches.put(error)

    def _conclude(self, batch: SearchBatch, sent: Answer | BatchResult) -> Mapping[int, Response]:
        """The responses that *batch* has; the rest is sent again."""
        result = self._read_answer(batch, sent) if isinstance(sent, Answer) else sent
        self._batches.release(answered=len(result.responses), parts=result.parts, again=result.again)
        return result.responses

    def _send(self, batch: SearchBatch) -> Answer | BatchResult:
        """Send *batch*; returns the answer if it has to be read, else the result."""
        if batch.entries[0].refusal is not None:
            return _answer_all(batch, batch.entries[0].refusal)
        self._health.wait_until(batch.due)
        self._health.wait_for_turn(len(batch.entries))
        seconds = self._health.seconds()
        if isinstance(seconds, Failure):
            return self._answer_unsent(batch, seconds)
        begun = self._health.now()
        answers_before = self._health.answers
        mime = PLAIN_JSON if batch.entries[0].path else NDJSON
        limits = find_answer_limits(batch.entries)
        try:
            answer = self._connection.perform(
                "POST",
                choose_path(batch.entries),
                body=join_lines(batch.entries),
                mime=mime,
                timeout=seconds,
                most_bytes=limits.most_bytes,
            )
            check_values(answer, limits.most_values)
        except NoAnswerInTime as error:
            failure = Failure(FailureKind.TIMEOUT, str(error))
            return self._handle_silence(batch, failure, is_alive=False, sent=begun, answers_before=answers_before)
        except AnswerTooLarge as error:
            failure = Failure(FailureKind.MALFORMED, str(error))
            self._health.record_answer()
            self._health.record_refusal(failure)
            self._batches.record_huge_answer()
            self._batches.record_refusal(len(batch.entries))
            return self._divide(batch, failure, "answer too large")
        except EngineUnreachable as error:
            return self._handle_loss(batch, error)
        self._health.record_answer(timely=answer.status not in TOO_SLOW)
        is_waited_for = answer.status in BUSY | TOO_SLOW
        if not is_waited_for and may_be_fault_of_node(answer) and batch.attempt < self._connection.nodes:
            # The connection asks this node only if no other is left.
            self._note_cause(batch, NO_ENGINE if answer.status in COMPLETE else f"status {answer.status}")
            return BatchResult(again=[SearchBatch(batch.entries, batch.attempt + 1)])
        if answer.status in TOO_SLOW:
            # A proxy answered in place of the engine.
            failure = read_failure(answer)
            return self._handle_silence(batch, failure, is_alive=True, sent=begun, answers_before=answers_before)
        if answer.status in COMPLETE:
            self._batches.record_answer(len(batch.entries), self._health.now() - begun, len(answer.body))
            return answer
        return self._handle_refusal(batch, answer)

    def _handle_refusal(self, batch: SearchBatch, answer: Answer) -> BatchResult:
        """The result of *batch* after an *answer* that is an error of the whole batch."""
        failure = read_failure(answer)
        if answer.status in BUSY:
            return self._handle_overload(batch, failure, read_retry_after(answer.headers))
        self._health.record_refusal(failure)
        if not may_be_fault_of_one(answer):
            return self._read_answer(batch, answer)
        if answer.status == TOO_LARGE:
            self._batches.record_refusal(len(batch.entries))
        return self._divide(batch, failure, f"status {answer.status}")

    def _read_answer(self, batch: SearchBatch, answer: Answer) -> BatchResult:
        """The responses in *answer*; the searches that the engine was too busy for are sent again."""
        if batch.entries[0].path:
            answer = wrap_single_answer(answer)
        responses = read_answer(answer, batch.entries)
        first = responses[0].response
        if isinstance(first, Failure) and all(response.may_retry for response in responses):
            return self._handle_overload(batch, first, responses[0].server_pause)
        if answer.status in COMPLETE:
            self._health.record_results()
        concluded: dict[int, Response] = {}
        retried: list[Entry] = []
        due = 0.0
        for entry, response in zip(batch.entries, responses, strict=True):
            retry_at = None
            if response.may_retry:
                retry_at = self._health.find_retry_time(batch.attempt, response.server_pause)
            if retry_at is None:
                concluded[entry.position] = response.with_attempts(batch.attempt)
            else:
                retried.append(entry)
                due = max(due, retry_at)
                self._health.resent[entry.position] = response.cause
        if not retried:
            return BatchResult(concluded)
        self._batches.record_refusal(len(batch.entries), least=FEWEST)
        return BatchResult(concluded, again=[SearchBatch(retried, batch.attempt + 1, due)])

    def _handle_overload(self, batch: SearchBatch, failure: Failure, server_pause: float | None) -> BatchResult:
        """The server was too busy for all: half of them may not be too much, after a pause."""
        self._batches.record_refusal(len(batch.entries))
        self._health.record_outage(failure, seen=batch.outages, server_pause=server_pause)
        cause = f"status {failure.status}"
        if len(batch.entries) > 1:
            return self._divide(batch, failure, cause)
        return self._repeat(batch, failure, cause)

    def _handle_loss(self, batch: SearchBatch, error: EngineUnreachable) -> BatchResult:
        """A connection that could not be opened; or was closed, which a proxy may do to a large request."""
        failure = self._health.record_loss(error)
        is_closed = isinstance(error, ConnectionClosed)
        if is_closed and len(batch.entries) > 1:
            self._batches.record_refusal(len(batch.entries))
            return self._divide(batch, failure, _CLOSED, self._health.find_retry_time(1, None) or 0.0)
        self._health.record_outage(failure, seen=batch.outages)
        return self._repeat(batch, failure, _CLOSED if is_closed else UNREACHABLE)

    def _handle_silence(
        self, batch: SearchBatch, failure: Failure, *, is_alive: bool, sent: float, answers_before: int
    ) -> BatchResult:
        """
        No answer in time: give up if the server answers nothing else; if it does, one search may be slow.

        Args:
            batch: What was not answered.
            failure: The response of a single search.
            is_alive: Whether something answered, as a proxy does that timed out itself.
            sent: When *batch* was sent, by the clock of the health.
            answers_before: The number of answers at that time.
        """
        no_time = self._health.seconds()
        if isinstance(no_time, Failure):
            return _answer_all(batch, no_time)
        self._health.record_timeout(failure, sent=sent)
        # A node that answers anything shows that this request is slow, and not the server.
        may_be_away = self._health.given_up is None and not is_alive
        if may_be_away and not has_living_node(self._connection, SECONDS_ALIVE, self._health):
            self._health.given_up = failure
        # The server had answered before *batch* was sent, and has answered none of the batches under way since: no
        # search of this one is the cause. A node may be stopped, and the cluster takes half a minute to go on without
        # it. Before the first answer, or with a single batch under way, its own searches may well be the cause.
        had_answered = answers_before > 0
        has_answered_since = self._health.answers > answers_before
        # What was sent alone, to see whether such an outage is over, is no cause either.
        is_probe = batch.outages > 0
        if had_answered and not has_answered_since and (is_probe or self._batches.under_way > 1):
            self._batches.probe(halve=is_probe)
            self._health.record_outage(failure, seen=batch.outages)
            return self._repeat(batch, failure, TIMEOUT)
        if self._is_unsent(batch.entries[0]) and len(batch.entries) == 1:
            # What is divided is sent several times; what was alone in its request is sent once more.
            return self._repeat(batch, failure, TIMEOUT)
        self._batches.record_refusal(len(batch.entries))
        return self._divide(batch, failure, TIMEOUT)

    def _is_unsent(self, entry: Entry) -> bool:
        """Whether *entry* was never sent before this time."""
        return entry.position not in self._health.resent

    def _answer_unsent(self, batch: SearchBatch, failure: Failure) -> BatchResult:
        """Each search of *batch* has *failure*, why nothing more is sent; those that were never sent say so."""
        unsent_failure = self._health.explain_unsent() or failure
        responses: dict[int, Response] = {}
        for entry in batch.entries:
            responses[entry.position] = unsent_failure if self._is_unsent(entry) else failure
        return BatchResult(responses)

    def _divide(self, batch: SearchBatch, failure: Failure, cause: str, due: float = 0.0) -> BatchResult:
        """Send *batch* again in halves; *failure* is the response of a single search, or if nothing more is sent."""
        if self._health.given_up is not None:
            return _answer_all(batch, self._health.given_up)
        if len(batch.entries) == 1:
            return _answer_all(batch, failure)
        self._note_cause(batch, cause)
        # Neighbors may share an error, such as one brand's: every other search goes into the same half.
        halves = (batch.entries[::2], batch.entries[1::2])
        return BatchResult(parts=[SearchBatch(half, due=due) for half in halves])

    def _repeat(self, batch: SearchBatch, failure: Failure, cause: str) -> BatchResult:
        """Send *batch* again as it is, as often as the retries allow, when the server may be asked again."""
        if self._health.given_up is not None:
            return _answer_all(batch, self._health.given_up)
        attempt = batch.attempt
        if cause != UNREACHABLE and batch.outages == 0:
            # What was never sent costs no attempt, nor does what was sent to see whether an outage is over: the
            # patience of the health limits both.
            attempt += 1
            if self._health.find_retry_time(batch.attempt, None) is None:
                failed = RetriableResponse(failure, may_retry=True)
                return _answer_all(batch, failed.with_attempts(batch.attempt))
        self._note_cause(batch, cause)
        return BatchResult(again=[SearchBatch(batch.entries, attempt)])

    def _note_cause(self, batch: SearchBatch, cause: str) -> None:
        """Keep why the searches of *batch* are sent again."""
        for entry in batch.entries:
            self._health.resent[entry.position] = cause


def _answer_all(batch: SearchBatch, response: Response) -> BatchResult:
    """Each search of *batch* has *response*."""
    return BatchResult({entry.position: response for entry in batch.entries})
