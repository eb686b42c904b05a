"""
Import and export for OpenSearch's Search Relevance Workbench: query sets, judgment lists and search configurations.

Source: the REST API of opensearch-project/search-relevance, which returns lists as the hits of a search, and the files
that its dashboard imports: queries as JSON lines, judgments as CSV.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import FormatError
from harness.migrate.draft import Draft, make_error
from harness.migrate.json_nodes import JsonNode, parse_json, parse_lines, read_import, read_node
from harness.migrate.table import read_table
from harness.migrate.templates import convert_placeholders, make_param_name, parse_value
from harness.model import Json, Mark, Profile
from harness.suites.placeholders import RESERVED
from harness.words import unused

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
    later = _Later()
    roots: list[JsonNode] = []
    for path in map(Path, sources):
        roots += _read_file(path, draft, later)
    _name(draft, [*later.names_of_sets, *later.names_of_judgments], sources[0])
    for entry in later.ratings:
        _read_ratings(entry, draft)
    used, bare = dict[str, str](), set[str]()
    for one in later.configurations:
        bare.update(_read_configuration(one, draft, used))
    _place_fields(draft, used, bare)
    draft.leave_below_0()
    for root in roots:
        draft.leave_unread(root)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "expected a query set or judgments; found no query")
    if len(draft.requests) == 1:
        [(_, only)] = draft.requests.items()
        draft.index, draft.request, draft.requests = only["index"], only["body"], {}
    return [draft]


@dataclass(slots=True)
class _Later:
    """What is read after all query sets, as it refers to their texts and custom fields."""

    names_of_sets: list[JsonNode] = field(default_factory=list)
    names_of_judgments: list[JsonNode] = field(default_factory=list)
    ratings: list[JsonNode] = field(default_factory=list)
    configurations: list[JsonNode] = field(default_factory=list)


def _name(draft: Draft, names: Sequence[JsonNode], source: str) -> None:
    """Name the suite after the first of *names*, or else after the file; other names are noted."""
    given = [(name.text(), name.place) for name in names if name.value]
    draft.name = given[0][0] if given else Path(source).name.split(".")[0]
    for text, place in given[1:]:
        if text != draft.name:
            draft.leave(place, "names of further lists", first=repr(text))


def _read_file(path: Path, draft: Draft, later: _Later) -> list[JsonNode]:
    """Read a file, put what must wait into *later*, and return the JSON values of the file."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        _read_csv(path, draft)
        return []
    if suffix == ".json":
        root = read_node(path)
        for one in _documents(root):
            _read_document(one, draft, later)
        return [root]
    source = read_import(path)
    if suffix in (".ndjson", ".jsonl"):
        roots = list(parse_lines(source))
        _read_entries(roots, draft, is_stored=False)
        return roots
    for number, line in enumerate(source.lines, start=1):
        text = line.strip()
        if text and draft.has_text(text):
            draft.leave(Mark(str(path), number, 1), "queries that a set has twice")
        elif text:
            draft.find_or_add_text(text)
    return []


def _documents(root: JsonNode) -> Iterator[JsonNode]:
    """The objects of the API in *root*, which is an object, a list, a document of an index, or a search response."""
    if isinstance(root.value, list):
        for one in root.elements():
            yield from _documents(one)
        return
    hits = root.get("hits")
    if hits is not None:
        for hit in hits.need("hits").elements():
            yield from _documents(hit)
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
        found = node.get(key)
        if found is not None:
            found.json()


def _read_document(one: JsonNode, draft: Draft, later: _Later) -> None:
    _skip(one, *_KEPT_BY_THE_WORKBENCH)
    queries, ratings = one.get("querySetQueries"), one.get("judgmentRatings")
    names = [] if (name := one.get("name")) is None else [name]
    if queries is not None:
        later.names_of_sets += names
        _read_entries(list(queries.elements()), draft, is_stored=one.get("timestamp") is not None)
    elif ratings is not None:
        later.names_of_judgments += names
        later.ratings += ratings.elements()
    elif one.get("ratings") is not None:
        later.ratings.append(one)
    elif one.get("query") is not None:
        later.configurations.append(one)
    else:
        one.refuse("an object with querySetQueries, judgmentRatings, or the query of a search configuration")


def _read_ratings(entry: JsonNode, draft: Draft) -> None:
    text = entry.need("query").words()
    query = draft.find_or_add_text(text if draft.has_text(text) else _parted(text)[0])
    for rating in entry.need("ratings").elements():
        document = rating.need("docId", "doc_id")
        draft.judge(query, document.text(), rating.need("rating").number(), document.place)


def _read_entries(entries: Sequence[JsonNode], draft: Draft, *, is_stored: bool) -> None:
    """The queries of a set, with their custom fields as params."""
    written = [(one if isinstance(one.value, str) else one.need("queryText")).words() for one in entries]
    given = [None if isinstance(one.value, str) else _custom_fields(one) for one in entries]
    guessed = _guessed_answers(written) if is_stored and all(fields is None for fields in given) else {}
    texts: set[str] = set()
    for entry, stored, behind in zip(entries, written, given, strict=True):
        text, fields = _parted(stored) if is_stored and behind is None else (stored, {})
        if behind is not None:
            fields = behind
            stored = f"{text}{_BEHIND_A_TEXT}{fields.get('referenceAnswer', '')}".strip()
        elif stored in guessed:
            text, answer = guessed[stored]
            fields = {"referenceAnswer": answer}
            draft.leave(entry.place, "what stands behind '#', taken as a reference answer", first=f"query {text!r}")
        query = draft.find_or_add_text(text)
        draft.add_alias(query, stored)
        if text in texts:
            draft.leave(entry.place, "queries that a set has twice")
        else:
            query.params = _fields({key: value for key, value in fields.items() if value not in (None, "")})
        texts.add(text)


def _fields(values: Mapping[str, Json]) -> dict[str, str]:
    """*values* as the workbench stores them: as strings, with JSON for other types."""
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}


def _custom_fields(entry: JsonNode) -> dict[str, Json] | None:
    """The custom fields of a query: `customFields` as stored, or all keys besides the text; None if there are none."""
    stored = entry.get("customFields")
    if stored is not None:
        return stored.object()
    beside = {key: one for key, one in entry.members().items() if key not in ("queryText", "customFields")}
    return {key: one.json() for key, one in beside.items() if not isinstance(one.value, (dict, list))} or None


def _guessed_answers(texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """
    The entries of *texts* that the first version may have joined with ``#``, with their text and reference answer.

    Empty if a text has custom fields as JSON, which later versions write. A text that would then equal another text is
    not split. Source: `PutQuerySetTransportAction` and `LlmJudgmentsProcessor` of the first version.

    >>> _guessed_answers(["rope#To climb", "c# tutorial", "size #10 screws", "c#net", "c#java"])
    {'rope#To climb': ('rope', 'To climb')}
    """
    if any(_parted(text)[0] != text for text in texts):
        return {}
    parts = {text: re.fullmatch(r"([^#]*[^#\s])#(\S.*)", text, re.DOTALL) for text in texts}
    times = Counter(text if found is None else found[1] for text, found in parts.items())
    return {text: (found[1], found[2]) for text, found in parts.items() if found is not None and times[found[1]] == 1}


def _parted(text: str) -> tuple[str, dict[str, Json]]:
    """
    The text of a query, and the custom fields that an early version stored behind it as JSON.

    >>> _parted('c# book#{"referenceAnswer": ""}'), _parted("c# book")
    (('c# book', {'referenceAnswer': ''}), ('c# book', {}))
    """
    before, _, behind = text.partition(_BEHIND_A_TEXT + "{")
    try:
        fields = json.loads("{" + behind)
    except (ValueError, RecursionError):
        return text, {}
    return (before.strip(), fields) if before.strip() else (text, {})


def _read_csv(path: Path, draft: Draft) -> None:
    """Read judgments with the columns ``query,docid,rating``; like the dashboard, also without this header."""
    table = read_table(path, header=("query", "docid", "rating"))
    query, document = table.need("query"), table.need("docid", "doc_id")
    rating = table.need("rating")
    for row in table.rows:
        with table.collect_problems():
            grade, of = row.grade(rating), draft.find_or_add_text(row.need(query))
            if grade is None:
                draft.leave_document(
                    of, row.need(document), row.place, "documents without a rating; they stay unjudged"
                )
            else:
                draft.judge(of, row.need(document), grade, row.place)
    table.raise_problems()
    table.leave_unread(draft.leftovers)


def _read_configuration(one: JsonNode, draft: Draft, used: dict[str, str]) -> Collection[str]:
    """
    Add the request of a search configuration, with its index and its search pipeline.

    Args:
        one: The search configuration.
        draft: Gets the request.
        used: Gets the variables of the template: name to the name of the param.

    Returns:
        The params whose variables are outside quotes, so that their values are not strings.
    """
    query, pipeline = one.need("query"), one.get("searchPipeline")
    body, bare = _body(query, draft, used)
    if pipeline is not None and pipeline.text():
        if "template" in body:
            draft.leave(pipeline.place, f"the search pipeline {pipeline.text()!r} beside a search template")
        else:
            body["search_pipeline"] = pipeline.text()
    wanted = one.need("name").text()
    base = re.sub(r"[^\w .-]+", "-", wanted).strip() or "request"
    name = unused(base, set(draft.requests))
    if name != wanted:
        draft.leave(one.need("name").place, f"the name {wanted!r}, which is {name!r} in the suite")
    draft.requests[name] = {"index": one.need("index").text(), "body": body}
    return bare


def _body(query: JsonNode, draft: Draft, used: dict[str, str]) -> tuple[Json, Collection[str]]:
    """
    The body of _search with placeholders of a suite, and the params whose variables are outside quotes.

    A Mustache template with sections or functions becomes a search template, which the engine fills in. Source: the
    workbench's `SearchRequestBuilder`.
    """
    text = query.text() if isinstance(query.value, str) else json.dumps(query.json())
    fields = {key for known in draft.queries for key in known.params}
    taken = {*RESERVED, *used.values()}

    def param(match: re.Match[str]) -> str:
        name = next(filter(None, match.groups()))
        if name in _TEXT_VARIABLES and name not in fields:
            return "text"
        if name not in fields and name not in used:
            what = "variables of a search configuration that no query has; they are empty"
            draft.leave(query.place, what, first=repr(name))
        if name not in used:
            used[name] = make_param_name(name, taken)
        return used[name]

    if "{{" in _VARIABLE.sub("", text):
        params = {match[1] or match[2]: "{{" + param(match) + "}}" for match in _TAG.finditer(text)}
        draft.leave(query.place, 'the number of hits, which a search template has; see to "size": "{{size}}" in it')
        return {"template": {"source": text, "params": params}}, ()
    written, bare = convert_placeholders(text, *((_VARIABLE, param) if "{{" in text else (_MARKED, lambda _: "text")))
    try:
        body = parse_json(written)
    except ValueError as error:
        raise make_error(query.place, f"the query is not JSON: {error}") from None
    if not isinstance(body, dict):
        query.refuse("JSON of an object, the body of _search")
    if body.pop("size", None) is not None:
        draft.leave(query.place, "'size' of a search configuration; a suite's depth is the number of hits")
    return body, bare


def _place_fields(draft: Draft, used: Mapping[str, str], bare: Collection[str]) -> None:
    """Keep the custom fields that a request uses as params, "" if a query lacks one; the others become comments."""
    for query in draft.queries:
        given = query.params
        query.remarks += [f"{_LABELS.get(key, key)}: {value}" for key, value in given.items() if key not in used]
        query.params = {
            param: parse_value(given.get(name, "")) if param in bare else given.get(name, "")
            for name, param in used.items()
        }
