"""What an application's own search API understands: any HTTP request, of which the suite says where the hits are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.model import Cluster, Ranking, SearchRequest, SentRequest
from harness.search.bodies import has_all_matches
from harness.search.protocol import ConnectOptions, Dialect

if TYPE_CHECKING:
    from harness.search.protocol import Search


class HttpDialect(Dialect):
    """The requests to an HTTP service, of whose parameters nothing is known."""

    takes_http_requests = True

    def connect(self, cluster: Cluster, options: ConnectOptions) -> Search:
        """See `Dialect.connect`."""
        from harness.search.http_service import open_service
        from harness.search.login import read_login

        if options.client is not None:
            raise UsageError(f'cluster "{cluster.name}" is an HTTP service, which cannot use a client object')
        return open_service(cluster, read_login(cluster, options.environ), allow_write=options.allow_write)

    def describe(self, request: SearchRequest, cluster: Cluster) -> SentRequest:
        """See `Dialect.describe`."""
        from harness.search.http_service import make_sent_url
        from harness.search.login import leave_out_headers, list_login_headers

        http = request.http
        if http is None:
            raise ValueError(f"the request of query {request.query!r} is not for an HTTP service")
        content_type = {} if http.json is None else {"content-type": "application/json"}
        headers = leave_out_headers({**content_type, **http.headers}, list_login_headers(cluster))
        return SentRequest(http.method, make_sent_url(cluster.url or "", http), headers, http.json)

    def has_all_matches(self, ranking: Ranking, request: SearchRequest) -> bool:
        """See `Dialect.has_all_matches`: by the total, which counts all unless the body has a key of the engines."""
        return has_all_matches(ranking, request)
