"""
One suite, from its queries to its report::

    select -> build the fixture -> send -> conclude
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.errors import SearchError
from harness.gate.selection import left_out, queries_to_run, select_queries
from harness.model import Engine, Failure, FailureKind, Query, Ranking, Response, Run, Score, Suite, SuiteReport
from harness.running.conclusion import Conclusion
from harness.running.fixture_builds import FixtureBuilds
from harness.running.options import RunOptions

if TYPE_CHECKING:
    from harness.masking import Masker
    from harness.search import Search

__all__ = ["FinishedSuite", "Progress", "SuiteExecution"]


@runtime_checkable
class Progress(Protocol):
    """Told how far a run is, from the thread that runs it."""

    def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
        """*queries* of *suite* are about to be sent; *chosen* is the request or index that was asked for, in words."""

    def queries_done(self, count: int) -> None:
        """Another *count* queries of the suite have their response."""

    def suite_finished(self, report: SuiteReport) -> None:
        """The suite is decided."""


@dataclass(frozen=True, slots=True)
class FinishedSuite:
    """
    One suite that ran: *suite* with the queries that were selected, their *run* and *scores*, the *report* on it.

    *others* are the queries that were not selected.
    """

    suite: Suite
    run: Run
    scores: tuple[Score, ...]
    report: SuiteReport
    others: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteExecution:
    """
    A loaded suite and what is asked of it.

    *cluster* is what the report calls the server. *masker* hides secrets in the report. *progress* is told how far
    the run is. *builds* are the indexes of the run that it belongs to; without them it builds its own. Where *earlier*
    is a run of the same suite, only the queries that had no answer there are asked.
    """

    suite: Suite
    options: RunOptions
    cluster: str
    masker: Masker | None = None
    progress: Progress | None = None
    builds: FixtureBuilds | None = None
    earlier: FinishedSuite | None = None

    def over(self, search: Search) -> FinishedSuite:
        """
        Run the suite over an open connection, and decide its thresholds.

        An engine that goes away, or refuses, is no error of this call: the queries fail, and the thresholds with them.

        Raises:
            UsageError: the suite has no request of the name that was asked for.
        """
        active = self._start()
        try:
            active = self._with_fixture(active, search)
            run = self._search(active, search)
            run = self._with_facts(self._with_tails(active, run, search), search)
        except SearchError as error:
            run = self._failed_run(active, search.engine, error)
        return self._finish(run, search)

    def without(self, error: SearchError | None) -> FinishedSuite:
        """There is no connection: each selected query fails with *error*, which is None where none is selected."""
        engine = Engine("not asked" if error is None else "not reached")
        return self._finish(self._failed_run(self._start(), engine, error), None)

    @property
    def _selected(self) -> Suite:
        return select_queries(self.suite, self.options.tags)

    def _start(self) -> Suite:
        """The queries that run, on the index that was asked for; that of a fixture has no name before it is built."""
        from harness.suites.requests import on_index

        active = queries_to_run(self._selected, self.options.day())
        kept = self._answered()
        active = replace(active, queries=tuple(query for query in active.queries if query.id not in kept))
        if self.progress is not None:
            self.progress.suite_started(self.suite, len(active.queries), self.options.chosen())
        if self.options.index is not None:
            return on_index(active, self.options.index)
        return active if active.fixture is None else _targeting(active, None)

    def _with_fixture(self, active: Suite, search: Search) -> Suite:
        """The suite on the index of its fixture."""
        if active.fixture is None:
            return active
        allow_write = self.options.allow_write or self.options.embedded
        builds = self.builds or FixtureBuilds(allow_write=allow_write)
        return _targeting(active, builds.index_of(self.suite, active.fixture, search))

    def _search(self, active: Suite, search: Search) -> Run:
        from harness.running.searching import execute

        on_done = None if self.progress is None else self.progress.queries_done
        day = self.options.day()
        return execute(
            active,
            search,
            request=self.options.request,
            progress=on_done,
            today=day,
            budget=self.options.budget,
            further=not self.options.unjudged,  # a pool is compared with nothing
        )

    def _answered(self) -> dict[str, Response]:
        """What was answered earlier, and is not asked again."""
        earlier = self.earlier
        if earlier is None or earlier.suite != self._selected:
            return {}
        return {query: answer for query, answer in earlier.run.responses.items() if isinstance(answer, Ranking)}

    def _joined(self, run: Run) -> Run:
        """The earlier run with the answers of *run*, to the queries that had none."""
        kept = self._answered()
        if self.earlier is None or not kept:
            return run
        answers = {**run.responses, **kept}
        return replace(
            self.earlier.run,
            responses={query.id: answers[query.id] for query in self._selected.queries if query.id in answers},
            seconds=self.earlier.run.seconds + run.seconds,
            tails=run.tails or self.earlier.run.tails,
        )

    def _with_tails(self, active: Suite, run: Run, search: Search) -> Run:
        """*run* with what ties with its last hits, where that is compared with another run's."""
        from harness.running.tails import search_tails

        if not (self.options.tails or self._is_compared):
            return run
        left = None if self.options.budget is None else self.options.budget - run.seconds
        return search_tails(active, run, search, budget=left)

    def _with_facts(self, run: Run, search: Search) -> Run:
        """*run* with what its index is, where that is compared with a baseline's or kept in one."""
        return replace(run, facts=search.index_facts(run.index)) if self._is_compared else run

    @property
    def _is_compared(self) -> bool:
        """Whether the run is held against a baseline, or becomes one."""
        from harness.baseline.reference import compares

        return self.options.save_baseline or compares(self._selected)

    def _failed_run(self, active: Suite, engine: Engine, error: SearchError | None) -> Run:
        from harness.suites.requests import choose_template

        template = choose_template(active, self.options.request)
        failure = Failure(FailureKind.ERROR, str(error))
        responses = {query.id: failure for query in active.queries}
        return Run(responses, engine, template.name, template.index or active.target.index)

    def _finish(self, run: Run, search: Search | None) -> FinishedSuite:
        run = self._joined(run)
        scores, report = Conclusion(self.suite, self.options, self.cluster, self.masker).of(run, search)
        if self.progress is not None:
            self.progress.suite_finished(report)
        return FinishedSuite(self._selected, run, scores, report, left_out(self.suite, self.options.tags))


def _targeting(suite: Suite, index: str | None) -> Suite:
    return replace(suite, target=replace(suite.target, index=index))
