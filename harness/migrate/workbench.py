"""
OpenSearch's Search Relevance Workbench: query sets, judgment lists and search configurations, in and out.

Source: the REST API of opensearch-project/search-relevance, whose lists come as the hits of a search, and the files
that its dashboard takes: JSON lines of queries, CSV of judgments.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
"""What parts a text from its reference answer, or from its custom fields as JSON, in what the first versions store.

A text may have one of its own, which those versions do not escape.
"""


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
    for number, line in enumerate(source.lines, start=1):
        text = line.strip()
        if text and draft.has_text(text):
            draft.leave((str(path), number, 1), "queries that a set has twice")
        elif text:
            draft.of_text(text)
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
        _read_entries(list(queries.elements()), draft, is_stored=one.get("timestamp") is not None)
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
    query = draft.of_text(text if draft.has_text(text) else _parted(text)[0])
    for rating in entry.need("ratings").elements():
        document = rating.need("docId", "doc_id")
        draft.judge(query, document.text(), rating.need("rating").number(), document.place)


def _read_entries(entries: Sequence[Placed], draft: Draft, *, is_stored: bool) -> None:
    """The queries of a set, with what the workbench tells a language model of them as comments."""
    written = [(one if isinstance(one.value, str) else one.need("queryText")).words() for one in entries]
    given = [None if isinstance(one.value, str) else one.get("customFields", "referenceAnswer") for one in entries]
    guessed = _guessed_answers(written) if is_stored and not any(given) else {}
    texts: set[str] = set()
    for entry, stored, behind in zip(entries, written, given, strict=True):
        text, fields = _parted(stored) if is_stored and behind is None else (stored, {})
        if behind is not None:
            fields = behind.object() if isinstance(behind.value, dict) else {"referenceAnswer": behind.text()}
            stored = f"{text}{_BEHIND_A_TEXT}{fields.get('referenceAnswer', '')}".strip()
        elif stored in guessed:
            text, answer = guessed[stored]
            fields = {"referenceAnswer": answer}
            draft.leave(entry.place, f"what stands behind '#', taken as the reference answer of the query {text!r}")
        query = draft.of_text(text)
        draft.name_too(query, stored)
        if text in texts:
            draft.leave(entry.place, "queries that a set has twice")
        else:
            query.remarks += [f"{_LABELS.get(key, key)}: {value}" for key, value in fields.items() if value]
        texts.add(text)


def _guessed_answers(texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """
    The text and the reference answer of each of *texts* that the first version may have joined, without blanks.

    None in a set with custom fields as JSON, which later versions write, and none that another text would be equal to.
    Source: its `PutQuerySetTransportAction` and `LlmJudgmentsProcessor`.

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
    table.leave_unread(draft.leftovers)


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
    wanted = one.need("name").text()
    base = re.sub(r"[^\w .-]+", "-", wanted).strip() or "request"
    names = (base, *(f"{base}-{number}" for number in range(2, len(draft.requests) + 2)))
    name = next(free for free in names if free not in draft.requests)
    if name != wanted:
        draft.leave(one.need("name").place, f"the name {wanted!r}, which is {name!r} in the suite")
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
