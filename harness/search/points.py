"""A point in time of our own: opened on an index, put into the searches of it, and closed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from harness.errors import RequestRefused, SearchError
from harness.model.request import SearchRequest
from harness.model.suite import Json
from harness.search.answers import describe_refusal, list_error_kinds, read_json
from harness.search.connected import ConnectedSearch
from harness.search.connection import Connection
from harness.search.esql import is_esql
from harness.search.msearch import PREFERENCE, make_index_path
from harness.search.server_health import ServerRequest, ask_one

KEEP_ALIVE = "5m"
"""How long the engine keeps a point in time after each search of it."""

SECONDS_TO_CLOSE = 5.0

POINT_PARAMS = frozenset(
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
        if "pit" in body or "template" in body or is_esql(body):
            return request
        body = {**body, "pit": {"id": self.id, "keep_alive": KEEP_ALIVE}}
        parameters = {name: value for name, value in request.url_params.items() if name not in POINT_PARAMS}
        return replace(request, body=body, url_params=parameters)


NO_POINT = "if this engine has none, remove `point_in_time` from the target"
"""What to do where a suite asks for a point in time that cannot be opened."""


def open_point(
    search: ConnectedSearch[Connection], index: str, url_params: Mapping[str, str], *, remedy: str = NO_POINT
) -> PointInTime:
    """
    Open a point in time of *index*, with those of *url_params* that say which indexes and copies that is.

    Raises:
        RequestRefused: The engine refuses, such as a build that has none; *remedy* ends the sentence.
    """
    # The two engines have their own paths and names for the same thing.
    endpoint, member = "_pit", "id"
    if search.engine.kind == "opensearch":
        endpoint, member = "_search/point_in_time", "pit_id"
    parameters = {"keep_alive": KEEP_ALIVE, "preference": PREFERENCE}
    parameters |= {name: url_params[name] for name in TO_OPEN if name in url_params}
    path = f"{make_index_path(index)}/{endpoint}?{urlencode(parameters)}"
    answer = ask_one(search.connection, search.retries, ServerRequest("POST", path))
    content = read_json(answer)
    identity = content.get(member) if isinstance(content, Mapping) else None
    if answer.status == 200 and isinstance(identity, str):
        return PointInTime(index, identity)
    reason = f"the answer has no `{member}`" if answer.status == 200 else describe_refusal(answer)
    sentence = f"no point in time was opened by `POST {path}`: {reason}"
    if remedy:
        sentence += f"; {remedy}"
    raise RequestRefused(search.connection.mask(sentence), answer.status, list_error_kinds(answer))


def close_point(search: ConnectedSearch[Connection], point: PointInTime) -> None:
    """Close *point*; one that cannot be closed ends by itself."""
    path = "/_pit"
    body: Json = {"id": point.id}
    if search.engine.kind == "opensearch":
        path, body = "/_search/point_in_time", {"pit_id": [point.id]}
    with suppress(SearchError):
        search.connection.perform("DELETE", path, body=json.dumps(body).encode(), timeout=SECONDS_TO_CLOSE)
