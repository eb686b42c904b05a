"""
The one door to an engine.

Whoever searches holds a `Search`: it takes requests and gives one response for each, in their order. What concerns one
query only is that query's `Failure`; `SearchError` is raised where no query could be asked at all.
`harness.search.testing` has one that needs no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.model import Cluster
from harness.search.protocol import Search

__all__ = ["Search", "open_search"]


def open_search(
    cluster: Cluster,
    environ: Mapping[str, str],
    *,
    engine: str | None = None,
    client: Any | None = None,
) -> Search:
    """
    Connect to *cluster* and find out what answers there.

    Args:
        cluster: Where the server is, and the names of the variables that hold the login.
        environ: The environment in which those variables are looked up.
        engine: What the server is, where it may not be asked: "elasticsearch 9.4.3". Wins over `cluster.engine`.
        client: The user's own client object, which is then used instead of a connection of ours.

    Raises:
        UsageError: A variable that holds a login is not set, or *engine* or *client* is none that is known.
        LoginRefused: The server answered 401 or 403.
        EngineUnreachable: No connection, an unknown host, a TLS failure, or no answer in time.
    """
    from harness.search.opening import open_door

    return open_door(cluster, environ, engine=engine, client=client)
