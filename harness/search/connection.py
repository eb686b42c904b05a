"""The connection to a server: a request out, an answer back; logins, trust in certificates, and why it fails."""

from __future__ import annotations

import base64
import re
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from http.client import IncompleteRead
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Protocol, Self, TypeVar

from harness.config import url_problem
from harness.errors import EngineUnreachable, UsageError
from harness.model import Cluster

T = TypeVar("T")
PLAIN_JSON = "application/json"
NDJSON = "application/x-ndjson"


class NoAnswerInTime(EngineUnreachable):
    """The connection stands, the answer did not come in time; a smaller request may still be answered."""


class ConnectionClosed(EngineUnreachable):
    """Somebody was there and went away without an answer, or with a part of one; the next request may be answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of any status; the names of *headers* are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class MaskingConnection(Protocol):
    """What a connection to an engine and one to an HTTP service have in common."""

    def mask(self, text: str, /) -> str:
        """*text* with each secret of this connection replaced by the name of its variable."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class Connection(MaskingConnection, Protocol):
    """Sends one request at a time. It never retries, and takes no status for an error."""

    @property
    def nodes(self) -> int:
        """How many servers there are to ask in turn before nobody can be reached."""
        ...

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = PLAIN_JSON, timeout: float | None = None
    ) -> Answer:
        """
        Send a request and wait for its answer.

        Args:
            method: GET, POST, PUT, DELETE or HEAD.
            path: From the slash on, encoded, with its parameters.
            body: As it goes out.
            mime: What *body* is.
            timeout: Seconds; the cluster's own where None.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
        """
        ...


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """
    What *call* gives, or raises, if it does so in time.

    The timeouts of HTTP libraries are for one read of a socket: a server that sends a byte now and then is never late.
    So the call is made in a thread of its own, which is left to itself where it takes longer.

    Args:
        seconds: How long to wait; as long as it takes where None.
        call: Made once, with the caller's context variables.

    Raises:
        TimeoutError: It took longer.
    """
    if seconds is None:
        return call()
    outcome: Future[T] = Future()
    context = copy_context()

    def work() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # it is the caller's, whatever it is
            outcome.set_exception(error)

    Thread(target=work, name="relevance-request", daemon=True).start()
    return outcome.result(seconds)


class Closing(ABC):
    """A context manager that is its own value, and closes itself whether or not its block ends with an error."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held; a second call does nothing more."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Login:
    """
    Headers to be sent with each request.

    *secrets* are the values that must not be seen, by the name of the variable that holds each, and *encoded* the
    same as the headers carry them.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    encoded: Mapping[str, str] = field(default_factory=dict, repr=False)

    def masker(self) -> Callable[[str], str]:
        """A function that replaces each secret in a text by the name of its variable."""
        from harness.masking import Masker

        outer, inner = Masker(self.encoded), Masker(self.secrets)
        return lambda text: inner.mask(outer.mask(text))


def read_login(cluster: Cluster, environ: Mapping[str, str]) -> Login:
    """
    The login of *cluster* as *environ* holds it.

    An API key is given as the engine encoded it, or as `id:key`.

    Raises:
        UsageError: Variables are named that are not set, all of them in one sentence; or two logins are.
    """
    _one_login(cluster)
    named = [cluster.api_key_env, cluster.username_env, cluster.password_env, *cluster.headers_env.values()]
    unset = sorted({name for name in named if name and not environ.get(name)})
    if unset:
        verb = "is" if len(unset) == 1 else "are"
        raise UsageError(f'cluster "{cluster.name}" takes its login from {", ".join(unset)}, which {verb} not set')
    secrets = {name: environ[name] for name in named if name and name != cluster.username_env}
    headers = {header.lower(): environ[name] for header, name in cluster.headers_env.items()}
    if cluster.api_key_env:
        token, name = _encoded(environ[cluster.api_key_env]), cluster.api_key_env
        return Login({**headers, "authorization": f"ApiKey {token}"}, secrets, {name: token})
    if cluster.username_env and cluster.password_env:
        token = _basic(environ[cluster.username_env], environ[cluster.password_env])
        return Login({**headers, "authorization": f"Basic {token}"}, secrets, {cluster.password_env: token})
    return Login(headers, secrets)


def _one_login(cluster: Cluster) -> None:
    if bool(cluster.username_env) != bool(cluster.password_env):
        raise UsageError(f'cluster "{cluster.name}" needs both `username_env` and `password_env`, or neither')
    if cluster.api_key_env and cluster.username_env:
        raise UsageError(f'cluster "{cluster.name}" has both an API key and a user name; use one of them')


def _encoded(key: str) -> str:
    """Base64 holds no colon, so a key that has one is the plain form."""
    return base64.b64encode(key.encode()).decode() if ":" in key else key


def _basic(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode()).decode()


def checked_url(url: str) -> str:
    """
    *url*, if it is one and holds no login.

    Raises:
        ValueError: It is not; the text says what to do, and does not show a login.
    """
    sentence = url_problem(url)
    if sentence:
        raise ValueError(sentence)
    return url


def fingerprint_of(cluster: Cluster, url: str) -> str | None:
    """
    The SHA-256 of the server's certificate as 64 hexadecimal digits, None where the cluster has none.

    Raises:
        ValueError: It is no SHA-256, or there is no TLS.
    """
    _needs_tls(cluster, url)
    if not cluster.fingerprint:
        return None
    digits = cluster.fingerprint.replace(":", "").strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError("its `fingerprint` should be a SHA-256: 64 hexadecimal digits, with or without colons")
    return digits


def ca_file_of(cluster: Cluster, url: str) -> str | None:
    """
    The path of the CA file, None where the cluster has none.

    Raises:
        ValueError: The file is not there, or there is no TLS.
    """
    _needs_tls(cluster, url)
    if cluster.ca_certs and not Path(cluster.ca_certs).is_file():
        raise ValueError(f'its CA file "{cluster.ca_certs}" does not exist')
    return cluster.ca_certs


def _needs_tls(cluster: Cluster, url: str) -> None:
    if (cluster.fingerprint or cluster.ca_certs) and not url.startswith("https://"):
        raise ValueError("a CA file or a fingerprint needs a URL that begins with https://")


REFUSED = "connection refused; is it running?"
CLOSED = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, IncompleteRead)
UNTRUSTED = "its certificate is not trusted: give its CA file as `ca_certs`, or its SHA-256 as `fingerprint`"


def why_unreachable(error: BaseException) -> str:
    """
    What is behind *error*, as a client library raised it, in a sentence with its remedy.

    The libraries wrap the system's errors in their own and give no code for what went wrong in TLS, so the chain
    of causes and its texts are what there is to read.
    """
    chain = list(_chain(error))
    text = " ".join(str(link) for link in chain)
    if any(isinstance(link, socket.gaierror) for link in chain) or "NameResolution" in _types(chain):
        return "unknown host name; check its spelling and the network of this machine"
    tls = _tls(text)
    if tls:
        return tls
    if any(isinstance(link, ConnectionRefusedError) for link in chain):
        return REFUSED
    if any(isinstance(link, ConnectionResetError) for link in chain) or "Remote end closed" in text:
        return "it closed the connection without an answer; if it uses TLS, the URL must begin with https://"
    if any(isinstance(link, IncompleteRead) for link in chain):
        return "it closed the connection before the end of its answer"
    return f"the connection failed: {str(error.__cause__ or error)[:300]}"


def was_closed(error: BaseException) -> bool:
    """Whether behind *error* is a server that took the connection and then closed it, as one does that goes down."""
    return any(isinstance(link, CLOSED) for link in _chain(error))


def _tls(text: str) -> str | None:
    lowered = text.lower()
    if "fingerprints did not match" in lowered:
        return "the SHA-256 of its certificate differs from `fingerprint`; was the certificate renewed?"
    if "hostname mismatch" in lowered or "doesn't match" in lowered or "ip address mismatch" in lowered:
        return "its certificate does not match the host name of the URL"
    if "certificate has expired" in lowered:
        return "its certificate has expired"
    if "certificate verify failed" in lowered:
        return UNTRUSTED
    if "wrong version number" in lowered or "record layer failure" in lowered or "http_request" in lowered:
        return "it does not use TLS on that port; should the URL begin with http://?"
    return f"TLS failed: {text[:300]}" if "ssl" in lowered and "error" in lowered else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """*error*, what it was raised from, and what the libraries carry as `reason` or as their arguments."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        carried = [link.__cause__, link.__context__, getattr(link, "reason", None), *link.args]
        waiting.extend(one for one in carried if isinstance(one, BaseException))


def _types(chain: list[BaseException]) -> str:
    return " ".join(type(link).__name__ for link in chain)
