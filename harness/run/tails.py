"""Documents that tie with the last hit of a ranking: found by a deeper search, where they are not known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate.selection import find_quoted_field, list_read_fields
from harness.gate.ties import group_ties, truncate_ranking
from harness.model.request import SearchRequest
from harness.model.run import Hit, Ranking, Response, Run, TailSearch
from harness.model.suite import Suite
from harness.run.plan import count_requested_hits
from harness.search.dialects import find_dialect

if TYPE_CHECKING:
    from harness.search.protocol import Dialect, Search

SEARCHED = 1000
"""How deep a search goes that is made again."""

SIZES = (100, SEARCHED)
"""Hits that are asked for to find a tail; few tails are longer than the first, which takes a fifth of the time."""


def cut_with_tail(response: Response, request: SearchRequest, depth: int, dialect: Dialect) -> Response:
    """
    *response* to *request*, cut to *depth* hits, with the documents that tie with the last.

    No further document ties where a deeper hit does not, or where an exact total shows that nothing more matches.
    """
    if not isinstance(response, Ranking):
        return response
    is_closed = dialect.has_all_matches(response, request)
    if response.closed != is_closed:
        response = response.change(closed=is_closed)
    return truncate_ranking(response, depth)


def keep_read_values(response: Response, read_fields: Sequence[str]) -> Response:
    """
    *response* without the values of fields other than *read_fields*, those that `list_read_fields` finds.

    A service returns values of all fields that the suite shows. Those that are compared are stored as they are, and all
    others may have a secret.
    """
    if not isinstance(response, Ranking):
        return response
    hits = tuple(_drop_values(hit, read_fields) for hit in response.hits)
    tail = tuple(_drop_values(hit, read_fields) for hit in response.tail)
    return replace(response, hits=hits, tail=tail)


def _drop_values(hit: Hit, read_fields: Sequence[str]) -> Hit:
    if hit.values is None:
        return hit
    if not read_fields:
        return replace(hit, values=None)
    return replace(hit, values={field: values for field, values in hit.values.items() if field in read_fields})


def search_tails(
    suite: Suite, run: Run, search: Search, *, budget: float | None = None, preference: str | None = None
) -> Run:
    """
    Search deeper for documents that tie with the last hits of *run*, where these are not known.

    Args:
        suite: The suite, as it ran.
        run: The run. Responses of a service stay as they are if nothing says where its number of hits stands.
        search: The search that returned *run*.
        budget: Seconds that this may take.
        preference: Chooses the shard copies that answer, as in *run*.

    Returns:
        The run with the tails that were found. A tail counts only where the deeper response has the same first hits.
    """
    from harness.suites.requests import build_requests

    dialect = find_dialect(suite.target.service)
    begun = time.perf_counter()
    queries_searched = 0
    size_searched = 0
    for size in SIZES:
        open_queries = tuple(query for query in suite.queries if _has_open_tail(run.responses.get(query.id)))
        requests: list[SearchRequest] = []
        for request in build_requests(replace(suite, queries=open_queries), run.request):
            deeper_request = _make_deeper(request, suite, size, size_searched)
            if deeper_request is None:
                continue
            if preference is not None:
                deeper_request = dialect.prefer(deeper_request, preference)
            requests.append(deeper_request)
        seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
        if not requests or (seconds_left is not None and seconds_left <= 0):
            break
        if queries_searched == 0:
            queries_searched = len(requests)  # the sizes that follow have some of the same queries
        try:
            answers = search.search(requests, budget=seconds_left)
        except SearchError as error:
            seconds = time.perf_counter() - begun
            return replace(run, tails=TailSearch(queries_searched, size, seconds, len(open_queries), str(error)))
        responses = dict(run.responses)
        read_fields = list_read_fields(suite, run.request)
        for request, answer in zip(requests, answers, strict=True):
            response = _add_tail(responses[request.query], answer, request, dialect)
            responses[request.query] = keep_read_values(response, read_fields)
        run = replace(run, responses=responses)
        size_searched = size
    if queries_searched == 0:
        return run
    left_open = sum(_has_open_tail(response) for response in run.responses.values())
    return replace(run, tails=TailSearch(queries_searched, size_searched, time.perf_counter() - begun, left_open))


def _has_open_tail(response: Response | None) -> bool:
    """Whether unknown documents may tie with the last hit."""
    if not isinstance(response, Ranking):
        return False
    # Without groups it is unknown which documents tie.
    return not response.closed and bool(group_ties(response))


def _make_deeper(request: SearchRequest, suite: Suite, size: int, size_searched: int) -> SearchRequest | None:
    """
    *request* with at most *size* hits, to find what ties with its last; None where that is no more than it requests
    itself, or than the *size_searched* before.
    """
    dialect = find_dialect(suite.target.service)
    size = min(size, dialect.find_deepest_size(request))
    if size <= max(count_requested_hits(request, suite), size_searched):
        return None
    deeper_request = dialect.deepen(request, size)
    quoted_field = find_quoted_field(suite)
    if quoted_field is not None and dialect.has_indexes:
        # A document that ties with the last hit may hold what that lacks.
        deeper_request = replace(deeper_request, value_fields=(quoted_field,))
    return deeper_request


def _add_tail(response: Response, deep: Response, request: SearchRequest, dialect: Dialect) -> Response:
    """Add the tail from *deep*, the response to *request*, if *deep* begins with the hits of *response*."""
    if not isinstance(response, Ranking):
        return response
    found = cut_with_tail(deep, request, len(response.ids), dialect)
    if not isinstance(found, Ranking):
        return response
    if found.ids != response.ids:
        return response
    indexes = tuple(sorted({*response.indexes, *found.indexes}))
    return replace(response, tail=found.tail, closed=found.closed, indexes=indexes)
