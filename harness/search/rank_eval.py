"""Scores from a cluster's own `_rank_eval`, which only reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from harness.errors import RequestRefused, SearchError
from harness.model.suite import Json
from harness.search.answers import (
    COMPLETE,
    add_window_hint,
    describe_refusal,
    is_blocked,
    read_failure,
    read_json,
    refuses_login,
)
from harness.search.batches import split_into_batches
from harness.search.connected import ConnectedSearch, ask_json, make_login_refused
from harness.search.connection import Answer, Connection, NoAnswerInTime
from harness.search.hits import describe_kind
from harness.search.msearch import SEARCHES_AT_ONCE, make_index_path
from harness.search.protocol import RatedHit, RatedQuery
from harness.search.server_health import ServerRequest, ask_one

URL_PARAMS = ("search_type", "ignore_unavailable", "allow_no_indices", "expand_wildcards")
"""The parameters of `_search` that `_rank_eval` takes too."""

REQUESTS_AT_ONCE = 100
_IDS_AT_ONCE = 1000


def rate_requests(
    search: ConnectedSearch[Connection], index: str | None, spec: Mapping[str, Json], url_params: Mapping[str, str]
) -> dict[str, RatedQuery | str]:
    """
    The score of each request of *spec*, a body of `_rank_eval`, by its id; a text says why there is none.

    A request that makes the whole body fail is found by halving.

    Raises:
        SearchError: The engine has no `_rank_eval`, or did not answer.
        LoginRefused: It refuses the login.
    """
    path = f"{make_index_path(index)}/_rank_eval"
    if url_params:
        path += f"?{urlencode(url_params)}"
    ratings: dict[str, RatedQuery | str] = {}
    for requests in split_into_batches(spec["requests"], REQUESTS_AT_ONCE):
        ratings |= _rate_part(search, path, spec, requests)
    return ratings


def _rate_part(
    search: ConnectedSearch[Connection], path: str, spec: Mapping[str, Json], requests: Sequence[Json]
) -> dict[str, RatedQuery | str]:
    """The scores of some of the *requests* of *spec*; halves of them follow where all are refused."""
    used = {request.get("template_id") for request in requests}
    templates = [template for template in spec.get("templates", ()) if template["id"] in used]
    body = {**spec, "requests": requests, "templates": templates, "max_concurrent_searches": SEARCHES_AT_ONCE}
    try:
        answer = ask_one(search.connection, search.retries, ServerRequest("POST", path, json.dumps(body).encode()))
    except NoAnswerInTime as error:
        answer, reason = None, search.connection.mask(str(error))
    if answer is not None:
        content = read_json(answer)
        if answer.status in COMPLETE and isinstance(content, Mapping):
            return {request["id"]: _read_rating(content, request["id"]) for request in requests}
        reason = _explain_refusal(search, answer)
    if len(requests) == 1:
        return {requests[0]["id"]: reason}
    half = len(requests) // 2
    return _rate_part(search, path, spec, requests[:half]) | _rate_part(search, path, spec, requests[half:])


def _explain_refusal(search: ConnectedSearch[Connection], answer: Answer) -> str:
    """
    Why a whole request was refused.

    Raises:
        SearchError: Because of no single request in it.
    """
    if refuses_login(answer):
        raise make_login_refused(answer, search.connection)
    if is_blocked(read_failure(answer)):
        raise SearchError(search.connection.mask(describe_refusal(answer)))
    if answer.status in (405, 501) or b"no handler found" in answer.body:
        raise SearchError(
            f"this node of {search.engine} lacks the module rank-eval, so there is no `_rank_eval` to ask: "
            f"{search.connection.mask(describe_refusal(answer))}"
        )
    return search.connection.mask(describe_refusal(answer))


def _read_rating(content: Mapping[str, Json], request: str) -> RatedQuery | str:
    """The score of *request* in *content*, or why there is none."""
    failures: Json = content.get("failures") or {}
    details: Json = content.get("details")
    for name, member in (("failures", failures), ("details", details)):
        if not isinstance(member, Mapping):
            return f"malformed answer: `{name}` of `_rank_eval` should be an object, found {describe_kind(member)}"
    failure = failures.get(request)
    if failure is not None:
        reason = failure.get("error", failure) if isinstance(failure, Mapping) else failure
        if isinstance(reason, Mapping):
            reason = reason.get("reason") or reason.get("type")
        return str(reason)
    detail = details.get(request)
    try:
        return RatedQuery(float(detail["metric_score"]), tuple(map(_read_hit, detail["hits"])))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return "malformed answer: `_rank_eval` has no score and hits for it"


def _read_hit(member: Json) -> RatedHit:
    hit = member["hit"]
    return RatedHit(str(hit["_id"]), str(hit["_index"]), hit.get("_score"), member.get("rating"))


def find_homes(
    search: ConnectedSearch[Connection], index: str, ids: Sequence[str], url_params: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """
    The indexes behind *index*, which may be an alias or a pattern, that have each of *ids*; none has those left out.

    Raises:
        SearchError: The look-up was refused, or not answered.
    """
    homes: dict[str, tuple[str, ...]] = {}
    path = f"{make_index_path(index)}/_search"
    query = urlencode({key: value for key, value in url_params.items() if key != "search_type"})
    if query:
        path += f"?{query}"
    for part in split_into_batches(ids, _IDS_AT_ONCE):
        body = {"query": {"ids": {"values": part}}, "size": min(10_000, len(part) * 10), "_source": False}
        try:
            content: Json = ask_json(search, "POST", path, body, refused="judged documents cannot be looked up: ")
        except RequestRefused as error:
            raise RequestRefused(add_window_hint(str(error)), error.status, error.kinds) from None
        try:
            for hit in content["hits"]["hits"]:
                homes[hit["_id"]] = (*homes.get(hit["_id"], ()), hit["_index"])
        except (KeyError, TypeError):
            raise SearchError(
                "malformed answer: the look-up of judged documents has no hits with _id and _index"
            ) from None
        if any(index in indexes for indexes in homes.values()):
            break  # it is an index itself, and so the home of all
    return homes
