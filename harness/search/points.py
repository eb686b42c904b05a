"""A point in time of our own: opened on an index, put into the searches of it, and closed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from harness.errors import RequestRefused, SearchError
from harness.model import Engine, SearchRequest
from harness.search.answers import describe_refusal, list_error_kinds, read_json
from harness.search.connection import Connection
from harness.search.msearch import PREFERENCE, make_index_path
from harness.search.server_health import Retries, ServerRequest, ask_one

KEEP_ALIVE = "5m"
"""How long the engine keeps a point in time after each search of it."""

SECONDS_TO_CLOSE = 5.0

OF_THE_POINT = frozenset(
    {
        "allow_no_indices", "ccs_minimize_roundtrips", "expand_wildcards", "ignore_throttled", "ignore_unavailable",
        "preference", "routing",
    }
)  # fmt: skip
"""Parameters that engines refuse in a search of a point in time; opening it takes the place of them."""

TO_OPEN = ("allow_no_indices", "expand_wildcards", "ignore_unavailable", "preference", "routing")


@dataclass(frozen=True, slots=True)
class PointInTime:
    """The state of *index* at the moment in which it was opened, under an *id* of the engine's."""

    index: str
    id: str

    def pin(self, request: SearchRequest) -> SearchRequest:
        """*request* on the point in time, if it is a body for the same index."""
        body = request.body
        if request.http is not None or request.index != self.index or not isinstance(body, Mapping):
            return request
        if "pit" in body or "template" in body:
            return request
        parameters = {name: value for name, value in request.url_params.items() if name not in OF_THE_POINT}
        return replace(request, body={**body, "pit": {"id": self.id, "keep_alive": KEEP_ALIVE}}, url_params=parameters)


OF_THE_TARGET = "if this engine has none, remove `point_in_time` from the target"


def open_point(
    connection: Connection,
    engine: Engine,
    retries: Retries,
    index: str,
    url_params: Mapping[str, str],
    *,
    remedy: str = OF_THE_TARGET,
) -> PointInTime:
    """
    Open a point in time of *index*, with those of *url_params* that say which indexes and copies that is.

    Raises:
        RequestRefused: The engine refuses, such as a build that has none; *remedy* ends the sentence.
    """
    place = "_search/point_in_time" if engine.kind == "opensearch" else "_pit"
    given = {name: url_params[name] for name in TO_OPEN if name in url_params}
    parameters = urlencode({"keep_alive": KEEP_ALIVE, "preference": PREFERENCE, **given})
    path = f"{make_index_path(index)}/{place}?{parameters}"
    answer = ask_one(connection, retries, ServerRequest("POST", path))
    content = read_json(answer)
    name = "pit_id" if engine.kind == "opensearch" else "id"
    point = content.get(name) if isinstance(content, Mapping) else None
    if answer.status != 200 or not isinstance(point, str):
        reason = describe_refusal(answer) if answer.status != 200 else f"the answer has no `{name}`"
        sentence = f"no point in time was opened by `POST {path}`: {reason}{remedy and '; '}{remedy}"
        raise RequestRefused(connection.mask(sentence), answer.status, list_error_kinds(answer))
    return PointInTime(index, point)


def close_point(connection: Connection, engine: Engine, point: PointInTime) -> None:
    """Close *point*; one that cannot be closed ends by itself."""
    is_opensearch = engine.kind == "opensearch"
    path = "/_search/point_in_time" if is_opensearch else "/_pit"
    body = {"pit_id": [point.id]} if is_opensearch else {"id": point.id}
    with suppress(SearchError):
        connection.perform("DELETE", path, body=json.dumps(body).encode(), timeout=SECONDS_TO_CLOSE)
