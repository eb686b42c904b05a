"""
Reads logs of impressions and clicks: the documents of OpenSearch's User Behavior Insights (UBI), and CSV.

Source: the JSON schemas of UBI 1.3.0 (o19s/ubi) and the mappings of opensearch-project/user-behavior-insights.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from harness.files.json import each_key_once
from harness.files.opening import Source
from harness.files.records import without_mark
from harness.migrate.draft import Leftovers
from harness.migrate.json_nodes import source_of
from harness.migrate.table import Row, Table, read_table
from harness.model import Json, Mark

CLICKS = ("click", "click_through")
"""The actions of UBI events that count as clicks on a hit."""

IMPRESSION = "impression"

MOST_COUNTED = 2**53
"""The largest number up to which a 64-bit float represents every whole number."""

Pair: TypeAlias = tuple[str, str]
"""The text of a query and the id of a document."""


def normalized_text(query: str) -> str:
    """
    *query* in lower case with single blanks; queries with equal results count as one query.

    >>> normalized_text(" Red  Shoes")
    'red shoes'
    """
    return " ".join(query.split()).casefold()


@dataclass(slots=True)
class ClickLog:
    """How often each document was shown and clicked for each query."""

    shown: dict[Pair, Counter[int]] = field(default_factory=dict)
    """Query and document to the number of impressions at each position."""
    clicked: dict[Pair, Counter[int]] = field(default_factory=dict)
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
        pair = self._texts.setdefault(normalized_text(query), " ".join(query.split())), document
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

    def see(self, document: str, position: int, place: Mark, log: ClickLog) -> None:
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
    log, searches = ClickLog(source=sources[0]), dict[str, _Search]()
    for document, place in documents or chain.from_iterable(_documents(Path(source), log) for source in sources):
        _take(document, place, searches, log, actions)
    has_impressions = any(search.impressions for search in searches.values())
    log.basis = "impression events" if has_impressions else "query_response_hit_ids"
    for name, search in searches.items():
        if has_impressions and search.hits and not search.impressions:
            what = "query_response_hit_ids of searches without an impression, as other searches have some"
            log.leftovers.add(search.place, what, first=f"query_id {name!r}")
        _count(search, log, has_impressions=has_impressions)
    if len(log.applications) > 1:
        named = ", ".join(map(repr, sorted(log.applications)))
        log.leftovers.add(Mark(log.source), f"the application; documents of {named} are counted together")
    return log


Documents: TypeAlias = Iterable[tuple[Mapping[str, Json], Mark]]
"""Documents of UBI, each with its place."""


def _documents(path: Path, log: ClickLog) -> Iterator[tuple[Mapping[str, Json], Mark]]:
    source = source_of(path)
    if path.suffix.lower() == ".json":
        found = _parsed(source, source.text, 1)
        yield from ((_source(one, source, 1), Mark(str(path))) for one in _hits(found, source, log))
        return
    for number, line in enumerate(source.lines, start=1):
        if line.strip():
            yield _source(_parsed(source, line, number), source, number), Mark(str(path), number, 1)


def _hits(found: Json, source: Source, log: ClickLog) -> Sequence[Json]:
    """The documents in the response of a search or in a list, or *found* itself if it is one document."""
    if isinstance(found, dict):
        if "hits" not in found:
            return [found]
        if found.get("timed_out") is True or _object(found.get("_shards")).get("failed"):
            log.leftovers.add(Mark(source.path), "documents of shards that failed or timed out in the search")
        hits = _object(found["hits"])
        found, total = hits.get("hits"), hits.get("total")
        total = total.get("value") if isinstance(total, dict) else total
        if isinstance(found, list) and isinstance(total, int) and total > len(found):
            log.leftovers.add(
                Mark(source.path), "documents that the search found and did not return", total - len(found)
            )
    if not isinstance(found, list):
        message = "expected the JSON of a search with a list `hits.hits`, a list of documents, or a document"
        raise source.error(1, 1, message)
    return found


def _parsed(source: Source, text: str, line: int) -> Json:
    try:
        return json.loads(text, object_pairs_hook=each_key_once)
    except (ValueError, RecursionError) as error:
        raise source.error(line, 1, f"this is not JSON: {error}") from None


def _source(found: Json, source: Source, line: int) -> Mapping[str, Json]:
    document = found.get("_source", found) if isinstance(found, dict) else found
    if not isinstance(document, dict):
        raise source.error(line, 1, "expected an object, a document of ubi_queries or ubi_events")
    return document


def _take(
    document: Mapping[str, Json], place: Mark, searches: dict[str, _Search], log: ClickLog, actions: Sequence[str]
) -> None:
    if document.keys() <= {"index", "create"}:
        return  # a line of a bulk request, whose document is the next
    name, action = document.get("query_id"), document.get("action_name")
    if not isinstance(name, str) or not name:
        log.leftovers.add(place, "documents without a query_id")
        return
    search = searches.setdefault(name, _Search(place=place))
    text, application = document.get("user_query"), document.get("application")
    if isinstance(application, str) and application:
        log.applications.add(application)
    if isinstance(text, str) and text.strip():
        search.text = search.text or text
        if normalized_text(text) != normalized_text(search.text):
            what = "a user_query other than the first of its query_id"
            log.leftovers.add(place, what, first=f"{text!r} of query_id {name!r}")
    if action is None and "event_attributes" in document:
        log.leftovers.add(place, "events without an action_name")
    elif action is None:
        _take_hits(document.get("query_response_hit_ids"), name, place, search, log)
    elif action == IMPRESSION or action in actions:
        _take_event(document, place, search, log, clicked=action != IMPRESSION)
    else:
        log.leftovers.add(place, f"events with the action {action!r}")


def _take_hits(hits: Json, name: str, place: Mark, search: _Search, log: ClickLog) -> None:
    if isinstance(hits, list) and all(map(_is_id, hits)):
        ids = list(map(str, hits))
        search.hits = search.hits or ids
        if ids and ids != search.hits:
            what = "query_response_hit_ids other than the first of their query_id"
            log.leftovers.add(place, what, first=f"query_id {name!r}")
    elif hits is not None:
        log.leftovers.add(place, "query_response_hit_ids that are no list of ids")


def _take_event(document: Mapping[str, Json], place: Mark, search: _Search, log: ClickLog, *, clicked: bool) -> None:
    attributes = _object(document.get("event_attributes"))
    thing = _object(attributes.get("object"))
    identity = next((thing[key] for key in ("object_id", "internal_id") if _is_id(thing.get(key))), None)
    if identity is None:
        log.leftovers.add(place, "events without an object_id")
        return
    if thing.get("object_id_field") not in (None, "", "_id"):
        what = f"that object_id is the field {thing['object_id_field']!r}; give it as id_field of the suite's target"
        log.leftovers.add(place, what)
    ordinal = _object(attributes.get("position")).get("ordinal")
    name = str(identity)
    known = isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 0
    if clicked:
        search.clicks.setdefault(name, place)
    elif known:
        search.see(name, int(ordinal), place, log)  # type: ignore[arg-type]
    elif name in search.hits:
        search.see(name, search.hits.index(name) + 1, place, log)
    else:
        log.leftovers.add(place, "impressions without a position")


def _object(value: Json) -> Mapping[str, Json]:
    """*value* if it is an object; an empty one for any other value."""
    return value if isinstance(value, dict) else {}


def _is_id(value: Json) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and bool(str(value).strip())


def _count(search: _Search, log: ClickLog, *, has_impressions: bool) -> None:
    shown = search.impressions
    if not has_impressions:
        shown = {document: rank for rank, document in reversed(list(enumerate(search.hits, start=1)))}
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

_QUERIES = ("query", "query_text", "user_query", "text")
_DOCUMENTS = ("document", "document_id", "docid", "doc", "object_id", "product_id")
_POSITIONS = ("position", "rank", "ordinal")
_IMPRESSIONS = ("impressions", "views", "shown", "examinations")
_CLICKED = ("clicks", "clicked", "click")
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
        table = read_table(path)
        query = table.column("query_text", "user_query") or table.need(*_QUERIES)  # "query" may be an id beside a text
        columns = {"query": query, "document": table.need(*_DOCUMENTS)}
        position = table.column(*_POSITIONS)
        if position is None:
            log.leftovers.add(Mark(str(path), 1, 1), "the rank bias: there is no column 'position'")
        clicked = table.column(*_CLICKED)
        if clicked is None and (action := table.column(*_ACTIONS)) is not None:
            _take_events(table, columns, position, action, log, actions)
            table.leave_unread(log.leftovers)
            continue
        if clicked is None:
            table.need("clicks", "clicked", "action")
        impressions = table.column(*_IMPRESSIONS)
        table.leave_unread(log.leftovers)
        for row in table.rows:
            query, document = _names(row, columns)
            shown = 1 if impressions is None else _whole(row, impressions)
            clicks = _whole(row, str(clicked))
            if clicks > shown:
                log.leftovers.add(row.place, "lines with more clicks than impressions")
                continue
            log.add(query, document, 1 if position is None else _whole(row, position), shown=shown, clicked=clicks)
    return log


def _take_events(
    table: Table, columns: Mapping[str, str], position: str | None, action: str, log: ClickLog, actions: Sequence[str]
) -> None:
    column = table.column(*_SEARCHES)
    searches: dict[tuple[str, str], _Search] = {}
    for row in table.rows:
        query, document = _names(row, columns)
        name = row.cells[action].strip()
        if column is not None and not row.cells[column].strip():
            log.leftovers.add(row.place, f"events without a {column}")
            continue
        if name != IMPRESSION and name not in actions:
            log.leftovers.add(row.place, f"events with the action {name!r}")
            continue
        at = _position(row, position, log, shown=name == IMPRESSION, in_search=column is not None)
        if at is None:
            continue
        if column is None:  # the log does not say which click belongs to which impression
            log.add(query, document, at, shown=int(name == IMPRESSION), clicked=int(name != IMPRESSION))
            continue
        search = searches.setdefault((row.cells[column].strip(), normalized_text(query)), _Search(query))
        if name == IMPRESSION:
            search.see(document, at, row.place, log)
        else:
            search.clicks.setdefault(document, row.place)
    for search in searches.values():
        _count(search, log, has_impressions=True)


def _position(row: Row, position: str | None, log: ClickLog, *, shown: bool, in_search: bool) -> int | None:
    """
    The position of an event; None for an impression (*shown*) without one, which does not count.

    A click without a position counts for position 1; in a search, its impression has the position.
    """
    if position is None:
        return 1
    if row.cells[position].strip():
        return _whole(row, position)
    if shown:
        log.leftovers.add(row.place, "impressions without a position")
        return None
    if not in_search:
        log.leftovers.add(row.place, "the position of clicks without one, which count for position 1")
    return 1


def _names(row: Row, columns: Mapping[str, str]) -> tuple[str, str]:
    return without_mark(row.need(columns["query"])), without_mark(row.need(columns["document"]))


def _whole(row: Row, column: str) -> int:
    text = row.cells[column].strip().lower()
    if text in ("true", "false"):
        return int(text == "true")
    number = row.grade(column)
    if number is None or number != int(number) or not 0 <= number <= MOST_COUNTED:
        row.refuse(f"found {text[:60]!r} as {column}, expected a whole number from 0 to 2^53")
    return int(number)
