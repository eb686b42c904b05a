"""Documents that tie with the last hit of a ranking: found by a deeper search, where they are not known."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate.ties import group_ties, truncate_ranking
from harness.model import Ranking, Response, Run, SearchRequest, Suite, TailSearch
from harness.search.msearch import preferring

if TYPE_CHECKING:
    from harness.search import Search

SEARCHED = 1000
"""How deep a search goes that is made again."""

SIZES = (100, SEARCHED)
"""Hits that are asked for to find a tail; few tails are longer than the first, which takes a fifth of the time."""


def hits_requested(request: SearchRequest, suite: Suite) -> int:
    """How many hits *request* asks for, as far as it says."""
    body = request.body if request.http is None and isinstance(request.body, Mapping) else {}
    size = suite.depth if "template" in body else body.get("size")
    return size if isinstance(size, int) else suite.depth


def cut_with_tail(response: Response, request: SearchRequest, depth: int, *, collapsed: bool) -> Response:
    """
    *response* to *request*, cut to *depth* hits, with the documents that tie with the last.

    No further document ties where a deeper hit does not, or where an exact total shows that nothing more matches. With
    `collapse` the total counts the documents of all groups; there, a short response has the last group.
    """
    from harness.suites.depth import is_short, shows_all

    if not isinstance(response, Ranking):
        return response
    exact = None if response.total_is_lower_bound or response.stopped_early else response.total
    ends = exact is not None and (
        exact <= response.returned or (collapsed and is_short(response.returned, request.body))
    )
    whole = ends and shows_all([request.url_params, request.body])
    return truncate_ranking(response if response.closed == whole else replace(response, closed=whole), depth)


def search_tails(
    suite: Suite, run: Run, search: Search, *, budget: float | None = None, preference: str | None = None
) -> Run:
    """
    Search deeper for documents that tie with the last hits of *run*, where these are not known.

    Args:
        suite: The suite, as it ran.
        run: The run. Responses of a service stay as they are: it is not sent deeper searches.
        search: The search that returned *run*.
        budget: Seconds that this may take.
        preference: Chooses the shard copies that answer, as in *run*.

    Returns:
        The run with the tails that were found. A tail counts only where the deeper response has the same first hits.
    """
    from harness.suites.requests import build_requests

    begun, queries, beyond = time.perf_counter(), 0, 0
    for size in SIZES:
        left = None if budget is None else budget - (time.perf_counter() - begun)
        open_queries = tuple(query for query in suite.queries if _has_open_tail(run.responses.get(query.id)))
        requests = build_requests(replace(suite, queries=open_queries), run.request)
        sent = [deep for one in requests if (deep := _deeper_request(one, suite, size, beyond)) is not None]
        sent = [one if preference is None else preferring(preference, one) for one in sent]
        if not sent or (left is not None and left <= 0):
            break
        queries = queries or len(sent)
        try:
            found = search.search(sent, budget=left)
        except SearchError as error:
            seconds = time.perf_counter() - begun
            return replace(run, tails=TailSearch(queries, size, seconds, len(open_queries), str(error)))
        answers = zip(sent, found, strict=True)
        completed = {one.query: _with_tail_of(run.responses[one.query], deep, one) for one, deep in answers}
        run, beyond = replace(run, responses={**run.responses, **completed}), size
    open_still = sum(map(_has_open_tail, run.responses.values()))
    return replace(run, tails=TailSearch(queries, beyond, time.perf_counter() - begun, open_still)) if queries else run


def _has_open_tail(response: Response | None) -> bool:
    """Whether unknown documents may tie with the last hit."""
    groups = group_ties(response) if isinstance(response, Ranking) else []
    return bool(groups) and not groups[-1].closed


def _deeper_request(request: SearchRequest, suite: Suite, size: int, beyond: int) -> SearchRequest | None:
    """
    *request* with at most *size* hits, to find what ties with its last; None where that is no more than it requests
    itself, or than *beyond*.
    """
    from harness.suites.depth import deeper, deepest_size

    if request.http is not None:
        return None
    size = min(size, deepest_size([request.url_params, request.body]))
    return deeper(request, size) if size > max(hits_requested(request, suite), beyond) else None


def _with_tail_of(ranking: Response, deep: Response, sent: SearchRequest) -> Response:
    """*ranking* with the tail from *deep*, the response to *sent*, if *deep* begins with the hits of *ranking*."""
    from harness.suites.depth import collapses

    if not isinstance(ranking, Ranking):
        return ranking
    found = cut_with_tail(deep, sent, len(ranking.hits), collapsed=collapses(sent.body))
    if not isinstance(found, Ranking) or [hit.id for hit in found.hits] != [hit.id for hit in ranking.hits]:
        return ranking
    indexes = tuple(sorted({*ranking.indexes, *found.indexes}))
    return replace(ranking, tail=found.tail, closed=found.closed, indexes=indexes)
