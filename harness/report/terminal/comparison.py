"""A comparison on a terminal, or as plain lines for a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from harness.model import Agreement, ComparisonReport, Verdict
from harness.report.attention import LOOKED_AT, concerned_text
from harness.report.comparison_words import agreement_facts, closing, moved_queries, origin_text, unpaired_lines
from harness.report.figures import counted_text
from harness.report.printable import printable
from harness.report.terminal.layout import indented
from harness.report.terminal.measures import measures_renderables
from harness.report.terminal.plain import WIDTH, plain
from harness.report.terminal.side_by_side import beside_renderables
from harness.report.terminal.verdicts import quiet_lines, reason, verdict_list

MOST = 5
"""Queries that are shown with their rankings, unless somebody asks for another number."""


def report_renderables(report: ComparisonReport, *, most: int = MOST, quiet: bool = False) -> Iterator[RenderableType]:
    """
    *report*, with the rankings of at most *most* queries: those that thresholds blame, then those that moved most.

    Where *quiet*, only the thresholds to look at, and the last line.
    """
    if quiet:
        yield from quiet_lines(report.suite or report.candidate.name, report.verdicts)
    else:
        yield from _summary(report)
        yield from _verdicts(report.verdicts)
        yield from _moved(report, most)
    yield Text(printable(closing(report)), style="bold green" if report.exit_status == 0 else "bold red")


def failure_text(report: ComparisonReport, *, most: int = MOST, width: int = WIDTH) -> str:
    """Why a comparison does not hold, and the worst queries' rankings side by side, as text without colours."""
    return plain(_failure(report, most), width)


def _failure(report: ComparisonReport, most: int) -> Iterator[RenderableType]:
    yield Text(f"{printable(report.candidate.name)} against {printable(report.reference.name)}")
    yield from _told(report)
    for verdict in report.verdicts:
        if verdict.status in LOOKED_AT:
            yield from reason(verdict)
            yield Text()
    yield from _moved(report, most)


def _summary(report: ComparisonReport) -> Iterator[RenderableType]:
    suite = f"{printable(report.suite)}  " if report.suite else ""
    names = (printable(report.candidate.name), printable(report.reference.name))
    yield Text.assemble((suite, "bold"), (names[0], "bold"), " against ", (names[1], "bold"))
    yield _facts(
        {
            "reference": f"{report.reference.name}: {origin_text(report.reference)}",
            "candidate": f"{report.candidate.name}: {origin_text(report.candidate)}",
            **({"gain": f"{report.gain}, profile {report.profile}"} if report.gain else {}),
            "depth": counted_text(report.depth, "rank"),
        }
    )
    yield Text()
    if report.measures is not None:
        yield from map(indented, measures_renderables(report.measures))
        yield Text()
    if report.agreement is not None:
        yield from _agreement(report.agreement)
        yield Text()
    yield from _told(report)


def _told(report: ComparisonReport) -> Iterator[RenderableType]:
    told = [Text(printable(line), style="yellow") for line in unpaired_lines(report)]
    told += [Text(printable(note), style="dim") for note in report.notes]
    if told:
        yield from map(indented, told)
        yield Text()


def _agreement(agreement: Agreement) -> Iterator[RenderableType]:
    queries, ranks = counted_text(agreement.queries, "query"), counted_text(agreement.depth, "rank")
    yield indented(
        Text(f"agreement of the rankings, over {queries} and {ranks}; no judgment goes into it", style="dim")
    )
    yield indented(_facts(agreement_facts(agreement)))


def _verdicts(verdicts: tuple[Verdict, ...]) -> Iterator[RenderableType]:
    if not verdicts:
        return
    yield from verdict_list(verdicts)
    yield Text()
    for verdict in verdicts:
        if verdict.status in LOOKED_AT:
            yield from reason(verdict)
            yield Text()


def _moved(report: ComparisonReport, most: int) -> Iterator[RenderableType]:
    bad = [verdict for verdict in report.verdicts if verdict.status in LOOKED_AT]
    shown, more = moved_queries(report, most)
    for query in shown:
        yield from beside_renderables(query, concerns=concerned_text(query, bad))
        yield Text()
    if more:
        yield Text(f"{counted_text(more, 'more query')} moved; an HTML report shows them.", style="dim")
        yield Text()


def _facts(facts: Mapping[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, fact in facts.items():
        table.add_row(Text(f"  {name}", style="dim"), Text(printable(fact)))
    return table
