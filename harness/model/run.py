"""What is sent to a server, what it answers, the scores, and what the gate decides on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from harness.model.suite import HttpRequest, Json, Mark, Operator, Waiver

ANY_TEXT = "*"
"""The field of a snippet where no field is named: that of the longest text which is not the title."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """
    How to reach a server: one of *url* or *cloud_id*; logins as the names of environment variables that hold them,
    never as values.

    *service* is "engine" or "http" (an application's own search API). *timeout* in seconds is for one request.
    *fingerprint* is the SHA-256 of the server's certificate, *ca_certs* a PEM file, relative to harness.toml. *nodes*
    are more URLs of the same cluster, asked in turn with *url*.
    """

    name: str
    url: str | None = None
    cloud_id: str | None = None
    engine: str | None = None
    service: str = "engine"
    api_key_env: str | None = None
    username_env: str | None = None
    password_env: str | None = None
    ca_certs: str | None = None
    fingerprint: str | None = None
    timeout: float = 30.0
    headers_env: Mapping[str, str] = field(default_factory=dict)
    mark: Mark = Mark()
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """
    What is sent for one query: placeholders and variables filled; *body* holds `size`.

    *title_field* is brought back with each hit, where the body does not say itself what of a document it wants. So is
    a cut of the field *snippet*, or of the longest text where that is `ANY_TEXT`. *unique_ids* says that an `_id` names
    one document in all indexes that are searched.
    """

    query: str
    index: str | None
    body: Json
    http: HttpRequest | None = None
    title_field: str | None = None
    snippet: str | None = None
    unique_ids: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """
    A document as returned; *score* is None where the server sorts by something else; *title* and *snippet*, a short cut
    of its text, are for people.
    """

    id: str
    score: float | None = None
    title: str | None = None
    snippet: str | None = None


class FailureKind(StrEnum):
    """Why a query has no ranking."""

    ERROR = "engine error"
    TIMEOUT = "timeout"
    SHARDS = "failed shards"
    MALFORMED = "malformed answer"
    AMBIGUOUS = "ambiguous id"
    NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class Failure:
    """A query that was not answered as it should be; *status* is the item's HTTP status, where there is one."""

    kind: FailureKind
    reason: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """
    One answered request: *hits* in the server's order, a document that came more than once kept once, at its first
    place.

    *total* is the number of matching documents as the engine counts them, *took* its own time in milliseconds; None
    where the answer does not say. Where it says what cannot be, *total_doubt* and *took_doubt* tell what that is.
    *duplicates* names a document each time that it came again. *stopped_early* is what the engine says where it was
    told to collect only so many documents (`terminate_after`). *tail* are hits below those that were needed, as far as
    they are known and have the score of the last; *closed* says that no other document has it.
    """

    hits: tuple[Hit, ...] = ()
    total: int | None = None
    took: float | None = None
    total_is_lower_bound: bool = False
    duplicates: tuple[str, ...] = ()
    total_doubt: str = ""
    took_doubt: str = ""
    stopped_early: bool = False
    tail: tuple[Hit, ...] = ()
    closed: bool = False

    @property
    def returned(self) -> int:
        """How many hits came, those of a document that had come before among them."""
        return len(self.hits) + len(self.duplicates)


Response: TypeAlias = Ranking | Failure


@dataclass(frozen=True, slots=True)
class Engine:
    """What answered: *kind* is elasticsearch, opensearch or http; *stated* where the target said so, unasked."""

    kind: str
    version: str = ""
    stated: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """
    What an index was when a run was made, as far as the login may read it.

    *mapping* and *settings* are fingerprints, *documents* is a count; *missing* names what could not be read.
    *mapping_json* and *settings_json* are what the fingerprints are of, a value for each index, without their names;
    None where that could not be read, or is too large to be kept.
    """

    mapping: str | None = None
    settings: str | None = None
    documents: int | None = None
    missing: tuple[str, ...] = ()
    mapping_json: Json = None
    settings_json: Json = None


@dataclass(frozen=True, slots=True)
class TailSearch:
    """
    What it cost to look for the tails of rankings: *queries* were asked again, each for at most *hits*, in *seconds*.

    *left_open* counts those whose tail is still not known whole; *problem* is why none could be asked.
    """

    queries: int
    hits: int
    seconds: float
    left_open: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """
    A response a query, in the suite's order, and what gave it.

    *seconds* is how long the search phase took; *facts* are known, and *tails* were looked for, where somebody asked.
    """

    responses: Mapping[str, Response]
    engine: Engine
    request: str = "request"
    index: str | None = None
    seconds: float = 0.0
    facts: IndexFacts | None = None
    tails: TailSearch | None = None


class Outcome(StrEnum):
    """What became of a query; decision 1 of the product, in docs/outcomes.md."""

    SCORED = "scored"
    ZERO_HITS = "zero hits"
    UNDEFINED = "undefined"
    ERROR = "error"
    NOT_RUN = "did not run"
    SKIPPED = "skipped"

    @property
    def is_unanswered(self) -> bool:
        """Whether there is no ranking though there was to be one: the query failed, or did not run."""
        return self in (Outcome.ERROR, Outcome.NOT_RUN)


@dataclass(frozen=True, slots=True)
class Score:
    """One query's value of one measure; *value* is None where *outcome* is not SCORED or ZERO_HITS."""

    query: str
    measure: str
    value: float | None
    outcome: Outcome
    reason: str = ""


class Status(StrEnum):
    """How a threshold came out; docs/outcomes.md has the exit status of each."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    WARNED = "warned"
    XFAILED = "expected failure"
    XPASSED = "unexpected pass"
    SKIPPED = "skipped"

    @property
    def is_undecided(self) -> bool:
        """Whether it neither passed nor failed: an answer is missing, or does not allow to decide."""
        return self in (Status.INCONCLUSIVE, Status.ERROR)


class Unit(StrEnum):
    """What the figures of a verdict count, where they are no scores."""

    SHARE = "share"
    QUERIES = "queries"
    RANK = "rank"
    HITS = "hits"
    MILLISECONDS = "ms"


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What the gate decided about one threshold.

    *observed* and *required* are what was decided on, None where there is no number: scores, or what *unit* says, of
    which a share is a fraction. *operator* compares the two. A document that is not among the hits has no rank.
    *reason* is a sentence for people. *blamed* holds the queries to look at, worst first; *query* is set for a query's
    own threshold. *counted* is how many queries went into it, *left_out* how many did not for being undefined or
    skipped. *ties* are the least and the greatest that would be observed over the orders of documents that tie, where
    these differ. *caveat* is a sentence on why a threshold that holds tells less than it seems to.
    """

    id: str
    threshold: str
    status: Status
    reason: str
    observed: float | None = None
    required: float | None = None
    measure: str | None = None
    tag: str | None = None
    query: str | None = None
    blamed: tuple[str, ...] = ()
    counted: int = 0
    left_out: int = 0
    mark: Mark = Mark()
    waiver: Waiver | None = None
    markers: tuple[str, ...] = ()
    unit: Unit | None = None
    caveat: str = ""
    operator: Operator | None = None
    ties: tuple[float, float] | None = None
