"""The requests of a run as they were sent, for its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from harness.model import Cluster, Ranking, Run, SearchRequest, SentRequest, Suite, with_ids
from harness.run.plan import requests_of

if TYPE_CHECKING:
    from harness.hooks import Hooks

REQUESTS_KEPT = 500
"""Queries of a suite whose requests a report has: a request may be large."""


def sent_request(request: SearchRequest, cluster: Cluster) -> SentRequest:
    """*request*, which must be valid, as sent to *cluster* by itself; not masked, and without the login."""
    http = request.http
    if http is not None:
        from harness.search.http_service import sent_url

        content = {} if http.json is None else {"content-type": "application/json"}
        return SentRequest(http.method, sent_url(cluster.url or "", http), {**content, **http.headers}, http.json)
    from harness.search.msearch import single_search
    from harness.search.transport import urls_of

    path, body = single_search(request)
    url = urls_of(cluster)[0].rstrip("/") if cluster.url or cluster.nodes or cluster.cloud_id else ""
    return SentRequest("POST", url + path, {"content-type": "application/json"}, body)


def sent_requests(
    suite: Suite,
    run: Run,
    cluster: Cluster,
    first: Iterable[str],
    hooks: Hooks,
    known: Mapping[str, SearchRequest],
) -> dict[str, SentRequest]:
    """
    The requests of `REQUESTS_KEPT` queries with a ranking in *run*, the queries *first* before others, without headers
    and login; not masked. *known* has the requests as hooks changed them; *hooks* are called for the queries of an
    earlier run.
    """
    template = suite.requests[run.request]
    wanted = dict.fromkeys(first)
    every = chain(wanted, (query for query in run.responses if query not in wanted))
    kept = set(islice((query for query in every if isinstance(run.responses.get(query), Ranking)), REQUESTS_KEPT))
    service = Cluster(cluster.name, cluster.url if template.http is not None else None)
    sent = requests_as_sent(replace(suite, queries=with_ids(suite.queries, kept)), run, hooks, known)
    return {one.query: replace(sent_request(one, service), headers={}) for one in sent}


def requests_as_sent(
    suite: Suite, run: Run, hooks: Hooks, known: Mapping[str, SearchRequest]
) -> Iterator[SearchRequest]:
    """
    The request of each query of *suite*, as it was sent in *run*.

    Those that *known* lacks are built and given to *hooks* again.
    """
    from harness.suites.requests import on_index

    template = suite.requests[run.request]
    on_its_index = suite if template.http is not None else on_index(suite, run.index)
    concern = hooks.concern_searches
    built = requests_of(on_its_index, template, further=not (concern or run.window_is_full), titles=concern)
    return (known.get(one.query) or hooks.request(one) for one in built)
