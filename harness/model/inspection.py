"""One query in detail: its request, its ranking rank by rank, and why documents have their scores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.model.report import BaselineSummary, QueryReport
from harness.model.request import SentRequest
from harness.model.run import Engine, TargetChecks
from harness.model.suite import Json
from harness.model.timing import ReportTiming


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
    """The gain of *grade*; `Contributions.gain` describes how it is computed."""
    discount: float
    """The divisor of the gain."""
    adds: float
    """Gain divided by discount."""
    loses: float
    """What the ideal ranking adds at this rank, minus *adds*; negative where the ideal adds less."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """A DCG rank by rank: *dcg* is the sum of what all ranks add, and *ideal* is *dcg* plus what all ranks lose."""

    measure: str
    """The nDCG or DCG that is computed from these ranks."""
    gain: str
    """The gain function, in words."""
    dcg: float
    ideal: float
    """The DCG of the ideal ranking; 0 if no judged document has a positive gain."""
    ranks: tuple[RankContribution, ...]


@dataclass(frozen=True, slots=True)
class TiedDocuments:
    """Documents that nothing orders, so that the engine chooses their order."""

    rank: int
    """The rank of the first."""
    score: int | float | None
    """Their score; None if the engine sorted by something else."""
    documents: tuple[str, ...]
    """Those in the ranking, best first."""
    below: tuple[str, ...] = ()
    """Those that are known below the ranking."""
    closed: bool = True
    """Whether *below* is complete: no other document ties with them."""
    sort: tuple[Json, ...] | None = None
    """Their sort values; None if the engine sorted by the score only."""


class PartKind(StrEnum):
    """
    The kind of clause that a part of a score comes from.

    Engines explain what a TERM is computed from. A CONSTANT is computed from nothing; what the others are computed from
    is in the details of a part.
    """

    TERM = "term"
    CONSTANT = "constant"
    FUNCTION = "function score"
    SCRIPT = "script score"
    VECTOR = "vector similarity"
    FUSION = "rank fusion"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ScoreDetail:
    """A number that an engine computes a score from, such as the value of one function of a `function_score`."""

    description: str
    """In the engine's words."""
    value: float
    level: int
    """0 for the clause or factor itself, 1 for what it is computed from, 2 for what that is computed from."""


@dataclass(frozen=True, slots=True)
class ScoreFactor:
    """A number that multiplies a part of a score."""

    name: str
    """
    Such as "tie_breaker", "function score" or "rescore_query_weight"; "not the best", with the value 0, if only a
    better part counts.
    """
    value: float
    details: tuple[ScoreDetail, ...] = ()
    """What the engine computes it from; empty where its name says all."""


@dataclass(frozen=True, slots=True)
class ScorePart:
    """What one clause of a query adds to the score of a document."""

    kind: PartKind
    clause: str
    """The field with its term, phrase or synonyms, or else the description of the engine."""
    score: float
    """*value* times all *factors*. The parts of an explanation add up to the score of the document."""
    value: float
    """The clause's own score."""
    factors: tuple[ScoreFactor, ...] = ()
    details: tuple[ScoreDetail, ...] = ()
    """What the engine computes the value from; empty for a TERM and where *clause* says all."""
    field: str | None = None
    """None unless *kind* is TERM, as are all fields below."""
    term: str | None = None
    boost: float | None = None
    """As the engine reports it: in Elasticsearch it contains the factor k1 + 1 = 2.2, in OpenSearch it does not."""
    idf: float | None = None
    tf: float | None = None
    frequency: float | None = None
    """How often the term is in the field."""
    length: float | None = None
    """The number of terms in the field."""
    average_length: float | None = None
    containing: int | None = None
    """The number of documents with the term; None for a phrase."""


@dataclass(frozen=True, slots=True)
class ClauseMatch:
    """Whether a document matches one clause of a query."""

    place: str
    """The path in the body, such as "query.bool.must[0]"."""
    clause: str
    """Its JSON, shortened."""
    matches: bool
    decides: bool = False
    """Whether it keeps the document from matching."""


class Explained(StrEnum):
    """What is known about the score of a document."""

    SCORED = "scored"
    UNMATCHED = "does not match"
    LEFT_OUT = "matches and is left out"
    """The query matches the document, but another part of the request body leaves it out."""
    INVISIBLE = "not visible"
    """No document with the id is visible through the target."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one document has its score for a query, or none."""

    document: str
    outcome: Explained
    score: float | None = None
    """None unless *outcome* is SCORED or LEFT_OUT."""
    rank: int | None = None
    """None if no search found it."""
    index: str | None = None
    """The index that contains the document, if known."""
    parts: tuple[ScorePart, ...] = ()
    """The greatest first."""
    clauses: tuple[ClauseMatch, ...] = ()
    """The clauses of the request that were tried, if the document does not match."""
    nearest: str | None = None
    """If no document with this id is visible, the known id that was probably meant."""
    reason: str = ""
    """Why *outcome* is UNKNOWN or LEFT_OUT, or UNMATCHED if *clauses* do not show it."""


@dataclass(frozen=True, slots=True)
class PartDifference:
    """What one clause adds to the scores of two documents."""

    clause: str
    first: float
    """0 if the document has no such part; likewise *second*."""
    second: float
    difference: float
    """*first* minus *second*; over all clauses they add up to the difference of the scores."""


@dataclass(frozen=True, slots=True)
class QueryInspection:
    """One query of a suite, run alone; no threshold is decided."""

    timing: ReportTiming
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
    """Groups of at least two documents."""
    explanations: tuple[Explanation, ...] = ()
    """One for each document that the user named."""
    differences: tuple[PartDifference, ...] = ()
    """If two documents are explained, what differs between their scores, the largest first."""
    baseline: BaselineSummary | None = None
    """None if there is none."""
    checks: TargetChecks | None = None
    """None if the target was not checked."""
    notes: tuple[str, ...] = ()
    schema: int = 1
    """The version of the JSON form."""
