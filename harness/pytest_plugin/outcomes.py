"""The outcome of an item: its status, the verdicts that decide it, the reason, and its properties in JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from harness.errors import HarnessError
from harness.gate.decide import decide
from harness.gate.selection import collect_thresholds
from harness.metrics.run_scores import contributions_of, score_run
from harness.model.inspection import Contributions
from harness.model.kept import History, Reference
from harness.model.report import QueryReport, SuiteReport
from harness.model.run import Instability, Ranking, Response, Run, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Query, Threshold, Waiver
from harness.pytest_plugin.plan import PlannedItem
from harness.report.attention import find_repeated_causes
from harness.report.inspection_document import build_short_contributions_table, describe_contributions
from harness.report.junit import (
    Property,
    complete_sections,
    describe_unnamed,
    list_facts,
    list_query_properties,
    list_unanswered,
    list_verdict_figures,
    list_worst,
    make_loggable_property,
    make_worst_section,
)
from harness.report.run_sentences import describe_ranking_causes, refer_to_cause
from harness.report.safe_text import make_loggable, make_loggable_lines
from harness.report.sentences import format_figures
from harness.report.terminal import print_table, render_plain
from harness.report.terminal.run import format_query
from harness.run.finished import FinishedSuite

_WORST_FIRST = (
    Status.ERROR,
    Status.INCONCLUSIVE,
    Status.FAILED,
    Status.XFAILED,
    Status.XPASSED,
    Status.WARNED,
    Status.PASSED,
    Status.SKIPPED,
)
"""The order in which one of several verdicts decides an item: an expected failure counts, whatever else holds."""

CHANGED = "the suite was changed while it was tested"


# Properties for JUnit XML.


def list_properties(
    status: Status, verdicts: Sequence[Verdict], query: QueryReport | None, report: SuiteReport
) -> list[Property]:
    """
    The properties of an item that ran.

    Args:
        status: The item's status. JUnit XML has warnings only as this property: it counts them as passed tests.
        verdicts: The verdicts that concern the item.
        query: The item's query, if it has one.
        report: The report on its suite.
    """
    properties: list[Property] = [("relevance.verdict", str(status))]
    for verdict in verdicts:
        # The item of a query may have several thresholds, each with figures of its own.
        suffix = f".{verdict.id}" if len(verdicts) > 1 else ""
        properties += list_verdict_figures(verdict, suffix)
    if query is not None:
        properties += list_query_properties(query)
    return properties + list_facts(report)


def list_run_properties(report: SuiteReport) -> list[Property]:
    """The properties of a test in Python that ran a suite: what ran, and the means."""
    properties: list[Property] = [("relevance.suite", report.name)]
    for summary in report.summaries:
        mean = summary.mean
        if mean is not None:
            properties.append((f"relevance.mean-{summary.measure}", mean))
    return properties + list_facts(report)


# Queries that the report does not decide.


class SuiteSource(Protocol):
    """Loads a suite that ran."""

    def load(self) -> FinishedSuite:
        """
        The suite as it ran, with variables replaced.

        Raises:
            HarnessError: the suite is invalid by now, or does not exist any more.
        """

    def find_reference(self, finished: FinishedSuite) -> Reference | None:
        """The reference of the suite's thresholds on a drop."""

    def find_history(self, finished: FinishedSuite) -> History | None:
        """The earlier runs that the suite's thresholds compare with."""


@dataclass(frozen=True, slots=True)
class FinishedSuiteIndex:
    """A suite that ran, by the ids of its thresholds and queries; *reference* is that of thresholds on a drop."""

    finished: FinishedSuite
    reference: Reference | None
    history: History | None
    thresholds: Mapping[str, Threshold]
    queries: Mapping[str, Query]


class SingleQueries:
    """
    Decides thresholds for single queries, as the gate would if each were the only query of the suite.

    A verdict on many queries has one status and blames some; what it would be of one query alone is not in the report.
    So the gate decides again, on the run that is there. The suite is loaded when the first query is decided: most
    outcomes follow from the report alone.
    """

    def __init__(self, source: SuiteSource, today: date) -> None:
        """
        Args:
            source: Loads the suite.
            today: Decides which skips of queries are in force.
        """
        self._source = source
        self._today = today
        self._loaded: FinishedSuiteIndex | None = None

    def find_shortfall(self, threshold: str, query: str) -> Verdict | None:
        """
        The verdict with the id *threshold* on *query* alone; None where it holds, or leaves that query out.

        Raises:
            HarnessError: the suite is invalid by now, or does not exist any more.
        """
        loaded = self._load()
        if threshold not in loaded.thresholds or query not in loaded.queries:
            return None
        # Its own thresholds have items of their own, and its xfail is applied to the outcome: see `_decide_item`.
        query_alone = replace(loaded.queries[query], thresholds=(), xfail=None)
        suite = replace(loaded.finished.suite, queries=(query_alone,), thresholds=(loaded.thresholds[threshold],))
        run = _select_query(loaded.finished.run, query)
        scores = score_run(suite, run)
        repeated = [score_run(suite, replace(run, responses=repeat.responses)) for repeat in run.repeats]
        [verdict] = decide(
            suite,
            run,
            scores,
            today=self._today,
            reference=loaded.reference,
            history=loaded.history,
            repeated=repeated,
        )
        if verdict.status in (Status.PASSED, Status.XPASSED, Status.SKIPPED) or verdict.left_out:
            return None
        if suite.skip_undefined and any(score.outcome is Outcome.UNDEFINED for score in scores):
            return None
        return replace(verdict, id=threshold, blamed=(query,))

    def find_contributions(self, query: str) -> Contributions | None:
        """What each rank of *query* adds and loses; None without a ranking, or where the suite cannot be read now."""
        try:
            loaded = self._load()
        except HarnessError:
            return None
        ranking = loaded.finished.run.responses.get(query)
        if query not in loaded.queries or not isinstance(ranking, Ranking):
            return None
        return contributions_of(loaded.finished.suite, loaded.queries[query], ranking)

    def _load(self) -> FinishedSuiteIndex:
        """The suite that ran; loaded on the first call."""
        if self._loaded is None:
            finished = self._source.load()
            thresholds = {}
            for gated in collect_thresholds(finished.suite):
                if gated.query is None:
                    thresholds[gated.id] = gated.threshold
            queries = {query.id: query for query in finished.suite.queries}
            reference, history = self._source.find_reference(finished), self._source.find_history(finished)
            self._loaded = FinishedSuiteIndex(finished, reference, history, thresholds, queries)
        return self._loaded


def _select_query(run: Run, query: str) -> Run:
    """*run* and its repeats with the response to *query* alone."""
    repeats = [replace(repeat, responses=_select_response(repeat.responses, query)) for repeat in run.repeats]
    return replace(run, responses=_select_response(run.responses, query), repeats=tuple(repeats))


def _select_response(responses: Mapping[str, Response], query: str) -> dict[str, Response]:
    """The response to *query* alone; nothing where it has none."""
    if query not in responses:
        return {}
    return {query: responses[query]}


# The report of a suite, for all of its items.


class IndexedReport:
    """A suite's report, indexed for thousands of items."""

    def __init__(
        self,
        report: SuiteReport,
        single_queries: SingleQueries,
        items: Sequence[PlannedItem],
        *,
        each_query: bool = False,
        by_rank: bool = False,
    ) -> None:
        """
        Args:
            report: The report on the suite as it ran.
            single_queries: Judges single queries that the report does not decide.
            items: The items of the suite as it was collected; those that do not run are not `selected`.
            each_query: Whether every query has an item.
            by_rank: Whether failures show what each rank adds and loses: ``-vv``.
        """
        self.report = report
        self.repeated_causes = find_repeated_causes(report)
        self.single_queries = single_queries
        self.by_rank = by_rank
        self.verdicts = {verdict.id: verdict for verdict in report.verdicts}
        self.positions = {query.id: position for position, query in enumerate(report.queries)}
        unstable = report.repeats.unstable if report.repeats is not None else ()
        self.unstable = {query.query: query.cause for query in unstable}
        self.causes = tuple(describe_ranking_causes(report.queries, report.checks))
        """Sentences on what probably lowers all scores."""
        self.unexpected = _list_unexpected(report, items, each_query=each_query)
        """The ids of verdicts and queries that no item is about."""
        self.missing = _describe_missing(report, items)
        """A sentence on queries without an answer that no item names, for *first_item* to report."""
        self.first_item = next((item.name for item in items if item.skip is None and item.selected), None)
        """The name of the first item that runs."""
        self._blamed: dict[str, frozenset[str]] = {}

    def find_query(self, name: str | None) -> QueryReport | None:
        """The report on the query of that id; None where there is none."""
        if name not in self.positions:
            return None
        return self.report.queries[self.positions[name]]

    def is_blamed(self, query: str, verdict: Verdict) -> bool:
        """Whether *query* is one of those that *verdict* blames."""
        # A threshold may blame each of thousands of queries, and each has an item.
        if verdict.id not in self._blamed:
            self._blamed[verdict.id] = frozenset(verdict.blamed)
        return query in self._blamed[verdict.id]


def _list_unexpected(report: SuiteReport, items: Sequence[PlannedItem], *, each_query: bool) -> list[str]:
    """
    The ids of verdicts and queries that no item is about.

    After the suite was collected, thresholds or queries were added to it, or the skip of an item was removed.
    """
    skipped = {verdict.id for verdict in report.verdicts if verdict.status is Status.SKIPPED}
    decided: set[str] = set()
    for item in items:
        if item.skip is None:
            decided.update(item.verdicts)
        else:
            decided.update(skipped.intersection(item.verdicts))
    unexpected = [verdict.id for verdict in report.verdicts if verdict.id not in decided]
    if each_query:
        queries = {item.query for item in items}
        unexpected += [query.id for query in report.queries if query.id not in queries]
    return unexpected


def _describe_missing(report: SuiteReport, items: Sequence[PlannedItem]) -> str:
    """A sentence on the queries without an answer that no item names; empty if there is none."""
    named_by_items: set[str | None] = set()
    decided_verdicts: set[str] = set()
    for item in items:
        # Whoever skips an item did not ask for silence on its query.
        if item.skip is not None:
            continue
        # An item is an error if its query has no answer, unless its own thresholds alone say what becomes of it.
        # Whoever deselects it does not want to hear of its query.
        if item.shared or not item.verdicts or not item.selected:
            named_by_items.add(item.query)
        if item.selected:
            decided_verdicts.update(item.verdicts)
    for verdict in report.verdicts:
        if verdict.status is Status.ERROR and verdict.id in decided_verdicts:
            named_by_items.update(verdict.blamed)
    return describe_unnamed(list_unanswered(report), named_by_items)


# The outcome of one item.


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The outcome of an item."""

    status: Status
    reason: str
    """One line or a few."""
    brief: str = ""
    """Is printed in place of the reason if all items share it."""
    headline: str = ""
    """For pytest's short summary of failures."""
    sections: tuple[tuple[str, str], ...] = ()
    """Titles with longer texts, printed where the item did not hold."""
    waiver: Waiver | None = None
    properties: tuple[Property, ...] = ()
    """For JUnit XML."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """The *status* of an item and its *reason*, with the *verdicts* that decided it; none where its query did."""

    status: Status
    reason: str
    verdicts: Sequence[Verdict] = ()


# What decides an item, the first that applies:
#
# 1. The suite was changed after its items were planned: an error, as a verdict without an item would be lost.
# 2. Queries without an answer that no item names: an error of the first item that runs, as the command exits with 3.
# 3. The item's query has no answer: an error, unless a verdict is that error, or only its own thresholds decide it.
# 4. The verdicts, in the order of _WORST_FIRST: the item's own, and those of shared thresholds that concern its query.
#    A shared verdict that says nothing about the query is decided a second time, for the query alone, unless the
#    threshold is waived: see `_find_shared_verdict`.
# 5. Without a verdict the outcome of the query: skipped, undefined, or passed.
#
# The xfail of the query then turns a failure by 4 or 5 into an expected one, and a pass into an unexpected one.
#
# The gate knows none of this: it decides thresholds over a whole suite. Items are what pytest adds: with
# `--relevance-each-query` one per query, also of queries without a threshold of their own, planned before the suite
# runs, and deselected or skipped by `-k`, by markers and by a conftest.py.


def find_outcome(item: PlannedItem, indexed: IndexedReport) -> ItemOutcome:
    """
    Read the outcome of *item* from a report.

    Raises:
        HarnessError: a query has to be judged alone, and its suite cannot be read any more.
    """
    report = indexed.report
    query = indexed.find_query(item.query)
    verdicts = _list_verdicts(item, query, indexed)
    absent = set(item.verdicts) - {verdict.id for verdict in verdicts}
    if absent:
        reason = f"no verdict on {', '.join(sorted(absent))}: {CHANGED}"
        return ItemOutcome(Status.ERROR, make_loggable(reason))
    if indexed.unexpected:
        reason = f"no item is about {', '.join(indexed.unexpected)}: {CHANGED}"
        return ItemOutcome(Status.ERROR, make_loggable(reason))

    decision = _decide_item(item, query, verdicts, indexed)
    if indexed.missing and item.name == indexed.first_item:
        decision = _add_missing(decision, indexed.missing)

    sections: list[tuple[str, str]] = []
    if decision.status.is_undecided or decision.status in (Status.FAILED, Status.XFAILED):
        sections = _list_sections(item, decision.verdicts, query, indexed)
    waiver = item.xfail
    if waiver is None:
        waiver = next((verdict.waiver for verdict in decision.verdicts if verdict.waiver), None)
    headlines = [format_figures(verdict) for verdict in decision.verdicts]
    properties = list_properties(decision.status, verdicts, query, report)
    # pytest prints all of these, and writes them into JUnit XML, as they are: ids of documents come from the index.
    return ItemOutcome(
        status=decision.status,
        reason=make_loggable_lines(decision.reason),
        brief=_refer_to_cause(report) if decision.status is Status.ERROR else "",
        headline=make_loggable("; ".join(headline for headline in headlines if headline)),
        sections=tuple((make_loggable(title), make_loggable_lines(text)) for title, text in sections),
        waiver=waiver,
        # The item has some since it was planned, and JUnit XML would have them twice.
        properties=tuple(make_loggable_property(entry) for entry in properties if entry not in item.properties),
    )


def _explain_verdict(verdict: Verdict, indexed: IndexedReport) -> str:
    """The reason of *verdict*; where another one has the same cause, which one."""
    first = indexed.repeated_causes.get(verdict.id)
    if first is None:
        return verdict.reason
    return refer_to_cause(verdict, first)


def _decide_item(
    item: PlannedItem, query: QueryReport | None, verdicts: Sequence[Verdict], indexed: IndexedReport
) -> _Decision:
    """Decide *item*, which has *verdicts*, by the list above from its third line on."""
    statuses = {verdict.status for verdict in verdicts}
    # Where the query has thresholds of its own only, these say what becomes of a missing answer.
    needs_answer = item.shared or not item.verdicts
    if query is not None and needs_answer and Status.ERROR not in statuses:
        if query.outcome.is_unanswered:
            return _Decision(Status.ERROR, f"query {query.id}: {query.outcome}: {query.reason}")
        if indexed.unstable.get(query.id) is Instability.UNANSWERED:
            return _Decision(Status.ERROR, f"query {query.id}: a repeat has no ranking of it")

    if verdicts:
        status = next(status for status in _WORST_FIRST if status in statuses)
        decisive = [verdict for verdict in verdicts if verdict.status is status]
        reason = "\n".join(_explain_verdict(verdict, indexed) for verdict in decisive)
    else:
        status, reason = _read_query_outcome(item, query)
        decisive = []

    if item.xfail is not None:
        # The gate has applied it to the query's own thresholds, where a failure can be an unexpected pass.
        is_own = any(verdict.id in item.verdicts for verdict in decisive)
        if status is Status.FAILED and not is_own:
            return _Decision(Status.XFAILED, reason, decisive)
        # A query that no threshold is about cannot pass unexpectedly.
        has_shared = not item.verdicts and bool(set(item.shared) - set(item.waived))
        if status is Status.PASSED and has_shared:
            return _Decision(Status.XPASSED, reason, decisive)

    if status is Status.FAILED and decisive:
        reason = "\n".join([reason, *indexed.causes])
    return _Decision(status, reason, decisive)


def _read_query_outcome(item: PlannedItem, query: QueryReport | None) -> tuple[Status, str]:
    """The status and the reason where there is no verdict: the query still needs a score, as missing never passes."""
    if query is None:
        return Status.ERROR, f"there is no report of query {item.query}: {CHANGED}"
    if query.outcome is Outcome.SKIPPED:
        return Status.SKIPPED, "the query was skipped"
    if query.outcome is Outcome.UNDEFINED:
        status = Status.SKIPPED if item.skip_undefined else Status.FAILED
        return status, f"query {query.id}: undefined: {query.reason}"
    return Status.PASSED, ""


def _add_missing(decision: _Decision, missing: str) -> _Decision:
    """The error that tells of *missing* answers, with the reason of *decision* where that does not hold either."""
    reason = missing
    if decision.status.is_undecided or decision.status is Status.FAILED:
        reason = f"{missing}\n{decision.reason}"
    return _Decision(Status.ERROR, reason, decision.verdicts)


def _refer_to_cause(report: SuiteReport) -> str:
    """A reference to where the shared cause is printed, if no query of *report* has an answer; else empty."""
    causes = {query.reason for query in report.unanswered.values()}
    if len(causes) != 1 or len(report.unanswered) < len(report.queries):
        return ""
    return f'no query of {report.name} has an answer; the section "relevance" below says why'


def _list_verdicts(item: PlannedItem, query: QueryReport | None, indexed: IndexedReport) -> list[Verdict]:
    """The item's own verdicts, and the shared ones that blame its *query*."""
    verdicts = [indexed.verdicts[name] for name in item.verdicts if name in indexed.verdicts]
    if query is not None:
        for name in item.shared:
            verdict = _find_shared_verdict(name, query, item, indexed)
            if verdict is not None:
                verdicts.append(verdict)
    return verdicts


def _find_shared_verdict(name: str, query: QueryReport, item: PlannedItem, indexed: IndexedReport) -> Verdict | None:
    """
    The verdict on *query* of the threshold *name*, which many queries share; None if it holds for this query.

    If the verdict of the report blames the query, it is the one on the query alone. An inconclusive verdict that blames
    no query is itself. A verdict that other queries kept undecided, or that was left out with the queries of other
    tags, says nothing about this query. It is then decided alone, or it would pass for want of a verdict.
    """
    verdict = indexed.verdicts.get(name)
    if verdict is not None:
        if verdict.status is Status.INCONCLUSIVE and not verdict.blamed:
            return verdict
        if indexed.is_blamed(query.id, verdict):
            return indexed.single_queries.find_shortfall(name, query.id) or replace(verdict, blamed=(query.id,))
        # It was decided, and this query is not to blame.
        if verdict.observed is not None:
            return None
    if name in item.waived or query.outcome.is_unanswered or query.outcome is Outcome.SKIPPED:
        return None
    return indexed.single_queries.find_shortfall(name, query.id)


# What is printed of an item that did not hold.


def _list_sections(
    item: PlannedItem, verdicts: Sequence[Verdict], query: QueryReport | None, indexed: IndexedReport
) -> list[tuple[str, str]]:
    """
    Titles and texts of what is printed below a failure, the command to show it last.

    For a query it is its ranking, for a threshold over many queries the worst of them.
    """
    if query is not None:
        measure = next((verdict.measure for verdict in verdicts if verdict.measure), None)
        sections = [(f"query {query.id} ({item.mark})", _render_query(query, measure, indexed))]
    else:
        sections = []
        for verdict in verdicts:
            worst = list_worst(indexed.report, verdict)
            blocks = [_render_query(query, verdict.measure, indexed) for query in worst]
            sections.append(make_worst_section(indexed.report, verdict, blocks))
    return complete_sections(sections, indexed.report, verdicts)


def _render_query(query: QueryReport, measure: str | None, indexed: IndexedReport) -> str:
    """The ranking of *query*, and with ``-vv`` what each rank adds and loses."""
    block = format_query(query, measure)
    if indexed.by_rank:
        contributions = indexed.single_queries.find_contributions(query.id)
        if contributions is not None:
            table = print_table(build_short_contributions_table(query, contributions))
            block += f"\n\n{render_plain([describe_contributions(contributions), *table])}"
    return block
