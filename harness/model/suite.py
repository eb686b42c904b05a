"""
A suite as loaded: queries, judgments, requests and thresholds, with the measures and conditions that these name.

A condition is what a threshold or a rank expectation requires: one type for each form.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as `json.loads` gives it."""

_SCALARS = frozenset({str, int, float, bool, type(None)})


def iterate_members(value: Json) -> Iterator[tuple[str, Json]]:
    """
    Each key anywhere in *value*, with its value, in any order. Lists that begin with a fraction, which may be long
    vectors, are left out.

    >>> sorted(iterate_members({"a": [{"b": 1}, 2], "c": [0.5, {"d": 3}]}))
    [('a', [{'b': 1}, 2]), ('b', 1), ('c', [0.5, {'d': 3}])]
    """
    # A stack is faster than a generator within a generator, and the body of each request of a run is read.
    stack = [value]
    while stack:
        node = stack.pop()
        if type(node) in _SCALARS:
            continue
        if isinstance(node, Mapping):
            yield from node.items()
            stack += node.values()
        elif isinstance(node, list | tuple):
            is_vector = bool(node) and isinstance(node[0], float)
            if not is_vector:
                stack += node


PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
"""A placeholder of a request; the name is the first group, perhaps between blanks."""


def match_placeholders(text: str) -> Iterator[re.Match[str]]:
    """The matches of `PLACEHOLDER` in *text*, in their order."""
    # Behind the last closing braces nothing matches, and each `{{` there would be searched to the end of the text.
    return PLACEHOLDER.finditer(text, 0, text.rfind("}}") + 2)


def find_placeholders(value: Json) -> set[str]:
    """
    The names of all placeholders in the texts of *value*, including its keys.

    >>> sorted(find_placeholders({"knn": {"{{field}}": ["{{ near }}", 3]}, "name": "for {{text}}"}))
    ['field', 'near', 'text']
    """
    if isinstance(value, str):
        return {match[1].strip() for match in match_placeholders(value)}
    if isinstance(value, Mapping):
        return find_placeholders([*value, *value.values()])
    if isinstance(value, list | tuple):
        return set().union(*map(find_placeholders, value))
    return set()


PEOPLE = "people"
"""Among `Suite.judges`: all judges who are no machine."""


class GainKind(StrEnum):
    """How a grade becomes a gain."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Gain:
    """
    The gain of a grade.

    EXPONENTIAL is 2^grade - 1 (Burges et al. 2005). LINEAR is the grade itself (Järvelin & Kekäläinen 2002). Both are
    0 for grades below 0. MAP looks the grade up in *table*, pairs of grade and gain; a gain there may be negative.
    """

    kind: GainKind = GainKind.EXPONENTIAL
    table: tuple[tuple[float, float], ...] = ()

    def __str__(self) -> str:
        if self.kind is not GainKind.MAP:
            return str(self.kind)
        pairs = [f"{_format_exactly(grade)}: {_format_exactly(gain)}" for grade, gain in self.table]
        return "{" + ", ".join(pairs) + "}"


def _format_exactly(number: float) -> str:
    """The shortest text that parses to the same number: a gain is parsed from its text."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


Parameter: TypeAlias = str | int | float | bool | Gain


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A metric with its parameters and its cutoff: ``nDCG(gain=linear)@10``.

    *name* is the metric's name in the registry. *parameters* are those that the text gives, in the registry's order.
    *cutoff* is None for the whole ranking. *text* is canonical: it identifies the measure in suites, scores, baselines
    and reports. `harness.metrics.parse_measure` builds measures; `read_agreement` builds those that compare rankings.
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


class StatisticKind(StrEnum):
    """What a threshold compares: a mean or median, every query, a share of them, or one query."""

    MEAN = "mean"
    MEDIAN = "median"
    EVERY = "every"
    SHARE = "share"
    QUERY = "query"


class Operator(StrEnum):
    """Compares the observed with the required value; values that differ by at most 1e-9 are equal."""

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
    since: int | None = None
    """The number of runs of the history whose median is compared with: ``since 5 runs``. None for the baseline."""


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
    since: int | None = None
    """As in `DropCondition`."""


@dataclass(frozen=True, slots=True)
class SignificanceCondition:
    """``drop nDCG@10 is not significant at 5%``: the drop of the mean is not significant; *level* in (0, 0.5]."""

    measure: Measure
    level: float


@dataclass(frozen=True, slots=True)
class Counterpart:
    """What a threshold compares each query with in the same run: its variants, or the answer to another request."""

    request: str | None = None
    """The name of the other request; None for the variants."""

    def describe(self, preposition: str) -> str:
        """As the text of a threshold names it: ``of variants``, or *preposition* and ``request exact``."""
        if self.request is None:
            return "of variants"
        return f"{preposition} request {self.request}"


VARIANTS = Counterpart()


@dataclass(frozen=True, slots=True)
class AgreementCondition:
    """
    ``mean RBO >= 0.9``, ``every overlap@10 of variants >= 0.5``: how far two rankings of each query agree.

    *agreement* is written like a measure, but needs no judgments: rank-biased overlap (RBO), or the share of documents
    in common (overlap). Without a cutoff it compares as many ranks as both runs requested. With variants, the value of
    a query is the mean of its variants for a mean or a median, and that of its worst variant otherwise. The other
    fields are those of `ScoreCondition`.
    """

    statistic: StatisticKind
    agreement: Measure
    operator: Operator
    required: float
    share: float | None = None
    counterpart: Counterpart | None = None
    """None for the ranking of the baseline."""

    @property
    def as_score(self) -> ScoreCondition:
        """The same requirement of scores, to be judged as these are."""
        agreement = self.agreement
        if self.counterpart is not None:
            agreement = replace(agreement, text=f"{agreement.text} {self.counterpart.describe('with')}")
        return ScoreCondition(self.statistic, agreement, self.operator, self.required, self.share)


@dataclass(frozen=True, slots=True)
class LossCondition:
    """
    ``loss nDCG@10 of variants <= 0.1``, ``loss nDCG@10 against request exact <= 0.01``: what of a score may be lost.

    Variants may score so much less than their query, with its judgments, and a request so much less than the other one.
    *statistic* is MEAN, EVERY or QUERY.
    """

    statistic: StatisticKind
    measure: Measure
    allowed: float
    counterpart: Counterpart

    @property
    def as_score(self) -> ScoreCondition:
        """The same requirement of losses, to be judged as scores are."""
        loss = replace(self.measure, text=f"loss {self.measure.text} {self.counterpart.describe('against')}")
        return ScoreCondition(self.statistic, loss, Operator.AT_MOST, self.allowed)


@dataclass(frozen=True, slots=True)
class MachineShareCondition:
    """``machine nDCG@10 <= 30%``: how much of the grades that the measure reads may be a machine's."""

    measure: Measure
    allowed: float
    """A fraction in [0, 1]."""


@dataclass(frozen=True, slots=True)
class KappaCondition:
    """
    ``kappa gpt >= 0.6 over 50 documents``: how far a machine's grades must agree with people's.

    It compares Cohen's kappa with quadratic weights over the documents that both graded.
    """

    machine: str
    operator: Operator
    required: float
    fewest: int
    """The documents below whose number nothing is decided."""


@dataclass(frozen=True, slots=True)
class FalseHitsCondition:
    """``false hits <= 5%``: the share of queries with a hit, among those for which no result is right."""

    allowed: float
    """A fraction in [0, 1]."""


@dataclass(frozen=True, slots=True)
class LatencyCondition:
    """
    ``p95 latency <= 200 ms``; *percentile* is 50, 95, 99 or 100 (max).

    It is that of the engine's own `took`. For a service it is that of the times at the path `took` of the request, or
    of the times to the last byte of the answers if the request has no such path.
    """

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
    """``sku-17 before sku-9``; it holds if only the first was returned, and fails if the first was not returned."""

    document: str
    other: str


@dataclass(frozen=True, slots=True)
class HitCount:
    """``hits >= 1``: the number of documents that match, as the engine counts them."""

    operator: Operator
    required: int


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A value as an expectation has it; what is in quotes is a text, whatever it looks like."""

    text: str
    is_quoted: bool = False


@dataclass(frozen=True, slots=True)
class FieldBound:
    """A comparison with *value*, which is a number or a date: never `=`."""

    operator: Operator
    value: FieldValue


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """
    What a field of a hit has to hold: ``in_stock = true``, ``brand in {Acme, "Big Co"}``, ``price in 10..100``.

    A hit meets it by any one of the field's values that equals one of *allowed*, where there are any, and is within all
    *bounds*. With neither, any value will do.
    """

    field: str
    allowed: tuple[FieldValue, ...] = ()
    bounds: tuple[FieldBound, ...] = ()


class HitQuantifier(StrEnum):
    """How many of the first hits have to meet a requirement."""

    ANY = "any"
    """At least one."""
    EVERY = "every"
    NO = "no"


@dataclass(frozen=True, slots=True)
class FieldInTop:
    """``in_stock = true in top 10``, ``every hit in top 10 has in_stock = true``, ``no hit in top 3 has price > 9``."""

    quantifier: HitQuantifier
    requirement: FieldRequirement
    k: int

    @property
    def field(self) -> str:
        """The field that it reads."""
        return self.requirement.field


@dataclass(frozen=True, slots=True)
class DistinctValues:
    """``distinct brand >= 8 in top 10``: how many different values the first hits have in a field."""

    field: str
    operator: Operator
    required: int
    k: int


@dataclass(frozen=True, slots=True)
class NoRepeats:
    """``no repeated group in top 10``: no two of the first hits share a value of a field."""

    field: str
    k: int


FieldExpectation: TypeAlias = FieldInTop | DistinctValues | NoRepeats
"""Expectations that read a field of the hits, which the requests have to return."""


@dataclass(frozen=True, slots=True)
class UnresolvedCondition:
    """A condition whose text has ``${VARIABLES}``, in a suite loaded without an environment."""

    variables: tuple[str, ...]
    is_expectation: bool = False
    """Whether it is an expectation, which checks each query by itself."""


BaselineCondition: TypeAlias = DropCondition | WorseCondition | SignificanceCondition
"""Conditions that compare scores with a baseline's, or with those of runs; `AgreementCondition` compares rankings."""


Condition: TypeAlias = (
    ScoreCondition
    | BaselineCondition
    | AgreementCondition
    | LossCondition
    | MachineShareCondition
    | KappaCondition
    | FalseHitsCondition
    | LatencyCondition
    | InTop
    | Before
    | HitCount
    | FieldExpectation
    | UnresolvedCondition
)


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a file; *line* and *column* count from 1, and are 0 if unknown or for the file as a whole."""

    path: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Waiver:
    """The reason and the last day of an xfail or skip; without *until* it does not end."""

    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, or an expectation: of one query, or of each query of a suite or of a tag."""

    text: str
    """As written in the suite."""
    condition: Condition
    tag: str | None = None
    """The tag of the queries that it applies to; None for all queries."""
    mark: Mark = Mark()
    """Its place in the suite."""
    xfail: Waiver | None = None
    skip: Waiver | None = None
    markers: tuple[str, ...] = ()
    warns: bool = False
    """Whether a failure is a warning: ``severity: warn``."""
    requests: tuple[str, ...] = ()
    """The names of the requests that it is for; empty for all requests."""
    is_estimated: bool = False
    """Whether it is decided by an estimate from people's grades of a sample and a machine's of all queries."""


@dataclass(frozen=True, slots=True)
class QuerySample:
    """The queries that people grade where a machine grades all: drawn at random before anything was graded."""

    seed: int
    queries: tuple[str, ...]
    """Their ids, in the order in which they were drawn."""
    population: str
    """A fingerprint of the ids of all queries from which they were drawn."""
    sizes: tuple[int, ...] = ()
    """How many of the first queries are judged where an estimate decides; empty for one size, that of the sample."""
    schema: int = 1
    """The version of its file."""

    @property
    def looks(self) -> tuple[int, ...]:
        """The sizes at which an estimate decides, ascending: the last one is that of the sample."""
        return self.sizes or (len(self.queries),)


@dataclass(frozen=True, slots=True)
class Variant:
    """Another text for a query, which should find the same; or another query that should."""

    id: str
    """Such as "shoes~1"; that of the other query if it is one."""
    text: str
    rule: str = ""
    """By which rule it was made, or "same as" for another query; empty if it is written in the suite."""

    @property
    def is_query(self) -> bool:
        """Whether it is another query of the suite."""
        return self.rule == SAME_AS


SAME_AS = "same as"
"""The rule of a variant that is another query of the suite."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A judgment of a text in place of an id: what a hit should hold, whichever chunk of a document it is."""

    text: str
    key: str
    """A fingerprint of the text without its case, its blanks and its form in Unicode."""
    grade: float = 1.0
    document: str = ""
    """The document that it is from, by which quotes belong together; empty if the suite does not say it."""
    mark: Mark = Mark()


@dataclass(frozen=True, slots=True)
class Query:
    """One information need."""

    id: str
    text: str
    """What the user types."""
    params: Mapping[str, Json] = field(default_factory=dict)
    """Values for the placeholders of the request, except ``{{text}}``."""
    tags: tuple[str, ...] = ()
    judgments: Mapping[str, float] = field(default_factory=dict)
    """Document id to grade, for all judged documents of the query."""
    quotes: tuple[Quote, ...] = ()
    """Texts that hits should hold, judged beside documents."""
    thresholds: tuple[Threshold, ...] = ()
    """The query's own thresholds and its rank expectations."""
    markers: tuple[str, ...] = ()
    xfail: Waiver | None = None
    skip: Waiver | None = None
    mark: Mark = Mark()
    weight: float = 1.0
    """Its weight in a mean, above 0; 1 if the suite has no weights."""
    need: str = ""
    """What would satisfy the user, in sentences, for those who judge; empty if the suite does not say it."""
    nothing: bool = False
    """Whether no result is right for it: it has no score, and any hit is a false one."""
    variants: tuple[Variant, ...] = ()
    """They are sent too, and compared with the query; they count in no mean."""
    people_grades: Mapping[str, float] | None = None
    """Document id to grade by people; None where no machine judges, so that all of *judgments* are theirs."""
    machine_grades: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Document id to grade by each machine that the suite's `judges` name, by the name of the machine."""
    machine_graded: frozenset[str] = frozenset()
    """The documents whose grade in *judgments* is a machine's."""
    masked: Json = field(default=None, repr=False)
    """
    Text and params with ``${NAME}`` instead of values of environment variables that may be secret, and *values*: the
    name of each such variable that is not a login to the fingerprint of its value. None if there is no such value.
    """

    @property
    def has_only_quotes(self) -> bool:
        """Whether it is judged by quotes alone: no hit has a grade then."""
        return bool(self.quotes) and not self.judgments


@dataclass(frozen=True, slots=True)
class Target:
    """The cluster and the index that a suite searches, or one of its requests."""

    cluster: str = "default"
    """A name in relevance.toml, or a URL."""
    index: str | None = None
    """A name, alias or pattern; None for an HTTP service."""
    engine: str | None = None
    """Such as "elasticsearch 9.4.3" or "opensearch 2.19", if the login may not ask the server."""
    mark: Mark = Mark()
    service: str = "engine"
    """Such as "engine", "http" or "solr"."""
    unique_ids: bool = False
    """Whether an id identifies one document in all indexes that *index* resolves to."""
    point_in_time: bool = False
    """Whether a run opens a point in time and searches that."""
    id_field: str | None = None
    """The field that holds the id of a document; None for its `_id`."""


@dataclass(frozen=True, slots=True)
class Display:
    """The fields of a document that are shown beside its id; over HTTP, those that the request has a path for."""

    title: str | None = None
    fields: tuple[str, ...] = ()
    """Shown in this order, each with its name; empty for the longest text."""
    image: str | None = None
    """The field that holds the URL of a picture."""
    image_hosts: tuple[str, ...] = ()
    """The hosts from which pictures are loaded, such as "images.shop.com" or "cdn.shop.com:8443"."""
    link: str | None = None
    """The field that holds the URL of the document's page."""
    text: str | None = None
    """The field in which quotes are looked for; None where no query has quotes."""


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
    """Overrides that of the target."""
    http: HttpRequest | None = None
    mark: Mark = Mark()
    masked: Json = field(default=None, repr=False)
    """Body, index, URL parameters and http with masked values, as in `Query.masked`; None if no value is masked."""
    url_params: Mapping[str, Json] = field(default_factory=dict)
    """URL parameters of `_search`, including `routing`; a value is a string, a number, a boolean or a list."""
    gates: bool = True
    """Whether thresholds are decided for it: not with ``gate: false``."""
    target: Target | None = None
    """Its own, with what it takes over from that of the suite; None for that of the suite."""

    @property
    def placeholders(self) -> frozenset[str]:
        """
        The names of the placeholders that each query fills: what the request uses of a query.

        The braces in the source of a search template belong to the engine, which only gets the template's params.
        """
        body = self.body
        template = body.get("template") if isinstance(body, Mapping) else None
        if isinstance(template, Mapping):
            without_source = {key: value for key, value in template.items() if key != "source"}
            body = {**body, "template": without_source}
        parts = [body, self.url_params]
        if self.http is not None:
            parts += [self.http.path, self.http.params, self.http.headers, self.http.json]
        return frozenset(find_placeholders(parts))


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """
    A request to an HTTP service, and JSONPaths for what is in its response.

    The paths of hits are *ids*, *scores*, *titles*, *sort* and *fields*. Where there is a path to the *hits*, they are
    read in each of them; else each selects a list in the response, as long as that of the *ids*.
    """

    method: str
    path: str
    """Appended to the URL of the cluster."""
    ids: str
    """Selects the id of a hit, or the list of ids, best first."""
    params: Mapping[str, Json] = field(default_factory=dict)
    """May contain placeholders, as may *headers* and *json*."""
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = None
    hits: str | None = None
    """Selects the list of hits, best first."""
    scores: str | None = None
    titles: str | None = None
    sort: tuple[str, ...] = ()
    """Select the values that order the hits, and that break ties."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Selects by name what else is shown of the hits, or read by expectations."""
    total: str | None = None
    """Selects the number of matching documents."""
    total_exact: str | None = None
    """Selects whether the total is exact; if it is not, it is a lower bound."""
    took: str | None = None
    """Selects the service's own time in milliseconds."""
    partial: str | None = None
    """Selects what says that not all documents were searched."""
    error: str | None = None
    """Selects the reason in a response that is an error."""
    ids_optional: bool = False
    """Whether a response without the list of hits, or of ids, is one without hits."""
    partial_optional: bool = False
    """Whether responses may lack what *partial* selects: a service may have it only where documents are missing."""
    unique_ids: bool = False
    """Whether a document may be in a response twice, of which its first rank counts; as the target says."""
    preset_paths: frozenset[str] = frozenset()
    """The names of the paths that the suite does not give, but a preset: responses may lack what they select."""
    size: str | None = None
    """
    Where the number of hits stands: the name of a parameter, or a JSON pointer into *json*, which begins with a slash.
    """
    max_size: int | None = None
    """The most hits that the service returns to one request; None where nothing is known to limit them."""
    first_page: Mapping[str, Json] | None = None
    """
    Parameters, and JSON pointers into *json*, that skip hits, with the value that skips none; as the suite says.
    """
    documents: DocumentsRequest | None = None
    """How the service is asked for documents by their ids; None where it cannot be."""

    @property
    def known_fields(self) -> tuple[str, ...]:
        """The fields for which it, or its request for documents, has a path."""
        looked_up = {} if self.documents is None else self.documents.http.fields
        return tuple(dict.fromkeys((*self.fields, *looked_up)))

    @property
    def response_paths(self) -> tuple[str, ...]:
        """All JSONPaths for the response."""
        of_answer = (self.hits, self.total, self.total_exact, self.took, self.partial, self.error)
        return tuple(path for path in (*of_answer, *self.hit_paths) if path is not None)

    @property
    def hit_paths(self) -> tuple[str, ...]:
        """The paths that are read in each hit where there is a path to the hits."""
        paths = (self.ids, self.scores, self.titles, *self.sort, *self.fields.values())
        return tuple(path for path in paths if path is not None)


class ParameterKind(StrEnum):
    """What values a parameter of a request can have."""

    FLOAT = "float"
    INTEGER = "integer"
    CHOICE = "choice"
    SWITCH = "switch"
    """True or false."""


GRID = 5
"""How many values of a range a grid has, unless the suite says it."""


@dataclass(frozen=True, slots=True)
class ParameterCondition:
    """``only_if: {mode: [a, b]}``: a parameter has an effect only while another one has one of *values*."""

    parameter: str
    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class TunedParameter:
    """A parameter of the requests of a suite, which `relevance tune` tries with other values."""

    name: str
    kind: ParameterKind
    today: Json
    """Its value in every other run."""
    low: float = 0.0
    """The least value of a float or an integer; *high* is the greatest."""
    high: float = 0.0
    log: bool = False
    """Whether values are spread evenly by their logarithm."""
    choices: tuple[Json, ...] = ()
    """The values of a choice or a switch."""
    only_if: tuple[ParameterCondition, ...] = ()
    """While one of these does not hold, it has its value of today; they name parameters above it."""
    pointer: str = ""
    """The place in the body that it is put into, as a JSON pointer (RFC 6901); empty for a placeholder."""
    grid: int = GRID
    """How many values of a range a grid has."""
    mark: Mark = Mark()

    @property
    def has_choices(self) -> bool:
        """Whether its values are choices, and no numbers of a range."""
        return self.kind in (ParameterKind.CHOICE, ParameterKind.SWITCH)

    def is_in_force(self, values: Mapping[str, Json]) -> bool:
        """Whether *values* of the parameters above it let it have an effect."""
        return all(values[condition.parameter] in condition.values for condition in self.only_if)


@dataclass(frozen=True, slots=True)
class TuningSpace:
    """The parameters of a suite, and its requests with their places still open."""

    parameters: tuple[TunedParameter, ...]
    """One that others depend on stands above them."""
    templates: Mapping[str, RequestTemplate]
    """By name, with ``{{param:NAME}}`` as written; `Suite.requests` has the values of today in its place."""

    @property
    def today(self) -> dict[str, Json]:
        """The value of each parameter in every other run."""
        return {parameter.name: parameter.today for parameter in self.parameters}

    def settle(self, values: Mapping[str, Json]) -> dict[str, Json]:
        """*values*, in which a parameter without effect has its value of today."""
        settled: dict[str, Json] = {}
        for parameter in self.parameters:
            is_in_force = parameter.is_in_force(settled)
            settled[parameter.name] = values.get(parameter.name, parameter.today) if is_in_force else parameter.today
        return settled


@dataclass(frozen=True, slots=True)
class DocumentsRequest:
    """A request to an HTTP service for documents by their ids, which fill ``{{ids}}`` in it."""

    http: HttpRequest
    """With placeholders: ``{{ids}}``, and ``{{count}}`` for their number."""
    join: str | None = None
    """What stands between two ids; None where they fill a list, or a parameter that is repeated."""
    each: str = "{{id}}"
    """How an id is written, such as with quotes around it."""
    escape: Mapping[str, str] = field(default_factory=dict)
    """What is written for some texts in an id, such as for a quote."""
    unwritable: tuple[str, ...] = ()
    """Texts that the service does not read as they are; an id that has one, as it is written, is not sent."""
    batch: int = 100
    """The most ids of one request."""
    filter: Mapping[str, Json] = field(default_factory=dict)
    """Parameters that restrict a search to the ids, with the same placeholders; empty where there are none."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as loaded: it is valid, queries have their judgments, and measures are parsed."""

    name: str
    path: str
    target: Target
    requests: Mapping[str, RequestTemplate]
    """At least one; the first is the default."""
    measures: tuple[Measure, ...]
    queries: tuple[Query, ...]
    thresholds: tuple[Threshold, ...] = ()
    """Its thresholds, then its expectations of each query."""
    gain: Gain = Gain()
    profile: Profile = Profile.STANDARD
    grades: Mapping[str, float] = field(default_factory=dict)
    """Name to grade."""
    judges: tuple[str, ...] = (PEOPLE,)
    """Whose grades are the judgments, the first that graded a document before others: people, or machines by name."""
    judge_notes: tuple[str, ...] = ()
    """Sentences on grades of machines that do not count."""
    sample: QuerySample | None = None
    """The queries that people grade; None if none were drawn, or no threshold is estimated."""
    grade_descriptions: Mapping[float, str] = field(default_factory=dict)
    """Grade to what it means, for those who judge."""
    guidelines: str = ""
    """Markdown for those who judge; empty if there is none."""
    depth: int = 10
    """The number of hits requested."""
    skip_undefined: bool = False
    """``undefined: skip``: queries with an undefined score are left out instead of failing a threshold."""
    display: Display = Display()
    fixture: Fixture | None = None
    markers: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values from the environment by name, to be masked in all output; empty without an environment."""
    has_variables: bool = False
    """Whether `${VARIABLES}` stand in it, so that it depends on the environment."""
    mark: Mark = Mark()
    baseline_optional: bool = False
    """``baseline: optional``: without a baseline, thresholds that need one only warn."""
    ungraded: int = 0
    """The number of documents without a grade in judgment files."""
    checks: bool = True
    """Whether runs check the target; ``checks: false`` turns that off."""
    vectors: tuple[str, ...] = ()
    """The names of the params that are vectors from files."""
    warm_up: int = 0
    """How often all queries are sent before the run; these responses are dropped."""
    roots: tuple[str, ...] = ()
    """The folders that files of the suite may be in."""
    files: tuple[str, ...] = ()
    """The files that it was read from, the suite's own first."""
    tuning: TuningSpace | None = None
    """The parameters of its requests; None if it names none."""

    def find_target(self, request: str | None) -> Target:
        """The target of *request*, the name of one of its requests, or None for the first."""
        name = next(iter(self.requests), None) if request is None else request
        template = None if name is None else self.requests.get(name)
        if template is None or template.target is None:
            return self.target
        return template.target


def get_counterpart(condition: Condition) -> Counterpart | None:
    """What *condition* compares each query with in the same run; None where it compares with nothing of it."""
    if isinstance(condition, AgreementCondition | LossCondition):
        return condition.counterpart
    return None


def get_other_request(condition: Condition) -> str | None:
    """The name of the request with which *condition* compares; None where it compares with none."""
    counterpart = get_counterpart(condition)
    return None if counterpart is None else counterpart.request


def is_about_baseline(condition: Condition) -> bool:
    """Whether *condition* compares scores or rankings with those of a baseline, or with those of runs."""
    if isinstance(condition, AgreementCondition):
        return condition.counterpart is None
    return isinstance(condition, BaselineCondition)


def is_in_force(waiver: Waiver | None, today: date) -> bool:
    """Whether *waiver* is given and *today* is not after its last day."""
    return waiver is not None and (waiver.until is None or today <= waiver.until)


def find_first_in_force(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* that is in force *today*, None if none is; pass the most specific one first."""
    return next((waiver for waiver in waivers if is_in_force(waiver, today)), None)


def find_first_ended(today: date, *waivers: Waiver | None) -> Waiver | None:
    """The first of *waivers* whose last day is before *today*, None if there is none."""
    return next((waiver for waiver in waivers if waiver is not None and not is_in_force(waiver, today)), None)


def select_tagged(queries: Iterable[Query], tag: str) -> tuple[Query, ...]:
    """The queries that have the *tag*."""
    return tuple(query for query in queries if tag in query.tags)


def select_scored(queries: Iterable[Query]) -> tuple[Query, ...]:
    """The queries for which some result is right: no other has scores, or is in a figure over scores."""
    return tuple(query for query in queries if not query.nothing)


def select_by_id(queries: Iterable[Query], ids: Container[str]) -> tuple[Query, ...]:
    """The queries whose id is in *ids*, in the order of *queries*."""
    return tuple(query for query in queries if query.id in ids)
