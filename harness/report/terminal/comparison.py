"""A comparison on a terminal, or as plain lines for a log."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.model import (
    Agreement,
    Comparison,
    ComparisonReport,
    MeasureComparison,
    MovedDocument,
    QueryComparison,
    Verdict,
)
from harness.report.comparison_sentences import (
    FIGURES,
    agreement_facts,
    change_mark,
    closing,
    coverage_lines,
    coverage_warnings,
    detectable_lines,
    figure_texts,
    first_ranks,
    known_texts,
    last_rank,
    left_mark,
    measure_warnings,
    method_text,
    moved_queries,
    origin_text,
    unpaired_lines,
)
from harness.report.run_sentences import LOOKED_AT, RANKS_SHOWN, concerned_text
from harness.report.sentences import printable
from harness.report.terminal import (
    Fitting,
    columns,
    fact_table,
    grade_cell,
    indented,
    plain,
    quiet_lines,
    reason,
    right,
    safe,
    safe_lines,
    verdict_list,
)
from harness.report.terminal.query import query_heading
from harness.words import count

# One query's two rankings side by side on a terminal.


TITLE_CELLS = 28
LEAST_WIDTH = 80
"""Columns that two rankings beside each other need."""

STYLES = {"entered": "cyan", "left": "magenta", "tied": "dim"}


def beside_renderables(query: QueryComparison, *, concerns: str = "") -> Iterator[RenderableType]:
    """What changed, and the two rankings side by side; *concerns* says why the query is shown."""
    yield from query_heading(query, "; ".join(known_texts(query)), concerns)
    if not query.documents:
        return
    yield indented(Fitting(_beside(query), _below(query), LEAST_WIDTH))
    more = last_rank(query) - RANKS_SHOWN
    if more > 0:
        yield indented(Text(f"and {count(more, 'rank')} more", style="dim"))


def _beside(query: QueryComparison) -> Table:
    """A line per rank: the reference's document, whether it left, how the candidate's moved, and the candidate's."""
    table = columns(
        right("rank"),
        Column("reference", overflow="fold", ratio=1),
        right("grade"),
        Column(no_wrap=True, min_width=4),
        Column(no_wrap=True, min_width=7),
        Column("candidate", overflow="fold", ratio=1),
        right("grade"),
    )
    for rank, before, after in first_ranks(query):
        first = [_named(before), grade_cell(before), _mark(left_mark(before))] if before else [Text()] * 3
        second = [_mark(change_mark(after)), _named(after), grade_cell(after)] if after else [Text()] * 3
        table.add_row(str(rank), *first, *second)
    return table


def _below(query: QueryComparison) -> Table:
    """As `_beside`, for a narrow terminal: a line per document, with its rank before and now."""
    table = columns(right("was"), right("now"), Column(no_wrap=True), "document", right("grade"))
    for document in query.documents:
        if min(document.reference or RANKS_SHOWN + 1, document.candidate or RANKS_SHOWN + 1) <= RANKS_SHOWN:
            ranks = (Text("–" if rank is None else str(rank)) for rank in (document.reference, document.candidate))
            mark = _mark(change_mark(document) or left_mark(document))
            table.add_row(*ranks, mark, _named(document), grade_cell(document))
    return table


def _mark(mark: str) -> Text:
    return Text(mark, style=STYLES.get(mark, ""))


def _named(document: MovedDocument) -> Text:
    text = safe(document.id)
    if document.title:
        title = safe(document.title, "dim")
        title.truncate(TITLE_CELLS, overflow="ellipsis")
        text.append(" ").append_text(title)
    return text


# The measures of two runs on a terminal.


MOVED_SHOWN = 3
"""Queries of a measure that are named, those that changed most first."""


def comparison_renderables(comparison: Comparison, *, complete: bool = False) -> Iterator[RenderableType]:
    """The runs, the test, a line per measure, and what moved; *complete* as `--complete` was given."""
    names = (printable(comparison.candidate), printable(comparison.reference))
    yield Text.assemble((names[0], "bold"), " against ", (names[1], "bold"))
    yield from measures_renderables(comparison)
    if any(comparison.left_out.values()) and not complete:
        yield Text("--complete counts a judged query that is not in a run as one without hits", style="yellow")


def measures_renderables(comparison: Comparison) -> Iterator[RenderableType]:
    """How the differences were tested, a line per measure, and what moved."""
    yield Text(f"{printable(method_text(comparison))}\n", style="dim")
    yield Fitting(_table(comparison), _blocks(comparison))
    yield Text()
    for row in comparison.measures:
        yield from _remarks(row, comparison)


def _table(comparison: Comparison) -> RenderableType:
    table = columns("measure", *map(right, FIGURES))
    for row in comparison.measures:
        table.add_row(safe(row.measure), *figure_texts(row).values(), style=_style(row, comparison))
    return table


def _blocks(comparison: Comparison) -> RenderableType:
    """The figures of each measure below one another, for when the table is too wide."""
    blocks: list[RenderableType] = []
    for row in comparison.measures:
        block = columns(Column(style="dim", no_wrap=True), "")
        block.show_header = False
        for heading, cell in figure_texts(row).items():
            block.add_row(f"  {heading}", cell)
        blocks += [safe(row.measure, _style(row, comparison) or "bold"), block]
    return Group(*blocks)


def _style(row: MeasureComparison, comparison: Comparison) -> str:
    if not comparison.is_significant(row):
        return ""
    return "green" if row.difference > 0 else "red"


def _remarks(row: MeasureComparison, comparison: Comparison) -> Iterator[Text]:
    yield from safe_lines(measure_warnings(row, comparison), "yellow")
    yield from safe_lines(detectable_lines(row, comparison))
    if row.moved:
        shown = (f"{query} {before:.4f} → {after:.4f}" for query, before, after in row.moved[:MOVED_SHOWN])
        yield safe(f"{row.measure}: changed most: {', '.join(shown)}")


# A comparison on a terminal, or as plain lines for a log.


MOST = 5
"""Queries that are shown with their rankings by default."""


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
    yield safe(closing(report), "bold green" if report.exit_status == 0 else "bold red")


def failure_text(report: ComparisonReport) -> str:
    """Why a comparison does not hold, and the worst queries' rankings side by side, as text without colors."""
    return plain(_failure(report))


def _failure(report: ComparisonReport) -> Iterator[RenderableType]:
    yield Text(f"{printable(report.candidate.name)} against {printable(report.reference.name)}")
    yield from _unpaired_and_notes(report)
    yield from _reasons(report.verdicts)
    yield from _moved(report, MOST)


def _summary(report: ComparisonReport) -> Iterator[RenderableType]:
    suite = f"{printable(report.suite)}  " if report.suite else ""
    names = (printable(report.candidate.name), printable(report.reference.name))
    yield Text.assemble((suite, "bold"), (names[0], "bold"), " against ", (names[1], "bold"))
    yield fact_table(
        {
            "reference": f"{report.reference.name}: {origin_text(report.reference)}",
            "candidate": f"{report.candidate.name}: {origin_text(report.candidate)}",
            **({"gain": f"{report.gain}, profile {report.profile}"} if report.gain else {}),
            "depth": count(report.depth, "rank"),
        }
    )
    yield Text()
    if report.measures is not None:
        yield from map(indented, measures_renderables(report.measures))
        yield Text()
    if report.agreement is not None:
        yield from _agreement(report.agreement)
        yield Text()
    yield from _unpaired_and_notes(report)


def _unpaired_and_notes(report: ComparisonReport) -> Iterator[RenderableType]:
    lines = [
        *safe_lines(unpaired_lines(report), "yellow"),
        *safe_lines(coverage_warnings(report), "yellow"),
        *safe_lines(coverage_lines(report)),
        *safe_lines(report.notes, "dim"),
    ]
    if lines:
        yield from map(indented, lines)
        yield Text()


def _agreement(agreement: Agreement) -> Iterator[RenderableType]:
    queries, ranks = count(agreement.queries, "query"), count(agreement.depth, "rank")
    yield indented(Text(f"agreement of the rankings, over {queries} and {ranks}; without judgments", style="dim"))
    yield indented(fact_table(agreement_facts(agreement)))


def _verdicts(verdicts: tuple[Verdict, ...]) -> Iterator[RenderableType]:
    if not verdicts:
        return
    yield from verdict_list(verdicts)
    yield Text()
    yield from _reasons(verdicts)


def _reasons(verdicts: tuple[Verdict, ...]) -> Iterator[RenderableType]:
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
        yield Text(f"{count(more, 'more query')} moved; `harness compare --output html=FILE` shows them.", style="dim")
        yield Text()
