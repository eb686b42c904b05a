"""
What the harness asks of a server, and of the requests for it.

A kind of server is a `Dialect`, which knows what requests say without a connection, a `Search`, which sends them, and
an `Inspector`, which asks for what is beside searches. Each of the three has an answer for a server that can do nothing
but search: a kind of server overrides what it can do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, TypeAlias

from harness.errors import SearchError
from harness.model.inspection import Explanation
from harness.model.request import Cluster, SearchRequest, SentRequest
from harness.model.run import Definitions, Engine, IndexFacts, IndexState, Ranking, Response
from harness.model.suite import Json, RequestTemplate
from harness.search.connection import Closing
from harness.search.definitions import References, StoredObject

# Requests.


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """How the user wants the connection to a server to be made, beside what the cluster says."""

    environ: Mapping[str, str]
    """The environment in which the variables of logins are looked up."""
    engine: str | None = None
    """What the server is, if the login may not ask it: "elasticsearch 9.4.3". Overrides `Cluster.engine`."""
    client: Any = None
    """The user's own client object, used instead of a connection to the cluster."""
    allow_write: bool = False
    """Whether an HTTP service that relevance.toml does not define may be sent what can change data."""
    budget: float | None = None
    """Seconds for finding out what answers."""
    assumed_engine: str | None = None
    """What the server is taken for where neither its cluster nor its own answer says what it is."""


@dataclass(frozen=True, slots=True)
class LookUpOptions:
    """What a look-up of documents returns."""

    size: int | None = None
    """Hits requested; as many as ids where None."""
    title_field: str | None = None
    """The field with the title."""
    has_snippet: bool = False
    """Whether a snippet of the longest text is returned."""
    fields: tuple[str, ...] = ()
    """The fields whose texts are returned."""
    value_fields: tuple[str, ...] = ()
    """The fields whose values are returned."""
    highlights: bool = False
    """Whether words of the query are marked in the title and in *fields*, where the request has a query of words."""


IDS_ONLY = LookUpOptions()


class Dialect(ABC):
    """
    One kind of server: what its requests say, and what may be asked of it. Nothing here but `connect` needs a server.

    The defaults are those of a server whose requests say nothing of themselves.
    """

    takes_http_requests: ClassVar[bool] = False
    """Whether a suite writes whole HTTP requests for it, instead of bodies for an index."""
    has_indexes: ClassVar[bool] = False
    """Whether documents are in indexes that suites name, where they can be looked up by id."""
    takes_client: ClassVar[bool] = False
    """Whether a client object of the user's can be used in place of a connection."""
    explains_scores: ClassVar[bool] = False
    """Whether `Inspector.explain` can say why a document has its score."""
    has_rank_eval: ClassVar[bool] = False
    """Whether the server computes scores itself, by `Inspector.rate_requests`."""

    @abstractmethod
    def connect(self, cluster: Cluster, options: ConnectOptions) -> Search:
        """Connect to *cluster* and identify its server; see `harness.search.dialects.open_search`."""

    @abstractmethod
    def describe(self, request: SearchRequest, cluster: Cluster) -> SentRequest:
        """*request*, which must be valid, as sent to *cluster* by itself; not masked, and without the login."""

    def selects_fields(self, template: RequestTemplate) -> bool:
        """Whether the requests may select the fields of their hits themselves."""
        return False

    def list_unbatched_params(self, template: RequestTemplate) -> Sequence[str]:
        """The parameters because of which each search needs a request of its own."""
        return ()

    def is_pinned(self, request: SearchRequest | RequestTemplate) -> bool:
        """Whether *request* searches a point in time of its own."""
        return False

    def read_scope(self, request: SearchRequest) -> Json:
        """What *request* says, beside its index, on which documents it searches; equal for the same documents."""
        return None

    # The number of hits.

    def may_request_more(self, template: RequestTemplate) -> bool:
        """Whether the requests may ask for one hit more than is needed."""
        return False

    def count_hits(self, request: SearchRequest) -> int | None:
        """How many hits *request* asks for; None where it does not say."""
        return None

    def takes_size(self, request: SearchRequest) -> bool:
        """Whether *request* can be made for another number of hits."""
        return False

    def find_deepest_size(self, request: SearchRequest) -> int:
        """The greatest number of hits that may be asked for without another order of the first ones; 0 if none may."""
        return 0

    def find_window(self, request: SearchRequest) -> int | None:
        """The number of hits above which the server refuses *request*; None where nothing in it limits them."""
        return None

    def with_size(self, request: SearchRequest, size: int) -> SearchRequest:
        """*request* for *size* hits."""
        return request

    def deepen(self, request: SearchRequest, size: int) -> SearchRequest:
        """*request* for *size* hits, of which only the ids are returned."""
        return request

    # What matches.

    @abstractmethod
    def has_all_matches(self, ranking: Ranking, request: SearchRequest) -> bool:
        """Whether *ranking*, the response to *request*, shows that nothing else matches."""

    def lists_all_matches(self, request: SearchRequest) -> bool:
        """Whether the hits, if *request* asks for enough of them, are all that matches; not if it takes the nearest."""
        return True

    def groups_hits(self, request: SearchRequest) -> bool:
        """Whether *request* returns one document of each group."""
        return False

    def is_filled_by_server(self, request: SearchRequest | RequestTemplate) -> bool:
        """Whether the server makes the query from a template that it stores, or gets with *request*."""
        return False

    # Other requests for the same documents.

    def looks_up_documents(self, request: SearchRequest | RequestTemplate) -> bool:
        """Whether the documents that *request* searches can be looked up by their ids."""
        return False

    def explain_unwritable(self, request: SearchRequest, document: str) -> str:
        """Why no request by ids can have the id *document*, as a sentence; empty if one can."""
        return ""

    def list_unread_fields(self, request: SearchRequest | RequestTemplate, fields: Sequence[str]) -> Sequence[str]:
        """Those of *fields* whose values the response to *request* does not have, and a look-up by ids may have."""
        return ()

    def prefer(self, request: SearchRequest, preference: str) -> SearchRequest:
        """*request*, answered by the shard copies that *preference* chooses, unless it chooses them itself."""
        return request

    def request_documents(
        self, request: SearchRequest, ids: Sequence[str], options: LookUpOptions = IDS_ONLY
    ) -> SearchRequest:
        """
        A search for the documents *ids* themselves, among those that *request* searches; *ids* has at least one.

        Raises:
            SearchError: The server has no documents that can be looked up.
        """
        raise SearchError("documents cannot be looked up by id there")

    def request_sample(self, request: SearchRequest, size: int) -> SearchRequest | None:
        """A search for any *size* of the documents that *request* searches; None where there is none."""
        return None

    def filter_to_documents(self, request: SearchRequest, ids: Sequence[str]) -> SearchRequest | None:
        """*request*, which then finds those of *ids* alone that match; None where it cannot be filtered."""
        return None

    def restrict_to_shards(self, look_up: SearchRequest, request: SearchRequest) -> SearchRequest | None:
        """*look_up* on the shards alone that *request* searches; None where it searches all."""
        return None

    def describe_shards(self, request: SearchRequest) -> str:
        """Which shards *request* searches, in words: ``routing berlin``; empty where it searches all."""
        return ""

    # Fields, and what a server has stored.

    def find_named_fields(self, request: SearchRequest) -> Mapping[str, str]:
        """The fields that *request* names, each with its first place."""
        return {}

    def list_own_fields(self, request: SearchRequest) -> frozenset[str]:
        """The fields that *request* defines itself, and no index needs to have."""
        return frozenset()

    def has_fixed_fields(self, template: RequestTemplate) -> bool:
        """Whether all texts that may be filled into *template* leave the fields that it names as they are."""
        return True

    def list_unknown_fields(self, names: Sequence[str], types: Mapping[str, frozenset[str]]) -> list[str]:
        """The *names* that are no fields of an index whose fields have *types*."""
        return [name for name in names if name not in types]

    def find_references(self, template: RequestTemplate, values: Iterable[Json]) -> References:
        """What the requests can name of what a server has stored; *values* are filled into *template*."""
        return References()

    def find_objects(self, requests: Iterable[SearchRequest]) -> frozenset[StoredObject]:
        """The stored objects that *requests* name."""
        return frozenset()


# Responses.


@dataclass(frozen=True, slots=True)
class StreamedResponse:
    """A request, its *position* among those that were sent together, and its response."""

    position: int
    request: SearchRequest
    response: Response
    resent: str = ""
    """Why the request was sent again, such as "status 429" or "connection closed"; empty if it was sent once."""
    lacks_further_hit: bool = False
    """Whether the index refused the hit that a run asks for beyond those that it needs."""
    deepened: int = 0
    """How many hits were asked for again to find enough different documents; 0 if they were not."""


ResponseStream: TypeAlias = Generator[StreamedResponse, None, None]
"""The responses to requests, in the order in which they arrive; closing it stops sending."""


def in_order(stream: Iterable[StreamedResponse]) -> list[Response]:
    """The responses of *stream* in the order of their requests."""
    responses = {streamed.position: streamed.response for streamed in stream}
    return [responses[position] for position in sorted(responses)]


NOTHING_KNOWN = IndexFacts(missing=("mapping", "settings", "documents"))
"""The facts on an index that cannot be asked about."""


class Search(Closing):
    """A client for search requests; a context manager that closes its connections."""

    service: str
    """The name of its dialect, as in `Cluster.service`."""
    engine: Engine
    """The engine, as the server reported it or as the suite states it."""

    @abstractmethod
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

    def search(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> list[Response]:
        """
        The responses to look-ups, in the order of *requests*; raises as `stream`.

        They are not sent to a server that no longer answered the queries before, which `stream` would wait for.
        """
        return in_order(self.stream(requests, budget=budget))

    def end_streams(self, thread: int) -> None:
        """
        End what the *thread* of this identity is sending, from another one: what was not sent is not sent, and that
        thread has `RunEnded`. What other threads send goes on, and the connections stay open.
        """

    def index_facts(self, index: str | None) -> IndexFacts:
        """Facts on *index*; those that cannot be read are in `missing`."""
        return NOTHING_KNOWN

    def field_types(
        self, index: str, names: Sequence[str], url_params: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]]:
        """
        The types of the fields in *names*, which may have wildcards, that any index behind *index* has.

        *url_params* are those of a search, of which some say which indexes these are, such as `expand_wildcards`.

        Raises:
            SearchError: The types cannot be read.
        """
        raise SearchError("the server does not say which fields there are")

    def index_state(self, index: str | None, *, timeout: float, url_params: Mapping[str, str]) -> IndexState:
        """
        The state of *index* now, as far as the login may read it; *timeout* is in seconds, for each request.

        *url_params* are those of a search, of which some say which indexes and copies these are.
        """
        return IndexState()

    def read_definitions(
        self, index: str | None, references: References, *, timeout: float, url_params: Mapping[str, str]
    ) -> Definitions:
        """What the server has stored now of *references*, for searches of *index*; else as `index_state`."""
        return Definitions()

    def at_point_in_time(self, index: str | None, url_params: Mapping[str, str]) -> AbstractContextManager[Search]:
        """
        A search that searches a point in time in place of *index* until the end of the block.

        Args:
            index: A name, alias or pattern.
            url_params: Those of its searches.

        Raises:
            SearchError: It cannot be opened.
        """
        raise SearchError("a point in time needs an engine and an index")

    @property
    def inspector(self) -> Inspector:
        """Asks the server for what is beside searches."""
        return Inspector()


# What is beside searches.


@dataclass(frozen=True, slots=True)
class IndexField:
    """A field of an index, or a subfield; *types* has several where indexes differ."""

    name: str
    types: frozenset[str]
    searchable: bool
    """In every index."""
    sortable: bool
    """In every index."""


@dataclass(frozen=True, slots=True)
class SampledDocument:
    """A document, and the values of some fields as texts."""

    id: str
    values: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class RatedHit:
    """A hit with the rating that counted for it, None without one."""

    id: str
    index: str
    score: float | None
    rating: int | None


@dataclass(frozen=True, slots=True)
class RatedQuery:
    """The score of one request, and the hits that it was computed from."""

    score: float
    hits: tuple[RatedHit, ...]


class Inspector:
    """
    Asks a server for what a run does not need. Each method raises SearchError where the server has no answer.

    This one has none at all.
    """

    def explain(
        self, request: SearchRequest, documents: Sequence[str], *, ranking: Sequence[str], known: Iterable[str] = ()
    ) -> tuple[Explanation, ...]:
        """
        Explain the scores of *documents* for *request*, in their order.

        Args:
            request: As it was sent.
            documents: Ids.
            ranking: The ids of the hits, best first.
            known: Other ids, one of which may be meant by an id that is not visible.

        Returns:
            An explanation for each. If a document cannot be explained, its explanation has the reason.
        """
        raise SearchError("the server does not explain scores")

    def render_template(self, request: SearchRequest) -> Mapping[str, Json]:
        """The body that the search template of *request* becomes."""
        raise SearchError("the server does not render search templates")

    def read_clock(self) -> datetime:
        """The time on the server, with its zone."""
        raise SearchError("the server does not say what time it is")

    def read_names(self) -> dict[str, tuple[str, ...]]:
        """The names that can be searched, by their kind, such as "index"."""
        raise SearchError("the server has no indexes that can be read")

    def read_fields(self, index: str) -> dict[str, IndexField]:
        """The fields of *index*, which may be an alias, a data stream or a pattern, by name."""
        raise SearchError("the server has no indexes that can be read")

    def read_sample(self, index: str, fields: Sequence[str]) -> list[SampledDocument]:
        """Some documents of *index* with the texts of *fields*."""
        raise SearchError("the server has no indexes that can be read")

    def read_documents(self, index: str) -> Iterator[Mapping[str, Json]]:
        """All documents of *index* as they are at one moment."""
        raise SearchError("the server has no indexes that can be read")

    def read_values(self, index: str, fields: Sequence[str], id_field: str | None) -> Iterator[SampledDocument]:
        """All documents of *index* as they are at one moment, by their ids or *id_field*, with values of *fields*."""
        raise SearchError("the server has no indexes that can be read")

    def rate_requests(
        self, index: str | None, spec: Mapping[str, Json], url_params: Mapping[str, str]
    ) -> dict[str, RatedQuery | str]:
        """The score of each request of *spec*, a body of `_rank_eval`, by its id; a text says why there is none."""
        raise SearchError("the server has no _rank_eval")

    def find_homes(self, index: str, ids: Sequence[str], url_params: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The indexes behind *index* that have each of *ids*; none has those left out."""
        raise SearchError("the server has no indexes that can be read")

    def read_sources(self, index: str, ids: Sequence[str], id_field: str | None) -> dict[str, Json]:
        """The `_source` of those of *ids* that *index* has; *id_field* holds them, `_id` where it is None."""
        raise SearchError("the server has no indexes that can be read")

    def list_tokens(self, index: str, text: str, analysis: Mapping[str, str]) -> tuple[str, ...]:
        """The tokens of *text* by position; *analysis* names the `field` or the `analyzer` of *index*."""
        raise SearchError("the server does not say how it analyzes texts")
