"""
What is looked up after the searches: titles and fields of documents, and where the documents rank that a ranking lacks.

Titles are looked up by id, once for each document, and what else a suite displays for the first hits of some queries.
One more request for the worst queries tells why documents are missing. These look-ups decide nothing; the values that
expectations read are looked up too, where a search template does not return them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from harness.errors import SearchError
from harness.gate.selection import list_read_fields
from harness.hooks import Hooks
from harness.model.kept import Reference
from harness.model.report import Absence, MissingDocument
from harness.model.request import SearchRequest
from harness.model.run import Failure, Hit, Ranking, Response, Run
from harness.model.suite import Query, RequestTemplate, Suite, select_by_id
from harness.options import RunOptions
from harness.run.checks import RESPELLED
from harness.run.plan import count_requested_hits
from harness.run.report import find_missing_documents
from harness.run.tails import SEARCHED
from harness.search.answers import add_window_hint
from harness.search.batches import split_into_batches
from harness.search.dialects import find_dialect
from harness.search.lookup import KnownDocuments, LookUp, find_similar, look_up_documents, read_documents
from harness.search.protocol import LookUpOptions
from harness.words import counted

if TYPE_CHECKING:
    from harness.search.protocol import Dialect, Search


MissingByQuery: TypeAlias = Mapping[str, tuple[MissingDocument, ...]]
"""The missing documents of queries, by the query's id."""


@dataclass(frozen=True, slots=True)
class LookUpConnection:
    """The connection over which documents of a run are looked up."""

    search: Search | None
    """None where there is no connection."""
    budget: float | None = None
    """The seconds that are left, None where there is no limit."""


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
        suite: Names the title field, or has a path for titles; without one nothing is looked up.
        run: Holds the titles that are known, and the index that was searched.
        search: The search that returned *run*.
        documents: Ids; those of a known title are left out.
        budget: Seconds that this may take.
    """
    from harness.suites.requests import build_request

    begun = time.perf_counter()
    template = suite.requests.get(run.request)
    dialect = find_dialect(suite.target.service)
    if template is None or not _has_titles(suite, template) or not dialect.looks_up_documents(template):
        return run
    titles = dict(run.titles)
    untitled = list(dict.fromkeys(document for document in documents if document not in titles))
    answered = (query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
    query = next(answered, None)
    if query is None or not untitled:
        return run
    request = replace(build_request(suite, template, query), index=run.index)
    for ids in split_into_batches(untitled, TITLES_AT_ONCE):
        seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
        look_up = LookUp(request, ids, LookUpOptions(title_field=suite.display.title))
        [known] = look_up_documents(search, [look_up], budget=seconds_left)
        titles.update((document, hit.title) for document, hit in known.hits.items() if hit.title)
        if known.unread and not known.hits:
            break  # the server answers nothing any more
    return replace(run, titles=titles)


def _has_titles(suite: Suite, template: RequestTemplate) -> bool:
    """Whether documents are shown with titles: by a field of an engine, or by a path for the request by ids."""
    if template.http is None:
        return suite.display.title is not None
    return template.http.documents is not None and template.http.documents.http.titles is not None


def look_up_values(suite: Suite, run: Run, search: Search, *, budget: float | None = None) -> Run:
    """
    *run* with the values that expectations read of those hits with which they are not returned.

    A search template does not return them, as nothing can be added to a body that the engine makes of it, and a service
    may return less with a search than by ids. So the documents are looked up by id. The values of a hit that is not
    found so are unknown, which no expectation passes on.

    Args:
        suite: Has the expectations.
        run: Holds the rankings, and the index that was searched.
        search: The search that returned *run*.
        budget: Seconds that this may take.
    """
    from harness.suites.requests import build_request

    fields, template = list_read_fields(suite, run.request), suite.requests.get(run.request)
    dialect = find_dialect(suite.target.service)
    answered = (query for query in suite.queries if isinstance(run.responses.get(query.id), Ranking))
    query = next(answered, None)
    if not fields or template is None or query is None:
        return run
    request = replace(build_request(suite, template, query), index=run.index)
    unread_fields = tuple(dialect.list_unread_fields(request, fields))
    if not unread_fields:
        return run
    lacking: dict[str, None] = {}
    for hit in run.hits:
        if not set(unread_fields) <= (hit.values or {}).keys():
            lacking[hit.id] = None
    look_up = LookUp(request, list(lacking), LookUpOptions(value_fields=unread_fields))
    [documents] = look_up_documents(search, [look_up], budget=budget)
    responses: dict[str, Response] = {}
    for query_id, response in run.responses.items():
        if isinstance(response, Ranking):
            hits = []
            for hit in response.hits:
                if hit.id in lacking:
                    hit = _add_values(hit, documents.hits, unread_fields)
                hits.append(hit)
            response = replace(response, hits=tuple(hits))
        responses[query_id] = response
    return replace(run, responses=responses)


def _add_values(hit: Hit, found: Mapping[str, Hit], fields: Sequence[str]) -> Hit:
    """*hit* with the values of *fields* that were *found* by its id; those of the ranking count before them."""
    looked_up = found.get(hit.id)
    if looked_up is None or looked_up.values is None:
        return replace(hit, values=None)
    read_values = {field: values for field, values in looked_up.values.items() if field in fields}
    return replace(hit, values={**read_values, **(hit.values or {})})


def find_untitled_hits(run: Run, queries: Iterable[str] | None = None) -> Iterator[str]:
    """Yield the documents that *run* returned without their title, for all queries or only for *queries*."""
    for query in run.responses if queries is None else queries:
        response = run.responses.get(query)
        if isinstance(response, Ranking):
            yield from (hit.id for hit in response.hits if not hit.title)


def find_dropped_documents(
    run: Run, reference: Reference | None, queries: Iterable[str] | None = None
) -> Iterator[str]:
    """Yield the documents that only the baseline ranks, for all queries or only for *queries*; it has no titles."""
    if reference is None or reference.run is None:
        return
    for query in reference.run.responses if queries is None else queries:
        old, new = reference.run.responses.get(query), run.responses.get(query)
        if isinstance(old, Ranking) and isinstance(new, Ranking):
            returned = {hit.id for hit in new.hits}
            yield from (hit.id for hit in old.hits if hit.id not in returned)


# What a suite displays of documents.

DOCUMENTS_DESCRIBED = 2_000
"""Documents of a suite, the first ones of the worst queries, of which reports show fields."""

RANKS_DESCRIBED = 20
"""The hits of a query of which reports show fields."""


def describe_documents(
    suite: Suite, run: Run, connection: LookUpConnection, queries: Sequence[str], missing: MissingByQuery
) -> dict[str, dict[str, Hit]]:
    """
    Read the fields that *suite* displays, for the first hits of *queries*, as far as `DOCUMENTS_DESCRIBED` goes, and
    for the first of the *missing* documents of these queries.

    An engine is asked for them by id, and marks words of the query in them; an HTTP service has returned them with its
    hits, and is asked by id for what it has not. A look-up that fails decides nothing.

    Returns:
        The hits with their texts, by query and document.
    """
    from harness.suites.display import list_shown_fields
    from harness.suites.requests import build_request

    fields = list_shown_fields(suite, [run.request])
    hits_by_query = _list_first_hits(run, queries)
    if not fields or not hits_by_query:
        return {}
    dialect = find_dialect(suite.target.service)
    returned: dict[str, dict[str, Hit]] = {}
    if not dialect.has_indexes:
        returned = {query: {hit.id: hit for hit in hits} for query, hits in hits_by_query.items()}
    template = suite.requests.get(run.request)
    if connection.search is None or template is None or not dialect.looks_up_documents(template):
        return returned
    options = LookUpOptions(title_field=suite.display.title, fields=fields, highlights=True)
    look_ups = []
    for query in select_by_id(suite.queries, hits_by_query.keys()):
        request = replace(build_request(suite, template, query), index=run.index)
        ids: list[str] = []
        if dialect.has_indexes or dialect.list_unread_fields(request, fields):
            ids = [hit.id for hit in hits_by_query[query.id]]
        ids += [document.id for document in missing.get(query.id, ())[:RANKS_DESCRIBED]]
        look_ups.append(LookUp(request, ids, options))
    looked_up = look_up_documents(connection.search, look_ups, budget=connection.budget)
    for look_up, documents in zip(look_ups, looked_up, strict=True):
        for document, hit in documents.hits.items():
            hits_returned = returned.setdefault(look_up.request.query, {})
            hits_returned[document] = add_looked_up_texts(hits_returned.get(document), hit)
    return returned


def add_looked_up_texts(hit: Hit | None, looked_up: Hit) -> Hit:
    """*hit*, as it was returned by a search if one did, with the title, texts and URLs that it has *looked_up* only."""
    if hit is None:
        return looked_up
    return replace(
        hit,
        title=hit.title or looked_up.title,
        texts={**(looked_up.texts or {}), **(hit.texts or {})},
        urls={**(looked_up.urls or {}), **(hit.urls or {})},
    )


def _list_first_hits(run: Run, queries: Sequence[str]) -> dict[str, tuple[Hit, ...]]:
    """The first hits of *queries*, `DOCUMENTS_DESCRIBED` at most."""
    hits_by_query: dict[str, tuple[Hit, ...]] = {}
    left = DOCUMENTS_DESCRIBED
    for query in dict.fromkeys(queries):
        response = run.responses.get(query)
        if isinstance(response, Ranking) and left > 0:
            hits_by_query[query] = response.hits[: min(RANKS_DESCRIBED, left)]
            left -= len(hits_by_query[query])
    return hits_by_query


# Missing documents.

QUERIES_LOCATED = 20
"""Queries of a suite, the worst of each threshold first, whose missing documents a deeper search looks for."""


def locate_worst(
    suite: Suite, run: Run, connection: LookUpConnection, worst: Sequence[str], options: RunOptions
) -> tuple[MissingByQuery, list[str]]:
    """
    As `locate_missing`, for the first of the *worst* queries, and with a sentence on why others are unknown.

    Nothing is looked for without a connection, where *options* say so, or with no budget left.
    """
    if not options.locate:
        return {}, []
    shown = [*worst, *run.responses] if options.report_only else worst
    queries = [query for query in dict.fromkeys(shown) if isinstance(run.responses.get(query), Ranking)]
    if not queries:
        return {}, []
    search, budget = connection.search, connection.budget
    if search is None:
        shown_queries = select_by_id(suite.queries, frozenset(queries))
        if not any(_find_missing(query, suite, run) for query in shown_queries):
            return {}, []
        return {}, ["the ranks of missing documents are unknown: there is no connection"]
    if budget is not None and budget <= 0:
        return {}, ["the ranks of missing documents are unknown: the time budget of the run is used up"]
    query_search = options.hooks.wrap(search)
    located, reason = locate_missing(suite, run, query_search, queries[:QUERIES_LOCATED], hooks=options.hooks)
    if reason:
        return located, [f"the ranks of missing documents are unknown: {add_window_hint(reason)}"]
    return located, []


def locate_missing(
    suite: Suite, run: Run, search: Search, queries: Sequence[str], *, hooks: Hooks
) -> tuple[MissingByQuery, str]:
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
    missing: dict[str, tuple[MissingDocument, ...]] = {}
    for query in select_by_id(suite.queries, frozenset(queries)):
        documents = _find_missing(query, suite, run)
        if documents:
            missing[query.id] = documents
    try:
        answers = _send_look_ups(missing, suite, run, search, hooks)
        located: dict[str, tuple[MissingDocument, ...]] = {}
        for query_id, documents in missing.items():
            if query_id in answers:
                documents = tuple(answers[query_id].locate(document) for document in documents)
            located[query_id] = documents
        return _add_similar_ids(located, answers, search), _explain_unknown_ranks(answers)
    except SearchError as error:
        return {}, str(error)


def _explain_unknown_ranks(answers: Mapping[str, _LookUpAnswers]) -> str:
    """
    Why ranks are unknown, as the end of the sentence that two causes share; empty if neither of them is there.

    Every deeper search failed, as after a point in time expired: the reason of the first one. Or some deeper searches
    do not continue the rankings, see `_continues`: the number of their queries.
    """
    failures = [answer.deep for answer in answers.values() if isinstance(answer.deep, Failure)]
    if failures and len(failures) == len(answers):
        return failures[0].reason
    others = [query for query, answer in answers.items() if answer.ranks_otherwise]
    if not others:
        return ""
    return f"a search for more hits does not continue the ranking of {counted(others, 'query')}"


def _find_missing(query: Query, suite: Suite, run: Run) -> tuple[MissingDocument, ...]:
    response = run.responses.get(query.id)
    if not isinstance(response, Ranking):
        return ()
    missing = find_missing_documents(query, response, suite.gain)
    return tuple(replace(document, searched=len(response.hits)) for document in missing)


@dataclass(frozen=True, slots=True)
class _LookUpAnswers:
    """The responses about the missing documents of one query; None where nothing was sent."""

    dialect: Dialect
    sent: SearchRequest
    """The request of the query."""
    deep: Response | None
    """To the same search for *size* hits."""
    size: int
    ids: frozenset[str]
    """The documents that were looked up."""
    ranks_otherwise: bool
    """Whether *deep* does not go on where the ranking of the query ends; its ranks are then those of another one."""
    looked_up: KnownDocuments
    """What the target says of *ids*."""
    matching: KnownDocuments | None
    """Which of *ids* match the query; None where it could not be filtered to them."""
    on_shards: KnownDocuments
    """Which of *ids* are on the shards that the request searches; nothing where it searches all."""

    def locate(self, document: MissingDocument) -> MissingDocument:
        """*document* with its rank, its title, and why it is not in the ranking, as far as that is known."""
        if isinstance(self.deep, Ranking) and not self.ranks_otherwise:
            ranks = {hit.id: rank for rank, hit in enumerate(self.deep.hits, start=1)}
            searched = self.size
            if not self.dialect.has_indexes:
                # A service may return fewer hits than it is asked for.
                searched = min(self.deep.returned, self.size)
            document = replace(document, rank=ranks.get(document.id), searched=searched)
        looked_up = self.looked_up.hits.get(document.id)
        if looked_up is not None:
            document = replace(document, title=looked_up.title)
        if document.rank is not None:
            return document
        return self._explain_absence(document)

    def _explain_absence(self, document: MissingDocument) -> MissingDocument:
        if document.id not in self.ids:
            return document
        if document.id in self.looked_up.missing:
            return replace(document, absence=Absence.NOT_VISIBLE, target=self.sent.index)
        if document.id in self.on_shards.missing:
            target = f"{self.sent.index} with {self.dialect.describe_shards(self.sent)}"
            return replace(document, absence=Absence.NOT_VISIBLE, target=target)
        if self.matching is not None and document.id in self.matching.missing:
            return replace(document, absence=Absence.NO_MATCH)
        # The document is visible and may match: what is left is told by the end of the deeper search.
        if not isinstance(self.deep, Ranking) or self.ranks_otherwise:
            return document
        is_filled_by_server = self.dialect.is_filled_by_server(self.sent)
        if self.matching is None and is_filled_by_server and self.deep.returned < SEARCHED:
            # Without a filtered query, only a total that is reached shows that nothing more matches.
            total = None if self.deep.total_is_lower_bound else self.deep.total
            is_whole = total is not None and total <= self.deep.returned
            absence = Absence.NO_MATCH if is_whole else Absence.BEYOND
            return replace(document, absence=absence, searched=self.deep.returned)
        matches = self.matching is not None and document.id in self.matching.found
        if self.deep.returned >= SEARCHED:
            return replace(document, absence=Absence.BELOW) if matches else document
        if matches and self.dialect.groups_hits(self.sent):
            return replace(document, absence=Absence.COLLAPSED)
        if matches or not self.dialect.lists_all_matches(self.sent):
            return replace(document, absence=Absence.BEYOND, searched=self.deep.returned)
        return document


def _send_look_ups(
    missing: MissingByQuery, suite: Suite, run: Run, search: Search, hooks: Hooks
) -> dict[str, _LookUpAnswers]:
    """The answers by query, of those of which the server can be asked more."""
    from harness.suites.requests import build_requests, move_to_index

    dialect = find_dialect(suite.target.service)
    lacking = replace(suite, queries=select_by_id(suite.queries, missing.keys()))
    built: dict[str, SearchRequest] = {}
    for request in build_requests(move_to_index(lacking, run.index), run.request):
        if dialect.takes_size(request) or dialect.looks_up_documents(request):
            built[request.query] = request
    if not built:
        return {}
    sent = {query: hooks.change_request(request) for query, request in built.items()}
    sizes = {query: _size_of_look_up(request, suite) for query, request in sent.items()}

    matching: dict[str, SearchRequest] = {}
    on_shards: dict[str, SearchRequest] = {}
    deep: dict[str, SearchRequest] = {}
    by_ids: dict[str, SearchRequest] = {}
    ids_by_query: dict[str, list[str]] = {}
    for query, request in sent.items():
        if dialect.takes_size(request):
            # Hooks have not had this one: *search* gives it to them.
            deep[query] = dialect.deepen(built[query], sizes[query])
        ids = ids_by_query[query] = _list_ids_to_look_up(missing[query], request, dialect)
        if not ids:
            continue
        filtered = dialect.filter_to_documents(request, ids)
        if filtered is not None:
            matching[query] = filtered
        by_ids[query] = dialect.request_documents(request, ids, LookUpOptions(title_field=suite.display.title))
        restricted = dialect.restrict_to_shards(by_ids[query], request)
        if restricted is not None:
            on_shards[query] = restricted

    # All go in one search, whose responses come in the order of the requests.
    requests = [*matching.values(), *on_shards.values(), *deep.values(), *by_ids.values()]
    responses = iter(search.search(requests))
    to_matching = {query: read_documents(ids_by_query[query], next(responses)) for query in matching}
    to_shards = {query: read_documents(ids_by_query[query], next(responses)) for query in on_shards}
    to_deep = {query: next(responses) for query in deep}
    to_ids = {query: read_documents(ids_by_query[query], next(responses)) for query in by_ids}

    answers: dict[str, _LookUpAnswers] = {}
    for query, request in sent.items():
        requested = count_requested_hits(built[query], suite)
        answers[query] = _LookUpAnswers(
            dialect=dialect,
            sent=request,
            deep=to_deep.get(query),
            size=sizes[query],
            ids=frozenset(ids_by_query[query]),
            ranks_otherwise=not _continues(to_deep.get(query), run.responses[query], requested),
            looked_up=to_ids.get(query, KnownDocuments()),
            matching=to_matching.get(query),
            on_shards=to_shards.get(query, KnownDocuments()),
        )
    return answers


def _list_ids_to_look_up(documents: Sequence[MissingDocument], request: SearchRequest, dialect: Dialect) -> list[str]:
    """The ids of the first *documents* that one look-up can have; none where there are no look-ups."""
    if not dialect.looks_up_documents(request):
        return []
    ids = [document.id for document in documents if not dialect.explain_unwritable(request, document.id)]
    return ids[:SEARCHED]


def _size_of_look_up(request: SearchRequest, suite: Suite) -> int:
    """How many hits a deeper search asks for: no more than the window of a retriever, which engines refuse."""
    window = find_dialect(suite.target.service).find_window(request)
    if window is None:
        return SEARCHED
    return max(min(SEARCHED, window), count_requested_hits(request, suite))


def _continues(deep: Response | None, ranking: Response, requested: int) -> bool:
    """
    Whether *deep*, the response to a search for more hits, goes on where *ranking* ends, of which *requested* hits were
    requested; true where one of them is no ranking.

    An engine may rank otherwise with another size, as by `knn` without a `k`. A ranking that is shorter than requested
    has all that its search finds.
    """
    if not isinstance(ranking, Ranking) or not isinstance(deep, Ranking):
        return True
    if deep.ids[: len(ranking.ids)] != ranking.ids:
        return False
    return ranking.returned >= requested or deep.returned == ranking.returned


def _add_similar_ids(located: MissingByQuery, answers: Mapping[str, _LookUpAnswers], search: Search) -> MissingByQuery:
    """Add the existing ids that differ in their form only from ids that are not visible."""
    absent: set[str] = set()
    for query, documents in located.items():
        for document in documents:
            # One that only the searched shards lack is visible elsewhere under its own id.
            if document.absence is Absence.NOT_VISIBLE and document.id in answers[query].looked_up.missing:
                absent.add(document.id)
    if not absent:
        return located
    first = next(iter(answers.values()))
    similar = find_similar(search, first.sent, sorted(absent)[:RESPELLED])
    with_similar: dict[str, tuple[MissingDocument, ...]] = {}
    for query, documents in located.items():
        with_similar[query] = tuple(replace(document, similar=similar.get(document.id)) for document in documents)
    return with_similar
