"""The outcome of an item: its status, the verdicts that decide it, the reason, and its properties in JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

from harness import __version__
from harness.errors import HarnessError
from harness.gate import decide
from harness.gate.finding import list_by_cause
from harness.gate.selection import collect_thresholds
from harness.metrics.score import contributions_of, score_run
from harness.model import (
    Contributions,
    Instability,
    Outcome,
    Query,
    QueryReport,
    Ranking,
    Reference,
    Response,
    Status,
    SuiteReport,
    Threshold,
    Verdict,
    Waiver,
)
from harness.pytest_plugin.plan import PlannedItem
from harness.report.run_sentences import next_command, ranking_causes
from harness.report.sentences import figures_text, printable
from harness.report.terminal.inspection import contribution_block
from harness.report.terminal.query import query_block
from harness.report.terminal.run import since_baseline_text
from harness.run.cell import FinishedSuite
from harness.words import count

Property: TypeAlias = tuple[str, str | int | float]
"""A name that begins with `relevance.`, and a value that every worker can send to its controller."""


def properties_of(
    status: Status, verdicts: Sequence[Verdict], query: QueryReport | None, report: SuiteReport
) -> tuple[Property, ...]:
    """
    The properties of an item that ran.

    Args:
        status: The item's status. JUnit XML has warnings only as this property: it counts them as passed tests.
        verdicts: The verdicts that concern the item.
        query: The item's query, if it has one.
        report: The report on its suite.
    """
    return (
        ("relevance.verdict", str(status)),
        *_measured(verdicts),
        *_scored(query),
        *_made_with(report),
    )


def run_properties(report: SuiteReport) -> tuple[Property, ...]:
    """The properties of a test in Python that ran a suite: what ran, and the means."""
    means = ((f"relevance.mean-{one.measure}", one.mean) for one in report.summaries if one.mean is not None)
    return (("relevance.suite", report.name), *means, *_made_with(report))


def _measured(verdicts: Sequence[Verdict]) -> Iterator[Property]:
    """
    Observed and required numbers, and caveats: one of each for an item with one verdict; one of each per threshold for
    a query's item.
    """
    for verdict in verdicts:
        place = "" if len(verdicts) == 1 else f".{verdict.id}"
        if verdict.observed is not None:
            yield f"relevance.observed{place}", verdict.observed
        if verdict.required is not None:
            yield f"relevance.required{place}", verdict.required
        if verdict.unit is not None and (verdict.observed is not None or verdict.required is not None):
            yield f"relevance.unit{place}", str(verdict.unit)
        if verdict.repeats is not None:
            yield f"relevance.repeats{place}", "{:g} to {:g}".format(*verdict.repeats)
        if verdict.caveat and verdict.status is Status.PASSED:
            yield f"relevance.caveat{place}", verdict.caveat


def _scored(query: QueryReport | None) -> Iterator[Property]:
    if query is None:
        return
    yield "relevance.outcome", str(query.outcome)
    for measure, value in query.scores.items():
        if value is not None:
            yield f"relevance.{measure}", value


def _made_with(report: SuiteReport) -> Iterator[Property]:
    facts = {
        "request": report.request,
        "index": report.index,
        "cluster": report.cluster,
        "engine": str(report.engine),
        "gain": report.gain,
        "profile": str(report.profile),
        "baseline": report.baseline.created if report.baseline else None,
        "baseline-changes": "; ".join(report.baseline.changes) if report.baseline else None,
        "harness": __version__,
    }
    for name, fact in facts.items():
        if fact:
            yield f"relevance.{name}", fact


class LoneQueries:
    """
    Judges queries one by one, as the gate would if each were the only one.

    The suite is fetched when the first query is judged: most outcomes follow from the report alone.
    """

    def __init__(
        self,
        fetch: Callable[[], FinishedSuite],
        today: date,
        reference: Callable[[FinishedSuite], Reference | None] = lambda _: None,
    ) -> None:
        """
        Args:
            fetch: Returns the suite as it ran, with variables replaced.
            today: Decides which skips of queries are in force.
            reference: Returns the reference of the suite's thresholds on a drop.
        """
        self._fetch = fetch
        self._today = today
        self._reference_of = reference
        self._finished: FinishedSuite | None = None
        self._reference: Reference | None = None
        self._thresholds: Mapping[str, Threshold] = {}
        self._queries: Mapping[str, Query] = {}

    def shortfall(self, threshold: str, query: str) -> Verdict | None:
        """
        The verdict with the id *threshold* on *query* alone; None where it holds, or leaves that query out.

        Raises:
            HarnessError: the suite is invalid by now, or does not exist any more.
        """
        done = self._done()
        if threshold not in self._thresholds or query not in self._queries:
            return None
        asked = replace(self._queries[query], thresholds=(), xfail=None)
        alone = replace(done.suite, queries=(asked,), thresholds=(self._thresholds[threshold],))
        repeats = tuple(replace(repeat, responses=_of(query, repeat.responses)) for repeat in done.run.repeats)
        run = replace(done.run, responses=_of(query, done.run.responses), repeats=repeats)
        first = score_run(alone, run)
        others = [score_run(alone, replace(run, responses=repeat.responses)) for repeat in repeats]
        [found] = decide(alone, run, first, today=self._today, reference=self._reference, repeated=others)
        if found.status in (Status.PASSED, Status.XPASSED, Status.SKIPPED) or found.left_out:
            return None
        if alone.skip_undefined and any(score.outcome is Outcome.UNDEFINED for score in first):
            return None
        return replace(found, id=threshold, blamed=(query,))

    def contributions(self, query: str) -> Contributions | None:
        """What each rank of *query* adds and loses; None without a ranking, or where the suite cannot be read now."""
        try:
            done = self._done()
        except HarnessError:
            return None
        ranking = done.run.responses.get(query)
        found = self._queries.get(query)
        if found is None or not isinstance(ranking, Ranking):
            return None
        return contributions_of(done.suite, found, ranking)

    def _done(self) -> FinishedSuite:
        if self._finished is None:
            done = self._finished = self._fetch()
            self._reference = self._reference_of(done)
            self._thresholds = {one.id: one.threshold for one in collect_thresholds(done.suite) if one.query is None}
            self._queries = {query.id: query for query in done.suite.queries}
        return self._finished


def _of(query: str, responses: Mapping[str, Response]) -> dict[str, Response]:
    return {query: responses[query]} if query in responses else {}


WORST_FIRST = (
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

QUERIES_SHOWN = 3

CHANGED = "the suite was changed while it was tested"


@dataclass(frozen=True, slots=True)
class Settlement:
    """
    The outcome of an item.

    *reason* is one line or a few, *brief* is printed in its place if all items share it; *headline* is for pytest's
    short summary of failures; *sections* are titles with longer texts, printed where the item did not hold.
    *properties* go to JUnit XML.
    """

    status: Status
    reason: str
    brief: str = ""
    headline: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    waiver: Waiver | None = None
    properties: tuple[Property, ...] = ()


class IndexedReport:
    """
    A suite's report, indexed for thousands of items; *lone* judges single queries that the report does not decide.

    *unexpected* are verdicts that no item decides: after the suite was collected, their thresholds were added to it, or
    the skip of their item was removed. *causes* are sentences on what probably lowers all scores. *missing* is a
    sentence on queries without an answer that no item tells; the item named *teller*, the first that runs, tells it.
    """

    def __init__(
        self,
        report: SuiteReport,
        lone: LoneQueries,
        items: Sequence[PlannedItem],
        deselected: Collection[str] = (),
        *,
        each_query: bool = False,
        by_rank: bool = False,
    ) -> None:
        """
        Args:
            report: The report on the suite as it ran.
            lone: Judges single queries.
            items: The items of the suite as it was collected.
            deselected: The names of those that do not run.
            each_query: Whether every query has an item.
            by_rank: Whether failures show what each rank adds and loses: ``-vv``.
        """
        self.suite = report
        self.lone, self.by_rank = lone, by_rank
        skipped = {verdict.id for verdict in report.verdicts if verdict.status is Status.SKIPPED}
        decided = {name for item in items for name in item.verdicts if item.skip is None or name in skipped}
        self.unexpected = [verdict.id for verdict in report.verdicts if verdict.id not in decided]
        queries = {item.query for item in items}
        self.unexpected += (
            [query for query in [query.id for query in report.queries] if query not in queries] if each_query else []
        )
        self.places = {query: place for place, query in enumerate([query.id for query in report.queries])}
        self.verdicts = {verdict.id: verdict for verdict in report.verdicts}
        self.unstable = {one.query: one.cause for one in report.repeats.unstable} if report.repeats else {}
        self.causes = tuple(ranking_causes(report.queries, report.checks))
        self._blamed: dict[str, frozenset[str]] = {}
        running = [item for item in items if item.skip is None and item.selected and item.name not in deselected]
        self.missing = _untold(report, items, running)
        self.teller = running[0].name if running else None

    def query(self, name: str | None) -> QueryReport | None:
        """The report on the query of that id; None where there is none."""
        return self.suite.queries[self.places[name]] if name in self.places else None

    def blames(self, verdict: Verdict, query: str | None) -> bool:
        """Whether *query* is one of those that *verdict* blames."""
        if verdict.id not in self._blamed:
            self._blamed[verdict.id] = frozenset(verdict.blamed)
        return query in self._blamed[verdict.id]


def _untold(report: SuiteReport, items: Sequence[PlannedItem], running: Sequence[PlannedItem]) -> str:
    """
    A sentence on the queries without an answer that none of the *running* items tells; empty if there is none.

    An item tells those that its verdicts blame, and its own query unless only verdicts say what becomes of it. Whoever
    leaves out the item of a query leaves out what it tells; whoever skips it, or leaves out a threshold, does not.
    """
    left_out = {item.name for item in items if item.skip is None} - {item.name for item in running}
    own = {
        item.query
        for item in items
        if item.skip is None and (item.shared or not item.verdicts or item.name in left_out)
    }
    decided = {name for item in running for name in item.verdicts}
    errors = [one for one in report.verdicts if one.status is Status.ERROR and one.id in decided]
    told = own.union(*(one.blamed for one in errors))
    unstable = report.repeats.unstable if report.repeats else ()
    repeated = (one.query for one in unstable if one.cause is Instability.UNANSWERED)
    reasons = dict.fromkeys(repeated, "a repeat has no ranking of it")
    reasons |= {query.id: f"{query.outcome}: {query.reason}" for query in report.unanswered.values()}
    untold = {query: reason for query, reason in reasons.items() if query not in told}
    asked = f"{count(len(untold), 'query')} that no threshold is about"
    return f"no answer to {asked}: {list_by_cause(untold)}" if untold else ""


def settle(item: PlannedItem, indexed: IndexedReport) -> Settlement:
    """
    Read the outcome of *item* from a report.

    Raises:
        HarnessError: a query has to be judged alone, and its suite cannot be read any more.
    """
    report = indexed.suite
    of_query = indexed.query(item.query)
    verdicts = _concerning(item, of_query, indexed)
    absent = set(item.verdicts) - {verdict.id for verdict in verdicts}
    if absent:
        return Settlement(Status.ERROR, f"no verdict on {', '.join(sorted(absent))}: {CHANGED}")
    if indexed.unexpected:
        return Settlement(Status.ERROR, f"no item is about {', '.join(indexed.unexpected)}: {CHANGED}")
    decided, reason = _status(item, verdicts, of_query, indexed.unstable)
    decisive = [verdict for verdict in verdicts if verdict.status is decided]
    status = _as_expected(decided, item, decisive)
    reason = reason or "\n".join(
        [*(one.reason for one in decisive), *(indexed.causes if status is Status.FAILED else ())]
    )
    if indexed.missing and item.name == indexed.teller:
        # The exit status of the command is 3 then, whether the thresholds hold or not.
        does_hold = not (status.is_undecided or status is Status.FAILED)
        reason = indexed.missing if does_hold else f"{indexed.missing}\n{reason}"
        status = Status.ERROR
    return Settlement(
        status=status,
        reason=reason,
        brief=_brief(report) if status is Status.ERROR else "",
        headline="; ".join(filter(None, map(figures_text, decisive))),
        sections=_sections(item, decisive, of_query, indexed)
        if status.is_undecided or status in (Status.FAILED, Status.XFAILED)
        else (),
        waiver=item.xfail or next((verdict.waiver for verdict in decisive if verdict.waiver), None),
        properties=tuple(
            one for one in properties_of(status, verdicts, of_query, report) if one not in item.properties
        ),
    )


def _brief(report: SuiteReport) -> str:
    """A reference to where the shared cause is printed, if no query of *report* has an answer; else empty."""
    causes = {query.reason for query in report.unanswered.values()}
    if len(causes) != 1 or len(report.unanswered) < len(report.queries):
        return ""
    return f'no query of {report.name} has an answer; the section "relevance" below says why'


def _concerning(item: PlannedItem, query: QueryReport | None, indexed: IndexedReport) -> list[Verdict]:
    """The item's own verdicts, and the shared ones that blame its *query*."""
    own = [indexed.verdicts[name] for name in item.verdicts if name in indexed.verdicts]
    if query is None:
        return own
    shared = (_of_one(name, query, item, indexed) for name in item.shared)
    return own + [verdict for verdict in shared if verdict is not None]


def _of_one(name: str, query: QueryReport, item: PlannedItem, indexed: IndexedReport) -> Verdict | None:
    """
    The shared verdict on *query* alone if it blames that query, or the verdict itself if it is inconclusive and blames
    none.

    A verdict that other queries kept undecided, or that was left out with the queries of other tags, says nothing about
    this query. It is then judged alone, or it would pass for want of a verdict.
    """
    verdict = indexed.verdicts.get(name)
    if verdict is not None and verdict.status is Status.INCONCLUSIVE and not verdict.blamed:
        return verdict
    if verdict is not None and indexed.blames(verdict, query.id):
        return indexed.lone.shortfall(name, query.id) or replace(verdict, blamed=(query.id,))
    decided = verdict is not None and verdict.observed is not None
    if decided or name in item.waived or query.outcome.is_unanswered or query.outcome is Outcome.SKIPPED:
        return None
    return indexed.lone.shortfall(name, query.id)


def _status(
    item: PlannedItem, verdicts: Sequence[Verdict], query: QueryReport | None, unstable: Mapping[str, Instability]
) -> tuple[Status, str]:
    """The status, and a reason where no verdict gives one."""
    statuses = {verdict.status for verdict in verdicts}
    needs_answer = (item.shared or not item.verdicts) and Status.ERROR not in statuses
    if needs_answer and query is not None and query.outcome.is_unanswered:
        return Status.ERROR, f"query {query.id}: {query.outcome}: {query.reason}"
    if needs_answer and query is not None and unstable.get(query.id) is Instability.UNANSWERED:
        return Status.ERROR, f"query {query.id}: a repeat has no ranking of it"
    if not verdicts:
        return _unasked(item, query)
    return next(status for status in WORST_FIRST if status in statuses), ""


def _as_expected(decided: Status, item: PlannedItem, decisive: Sequence[Verdict]) -> Status:
    """
    *decided* with the query's waiver applied.

    The gate has applied it to the query's own thresholds, where a failure can be an unexpected pass. Here it is applied
    to shared thresholds.
    """
    if item.xfail is None:
        return decided
    if decided is Status.FAILED and not any(verdict.id in item.verdicts for verdict in decisive):
        return Status.XFAILED
    is_asked = not item.verdicts and bool(set(item.shared) - set(item.waived))
    return Status.XPASSED if decided is Status.PASSED and is_asked else decided


def _unasked(item: PlannedItem, query: QueryReport | None) -> tuple[Status, str]:
    """The status of a query without any threshold: it still needs a score, as missing never passes."""
    if query is None:
        return Status.ERROR, f"there is no report of query {item.query}: {CHANGED}"
    if query.outcome is Outcome.SKIPPED:
        return Status.SKIPPED, "the query was skipped"
    if query.outcome is Outcome.UNDEFINED:
        return Status.SKIPPED if item.skip_undefined else Status.FAILED, f"query {query.id}: undefined: {query.reason}"
    return Status.PASSED, ""


def _sections(
    item: PlannedItem, verdicts: Sequence[Verdict], query: QueryReport | None, indexed: IndexedReport
) -> tuple[tuple[str, str], ...]:
    """For a query its ranking; for a threshold over many queries the worst of them. The command to show it is last."""
    if query is not None:
        measure = next((verdict.measure for verdict in verdicts if verdict.measure), None)
        sections = [(f"query {query.id} ({item.mark})", _block(query, measure, indexed))]
    else:
        sections = [_section(verdict, indexed) for verdict in verdicts]
    since = since_baseline_text(indexed.suite, verdicts[0]) if verdicts else ""
    sections += [("since the baseline", since)] if since else []
    command = next(filter(None, (next_command(indexed.suite, verdict) for verdict in verdicts)), "")
    if command and sections:
        title, text = sections.pop()
        sections.append((title, f"{text}\n\nnext: {printable(command)}"))
    return tuple(sections)


def _section(verdict: Verdict, indexed: IndexedReport) -> tuple[str, str]:
    blamed = [name for name in verdict.blamed if name in indexed.places]
    blocks = [_block(query, verdict.measure, indexed) for query in indexed.suite.find_queries(blamed[:QUERIES_SHOWN])]
    if len(blamed) > QUERIES_SHOWN:
        blocks.append(f"and {len(blamed) - QUERIES_SHOWN} more")
    return f"{verdict.threshold} ({verdict.mark})", "\n\n".join(blocks)


def _block(query: QueryReport, measure: str | None, indexed: IndexedReport) -> str:
    """The ranking of *query*, and with ``-vv`` what each rank adds and loses."""
    block = query_block(query, measure)
    found = indexed.lone.contributions(query.id) if indexed.by_rank else None
    return block if found is None else f"{block}\n\n{contribution_block(query, found)}"
