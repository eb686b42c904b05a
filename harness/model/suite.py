"""A suite as loaded: queries, judgments, requests, and what its rankings are held to."""

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
    What a grade is worth.

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
    """As short as can be, and no shorter: a gain is read back from its text."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


Parameter: TypeAlias = str | int | float | bool | Gain


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A metric with its parameters and its cutoff: ``nDCG(gain=linear)@10``.

    *name* is the registry's, *parameters* hold only what the text gave, in the registry's order, *cutoff* is None for
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
    """Whose numbers are reproduced."""

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
class AgreementCondition:
    """
    ``mean RBO >= 0.9``, ``every overlap@10 >= 0.5``: how far the rankings agree with the baseline's.

    *agreement* is written as a measure is, but no judgment goes into it: rank-biased overlap or the share of documents
    in common, down to its cutoff, or to all hits that both have. The rest is as in `ScoreCondition`.
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
"""What compares scores with a baseline's; `AgreementCondition` compares rankings."""

Condition: TypeAlias = (
    ScoreCondition | BaselineCondition | AgreementCondition | LatencyCondition | InTop | Before | HitCount | Unresolved
)


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
    beside ``{{text}}``. *thresholds* hold the query's own thresholds and its rank expectations. *weight* is what the
    query counts in a mean beside the others, above 0; 1 for all where the suite has none. *masked* is a mapping of text
    and params with ``${NAME}`` in the place of values from the environment that may be secret, and of *values*, the
    fingerprints of those that hold no login, by name. It is None where no such value stands in the query.
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
    weight: float = 1.0
    masked: Json = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where a suite runs.

    *cluster* is a name in harness.toml or a URL, *index* a name, alias, pattern or None (an HTTP service), *engine*
    what the server is where it may not be asked: "elasticsearch 9.4.3" or "opensearch 2.19". *service* is "http" where
    the suite's requests go to an application's own search API. *unique_ids* says that an id names one document in all
    the indexes that *index* leads to.
    """

    cluster: str = "default"
    index: str | None = None
    engine: str | None = None
    mark: Mark = Mark()
    service: str = "engine"
    unique_ids: bool = False


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

    *index* overrides the target's. For an HTTP service (`http` not None) the body is what `http` says. *masked* is a
    mapping of body, index and http as a query's is.
    """

    name: str
    body: Json
    index: str | None = None
    http: HttpRequest | None = None
    mark: Mark = Mark()
    masked: Json = field(default=None, repr=False)


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
    empty while there was no environment. *ungraded* counts what judgment files name and nobody graded yet.
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
    ungraded: int = 0


def in_force(waiver: Waiver | None, today: date) -> bool:
    """Whether *waiver* is given and *today* is not after its last day."""
    return waiver is not None and (waiver.until is None or today <= waiver.until)


def first_in_force(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* that holds *today*; the one nearest to the threshold is given first."""
    return next((waiver for waiver in waivers if in_force(waiver, today)), None)


def first_ended(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* whose last day is over."""
    return next((waiver for waiver in waivers if waiver is not None and not in_force(waiver, today)), None)
