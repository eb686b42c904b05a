"""Rankings, runs and verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from harness.model.late import LateFields
from harness.model.suite import Json, Mark, Operator, Waiver
from harness.model.timing import LatencyFigures, ShardCopy


@dataclass(frozen=True, slots=True)
class Highlight:
    """The text of a field, and where the words of the query are in it."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """The first character of each, and that behind its last one; in order, and apart from each other."""

    def shorten(self, length: int) -> Highlight:
        """
        It, with its text cut to *length* characters, of which the first of *spans* is a part.

        >>> Highlight("red running shoes", ((0, 3), (4, 11))).shorten(8)
        Highlight(text='red run…', spans=((0, 3), (4, 7)))
        >>> Highlight("light and sturdy shoes for long runs", ((17, 22),)).shorten(20)
        Highlight(text='…sturdy shoes for l…', spans=((8, 13),))
        """
        if len(self.text) <= length:
            return self
        first = self._find_start(length)
        beginning = "…" if first > 0 else ""
        last = first + length - len(beginning)
        ending = ""
        if last < len(self.text):
            last -= 1
            ending = "…"
        shift = len(beginning) - first
        spans = []
        for start, end in self.spans:
            if start < last and end > first:
                spans.append((max(start, first) + shift, min(end, last) + shift))
        return Highlight(f"{beginning}{self.text[first:last]}{ending}", tuple(spans))

    def _find_start(self, length: int) -> int:
        """Where a text of *length* characters begins: at a word, a few before the first of *spans* if that is far."""
        if not self.spans or self.spans[0][1] < length:
            return 0
        start = self.spans[0][0]
        first = max(0, start - length // 2)
        blank = self.text.find(" ", first, start)
        return start if blank < 0 else blank + 1


FieldScalar: TypeAlias = str | int | float | bool
"""A value in a field of a document."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as the server returned it."""

    id: str
    score: int | float | None = None
    """None if the server sorts by something else. An integer stays one: a float holds no more than 53 bits of it."""
    title: str | None = None
    snippet: str | None = None
    """The beginning of its text."""
    texts: Mapping[str, str] | None = None
    """The texts of the requested fields, by field; None if no fields were requested."""
    sort: tuple[Json, ...] | None = None
    """
    The values that the server sorted it by; None if it sorts by the score only. Empty if they are unknown: it then ties
    with nothing.
    """
    urls: Mapping[str, str] | None = None
    """Those of the requested fields that are URLs, whole; the first of several. None as *texts*."""
    highlights: Mapping[str, Highlight] | None = None
    """The *texts* in which the server found words of the query, by field; None if it was not asked for them."""
    values: Mapping[str, tuple[FieldScalar, ...]] | None = None
    """
    The values of the fields that expectations read, by field, without fields that it lacks. None if they are unknown.
    """


class FailureKind(StrEnum):
    """Why a query has no ranking."""

    ERROR = "engine error"
    TIMEOUT = "timeout"
    SHARDS = "failed shards"
    PARTIAL = "partial results"
    """A service did not search all documents."""
    MALFORMED = "malformed answer"
    AMBIGUOUS = "ambiguous id"
    NOT_RUN = "did not run"
    TARGET = "wrong target"
    """The target contains no document, or none of those that are judged relevant."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A query without a valid answer."""

    kind: FailureKind
    reason: str
    status: int | None = None
    """The HTTP status of the response to this search, if any."""


@dataclass(frozen=True, slots=True)
class FoundQuotes:
    """Which quotes were looked for in the texts of a ranking, and what of them its hits hold."""

    quotes: tuple[str, ...] = ()
    """The keys of those that were looked for."""
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Document id to the key of a quote to the share of it that the document holds, in (0, 1]."""


QuotePlaces: TypeAlias = tuple[tuple[int, float], ...]
"""The rank of each hit that holds a quote, from 1, and the share of it that the hit holds, in (0, 1]."""


def find_held_share(places: QuotePlaces, cutoff: float = math.inf) -> float:
    """
    The share of a quote that counts within the first *cutoff* hits, that of the hit which holds most; 0 if none does.

    >>> find_held_share(((2, 0.5), (9, 1.0)), 5), find_held_share(())
    (0.5, 0.0)
    """
    return max((share for rank, share in places if rank <= cutoff), default=0.0)


@dataclass(frozen=True, slots=True)
class HitColumns:
    """Hits of which nothing but *ids* and *scores* was read, as what makes them when they are needed."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]

    def __call__(self, name: str) -> tuple[Hit, ...]:  # noqa: ARG002
        """The hits, which are the only late field of a `Ranking`."""
        return tuple(map(Hit, self.ids, self.scores))


@dataclass(frozen=True, slots=True)
class Ranking(LateFields):
    """
    The hits of one request, and what the server reports about them.

    To score a run takes the ids and scores alone: see `HitColumns`.
    """

    LATE: ClassVar[tuple[str, ...]] = ("hits",)

    hits: tuple[Hit, ...] = ()
    """In the server's order; a repeated document is only at its first rank."""
    total: int | None = None
    """The number of matching documents as the engine counts them; None if unknown."""
    took: float | None = None
    """The engine's own time in milliseconds; None if unknown."""
    total_is_lower_bound: bool = False
    duplicates: tuple[str, ...] = ()
    """The id of each hit that repeats an earlier one."""
    total_doubt: str = ""
    """Why *total* is unknown, if the response has an impossible value."""
    took_doubt: str = ""
    """The same for *took*."""
    to_last_byte: float | None = field(default=None, compare=False)
    """
    The milliseconds from the request to the last byte of its answer, as the harness measured them; None for an engine.
    Rankings that differ in it alone are equal.
    """
    stopped_early: bool = False
    """Whether the engine stopped collecting at `terminate_after`."""
    tail: tuple[Hit, ...] = ()
    """Known hits below the requested ones that tie with the last one."""
    closed: bool = False
    """Whether *tail* is complete: no other document ties with it."""
    indexes: tuple[str, ...] = field(default=(), compare=False)
    """The indexes that the hits are in, sorted; empty for a service. Rankings that differ in it alone are equal."""
    exact_scores: bool = False
    """
    Whether scores tie only where they are equal. Those of an engine are 32-bit floats, whose last digits may differ
    between two searches; those of a service, of a file and of a hook are what they are.
    """
    found_quotes: FoundQuotes | None = None
    """The quotes in its hits and its tail, of a ranking that was kept without texts; None where texts say it."""

    @property
    def columns(self) -> HitColumns | None:
        """What its hits are made of; None where they were read whole."""
        columns = self.late_maker
        return columns if isinstance(columns, HitColumns) else None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its hits."""
        columns = self.columns
        return tuple([hit.id for hit in self.hits]) if columns is None else columns.ids

    @property
    def scores(self) -> tuple[float | None, ...]:
        """The scores of its hits."""
        columns = self.columns
        return tuple([hit.score for hit in self.hits]) if columns is None else columns.scores

    @property
    def returned(self) -> int:
        """The number of hits returned, including repeated documents."""
        return len(self.ids) + len(self.duplicates)

    def list_hits_from(self, place: int) -> tuple[Hit, ...]:
        """The hits from that *place* on, which counts from 0."""
        columns = self.columns
        if columns is None:
            return self.hits[place:]
        return tuple(map(Hit, columns.ids[place:], columns.scores[place:]))

    def keep_first(self, depth: int, **fields: Any) -> Ranking:
        """The ranking with its first *depth* hits, and with other *fields*."""
        columns = self.columns
        if columns is None:
            return replace(self, hits=self.hits[:depth], **fields)
        return self.change(HitColumns(columns.ids[:depth], columns.scores[:depth]), **fields)


Response: TypeAlias = Ranking | Failure


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine of a server."""

    kind: str
    """Such as "elasticsearch" or "opensearch"; of a service "http", or the name of its preset."""
    version: str = ""
    stated: bool = False
    """Whether the suite's target names the engine, so that the harness does not ask the server."""

    def __str__(self) -> str:
        return f"{self.kind} {self.version}".strip()


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Facts about an index at the time of a run, as far as the login may read them."""

    mapping: str | None = None
    """A fingerprint, as is *settings*."""
    settings: str | None = None
    documents: int | None = None
    missing: tuple[str, ...] = ()
    """The names of facts that could not be read."""
    mapping_json: Json = None
    """
    The mappings behind the fingerprint: one value per index, without the names of indexes; None if unreadable or too
    large.
    """
    settings_json: Json = None
    """The same for the settings."""


@dataclass(frozen=True, slots=True)
class TailSearch:
    """The deeper searches for the tails of rankings: documents that tie with the last hit."""

    queries: int
    """The number of queries that were searched again."""
    hits: int
    """The greatest number of hits requested."""
    seconds: float
    left_open: int = 0
    """The number of tails that are still incomplete."""
    problem: str = ""
    """The error that ended these searches; empty if there was none."""


@dataclass(frozen=True, slots=True)
class NamedField:
    """A field that a suite names, and that the searched indexes or the returned hits do not have."""

    name: str
    place: str
    """Where the suite names it: ``query.multi_match.fields[0]``, or ``display.title``."""
    meant: str | None = None
    """The field that was probably meant."""


@dataclass(frozen=True, slots=True)
class CheckedField:
    """A field that expectations read, as the mappings of the searched indexes have it."""

    name: str
    types: tuple[str, ...] = ()
    """Its types, sorted; several where indexes differ, none if no searched index has it."""
    meant: str | None = None
    """The field that was probably meant, if no searched index has it."""


@dataclass(frozen=True, slots=True)
class TargetChecks:
    """The results of checking the target of a run."""

    target: str | None
    """The index, alias or pattern; None for a point in time."""
    documents: int | None = None
    """The number of documents that searches see; None if unknown."""
    documents_is_lower_bound: bool = False
    examples: tuple[str, ...] = ()
    """The ids of a few of these documents."""
    relevant: int = 0
    """The number of documents judged relevant; they were looked up by their ids."""
    absent: Mapping[str, str | None] = field(default_factory=dict)
    """
    The documents judged relevant or named in expectations that are not visible through the target. Each maps to an id
    in the target that differs only in form, None if none is known.
    """
    unread: tuple[str, ...] = ()
    """The documents named in expectations that no ranking has and that could not be looked up."""
    unknown_fields: tuple[NamedField, ...] = ()
    """Fields that the requests name and no searched index has."""
    untitled: NamedField | None = None
    """The field of the suite's ``display.title``, if hits were returned and none has it."""
    problems: tuple[str, ...] = ()
    """Sentences on what could not be checked, and why."""
    read_fields: tuple[CheckedField, ...] = ()
    """The fields that expectations read; without those that could not be looked up."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """
    What a server has stored that decides how requests match and score: mappings, settings, scripts, pipelines.

    Only what the requests of a suite can name is in it; two of them show whether any of that changed.
    """

    named: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """
    Fingerprints by the name of their part, by the name of a place in words: "mapping of products" has the fields that
    requests name. A part that only one of two has was added or removed.
    """
    matched: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """
    The same for fields that only a pattern such as `*` names. One that only one of two has changes no ranking: no
    document that was searched before has it.
    """
    unread: tuple[str, ...] = ()
    """The places that could not be read, in words: "the mapping", "the stored script boost"."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of an index, or of the indexes behind an alias or a pattern; two states show whether it changed."""

    uuids: Mapping[str, str] | None = None
    """The UUID of each index by its name, None if unknown."""
    documents: int | None = None
    """The number of documents that searches see, None if unknown."""
    copies: Mapping[str, tuple[ShardCopy, ...]] | None = None
    """The started copies of each shard, such as "products[0]"; the one that answers comes first. None if unknown."""
    writes: Mapping[str, int] | None = None
    """
    The highest sequence number of each shard that is searched without an alias filter, by the UUID of its index and the
    number of the shard. Each document that is added, replaced or deleted takes the next number. None if unknown.
    """
    filters: Mapping[str, str] | None = None
    """A fingerprint of the filter of the alias, for each index that is searched through one. None if unknown."""
    newest: int | None = None
    """The highest sequence number of a document that searches see, in any shard. None if unknown."""
    visible: Mapping[str, int] | None = None
    """
    The number of documents, with those deleted and not yet merged away, of each shard copy that answers, as far as it
    is searched without an alias filter: by the UUID of its index, the number of the shard and the node. A refresh that
    makes written documents visible raises it, a merge lowers it. None if unknown.
    """
    definitions: Definitions | None = None
    """None if they were not read this time."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat of the searches of a run."""

    responses: Mapping[str, Response]
    """By query."""
    copies: Mapping[str, tuple[ShardCopy, ...]] | None = None
    """The shard copies during this repeat, as in `IndexState.copies`."""
    variants: Mapping[str, Response] = field(default_factory=dict)
    """As in `Run`."""


class Instability(StrEnum):
    """Why the rankings of a query differ between the repeats of a run."""

    TIES = "ties"
    """Only tied documents changed places."""
    COPIES = "other copies"
    """More than ties changed, the index did not, and another copy of a shard answered."""
    MOVING = "moving index"
    """The target changed during the run."""
    UNANSWERED = "no answer"
    """The query has no ranking in some repeat."""
    ZERO_HITS = "zero hits"
    """A search found no hits, and another one did."""
    DOCUMENTS = "other documents"
    """Other documents were found; those that were found each time have the same scores."""
    UNKNOWN = "unknown"
    """Scores differ, or only the order does."""


@dataclass(frozen=True, slots=True)
class UnstableQuery:
    """A query whose rankings differ between the repeats of a run."""

    query: str
    cause: Instability
    rankings: int
    """The number of different rankings."""


@dataclass(frozen=True, slots=True)
class Run:
    """The responses to the queries of a suite, in the order of the suite, and their source."""

    responses: Mapping[str, Response]
    engine: Engine
    request: str = "request"
    index: str | None = None
    seconds: float = 0.0
    """The duration of the search phase."""
    facts: IndexFacts | None = None
    """None if they were not read."""
    tails: TailSearch | None = None
    """None if no tails were searched for."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Document id to title, for titles that were looked up after the searches because no hit has them."""
    resent: Mapping[str, str] = field(default_factory=dict)
    """Query to the last reason why its request was sent again: "status 429", "timeout", "connection closed"."""
    checks: TargetChecks | None = None
    """None if the target was not checked."""
    states: tuple[IndexState, ...] = ()
    """The target before, during and after the searches; equal consecutive states are listed once. Empty if unknown."""
    target_changed: str = ""
    """How the target changed meanwhile, in a sentence, for a run that was read from a report and has no *states*."""
    repeats: tuple[Repeat, ...] = ()
    """The repeats after the first searches, whose responses are *responses*."""
    target_unknown: bool = False
    """Whether *responses* are of several runs or parts, and it is unknown whether their target was the same."""
    deepened: Mapping[str, int] = field(default_factory=dict)
    """
    Query to how many hits were asked for again, as several of the first ones were of one document, which counts once.
    """
    window_is_full: bool = False
    """Whether the index has no room in its `index.max_result_window` for the hit more than needed."""
    variants: Mapping[str, Response] = field(default_factory=dict)
    """The responses to variants of queries, by the id of the variant."""
    others: Mapping[str, Run] = field(default_factory=dict)
    """The runs of the requests with which thresholds compare this one, by the name of the request."""
    limits_hits: bool = False
    """Whether the engine makes a body of a search template that may return fewer hits than it counts."""
    hooked: bool = False
    """Whether hooks could change the requests, and so use values of a query that the request does not name."""

    @property
    def has_rankings(self) -> bool:
        """Whether any query was answered."""
        return any(isinstance(response, Ranking) for response in self.responses.values())

    @property
    def hits(self) -> Iterator[Hit]:
        """The hits of all queries, one after the other."""
        for response in self.responses.values():
            if isinstance(response, Ranking):
                yield from response.hits


class Status(StrEnum):
    """The status of a threshold; docs/reference/outcomes.md lists the exit status of each."""

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
        """Whether the threshold could neither pass nor fail: it is INCONCLUSIVE or ERROR."""
        return self in (Status.INCONCLUSIVE, Status.ERROR)


class Cause(StrEnum):
    """
    Why a threshold has the verdict that it has, where that is not what its figure is; for programs.

    docs/reference/json.md lists them. They are part of the JSON of reports, and stay what they are.
    """

    UNANSWERED = "unanswered"
    """A query, its variant, or the run that it is compared with has no answer or no score."""
    UNDEFINED = "undefined"
    """A query has no defined score, and the suite does not leave such queries out."""
    NOTHING_TO_DECIDE = "nothing-to-decide"
    """No query is left."""
    NO_BASELINE = "no-baseline"
    """There is no baseline, or the history has fewer runs than are compared with."""
    UNUSABLE_BASELINE = "unusable-baseline"
    """The baseline, or a run of the history, cannot be read or compared with."""
    NOT_COMPARED = "not-compared"
    """The run becomes the baseline itself."""
    TIES = "ties"
    """The order of tied documents decides."""
    MORE_HITS = "more-hits"
    """More documents may match than were returned, or were counted, and they may decide."""
    NOT_VISIBLE = "not-visible"
    """A document that is named is not in the target, or it is not known whether it is."""
    FIELD = "field"
    """The values of a field are unknown, or cannot be compared with what is required."""
    NO_TIME = "no-time"
    """An answer has no time."""
    TOO_FEW_QUERIES = "too-few-queries"
    """A test or an estimate needs more queries."""
    TOO_FEW_DOCUMENTS = "too-few-documents"
    """People and the machine graded too few of the same documents, or all of these alike."""
    SAMPLE_NOT_JUDGED = "sample-not-judged"
    """People have not judged as much of the sample as an estimate needs, or no sample was drawn."""
    ESTIMATE_TOO_WIDE = "estimate-too-wide"
    """What is required lies between the bounds of the estimate."""
    MOVING_INDEX = "moving-index"
    """The index changed during the run."""
    UNSTABLE = "unstable"
    """The repeats of the run decide differently."""
    LATER_RUNS = "later-runs"
    """Runs of the history that are dated later than now would decide otherwise."""
    SKIPPED = "skipped"
    """A `skip` is in force."""
    MISSING_PACKAGE = "missing-package"
    """The test needs a package that is not installed."""
    NOT_LOADED = "not-loaded"
    """The suite was loaded without what it needs."""


class Unit(StrEnum):
    """The unit or kind of the figures of a verdict that are not scores."""

    SHARE = "share"
    DROP = "drop"
    P_VALUE = "p"
    QUERIES = "queries"
    RANK = "rank"
    HITS = "hits"
    VALUES = "values"
    MILLISECONDS = "ms"


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run of the history that a threshold compares with."""

    number: int
    """As `relevance history` numbers the runs of a request and index, from the oldest that is kept; 0 if unknown."""
    created: str
    """When it ran, in UTC."""
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of the gate on one threshold."""

    id: str
    threshold: str
    status: Status
    reason: str
    """A sentence."""
    observed: float | None = None
    """The value that decided, None if there is none; a score unless *unit* is set. A share is a fraction."""
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
    """Why a threshold that passes is only weak evidence."""
    operator: Operator | None = None
    """Compares *observed* with *required*."""
    ties: tuple[float, float] | None = None
    """The least and the greatest observed value over all orders of tied documents, if they differ."""
    timing: LatencyFigures | None = None
    """In JSON, the figures of a latency threshold, in place of the fields of the same names; otherwise None."""
    repeats: tuple[float, float] | None = None
    """The least and the greatest observed value in *unit* over the repeats of the run, if they differ."""
    spread: tuple[float, float] | None = None
    """The least and the greatest score of the runs of the history that it was compared with."""
    bounds: tuple[float, float] | None = None
    """The lower and the upper bound of *observed*, if it is an estimate."""
    if_judged: tuple[float, float] | None = None
    """
    For a threshold with a p-value, the least and the greatest difference from the other run that unjudged hits allow;
    None if all hits are judged.
    """
    runs: tuple[ComparedRun, ...] = ()
    """The runs of the history that it was compared with, in the order in which they were kept."""
    cause: Cause | None = None
    """Why it has this status, for programs; None where the observed value decided, compared with what is required."""

    @property
    def is_unexpected_pass(self) -> bool:
        """
        Whether it holds though it was expected to fail.

        Where that counts as a failure, its status is FAILED. No other failed verdict has a waiver.
        """
        return self.status is Status.XPASSED or (self.status is Status.FAILED and self.waiver is not None)
