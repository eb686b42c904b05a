"""
A report on a terminal, or as plain text for a log and for pytest.

Only says what the report says. Whoever prints it decides on colours and width.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import QueryReport, Report, SuiteReport, Verdict
from harness.report.figures import counted_text, mean_heading, score_text, tally_text
from harness.report.outcome_text import outcome_lines
from harness.report.overview import cell_names, overview, suites_text
from harness.report.printable import printable
from harness.report.terminal.explanations import explanations, failure
from harness.report.terminal.layout import columns, indented
from harness.report.terminal.overview import overview_renderables
from harness.report.terminal.plain import WIDTH, plain
from harness.report.terminal.rankings import query_renderables
from harness.report.terminal.tags import tag_renderables
from harness.report.terminal.verdicts import quiet_lines, verdict_list


def report_renderables(report: Report, *, quiet: bool = False) -> Iterator[RenderableType]:
    """*report*; where *quiet* only the thresholds to look at, and the last line."""
    for name, suite in zip(cell_names(report.suites), report.suites, strict=True):
        yield from quiet_lines(name, suite.verdicts) if quiet else _suite_renderables(suite, name)
    table = overview(report)
    if table is not None and not quiet:
        yield from overview_renderables(table)
        yield Text()
    yield _closing(report)


def failure_text(suite: SuiteReport, verdict: Verdict, *, width: int = WIDTH) -> str:
    """Why *verdict* came out as it did: observed and required, and its worst queries' rankings beside their grades."""
    return plain(failure(suite, verdict), width)


def query_block(query: QueryReport, measure: str | None = None, *, width: int = WIDTH) -> str:
    """One query's ranking with grades, and its missing relevant documents, as text without colours."""
    return plain(query_renderables(query, measure), width)


# ------------------------------------------------------------------------------------------------ a suite


def _suite_renderables(suite: SuiteReport, name: str) -> Iterator[RenderableType]:
    yield Text.assemble((printable(name), "bold"), "  ", (printable(suite.path), "dim"))
    yield _facts(suite)
    yield Text()
    if suite.summaries:
        yield indented(_measures(suite))
        yield Text()
    if suite.tags and suite.summaries:
        yield from tag_renderables(suite)
        yield Text()
    remarks = [Text(printable(line), style="yellow") for line in outcome_lines(suite.queries)]
    remarks += [Text(printable(note), style="dim") for note in suite.notes]
    if remarks:
        yield from map(indented, remarks)
        yield Text()
    yield from verdict_list(suite.verdicts)
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
    mean = mean_heading(weighted=any(summary.weighted for summary in suite.summaries))
    for name in (mean, "median", "least", "greatest", "counted", "left out"):
        table.add_column(name, justify="right")
    gains = {summary.gain for summary in suite.summaries} - {suite.gain, ""}
    if gains:
        table.add_column("gain")
    for summary in suite.summaries:
        figures = (summary.mean, summary.median, summary.least, summary.greatest)
        row = [*map(score_text, figures), f"{summary.counted:,}", f"{summary.left_out:,}"]
        table.add_row(Text(printable(summary.measure)), *row, *([Text(printable(summary.gain))] if gains else []))
    return table


def _closing(report: Report) -> Text:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    total = f"{suites_text(report)}, {counted_text(len(statuses), 'threshold')}"
    style = "bold green" if report.exit_status == 0 else "bold red"
    return Text(f"{total}: {tally_text(statuses)}" if statuses else total, style=style)
