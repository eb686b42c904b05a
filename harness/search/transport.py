"""
The connection to an engine: elastic_transport's pool, TLS and threads, without its retries.

It sends plain `application/json`, which Elasticsearch 8 and 9 and OpenSearch 2 and 3 all accept. `session` decides on
retries, because elastic_transport ignores Retry-After and does not distinguish a busy engine from a dead one.
"""

from __future__ import annotations

from typing import Any

from elastic_transport import ConnectionTimeout, NodeConfig, Serializer, Transport, TransportError
from elastic_transport.client_utils import parse_cloud_id, url_to_node_config

from harness.errors import EngineUnreachable, UsageError
from harness.model import Cluster
from harness.search.connection import (
    PLAIN_JSON,
    REFUSED,
    Answer,
    ConnectionClosed,
    Login,
    NoAnswerInTime,
    ca_file_of,
    checked_url,
    fingerprint_of,
    was_closed,
    why_unreachable,
    within,
)


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
            start = " `docker compose up --wait` or `harness engine up` starts one" if why == REFUSED else ""
            kind = ConnectionClosed if was_closed(error) else EngineUnreachable
            raise kind(self.mask(f"cannot reach {self._urls}: {why}{start}")) from error
        return Answer(meta.status, content or b"", {name.lower(): value for name, value in meta.headers.items()})

    def close(self) -> None:
        """See `Connection.close`."""
        self._transport.close()


class _Raw(Serializer):
    """Leaves bodies unchanged: an answer that is not JSON keeps its status, and is parsed later."""

    mimetype = PLAIN_JSON

    def loads(self, data: bytes) -> bytes:
        return data

    def dumps(self, data: Any) -> Any:
        return data


def connect(cluster: Cluster, login: Login) -> TransportConnection:
    """
    A connection to *cluster*, which opens with the first request.

    Raises:
        UsageError: A URL, the cloud id, the CA file or the fingerprint is invalid.
    """
    try:
        return TransportConnection([_node(url, cluster) for url in urls_of(cluster)], login, cluster.timeout)
    except (ValueError, OSError) as error:
        raise UsageError(f'cluster "{cluster.name}" has an invalid connection: {error}') from error


def urls_of(cluster: Cluster) -> list[str]:
    """
    The URLs of the nodes of *cluster*, at least one.

    Raises:
        ValueError: It has none, or its cloud id is invalid.
    """
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
        raise ValueError("its `cloud_id` is invalid; copy it from the deployment's page with the name and the colon")
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
