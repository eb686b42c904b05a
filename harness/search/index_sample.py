"""Reads the names of a cluster's indexes, the fields of an index, and a sample of its documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from harness.errors import RequestRefused, SearchError
from harness.model.suite import Json
from harness.search.answers import WINDOW_SETTING
from harness.search.connected import ConnectedSearch, ask_json
from harness.search.connection import Connection
from harness.search.hits import find_scalars
from harness.search.msearch import make_index_path
from harness.search.points import KEEP_ALIVE, close_point, open_point
from harness.search.protocol import IndexField, SampledDocument

PAGE = 5_000
"""Documents of one answer, where all are read."""

SAMPLED = 100
"""Documents of a sample."""


def read_names(search: ConnectedSearch[Connection]) -> dict[str, tuple[str, ...]]:
    """
    The names that can be searched, by their kind, without those that begin with a dot.

    Raises:
        SearchError: The login may not list them, or there is no answer.
    """
    content = ask_json(search, "GET", "/_resolve/index/*?expand_wildcards=open")
    names_by_kind: dict[str, tuple[str, ...]] = {}
    for key, kind in (("data_streams", "data stream"), ("aliases", "alias"), ("indices", "index")):
        names = [member["name"] for member in content.get(key, ())]
        visible = sorted(name for name in names if not name.startswith("."))
        if visible:
            names_by_kind[kind] = tuple(visible)
    return names_by_kind


def read_fields(search: ConnectedSearch[Connection], index: str) -> dict[str, IndexField]:
    """
    The fields of *index*, which may be an alias, a data stream or a pattern, by name; not those of the engine's own.

    Raises:
        SearchError: There is none, or the login may not read it.
    """
    content = ask_json(search, "GET", f"{make_index_path(index)}/_field_caps?fields=*&include_unmapped=true")
    fields = content.get("fields")
    if not isinstance(fields, Mapping):
        raise SearchError("the answer to `_field_caps` is not complete")
    aliases = _read_alias_fields(search, index)
    index_fields = {}
    for name, types in fields.items():
        # A search of a field and of its alias would count each word twice.
        if name.startswith("_") or name in aliases:
            continue
        # An index without the field does not keep the others from being searched, but sorting by it fails there.
        mapped = [abilities for type_, abilities in types.items() if type_ != "unmapped"]
        is_searchable = all(abilities.get("searchable", False) for abilities in mapped)
        is_sortable = "unmapped" not in types and all(abilities.get("aggregatable", False) for abilities in mapped)
        index_fields[name] = IndexField(name, frozenset(types), is_searchable, is_sortable)
    return index_fields


def _read_alias_fields(search: ConnectedSearch[Connection], index: str) -> set[str]:
    """The fields that are aliases of others in all indexes behind *index*; none if the mappings cannot be read."""
    try:
        content = ask_json(search, "GET", f"{make_index_path(index)}/_mapping")
    except SearchError:
        return set()
    aliases: set[str] = set()
    others: set[str] = set()
    for definition in content.values():
        mappings = definition.get("mappings") if isinstance(definition, Mapping) else None
        for name, is_alias in _list_mapped_fields(mappings or {}, ""):
            if is_alias:
                aliases.add(name)
            else:
                others.add(name)
    return aliases - others


def _list_mapped_fields(mapping: Mapping[str, Json], prefix: str) -> Iterator[tuple[str, bool]]:
    """Each field of *mapping*, and of the objects in it, and whether it is an alias."""
    for name, field in (mapping.get("properties") or {}).items():
        yield f"{prefix}{name}", field.get("type") == "alias"
        yield from _list_mapped_fields(field, f"{prefix}{name}.")


def read_sample(search: ConnectedSearch[Connection], index: str, fields: Sequence[str]) -> list[SampledDocument]:
    """
    The first documents that a search finds, with the texts of *fields*; fewer where the index allows no more.

    Raises:
        RequestRefused: The engine refuses that.
        SearchError: Its answer cannot be read.
    """
    path = f"{make_index_path(index)}/_search"
    body: dict[str, Json] = {
        "size": SAMPLED,
        "query": {"match_all": {}},
        "_source": False,
        "fields": list(fields),
    }
    try:
        content = ask_json(search, "POST", path, body)
    except RequestRefused:
        window = _read_window(search, index, SAMPLED)
        if window == SAMPLED:
            raise
        content = ask_json(search, "POST", path, {**body, "size": window})
    documents = []
    for hit in content.get("hits", {}).get("hits", ()):
        texts = {name: tuple(map(str, values)) for name, values in hit.get("fields", {}).items()}
        documents.append(SampledDocument(hit["_id"], texts))
    return documents


def _read_window(search: ConnectedSearch[Connection], index: str, most: int) -> int:
    """
    How many documents, at most *most*, a search of *index* may ask for; *most* if its settings cannot be read.

    An index whose `max_result_window` is smaller refuses a search for more.
    """
    try:
        content = ask_json(search, "GET", f"{make_index_path(index)}/_settings/{WINDOW_SETTING}?flat_settings=true")
    except SearchError:
        return most
    window = most
    for member in content.values():
        settings = member.get("settings") if isinstance(member, Mapping) else None
        text = str(settings.get(WINDOW_SETTING, "")) if isinstance(settings, Mapping) else ""
        if re.fullmatch("[1-9][0-9]{0,17}", text):
            window = min(window, int(text))
    return window


def read_documents(search: ConnectedSearch[Connection], index: str) -> Iterator[Mapping[str, Json]]:
    """
    All documents of *index* as they are at one moment, page by page.

    Raises:
        RequestRefused: The engine refuses that.
        SearchError: Its answer cannot be read, or a document has no `_source`.
    """
    for hit in _iterate_hits(search, index, {}):
        yield hit["_source"]


def read_values(
    search: ConnectedSearch[Connection], index: str, fields: Sequence[str], id_field: str | None
) -> Iterator[SampledDocument]:
    """As `read_documents`, the ids of all documents, which *id_field* may hold, with the values of *fields*."""
    read_fields = [*fields] if id_field is None else [*fields, id_field]
    for hit in _iterate_hits(search, index, {"_source": read_fields}):
        identity = str(hit["_id"])
        if id_field is not None:
            identity = "".join(map(str, find_scalars(hit["_source"], id_field)[:1]))
        values = {name: tuple(map(str, find_scalars(hit["_source"], name))) for name in fields}
        yield SampledDocument(identity, values)


def _iterate_hits(
    search: ConnectedSearch[Connection], index: str, selection: Mapping[str, Json]
) -> Iterator[Mapping[str, Json]]:
    """The hits that all documents of *index* are, each with the part of its `_source` that *selection* says."""
    size = _read_window(search, index, PAGE)
    point = open_point(search, index, {}, remedy="")
    # The cheapest order that each engine has in all versions.
    order = "_id" if search.engine.kind == "opensearch" else "_shard_doc"
    body: dict[str, Json] = {
        **selection,
        "size": size,
        "pit": {"id": point.id, "keep_alive": KEEP_ALIVE},
        "sort": [{order: "asc"}],
        "track_total_hits": False,
    }
    try:
        while True:
            hits = ask_json(search, "POST", "/_search", body).get("hits", {}).get("hits")
            if not hits:
                return
            for hit in hits:
                if not isinstance(hit.get("_source"), Mapping):
                    raise SearchError(f"document {hit['_id']!r} has no `_source`, from which documents are read")
                yield hit
            body["search_after"] = hits[-1]["sort"]
    finally:
        close_point(search, point)
