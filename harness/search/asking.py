"""
Asking an engine many searches at once, and asking again what may be answered on another try.

A batch can fail as a whole where one search of it is at fault: a body that is no search refuses all of them, a slow one
holds up all. Such a batch is divided until the fault is alone. One batch is under way at a time: the engine itself
runs the searches of a batch side by side, and an interrupt is heard at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, Response
from harness.search.answers import TIME_SPENT, Reply, may_be_one_at_fault, read_answer
from harness.search.connection import NDJSON, Connection, NoAnswerInTime
from harness.search.multisearch import Entry, body_of, path_of
from harness.search.retries import Retries

__all__ = ["Asker"]

MOST_SILENCES = 12
"""
Requests without an answer in time, one after another, after which searching is given up. More than the divisions
that find one slow search in a batch, so that it alone does not end a run.
"""


class Asker:
    """
    Asks batches over one connection.

    *given_up* is set once nobody answers any more, and from then on nothing is sent. *answered* tells whether
    anything was ever answered. *comfortable* is the size of batch that was last found to be answered in time.
    """

    def __init__(
        self, connection: Connection, retries: Retries, *, timeout: float, budget: float | None = None
    ) -> None:
        """
        Args:
            connection: Where to.
            retries: How often, and how long.
            timeout: Seconds that one request may take.
            budget: Seconds that all of them may take together.
        """
        self.given_up: Failure | None = None
        self.answered = False
        self.comfortable: int | None = None
        self._connection = connection
        self._retries = retries
        self._clock = retries.clock
        self._timeout = timeout
        self._end = None if budget is None else self._clock.now() + budget
        self._silences = 0
        self._loss: EngineUnreachable | None = None

    def ask(self, batch: Sequence[Entry]) -> list[Response]:
        """
        A response for each of *batch*, in its order.

        What the engine was too busy for is asked again, alone, until the attempts or the time are spent.
        """
        begun = self._clock.now()
        responses: dict[int, Response] = {}
        pending = list(batch)
        attempt = 0
        while pending:
            attempt += 1
            replies = dict(zip((entry.place for entry in pending), self._send(pending), strict=True))
            responses |= {place: _noted(reply, attempt) for place, reply in replies.items()}
            again = [entry for entry in pending if replies[entry.place].again]
            wished = max((replies[entry.place].after or 0.0 for entry in again), default=0.0)
            pending = again if again and self._wait(attempt, begun, wished) else []
        if self._loss is not None:
            self.given_up = Failure(FailureKind.ERROR, str(self._loss))
        return [responses[entry.place] for entry in batch]

    def _wait(self, attempt: int, begun: float, wished: float) -> bool:
        """Wait before the next attempt; False, at once, where there is to be none."""
        if not self.answered:
            return attempt < self._connection.nodes  # the next node, which need not be spared
        pause = self._retries.next_pause(attempt, begun=begun, wished=wished or None, end=self._end)
        if pause is None:
            return False
        self._clock.sleep(pause)
        return True

    def _send(self, entries: Sequence[Entry]) -> list[Reply]:
        """A reply for each of *entries*, after one attempt at each."""
        left = self._timeout if self._end is None else min(self._timeout, self._end - self._clock.now())
        stop = self.given_up or (TIME_SPENT if left <= 0 else None)
        if stop is not None:
            return [Reply(stop)] * len(entries)
        try:
            answer = self._connection.perform(
                "POST", path_of(entries), body=body_of(entries), mime=NDJSON, timeout=left
            )
        except NoAnswerInTime as error:
            return self._after_silence(entries, error)
        except EngineUnreachable as error:
            self._loss = error
            return [Reply(Failure(FailureKind.ERROR, str(error)), again=True)] * len(entries)
        self.answered, self._silences, self._loss = True, 0, None
        if len(entries) > 1 and may_be_one_at_fault(answer):
            return self._divided(entries)
        return read_answer(answer, entries)

    def _divided(self, entries: Sequence[Entry]) -> list[Reply]:
        half = len(entries) // 2
        return [*self._send(entries[:half]), *self._send(entries[half:])]

    def _after_silence(self, entries: Sequence[Entry], error: NoAnswerInTime) -> list[Reply]:
        """Smaller batches where somebody is still there; where not, or where nothing comes of it, no more."""
        if self._end is not None and self._clock.now() >= self._end:
            return [Reply(TIME_SPENT)] * len(entries)
        failure = Failure(FailureKind.TIMEOUT, str(error))
        self._silences += 1
        if self._silences >= MOST_SILENCES or not self._connection.is_alive(self._timeout):
            self.given_up = failure
        if self.given_up is not None or len(entries) == 1:
            return [Reply(failure)] * len(entries)
        self.comfortable = len(entries) // 2
        return self._divided(entries)


def _noted(reply: Reply, attempt: int) -> Response:
    """The response, which says how often it was asked for where that is more than once, and in vain."""
    response = reply.response
    if attempt == 1 or not reply.again or not isinstance(response, Failure):
        return response
    return replace(response, reason=f"{response.reason} (asked {attempt} times)")
