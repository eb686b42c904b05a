"""The shape of a suite file: its keys and their values; its JSON Schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationInfo, model_validator

from harness.config.addresses import SERVICES
from harness.model.suite import GainKind, Mark, Profile
from harness.suites.scalars import (
    BESIDE_A_BODY,
    Characters,
    Day,
    Gate,
    Grade,
    Indexes,
    JsonObject,
    JsonValue,
    Key,
    Marker,
    Name,
    Number,
    Positive,
    RequestBody,
    Text,
    Truth,
    Weight,
    expect_scalar,
    refuse,
)
from harness.suites.yaml import ListNode, MappingNode, Node, ScalarNode, describe
from harness.words import did_you_mean, find_nearest, one_of, unknown_key


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that is not allowed in its mapping."""

    mark: Mark
    key: str
    known: tuple[str, ...]

    @property
    def meant(self) -> str | None:
        """The key that was probably meant."""
        return find_nearest(self.key, self.known)

    def __str__(self) -> str:
        return unknown_key(self.key, self.known)


class Shape(BaseModel):
    """A mapping with known keys only; unknown ones are added to the list in the validation context."""

    # Built when a suite is read, and then only what that has, once with what stands in it: scripts/bench/startup.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @classmethod
    @cache
    def list_keys(cls) -> tuple[str, ...]:
        """The keys as a user writes them."""
        return tuple([field.alias or name for name, field in cls.model_fields.items()])

    @classmethod
    def explain_mistake(cls, node: Node) -> str | None:  # noqa: ARG003
        """A message if *node* is a common mistake; overridden by shapes that know one."""
        return None

    @model_validator(mode="before")
    @classmethod
    def _keep_known_keys(cls, node: Node, info: ValidationInfo) -> Node:
        known = cls.list_keys()
        sentence = cls.explain_mistake(node)
        if sentence:
            refuse(sentence, node.mark)
        if not isinstance(node, MappingNode):
            refuse(f"found {describe(node)}, expected a mapping with {', '.join(known)}", node.mark)
        if all(key in known for key in node):
            return node
        kept = MappingNode(node.mark)
        unknown: list[UnknownKey] = info.context if isinstance(info.context, list) else []
        for key, value in node.items():
            if key in known:
                kept[key] = value
            else:
                unknown.append(UnknownKey(key.mark, str(key), known))
        return kept


def _find_tag(node: Node) -> str:
    """The tag of the branch of a union that takes *node*."""
    if isinstance(node, MappingNode):
        return "<mapping>"
    return "<list>" if isinstance(node, ListNode) else "<text>"


def _read_word(node: Node, words: list[str]) -> str:
    expected = one_of(words)
    word = expect_scalar(node, expected)
    if word.unset:
        return words[0]
    if word not in words:
        refuse(f"found {describe(word)}, expected {expected}{did_you_mean(word, words)}", word.mark)
    return str(word)


def accept_words(words: list[str]) -> BeforeValidator:
    """A validator that accepts one of *words*, and suggests the nearest for any other."""
    return BeforeValidator(partial(_read_word, words=words))


def select_branch(expected: str) -> Discriminator:
    """Selects the branch of a union by the kind of node; *expected* is the message if none fits."""
    return Discriminator(_find_tag, custom_error_type="either", custom_error_message=expected)


Markers: TypeAlias = list[Marker]
Severity = Annotated[Literal["fail", "warn"], accept_words(["fail", "warn"])]


class WaiverShape(Shape):
    """The reason and the last day of an xfail or skip."""

    reason: Text = Field(description="Why, in words. Reports and pytest show it.")
    until: Day = Field(None, description="The last day on which it is in force, such as `2027-01-31`. Default: no end.")


class TargetShape(Shape):
    """Where the suite runs, or one of its requests."""

    cluster: Text = Field(
        None, description="The name of a cluster in relevance.toml, or a URL without a login. Default: `default`."
    )
    index: Indexes = Field(
        None,
        description="The index, alias or pattern to search, or several with commas between. Not needed over HTTP, with "
        "a fixture, or where each request has its own.",
    )
    engine: Text = Field(
        None,
        description="The engine and its version, if the login may not ask the server: `elasticsearch 9.4.3`, "
        "`opensearch 2.19`.",
    )
    ids: Annotated[Literal["per_index", "unique"], accept_words(["per_index", "unique"])] = Field(
        "per_index",
        description="`unique` if an `_id` identifies the same document in all indexes that are searched, or if a "
        "service may return a document twice: it then counts once, at its first rank. Default: `per_index`.",
    )
    point_in_time: Truth = Field(
        False, description="`true` opens a point in time of the index for each run and searches that. Default: `false`."
    )
    id_field: Text = Field(
        None,
        description="The field with the ids that judgments use: a keyword or a whole number in each document. "
        "Default: `_id`.",
    )
    service: Annotated[Literal["engine", "http", "solr", "typesense", "weaviate"], accept_words(SERVICES)] | None = (
        Field(
            None,
            description="What the cluster is, if relevance.toml does not say so. Default: what the requests are "
            "written for.",
        )
    )


class LineShape(Shape):
    """A threshold or an expectation with more keys."""

    @classmethod
    def explain_mistake(cls, node: Node) -> str | None:
        """YAML reads a line with a colon as a mapping."""
        if not isinstance(node, MappingNode) or len(node) != 1:
            return None
        [(key, value)] = node.items()
        if not isinstance(value, ScalarNode) or value.empty or find_nearest(key, cls.list_keys()):
            return None
        line = f"{key} {value}"
        if not line.isprintable():
            return None
        return f"found '{key}: {value}', a mapping, expected a line without the colon, such as {line!r}, or in quotes"


class ThresholdShape(LineShape):
    """A threshold with more keys."""

    threshold: Text = Field(description="The threshold, such as `mean nDCG@10 >= 0.8`.")
    xfail: WaiverShape | None = Field(None, description="A failure is expected, and does not fail the run.")
    skip: WaiverShape | None = Field(None, description="The threshold is not decided.")
    markers: Markers = Field([], description="The names of pytest markers for its test, such as `slow`.")
    severity: Severity = Field(
        "fail", description="`warn` makes a failure a warning, which does not fail the run. Default: `fail`."
    )
    estimate: Annotated[Literal["prediction-powered"] | None, accept_words(["prediction-powered"])] = Field(
        None,
        description="How the mean is estimated from people's grades of a sample of the queries and a machine's "
        "grades of all. Default: it is not estimated.",
    )
    requests: list[Name] | None = Field(
        None, description="The names of the requests that it is for. Default: all.", json_schema_extra={"minItems": 1}
    )


class ExpectationShape(LineShape):
    """An expectation with more keys."""

    expect: Text = Field(description="The expectation, such as `sku-17 in top 3`.")
    xfail: WaiverShape | None = Field(None, description="A failure is expected, and does not fail the run.")
    skip: WaiverShape | None = Field(None, description="The expectation is not decided.")
    markers: Markers = Field([], description="The names of pytest markers for its test, such as `slow`.")
    severity: Severity = Field(
        "fail", description="`warn` makes a failure a warning, which does not fail the run. Default: `fail`."
    )
    requests: list[Name] | None = Field(
        None, description="The names of the requests that it is for. Default: all.", json_schema_extra={"minItems": 1}
    )


ThresholdLine = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[ThresholdShape, Tag("<mapping>")],
    select_branch(
        "a threshold such as 'mean nDCG@10 >= 0.8', or a mapping with threshold, xfail, skip, markers, severity, "
        "requests, estimate"
    ),
]
ExpectationLine = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[ExpectationShape, Tag("<mapping>")],
    select_branch(
        "an expectation such as 'sku-17 in top 3', or a mapping with expect, xfail, skip, markers, severity, requests"
    ),
]


class VariantRulesShape(Shape):
    """Variants of the text of a query, made by rule."""

    typos: Positive = Field(None, description="The number of variants with a typing error. Default: none.")
    plural: Truth = Field(
        False,
        description="`true` makes a variant with the last word in its other number, in English. Default: `false`.",
    )
    case: Truth = Field(False, description="`true` makes a variant in capital letters. Default: `false`.")
    accents: Truth = Field(False, description="`true` makes a variant without accents. Default: `false`.")
    order: Truth = Field(False, description="`true` makes a variant with the words in another order. Default: `false`.")


class QueryVariantsShape(VariantRulesShape):
    """Variants that are written, and variants that are made by rule."""

    written: list[Text] = Field([], description="Variants in your own words, beside those that the rules make.")


class QueryShape(Shape):
    """One query: an information need with its judgments."""

    # Its defaults are made: pydantic would copy those that can change, for each query: scripts/bench/runner --by-hand.

    id: Name = Field(description="The query's id, unique in the suite.")
    text: Text = Field(None, description="What the user types. It takes the place of `{{text}}` in requests.")
    need: Text = Field(None, description="What would satisfy the user, in sentences, for those who judge.")
    params: dict[Key, JsonValue] = Field(
        default_factory=dict,
        description="Values for the other placeholders of requests, by name, such as `{lang: en}`.",
    )
    tags: list[Name] = Field(
        default_factory=list,
        description="Groups of queries, such as `head`. A threshold may be for one of them, and runs can select them.",
    )
    weight: Weight = Field(
        None, description="The query's weight in a mean, such as its traffic. Either all queries have one, or none."
    )
    judgments: dict[Key, Grade] = Field(
        default_factory=dict, description="The grade of each document by its id: a number, or a name of `grades`."
    )
    thresholds: list[ThresholdLine] = Field(
        default_factory=list, description="Thresholds on this query alone, such as `nDCG@10 >= 0.9`."
    )
    expect: list[ExpectationLine] = Field(
        default_factory=list,
        description="What is expected of its hits, such as `sku-17 in top 3` or `in_stock = true in top 3`.",
    )
    variants: (
        Annotated[
            Annotated[list[Text], Tag("<list>")] | Annotated[QueryVariantsShape, Tag("<mapping>")],
            select_branch("a list of texts, or a mapping with typos, plural, case, accents, order, written"),
        ]
        | None
    ) = Field(None, description="Other texts that should find the same, or the rules that make them.")
    same_as: Name = Field(None, description="The id of another query that should find the same.")
    markers: Markers = Field(
        default_factory=list, description="The names of pytest markers for its tests, such as `slow`."
    )
    xfail: WaiverShape | None = Field(
        None, description="Failures of its thresholds and expectations are expected, and do not fail the run."
    )
    skip: WaiverShape | None = Field(None, description="Its thresholds and expectations are not decided.")


class QueryFileShape(Shape):
    """A query file, and queries of the suite itself beside those of the file."""

    file: Text = Field(description="The path of the query file, relative to the suite: `.tsv`, `.csv` or `.jsonl`.")
    inline: list[QueryShape] = Field(
        [],
        description="Queries beside those of the file. One that the file has too adds to it, such as tags and "
        "judgments.",
    )


class VectorFileShape(Shape):
    """A file with a vector for each query."""

    file: Text = Field(
        description="The path of the file, relative to the suite: JSON lines with `id` and `vector`, or NumPy's `.npy`."
    )
    ids: Text = Field(
        None,
        description="A file with the query id of each row of a `.npy` file, one a line. Default: the suite's "
        "queries, in their order.",
    )


Method = Annotated[Literal["GET", "POST", "PUT"], accept_words(["GET", "POST", "PUT"])]


class DocumentsShape(Shape):
    """A request to an HTTP service for documents by their ids."""

    method: Method = Field("GET", description="The HTTP method. Default: `GET`.")
    path: Text = Field(None, description="The path below the cluster's URL. Default: that of the search.")
    params: dict[Key, JsonValue] = Field(
        {}, description="Parameters of the URL. `{{ids}}` becomes the ids, `{{count}}` their number."
    )
    headers: dict[Key, Text] = Field({}, description="HTTP headers.")
    json_body: JsonValue = Field(
        None, alias="json", description="The body, sent as JSON, with the placeholders of `params`."
    )
    join: Characters = Field(
        None,
        description="The text between two ids, such as a comma. Default: none; `{{ids}}` becomes a list or a repeated "
        "parameter.",
    )
    each: Text = Field(
        None, description="How an id is written, such as with quotes around `{{id}}`. Default: `{{id}}`."
    )
    escape: dict[Key, Characters] = Field(
        {}, description="What is written for a text in an id, such as a backslash and a quote for a quote."
    )
    unwritable: list[Characters] = Field(
        [],
        description="Texts that the service does not read as they are. An id that has one, as it is written, is not "
        "sent.",
    )
    batch: Positive = Field(100, description="The largest number of ids in a request. Default: 100.")
    filter: dict[Key, JsonValue] = Field(
        {},
        description="Parameters of the URL that restrict the search to the ids, with `{{ids}}`. They tell whether a "
        "document that is not returned matches. Needs `total` of the search.",
    )
    hits: Text = Field(None, description="JSONPath to the list of hits. Default: that of the search.")
    ids: Text = Field(None, description="JSONPath to the ids. Default: that of the search.")
    titles: Text = Field(None, description="JSONPath to the titles. Default: that of the search.")
    total: Text = Field(None, description="JSONPath to the number of documents. Default: that of the search.")
    fields: dict[Key, Text] = Field(
        {}, description="JSONPaths to fields, by name, for which the search has no path or another one."
    )


def _require_nothing(schema: dict[str, Any]) -> None:
    """Leave out which keys are required: where a preset gives them is known to the loader only."""
    del schema["required"]


class HttpShape(Shape):
    """A request to an HTTP search service, and the paths of the hits in its answer."""

    model_config = ConfigDict(json_schema_extra=_require_nothing)

    method: Method = Field("GET", description="The HTTP method. Default: `GET`.")
    path: Text = Field(
        description="The path below the cluster's URL, such as `/search/{{lang}}`. Values of placeholders are encoded."
    )
    ids: Text = Field(
        description="JSONPath to the id in a hit, such as `$.sku`. Without `hits`, to all ids, best first."
    )
    params: dict[Key, JsonValue] = Field(
        {}, description='Parameters of the URL, with placeholders, such as `{q: "{{text}}"}`.'
    )
    headers: dict[Key, Text] = Field(
        {}, description="HTTP headers, with placeholders, such as `{Accept-Language: en}`."
    )
    json_body: JsonValue = Field(None, alias="json", description="The body, sent as JSON, with placeholders.")
    hits: Text = Field(
        None,
        description="JSONPath to the hits, best first, such as `$.results[*]`. The paths of `ids`, `scores`, "
        "`titles`, `sort` and `fields` then begin in a hit.",
    )
    scores: Text = Field(None, description="JSONPath to the score in a hit. Without `hits`, to all scores.")
    titles: Text = Field(None, description="JSONPath to the title in a hit. Without `hits`, to all titles.")
    sort: Annotated[
        Annotated[Text, Tag("<text>")] | Annotated[list[Text], Tag("<list>")],
        select_branch("a JSONPath, or a list of JSONPaths"),
    ] = Field([], description="JSONPath to the value by which hits are ordered, or a list of several.")
    fields: dict[Key, Text] = Field(
        {}, description="JSONPaths to further values of a hit, by names that `display` and expectations use."
    )
    total: Text = Field(None, description="JSONPath to the number of matching documents.")
    total_exact: Text = Field(None, description="JSONPath to `false` if the total is a lower bound, else to `true`.")
    took: Text = Field(
        None, description="JSONPath to the service's own time in milliseconds, which latency thresholds compare."
    )
    partial: Text = Field(
        None,
        description="JSONPath to what says that only a part of the documents was searched: anything but null, "
        "`false`, 0 and what is empty. The query then has an error.",
    )
    error: Text = Field(
        None,
        description="JSONPath to the reason of an error, also in an answer with status 200: anything but null, "
        "`false`, 0 and what is empty. Not for a service whose warnings stand there.",
    )
    ids_optional: bool = Field(
        False,
        description="`true` if the answer has no list of ids where nothing matches. A misspelled path is then no "
        "error. Default: `false`.",
    )
    partial_optional: bool = Field(
        False,
        description="`true` if the answer has what `partial` finds only where documents are missing. A misspelled path "
        "is then no error. Default: `false`.",
    )
    size: Text = Field(
        None,
        description="Where the number of hits stands: the name of a parameter, such as `limit`, or a JSON pointer into "
        "the body, such as `/page/limit`. The harness fills it in, also to search deeper.",
    )
    max_size: Positive = Field(None, description="The largest number of hits that the service returns to a request.")
    first_page: dict[Key, JsonValue] | None = Field(
        None,
        description="Where the request says at which hit or page the answer begins, as in `size`, with the value for "
        "the first: `{offset: 0}`, `{page: 1}`, `{/page/from: 0}`. Another whole number is refused, as a ranking "
        "begins at its first hit.",
    )
    documents: DocumentsShape | None = Field(None, description="A request for documents by their ids.")


class RequestShape(Shape):
    """A request with its own target, index or URL parameters, one in a file, or one over HTTP."""

    target: TargetShape | None = Field(
        None, description="Its own target. The keys in it take the place of those of the suite's target."
    )
    index: Indexes = Field(None, description="The index to search, in place of the target's.")
    body: JsonObject | None = Field(None, description="The body of `_search`. `{{text}}` is the query's text.")
    file: Text = Field(
        None, description="The path of a file with the request, relative to the suite: `.json`, `.yaml` or `.yml`."
    )
    routing: Text = Field(
        None, description="The routing values whose shards are searched, with commas between, such as `{{shop}}`."
    )
    url_params: dict[Key, JsonValue] = Field(
        {}, description="Parameters of the URL of `_search`, such as `{preference: _local}`."
    )
    http: HttpShape | None = Field(None, description="A request to an HTTP search service.")
    gate: Gate = Field(
        True, description="`false` shows the request in reports and decides no threshold for it. Default: `true`."
    )


def _find_request_tag(node: Node) -> str:
    """A mapping with one of these keys is not just a body."""
    if isinstance(node, MappingNode) and node.keys() & set(BESIDE_A_BODY):
        return "<request>"
    return "<body>"


Request = Annotated[
    Annotated[RequestBody, Tag("<body>")] | Annotated[RequestShape, Tag("<request>")], Discriminator(_find_request_tag)
]


class FixtureShape(Shape):
    """An index that the suite builds with --allow-write."""

    documents: Text = Field(
        description="The path of the document file, relative to the suite, with a JSON object in each line."
    )
    mappings: JsonObject = Field({}, description="The mappings of the index.")
    settings: JsonObject = Field({}, description="The settings of the index.")
    id: Text = Field(None, description="The field with the id of a document. Default: `id`.")


class JudgmentFilesShape(Shape):
    """Judgment files, and how to treat queries that the suite does not have, and documents without a grade."""

    files: Annotated[
        Annotated[Text, Tag("<text>")] | Annotated[list[Text], Tag("<list>")],
        select_branch("the path of a judgment file, or a list of paths"),
    ] = Field(
        description="The path of a judgment file, or a list of paths, relative to the suite: TREC qrels, CSV, JSON "
        "lines, Parquet, YAML."
    )
    other_queries: Annotated[Literal["refuse", "ignore"], accept_words(["refuse", "ignore"])] = Field(
        "refuse",
        description="`ignore` leaves out judgments for queries that the suite does not have. Default: `refuse`.",
    )
    ungraded: Annotated[Literal["refuse", "ignore"], accept_words(["refuse", "ignore"])] = Field(
        "refuse", description="`ignore` takes documents without a grade for unjudged. Default: `refuse`."
    )


GainValue = Annotated[
    Annotated[
        Literal["exponential", "linear"],
        accept_words([GainKind.EXPONENTIAL.value, GainKind.LINEAR.value]),
        Tag("<text>"),
    ]
    | Annotated[dict[Key, Number], Tag("<mapping>")],
    select_branch("exponential, linear, or a mapping of grade to gain"),
]


class GradeShape(Shape):
    """A grade with its description."""

    grade: Number = Field(description="The grade, a number.")
    description: Text = Field(None, description="What the grade means, for those who judge.")


NamedGrade = Annotated[
    Annotated[Number, Tag("<text>")] | Annotated[GradeShape, Tag("<mapping>")],
    select_branch("a number, or a mapping with grade and description"),
]


class DisplayShape(Shape):
    """What is shown of a document beside its id."""

    title: Text = Field(None, description="The field with the title, such as `name`.")
    fields: list[Text] = Field([], description="The fields shown below the title. Default: the longest text.")
    image: Text = Field(None, description="The field with the URL of a picture.")
    image_hosts: list[Text] = Field(
        [], description="The hosts from which pictures are loaded, such as `images.shop.com`. Others are not shown."
    )
    link: Text = Field(None, description="The field with the URL of the document's page.")


class ParameterShape(Shape):
    """A parameter of the requests, and the values that a tuning tries: a range, choices or a switch."""

    low: Number | None = Field(None, alias="from", description="The least value of a range.")
    high: Number | None = Field(None, alias="to", description="The greatest value of a range.")
    log: Truth = Field(
        False, description="`true` spreads the values of the range by their logarithm, as boosts are. Default: `false`."
    )
    integer: Truth = Field(False, description="`true` if the range has whole numbers only. Default: `false`.")
    grid: Positive = Field(None, description="The number of values of the range that a grid has. Default: 5.")
    choices: list[JsonValue] = Field([], description="The values to choose from: 2 to 100, of any type.")
    switch: Truth = Field(False, description="`true` if the values are true and false. Default: `false`.")
    only_if: dict[Key, JsonValue] = Field(
        {},
        description="Parameters above this one, each with the value, or the list of values, with which this one has "
        "an effect, such as `{phrase: true}`.",
    )
    today: JsonValue = Field(
        None,
        description="The value that all other commands send. Needed without a pointer; with one, it is what the "
        "request has.",
    )
    pointer: Text = Field(
        None,
        description="A JSON pointer to the place of the parameter in the body, such as `/query/match/title/boost`.",
    )


class TuneShape(Shape):
    """What `relevance tune` may change of the requests."""

    parameters: dict[Name, ParameterShape] = Field(
        {}, description="The parameters by name. `{{param:NAME}}` in a request stands for the value."
    )


class SuiteShape(Shape):
    """A suite file. All keys are optional here, so that missing ones have our own messages."""

    suite: Text = Field(None, description="The name of the suite, such as `products`.")
    target: TargetShape | None = Field(None, description="The cluster and the index to search.")
    grades: dict[Key, NamedGrade] = Field({}, description="Names for grades, such as `{good: 2, bad: 0}`.")
    judges: list[Name] = Field(
        [], description="Whose grades count, and in which order: `people`, and machines by name. Default: `people`."
    )
    guidelines: Text = Field(
        None,
        description="A text for those who judge, or the path of a Markdown file, relative to the suite, such as "
        "`guidelines.md`.",
    )
    gain: GainValue | None = Field(
        None,
        description="What a grade counts in a measure: `exponential`, `linear`, or a gain for each grade. Default: "
        "that of the profile.",
    )
    profile: Annotated[str, accept_words([profile.value for profile in Profile])] = Field(
        Profile.STANDARD.value,
        description="The system whose scores are reproduced. Default: `standard`.",
        json_schema_extra={"enum": [profile.value for profile in Profile]},
    )
    request: Request | None = Field(
        None,
        description="The request for each query: the body of `_search`, or a mapping with `body`, `file` or `http`. "
        "`{{text}}` is the query's text.",
    )
    requests: dict[Name, Request] | None = Field(
        None, description="Several requests by name. The first is the default."
    )
    measures: list[Text] = Field(
        [],
        description="The measures that are reported, such as `nDCG@10`. Default: those of the thresholds, else "
        "`nDCG@10`.",
    )
    thresholds: list[ThresholdLine] = Field(
        [], description="What the scores must reach, such as `mean nDCG@10 >= 0.8`."
    )
    expect: list[ExpectationLine] = Field(
        [], description="What is expected of the hits of each query, such as `every hit in top 10 has in_stock = true`."
    )
    queries: Annotated[
        Annotated[Text, Tag("<text>")]
        | Annotated[list[QueryShape], Tag("<list>")]
        | Annotated[QueryFileShape, Tag("<mapping>")],
        select_branch("a list of queries, the path of a query file, or a mapping with file and inline"),
    ] = Field(None, description="The queries: a list, or the path of a query file, `.tsv`, `.csv` or `.jsonl`.")
    vectors: dict[
        Key,
        Annotated[
            Annotated[Text, Tag("<text>")] | Annotated[VectorFileShape, Tag("<mapping>")],
            select_branch("the path of a file of vectors, or a mapping with file and ids"),
        ],
    ] = Field({}, description="Vectors of the queries from files, each by the name of the placeholder that it fills.")
    judgments: Annotated[
        Annotated[Text, Tag("<text>")]
        | Annotated[list[Text], Tag("<list>")]
        | Annotated[JudgmentFilesShape, Tag("<mapping>")],
        select_branch(
            "the path of a judgment file, a list of paths, or a mapping with files, other_queries and ungraded"
        ),
    ] = Field(
        None, description="The path of a judgment file, or a list of paths: TREC qrels, CSV, JSON lines, Parquet, YAML."
    )
    variants: VariantRulesShape | None = Field(
        None, description="The rules that make variants of each query without variants of its own."
    )
    undefined: Annotated[Literal["fail", "skip"], accept_words(["fail", "skip"])] = Field(
        "fail", description="`skip` leaves out the queries for which a measure is undefined. Default: `fail`."
    )
    baseline: Annotated[Literal["required", "optional"], accept_words(["required", "optional"])] = Field(
        "required",
        description="`optional` warns instead of failing if there is no baseline to compare with. Default: `required`.",
    )
    depth: Positive = Field(
        None,
        description="The number of hits that are requested. Measures without a cutoff use all of them. Default: the "
        "deepest cutoff in use, at least 10.",
    )
    display: DisplayShape | None = Field(None, description="What is shown of a document beside its id.")
    checks: Truth = Field(
        True,
        description="`false` turns off the checks that the target has the judged documents and the fields that "
        "requests name. Default: `true`.",
    )
    warm_up: Positive = Field(
        None, description="How often all queries are sent before the run, to warm caches. Default: never."
    )
    fixture: FixtureShape | None = Field(
        None, description="An index that the suite builds from its own documents, with `--allow-write`."
    )
    tune: TuneShape | None = Field(None, description="The parameters of the requests that a tuning tries.")
    markers: Markers = Field([], description="The names of pytest markers for all tests of the suite, such as `slow`.")


_REQUIRED = ("suite", "queries")


SCHEMA_REMARK = "Written by relevance-harness for editors. Changes by hand are lost when a suite is written beside it."
"""The comment in the schema, by which a file with it is recognized."""


def suite_schema() -> dict[str, Any]:
    """
    JSON Schema of `*.relevance.yaml`.

    It is of draft 7, which all releases of the YAML language server read. It describes the shape of a suite. Checks
    that involve several places, such as names of grades, are in the loader only.
    """
    schema: dict[str, Any] = _tidy(SuiteShape.model_json_schema(by_alias=True))
    for name, definition in schema["$defs"].items():
        # Editors name it: expected "Query variants".
        words = re.findall(r"[A-Z][a-z]+", name.removesuffix("Shape"))
        definition["title"] = " ".join(words).capitalize()
    schema.update(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$comment": SCHEMA_REMARK,
            "title": "Suite",
            "description": "A search relevance suite: queries with graded judgments, requests and thresholds.",
            "required": list(_REQUIRED),
            "oneOf": [{"required": ["request"]}, {"required": ["requests"]}],
        }
    )
    return schema


def _tidy(node: Any) -> Any:
    """
    The schema without the parts that are specific to Python.

    A missing key is None in the models, but no key of a suite may be null; class names are not titles.
    """
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    tidied = {}
    for key, value in node.items():
        is_class_name = key == "title" and isinstance(value, str)
        is_no_default = key == "default" and value in (None, [], {})
        if not is_class_name and not is_no_default:
            tidied[key] = _tidy(value)
    if "anyOf" not in tidied:
        return tidied
    branches = [branch for branch in tidied["anyOf"] if branch != {"type": "null"}]
    if len(branches) > 1:
        return {**tidied, "anyOf": branches}
    del tidied["anyOf"]
    return {**tidied, **branches[0]}
