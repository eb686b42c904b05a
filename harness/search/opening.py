"""From a cluster, as it is configured, to the door that fits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import UsageError
from harness.model import Cluster
from harness.search.connections import read_login
from harness.search.identity import ask_who, stated_engine
from harness.search.msearch import EngineSearch
from harness.search.protocol import Search
from harness.search.retries import Retries
from harness.search.wire import Connection

__all__ = ["open_door"]


def open_door(
    cluster: Cluster, environ: Mapping[str, str], *, engine: str | None = None, client: Any | None = None
) -> Search:
    """See `harness.search.open_search`."""
    if cluster.service == "http":
        if client is not None:
            raise UsageError(f'cluster "{cluster.name}" is an HTTP service; a client object is one of an engine')
        from harness.search.http import open_service

        return open_service(cluster, read_login(cluster, environ))
    stated = stated_engine(text) if (text := engine or cluster.engine) else None
    connection = _connection(cluster, environ, client)
    retries = Retries()
    try:
        answering = stated or ask_who(connection, retries)
        return EngineSearch(connection, answering, timeout=cluster.timeout, retries=retries)
    except BaseException:
        connection.close()
        raise


def _connection(cluster: Cluster, environ: Mapping[str, str], client: Any | None) -> Connection:
    if client is not None:
        from harness.search.client import adapt

        return adapt(client)
    from harness.search.connections import connect

    return connect(cluster, read_login(cluster, environ))
