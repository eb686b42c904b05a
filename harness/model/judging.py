"""What is still to be judged, and what is judged wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.model.suite import Mark


class FindingKind(StrEnum):
    """What was found; the name by which JSON knows it."""

    UNREADABLE = "unreadable"
    NO_GRADE = "no-grade"
    OFF_SCALE = "off-scale"
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    UNKNOWN_QUERY = "unknown-query"
    NO_POSITIVE = "no-positive"
    MISSING_DOCUMENT = "missing-document"
    ALIAS = "alias"
    SEVERAL_INDEXES = "several-indexes"


@dataclass(frozen=True, slots=True, order=True)
class JudgmentFinding:
    """One thing to look at: where it stands, what it is, and a sentence that says what to do."""

    mark: Mark
    kind: FindingKind
    message: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.message}"


@dataclass(frozen=True, slots=True)
class UnjudgedBounds:
    """
    A score beside what it would be if every unjudged hit had the *worst*, or the *best*, grade.

    *judged* is the share of the hits that have a judgment, down to the cutoff. A value is None where it is undefined.
    The two need not enclose the score, nor each other: a document that turns out good also raises the ideal.
    """

    judged: float
    if_worst: float | None
    as_judged: float | None
    if_best: float | None


@dataclass(frozen=True, slots=True)
class QueryCoverage:
    """One *query* in a *run*: how many hits of the top k are *unjudged*, and what the measure cannot know for that."""

    query: str
    run: str
    unjudged: int
    bounds: UnjudgedBounds

    @property
    def spread(self) -> float:
        """How far apart the values lie that the measure may have; infinite where it has none as judged."""
        values = (self.bounds.if_worst, self.bounds.as_judged, self.bounds.if_best)
        known = [value for value in values if value is not None]
        if self.bounds.as_judged is None:
            return float("inf") if known else 0.0
        return max(known) - min(known)


@dataclass(frozen=True, slots=True)
class Coverage:
    """
    One *run*, by its name: how many *hits* of the top k there are, how many are *unjudged*, and in how many *queries*.

    *judged* is the mean of Judged@k. *if_worst*, *as_judged* and *if_best* are the means of the measure over the
    queries that have all three of them. All are None where no query was answered.
    """

    run: str
    hits: int
    unjudged: int
    queries: int
    judged: float | None
    if_worst: float | None
    as_judged: float | None
    if_best: float | None


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """An unjudged document: *ranks* holds its rank, from 1, by the name of each run that has it in the top k."""

    query: str
    text: str
    document: str
    ranks: Mapping[str, int]
    title: str | None = None
    snippet: str | None = None

    @property
    def best(self) -> int:
        """Its best rank."""
        return min(self.ranks.values())


@dataclass(frozen=True, slots=True)
class Pool:
    """
    What is to be judged of one suite, to the rank *depth*.

    *documents* are sorted by query, then by best rank. *coverage* is that of each run, *queries* those with unjudged
    hits, the one first whose value of *measure* may change most. *unanswered* says why a query has no ranking, by query
    and run. *notes* are sentences about the pool as a whole.
    """

    suite: str
    path: str
    depth: int
    measure: str
    documents: tuple[PooledDocument, ...]
    coverage: tuple[Coverage, ...]
    queries: tuple[QueryCoverage, ...]
    unanswered: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
