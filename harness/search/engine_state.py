"""What Elasticsearch and OpenSearch say of an index: facts, which explain a change, and its state, which shows one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from harness.errors import SearchError
from harness.masking import fingerprint, if_small
from harness.model import Failure, IndexFacts, IndexState, Json, ShardCopy
from harness.search.answers import json_of, lacking_shards
from harness.search.connection import Answer, Connection
from harness.search.hits import MalformedAnswer, count_of, printable
from harness.search.msearch import PREFERENCE, WHICH_INDEXES, index_path
from harness.search.protocol import NOTHING_KNOWN
from harness.search.server_health import Retries, ask_one

OF_ONE_INDEX = frozenset({"creation_date", "history", "provided_name", "resize", "routing", "uuid", "version"})
"""Settings that differ between indexes that were built the same."""


def read_facts(connection: Connection, index: str | None, retries: Retries) -> IndexFacts:
    """
    The facts on *index*, which may be an alias or a pattern. What is refused, or not answered, is in `missing`.

    The fingerprints do not contain index names, so a rebuilt index has the same ones.
    """
    if index is None:
        return NOTHING_KNOWN
    path = index_path(index)

    def ask(what: str, read: Callable[[Mapping[str, Json]], Json]) -> Json:
        return _ask(connection, retries, f"{path}/{what}", read)

    mapping, settings, documents = ask("_mapping", _mappings), ask("_settings", _settings), ask("_count", count_in)
    found = {"mapping": mapping, "settings": settings, "documents": documents}
    missing = tuple(name for name, value in found.items() if value is None)
    return IndexFacts(
        mapping=None if mapping is None else fingerprint(mapping),
        settings=None if settings is None else fingerprint(settings),
        documents=documents,
        missing=missing,
        mapping_json=if_small(mapping),
        settings_json=if_small(settings),
    )


def read_state(connection: Connection, index: str | None, timeout: float, url_params: Mapping[str, str]) -> IndexState:
    """
    The state of *index*, which may be an alias or a pattern; what is refused, or not answered in time, is None.

    Nothing is sent again: a server that is busy or away is not to be waited for because of it.
    """
    if index is None or timeout <= 0:
        return IndexState()
    path = index_path(index)
    which = {name: url_params[name] for name in WHICH_INDEXES if name in url_params}
    copies = {"preference": url_params.get("preference", PREFERENCE)}
    shards = copies if "routing" not in url_params else {**copies, "routing": url_params["routing"]}
    found: list[Any] = []
    try:
        for what, parameters, read in (
            ("_settings/index.uuid", {}, _uuids),
            ("_count", copies, count_in),
            ("_search_shards", shards, dict),
            ("_stats/docs", OF_SHARDS, dict),
            ("_search", NEWEST_FIRST | shards, _newest),
        ):
            asked = urlencode({**parameters, **which})
            answer = connection.perform("GET", f"{path}/{what}{asked and '?' + asked}", timeout=timeout)
            found.append(_found(answer, read))
    except SearchError:
        if len(found) < 2:
            return IndexState()
    uuids, documents, searched, stats, newest = [*found, None, None, None][:5]
    return IndexState(
        uuids,
        documents,
        _copies(searched or {}),
        _writes(stats or {}, searched or {}),
        _filters(searched or {}),
        newest,
        _visible(stats or {}, searched or {}),
    )


OF_SHARDS = {
    "level": "shards",
    "filter_path": "indices.*.uuid,indices.*.shards.*.seq_no.max_seq_no,indices.*.shards.*.docs,"
    "indices.*.shards.*.routing.node",
}
"""Parameters of `_stats`; sequence numbers come with whichever statistics."""

NEWEST_FIRST = {
    "size": "1",
    "sort": "_seq_no:desc",
    "_source": "false",
    "track_total_hits": "false",
    "allow_partial_search_results": "false",
    "filter_path": "hits.hits.sort",
}
"""Parameters of a search for the document that was written last, of those that searches see."""


def _newest(content: Mapping[str, Json]) -> int | None:
    """The sequence number in the answer to `NEWEST_FIRST`; None if there is none."""
    try:
        [number] = content["hits"]["hits"][0]["sort"]
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return number if type(number) is int else None


def _writes(stats: Mapping[str, Json], searched: Mapping[str, Json]) -> Mapping[str, int] | None:
    """
    The highest sequence number of each shard that is *searched* without the filter of an alias, over its copies.

    None if *stats* or *searched* has another form, or if no shard is left.
    """
    found: dict[str, int] = {}
    try:
        for name, _, copies in _unfiltered_shards(stats, searched):
            found[name] = max(int(copy["seq_no"]["max_seq_no"]) for copy in copies)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return None
    return found or None


def _visible(stats: Mapping[str, Json], searched: Mapping[str, Json]) -> Mapping[str, int] | None:
    """
    The documents, with those deleted, in the copy of each shard that answers, as far as in `_writes`.

    Other copies are refreshed at other times. None as for `_writes`.
    """
    found: dict[str, int] = {}
    try:
        for name, group, copies in _unfiltered_shards(stats, searched):
            node = group[0]["node"]
            documents = next(copy["docs"] for copy in copies if copy["routing"]["node"] == node)
            found[printable(f"{name} {node}")] = int(documents["count"]) + int(documents["deleted"])
    except (AttributeError, IndexError, KeyError, OverflowError, StopIteration, TypeError, ValueError):
        return None
    return found or None


def _unfiltered_shards(
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
            yield printable(f"{index['uuid']}[{shard}]"), group, index["shards"][str(shard)]


def _filters(content: Mapping[str, Json]) -> Mapping[str, str] | None:
    """A fingerprint of the filter through which each index is searched, from an answer to `_search_shards`."""
    indices = content.get("indices")
    if not isinstance(indices, Mapping) or not indices:
        return None
    filters = {name: _member(one, "filter") for name, one in indices.items()}
    return {printable(name): fingerprint(one) for name, one in filters.items() if one is not None}


SERVING = ("STARTED", "RELOCATING")
"""The states of copies that answer searches."""


def _copies(content: Mapping[str, Json]) -> Mapping[str, tuple[ShardCopy, ...]] | None:
    """The copies of each shard, from an answer to `_search_shards`; None if it has another form."""
    nodes, found = content.get("nodes"), dict[str, tuple[ShardCopy, ...]]()
    try:
        for group in content["shards"]:
            started = [one for one in group if one["state"] in SERVING]
            copies = (
                ShardCopy(
                    printable(_member(_member(nodes, one["node"]), "name") or one["node"]),
                    printable(_member(one.get("allocation_id"), "id") or ""),
                    one["primary"] is True,
                )
                for one in started
            )
            found[printable(f"{group[0]['index']}[{group[0]['shard']}]")] = tuple(copies)
    except (AttributeError, IndexError, KeyError, TypeError):
        return None
    return found or None


def _uuids(content: Mapping[str, Json]) -> Json:
    found = {name: _member(_member(_member(held, "settings"), "index"), "uuid") for name, held in content.items()}
    return found if found and all(isinstance(uuid, str) for uuid in found.values()) else None


def _ask(connection: Connection, retries: Retries, path: str, read: Callable[[Mapping[str, Json]], Json]) -> Json:
    """The result of *read* for the answer; None if there is none. Facts explain a change and decide nothing."""
    try:
        answer = ask_one(connection, retries, "GET", path)
    except SearchError:
        return None
    found = _found(answer, read)
    return found if _can_be_kept(found) else None


def _found(answer: Answer, read: Callable[[Mapping[str, Json]], Json]) -> Json:
    """The result of *read* for *answer*; None if that is refused or cannot be read."""
    content = json_of(answer) if answer.status == 200 else None
    return read(content) if isinstance(content, Mapping) and not isinstance(content, Failure) else None


def _can_be_kept(found: Json) -> bool:
    """Whether *found* can be written to a file: it has no infinite number and no lone surrogate."""
    try:
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _mappings(content: Mapping[str, Json]) -> Json:
    """The mappings without `_meta`, which does not affect searches."""
    return _of_each(
        [_member(held, "mappings") for held in content.values()],
        lambda mapping: {key: value for key, value in mapping.items() if key != "_meta"},
    )


def _settings(content: Mapping[str, Json]) -> Json:
    return _of_each(
        [_member(_member(held, "settings"), "index") for held in content.values()],
        lambda settings: {key: value for key, value in settings.items() if key not in OF_ONE_INDEX},
    )


def _of_each(found: list[Json], keep: Callable[[Mapping[str, Json]], Json]) -> Json:
    """What *keep* keeps of each index, in an order that does not depend on their names; None if one is missing."""
    if not found or not all(isinstance(one, Mapping) for one in found):
        return None
    return sorted((keep(one) for one in found), key=fingerprint)


def count_in(content: Mapping[str, Json]) -> int | None:
    """The number in the answer to `_count`; None if there is none, or if a shard did not answer."""
    try:
        return None if lacking_shards(content, None) else count_of(content, "count")
    except MalformedAnswer:
        return None


def _member(held: Json, name: str) -> Json:
    return held.get(name) if isinstance(held, Mapping) else None
