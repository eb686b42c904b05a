"""
What is looked up after the searches: titles of documents, and where the documents rank that a ranking lacks.

Titles are looked up by id, once for each document. One more request for the worst queries tells why documents are
missing. A look-up decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.errors import SearchError
from harness.hooks import Hooks
from harness.model import (
    Absence,
    Failure,
    Json,
    MissingDocument,
    Query,
    Ranking,
    Reference,
    Response,
    Run,
    SearchRequest,
    Suite,
    with_ids,
)
from harness.options import RunOptions
from harness.run.checks import find_similar
from harness.run.report import missing_documents
from harness.run.tails import SEARCHED, hits_requested
from harness.search.answers import with_window_hint
from harness.search.lookup import batched, find_texts, ids_query, ids_request
from harness.search.msearch import shard_params, shards_text
from harness.suites.depth import COSTLY, deeper, shows_all, window_of
from harness.words import counted

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


# Missing documents.

QUERIES_LOCATED = 20
"""Queries of a suite, the worst of each threshold first, whose missing documents a deeper search looks for."""


def locate_worst(
    suite: Suite, run: Run, search: Search | None, worst: Sequence[str], options: RunOptions, budget: float | None
) -> tuple[Mapping[str, tuple[MissingDocument, ...]], list[str]]:
    """
    As `locate_missing`, for the first of the *worst* queries, and with a sentence on why others are unknown.

    Nothing is looked for without a connection, where *options* say so, or with no *budget* left, in seconds.
    """
    shown = [*worst, *(run.responses if options.report_only else ())]
    queries = [query for query in dict.fromkeys(shown) if isinstance(run.responses.get(query), Ranking)]
    if not queries or not options.locate:
        return {}, []
    if search is None:
        lacking = any(_missing(query, suite, run) for query in with_ids(suite.queries, frozenset(queries)))
        return {}, ["the ranks of missing documents are unknown: there is no connection"] if lacking else []
    if budget is not None and budget <= 0:
        return {}, ["the ranks of missing documents are unknown: the time budget of the run is used up"]
    hooked = options.hooks.around(search)
    located, why = locate_missing(suite, run, hooked, queries[:QUERIES_LOCATED], hooks=options.hooks)
    return located, [f"the ranks of missing documents are unknown: {with_window_hint(why)}"] if why else []


def locate_missing(
    suite: Suite, run: Run, search: Search, queries: Sequence[str], *, hooks: Hooks
) -> tuple[Mapping[str, tuple[MissingDocument, ...]], str]:
    """
    Find the relevant and the expected documents that are not among the hits of *run*.

    One request has three more searches for each query: the same search with a larger size finds their ranks, a look-up
    by ids finds which are visible, with their titles, and the same query with a filter on the ids finds which match. If
    the query searches some shards only, as with a routing, a second look-up finds which documents these have.
    They explain a run and decide nothing: where they fail, the documents are named as far as they are known.

    Args:
        suite: The suite of *run*.
        run: Holds the rankings, and the index that was searched.
        search: The search that returned *run*.
        queries: Ids of the queries to look at; those without a ranking are left out.
        hooks: The hooks that change requests, for the further searches too.

    Returns:
        The missing documents of each query, best grade first; and why ranks are unknown, empty if they may be known. A
        relevant document has a positive gain. No query has documents if no search could be sent at all.
    """
    missing = {query.id: _missing(query, suite, run) for query in with_ids(suite.queries, frozenset(queries))}
    lacking = {query: documents for query, documents in missing.items() if documents}
    try:
        found = _search_for(lacking, suite, run, search, hooks)
        located = {
            query: tuple(found[query].located(document) for document in documents) if query in found else documents
            for query, documents in lacking.items()
        }
        return _with_similar(located, found, search), _why_no_rank(found)
    except SearchError as error:
        return {}, str(error)


def _why_no_rank(found: Mapping[str, _Found]) -> str:
    """
    The first reason if every deeper search failed, as after a point in time expired; else the queries that rank
    otherwise in it; empty if there are none.
    """
    reasons = [one.deep.reason for one in found.values() if isinstance(one.deep, Failure)]
    if reasons and len(reasons) == len(found):
        return reasons[0]
    others = [query for query, one in found.items() if one.ranks_otherwise]
    return f"a search for more hits does not continue the ranking of {counted(others, 'query')}" if others else ""


def _missing(query: Query, suite: Suite, run: Run) -> tuple[MissingDocument, ...]:
    response = run.responses.get(query.id)
    if not isinstance(response, Ranking):
        return ()
    missing = missing_documents(query, response, suite.gain)
    return tuple(replace(document, searched=len(response.hits)) for document in missing)


@dataclass(frozen=True, slots=True)
class _Found:
    """
    The responses about the missing documents of one query, whose request is *sent*; None where nothing was sent.

    *deep* is the response to the same search for *size* hits. *ranks_otherwise* says that it does not go on where the
    ranking of the query ends: then its ranks are not those of the ranking. *looked_up* has the documents that the
    target shows, *reached* those of them on the shards that the request searches.
    """

    sent: SearchRequest
    deep: Response
    size: int
    ranks_otherwise: bool
    looked_up: Response
    matching: Response | None
    reached: Response | None = None

    def located(self, document: MissingDocument) -> MissingDocument:
        """*document* with its rank, its title, and why it is not in the ranking, as far as that is known."""
        if isinstance(self.deep, Ranking) and not self.ranks_otherwise:
            ranks = {hit.id: rank for rank, hit in enumerate(self.deep.hits, start=1)}
            document = replace(document, rank=ranks.get(document.id), searched=self.size)
        if isinstance(self.looked_up, Ranking):
            titles = {hit.id: hit.title for hit in self.looked_up.hits}
            document = replace(document, title=titles.get(document.id))
        return self._explained(document)

    def _explained(self, document: MissingDocument) -> MissingDocument:
        if document.rank is not None:
            return document
        if _lacks(self.looked_up, document.id):
            return replace(document, absence=Absence.NOT_VISIBLE, target=self.sent.index)
        if _lacks(self.reached, document.id):
            target = f"{self.sent.index} with {shards_text(self.sent.url_params)}"
            return replace(document, absence=Absence.NOT_VISIBLE, target=target)
        if _lacks(self.matching, document.id):
            return replace(document, absence=Absence.NO_MATCH)
        if not isinstance(self.deep, Ranking) or self.ranks_otherwise:
            return document
        if "template" in self.sent.body and self.deep.returned < SEARCHED:
            is_whole = self.deep.total is not None and self.deep.total <= self.deep.returned
            absence = Absence.NO_MATCH if is_whole else Absence.BEYOND
            return replace(document, absence=absence, searched=self.deep.returned)
        matches = isinstance(self.matching, Ranking)
        if self.deep.returned >= SEARCHED:
            return replace(document, absence=Absence.BELOW) if matches else document
        if matches and "collapse" in self.sent.body:
            return replace(document, absence=Absence.COLLAPSED)
        if matches or not shows_all([self.sent.url_params, self.sent.body]):
            return replace(document, absence=Absence.BEYOND, searched=self.deep.returned)
        return document


def _lacks(response: Response | None, document: str) -> bool:
    """Whether *response* is complete and does not have *document*."""
    if not isinstance(response, Ranking) or any(hit.id == document for hit in response.hits):
        return False
    return response.total is None or response.returned >= response.total


def _search_for(
    missing: Mapping[str, Sequence[MissingDocument]], suite: Suite, run: Run, search: Search, hooks: Hooks
) -> dict[str, _Found]:
    """What was found, by query; empty for an HTTP service, which gets no further searches."""
    from harness.suites.requests import build_requests, on_index

    lacking = replace(suite, queries=with_ids(suite.queries, missing.keys()))
    built = [one for one in build_requests(on_index(lacking, run.index), run.request) if one.http is None]
    if not built:
        return {}
    sent = list(map(hooks.request, built))
    ids = {query: [document.id for document in documents[:SEARCHED]] for query, documents in missing.items()}
    matching = [one for request in sent for one in _matching(request, ids[request.query])]
    look_ups = [ids_request(one, ids[one.query], title_field=suite.title_field) for one in sent]
    reaching = {
        one.query: replace(look_up, url_params={**look_up.url_params, **shards})
        for one, look_up in zip(sent, look_ups, strict=True)
        if (shards := shard_params(one.url_params))
    }
    requested = {request.query: hits_requested(request, suite) for request in built}
    sizes = {request.query: _size_of_look_up(request, suite) for request in sent}
    deepened = [deeper(request, sizes[request.query]) for request in built]
    responses = iter(search.search([*matching, *reaching.values(), *deepened, *look_ups]))
    matched = {one.query: next(responses) for one in matching}
    reached = {query: next(responses) for query in reaching}
    deep = [next(responses) for _ in sent]
    found: dict[str, _Found] = {}
    for request, response, looked_up in zip(sent, deep, responses, strict=True):
        query = request.query
        ranks_otherwise = not _continues(response, run.responses[query], requested[query])
        found[query] = _Found(
            request, response, sizes[query], ranks_otherwise, looked_up, matched.get(query), reached.get(query)
        )
    return found


def _size_of_look_up(request: SearchRequest, suite: Suite) -> int:
    """How many hits a deeper search asks for: no more than the window of a retriever, which engines refuse."""
    window = window_of(request.body)
    if window is None:
        return SEARCHED
    return max(min(SEARCHED, window), hits_requested(request, suite))


def _continues(deep: Response, ranking: Response, requested: int) -> bool:
    """
    Whether *deep*, the response to a search for more hits, goes on where *ranking* ends, of which *requested* hits were
    requested; true where one of them is no ranking.

    An engine may rank otherwise with another size, as by `knn` without a `k`. A ranking that is shorter than requested
    has all that its search finds.
    """
    if not isinstance(ranking, Ranking) or not isinstance(deep, Ranking):
        return True
    shown = [hit.id for hit in ranking.hits]
    if [hit.id for hit in deep.hits[: len(shown)]] != shown:
        return False
    return ranking.returned >= requested or deep.returned == ranking.returned


RANKS_ONLY = frozenset({"collapse", "min_score", "rescore", "terminate_after"})
"""Keys of a body that do not say what matches, and may hide some of it or cost time."""


def _matching(request: SearchRequest, ids: Sequence[str]) -> Iterator[SearchRequest]:
    """*request* filtered to *ids*; none where it does not return all documents that match."""
    body = request.body
    if not isinstance(body, Mapping) or "template" in body or not shows_all([request.url_params, body]):
        return
    kept = {key: value for key, value in body.items() if key not in COSTLY | RANKS_ONLY}
    filters: list[Json] = [ids_query(ids, request.id_field)]
    filters += [body["post_filter"]] if "post_filter" in body else []
    filtered = {**kept, "post_filter": {"bool": {"filter": filters}}, "size": len(ids)}
    yield replace(request, body=filtered, unique_ids=True, built_for=None)  # hooks have had it


def _with_similar(
    located: Mapping[str, tuple[MissingDocument, ...]], found: Mapping[str, _Found], search: Search
) -> dict[str, tuple[MissingDocument, ...]]:
    """*located* with existing ids that differ in their form only from ids that are not visible."""
    absent = [
        one.id
        for query, documents in located.items()
        for one in documents
        if one.absence is Absence.NOT_VISIBLE and _lacks(found[query].looked_up, one.id)
    ]
    if not absent:
        return dict(located)
    sent = next(iter(found.values())).sent
    similar = find_similar(sorted(set(absent)), sent, search)
    return {
        query: tuple(replace(one, similar=similar.get(one.id)) for one in documents)
        for query, documents in located.items()
    }
