"""
One suite over one connection, with one of its requests on one index: a cell of a run.

`SuiteExecution` sends the queries, `conclude` scores and decides what came back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.errors import HookError, SearchError
from harness.gate import decide
from harness.gate.selection import QueryFilter, Selection, blamed_queries, worst_first
from harness.masking import Masker, if_small, redact, without_vectors
from harness.metrics.score import score_run
from harness.model import (
    BaselineFile,
    Cluster,
    Engine,
    IndexState,
    Query,
    Ranking,
    Reference,
    Repeat,
    Response,
    Run,
    Score,
    SearchRequest,
    SentRequest,
    Suite,
    SuiteReport,
    Verdict,
)
from harness.options import RunOptions
from harness.process import gc_paused
from harness.run.checks import Targets
from harness.run.connections import FixtureBuilds, targeting
from harness.run.header import NOT_ASKED
from harness.run.journal import Section
from harness.run.notes import run_notes
from harness.run.report import DecidedRun, assemble
from harness.run.responses import ReceivedResponses, failed_run, joined, kept_answers, without_answered
from harness.run.watching import TargetWatch, watch_target, with_point_in_time

if TYPE_CHECKING:
    from harness.baseline import BaselineUpdate
    from harness.search import Search

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
class AnsweredSuite:
    """
    A suite whose queries were sent under *options*, which have the hooks in force; nothing is scored or decided yet.

    *run* holds the responses, *search* is the open connection that they came from, None where nothing answered.
    *cluster* is the server's name in reports, *server* how to reach it. *masker* hides secrets. *sent* are the requests
    as hooks changed them, by query. *budget* are the seconds that are left for look-ups, None where there is no limit.
    """

    selection: Selection
    options: RunOptions
    run: Run
    cluster: str
    masker: Masker
    search: Search | None = None
    server: Cluster | None = None
    sent: Mapping[str, SearchRequest] = field(default_factory=dict)
    budget: float | None = None

    def masked_run(self) -> Run:
        """The run, with secrets masked in what servers returned."""
        return redact(self.run, self.masker.mask) if self.masker else self.run


@dataclass(frozen=True, slots=True)
class FinishedSuite:
    """
    A suite that ran: *suite* with the queries that were selected, their *run* and *scores*, and its *report*.

    Secrets are masked in *run*. *others* are the queries that were not selected.
    """

    suite: Suite
    run: Run
    scores: Sequence[Score]
    report: SuiteReport
    others: Sequence[Query] = ()

    def kept(self, options: RunOptions, standing: Mapping[Path, BaselineFile] | None = None) -> BaselineUpdate:
        """Its run, which had *options*, added to the baselines of its suite; raises as `keep_run`."""
        from harness.baseline import keep_run

        return keep_run(
            self.suite,
            self.run,
            self.scores,
            created=options.day().isoformat(),
            partial=QueryFilter.of(options).is_part,
            others=self.others,
            file=options.baseline,
            standing=standing,
        )


# Searching.


@dataclass(frozen=True, slots=True)
class SuiteExecution:
    """
    A selection of a suite, and how to run it.

    *options* have the hooks in force. *cluster* is the server's name in the report, *server* how to reach it. *masker*
    hides secrets. *builds* and *targets* are shared by the cells of a run: the indexes that were built, and what is
    known of the targets. *progress* receives how far the run is. *section* is the part of a journal that stores the
    responses. Where it has an earlier run, or *earlier* is one of the same suite, only the queries without a response
    there are sent.
    """

    selection: Selection
    options: RunOptions
    cluster: str
    masker: Masker
    builds: FixtureBuilds
    targets: Targets
    progress: Progress | None = None
    earlier: FinishedSuite | None = None
    server: Cluster | None = None
    section: Section | None = None

    def over(self, search: Search, still: ExitStack) -> AnsweredSuite:
        """
        Send the queries over an open connection; *still* closes the point in time that the suite may search.

        An engine that goes away or refuses is not an error of this call: the queries fail.

        Raises:
            UsageError: the journal cannot be written.
        """
        earlier = self._earlier()
        active = self._start(earlier)
        if earlier is not None and self._is_whole(earlier):
            if whole := self._whole(earlier, active, search):
                return whole
            earlier, active = None, self._start(None)
        sent, heard = dict[str, SearchRequest](), ReceivedResponses()
        budget = self.options.budget
        try:
            active = self._with_fixture(active, search)
            search = still.enter_context(with_point_in_time(active, self.options.request, search))
            watch = self._watch(active, search)
            watch.read_state()
            if self.section is not None:
                begun = self.section.begin(search.engine, watch.first)
                if begun is None and earlier is not None:
                    self._start(None)
                earlier = begun
            hooked = self.options.hooks.around(search, sent)
            run = joined(self._search(active, hooked, earlier, watch, heard), earlier)
            is_searched = earlier is not None and earlier.tails is not None
            left = without_answered(active, kept_answers(earlier)) if is_searched else active
            run = self._with_tails(left, run, hooked, watch.left)
            run = self._with_titles(self._with_facts(run, search), search, watch.left)
            if run.has_rankings:
                run = replace(run, repeats=self._repeats(active, hooked, run, watch))
                watch.read_state()
                run = replace(run, states=(*run.states, *watch.states))
            budget = watch.left
        except SearchError as error:
            run = self._failed_run(active, search.engine, error, earlier)
        if self.section is not None:
            self.section.end(run, heard, heard.replaced)
        return replace(self._answered_suite(run, search), sent=sent, budget=budget)

    def without(self, error: SearchError | None) -> AnsweredSuite:
        """Without a connection, each selected query fails with *error*, which is None where no query is selected."""
        earlier = self._earlier()
        active = self._start(earlier)
        if earlier is not None and self._is_whole(earlier) and (whole := self._whole(earlier, active, None)):
            return whole
        run = self._failed_run(active, Engine("not asked" if error is None else "not reached"), error, earlier)
        if self.section is not None:
            self.section.end(run, kept_answers(earlier))
        return self._answered_suite(run, None)

    def _answered_suite(self, run: Run, search: Search | None) -> AnsweredSuite:
        return AnsweredSuite(
            self.selection,
            self.options,
            replace(run, hooked=self.options.hooks.concern_searches),
            self.cluster,
            self.masker,
            search,
            self.server,
            budget=self.options.budget,
        )

    def _whole(self, earlier: Run, active: Suite, search: Search | None) -> AnsweredSuite | None:
        """*earlier*, unchanged, with *search* for look-ups if the target is the same; None if queries are sent anew."""
        from harness.suites.requests import choose_template

        own = choose_template(active, self.options.request).index or active.target.index
        if own is not None and self.masker.mask(own) == earlier.index:
            earlier = replace(earlier, index=own)  # a journal has it masked
        if self.section is not None:
            engine, state = NOT_ASKED if search is None else search.engine, self._state_now(earlier, active, search)
            if not self.section.is_same_target(engine, state):
                search = None
            if self.section.earlier is None:
                return None
            earlier = replace(earlier, target_unknown=self.section.earlier.target_unknown)
        ordered = {one.id: earlier.responses[one.id] for one in active.queries if one.id in earlier.responses}
        whole = self._with_titles(replace(earlier, responses=ordered), search, self.options.budget)
        answered = self._answered_suite(whole, search)
        return replace(answered, cluster=(self.section and self.section.cluster) or self.cluster)

    def _state_now(self, earlier: Run, active: Suite, search: Search | None) -> IndexState | None:
        """The state of the target of *earlier* now; a fixture is built first, unless nothing is to be sent."""
        from harness.suites.requests import on_index

        if search is None or earlier.index is None:
            return None
        try:
            asks = self.section is not None and self.section.asks
            target = self._with_fixture(active, search) if asks else active
        except SearchError:
            return None
        watch = self._watch(target if target is not active else on_index(active, earlier.index), search)
        watch.read_state()
        return watch.first

    def _earlier(self) -> Run | None:
        """The earlier run, whose rankings are not requested again."""
        if self.section is not None:
            return self.section.earlier
        earlier = self.earlier
        return None if earlier is None or earlier.suite != self.selection.selected else earlier.run

    def _is_whole(self, earlier: Run) -> bool:
        """Whether no query is left to send."""
        if self.section is not None:
            return self.section.is_whole
        return not without_answered(self.selection.active, kept_answers(earlier)).queries

    def _start(self, earlier: Run | None) -> Suite:
        """The queries that run, on the selected index; the index of a fixture has no name before it is built."""
        from harness.suites.requests import on_index

        active = self.selection.active
        if self.progress is not None:
            again = (self.options.repeat or 1) - 1
            left = len(without_answered(active, kept_answers(earlier)).queries) + again * len(active.queries)
            self.progress.suite_started(self.selection.suite, left, self.options.chosen())
        if self.options.index is not None:
            return on_index(active, self.options.index)
        return active if active.fixture is None else targeting(active, None)

    def _with_fixture(self, active: Suite, search: Search) -> Suite:
        """The suite on the index of its fixture."""
        if active.fixture is None:
            return active
        return targeting(active, self.builds.index_of(active, active.fixture, search))

    def _hear(self, watch: TargetWatch, responses: Mapping[str, Response]) -> None:
        if self.progress is not None:
            self.progress.queries_done(len(responses))
        watch.read_state_if_due()

    def _search(
        self, active: Suite, search: Search, earlier: Run | None, watch: TargetWatch, responses: ReceivedResponses
    ) -> Run:
        from harness.run.searching import execute

        def heard(responses: Mapping[str, Response]) -> None:
            if self.section is not None:
                self.section.add(responses)
            self._hear(watch, responses)

        return execute(
            active,
            search,
            request=self.options.request,
            on_answers=heard,
            budget=self.options.budget,
            further=self._asks_further,
            titles=self.options.hooks.concern_searches,
            targets=self.targets.in_state(watch.first) if self._is_checked else None,
            whole=self.selection.suite,
            warm_up=self.options.warm_up or active.warm_up,
            earlier=earlier,
            responses=responses,
        )

    def _repeats(self, active: Suite, search: Search, run: Run, watch: TargetWatch) -> tuple[Repeat, ...]:
        if (times := self.options.repeat or 1) == 1:
            return ()
        from harness.run.searching import search_again

        hear, further, tails = partial(self._hear, watch), self._asks_further, self._searches_tails
        return search_again(active, search, run, watch, times=times, further=further, tails=tails, on_answers=hear)

    @property
    def _asks_further(self) -> bool:
        """Whether to request one hit more: not for a pool, nor with hooks, which may depend on the number of hits."""
        return not (self.options.unjudged or self.options.hooks.concern_searches)

    def _watch(self, active: Suite, search: Search) -> TargetWatch:
        """The watch of the target; it watches nothing for a pool, or without queries."""
        if not self._is_checked or not active.queries:
            return TargetWatch(None, budget=self.options.budget)
        return watch_target(
            active,
            self.options.request,
            search,
            budget=self.options.budget,
            is_changed_by_hooks=self.options.hooks.concern_searches,
        )

    def _with_tails(self, active: Suite, run: Run, search: Search, budget: float | None) -> Run:
        """*run* with the documents that tie with its last hits, where it is compared with another run."""
        from harness.run.tails import search_tails

        return search_tails(active, run, search, budget=budget) if self._searches_tails else run

    def _with_titles(self, run: Run, search: Search | None, budget: float | None) -> Run:
        """*run* with the titles of all hits, where all are reported; a pool looks them up later, with more fields."""
        from harness.run.look_ups import TITLES_AT_MOST, look_up_titles, untitled_hits

        if search is None or self.options.unjudged or not self.options.all_titles:
            return run
        documents = chain(untitled_hits(run), self.options.titled[:TITLES_AT_MOST])
        return look_up_titles(self.selection.suite, run, search, documents, budget=budget)

    def _with_facts(self, run: Run, search: Search) -> Run:
        """*run* with the facts on its index, where a baseline or a merge needs them."""
        is_wanted = self._is_compared or self.options.shard is not None
        return replace(run, facts=search.index_facts(run.index)) if is_wanted else run

    @property
    def _searches_tails(self) -> bool:
        return self.options.tails or self._is_compared

    @property
    def _is_checked(self) -> bool:
        """Whether the target is checked; documents of a pool need no judgments."""
        return self.selection.suite.checks and not self.options.no_checks and not self.options.unjudged

    @property
    def _is_compared(self) -> bool:
        """Whether the run is compared with a baseline, or becomes one."""
        return self.options.save_baseline or self.selection.compares

    def _failed_run(self, active: Suite, engine: Engine, error: SearchError | None, earlier: Run | None) -> Run:
        reason = error.text(self.options.entry) if error else ""
        return failed_run(active, self.options.request, engine, reason, earlier)


# Deciding.


@gc_paused()
def conclude(
    answered: AnsweredSuite, progress: Progress | None = None, *, inspected: str | None = None
) -> FinishedSuite:
    """
    Decide the thresholds of a suite whose queries were sent::

        mask -> score -> decide -> look for missing documents -> assemble

    Where a query is only *inspected*, its missing documents are looked for although no threshold blames it.
    """
    from harness.run.look_ups import locate_worst

    selection, options, masker = answered.selection, answered.options, answered.masker
    suite, selected = selection.suite, selection.selected
    run = answered.masked_run()
    scores = score_run(selected, run)
    run, reference = _with_reference(answered, run)
    verdicts = decide(
        suite,
        run,
        scores,
        today=options.day(),
        query_filter=QueryFilter.of(options),
        strict_xfail=options.strict_xfail,
        report_only=options.report_only,
        reference=reference,
        repeated=[score_run(selected, replace(run, responses=repeat.responses)) for repeat in run.repeats],
    )
    run = _with_shown_titles(answered, run, verdicts, reference)
    worst = blamed_queries(verdicts) if inspected is None else [inspected]
    located, notes = locate_worst(selected, answered.run, answered.search, worst, options, answered.budget)
    report = assemble(
        DecidedRun(selected, run, scores, verdicts, reference, located),
        answered.cluster,
        notes=[*run_notes(selection, run, options, answered.server, verdicts), *notes],
        deselected=len(selection.others),
        decides=inspected is None,
        report_only=options.report_only,
        sent={} if inspected is not None else _sent(answered, run, verdicts),
        searched=options.searched(),
    )
    if progress is not None:
        progress.suite_finished(run, verdicts)
    report = redact(report, masker.mask) if masker else report
    return FinishedSuite(selected, run, scores, report, selection.others)


def _with_reference(answered: AnsweredSuite, run: Run) -> tuple[Run, Reference | None]:
    """
    *run* with the facts on its index, and the baseline that thresholds and the report compare it with.

    Without a threshold that compares, a baseline only informs: it is read where it is beside the suite or was named,
    and a query has a ranking. It costs three small requests and no deeper search.
    """
    options, suite = answered.options, answered.selection.selected
    if options.save_baseline:
        return run, Reference(updating=True)
    from harness.baseline import reference_for
    from harness.baseline.files import has_baseline

    if not answered.selection.compares and not (run.has_rankings and has_baseline(suite, options.baseline)):
        return run, None
    if run.facts is None and answered.search is not None:
        run = replace(run, facts=answered.search.index_facts(run.index))
    return run, reference_for(suite, run, options.baseline, options.searched(), answered.selection.others)


def _with_shown_titles(
    answered: AnsweredSuite, run: Run, verdicts: Sequence[Verdict], reference: Reference | None
) -> Run:
    """*run* with the titles of the hits of the worst queries, and of documents that only the baseline ranks."""
    from harness.run.look_ups import TITLES_AT_MOST, left_documents, look_up_titles, untitled_hits

    options, search = answered.options, answered.search
    if search is None or not options.locate or not run.has_rankings:
        return run
    blamed = chain(worst_first([verdict.blamed for verdict in verdicts]), run.responses if options.report_only else ())
    answered_ones = (query for query in dict.fromkeys(blamed) if isinstance(run.responses.get(query), Ranking))
    worst = None if options.all_titles else list(islice(answered_ones, QUERIES_TITLED))
    own = () if worst is None else untitled_hits(run, worst)
    documents = chain(own, islice(left_documents(run, reference, worst), TITLES_AT_MOST))
    titled = look_up_titles(answered.selection.selected, run, search, documents, budget=answered.budget)
    return redact(titled, answered.masker.mask) if answered.masker else titled


def _sent(answered: AnsweredSuite, run: Run, verdicts: Sequence[Verdict]) -> dict[str, SentRequest]:
    """The requests that the report shows, masked; none if the service's address is not known, or a hook fails."""
    from harness.run.searching import sent_requests

    suite, server = answered.selection.selected, answered.server or Cluster(answered.cluster)
    template = suite.requests.get(run.request)
    if template is None or (template.http is not None and server.url is None):
        return {}
    try:
        first = blamed_queries(verdicts)
        sent = sent_requests(suite, run, server, first, answered.options.hooks, answered.sent)
    except HookError:
        return {}
    shown = {}
    for query in suite.queries:
        if query.id in sent:
            request = sent[query.id]
            body = without_vectors(request.body, [query.params[name] for name in suite.vectors])
            url, body = answered.masker.mask(request.url), answered.masker.mask_json(if_small(body))
            shown[query.id] = replace(request, url=url, body=body)
    return shown
