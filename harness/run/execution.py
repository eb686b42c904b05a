"""One suite over one connection: its queries are sent, its responses scored, its thresholds decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.errors import SearchError
from harness.gate import decide
from harness.gate.selection import blamed_queries, gated_thresholds, left_out, queries_to_run, select_queries
from harness.masking import redact
from harness.metrics.run_scores import score_run
from harness.model import (
    BaselineSummary,
    Engine,
    Failure,
    FailureKind,
    MissingDocument,
    Query,
    Ranking,
    Reference,
    Response,
    Run,
    Score,
    Suite,
    SuiteReport,
    Verdict,
)
from harness.options import RunOptions
from harness.run.connections import FixtureBuilds
from harness.run.report import assemble
from harness.words import count

if TYPE_CHECKING:
    from harness.masking import Masker
    from harness.search import Search

__all__ = ["QUERIES_LOCATED", "Conclusion", "FinishedSuite", "Progress", "SuiteExecution"]


# What a run came to::
#
#     score -> decide -> look for missing documents -> assemble -> mask


QUERIES_LOCATED = 20
"""Queries of a suite, the worst of each threshold first, whose missing documents a deeper search looks for."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """
    Draws the conclusion from runs of *suite*, which holds all its queries, under *options*.

    *cluster* is what the report calls the server. *masker* hides secrets in the report.
    """

    suite: Suite
    options: RunOptions
    cluster: str
    masker: Masker | None = None

    def of(self, run: Run, search: Search | None) -> tuple[tuple[Score, ...], SuiteReport]:
        """The scores of *run*, and the report on it; *search* is where it came from, None where nothing answered."""
        selected = select_queries(self.suite, self.options.tags)
        scores = score_run(selected, run)
        reference = self._reference(selected, run)
        verdicts = self._decide(run, scores, reference)
        located, notes = self._locate(selected, run, search, verdicts)
        changes = reference.changes if reference else ()
        report = assemble(
            selected,
            run,
            scores,
            verdicts,
            located=located,
            cluster=self.cluster,
            deselected=len(self.suite.queries) - len(selected.queries),
            notes=[*self._choices(run), *self._deselection(verdicts), *_tails(run, selected), *notes, *changes],
            baseline=None
            if reference is None or reference.run is None
            else BaselineSummary(reference.created, changes),
        )
        return scores, report if self.masker is None else redact(report, self.masker.mask)

    def _reference(self, selected: Suite, run: Run) -> Reference | None:
        """What the run is held against; None where no threshold compares."""
        from harness.baseline.reference import compares, reference_for

        if not compares(selected):
            return None
        if self.options.save_baseline:
            return Reference(updating=True)
        return reference_for(selected, run, self.options.baseline)

    def _decide(self, run: Run, scores: Sequence[Score], reference: Reference | None) -> tuple[Verdict, ...]:
        return decide(
            self.suite,
            run,
            scores,
            today=self.options.day(),
            tags=self.options.tags,
            strict_xfail=self.options.strict_xfail,
            reference=reference,
        )

    def _locate(
        self, selected: Suite, run: Run, search: Search | None, verdicts: Sequence[Verdict]
    ) -> tuple[Mapping[str, tuple[MissingDocument, ...]], list[str]]:
        """Where the missing documents of the worst queries rank; a report without that is still a report."""
        from harness.run.searching import locate_missing

        queries = [query for query in blamed_queries(verdicts) if isinstance(run.responses.get(query), Ranking)]
        if search is None or not queries or not self.options.locate:
            return {}, []
        try:
            return locate_missing(selected, run, search, queries[:QUERIES_LOCATED]), []
        except SearchError as error:
            return {}, [f"where the missing documents rank is not known: {error}"]

    def _choices(self, run: Run) -> Iterator[str]:
        """An index in place of the suite's own, so that nobody takes the figures for those of the latter."""
        template = self.suite.requests.get(run.request)
        own = (template.index if template else None) or self.suite.target.index
        if self.options.index is not None and self.options.index != own:
            yield f"the index {self.options.index} was asked for in place of {own or 'none'}"

    def _deselection(self, verdicts: Sequence[Verdict]) -> Iterator[str]:
        left_out = len(gated_thresholds(self.suite)) - len(verdicts)
        if not left_out:
            return
        tags = ", ".join(self.options.tags)
        left = (
            "1 threshold is not decided: it is" if left_out == 1 else f"{left_out} thresholds are not decided: they are"
        )
        yield f"{left} about other queries than those with the tag {tags}"


def _tails(run: Run, suite: Suite) -> Iterator[str]:
    """What it cost to find out which documents tie with the last hits."""
    tails = run.tails
    if tails is None:
        return
    queries = count(tails.queries, "query")
    if tails.problem:
        yield f"which documents tie with the last hit of {queries} is not known: {tails.problem}"
        return
    left = f"; not all are known of {count(tails.left_open, 'query')}" if tails.left_open else ""
    yield (
        f"{queries} asked again for ties below rank {suite.depth}: at most {count(tails.hits, 'hit')} each, "
        f"{tails.seconds:.1f} s{left}"
    )


# One suite, from its queries to its report::
#
#     select -> build the fixture -> send -> conclude


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
        from harness.run.searching import execute

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
        from harness.run.searching import search_tails

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
        failure = Failure(FailureKind.ERROR, error.text(self.options.entry) if error else "")
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
