"""The connection to an engine, by elastic_transport: its pool, logins, trust, and what to do where it fails."""

from __future__ import annotations

import base64
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import IncompleteRead
from pathlib import Path
from typing import Any

from elastic_transport import ConnectionTimeout, NodeConfig, Serializer, Transport, TransportError
from elastic_transport.client_utils import parse_cloud_id, url_to_node_config

from harness.config import url_problem
from harness.errors import EngineUnreachable, UsageError
from harness.model import Cluster
from harness.search.wire import PLAIN_JSON, Answer, ConnectionClosed, NoAnswerInTime, within

__all__ = [
    "REFUSED",
    "Login",
    "TransportConnection",
    "ca_file_of",
    "checked_url",
    "connect",
    "fingerprint_of",
    "read_login",
    "was_closed",
    "why_unreachable",
]


# The login of a cluster, from the variables that hold it to the headers that carry it.


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
        raise UsageError(f'cluster "{cluster.name}" has an API key and a user name; it takes one login')


def _encoded(key: str) -> str:
    """Base64 holds no colon, so a key that has one is the plain form."""
    return base64.b64encode(key.encode()).decode() if ":" in key else key


def _basic(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode()).decode()


# What of a cluster's address can be checked before anything is sent.


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
        raise ValueError(f'its CA file "{cluster.ca_certs}" is not there')
    return cluster.ca_certs


def _needs_tls(cluster: Cluster, url: str) -> None:
    if (cluster.fingerprint or cluster.ca_certs) and not url.startswith("https://"):
        raise ValueError("a CA file or a fingerprint needs a URL that begins with https://")


# Why a server cannot be reached, and what to do about it.


REFUSED = "the connection is refused; is it running?"
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
        return "its host name is not known; is it spelt right, and is this machine on the right network?"
    tls = _tls(text)
    if tls:
        return tls
    if any(isinstance(link, ConnectionRefusedError) for link in chain):
        return REFUSED
    if any(isinstance(link, ConnectionResetError) for link in chain) or "Remote end closed" in text:
        return "it closed the connection without an answer; a server with TLS does so to a URL that does not begin with https://"
    if any(isinstance(link, IncompleteRead) for link in chain):
        return "it closed the connection in the middle of its answer"
    return f"the connection failed: {str(error.__cause__ or error)[:300]}"


def was_closed(error: BaseException) -> bool:
    """Whether behind *error* is a server that took the connection and then closed it, as one does that goes down."""
    return any(isinstance(link, CLOSED) for link in _chain(error))


def _tls(text: str) -> str | None:
    lowered = text.lower()
    if "fingerprints did not match" in lowered:
        return "its certificate has another SHA-256 than `fingerprint` says; has it been renewed?"
    if "hostname mismatch" in lowered or "doesn't match" in lowered or "ip address mismatch" in lowered:
        return "its certificate is for another host name than the URL's"
    if "certificate has expired" in lowered:
        return "its certificate has expired"
    if "certificate verify failed" in lowered:
        return UNTRUSTED
    if "wrong version number" in lowered or "record layer failure" in lowered or "http_request" in lowered:
        return "it does not speak TLS there; does its URL begin with http:// instead of https://?"
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


# The connection to an engine: elastic_transport's pool, TLS and threads, with none of its retries.
#
# It sends plain `application/json`, which Elasticsearch 8 and 9 and OpenSearch 2 and 3 all take. When to ask again is
# decided in `asking`, as elastic_transport neither hears Retry-After nor tells a busy engine from a dead one.


class TransportConnection:
    """A pool of connections to the nodes of one cluster."""

    def __init__(self, nodes: list[NodeConfig], login: Login, timeout: float) -> None:
        raw = _Raw()
        self.nodes = len(nodes)
        self._urls = ", ".join(_url_of(node) for node in nodes)
        self._headers = {"accept": PLAIN_JSON, **login.headers}
        self._timeout = timeout
        self.mask = login.masker()
        self._transport = Transport(
            nodes,
            max_retries=0,
            retry_on_status=(),
            randomize_nodes_in_pool=False,
            meta_header=False,
            serializers={PLAIN_JSON: raw, "application/*": raw, "text/*": raw},
        )

    def perform(
        self, method: str, path: str, *, body: bytes | None = None, mime: str = PLAIN_JSON, timeout: float | None = None
    ) -> Answer:
        """See `Connection.perform`."""
        headers = self._headers if body is None else {**self._headers, "content-type": mime}
        seconds = timeout or self._timeout
        try:
            meta, content = within(
                seconds,
                lambda: self._transport.perform_request(
                    method, path, body=body, headers=headers, request_timeout=seconds
                ),
            )
        except (ConnectionTimeout, TimeoutError) as error:
            raise NoAnswerInTime(f"no answer from {self._urls} within {seconds:g} s") from error
        except TransportError as error:
            why = why_unreachable(error)
            start = " `docker compose up --wait` starts one, `--embedded` needs none" if why == REFUSED else ""
            kind = ConnectionClosed if was_closed(error) else EngineUnreachable
            raise kind(self.mask(f"cannot reach {self._urls}: {why}{start}")) from error
        return Answer(meta.status, content or b"", {name.lower(): value for name, value in meta.headers.items()})

    def is_alive(self, timeout: float) -> bool:
        """See `Connection.is_alive`; an answer that refuses is one too."""
        try:
            self.perform("GET", "/", timeout=timeout)
        except EngineUnreachable:
            return False
        return True

    def close(self) -> None:
        """See `Connection.close`."""
        self._transport.close()


class _Raw(Serializer):
    """Leaves bodies as they are: an answer that is no JSON keeps its status, and is read where its query is known."""

    mimetype = PLAIN_JSON

    def loads(self, data: bytes) -> bytes:
        return data

    def dumps(self, data: Any) -> Any:
        return data


def connect(cluster: Cluster, login: Login) -> TransportConnection:
    """
    A connection to *cluster*, which opens with the first request.

    Raises:
        UsageError: A URL, the cloud id, the CA file or the fingerprint is not one.
    """
    try:
        return TransportConnection([_node(url, cluster) for url in _urls(cluster)], login, cluster.timeout)
    except (ValueError, OSError) as error:
        raise UsageError(f'cluster "{cluster.name}" cannot be connected to: {error}') from error


def _urls(cluster: Cluster) -> list[str]:
    urls = [_cloud_url(cluster.cloud_id)] if cluster.cloud_id else [url for url in (cluster.url, *cluster.nodes) if url]
    if not urls:
        raise ValueError("it has neither a `url` nor a `cloud_id`")
    return urls


def _cloud_url(cloud_id: str) -> str:
    try:
        address = parse_cloud_id(cloud_id).es_address
    except ValueError:
        address = None
    if address is None:
        raise ValueError("its `cloud_id` is not one; copy it from the deployment's page, name and colon included")
    return f"https://{address[0]}:{address[1]}"


def _node(url: str, cluster: Cluster) -> NodeConfig:
    node = url_to_node_config(checked_url(url), use_default_ports_for_scheme=True)
    trust: dict[str, Any] = {}
    if fingerprint := fingerprint_of(cluster, url):
        trust["ssl_assert_fingerprint"] = fingerprint
    elif ca_certs := ca_file_of(cluster, url):
        trust["ca_certs"] = ca_certs
    return node.replace(request_timeout=cluster.timeout, **trust)


def _url_of(node: NodeConfig) -> str:
    return f"{node.scheme}://{node.host}:{node.port}{node.path_prefix}"
