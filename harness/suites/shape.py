"""The shape of a suite file: its keys and their values; its JSON Schema."""

from __future__ import annotations

import re
from typing import Any

from harness.config.addresses import SERVICES
from harness.model.suite import GainKind, Profile
from harness.suites.kinds import (
    LIST_BRANCH,
    MAPPING_BRANCH,
    TEXT_BRANCH,
    Branches,
    ListOf,
    MappingOf,
    Schema,
    Shape,
    accept_words,
    key,
)
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
)
from harness.suites.yaml import MappingNode, Node, ScalarNode
from harness.words import find_nearest

Severity = accept_words(["fail", "warn"])


class WaiverShape(Shape):
    """The reason and the last day of an xfail or skip."""

    reason: Any = key(Text, "Why, in words. Reports and pytest show it.", is_required=True)
    until: Any = key(Day, "The last day on which it is in force, such as `2027-01-31`. Default: no end.")


class TargetShape(Shape):
    """Where the suite runs, or one of its requests."""

    cluster: Any = key(Text, "The name of a cluster in relevance.toml, or a URL without a login. Default: `default`.")
    index: Any = key(
        Indexes,
        "The index, alias or pattern to search, or several with commas between. Not needed over HTTP, with "
        "a fixture, or where each request has its own.",
    )
    engine: Any = key(
        Text,
        "The engine and its version, if the login may not ask the server: `elasticsearch 9.4.3`, `opensearch 2.19`.",
    )
    ids: str = key(
        accept_words(["per_index", "unique"]),
        "`unique` if an `_id` identifies the same document in all indexes that are searched, or if a "
        "service may return a document twice: it then counts once, at its first rank. Default: `per_index`.",
        "per_index",
    )
    point_in_time: Any = key(
        Truth, "`true` opens a point in time of the index for each run and searches that. Default: `false`.", False
    )
    id_field: Any = key(
        Text, "The field with the ids that judgments use: a keyword or a whole number in each document. Default: `_id`."
    )
    service: str | None = key(
        accept_words(SERVICES),
        "What the cluster is, if relevance.toml does not say so. Default: what the requests are written for.",
    )


class LineShape(Shape):
    """A threshold or an expectation with more keys."""

    @classmethod
    def explain_mistake(cls, node: Node) -> str | None:
        """YAML reads a line with a colon as a mapping."""
        if not isinstance(node, MappingNode) or len(node) != 1:
            return None
        [(key, value)] = node.items()
        if not isinstance(value, ScalarNode) or value.empty or find_nearest(key, cls.known_keys):
            return None
        line = f"{key} {value}"
        if not line.isprintable():
            return None
        return f"found '{key}: {value}', a mapping, expected a line without the colon, such as {line!r}, or in quotes"


class ThresholdShape(LineShape):
    """A threshold with more keys."""

    threshold: Any = key(Text, "The threshold, such as `mean nDCG@10 >= 0.8`.", is_required=True)
    xfail: WaiverShape | None = key(WaiverShape, "A failure is expected, and does not fail the run.")
    skip: WaiverShape | None = key(WaiverShape, "The threshold is not decided.")
    markers: list[Any] = key(ListOf(Marker), "The names of pytest markers for its test, such as `slow`.", [])
    severity: str = key(
        Severity, "`warn` makes a failure a warning, which does not fail the run. Default: `fail`.", "fail"
    )
    estimate: str | None = key(
        accept_words(["prediction-powered"]),
        "How the mean is estimated from people's grades of a sample of the queries and a machine's "
        "grades of all. Default: it is not estimated.",
    )
    requests: list[Any] | None = key(
        ListOf(Name, is_filled=True), "The names of the requests that it is for. Default: all."
    )


class ExpectationShape(LineShape):
    """An expectation with more keys."""

    expect: Any = key(Text, "The expectation, such as `sku-17 in top 3`.", is_required=True)
    xfail: WaiverShape | None = key(WaiverShape, "A failure is expected, and does not fail the run.")
    skip: WaiverShape | None = key(WaiverShape, "The expectation is not decided.")
    markers: list[Any] = key(ListOf(Marker), "The names of pytest markers for its test, such as `slow`.", [])
    severity: str = key(
        Severity, "`warn` makes a failure a warning, which does not fail the run. Default: `fail`.", "fail"
    )
    requests: list[Any] | None = key(
        ListOf(Name, is_filled=True), "The names of the requests that it is for. Default: all."
    )


ThresholdLine = Branches(
    "a threshold such as 'mean nDCG@10 >= 0.8', or a mapping with threshold, xfail, skip, markers, severity, "
    "requests, estimate",
    {TEXT_BRANCH: Text, MAPPING_BRANCH: ThresholdShape},
)
ExpectationLine = Branches(
    "an expectation such as 'sku-17 in top 3', or a mapping with expect, xfail, skip, markers, severity, requests",
    {TEXT_BRANCH: Text, MAPPING_BRANCH: ExpectationShape},
)


class VariantRulesShape(Shape):
    """Variants of the text of a query, made by rule."""

    typos: Any = key(Positive, "The number of variants with a typing error. Default: none.")
    plural: Any = key(
        Truth, "`true` makes a variant with the last word in its other number, in English. Default: `false`.", False
    )
    case: Any = key(Truth, "`true` makes a variant in capital letters. Default: `false`.", False)
    accents: Any = key(Truth, "`true` makes a variant without accents. Default: `false`.", False)
    order: Any = key(Truth, "`true` makes a variant with the words in another order. Default: `false`.", False)


class QueryVariantsShape(VariantRulesShape):
    """Variants that are written, and variants that are made by rule."""

    written: list[Any] = key(ListOf(Text), "Variants in your own words, beside those that the rules make.", [])


class QuoteShape(Shape):
    """A judgment of a text in place of an id."""

    text: Any = key(
        Text, "The text that a hit should hold; case, blanks and forms of Unicode are alike.", is_required=True
    )
    document: Any = key(
        Key, "The document by which quotes belong together; hits of others may hold it too. Default: none."
    )
    grade: Any = key(Grade, "Its grade: a number, or a name of `grades`. Default: 1.")


class QueryShape(Shape):
    """One query: an information need with its judgments."""

    id: Any = key(Name, "The query's id, unique in the suite.", is_required=True)
    text: Any = key(Text, "What the user types. It takes the place of `{{text}}` in requests.")
    need: Any = key(Text, "What would satisfy the user, in sentences, for those who judge.")
    nothing: bool | None = key(
        Gate, "Whether no result is right, so that any hit is a false one. `need` has room for the reason."
    )
    params: dict[Any, Any] = key(
        MappingOf(Key, JsonValue), "Values for the other placeholders of requests, by name, such as `{lang: en}`.", {}
    )
    tags: list[Any] = key(
        ListOf(Name),
        "Groups of queries, such as `head`. A threshold may be for one of them, and runs can select them.",
        [],
    )
    weight: Any = key(
        Weight, "The query's weight in a mean, such as its traffic. Either all queries have one, or none."
    )
    judgments: dict[Any, Any] = key(
        MappingOf(Key, Grade), "The grade of each document by its id: a number, or a name of `grades`.", {}
    )
    quotes: list[QuoteShape] = key(
        ListOf(QuoteShape),
        "Texts that hits should hold, in the field `text` of `display`, for measures of novelty such as `St_nDCG@10`.",
        [],
    )
    thresholds: list[Any] = key(ListOf(ThresholdLine), "Thresholds on this query alone, such as `nDCG@10 >= 0.9`.", [])
    expect: list[Any] = key(
        ListOf(ExpectationLine),
        "What is expected of its hits, such as `sku-17 in top 3` or `in_stock = true in top 3`.",
        [],
    )
    variants: Any = key(
        Branches(
            "a list of texts, or a mapping with typos, plural, case, accents, order, written",
            {LIST_BRANCH: ListOf(Text), MAPPING_BRANCH: QueryVariantsShape},
        ),
        "Other texts that should find the same, or the rules that make them.",
    )
    same_as: Any = key(Name, "The id of another query that should find the same.")
    markers: list[Any] = key(ListOf(Marker), "The names of pytest markers for its tests, such as `slow`.", [])
    xfail: WaiverShape | None = key(
        WaiverShape, "Failures of its thresholds and expectations are expected, and do not fail the run."
    )
    skip: WaiverShape | None = key(WaiverShape, "Its thresholds and expectations are not decided.")


class QueryFileShape(Shape):
    """A query file, and queries of the suite itself beside those of the file."""

    file: Any = key(
        Text, "The path of the query file, relative to the suite: `.tsv`, `.csv` or `.jsonl`.", is_required=True
    )
    inline: list[QueryShape] = key(
        ListOf(QueryShape),
        "Queries beside those of the file. One that the file has too adds to it, such as tags and judgments.",
        [],
    )


class VectorFileShape(Shape):
    """A file with a vector for each query."""

    file: Any = key(
        Text,
        "The path of the file, relative to the suite: JSON lines with `id` and `vector`, or NumPy's `.npy`.",
        is_required=True,
    )
    ids: Any = key(
        Text,
        "A file with the query id of each row of a `.npy` file, one a line. Default: the suite's "
        "queries, in their order.",
    )


Method = accept_words(["GET", "POST", "PUT"])


class DocumentsShape(Shape):
    """A request to an HTTP service for documents by their ids."""

    method: str = key(Method, "The HTTP method. Default: `GET`.", "GET")
    path: Any = key(Text, "The path below the cluster's URL. Default: that of the search.")
    params: dict[Any, Any] = key(
        MappingOf(Key, JsonValue), "Parameters of the URL. `{{ids}}` becomes the ids, `{{count}}` their number.", {}
    )
    headers: dict[Any, Any] = key(MappingOf(Key, Text), "HTTP headers.", {})
    json_body: Any = key(JsonValue, "The body, sent as JSON, with the placeholders of `params`.", written="json")
    join: Any = key(
        Characters,
        "The text between two ids, such as a comma. Default: none; `{{ids}}` becomes a list or a repeated parameter.",
    )
    each: Any = key(Text, "How an id is written, such as with quotes around `{{id}}`. Default: `{{id}}`.")
    escape: dict[Any, Any] = key(
        MappingOf(Key, Characters),
        "What is written for a text in an id, such as a backslash and a quote for a quote.",
        {},
    )
    unwritable: list[Any] = key(
        ListOf(Characters),
        "Texts that the service does not read as they are. An id that has one, as it is written, is not sent.",
        [],
    )
    batch: Any = key(Positive, "The largest number of ids in a request. Default: 100.", 100)
    filter: dict[Any, Any] = key(
        MappingOf(Key, JsonValue),
        "Parameters of the URL that restrict the search to the ids, with `{{ids}}`. They tell whether a "
        "document that is not returned matches. Needs `total` of the search.",
        {},
    )
    hits: Any = key(Text, "JSONPath to the list of hits. Default: that of the search.")
    ids: Any = key(Text, "JSONPath to the ids. Default: that of the search.")
    titles: Any = key(Text, "JSONPath to the titles. Default: that of the search.")
    total: Any = key(Text, "JSONPath to the number of documents. Default: that of the search.")
    fields: dict[Any, Any] = key(
        MappingOf(Key, Text), "JSONPaths to fields, by name, for which the search has no path or another one.", {}
    )


class HttpShape(Shape):
    """A request to an HTTP search service, and the paths of the hits in its answer."""

    @classmethod
    def describe_keys(cls, definitions: dict[str, Schema]) -> Schema:
        """See `Shape`; which keys are required is left out: where a preset gives them is known to the loader only."""
        schema = super().describe_keys(definitions)
        del schema["required"]
        return schema

    method: str = key(Method, "The HTTP method. Default: `GET`.", "GET")
    path: Any = key(
        Text,
        "The path below the cluster's URL, such as `/search/{{lang}}`. Values of placeholders are encoded.",
        is_required=True,
    )
    ids: Any = key(
        Text, "JSONPath to the id in a hit, such as `$.sku`. Without `hits`, to all ids, best first.", is_required=True
    )
    params: dict[Any, Any] = key(
        MappingOf(Key, JsonValue), 'Parameters of the URL, with placeholders, such as `{q: "{{text}}"}`.', {}
    )
    headers: dict[Any, Any] = key(
        MappingOf(Key, Text), "HTTP headers, with placeholders, such as `{Accept-Language: en}`.", {}
    )
    json_body: Any = key(JsonValue, "The body, sent as JSON, with placeholders.", written="json")
    hits: Any = key(
        Text,
        "JSONPath to the hits, best first, such as `$.results[*]`. The paths of `ids`, `scores`, "
        "`titles`, `sort` and `fields` then begin in a hit.",
    )
    scores: Any = key(Text, "JSONPath to the score in a hit. Without `hits`, to all scores.")
    titles: Any = key(Text, "JSONPath to the title in a hit. Without `hits`, to all titles.")
    sort: Any = key(
        Branches("a JSONPath, or a list of JSONPaths", {TEXT_BRANCH: Text, LIST_BRANCH: ListOf(Text)}),
        "JSONPath to the value by which hits are ordered, or a list of several.",
        [],
    )
    fields: dict[Any, Any] = key(
        MappingOf(Key, Text), "JSONPaths to further values of a hit, by names that `display` and expectations use.", {}
    )
    total: Any = key(Text, "JSONPath to the number of matching documents.")
    total_exact: Any = key(Text, "JSONPath to `false` if the total is a lower bound, else to `true`.")
    took: Any = key(Text, "JSONPath to the service's own time in milliseconds, which latency thresholds compare.")
    partial: Any = key(
        Text,
        "JSONPath to what says that only a part of the documents was searched: anything but null, "
        "`false`, 0 and what is empty. The query then has an error.",
    )
    error: Any = key(
        Text,
        "JSONPath to the reason of an error, also in an answer with status 200: anything but null, "
        "`false`, 0 and what is empty. Not for a service whose warnings stand there.",
    )
    ids_optional: Any = key(
        Truth,
        "`true` if the answer has no list of ids where nothing matches. A misspelled path is then no "
        "error. Default: `false`.",
        False,
    )
    partial_optional: Any = key(
        Truth,
        "`true` if the answer has what `partial` finds only where documents are missing. A misspelled path "
        "is then no error. Default: `false`.",
        False,
    )
    size: Any = key(
        Text,
        "Where the number of hits stands: the name of a parameter, such as `limit`, or a JSON pointer into "
        "the body, such as `/page/limit`. The harness fills it in, also to search deeper.",
    )
    max_size: Any = key(Positive, "The largest number of hits that the service returns to a request.")
    first_page: dict[Any, Any] | None = key(
        MappingOf(Key, JsonValue),
        "Where the request says at which hit or page the answer begins, as in `size`, with the value for "
        "the first: `{offset: 0}`, `{page: 1}`, `{/page/from: 0}`. Another whole number is refused, as a ranking "
        "begins at its first hit.",
    )
    documents: DocumentsShape | None = key(DocumentsShape, "A request for documents by their ids.")


class RequestShape(Shape):
    """A request with its own target, index or URL parameters, one in a file, or one over HTTP."""

    target: TargetShape | None = key(
        TargetShape, "Its own target. The keys in it take the place of those of the suite's target."
    )
    index: Any = key(Indexes, "The index to search, in place of the target's.")
    body: dict[str, Any] | None = key(JsonObject, "The body of `_search`. `{{text}}` is the query's text.")
    file: Any = key(Text, "The path of a file with the request, relative to the suite: `.json`, `.yaml` or `.yml`.")
    routing: Any = key(Text, "The routing values whose shards are searched, with commas between, such as `{{shop}}`.")
    url_params: dict[Any, Any] = key(
        MappingOf(Key, JsonValue), "Parameters of the URL of `_search`, such as `{preference: _local}`.", {}
    )
    http: HttpShape | None = key(HttpShape, "A request to an HTTP search service.")
    gate: bool = key(
        Gate, "`false` shows the request in reports and decides no threshold for it. Default: `true`.", True
    )


BODY_BRANCH, REQUEST_BRANCH = "<body>", "<request>"


def _find_request_branch(node: Node) -> str:
    """A mapping with one of these keys is not just a body."""
    if isinstance(node, MappingNode) and node.keys() & set(BESIDE_A_BODY):
        return REQUEST_BRANCH
    return BODY_BRANCH


Request = Branches("", {BODY_BRANCH: RequestBody, REQUEST_BRANCH: RequestShape}, _find_request_branch)


class FixtureShape(Shape):
    """An index that the suite builds with --allow-write."""

    documents: Any = key(
        Text, "The path of the document file, relative to the suite, with a JSON object in each line.", is_required=True
    )
    mappings: dict[str, Any] = key(JsonObject, "The mappings of the index.", {})
    settings: dict[str, Any] = key(JsonObject, "The settings of the index.", {})
    id: Any = key(Text, "The field with the id of a document. Default: `id`.")


class JudgmentFilesShape(Shape):
    """Judgment files, and how to treat queries that the suite does not have, and documents without a grade."""

    files: Any = key(
        Branches("the path of a judgment file, or a list of paths", {TEXT_BRANCH: Text, LIST_BRANCH: ListOf(Text)}),
        "The path of a judgment file, or a list of paths, relative to the suite: TREC qrels, CSV, JSON "
        "lines, Parquet, YAML.",
        is_required=True,
    )
    other_queries: str = key(
        accept_words(["refuse", "ignore"]),
        "`ignore` leaves out judgments for queries that the suite does not have. Default: `refuse`.",
        "refuse",
    )
    ungraded: str = key(
        accept_words(["refuse", "ignore"]),
        "`ignore` takes documents without a grade for unjudged. Default: `refuse`.",
        "refuse",
    )


GainValue = Branches(
    "exponential, linear, or a mapping of grade to gain",
    {
        TEXT_BRANCH: accept_words([GainKind.EXPONENTIAL.value, GainKind.LINEAR.value]),
        MAPPING_BRANCH: MappingOf(Key, Number),
    },
)


class GradeShape(Shape):
    """A grade with its description."""

    grade: float = key(Number, "The grade, a number.", is_required=True)
    description: Any = key(Text, "What the grade means, for those who judge.")


NamedGrade = Branches(
    "a number, or a mapping with grade and description", {TEXT_BRANCH: Number, MAPPING_BRANCH: GradeShape}
)


class DisplayShape(Shape):
    """What is shown and read of a document beside its id."""

    title: Any = key(Text, "The field with the title, such as `name`.")
    fields: list[Any] = key(ListOf(Text), "The fields shown below the title. Default: the longest text.", [])
    image: Any = key(Text, "The field with the URL of a picture.")
    image_hosts: list[Any] = key(
        ListOf(Text), "The hosts from which pictures are loaded, such as `images.shop.com`. Others are not shown.", []
    )
    link: Any = key(Text, "The field with the URL of the document's page.")
    text: Any = key(Text, "The field with the text of a hit, in which the `quotes` of queries are looked for.")


class ParameterShape(Shape):
    """A parameter of the requests, and the values that a tuning tries: a range, choices or a switch."""

    low: float | None = key(Number, "The least value of a range.", written="from")
    high: float | None = key(Number, "The greatest value of a range.", written="to")
    log: Any = key(
        Truth, "`true` spreads the values of the range by their logarithm, as boosts are. Default: `false`.", False
    )
    integer: Any = key(Truth, "`true` if the range has whole numbers only. Default: `false`.", False)
    grid: Any = key(Positive, "The number of values of the range that a grid has. Default: 5.")
    choices: list[Any] = key(ListOf(JsonValue), "The values to choose from: 2 to 100, of any type.", [])
    switch: Any = key(Truth, "`true` if the values are true and false. Default: `false`.", False)
    only_if: dict[Any, Any] = key(
        MappingOf(Key, JsonValue),
        "Parameters above this one, each with the value, or the list of values, with which this one has "
        "an effect, such as `{phrase: true}`.",
        {},
    )
    today: Any = key(
        JsonValue,
        "The value that all other commands send. Needed without a pointer; with one, it is what the request has.",
    )
    pointer: Any = key(
        Text, "A JSON pointer to the place of the parameter in the body, such as `/query/match/title/boost`."
    )


class TuneShape(Shape):
    """What `relevance tune` may change of the requests."""

    parameters: dict[Any, ParameterShape] = key(
        MappingOf(Name, ParameterShape),
        "The parameters by name. `{{param:NAME}}` in a request stands for the value.",
        {},
    )


class SuiteShape(Shape):
    """A suite file. All keys are optional here, so that missing ones have our own messages."""

    suite: Any = key(Text, "The name of the suite, such as `products`.")
    target: TargetShape | None = key(TargetShape, "The cluster and the index to search.")
    grades: dict[Any, Any] = key(MappingOf(Key, NamedGrade), "Names for grades, such as `{good: 2, bad: 0}`.", {})
    judges: list[Any] = key(
        ListOf(Name), "Whose grades count, and in which order: `people`, and machines by name. Default: `people`.", []
    )
    guidelines: Any = key(
        Text,
        "A text for those who judge, or the path of a Markdown file, relative to the suite, such as `guidelines.md`.",
    )
    gain: Any = key(
        GainValue,
        "What a grade counts in a measure: `exponential`, `linear`, or a gain for each grade. Default: "
        "that of the profile.",
    )
    profile: str = key(
        accept_words([profile.value for profile in Profile]),
        "The system whose scores are reproduced. Default: `standard`.",
        Profile.STANDARD.value,
    )
    request: Any = key(
        Request,
        "The request for each query: the body of `_search`, or a mapping with `body`, `file` or `http`. "
        "`{{text}}` is the query's text.",
    )
    requests: dict[Any, Any] | None = key(
        MappingOf(Name, Request), "Several requests by name. The first is the default."
    )
    measures: list[Any] = key(
        ListOf(Text),
        "The measures that are reported, such as `nDCG@10`. Default: those of the thresholds, else `nDCG@10`.",
        [],
    )
    thresholds: list[Any] = key(ListOf(ThresholdLine), "What the scores must reach, such as `mean nDCG@10 >= 0.8`.", [])
    expect: list[Any] = key(
        ListOf(ExpectationLine),
        "What is expected of the hits of each query, such as `every hit in top 10 has in_stock = true`.",
        [],
    )
    queries: Any = key(
        Branches(
            "a list of queries, the path of a query file, or a mapping with file and inline",
            {TEXT_BRANCH: Text, LIST_BRANCH: ListOf(QueryShape), MAPPING_BRANCH: QueryFileShape},
        ),
        "The queries: a list, or the path of a query file, `.tsv`, `.csv` or `.jsonl`.",
    )
    vectors: dict[Any, Any] = key(
        MappingOf(
            Key,
            Branches(
                "the path of a file of vectors, or a mapping with file and ids",
                {TEXT_BRANCH: Text, MAPPING_BRANCH: VectorFileShape},
            ),
        ),
        "Vectors of the queries from files, each by the name of the placeholder that it fills.",
        {},
    )
    judgments: Any = key(
        Branches(
            "the path of a judgment file, a list of paths, or a mapping with files, other_queries and ungraded",
            {TEXT_BRANCH: Text, LIST_BRANCH: ListOf(Text), MAPPING_BRANCH: JudgmentFilesShape},
        ),
        "The path of a judgment file, or a list of paths: TREC qrels, CSV, JSON lines, Parquet, YAML.",
    )
    variants: VariantRulesShape | None = key(
        VariantRulesShape, "The rules that make variants of each query without variants of its own."
    )
    undefined: str = key(
        accept_words(["fail", "skip"]),
        "`skip` leaves out the queries for which a measure is undefined. Default: `fail`.",
        "fail",
    )
    baseline: str = key(
        accept_words(["required", "optional"]),
        "`optional` warns instead of failing if there is no baseline to compare with. Default: `required`.",
        "required",
    )
    depth: Any = key(
        Positive,
        "The number of hits that are requested. Measures without a cutoff use all of them. Default: the "
        "deepest cutoff in use, at least 10.",
    )
    display: DisplayShape | None = key(DisplayShape, "What is shown of a document beside its id.")
    checks: Any = key(
        Truth,
        "`false` turns off the checks that the target has the judged documents and the fields that "
        "requests name. Default: `true`.",
        True,
    )
    warm_up: Any = key(Positive, "How often all queries are sent before the run, to warm caches. Default: never.")
    fixture: FixtureShape | None = key(
        FixtureShape, "An index that the suite builds from its own documents, with `--allow-write`."
    )
    tune: TuneShape | None = key(TuneShape, "The parameters of the requests that a tuning tries.")
    markers: list[Any] = key(
        ListOf(Marker), "The names of pytest markers for all tests of the suite, such as `slow`.", []
    )


_REQUIRED = ("suite", "queries")


SCHEMA_REMARK = "Written by relevance-harness for editors. Changes by hand are lost when a suite is written beside it."
"""The comment in the schema, by which a file with it is recognized."""


def suite_schema() -> dict[str, Any]:
    """
    JSON Schema of `*.relevance.yaml`.

    It is of draft 7, which all releases of the YAML language server read. It describes the shape of a suite. Checks
    that involve several places, such as names of grades, are in the loader only.
    """
    definitions: dict[str, Schema] = {}
    suite = SuiteShape.describe_keys(definitions)
    for name, definition in definitions.items():
        # Editors name it: expected "Query variants".
        words = re.findall(r"[A-Z][a-z]+", name.removesuffix("Shape"))
        definition["title"] = " ".join(words).capitalize()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": SCHEMA_REMARK,
        "title": "Suite",
        **suite,
        "description": "A search relevance suite: queries with graded judgments, requests and thresholds.",
        "required": list(_REQUIRED),
        "oneOf": [{"required": ["request"]}, {"required": ["requests"]}],
        "$defs": dict(sorted(definitions.items())),
    }
