"""
Requests to an HTTP service for documents by their ids.

A suite has one under `documents`, with `{{ids}}`. Where a text stands between the ids, the service has to find each of
them again: an id that has this text, or the quote around an id, cannot be written unless the suite escapes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote_plus

from harness.model.suite import DocumentsRequest, HttpRequest, Json, find_placeholders, match_placeholders
from harness.search.pointers import iterate_keys
from harness.search.service_sizes import write_size

_IDS = "ids"
"""The placeholder for the ids."""

_COUNT = "count"
"""The placeholder for their number."""

ID = "id"
"""The placeholder for one id, in `each`."""

PLACEHOLDERS = (_IDS, _COUNT)

LONGEST_IDS = 3000
"""
Characters of the ids in a URL. Servers refuse long ones: Typesense those with more than 4,000 characters of parameters,
Solr from 8,192 bytes of a request's first lines on.
"""


def find_documents_problem(documents: DocumentsRequest) -> str:
    """Why documents cannot be asked for by *documents*, as a sentence; empty if they can."""
    http = documents.http
    # Ids are filled into values alone.
    not_filled = [http.path, http.headers, *http.params, *documents.filter, *iterate_keys(http.json)]
    if _IDS in find_placeholders(not_filled):
        return "found {{ids}} in the path, a header or a key; expected it in a value of params or json"
    found = find_placeholders([http.path, http.params, http.headers, http.json])
    if _IDS not in found:
        return "expected {{ids}} in a value of params or json"
    if documents.filter and _IDS not in find_placeholders(list(documents.filter.values())):
        return "expected {{ids}} in a value of filter"
    found |= find_placeholders(documents.filter)
    others = sorted(found.difference(PLACEHOLDERS))
    if others:
        return (
            f"found {{{{{others[0]}}}}}, expected {{{{ids}}}} and {{{{count}}}} only: these are documents of no query"
        )
    values = [*http.params.values(), http.json, *documents.filter.values()]
    if documents.join is None and _IDS in _find_inner_placeholders(values):
        return 'found {{ids}} in a longer text; expected `join` too, the text between two ids, such as join: ","'
    if find_placeholders(documents.each) != {ID} or len(list(match_placeholders(documents.each))) != 1:
        return f"found each: {documents.each!r}, expected {{{{id}}}} once in it"
    if documents.join == "":
        return "found an empty `join`, expected the text between two ids"
    if "" in (*documents.escape, *documents.unwritable):
        return "found an empty text in `escape` or `unwritable`, expected texts that ids may have"
    return ""


def _find_inner_placeholders(value: Json) -> set[str]:
    """The placeholders in texts of *value* that have more than the placeholder."""
    if isinstance(value, str):
        return {match[1].strip() for match in match_placeholders(value) if match.group() != value}
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(_find_inner_placeholders, value))
    return set()


def explain_unwritable(documents: DocumentsRequest, document: str) -> str:
    """
    Why the id *document* cannot be in a request, as a sentence; empty if it can.

    >>> explain_unwritable(DocumentsRequest(HttpRequest("GET", "/documents", "$.ids"), join=","), "a,b")
    "the id 'a,b' has ',', at which the service would end it; see `escape`"
    """
    written = _write_id(documents, document)
    for text in documents.unwritable:
        if text in written:
            return f"the id {document!r}, written as {written!r}, has {text!r}, which is `unwritable`"
    [placeholder] = match_placeholders(documents.each)
    after = documents.each[placeholder.end() :]
    end = after[:1] or documents.join
    if end is None:
        return ""
    # What is escaped ends no id, so that it counts as any other character.
    unescaped = _match_escaped(documents).sub("\0", document) if documents.escape else document
    # An id may also make such an end together with what follows it, as "a OR" does before " OR b".
    if f"{end}{unescaped}{end}".find(end, 1) != len(end) + len(unescaped):
        return f"the id {document!r} has {end!r}, at which the service would end it; see `escape`"
    return ""


def _match_escaped(documents: DocumentsRequest) -> re.Pattern[str]:
    """Matches each text that `escape` replaces, the longest first."""
    return re.compile("|".join(map(re.escape, sorted(documents.escape, key=len, reverse=True))))


def split_ids(documents: DocumentsRequest, ids: Sequence[str]) -> list[list[str]]:
    """*ids* in parts that one request can have: at most `batch`, and not too long for a URL."""
    most = documents.batch
    if documents.http.max_size is not None:
        most = min(most, documents.http.max_size)
    is_in_url = _IDS in find_placeholders(documents.http.params)
    parts: list[list[str]] = []
    length = 0
    for document in ids:
        written = len(quote_plus(f"{_write_id(documents, document)}{documents.join or '&ids='}"))
        is_too_long = is_in_url and length + written > LONGEST_IDS
        if not parts or len(parts[-1]) >= most or is_too_long:
            parts.append([])
            length = 0
        parts[-1].append(document)
        length += written
    return parts


def fill_documents_request(documents: DocumentsRequest, ids: Sequence[str]) -> HttpRequest:
    """
    The request for the documents *ids*.

    >>> http = HttpRequest("GET", "/documents", "$.ids", {"filter": "id:[{{ids}}]", "per_page": "{{count}}"})
    >>> fill_documents_request(DocumentsRequest(http, join=",", each="'{{id}}'"), ["sku-1", "sku 2"]).params
    {'filter': "id:['sku-1','sku 2']", 'per_page': 2}
    """
    values = _list_values(documents, ids)
    http = documents.http
    return replace(http, params=_fill(http.params, values), json=_fill(http.json, values))


def filter_search(search: HttpRequest, documents: DocumentsRequest, ids: Sequence[str]) -> HttpRequest | None:
    """
    *search*, which then finds those of *ids* alone that match; None where it cannot, or not in one request.

    A parameter that the search has too is sent twice, with either value.
    """
    # Without a total, an answer that a page limit cut looks like one that has all matches.
    if not documents.filter or search.total is None:
        return None
    filtered = replace(documents, http=replace(documents.http, params=documents.filter))
    if len(split_ids(filtered, ids)) > 1:
        return None
    params = dict(search.params)
    for name, value in _fill(documents.filter, _list_values(documents, ids)).items():
        if name in params:
            value = [*_make_list(params[name]), *_make_list(value)]
        params[name] = value
    return write_size(replace(search, params=params), len(ids))


def _make_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _list_values(documents: DocumentsRequest, ids: Sequence[str]) -> dict[str, Json]:
    """The values of the placeholders."""
    written = [_write_id(documents, document) for document in ids]
    joined: Json = written if documents.join is None else documents.join.join(written)
    return {_IDS: joined, _COUNT: len(ids)}


def _write_id(documents: DocumentsRequest, document: str) -> str:
    """*document* as it stands in a request."""
    if documents.escape:
        document = _match_escaped(documents).sub(lambda match: documents.escape[match.group()], document)
    return _insert(documents.each, {ID: document})


def _fill(value: Json, values: Mapping[str, Json]) -> Json:
    """*value* with its placeholders filled; a text that is one placeholder becomes the value itself."""
    if isinstance(value, Mapping):
        return {key: _fill(member, values) for key, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, values) for member in value]
    if not isinstance(value, str):
        return value
    for match in match_placeholders(value):
        if match.group() == value:
            return values[match[1].strip()]
    return _insert(value, values)


def _insert(text: str, values: Mapping[str, Json]) -> str:
    """*text* with each placeholder replaced by its value as text."""
    filled, end = "", 0
    for match in match_placeholders(text):
        filled += f"{text[end : match.start()]}{values[match[1].strip()]}"
        end = match.end()
    return filled + text[end:]
