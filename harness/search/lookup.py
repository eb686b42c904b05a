"""
Which documents a target has: they are looked up by their ids, with their titles and texts where these are wanted.

This is the one place that asks and that reads the answers, for whoever wants to know: the checks of a run, its reports,
pools, and the lint of judgments.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.id_forms import find_other_names, list_spellings
from harness.metrics.run_scores import failure_text
from harness.model.request import SearchRequest
from harness.model.run import Failure, FailureKind, Hit, Ranking, Response
from harness.search.answers import BAD_REQUEST, exceeds_window
from harness.search.batches import split_into_batches
from harness.search.dialects import find_dialect
from harness.search.protocol import IDS_ONLY, LookUpOptions

if TYPE_CHECKING:
    from harness.search.protocol import Search

IDS_AT_ONCE = 100
HITS_AT_ONCE = 1000
"""Hits of one look-up: a document may be in several indexes. If there are more, the ids are divided."""

IDS_IN_BULK = 10_000
"""Ids of one look-up in bulk, for which an engine gives as many hits at most."""

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


@dataclass(slots=True)
class KnownDocuments:
    """What a target says of documents that it was asked for by their ids."""

    found: set[str] = field(default_factory=set)
    """Those that it has."""
    missing: set[str] = field(default_factory=set)
    """Those that it surely does not have, or does not show."""
    unread: dict[str, str] = field(default_factory=dict)
    """Those of which it gave no complete answer, each with why: they may be there."""
    unwritable: dict[str, str] = field(default_factory=dict)
    """Those that no request can name, each with why."""
    repeated: set[str] = field(default_factory=set)
    """Those of *found* that several documents have as their id."""
    hits: dict[str, Hit] = field(default_factory=dict)
    """Those of *found* that were not only counted, with the texts that were asked for."""

    @property
    def asked(self) -> set[str]:
        """The ids that were asked for."""
        return self.found.union(self.missing, self.unread, self.unwritable)

    @property
    def reasons(self) -> list[str]:
        """Why documents are *unread*, each reason once."""
        return list(dict.fromkeys(self.unread.values()))

    def add(self, other: KnownDocuments) -> None:
        """Take over what *other* knows, of other ids."""
        self.found |= other.found
        self.missing |= other.missing
        self.unread |= other.unread
        self.unwritable |= other.unwritable
        self.repeated |= other.repeated
        self.hits |= other.hits


@dataclass(frozen=True, slots=True)
class LookUp:
    """Documents to look up, by their *ids*, in what *request* searches."""

    request: SearchRequest
    ids: Sequence[str]
    options: LookUpOptions = IDS_ONLY
    """What is returned of the documents."""
    in_bulk: bool = False
    """
    Whether many are asked for at once, as for documents that are likely to be there, each once. Where the size of
    *options* is 0 they are counted first, which costs an engine a tenth.
    """


def look_up_documents(
    search: Search, look_ups: Sequence[LookUp], *, budget: float | None = None
) -> list[KnownDocuments]:
    """
    Look up documents in the indexes or the point in time that requests search.

    It takes at most *budget* seconds. Nothing is raised: of what has no answer, the result has the reason.

    Returns:
        What is known of the documents of each of *look_ups*, by the ids that hits of its request have.
    """
    return LookUps(search, look_ups).finish(budget)


def read_documents(ids: Collection[str], response: Response) -> KnownDocuments:
    """What *response*, to a search for the documents *ids* alone, says of them."""
    if isinstance(response, Failure):
        return KnownDocuments(unread=dict.fromkeys(ids, failure_text(response)))
    wanted = set(ids)
    # Of several documents with one id, the first is shown.
    hits = {hit.id: hit for hit in reversed(response.hits) if hit.id in wanted}
    known = KnownDocuments(found=set(hits), repeated=wanted.intersection(response.duplicates), hits=hits)
    others = wanted - hits.keys()
    if _is_complete(response):
        known.missing = others
    else:
        known.unread = dict.fromkeys(others, f"{response.returned} of {response.total} hits were returned")
    return known


def _is_complete(ranking: Ranking) -> bool:
    """Whether all that was found was returned, as far as the total tells."""
    return ranking.total is None or (ranking.returned >= ranking.total and not ranking.total_is_lower_bound)


def find_similar(search: Search, request: SearchRequest, documents: Collection[str]) -> dict[str, str]:
    """
    For each of *documents*, which what *request* searches does not have, the id that differs in its form only, if it
    has one. It only explains: where the look-up fails, nothing is found.
    """
    spellings: set[str] = set()
    for document in documents:
        spellings |= list_spellings(document)
    [known] = look_up_documents(search, [LookUp(request, sorted(spellings.difference(documents)))])
    return find_other_names(documents, known.found)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some *ids* of a look-up that are asked for in one request, for *size* hits."""

    place: int
    """That of the look-up."""
    ids: Sequence[str]
    options: LookUpOptions
    in_bulk: bool = False
    size: int = 0

    def split(self, size: int) -> list[_Part]:
        """The ids in parts of at most *size*."""
        return [replace(self, ids=ids) for ids in split_into_batches(self.ids, size)]

    def split_bulk(self) -> list[_Part]:
        """The ids in parts that leave room for several documents of one id, none of which is only counted."""
        return replace(self, in_bulk=False, options=replace(self.options, size=None)).split(IDS_AT_ONCE)


class LookUps:
    """
    Look-ups of documents, in rounds: what a response leaves open is asked for again, in smaller parts.

    *requests* are those of the first round, which may go together with others; `read` takes the responses to them.
    """

    def __init__(self, search: Search, look_ups: Sequence[LookUp]) -> None:
        self.requests: list[SearchRequest] = []
        self._search = search
        self._look_ups = look_ups
        self._dialect = find_dialect(search.service)
        self._largest_size = HITS_AT_ONCE
        self._types: dict[str, frozenset[str]] = {}
        """The types of id fields, by index."""
        self._known = [KnownDocuments() for _ in look_ups]
        self._parts: list[_Part] = []
        parts: list[_Part] = []
        for place, look_up in enumerate(look_ups):
            ids = self._leave_unwritable(look_up, self._known[place])
            parts += _Part(place, ids, look_up.options, look_up.in_bulk).split(_choose_batch(look_up))
        self._begin_round(parts)

    def _leave_unwritable(self, look_up: LookUp, known: KnownDocuments) -> list[str]:
        """The ids of *look_up* that a request can have; what is *known* gets the others."""
        writable = []
        for document in look_up.ids:
            reason = self._dialect.explain_unwritable(look_up.request, document)
            if reason:
                known.unwritable[document] = reason
            else:
                writable.append(document)
        return writable

    def finish(self, budget: float | None = None) -> list[KnownDocuments]:
        """Send what is left to ask, for at most *budget* seconds; returns what is known by each look-up."""
        while self._parts:
            try:
                self.read(self._search.search(self.requests, budget=budget))
            except SearchError as error:
                for part in self._parts:
                    self._known[part.place].unread |= dict.fromkeys(part.ids, str(error))
                break
        return self._known

    def read(self, responses: Sequence[Response]) -> None:
        """Read the *responses* to the requests of this round, and begin the next one."""
        following: list[_Part] = []
        for part, response in zip(self._parts, responses, strict=True):
            following += self._read_part(part, response)
        self._begin_round(following)

    def _begin_round(self, parts: Sequence[_Part]) -> None:
        self._parts, self.requests = [], []
        for part in parts:
            size = self._choose_size(part)
            look_up = self._look_ups[part.place]
            options = replace(part.options, size=size)
            request = self._dialect.request_documents(look_up.request, part.ids, options)
            # Not every request can have highlights.
            options = replace(part.options, highlights=request.highlights)
            self._parts.append(replace(part, size=size, options=options))
            self.requests.append(request)

    def _choose_size(self, part: _Part) -> int:
        """How many hits are requested: as many as may be, but for texts no more than a few copies of each document."""
        if part.in_bulk:
            return len(part.ids) if part.options.size is None else part.options.size
        if part.options == IDS_ONLY:
            return self._largest_size
        return min(self._largest_size, len(part.ids) * COPIES)

    def _read_part(self, part: _Part, response: Response) -> list[_Part]:
        """Keep what *response* says of the documents of *part*; returns the parts to ask for next."""
        known = self._known[part.place]
        if isinstance(response, Failure):
            following = self._retry(part, response)
            if following is not None:
                return following
        elif part.options.size == 0 and response.total == len(part.ids):
            known.found.update(part.ids)
            return []
        elif part.in_bulk and (part.options.size == 0 or not _is_complete(response)):
            return part.split_bulk()
        elif len(part.ids) > 1 and response.returned >= part.size and response.total != response.returned:
            return part.split((len(part.ids) + 1) // 2)
        known.add(read_documents(part.ids, response))
        return []

    def _retry(self, part: _Part, failure: Failure) -> list[_Part] | None:
        """The parts that are asked for in place of *part*, which the server refused; None where nothing else helps."""
        if exceeds_window(failure) and part.size > 1:
            if part.in_bulk:
                return part.split_bulk()
            self._largest_size = min(self._largest_size, part.size // 2)
            return [part]
        # What the server did not get to would fail again.
        if part.options.highlights and failure.kind in (FailureKind.ERROR, FailureKind.SHARDS):
            return [replace(part, options=replace(part.options, highlights=False))]
        if failure.status == BAD_REQUEST:
            impossible = self._find_impossible_ids(self._look_ups[part.place].request, part.ids)
            if impossible:
                self._known[part.place].missing |= impossible
                possible = [document for document in part.ids if document not in impossible]
                return replace(part, ids=possible).split(len(part.ids))
        return None

    def _find_impossible_ids(self, request: SearchRequest, ids: Sequence[str]) -> set[str]:
        """Those of *ids* that no document has, as they are no numbers that the id field of *request* can hold."""
        name, index = request.id_field, request.index
        if name is None or index is None:
            return set()
        if index not in self._types:
            try:
                types = self._search.field_types(index, [name], request.url_params)
            except SearchError:
                types = {}
            self._types[index] = types.get(name, frozenset())
        types_there = self._types[index]
        if not types_there or not types_there <= RANGES.keys():
            return set()
        least = min(RANGES[type_][0] for type_ in types_there)
        greatest = max(RANGES[type_][1] for type_ in types_there)
        possible = {text for text in ids if _NUMBER.fullmatch(text) and least <= Decimal(text) <= greatest}
        return set(ids) - possible


def _choose_batch(look_up: LookUp) -> int:
    """How many ids one request has."""
    if look_up.in_bulk:
        return IDS_IN_BULK
    reads_texts = look_up.options.has_snippet or bool(look_up.options.fields)
    return TEXTS_AT_ONCE if reads_texts else IDS_AT_ONCE
