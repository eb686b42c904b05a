"""
Reads logs of impressions and clicks: the documents of OpenSearch's User Behavior Insights (UBI), and CSV.

Source: the JSON schemas of UBI 1.3.0 (o19s/ubi) and the mappings of opensearch-project/user-behavior-insights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from harness.drafts.draft import Leftovers
from harness.extensions.migrate.json_nodes import read_import
from harness.extensions.migrate.table import InputTable, TableRow, import_table
from harness.extensions.sampling.tally import is_placeholder
from harness.files.json import WrongJson, parse_json
from harness.files.opening import FileProblems, TextSource
from harness.files.tables import DOCUMENT_NAMES, PRODUCT_NAMES, QUERY_NAMES, read_count, read_json_rows, remove_mark
from harness.model.suite import Json, Mark

CLICKS = ("click", "click_through")
"""The actions of UBI events that count as clicks on a hit."""

IMPRESSION = "impression"

QueryDocument: TypeAlias = tuple[str, str]
"""The text of a query and the id of a document."""


def normalize_text(query: str) -> str:
    """
    *query* in lower case with single blanks; queries with equal results count as one query.

    >>> normalize_text(" Red  Shoes")
    'red shoes'
    """
    return " ".join(query.split()).casefold()


@dataclass(slots=True)
class ClickLog:
    """How often each document was shown and clicked for each query."""

    shown: dict[QueryDocument, Counter[int]] = field(default_factory=dict)
    """Query and document to the number of impressions at each position."""
    clicked: dict[QueryDocument, Counter[int]] = field(default_factory=dict)
    """Query and document to the number of clicks at each position."""
    leftovers: Leftovers = field(default_factory=Leftovers)
    basis: str = ""
    """What counts as an impression, in words."""
    source: str = ""
    """The first file or index."""
    applications: set[str] = field(default_factory=set)
    """The values of `application` in documents of UBI."""
    _texts: dict[str, str] = field(default_factory=dict, repr=False)

    def add(self, query: str, document: str, position: int, *, shown: int, clicked: int) -> None:
        """
        Add impressions and clicks of *document* for *query* at *position*.

        Queries that differ only in case or blanks count as one, written as the first of them.
        """
        try:
            f"{query}{document}".encode()
        except UnicodeEncodeError:
            what = "queries and documents that hold half of a character (a lone surrogate)"
            self.leftovers.add(Mark(self.source), what, first=repr(f"{query}, {document}"))
            return
        if is_placeholder(query):
            what = "impressions and clicks of a placeholder of a report in place of a query"
            self.leftovers.add(Mark(self.source), what, first=repr(query))
            return
        pair = self._texts.setdefault(normalize_text(query), " ".join(query.split())), document
        self.shown.setdefault(pair, Counter())[position] += shown
        if clicked:
            self.clicked.setdefault(pair, Counter())[position] += clicked


# User Behavior Insights.


@dataclass(slots=True)
class _Search:
    """One search of a user, in which each document counts at most once as shown and once as clicked."""

    text: str = ""
    hits: Sequence[str] = ()
    impressions: dict[str, int] = field(default_factory=dict)
    clicks: dict[str, Mark] = field(default_factory=dict)
    place: Mark = field(default_factory=Mark)

    def add_impression(self, document: str, position: int, place: Mark, log: ClickLog) -> None:
        """Add an impression of *document*; later ones at other positions are noted and do not count."""
        if self.impressions.setdefault(document, position) != position:
            what = "impressions at another position than the first of the document in its search"
            log.leftovers.add(place, what, first=f"document {document!r} at position {position}")


def read_ubi(
    sources: Sequence[str], actions: Sequence[str] = CLICKS, *, documents: Documents | None = None
) -> ClickLog:
    """
    Count the impressions and clicks in documents of `ubi_queries` and `ubi_events`.

    An impression is an event with the action ``impression``. If the log has no such event, each id in the
    `query_response_hit_ids` of a search is an impression, at its position in that list.

    Args:
        sources: Files with documents of one or both: JSON lines, as exported or as hits with `_source`, or the JSON
            response of a search. Names of indexes if *documents* is given.
        actions: The actions that count as clicks.
        documents: The documents of *sources*, each with its place; the files are read if None.

    Raises:
        InputError: A file cannot be read.
    """
    log = ClickLog(source=sources[0])
    if documents is None:
        documents = chain.from_iterable(_read_documents(Path(source), log) for source in sources)
    searches: dict[str, _Search] = {}
    for document, place in documents:
        _read_document(document, place, searches, log, actions)
    has_impressions = any(search.impressions for search in searches.values())
    log.basis = "impression events" if has_impressions else "query_response_hit_ids"
    for query_id, search in searches.items():
        # Hits that the server returned may not have been seen: they count only where no search has an impression.
        if has_impressions and search.hits and not search.impressions:
            what = "query_response_hit_ids of searches without an impression, as other searches have some"
            log.leftovers.add(search.place, what, first=f"query_id {query_id!r}")
        _count_search(search, log, has_impressions=has_impressions)
    if len(log.applications) > 1:
        names = ", ".join(map(repr, sorted(log.applications)))
        log.leftovers.add(Mark(log.source), f"the application; documents of {names} are counted together")
    return log


Documents: TypeAlias = Iterable[tuple[Mapping[str, Json], Mark]]
"""Documents of UBI, each with its place."""


def _read_documents(path: Path, log: ClickLog) -> Iterator[tuple[Mapping[str, Json], Mark]]:
    """The documents in a file, each with its place."""
    source = read_import(path)
    if path.suffix.lower() == ".json":
        try:
            content = parse_json(source.text)
        except WrongJson as error:
            raise source.make_error(*source.find_place(error.offset), str(error)) from None
        for hit in _list_hits(content, source, log):
            yield _get_document(hit, source, 1), Mark(str(path))
        return
    findings = FileProblems(source.path)
    for line, entry, _ in read_json_rows(source.drain_written_lines(), findings, ["query_id"], needed=False):
        yield _get_document(entry, source, line), Mark(str(path), line, 1)
    findings.raise_any(path)


def _list_hits(content: Json, source: TextSource, log: ClickLog) -> Sequence[Json]:
    """The documents in the response of a search or in a list, or *content* itself if it is one document."""
    hits = content
    if isinstance(content, dict):
        if "hits" not in content:
            return [content]
        if content.get("timed_out") is True or _get_object(content.get("_shards")).get("failed"):
            log.leftovers.add(Mark(source.path), "documents of shards that failed or timed out in the search")
        envelope = _get_object(content["hits"])
        hits, total = envelope.get("hits"), envelope.get("total")
        # A number where the search asked for rest_total_hits_as_int.
        if isinstance(total, dict):
            total = total.get("value")
        if isinstance(hits, list) and isinstance(total, int) and total > len(hits):
            log.leftovers.add(
                Mark(source.path), "documents that the search found and did not return", total - len(hits)
            )
    if not isinstance(hits, list):
        message = "expected the JSON of a search with a list `hits.hits`, a list of documents, or a document"
        raise source.make_error(1, 1, message)
    return hits


def _get_document(hit: Json, source: TextSource, line: int) -> Mapping[str, Json]:
    """The document of *hit*, or *hit* itself if it is exported without the envelope of a search."""
    document = hit
    if isinstance(hit, dict):
        document = hit.get("_source", hit)
    if not isinstance(document, dict):
        raise source.make_error(line, 1, "expected an object, a document of ubi_queries or ubi_events")
    return document


def _read_document(
    document: Mapping[str, Json], place: Mark, searches: dict[str, _Search], log: ClickLog, actions: Sequence[str]
) -> None:
    """Add a query or an event to the search of its query_id."""
    if document.keys() <= {"index", "create"}:
        return  # a line of a bulk request, whose document is the next
    query_id, action = document.get("query_id"), document.get("action_name")
    if not isinstance(query_id, str) or not query_id:
        log.leftovers.add(place, "documents without a query_id")
        return
    search = searches.setdefault(query_id, _Search(place=place))
    text, application = document.get("user_query"), document.get("application")
    if isinstance(application, str) and application:
        log.applications.add(application)
    if isinstance(text, str) and text.strip():
        search.text = search.text or text
        if normalize_text(text) != normalize_text(search.text):
            what = "a user_query other than the first of its query_id"
            log.leftovers.add(place, what, first=f"{text!r} of query_id {query_id!r}")
    # Each event has an action: what has none is a query, unless it has the attributes of an event.
    if action is None and "event_attributes" in document:
        log.leftovers.add(place, "events without an action_name")
    elif action is None:
        _read_hits(document.get("query_response_hit_ids"), query_id, place, search, log)
    elif action == IMPRESSION or action in actions:
        _read_event(document, place, search, log, is_click=action != IMPRESSION)
    else:
        log.leftovers.add(place, f"events with the action {action!r}")


def _read_hits(hits: Json, query_id: str, place: Mark, search: _Search, log: ClickLog) -> None:
    """Add the hits of *search* that its document of ubi_queries lists."""
    if isinstance(hits, list) and all(map(_is_id, hits)):
        ids = list(map(str, hits))
        search.hits = search.hits or ids
        if ids and ids != search.hits:
            what = "query_response_hit_ids other than the first of their query_id"
            log.leftovers.add(place, what, first=f"query_id {query_id!r}")
    elif hits is not None:
        log.leftovers.add(place, "query_response_hit_ids that are no list of ids")


def _read_event(document: Mapping[str, Json], place: Mark, search: _Search, log: ClickLog, *, is_click: bool) -> None:
    """Add the impression or the click of *document*, an event of ubi_events, to *search*."""
    attributes = _get_object(document.get("event_attributes"))
    hit = _get_object(attributes.get("object"))
    # Early versions of UBI have the id under internal_id.
    document_id = hit.get("object_id")
    if not _is_id(document_id):
        document_id = hit.get("internal_id")
    if not _is_id(document_id):
        log.leftovers.add(place, "events without an object_id")
        return
    if hit.get("object_id_field") not in (None, "", "_id"):
        what = f"that object_id is the field {hit['object_id_field']!r}; give it as id_field of the suite's target"
        log.leftovers.add(place, what)
    document_id = str(document_id)
    ordinal = _get_object(attributes.get("position")).get("ordinal")
    if is_click:
        search.clicks.setdefault(document_id, place)
    elif isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 0:
        search.add_impression(document_id, ordinal, place, log)
    elif document_id in search.hits:
        search.add_impression(document_id, search.hits.index(document_id) + 1, place, log)
    else:
        log.leftovers.add(place, "impressions without a position")


def _get_object(value: Json) -> Mapping[str, Json]:
    """*value* if it is an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def _is_id(value: Json) -> bool:
    """Whether *value* can be the id of a document: a text that is not blank, or a number."""
    return isinstance(value, (str, int)) and not isinstance(value, bool) and bool(str(value).strip())


def _count_search(search: _Search, log: ClickLog, *, has_impressions: bool) -> None:
    """Add the impressions and clicks of *search* to *log*."""
    shown = search.impressions
    if not has_impressions:
        shown = {}
        for rank, document in enumerate(search.hits, start=1):
            shown.setdefault(document, rank)
    if not search.text:
        if shown or search.clicks:
            log.leftovers.add(search.place, "searches without a user_query")
        return
    for document, position in shown.items():
        log.add(search.text, document, position, shown=1, clicked=int(document in search.clicks))
    for document, place in search.clicks.items():
        if document not in shown:
            log.leftovers.add(place, "clicks on documents that were not shown")


# CSV.

_POSITIONS = ("position", "rank", "ordinal")
_IMPRESSIONS = ("impressions", "impression_count", "views", "shown", "examinations")
_CLICKED = ("clicks", "click_count", "clicked", "click")
_ACTIONS = ("action", "action_name", "event", "event_type")
_SEARCHES = ("query_id", "search_id", "session_id", "session")


def read_csv(sources: Sequence[str], actions: Sequence[str] = CLICKS) -> ClickLog:
    """
    Count the impressions and clicks in CSV files with a header.

    The columns are query, document, position (optional), and either

    - impressions and clicks: numbers;
    - clicks or clicked: 0 or 1, where each line is an impression; or
    - action: ``impression`` or one of *actions*, where each line is an event. With a column query_id, each document
      counts once in a search.

    Args:
        sources: The files.
        actions: The actions that count as clicks.

    Raises:
        InputError: A file cannot be read, or lacks a column.
    """
    log = ClickLog(basis="CSV", source=sources[0])
    for path in map(Path, sources):
        table = import_table(path)
        # "query" may be an id beside a text, so the columns that can only be a text come first.
        query = table.column("query_text", "user_query") or table.column("query", "text") or table.column(*QUERY_NAMES)
        document = table.column(*DOCUMENT_NAMES) or table.column(*PRODUCT_NAMES)
        columns = _Columns(
            query or table.require("query", "query_text", "search_term"),
            document or table.require("document", "product_id", "sku", "url"),
            table.column(*_POSITIONS),
        )
        if columns.position is None:
            log.leftovers.add(Mark(str(path), 1, 1), "the rank bias: there is no column 'position'")
        clicks = table.column(*_CLICKED)
        action = None if clicks is not None else table.column(*_ACTIONS)
        if action is not None:
            _read_events(table, columns, action, log, actions)
        else:
            _read_counts(table, columns, clicks or table.require("clicks", "clicked", "action"), log)
        table.note_unread(log.leftovers)
    return log


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of the columns that each form of CSV has."""

    query: str
    document: str
    position: str | None

    def read_pair(self, row: TableRow) -> QueryDocument:
        """The query and the document of *row*, without the marks for spreadsheets."""
        return remove_mark(row.require(self.query)), remove_mark(row.require(self.document))


def _read_counts(table: InputTable, columns: _Columns, clicks: str, log: ClickLog) -> None:
    """Add lines with numbers of impressions and clicks; without impressions, each line is one."""
    impressions = table.column(*_IMPRESSIONS)
    for row in table.rows:
        query, document = columns.read_pair(row)
        shown = 1 if impressions is None else _read_count(row, impressions)
        clicked = _read_count(row, clicks)
        if clicked > shown and impressions is None:
            what = "lines with several clicks, as without a column 'impressions' each line is one impression"
            log.leftovers.add(row.place, what)
            continue
        if clicked > shown:
            log.leftovers.add(row.place, "lines with more clicks than impressions")
            continue
        position = 1 if columns.position is None else _read_count(row, columns.position)
        log.add(query, document, position, shown=shown, clicked=clicked)


def _read_events(table: InputTable, columns: _Columns, action: str, log: ClickLog, actions: Sequence[str]) -> None:
    """Add lines that are impressions or clicks, by search if there is a column for it."""
    search_id = table.column(*_SEARCHES)
    searches: dict[tuple[str, str], _Search] = {}
    for row in table.rows:
        query, document = columns.read_pair(row)
        event = row.cells[action].strip()
        if search_id is not None and not row.cells[search_id].strip():
            log.leftovers.add(row.place, f"events without a {search_id}")
            continue
        if event != IMPRESSION and event not in actions:
            log.leftovers.add(row.place, f"events with the action {event!r}")
            continue
        is_impression = event == IMPRESSION
        position = _read_position(row, columns, log, shown=is_impression, in_search=search_id is not None)
        if position is None:
            continue
        if search_id is None:  # the log does not say which click belongs to which impression
            log.add(query, document, position, shown=int(is_impression), clicked=int(not is_impression))
            continue
        # A session may have several queries, each a search of its own.
        search = searches.setdefault((row.cells[search_id].strip(), normalize_text(query)), _Search(query))
        if is_impression:
            search.add_impression(document, position, row.place, log)
        else:
            search.clicks.setdefault(document, row.place)
    for search in searches.values():
        _count_search(search, log, has_impressions=True)


def _read_position(row: TableRow, columns: _Columns, log: ClickLog, *, shown: bool, in_search: bool) -> int | None:
    """
    The position of an event; None for an impression (*shown*) without one, which does not count.

    A click without a position counts for position 1; in a search, its impression has the position.
    """
    if columns.position is None:
        return 1
    if row.cells[columns.position].strip():
        return _read_count(row, columns.position)
    if shown:
        log.leftovers.add(row.place, "impressions without a position")
        return None
    if not in_search:
        log.leftovers.add(row.place, "the position of clicks without one, which count for position 1")
    return 1


def _read_count(row: TableRow, column: str) -> int:
    """The whole number in *column*; true is 1, false 0."""
    text = row.cells[column].strip().lower()
    if text in ("true", "false"):
        return int(text == "true")
    try:
        return read_count(text, column)
    except ValueError as error:
        row.refuse(str(error))
