"""Elasticsearch and OpenSearch: their version, and searches by `_msearch`."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from typing import Any

from harness.config import find_engine_problem
from harness.errors import EngineUnreachable, SearchError, UsageError
from harness.model.inspection import Explanation
from harness.model.request import SearchRequest
from harness.model.run import Definitions, Engine, Failure, FailureKind, IndexFacts, IndexState, Response
from harness.model.suite import Json
from harness.search.answers import describe_refusal, read_json, refuses_login
from harness.search.batches import MOST_SEARCHES, Batches
from harness.search.bodies import select_index_params
from harness.search.connected import STATE_IT, ConnectedSearch, make_login_refused
from harness.search.connection import Answer, Connection
from harness.search.definitions import References, read_definitions
from harness.search.engine_state import read_facts, read_state
from harness.search.esql import explain_no_esql, is_esql
from harness.search.fields import read_derived_fields, read_field_types
from harness.search.hits import make_excerpt, make_printable
from harness.search.msearch import Entry, make_entry
from harness.search.points import PointInTime, close_point, open_point
from harness.search.protocol import NOTHING_KNOWN, IndexField, Inspector, RatedQuery, SampledDocument
from harness.search.sending import BatchSender
from harness.search.server_health import Retries, ServerHealth, ServerRequest, ask_one, has_living_node

_NO_REQUEST = Failure(FailureKind.ERROR, "the request is an HTTP request, and its cluster is an engine")
AT_ONCE = 4
"""Concurrent requests by default, few enough for a cluster that serves others as well."""

SECONDS_GONE = 60.0
"""
How long nothing is looked up on a server that was given up: it may still answer `GET /`, and the look-ups would wait
for it as long as the searches did.
"""

SECONDS_TO_COME_BACK = 1.0
"""How long it has to answer `GET /` before each look-up after that; without an answer it is not sent."""


class EngineSearch(ConnectedSearch[Connection]):
    """Searches Elasticsearch or OpenSearch by `_msearch`, over any connection."""

    service = "engine"
    who = "the engine"
    remedies = {401: "is it set and correct?", 403: "it needs the privilege `read` on the index"}  # noqa: RUF012

    def __init__(
        self,
        connection: Connection,
        engine: Engine,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        concurrency: int = AT_ONCE,
        batch: int = MOST_SEARCHES,
    ) -> None:
        """
        Args:
            connection: To the server.
            engine: What the server is.
            timeout: Seconds for one request.
            retries: The limits of retries.
            concurrency: Requests that are sent at once, at most.
            batch: Searches of one request, at most.
        """
        super().__init__(connection, engine, timeout=timeout, retries=retries)
        self._concurrency = concurrency
        self._batch = batch if self.retries.pace is None else self.retries.pace.limit_batch(batch)
        self._point: PointInTime | None = None
        self._gone: Failure | None = None
        """Why the server was given up during the last search, None if it serves."""
        self._gone_until = 0.0
        """When it may be asked again, by the clock of the retries."""

    @contextmanager
    def at_point_in_time(self, index: str | None, url_params: Mapping[str, str]) -> Iterator[EngineSearch]:
        """See `Search.at_point_in_time`: a search over the same connection."""
        if index is None:
            raise SearchError("a point in time needs an engine and an index")
        pinned = copy(self)
        pinned._point = point = open_point(self, index, url_params)
        try:
            yield pinned
        finally:
            pinned._point = None
            close_point(self, point)

    def pin(self, request: SearchRequest) -> SearchRequest:
        """*request*, in the point in time that is searched, if there is one."""
        return request if self._point is None else self._point.pin(request)

    def search(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> list[Response]:
        """See `Search.search`."""
        self._raise_if_gone()
        return super().search(requests, budget=budget)

    @property
    def _nodes(self) -> int:
        return self.connection.nodes

    def _check(self, requests: Sequence[SearchRequest], *, budget: float | None) -> None:
        """An engine takes any request."""

    def _send_all(
        self, requests: Sequence[SearchRequest], health: ServerHealth
    ) -> Generator[tuple[int, Response], None, None]:
        # Requests are written while others are under way.
        entries = (self._write_entry(position, request) for position, request in enumerate(requests))
        batches = Batches(entries, len(requests), health, senders=self._concurrency, most=self._batch)
        yield from BatchSender(self.connection, health, batches).send_all(len(requests), self._concurrency)
        self._gone = health.gone
        self._gone_until = health.now() + SECONDS_GONE

    def _write_entry(self, position: int, request: SearchRequest) -> Entry:
        """*request* as lines of an `_msearch`, in the point in time that is searched."""
        if request.http is not None:
            return Entry(position, b"", refusal=_NO_REQUEST)
        if is_esql(request.body) and explain_no_esql(self.engine.kind):
            refusal = Failure(FailureKind.ERROR, explain_no_esql(self.engine.kind))
            return Entry(position, b"", refusal=refusal)
        entry = make_entry(position, self.pin(request))
        if isinstance(entry, Failure):
            return Entry(position, b"", refusal=entry)
        return entry

    def _ask_if_gone(self) -> Failure | None:
        """Why the server was given up, if it does not answer now either; asks it if that was a while ago."""
        if self._gone is None or self.retries.clock.now() < self._gone_until:
            return self._gone
        if has_living_node(self.connection, min(self.timeout, SECONDS_TO_COME_BACK)):
            self._gone = None
        return self._gone

    def _raise_if_gone(self) -> None:
        failure = self._ask_if_gone()
        if failure is not None:
            raise EngineUnreachable(self.connection.mask(failure.reason))

    def index_facts(self, index: str | None) -> IndexFacts:
        """See `Search.index_facts`."""
        if self._ask_if_gone() is not None:
            return NOTHING_KNOWN
        return read_facts(self.connection, index, self.retries)

    def field_types(
        self, index: str, names: Sequence[str], url_params: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]]:
        """See `Search.field_types`."""
        self._raise_if_gone()
        params = select_index_params(url_params)
        types = read_field_types(self.connection, self.retries, index, names, params)
        if self.engine.kind == "opensearch" and not types.keys() >= set(names):
            types |= read_derived_fields(self.connection, self.retries, index, params)
        return types

    def index_state(self, index: str | None, *, timeout: float, url_params: Mapping[str, str]) -> IndexState:
        """See `Search.index_state`."""
        if self._ask_if_gone() is not None:
            return IndexState()
        return read_state(self.connection, index, timeout, url_params)

    def read_definitions(
        self, index: str | None, references: References, *, timeout: float, url_params: Mapping[str, str]
    ) -> Definitions:
        """See `Search.read_definitions`."""
        if self._ask_if_gone() is not None:
            timeout = 0  # so that nothing is asked, and all of it is unread
        return read_definitions(self.connection, index, references, timeout, url_params)

    @property
    def inspector(self) -> EngineInspector:
        """See `Search.inspector`."""
        return EngineInspector(self)


class EngineInspector(Inspector):
    """Asks Elasticsearch or OpenSearch over the connection of *search*."""

    def __init__(self, search: EngineSearch) -> None:
        self._search = search

    def explain(
        self, request: SearchRequest, documents: Sequence[str], *, ranking: Sequence[str], known: Iterable[str] = ()
    ) -> tuple[Explanation, ...]:
        """See `Inspector.explain`."""
        from harness.search.explain import explain_documents

        request = self._search.pin(request)
        return explain_documents(self._search, request, documents, ranking=ranking, known=known)

    def render_template(self, request: SearchRequest) -> Mapping[str, Json]:
        """See `Inspector.render_template`."""
        from harness.search.explain import render_template

        return render_template(self._search, request)

    def read_clock(self) -> datetime:
        """See `Inspector.read_clock`."""
        from harness.search.server_clock import read_clock

        return read_clock(self._search)

    def read_names(self) -> dict[str, tuple[str, ...]]:
        """See `Inspector.read_names`."""
        from harness.search.index_sample import read_names

        return read_names(self._search)

    def read_fields(self, index: str) -> dict[str, IndexField]:
        """See `Inspector.read_fields`."""
        from harness.search.index_sample import read_fields

        return read_fields(self._search, index)

    def read_sample(self, index: str, fields: Sequence[str]) -> list[SampledDocument]:
        """See `Inspector.read_sample`."""
        from harness.search.index_sample import read_sample

        return read_sample(self._search, index, fields)

    def read_documents(self, index: str) -> Iterator[Mapping[str, Json]]:
        """See `Inspector.read_documents`."""
        from harness.search.index_sample import read_documents

        return read_documents(self._search, index)

    def read_values(self, index: str, fields: Sequence[str], id_field: str | None) -> Iterator[SampledDocument]:
        """See `Inspector.read_values`."""
        from harness.search.index_sample import read_values

        return read_values(self._search, index, fields, id_field)

    def rate_requests(
        self, index: str | None, spec: Mapping[str, Json], url_params: Mapping[str, str]
    ) -> dict[str, RatedQuery | str]:
        """See `Inspector.rate_requests`."""
        from harness.search.rank_eval import rate_requests

        return rate_requests(self._search, index, spec, url_params)

    def find_homes(self, index: str, ids: Sequence[str], url_params: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """See `Inspector.find_homes`."""
        from harness.search.rank_eval import find_homes

        return find_homes(self._search, index, ids, url_params)

    def read_sources(self, index: str, ids: Sequence[str], id_field: str | None) -> dict[str, Json]:
        """See `Inspector.read_sources`."""
        from harness.search.index_contents import read_sources

        return read_sources(self._search, index, ids, id_field)

    def list_tokens(self, index: str, text: str, analysis: Mapping[str, str]) -> tuple[str, ...]:
        """See `Inspector.list_tokens`."""
        from harness.search.index_contents import list_tokens

        return list_tokens(self._search, index, text, analysis)


SERVERLESS = "serverless"
"""What stands for the version where the server has none."""

OPENSEARCH_TAGLINE = "The OpenSearch Project"
_COMPATIBLE = "in compatibility mode"
"""What stands for the version of an OpenSearch that says it is 7.10.2, whatever it is."""


def parse_engine(text: str) -> Engine:
    """
    The engine that *text*, such as "opensearch 2.19", says.

    Raises:
        UsageError: It names none that is known.

    >>> str(parse_engine("opensearch 2.19"))
    'opensearch 2.19'
    """
    sentence = find_engine_problem(text)
    if sentence:
        raise UsageError(f"invalid `engine`: {sentence}")
    kind, _, version = text.strip().partition(" ")
    return Engine(kind, version.strip(), stated=True)


def identify_engine(
    connection: Connection,
    retries: Retries,
    *,
    timeout: float = math.inf,
    budget: float | None = None,
    assumed: Engine | None = None,
) -> Engine:
    """
    The engine of the server, from `GET /`; each node is tried, and a busy one again.

    Args:
        connection: To the server.
        retries: The limits of retries.
        timeout: Seconds for one attempt; by default the connection's own.
        budget: Seconds for all attempts together.
        assumed: What the server is taken for where its answer has no version.

    Raises:
        EngineUnreachable: No node answers.
        LoginRefused: Nothing is assumed, and the login is wrong, or lacks the privilege.
        SearchError: Nothing is assumed, and the server is neither Elasticsearch nor OpenSearch.
    """
    answer = ask_one(connection, retries, ServerRequest("GET", "/"), timeout=timeout, budget=budget)
    try:
        engine = _read_identity(answer, connection)
    except SearchError:
        if assumed is None:
            raise
        return assumed
    # A refusal only suggests which engine it is. A serverless Elasticsearch has no number, and says so.
    if not engine.version and assumed is not None:
        return assumed
    return engine


def _read_identity(answer: Answer, connection: Connection) -> Engine:
    """The engine whose *answer* to `GET /` this is; raises as `identify_engine`."""
    if answer.status == 403:
        kind = _find_refusing_engine(answer)
        if kind is not None:
            return Engine(kind)
    if refuses_login(answer):
        raise make_login_refused(answer, connection)
    content = read_json(answer)
    if answer.status == 200 and isinstance(content, Mapping):
        version = content.get("version")
        if isinstance(version, Mapping) and isinstance(version.get("number", ""), str):
            return _read_engine(version, content)
    raise SearchError(connection.mask(_explain_no_engine(answer)))


def _find_refusing_engine(answer: Answer) -> str | None:
    """
    The kind of engine that gave *answer*, which refuses the login: "elasticsearch" or "opensearch".

    None if it may be a proxy that refuses.
    """
    if answer.headers.get("x-elastic-product") == "Elasticsearch":
        return "elasticsearch"
    reason = describe_refusal(answer)
    # Both engines name the privilege that the login lacks, in different sentences.
    if "[cluster:monitor/main]" not in reason:
        return None
    if "no permissions for" in reason:
        return "opensearch"
    return "elasticsearch"


def _read_engine(version: Mapping[str, Any], content: Mapping[str, Any]) -> Engine:
    """The engine whose answer to `GET /` is *content*, with its *version*; raises SearchError for another server."""
    number = make_printable(version.get("number", ""))
    if version.get("build_flavor") == SERVERLESS:
        # It has a number for old clients only.
        return Engine("elasticsearch", SERVERLESS)
    if version.get("distribution") == "opensearch":
        return Engine("opensearch", number)
    if str(content.get("tagline", "")).startswith(OPENSEARCH_TAGLINE):
        # `compatibility.override_main_response_version`, as on AWS, leaves the distribution out for old clients.
        return Engine("opensearch", _COMPATIBLE)
    if content.get("tagline") == "You Know, for Search" or "build_flavor" in version:
        return Engine("elasticsearch", number)
    raise SearchError(f"the server says it is version {number or '?'} of an unknown engine; {STATE_IT}")


def is_engine(answer: Answer) -> bool:
    """Whether the *answer* to `GET /` is an engine's, be it that it refuses the login."""
    if "x-elastic-product" in answer.headers or "opensearch" in answer.headers.get("www-authenticate", "").lower():
        return True
    content = read_json(answer)
    if not isinstance(content, Mapping):
        return False
    version, error = content.get("version"), content.get("error")
    if isinstance(error, Mapping) and "root_cause" in error:
        return True
    if not isinstance(version, Mapping):
        return False
    try:
        _read_engine(version, content)
    except SearchError:
        return False
    return True


def _explain_no_engine(answer: Answer) -> str:
    """That *answer* is not one of an engine, in words."""
    if answer.status != 200:
        reason = describe_refusal(answer)
    else:
        reason = f'it says "{make_excerpt(answer.body[:400].decode("utf-8", "replace"), 120)}"'
    return (
        f"`GET /` was not answered by Elasticsearch or OpenSearch: {reason}; is the URL correct? If it is, {STATE_IT}"
    )
