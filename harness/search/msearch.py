"""
The body of an `_msearch`: for each request a line that says where, and a line that says what; cut into batches.

The application's own body goes out as it stands. Only what of a document comes back is said where the body does not
say it, since it weighs and ranks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.model import Failure, FailureKind, Json, SearchRequest

PREFERENCE = "relevance-harness"
"""One name for all runs keeps them on one copy of each shard, and with it their statistics and their order of ties."""

COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)

STOPS_EARLY = "terminate_after"
"""The key by which a body says that so many documents of a shard are enough."""

CONTENT_KEYS = frozenset({"_source", "stored_fields"})
"""The keys by which a body says itself what of a document comes back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    Two lines of a body, ready to be sent, and what its answer needs to be read.

    *unique_ids* says that an `_id` names one document in all indexes, *may_stop_early* that the engine was or may have
    been told to look at a part of the documents only.
    """

    place: int
    lines: bytes
    is_template: bool = False
    title_field: str | None = None
    snippet: str | None = None
    unique_ids: bool = False
    may_stop_early: bool = False


def entry_of(place: int, request: SearchRequest) -> Entry | Failure:
    """
    *request*, which stands at *place*, as lines; a Failure where it cannot be one of an `_msearch`.

    A body with the one key `template` is a search template: ``{template: {id: products, params: {q: "{{text}}"}}}``.
    """
    body = request.body
    if not isinstance(body, Mapping):
        return Failure(FailureKind.ERROR, "the body of a search request should be an object")
    try:
        return _template_entry(place, request, body) if "template" in body else _body_entry(place, request, body)
    except (TypeError, ValueError) as error:
        return Failure(FailureKind.ERROR, f"the body of the request cannot be written as JSON: {error}")


def _body_entry(place: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry:
    read = [field for field in (request.title_field, request.snippet) if field]
    content: dict[str, Json] = {} if CONTENT_KEYS & body.keys() else {"_source": read or False}
    lines = _lines(_header(request, pinned="pit" in body), {**body, **content})
    return Entry(
        place,
        lines,
        title_field=request.title_field,
        snippet=request.snippet,
        unique_ids=request.unique_ids,
        may_stop_early=_has_key(body, STOPS_EARLY),
    )


def _template_entry(place: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry | Failure:
    template = body["template"]
    others = sorted(body.keys() - {"template", "size"})
    if others or not isinstance(template, Mapping):
        found = f"`{others[0]}` beside it" if others else "no object"
        return Failure(
            FailureKind.ERROR, f"`template` should be an object with `id` or `source` and `params`, found {found}"
        )
    params = template.get("params", {})
    if not isinstance(params, Mapping):
        return Failure(FailureKind.ERROR, "`template.params` should be an object")
    size = {"size": body["size"]} if "size" in body else {}
    filled = {**template, "params": {**size, **params}}
    return Entry(
        place,
        _lines(_header(request, pinned=False), filled),
        is_template=True,
        title_field=request.title_field,
        unique_ids=request.unique_ids,
        may_stop_early=_template_may_stop_early(template),
    )


def _template_may_stop_early(template: Mapping[str, Json]) -> bool:
    """What a template says that the engine keeps is not known here, and a source that is a text is not read."""
    source = template.get("source")
    return "id" in template or (isinstance(source, str) and STOPS_EARLY in source) or _has_key(template, STOPS_EARLY)


def _has_key(body: Json, key: str) -> bool:
    """Whether *key* is one of *body*, however deep."""
    if isinstance(body, Mapping):
        return key in body or any(_has_key(value, key) for value in body.values())
    return isinstance(body, (list, tuple)) and any(_has_key(value, key) for value in body)


def _header(request: SearchRequest, *, pinned: bool) -> dict[str, Json]:
    """Where to search; a point in time is *pinned* to its index and its shard copies, and bears neither to be named."""
    header: dict[str, Json] = {"allow_partial_search_results": False}
    if pinned:
        return header
    if request.index:
        header["index"] = request.index
    return {**header, "preference": PREFERENCE}


def _lines(header: Json, body: Json) -> bytes:
    return b"%b\n%b\n" % (_dump(header), _dump(body))


def _dump(value: Json) -> bytes:
    return COMPACT.encode(value).encode()


def body_of(entries: Iterable[Entry]) -> bytes:
    """The body of one `_msearch`."""
    return b"".join(entry.lines for entry in entries)


def path_of(entries: Sequence[Entry]) -> str:
    """
    The path of the `_msearch` that asks *entries*, which are all templates or none.

    It has no `filter_path`: OpenSearch leaves out empty lists under one, and with them the answer that nothing matches.
    """
    return "/_msearch/template" if entries[0].is_template else "/_msearch"


MOST_SEARCHES = 250
MOST_BYTES = 4 * 1024 * 1024


class Batches:
    """Entries cut into batches: templates apart, none over the limits of searches and bytes unless it is one search."""

    def __init__(self, entries: Sequence[Entry], *, most: int = MOST_SEARCHES, most_bytes: int = MOST_BYTES) -> None:
        self._entries = sorted(entries, key=lambda entry: (entry.is_template, entry.place))
        self._most = most
        self._most_bytes = most_bytes

    def __iter__(self) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        size = 0
        for entry in self._entries:
            if batch and not self._fits(entry, batch, size):
                yield batch
                batch, size = [], 0
            batch.append(entry)
            size += len(entry.lines)
        if batch:
            yield batch

    def _fits(self, entry: Entry, batch: Sequence[Entry], size: int) -> bool:
        alike = entry.is_template == batch[0].is_template
        return alike and len(batch) < self._most and size + len(entry.lines) <= self._most_bytes

    def no_larger_than(self, most: int) -> None:
        """Cut what is still to come into batches of at most *most*."""
        self._most = max(1, min(self._most, most))
