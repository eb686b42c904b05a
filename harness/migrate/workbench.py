"""
OpenSearch's Search Relevance Workbench: query sets, judgment lists and search configurations, in and out.

Source: the REST API of opensearch-project/search-relevance, whose lists come as the hits of a search, and the files
that its dashboard takes: JSON lines of queries, CSV of judgments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.errors import FormatError
from harness.files.opening import read_source
from harness.metrics.score import common_measures
from harness.migrate.draft import Draft
from harness.migrate.exported import Exported
from harness.migrate.placed import MOST_BYTES, Placed, placed_lines, read_placed
from harness.migrate.table import read_table
from harness.model import Json, Profile, Suite

__all__ = ["read", "write"]

_MEASURES = ["nDCG@10", "P@10", "AP@10", "Judged@10"]
"""What the workbench shows of an experiment: NDCG, Precision, MAP and Coverage."""

_TEXT = "%SearchText%"
_KEPT_BY_THE_WORKBENCH = ("id", "timestamp", "status", "type", "sampling", "description", "metadata")

_LABELS = {"referenceAnswer": "reference answer"}

_BEHIND_A_TEXT = "#"
"""What parts a text from its reference answer, or from its custom fields as JSON, in what the first versions store."""


def read(sources: Sequence[str]) -> list[Draft]:
    """
    One suite of all *sources*: query sets, judgment lists and search configurations, joined by the text of a query.

    Args:
        sources: What the API takes or returns as .json, queries as .ndjson, .jsonl or .txt, judgments as .csv.
    """
    draft = Draft(Profile.OPENSEARCH_SRW, measures=list(_MEASURES))
    ratings: list[Placed] = []
    roots: list[Placed] = []
    for path in map(Path, sources):
        roots += _read_file(path, draft, ratings)
        draft.name = draft.name or path.name.split(".")[0]
    for entry in ratings:  # behind all query sets, whose texts they have
        _read_ratings(entry, draft)
    for root in roots:
        draft.leave_unread(root)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "expected a query set or judgments; found no query")
    if len(draft.requests) == 1:
        [(_, only)] = draft.requests.items()
        draft.index, draft.request, draft.requests = only["index"], only["body"], {}
    return [draft]


def _read_file(path: Path, draft: Draft, ratings: list[Placed]) -> list[Placed]:
    """Read a file but for the judgments of JSON, which are added to *ratings*; its JSON values."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        _read_csv(path, draft)
        return []
    if suffix == ".json":
        root = read_placed(path)
        for one in _documents(root):
            _read_document(one, draft, ratings)
        return [root]
    source = read_source(path, str(path), limit=MOST_BYTES)
    if suffix in (".ndjson", ".jsonl"):
        roots = list(placed_lines(source))
        _read_entries(roots, draft, is_stored=False)
        return roots
    for line in filter(str.strip, source.lines):
        draft.of_text(line.strip())
    return []


def _documents(root: Placed) -> Iterator[Placed]:
    """What the API stores: alone, as a document of an index, or as the hits of a search."""
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


def _skip(node: Placed, *keys: str) -> None:
    """Take what says nothing of queries for read."""
    for key in keys:
        found = node.get(key)
        if found is not None:
            found.json()


def _read_document(one: Placed, draft: Draft, judged: list[Placed]) -> None:
    _skip(one, *_KEPT_BY_THE_WORKBENCH)
    name = one.get("name")
    queries, ratings = one.get("querySetQueries"), one.get("judgmentRatings")
    if queries is not None:
        _read_entries(queries.elements(), draft, is_stored=one.get("timestamp") is not None)
        draft.name = draft.name or (None if name is None else name.text())
    elif ratings is not None:
        judged += ratings.elements()
    elif one.get("ratings") is not None:
        judged.append(one)
    elif one.get("query") is not None:
        _read_configuration(one, draft)
    else:
        one.refuse("an object with querySetQueries, judgmentRatings, or the query of a search configuration")


def _read_ratings(entry: Placed, draft: Draft) -> None:
    text = entry.need("query").words()
    before, _, behind = map(str.strip, text.partition(_BEHIND_A_TEXT))
    if not draft.has_text(text) and (draft.has_text(before) or _custom_fields(behind) is not None):
        text = before
    query = draft.of_text(text)
    for rating in entry.need("ratings").elements():
        document = rating.need("docId", "doc_id")
        draft.judge(query, document.text(), rating.need("rating").number(), document.place)


def _read_entries(entries: Iterable[Placed], draft: Draft, *, is_stored: bool) -> None:
    """The queries of a set, with what the workbench tells a language model of them as comments."""
    texts: set[str] = set()
    for entry in entries:
        text = (entry if isinstance(entry.value, str) else entry.need("queryText")).words()
        given = None if isinstance(entry.value, str) else entry.get("customFields", "referenceAnswer")
        fields: dict[str, Json] = {}
        if given is not None:
            fields = given.object() if isinstance(given.value, dict) else {"referenceAnswer": given.text()}
        elif is_stored and "customFields" not in entry.members():
            text, fields = _parted(text)
        query = draft.of_text(text)
        if text in texts:
            draft.leave(entry.place, "queries that a set has twice")
        else:
            query.remarks += [f"{_LABELS.get(key, key)}: {value}" for key, value in fields.items() if value]
        texts.add(text)


def _parted(text: str) -> tuple[str, dict[str, Json]]:
    """The text of a query that an early version stored, and its custom fields; source: its `QuerySetEntry`."""
    before, _, behind = map(str.strip, text.partition(_BEHIND_A_TEXT))
    if not before or not behind:
        return text, {}
    fields = _custom_fields(behind)
    return before, {"referenceAnswer": behind} if fields is None else fields


def _custom_fields(text: str) -> dict[str, Json] | None:
    """The object that *text* writes as JSON."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _read_csv(path: Path, draft: Draft) -> None:
    """``query,docid,rating``; the dashboard takes the file without this header too."""
    table = read_table(path, header=("query", "docid", "rating"))
    query, document = table.need("query"), table.need("docid", "doc_id")
    rating = table.need("rating")
    for row in table.rows:
        grade, of = row.grade(rating), draft.of_text(row.need(query))
        if grade is None:
            draft.leave_document(of, row.need(document), row.place, "documents without a rating; they stay unjudged")
        else:
            draft.judge(of, row.need(document), grade, row.place)
    table.leave_unread(draft)


def _read_configuration(one: Placed, draft: Draft) -> None:
    """A request with ``%SearchText%``, its index and its search pipeline."""
    query = one.need("query")
    text = query.text() if isinstance(query.value, str) else json.dumps(query.json())
    try:
        body = json.loads(text.replace(_TEXT, "{{text}}"))
    except ValueError as error:
        raise FormatError.at(*query.place, f"the query is not JSON: {getattr(error, 'msg', error)}") from None
    if not isinstance(body, dict):
        query.refuse("JSON of an object, the body of _search")
    if body.pop("size", None) is not None:
        draft.leave(query.place, "'size' of a search configuration; a suite's depth is the number of hits")
    pipeline = one.get("searchPipeline")
    if pipeline is not None and pipeline.text():
        body["search_pipeline"] = pipeline.text()
    name = re.sub(r"[^\w .-]+", "-", one.need("name").text()).strip() or "request"
    draft.requests[name] = {"index": one.need("index").text(), "body": body}


def write(suite: Suite, form: str) -> Exported:  # noqa: ARG001
    """``query_set.json``, ``judgments.json`` and a search configuration for each request."""
    exported = Exported()
    measures = [measure for measure in common_measures(suite) if measure.text in _MEASURES]
    exported.leave_others(
        suite, Profile.OPENSEARCH_SRW, carried=("target",), measures=measures, requests=len(suite.requests)
    )
    texts: dict[str, dict[str, float]] = {}
    for query in suite.queries:
        text = query.text or query.id
        if not query.text:
            exported.leave(query.mark, f"query {query.id!r} has no text; its id is the text in the workbench")
        if text in texts:
            exported.leave(query.mark, f"query {query.id!r}: the workbench has one query with the text {text!r}")
        else:
            texts[text] = dict(query.judgments)
    entries = [{"queryText": text} for text in texts]
    ratings = [
        {"query": text, "ratings": [{"docId": name, "rating": f"{grade!r}"} for name, grade in judged.items()]}
        for text, judged in texts.items()
        if judged
    ]
    exported.files["query_set.json"] = _json(
        {"name": suite.name, "description": "", "sampling": "manual", "querySetQueries": entries}
    )
    exported.files["judgments.json"] = _json(
        {"name": suite.name, "description": "", "type": "IMPORT_JUDGMENT", "judgmentRatings": ratings}
    )
    for name, template in suite.requests.items():
        index = template.index or suite.target.index
        if template.http is not None or index is None or "template" in template.body:
            exported.leave(template.mark, f"the request {name!r}, which is no body of _search on an index")
            continue
        body = dict(template.body)
        pipeline = body.pop("search_pipeline", "")
        query_text = re.sub(r"\{\{\s*text\s*\}\}", _TEXT, json.dumps(body, ensure_ascii=False))
        if "{{" in query_text:
            exported.leave(template.mark, f"the params of the request {name!r}; the workbench fills {_TEXT} only")
        exported.files[f"search_configuration-{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.json"] = _json(
            {"name": name, "index": index, "query": query_text, "searchPipeline": pipeline}
        )
    return exported


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
