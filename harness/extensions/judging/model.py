"""Unjudged documents, errors in judgments, and what shows whether a machine may be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.agreement import Pair
from harness.model.judging import UnjudgedBounds
from harness.model.run import Highlight
from harness.model.suite import Mark


class FindingKind(StrEnum):
    """The kind of a finding; the values are those of the JSON output."""

    UNREADABLE = "unreadable"
    NO_GRADE = "no-grade"
    OFF_SCALE = "off-scale"
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    UNKNOWN_QUERY = "unknown-query"
    NO_POSITIVE = "no-positive"
    MISSING_DOCUMENT = "missing-document"
    MISSING_QUOTE = "missing-quote"
    OTHER_DOCUMENT = "other-document"
    MOVED_DOCUMENTS = "moved-documents"
    ALIAS = "alias"
    SEVERAL_INDEXES = "several-indexes"
    REPEATED_ID = "repeated-id"
    CHANGED_DOCUMENT = "changed-document"
    OLD_GRADE = "old-grade"


@dataclass(frozen=True, slots=True, order=True)
class JudgmentFinding:
    """One error in judgments: its place, its kind, and a message with a remedy."""

    mark: Mark
    kind: FindingKind
    message: str

    def __str__(self) -> str:
        return f"{self.mark}: {self.message}"


@dataclass(frozen=True, slots=True)
class QueryCoverage:
    """One query in a run, and the range of its score over the unjudged hits."""

    query: str
    run: str
    unjudged: int
    """The number of unjudged hits in the top k."""
    bounds: UnjudgedBounds

    @property
    def spread(self) -> float:
        """Greatest minus least of the scores in *bounds*; infinite if *as_judged* is None and another score is not."""
        values = (self.bounds.if_worst, self.bounds.as_judged, self.bounds.if_best)
        known = [value for value in values if value is not None]
        if self.bounds.as_judged is None:
            return float("inf") if known else 0.0
        return max(known) - min(known)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many hits of a run are judged; means are None if no query was answered."""

    run: str
    """Its name."""
    hits: int
    """The number of hits in the top k."""
    unjudged: int
    """The number of those without a judgment."""
    queries: int
    """The number of queries with unjudged hits."""
    judged: float | None
    """The mean of Judged@k."""
    if_worst: float | None
    as_judged: float | None
    """The mean of the measure over the queries that have all three values; likewise *if_worst* and *if_best*."""
    if_best: float | None


@dataclass(frozen=True, slots=True)
class PooledDocument:
    """An unjudged document."""

    query: str
    text: str
    document: str
    ranks: Mapping[str, int]
    """Name of each run that returns the document in the top k to its rank there, from 1; empty if none does."""
    title: str | None = None
    snippet: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of the fields that are shown, by field; fields that the document lacks are left out."""
    image: str | None = None
    """The URL of a picture, with http or https."""
    link: str | None = None
    """The URL of its page, with http or https."""
    highlights: Mapping[str, Highlight] = field(default_factory=dict)
    """Those of *texts* that have words of the query, by field; likewise the title, by the field of titles."""
    need: str = ""
    """What would satisfy the user, as in the suite."""

    @property
    def pair(self) -> Pair:
        """The ids of its query and of the document."""
        return self.query, self.document

    @property
    def best(self) -> int:
        """Its best rank."""
        return min(self.ranks.values())


@dataclass(frozen=True, slots=True)
class Pool:
    """The unjudged documents of one suite."""

    suite: str
    path: str
    depth: int
    """The number of ranks from which documents are taken: the k of the top k."""
    measure: str
    documents: tuple[PooledDocument, ...]
    """Sorted by query, then by best rank."""
    coverage: tuple[Coverage, ...]
    """One for each run."""
    queries: tuple[QueryCoverage, ...]
    """Those with unjudged hits; the one whose value of *measure* may change most comes first."""
    unanswered: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Query and run to the reason why there is no ranking."""
    zero_hits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Query to the runs in which nothing matched it."""
    selected: tuple[str, ...] = ()
    """The ids of all its queries, in the order of the suite."""
    notes: tuple[str, ...] = ()
    """Sentences about the whole pool."""


@dataclass(frozen=True, slots=True)
class GradedAlike:
    """How a machine graded documents that people graded, or that are in queries with a tag."""

    documents: int
    same: int
    """The number of documents with the same grade by both."""
    leniency: float | None
    """The mean of the machine's grade minus people's; None without a document."""
    kappa: float | None
    """Cohen's kappa with quadratic weights; None where it is undefined."""


@dataclass(frozen=True, slots=True)
class RequestMeans:
    """The mean of a request over the queries that have a score by people's grades and by the machine's."""

    request: str
    by_people: float
    by_machine: float


@dataclass(frozen=True, slots=True)
class RequestRanks:
    """Whether requests rank alike by people's grades and by a machine's."""

    measure: str
    queries: int
    means: tuple[RequestMeans, ...]
    """The best by people's grades first."""
    tau: float
    """Kendall's tau of the two orders, from -1 to 1."""


@dataclass(frozen=True, slots=True)
class MachineTrust:
    """A machine beside people, over the documents that both graded."""

    machine: str
    graded: int
    """The number of documents that the machine graded."""
    shared: GradedAlike
    leniency_range: tuple[float, float] | None
    """The 95 % interval of the leniency, for other queries of this kind; None where it is undefined."""
    alpha: float | None
    """Krippendorff's alpha for grades as numbers."""
    confusion: tuple[tuple[float, float, int], ...]
    """People's grade, the machine's grade, and the number of documents; sorted, without those that are 0."""
    by_grade: Mapping[float, GradedAlike]
    """By people's grade."""
    by_tag: Mapping[str, GradedAlike]
    ranks: RequestRanks | None = None
    """None if fewer than two requests were sent."""
