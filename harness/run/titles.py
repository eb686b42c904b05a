"""Titles of documents, which are looked up by id after the searches, once for each document."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.model import Ranking, Reference, Run, Suite
from harness.search.lookup import batched, find_texts

if TYPE_CHECKING:
    from harness.search import Search

TITLES_AT_ONCE = 10_000
"""Documents whose titles are looked up before the next ones are; only their titles are kept."""


TITLES_AT_MOST = 10_000
"""Documents whose titles are looked up beside those of hits that are reported."""


def look_up_titles(
    suite: Suite, run: Run, search: Search, documents: Iterable[str], *, budget: float | None = None
) -> Run:
    """
    *run* with the titles of *documents*, which are looked up by id: the suite's request does not ask for them.

    A look-up that fails decides nothing.

    Args:
        suite: Names the title field; without one nothing is looked up, nor for an HTTP service.
        run: Holds the titles that are known, and the index that was searched.
        search: The search that returned *run*.
        documents: Ids; those of a known title are left out.
        budget: Seconds that this may take.
    """
    from harness.suites.requests import build_request

    template, titles, begun = suite.requests.get(run.request), dict(run.titles), time.perf_counter()
    if suite.title_field is None or template is None or template.http is not None:
        return run
    wanted = list({document: None for document in documents if document not in titles})
    answered = (query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
    query = next(answered, None) if wanted else None
    if query is None:
        return run
    request = replace(build_request(suite, template, query), index=run.index)
    try:
        for part in batched(wanted, TITLES_AT_ONCE):
            left = None if budget is None else budget - (time.perf_counter() - begun)
            hits, _ = find_texts(search, request, part, title_field=suite.title_field, budget=left)
            titles.update((document, hit.title) for document, hit in hits.items() if hit.title)
    except SearchError:
        pass
    return replace(run, titles=titles)


def untitled_hits(run: Run, queries: Iterable[str] | None = None) -> Iterator[str]:
    """The documents that *run* returned without their title, for all queries or only for *queries*."""
    responses = run.responses.values() if queries is None else map(run.responses.get, queries)
    return (hit.id for one in responses if isinstance(one, Ranking) for hit in one.hits if not hit.title)


def left_documents(run: Run, reference: Reference | None, queries: Iterable[str] | None = None) -> Iterator[str]:
    """The documents that only the baseline ranks, for all queries or only for *queries*; it stores no titles."""
    before = {} if reference is None or reference.run is None else reference.run.responses
    for query in before if queries is None else queries:
        old, new = before.get(query), run.responses.get(query)
        if isinstance(old, Ranking) and isinstance(new, Ranking):
            returned = {hit.id for hit in new.hits}
            yield from (hit.id for hit in old.hits if hit.id not in returned)
