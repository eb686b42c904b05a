"""
The connection to an engine: the nodes of elastic_transport, which pool connections and know TLS.

It sends plain `application/json`, which Elasticsearch 8 and 9 and OpenSearch 2 and 3 all accept. `server_health`
decides on retries, because elastic_transport ignores Retry-After and does not distinguish a busy engine from a dead
one. It reads answers itself, because elastic_transport reads one whatever its size, and as long as a byte comes now and
then.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any

from elastic_transport import NodeConfig, Urllib3HttpNode
from elastic_transport.client_utils import url_to_node_config
from urllib3 import PoolManager, ProxyManager, disable_warnings
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InsecureRequestWarning,
    NewConnectionError,
    ReadTimeoutError,
)

from harness.config import decode_cloud_id
from harness.errors import EngineUnreachable, UsageError
from harness.model.request import AddressOrigin, Cluster
from harness.search.addresses import AddressBook, refuse_address
from harness.search.connection import (
    CHUNK,
    LARGEST_ANSWER,
    NO_HOST_NAME,
    PLAIN_JSON,
    REFUSED,
    Answer,
    NoAnswerInTime,
    choose_error,
    explain_unreachable,
    may_be_fault_of_node,
    raise_if_proxy_refuses,
    read_in_time,
    run_within,
)
from harness.search.login import Login, Proxy, check_url, make_tls_options

_MOST_CONNECTIONS = 64
"""Connections to a node that are kept."""

AWAY = frozenset({502, 503, 504})
"""Statuses after which another node is asked next."""


START = " `relevance engine up` starts an OpenSearch on this machine, and prints its URL"
"""Follows `REFUSED`."""


class TransportConnection:
    """
    Pools of connections to the nodes of one cluster, which take turns.

    A node that did not answer, or not as an engine does, is asked again when no other is left, or all others did not
    answer after it.
    """

    def __init__(self, nodes: list[LimitedNode], login: Login, timeout: float) -> None:
        self.nodes = len(nodes)
        self._urls = ", ".join(_format_url(node.config) for node in nodes)
        self._headers = {"accept": PLAIN_JSON, **login.headers}
        self._timeout = timeout
        self.has_login = login.is_sent
        self.mask = login.make_masker()
        self._alive = nodes
        self._away: list[LimitedNode] = []
        self._turn = count()
        self._lock = Lock()
        self._has_answered = False

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
        """See `Connection.perform`."""
        headers = self._headers if body is None else {**self._headers, "content-type": mime}
        seconds = timeout or self._timeout
        request = NodeRequest(method, path, body, headers, seconds, most_bytes)
        node = self._next()
        try:
            answer = run_within(seconds, lambda: node.send(request))
        except (ReadTimeoutError, ConnectTimeoutError, TimeoutError, HTTPError, OSError) as error:
            self._mark(node, is_alive=False)
            raise self._make_error(error, node, seconds, len(body or b"")) from error
        raise_if_proxy_refuses(answer)
        self._mark(node, is_alive=answer.status not in AWAY and not may_be_fault_of_node(answer))
        self._has_answered = True
        return answer

    def _next(self) -> LimitedNode:
        """The nodes that answer take turns; if there is none, the one that did not answer for the longest time."""
        with self._lock:
            if not self._alive:
                return self._away[0]
            return self._alive[next(self._turn) % len(self._alive)]

    def _mark(self, node: LimitedNode, *, is_alive: bool) -> None:
        """Record whether *node* answered; one that did not goes to the end of those that are asked last."""
        with self._lock:
            if node in self._alive:
                if is_alive:
                    return
                self._alive.remove(node)
            else:
                self._away.remove(node)
            if is_alive:
                self._alive.append(node)
            else:
                self._away.append(node)

    def _make_error(self, error: Exception, node: LimitedNode, seconds: float, sent: int) -> EngineUnreachable:
        """The error for the user after *error* of a request of *sent* bytes to *node*."""
        is_late = isinstance(error, (ReadTimeoutError, ConnectTimeoutError, TimeoutError))
        if is_late and not isinstance(error, NewConnectionError):
            return NoAnswerInTime(f"no answer from {node.base_url} within {seconds:g} s")
        reason = explain_unreachable(error, url=node.base_url, answered=self._has_answered, sent=sent)
        if reason == REFUSED:
            reason += START
        return choose_error(error)(self.mask(f"cannot reach {self._urls}: {reason}"))

    def close(self) -> None:
        """See `Connection.close`."""
        for node in (*self._alive, *self._away):
            node.close()


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """A request to one node, and the limits of its answer."""

    method: str
    path: str
    body: bytes | None
    headers: Mapping[str, str]
    seconds: float
    most_bytes: int
    """Of the answer, after decompression."""


class LimitedNode(Urllib3HttpNode):
    """A node whose answers are limited in size, also after decompression, and in time."""

    def __init__(
        self, config: NodeConfig, tls: Mapping[str, Any], proxy: Proxy | None, *, origin: AddressOrigin
    ) -> None:
        super().__init__(config)
        # Not elastic_transport's pool, which looks for a fingerprint in the whole chain of certificates.
        pool_class = type(self.pool)
        if proxy is None:
            manager = PoolManager()
            pool_class = AddressBook(origin).check_pool(pool_class)
        else:
            manager = ProxyManager(proxy.url, proxy_headers=proxy.headers)
        manager.pool_classes_by_scheme = {**manager.pool_classes_by_scheme, config.scheme: pool_class}
        options = {"maxsize": _MOST_CONNECTIONS, **tls}
        self.pool = manager.connection_from_host(config.host, config.port, config.scheme, options)
        self._is_verified = tls.get("cert_reqs") != "CERT_NONE" or "assert_fingerprint" in tls
        needs_whole_url = proxy is not None and config.scheme == "http"
        self._prefix = _format_url(config) if needs_whole_url else config.path_prefix

    def send(self, request: NodeRequest) -> Answer:
        """
        The answer to *request*; raises the errors of urllib3.

        Raises:
            AnswerTooLarge, TimeoutError: See `read_in_time`.
        """
        end = time.monotonic() + request.seconds
        if not self._is_verified:
            disable_warnings(InsecureRequestWarning)  # a remark of the report says it
        response = self.pool.urlopen(
            request.method,
            f"{self._prefix}{request.path}",
            body=request.body,
            headers=request.headers,
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=request.seconds,
            preload_content=False,
        )
        try:
            content = read_in_time(response.stream(CHUNK), end, request.most_bytes)
        except BaseException:
            response.close()
            raise
        response.release_conn()
        return Answer(response.status, content, {name.lower(): value for name, value in response.headers.items()})


def connect(cluster: Cluster, login: Login) -> TransportConnection:
    """
    A connection to *cluster*, which opens with the first request.

    Raises:
        EngineUnreachable: The host of a URL is no name.
        UsageError: A URL, the cloud id, the CA file or the fingerprint is invalid, or a URL may not be connected to.
    """
    try:
        return TransportConnection(
            [_make_node(url, cluster, login) for url in list_urls(cluster)], login, cluster.timeout
        )
    except (ValueError, OSError) as error:
        raise UsageError(f'cluster "{cluster.name}" has an invalid connection: {error}') from error


def list_urls(cluster: Cluster) -> list[str]:
    """
    The URLs of the nodes of *cluster*, at least one.

    Raises:
        ValueError: It has none, or its cloud id is invalid.
    """
    if cluster.cloud_id:
        return [decode_cloud_id(cluster.cloud_id)]
    urls = [url for url in (cluster.url, *cluster.nodes) if url]
    if not urls:
        raise ValueError("it has neither a `url` nor a `cloud_id`")
    return urls


def _make_node(url: str, cluster: Cluster, login: Login) -> LimitedNode:
    check_url(url)
    try:
        config = url_to_node_config(url, use_default_ports_for_scheme=True)
    except ValueError as error:
        raise EngineUnreachable(f"cannot reach {url}: {NO_HOST_NAME}") from error
    refuse_address(url, cluster.origin)
    return LimitedNode(config, make_tls_options(cluster, login, url), login.find_proxy(url), origin=cluster.origin)


def _format_url(node: NodeConfig) -> str:
    return f"{node.scheme}://{node.host}:{node.port}{node.path_prefix}"
