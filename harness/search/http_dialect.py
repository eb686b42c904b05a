"""What an application's own search API understands: any HTTP request, of which the suite says where the hits are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from harness.errors import SearchError, UsageError
from harness.model.request import Cluster, SearchRequest, SentRequest
from harness.model.run import Ranking
from harness.model.suite import Json, RequestTemplate
from harness.search.bodies import RESULT_WINDOW, has_all_matches
from harness.search.protocol import IDS_ONLY, ConnectOptions, Dialect, LookUpOptions
from harness.search.service_documents import explain_unwritable, filter_search
from harness.search.service_sizes import has_own_size, read_size, write_size

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

    def may_request_more(self, template: RequestTemplate) -> bool:
        """See `Dialect.may_request_more`: where the suite has not written a number of hits itself."""
        return template.http is not None and template.http.size is not None and not has_own_size(template.http)

    def count_hits(self, request: SearchRequest) -> int | None:
        """See `Dialect.count_hits`."""
        return None if request.http is None else read_size(request.http)

    def takes_size(self, request: SearchRequest) -> bool:
        """See `Dialect.takes_size`: where the suite says where the number of hits stands."""
        return request.http is not None and request.http.size is not None

    def find_deepest_size(self, request: SearchRequest) -> int:
        """See `Dialect.find_deepest_size`: that of an engine, where the suite gives no limit."""
        if request.http is None or request.http.size is None:
            return 0
        return request.http.max_size or RESULT_WINDOW

    def find_window(self, request: SearchRequest) -> int | None:
        """See `Dialect.find_window`."""
        return None if request.http is None else request.http.max_size

    def with_size(self, request: SearchRequest, size: int) -> SearchRequest:
        """See `Dialect.with_size`."""
        if request.http is None:
            return request
        http = write_size(request.http, size)
        return replace(request, http=http, body=http.json)

    def deepen(self, request: SearchRequest, size: int) -> SearchRequest:
        """See `Dialect.deepen`: the service returns what it does for fewer hits."""
        return self.with_size(request, size)

    def is_filled_by_server(self, request: SearchRequest | RequestTemplate) -> bool:  # noqa: ARG002
        """See `Dialect.is_filled_by_server`: a service makes its query itself."""
        return True

    def looks_up_documents(self, request: SearchRequest | RequestTemplate) -> bool:
        """See `Dialect.looks_up_documents`: where the suite says how."""
        return request.http is not None and request.http.documents is not None

    def read_scope(self, request: SearchRequest) -> Json:
        """
        See `Dialect.read_scope`: all fields of the request that looks documents up by their ids, as JSON; None if
        there is none.

        Two services whose look-ups differ may have different documents, also where only a header or a path differs.
        """
        if request.http is None or request.http.documents is None:
            return None
        look_up = request.http.documents
        scope = asdict(look_up)
        # JSON has no sets.
        scope["http"]["preset_paths"] = sorted(look_up.http.preset_paths)
        return scope

    def explain_unwritable(self, request: SearchRequest, document: str) -> str:
        """See `Dialect.explain_unwritable`."""
        if request.http is None or request.http.documents is None:
            return ""
        return explain_unwritable(request.http.documents, document)

    def list_unread_fields(self, request: SearchRequest | RequestTemplate, fields: Sequence[str]) -> Sequence[str]:
        """See `Dialect.list_unread_fields`: those for which only the request by ids has a path."""
        if request.http is None or request.http.documents is None:
            return ()
        looked_up = request.http.documents.http.fields
        return [field for field in fields if field in looked_up and field not in request.http.fields]

    def request_documents(
        self,
        request: SearchRequest,
        ids: Sequence[str],
        options: LookUpOptions = IDS_ONLY,  # noqa: ARG002
    ) -> SearchRequest:
        """See `Dialect.request_documents`: the paths of the suite say what is returned of them."""
        if request.http is None or request.http.documents is None:
            raise SearchError("documents cannot be looked up by id: the request has no `http: documents`")
        return SearchRequest("", None, None, request.http, document_ids=tuple(ids))

    def filter_to_documents(self, request: SearchRequest, ids: Sequence[str]) -> SearchRequest | None:
        """See `Dialect.filter_to_documents`: where the suite has parameters for that."""
        if request.http is None or request.http.documents is None:
            return None
        http = filter_search(request.http, request.http.documents, ids)
        # Hooks have had the request, and pass one that is built for no query.
        return None if http is None else replace(request, http=http, body=http.json, built_for=None)

    def has_all_matches(self, ranking: Ranking, request: SearchRequest) -> bool:
        """See `Dialect.has_all_matches`: by the total, which counts all unless the body has a key of the engines."""
        return has_all_matches(ranking, request)
