"""
Searches any server: Elasticsearch, OpenSearch, or an HTTP service.

A `Search` takes requests and yields one response for each. A problem of one query is that query's `Failure`;
`SearchError` is raised if no query could be sent at all. `harness.search.testing` has a `Search` without a server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from harness.errors import UsageError
from harness.model import Cluster, Definitions, Engine, IndexFacts, IndexState, Response, SearchRequest
from harness.search.streams import ResponseStream, StreamedResponse, in_order

if TYPE_CHECKING:
    from harness.search.definitions import References

__all__ = ["ResponseStream", "Search", "StreamedResponse", "in_order", "open_search"]


class Search(Protocol):
    """A client for search requests; a context manager that closes its connections."""

    engine: Engine
    """The engine, as the server reported it or as the suite states it."""

    def stream(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> ResponseStream:
        """
        Send *requests* and yield the response to each when it arrives.

        Args:
            requests: One for each query.
            budget: Seconds after which nothing more is sent; what had no answer by then did not run.

        Raises:
            LoginRefused: The engine refused the login for every request; raised after the last response.
            EngineUnreachable: No request got through; raised after the last response.
        """
        ...

    def search(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> list[Response]:
        """
        The responses to look-ups, in the order of *requests*; raises as `stream`.

        They are not sent to a server that no longer answered the queries before, which `stream` would wait for.
        """
        ...

    def index_facts(self, index: str | None) -> IndexFacts:
        """Facts on *index*; those that cannot be read are in `missing`."""
        ...

    def field_types(
        self, index: str, names: Sequence[str], url_params: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]]:
        """
        The types of the fields in *names*, which may have wildcards, that any index behind *index* has.

        *url_params* are those of a search that say which indexes these are, such as `expand_wildcards`.

        Raises:
            SearchError: The types cannot be read.
        """
        ...

    def index_state(self, index: str | None, *, timeout: float, url_params: Mapping[str, str]) -> IndexState:
        """
        The state of *index* now, as far as the login may read it; *timeout* is in seconds, for each request.

        *url_params* are those of a search, of which some say which indexes and copies these are.
        """
        ...

    def read_definitions(
        self, index: str | None, references: References, *, timeout: float, url_params: Mapping[str, str]
    ) -> Definitions:
        """What the server has stored now of *references*, for searches of *index*; else as `index_state`."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_search(
    cluster: Cluster,
    environ: Mapping[str, str],
    *,
    engine: str | None = None,
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
        client: The user's own client object, used instead of a connection to *cluster*. Without an `info` to ask, its
            engine is unknown unless it is stated.
        allow_write: Whether an HTTP service that harness.toml does not define may be sent what can change data.
        budget: Seconds for finding out what answers.

    Raises:
        UsageError: A variable that holds a login is not set, *engine* or *client* is none that is known, or an address
            may not be connected to.
        LoginRefused: The server answered 401 or 403.
        EngineUnreachable: No connection, an unknown host, a TLS failure, or no answer in time.
    """
    from harness.search.batches import MOST_SEARCHES
    from harness.search.connection import Connection
    from harness.search.engine import EngineSearch, ask_who, stated_engine
    from harness.search.login import read_login
    from harness.search.server_health import Retries

    if cluster.service == "http":
        if client is not None:
            raise UsageError(f'cluster "{cluster.name}" is an HTTP service, which cannot use a client object')
        from harness.search.http_service import open_service

        return open_service(cluster, read_login(cluster, environ), allow_write=allow_write)
    stated = stated_engine(text) if (text := engine or cluster.engine) else None
    concurrency = cluster.concurrency
    if client is None:
        from harness.search.transport import connect

        connection: Connection = connect(cluster, read_login(cluster, environ))
    else:
        from harness.search.client_object import UNKNOWN_ENGINE, adapt, is_thread_safe, says_engine

        connection = adapt(client)
        stated = stated or (None if says_engine(client) else UNKNOWN_ENGINE)
        concurrency = concurrency if is_thread_safe(client) else 1
    retries = Retries()
    try:
        timeout = math.inf if budget is None else cluster.timeout
        answering = stated or ask_who(connection, retries, timeout=timeout, budget=budget)
        return EngineSearch(
            connection,
            answering,
            timeout=cluster.timeout,
            retries=retries,
            concurrency=concurrency,
            batch=cluster.batch or MOST_SEARCHES,
        )
    except BaseException:
        connection.close()
        raise
