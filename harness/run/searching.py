"""Suite and search -> run: builds the request of each query, sends it once or several times, keeps the response."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from harness.errors import LoginRefused, SearchError
from harness.lazy import LazySequence, chained
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
    every = requests_of(suite, template, further=further, titles=titles, preference=preference)
    check = None if targets is None else targets.check_of(whole or suite, template, suite.queries, every, search)
    asked = () if check is None else check.requests
    kept = kept_answers(earlier)
    left = without_answered(suite, kept)
    sent = requests_of(left, template, further=further, titles=titles, preference=preference)
    stored = ReceivedResponses() if responses is None else responses
    stored.keep({query.id: kept[query.id] for query in suite.queries if query.id in kept})
    bare = None
    if further and _may_request_more(template):
        bare = requests_of(left, template, further=False, titles=titles, preference=preference)
    answers = _Answers(left, template, sent, len(asked), stored, on_answers)
    budget = _warmed(search, sent, bare, warm_up, budget)
    begun, is_full = time.perf_counter(), False
    with gc_paused():
        try:
            is_full = _search_in_window(
                search, asked, sent, bare, on_done=answers.hear, on_resent=answers.hear_resent, budget=budget
            )
        except LoginRefused as error:
            if not asked:
                raise
            answers.fail(Failure(FailureKind.ERROR, str(error)))
        seconds_left = None if budget is None else budget - (time.perf_counter() - begun)
        answers.keep(_sent_without_checks(answers, search, seconds_left))
    run = Run(
        responses=stored.in_order_of(suite),
        engine=search.engine,
        request=template.name,
        index=template.index or suite.target.index,
        seconds=time.perf_counter() - begun,
        resent=dict(sorted(answers.resent.items())),
        window_is_full=is_full,
    )
    seconds_left = None if budget is None else budget - run.seconds
    return run if check is None else check.concluded(run, answers.of_checks, seconds_left)


class _Answers:
    """
    The responses to requests of which the first *checks* check the target, and those after them are of queries.

    *sent* are the requests of the queries of *suite*, of *template*. Their responses are kept in *stored*, as far as
    they are needed, and *on_answers* is called with new ones. *resent* has why requests of queries were sent again.
    """

    def __init__(
        self,
        suite: Suite,
        template: RequestTemplate,
        sent: Sequence[SearchRequest],
        checks: int,
        stored: ReceivedResponses,
        on_answers: Callable[[Mapping[str, Response]], None] | None,
    ) -> None:
        from harness.suites.depth import collapses

        self.sent = sent
        self.resent: dict[str, str] = {}
        self._suite, self._template = suite, template
        self._queries = [query.id for query in suite.queries]
        self._checked: dict[int, Response] = {}
        self._checks = checks
        self._stored = stored
        self._on_answers = on_answers
        self._collapsed = collapses(template.body)

    @property
    def of_checks(self) -> list[Response]:
        """The responses to the checks, in their order."""
        return [self._checked[place] for place in range(self._checks)]

    @property
    def of_queries(self) -> Iterator[Response]:
        """The responses to *sent*, in their order."""
        return map(self._stored.__getitem__, self._queries)

    def hear(self, found: Mapping[int, Response]) -> None:
        """Take the responses *found*, by place among all requests."""
        self._checked.update((place, one) for place, one in found.items() if place < self._checks)
        newest = self.keep({place - self._checks: one for place, one in found.items() if place >= self._checks})
        if newest and self._on_answers is not None:
            self._on_answers(newest)

    def hear_resent(self, reasons: Mapping[int, str]) -> None:
        """Take why requests were sent again, by place among all requests."""
        places = sorted(place for place in reasons if place >= self._checks)
        self.resent = {self._queries[place - self._checks]: reasons[place] for place in places}

    def keep(self, found: Mapping[int, Response]) -> Mapping[str, Response]:
        """Store the responses *found*, by place in *sent*; returns them as they are kept, by query."""
        newest = {self._queries[place]: self._needed(place, one) for place, one in found.items()}
        self._stored.keep(newest)
        return newest

    def fail(self, failure: Failure) -> None:
        """Take *failure* as the response to all requests."""
        self._checked = dict.fromkeys(range(self._checks), failure)
        self.keep(dict.fromkeys(range(len(self.sent)), failure))

    def _needed(self, place: int, response: Response) -> Response:
        depth = _hits_needed(self._suite, self._template, place)
        return cut_with_tail(response, self.sent, place, depth, collapsed=self._collapsed)


def _search_in_window(
    search: Search,
    asked: Sequence[SearchRequest],
    sent: Sequence[SearchRequest],
    bare: Sequence[SearchRequest] | None,
    *,
    on_done: Callable[[Mapping[int, Response]], None],
    on_resent: Callable[[Mapping[int, str]], None] | None = None,
    budget: float | None,
) -> bool:
    """
    Send *asked* and *sent*; returns whether any of *sent* was sent again.

    An index may refuse the hit more than needed that one of *sent* asks for, because of its `index.max_result_window`:
    that request is sent again without it, as in *bare*; None where no request asks for it.
    """
    begun, first = time.perf_counter(), len(asked)
    refused: dict[int, Response] = {}

    def hear(found: Mapping[int, Response]) -> None:
        if bare is not None:
            refused.update((place, one) for place, one in found.items() if place >= first and exceeds_window(one))
        if others := {place: one for place, one in found.items() if place not in refused}:
            on_done(others)

    search.search(chained(asked, sent), on_done=hear, on_resent=on_resent, budget=budget)
    if bare is None or not refused:
        return False
    places = sorted(refused)
    again = LazySequence(places, lambda place: bare[place - first])
    left = None if budget is None else budget - (time.perf_counter() - begun)
    with suppress(SearchError):
        search.search(again, on_done=lambda found: refused.update((places[at], found[at]) for at in found), budget=left)
    on_done(refused)
    return True


def _warmed(
    search: Search,
    sent: Sequence[SearchRequest],
    bare: Sequence[SearchRequest] | None,
    times: int,
    budget: float | None,
) -> float | None:
    """The *budget* that is left after sending *sent* *times* times; an error is left for the run to report."""
    begun = time.perf_counter()
    left = budget
    with suppress(SearchError):
        for _ in range(times):
            if left is None or left > 0:
                _search_in_window(search, (), sent, bare, on_done=lambda _: None, budget=left)
            left = None if budget is None else budget - (time.perf_counter() - begun)
    return left


def _sent_without_checks(answers: _Answers, search: Search, budget: float | None) -> Mapping[int, Response]:
    """
    Send the queries again that failed exactly as all checks did; returns the new responses by place.

    An engine that refuses a check may refuse the whole batch with it; the queries are then sent again without it.
    """
    checked = answers.of_checks
    refusals = {one for one in checked if isinstance(one, Failure)}
    if len(refusals) != 1 or not all(isinstance(one, Failure) for one in checked):
        return {}
    [refusal] = refusals
    if refusal.kind is not FailureKind.ERROR or is_blocked(refusal):
        return {}
    lost, is_any_answered = list[int](), False
    for place, one in enumerate(answers.of_queries):
        is_any_answered |= isinstance(one, Ranking)
        if one == refusal:
            lost.append(place)
    try:
        again = search.search([answers.sent[place] for place in lost], budget=budget) if lost else []
    except SearchError:
        if not is_any_answered:
            raise
        return {}
    return dict(zip(lost, again, strict=True))


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
    The request for each query of *suite* as it is sent, built on access: only requests under way are in memory.

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

    return LazySequence(suite.queries, sent)


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
