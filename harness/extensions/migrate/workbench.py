"""
Import for OpenSearch's Search Relevance Workbench: query sets, judgment lists and search configurations.

Source: the REST API of opensearch-project/search-relevance, which returns lists as the hits of a search, and the files
that its dashboard imports: queries as JSON lines, judgments as CSV.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.drafts.draft import Draft, make_error
from harness.errors import FormatError
from harness.extensions.migrate.json_nodes import (
    JsonNode,
    note_unread,
    parse_lines,
    parse_text,
    read_import,
    read_node,
)
from harness.extensions.migrate.table import import_table
from harness.extensions.migrate.templates import convert_placeholders, make_param_name, parse_value
from harness.model.suite import Json, Mark, Profile
from harness.suites.placeholders import RESERVED
from harness.words import choose_unused

_MEASURES = ["nDCG@10", "P@10", "AP@10", "Judged@10"]
"""The measures that the workbench shows for an experiment: NDCG, Precision, MAP and Coverage."""

_MARKED = re.compile("%SearchText%|%queryText%")
"""The placeholder of the query's text in a configuration without ``{{``: in its first versions, and in later ones."""
_VARIABLE = re.compile(r"\{\{\{\s*(\w[\w.-]*)\s*\}\}\}|\{\{&?\s*(\w[\w.-]*)\s*\}\}")
_TAG = re.compile(
    r"\{\{#(?:toJson|join)\b[^}]*\}\}\s*(\w[\w.-]*)\s*\{\{/"
    r"|\{\{[#^&{]?\s*(?!(?:toJson|join|url)\b)(\w[\w.-]*)\s*\}\}"
)
"""A variable in a Mustache template with sections or functions, including variables inside these."""
_TEXT_VARIABLES = ("queryText", "query_string")
"""Variables of Mustache for the query's text; the second is that of development versions."""

_KEPT_BY_THE_WORKBENCH = ("id", "timestamp", "status", "type", "sampling")

_LABELS = {"referenceAnswer": "reference answer"}

_BEHIND_A_TEXT = "#"
"""The separator of a text and its reference answer, or its custom fields as JSON, in data of the first versions.

The text itself may contain the character, which those versions do not escape.
"""


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read one suite from all *sources* together: query sets, judgment lists and search configurations.

    The text of a query identifies it in all of them.

    Args:
        sources: Files. A .json file has a request or a response of the API, a .csv file judgments, and a .ndjson,
            .jsonl or other text file queries.

    Raises:
        InputError: A file cannot be read, judgments contradict each other, or there are no queries.
    """
    draft = Draft(Profile.OPENSEARCH_SRW, measures=list(_MEASURES))
    postponed = _Postponed()
    roots: list[JsonNode] = []
    for path in map(Path, sources):
        roots += _read_file(path, draft, postponed)
    _choose_name(draft, [*postponed.names_of_sets, *postponed.names_of_judgments], sources[0])
    for entry in postponed.ratings:
        _read_ratings(entry, draft)
    variables = _Variables(draft)
    for configuration in postponed.configurations:
        _read_configuration(configuration, draft, variables)
    _distribute_fields(draft, variables)
    draft.note_grades_below_0()
    for root in roots:
        note_unread(draft, root)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "expected a query set or judgments; found no query")
    if len(draft.requests) == 1:
        [request] = draft.requests.values()
        draft.index, draft.request, draft.requests = request["index"], request["body"], {}
    return [draft]


@dataclass(slots=True)
class _Postponed:
    """What is read after all query sets, as it refers to their texts and custom fields."""

    names_of_sets: list[JsonNode] = field(default_factory=list)
    names_of_judgments: list[JsonNode] = field(default_factory=list)
    ratings: list[JsonNode] = field(default_factory=list)
    configurations: list[JsonNode] = field(default_factory=list)


def _choose_name(draft: Draft, names: Sequence[JsonNode], source: str) -> None:
    """Name the suite after the first of *names*, or else after the file; other names are noted."""
    names = [name for name in names if name.value]
    draft.name = names[0].text() if names else Path(source).name.split(".")[0]
    for name in names[1:]:
        if name.text() != draft.name:
            draft.add_leftover(name.place, "names of further lists", first=repr(name.text()))


def _read_file(path: Path, draft: Draft, postponed: _Postponed) -> list[JsonNode]:
    """Read a file, put what must wait into *postponed*, and return the JSON values of the file."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        _read_csv(path, draft)
        return []
    if suffix == ".json":
        root = read_node(path)
        for document in _list_documents(root):
            _read_document(document, draft, postponed)
        return [root]
    source = read_import(path)
    if suffix in (".ndjson", ".jsonl"):
        roots = list(parse_lines(source))
        _read_entries(roots, draft, is_stored=False)
        return roots
    for number, line in enumerate(source.lines, start=1):
        text = line.strip()
        if text and draft.has_text(text):
            draft.add_leftover(Mark(str(path), number, 1), "queries that a set has twice")
        elif text:
            draft.find_or_add_text(text)
    return []


def _list_documents(root: JsonNode) -> Iterator[JsonNode]:
    """The objects of the API in *root*, which is an object, a list, a document of an index, or a search response."""
    if isinstance(root.value, list):
        for element in root.elements():
            yield from _list_documents(element)
        return
    hits = root.get("hits")
    if hits is not None:
        for hit in hits.require("hits").elements():
            yield from _list_documents(hit)
        _skip(root, "took", "timed_out", "_shards")
        _skip(hits, "total", "max_score")
        return
    stored = root.get("_source")
    if stored is not None:
        _skip(root, "_index", "_id", "_score", "_version", "_seq_no", "_primary_term", "found", "sort")
    yield root if stored is None else stored


def _skip(node: JsonNode, *keys: str) -> None:
    """Mark the values of *keys*, which do not concern queries, as read."""
    for key in keys:
        value = node.get(key)
        if value is not None:
            value.json()


def _read_document(document: JsonNode, draft: Draft, postponed: _Postponed) -> None:
    """Read a query set; a judgment list or a search configuration waits for the query sets."""
    _skip(document, *_KEPT_BY_THE_WORKBENCH)
    queries, ratings, name = document.get("querySetQueries"), document.get("judgmentRatings"), document.get("name")
    if queries is not None:
        if name is not None:
            postponed.names_of_sets.append(name)
        # Only what the workbench has stored has a time.
        is_stored = document.get("timestamp") is not None
        _read_entries(list(queries.elements()), draft, is_stored=is_stored)
    elif ratings is not None:
        if name is not None:
            postponed.names_of_judgments.append(name)
        postponed.ratings += ratings.elements()
    elif document.get("ratings") is not None:
        postponed.ratings.append(document)
    elif document.get("query") is not None:
        postponed.configurations.append(document)
    else:
        document.refuse("an object with querySetQueries, judgmentRatings, or the query of a search configuration")


def _read_ratings(entry: JsonNode, draft: Draft) -> None:
    text = entry.require("query").words()
    if not draft.has_text(text):
        text, _ = _split_fields(text)
    query = draft.find_or_add_text(text)
    for rating in entry.require("ratings").elements():
        document = rating.require("docId", "doc_id")
        draft.add_judgment(query, document.text(), rating.require("rating").number(), document.place)


def _read_entries(entries: Sequence[JsonNode], draft: Draft, *, is_stored: bool) -> None:
    """The queries of a set, with their custom fields as params."""
    stored_texts: list[str] = []
    fields_of_entries: list[dict[str, Json] | None] = []
    for entry in entries:
        if isinstance(entry.value, str):
            stored_texts.append(entry.words())
            fields_of_entries.append(None)
        else:
            stored_texts.append(entry.require("queryText").words())
            fields_of_entries.append(_get_custom_fields(entry))
    guesses: dict[str, tuple[str, str]] = {}
    if is_stored and not any(fields is not None for fields in fields_of_entries):
        guesses = _guess_answers(stored_texts)
    seen: set[str] = set()
    for entry, stored_text, given_fields in zip(entries, stored_texts, fields_of_entries, strict=True):
        alias, text = stored_text, stored_text
        fields: Mapping[str, Json] = {}
        if given_fields is not None:
            fields = given_fields
            # Judgments that an early version stored name the query with its reference answer.
            alias = f"{text}{_BEHIND_A_TEXT}{fields.get('referenceAnswer', '')}".strip()
        elif stored_text in guesses:
            text, answer = guesses[stored_text]
            fields = {"referenceAnswer": answer}
            draft.add_leftover(
                entry.place, "what stands behind '#', taken as a reference answer", first=f"query {text!r}"
            )
        elif is_stored:
            text, fields = _split_fields(stored_text)
        query = draft.find_or_add_text(text)
        draft.add_alias(query, alias)
        if text in seen:
            draft.add_leftover(entry.place, "queries that a set has twice")
        else:
            query.params = _format_fields(fields)
        seen.add(text)


def _format_fields(fields: Mapping[str, Json]) -> dict[str, Json]:
    """*fields* that are not empty, as the workbench stores them: as strings, with JSON for other types."""
    texts: dict[str, Json] = {}
    for key, value in fields.items():
        if value not in (None, ""):
            texts[key] = value if isinstance(value, str) else json.dumps(value)
    return texts


def _get_custom_fields(entry: JsonNode) -> dict[str, Json] | None:
    """The custom fields of a query: `customFields` as stored, or all keys besides the text; None if there are none."""
    stored = entry.get("customFields")
    if stored is not None:
        return stored.object()
    fields = {}
    for key, value in entry.members().items():
        if key not in ("queryText", "customFields") and not isinstance(value.value, (dict, list)):
            fields[key] = value.json()
    return fields or None


def _guess_answers(texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """
    The entries of *texts* that the first version may have joined with ``#``, with their text and reference answer.

    Empty if a text has custom fields as JSON, which later versions write. A text that would then equal another text is
    not split. Source: `PutQuerySetTransportAction` and `LlmJudgmentsProcessor` of the first version.

    >>> _guess_answers(["rope#To climb", "c# tutorial", "size #10 screws", "c#net", "c#java"])
    {'rope#To climb': ('rope', 'To climb')}
    """
    guesses: dict[str, tuple[str, str]] = {}
    times: Counter[str] = Counter()
    for text in dict.fromkeys(texts):
        if _split_fields(text)[0] != text:
            return {}
        match = re.fullmatch(r"([^#]*[^#\s])#(\S.*)", text, re.DOTALL)
        if match is None:
            times[text] += 1
        else:
            guesses[text] = (match[1], match[2])
            times[match[1]] += 1
    return {text: guess for text, guess in guesses.items() if times[guess[0]] == 1}


def _split_fields(text: str) -> tuple[str, dict[str, Json]]:
    """
    The text of a query, and the custom fields that an early version stored behind it as JSON.

    >>> _split_fields('c# book#{"referenceAnswer": ""}'), _split_fields("c# book")
    (('c# book', {'referenceAnswer': ''}), ('c# book', {}))
    """
    query, _, members = text.partition(_BEHIND_A_TEXT + "{")
    try:
        fields = json.loads("{" + members)
    except (ValueError, RecursionError):
        return text, {}
    return (query.strip(), fields) if query.strip() else (text, {})


def _read_csv(path: Path, draft: Draft) -> None:
    """Read judgments with the columns ``query,docid,rating``; like the dashboard, also without this header."""
    table = import_table(path, header=("query", "docid", "rating"))
    text, document = table.require("query"), table.require("docid", "doc_id")
    rating = table.require("rating")
    for row in table.rows:
        with table.collect_problems():
            grade = row.grade(rating)
            query = draft.find_or_add_text(row.require(text))
            if grade is None:
                draft.add_document_leftover(
                    query, row.require(document), row.place, "documents without a rating; they stay unjudged"
                )
            else:
                draft.add_judgment(query, row.require(document), grade, row.place)
    table.raise_problems()
    table.note_unread(draft.leftovers)


@dataclass(slots=True)
class _Variables:
    """The variables of the search configurations."""

    draft: Draft
    params: dict[str, str] = field(default_factory=dict)
    """Variable to the name of its param."""
    unquoted: set[str] = field(default_factory=set)
    """Params whose variables are outside quotes, so that their values are not strings."""

    def find_name(self, match: re.Match[str], place: Mark) -> str:
        """
        The name in a placeholder of the suite for the variable that *match* found in a search configuration at *place*.

        It is "text" for the text of the query, and else the name of a param.
        """
        # The pattern has a group for each way to write a variable, one of which has matched.
        variable = next(filter(None, match.groups()))
        is_param_of_queries = any(variable in query.params for query in self.draft.queries)
        if variable in _TEXT_VARIABLES and not is_param_of_queries:
            return "text"
        if variable not in self.params:
            if not is_param_of_queries:
                what = "variables of a search configuration that no query has; they are empty"
                self.draft.add_leftover(place, what, first=repr(variable))
            self.params[variable] = make_param_name(variable, {*RESERVED, *self.params.values()})
        return self.params[variable]


def _read_configuration(configuration: JsonNode, draft: Draft, variables: _Variables) -> None:
    """Add the request of a search configuration, with its index and its search pipeline."""
    query, pipeline = configuration.require("query"), configuration.get("searchPipeline")
    body = _build_body(query, draft, variables)
    if pipeline is not None and pipeline.text():
        if "template" in body:
            draft.add_leftover(pipeline.place, f"the search pipeline {pipeline.text()!r} beside a search template")
        else:
            body["search_pipeline"] = pipeline.text()
    wanted = configuration.require("name").text()
    name = choose_unused(re.sub(r"[^\w .-]+", "-", wanted).strip() or "request", set(draft.requests))
    if name != wanted:
        draft.add_leftover(configuration.require("name").place, f"the name {wanted!r}, which is {name!r} in the suite")
    draft.requests[name] = {"index": configuration.require("index").text(), "body": body}


def _build_body(query: JsonNode, draft: Draft, variables: _Variables) -> Json:
    """
    The body of _search with placeholders of a suite.

    A Mustache template with sections or functions becomes a search template, which the engine fills in. Source: the
    workbench's `SearchRequestBuilder`.
    """
    text = query.text() if isinstance(query.value, str) else json.dumps(query.json())
    if "{{" in _VARIABLE.sub("", text):
        params = {}
        for match in _TAG.finditer(text):
            params[match[1] or match[2]] = "{{" + variables.find_name(match, query.place) + "}}"
        draft.add_leftover(
            query.place, 'the number of hits, which a search template has; see to "size": "{{size}}" in it'
        )
        return {"template": {"source": text, "params": params}}
    if "{{" in text:
        text, unquoted = convert_placeholders(text, _VARIABLE, lambda match: variables.find_name(match, query.place))
    else:
        text, unquoted = convert_placeholders(text, _MARKED, lambda _: "text")
    variables.unquoted |= unquoted
    try:
        body = parse_text(text)
    except ValueError as error:
        raise make_error(query.place, f"the query is not JSON: {error}") from None
    if not isinstance(body, dict):
        query.refuse("JSON of an object, the body of _search")
    if body.pop("size", None) is not None:
        draft.add_leftover(query.place, "'size' of a search configuration; a suite's depth is the number of hits")
    return body


def _distribute_fields(draft: Draft, variables: _Variables) -> None:
    """Keep the custom fields that a request uses as params, "" if a query lacks one; the others become comments."""
    for query in draft.queries:
        fields = query.params
        query.params = {}
        for variable, param in variables.params.items():
            value = fields.get(variable, "")
            query.params[param] = parse_value(value) if param in variables.unquoted else value
        for key, value in fields.items():
            if key not in variables.params:
                query.remarks.append(f"{_LABELS.get(key, key)}: {value}")
