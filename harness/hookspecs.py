"""
Hooks: code of the user's that makes the client for a cluster, or changes a request or its response.

They are implemented in a conftest.py or a plugin of pytest, and for commands and Python in a module that an installed
package names under the entry point group `relevance_harness.hooks`; pytest uses these too. An implementation may leave
out arguments. Of several the first that returns something decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pluggy import HookspecMarker

if TYPE_CHECKING:  # every pytest run imports this module if the package is installed
    from harness.model.request import Cluster, SearchRequest
    from harness.model.run import Response
    from harness.model.suite import Query


hookspec = HookspecMarker("pytest")


@hookspec(firstresult=True)
def pytest_relevance_client(cluster: Cluster) -> Any:
    """
    Make the client that searches *cluster*, once a run.

    Args:
        cluster: Its name in relevance.toml or its URL, its URLs, and the names of the variables that hold its login.

    Returns:
        An `elasticsearch.Elasticsearch`, an `opensearchpy.OpenSearch` or any object with `msearch(body=…)`, which the
        hook's author closes; None for a connection of the harness's own. Not called for a call or an option that gives
        a client, and not for an HTTP service.
    """


@hookspec(firstresult=True)
def pytest_relevance_request(request: SearchRequest, query: Query) -> SearchRequest | None:
    """
    Change the request of one query before it is sent, also where the same query is searched further down.

    Args:
        request: With the index, and a body of its own in which all placeholders are filled; or with `http`.
        query: Its id, text, params and tags.

    Returns:
        A request with another body, other `url_params` or another `http`, or None. What is changed in the body itself
        counts too. A body without a `size` gets the one that it had. The query and the index stay.
    """


@hookspec(firstresult=True)
def pytest_relevance_response(response: Response, request: SearchRequest, query: Query) -> Response | None:
    """
    Read or replace the response to the request of one query.

    Args:
        response: A `Ranking` as it was read, with all its hits, or a `Failure`.
        request: As it was sent.
        query: As for `pytest_relevance_request`.

    Returns:
        A `Ranking`, or a `Failure` for a response that is none; None leaves it as it is.
    """
