"""Look-ups of documents by id: which an index has, their titles and texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import SearchError
from harness.metrics.score import failure_text
from harness.model import Failure, Hit, Json, Ranking, Response, SearchRequest
from harness.search.answers import exceeds_window
from harness.search.fields import runtime_fields
from harness.search.msearch import WHICH_INDEXES, pinned_of

if TYPE_CHECKING:
    from harness.search import Search

T = TypeVar("T")

IDS_AT_ONCE = 100
HITS_AT_ONCE = 1000
"""Hits of one look-up: a document may be in several indexes. If there are more, the ids are divided."""

TEXTS_AT_ONCE = 20
"""Ids of one look-up with titles and snippets, whose documents may be large."""

RANGES: Mapping[str, tuple[float, float]] = {
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "integer": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "unsigned_long": (0, 2**64 - 1),
    **dict.fromkeys(("double", "float", "half_float", "scaled_float"), (-math.inf, math.inf)),
}
"""The numbers that fields of numbers hold, by their type; such a field refuses a look-up by any other id."""

COPIES = HITS_AT_ONCE // IDS_AT_ONCE
"""Indexes that may have the same id before a look-up is cut."""


@dataclass(frozen=True, slots=True)
class KnownDocuments:
    """The ids that were *found*, and those of them that are in several indexes (*repeated*)."""

    found: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


def ids_request(
    request: SearchRequest,
    ids: Sequence[str],
    *,
    size: int | None = None,
    title_field: str | None = None,
    snippet: str | None = None,
    fields: tuple[str, ...] = (),
) -> SearchRequest:
    """
    A search for the documents *ids* themselves, in the indexes or the point in time that *request* searches.

    Args:
        request: Any request for a query.
        ids: At least one.
        size: Hits requested; by default as many as *ids*.
        title_field: The field with the title.
        snippet: The field for the snippet, or `ANY_TEXT`.
        fields: The fields whose texts are returned.
    """
    pinned = pinned_of(request.body)
    body = {"query": ids_query(ids, request.id_field), "size": size or len(ids)}
    body |= {} if pinned is None else {"pit": pinned}
    body |= runtime_fields(request.body)
    return SearchRequest(
        "",
        request.index if pinned is None else None,
        body,
        title_field=title_field,
        snippet=snippet,
        fields=fields,
        unique_ids=True,
        id_field=request.id_field,
        url_params=of_indexes(request),
    )


def ids_query(ids: Sequence[str], id_field: str | None) -> Json:
    """The query for the documents *ids*, which *id_field* holds, or `_id` where it is None."""
    return {"ids": {"values": list(ids)}} if id_field is None else {"terms": {id_field: list(ids)}}


def of_indexes(request: SearchRequest) -> dict[str, str]:
    """The URL parameters of *request* that say which indexes are searched; a look-up by id is not routed."""
    return {name: value for name, value in request.url_params.items() if name in WHICH_INDEXES}


def find_documents(search: Search, request: SearchRequest, ids: Sequence[str]) -> KnownDocuments:
    """
    Which of *ids* are in the indexes or the point in time that *request* searches, as its hits have them.

    An id that the id field cannot hold, such as a word in a field of numbers, is in no document.

    Raises:
        SearchError: A look-up has no answer.
    """
    found: set[str] = set()
    repeated: set[str] = set()
    parts = batched(_possible(search, request, ids), IDS_AT_ONCE)
    for part, size, response in _looked_up(search, parts, lambda part, most: ids_request(request, part, size=most)):
        ranking = _answered(response, request.index, size)
        found.update({hit.id for hit in ranking.hits} & set(part))
        repeated.update(ranking.duplicates)
    return KnownDocuments(frozenset(found), frozenset(repeated))


def _possible(search: Search, request: SearchRequest, ids: Sequence[str]) -> Sequence[str]:
    """Those of *ids* that the id field of *request* can hold, as far as its type is known."""
    name = request.id_field
    if name is None or request.index is None or not ids:
        return ids
    try:
        types = search.field_types(request.index, [name], of_indexes(request)).get(name, frozenset())
    except SearchError:
        return ids
    if not types or not types <= RANGES.keys():
        return ids
    least, greatest = min(RANGES[one][0] for one in types), max(RANGES[one][1] for one in types)
    return [one for one in ids if _NUMBER.fullmatch(one) and least <= Decimal(one) <= greatest]


_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")


def _looked_up(
    search: Search,
    parts: Sequence[Sequence[str]],
    request_of: Callable[[Sequence[str], int], SearchRequest],
    budget: float | None = None,
) -> Iterator[tuple[Sequence[str], int, Response]]:
    """
    The response to the look-up of each of *parts*, and the size that was requested, which *request_of* is told the most
    of. Where a response is cut, those of both halves follow. A size that the engine refuses is halved.
    """
    most = HITS_AT_ONCE
    while parts:
        sent = [request_of(part, most) for part in parts]
        left: list[Sequence[str]] = []
        for part, request, response in zip(parts, sent, search.search(sent, budget=budget), strict=True):
            size: int = request.body["size"]
            if exceeds_window(response) and size > 1:
                most = min(most, size // 2)
                left.append(part)
                continue
            yield part, size, response
            if len(part) > 1 and isinstance(response, Ranking) and _is_cut(response, size):
                left += batched(part, (len(part) + 1) // 2)
        parts = left


def find_texts(
    search: Search,
    request: SearchRequest,
    ids: Sequence[str],
    *,
    title_field: str | None,
    snippet: str | None = None,
    fields: tuple[str, ...] = (),
    budget: float | None = None,
) -> tuple[dict[str, Hit], list[str]]:
    """
    The documents *ids* of what *request* searches, by id: with title, and with snippet and *fields* if named. And why
    look-ups failed.

    It takes at most *budget* seconds. Missing documents are left out. Titles and snippets decide nothing, so a failed
    look-up is no error.

    Raises:
        SearchError: Nothing could be sent at all.
    """
    parts = batched(ids, TEXTS_AT_ONCE if snippet or fields else IDS_AT_ONCE)
    shown: dict[str, Any] = {"title_field": title_field, "snippet": snippet, "fields": fields}
    hits: dict[str, Hit] = {}
    reasons: dict[str, None] = {}

    def asked(part: Sequence[str], most: int) -> SearchRequest:
        return ids_request(request, part, size=min(most, len(part) * COPIES), **shown)

    for _, _, response in _looked_up(search, parts, asked, budget):
        if isinstance(response, Failure):
            reasons[failure_text(response)] = None
        else:
            hits |= {hit.id: hit for hit in reversed(response.hits)}
    return hits, list(reasons)


def batched(values: Sequence[T], size: int) -> list[list[T]]:
    """
    *values* in lists of *size*, of which the last may be shorter.

    >>> batched("abcde", 2)
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    return [list(values[begin : begin + size]) for begin in range(0, len(values), size)]


def _is_cut(ranking: Ranking, size: int) -> bool:
    """Whether there may be more hits than the *size* requested; each id counts once per index."""
    return ranking.returned >= size and ranking.total != ranking.returned


def _answered(response: Response, index: str | None, size: int) -> Ranking:
    if isinstance(response, Failure):
        raise SearchError(f"cannot look up documents in {index}: {failure_text(response)}")
    if response.total is not None and response.returned < min(response.total, size):
        found = f"{response.returned} of {response.total} hits were returned"
        raise SearchError(f"cannot look up documents in {index}: {found}")
    return response
