"""
The connection through a client object that the user made: `elasticsearch.Elasticsearch`, `opensearchpy.OpenSearch`, or
anything with `msearch(body=…)`.

The client's login, certificates and nodes are its own; so are its retries.
"""

from __future__ import annotations

import inspect
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.errors import EngineUnreachable, HarnessError, UsageError
from harness.search.connection import (
    PLAIN_JSON,
    Answer,
    ConnectionClosed,
    NoAnswerInTime,
    was_closed,
    why_unreachable,
    within,
)

__all__ = ["adapt"]


def adapt(client: Any) -> _ClientConnection:
    """
    A connection through *client*.

    Raises:
        UsageError: It is an asynchronous client, or has nothing to search with.
    """
    if _is(client, "elasticsearch", "Elasticsearch"):
        return _ElasticsearchClient(client)
    if _is(client, "opensearchpy", "OpenSearch"):
        return _OpenSearchClient(client)
    search = getattr(client, "msearch", None)
    if not callable(search):
        raise UsageError(f"a client of type {type(client).__name__} has no `msearch` to search with")
    if inspect.iscoroutinefunction(search):
        raise UsageError(f"a client of type {type(client).__name__} is asynchronous; give the synchronous one")
    return _MsearchClient(client)


def _is(client: Any, module: str, name: str) -> bool:
    """Whether *client* is of that class, which is not imported for it: a client comes from an imported module."""
    known = getattr(sys.modules.get(module), name, None)
    return known is not None and isinstance(client, known)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request on its way to a client."""

    method: str
    path: str
    body: bytes | None
    mime: str
    timeout: float | None

    def content_type(self) -> dict[str, str]:
        """The header that says what the body is, where there is one."""
        return {} if self.body is None else {"content-type": self.mime}


class _ClientConnection(ABC):
    """What the clients have in common: one place to ask, and no secret that we know of."""

    nodes = 1

    def __init__(self, client: Any) -> None:
        self._client = client

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = PLAIN_JSON, timeout: float | None = None
    ) -> Answer:
        """See `Connection.perform`."""
        try:
            content = within(timeout, lambda: self._send(Outgoing(method, path, body, mime, timeout)))
            return Answer(_status_of(content), _dump(getattr(content, "body", content)))
        except HarnessError:
            raise
        except TimeoutError as error:
            raise NoAnswerInTime(f"the client that was given had no answer within {timeout:g} s") from error
        except Exception as error:  # what a client raises is its own affair, whatever the client
            return self._answer_in(error)

    @abstractmethod
    def _send(self, request: Outgoing) -> Any:
        """What the client gives for a request that succeeds, as JSON values."""

    @staticmethod
    def _answer_in(error: Exception) -> Answer:
        """
        The answer that the client raised instead of giving it.

        Raises:
            NoAnswerInTime: There was none in time.
            ConnectionClosed: The connection ended before it.
            EngineUnreachable: There was none at all.
        """
        meta = getattr(error, "meta", None)
        status = getattr(meta, "status", None) or getattr(error, "status_code", None)
        if isinstance(status, int):
            content = getattr(error, "body", None) or getattr(error, "info", None)
            headers = {name.lower(): value for name, value in dict(getattr(meta, "headers", None) or {}).items()}
            return Answer(status, _dump(content or {"error": str(error)}), headers)
        if "Timeout" in type(error).__name__:
            raise NoAnswerInTime("the client that was given had no answer in time") from error
        kind = ConnectionClosed if was_closed(error) else EngineUnreachable
        raise kind(f"the client that was given failed ({type(error).__name__}): {why_unreachable(error)}") from error

    def is_alive(self, timeout: float) -> bool:
        """See `Connection.is_alive`."""
        try:
            self.perform("GET", "/", timeout=timeout)
        except EngineUnreachable:
            return False
        return True

    def mask(self, text: str) -> str:
        """The client holds its login, and does not show it."""
        return text

    def close(self) -> None:
        """Let go of the client; it is the user's, who closes it."""
        self._client = None


class _ElasticsearchClient(_ClientConnection):
    def _send(self, request: Outgoing) -> Any:
        timeout = {} if request.timeout is None else {"request_timeout": request.timeout}
        headers = {"accept": PLAIN_JSON, **request.content_type()}
        client = self._client.options(**timeout)
        return client.perform_request(request.method, request.path, headers=headers, body=request.body)


class _OpenSearchClient(_ClientConnection):
    def _send(self, request: Outgoing) -> Any:
        return self._client.transport.perform_request(
            request.method,
            request.path,
            body=None if request.body is None else request.body.decode(),
            timeout=request.timeout,
            headers=request.content_type(),
        )


class _MsearchClient(_ClientConnection):
    """Any other object: it searches by `msearch(body=…)`, and says who it is by `info()` where it has that."""

    def is_alive(self, timeout: float) -> bool:
        """See `Connection.is_alive`; who has nothing to be asked is taken to be there, and a search will tell."""
        return not callable(getattr(self._client, "info", None)) or super().is_alive(timeout)

    METHODS: ClassVar[Mapping[str, str]] = {
        "/": "info",
        "/_msearch": "msearch",
        "/_msearch/template": "msearch_template",
    }

    def _send(self, request: Outgoing) -> Any:
        name = self.METHODS.get(request.path.partition("?")[0], "")
        call = getattr(self._client, name, None)
        if not callable(call):
            wanted = f"`{name}`" if name else f"way to send {request.method} {request.path}"
            raise UsageError(f"a client of type {type(self._client).__name__} has no {wanted}")
        if request.body is None:
            return call()
        return call(body=[json.loads(line) for line in request.body.splitlines()])


def _status_of(content: Any) -> int:
    """The status of an answer that carries one, as those of elasticsearch do; a client raises what is no success."""
    status = getattr(getattr(content, "meta", None), "status", 200)
    return status if isinstance(status, int) else 200


def _dump(content: Any) -> bytes:
    """JSON again, so that what a client gives is read as any other answer is; its own types count as what they hold."""
    return content.encode() if isinstance(content, str) else json.dumps(content, default=_held).encode()


def _held(value: Any) -> Any:
    return value.body if hasattr(value, "body") else str(value)
