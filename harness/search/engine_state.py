"""What Elasticsearch and OpenSearch say of an index: facts, which explain a change, and its state, which shows one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from harness.errors import SearchError
from harness.masking import fingerprint, keep_small
from harness.model.run import Failure, IndexFacts, IndexState
from harness.model.suite import Json
from harness.model.timing import ShardCopy
from harness.search.answers import find_missing_shards, read_json
from harness.search.connection import Answer, Connection
from harness.search.hits import MalformedAnswer, make_printable, read_count
from harness.search.msearch import INDEX_PARAMS, PREFERENCE, make_index_path
from harness.search.protocol import NOTHING_KNOWN
from harness.search.server_health import Retries, ServerRequest, ask_one

OWN_SETTINGS = frozenset({"creation_date", "history", "provided_name", "resize", "routing", "uuid", "version"})
"""Settings that differ between indexes that were built the same."""

# Facts.


def read_facts(connection: Connection, index: str | None, retries: Retries) -> IndexFacts:
    """
    The facts on *index*, which may be an alias or a pattern. What is refused, or not answered, is in `missing`.

    The fingerprints do not contain index names, so a rebuilt index has the same ones.
    """
    if index is None:
        return NOTHING_KNOWN
    path = make_index_path(index)
    mapping = _ask_fact(connection, retries, f"{path}/_mapping", _read_mappings)
    settings = _ask_fact(connection, retries, f"{path}/_settings", _read_settings)
    documents = _ask_fact(connection, retries, f"{path}/_count", read_document_count)
    facts = {"mapping": mapping, "settings": settings, "documents": documents}
    return IndexFacts(
        mapping=None if mapping is None else fingerprint(mapping),
        settings=None if settings is None else fingerprint(settings),
        documents=documents,
        missing=tuple(name for name, fact in facts.items() if fact is None),
        mapping_json=keep_small(mapping),
        settings_json=keep_small(settings),
    )


def _ask_fact(connection: Connection, retries: Retries, path: str, read: Callable[[Mapping[str, Json]], Json]) -> Json:
    """The result of *read* for the answer; None if there is none. Facts explain a change and decide nothing."""
    try:
        answer = ask_one(connection, retries, ServerRequest("GET", path))
    except SearchError:
        return None
    fact = _read_content(answer, read)
    try:
        # A baseline keeps facts: no infinite number and no lone surrogate can be written to its file.
        json.dumps(fact, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return None
    return fact


def _read_mappings(content: Mapping[str, Json]) -> Json:
    """
    The mappings in *content*, an answer to `_mapping`, without the names of their indexes; None if one is missing.

    `_meta`, which does not affect searches, is left out.
    """
    mappings = []
    for answer_of_index in content.values():
        mapping = _get_member(answer_of_index, "mappings")
        if not isinstance(mapping, Mapping):
            return None
        mappings.append({key: value for key, value in mapping.items() if key != "_meta"})
    return _sort_parts(mappings)


def _read_settings(content: Mapping[str, Json]) -> Json:
    """The settings in *content*, an answer to `_settings`, without `OWN_SETTINGS`; None if those of one are missing."""
    all_settings = []
    for answer_of_index in content.values():
        settings = _get_member(answer_of_index, "settings", "index")
        if not isinstance(settings, Mapping):
            return None
        all_settings.append({key: value for key, value in settings.items() if key not in OWN_SETTINGS})
    return _sort_parts(all_settings)


def _sort_parts(parts: list[dict[str, Json]]) -> Json:
    """*parts*, one of each index, in an order that does not depend on the names of the indexes; None if empty."""
    if not parts:
        return None
    return sorted(parts, key=fingerprint)


def read_document_count(content: Mapping[str, Json]) -> int | None:
    """The number in the answer to `_count`; None if there is none, or if a shard did not answer."""
    try:
        if find_missing_shards(content, None) is not None:
            return None
        return read_count(content, "count")
    except MalformedAnswer:
        return None


# The state.

SHARD_STATS = {
    "level": "shards",
    "filter_path": "indices.*.uuid,indices.*.shards.*.seq_no.max_seq_no,indices.*.shards.*.docs,"
    "indices.*.shards.*.routing.node",
}
"""Parameters of `_stats`; sequence numbers come with whichever statistics."""

NEWEST_DOCUMENT = {
    "size": "1",
    "sort": "_seq_no:desc",
    "_source": "false",
    "track_total_hits": "false",
    "allow_partial_search_results": "false",
    "filter_path": "hits.hits.sort",
}
"""Parameters of a search for the document that was written last, of those that searches see."""

SERVING = ("STARTED", "RELOCATING")
"""The states of copies that answer searches."""

OTHER_FORM = (AttributeError, IndexError, KeyError, OverflowError, StopIteration, TypeError, ValueError)
"""What is raised by reading an answer that has another form than expected: its part of the state is unknown then."""


def read_state(connection: Connection, index: str | None, timeout: float, url_params: Mapping[str, str]) -> IndexState:
    """
    The state of *index*, which may be an alias or a pattern; what is refused, or not answered in time, is None.

    Nothing is sent again: a server that is busy or away is not to be waited for because of it.
    """
    if index is None or timeout <= 0:
        return IndexState()
    index_params = {name: url_params[name] for name in INDEX_PARAMS if name in url_params}
    copy_params = {"preference": url_params.get("preference", PREFERENCE)}
    shard_params = dict(copy_params)
    if "routing" in url_params:
        shard_params["routing"] = url_params["routing"]
    questions: Sequence[tuple[str, Mapping[str, str], Callable[[Mapping[str, Json]], Json]]] = (
        ("_settings/index.uuid", {}, _read_uuids),
        ("_count", copy_params, read_document_count),
        ("_search_shards", shard_params, dict),
        ("_stats/docs", SHARD_STATS, dict),
        ("_search", NEWEST_DOCUMENT | shard_params, _read_newest),
    )
    answers: list[Any] = []
    try:
        for endpoint, params, read in questions:
            query = urlencode({**params, **index_params})
            path = f"{make_index_path(index)}/{endpoint}"
            answer = connection.perform("GET", f"{path}?{query}" if query else path, timeout=timeout)
            answers.append(_read_content(answer, read))
    except SearchError:
        # Without the indexes and their documents, the rest says nothing.
        if len(answers) < 2:
            return IndexState()
    answers += [None] * (len(questions) - len(answers))
    uuids, documents, searched, stats, newest = answers
    searched, stats = searched or {}, stats or {}
    return IndexState(
        uuids,
        documents,
        _read_copies(searched),
        _read_writes(stats, searched),
        _read_filters(searched),
        newest,
        _read_visible(stats, searched),
    )


def _read_uuids(content: Mapping[str, Json]) -> Json:
    """The UUID of each index, by its name; None if one is missing."""
    uuids = {name: _get_member(member, "settings", "index", "uuid") for name, member in content.items()}
    is_known = all(isinstance(uuid, str) for uuid in uuids.values())
    return uuids if uuids and is_known else None


def _read_newest(content: Mapping[str, Json]) -> int | None:
    """The sequence number in the answer to `NEWEST_DOCUMENT`; None if there is none."""
    try:
        [number] = content["hits"]["hits"][0]["sort"]
    except OTHER_FORM:
        return None
    return number if type(number) is int else None


def _read_copies(searched: Mapping[str, Json]) -> Mapping[str, tuple[ShardCopy, ...]] | None:
    """The copies of each shard, from an answer to `_search_shards`; None if it has another form."""
    nodes = searched.get("nodes")
    copies: dict[str, tuple[ShardCopy, ...]] = {}
    try:
        for group in searched["shards"]:
            copies_of_shard = []
            for copy in group:
                if copy["state"] not in SERVING:
                    continue
                node = _get_member(nodes, copy["node"], "name") or copy["node"]
                allocation = _get_member(copy.get("allocation_id"), "id") or ""
                is_primary = copy["primary"] is True
                copies_of_shard.append(ShardCopy(make_printable(node), make_printable(allocation), is_primary))
            name = make_printable(f"{group[0]['index']}[{group[0]['shard']}]")
            copies[name] = tuple(copies_of_shard)
    except OTHER_FORM:
        return None
    return copies or None


def _read_filters(searched: Mapping[str, Json]) -> Mapping[str, str] | None:
    """A fingerprint of the filter through which each index is searched, from an answer to `_search_shards`."""
    indices = searched.get("indices")
    if not isinstance(indices, Mapping) or not indices:
        return None
    filters = {}
    for name, member in indices.items():
        alias_filter = _get_member(member, "filter")
        if alias_filter is not None:
            filters[make_printable(name)] = fingerprint(alias_filter)
    return filters


def _read_writes(stats: Mapping[str, Json], searched: Mapping[str, Json]) -> Mapping[str, int] | None:
    """
    The highest sequence number of each shard that is *searched* without the filter of an alias, over its copies.

    None if *stats* or *searched* has another form, or if no shard is left.
    """
    writes: dict[str, int] = {}
    try:
        for name, _, copies in _walk_unfiltered_shards(stats, searched):
            writes[name] = max(int(copy["seq_no"]["max_seq_no"]) for copy in copies)
    except OTHER_FORM:
        return None
    return writes or None


def _read_visible(stats: Mapping[str, Json], searched: Mapping[str, Json]) -> Mapping[str, int] | None:
    """
    The number of documents, with those deleted, in the copy of each shard that answers searches.

    Other copies are refreshed at other times. Shards that are searched through the filter of an alias are left out.
    None if *stats* or *searched* has another form, or if no shard is left.
    """
    visible: dict[str, int] = {}
    try:
        for name, group, copies in _walk_unfiltered_shards(stats, searched):
            node = group[0]["node"]
            documents = next(copy["docs"] for copy in copies if copy["routing"]["node"] == node)
            visible[make_printable(f"{name} {node}")] = int(documents["count"]) + int(documents["deleted"])
    except OTHER_FORM:
        return None
    return visible or None


def _walk_unfiltered_shards(
    stats: Mapping[str, Json], searched: Mapping[str, Json]
) -> Iterator[tuple[str, Sequence[Json], Sequence[Json]]]:
    """
    Each shard that is searched without the filter of an alias: its name, with the UUID of its index; its copies in
    *searched*, an answer to `_search_shards`, the one that answers first; and its copies in *stats*.

    Writes behind a filter may be to documents that no search sees.
    """
    for group in searched["shards"]:
        name, shard = group[0]["index"], group[0]["shard"]
        if "filter" not in searched["indices"][name]:
            index = stats["indices"][name]
            yield make_printable(f"{index['uuid']}[{shard}]"), group, index["shards"][str(shard)]


def _read_content(answer: Answer, read: Callable[[Mapping[str, Json]], Json]) -> Json:
    """The result of *read* for the content of *answer*; None if that is refused or cannot be read."""
    if answer.status != 200:
        return None
    content = read_json(answer)
    if isinstance(content, Failure) or not isinstance(content, Mapping):
        return None
    return read(content)


def _get_member(value: Json, *path: str) -> Json:
    """What is at *path* in *value*; None where there is nothing."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
