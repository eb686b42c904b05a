"""The connection to a server: requests and answers, their limits, and messages for connection errors."""

from __future__ import annotations

import logging
import re
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from http.client import IncompleteRead
from threading import Thread
from types import TracebackType
from typing import Protocol, Self, TypeVar

from harness.config import uses_tls
from harness.errors import EngineUnreachable, LoginRefused, SearchError

T = TypeVar("T")
PLAIN_JSON = "application/json"
NDJSON = "application/x-ndjson"

LARGEST_ANSWER = 256 * 2**20
"""The most bytes of any answer, after decompression, that are read."""


class NoAnswerInTime(EngineUnreachable):
    """The answer did not arrive in time; a smaller request may succeed."""


class ConnectionClosed(EngineUnreachable):
    """The server closed the connection before the end of its answer; the next request may succeed."""


class NameUnresolved(EngineUnreachable):
    """No name server answered; the host name may be resolved later."""


class AnswerTooLarge(SearchError):
    """The answer is larger than is read; that to a smaller request may not be."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of any status; the names of *headers* are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    milliseconds: float | None = field(default=None, compare=False)
    """From the request to the last byte of the answer; None if nothing measured it."""


_BROKEN = 500


def may_be_fault_of_node(answer: Answer) -> bool:
    """
    Whether another node may give a sound answer: this one is broken, or it is no engine and answers with a page.

    An engine answers with JSON, whatever the status, or refuses a request with nothing.

    >>> may_be_fault_of_node(Answer(200, b"<html>")), may_be_fault_of_node(Answer(200, b""))
    (True, True)
    >>> may_be_fault_of_node(Answer(404, b'{"error": "no index"}')), may_be_fault_of_node(Answer(403, b""))
    (False, False)
    """
    content = answer.body.lstrip()
    if answer.status == _BROKEN:
        return True
    if not content:
        return answer.status < 400
    return not content.startswith((b"{", b"["))


class MaskingConnection(Protocol):
    """What a connection to an engine and one to an HTTP service have in common."""

    has_login: bool
    """Whether its requests have a login or a client certificate."""

    def mask(self, text: str, /) -> str:
        """*text* with each secret of this connection replaced by the name of its variable."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class Connection(MaskingConnection, Protocol):
    """Sends one request at a time. It never retries, and treats no status as an error."""

    @property
    def nodes(self) -> int:
        """The number of nodes to try before the cluster is unreachable."""
        ...

    def perform(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        mime: str = PLAIN_JSON,
        timeout: float | None = None,
        most_bytes: int = LARGEST_ANSWER,
    ) -> Answer:
        """
        Send a request and wait for its answer.

        Args:
            method: GET, POST, PUT, DELETE or HEAD.
            path: From the slash on, encoded, with its parameters.
            body: The encoded body.
            mime: The media type of *body*.
            timeout: Seconds; by default the cluster's.
            most_bytes: Of the answer, after decompression.

        Raises:
            AnswerTooLarge: The answer has more than *most_bytes*.
            NoAnswerInTime: The answer was not complete within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            NameUnresolved: The host name cannot be resolved now.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
        """
        ...


REQUEST_LOGGERS = ("urllib3.connectionpool", "elastic_transport.node", "elastic_transport.transport", "opensearch")
"""Of the libraries that log the URLs, and some the bodies, of requests."""

_IS_OURS: ContextVar[bool] = ContextVar("request of the harness", default=False)


def _is_loggable(record: logging.LogRecord) -> bool:  # noqa: ARG001
    """A filter of loggers: nothing that the harness sends in this context is logged."""
    return not _IS_OURS.get()


def _call_unlogged(call: Callable[[], T]) -> T:
    """
    The result of *call*, a request that no library logs: variables of the environment may stand in its URL.

    Nothing else that these libraries send is left out of their logs.
    """
    for name in REQUEST_LOGGERS:
        logging.getLogger(name).addFilter(_is_loggable)  # the same filter is added once
    token = _IS_OURS.set(True)
    try:
        return call()
    finally:
        _IS_OURS.reset(token)


def run_within(seconds: float | None, call: Callable[[], T]) -> T:
    """
    The result of *call*, a request, if it takes at most *seconds*; no library logs it.

    The timeouts of HTTP libraries limit one read of a socket: a server that sends a byte now and then never times out.
    So the call is made in a separate thread, which is abandoned if it takes longer.

    Args:
        seconds: How long to wait; no limit if None.
        call: Made once, with the caller's context variables.

    Raises:
        TimeoutError: It took longer.
    """
    if seconds is None:
        return _call_unlogged(call)
    outcome: Future[T] = Future()
    Thread(target=_complete, args=(outcome, copy_context(), call), name="relevance-request", daemon=True).start()
    try:
        return outcome.result(seconds)
    finally:
        # The traceback of an error has the frames that hold the outcome, and the outcome holds the error. In this cycle
        # what was read of the answer would stay in memory: a run does not search for cycles, see `gc_paused`.
        del outcome


def _complete(outcome: Future[T], context: Context, call: Callable[[], T]) -> None:
    """Give *outcome* the result of *call* in *context*, or its error."""
    try:
        outcome.set_result(context.run(_call_unlogged, call))
    except BaseException as error:  # it is the caller's, whatever it is
        outcome.set_exception(error)
    finally:
        del outcome  # as in `run_within`


CHUNK = 256 * 1024
"""Bytes of an answer that are read at once."""


def read_in_time(chunks: Iterable[bytes], end: float, most_bytes: int = LARGEST_ANSWER) -> bytes:
    """
    *chunks* joined, which are read until *end*, a time of `time.monotonic`.

    Raises:
        AnswerTooLarge: They have more than *most_bytes* bytes.
        TimeoutError: It is later than *end*.
    """
    content: list[bytes] = []
    size = 0
    for chunk in chunks:
        content.append(chunk)
        size += len(chunk)
        if size > most_bytes:
            raise AnswerTooLarge(f"the answer has more than {most_bytes // 2**20} MB")
        if time.monotonic() > end:
            raise TimeoutError
    return b"".join(content)


class Closing(ABC):
    """A context manager that returns itself and calls `close` at the end of its block."""

    @abstractmethod
    def close(self) -> None:
        """Release what is open; a second call has no effect."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


REFUSED = "connection refused; is it running?"
PROXY_LOGIN = 407
PROXY_REFUSES = (
    "the proxy refuses the login (407): set `proxy_username_env` and `proxy_password_env` in relevance.toml, or the "
    "login in HTTPS_PROXY"
)
CLOSING_ERRORS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, IncompleteRead)
UNTRUSTED = "its certificate is not trusted: give its CA file as `ca_certs`, or its SHA-256 as `fingerprint`"


LARGE_REQUEST = 16 * 1024
"""Bytes of a request that a proxy may find too large."""


NO_HOST_NAME = (
    "its host is not the name of a server: a part of it is empty, has more than 63 characters, or has a character that "
    "no name has"
)


def explain_unreachable(error: BaseException, *, url: str | None = None, answered: bool = False, sent: int = 0) -> str:
    """
    The cause of *error*, which a client library raised, as a sentence with a remedy.

    Args:
        error: As raised.
        url: Of the server; None where only the user's client object knows it.
        answered: Whether the server has answered other requests.
        sent: The bytes of the request.

    The libraries wrap the system's errors in their own and have no codes for TLS errors, so this inspects the chain of
    causes and their messages.
    """
    causes = list(_walk_causes(error))
    text = " ".join(str(cause) for cause in causes)
    type_names = " ".join(type(cause).__name__ for cause in causes)
    if _has_unresolved_name(causes):
        return "its host name cannot be resolved now, as no name server answers; check the network of this machine"
    if "NameResolution" in type_names or _has_cause(causes, socket.gaierror):
        return "unknown host name; check its spelling and the network of this machine"
    if _has_cause(causes, UnicodeError) or "LocationParseError" in type_names or "InvalidURL" in type_names:
        return NO_HOST_NAME
    if "ProxyError" in type_names:
        return _explain_proxy(text)
    tls_reason = _explain_tls(text)
    if tls_reason is not None:
        return tls_reason
    if _has_cause(causes, ConnectionRefusedError):
        return REFUSED
    if _has_cause(causes, ConnectionResetError, BrokenPipeError) or "Remote end closed" in text:
        return _explain_closed(url, sent, answered=answered)
    if _has_cause(causes, IncompleteRead):
        return "it closed the connection before the end of its answer"
    return f"the connection failed: {str(error.__cause__ or error)[:300]}"


def _explain_closed(url: str | None, sent: int, *, answered: bool) -> str:
    """Why the server closed the connection before its answer; see `explain_unreachable`."""
    reason = "it closed the connection without an answer"
    if answered:
        reason += " to the request"
        if sent > LARGE_REQUEST:
            reason += f", which a proxy may find too large ({sent / 1024:.0f} KB)"
    elif url is not None and uses_tls(url):
        reason += "; does it use TLS on that port, and does it want a client's certificate? See `client_cert` in "
        reason += "relevance.toml"
    elif url is not None:
        reason += "; if it uses TLS, the URL must begin with https://"
    return reason


def _explain_proxy(text: str) -> str:
    """Why there is no way through the proxy: its answer to CONNECT stands in the message of the library."""
    answer = re.search(r"Tunnel connection failed: (\d{3}[^'\")]*)", text)
    if answer and answer[1].startswith(str(PROXY_LOGIN)):
        return PROXY_REFUSES
    if answer:
        return f"the proxy does not connect to it: {answer[1].strip()[:100]}"
    return "its proxy does not answer; see `proxy` in relevance.toml, or HTTPS_PROXY, HTTP_PROXY and NO_PROXY"


def raise_if_proxy_refuses(answer: Answer) -> None:
    """Only a proxy answers with this status, which has nothing to do with the request."""
    if answer.status == PROXY_LOGIN:
        raise LoginRefused(PROXY_REFUSES)


def choose_error(error: BaseException) -> type[EngineUnreachable]:
    """The class of the error that is raised in place of *error*, which a client library raised."""
    causes = list(_walk_causes(error))
    if _has_cause(causes, *CLOSING_ERRORS):
        return ConnectionClosed
    return NameUnresolved if _has_unresolved_name(causes) else EngineUnreachable


def _has_unresolved_name(causes: Iterable[BaseException]) -> bool:
    """Whether one of *causes* is that no name server answered, which may pass."""
    return any(isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN for cause in causes)


def _has_cause(causes: Iterable[BaseException], *types: type[BaseException]) -> bool:
    """Whether one of *causes* is of one of *types*."""
    return any(isinstance(cause, types) for cause in causes)


def _explain_tls(text: str) -> str | None:
    """Why TLS failed, by the messages of OpenSSL and urllib3 in *text*; None if it did not."""
    lowered = text.lower()
    if "fingerprints did not match" in lowered:
        return "the SHA-256 of its certificate differs from `fingerprint`; was the certificate renewed?"
    if "hostname mismatch" in lowered or "doesn't match" in lowered or "ip address mismatch" in lowered:
        return "its certificate does not match the host name of the URL"
    if "certificate has expired" in lowered:
        return "its certificate has expired"
    if "certificate verify failed" in lowered:
        return UNTRUSTED
    if "certificate required" in lowered or "bad certificate" in lowered or "handshake failure" in lowered:
        return "it refuses the client's certificate, or there is none: see `client_cert` in relevance.toml"
    if "eof occurred in violation of protocol" in lowered:
        return "it ended the TLS connection; does it want a client's certificate? See `client_cert` in relevance.toml"
    if "wrong version number" in lowered or "record layer failure" in lowered or "http_request" in lowered:
        return "it does not use TLS on that port; should the URL begin with http://?"
    return f"TLS failed: {text[:300]}" if "ssl" in lowered and "error" in lowered else None


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """*error*, its causes, and the errors that the libraries keep as `reason` or as arguments."""
    seen: set[int] = set()
    pending: list[BaseException] = [error]
    while pending:
        cause = pending.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        carried = [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]
        pending.extend(value for value in carried if isinstance(value, BaseException))
