"""
The health of a server, and retries.

Full jitter: the pause before a retry is drawn uniformly from 0 to a limit that doubles with each attempt, so that many
clients do not retry at the same time. A Retry-After header is respected.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from harness.errors import EngineUnreachable, SearchError, UsageError
from harness.model.run import Failure, FailureKind
from harness.search.answers import BUSY, TIME_SPENT, read_retry_after
from harness.search.connection import (
    PLAIN_JSON,
    Answer,
    Connection,
    ConnectionClosed,
    NameUnresolved,
    NoAnswerInTime,
    may_be_fault_of_node,
)
from harness.search.pace import Pace
from harness.words import count

MOST_SILENCES = 12
"""
Consecutive timeouts after which searching is given up; batches that wait side by side are one. More than the divisions
that isolate one slow search of a batch, so that it alone does not end a run.
"""

MOST_HANGUPS = 3
"""
Closed connections without any answer after which no more are opened: a server that shuts down closes one, a server
that expects TLS closes all.
"""

SECONDS_TO_RESOLVE = 30.0
"""
How long to wait for a name server that does not answer, before the first connection. A container or a machine that just
started has none for a few seconds; a machine without a network should say so soon.
"""

MOST_REFUSALS = 63
"""
Consecutive requests with the same error status after which no more are sent. More than it takes to find one invalid
search in a batch, so that a few of these do not end a run.
"""

LARGEST_EXPONENT = 30
"""Of the doubled pause, which is at its cap long before."""

LONGEST_STEP = 0.5
"""Seconds of a longer pause after which a thread looks whether the run goes on."""

INTERRUPTED = Failure(FailureKind.NOT_RUN, "the run was interrupted")


class RunEnded(Exception):
    """A run was ended from another thread, which wants no more of it: its queries have no responses."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and randomness, so that tests can replace them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Retries:
    """
    The limits of retries.

    *attempts* includes the first. The pause before attempt n + 1 is drawn from 0 to *base* * 2^(n - 1) seconds, at most
    *cap*. There is no retry later than *patience* seconds after the first attempt.
    """

    attempts: int = 9
    base: float = 0.5
    cap: float = 20.0
    patience: float = 120.0
    clock: Clock = field(default_factory=Clock)
    pace: Pace | None = None
    """When searches may be sent, the first time and again; all that send to one server share it. None for no limit."""

    def draw_pause(self, attempt: int, server_pause: float | None) -> float:
        """
        Seconds to wait after *attempt* (from 1) failed; *server_pause* is that of a Retry-After header.

        Jitter is added to it too, because the server sends the same value to all clients.
        """
        drawn = self.clock.chance() * min(self.cap, self.base * 2.0 ** min(attempt - 1, LARGEST_EXPONENT))
        if server_pause is None:
            return drawn
        return server_pause + min(drawn, self.base)

    def find_pause(
        self,
        attempt: int,
        *,
        started: float,
        server_pause: float | None,
        end: float | None,
        is_away: bool = False,
    ) -> float | None:
        """
        Seconds to wait before the next attempt, None if there is none.

        Args:
            attempt: The number of attempts so far.
            started: The time of the first one, by the clock.
            server_pause: Seconds of a Retry-After header.
            end: The end of the whole run, by the clock.
            is_away: Whether no node could be asked at all: then *patience* alone is the limit, as a start takes long.
        """
        if attempt >= self.attempts and not is_away:
            return None
        pause = self.draw_pause(attempt, server_pause)
        next_attempt = self.clock.now() + pause
        if next_attempt > started + self.patience:
            return None
        if end is not None and next_attempt >= end:
            return None
        return pause

    def wait(self, attempt: int, *, started: float, server_pause: float | None, end: float | None) -> bool:
        """Wait for the pause of `find_pause`; False, at once, if there is none."""
        pause = self.find_pause(attempt, started=started, server_pause=server_pause, end=end)
        if pause is not None:
            self.clock.sleep(pause)
        return pause is not None


class ServerHealth:
    """
    The state of a server during the searches of one run; several threads may report to it.

    *given_up* is set when the server no longer answers; then nothing more is sent. *answers* counts the answers,
    *reached* says whether a connection was accepted. *outages* counts the consecutive attempts at which the server did
    not serve. *resent* has why a request was sent again, by its position.
    """

    def __init__(self, retries: Retries, *, timeout: float, budget: float | None = None, nodes: int = 1) -> None:
        """
        Args:
            retries: The limits of retries.
            timeout: Seconds for one request.
            budget: Seconds for all requests together.
            nodes: The number of nodes to try before the cluster is unreachable.
        """
        self.given_up: Failure | None = None
        self.answers = 0
        self.reached = False
        self.timeout = timeout
        self.outages = 0
        self.resent: dict[int, str] = {}
        self._retries = retries
        self._nodes = nodes
        self._end = None if budget is None else self.now() + budget
        self._silences = 0
        self._silent_since = 0.0
        self._last_silence = 0.0
        self._down_since = 0.0
        self._not_before = 0.0
        self._is_name_unresolved = False
        self._refused_status: int | None = None
        self._refusals = 0
        """Consecutive requests that failed with that status."""
        self._lock = Lock()
        self._at_end: list[Callable[[], object]] = []

    def end(self) -> None:
        """Send nothing more, and let the thread that waits for responses go on with `RunEnded`; from any thread."""
        with self._lock:
            self.given_up = INTERRUPTED
            waiting = list(self._at_end)
        for wake in waiting:
            wake()

    def call_at_end(self, wake: Callable[[], object]) -> None:
        """Let `end` call *wake*, at once if it was called before."""
        with self._lock:
            self._at_end.append(wake)
            is_ended = self.given_up is INTERRUPTED
        if is_ended:
            wake()

    @property
    def answered(self) -> bool:
        """Whether there was an answer."""
        return self.answers > 0

    @property
    def gone(self) -> Failure | None:
        """Why the server was given up, if it does not serve; None if it refuses requests, or after an interrupt."""
        failure = self.given_up
        if failure is None or failure is INTERRUPTED:
            return None
        return failure if failure.status is None or failure.status in BUSY else None

    def explain_unsent(self) -> Failure | None:
        """What is the response to a search that was never sent, if the server was given up before."""
        failure = self.given_up
        if failure is None or failure is INTERRUPTED or not self.answered:
            return failure
        return replace(failure, reason=f"not sent, as the server was given up: {failure.reason}")

    def now(self) -> float:
        """Seconds on the clock of the retries."""
        return self._retries.clock.now()

    def seconds(self) -> float | Failure:
        """Seconds for the next request, or why nothing more is sent."""
        if self.given_up is not None:
            return self.given_up
        seconds = self.timeout
        if self._end is not None:
            seconds = min(seconds, self._end - self.now())
        return seconds if seconds > 0 else TIME_SPENT

    def record_answer(self, *, timely: bool = True) -> None:
        """Record an answer; one that is not *timely* is a proxy's, which timed out itself."""
        with self._lock:
            self.answers += 1
            self.reached = True
            if timely:
                self._silences = 0

    def record_loss(self, error: EngineUnreachable) -> Failure:
        """Record a connection that failed or was closed."""
        with self._lock:
            self.reached = self.reached or isinstance(error, ConnectionClosed)
            self._is_name_unresolved = isinstance(error, NameUnresolved)
        return Failure(FailureKind.ERROR, str(error))

    def record_timeout(self, failure: Failure, *, sent: float = math.inf) -> None:
        """
        Record a timeout; after many of these in a row nothing more is sent.

        Args:
            failure: Of the whole request.
            sent: When a batch was sent, by `now`: those that wait side by side are one timeout. By default it counts.
        """
        with self._lock:
            if self._silences == 0:
                self._silent_since = self.now()
            elif sent < self._last_silence:
                # Four senders whose batches are too much would otherwise be given up after three divisions.
                return
            self._last_silence = self.now()
            self._silences += 1
            # With a short timeout there are many silences before a cluster can go on without a stopped node.
            has_patience = self.answered and self.now() < self._silent_since + self._retries.patience
            if self._silences >= MOST_SILENCES and not has_patience:
                self.given_up = failure

    def record_results(self) -> None:
        """Record an answer with results."""
        with self._lock:
            self.outages = 0
            self._refused_status, self._refusals = None, 0

    def record_outage(self, failure: Failure, *, seen: int, server_pause: float | None = None) -> None:
        """
        Record that the server is busy or away: nothing is sent before a pause, and if there is no retry, nothing more.

        The patience alone is the limit: a start takes long, and so does a cluster that replaces a node or a shard.

        Args:
            failure: Of the whole request.
            seen: `outages` when the request was sent: requests that fail side by side are one outage.
            server_pause: Seconds of a Retry-After header.
        """
        with self._lock:
            if seen != self.outages or self.given_up is not None:
                return
            if self.outages == 0:
                self._down_since = self.now()
            self.outages += 1
            pause = self._find_pause(self.outages, self._down_since, server_pause, is_away=True)
            if pause is not None:
                self._not_before = self.now() + pause
            elif self.answered:
                note = f"given up after {count(self.outages, 'attempt')}"
                if server_pause:
                    note += f", as it asks for a pause of {server_pause:g} s"
                self.given_up = replace(failure, reason=f"{failure.reason} ({note})")
            else:
                self.given_up = failure

    def record_refusal(self, failure: Failure) -> None:
        """Record a whole request that failed with a status; after many of these in a row nothing more is sent."""
        with self._lock:
            if failure.status != self._refused_status:
                self._refused_status, self._refusals = failure.status, 0
            self._refusals += 1
            if self._refusals >= MOST_REFUSALS and self.given_up is None:
                reason = f"{failure.reason} (given up after {self._refusals} requests in a row)"
                self.given_up = replace(failure, reason=reason)

    def find_retry_time(self, attempt: int, server_pause: float | None) -> float | None:
        """When a search may be sent again that failed *attempt* times, by the clock; None if never."""
        now = self.now()
        pause = self._retries.find_pause(attempt, started=now, server_pause=server_pause, end=self._end)
        return None if pause is None else now + pause

    def wait_until(self, due: float) -> None:
        """Sleep until *due*, and until the server may be asked again."""
        pause = max(due, self._not_before) - self.now()
        if pause > 0 and self.given_up is None:
            self._retries.clock.sleep(pause)

    def wait_for_turn(self, searches: int) -> None:
        """Sleep until *searches* may be sent together, or until nothing more is sent."""
        if self._retries.pace is None:
            return
        turn = self._retries.pace.take_turn(searches, self.now())
        if self._end is not None:
            turn = min(turn, self._end)
        while (pause := turn - self.now()) > 0 and self.given_up is None:
            # In steps: a thread that sleeps does not see that the run was interrupted.
            self._retries.clock.sleep(min(pause, LONGEST_STEP))

    def _find_pause(
        self, attempt: int, started: float, server_pause: float | None, *, is_away: bool = False
    ) -> float | None:
        """Seconds to wait before the next attempt, None if there is none."""
        if not self.reached and self._is_name_unresolved:
            patience = min(self._retries.patience, SECONDS_TO_RESOLVE)
            retries = replace(self._retries, patience=patience)
            return retries.find_pause(attempt, started=started, server_pause=None, end=self._end, is_away=True)
        if not self.reached:
            # No connection was accepted: the next node is tried without a pause, and each once.
            return 0.0 if attempt < self._nodes else None
        if not self.answered and attempt >= max(self._nodes, MOST_HANGUPS):
            return None
        return self._retries.find_pause(
            attempt, started=started, server_pause=server_pause, end=self._end, is_away=is_away
        )

    def wait(self, attempt: int, *, started: float, server_pause: float) -> bool:
        """
        Wait before the next attempt; False, at once, if there is none.

        Args:
            attempt: The number of attempts so far.
            started: The time of the first one, by `now`.
            server_pause: Seconds of a Retry-After header, 0 if there is none.
        """
        pause = self._find_pause(attempt, started, server_pause or None)
        if pause:
            self._retries.clock.sleep(pause)
        return pause is not None


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A request that is not a search, as `Connection.perform` takes it."""

    method: str
    """An idempotent one."""
    path: str
    body: bytes | None = None
    mime: str = PLAIN_JSON


def ask_one(
    connection: Connection,
    retries: Retries,
    request: ServerRequest,
    *,
    timeout: float = math.inf,
    budget: float | None = None,
) -> Answer:
    """
    Send a request that is not a search, with the same retries, and return its answer.

    Args:
        connection: Each of its nodes is tried.
        retries: The limits of retries.
        request: What is sent.
        timeout: Seconds for one attempt; by default the connection's own.
        budget: Seconds for all attempts together.

    Raises:
        EngineUnreachable: The last attempt had no answer.
    """
    health = ServerHealth(retries, timeout=timeout, budget=budget, nodes=connection.nodes)
    started = health.now()
    attempt = 0
    while True:
        attempt += 1
        health.wait_for_turn(1)
        seconds = health.seconds()
        if isinstance(seconds, Failure):
            raise NoAnswerInTime(seconds.reason)
        try:
            answer = connection.perform(
                request.method,
                request.path,
                body=request.body,
                mime=request.mime,
                timeout=None if math.isinf(seconds) else seconds,
            )
        except NoAnswerInTime:
            # A node that is silent may be stopped: each is asked once.
            if attempt >= connection.nodes or isinstance(health.seconds(), Failure):
                raise
            continue
        except EngineUnreachable as error:
            health.record_loss(error)
            if not health.wait(attempt, started=started, server_pause=0.0):
                raise
            continue
        health.record_answer()
        if answer.status not in BUSY and may_be_fault_of_node(answer) and attempt < connection.nodes:
            continue
        server_pause = read_retry_after(answer.headers) or 0.0
        if answer.status not in BUSY or not health.wait(attempt, started=started, server_pause=server_pause):
            return answer


def has_living_node(connection: Connection, seconds: float, health: ServerHealth | None = None) -> bool:
    """
    Whether any node answers `GET /`, with whatever status, within *seconds*, and within what *health* has left.

    A client that cannot send `GET /` is taken to be connected.
    """
    for _ in range(connection.nodes):
        seconds_left = math.inf if health is None else health.seconds()
        timeout = seconds if isinstance(seconds_left, Failure) else min(seconds, seconds_left)
        try:
            connection.perform("GET", "/", timeout=timeout)
        except UsageError:
            return True
        except SearchError:
            continue
        return True
    return False
