"""A suite as loaded: queries, judgments, requests and thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias


class GainKind(StrEnum):
    """How a grade becomes a gain."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Gain:
    """
    The gain of a grade.

    Exponential is 2^grade - 1 (Burges et al. 2005), linear the grade itself (Järvelin & Kekäläinen 2002); both give 0
    below grade 0. A map gives what its *table* of (grade, gain) says, and may be negative.
    """

    kind: GainKind = GainKind.EXPONENTIAL
    table: tuple[tuple[float, float], ...] = ()

    def __str__(self) -> str:
        if self.kind is not GainKind.MAP:
            return str(self.kind)
        return "{" + ", ".join(f"{_exact(grade)}: {_exact(gain)}" for grade, gain in self.table) + "}"


def _exact(number: float) -> str:
    """The shortest text that parses to the same number: a gain is parsed from its text."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


Parameter: TypeAlias = str | int | float | bool | Gain


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A metric with its parameters and its cutoff: ``nDCG(gain=linear)@10``.

    *name* is the registry's, *parameters* are those of the text in the registry's order, *cutoff* is None for
    the whole ranking. *text* is canonical, and is the measure's identity in suites, scores, baselines and reports.
    Built by `harness.metrics.parse_measure` only.
    """

    name: str
    cutoff: int | None
    parameters: tuple[tuple[str, Parameter], ...]
    text: str

    def __str__(self) -> str:
        return self.text


class Profile(StrEnum):
    """The system whose scores are reproduced."""

    STANDARD = "standard"
    TREC = "trec"
    RANK_EVAL = "rank_eval"
    OPENSEARCH_SRW = "opensearch-srw"
    OPENSEARCH_SRW_3_5 = "opensearch-srw-3.5"
    QUEPID = "quepid"
    RRE = "rre"


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


class StatisticKind(StrEnum):
    """What a threshold compares: a mean or median, every query, a share of them, or one query."""

    MEAN = "mean"
    MEDIAN = "median"
    EVERY = "every"
    SHARE = "share"
    QUERY = "query"


class Operator(StrEnum):
    """Compares the observed with the required value; all allow 1e-9."""

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
    """``drop nDCG@10 is not significant at 5%``: the drop of the mean is not significant; *level* in (0, 0.5]."""

    measure: Measure
    level: float


@dataclass(frozen=True, slots=True)
class AgreementCondition:
    """
    ``mean RBO >= 0.9``, ``every overlap@10 >= 0.5``: how far the rankings agree with the baseline's.

    *agreement* is written like a measure, but needs no judgments: rank-biased overlap or the share of documents in
    common, down to its cutoff, or for all hits that both have. The rest is as in `ScoreCondition`.
    """

    statistic: StatisticKind
    agreement: Measure
    operator: Operator
    required: float
    share: float | None = None


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
    """``sku-17 before sku-9``; holds also if only the first was returned, never if the first was not."""

    document: str
    other: str


@dataclass(frozen=True, slots=True)
class HitCount:
    """``hits >= 1``: the number of documents that match, as the engine counts them."""

    operator: Operator
    required: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A condition whose text has ``${VARIABLES}``, in a suite loaded without an environment."""

    variables: tuple[str, ...]


BaselineCondition: TypeAlias = DropCondition | WorseCondition | SignificanceCondition
"""Conditions that compare scores with a baseline's; `AgreementCondition` compares rankings."""

Condition: TypeAlias = (
    ScoreCondition | BaselineCondition | AgreementCondition | LatencyCondition | InTop | Before | HitCount | Unresolved
)


@dataclass(frozen=True, slots=True)
class Waiver:
    """The reason and the last day of an xfail or skip."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, or a rank expectation of one query."""

    text: str
    """As written in the suite."""
    condition: Condition
    tag: str | None = None
    """The queries it applies to; None for all."""
    mark: Mark = Mark()
    """Its place in the suite."""
    xfail: Waiver | None = None
    skip: Waiver | None = None
    markers: tuple[str, ...] = ()
    warns: bool = False
    """Whether a failure is a warning: ``severity: warn``."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """The grade of one document for one query; finite, mostly a small integer."""

    query: str
    document: str
    grade: float


@dataclass(frozen=True, slots=True)
class Query:
    """One information need."""

    id: str
    text: str
    params: Mapping[str, Json] = field(default_factory=dict)
    """Values for the placeholders of the request other than ``{{text}}``."""
    tags: tuple[str, ...] = ()
    judgments: Mapping[str, float] = field(default_factory=dict)
    """Document to grade, all judged documents of the query."""
    thresholds: tuple[Threshold, ...] = ()
    """The query's own thresholds and its rank expectations."""
    markers: tuple[str, ...] = ()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    mark: Mark = Mark()
    weight: float = 1.0
    """Its weight in a mean, above 0; 1 if the suite has no weights."""
    masked: Json = field(default=None, repr=False)
    """
    Text and params with ``${NAME}`` instead of values from the environment that may be secret, and *values*, the
    fingerprints of those that are not logins, by name. None if there is no such value.
    """


@dataclass(frozen=True, slots=True)
class Target:
    """Where a suite runs."""

    cluster: str = "default"
    """A name in harness.toml, or a URL."""
    index: str | None = None
    """A name, alias or pattern; None for an HTTP service."""
    engine: str | None = None
    """The engine, if the login may not ask the server: "elasticsearch 9.4.3" or "opensearch 2.19"."""
    mark: Mark = Mark()
    service: str = "engine"
    """Either "engine" or "http"."""
    unique_ids: bool = False
    """Whether an id identifies one document in all indexes that *index* resolves to."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """An index that the suite builds from mappings, settings, and a file with one JSON document per line."""

    documents: str
    mappings: Mapping[str, Json] = field(default_factory=dict)
    settings: Mapping[str, Json] = field(default_factory=dict)
    id_field: str = "id"
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """The request for each query, with ``{{placeholders}}``."""

    name: str
    body: Json
    """The body of _search, or that of *http*."""
    index: str | None = None
    """Overrides the target's."""
    http: HttpRequest | None = None
    mark: Mark = Mark()
    masked: Json = field(default=None, repr=False)
    """Body, index and http in masked form, as `Query.masked`."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request to an HTTP service; the fields that select hits are JSONPath expressions for its answer."""

    method: str
    path: str
    """Joined to the cluster's URL."""
    ids: str
    """The list of ids, best first."""
    params: Mapping[str, Json] = field(default_factory=dict)
    """May contain placeholders, as may *headers* and *json*."""
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = None
    scores: str | None = None
    """A list as long as that of *ids*, as is *titles*."""
    titles: str | None = None
    total: str | None = None
    """One number."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as loaded: checked, judgments joined to their queries, measures parsed."""

    name: str
    path: str
    target: Target
    requests: Mapping[str, RequestTemplate]
    """At least one; the first is the default."""
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    thresholds: tuple[Threshold, ...] = ()
    gain: Gain = Gain()
    profile: Profile = Profile.STANDARD
    grades: Mapping[str, float] = field(default_factory=dict)
    """Names of grades."""
    depth: int = 10
    """The number of hits requested."""
    skip_undefined: bool = False
    """``undefined: skip``."""
    title_field: str | None = None
    fixture: Fixture | None = None
    markers: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values from the environment by name, to be masked in all output; empty without an environment."""
    mark: Mark = Mark()
    baseline_optional: bool = False
    """``baseline: optional``."""
    ungraded: int = 0
    """The number of documents in judgment files without a grade."""


def in_force(waiver: Waiver | None, today: date) -> bool:
    """Whether *waiver* is given and *today* is not after its last day."""
    return waiver is not None and (waiver.until is None or today <= waiver.until)


def first_in_force(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* that is in force *today*; the most specific one is given first."""
    return next((waiver for waiver in waivers if in_force(waiver, today)), None)


def first_ended(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* whose last day is over."""
    return next((waiver for waiver in waivers if waiver is not None and not in_force(waiver, today)), None)
