"""Asking an HTTP service one search at a time, from several threads, and asking again where it was busy."""

from __future__ import annotations

from harness.errors import EngineUnreachable
from harness.model import Failure, FailureKind, HttpRequest, Response
from harness.search.answers import BUSY, WHOLE, Reply, failure_of, json_of
from harness.search.connection import Answer, NoAnswerInTime
from harness.search.course import ServerHealth
from harness.search.hits import MalformedAnswer
from harness.search.jsonpaths import read_service_answer
from harness.search.retries import retry_after
from harness.search.web import WebConnection

__all__ = ["ServiceAsker"]


class ServiceAsker:
    """Asks over one connection; given up is what was never answered, for one search can be what ends a connection."""

    def __init__(self, connection: WebConnection, course: ServerHealth) -> None:
        """
        Args:
            connection: Where to.
            course: How it goes, and how long it may.
        """
        self._connection = connection
        self._course = course

    def ask(self, http: HttpRequest) -> Response:
        """The response to *http*, asked again while the service is busy and there is time."""
        begun = self._course.now()
        attempt = 1
        reply = self._once(http)
        while reply.again and self._course.wait(attempt, begun=begun, wished=reply.after or 0.0):
            attempt += 1
            reply = self._once(http)
        response = reply.noted(attempt)
        if reply.again and isinstance(response, Failure) and not self._course.answered:
            self._course.given_up = response
        return response

    def _once(self, http: HttpRequest) -> Reply:
        seconds = self._course.seconds()
        if isinstance(seconds, Failure):
            return Reply(seconds)
        try:
            answer = self._connection.perform(
                http.method, http.path, params=http.params, headers=http.headers, json=http.json, timeout=seconds
            )
        except NoAnswerInTime as error:
            spent = self._course.seconds()
            return Reply(spent if isinstance(spent, Failure) else self._course.silent(error))
        except EngineUnreachable as error:
            return Reply(self._course.lost(error), again=True)
        self._course.heard()
        return _read(answer, http)


def _read(answer: Answer, http: HttpRequest) -> Reply:
    if answer.status not in WHOLE:
        return Reply(failure_of(answer), answer.status in BUSY, retry_after(answer.headers))
    content = json_of(answer)
    if isinstance(content, Failure):
        return Reply(content)
    try:
        return Reply(read_service_answer(content, http))
    except MalformedAnswer as error:
        return Reply(Failure(FailureKind.MALFORMED, str(error), answer.status))
