"""
Import and export of queries and judgments as CSV and JSON lines.

The import accepts the usual names of columns. The export writes files that a suite can name under ``queries`` and
``judgments``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.drafts.draft import Draft, DraftQuery, make_error
from harness.errors import FormatError
from harness.extensions.migrate.exported import (
    Exported,
    find_machine,
)
from harness.extensions.migrate.json_nodes import JsonNode, parse_lines, read_import
from harness.extensions.migrate.table import InputTable, TableRow, import_table
from harness.files.records import MACHINE_COLUMN
from harness.files.tables import (
    DOCUMENT_NAMES,
    OTHER_COUNT_NAMES,
    PRODUCT_NAMES,
    QUERY_NAMES,
    SEARCH_COUNT_NAMES,
    format_json_lines,
    format_table,
    is_unwritable,
    remove_mark,
)
from harness.model.suite import PEOPLE, Json, Mark, Profile, Query, Suite
from harness.suites.names import strip_suite_suffix
from harness.words import choose_unused, simplify_number

_IDS = ("query_id", "qid", "topic_id", "topic")
_TEXTS = ("query_text", "text", "question")
_OTHER_TEXTS = tuple(name for name in QUERY_NAMES if name not in ("query", *_TEXTS))
"""Names of the column with the text of the query in a file without a column `query`."""

_GRADES = (
    "grade", "rating", "relevance", "label", "judgment", "judgement", "gain", "esci_label", "relevance_label",
    "relevance_score", "relevance_grade", "relevance_judgment",
)  # fmt: skip
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
    machine: str = ""
    """Who gave the grade, if it was a machine."""
    tags: Sequence[str] = ()
    weight: float | None = None
    params: dict[str, Json] = field(default_factory=dict)
    judgments: Sequence[tuple[str, float, Mark]] = ()
    """Document, grade and the place of the grade, where the line of a query has the judgments of it."""


def read(sources: Sequence[str], grades: Mapping[str, float] | None = None) -> list[Draft]:
    """
    Read one suite from all *sources* together.

    A query is identified by an id (``query_id``, or ``id`` in a file of queries), by its text, or by ``query``. The
    column ``query`` is an id if another column has the text or another line has it as an id, and a text otherwise.

    Args:
        sources: Files. A .csv or .tsv file has a header; any other file is JSON lines.
        grades: The grade for each label that is a word.

    Raises:
        InputError: A file cannot be read, lines contradict each other, or there are no queries.
    """
    draft = Draft(Profile.STANDARD)
    queries: list[_Entry] = []
    judgments: list[_Entry] = []
    for path in map(Path, sources):
        draft.name = draft.name or path.name.split(".")[0]
        is_table = path.suffix.lower() in (".csv", ".tsv")
        draft.grades = dict(grades or {})
        entries = _read_csv(path, draft) if is_table else _read_json_lines(path, draft)
        for entry in entries:
            if entry.document:
                judgments.append(entry)
            else:
                queries.append(entry)
    # Queries first: whether `query` of a judgment is an id or a text depends on them.
    known = _KnownQueries()
    for entry in queries:
        _add_entry(draft, entry, known)
    own_queries = draft.queries.copy()
    for entry in judgments:
        _add_entry(draft, entry, known)
    files_of_queries = {entry.place.path for entry in queries}
    # In one file with both, a query without judgments is a line of its own, and not another form of a judged one.
    if own_queries and all(entry.place.path not in files_of_queries for entry in judgments):
        _separate_strangers(draft, own_queries, known)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "the file has no queries")
    return [draft]


@dataclass(slots=True)
class _KnownQueries:
    """The queries of a draft that lines name by their ids, and the texts that several queries have."""

    by_id: dict[str, DraftQuery] = field(default_factory=dict)
    shared_texts: set[str] = field(default_factory=set)


def _separate_strangers(draft: Draft, own_queries: list[DraftQuery], known: _KnownQueries) -> None:
    """
    Move the queries that only judgments name from the queries of *draft* to its strangers.

    They may be *own_queries*, those of the lines of queries, with ids that are written differently.
    """
    ids_in_files = {query.id: id_in_file for id_in_file, query in known.by_id.items()}
    used_names: set[str] = set()
    for query in draft.queries[len(own_queries) :]:
        name = ids_in_files.get(query.id) or query.text or query.id
        draft.strangers[choose_unused(name, used_names)] = query
    draft.queries = own_queries


def _find_judgment_columns(table: InputTable) -> tuple[str | None, str | None]:
    """
    The names of two columns: that with the id of the document, and that with its grade.

    Both are None in a file of queries, which has neither.

    Raises:
        FormatError: There is one of them without the other.
    """
    document_column, grade_column = table.column(*DOCUMENT_NAMES), table.column(*_GRADES)
    if document_column is None and grade_column is not None:
        document_column = table.column(*PRODUCT_NAMES)
    if document_column is not None and grade_column is None:
        table.require("grade", "rating", "relevance")
    if grade_column is not None and document_column is None:
        table.require("document", "product_id", "item_id", "sku", "url")
    return document_column, grade_column


@dataclass(frozen=True, slots=True)
class _QueryColumns:
    """The names of the columns that identify a query; None for each that a file does not have."""

    id: str | None
    query: str | None
    """Named `query`: it may have ids or texts, see `read`."""
    text: str | None


def _find_query_columns(table: InputTable, *, has_documents: bool) -> _QueryColumns:
    """
    The columns of *table* that identify a query.

    Raises:
        FormatError: There is none.
    """
    id_column, query_column, text_column = table.column(*_IDS), table.column("query"), table.column(*_TEXTS)
    if query_column is None and text_column is None:
        text_column = table.column(*_OTHER_TEXTS)
    # In a file with documents, "id" may be that of a judgment.
    if id_column is None and not has_documents:
        id_column = table.column("id")
    if id_column is None and query_column is None and text_column is None:
        table.require("query", "query_id", "text")
    return _QueryColumns(id_column, query_column, text_column)


def _read_csv(path: Path, draft: Draft) -> Iterator[_Entry]:
    """
    The lines of a CSV file; *draft* gets a note of each column that is not read.

    Raises:
        FormatError: The file lacks a column, or a line cannot be read.
    """
    table = import_table(path)
    document_column, grade_column = _find_judgment_columns(table)
    query_columns = _find_query_columns(table, has_documents=document_column is not None)
    tags_column, weight_column = table.column("tags"), table.column("weight")
    machine_column = table.column(MACHINE_COLUMN) if document_column else None
    param_columns = [column for column in table.columns if column.startswith(_PARAM)]
    table.used.update(param_columns)
    for row in table.rows:
        with table.collect_problems():
            entry = _Entry(
                row.place,
                id=_read_cell(row, query_columns.id),
                query=_read_cell(row, query_columns.query),
                text=_read_cell(row, query_columns.text),
                machine=_read_cell(row, machine_column),
            )
            if grade_column:
                entry.grade = row.grade(grade_column, draft.grades)
            if tags_column:
                cell = remove_mark(row.cells[tags_column].strip())
                entry.tags = [tag.strip() for tag in cell.split(";") if tag.strip()]
            if weight_column:
                entry.weight = row.grade(weight_column)
            for column in param_columns:
                if row.cells[column].strip():
                    entry.params[column.removeprefix(_PARAM)] = _read_cell(row, column)
            # Blanks around the id of a document are kept: an index may have such ids.
            if document_column and row.cells[document_column].strip():
                entry.document = remove_mark(row.cells[document_column])
            yield entry
    table.raise_problems()
    if document_column is None and weight_column is None:
        searches = table.column(*SEARCH_COUNT_NAMES, *OTHER_COUNT_NAMES)
        if searches is not None:
            remedy = f"`relevance queries sample {path}` draws queries with weights made of it"
            draft.add_leftover(Mark(str(path), 1, 1), f"the column {searches!r}; {remedy}")
    table.note_unread(draft.leftovers)


def _read_cell(row: TableRow, column: str | None) -> str:
    """The text in *column* without blanks around it and without the mark for spreadsheets; "" without a column."""
    return remove_mark(row.trim(column)) if column else ""


def _read_json_lines(path: Path, draft: Draft) -> Iterator[_Entry]:
    """The lines of a file of JSON lines; *draft* gets a note of each key that is not read."""
    for node in parse_lines(read_import(path)):
        document, grade = node.get(*DOCUMENT_NAMES), node.get(*_GRADES)
        if document is None and grade is not None:
            document = node.get(*PRODUCT_NAMES)
        entry = _read_query_keys(node, has_document=document is not None)
        entry.document = _read_text(document)
        if document is not None:
            entry.machine = _read_text(node.get(MACHINE_COLUMN))
        judgments = node.get("judgments")
        if grade is not None:
            entry.grade = grade.grade(draft.grades)
        if judgments is not None:
            entry.judgments = [(name, value.grade(draft.grades), value.place) for name, value in judgments.items()]
        yield entry
        for key, value in node.unread():
            draft.add_leftover(value.place, f"{key!r}")


def _read_query_keys(node: JsonNode, *, has_document: bool) -> _Entry:
    """An entry with the query of *node*; *has_document* says that the node is the judgment of a document."""
    query_id = node.get(*_IDS)
    # Beside a document, "id" may be that of a judgment.
    if query_id is None and not has_document:
        query_id = node.get("id", "_id")
    query, text = node.get("query"), node.get(*_TEXTS)
    if query is None and text is None:
        text = node.get(*_OTHER_TEXTS)
    if query_id is None and query is None and text is None:
        node.refuse("an object with query, query_id or text")
    entry = _Entry(node.place, _read_text(query_id), _read_text(query), _read_text(text))
    tags, weight, params = node.get("tags"), node.get("weight"), node.get("params")
    if tags is not None:
        entry.tags = [tag.text() for tag in tags.elements()]
    if weight is not None:
        entry.weight = weight.number()
    if params is not None:
        entry.params = params.object()
    return entry


def _read_text(node: JsonNode | None) -> str:
    """The text of *node*; empty without a node."""
    if node is None:
        return ""
    return node.text()


def _add_entry(draft: Draft, entry: _Entry, known: _KnownQueries) -> None:
    """Add the query or the judgment of *entry*."""
    query, text = _find_or_add_query(draft, entry, known)
    draft.note_damage(entry.place, text)
    if text and query.text not in (None, text):
        message = f"query {query.id!r} has the text {text!r} here, and {query.text!r} before"
        raise make_error(entry.place, message)
    query.text = query.text or text or None
    if query.text:
        draft.add_alias(query, query.text)
        if draft.find_or_add_text(query.text) is not query:
            known.shared_texts.add(query.text)
    _check_agreement(entry, query)
    query.tags = list(dict.fromkeys([*query.tags, *entry.tags]))
    if query.weight is None:
        query.weight = entry.weight
    query.params |= entry.params
    query.place = entry.place
    for document, grade, place in entry.judgments:
        draft.add_judgment(query, document, grade, place)
    if not entry.document:
        if entry.grade is not None:
            raise make_error(entry.place, "the document is empty beside a grade; expected an id")
    elif entry.grade is None:
        draft.add_document_leftover(query, entry.document, entry.place, "documents without a grade; they stay unjudged")
    elif entry.machine and entry.machine != PEOPLE:
        draft.add_machine_judgment(query, entry.document, entry.grade, entry.machine, entry.place)
    else:
        draft.add_judgment(query, entry.document, entry.grade, entry.place)


def _find_or_add_query(draft: Draft, entry: _Entry, known: _KnownQueries) -> tuple[DraftQuery, str]:
    """The query of *entry*, added if it is new, and the text that the entry has for it."""
    query_id, text = entry.id, entry.text
    # `query` is an id beside a text, or where another line has it as an id, and else a text.
    if not query_id and (text or entry.query in known.by_id):
        query_id = entry.query
    if not text and entry.query != query_id:
        text = entry.query
    if entry.id and entry.text and entry.query not in ("", entry.id, entry.text):
        draft.add_leftover(entry.place, "'query' beside an id and a text", first=repr(entry.query))
    if query_id:
        if query_id not in known.by_id:
            known.by_id[query_id] = draft.add(query_id, entry.place)
        return known.by_id[query_id], text
    if not text.strip():
        raise make_error(entry.place, "the query is empty; expected an id or a text")
    if entry.document and text in known.shared_texts:
        what = "which of the queries with one text is judged; the first gets the grade"
        draft.add_leftover(entry.place, what, first=repr(text))
    return draft.find_or_add_text(text), text


def _check_agreement(entry: _Entry, query: DraftQuery) -> None:
    """
    Check that *entry* does not contradict earlier lines.

    Raises:
        FormatError: It has another weight, or another value of a param, than *query*.
    """
    values: list[tuple[str, Json, Json]] = [("weight", entry.weight, query.weight)]
    for name, value in entry.params.items():
        values.append((f"param {name!r}", value, query.params.get(name)))
    for name, here, before in values:
        if here is not None and before is not None and here != before:
            raise make_error(entry.place, f"query {query.id!r} has the {name} {here!r} here, and {before!r} before")


def write(suite: Suite, kind: str) -> Exported:
    """
    Write the files ``NAME.queries`` and ``NAME.judgments``, with the suffix *kind*.

    Args:
        suite: The suite.
        kind: "csv" or "jsonl".
    """
    exported = Exported()
    exported.note_missing_parts(suite, None, carried=("tags", "weight", "params"))
    has_weights = any(query.weight != 1.0 for query in suite.queries)
    name = strip_suite_suffix(suite.path)
    if kind == "csv":
        queries = [query for query in suite.queries if _fits_csv(query, exported)]
        exported.files[f"{name}.queries.csv"] = _format_queries_csv(queries, exported, has_weights=has_weights)
        judged = list(_list_judgments(suite, queries, exported, csv=True))
        has_machines = any(machine for *_, machine in judged)
        header = ["query", "document", "grade"]
        if has_machines:
            header.append(MACHINE_COLUMN)
        rows = [row[: len(header)] for row in judged]
        exported.files[f"{name}.judgments.csv"] = format_table(header, rows)
        return exported
    records = [_build_record(query, has_weights=has_weights) for query in suite.queries]
    grades = []
    for query_id, document, grade, machine in _list_judgments(suite, suite.queries, exported, csv=False):
        judgment: dict[str, Json] = {"query": query_id, "document": document, "grade": grade}
        if machine:
            judgment[MACHINE_COLUMN] = machine
        grades.append(judgment)
    exported.files[f"{name}.queries.jsonl"] = format_json_lines(records)
    exported.files[f"{name}.judgments.jsonl"] = format_json_lines(grades)
    return exported


def _build_record(query: Query, *, has_weights: bool) -> dict[str, Json]:
    """*query* as a line of a file of queries."""
    record: dict[str, Json] = {"id": query.id}
    if query.text:
        record["text"] = query.text
    if has_weights:
        record["weight"] = query.weight
    if query.tags:
        record["tags"] = list(query.tags)
    if query.params:
        record["params"] = dict(query.params)
    return record


def _fits_csv(query: Query, exported: Exported) -> bool:
    """Whether CSV keeps the id, the text and the params of *query*; another query is noted."""
    texts = [query.id, query.text]
    texts += [value for value in query.params.values() if isinstance(value, str)]
    if not any(map(_is_lost, texts)):
        return True
    what = f"query {query.id!r} with its judgments: CSV keeps no control characters and no blanks around a text"
    exported.add_leftover(query.mark, what)
    return False


def _format_queries_csv(queries: Sequence[Query], exported: Exported, *, has_weights: bool) -> str:
    """*queries* as CSV, with columns for weights, tags and params if any query has them."""
    has_tags = any(query.tags for query in queries)
    params: dict[str, None] = {}  # in the order of their first use
    for query in queries:
        params |= dict.fromkeys(query.params)
    header = ["id", "text"]
    if has_weights:
        header.append("weight")
    if has_tags:
        header.append("tags")
    header += [f"{_PARAM}{name}" for name in params]
    rows = []
    for query in queries:
        row: list[object] = [query.id, query.text]
        if has_weights:
            row.append(query.weight)
        if has_tags:
            row.append(_format_tags(query, exported))
        row += [_format_param(query, name, exported) for name in params]
        rows.append(row)
    return format_table(header, rows)


def _format_tags(query: Query, exported: Exported) -> str:
    """The tags of *query* as one cell; those that CSV does not hold are noted."""
    writable_tags = []
    for tag in query.tags:
        if ";" in tag or _is_lost(tag):
            what = f"the tag {tag!r}: CSV keeps no semicolons, control characters or blanks around a tag"
            exported.add_leftover(query.mark, what)
        else:
            writable_tags.append(tag)
    return ";".join(writable_tags)


def _format_param(query: Query, name: str, exported: Exported) -> str:
    """The param *name* of *query* as a text, "" without one."""
    if name not in query.params:
        return ""
    value = query.params[name]
    if value == "":
        exported.add_leftover(query.mark, f"the empty param {name!r}; CSV has no empty texts")
    if isinstance(value, str):
        return value
    exported.add_leftover(query.mark, f"the type of the param {name!r}; in CSV it is a text")
    return json.dumps(value)


def _is_lost(text: str) -> bool:
    """Whether a cell would not be read back as *text*."""
    return is_unwritable(text) or text != text.strip()


def _list_judgments(
    suite: Suite, queries: Sequence[Query], exported: Exported, *, csv: bool
) -> Iterator[tuple[str, str, float, str]]:
    """Query, document, grade and its machine, if any, of each judgment that a file holds; the others are noted."""
    for query in queries:
        for document, grade in query.judgments.items():
            reason = None
            if not document.strip():
                reason = "an id must not be blank"
            elif csv and is_unwritable(document):
                reason = "CSV has no control characters"
            if reason is not None:
                exported.add_leftover(query.mark, f"document {document!r} of query {query.id!r}: {reason}")
                continue
            yield query.id, document, simplify_number(grade), find_machine(suite, query, document)
