"""A suite and a search to a run: each query's request is sent, each response is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from harness.gate.selection import queries_to_run
from harness.metrics.ranking import gain_of
from harness.model import MissingDocument, Query, Ranking, Response, Run, SearchRequest, Suite
from harness.running.tails import SEARCHED, one_further, with_last_group
from harness.search.lookup import ids_request, pinned_of

if TYPE_CHECKING:
    from harness.search import Search

__all__ = ["execute", "locate_missing"]


def execute(
    suite: Suite,
    search: Search,
    *,
    request: str | None = None,
    progress: Callable[[int], None] | None = None,
    today: date | None = None,
    budget: float | None = None,
    further: bool = True,
) -> Run:
    """
    Send the request of every query of *suite* that is not skipped.

    Args:
        suite: As loaded with an environment.
        search: Where to.
        request: The name of the request template; the suite's first where None.
        progress: Called with the number of queries that are newly done.
        today: The day on which skips are held against their last day; the clock's where None.
        budget: Seconds that the searches may take; the queries that are left then did not run.
        further: Whether one hit more than is needed is asked for, where the request allows it, to tell whether the last
            one ties with others.

    Returns:
        A response for each query, in the suite's order. An interrupt is no response: it ends the run.

    Raises:
        UsageError: The suite has no request of that name.
        SuiteError: A query's values make a request that cannot be sent.
        SearchError: No query could be asked at all.
    """
    from harness.suites.requests import build_requests, choose_template

    active = queries_to_run(suite, today or date.today())
    template = choose_template(suite, request)
    requests = [_titled(one, suite) for one in build_requests(active, request)]
    sent = [one_further(one, template) for one in requests] if further else requests
    begun = time.perf_counter()
    responses = search.search(sent, on_done=progress, budget=budget)
    seconds = time.perf_counter() - begun
    run = Run(
        responses={one.query: response for one, response in zip(requests, responses, strict=True)},
        engine=search.engine,
        request=template.name,
        index=template.index or suite.target.index,
        seconds=seconds,
    )
    return with_last_group(suite, run, requests, sent)


def _titled(request: SearchRequest, suite: Suite) -> SearchRequest:
    return replace(request, title_field=suite.title_field) if suite.title_field else request


def locate_missing(
    suite: Suite, run: Run, search: Search, queries: Sequence[str]
) -> Mapping[str, tuple[MissingDocument, ...]]:
    """
    Where the relevant documents rank that are not among the hits of *run*.

    One more search for each query, the same but for its size, finds their ranks. Where the suite names a title field,
    another one asks for the titles of what is missing, found or not. They explain a run and decide nothing: where they
    fail, the documents are named with no rank and no title, and no deeper than the run itself went.

    Args:
        suite: That *run* is of.
        run: Holds the rankings, and the index that was searched.
        search: Where *run* came from.
        queries: Ids of the queries to look at; what has no ranking is left out.

    Returns:
        The missing documents of each query, best grade first. A relevant document is one of positive gain.

    Raises:
        SearchError: No query could be asked at all.
    """
    missing = {query.id: _missing(query, suite, run) for query in suite.queries if query.id in frozenset(queries)}
    wanted = {query: documents for query, documents in missing.items() if documents}
    found, titled = _search_deeper(suite, run, search, wanted)
    return {
        query: _titles_added(_ranked(documents, found.get(query)), titled.get(query))
        for query, documents in wanted.items()
    }


def _missing(query: Query, suite: Suite, run: Run) -> tuple[MissingDocument, ...]:
    response = run.responses.get(query.id)
    if not isinstance(response, Ranking):
        return ()
    returned = {hit.id for hit in response.hits}
    absent = [
        MissingDocument(document, grade, searched=len(response.hits))
        for document, grade in query.judgments.items()
        if document not in returned and gain_of(suite.gain, grade) > 0
    ]
    return tuple(sorted(absent, key=lambda document: (-document.grade, document.id)))


def _search_deeper(
    suite: Suite, run: Run, search: Search, missing: Mapping[str, Sequence[MissingDocument]]
) -> tuple[dict[str, Response], dict[str, Response]]:
    """By query, the answer that holds the ranks of the missing documents, and the one that holds their titles."""
    from harness.suites.requests import build_requests, on_index
    from harness.suites.templates import deeper

    asked = replace(suite, queries=tuple(query for query in suite.queries if query.id in missing))
    chosen = on_index(asked, run.index)
    sent = [one for one in build_requests(chosen, run.request) if one.http is None]
    if not sent:
        return {}, {}
    titles = [_for_titles(one, missing[one.query], suite.title_field) for one in sent] if suite.title_field else []
    responses = search.search([*(deeper(one, SEARCHED) for one in sent), *titles])
    found, titled = responses[: len(sent)], responses[len(sent) :]
    return (
        {one.query: response for one, response in zip(sent, found, strict=True)},
        {one.query: response for one, response in zip(titles, titled, strict=True)},
    )


def _for_titles(request: SearchRequest, documents: Sequence[MissingDocument], title_field: str) -> SearchRequest:
    """A search for *documents* themselves, where *request* searched."""
    ids = [document.id for document in documents[:SEARCHED]]
    return ids_request(request.query, request.index, ids, pinned=pinned_of(request.body), title_field=title_field)


def _ranked(documents: tuple[MissingDocument, ...], response: Response | None) -> tuple[MissingDocument, ...]:
    if not isinstance(response, Ranking):
        return documents
    ranks = {hit.id: rank for rank, hit in enumerate(response.hits, start=1)}
    return tuple(replace(document, rank=ranks.get(document.id), searched=SEARCHED) for document in documents)


def _titles_added(documents: tuple[MissingDocument, ...], response: Response | None) -> tuple[MissingDocument, ...]:
    if not isinstance(response, Ranking):
        return documents
    titles = {hit.id: hit.title for hit in response.hits}
    return tuple(replace(document, title=titles.get(document.id)) for document in documents)
