"""
The last hits of rankings, and what ties with them below.

Where the score of the last hit is that of others which were not asked for, the order of ties decides which documents
are in the ranking. So a run asks for one hit more than it needs, and where that ties too, further down.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.gate.ties import cut, leaves_ties, tie_groups
from harness.model import Ranking, RequestTemplate, Response, Run, SearchRequest, Suite, TailSearch

if TYPE_CHECKING:
    from harness.search import Search

__all__ = ["SEARCHED", "one_further", "search_tails", "with_last_group"]


SEARCHED = 1000
"""How deep a search goes that is made again."""

SIZES = (100, SEARCHED)
"""Hits that are asked for to find a tail; few tails are longer than the first, which takes a fifth of the time."""


def one_further(request: SearchRequest, template: RequestTemplate) -> SearchRequest:
    """
    *request* for one hit more, where that cannot change the others.

    A body that says its size is sent as it stands, and so is what a search template or a service makes of its own.
    """
    from harness.suites.templates import deepest_size

    body, own = request.body, template.body
    if template.http is not None or not isinstance(body, Mapping) or not isinstance(own, Mapping):
        return request
    if "size" in own or "template" in own or not leaves_ties(template):
        return request
    size = body["size"] + 1
    return replace(request, body={**body, "size": size}) if size <= deepest_size(body) else request


def with_last_group(suite: Suite, run: Run, requests: Sequence[SearchRequest], sent: Sequence[SearchRequest]) -> Run:
    """
    *run* with the hits that were needed, and with what is known of those that tie with the last.

    Args:
        suite: What ran.
        run: The answers as they came.
        requests: What was needed, one for each answer.
        sent: What was asked for.
    """
    responses = {
        wanted.query: _known(run.responses[wanted.query], one, _size(wanted, suite))
        for wanted, one in zip(requests, sent, strict=True)
    }
    return replace(run, responses=responses)


def _size(request: SearchRequest, suite: Suite) -> int:
    """How many hits *request* asks for, as far as it says."""
    body = request.body if request.http is None and isinstance(request.body, Mapping) else {}
    size = suite.depth if "template" in body else body.get("size")
    return size if isinstance(size, int) else suite.depth


def _known(response: Response, sent: SearchRequest, depth: int) -> Response:
    """
    *response* with *depth* hits, and what ties with the last of them.

    Nothing more does where a deeper hit has another score, or an exact total shows that nothing more matches.
    """
    from harness.suites.templates import shows_all

    if not isinstance(response, Ranking):
        return response
    exact = None if response.total_is_lower_bound or response.stopped_early else response.total
    whole = exact is not None and exact <= response.returned and shows_all(sent.body)
    return cut(replace(response, closed=whole), depth)


def search_tails(suite: Suite, run: Run, search: Search, *, budget: float | None = None) -> Run:
    """
    Ask again, further down, for what ties with the last hits of *run*, where that is not known.

    Args:
        suite: As it ran.
        run: Its answers. Those of a service stay as they are: it is not asked for more than its users ask for.
        search: Where they came from.
        budget: Seconds that this may take.

    Returns:
        The run with the tails that were found. One is believed only where the deeper answer has the same first hits.
    """
    from harness.suites.requests import build_requests, choose_template

    if not leaves_ties(choose_template(suite, run.request)):
        return run
    begun, asked, beyond = time.perf_counter(), 0, 0
    for size in SIZES:
        left = None if budget is None else budget - (time.perf_counter() - begun)
        open_queries = tuple(query for query in suite.queries if _goes_on(run.responses.get(query.id)))
        requests = build_requests(replace(suite, queries=open_queries), run.request)
        sent = [deep for one in requests if (deep := _deep(one, suite, size, beyond)) is not None]
        if not sent or (left is not None and left <= 0):
            break
        asked = asked or len(sent)
        try:
            found = search.search(sent, budget=left)
        except SearchError as error:
            seconds = time.perf_counter() - begun
            return replace(run, tails=TailSearch(asked, size, seconds, len(open_queries), str(error)))
        answers = zip(sent, found, strict=True)
        completed = {one.query: _completed(run.responses[one.query], deep, one) for one, deep in answers}
        run, beyond = replace(run, responses={**run.responses, **completed}), size
    open_still = sum(map(_goes_on, run.responses.values()))
    return replace(run, tails=TailSearch(asked, beyond, time.perf_counter() - begun, open_still)) if asked else run


def _goes_on(response: Response | None) -> bool:
    """Whether documents that are not known may have the score of the last hit."""
    groups = tie_groups(response) if isinstance(response, Ranking) else []
    return bool(groups) and not groups[-1].closed


def _deep(request: SearchRequest, suite: Suite, size: int, beyond: int) -> SearchRequest | None:
    """
    *request* for as many as *size* hits, to show what ties with its last; None where it cannot be asked for more than
    it asks for itself, or for more than *beyond*.
    """
    from harness.suites.templates import deeper, deepest_size

    if request.http is not None:
        return None
    size = min(size, deepest_size(request.body))
    return deeper(request, size) if size > max(_size(request, suite), beyond) else None


def _completed(ranking: Response, deep: Response, sent: SearchRequest) -> Response:
    """*ranking* with the tail that *deep*, the answer to *sent*, shows, if that begins as *ranking* does."""
    if not isinstance(ranking, Ranking):
        return ranking
    found = _known(deep, sent, len(ranking.hits))
    if not isinstance(found, Ranking) or [hit.id for hit in found.hits] != [hit.id for hit in ranking.hits]:
        return ranking
    return replace(ranking, tail=found.tail, closed=found.closed)
