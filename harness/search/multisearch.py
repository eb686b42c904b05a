"""
The body of an `_msearch`: for each request a line that says where, and a line that says what.

The application's own body goes out as it stands. Only what of a document comes back is said where the body does not
say it, since it weighs and ranks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.model import Failure, FailureKind, Json, SearchRequest

__all__ = ["PREFERENCE", "Entry", "body_of", "entry_of", "path_of"]

PREFERENCE = "relevance-harness"
"""One name for all runs keeps them on one copy of each shard, and with it their statistics and their order of ties."""

COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)

CONTENT_KEYS = frozenset({"_source", "stored_fields"})
"""The keys by which a body says itself what of a document comes back."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Two lines of a body, ready to be sent, and what its answer needs to be read."""

    place: int
    lines: bytes
    is_template: bool = False
    title_field: str | None = None
    snippet: str | None = None


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
    return Entry(place, lines, title_field=request.title_field, snippet=request.snippet)


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
    return Entry(place, _lines(_header(request, pinned=False), filled), True, request.title_field)


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
