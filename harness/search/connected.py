"""The common part of searches over a connection, and requests over it that are no searches."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from harness.errors import EngineUnreachable, LoginRefused, RequestRefused
from harness.model.request import SearchRequest
from harness.model.run import Engine, Failure, Response
from harness.model.suite import Json
from harness.search.answers import (
    COMPLETE,
    describe_refusal,
    find_login_refusal,
    list_error_kinds,
    read_json,
    refuses_login,
)
from harness.search.connection import Answer, Connection, MaskingConnection
from harness.search.hits import make_printable
from harness.search.protocol import ResponseStream, Search, StreamedResponse
from harness.search.server_health import Retries, ServerHealth, ServerRequest, ask_one

ConnectionT = TypeVar("ConnectionT", bound=MaskingConnection)


class ConnectedSearch(Search, ABC, Generic[ConnectionT]):
    """A search over a connection, which it closes; secrets in failures are masked."""

    who: ClassVar[str]
    """What an error about a refused login calls the server."""
    remedies: ClassVar[Mapping[int, str]] = {}
    """What to do about a refused login, by status."""

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
        self._under_way: dict[ServerHealth, int] = {}
        """The streams that are open, also of points in time, each with the thread that reads it."""

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """
        See `Search.stream`.

        Raises:
            UsageError, SearchError: As `_check` does.
            EngineUnreachable: The server does not answer.
            LoginRefused: It refuses the login in all responses.
        """
        self._check(requests, budget=budget)
        health = ServerHealth(self.retries, timeout=self.timeout, budget=budget, nodes=self._nodes)
        refusals: set[Failure | None] = set()
        self._under_way[health] = threading.get_ident()
        try:
            with closing(self._send_all(requests, health)) as responses:
                for position, response in responses:
                    if isinstance(response, Failure):
                        response = replace(response, reason=make_printable(self.connection.mask(response.reason)))
                    refusals.add(find_login_refusal(response))
                    yield StreamedResponse(position, requests[position], response, health.resent.get(position, ""))
        finally:
            del self._under_way[health]
        if health.given_up and not health.answered:
            raise EngineUnreachable(self.connection.mask(health.given_up.reason))
        self._raise_if_refused(refusals)

    def end_streams(self, thread: int) -> None:
        """See `Search.end_streams`."""
        for health, reader in tuple(self._under_way.items()):
            if reader == thread:
                health.end()

    @property
    def _nodes(self) -> int:
        """The number of nodes to try before the server is unreachable."""
        return 1

    @abstractmethod
    def _check(self, requests: Sequence[SearchRequest], *, budget: float | None) -> None:
        """Raise if *requests* must not be sent."""

    @abstractmethod
    def _send_all(
        self, requests: Sequence[SearchRequest], health: ServerHealth
    ) -> Generator[tuple[int, Response], None, None]:
        """Send *requests*, and yield each response once, with the position of its request."""

    def _raise_if_refused(self, refusals: Collection[Failure | None]) -> None:
        """Raise if the login was refused in all responses; *refusals* has what `find_login_refusal` says of each."""
        refusal = next(iter(refusals), None)
        if refusal is None or None in refusals:
            return
        if not self.connection.has_login:
            sentence = f"{self.who} refuses the request (status {refusal.status}: {refusal.reason}): {_NO_LOGIN}"
            raise LoginRefused(self.connection.mask(sentence))
        remedy = self.remedies.get(refusal.status or 0)
        sentence = f"{self.who} refuses the login (status {refusal.status}: {refusal.reason})"
        raise LoginRefused(self.connection.mask(f"{sentence}: {remedy}" if remedy else sentence))

    def close(self) -> None:
        """Close the connections."""
        self.connection.close()


# Requests that are no searches.


_NO_LOGIN = (
    "no login was sent, as the cluster has none; name its environment variables under [clusters.NAME] in "
    "relevance.toml: username_env and password_env, or api_key_env"
)
STATE_IT = 'state the engine in the target, for example `engine: "elasticsearch 9.4.3"`'


def make_login_refused(answer: Answer, connection: Connection) -> LoginRefused:
    """The error for a 401 or 403, with a remedy."""
    reason = describe_refusal(answer)
    if not connection.has_login:
        sentence = f"the engine refuses the request ({reason}): {_NO_LOGIN}"
        if answer.status == 403:
            # A proxy may allow searches to everybody, and nothing else.
            sentence += f"; if searches need none, {STATE_IT}"
        return LoginRefused(connection.mask(sentence))
    if answer.status == 401:
        remedy = "are the variables of the cluster's login set and correct, and has an API key not expired?"
    else:
        remedy = f"the login is valid but lacks the privilege; if it may only read the index, {STATE_IT}"
    return LoginRefused(connection.mask(f"the engine refuses the login ({reason}): {remedy}"))


def ask_json(
    search: ConnectedSearch[Connection], method: str, path: str, body: Json = None, *, refused: str = ""
) -> Mapping[str, Json]:
    """
    The object with which the engine of *search* answers a request that is not a search.

    Raises:
        LoginRefused: It refuses the login.
        RequestRefused: It refuses the request, or its answer is no object; *refused* begins the sentence.
    """
    sent = None if body is None else json.dumps(body).encode()
    answer = ask_one(search.connection, search.retries, ServerRequest(method, path, sent))
    if refuses_login(answer):
        raise make_login_refused(answer, search.connection)
    content = read_json(answer)
    if answer.status not in COMPLETE or not isinstance(content, Mapping):
        why = content.reason if isinstance(content, Failure) else describe_refusal(answer)
        raise RequestRefused(search.connection.mask(f"{refused}{why}"), answer.status, list_error_kinds(answer))
    return content
