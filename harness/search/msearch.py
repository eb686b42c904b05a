"""
The body of an `_msearch`: a header line and a body line for each request.

The application's own body is sent unchanged. Only `_source` is added if the body does not select fields, and `fields`
if expectations read some, because they do not affect the ranking.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote, urlencode

from harness.model.request import SearchRequest, find_sort_places
from harness.model.run import Failure, FailureKind
from harness.model.suite import Json, iterate_members
from harness.search.esql import ESQL, PATH, EsqlError, EsqlQuery, is_esql, make_content, parse_esql

INDEX_PARAMS = ("allow_no_indices", "expand_wildcards", "ignore_unavailable")
"""Parameters of a search that say what a pattern stands for; look-ups of the same indexes have them too."""

PREFERENCE = "relevance-harness"
"""All runs use the same shard copies, and so the same statistics and the same order of ties."""

COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)

STOPS_EARLY = "terminate_after"
"""The key that limits the number of documents collected per shard."""

HEADER_PARAMS = frozenset(
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

    position: int
    lines: bytes
    is_template: bool = False
    title_field: str | None = None
    has_snippet: bool = False
    unique_ids: bool = False
    id_field: str | None = None
    may_stop_early: bool = False
    size: int | None = None
    """The number of hits requested; None where the body does not give it."""
    path: str = ""
    """That of a search which is sent by itself; its lines are the body then."""
    fields: tuple[str, ...] = ()
    """The fields whose texts are read."""
    value_fields: tuple[str, ...] = ()
    """The fields whose values are read."""
    highlights: bool = False
    """Whether words are marked in the title and in *fields*."""
    sort_places: tuple[int, ...] | None = ()
    """The indexes in a hit's `sort` of the values that order it: none if its score does; None if they are unknown."""
    index: str | None = None
    """What is searched. It is not in *lines*, see `choose_path`."""
    esql: EsqlQuery | None = None
    """The text of ES|QL whose rows are read; None for a search."""
    refusal: Failure | None = None
    """Why it cannot be sent; None if it can."""

    @property
    def reads_fields(self) -> bool:
        """Whether more than the ids and the scores of the hits is read."""
        others = self.title_field, self.id_field
        reads_texts = self.has_snippet or bool(self.fields or self.value_fields)
        return reads_texts or self.sort_places != () or others != (None, None)


def make_entry(position: int, request: SearchRequest) -> Entry | Failure:
    """
    *request*, the one at *position*, as lines; a Failure if it cannot be part of an `_msearch`.

    A body with the one key `template` is a search template: ``{template: {id: products, params: {q: "{{text}}"}}}``.
    """
    body = request.body
    if not isinstance(body, Mapping):
        return Failure(FailureKind.ERROR, "the body of a search request should be an object")
    try:
        if is_esql(body):
            return _make_esql_entry(position, request, body)
        if "template" in body:
            return _make_template_entry(position, request, body)
        return _make_body_entry(position, request, body)
    except (TypeError, ValueError) as error:
        return Failure(FailureKind.ERROR, f"the body of the request cannot be written as JSON: {error}")


def _make_body_entry(position: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry:
    path, lines = _write(request, _add_content(request, body))
    size = body.get("size")
    # Most bodies lack the key, which is quickly seen in what was written: scripts/bench/runner measures it.
    may_stop_early = STOPS_EARLY.encode() in lines and _has_stop_key(body)
    return Entry(
        position,
        lines,
        index=_find_index(request),
        path=path,
        title_field=request.title_field,
        has_snippet=request.has_snippet,
        fields=request.fields,
        value_fields=request.value_fields,
        highlights=request.highlights,
        unique_ids=request.unique_ids,
        id_field=request.id_field,
        may_stop_early=may_stop_early,
        size=size if type(size) is int else None,
        sort_places=find_sort_places(body),
    )


def _make_template_entry(position: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry | Failure:
    """
    The entry of a search template; a Failure where *body* is none.

    The body that is searched is made by the engine. So nothing is added to it, as `_make_body_entry` adds the fields to
    return: the title, the id and values of fields are read if the template returns them. Snippet and *fields* are
    those of documents that are looked up by id, never with a template. The *size* is only a parameter, which a template
    may not use, so that the number of hits cannot be checked against it.
    """
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
    path, lines = _write(request, _fill_size(body))
    source = template.get("source")
    # The content of a stored template is unknown, and a source that is a text is only searched for the key.
    may_stop_early = "id" in template or _has_stop_key(template)
    if isinstance(source, str) and STOPS_EARLY in source:
        may_stop_early = True
    return Entry(
        position,
        lines,
        index=_find_index(request),
        path=path,
        is_template=True,
        title_field=request.title_field,
        value_fields=request.value_fields,
        unique_ids=request.unique_ids,
        id_field=request.id_field,
        may_stop_early=may_stop_early,
        sort_places=find_sort_places(source) if isinstance(source, Mapping) else None,
    )


def _make_esql_entry(position: int, request: SearchRequest, body: Mapping[str, Json]) -> Entry | Failure:
    """
    The entry of an ES|QL text, which is sent by itself; a Failure where it is none, as a hook may have made it.

    Nothing is added to it, so that no texts and values are read but the title, if its rows have that column.
    """
    text, size = body[ESQL], body.get("size")
    if not isinstance(text, str) or not isinstance(body.get("params", {}), Mapping):
        return Failure(FailureKind.ERROR, f"`{ESQL}` should be a text, and `params` beside it an object")
    try:
        query = parse_esql(text)
    except EsqlError as error:
        return Failure(FailureKind.ERROR, f"`{ESQL}` cannot be read at its character {error.offset + 1}: {error}")
    return Entry(
        position,
        _encode(make_content(body)),
        path=PATH,
        title_field=request.title_field,
        unique_ids=request.unique_ids,
        id_field=request.id_field,
        size=size if type(size) is int else None,
        esql=query,
    )


def _write(request: SearchRequest, content: Json) -> tuple[str, bytes]:
    """The path and lines of *request*: two lines of an `_msearch`, or a `_search` for parameters without a place."""
    if request.url_params.keys() <= HEADER_PARAMS:
        header = _make_header(request)
        header.pop("index", None)
        return "", _write_lines(header, content)
    path, _ = make_single_search(request)
    return path, _encode(content)


def _add_content(request: SearchRequest, body: Mapping[str, Json]) -> dict[str, Json]:
    """
    *body* with the fields to return, if it does not select fields itself, and those whose values decide something: the
    one that holds the id, and those that expectations read.
    """
    content = dict(body)
    if CONTENT_KEYS.isdisjoint(body):
        fields_read = [] if request.title_field is None else [request.title_field]
        if request.has_snippet:
            fields_read.append("*")
        fields_read += request.fields
        fields_read += [field for field in request.value_fields if field not in fields_read]
        content["_source"] = fields_read or False
    # A body that selects another part of the source returns these beside it.
    needed = list(request.value_fields)
    if request.id_field is not None and request.id_field not in needed:
        needed.append(request.id_field)
    if needed:
        fields = body.get("fields")
        content["fields"] = [*fields, *needed] if isinstance(fields, list) else needed
    return content


def _fill_size(body: Mapping[str, Json]) -> dict[str, Json]:
    """The search template of *body* with its size as a parameter."""
    template = body["template"]
    params = {"size": body["size"]} if "size" in body else {}
    return {**template, "params": {**params, **template.get("params", {})}}


def _has_stop_key(body: Json) -> bool:
    """Whether `terminate_after` is a key anywhere in *body*."""
    return any(key == STOPS_EARLY for key, _ in iterate_members(body))


def make_index_path(index: str | None) -> str:
    """
    The beginning of a path that names *index*, which may be several or a pattern; empty for None.

    >>> make_index_path("shop-*,books"), make_index_path("a b")
    ('/shop-*,books', '/a%20b')
    """
    return "" if index is None else f"/{quote(index, safe='*,')}"


def select_shard_params(url_params: Mapping[str, str]) -> dict[str, str]:
    """
    Those of *url_params* that leave out some shards of an index.

    >>> select_shard_params({"routing": "berlin", "preference": "_local", "search_type": "query_then_fetch"})
    {'routing': 'berlin'}
    """
    selected = {}
    if "routing" in url_params:
        selected["routing"] = str(url_params["routing"])
    preference = str(url_params.get("preference", ""))
    if preference.startswith("_shards:"):
        selected["preference"] = preference
    return selected


def describe_shards(url_params: Mapping[str, str]) -> str:
    """The `select_shard_params` in words: ``routing berlin``."""
    return " and ".join(f"{name} {value}" for name, value in select_shard_params(url_params).items())


def make_single_search(request: SearchRequest) -> tuple[str, dict[str, Json]]:
    """
    The path and the body of the `_search` that finds what *request* finds as a part of an `_msearch`; those of ES|QL.

    *request* is one of which `make_entry` makes an entry.
    """
    body, header = request.body, _make_header(request)
    if is_esql(body):
        return PATH, make_content(body)
    index = header.pop("index", None)
    is_template = "template" in body
    parameters = {name: "false" if value is False else value for name, value in header.items()}
    path = f"{make_index_path(index)}/_search"
    if is_template:
        path += "/template"
    content = _fill_size(body) if is_template else _add_content(request, body)
    return f"{path}?{urlencode(parameters)}", content


def _make_header(request: SearchRequest) -> dict[str, Json]:
    """The header line: a search that lacks a shard is an error."""
    header: dict[str, Json] = {"allow_partial_search_results": False}
    if "pit" in request.body:
        # With a point in time the engine accepts neither an index nor a preference.
        return {**header, **request.url_params}
    index = _find_index(request)
    if index is not None:
        header["index"] = index
    return {**header, "preference": PREFERENCE, **request.url_params}


def _find_index(request: SearchRequest) -> str | None:
    """The index that *request* names to the engine; a point in time takes the place of one."""
    return None if "pit" in request.body else request.index or None


def _write_lines(header: Mapping[str, Json], body: Json) -> bytes:
    # What is plain is written once for all searches: scripts/bench/runner measures it.
    if all(value is False or type(value) is str for value in header.values()):
        header_line = _write_header(tuple(header.items()))
    else:
        header_line = _encode(header)
    return b"%b\n%b\n" % (header_line, _encode(body))


@lru_cache(maxsize=64)
def _write_header(header: tuple[tuple[str, Json], ...]) -> bytes:
    """Most searches of a run have the same header."""
    return _encode(dict(header))


def _encode(value: Json) -> bytes:
    return COMPACT.encode(value).encode()


def join_lines(entries: Sequence[Entry]) -> bytes:
    """The body of one `_msearch`, or of the `_search` that is one entry; see `choose_path` for the indexes."""
    if _names_index_in_path(entries):
        return b"".join(entry.lines for entry in entries)
    return b"".join(_add_index(entry) for entry in entries)


def _add_index(entry: Entry) -> bytes:
    """The lines of *entry* with its index in the header, which is never empty."""
    if entry.index is None or entry.path:
        return entry.lines
    return b'{"index":%b,%b' % (_encode(entry.index), entry.lines.removeprefix(b"{"))


LONGEST_PATH = 2000
"""Characters of an index in a path. Servers take 4,096 bytes of a first line, and a target may list many indexes."""


def _names_index_in_path(entries: Sequence[Entry]) -> bool:
    """Whether one path can name what all of *entries* search."""
    first = entries[0].index
    if first is None or len(make_index_path(first)) > LONGEST_PATH:
        return False
    if "/" in first:
        # Some proxies decode the slash of a date, such as <logs-{now/d}>, on the way.
        return False
    return all(entry.index == first for entry in entries)


SEARCHES_AT_ONCE = 5
"""
Searches of one `_msearch` that the engine runs at once. Its own default grows with its nodes, up to ten for each, and
several requests are under way, so a cluster that serves others as well could be filled.
"""


def choose_path(entries: Sequence[Entry]) -> str:
    """
    The path of the `_msearch` with *entries*, which are all templates or none, or of the `_search` that is one entry.

    It names the index, if that is one for all: a cluster with `rest.action.multi.allow_explicit_index: false` refuses
    an index in the header, and so may a proxy that decides by the path.
    It has no `filter_path`: with it OpenSearch omits empty lists, and so results without hits.
    """
    if entries[0].path:
        return entries[0].path
    path = make_index_path(entries[0].index) if _names_index_in_path(entries) else ""
    path += "/_msearch/template" if entries[0].is_template else "/_msearch"
    return f"{path}?max_concurrent_searches={SEARCHES_AT_ONCE}"


def find_point(body: Json) -> Json:
    """The point in time of *body*, None if it has none."""
    return body.get("pit") if isinstance(body, Mapping) else None


def add_preference(preference: str, request: SearchRequest) -> SearchRequest:
    """*request* with *preference*, unless it has one, or its target takes none."""
    if request.http is not None or find_point(request.body) is not None or "preference" in request.url_params:
        return request
    if is_esql(request.body):
        return request  # it takes none
    return replace(request, url_params={**request.url_params, "preference": preference})
