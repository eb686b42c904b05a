"""What an index is, as far as the login may read it: its mapping, its settings, how many documents it has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

from harness.errors import SearchError
from harness.masking import fingerprint, if_small
from harness.model import Failure, IndexFacts, Json
from harness.search.answers import json_of
from harness.search.asking import ask_one
from harness.search.connection import Connection
from harness.search.hits import MalformedAnswer, count_of
from harness.search.items import lacking_shards
from harness.search.retries import Retries

__all__ = ["NOTHING_KNOWN", "count_in", "read_facts"]


NOTHING_KNOWN = IndexFacts(missing=("mapping", "settings", "documents"))

OF_ONE_INDEX = frozenset({"creation_date", "history", "provided_name", "resize", "routing", "uuid", "version"})
"""Settings that tell an index from another one which was built the same."""


def read_facts(connection: Connection, index: str | None, retries: Retries) -> IndexFacts:
    """
    The facts on *index*, an alias or a pattern too. What is refused, or not answered, is named as missing.

    Names of indexes are left out of the fingerprints, so that an index that was built anew is the same.
    """
    if index is None:
        return NOTHING_KNOWN
    path = f"/{quote(index, safe='*,')}"

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


def _ask(connection: Connection, retries: Retries, path: str, read: Callable[[Mapping[str, Json]], Json]) -> Json:
    """What *read* finds in the answer; None where there is none. Facts explain a change and decide nothing."""
    try:
        answer = ask_one(connection, retries, "GET", path)
    except SearchError:
        return None
    content = json_of(answer) if answer.status == 200 else None
    found = read(content) if isinstance(content, Mapping) and not isinstance(content, Failure) else None
    return found if _can_be_kept(found) else None


def _can_be_kept(found: Json) -> bool:
    """Whether *found* can be written to a file: it holds no number without an end, and no half of a character."""
    try:
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


def _mappings(content: Mapping[str, Json]) -> Json:
    """Without `_meta`, which is a note to people and programs and changes no search."""
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
    """What is kept of each index, in an order that does not depend on their names; None where one is missing."""
    if not found or not all(isinstance(one, Mapping) for one in found):
        return None
    return sorted((keep(one) for one in found), key=fingerprint)


def count_in(content: Mapping[str, Json]) -> int | None:
    """The number in the answer to `_count`; None where there is none, or where a shard did not count."""
    try:
        return None if lacking_shards(content, None) else count_of(content, "count")
    except MalformedAnswer:
        return None


def _member(held: Json, name: str) -> Json:
    return held.get(name) if isinstance(held, Mapping) else None
