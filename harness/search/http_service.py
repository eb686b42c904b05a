"""The search door to an application's own search API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from harness.model import Cluster, Engine, Failure, FailureKind, HttpRequest, IndexFacts, Response, SearchRequest
from harness.search.connected import ConnectedSearch
from harness.search.facts import NOTHING_KNOWN
from harness.search.jsonpaths import compiled
from harness.search.logins import Login
from harness.search.service_asking import ServiceAsker
from harness.search.web import WebConnection

__all__ = ["HttpSearch", "open_service"]


AT_ONCE = 4
"""Requests under way at the same time: a service that people use is not to be flooded by its own test."""

NO_REQUEST = Failure(FailureKind.ERROR, "the request is one for an engine, and its cluster is an HTTP service")


def open_service(cluster: Cluster, login: Login) -> HttpSearch:
    """
    The door to the service at the URL of *cluster*; nothing is sent yet, since there is no request that all answer.

    Raises:
        UsageError: The URL, the CA file or the fingerprint is not one.
    """
    return HttpSearch(WebConnection(cluster, login), Engine("http"), timeout=cluster.timeout)


class HttpSearch(ConnectedSearch[WebConnection]):
    """Sends each request by itself, a few at once, and reads hits from the answers by JSONPath."""

    def search(
        self,
        requests: Sequence[SearchRequest],
        *,
        on_done: Callable[[int], None] | None = None,
        budget: float | None = None,
    ) -> list[Response]:
        """
        See `Search.search`.

        Raises:
            UsageError: A path of a request is no JSONPath.
        """
        for path in {path for one in requests if one.http for path in _paths(one.http)}:
            compiled(path)
        course = self._course(budget)
        responses = self._ask_all(ServiceAsker(self.connection, course), requests, on_done)
        self._raise_if_nobody_answers(course)
        self._raise_if_refused(responses, "the service", {})
        return [self._masked(response) for response in responses]

    def _ask_all(
        self, asker: ServiceAsker, requests: Sequence[SearchRequest], on_done: Callable[[int], None] | None
    ) -> list[Response]:
        """Ask from a few threads; an interrupt leaves what has not begun, and waits for nothing."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="relevance-search")
        try:
            futures: list[Future[Response]] = [pool.submit(self._ask, asker, request) for request in requests]
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                if on_done is not None:
                    on_done(len(done))
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _ask(asker: ServiceAsker, request: SearchRequest) -> Response:
        return NO_REQUEST if request.http is None else asker.ask(request.http)

    def index_facts(self, index: str | None) -> IndexFacts:  # noqa: ARG002
        """See `Search.index_facts`: a service tells nothing of what it searches."""
        return NOTHING_KNOWN


def _paths(http: HttpRequest) -> list[str]:
    return [path for path in (http.ids, http.scores, http.titles, http.total) if path is not None]
