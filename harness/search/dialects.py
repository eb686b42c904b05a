"""The kinds of server, and how a search on one is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.model.request import Cluster
from harness.search.engine_dialect import EngineDialect
from harness.search.http_dialect import HttpDialect
from harness.search.presets import PRESETS
from harness.search.protocol import ConnectOptions, Dialect, Search

DIALECTS: dict[str, Dialect] = {"engine": EngineDialect()}
DIALECTS |= dict.fromkeys(("http", *PRESETS), HttpDialect())
"""The kinds of server, by the `service` of clusters and targets."""


def find_dialect(service: str) -> Dialect:
    """The dialect of *service*, as a `Cluster`, a `Target` or a `Search` names it."""
    return DIALECTS[service]


def open_search(
    cluster: Cluster,
    environ: Mapping[str, str],
    *,
    engine: str | None = None,
    assumed_engine: str | None = None,
    client: Any | None = None,
    allow_write: bool = False,
    budget: float | None = None,
) -> Search:
    """
    Connect to *cluster* and identify its server.

    Args:
        cluster: Where the server is, and the names of the variables that hold the login.
        environ: The environment in which those variables are looked up.
        engine: What the server is, if the login may not ask it: "elasticsearch 9.4.3". Overrides `cluster.engine`.
        assumed_engine: What it is taken for if neither *cluster* nor the server itself says what it is.
        client: The user's own client object, used instead of a connection to *cluster*. Without an `info` to ask, its
            engine is unknown unless it is stated.
        allow_write: Whether an HTTP service that relevance.toml does not define may be sent what can change data.
        budget: Seconds for finding out what answers.

    Raises:
        UsageError: A variable that holds a login is not set, *engine* or *client* is none that is known, or an address
            may not be connected to.
        LoginRefused: The server answered 401 or 403.
        EngineUnreachable: No connection, an unknown host, a TLS failure, or no answer in time.
    """
    options = ConnectOptions(environ, engine, client, allow_write, budget, assumed_engine)
    return find_dialect(cluster.service).connect(cluster, options)
