"""
Import and export of queries and judgments as CSV and JSON lines.

The import accepts the usual names of columns. The export writes files that a suite can name under ``queries`` and
``judgments``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import FormatError
from harness.files.records import for_spreadsheets, mark_as_text, without_mark
from harness.migrate.draft import Draft, DraftQuery, make_error
from harness.migrate.exported import Exported, format_json_lines, simplify_number, strip_suite_suffix
from harness.migrate.json_nodes import JsonNode, parse_lines, read_import
from harness.migrate.table import format_csv, is_unwritable, read_table
from harness.model import Json, Mark, Profile, Query, Suite

_IDS = ("query_id", "qid", "topic_id", "topic")
_TEXTS = ("query_text", "text", "question")
_DOCUMENTS = ("document", "document_id", "docid", "doc_id", "doc", "docno", "pid", "passage_id", "corpus_id")
_GRADES = ("grade", "rating", "relevance", "label", "judgment", "gain")
_PARAM = "params."


@dataclass(slots=True)
class _Entry:
    """
    A line: a query, or the grade of a document for a query.

    *query* is the id or the text of the query; `read` describes which.
    """

    place: Mark
    id: str = ""
    query: str = ""
    text: str = ""
    document: str = ""
    grade: float | None = None
    tags: Sequence[str] = ()
    weight: float | None = None
    params: Mapping[str, Json] | None = None
    judgments: Sequence[tuple[str, float, Mark]] = ()


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read one suite from all *sources* together.

    A query is identified by an id (``query_id``, or ``id`` in a file of queries), by its text, or by ``query``. The
    column ``query`` is an id if another column has the text or another line has it as an id, and a text otherwise.

    Args:
        sources: Files. A .csv or .tsv file has a header; any other file is JSON lines.

    Raises:
        InputError: A file cannot be read, lines contradict each other, or there are no queries.
    """
    draft = Draft(Profile.STANDARD)
    entries: list[_Entry] = []
    for path in map(Path, sources):
        draft.name = draft.name or path.name.split(".")[0]
        entries += _csv(path, draft) if path.suffix.lower() in (".csv", ".tsv") else _json_records(path, draft)
    known: dict[str, DraftQuery] = {}
    shared: set[str] = set()
    for entry in sorted(entries, key=lambda one: bool(one.document)):  # queries before judgments of them
        _add(draft, entry, known, shared)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "the file has no queries")
    return [draft]


def _csv(path: Path, draft: Draft) -> Iterator[_Entry]:
    table = read_table(path)
    query_id, query = table.column(*_IDS), table.column("query")
    text, document, grade = table.column(*_TEXTS), table.column(*_DOCUMENTS), table.column(*_GRADES)
    query_id = query_id or (table.column("id") if document is None else None)
    if query_id is None and query is None and text is None:
        table.need("query", "query_id", "text")
    if document is not None and grade is None:
        table.need("grade", "rating", "relevance")
    tags, weight = table.column("tags"), table.column("weight")
    params = [column for column in table.columns if column.startswith(_PARAM)]
    table.used.update(params)
    for row in table.rows:
        id_cell, query_cell, text_cell = (
            without_mark(row.cells[column].strip()) if column else "" for column in (query_id, query, text)
        )
        document_cell = row.cells[document] if document else ""
        with table.collect_problems():
            entry = _Entry(
                row.place,
                id_cell,
                query_cell,
                text_cell,
                without_mark(document_cell) if document_cell.strip() else "",
                grade=row.grade(grade) if grade else None,
                tags=_tags(row.cells[tags]) if tags else (),
                weight=row.grade(weight) if weight else None,
                params={
                    name.removeprefix(_PARAM): without_mark(row.cells[name].strip())
                    for name in params
                    if row.cells[name].strip()
                },
            )
            yield entry
    table.raise_problems()
    table.leave_unread(draft.leftovers)


def _tags(cell: str) -> list[str]:
    return [tag.strip() for tag in without_mark(cell.strip()).split(";") if tag.strip()]


def _json_records(path: Path, draft: Draft) -> Iterator[_Entry]:
    for one in parse_lines(read_import(path)):
        document = one.get(*_DOCUMENTS)
        query_id = one.get(*_IDS) or (one.get("id", "_id") if document is None else None)
        named = (query_id, one.get("query"), one.get(*_TEXTS))
        if not any(named):
            one.refuse("an object with query, query_id or text")
        id_text, query_text, text, document_id = ("" if node is None else node.text() for node in (*named, document))
        grade, tags, weight, params = one.get(*_GRADES), one.get("tags"), one.get("weight"), one.get("params")
        yield _Entry(
            one.place,
            id_text,
            query_text,
            text,
            document_id,
            grade=None if grade is None else grade.number(),
            tags=() if tags is None else [tag.text() for tag in tags.elements()],
            weight=None if weight is None else weight.number(),
            params=None if params is None else params.object(),
            judgments=list(_judged(one.get("judgments"))),
        )
        for key, rest in one.unread():
            draft.leave(rest.place, f"{key!r}")


def _judged(judgments: JsonNode | None) -> Iterator[tuple[str, float, Mark]]:
    if judgments is not None:
        yield from ((document, grade.number(), grade.place) for document, grade in judgments.items())


def _add(draft: Draft, entry: _Entry, known: dict[str, DraftQuery], shared: set[str]) -> None:
    """Add *entry*; *known* has the queries by id, *shared* the texts that several queries have."""
    query, text = _query_of(draft, entry, known, shared)
    if text and query.text not in (None, text):
        sentence = f"query {query.id!r} has the text {text!r} here, and {query.text!r} before"
        raise make_error(entry.place, sentence)
    query.text = query.text or text or None
    if query.text:
        draft.add_alias(query, query.text)
        if draft.find_or_add_text(query.text) is not query:
            shared.add(query.text)
    _check_same(entry, query)
    query.tags = list(dict.fromkeys([*query.tags, *entry.tags]))
    query.weight = entry.weight if query.weight is None else query.weight
    query.params |= entry.params or {}
    query.place = entry.place
    for document, grade, place in entry.judgments:
        draft.judge(query, document, grade, place)
    if not entry.document:
        if entry.grade is not None:
            raise make_error(entry.place, "the document is empty beside a grade; expected an id")
    elif entry.grade is None:
        draft.leave_document(query, entry.document, entry.place, "documents without a grade; they stay unjudged")
    else:
        draft.judge(query, entry.document, entry.grade, entry.place)


def _query_of(draft: Draft, entry: _Entry, known: dict[str, DraftQuery], shared: set[str]) -> tuple[DraftQuery, str]:
    """The query of *entry*, added if it is new, and the text that the entry has for it."""
    wanted = entry.id or (entry.query if entry.text or entry.query in known else "")
    text = entry.text or (entry.query if entry.query != wanted else "")
    if entry.id and entry.text and entry.query not in ("", entry.id, entry.text):
        draft.leave(entry.place, "'query' beside an id and a text", first=repr(entry.query))
    if wanted:
        if wanted not in known:
            known[wanted] = draft.add(wanted, entry.place)
        return known[wanted], text
    if not text.strip():
        raise make_error(entry.place, "the query is empty; expected an id or a text")
    if entry.document and text in shared:
        what = "which of the queries with one text is judged; the first gets the grade"
        draft.leave(entry.place, what, first=repr(text))
    return draft.find_or_add_text(text), text


def _check_same(entry: _Entry, query: DraftQuery) -> None:
    """
    Check that *entry* does not contradict earlier lines.

    Raises:
        FormatError: It has another weight, or another value of a param, than *query*.
    """
    both = [("weight", entry.weight, query.weight)]
    both += [(f"param {name!r}", value, query.params.get(name)) for name, value in (entry.params or {}).items()]
    for name, here, before in both:
        if here is not None and before is not None and here != before:
            sentence = f"query {query.id!r} has the {name} {here!r} here, and {before!r} before"
            raise make_error(entry.place, sentence)


def write(suite: Suite, form: str) -> Exported:
    """
    Write the files ``NAME.queries`` and ``NAME.judgments``, with the suffix *form*.

    Args:
        suite: The suite.
        form: "csv" or "jsonl".
    """
    exported = Exported()
    exported.leave_others(suite, None, carried=("tags", "weight", "params"))
    weighted = any(query.weight != 1.0 for query in suite.queries)
    name = strip_suite_suffix(suite.path)
    if form == "csv":
        queries = [query for query in suite.queries if _fits_csv(query, exported)]
        exported.files[f"{name}.queries.csv"] = _queries_csv(queries, exported, weighted=weighted)
        judged = _judgments(queries, exported, csv=True)
        rows = ([mark_as_text(query), mark_as_text(document), repr(grade)] for query, document, grade in judged)
        exported.files[f"{name}.judgments.csv"] = for_spreadsheets(format_csv(["query", "document", "grade"], rows))
        return exported
    entries = [_entry(query, weighted=weighted) for query in suite.queries]
    judged = _judgments(suite.queries, exported, csv=False)
    grades = [{"query": query, "document": document, "grade": grade} for query, document, grade in judged]
    exported.files[f"{name}.queries.jsonl"] = format_json_lines(entries)
    exported.files[f"{name}.judgments.jsonl"] = format_json_lines(grades)
    return exported


def _entry(query: Query, *, weighted: bool) -> dict[str, Json]:
    found: dict[str, Json] = {"id": query.id}
    if query.text:
        found["text"] = query.text
    if weighted:
        found["weight"] = query.weight
    if query.tags:
        found["tags"] = list(query.tags)
    return found | ({"params": dict(query.params)} if query.params else {})


def _fits_csv(query: Query, exported: Exported) -> bool:
    """Whether CSV keeps the id, the text and the params of *query*; another query is noted."""
    texts = [query.id, query.text, *(value for value in query.params.values() if isinstance(value, str))]
    if not any(map(_is_lost, texts)):
        return True
    what = f"query {query.id!r} with its judgments: CSV keeps no control characters and no blanks around a text"
    exported.leave(query.mark, what)
    return False


def _queries_csv(queries: Sequence[Query], exported: Exported, *, weighted: bool) -> str:
    params = list(dict.fromkeys(name for query in queries for name in query.params))
    tagged = any(query.tags for query in queries)
    header = ["id", "text", *(["weight"] if weighted else []), *(["tags"] if tagged else [])]
    rows = []
    for query in queries:
        tags = [_tags_cell(query, exported)] if tagged else []
        values = [_cell(query, name, exported) for name in params]
        weight = [repr(query.weight)] if weighted else []
        texts = [mark_as_text(cell) for cell in (query.id, query.text, *tags, *values)]
        rows.append([*texts[:2], *weight, *texts[2:]])
    return for_spreadsheets(format_csv([*header, *(f"{_PARAM}{name}" for name in params)], rows))


def _tags_cell(query: Query, exported: Exported) -> str:
    kept = [tag for tag in query.tags if ";" not in tag and not _is_lost(tag)]
    for tag in query.tags:
        if tag not in kept:
            what = f"the tag {tag!r}: CSV keeps no semicolons, control characters or blanks around a tag"
            exported.leave(query.mark, what)
    return ";".join(kept)


def _cell(query: Query, name: str, exported: Exported) -> str:
    if name not in query.params:
        return ""
    value = query.params[name]
    if value == "":
        exported.leave(query.mark, f"the empty param {name!r}; CSV has no empty texts")
    if isinstance(value, str):
        return value
    exported.leave(query.mark, f"the type of the param {name!r}; in CSV it is a text")
    return json.dumps(value)


def _is_lost(text: str) -> bool:
    return is_unwritable(text) or text != text.strip()


def _judgments(queries: Sequence[Query], exported: Exported, *, csv: bool) -> Iterator[tuple[str, str, int | float]]:
    """Query, document and grade of each judgment that a file holds; the others are noted."""
    for query in queries:
        for document, grade in query.judgments.items():
            if not document.strip() or (csv and is_unwritable(document)):
                why = "an id must not be blank" if not document.strip() else "CSV has no control characters"
                exported.leave(query.mark, f"document {document!r} of query {query.id!r}: {why}")
            else:
                yield query.id, document, simplify_number(grade)
