"""Elasticsearch and OpenSearch: their version, facts on an index, and searches by `_msearch`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any
from urllib.parse import urlencode

from harness.config import engine_problem
from harness.errors import EngineUnreachable, LoginRefused, RequestRefused, SearchError, UsageError
from harness.masking import fingerprint, if_small
from harness.model import (
    Definitions,
    Engine,
    Failure,
    FailureKind,
    IndexFacts,
    IndexState,
    Json,
    Response,
    SearchRequest,
    ShardCopy,
)
from harness.search.answers import WHOLE, error_kinds, json_of, lacking_shards, refusal_text, refuses_login
from harness.search.batches import MOST_SEARCHES, Batches
from harness.search.connection import Answer, Connection
from harness.search.definitions import References, read_definitions
from harness.search.fields import read_field_types
from harness.search.hits import MalformedAnswer, count_of, excerpt, printable
from harness.search.msearch import PREFERENCE, WHICH_INDEXES, Entry, entry_of, index_path
from harness.search.points import PointInTime, close_point, open_point
from harness.search.sending import BatchSender
from harness.search.server_health import ConnectedSearch, Retries, ServerHealth, ask_one, is_alive

NO_REQUEST = Failure(FailureKind.ERROR, "the request is an HTTP request, and its cluster is an engine")
AT_ONCE = 4
"""Concurrent requests by default, few enough for a cluster that serves others as well."""

SECONDS_TO_COME_BACK = 1.0
"""How long a server that was given up has to answer `GET /` before each look-up; without an answer it is not sent."""


class EngineSearch(ConnectedSearch[Connection]):
    """Searches Elasticsearch or OpenSearch by `_msearch`, over any connection."""

    who = "the engine"
    remedies = {401: "is it set and correct?", 403: "it needs the privilege `read` on the index"}  # noqa: RUF012

    def __init__(
        self,
        connection: Connection,
        engine: Engine,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        concurrency: int = AT_ONCE,
        batch: int = MOST_SEARCHES,
    ) -> None:
        """
        Args:
            connection: To the server.
            engine: What the server is.
            timeout: Seconds for one request.
            retries: The limits of retries.
            concurrency: Requests that are sent at once, at most.
            batch: Searches of one request, at most.
        """
        super().__init__(connection, engine, timeout=timeout, retries=retries)
        self._concurrency = concurrency
        self._batch = batch
        self._point: PointInTime | None = None
        self._gone: Failure | None = None
        """Why the server was given up during the last search, None if it answered."""

    @contextmanager
    def at_point_in_time(self, index: str, url_params: Mapping[str, str]) -> Iterator[EngineSearch]:
        """
        A search over the same connection that searches a point in time in place of *index* until the end of the block.

        Args:
            index: A name, alias or pattern.
            url_params: Those of its searches.

        Raises:
            SearchError: It cannot be opened.
        """
        pinned = copy(self)
        pinned._point = point = open_point(self.connection, self.engine, self.retries, index, url_params)
        try:
            yield pinned
        finally:
            pinned._point = None
            close_point(self.connection, self.engine, point)

    def search(self, requests: Sequence[SearchRequest], *, budget: float | None = None) -> list[Response]:
        """See `Search.search`."""
        self._raise_if_gone()
        return super().search(requests, budget=budget)

    def _check(self, requests: Sequence[SearchRequest], *, budget: float | None) -> None:
        """An engine takes any request."""

    def _send_all(
        self, requests: Sequence[SearchRequest], health: ServerHealth
    ) -> Generator[tuple[int, Response], None, None]:
        entries = (self._write_entry(place, request) for place, request in enumerate(requests))
        batches = Batches(entries, len(requests), health, senders=self._concurrency, most=self._batch)
        yield from BatchSender(self.connection, health, batches).send_all(len(requests), self._concurrency)
        self._gone = health.gone

    def _write_entry(self, place: int, request: SearchRequest) -> Entry:
        """*request* as lines of an `_msearch`, in the point in time that is searched."""
        if request.http is not None:
            return Entry(place, b"", refusal=NO_REQUEST)
        entry = entry_of(place, request if self._point is None else self._point.pin(request))
        return entry if isinstance(entry, Entry) else Entry(place, b"", refusal=entry)

    def _still_gone(self) -> Failure | None:
        """Why the server was given up, if it does not answer now either."""
        if self._gone is not None and is_alive(self.connection, lambda: min(self.timeout, SECONDS_TO_COME_BACK)):
            self._gone = None
        return self._gone

    def _raise_if_gone(self) -> None:
        if failure := self._still_gone():
            raise EngineUnreachable(self.connection.mask(failure.reason))

    def index_facts(self, index: str | None) -> IndexFacts:
        """See `Search.index_facts`."""
        return NOTHING_KNOWN if self._still_gone() else read_facts(self.connection, index, self.retries)

    def field_types(
        self, index: str, names: Sequence[str], url_params: Mapping[str, str]
    ) -> Mapping[str, frozenset[str]]:
        """See `Search.field_types`."""
        self._raise_if_gone()
        return read_field_types(self.connection, self.retries, index, names, url_params)

    def index_state(self, index: str | None, *, timeout: float, url_params: Mapping[str, str]) -> IndexState:
        """See `Search.index_state`."""
        return IndexState() if self._still_gone() else read_state(self.connection, index, timeout, url_params)

    def read_definitions(
        self, index: str | None, references: References, *, timeout: float, url_params: Mapping[str, str]
    ) -> Definitions:
        """See `Search.read_definitions`."""
        if self._still_gone():
            timeout = 0
        return read_definitions(self.connection, index, references, timeout, url_params)


SERVERLESS = "serverless"
"""What stands for the version where the server has none."""

STATE_IT = 'state the engine in the target, for example `engine: "elasticsearch 9.4.3"`'


def stated_engine(text: str) -> Engine:
    """
    The engine that *text*, such as "opensearch 2.19", says.

    Raises:
        UsageError: It names none that is known.

    >>> str(stated_engine("opensearch 2.19"))
    'opensearch 2.19'
    """
    sentence = engine_problem(text)
    if sentence:
        raise UsageError(f"invalid `engine`: {sentence}")
    kind, _, version = text.strip().partition(" ")
    return Engine(kind, version.strip(), stated=True)


def ask_who(
    connection: Connection, retries: Retries, *, timeout: float = math.inf, budget: float | None = None
) -> Engine:
    """
    The engine of the server, from `GET /`; each node is tried, and a busy one again.

    Args:
        connection: To the server.
        retries: The limits of retries.
        timeout: Seconds for one attempt; by default the connection's own.
        budget: Seconds for all attempts together.

    Raises:
        LoginRefused: The login is wrong, or lacks the privilege.
        EngineUnreachable: No node answers.
        SearchError: The server is neither Elasticsearch nor OpenSearch.
    """
    answer = ask_one(connection, retries, "GET", "/", timeout=timeout, budget=budget)
    if answer.status == 403 and (kind := _kind_that_refuses(answer)):
        return Engine(kind)
    if refuses_login(answer):
        raise login_refused(answer, connection)
    content = json_of(answer)
    version = content.get("version") if isinstance(content, Mapping) else None
    if answer.status != 200 or not isinstance(content, Mapping) or not isinstance(version, Mapping):
        raise SearchError(connection.mask(_no_engine(answer)))
    if not isinstance(version.get("number", ""), str):
        raise SearchError(connection.mask(_no_engine(answer)))
    return _engine(version, content)


def _kind_that_refuses(answer: Answer) -> str | None:
    """Which engine says that the login may not ask for its version; None if it may be a proxy that says so."""
    if answer.headers.get("x-elastic-product") == "Elasticsearch":
        return "elasticsearch"
    reason = refusal_text(answer)
    if "[cluster:monitor/main]" not in reason:
        return None
    return "opensearch" if "no permissions for" in reason else "elasticsearch"


def _engine(version: Mapping[str, Any], content: Mapping[str, Any]) -> Engine:
    number = printable(version.get("number", ""))
    if version.get("build_flavor") == SERVERLESS:  # it has a number for old clients only
        return Engine("elasticsearch", SERVERLESS)
    if version.get("distribution") == "opensearch":
        return Engine("opensearch", number)
    if content.get("tagline") == "You Know, for Search" or "build_flavor" in version:
        return Engine("elasticsearch", number)
    raise SearchError(f"the server says it is version {number or '?'} of an unknown engine; {STATE_IT}")


def is_engine(answer: Answer) -> bool:
    """Whether the *answer* to `GET /` is an engine's, be it that it refuses the login."""
    if "x-elastic-product" in answer.headers or "opensearch" in answer.headers.get("www-authenticate", "").lower():
        return True
    content = json_of(answer)
    if not isinstance(content, Mapping):
        return False
    version, error = content.get("version"), content.get("error")
    if isinstance(error, Mapping) and "root_cause" in error:
        return True
    with suppress(SearchError):
        return isinstance(version, Mapping) and bool(_engine(version, content))
    return False


def _no_engine(answer: Answer) -> str:
    if answer.status != 200:
        reason = refusal_text(answer)
    else:
        reason = f'it says "{excerpt(answer.body[:400].decode("utf-8", "replace"), 120)}"'
    return (
        f"`GET /` was not answered by Elasticsearch or OpenSearch: {reason}; is the URL correct? If it is, {STATE_IT}"
    )


def login_refused(answer: Answer, connection: Connection) -> LoginRefused:
    """The error for a 401 or 403, with a remedy."""
    reason = refusal_text(answer)
    if answer.status == 401:
        remedy = "are the variables of the cluster's login set and correct, and has an API key not expired?"
    else:
        remedy = f"the login is valid but lacks the privilege; if it may only read the index, {STATE_IT}"
    return LoginRefused(connection.mask(f"the engine refuses the login ({reason}): {remedy}"))


def ask_json(
    search: EngineSearch, method: str, path: str, body: Json = None, *, refused: str = ""
) -> Mapping[str, Json]:
    """
    The object with which the engine of *search* answers a request that is not a search.

    Raises:
        LoginRefused: It refuses the login.
        RequestRefused: It refuses the request, or its answer is no object; *refused* begins the sentence.
    """
    sent = None if body is None else json.dumps(body).encode()
    answer = ask_one(search.connection, search.retries, method, path, body=sent)
    if refuses_login(answer):
        raise login_refused(answer, search.connection)
    content = json_of(answer)
    if answer.status not in WHOLE or not isinstance(content, Mapping):
        why = content.reason if isinstance(content, Failure) else refusal_text(answer)
        raise RequestRefused(search.connection.mask(f"{refused}{why}"), answer.status, error_kinds(answer))
    return content


NOTHING_KNOWN = IndexFacts(missing=("mapping", "settings", "documents"))

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
