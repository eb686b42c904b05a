"""
The values that cross module borders, frozen, and nothing else.

They flow one way::

    Suite(queries, judgments, thresholds) -> SearchRequest -> Response -> Run -> Score -> Verdict -> Report

Nothing here knows YAML, HTTP or a screen. `Report` and what it holds are written as JSON and read again, so they hold
only plain values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as `json.loads` gives it."""


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a file; *line* and *column* count from 1, 0 where there is none."""

    path: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


# ------------------------------------------------------------------------------------------------ measures


class GainKind(StrEnum):
    """How a grade becomes a gain."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Gain:
    """
    What a grade is worth.

    Exponential is 2^grade - 1 (Burges et al. 2005), linear the grade itself (Järvelin & Kekäläinen 2002); both give 0
    below grade 0. A map gives what its *table* of (grade, gain) says, and may be negative.
    """

    kind: GainKind = GainKind.EXPONENTIAL
    table: tuple[tuple[float, float], ...] = ()

    def __str__(self) -> str:
        if self.kind is not GainKind.MAP:
            return str(self.kind)
        return "{" + ", ".join(f"{grade:g}: {gain:g}" for grade, gain in self.table) + "}"


Parameter: TypeAlias = str | int | float | bool | Gain


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A metric with its parameters and its cutoff: ``nDCG(gain=linear)@10``.

    *name* is the registry's, *parameters* hold only what the text gave, in the registry's order, *cutoff* is None for
    the whole ranking. *text* is canonical, and is the measure's identity in suites, scores, baselines and reports.
    Built by `harness.measures.parse_measure` only.
    """

    name: str
    cutoff: int | None
    parameters: tuple[tuple[str, Parameter], ...]
    text: str

    def __str__(self) -> str:
        return self.text


class Profile(StrEnum):
    """Whose numbers are reproduced."""

    STANDARD = "standard"
    TREC = "trec"
    RANK_EVAL = "rank_eval"
    OPENSEARCH_SRW = "opensearch-srw"
    QUEPID = "quepid"
    RRE = "rre"


# ------------------------------------------------------------------------------------------------ thresholds


class StatisticKind(StrEnum):
    """What is compared: a figure over the queries, each query, a share of them, or the one query itself."""

    MEAN = "mean"
    MEDIAN = "median"
    EVERY = "every"
    SHARE = "share"
    QUERY = "query"


class Operator(StrEnum):
    """How observed and required compare; all allow 1e-9."""

    AT_LEAST = ">="
    ABOVE = ">"
    AT_MOST = "<="
    BELOW = "<"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class ScoreCondition:
    """``mean nDCG@10 >= 0.8``; *share* is a fraction in (0, 1]. On a query's own threshold, *statistic* is QUERY."""

    statistic: StatisticKind
    measure: Measure
    operator: Operator
    required: float
    share: float | None = None


@dataclass(frozen=True, slots=True)
class DropCondition:
    """
    ``drop nDCG@10 <= 0.02``: how far below the baseline the mean, or *every* query, may be.

    *allowed* is a difference of scores, or a fraction of the baseline's score where *relative* (``2 %`` is 0.02).
    """

    measure: Measure
    allowed: float
    every: bool = False
    relative: bool = False


@dataclass(frozen=True, slots=True)
class WorseCondition:
    """
    ``worse nDCG@10 by 0.1 <= 3 queries``: how many queries may be further below the baseline than *by*.

    *allowed* is a number of queries, or a fraction of those compared where *relative* (``5 %`` is 0.05).
    """

    measure: Measure
    by: float
    allowed: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class SignificanceCondition:
    """``drop nDCG@10 is not significant at 5%``: chance may well explain the drop of the mean; *level* in (0, 0.5]."""

    measure: Measure
    level: float


@dataclass(frozen=True, slots=True)
class LatencyCondition:
    """``p95 latency <= 200 ms`` over the engine's own `took`; *percentile* is 50, 95, 99 or 100 (max)."""

    percentile: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class InTop:
    """``sku-17 in top 3``, or ``not in top``."""

    document: str
    k: int
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """``sku-17 before sku-9``; holds too where only the first was returned, never where the first was not."""

    document: str
    other: str


@dataclass(frozen=True, slots=True)
class HitCount:
    """``hits >= 1``: the number of documents that match, as the engine counts them."""

    operator: Operator
    required: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A condition whose text holds ``${VARIABLES}``, its suite loaded without an environment; no run meets it."""

    variables: tuple[str, ...]


BaselineCondition: TypeAlias = DropCondition | WorseCondition | SignificanceCondition
"""What compares with a baseline."""

Condition: TypeAlias = ScoreCondition | BaselineCondition | LatencyCondition | InTop | Before | HitCount | Unresolved


@dataclass(frozen=True, slots=True)
class Waiver:
    """Why something is expected to fail, or is left out, and the last day on which that holds."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """
    One line that a suite holds its rankings to: a threshold, or a rank expectation of one query.

    *text* is as written, *tag* limits it to the queries with that tag, *mark* is where it stands. With *warns* a
    shortfall is a warning.
    """

    text: str
    condition: Condition
    tag: str | None = None
    mark: Mark = Mark()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    markers: tuple[str, ...] = ()
    warns: bool = False


# ------------------------------------------------------------------------------------------------ suite


@dataclass(frozen=True, slots=True)
class Judgment:
    """The grade of one document for one query; finite, mostly a small integer."""

    query: str
    document: str
    grade: float


@dataclass(frozen=True, slots=True)
class Query:
    """
    One information need.

    *judgments* map document to grade, all judged documents of the query. *params* fill placeholders of the request
    beside ``{{text}}``. *thresholds* hold the query's own thresholds and its rank expectations.
    """

    id: str
    text: str
    params: Mapping[str, Json] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    judgments: Mapping[str, float] = field(default_factory=dict)
    thresholds: tuple[Threshold, ...] = ()
    markers: tuple[str, ...] = ()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where a suite runs.

    *cluster* is a name in harness.toml or a URL, *index* a name, alias, pattern or None (an HTTP service), *engine*
    what the server is where it may not be asked: "elasticsearch 9.4.3" or "opensearch 2.19". *service* is "http" where
    the suite's requests go to an application's own search API.
    """

    cluster: str = "default"
    index: str | None = None
    engine: str | None = None
    mark: Mark = Mark()
    service: str = "engine"


@dataclass(frozen=True, slots=True)
class Fixture:
    """An index that the suite builds for itself from mappings, settings, and a file with one JSON document a line."""

    documents: str
    mappings: Mapping[str, Json] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    id_field: str = "id"
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """
    The body that is sent for each query, ``{{placeholders}}`` unfilled.

    *index* overrides the target's. For an HTTP service (`http` not None) the body is what `http` says.
    """

    name: str
    body: Json
    index: str | None = None
    http: HttpRequest | None = None
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    A request to a service that is not an engine, with JSONPath expressions from its answer to hits.

    *path* is joined to the cluster's URL; *params*, *headers* and *json* may hold placeholders. *ids* finds the list
    of ids, best first; *scores* and *titles*, where given, lists of the same length; *total* one number.
    """

    method: str
    path: str
    ids: str
    params: Mapping[str, Json] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = None
    scores: str | None = None
    titles: str | None = None
    total: str | None = None


@dataclass(frozen=True, slots=True)
class Suite:
    """
    A suite as loaded: checked, judgments joined to their queries, measures parsed.

    *requests* holds at least one template, the first is the default. *depth* is the number of hits asked for.
    *skip_undefined* is ``undefined: skip``, *baseline_optional* ``baseline: optional``. *grades* names grades.
    *variables* holds what was taken from the environment, by name, so that it can be masked in whatever is printed;
    empty while there was no environment.
    """

    name: str
    path: str
    target: Target
    requests: Mapping[str, RequestTemplate]
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    thresholds: tuple[Threshold, ...] = ()
    gain: Gain = Gain()
    profile: Profile = Profile.STANDARD
    grades: Mapping[str, float] = field(default_factory=dict)
    depth: int = 10
    skip_undefined: bool = False
    title_field: str | None = None
    fixture: Fixture | None = None
    markers: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    mark: Mark = Mark()
    baseline_optional: bool = False


# ------------------------------------------------------------------------------------------------ search


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

    *title_field* is brought back with each hit, where the body does not say itself what of a document it wants.
    """

    query: str
    index: str | None
    body: Json
    http: HttpRequest | None = None
    title_field: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as returned; *score* is None where the server sorts by something else; *title* is for people."""

    id: str
    score: float | None = None
    title: str | None = None


class FailureKind(StrEnum):
    """Why a query has no ranking."""

    ERROR = "engine error"
    TIMEOUT = "timeout"
    SHARDS = "failed shards"
    MALFORMED = "malformed answer"
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
    One answered request: *hits* in the server's order, a document that came twice kept once, at its first place.

    *total* is the number of matching documents as the engine counts them, None where it does not; *took* in
    milliseconds
    as the engine says; *duplicates* names the documents that came twice.
    """

    hits: tuple[Hit, ...] = ()
    total: int | None = None
    took: float | None = None
    total_is_lower_bound: bool = False
    duplicates: tuple[str, ...] = ()


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
    """

    mapping: str | None = None
    settings: str | None = None
    documents: int | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """
    A response a query, in the suite's order, and what gave it.

    *seconds* is how long the search phase took; *facts* are known where somebody asked for them.
    """

    responses: Mapping[str, Response]
    engine: Engine
    request: str = "request"
    index: str | None = None
    seconds: float = 0.0
    facts: IndexFacts | None = None


# ------------------------------------------------------------------------------------------------ scores and verdicts


class Outcome(StrEnum):
    """What became of a query; decision 1 of the product, in docs/outcomes.md."""

    SCORED = "scored"
    ZERO_HITS = "zero hits"
    UNDEFINED = "undefined"
    ERROR = "error"
    NOT_RUN = "did not run"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Score:
    """One query's value of one measure; *value* is None where *outcome* is not SCORED or ZERO_HITS."""

    query: str
    measure: str
    value: float | None
    outcome: Outcome
    reason: str = ""


class Status(StrEnum):
    """How a threshold came out."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    WARNED = "warned"
    XFAILED = "expected failure"
    XPASSED = "unexpected pass"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    What the gate decided about one threshold.

    *observed* and *required* are numbers in the measure's unit, None where there is none; *unit* names it where they
    are no score, rank or count. *reason* is a sentence for people. *blamed* holds the queries to look at, worst first;
    *query* is set for a query's own threshold. *counted* is how many queries went into it, *left_out* how many did not
    for being undefined or skipped.
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
    unit: str | None = None


# ------------------------------------------------------------------------------------------------ baselines


@dataclass(frozen=True, slots=True)
class BaselineQuery:
    """
    One query in a baseline: what became of it, its ranking as (document, score of the engine), its scores by measure.

    *bands* holds (least, greatest) by measure, over all orders of documents that tie; a measure that no tie moves has
    none. *judgments* is a fingerprint of those that the scores were made with.
    """

    outcome: Outcome
    judgments: str
    ranking: tuple[tuple[str, float | None], ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """
    One request's run, kept for later runs to be held against, and what it was made from.

    *created* is an ISO date, *depth* the number of hits that were asked for, *template* a fingerprint of the request
    before placeholders were filled.
    """

    created: str
    harness: str
    engine: str
    gain: str
    profile: Profile
    depth: int
    template: str
    index: IndexFacts
    queries: Mapping[str, BaselineQuery]


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The baselines of one suite, by request; *schema* is the version of the JSON form."""

    suite: str
    requests: Mapping[str, Baseline]
    schema: int = 1


@dataclass(frozen=True, slots=True)
class Reference:
    """
    What a run is held against: a baseline's *run*, with *scores* by the judgments, gain and profile of today.

    *run* is None where there is no baseline to compare with, and *problem* says why. *depth* is the number of hits that
    the baseline keeps of a query, *same_request* whether the request is still what it was, *changes* are sentences on
    what is not. *remedy* says what to do about a baseline that does not serve. *updating* is set where the run is to
    become the baseline, so that nothing is compared.
    """

    run: Run | None = None
    scores: tuple[Score, ...] = ()
    depth: int = 0
    created: str = ""
    same_request: bool = False
    changes: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""
    updating: bool = False


# ------------------------------------------------------------------------------------------------ comparison


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """
    One measure of two runs over the queries that both scored.

    *difference* is candidate minus reference, with the limits of its confidence interval. *p_value* is of the test
    named in `Comparison`, *adjusted* corrected for the number of measures; *least_p* is the least that so many queries
    can give. *detectable* is the smallest true difference that so many queries of such spread would show with 80 %
    power, None without spread. *moved* holds (query, reference, candidate), the greatest change first.
    """

    measure: str
    queries: int
    reference: float
    candidate: float
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    least_p: float
    wins: int
    ties: int
    losses: int
    effect: float | None
    detectable: float | None
    moved: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    A candidate run beside a reference run, measure by measure, and how that was tested.

    *left_out* counts by measure the queries that were not scored in both.
    """

    reference: str
    candidate: str
    test: str
    alternative: str
    level: float
    correction: str
    measures: tuple[MeasureComparison, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    samples: int = 0
    seed: int = 0


# ------------------------------------------------------------------------------------------------ report


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A hit beside what is known of it: *grade* and *gain* are None for an unjudged document; *rank* counts from 1."""

    rank: int
    id: str
    grade: float | None = None
    gain: float | None = None
    score: float | None = None
    title: str | None = None
    tied: bool = False


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """
    A relevant document that is not in the ranking; *rank* is where a deeper search found it, *searched* how deep that
    went, *title* what people know it by, None where nothing told it.
    """

    id: str
    grade: float
    rank: int | None = None
    searched: int = 0
    title: str | None = None


@dataclass(frozen=True, slots=True)
class QueryReport:
    """
    All that is known of one query after a run.

    *scores* maps a measure's text to its value, None where there is none. *judged* counts the query's judged documents,
    returned or not. *total* is what the engine counted, and no more than a lower bound where it stopped counting.
    """

    id: str
    text: str
    outcome: Outcome
    reason: str = ""
    tags: tuple[str, ...] = ()
    scores: Mapping[str, float | None] = field(default_factory=dict)
    ranking: tuple[RankedDocument, ...] = ()
    ideal: tuple[RankedDocument, ...] = ()
    missing: tuple[MissingDocument, ...] = ()
    total: int | None = None
    took: float | None = None
    judged: int = 0
    duplicates: tuple[str, ...] = ()
    total_is_lower_bound: bool = False


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """One measure over the queries of a suite: *counted* queries went in, *left_out* did not, None where none did."""

    measure: str
    gain: str
    mean: float | None
    median: float | None
    least: float | None
    greatest: float | None
    counted: int
    left_out: int


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """One suite, run once with one request. *queries* hold those that were selected, *deselected* counts the others."""

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
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    deselected: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """
    Everything a run found out: what the terminal, the HTML page and the JSON file print.

    *schema* is the version of the JSON form; *created* is an ISO 8601 time in UTC; *exit_status* as decision 1 has it.
    """

    created: str
    harness: str
    suites: tuple[SuiteReport, ...]
    exit_status: int
    schema: int = 1
