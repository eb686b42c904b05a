"""
One suite with one of its requests on one index: a cell of a run.

`answer_cell` sends the queries and decides nothing. `conclude_cell` scores, decides, and assembles the report.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.errors import HookError, LoginRefused, SearchError
from harness.gate.conditions import gates_anything, list_for_other_requests
from harness.gate.decide import decide
from harness.gate.selection import (
    QueryFilter,
    Selection,
    count_history_runs,
    interleave_blamed,
    list_blamed_queries,
    list_read_fields,
    needs_baseline,
)
from harness.gate.variants import add_variant_queries, split_run
from harness.masking import Masker, keep_small, shorten_vectors
from harness.metrics.run_scores import score_run
from harness.model.kept import HistoryEntry, Reference
from harness.model.request import Cluster, SearchRequest, SentRequest
from harness.model.run import Engine, Failure, FailureKind, Hit, Ranking, Repeat, Response, Run, Verdict
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.process import gc_paused
from harness.redaction import redact
from harness.run.checks import TargetCheck, Targets
from harness.run.connections import FixtureBuilds, retarget
from harness.run.ending import FollowedRun, FollowedSearch
from harness.run.finished import FinishedSuite
from harness.run.notes import describe_other_requests, describe_run
from harness.run.plan import SearchPlan, plan_searches
from harness.run.report import DecidedRun, assemble
from harness.run.streams import CountedSearch, NeededHits, RecordedSearch, ResponseSource, WatchedSearch
from harness.run.tails import search_tails
from harness.run.watching import TargetWatch, find_target_references, open_point_in_time, watch_target
from harness.search.answers import is_blocked
from harness.search.dialects import find_dialect
from harness.search.msearch import PREFERENCE
from harness.store.header import NOT_ASKED

if TYPE_CHECKING:
    from harness.run.look_ups import MissingByQuery
    from harness.search.protocol import Search, StreamedResponse
    from harness.store.journal import RunRecord

QUERIES_TITLED = 1000
"""Queries of a suite, the worst of each threshold first, whose hits are shown with titles where not all are."""


@runtime_checkable
class Progress(Protocol):
    """Receives how far a run is, in the thread that runs it."""

    def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
        """*queries* of *suite* are about to be sent; *chosen* is the selected request or index, in words."""

    def queries_done(self, count: int) -> None:
        """Another *count* queries of the suite have their response."""

    def suite_finished(self, run: Run, verdicts: Sequence[Verdict] | None) -> None:
        """All queries of the suite have their response; *verdicts* is None where its thresholds do not decide."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A selection of a suite with one request on one index, and how to run it; *cluster* and below where it runs."""

    selection: Selection
    """Its suite has the target of the cell's request."""
    searched: Suite
    """
    The suite as it is sent: the queries that are, followed by their variants, on the index that is searched. That of a
    fixture has no name before it is built.
    """
    options: RunOptions
    """They have the hooks and the `no_intervals` in force."""
    cluster: str
    """The name of the server in reports."""
    masker: Masker = field(default_factory=lambda: Masker({}))
    """Hides secrets."""
    server: Cluster | None = None
    """How to reach the server."""
    commit: str | None = None
    """Of the suite, for its history; None if it is unknown or there is no history."""
    history: Sequence[HistoryEntry] | None = None
    """The earlier runs of the suite, of any request; None if no threshold compares with them."""
    compared: tuple[str, ...] = ()
    """The names of the requests that it is compared with."""
    is_reference: bool = False
    """Whether other cells are compared with it."""
    is_reported: bool = True
    """Whether it is decided and reported; not if it is sent only for other cells to be compared with."""

    @property
    def request(self) -> str:
        """The name of its request."""
        return self.options.request or next(iter(self.selection.whole_suite.requests), "")

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What tells it from the other cells of a run: its suite, its request, and the index that is named for it."""
        return self.selection.whole_suite.path, self.request, self.options.index

    @property
    def repeats(self) -> int:
        """How often the queries are sent after the first time."""
        return (self.options.repeat or 1) - 1

    @property
    def is_checked(self) -> bool:
        """Whether the target is checked; documents of a pool need no judgments."""
        return self.selection.whole_suite.checks and not self.options.no_checks and not self.options.unjudged

    @property
    def is_compared(self) -> bool:
        """Whether the run is compared with a baseline or its history, or becomes a part of them."""
        return self.is_reported and (self.options.save_baseline or self.needs_baseline or self.needs_history)

    @property
    def needs_baseline(self) -> bool:
        """Whether a selected threshold for the request compares with a baseline."""
        return needs_baseline(self.selection.selected, self.options.request)

    @property
    def needs_history(self) -> bool:
        """Whether the run is to be kept in a history, or a selected threshold for the request compares with one."""
        if self.options.history is not None:
            return True
        suite = self.selection.selected
        request = self.options.request or next(iter(suite.requests), "")
        return count_history_runs(suite, request) > 0

    @property
    def needs_tails(self) -> bool:
        """Whether documents are looked for that tie with the last hits: where the run is compared with another."""
        return self.options.tails or self.is_compared or self.is_reference or bool(self.compared)

    @property
    def shows_all_titles(self) -> bool:
        """Whether the titles of all hits are reported; a pool looks them up later, with more fields."""
        return self.options.all_titles and not self.options.unjudged

    @property
    def asks_for_more(self) -> bool:
        """Whether one hit more is requested: not for a pool, nor with hooks, which may depend on the number of hits."""
        return not (self.options.unjudged or self.options.hooks.has_search_hooks)


@dataclass(frozen=True, slots=True)
class SharedState:
    """What the cells of a run share: the indexes that were built, what is known of targets, and the progress."""

    builds: FixtureBuilds
    targets: Targets
    progress: Progress | None = None
    followed: FollowedRun | None = None
    """Receives the responses of the only cell, and can end it."""


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """The index that a cell searches, while it is open."""

    search: Search
    """For checks, look-ups and states."""
    query_search: Search
    """For requests of queries, which hooks may change."""
    watch: TargetWatch
    sent: dict[str, SearchRequest] = field(default_factory=dict)
    """The requests as hooks changed them, by query."""


@dataclass(frozen=True, slots=True)
class AnsweredCell:
    """A cell whose queries were sent; nothing is scored or decided yet."""

    cell: Cell
    run: Run
    """The responses."""
    search: Search | None = None
    """The open connection that they came from; None where nothing answered."""
    sent: Mapping[str, SearchRequest] = field(default_factory=dict)
    """The requests as hooks changed them, by query."""
    budget: float | None = None
    """The seconds that are left for look-ups, None where there is no limit."""
    recorded_cluster: str | None = None
    """The name of the server in the journal that all of the run is from."""

    @property
    def cluster(self) -> str:
        """The name of the server in reports."""
        return self.recorded_cluster or self.cell.cluster

    def mask_run(self) -> Run:
        """The run, with secrets masked in what servers returned."""
        masker = self.cell.masker
        return redact(self.run, masker.mask) if masker else self.run


def choose_searched(selection: Selection, options: RunOptions) -> Suite:
    """The suite of a cell with *selection* and *options* as it is sent."""
    queries = selection.active
    if options.shard is not None:
        queries = options.shard.take(queries)
    suite = replace(selection.selected, queries=queries)
    if any(query.variants for query in suite.queries):
        suite = add_variant_queries(suite, selection.whole_suite)
    if options.index is not None:
        from harness.suites.requests import move_to_index

        return move_to_index(suite, options.index)
    if suite.fixture is not None:
        suite = retarget(suite, None)
    return suite


# Answering.


def answer_cell(
    cell: Cell, shared_state: SharedState, search: Search, resources: ExitStack, record: RunRecord | None = None
) -> AnsweredCell:
    """
    Send the queries of *cell*; decide nothing.

    An engine that goes away or refuses is not an error of this call: the queries fail.

    Args:
        cell: The queries, and how to send them.
        shared_state: What the cells of a run share.
        search: An open connection.
        resources: Closes the point in time that the suite may search.
        record: Has an earlier run of the same cell, whose rankings are not requested again, and keeps this one.

    Raises:
        UsageError: The journal cannot be written.
        RunEnded: Who follows the run ended it.
    """
    start_progress(cell, shared_state, record)
    if shared_state.followed is not None:
        shared_state.followed.begin(search)
    try:
        if cell.searched.fixture is not None:
            cell = build_fixture(cell, shared_state, search)
        target = resources.enter_context(open_target(cell, search))
    except SearchError as error:
        run = fail_run(cell, record, search.engine, error)
        return AnsweredCell(cell, run, search, budget=cell.options.budget)
    if record is not None:
        expected = len(record.rankings)
        record.begin(search.engine, target.watch.first_state)
        if len(record.rankings) < expected:
            # The target is another than that of the earlier run: more queries are sent than was said.
            start_progress(cell, shared_state, record)
    try:
        run = send_first_pass(cell, shared_state, target, record)
        run = look_up_further(cell, run, target, record)
        if run.has_rankings:
            if cell.repeats:
                run = repeat_searches(cell, shared_state, run, target)
            target.watch.read_state()
            run = replace(run, states=(*run.states, *target.watch.states))
    except SearchError as error:
        run = make_failed_run(cell, record, search.engine, error)
    if record is not None:
        record.end(run)
    return AnsweredCell(cell, mark_hooked(cell, run), target.search, target.sent, target.watch.seconds_left)


def answer_without_connection(
    cell: Cell, shared_state: SharedState, error: SearchError | None, record: RunRecord | None = None
) -> AnsweredCell:
    """Each selected query of *cell* fails with *error*, which is None where no query is selected."""
    start_progress(cell, shared_state, record)
    engine = NOT_ASKED if error is None else Engine("not reached")
    return AnsweredCell(cell, fail_run(cell, record, engine, error), budget=cell.options.budget)


def fail_run(cell: Cell, record: RunRecord | None, engine: Engine, error: SearchError | None) -> Run:
    """The run that ended with *error* before its first search, kept in *record* with what an earlier run has."""
    run = make_failed_run(cell, record, engine, error)
    if record is not None:
        record.begin(NOT_ASKED, None)
        record.end(run)
    return mark_hooked(cell, run)


def mark_hooked(cell: Cell, run: Run) -> Run:
    """*run*, which says whether hooks may have used any value of a query."""
    return replace(run, hooked=cell.options.hooks.has_search_hooks)


def start_progress(cell: Cell, shared_state: SharedState, record: RunRecord | None) -> None:
    """Say how many queries are about to be sent, with their repeats."""
    if shared_state.progress is None:
        return
    queries = cell.searched.queries
    known = {} if record is None else record.rankings
    unanswered = [query for query in queries if query.id not in known]
    shared_state.progress.suite_started(
        cell.selection.whole_suite, len(unanswered) + cell.repeats * len(queries), cell.options.chosen()
    )


@contextmanager
def open_target(cell: Cell, search: Search) -> Iterator[OpenTarget]:
    """
    The target of *cell* until the end of the block: its point in time open, its first state read.

    Raises:
        SearchError: The point in time cannot be had.
    """
    with open_point_in_time(cell.searched, cell.options.request, search) as pinned:
        watch = watch_cell(cell, pinned)
        watch.read_state()
        sent: dict[str, SearchRequest] = {}
        yield OpenTarget(pinned, cell.options.hooks.wrap(pinned, sent), watch, sent)


def build_fixture(cell: Cell, shared_state: SharedState, search: Search) -> Cell:
    """
    *cell*, which searches the index of its fixture, if it has one.

    Raises:
        SearchError: The fixture cannot be had.
    """
    suite = cell.searched
    if suite.fixture is None:
        return cell
    allow_write = cell.options.allow_write or cell.options.embedded
    index = shared_state.builds.index_of(suite, suite.fixture, search, allow_write=allow_write)
    return replace(cell, searched=retarget(suite, index))


def watch_cell(cell: Cell, search: Search) -> TargetWatch:
    """The watch of the target; it watches nothing for a pool, or without queries."""
    suite, budget = cell.searched, cell.options.budget
    if not cell.is_checked or not suite.queries:
        return TargetWatch(None, budget=budget)
    request, has_hooks = cell.options.request, cell.options.hooks.has_search_hooks
    whole = replace(suite, queries=cell.selection.selected.queries)
    references = find_target_references(whole, request, is_changed_by_hooks=has_hooks)
    return watch_target(suite, request, search, references=references, budget=budget)


def send_first_pass(cell: Cell, shared_state: SharedState, target: OpenTarget, record: RunRecord | None) -> Run:
    """Send the queries that *record* has no ranking of, and what checks the target."""
    options, suite = cell.options, cell.searched
    plan = plan_searches(suite, options.request, further=cell.asks_for_more, titles=options.hooks.has_search_hooks)
    check = None
    if cell.is_checked:
        whole_suite, state = cell.selection.whole_suite, target.watch.first_state
        check = shared_state.targets.prepare_check(whole_suite, plan, target.query_search, state)
    templates = None
    if isinstance(plan.template.body, Mapping) and "template" in plan.template.body:
        from harness.run.search_templates import check_templates

        templates = check_templates(plan.requests, target.search)
    needed = NeededHits(target.query_search, plan)
    if options.warm_up or suite.warm_up:
        warm_up(cell, plan, needed, {} if record is None else record.rankings, target.watch)
    source = follow(shared_state, target, needed)
    if record is not None:
        source = RecordedSearch(source, record)
    with gc_paused():
        run = send_plan(plan, source, target, check)
    if templates is not None:
        run = replace(run, limits_hits=templates.limits_hits)
        if templates.problem and run.checks is not None:
            checks = replace(run.checks, problems=(*run.checks.problems, templates.problem))
            run = replace(run, checks=checks)
    if record is not None:
        run = record.complete(run)
    return run


def follow(shared_state: SharedState, target: OpenTarget, source: ResponseSource) -> ResponseSource:
    """*source*, whose responses are counted and handed on, and between which the state of the target is read."""
    source = WatchedSearch(source, target.watch)
    if shared_state.progress is not None:
        source = CountedSearch(source, shared_state.progress.queries_done)
    if shared_state.followed is not None:
        source = FollowedSearch(source, shared_state.followed)
    return source


def warm_up(
    cell: Cell, plan: SearchPlan, source: ResponseSource, kept: Mapping[str, Ranking], watch: TargetWatch
) -> None:
    """Send the queries that are about to be sent, as often as asked for; an error is left for the run to report."""
    requests = [request for request in plan.requests if request.query not in kept]
    with suppress(SearchError):
        for _ in range(cell.options.warm_up or plan.suite.warm_up):
            if watch.seconds_left is not None and watch.seconds_left <= 0:
                return
            with closing(source.stream(requests, budget=watch.seconds_left)) as stream:
                for _streamed in stream:
                    pass


def send_plan(plan: SearchPlan, source: ResponseSource, target: OpenTarget, check: TargetCheck | None = None) -> Run:
    """
    Send what *plan* has to *source*, after the requests of *check*.

    Returns:
        The run, with a response for each query, in the suite's order, and with what the checks say about the target.

    Raises:
        SearchError: No query could be sent at all.
    """
    begun = time.perf_counter()
    responses_by_place: dict[int, Response] = {}
    received: dict[str, StreamedResponse] = {}
    checks = () if check is None else check.requests
    requests = [*checks, *plan.requests]
    try:
        # Closed at once where an interrupt ends the loop: nothing more is sent then.
        with closing(source.stream(requests, budget=target.watch.seconds_left)) as stream:
            for streamed in stream:
                responses_by_place[streamed.position] = streamed.response
                if streamed.position >= len(checks):
                    received[requests[streamed.position].query] = streamed
    except LoginRefused as error:
        # The engine refused all requests, maybe only because of the checks among them: what has no ranking counts as
        # refused, and `send_without_checks` sends it again.
        if not checks:
            raise
        refused = Failure(FailureKind.ERROR, str(error))
        for place in range(len(requests)):
            if place < len(checks) or not isinstance(responses_by_place.get(place), Ranking):
                responses_by_place[place] = refused
    answers_of_checks = [responses_by_place[place] for place in range(len(checks))]
    responses: dict[str, Response] = {}
    for place, request in enumerate(plan.requests, start=len(checks)):
        responses[request.query] = responses_by_place[place]
    responses |= send_without_checks(plan, source, answers_of_checks, responses, target.watch)
    queries = [query.id for query in plan.suite.queries]
    resent: dict[str, str] = {}
    for query in queries:
        # A full window is a fact of the index, which a run keeps as such: the request does not count as resent.
        if query in received and received[query].resent and not received[query].lacks_further_hit:
            resent[query] = received[query].resent
    run = Run(
        responses={query: responses[query] for query in queries},
        engine=target.search.engine,
        request=plan.template.name,
        index=plan.template.index or plan.suite.target.index,
        seconds=time.perf_counter() - begun,
        resent=resent,
        deepened={query: streamed.deepened for query, streamed in received.items() if streamed.deepened},
        window_is_full=any(streamed.lacks_further_hit for streamed in received.values()),
    )
    return run if check is None else check.conclude(run, answers_of_checks, target.watch.seconds_left)


def send_without_checks(
    plan: SearchPlan,
    source: ResponseSource,
    answers_of_checks: Sequence[Response],
    responses: Mapping[str, Response],
    watch: TargetWatch,
) -> dict[str, Response]:
    """
    Send the queries again that failed exactly as all checks did; returns their new *responses*.

    An engine that refuses a check may refuse the whole batch with it; the queries are then sent again without it.
    """
    refusals = {response for response in answers_of_checks if isinstance(response, Failure)}
    if len(refusals) != 1 or not all(isinstance(response, Failure) for response in answers_of_checks):
        return {}
    [refusal] = refusals
    if refusal.kind is not FailureKind.ERROR or is_blocked(refusal):
        return {}
    lost = [request for request in plan.requests if responses[request.query] == refusal]
    if not lost:
        return {}
    again: dict[str, Response] = {}
    try:
        with closing(source.stream(lost, budget=watch.seconds_left)) as stream:
            for streamed in stream:
                again[lost[streamed.position].query] = streamed.response
    except SearchError:
        if not any(isinstance(response, Ranking) for response in responses.values()):
            raise
        return {}
    return again


def make_failed_run(cell: Cell, record: RunRecord | None, engine: Engine, error: SearchError | None) -> Run:
    """A run of *cell* whose queries failed for *error*, except those that *record* has a ranking of."""
    from harness.suites.requests import choose_template

    suite = cell.searched
    known = {} if record is None else record.rankings
    template = choose_template(suite, cell.options.request)
    failure = Failure(FailureKind.ERROR, error.text(cell.options.entry) if error else "")
    responses: dict[str, Response] = {query.id: known.get(query.id, failure) for query in suite.queries}
    run = Run(responses, engine, template.name, template.index or suite.target.index)
    if record is not None:
        run = record.complete(run)
    return run


def look_up_further(cell: Cell, run: Run, target: OpenTarget, record: RunRecord | None) -> Run:
    """
    *run* with what its requests could not return: values of fields that expectations read, documents that tie with the
    last hits, the facts on its index where a baseline or a merge needs them, and titles.
    """
    if list_read_fields(cell.selection.whole_suite, run.request):
        run = add_values(cell, run, target)
    if cell.needs_tails:
        suite = cell.searched
        if record is not None and run.tails is not None:
            # The earlier run looked for those of its own queries.
            known = record.rankings
            suite = replace(suite, queries=tuple(query for query in suite.queries if query.id not in known))
        run = search_tails(suite, run, target.query_search, budget=target.watch.seconds_left)
    if cell.is_compared or cell.options.shard is not None:
        run = replace(run, facts=target.search.index_facts(run.index))
    if cell.shows_all_titles:
        run = add_titles(cell, run, target.search, target.watch.seconds_left)
    return run


def add_values(cell: Cell, run: Run, target: OpenTarget) -> Run:
    """*run* with the values of fields that expectations read, where its requests could not return them."""
    from harness.run.look_ups import look_up_values

    return look_up_values(cell.selection.whole_suite, run, target.search, budget=target.watch.seconds_left)


def add_titles(cell: Cell, run: Run, search: Search, budget: float | None) -> Run:
    """*run* with the titles of all hits."""
    from harness.run.look_ups import TITLES_AT_MOST, find_untitled_hits, look_up_titles

    documents = chain(find_untitled_hits(run), cell.options.titled[:TITLES_AT_MOST])
    return look_up_titles(cell.selection.whole_suite, run, search, documents, budget=budget)


def repeat_searches(cell: Cell, shared_state: SharedState, run: Run, target: OpenTarget) -> Run:
    """*run* with its repeats."""
    repeats: list[Repeat] = []
    for number in range(2, cell.repeats + 2):
        # Each repeat has a preference of its own, so that other copies of a shard may answer.
        preference = f"{PREFERENCE}-{number}"
        responses = repeat_once(cell, shared_state, run, target, preference)
        failures = [response for response in responses.values() if isinstance(response, Failure)]
        if target.watch.seconds_left is not None and any(failure.kind is FailureKind.NOT_RUN for failure in failures):
            break  # the budget left no time for all queries
        repeats.append(Repeat(responses, target.watch.read_copies(preference)))
    return replace(run, repeats=tuple(repeats))


def repeat_once(
    cell: Cell, shared_state: SharedState, run: Run, target: OpenTarget, preference: str
) -> Mapping[str, Response]:
    """The responses to the searches of *run*, sent again with *preference*."""
    further = cell.asks_for_more and not run.window_is_full
    try:
        plan = plan_searches(cell.searched, cell.options.request, further=further, preference=preference)
        with gc_paused():
            again = send_plan(plan, follow(shared_state, target, NeededHits(target.query_search, plan)), target)
        if list_read_fields(cell.selection.whole_suite, run.request):
            again = add_values(cell, again, target)
        if cell.needs_tails:
            again = search_tails(
                cell.searched, again, target.query_search, budget=target.watch.seconds_left, preference=preference
            )
    except SearchError as error:
        return dict.fromkeys(run.responses, Failure(FailureKind.ERROR, str(error)))
    return again.responses


# Deciding.


@gc_paused()
def conclude_cell(
    answered: AnsweredCell, progress: Progress | None = None, *, inspected: str | None = None
) -> FinishedSuite:
    """
    Decide the thresholds of a suite whose queries were sent::

        mask -> score -> decide -> look for missing documents -> assemble

    Where a query is only *inspected*, its missing documents are looked for although no threshold blames it.
    """
    cell = answered.cell
    selection, options, masker = cell.selection, cell.options, cell.masker
    if any(query.variants for query in selection.selected.queries):
        answered = replace(answered, run=split_run(answered.run, selection.selected))
    # `decide` takes the whole suite: a verdict has the same id whichever queries are selected, and `query_filter`
    # leaves out the thresholds that need others. `score_run` takes the selected one: a query that was not selected has
    # no response, and would be scored as one that did not run. The report is of the selected queries too.
    selected = selection.selected
    run = answered.mask_run()
    scores = score_run(selected, run)
    run, reference = _add_facts_and_load_reference(answered, run)
    history = None
    if cell.needs_history:
        from harness.run.keeping import find_history

        history = find_history(selected, run, options, cell.commit, cell.history)
    verdicts = decide(
        selection.whole_suite,
        run,
        scores,
        today=options.day(),
        query_filter=QueryFilter.from_options(options),
        strict_xfail=options.strict_xfail,
        report_only=options.report_only,
        reference=reference,
        history=history,
        repeated=[score_run(selected, replace(run, responses=repeat.responses)) for repeat in run.repeats],
    )
    shown = _list_shown_queries(answered, verdicts) if inspected is None else [inspected]
    if options.locate and (shown or reference is not None):
        run = _add_shown_titles(answered, run, shown, reference)
    notes = list(describe_run(selection, run, options, answered.cell.server, verdicts))
    located: MissingByQuery = {}
    described: dict[str, dict[str, Hit]] = {}
    if options.locate and shown:
        from harness.run.look_ups import LookUpConnection, describe_documents, locate_worst

        connection = LookUpConnection(answered.search, answered.budget)
        worst = list_blamed_queries(verdicts) if inspected is None else [inspected]
        located, reasons = locate_worst(selected, answered.run, connection, worst, options)
        described = describe_documents(selected, answered.run, connection, shown, located)
        described = redact(described, masker.mask)
        notes += reasons
    sent: dict[str, SentRequest] = {}
    if inspected is None:
        sent = _describe_requests(answered, run, verdicts)
    whole_suite = selection.whole_suite
    gates = gates_anything(whole_suite, run.request)
    others = list_for_other_requests(whole_suite, run.request)
    if inspected is None and (others or not gates):
        notes += describe_other_requests(whole_suite, run.request)
    decided = DecidedRun(
        suite=selected,
        run=run,
        scores=scores,
        verdicts=verdicts,
        reference=reference,
        located=located,
        described=described,
        notes=notes,
        deselected=len(selection.others),
        decides=inspected is None,
        gates=gates,
        for_other_requests=len(others),
        report_only=options.report_only,
        sent=sent,
        searched=options.searched(),
        has_intervals=not options.no_intervals,
    )
    report = assemble(decided, answered.cluster)
    if progress is not None:
        progress.suite_finished(run, verdicts)
    report = redact(report, masker.mask) if masker else report
    return FinishedSuite(selected, run, scores, report, selection.others, options)


def _add_facts_and_load_reference(answered: AnsweredCell, run: Run) -> tuple[Run, Reference | None]:
    """
    *run* with the facts on its index, and the baseline that thresholds and the report compare it with.

    The facts are compared with those in the baseline, so they are read only where it is.
    Without a threshold that compares, a baseline only informs: it is read where it is beside the suite or was named,
    and a query has a ranking. It costs three small requests and no deeper search.
    """
    options, suite = answered.cell.options, answered.cell.selection.selected
    if options.save_baseline:
        return run, Reference(updating=True)
    from harness.store.baseline_files import has_baseline

    informs = run.has_rankings and has_baseline(suite, options.baseline)
    if not answered.cell.needs_baseline and not informs:
        return run, None
    from harness.store.baseline import find_reference

    if run.facts is None and answered.search is not None:
        run = replace(run, facts=answered.search.index_facts(run.index))
    return run, find_reference(suite, run, options.baseline, options.searched(), answered.cell.selection.others)


def _add_shown_titles(answered: AnsweredCell, run: Run, shown: Sequence[str], reference: Reference | None) -> Run:
    """*run* with the titles of the hits of queries that are *shown*, and of documents that only the baseline ranks."""
    from harness.run.look_ups import TITLES_AT_MOST, find_dropped_documents, find_untitled_hits, look_up_titles

    options, search = answered.cell.options, answered.search
    if search is None or not run.has_rankings:
        return run
    worst: list[str] | None = None
    documents: list[str] = []
    if not options.all_titles:
        # All titles of hits would have been looked up after the searches.
        ranked = [query for query in dict.fromkeys(shown) if isinstance(run.responses.get(query), Ranking)]
        worst = ranked[:QUERIES_TITLED]
        documents += find_untitled_hits(run, worst)
    documents += islice(find_dropped_documents(run, reference, worst), TITLES_AT_MOST)
    run = look_up_titles(answered.cell.selection.selected, run, search, documents, budget=answered.budget)
    return redact(run, answered.cell.masker.mask) if answered.cell.masker else run


def _list_shown_queries(answered: AnsweredCell, verdicts: Sequence[Verdict]) -> list[str]:
    """The queries whose hits reports show, the worst of each threshold first."""
    queries = list(interleave_blamed([verdict.blamed for verdict in verdicts]))
    if answered.cell.options.all_titles or answered.cell.options.report_only:
        queries += answered.run.responses
    return queries


def _describe_requests(answered: AnsweredCell, run: Run, verdicts: Sequence[Verdict]) -> dict[str, SentRequest]:
    """The requests that the report shows, masked; none if the service's address is not known, or a hook fails."""
    from harness.run.sent_requests import list_sent_requests

    cell = answered.cell
    suite, server, masker = cell.selection.selected, cell.server or Cluster(answered.cluster), cell.masker
    template = suite.requests.get(run.request)
    if template is None:
        return {}
    # A request for a service is shown with its address, which a merge may not know. One for an engine is shown with its
    # path alone, since any node of the cluster may have answered, and so needs no address.
    url = None if template.http is None else server.url
    if template.http is not None and url is None:
        return {}
    service = Cluster(server.name, url)
    try:
        requests = list_sent_requests(suite, run, list_blamed_queries(verdicts), cell.options.hooks, answered.sent)
    except HookError:
        return {}
    dialect = find_dialect(suite.target.service)
    queries = {query.id: query for query in suite.queries}
    shown: dict[str, SentRequest] = {}
    for request in requests:
        sent = dialect.describe(request, service)
        vectors = [queries[request.query].params[name] for name in suite.vectors]
        body = masker.mask_json(keep_small(shorten_vectors(sent.body, vectors)))
        shown[request.query] = replace(sent, url=masker.mask(sent.url), headers={}, body=body)
    return shown
