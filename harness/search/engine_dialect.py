"""What Elasticsearch and OpenSearch understand: bodies of `_search`, with the parameters of its URL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.model.request import Cluster, SearchRequest, SentRequest
from harness.model.run import Ranking
from harness.model.suite import Json, RequestTemplate
from harness.search import bodies
from harness.search.definitions import EVERYTHING, References, StoredObject, find_objects, find_references
from harness.search.esql import is_esql, searches_all_fields
from harness.search.fields import find_named_fields, has_fixed_fields, list_own_fields, list_unknown_fields
from harness.search.msearch import (
    HEADER_PARAMS,
    add_preference,
    describe_shards,
    find_point,
    make_single_search,
    select_shard_params,
)
from harness.search.protocol import IDS_ONLY, ConnectOptions, Dialect, LookUpOptions

if TYPE_CHECKING:
    from harness.search.connection import Connection
    from harness.search.protocol import Search

SELECTING = frozenset({"_source", "esql", "stored_fields", "template"})
"""The keys of a body that may select the fields of hits."""

OWN_SIZE = frozenset({"esql", "size", "template"})
"""The keys of a body with which it says itself how many hits it asks for."""


class EngineDialect(Dialect):
    """The requests to Elasticsearch and OpenSearch, which are the same for both."""

    has_indexes = True
    takes_client = True
    explains_scores = True
    has_rank_eval = True

    def connect(self, cluster: Cluster, options: ConnectOptions) -> Search:
        """See `Dialect.connect`."""
        from harness.search.batches import MOST_SEARCHES
        from harness.search.engine import EngineSearch, identify_engine, parse_engine
        from harness.search.login import read_login
        from harness.search.pace import Pace
        from harness.search.server_health import Retries

        engine_text = options.engine or cluster.engine
        engine = parse_engine(engine_text) if engine_text else None
        assumed = parse_engine(options.assumed_engine) if options.assumed_engine else None
        concurrency = cluster.concurrency
        connection: Connection
        if options.client is None:
            from harness.search.transport import connect

            connection = connect(cluster, read_login(cluster, options.environ))
        else:
            from harness.search.client_object import UNKNOWN_ENGINE, adapt_client, is_thread_safe, knows_engine

            connection = adapt_client(options.client)
            if engine is None and not knows_engine(options.client):
                engine = assumed or UNKNOWN_ENGINE
            if not is_thread_safe(options.client):
                concurrency = 1
        retries = Retries(pace=None if cluster.rate is None else Pace(cluster.rate))
        try:
            if engine is None:
                # Without a budget, the connection's own timeout holds.
                timeout = math.inf if options.budget is None else cluster.timeout
                engine = identify_engine(connection, retries, timeout=timeout, budget=options.budget, assumed=assumed)
            return EngineSearch(
                connection,
                engine,
                timeout=cluster.timeout,
                retries=retries,
                concurrency=concurrency,
                batch=cluster.batch or MOST_SEARCHES,
            )
        except BaseException:
            connection.close()
            raise

    def describe(self, request: SearchRequest, cluster: Cluster) -> SentRequest:
        """See `Dialect.describe`."""
        from harness.search.transport import list_urls

        path, body = make_single_search(request)
        has_address = cluster.url or cluster.nodes or cluster.cloud_id
        url = list_urls(cluster)[0].rstrip("/") if has_address else ""
        return SentRequest("POST", url + path, {"content-type": "application/json"}, body)

    def selects_fields(self, template: RequestTemplate) -> bool:
        """See `Dialect.selects_fields`."""
        return isinstance(template.body, Mapping) and not SELECTING.isdisjoint(template.body)

    def list_unbatched_params(self, template: RequestTemplate) -> Sequence[str]:
        """See `Dialect.list_unbatched_params`: an `_msearch` has no place for some parameters."""
        return sorted(template.url_params.keys() - HEADER_PARAMS)

    def is_pinned(self, request: SearchRequest | RequestTemplate) -> bool:
        """See `Dialect.is_pinned`."""
        return find_point(request.body) is not None

    def read_scope(self, request: SearchRequest) -> Json:
        """See `Dialect.read_scope`."""
        return [find_point(request.body), bodies.select_index_params(request.url_params), request.id_field]

    def may_request_more(self, template: RequestTemplate) -> bool:
        """See `Dialect.may_request_more`: a body with a size of its own is sent as it is, as is a search template."""
        return isinstance(template.body, Mapping) and OWN_SIZE.isdisjoint(template.body)

    def count_hits(self, request: SearchRequest) -> int | None:
        """See `Dialect.count_hits`: that of a search template is for the server to say."""
        body = request.body
        if not isinstance(body, Mapping) or "template" in body:
            return None
        size = body.get("size")
        return size if isinstance(size, int) else None

    def takes_size(self, request: SearchRequest) -> bool:
        """See `Dialect.takes_size`: the LIMIT of ES|QL is a part of its text."""
        return not is_esql(request.body)

    def find_deepest_size(self, request: SearchRequest) -> int:
        """See `Dialect.find_deepest_size`."""
        if is_esql(request.body):
            return 0
        return bodies.find_deepest_size([request.url_params, request.body])

    def find_window(self, request: SearchRequest) -> int | None:
        """See `Dialect.find_window`."""
        return bodies.find_window(request.body)

    def with_size(self, request: SearchRequest, size: int) -> SearchRequest:
        """See `Dialect.with_size`."""
        return replace(request, body={**request.body, "size": size})

    def deepen(self, request: SearchRequest, size: int) -> SearchRequest:
        """See `Dialect.deepen`."""
        return bodies.deepen(request, size)

    def has_all_matches(self, ranking: Ranking, request: SearchRequest) -> bool:
        """See `Dialect.has_all_matches`."""
        return bodies.has_all_matches(ranking, request)

    def lists_all_matches(self, request: SearchRequest) -> bool:
        """See `Dialect.lists_all_matches`."""
        if is_esql(request.body):
            return False
        return bodies.lists_all_matches([request.url_params, request.body])

    def groups_hits(self, request: SearchRequest) -> bool:
        """See `Dialect.groups_hits`."""
        return bodies.groups_hits(request.body)

    def is_filled_by_server(self, request: SearchRequest | RequestTemplate) -> bool:
        """See `Dialect.is_filled_by_server`: a search template is."""
        return "template" in request.body

    def looks_up_documents(self, request: SearchRequest | RequestTemplate) -> bool:  # noqa: ARG002
        """See `Dialect.looks_up_documents`."""
        return True

    def list_unread_fields(self, request: SearchRequest | RequestTemplate, fields: Sequence[str]) -> Sequence[str]:
        """
        See `Dialect.list_unread_fields`: nothing can be added to a body that the engine makes of a template, nor to
        the rows of ES|QL.
        """
        return fields if self.is_filled_by_server(request) or is_esql(request.body) else ()

    def prefer(self, request: SearchRequest, preference: str) -> SearchRequest:
        """See `Dialect.prefer`."""
        return add_preference(preference, request)

    def request_documents(
        self, request: SearchRequest, ids: Sequence[str], options: LookUpOptions = IDS_ONLY
    ) -> SearchRequest:
        """See `Dialect.request_documents`."""
        return bodies.make_ids_request(request, ids, options)

    def request_sample(self, request: SearchRequest, size: int) -> SearchRequest:
        """See `Dialect.request_sample`."""
        return bodies.make_sample_request(request, size)

    def filter_to_documents(self, request: SearchRequest, ids: Sequence[str]) -> SearchRequest | None:
        """See `Dialect.filter_to_documents`: a search template has no query here, and others may not list all."""
        body = request.body
        if not isinstance(body, Mapping) or "template" in body or is_esql(body):
            return None
        if not self.lists_all_matches(request):
            return None
        return bodies.filter_to_ids(request, ids)

    def restrict_to_shards(self, look_up: SearchRequest, request: SearchRequest) -> SearchRequest | None:
        """See `Dialect.restrict_to_shards`."""
        shards = select_shard_params(request.url_params)
        return replace(look_up, url_params={**look_up.url_params, **shards}) if shards else None

    def describe_shards(self, request: SearchRequest) -> str:
        """See `Dialect.describe_shards`."""
        return describe_shards(request.url_params)

    def find_named_fields(self, request: SearchRequest) -> Mapping[str, str]:
        """See `Dialect.find_named_fields`: ES|QL refuses a column that no index has."""
        if is_esql(request.body):
            return {}
        return find_named_fields(request.body)

    def list_own_fields(self, request: SearchRequest) -> frozenset[str]:
        """See `Dialect.list_own_fields`."""
        return list_own_fields(request.body)

    def has_fixed_fields(self, template: RequestTemplate) -> bool:
        """See `Dialect.has_fixed_fields`."""
        if is_esql(template.body):
            return True
        return has_fixed_fields(template.body)

    def list_unknown_fields(self, names: Sequence[str], types: Mapping[str, frozenset[str]]) -> list[str]:
        """See `Dialect.list_unknown_fields`."""
        return list_unknown_fields(names, types)

    def find_references(self, template: RequestTemplate, values: Iterable[Json]) -> References:
        """See `Dialect.find_references`."""
        references = find_references(template.body, template.url_params, values)
        return references | EVERYTHING if searches_all_fields(template.body) else references

    def find_objects(self, requests: Iterable[SearchRequest]) -> frozenset[StoredObject]:
        """See `Dialect.find_objects`."""
        return find_objects(requests)
