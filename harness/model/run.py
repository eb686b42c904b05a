"""Requests, rankings and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeAlias

from harness.model.conditions import Operator
from harness.model.suite import HttpRequest, Json, Mark, Query, Waiver
from harness.model.timing import LatencyFigures, ShardCopy

ANY_TEXT = "*"
"""The field of a snippet if none is named: the longest text that is not the title."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach a server; logins are names of environment variables, never values."""

    name: str
    url: str | None = None
    """One of *url* and *cloud_id* is set."""
    cloud_id: str | None = None
    engine: str | None = None
    service: str = "engine"
    """Either "engine" or "http"."""
    api_key_env: str | None = None
    username_env: str | None = None
    password_env: str | None = None
    ca_certs: str | None = None
    """A PEM file, relative to harness.toml."""
    fingerprint: str | None = None
    """The SHA-256 of the server's certificate."""
    timeout: float = 30.0
    """Seconds for one request."""
    headers_env: Mapping[str, str] = field(default_factory=dict)
    """Header to the name of a variable."""
    concurrency: int = 4
    """Requests at once, at most."""
    batch: int | None = None
    """Searches of one request, at most; as the engine bears where None."""
    mark: Mark = Mark()
    nodes: tuple[str, ...] = ()
    """More URLs of the same cluster."""
    bearer_token_env: str | None = None
    client_cert: str | None = None
    """A PEM file with the client's certificate, relative to harness.toml as are the others."""
    client_key: str | None = None
    """The same with its private key; *client_cert* has both if it is None."""
    client_key_password_env: str | None = None
    verify_certs: bool = True
    """Whether the server's certificate is verified."""
    proxy: str | None = None
    """The URL of a proxy, without a login; as the environment says if it is None."""
    proxy_username_env: str | None = None
    proxy_password_env: str | None = None

    @property
    def logins(self) -> tuple[str, ...]:
        """The keys of the logins that an engine takes one of."""
        named = {
            "api_key_env": self.api_key_env,
            "username_env": self.username_env,
            "bearer_token_env": self.bearer_token_env,
        }
        return tuple(key for key, name in named.items() if name)

    @property
    def secret_variables(self) -> tuple[str, ...]:
        """The names of the variables that hold secrets."""
        named = (
            self.api_key_env,
            self.password_env,
            self.bearer_token_env,
            self.client_key_password_env,
            self.proxy_password_env,
            *self.headers_env.values(),
        )
        return tuple(name for name in named if name)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables that it takes from the environment."""
        return (*(name for name in (self.username_env, self.proxy_username_env) if name), *self.secret_variables)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The request for one query, with placeholders and variables filled."""

    query: str
    index: str | None
    body: Json
    """Has a `size`."""
    http: HttpRequest | None = None
    title_field: str | None = None
    """The field returned as title, if the body does not select fields itself."""
    snippet: str | None = None
    """The field returned as snippet, or `ANY_TEXT`; likewise."""
    fields: tuple[str, ...] = ()
    """Fields whose texts are returned; likewise."""
    unique_ids: bool = False
    """Whether an id identifies one document in all indexes searched."""
    id_field: str | None = None
    """The field that holds the id of a document; None for its `_id`."""
    url_params: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the URL of `_search`, as the suite has them."""
    built_for: Query | None = field(default=None, compare=False, repr=False)
    """The query of the suite that it was built for; None for a look-up of the harness's own."""


@dataclass(frozen=True, slots=True)
class Route:
    """How a request gets to its server; empty texts stand for what there is not."""

    client_cert: str = ""
    """The file with the client's certificate."""
    client_key: str = ""
    """The file with its key, if that is another."""
    client_key_password: str = ""
    proxy: str = ""
    """The URL of the proxy of harness.toml."""
    proxy_login: str = ""
    """User and password with a colon between."""
    verify_certs: bool = True


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request as it is sent; ``${NAME}`` is the value of a variable of the environment that may be secret."""

    method: str
    url: str
    """With path and parameters; without a server if a client object of the user's knows it."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    """None if there is none."""
    login: str = ""
    """User and password of basic authentication, with a colon between; empty if there is none."""
    ca_certs: str = ""
    """The file with the CA of the server's certificate; empty if it is one that the system trusts."""
    fingerprint: str = ""
    """The SHA-256 of the server's certificate; empty if it is not pinned."""
    route: Route | None = None
    """How it gets there; None if nothing is to be known of that."""
    variables: tuple[str, ...] = ()
    """The names of the variables in it."""
    encoded: tuple[str, ...] = ()
    """Those whose value is sent in base64."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as returned."""

    id: str
    score: float | None = None
    """None if the server sorts by something else."""
    title: str | None = None
    snippet: str | None = None
    """The beginning of its text."""
    texts: Mapping[str, str] | None = None
    """The texts of the fields that were asked for, by field; None if none were."""

    @classmethod
    def of(
        cls,
        identity: str,
        score: float | None,
        title: str | None,
        snippet: str | None,
        texts: Mapping[str, str] | None,
    ) -> Hit:
        """
        The same in a third of the time: a frozen dataclass sets its fields in Python, one after the other.

        There are ten times as many hits as queries.
        """
        hit = object.__new__(cls)
        _set_id(hit, identity)
        _set_score(hit, score)
        _set_title(hit, title)
        _set_snippet(hit, snippet)
        _set_texts(hit, texts)
        return hit


_set_id, _set_score, _set_title, _set_snippet, _set_texts = (getattr(Hit, one.name).__set__ for one in fields(Hit))


class FailureKind(StrEnum):
    """Why a query has no ranking."""

    ERROR = "engine error"
    TIMEOUT = "timeout"
    SHARDS = "failed shards"
    MALFORMED = "malformed answer"
    AMBIGUOUS = "ambiguous id"
    NOT_RUN = "did not run"
    TARGET = "wrong target"
    """The target holds no document, or none of those that are judged relevant."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A query without a valid answer."""

    kind: FailureKind
    reason: str
    status: int | None = None
    """The HTTP status of the item, if any."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to one request."""

    hits: tuple[Hit, ...] = ()
    """In the server's order; a repeated document only at its first rank."""
    total: int | None = None
    """The number of matching documents as the engine counts them; None if unknown."""
    took: float | None = None
    """The engine's own time in milliseconds; None if unknown."""
    total_is_lower_bound: bool = False
    duplicates: tuple[str, ...] = ()
    """The id of each repeated hit."""
    total_doubt: str = ""
    """Why *total* is unknown, if the value in the answer is impossible; *took_doubt* likewise."""
    took_doubt: str = ""
    stopped_early: bool = False
    """Whether the engine stopped collecting at `terminate_after`."""
    tail: tuple[Hit, ...] = ()
    """Known hits below those requested with the score of the last."""
    closed: bool = False
    """Whether no other document has that score."""

    @property
    def returned(self) -> int:
        """The number of hits returned, including repeated documents."""
        return len(self.hits) + len(self.duplicates)


Response: TypeAlias = Ranking | Failure


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine of a server."""

    kind: str
    """elasticsearch, opensearch or http."""
    version: str = ""
    stated: bool = False
    """Whether the target states it, so that the server is not asked."""

    def __str__(self) -> str:
        return f"{self.kind} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Facts on an index at the time of a run, as far as the login may read them."""

    mapping: str | None = None
    """A fingerprint, as is *settings*."""
    settings: str | None = None
    documents: int | None = None
    missing: tuple[str, ...] = ()
    """The names of facts that could not be read."""
    mapping_json: Json = None
    """
    The value behind the fingerprint, one per index without index names; None if unreadable or too large.
    *settings_json* likewise.
    """
    settings_json: Json = None


@dataclass(frozen=True, slots=True)
class TailSearch:
    """The repeated searches for the tails of rankings."""

    queries: int
    """The number of queries repeated."""
    hits: int
    """The most hits requested."""
    seconds: float
    left_open: int = 0
    """The number of tails that are still not complete."""
    problem: str = ""
    """Why nothing could be sent."""


@dataclass(frozen=True, slots=True)
class NamedField:
    """A field that a suite names, and that is not there."""

    name: str
    place: str
    """Where it is named: ``query.multi_match.fields[0]``, or `title_field`."""
    meant: str | None = None
    """The field that was probably meant."""


@dataclass(frozen=True, slots=True)
class TargetChecks:
    """What a run found out about its target, beside the answers to its queries."""

    target: str | None
    """The index, alias or pattern; None for a point in time."""
    documents: int | None = None
    """The number of documents that searches see; None if unknown."""
    documents_is_lower_bound: bool = False
    examples: tuple[str, ...] = ()
    """Ids of a few of them."""
    relevant: int = 0
    """The number of documents judged relevant, which were looked up by their ids."""
    absent: Mapping[str, str | None] = field(default_factory=dict)
    """
    The documents judged relevant or named in expectations that are not visible through the target. Each has the id
    there that differs in its form only, None if none is known.
    """
    unknown_fields: tuple[NamedField, ...] = ()
    """Fields that the requests name, and no searched index has."""
    untitled: NamedField | None = None
    """The suite's `title_field`, if hits were returned and none has it."""
    problems: tuple[str, ...] = ()
    """What could not be checked, and why."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """What tells an index, or those behind an alias or a pattern, from the same at another time."""

    uuids: Mapping[str, str] | None = None
    """The UUID of each index by its name, None if unknown."""
    documents: int | None = None
    """The number of documents that searches see, None if unknown."""
    copies: Mapping[str, tuple[ShardCopy, ...]] | None = None
    """The started copies of each shard, such as "products[0]", the one that answers first; None if unknown."""
    writes: Mapping[str, int] | None = None
    """
    The highest sequence number of each shard that is searched without a filter of an alias, by the UUID of its index
    and its number: a document that is added, replaced or deleted takes the next one. None if unknown.
    """


@dataclass(frozen=True, slots=True)
class Repeat:
    """The same searches made again."""

    responses: Mapping[str, Response]
    """By query."""
    copies: Mapping[str, tuple[ShardCopy, ...]] | None = None
    """As `IndexState.copies`: those that answered it."""


class Instability(StrEnum):
    """Why a query has several rankings in the repeats of a run."""

    TIES = "ties"
    """Only documents of equal score changed places."""
    COPIES = "other copies"
    """Documents have other scores, the index is the same, and another copy of a shard answered."""
    MOVING = "moving index"
    """The target changed meanwhile."""
    UNANSWERED = "no answer"
    """A repeat has no ranking of it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class UnstableQuery:
    """A query whose ranking is not the same in each repeat of a run."""

    query: str
    cause: Instability
    rankings: int
    """The number of different rankings."""


@dataclass(frozen=True, slots=True)
class Run:
    """The responses of a suite's queries, in its order, and their source."""

    responses: Mapping[str, Response]
    engine: Engine
    request: str = "request"
    index: str | None = None
    seconds: float = 0.0
    """The duration of the search phase."""
    facts: IndexFacts | None = None
    """None if they were not requested, as are *tails*."""
    tails: TailSearch | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of documents that were looked up: of hits that came without one, and of documents that are no hits."""
    resent: Mapping[str, str] = field(default_factory=dict)
    """Why a query's request was sent more than once, by query: "status 429", "timeout", "connection closed"."""
    checks: TargetChecks | None = None
    """None if the target was not checked."""
    states: tuple[IndexState, ...] = ()
    """The target before, between and after the searches, where it was not as at the look before; empty if unknown."""
    repeats: tuple[Repeat, ...] = ()
    """The second repeat and those that followed."""
    target_unknown: bool = False
    """Whether some answers are an earlier run's, or another part's, and nobody knows if the target was the same."""

    @property
    def has_rankings(self) -> bool:
        """Whether any query was answered."""
        return any(isinstance(response, Ranking) for response in self.responses.values())

    @property
    def hits(self) -> Iterator[Hit]:
        """The hits of all queries, one after the other."""
        return (hit for one in self.responses.values() if isinstance(one, Ranking) for hit in one.hits)


class Status(StrEnum):
    """The status of a threshold; docs/outcomes.md has the exit status of each."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    WARNED = "warned"
    XFAILED = "expected failure"
    XPASSED = "unexpected pass"
    SKIPPED = "skipped"
    NOT_DECIDED = "not decided"
    """The run only reports figures: ``--report-only``."""

    @property
    def is_undecided(self) -> bool:
        """Whether the threshold was to be decided, and neither passed nor failed."""
        return self in (Status.INCONCLUSIVE, Status.ERROR)


class Unit(StrEnum):
    """What the figures of a verdict are, if they are not scores: their unit, or that they are drops or p values."""

    SHARE = "share"
    DROP = "drop"
    P_VALUE = "p"
    QUERIES = "queries"
    RANK = "rank"
    HITS = "hits"
    MILLISECONDS = "ms"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the gate on one threshold."""

    id: str
    threshold: str
    status: Status
    reason: str
    """A sentence."""
    observed: float | None = None
    """The value that decided, None if there is none: a score, or as *unit* says (a share is a fraction)."""
    required: float | None = None
    """In the same unit."""
    measure: str | None = None
    tag: str | None = None
    query: str | None = None
    """Set for a query's own threshold."""
    blamed: tuple[str, ...] = ()
    """The queries to look at, worst first."""
    counted: int = 0
    """The number of queries in the figure."""
    left_out: int = 0
    """The number of queries left out because they are undefined or skipped."""
    mark: Mark = Mark()
    waiver: Waiver | None = None
    markers: tuple[str, ...] = ()
    unit: Unit | None = None
    caveat: str = ""
    """Why a threshold that holds is weak evidence."""
    operator: Operator | None = None
    """Compares *observed* with *required*."""
    ties: tuple[float, float] | None = None
    """The least and the greatest observed value over the orders of ties, if they differ."""
    timing: LatencyFigures | None = None
    """In JSON, what a threshold on latency has in place of some of these fields; None elsewhere."""
    repeats: tuple[float, float] | None = None
    """The least and the greatest observed value in *unit* over the repeats of the run, if they differ."""
