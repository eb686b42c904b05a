"""
One suite, from its queries to its report::

    select -> build the fixture -> send -> score -> decide -> look for missing documents -> assemble -> mask
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from harness.assembly import assemble
from harness.errors import SearchError
from harness.gate import decide
from harness.model import (
    Engine,
    Failure,
    FailureKind,
    Fixture,
    MissingDocument,
    Ranking,
    Reference,
    Run,
    Score,
    Suite,
    SuiteReport,
    Verdict,
)
from harness.redaction import redact
from harness.scoring import score_run
from harness.selection import blamed_queries, gated_thresholds, queries_to_run, select_queries

if TYPE_CHECKING:
    from harness.masking import Masker
    from harness.search import Search

__all__ = ["FinishedSuite", "Progress", "RunOptions", "SuiteExecution"]

QUERIES_LOCATED = 20
"""Queries of a suite, the worst of each threshold first, whose missing documents a deeper search looks for."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """
    What the user asked for.

    *url*, or *embedded* with *engine_version*, takes the place of the suites' own clusters. *request* names one of a
    suite's request templates. *tags* select queries. *allow_write* lets fixtures build their index, which on the
    embedded node they always may. *locate* allows deeper searches for missing documents. *baseline* is a file of
    baselines in place of the one beside the suite; *save_baseline* says that the run is to become the baseline, so that
    nothing is compared with the old one. *today* decides which waivers hold, by the clock where it is None.
    *strict_xfail* makes an unexpected pass a failure. *budget* is how many seconds the searches of one suite may take;
    queries that are left then did not run. *client* is the user's own client object.
    """

    url: str | None = None
    embedded: bool = False
    engine_version: str | None = None
    request: str | None = None
    tags: tuple[str, ...] = ()
    allow_write: bool = False
    locate: bool = True
    baseline: Path | None = None
    save_baseline: bool = False
    today: date | None = None
    strict_xfail: bool = False
    budget: float | None = None
    client: Any = field(default=None, compare=False, repr=False)

    def day(self) -> date:
        """The day that waivers are held against."""
        return self.today or date.today()


class Progress(Protocol):
    """Told how far a run is, from the thread that runs it."""

    def suite_started(self, suite: Suite, queries: int) -> None:
        """*queries* of *suite* are about to be sent."""

    def queries_done(self, count: int) -> None:
        """Another *count* queries of the suite have their response."""

    def suite_finished(self, report: SuiteReport) -> None:
        """The suite is decided."""


@dataclass(frozen=True, slots=True)
class FinishedSuite:
    """One suite that ran: *suite* with the queries that were selected, their *run* and *scores*, the *report* on it."""

    suite: Suite
    run: Run
    scores: tuple[Score, ...]
    report: SuiteReport


@dataclass(frozen=True, slots=True)
class SuiteExecution:
    """
    A loaded suite and what is asked of it.

    *cluster* is what the report calls the server. *masker* hides secrets in the report. *progress* is told how far
    the run is.
    """

    suite: Suite
    options: RunOptions
    cluster: str
    masker: Masker | None = None
    progress: Progress | None = None

    def over(self, search: Search) -> FinishedSuite:
        """
        Run the suite over an open connection, and decide its thresholds.

        An engine that goes away, or refuses, is no error of this call: the queries fail, and the thresholds with them.

        Raises:
            UsageError: the suite has no request of the name that was asked for.
        """
        active = self._start()
        try:
            active = self._with_index(active, search)
            run = self._search(active, search)
            run = self._with_facts(run, search)
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
        active = queries_to_run(self._selected, self.options.day())
        if self.progress is not None:
            self.progress.suite_started(self.suite, len(active.queries))
        return active if active.fixture is None else _on_index(active, None)

    def _with_index(self, active: Suite, search: Search) -> Suite:
        """The suite on the index of its fixture, which has no name before it is built."""
        return active if active.fixture is None else _on_index(active, self._build_index(active.fixture, search))

    def _search(self, active: Suite, search: Search) -> Run:
        from harness.runner import execute

        on_done = None if self.progress is None else self.progress.queries_done
        day = self.options.day()
        return execute(
            active, search, request=self.options.request, progress=on_done, today=day, budget=self.options.budget
        )

    def _with_facts(self, run: Run, search: Search) -> Run:
        """*run* with what its index is, where that is compared with a baseline's or kept in one."""
        from harness.baseline.references import compares

        if not (self.options.save_baseline or compares(self._selected)):
            return run
        return replace(run, facts=search.index_facts(run.index))

    def _reference(self, run: Run) -> Reference | None:
        """What the run is held against; None where no threshold compares."""
        from harness.baseline.references import compares, reference_for

        if not compares(self._selected):
            return None
        if self.options.save_baseline:
            return Reference(updating=True)
        return reference_for(self._selected, run, self.options.baseline)

    def _build_index(self, fixture: Fixture, search: Search) -> str:
        from harness.search.fixtures import ensure_index

        base = Path(self.suite.path).parent
        allow_write = self.options.allow_write or self.options.embedded
        return ensure_index(search, fixture, base, self.suite.name, allow_write=allow_write)

    def _failed_run(self, active: Suite, engine: Engine, error: SearchError | None) -> Run:
        failure = Failure(FailureKind.ERROR, str(error))
        responses = {query.id: failure for query in active.queries}
        request = self.options.request or next(iter(active.requests), "request")
        return Run(responses, engine, request, active.target.index)

    def _finish(self, run: Run, search: Search | None) -> FinishedSuite:
        scores = score_run(self._selected, run)
        reference = self._reference(run)
        verdicts = decide(
            self.suite,
            run,
            scores,
            today=self.options.day(),
            tags=self.options.tags,
            strict_xfail=self.options.strict_xfail,
            reference=reference,
        )
        located, notes = self._locate(run, search, verdicts)
        report = assemble(
            self._selected,
            run,
            scores,
            verdicts,
            located=located,
            cluster=self.cluster,
            deselected=len(self.suite.queries) - len(self._selected.queries),
            notes=[*self._deselection(verdicts), *notes, *(reference.changes if reference else ())],
        )
        report = report if self.masker is None else redact(report, self.masker.mask)
        if self.progress is not None:
            self.progress.suite_finished(report)
        return FinishedSuite(self._selected, run, scores, report)

    def _locate(
        self, run: Run, search: Search | None, verdicts: Sequence[Verdict]
    ) -> tuple[Mapping[str, tuple[MissingDocument, ...]], list[str]]:
        """Where the missing documents of the worst queries rank; a report without that is still a report."""
        from harness.runner import locate_missing

        queries = [query for query in blamed_queries(verdicts) if isinstance(run.responses.get(query), Ranking)]
        if search is None or not queries or not self.options.locate:
            return {}, []
        try:
            return locate_missing(self._selected, run, search, queries[:QUERIES_LOCATED]), []
        except SearchError as error:
            return {}, [f"where the missing documents rank is not known: {error}"]

    def _deselection(self, verdicts: Sequence[Verdict]) -> list[str]:
        left_out = len(gated_thresholds(self.suite)) - len(verdicts)
        if not left_out:
            return []
        tags = ", ".join(self.options.tags)
        left = (
            "1 threshold is not decided: it is" if left_out == 1 else f"{left_out} thresholds are not decided: they are"
        )
        return [f"{left} about other queries than those with the tag {tags}"]


def _on_index(suite: Suite, index: str | None) -> Suite:
    return replace(suite, target=replace(suite.target, index=index))
