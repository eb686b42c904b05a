"""Suite and search -> run: builds the request of each query, sends it once or several times, keeps the response."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from harness.errors import LoginRefused, SearchError
from harness.model import (
    Cluster,
    Failure,
    FailureKind,
    Query,
    Ranking,
    Repeat,
    RequestTemplate,
    Response,
    Run,
    SearchRequest,
    SentRequest,
    Suite,
    members,
    with_ids,
)
from harness.process import gc_paused
from harness.run.responses import ReceivedResponses, kept_answers, without_answered
from harness.run.tails import cut_with_tail, hits_requested, search_tails
from harness.run.watching import TargetWatch
from harness.search import ResponseStream, StreamedResponse
from harness.search.answers import exceeds_window, is_blocked
from harness.search.msearch import PREFERENCE, preferring

if TYPE_CHECKING:
    from harness.hooks import Hooks
    from harness.run.checks import Targets
    from harness.search import Search

REQUESTS_KEPT = 500
"""Queries of a suite whose requests a report has: a request may be large."""

SELECTING = frozenset({"_source", "stored_fields", "template"})
"""The keys of a body that may select the fields of hits."""

OWN_SIZE = frozenset({"size", "template"})
"""The keys of a body with which it says itself how many hits it asks for."""


def execute(
    suite: Suite,
    search: Search,
    *,
    request: str | None = None,
    on_answers: Callable[[Mapping[str, Response]], None] | None = None,
    budget: float | None = None,
    further: bool = True,
    titles: bool = False,
    targets: Targets | None = None,
    whole: Suite | None = None,
    preference: str | None = None,
    warm_up: int = 0,
    earlier: Run | None = None,
    responses: ReceivedResponses | None = None,
) -> Run:
    """
    Send the request of every query of *suite*.

    Args:
        suite: The suite as loaded with an environment, with the queries that run.
        search: The search to send them over.
        request: The name of the request template; the suite's first where None.
        on_answers: Called with new responses, by query, from the calling thread.
        budget: Seconds that the searches may take; the queries that are left then did not run.
        further: Whether to request one hit more than is needed, where the request allows it, to see whether the last
            hit ties with others.
        titles: Whether the searches return titles, for hooks that may read them; else they are looked up later.
        targets: Checks the target, along with the first queries; None for no check.
        whole: The suite with the queries that do not run, whose documents are looked up too.
        warm_up: How often to send the queries before, within the budget; these responses are dropped.
        preference: Chooses the shard copies that answer, unless the request or a point in time does.
        earlier: An earlier run, whose rankings are kept: their queries are not sent.
        responses: Where to store the responses; None makes a new store.

    Returns:
        A response for each query, in the suite's order. An interrupt is no response: it ends the run.

    Raises:
        SuiteError: A query's values make a request that cannot be sent.
        SearchError: No query could be sent at all.
    """
    from harness.suites.requests import build_request, choose_template

    template = choose_template(suite, request)
    for query in suite.queries[:1] if _are_alike(suite, template) else suite.queries:
        build_request(suite, template, query)  # nothing is sent where one of them cannot be
    requests = requests_of(suite, template, further=further, titles=titles, preference=preference)
    check = None if targets is None else targets.check_of(whole or suite, template, suite.queries, requests, search)
    kept = kept_answers(earlier)
    plan = SearchPlan(
        suite=without_answered(suite, kept),
        template=template,
        checks=() if check is None else check.requests,
        requests=[request for request in requests if request.query not in kept],
        further=further,
    )
    stored = ReceivedResponses() if responses is None else responses
    stored.keep({query.id: kept[query.id] for query in suite.queries if query.id in kept})
    budget = _warm_up(plan, search, warm_up, budget)
    collected = _Collected(plan, stored)
    checked: dict[int, Response] = {}
    begun, is_full = time.perf_counter(), False
    with gc_paused():
        try:
            for streamed in stream_plan(plan, search, budget=budget):
                is_full = is_full or streamed.resent == WITHOUT_FURTHER_HIT
                place = streamed.place - len(plan.checks)
                if place < 0:
                    checked[streamed.place] = streamed.response
                    continue
                kept_response = collected.keep(place, streamed)
                if on_answers is not None:
                    on_answers({streamed.request.query: kept_response})
        except LoginRefused as error:
            if not plan.checks:
                raise
            refused = Failure(FailureKind.ERROR, str(error))
            checked = dict.fromkeys(range(len(plan.checks)), refused)
            stored.keep({query.id: refused for query in plan.suite.queries})
        seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
        answers_of_checks = [checked[place] for place in range(len(plan.checks))]
        _send_without_checks(collected, answers_of_checks, search, seconds_left)
    run = Run(
        responses=stored.in_order_of(suite),
        engine=search.engine,
        request=template.name,
        index=template.index or suite.target.index,
        seconds=time.perf_counter() - begun,
        resent=collected.list_resent(),
        window_is_full=is_full,
    )
    seconds_left = None if budget is None else budget - run.seconds
    return run if check is None else check.concluded(run, answers_of_checks, seconds_left)


WITHOUT_FURTHER_HIT = "the index refused one hit more"
"""Why a request was sent again without the hit that a run asks for beyond those that it needs."""


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What is sent: requests that check the target, then a request for each query of *suite*, made from *template*."""

    suite: Suite
    template: RequestTemplate
    checks: Sequence[SearchRequest]
    requests: Sequence[SearchRequest]
    further: bool
    """Whether a request may ask for one hit more than is needed."""

    def drop_further_hit(self, request: SearchRequest) -> SearchRequest:
        """*request* of a query, which may ask for one hit more than is needed, without that hit."""
        return replace(request, body={**request.body, "size": self.suite.depth})


class _Collected:
    """The responses to the requests of *plan*, as far as they are needed, in *stored*."""

    def __init__(self, plan: SearchPlan, stored: ReceivedResponses) -> None:
        from harness.suites.depth import collapses

        self.plan = plan
        self.stored = stored
        self._collapses = collapses(plan.template.body)
        self._resent: dict[str, str] = {}

    def keep(self, place: int, streamed: StreamedResponse) -> Response:
        """Store what is needed of the response to the request at *place*, and return it."""
        query = self.plan.suite.queries[place].id
        depth = _hits_needed(self.plan.suite, self.plan.template, place)
        response = cut_with_tail(streamed.response, self.plan.requests, place, depth, collapsed=self._collapses)
        self.stored.keep({query: response})
        if streamed.resent and streamed.resent != WITHOUT_FURTHER_HIT:
            self._resent[query] = streamed.resent
        return response

    def list_resent(self) -> dict[str, str]:
        """Why requests were sent again, by query in the order of the suite."""
        queries = [query.id for query in self.plan.suite.queries]
        return {query: self._resent[query] for query in queries if query in self._resent}


def stream_plan(plan: SearchPlan, search: Search, *, budget: float | None) -> ResponseStream:
    """
    Send what *plan* has.

    An index may refuse the hit more than needed that a request asks for, because of its `index.max_result_window`: the
    request is sent again without it.
    """
    begun, first = time.perf_counter(), len(plan.checks)
    may_ask_for_more = plan.further and _may_request_more(plan.template)
    refused: dict[int, StreamedResponse] = {}
    with closing(search.stream([*plan.checks, *plan.requests], budget=budget)) as stream:
        for streamed in stream:
            if may_ask_for_more and streamed.place >= first and exceeds_window(streamed.response):
                refused[streamed.place] = streamed
            else:
                yield streamed
    if not refused:
        return
    places = sorted(refused)
    requests = [plan.drop_further_hit(plan.requests[place - first]) for place in places]
    left = None if budget is None else budget - (time.perf_counter() - begun)
    with suppress(SearchError), closing(search.stream(requests, budget=left)) as again:
        for streamed in again:
            place = places[streamed.place]
            del refused[place]
            yield replace(streamed, place=place, resent=WITHOUT_FURTHER_HIT)
    for streamed in refused.values():
        yield replace(streamed, resent=WITHOUT_FURTHER_HIT)


def _warm_up(plan: SearchPlan, search: Search, times: int, budget: float | None) -> float | None:
    """The *budget* that is left after sending the queries *times* times; an error is left for the run to report."""
    begun, plan = time.perf_counter(), replace(plan, checks=())
    left = budget
    with suppress(SearchError):
        for _ in range(times):
            if left is None or left > 0:
                for _response in stream_plan(plan, search, budget=left):
                    pass
            left = None if budget is None else budget - (time.perf_counter() - begun)
    return left


def _send_without_checks(
    collected: _Collected, checked: Sequence[Response], search: Search, budget: float | None
) -> None:
    """
    Send the queries again that failed exactly as all checks did, whose responses are *checked*.

    An engine that refuses a check may refuse the whole batch with it; the queries are then sent again without it.
    """
    refusals = {response for response in checked if isinstance(response, Failure)}
    if len(refusals) != 1 or not all(isinstance(response, Failure) for response in checked):
        return
    [refusal] = refusals
    if refusal.kind is not FailureKind.ERROR or is_blocked(refusal):
        return
    responses = [collected.stored[request.query] for request in collected.plan.requests]
    lost = [place for place, response in enumerate(responses) if response == refusal]
    if not lost:
        return
    try:
        again = search.search([collected.plan.requests[place] for place in lost], budget=budget)
    except SearchError:
        if not any(isinstance(response, Ranking) for response in responses):
            raise
        return
    for place, response in zip(lost, again, strict=True):
        collected.keep(place, StreamedResponse(place, collected.plan.requests[place], response))


def search_again(
    suite: Suite,
    search: Search,
    run: Run,
    watch: TargetWatch,
    *,
    times: int,
    further: bool,
    tails: bool,
    on_answers: Callable[[Mapping[str, Response]], None],
) -> tuple[Repeat, ...]:
    """
    Make the searches of *run* again, over the same connection.

    Each repeat has a `preference` of its own, so that other copies of a shard may answer, unless the request has one.

    Args:
        suite: The suite, as it ran.
        search: The search that returned *run*.
        run: The first repeat.
        watch: The watch of the target; a repeat that its budget cuts short is left out, and so are those after it.
        times: The number of repeats, with the first.
        further: Whether one hit more than is needed is requested, as in *run*.
        tails: Whether documents that tie with the last hits are searched for, as in *run*.
        on_answers: Called with new responses, by query.
    """
    repeats: list[Repeat] = []
    for number in range(2, times + 1):
        preference = f"{PREFERENCE}-{number}"
        try:
            again = execute(
                suite,
                search,
                request=run.request,
                on_answers=on_answers,
                budget=watch.left,
                further=further and not run.window_is_full,
                preference=preference,
            )
            if tails:
                again = search_tails(suite, again, search, budget=watch.left, preference=preference)
            responses = again.responses
        except SearchError as error:
            responses = dict.fromkeys(run.responses, Failure(FailureKind.ERROR, str(error)))
        if watch.left is not None and any(_did_not_run(one) for one in responses.values()):
            break
        repeats.append(Repeat(responses, watch.copies_with(preference)))
    return tuple(repeats)


def _did_not_run(response: Response) -> bool:
    return isinstance(response, Failure) and response.kind is FailureKind.NOT_RUN


# Where the last hit ties with hits below, the order of ties decides which documents are in the ranking. So a run asks
# for one hit more than it needs, and where that ties too, further down.


def _hits_needed(suite: Suite, template: RequestTemplate, place: int) -> int:
    """How many hits are needed for the query at *place*, as far as its request says."""
    own = template.body
    if isinstance(own, Mapping) and "size" not in own and not any("{{" in key for key in own):
        return suite.depth
    from harness.suites.requests import build_request

    return hits_requested(build_request(suite, template, suite.queries[place]), suite)


def requests_of(
    suite: Suite,
    template: RequestTemplate,
    *,
    further: bool = True,
    titles: bool = False,
    preference: str | None = None,
) -> Sequence[SearchRequest]:
    """
    The request for each query of *suite* as it is sent.

    Building one raises SuiteError where the values of its query make a request that cannot be sent.
    """
    from harness.suites.requests import build_request

    further = further and _may_request_more(template)
    size = _size_of_all(suite, template) if further else suite.depth
    titles = _returns_titles(suite, template, titles=titles)

    def sent(query: Query) -> SearchRequest:
        asked = build_request(suite, template, query, size)
        if size is None:
            asked = replace(asked, body={**asked.body, "size": _size_with_one_more(asked)})
        if titles:
            asked = replace(asked, title_field=suite.title_field)
        return asked if preference is None else preferring(preference, asked)

    return [sent(query) for query in suite.queries]


def _may_request_more(template: RequestTemplate) -> bool:
    """
    Whether its requests may ask for one hit more.

    A body with a size of its own is sent as it is, and so are a search template and a request to a service.
    """
    own = template.body
    return template.http is None and isinstance(own, Mapping) and not OWN_SIZE & own.keys()


def _size_of_all(suite: Suite, template: RequestTemplate) -> int | None:
    """The number of hits that the requests for all queries ask for, one more than needed; None where it may differ."""
    from harness.suites.requests import build_request

    if not suite.queries or not _are_alike(suite, template):
        return None
    return _size_with_one_more(build_request(suite, template, suite.queries[0]))


def _size_with_one_more(request: SearchRequest) -> int:
    """The size of *request* with one hit more, where that cannot change the other hits."""
    from harness.suites.depth import deepest_size

    size: int = request.body["size"]
    return size + (size < deepest_size([request.url_params, request.body]))


def _are_alike(suite: Suite, template: RequestTemplate) -> bool:
    """Whether the bodies for all queries have the same keys: params and texts may add some."""
    if template.http is not None or any(query.params for query in suite.queries):
        return False
    return not any("{{" in key for key, _ in members(template.body))


def _returns_titles(suite: Suite, template: RequestTemplate, *, titles: bool) -> bool:
    """Whether the searches return titles: where *titles* says so, or where a look-up could not read them."""
    selects = isinstance(template.body, Mapping) and bool(SELECTING & template.body.keys())
    may_be_another = suite.target.id_field is not None or suite.target.unique_ids  # the document that a look-up finds
    return suite.title_field is not None and (titles or selects or may_be_another)


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
