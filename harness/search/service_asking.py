"""Asking an HTTP service one search at a time, from several threads, and asking again where it was busy."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, HttpRequest, Response
from harness.search.answers import BUSY, TIME_SPENT, Reply, failure_of, json_of
from harness.search.connection import Answer, NoAnswerInTime
from harness.search.hits import MalformedAnswer
from harness.search.jsonpaths import read_service_answer
from harness.search.retries import Retries, retry_after
from harness.search.web import WebConnection

__all__ = ["ServiceAsker"]

MOST_SILENCES = 12
"""Requests without an answer in time, one after another, after which searching is given up."""


class ServiceAsker:
    """
    Asks over one connection.

    *given_up* is set once nobody answers any more, and from then on nothing is sent. *answered* tells whether
    anything was ever answered.
    """

    def __init__(
        self, connection: WebConnection, retries: Retries, *, timeout: float, budget: float | None = None
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
        self._connection = connection
        self._retries = retries
        self._timeout = timeout
        self._end = None if budget is None else retries.clock.now() + budget
        self._silences = 0
        self._lock = Lock()

    def ask(self, http: HttpRequest) -> Response:
        """The response to *http*, asked again while the service is busy and there is time."""
        begun = self._retries.clock.now()
        attempt = 1
        reply = self._once(http)
        while reply.again and self.answered:
            pause = self._retries.next_pause(attempt, begun=begun, wished=reply.after, end=self._end)
            if pause is None:
                break
            self._retries.clock.sleep(pause)
            attempt += 1
            reply = self._once(http)
        return _noted(reply, attempt)

    def _once(self, http: HttpRequest) -> Reply:
        left = self._timeout if self._end is None else min(self._timeout, self._end - self._retries.clock.now())
        stop = self.given_up or (TIME_SPENT if left <= 0 else None)
        if stop is not None:
            return Reply(stop)
        try:
            answer = self._connection.perform(
                http.method, http.path, params=http.params, headers=http.headers, json=http.json, timeout=left
            )
        except NoAnswerInTime as error:
            return Reply(self._silent(error))
        except EngineUnreachable as error:
            return self._lost(error)
        with self._lock:
            self.answered, self._silences = True, 0
        return _read(answer, http)

    def _silent(self, error: NoAnswerInTime) -> Failure:
        failure = Failure(FailureKind.TIMEOUT, str(error))
        with self._lock:
            self._silences += 1
            if self._silences >= MOST_SILENCES:
                self.given_up = failure
        return failure

    def _lost(self, error: EngineUnreachable) -> Reply:
        failure = Failure(FailureKind.ERROR, str(error))
        with self._lock:
            if not self.answered:
                self.given_up = failure
        return Reply(failure, again=True)


def _read(answer: Answer, http: HttpRequest) -> Reply:
    if not 200 <= answer.status < 300:
        return Reply(failure_of(answer), answer.status in BUSY, retry_after(answer.headers))
    content = json_of(answer)
    if isinstance(content, Failure):
        return Reply(content)
    try:
        return Reply(read_service_answer(content, http))
    except MalformedAnswer as error:
        return Reply(Failure(FailureKind.MALFORMED, str(error), answer.status))


def _noted(reply: Reply, attempt: int) -> Response:
    """The response, which says how often it was asked for where that is more than once, and in vain."""
    response = reply.response
    if attempt == 1 or not reply.again or not isinstance(response, Failure):
        return response
    return replace(response, reason=f"{response.reason} (asked {attempt} times)")
