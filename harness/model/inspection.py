"""One query looked at by itself: its request, its ranking rank by rank, and why documents have their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.report import BaselineSummary, QueryReport
from harness.model.run import Engine
from harness.model.suite import Json


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
    variables: tuple[str, ...] = ()
    """The names of the variables in it."""
    encoded: tuple[str, ...] = ()
    """Those whose value is sent in base64."""


@dataclass(frozen=True, slots=True)
class RankContribution:
    """What one rank contributes to a DCG."""

    rank: int
    """Counts from 1, in the order that is scored."""
    document: str | None
    """None if there is no hit at this rank."""
    grade: float | None
    """None for an unjudged document, and if there is no hit."""
    gain: float
    """With the gain in force."""
    discount: float
    """What the gain is divided by."""
    adds: float
    """Gain divided by discount."""
    loses: float
    """What the ideal ranking adds at this rank, minus *adds*; negative where the ideal adds less."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """A DCG by rank: what the ranks add is *dcg* in sum, and with what they lose it is *ideal*."""

    measure: str
    """The nDCG or DCG that is computed from it."""
    gain: str
    """The gain in force, in words."""
    dcg: float
    ideal: float
    """The DCG of the ideal ranking; 0 if no judged document has a positive gain."""
    ranks: tuple[RankContribution, ...]


@dataclass(frozen=True, slots=True)
class TiedDocuments:
    """Documents of the same score, whose order is the engine's."""

    rank: int
    """That of the first."""
    score: float
    documents: tuple[str, ...]
    """In the ranking, best first."""
    below: tuple[str, ...] = ()
    """Known ones below the ranking."""
    closed: bool = True
    """Whether no other document has that score."""


@dataclass(frozen=True, slots=True)
class QueryInspection:
    """One query of a suite, run alone; nothing is decided."""

    created: str
    """An ISO 8601 time in UTC."""
    harness: str
    """The version of the harness."""
    suite: str
    path: str
    request: str
    cluster: str
    index: str | None
    engine: Engine
    query: QueryReport
    sent: SentRequest
    contributions: Contributions | None = None
    """None if the query has no ranking, or the measure cannot be computed by rank."""
    ties: tuple[TiedDocuments, ...] = ()
    """Groups of at least two documents; empty if the request sorts by more than the score."""
    baseline: BaselineSummary | None = None
    """None if there is none."""
    notes: tuple[str, ...] = ()
    schema: int = 1
    """The version of the JSON form."""
