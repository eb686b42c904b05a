"""A suite file and its items, as nodes of pytest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.files.paths import shorten_path
from harness.gate.selection import check_query_ids, check_tags
from harness.model.run import Status
from harness.pytest_plugin.outcomes import IndexedReport, ItemOutcome, find_outcome
from harness.pytest_plugin.plan import PlannedItem
from harness.pytest_plugin.plugin_options import only_shows_items
from harness.pytest_plugin.runs import SessionRuns
from harness.pytest_plugin.session import RelevanceSession, RelevanceWarning, SuiteCell
from harness.report.junit import format_waiver
from harness.report.safe_text import make_loggable
from harness.run import Matrix

_SUITE_KEY = re.compile(rb"""^(["']?)suite\1[ \t]*:""", re.MULTILINE)
_FIRST_BYTES = 65_536
"""Enough for the top of a suite; a YAML file of another plugin may be large."""


def looks_like_suite(path: Path) -> bool:
    """
    Whether a YAML file with another suffix, given on the command line, has ``suite:`` at its top level.

    Other plugins have YAML files too, so a path on the command line alone does not make a file a suite.
    """
    with path.open("rb") as file:
        return _SUITE_KEY.search(file.read(_FIRST_BYTES)) is not None


class SuiteFile(pytest.File):
    """
    One suite; collected without the environment, so that variables need not be set before it runs.

    Outside of the rootdir its node id is its absolute path: pytest would take an empty one for each file that is named,
    and pytest-xdist runs one of several items of the same id. A command of a CI system is escaped in it, as pytest
    prints it in each line.
    """

    def __init__(self, *, runs: SessionRuns, path: Path, parent: pytest.Collector, **others: Any) -> None:
        rootdir = parent.config.rootpath
        shown_path = path.relative_to(rootdir) if path.is_relative_to(rootdir) else path
        others["nodeid"] = make_loggable(shown_path.as_posix())
        super().__init__(path=path, parent=parent, **others)
        self.runs = runs
        self._indexed: dict[tuple[str | None, str | None], IndexedReport] = {}
        self._planned: tuple[PlannedItem, ...] = ()

    def obtain_report(self, request: str | None, index: str | None = None) -> IndexedReport:
        """
        The report on the suite with *request* on *index*; None for those of the session. The suite runs if it has not
        yet; if an item runs again, the queries without an answer are sent again.

        Raises:
            RunFailed: the suite could not be run.
        """
        cell = (request, index)
        indexed = self._indexed.get(cell)
        if indexed is not None and not self.runs.relevance_session.runs_again:
            return indexed
        report = self.runs.run_for_items(self.path, request, index)
        if indexed is None or indexed.report is not report:
            # Items may have been deselected by any plugin since they were planned.
            names = {item.name for item in self.session.items if item.parent is self}
            items = [item for item in self._planned if (item.request, item.index) == cell]
            indexed = IndexedReport(
                report,
                self.runs.find_single_queries(self.path, request, index),
                [replace(item, selected=item.name in names) for item in items],
                each_query=self.runs.relevance_session.options.each_query,
                by_rank=self.config.get_verbosity() > 1,
            )
            self._indexed[cell] = indexed
        return indexed

    def collect(self) -> Iterator[SuiteItem]:
        """
        The items of the suite.

        Raises:
            CollectError: the suite is wrong, or names a marker that is not registered.
        """
        try:
            yield from self._make_items()
        except self.CollectError as error:
            self.runs.relevance_session.uncollected[str(shorten_path(self.path))] = str(error)
            raise

    def _make_items(self) -> Iterator[SuiteItem]:
        """Load the suite, and make an item of each that is planned; raises as `collect`."""
        refusal = self.runs.relevance_session.explain_link_refusal(self.path, self.config.rootpath)
        if refusal:
            raise self.CollectError(f"{shorten_path(self.path)}: {refusal}")
        try:
            suite = self.runs.load(self.path, None)
        except HarnessError as error:
            raise self.CollectError(str(error)) from None
        self._planned = self.runs.plan(suite)
        ungated = self.runs.list_ungated(suite)
        self.runs.relevance_session.ungated += ungated
        if not self._planned and not ungated:
            self.runs.relevance_session.suites_without_items.append(self.path)
        for planned in self._planned:
            # Set explicitly: pytest takes a request in brackets for parameters, and would derive from the name an id
            # without it, which --lf does not find again.
            nodeid = f"{self.nodeid}::{planned.name}"
            item = SuiteItem.from_parent(self, name=planned.name, nodeid=nodeid, planned=planned)
            self._add_markers(item)
            yield item

    def _add_markers(self, item: SuiteItem) -> None:
        """Add the item's markers; raises CollectError, with its place, for a marker that is not registered."""
        for name in item.planned.markers:
            try:
                item.add_marker(name)
            # pytest fails with --strict-markers, and warns without; a name that begins with _ is an AttributeError.
            except (pytest.fail.Exception, pytest.PytestUnknownMarkWarning, AttributeError):
                raise self.CollectError(
                    f"{item.planned.mark}: marker {name!r} is not registered: add it to `markers` in pytest's ini "
                    f"file, or make it one of `tags`"
                ) from None


class SuiteItem(pytest.Item):
    """
    One threshold, or one query.

    The suite runs in the setup phase, so a query that could not be sent or answered is an error; the call phase only
    reports the verdict.
    """

    def __init__(self, *, planned: PlannedItem, **others: Any) -> None:
        super().__init__(**others)
        self.planned = planned
        self.extra_keyword_matches.update(planned.keywords)
        self.user_properties.extend(planned.properties)
        self._outcome: ItemOutcome | None = None
        if planned.skip is not None:
            self.add_marker(pytest.mark.skip(reason=format_waiver(planned.skip)))

    @property
    def cell(self) -> SuiteCell:
        """The run of the suite that it needs."""
        return str(self.path), self.planned.request, self.planned.index

    @property
    def needs_run(self) -> bool:
        """Whether the suite runs for it: not if it is skipped by a waiver, or if pytest only shows items."""
        return self.planned.skip is None and not only_shows_items(self.config)

    def read_outcome(self) -> None:
        """
        Run the suite, unless another item has done so, and read the outcome of this item from its report.

        Called before pytest evaluates marks, so that skips and expected failures are marks like any other.
        """
        if not self.needs_run:
            return
        if self._outcome is not None:
            # The item runs again, and may have other figures now.
            earlier = self._outcome.properties
            self.user_properties[:] = [entry for entry in self.user_properties if entry not in earlier]
            self._outcome = None
        outcome = self._find_outcome()
        self._outcome = outcome
        self.user_properties.extend(outcome.properties)
        if outcome.status.is_undecided:
            pytest.fail(outcome.brief or outcome.reason, pytrace=False)
        reason = outcome.reason
        if outcome.waiver is not None:
            reason = format_waiver(outcome.waiver)
        if outcome.status is Status.SKIPPED:
            self.add_marker(pytest.mark.skip(reason=reason))
        if outcome.status in (Status.XFAILED, Status.XPASSED):
            self.add_marker(pytest.mark.xfail(reason=reason, raises=pytest.fail.Exception))

    def runtest(self) -> None:
        """Fail, warn or pass, as decided."""
        outcome = self._outcome
        assert outcome is not None, "pytest sets an item up first"
        if outcome.status in (Status.FAILED, Status.XFAILED):
            pytest.fail(outcome.reason, pytrace=False)
        if outcome.status is Status.WARNED:
            self.warn(RelevanceWarning(outcome.reason))

    def add_cause(self, report: pytest.TestReport) -> None:
        """Put the whole reason into the summary and JUnit XML where only its brief form is printed."""
        crash = getattr(report.longrepr, "reprcrash", None)
        if self._outcome is not None and self._outcome.brief and report.failed and crash is not None:
            crash.message = f"Failed: {self._outcome.reason}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reason, then the worst queries. pytest's summary, which cuts long lines, begins with the figures."""
        if self._outcome is None or not isinstance(excinfo.value, pytest.fail.Exception):
            return super().repr_failure(excinfo, style)
        text = excinfo.getrepr(style="value")
        if self._outcome.headline and text.reprcrash is not None:
            text.reprcrash.message = f"{self._outcome.headline}; {self._outcome.reason}"
        for title, section in self._outcome.sections:
            text.addsection(title, section, "-")
        return text

    def reportinfo(self) -> tuple[PathLike[str], int | None, str]:
        """The line of the suite, and the threshold or query as headline."""
        line = self.planned.mark.line
        assert self.parent is not None
        # The path of the node id: pytest prints both where they differ.
        path = self.config.rootpath / self.parent.nodeid
        # pytest counts lines from 0.
        line_index = line - 1 if line else None
        return path, line_index, make_loggable(self.planned.headline)

    def _find_outcome(self) -> ItemOutcome:
        """The outcome of this item; the suite runs if it has not yet, and if it cannot, the item fails."""
        assert isinstance(self.parent, SuiteFile)
        try:
            return find_outcome(self.planned, self.parent.obtain_report(self.planned.request, self.planned.index))
        except HarnessError as error:
            sentence = str(error)
        # Outside of the handler, or pytest would show both as a chain.
        pytest.fail(sentence, pytrace=False)


def check_choices(relevance_session: RelevanceSession) -> None:
    """
    Refuse tags and queries that no suite has, requests that a suite lacks and indexes that it cannot search, all in one
    error.

    A worker of pytest-xdist cannot raise it: the controller does, after all workers have reported.

    Raises:
        pytest.UsageError: a choice cannot be met.
    """
    suites, options = relevance_session.suites_collected, relevance_session.options
    # A request that a suite lacks is refused once, and not again as one that searches no other index.
    known_requests = [name for name in options.requests if all(name in suite.requests for suite in suites)]
    checks = (
        ("tag", partial(check_tags, suites, options.run.tags)),
        ("query", partial(check_query_ids, suites, options.run.queries)),
        ("request", partial(Matrix(options.requests).check, suites)),
        ("index", partial(Matrix(tuple(known_requests), options.indexes).check, suites)),
    )
    problems = []
    for name, check in checks:
        try:
            check()
        except HarnessError as error:
            problems.append(f"--relevance-{name}: {error}")
    if problems and not relevance_session.is_worker:
        raise pytest.UsageError("\n".join(problems))
    relevance_session.problems.extend(problems)


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the items that `--relevance-tag` and `--relevance-query` do not select from *items*, as `-k` would."""
    deselected = [item for item in items if isinstance(item, SuiteItem) and not item.planned.selected]
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        unselected = set(deselected)
        items[:] = [item for item in items if item not in unselected]
