"""The results of a run, and baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from harness.lazy import LazySequence
from harness.model.baseline import TextDiff
from harness.model.comparison import MovedDocument
from harness.model.measure import Profile
from harness.model.run import Engine, Failure, SentRequest, TargetChecks, UnstableQuery, Verdict
from harness.model.scores import Outcome
from harness.model.timing import QueryTiming, ReportTiming, SuiteTiming


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


class Absence(StrEnum):
    """Why a document is not in a ranking."""

    NOT_VISIBLE = "not visible"
    """It is not in the target, or an alias filters it, or the login may not see it."""
    NO_MATCH = "no match"
    """The request does not match it."""
    COLLAPSED = "collapsed"
    """Another document of its group stands for it."""
    BEYOND = "beyond"
    """The request returns no more than `searched` hits, however many are asked for."""
    BELOW = "below"
    """It matches, and is below the ranks that were searched."""


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """A document that is not in the ranking, and is judged relevant or expected there."""

    id: str
    grade: float | None
    """None if it is expected and not judged."""
    rank: int | None = None
    """The rank at which a deeper search found it."""
    searched: int = 0
    """The depth of that search."""
    title: str | None = None
    """None if unknown."""
    absence: Absence | None = None
    """None if it has a rank, or if unknown."""
    target: str | None = None
    """If it is not visible, the index, alias or pattern that it was looked up in."""
    similar: str | None = None
    """If it is not visible, the id in the target that differs in its form only, if any is known."""


@dataclass(frozen=True, slots=True)
class QueryBaseline:
    """A query in the baseline, which had the same text and params."""

    scores: Mapping[str, float] = field(default_factory=dict)
    """Measure to the score of the stored ranking with the current judgments; without a score that is not comparable."""
    documents: tuple[MovedDocument, ...] = ()
    """
    The documents whose rank changed within *depth*: those of the current ranking in its order, then those that left.
    The baseline is the reference, the run the candidate.
    """
    depth: int = 0
    """The number of ranks compared: as deep as the measures look."""
    ties_only: bool = False
    """Whether only the order among ties changed."""


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
    baseline: QueryBaseline | None = None
    """None if it is not compared with a baseline."""
    sent: SentRequest | None = None
    """
    The request, without server, headers and login. Only stored for 500 queries with a ranking of each suite, those
    that thresholds blame first.
    """
    timing: QueryTiming = field(default_factory=QueryTiming)


class QueryReports(LazySequence[QueryReport]):
    """
    The reports on the queries of a suite, each built when it is asked for, which takes its response from a file.

    So whoever goes through all of them does that once. *outlines* are the same reports without what is in responses:
    the documents and the figures of the engine. *unscored* are the places of those whose outcome is no plain score.
    """

    def __init__(
        self,
        ids: Sequence[str],
        build: Callable[[int], QueryReport],
        *,
        outlines: Sequence[QueryReport],
        unscored: Sequence[int],
    ) -> None:
        """*ids* are those of the queries, *build* builds the report on the query at a place."""
        super().__init__(range(len(ids)), build, keep=REPORTS_KEPT)
        self.build = build
        self.ids = ids
        self.outlines = outlines
        self.unscored = unscored

    def changed(self, change: Callable[[QueryReport], QueryReport]) -> QueryReports:
        """These with *change* applied to each as it is built."""
        outlines = LazySequence(self.outlines, change)
        return QueryReports(
            self.ids, lambda place: change(self.build(place)), outlines=outlines, unscored=self.unscored
        )


REPORTS_KEPT = 1000
"""Reports on queries of a suite that stay in memory once they are built: all of a small suite."""


@dataclass(frozen=True, slots=True)
class MeanChange:
    """A mean in the baseline and in the run, over the queries that have a score in both."""

    baseline: float
    """With the current judgments and weights."""
    now: float
    difference: float
    """*now* minus *baseline*."""
    queries: int


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
    change: MeanChange | None = None
    """Since the baseline; None if no query is compared with one."""


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
    queries: int = 0
    """The number of queries compared with it."""
    diffs: tuple[TextDiff, ...] = ()
    """Of the request, the mapping and the settings, if they changed and both texts are known."""


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """What came of a run whose searches were made several times."""

    repeats: int
    """Their number, with the first, whose rankings and scores the report has."""
    unstable: tuple[UnstableQuery, ...] = ()
    """The queries with several rankings, in the order of the suite."""


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
    queries: Sequence[QueryReport]
    """Those that were selected."""
    notes: tuple[str, ...] = ()
    deselected: int = 0
    """The number of the others."""
    tags: tuple[TagSummary, ...] = ()
    """The greatest share first, and the queries without a tag last; empty if no query has a tag."""
    baseline: BaselineSummary | None = None
    """None if there is none, or it cannot be read."""
    report_only: bool = False
    """Whether no threshold was decided because the run only reports figures: ``--report-only``."""
    checks: TargetChecks | None = None
    """None if the target was not checked."""
    hits: int = 0
    """The number of hits of all queries."""
    judged_hits: int = 0
    """The number of these that are judged."""
    searched: Mapping[str, str | bool] | None = None
    """
    The given options with which ``harness show`` searches the same, by their names in Python; None if no option of a
    command can, as with a client object.
    """
    timing: SuiteTiming = field(default_factory=SuiteTiming)
    repeats: RepeatSummary | None = None
    """None if the searches were made once."""

    @property
    def ids(self) -> Sequence[str]:
        """Those of *queries*, in their order."""
        return self.queries.ids if isinstance(self.queries, QueryReports) else [query.id for query in self.queries]

    @property
    def outlines(self) -> Sequence[QueryReport]:
        """*queries*, maybe without documents and the figures of the engine: they may be gone through often."""
        return self.queries.outlines if isinstance(self.queries, QueryReports) else self.queries

    @property
    def unscored(self) -> Iterator[QueryReport]:
        """Those of the outlines whose outcome is no plain score."""
        if isinstance(self.queries, QueryReports):
            return (self.queries.outlines[place] for place in self.queries.unscored)
        return (query for query in self.queries if query.outcome is not Outcome.SCORED)

    @property
    def unanswered(self) -> dict[str, QueryReport]:
        """The outlines of the queries without an answer, by id: they failed or did not run."""
        return {query.id: query for query in self.unscored if query.outcome.is_unanswered}

    def named(self, ids: Iterable[str]) -> list[QueryReport]:
        """The queries with *ids*, in that order; those that are not in the report are left out."""
        wanted = dict.fromkeys(ids)
        places = {one: place for place, one in enumerate(self.ids) if one in wanted}
        return [self.queries[places[one]] for one in wanted if one in places]


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run, as the terminal, the HTML page and the JSON file show them."""

    timing: ReportTiming
    harness: str
    """The version of the harness."""
    suites: tuple[SuiteReport, ...]
    exit_status: int
    schema: int = 1
    """The version of the JSON form."""
