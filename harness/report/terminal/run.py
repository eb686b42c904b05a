"""A report on a terminal, or as plain text for a log and for pytest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from harness.model import (
    MissingDocument,
    MovedDocument,
    QueryReport,
    RankedDocument,
    Report,
    Status,
    SuiteReport,
    Verdict,
)
from harness.report.overview import (
    BEST,
    Figure,
    Overview,
    Row,
    TagRow,
    TagTable,
    cell_names,
    change_cell,
    compared_text,
    figure_text,
    overview,
    remarks,
    suites_text,
    tag_table,
)
from harness.report.run_sentences import (
    BAD,
    MISSING_SHOWN,
    QUERIES_OF_THRESHOLD,
    RANKS_SHOWN,
    Attention,
    attention_of,
    baseline_text,
    concerned_text,
    diff_heading,
    diff_rest,
    is_hardly_judged,
    is_told,
    judged_line,
    known_text,
    left_documents,
    mean_change_text,
    missing_place,
    old_ranks,
    only_reports,
    outcome_lines,
)
from harness.report.sentences import mean_heading, plain_text, printable, score_text, tally_text
from harness.report.terminal import (
    STYLES,
    WIDTH,
    columns,
    grade_cell,
    indented,
    plain,
    quiet_lines,
    reason,
    verdict_list,
)
from harness.words import count

__all__ = ["overview_renderables", "tag_renderables"]


# The cells of a report on a terminal: a line each, in as many tables as the width makes necessary.


BESIDE_STYLES = {"+": "green", "-": "red"}
"""By the sign of a difference."""

GAP = 2
"""Blanks between two columns."""

NAME_CELLS = 40
"""The widest that the name of a suite, a request or an index is, before it is folded."""


def overview_renderables(overview: Overview) -> Iterator[RenderableType]:
    """The table, and what its signs mean."""
    yield _Tables(overview)
    yield Text()
    for remark in remarks(overview):
        yield Text(printable(remark), style="dim")


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading and a text a row; *most* is the widest that it is before it is folded."""

    heading: str
    texts: tuple[Text, ...]
    justify: Literal["left", "right"] = "left"
    most: int | None = None

    @property
    def width(self) -> int:
        widest = max(cell_len(self.heading), *(text.cell_len for text in self.texts))
        return widest if self.most is None else min(widest, self.most)


class _Tables:
    """Lays out what fits beside the names of the cells, the rest below with these again."""

    def __init__(self, overview: Overview) -> None:
        self._names = list(_names(overview))
        self._groups = [[_measure(measure, overview.rows)] for measure in overview.measures]
        self._groups.append(list(_counts(overview.rows)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, part in enumerate(self._parts(options.max_width)):
            if number:
                yield Text()
            yield _table(self._names, part)

    def _parts(self, width: int) -> Iterator[list[_Column]]:
        """The columns of each table; a group of them is not torn apart."""
        room = width - _width(self._names)
        part: list[_Column] = []
        for group in self._groups:
            if part and _width([*part, *group]) - GAP > room:
                yield part
                part = []
            part.extend(group)
        yield part


def _width(group: Sequence[_Column]) -> int:
    return sum(column.width + GAP for column in group)


def _table(names: Sequence[_Column], figures: Sequence[_Column]) -> Table:
    """Without the cells that have none of *figures*."""
    table = columns()
    for column in (*names, *figures):
        table.add_column(Text(column.heading), justify=column.justify, overflow="fold", max_width=column.most)
    for name, cells in zip(_by_row(names), _by_row(figures), strict=True):
        if any(text.plain for text in cells):
            table.add_row(*name, *cells)
    return table


def _by_row(shown: Sequence[_Column]) -> Iterator[tuple[Text, ...]]:
    return zip(*(column.texts for column in shown), strict=True)


def _names(overview: Overview) -> Iterator[_Column]:
    rows = overview.rows
    yield _named("suite", [row.suite.name for row in rows])
    if overview.requests:
        yield _named("request", [row.suite.request for row in rows])
    if overview.indexes:
        yield _named("index", [row.suite.index or "–" for row in rows])
    if len(overview.gains) > 1:
        yield _named("gain", [row.suite.gain for row in rows])


def _named(heading: str, names: Sequence[str]) -> _Column:
    return _Column(heading, tuple(Text(printable(name)) for name in names), most=NAME_CELLS)


def _measure(measure: str, rows: Sequence[Row]) -> _Column:
    """Means below one another, and what stands beside them too: what a cell lacks of either is made up with blanks."""
    figures = [row.figures.get(measure) for row in rows]
    known = [figure for figure in figures if figure is not None]
    mean = max((len(score_text(figure.mean)) for figure in known), default=0)
    mark = len(BEST) if any(figure.best for figure in known) else 0
    beside = max((len(compared_text(figure)) for figure in known), default=0)
    texts = (_figure(figure, mean, mark, beside) if figure else Text() for figure in figures)
    return _Column(printable(measure), tuple(texts))


def _figure(figure: Figure, mean: int, mark: int, beside: int) -> Text:
    text = Text(f"{score_text(figure.mean):>{mean}}{BEST if figure.best else '':{mark}}")
    if figure.best:
        text.stylize("bold green")
    if beside:
        shown = compared_text(figure)
        text.append(f" {shown:>{beside}}", style=BESIDE_STYLES.get(shown[:1], "dim"))
    return text


def _counts(rows: Sequence[Row]) -> Iterator[_Column]:
    yield _counted("queries", [len(row.suite.queries) for row in rows])
    yield _counted("held", [row.held for row in rows])
    yield _counted("failed", [row.failed for row in rows], "bold red")
    yield _counted("errors", [row.errors for row in rows], "bold magenta")
    if any(row.other for row in rows):
        yield _counted("other", [row.other for row in rows])


def _counted(heading: str, counts: Sequence[int], style: str = "") -> _Column:
    return _Column(heading, tuple(Text(f"{count:,}", style=style if count else "") for count in counts), "right")


# Why thresholds did not hold: each with its reason, then the queries to look at, each of them once.


EXPLAINED = 50
"""Thresholds of a suite that are explained; the others have their line."""


def explanations(suite: SuiteReport) -> Iterator[RenderableType]:
    """Every threshold that somebody has to look at with its reason, and after them the queries that they blame."""
    attention = attention_of(suite)
    bad = attention.verdicts
    for verdict in bad[:EXPLAINED]:
        yield from reason(verdict)
        yield Text()
    if len(bad) > EXPLAINED:
        left = count(len(bad) - EXPLAINED, "more threshold")
        verb = "is" if len(bad) - EXPLAINED == 1 else "are"
        yield Text(f"{left} {verb} not explained here; an HTML report explains each.", style="dim")
        yield Text()
    yield from _blamed_queries(attention)


def failure(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """One threshold by itself: its reason, and the worst of the queries that it blames."""
    yield from reason(verdict)
    yield from map(indented, since_baseline(suite, verdict))
    by_id = {query.id: query for query in suite.queries}
    blamed = [by_id[name] for name in verdict.blamed if name in by_id]
    for query in blamed[:QUERIES_OF_THRESHOLD]:
        yield Text()
        yield from map(indented, query_renderables(query, verdict.measure))
    if len(blamed) > QUERIES_OF_THRESHOLD:
        left = count(len(blamed) - QUERIES_OF_THRESHOLD, "more query")
        yield indented(Text(f"and {left}", style="dim"))


def _blamed_queries(attention: Attention) -> Iterator[RenderableType]:
    for query in attention.queries:
        yield from query_renderables(query, concerns=concerned_text(query, attention.verdicts))
        yield Text()
    if attention.left:
        verb = "is" if attention.left == 1 else "are"
        left = count(attention.left, "more query")
        yield Text(f"{left} {verb} affected; an HTML report shows each.", style="dim")
        yield Text()


# The figures of each tag on a terminal.


FIGURE = len("0.0000")
"""Where a terminal is narrow, the names of measures are folded, and their figures are not."""


def tag_renderables(suite: SuiteReport) -> Iterator[RenderableType]:
    """A line a tag and a column a measure, with what is left out; nothing where no query has a tag."""
    found = tag_table(suite)
    if found is None:
        return
    table = columns()
    table.add_column(f"{mean_heading(weighted=found.weighted)} by tag", overflow="fold")
    for heading in ("queries", *(["weight"] if found.weighted else []), *found.measures):
        table.add_column(printable(heading), justify="right", overflow="fold", min_width=FIGURE)
    if found.held:
        table.add_column("thresholds", overflow="fold")
    for row in found.rows:
        table.add_row(*_cells(row, found))
    yield indented(table)
    for remark in found.remarks:
        yield indented(Text(printable(remark), style="dim"))


def _cells(row: TagRow, table: TagTable) -> list[Text]:
    name = Text(printable(row.name), style="" if row.tag is not None else "dim")
    share = [Text(f"{row.share:.1%}")] if table.weighted else []
    figures = [Text(figure_text(row, summary)) for summary in row.figures]
    held = [_statuses(row)] if table.held else []
    return [name, Text(f"{row.queries:,}"), *share, *figures, *held]


def _statuses(row: TagRow) -> Text:
    """How the tag's thresholds came out; nothing where it has none."""
    if not row.statuses:
        return Text()
    bad = any(status in BAD for status in row.statuses)
    return Text(tally_text(row.statuses), style=STYLES[Status.FAILED] if bad else "")


# A report on a terminal, or as plain text for a log and for pytest.
#
# Only says what the report says. Whoever prints it decides on colours and width.


def report_renderables(report: Report, *, quiet: bool = False) -> Iterator[RenderableType]:
    """*report*; where *quiet* only the thresholds to look at, and the last line."""
    for name, suite in zip(cell_names(report.suites), report.suites, strict=True):
        yield from _quiet_renderables(suite, name) if quiet else _suite_renderables(suite, name)
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
    untold, told = _by_news(suite)
    if suite.summaries and not told:
        yield indented(_measures(suite))
        yield Text()
    if suite.tags and suite.summaries and not told:
        yield from tag_renderables(suite)
        yield Text()
    remarks = [Text(printable(line), style="yellow") for line in outcome_lines(suite.queries)]
    judged = judged_line(suite)
    if judged:
        hardly = is_hardly_judged(suite.hits, suite.judged_hits)
        remarks.append(Text(printable(judged), style="yellow" if hardly else "dim"))
    remarks += [Text(printable(note), style="dim") for note in suite.notes]
    if remarks:
        yield from map(indented, remarks)
        yield Text()
    yield from map(indented, text_diffs(suite))
    if told:
        yield indented(_unanswered(told))
    yield from verdict_list(untold)
    yield Text()
    yield from explanations(suite)


def _quiet_renderables(suite: SuiteReport, name: str) -> Iterator[RenderableType]:
    untold, told = _by_news(suite)
    if told:
        yield Text.assemble(printable(name), ": ", _unanswered(told))
        yield from (Text(printable(f"{name}: {line}")) for line in outcome_lines(suite.queries))
    yield from quiet_lines(name, untold)


def _by_news(suite: SuiteReport) -> tuple[list[Verdict], list[Verdict]]:
    """Where no query has an answer: the verdicts that say more than that, and those that do not; else all and none."""
    unanswered = suite.unanswered
    if not unanswered or len(unanswered) < len(suite.queries):
        return list(suite.verdicts), []
    told = [verdict for verdict in suite.verdicts if is_told(verdict, unanswered)]
    return [verdict for verdict in suite.verdicts if verdict not in told], told


def _unanswered(told: Sequence[Verdict]) -> Text:
    thresholds = count(len(told), "threshold")
    return Text.assemble(("ERROR", STYLES[Status.ERROR]), f"  {thresholds}: no query has an answer")


def _facts(suite: SuiteReport) -> Table:
    table = Table.grid(padding=(0, 2))
    where = f"{suite.engine}{' (as stated in the target)' if suite.engine.stated else ''} at {suite.cluster}"
    facts = {
        "engine": where if suite.index is None else f"{where}, index {suite.index}",
        "request": f"{suite.request}, {count(suite.depth, 'hit')} requested",
        "gain": f"{suite.gain}, profile {suite.profile}",
        "queries": f"{len(suite.queries):,} in {suite.seconds:.2f} s"
        + (f", {suite.deselected:,} more not selected" if suite.deselected else "")
        + (f", {baseline_text(suite)}" if suite.baseline else ""),
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
    compared = any(summary.change for summary in suite.summaries)
    if compared:
        table.add_column("vs baseline", justify="right")
    gains = {summary.gain for summary in suite.summaries} - {suite.gain, ""}
    if gains:
        table.add_column("gain")
    for summary in suite.summaries:
        figures = (summary.mean, summary.median, summary.least, summary.greatest)
        row = [*map(score_text, figures), f"{summary.counted:,}", f"{summary.left_out:,}"]
        since = [_change(change_cell(summary))] if compared else []
        table.add_row(
            Text(printable(summary.measure)), *row, *since, *([Text(printable(summary.gain))] if gains else [])
        )
    return table


def _change(text: str) -> Text:
    """A difference in the colour of its sign, and a dash where there is none."""
    return Text(text or "–", style=BESIDE_STYLES.get(text[:1], "dim"))


def text_diffs(suite: SuiteReport) -> Iterator[RenderableType]:
    """How the request, the mapping and the settings changed since the baseline, each with a blank line after it."""
    for diff in suite.baseline.diffs if suite.baseline else ():
        yield Text(diff_heading(diff), style="dim")
        yield from (Text(printable(line), style=BESIDE_STYLES.get(line[:1], "dim")) for line in diff.lines)
        if diff.left_out:
            yield Text(diff_rest(diff), style="dim")
        yield Text()


def since_baseline(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """What changed since the baseline that bears on *verdict*: its mean, what else changed, and the texts."""
    change = mean_change_text(suite, verdict)
    if change:
        yield Text(printable(change))
    for sentence in suite.baseline.changes if suite.baseline else ():
        yield Text(printable(sentence))
    yield from text_diffs(suite)


def since_baseline_text(suite: SuiteReport, verdict: Verdict, *, width: int = WIDTH) -> str:
    """The same as text without colours; empty where nothing changed or there is no baseline."""
    return plain(since_baseline(suite, verdict), width).rstrip()


def _closing(report: Report) -> Text:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    total = f"{suites_text(report)}, {count(len(statuses), 'threshold')}"
    total = f"{total}: {tally_text(statuses)}" if statuses else total
    if only_reports(report):
        return Text(
            f"{total}; --report-only decides nothing", style="bold yellow" if report.exit_status == 0 else "bold red"
        )
    return Text(total, style="bold green" if report.exit_status == 0 else "bold red")


# One query: its ranking with grades beside it, and the relevant documents that are missing from it.


TITLE_CELLS = 48


def query_renderables(
    query: QueryReport, measure: str | None = None, *, concerns: str | None = None
) -> Iterator[RenderableType]:
    """
    A heading with the score of *measure*, or of all measures, the ranking, and the missing relevant documents.

    *concerns* says why the query is looked at.
    """
    yield _query_heading(query, measure)
    if concerns:
        yield indented(Text(f"concerns {printable(concerns)}", style="dim"))
    if query.reason:
        yield indented(Text(printable(query.reason)))
    if query.ranking:
        yield indented(_ranking_table(query))
    if len(query.ranking) > RANKS_SHOWN:
        yield indented(Text(f"and {count(len(query.ranking) - RANKS_SHOWN, 'hit')} more", style="dim"))
    yield from map(indented, _since_baseline_of(query))
    yield from missing_renderables(query)


def missing_renderables(query: QueryReport, shown: int | None = MISSING_SHOWN) -> Iterator[RenderableType]:
    """The first *shown* missing relevant documents, all where None, and how many more there are."""
    if query.missing:
        yield indented(_missing_table(query.missing[:shown]))
    left = 0 if shown is None else len(query.missing) - shown
    if left > 0:
        yield indented(Text(f"and {count(left, 'relevant document')} more missing", style="dim"))


def _query_heading(query: QueryReport, measure: str | None) -> Text:
    text = Text.assemble(("query ", "dim"), (printable(query.id), "bold"))
    if query.text and query.text != query.id:
        text.append(f"  {printable(query.text)}")
    return text.append(f"  ({printable(known_text(query, measure))})", style="dim")


def _since_baseline_of(query: QueryReport) -> Iterator[RenderableType]:
    """The documents that left since the baseline, and that only ties changed their order."""
    if query.baseline is not None and query.baseline.ties_only:
        yield Text("since the baseline only documents of equal score changed their order", style="dim")
    left = left_documents(query)
    if left:
        yield _left_table(left[:RANKS_SHOWN])
    if len(left) > RANKS_SHOWN:
        yield Text(f"and {count(len(left) - RANKS_SHOWN, 'document')} more that left", style="dim")


def _left_table(left: Sequence[MovedDocument]) -> Table:
    table = columns()
    table.add_column("left since the baseline", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("was", justify="right", no_wrap=True)
    titled = any(document.title for document in left)
    if titled:
        table.add_column("title", overflow="fold")
    for document in left:
        title = [title_cell(document.title)] if titled else []
        table.add_row(Text(printable(document.id)), grade_cell(document), f"{document.reference:,}", *title)
    return table


def _ranking_table(query: QueryReport) -> Table:
    ranking, before = query.ranking[:RANKS_SHOWN], old_ranks(query)
    table = columns()
    table.add_column("rank", justify="right", no_wrap=True)
    if before:
        table.add_column("was", justify="right", no_wrap=True)
    table.add_column("document", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("gain", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    tied = any(document.tied for document in ranking)
    if tied:
        table.add_column("")
    titled = any(document.title for document in ranking)
    if titled:
        table.add_column("title", overflow="fold")
    for document in ranking:
        tie = [Text("tied" if document.tied else "")] if tied else []
        rank, *cells = _hit_cells(document)
        was = [Text(before.get(document.id, ""), style="bold")] if before else []
        table.add_row(rank, *was, *cells, *tie, *([title_cell(document.title)] if titled else []))
    return table


def _hit_cells(document: RankedDocument) -> list[Text]:
    return [
        Text(str(document.rank)),
        Text(printable(document.id)),
        grade_cell(document),
        Text(plain_text(document.gain)),
        hit_score(document),
    ]


def hit_score(document: RankedDocument) -> Text:
    """The engine's score; a dash where there is none."""
    return Text("–" if document.score is None else f"{document.score:.5g}")


def title_cell(title: str | None) -> Text:
    """A title, cut where it is long."""
    text = Text(printable(title or ""))
    text.truncate(TITLE_CELLS, overflow="ellipsis")
    return text


def _missing_table(missing: tuple[MissingDocument, ...]) -> Table:
    table = columns()
    table.add_column("missing relevant document", overflow="fold")
    table.add_column("grade", justify="right", no_wrap=True)
    table.add_column("where it is", overflow="fold")
    titled = any(document.title for document in missing)
    if titled:
        table.add_column("title", overflow="fold")
    for document in missing:
        title = [title_cell(document.title)] if titled else []
        table.add_row(Text(printable(document.id)), plain_text(document.grade), missing_place(document), *title)
    return table
