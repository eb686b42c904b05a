"""
A report on a terminal, or as plain text for a log and for pytest.

Only says what the report says. Whoever prints it decides on colours and width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import QueryReport, Report, Status, SuiteReport, Verdict
from harness.report.attention import LOOKED_AT
from harness.report.explanations import explanations, failure
from harness.report.figures import counted_text, observed_text, score_text, tally_text
from harness.report.outcome_text import outcome_lines
from harness.report.plain import WIDTH, plain
from harness.report.printable import printable
from harness.report.ranking_text import columns, indented, query_renderables
from harness.report.verdict_text import named_threshold, status_text


def report_renderables(report: Report, *, quiet: bool = False) -> Iterator[RenderableType]:
    """*report*; where *quiet* only the thresholds to look at, and the last line."""
    for suite in report.suites:
        yield from _quiet_lines(suite) if quiet else _suite_renderables(suite)
    yield _closing(report)


def plain_report(report: Report, *, width: int = WIDTH) -> str:
    """*report* as text without colours."""
    return plain(report_renderables(report), width)


def failure_text(suite: SuiteReport, verdict: Verdict, *, width: int = WIDTH) -> str:
    """Why *verdict* came out as it did: observed and required, and its worst queries' rankings beside their grades."""
    return plain(failure(suite, verdict), width)


def query_block(query: QueryReport, measure: str | None = None, *, width: int = WIDTH) -> str:
    """One query's ranking with grades, and its missing relevant documents, as text without colours."""
    return plain(query_renderables(query, measure), width)


# ------------------------------------------------------------------------------------------------ a suite


def _suite_renderables(suite: SuiteReport) -> Iterator[RenderableType]:
    yield Text.assemble((printable(suite.name), "bold"), "  ", (printable(suite.path), "dim"))
    yield _facts(suite)
    yield Text()
    if suite.summaries:
        yield indented(_measures(suite))
        yield Text()
    remarks = [Text(printable(line), style="yellow") for line in outcome_lines(suite.queries)]
    remarks += [Text(printable(note), style="dim") for note in suite.notes]
    if remarks:
        yield from map(indented, remarks)
        yield Text()
    yield indented(_verdict_table(_listed(suite.verdicts)))
    unlisted = len(suite.verdicts) - len(_listed(suite.verdicts))
    if unlisted:
        yield indented(Text(f"and {counted_text(unlisted, 'threshold')} of single queries passed", style="dim"))
    yield Text()
    yield from explanations(suite)


def _facts(suite: SuiteReport) -> Table:
    table = Table.grid(padding=(0, 2))
    where = f"{suite.engine}{' (as stated, not asked)' if suite.engine.stated else ''} at {suite.cluster}"
    facts = {
        "engine": where if suite.index is None else f"{where}, index {suite.index}",
        "request": f"{suite.request}, {counted_text(suite.depth, 'hit')} asked for",
        "gain": f"{suite.gain}, profile {suite.profile}",
        "queries": f"{len(suite.queries):,} in {suite.seconds:.2f} s"
        + (f", {suite.deselected:,} more not selected" if suite.deselected else ""),
    }
    for name, fact in facts.items():
        table.add_row(Text(f"  {name}", style="dim"), Text(printable(fact)))
    return table


def _measures(suite: SuiteReport) -> Table:
    table = columns()
    table.add_column("measure", overflow="fold")
    for name in ("mean", "median", "least", "greatest", "counted", "left out"):
        table.add_column(name, justify="right")
    gains = {summary.gain for summary in suite.summaries} - {suite.gain, ""}
    if gains:
        table.add_column("gain")
    for summary in suite.summaries:
        figures = (summary.mean, summary.median, summary.least, summary.greatest)
        row = [*map(score_text, figures), f"{summary.counted:,}", f"{summary.left_out:,}"]
        table.add_row(Text(printable(summary.measure)), *row, *([Text(printable(summary.gain))] if gains else []))
    return table


def _listed(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """All but the passed thresholds of single queries, of which there may be thousands."""
    return [verdict for verdict in verdicts if verdict.query is None or verdict.status is not Status.PASSED]


def _verdict_table(verdicts: Iterable[Verdict]) -> Table:
    table = columns()
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    table.add_column(justify="right", no_wrap=True)
    for verdict in verdicts:
        observed = "" if verdict.observed is None else observed_text(verdict)
        table.add_row(status_text(verdict.status), named_threshold(verdict), observed)
    return table


def _quiet_lines(suite: SuiteReport) -> Iterator[Text]:
    for verdict in suite.verdicts:
        if verdict.status in LOOKED_AT:
            yield Text.assemble(
                printable(suite.name),
                ": ",
                status_text(verdict.status),
                " ",
                named_threshold(verdict),
                f": {printable(verdict.reason)}",
            )


def _closing(report: Report) -> Text:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    total = f"{counted_text(len(report.suites), 'suite')}, {counted_text(len(statuses), 'threshold')}"
    style = "bold green" if report.exit_status == 0 else "bold red"
    return Text(f"{total}: {tally_text(statuses)}" if statuses else total, style=style)
