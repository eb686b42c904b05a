"""The results of a run, and baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.run import Engine, Failure, IndexFacts, Outcome, Run, Score, Verdict
from harness.model.suite import Json, Profile


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A hit with its judgment."""

    rank: int
    """Counts from 1."""
    id: str
    grade: float | None = None
    """None for an unjudged document, as is *gain*."""
    gain: float | None = None
    score: float | None = None
    title: str | None = None
    tied: bool = False
    """Whether it ties with a neighbour."""


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """A relevant document that is not in the ranking."""

    id: str
    grade: float
    rank: int | None = None
    """The rank at which a deeper search found it."""
    searched: int = 0
    """The depth of that search."""
    title: str | None = None
    """None if unknown."""


@dataclass(frozen=True, slots=True)
class QueryReport:
    """The results of one query."""

    id: str
    text: str
    outcome: Outcome
    reason: str = ""
    """Why it has no score, or none for a measure."""
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to value, None if there is none."""
    ranking: tuple[RankedDocument, ...] = ()
    ideal: tuple[RankedDocument, ...] = ()
    missing: tuple[MissingDocument, ...] = ()
    total: int | None = None
    """The number of matching documents as the engine counts them."""
    took: float | None = None
    judged: int = 0
    """The number of its judged documents, returned or not."""
    duplicates: tuple[str, ...] = ()
    """The id of each repeated hit."""
    total_is_lower_bound: bool = False
    """Whether the engine stopped counting."""
    weight: float = 1.0
    """Its weight in means."""
    question: str = ""
    """A fingerprint of its text and params."""
    tail: tuple[str, ...] = ()
    """Documents below *ranking* with the score of the last hit."""
    closed: bool = False
    """Whether no other document has that score."""
    failure: Failure | None = None
    """Why it has no ranking."""


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """One measure over queries; the figures are None if no query counted."""

    measure: str
    gain: str
    mean: float | None
    median: float | None
    least: float | None
    greatest: float | None
    counted: int
    """The number of queries with a score."""
    left_out: int
    """The number of queries without one."""
    weighted: bool = False
    """Whether the weights in the mean differ; the other figures ignore weights."""


@dataclass(frozen=True, slots=True)
class TagSummary:
    """The queries with one tag; a query with two tags is in both summaries."""

    tag: str | None
    """None for the queries without a tag."""
    queries: int
    """Their number."""
    share: float
    """Their share of the total weight, in (0, 1]."""
    summaries: tuple[MeasureSummary, ...]
    """For the same measures as the suite's."""
    verdicts: tuple[str, ...] = ()
    """The ids of the suite's thresholds ``for`` the tag."""


@dataclass(frozen=True, slots=True)
class BaselineSummary:
    """The baseline that a run was compared with."""

    created: str
    """An ISO date."""
    changes: tuple[str, ...] = ()
    """Sentences on what changed since."""


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """One suite, run once with one request."""

    name: str
    path: str
    request: str
    cluster: str
    index: str | None
    engine: Engine
    profile: Profile
    gain: str
    depth: int
    summaries: tuple[MeasureSummary, ...]
    verdicts: tuple[Verdict, ...]
    queries: tuple[QueryReport, ...]
    """Those that were selected."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    deselected: int = 0
    """The number of the others."""
    tags: tuple[TagSummary, ...] = ()
    """The greatest share first, and the queries without a tag last; empty if no query has a tag."""
    baseline: BaselineSummary | None = None
    """None if no threshold compares with one, or there is none."""

    @property
    def unanswered(self) -> dict[str, QueryReport]:
        """The queries without an answer, by id: they failed or did not run."""
        return {query.id: query for query in self.queries if query.outcome.is_unanswered}


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run, as the terminal, the HTML page and the JSON file show them."""

    created: str
    """An ISO 8601 time in UTC."""
    harness: str
    """The version of the harness."""
    suites: tuple[SuiteReport, ...]
    exit_status: int
    schema: int = 1
    """The version of the JSON form."""


@dataclass(frozen=True, slots=True)
class BaselineQuery:
    """One query in a baseline."""

    outcome: Outcome
    question: str
    """A fingerprint of its text and params."""
    text: str
    """Masked, as are *params*."""
    judgments: str
    """A fingerprint of the judgments of *scores*."""
    ranking: tuple[tuple[str, float | None], ...] = ()
    """Document and engine score."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measure to the least and the greatest score over the orders of ties, if they differ."""
    weight: float = 1.0
    """Its weight in means."""
    params: Mapping[str, Json] | None = field(default_factory=dict)
    """None if they are too large."""
    tail: tuple[str, ...] = ()
    """Documents below the ranking with the score of the last hit."""
    closed: bool = False
    """Whether no other document has that score."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run of one request, and its source."""

    created: str
    """An ISO date."""
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    """The number of hits requested."""
    template: str
    """A fingerprint of the request before placeholders were filled."""
    index: IndexFacts
    queries: Mapping[str, BaselineQuery]
    request: Json = None
    """The request, masked; None if it is too large."""


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The baselines of one suite."""

    suite: str
    requests: Mapping[str, Baseline]
    """By the name of the request."""
    schema: int = 2
    """The version of the JSON form."""


@dataclass(frozen=True, slots=True)
class Question:
    """The text and params of a query."""

    fingerprint: str
    """Empty if it is unknown."""
    text: str
    """Masked, as are *params*."""
    params: Json = None
    """None if they are unknown or too large."""

    def is_another(self, other: Question) -> bool:
        """Whether *other* has another text or params, as far as both are known."""
        if self.fingerprint and other.fingerprint:
            return self.fingerprint != other.fingerprint
        return self.text != other.text


@dataclass(frozen=True, slots=True)
class Reference:
    """The baseline or other run that a run is compared with."""

    run: Run | None = None
    """None if there is none."""
    scores: tuple[Score, ...] = ()
    """With the current judgments, gain and profile."""
    depth: int = 0
    """The number of hits stored per query."""
    created: str = ""
    same_request: bool = False
    """Whether the request is unchanged."""
    changes: tuple[str, ...] = ()
    """Sentences on what changed since."""
    problem: str = ""
    """Why there is no *run*."""
    remedy: str = ""
    """What to do about that."""
    updating: bool = False
    """Whether the run is saved as the baseline, so that nothing is compared."""
    name: str = ""
    """Its name in sentences if it is not a baseline."""
    changed_questions: Mapping[str, tuple[Question, Question]] = field(default_factory=dict)
    """Queries with another text or params, then and now; *run* does not contain them."""

    @property
    def called(self) -> str:
        """Its name in sentences."""
        return self.name or "the baseline"
