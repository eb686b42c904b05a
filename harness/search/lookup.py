"""Look-ups of documents by id: which an index has, their titles and texts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.metrics.score import failure_text
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking, Response
from harness.search import find_dialect
from harness.search.answers import exceeds_window
from harness.search.batches import split_into_batches
from harness.search.protocol import IDS_ONLY, LookUpOptions

if TYPE_CHECKING:
    from harness.search import Search

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

_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?")


@dataclass(frozen=True, slots=True)
class KnownDocuments:
    """The ids that were *found*, and those of them that are in several indexes (*repeated*)."""

    found: frozenset[str] = frozenset()
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LookUp:
    """Documents to look up, by their *ids*, in what *request* searches, and what is returned of them."""

    request: SearchRequest
    ids: Sequence[str]
    options: LookUpOptions = IDS_ONLY


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """The *response* to a look-up, for which *size* hits were requested."""

    look_up: LookUp
    size: int
    response: Response


def find_documents(search: Search, request: SearchRequest, ids: Sequence[str]) -> KnownDocuments:
    """
    Find which of *ids* are in the indexes or the point in time that *request* searches, as its hits have them.

    An id that the id field cannot hold, such as a word in a field of numbers, is in no document.

    Raises:
        SearchError: A look-up has no answer.
    """
    found: set[str] = set()
    repeated: set[str] = set()
    dialect = find_dialect(search.service)
    for document in ids:
        reason = dialect.explain_unwritable(request, document)
        if reason:
            raise SearchError(f"cannot look up documents: {reason}")
    possible_ids = _select_possible_ids(search, request, ids)
    for looked_up in _look_up(search, [LookUp(request, possible_ids)]):
        ranking = _check_complete(looked_up, request.index)
        found.update({hit.id for hit in ranking.hits} & set(looked_up.look_up.ids))
        repeated.update(ranking.duplicates)
    return KnownDocuments(frozenset(found), frozenset(repeated))


def find_texts(
    search: Search, request: SearchRequest, ids: Sequence[str], options: LookUpOptions, *, budget: float | None = None
) -> tuple[dict[str, Hit], list[str]]:
    """
    Look up the documents *ids* of what *request* searches, with the texts that *options* name.

    It takes at most *budget* seconds. Titles and snippets decide nothing, so a failed look-up is no error.

    Returns:
        The documents by id, without those that are missing; and why look-ups failed.

    Raises:
        SearchError: Nothing could be sent at all.
    """
    found, reasons = find_texts_by_query(search, [LookUp(request, ids, options)], budget=budget)
    return found.get(request.query, {}), reasons


def find_texts_by_query(
    search: Search, look_ups: Sequence[LookUp], *, budget: float | None = None
) -> tuple[dict[str, dict[str, Hit]], list[str]]:
    """
    As `find_texts`, for the requests of several queries at once.

    Returns:
        The documents by query, then by id; and why look-ups failed.

    Raises:
        SearchError: Nothing could be sent at all.
    """
    hits: dict[str, dict[str, Hit]] = {}
    reasons: dict[str, None] = {}
    dialect = find_dialect(search.service)
    writable = []
    for look_up in look_ups:
        ids = [document for document in look_up.ids if not dialect.explain_unwritable(look_up.request, document)]
        writable.append(replace(look_up, ids=ids))
    for looked_up in _look_up(search, writable, budget):
        response = looked_up.response
        if isinstance(response, Failure):
            reasons[failure_text(response)] = None
        else:
            found = hits.setdefault(looked_up.look_up.request.query, {})
            found |= {hit.id: hit for hit in reversed(response.hits)}
    return hits, list(reasons)


def _look_up(search: Search, look_ups: Sequence[LookUp], budget: float | None = None) -> Iterator[_LookedUp]:
    """
    Send *look_ups* in several requests, and yield the response to each.

    A request whose size the engine refuses is sent again with half of it, and one with highlights that it refuses is
    sent again without these. After a response that is cut, those of both halves of its ids follow.
    """
    dialect = find_dialect(search.service)
    largest_size = HITS_AT_ONCE
    pending: list[LookUp] = []
    for look_up in look_ups:
        reads_texts = look_up.options.snippet is not None or bool(look_up.options.fields)
        pending += _split(look_up, TEXTS_AT_ONCE if reads_texts else IDS_AT_ONCE)
    while pending:
        sizes = [_choose_size(look_up, largest_size) for look_up in pending]
        requests = []
        for look_up, size in zip(pending, sizes, strict=True):
            options = replace(look_up.options, size=size)
            requests.append(dialect.request_documents(look_up.request, look_up.ids, options))
        responses = search.search(requests, budget=budget)
        following: list[LookUp] = []
        for look_up, request, size, response in zip(pending, requests, sizes, responses, strict=True):
            if exceeds_window(response) and size > 1:
                largest_size = min(largest_size, size // 2)
                following.append(look_up)
                continue
            if request.highlights and _is_refused(response):
                following.append(replace(look_up, options=replace(look_up.options, highlights=False)))
                continue
            yield _LookedUp(look_up, size, response)
            if len(look_up.ids) > 1 and isinstance(response, Ranking) and _is_cut(response, size):
                following += _split(look_up, (len(look_up.ids) + 1) // 2)
        pending = following


def _split(look_up: LookUp, size: int) -> list[LookUp]:
    """*look_up* in parts of at most *size* ids."""
    return [replace(look_up, ids=ids) for ids in split_into_batches(look_up.ids, size)]


def _choose_size(look_up: LookUp, largest_size: int) -> int:
    """How many hits are requested: as many as may be, but for texts no more than a few copies of each document."""
    if look_up.options == IDS_ONLY:
        return largest_size
    return min(largest_size, len(look_up.ids) * COPIES)


def _is_refused(response: Response) -> bool:
    """Whether the server refused a search itself; one that it did not get to would fail again."""
    return isinstance(response, Failure) and response.kind in (FailureKind.ERROR, FailureKind.SHARDS)


def _select_possible_ids(search: Search, request: SearchRequest, ids: Sequence[str]) -> Sequence[str]:
    """Those of *ids* that the id field of *request* can hold, as far as its type is known."""
    name = request.id_field
    if name is None or request.index is None or not ids:
        return ids
    try:
        types = search.field_types(request.index, [name], request.url_params).get(name, frozenset())
    except SearchError:
        return ids
    if not types or not types <= RANGES.keys():
        return ids
    least = min(RANGES[type_][0] for type_ in types)
    greatest = max(RANGES[type_][1] for type_ in types)
    return [text for text in ids if _NUMBER.fullmatch(text) and least <= Decimal(text) <= greatest]


def _is_cut(ranking: Ranking, size: int) -> bool:
    """Whether there may be more hits than the *size* requested; each id counts once per index."""
    return ranking.returned >= size and ranking.total != ranking.returned


def _check_complete(looked_up: _LookedUp, index: str | None) -> Ranking:
    """The ranking of *looked_up*; raises SearchError if there is none, or if hits are missing in it."""
    response = looked_up.response
    place = "the target" if index is None else index
    if isinstance(response, Failure):
        raise SearchError(f"cannot look up documents in {place}: {failure_text(response)}")
    if response.total is not None and response.returned < min(response.total, looked_up.size):
        found = f"{response.returned} of {response.total} hits were returned"
        raise SearchError(f"cannot look up documents in {place}: {found}")
    return response
