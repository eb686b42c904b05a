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
from harness.model import Failure, Hit, Ranking, Response, SearchRequest
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
class _LookedUp:
    """The *response* to a look-up of *ids*, for which *size* hits were requested."""

    ids: Sequence[str]
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
    possible_ids = _select_possible_ids(search, request, ids)
    for looked_up in _look_up(search, request, possible_ids, IDS_ONLY):
        ranking = _check_complete(looked_up, request.index)
        found.update({hit.id for hit in ranking.hits} & set(looked_up.ids))
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
    hits: dict[str, Hit] = {}
    reasons: dict[str, None] = {}
    for looked_up in _look_up(search, request, ids, options, budget):
        response = looked_up.response
        if isinstance(response, Failure):
            reasons[failure_text(response)] = None
        else:
            hits |= {hit.id: hit for hit in reversed(response.hits)}
    return hits, list(reasons)


def _look_up(
    search: Search,
    request: SearchRequest,
    ids: Sequence[str],
    options: LookUpOptions,
    budget: float | None = None,
) -> Iterator[_LookedUp]:
    """
    Look up *ids* in several requests, and yield the response to each.

    A request whose size the engine refuses is sent again with half of it. After a response that is cut, those of both
    halves of its ids follow.
    """
    dialect = find_dialect(search.service)
    largest_size = HITS_AT_ONCE
    reads_texts = options.snippet is not None or bool(options.fields)
    pending = split_into_batches(ids, TEXTS_AT_ONCE if reads_texts else IDS_AT_ONCE)
    while pending:
        sizes = [_choose_size(part, options, largest_size) for part in pending]
        requests = [
            dialect.request_documents(request, part, replace(options, size=size))
            for part, size in zip(pending, sizes, strict=True)
        ]
        responses = search.search(requests, budget=budget)
        following: list[list[str]] = []
        for part, size, response in zip(pending, sizes, responses, strict=True):
            if exceeds_window(response) and size > 1:
                largest_size = min(largest_size, size // 2)
                following.append(part)
                continue
            yield _LookedUp(part, size, response)
            if len(part) > 1 and isinstance(response, Ranking) and _is_cut(response, size):
                following += split_into_batches(part, (len(part) + 1) // 2)
        pending = following


def _choose_size(ids: Sequence[str], options: LookUpOptions, largest_size: int) -> int:
    """How many hits are requested: as many as may be, but for texts no more than a few copies of each document."""
    return largest_size if options == IDS_ONLY else min(largest_size, len(ids) * COPIES)


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
    if isinstance(response, Failure):
        raise SearchError(f"cannot look up documents in {index}: {failure_text(response)}")
    if response.total is not None and response.returned < min(response.total, looked_up.size):
        found = f"{response.returned} of {response.total} hits were returned"
        raise SearchError(f"cannot look up documents in {index}: {found}")
    return response
