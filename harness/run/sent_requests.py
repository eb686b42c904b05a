"""The requests of a run as they were sent, for its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from harness.model.request import SearchRequest
from harness.model.run import Ranking, Run
from harness.model.suite import Suite, select_by_id
from harness.run.plan import plan_searches

if TYPE_CHECKING:
    from harness.hooks import Hooks

REQUESTS_KEPT = 500
"""Queries of a suite whose requests a report has: a request may be large."""


def list_sent_requests(
    suite: Suite, run: Run, first: Iterable[str], hooks: Hooks, known: Mapping[str, SearchRequest]
) -> list[SearchRequest]:
    """
    The requests of `REQUESTS_KEPT` queries with a ranking in *run*, in the order of the suite.

    Args:
        suite: The suite, as it ran.
        run: The run.
        first: Queries that come before others if there are more.
        hooks: Called for the queries of an earlier run.
        known: The requests as hooks changed them, by query.

    Raises:
        HookError: A hook failed.
    """
    first_queries = dict.fromkeys(first)
    other_queries = (query for query in run.responses if query not in first_queries)
    ranked = (query for query in chain(first_queries, other_queries) if isinstance(run.responses.get(query), Ranking))
    shown = set(islice(ranked, REQUESTS_KEPT))
    return list(rebuild_requests(replace(suite, queries=select_by_id(suite.queries, shown)), run, hooks, known))


def rebuild_requests(
    suite: Suite, run: Run, hooks: Hooks, known: Mapping[str, SearchRequest]
) -> Iterator[SearchRequest]:
    """
    Yield the request of each query of *suite*, as it was sent in *run*.

    Those that *known* lacks are built and given to *hooks* again.
    """
    from harness.suites.requests import move_to_index

    template = suite.requests[run.request]
    if template.http is None:
        suite = move_to_index(suite, run.index)
    concern = hooks.has_search_hooks
    further = not (concern or run.window_is_full)
    for request in plan_searches(suite, run.request, further=further, titles=concern).requests:
        if not concern:
            yield request
        else:
            yield known.get(request.query) or hooks.change_request(request)
