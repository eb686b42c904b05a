"""
The body of an `_msearch`: a header line and a body line for each request.

The application's own body is sent unchanged. Only `_source` is added if the body does not select fields, because it
does not affect the ranking.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from harness.model import Failure, FailureKind, Json, SearchRequest, find_sort_places, iterate_members

WHICH_INDEXES = ("allow_no_indices", "expand_wildcards", "ignore_unavailable")
"""Parameters of a search that say what a pattern stands for; look-ups of the same indexes have them too."""

PREFERENCE = "relevance-harness"
"""All runs use the same shard copies, and so the same statistics and the same order of ties."""

COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)

STOPS_EARLY = "terminate_after"
"""The key that limits the number of documents collected per shard."""

IN_HEADER = frozenset(
    {
        "allow_no_indices", "ccs_minimize_roundtrips", "expand_wildcards", "ignore_throttled", "ignore_unavailable",
        "preference", "request_cache", "routing", "search_type",
    }
)  # fmt: skip
"""Parameters of `_search` that both engines take in the header of a search in `_msearch`."""

CONTENT_KEYS = frozenset({"_source", "stored_fields"})
"""The keys with which a body selects the fields of hits."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    The encoded lines of a search, and what is needed to read its answer.

    *unique_ids* says that an id identifies one document in all indexes, *id_field* which field holds it,
    *may_stop_early* that the request has or may have `terminate_after`.
    """

    place: int
    lines: bytes
    is_template: bool = False
    title_field: str | None = None
    snippet: str | None = None
    unique_ids: bool = False
    id_field: str | None = None
    may_stop_early: bool = False
    size: int | None = None
    """The number of hits requested; None where the body does not give it."""
    path: str = ""
    """That of a search which is sent by itself; its lines are the body then."""
    fields: tuple[str, ...] = ()
    """The fields whose texts are read."""
    sort_places: tuple[int, ...] | None = ()
    """The places in a hit's `sort` of the values that order it: none if its score does; None if they are unknown."""
    refusal: Failure | None = None
    """Why it cannot be sent; None if it can."""

    @property
    def reads_fields(self) -> bool:
        """Whether more than the ids and the scores of the hits is read."""
        others = self.title_field, self.snippet, self.id_field
        return bool(self.fields) or self.sort_places != () or others != (None, None, None)


def entry_of(place: int, request: SearchRequest) -> Entry | Failure:
    """
    *request*, the one at *place*, as lines; a Failure if it cannot be part of an `_msearch`.

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
    sent = _sent(request, _with_content(request, body))
    return Entry(
        place,
        **sent,
        title_field=request.title_field,
        snippet=request.snippet,
        fields=request.fields,
        unique_ids=request.unique_ids,
        id_field=request.id_field,
        may_stop_early=STOPS_EARLY.encode() in sent["lines"] and _stops_early(body),
        size=size if type(size := body.get("size")) is int else None,
        sort_places=find_sort_places(body),
    )


def _sent(request: SearchRequest, content: Json) -> dict[str, Any]:
    """Path and lines of *request*: two lines of an `_msearch`, or where that cannot carry a parameter a `_search`."""
    if request.url_params.keys() <= IN_HEADER:
        return {"lines": _lines(_header(request), content)}
    return {"path": single_search(request)[0], "lines": _dump(content)}


def _with_content(request: SearchRequest, body: Mapping[str, Json]) -> dict[str, Json]:
    """*body* with the fields to return, if it does not select fields itself, and the one that holds the id."""
    read = [field for field in (request.title_field, request.snippet, *request.fields) if field]
    content: dict[str, Json] = {} if CONTENT_KEYS & body.keys() else {"_source": read or False}
    if request.id_field is not None:
        fields = body.get("fields")
        content["fields"] = [*(fields if isinstance(fields, list) else []), request.id_field]
    return {**body, **content}


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
    return Entry(
        place,
        **_sent(request, _filled(body)),
        is_template=True,
        title_field=request.title_field,
        unique_ids=request.unique_ids,
        id_field=request.id_field,
        may_stop_early=_template_may_stop_early(template),
        sort_places=find_sort_places(source) if isinstance(source := template.get("source"), Mapping) else None,
    )


def _filled(body: Mapping[str, Json]) -> dict[str, Json]:
    """The search template of *body* with its size as a parameter."""
    template = body["template"]
    size = {"size": body["size"]} if "size" in body else {}
    return {**template, "params": {**size, **template.get("params", {})}}


def _template_may_stop_early(template: Mapping[str, Json]) -> bool:
    """The content of a stored template is unknown, and a source that is a text is only searched for the key."""
    source = template.get("source")
    return "id" in template or (isinstance(source, str) and STOPS_EARLY in source) or _stops_early(template)


def _stops_early(body: Json) -> bool:
    """Whether `terminate_after` is a key anywhere in *body*."""
    return any(key == STOPS_EARLY for key, _ in iterate_members(body))


def index_path(index: str | None) -> str:
    """
    The beginning of a path that names *index*, which may be several or a pattern; empty for None.

    >>> index_path("shop-*,books"), index_path("a b")
    ('/shop-*,books', '/a%20b')
    """
    return "" if index is None else f"/{quote(index, safe='*,')}"


def shard_params(url_params: Mapping[str, str]) -> dict[str, str]:
    """
    Those of *url_params* that leave out some shards of an index.

    >>> shard_params({"routing": "berlin", "preference": "_local", "search_type": "query_then_fetch"})
    {'routing': 'berlin'}
    """
    preference = str(url_params.get("preference", ""))
    found = {"routing": str(url_params["routing"])} if "routing" in url_params else {}
    return found | ({"preference": preference} if preference.startswith("_shards:") else {})


def shards_text(url_params: Mapping[str, str]) -> str:
    """The `shard_params` in words: ``routing berlin``."""
    return " and ".join(f"{name} {value}" for name, value in shard_params(url_params).items())


def single_search(request: SearchRequest) -> tuple[str, dict[str, Json]]:
    """
    The path and the body of the `_search` that finds what *request* finds as a part of an `_msearch`.

    *request* is one of which `entry_of` makes an entry.
    """
    body, header = request.body, _header(request)
    index = header.pop("index", None)
    is_template = "template" in body
    parameters = urlencode({name: "false" if value is False else value for name, value in header.items()})
    path = f"{index_path(index)}/_search{'/template' if is_template else ''}"
    return f"{path}?{parameters}", _filled(body) if is_template else _with_content(request, body)


def _header(request: SearchRequest) -> dict[str, Json]:
    """The header line; with a point in time the engine accepts neither an index nor a preference."""
    header: dict[str, Json] = {"allow_partial_search_results": False}
    if "pit" in request.body:
        return {**header, **request.url_params}
    if request.index:
        header["index"] = request.index
    return {**header, "preference": PREFERENCE, **request.url_params}


def _lines(header: Mapping[str, Json], body: Json) -> bytes:
    is_plain = all(value is False or type(value) is str for value in header.values())
    return b"%b\n%b\n" % (_header_line(tuple(header.items())) if is_plain else _dump(header), _dump(body))


@lru_cache(maxsize=64)
def _header_line(header: tuple[tuple[str, Json], ...]) -> bytes:
    """Most searches of a run have the same header."""
    return _dump(dict(header))


def _dump(value: Json) -> bytes:
    return COMPACT.encode(value).encode()


def body_of(entries: Iterable[Entry]) -> bytes:
    """The body of one `_msearch`."""
    return b"".join(entry.lines for entry in entries)


SEARCHES_AT_ONCE = 5
"""
Searches of one `_msearch` that the engine runs at once. Its own default grows with its nodes, up to ten for each, and
several requests are under way, so a cluster that serves others as well could be filled.
"""


def path_of(entries: Sequence[Entry]) -> str:
    """
    The path of the `_msearch` with *entries*, which are all templates or none, or of the `_search` that is one entry.

    It has no `filter_path`: with it OpenSearch omits empty lists, and so results without hits.
    """
    if entries[0].path:
        return entries[0].path
    path = "/_msearch/template" if entries[0].is_template else "/_msearch"
    return f"{path}?max_concurrent_searches={SEARCHES_AT_ONCE}"


def pinned_of(body: Json) -> Json:
    """The point in time of *body*, None if it has none."""
    return body.get("pit") if isinstance(body, Mapping) else None


def preferring(preference: str, request: SearchRequest) -> SearchRequest:
    """*request* with *preference*, unless it has one, or its target takes none."""
    if request.http is not None or pinned_of(request.body) is not None or "preference" in request.url_params:
        return request
    return replace(request, url_params={**request.url_params, "preference": preference})
