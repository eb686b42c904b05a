"""The results of a run, as reports show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from harness.model.comparison import MovedDocument
from harness.model.kept import TextDiff
from harness.model.late import LateFields
from harness.model.request import SentRequest
from harness.model.run import (
    Engine,
    Failure,
    Instability,
    QuotePlaces,
    TargetChecks,
    UnstableQuery,
    Verdict,
    find_held_share,
)
from harness.model.scores import Outcome
from harness.model.suite import Json, Profile
from harness.model.timing import QueryTiming, ReportTiming, SuiteTiming


@dataclass(frozen=True, slots=True)
class FieldText:
    """What a document has in a field that the suite displays."""

    field: str
    text: str
    """Shortened."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where words of the query are in *text*, as in `Highlight`."""


@dataclass(frozen=True, slots=True)
class DocumentTexts:
    """What a report shows of a document beside its id, its title and its grade."""

    fields: tuple[FieldText, ...]
    """In the order of the suite, without those that the document lacks."""
    title_spans: tuple[tuple[int, int], ...] = ()
    """Where words of the query are in the title."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A hit with its judgment."""

    rank: int
    """Counts from 1."""
    id: str
    grade: float | None = None
    """None for an unjudged document, as is *gain*."""
    gain: float | None = None
    score: int | float | None = None
    title: str | None = None
    tied: bool = False
    """Whether it ties with a neighbor: nothing orders the two."""
    sort: tuple[Json, ...] | None = None
    """The values that the engine sorted it by; None if it sorted by the score only."""
    texts: DocumentTexts | None = None
    """None if they were not looked up, which they are for the first hits of the queries that need attention."""


class Absence(StrEnum):
    """Why a document is not in a ranking."""

    NOT_VISIBLE = "not visible"
    """It is not in the target, an alias filters it out, or the login may not see it."""
    NO_MATCH = "no match"
    """The request does not match it."""
    COLLAPSED = "collapsed"
    """Field collapsing shows another document of its group."""
    BEYOND = "beyond"
    """The request returns no more than `searched` hits, however many are requested."""
    BELOW = "below"
    """It matches, and is below the ranks that were searched."""


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """A document that is judged relevant or named in an expectation, and is not in the ranking."""

    id: str
    grade: float | None
    """None if it is expected and not judged."""
    rank: int | None = None
    """The rank at which a deeper search found it."""
    searched: int = 0
    """The number of ranks that were searched for it."""
    title: str | None = None
    """None if unknown."""
    absence: Absence | None = None
    """None if it has a rank, or if unknown."""
    target: str | None = None
    """If it is not visible, the index, alias or pattern in which it was looked up."""
    similar: str | None = None
    """If it is not visible, an id in the target that differs only in form, if one is known."""
    texts: DocumentTexts | None = None
    """As in `RankedDocument`."""


@dataclass(frozen=True, slots=True)
class QuoteReport:
    """A quote of a query, and the hits that hold it."""

    text: str
    key: str
    """As in `Quote`."""
    grade: float
    document: str = ""
    """The document that it is from; empty if the suite does not say it."""
    hits: QuotePlaces = ()
    was: QuotePlaces | None = None
    """Its places in the baseline, or in the reference of a comparison; None if it is not compared."""

    @property
    def share(self) -> float:
        """The share of it that counts, that of the hit which holds most of it; 0 if none does."""
        return find_held_share(self.hits)

    @property
    def gained(self) -> float:
        """How much greater its share is than in what it is compared with; 0 if it is not compared."""
        if self.was is None:
            return 0.0
        return self.share - find_held_share(self.was)


@dataclass(frozen=True, slots=True)
class QueryBaseline:
    """A query compared with the same query in the baseline; its text and params are unchanged."""

    scores: Mapping[str, float] = field(default_factory=dict)
    """Measure to the score of the stored ranking with the current judgments; scores not comparable are left out."""
    documents: tuple[MovedDocument, ...] = ()
    """
    The documents whose rank changed within *depth*: first those in the current ranking, in its order, then those that
    left it. The baseline is the reference, the run is the candidate.
    """
    depth: int = 0
    """The number of ranks compared: the greatest depth that a measure uses."""
    ties_only: bool = False
    """Whether only the order among ties changed."""


@dataclass(frozen=True, slots=True)
class VariantReport:
    """A variant of a query, whose ranking is compared with that of the query."""

    id: str
    text: str
    rule: str = ""
    """By which rule it was made, or "same as" for another query; empty if it is written in the suite."""
    hits: int | None = None
    """The number of its hits, None without a ranking, as for the other figures."""
    reason: str = ""
    """Why it has no ranking."""
    agreements: Mapping[str, float | None] = field(default_factory=dict)
    """Agreement, such as RBO or overlap@10, to value."""
    losses: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to how far its score is below that of the query, with the judgments of the query."""


@dataclass(frozen=True, slots=True)
class MissedHit:
    """A hit of another request that the ranking of a query lacks."""

    id: str
    rank: int
    """With the other request; counts from 1."""
    score: int | float | None = None
    """With the other request."""
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ComparedRequest:
    """Another request of the suite, with whose ranking for a query thresholds compare the query's own."""

    request: str
    depth: int
    """The number of ranks in which hits are missed."""
    hits: int | None = None
    """The number of its hits among these ranks, None without a ranking on either side, as for the other figures."""
    reason: str = ""
    """Why there is no ranking."""
    agreements: Mapping[str, float | None] = field(default_factory=dict)
    """Agreement, such as RBO or overlap@10, to value."""
    losses: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to how far the score of the query is below that with the other request."""
    missed: tuple[MissedHit, ...] = ()
    """The hits that the query's own ranking lacks, best first; not those for which another of equal score stands."""


@dataclass(frozen=True, slots=True)
class QueryReport(LateFields):
    """The results of one query. A report on the terminal shows the rows of a few queries, of tens of thousands."""

    LATE: ClassVar[tuple[str, ...]] = ("ranking", "ideal", "missing", "question")

    id: str
    text: str
    outcome: Outcome
    reason: str = ""
    """Why it has no score, or no score for some measure."""
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Measure to value, None if there is none."""
    ranking: tuple[RankedDocument, ...] = ()
    ideal: tuple[RankedDocument, ...] = ()
    missing: tuple[MissingDocument, ...] = ()
    total: int | None = None
    """The number of matching documents as the engine counts them."""
    judged: int = 0
    """The number of its judged documents, whether returned or not."""
    duplicates: tuple[str, ...] = ()
    """The ids of documents that the engine returned more than once."""
    total_is_lower_bound: bool = False
    """Whether the engine stopped counting, so that *total* is a lower bound."""
    weight: float = 1.0
    """Its weight in means."""
    question: str = ""
    """The name and a fingerprint of each value of the query that its request used: its text, params and vectors."""
    tail: tuple[str, ...] = ()
    """Documents below *ranking* that have the score of its last hit."""
    closed: bool = False
    """Whether *tail* is complete: no other document has that score."""
    exact_scores: bool = False
    """Whether scores tie only where they are equal, as those of a service; those of an engine are rounded."""
    scores_rise: bool = False
    """Whether a hit has a greater score than the one above it, though the request has no `sort`."""
    failure: Failure | None = None
    """Why it has no ranking."""
    baseline: QueryBaseline | None = None
    """None if it is not compared with a baseline."""
    sent: SentRequest | None = None
    """
    The request, without headers and login; a request to an engine is also without the server. It is stored for at most
    500 queries with a ranking in each suite; queries that thresholds blame come first.
    """
    timing: QueryTiming = field(default_factory=QueryTiming)
    machine_shares: Mapping[str, float] = field(default_factory=dict)
    """The share of machines' grades among those that the score of each measure reads; empty where people judge."""
    need: str = ""
    """What would satisfy the user, as in the suite."""
    nothing: bool = False
    """Whether no result is right for it: it has no scores then."""
    variants: tuple[VariantReport, ...] = ()
    """In the order of the suite."""
    compared: tuple[ComparedRequest, ...] = ()
    """The requests that thresholds compare it with."""
    quotes: tuple[QuoteReport, ...] = ()
    """In the order of the suite; empty without a ranking, and where the texts of hits are not known."""

    @property
    def has_only_quotes(self) -> bool:
        """Whether it is judged by quotes alone: no hit has a grade then."""
        return bool(self.quotes) and not self.judged


@dataclass(frozen=True, slots=True)
class MeanChange:
    """A mean in the baseline and in the run, over the queries that have scores in both."""

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
    """Whether queries have different weights in the mean; the other figures ignore weights."""
    change: MeanChange | None = None
    """The change of the mean since the baseline; None if no query is compared with one."""
    machine_share: float | None = None
    """The mean share of machines' grades among those that the scores read; None where no machine judges."""
    interval: tuple[float, float] | None = None
    """
    The 95 % interval of the mean for other queries of this kind; None for fewer than 6 queries, where all scores are
    equal, where weights are too unequal, and where intervals are turned off.
    """
    counts_as: int | None = None
    """
    How many queries of equal weight have a mean as uncertain as this one (Kish's effective number), rounded down. None
    where all weigh the same, and where intervals are turned off.
    """


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
    """Sentences on what changed since then."""
    queries: int = 0
    """The number of queries compared with it."""
    diffs: tuple[TextDiff, ...] = ()
    """Of the request, the mapping and the settings, if they changed and both texts are known."""
    fixture_changed: bool = False
    """Whether the suite builds its index from a fixture, and its mapping, settings or number of documents changed."""


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """The results of repeating the searches of a run."""

    repeats: int
    """How often the searches were made, including the first time, whose rankings and scores are in the report."""
    unstable: tuple[UnstableQuery, ...] = ()
    """The queries whose rankings differ between repeats, in the order of the suite."""


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
    """The selected queries."""
    notes: tuple[str, ...] = ()
    deselected: int = 0
    """The number of queries that were not selected."""
    tags: tuple[TagSummary, ...] = ()
    """The greatest share first, the queries without a tag last; empty if no query has a tag."""
    baseline: BaselineSummary | None = None
    """None if there is none, or it cannot be read."""
    report_only: bool = False
    """Whether no threshold was decided because the run only reports figures: ``--report-only``."""
    checks: TargetChecks | None = None
    """None if the target was not checked."""
    hits: int = 0
    """The number of hits of all queries."""
    judged_hits: int = 0
    """The number of hits that are judged."""
    target_changed: str = ""
    """How the target changed during the searches, in a sentence; empty if it did not, or if that is unknown."""
    searched: Mapping[str, str | bool] | None = None
    """
    The options that make ``relevance show`` send the same searches, by their names in Python; None if no command can
    send them, such as those of a client object.
    """
    timing: SuiteTiming = field(default_factory=SuiteTiming)
    repeats: RepeatSummary | None = None
    """None if the searches were made once."""
    item_status: int | None = None
    """
    The exit status by the items of a pytest session: 3 if one is an error, 1 if one failed, else 0. None where that is
    what the verdicts and the queries say.
    """
    configuration: tuple[str, ...] = ()
    """The configuration files that were read: the trusted one, and one beside the suite that has its address."""
    gates: bool = True
    """Whether the run may fail: not if its request has ``gate: false``, or all thresholds are for other requests."""
    for_other_requests: int = 0
    """The number of the suite's thresholds that are not decided for the request."""
    not_kept: str = ""
    """Why the run is not in the history that was to keep it: the file could not be written. Empty otherwise."""

    @property
    def unscored(self) -> list[QueryReport]:
        """The queries whose outcome is not SCORED."""
        return [query for query in self.queries if query.outcome is not Outcome.SCORED]

    @property
    def unanswered(self) -> dict[str, QueryReport]:
        """The queries without a ranking, by id: they failed or did not run."""
        return {query.id: query for query in self.unscored if query.outcome.is_unanswered}

    @property
    def lacks_answers(self) -> bool:
        """Whether a query has no ranking, or none of a request that thresholds compare it with."""
        compared = [compared for query in self.queries for compared in query.compared]
        return bool(self.unanswered) or any(comparison.hits is None for comparison in compared)

    @property
    def unanswered_once(self) -> set[str]:
        """The queries without a ranking in the run, or in one of its repeats: without an answer the run fails."""
        queries = set(self.unanswered)
        if self.repeats is not None:
            queries |= {query.query for query in self.repeats.unstable if query.cause is Instability.UNANSWERED}
        return queries

    def find_queries(self, ids: Iterable[str]) -> list[QueryReport]:
        """The queries with *ids*, in that order; those that are not in the report are left out."""
        by_id = {query.id: query for query in self.queries}
        return [by_id[query_id] for query_id in dict.fromkeys(ids) if query_id in by_id]


@dataclass(frozen=True, slots=True)
class MissingSuite:
    """A suite that was to run beside those of a report and did not, and the *reason*, in one line or several."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """The results of a run, as the terminal, the HTML page and the JSON file show them."""

    timing: ReportTiming
    harness: str
    """The version of the harness."""
    suites: tuple[SuiteReport, ...]
    exit_status: int
    missing: tuple[MissingSuite, ...] = ()
    """The suites of a pytest session that did not run."""
    undecided: str = ""
    """Why the run fails although no threshold was to be decided: the selection of queries left none."""
    schema: int = 1
    """The version of the JSON form."""
