"""Unjudged documents, and errors in judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

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
class UnjudgedBounds:
    """
    A score, and what it would be if every unjudged hit had the worst grade, or the best grade.

    *judged* is the share of the hits that have a judgment, down to the cutoff. A value is None where it is undefined.
    *as_judged* need not lie between the other two, and *if_worst* may be greater than *if_best*: a document with a high
    grade also raises the score of the ideal ranking.
    """

    judged: float
    if_worst: float | None
    as_judged: float | None
    if_best: float | None


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
class Disagreement:
    """A document that judges graded differently; *grades* maps each judge to the grade."""

    query: str
    document: str
    grades: Mapping[str, float]

    @property
    def spread(self) -> float:
        """The greatest grade minus the least."""
        return max(self.grades.values()) - min(self.grades.values())


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far judges agree; a coefficient is None where it is undefined."""

    graded: Mapping[str, int]
    """The number of documents that each judge graded, by judge."""
    alone: tuple[str, ...]
    """The judges who share no document with another one; no coefficient counts them."""
    shared: int
    """The number of documents that at least two judges graded; *alpha* is computed from them."""
    complete: int
    """The number of documents that all judges but those *alone* graded; *cohen* and *fleiss* are computed from them."""
    same: int
    """The number of *shared* documents to which each of their judges gave the same grade."""
    cohen: Mapping[str, float | None]
    """Cohen's kappa by weighting scheme; empty unless exactly two judges share documents."""
    fleiss: float | None
    alpha: Mapping[str, float | None]
    """Krippendorff's alpha by level of measurement."""
    disagreements: tuple[Disagreement, ...]
    """The one whose grades are furthest apart comes first."""


@dataclass(frozen=True, slots=True)
class MachineJudge:
    """A language model that grades, as relevance.toml describes it; its key is the name of an environment variable."""

    name: str
    base_url: str
    """Of an API like that of OpenAI, with its version: ends in /v1 mostly."""
    model: str
    api_key_env: str | None = None
    prompt: str | None = None
    """A Jinja template in place of the harness's own, relative to relevance.toml."""
    fields: tuple[str, ...] = ()
    """The fields that it is shown; empty for those that people are shown."""
    temperature: float = 0.0
    seed: int | None = None
    reasoning: str | None = None
    """The effort of a model that thinks first, such as "low"; it takes no temperature."""
    answers: str = "schema"
    """Either "schema", which the server keeps the model to, or "text"."""
    most_output_tokens: int = 300
    timeout: float = 60.0
    """Seconds for one answer."""
    concurrency: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_price: float | None = None
    """Of a million tokens that are sent."""
    output_price: float | None = None
    """Of a million tokens of answers."""
    budget: float | None = None
    """What one command may spend at these prices."""


@dataclass(frozen=True, slots=True)
class MachineAnswer:
    """How a language model came to its grade; *prompt* and *shown* are fingerprints."""

    model: str
    """As the server names it."""
    version: str
    """As the server names it, such as its `system_fingerprint`; empty if it names none."""
    prompt: str
    """Of the instructions, without the query and the document."""
    shown: str
    """Of the query and the document, as they were shown."""
    reason: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """What a judge says of a document for a query: a line of the judge's file."""

    query: str
    document: str
    grade: float | None
    """None if a grade was taken away, or if the judge cannot tell."""
    cannot_tell: bool = False
    comment: str = ""
    undoes: bool = False
    """Whether it restores what the judge said before the last answer."""
    suite: str | None = None
    """The name of the suite; None where the line does not say it."""
    question: str | None = None
    """The fingerprint of what the page shows of the query; None where the line does not say it."""
    machine: MachineAnswer | None = None
    """None for the answer of a person."""
    replaces: float | None = None
    """The suite's own grade, which the judge replaces by choice; None where the suite had none."""
    time: str | None = None
    """When the judge said it, in UTC and ISO 8601; None where the line does not say it."""
    settles: bool = False
    """Whether the judge saw the grades of others, to settle their differences; the grade is not independent then."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """A fingerprint of each text of the document that the judge saw, by field; empty where the line has none."""

    @property
    def is_empty(self) -> bool:
        """Whether it takes an answer away."""
        return self.grade is None and not self.cannot_tell and not self.comment


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
