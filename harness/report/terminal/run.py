"""A report on a terminal, or as plain text for a log and for pytest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

from harness.model import (
    BaselineSummary,
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
    QUERIES_OF_THRESHOLD,
    Attention,
    attention_of,
    baseline_text,
    cause_lines,
    concerned_text,
    diff_heading,
    diff_rest,
    is_hardly_judged,
    judged_line,
    mean_change_text,
    next_command,
    only_repeats_unanswered,
    only_reports,
    outcome_lines,
    remark_lines,
)
from harness.report.sentences import mean_heading, printable, score_text, tally_text
from harness.report.terminal import (
    STYLES,
    columns,
    fact_table,
    indented,
    plain,
    quiet_lines,
    reason,
    safe,
    safe_lines,
    verdict_list,
)
from harness.report.terminal.query import query_renderables
from harness.words import count

# The cells of a report on a terminal: a line each, in as many tables as the width requires.


BESIDE_STYLES = {"+": "green", "-": "red"}
"""Styles of differences, by their sign."""

GAP = 2
"""Blanks between two columns."""

NAME_CELLS = 40
"""The greatest width of the name of a suite, a request or an index before it is folded."""


def overview_renderables(overview: Overview) -> Iterator[RenderableType]:
    """The table, with the meaning of its signs."""
    yield _Tables(overview)
    yield Text()
    yield from safe_lines(remarks(overview), "dim")


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading and a text per row; *most* is the greatest width before texts are folded."""

    heading: str
    texts: tuple[Text, ...]
    justify: Literal["left", "right"] = "left"
    most: int | None = None

    @property
    def width(self) -> int:
        widest = max(cell_len(self.heading), *(text.cell_len for text in self.texts))
        return widest if self.most is None else min(widest, self.most)


class _Tables:
    """Lays out the columns that fit beside the names of the cells; the others follow in further tables."""

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
        """The columns of each table; groups of columns are kept together."""
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
    """A table without the cells that have none of *figures*."""
    shown = (*names, *figures)
    made = (Column(Text(one.heading), justify=one.justify, overflow="fold", max_width=one.most) for one in shown)
    table = columns(*made)
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
    return _Column(heading, tuple(safe_lines(names)), most=NAME_CELLS)


def _measure(measure: str, rows: Sequence[Row]) -> _Column:
    """The means and the texts beside them, each aligned; a cell that lacks one is padded with blanks."""
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


# Why thresholds did not hold: each with its reason, then the queries to look at, each once.


EXPLAINED = 50
"""Thresholds of a suite that are explained; the others have their line."""


def explanations(suite: SuiteReport) -> Iterator[RenderableType]:
    """Every threshold that needs attention with its reason, and then the queries that they blame."""
    attention = attention_of(suite)
    bad = attention.verdicts
    for verdict in bad[:EXPLAINED]:
        yield from reason(verdict)
        yield from next_renderables(suite, verdict)
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
    for query in suite.find_queries(verdict.blamed[:QUERIES_OF_THRESHOLD]):
        yield Text()
        yield from map(indented, query_renderables(query, verdict.measure))
    if len(verdict.blamed) > QUERIES_OF_THRESHOLD:
        left = count(len(verdict.blamed) - QUERIES_OF_THRESHOLD, "more query")
        yield indented(Text(f"and {left}", style="dim"))
    yield from next_renderables(suite, verdict)


def next_renderables(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """The command that shows the worst query of *verdict*, on one line to copy; none where there is no such query."""
    command = next_command(suite, verdict)
    if command:
        yield f"  next: {printable(command)}"


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
"""The least width of a measure's column: a narrow terminal folds names of measures, never figures."""


def tag_renderables(suite: SuiteReport) -> Iterator[RenderableType]:
    """A line per tag and a column per measure, and what is left out; none where no query has a tag."""
    found = tag_table(suite)
    if found is None:
        return
    figures = ("queries", *(["weight"] if found.weighted else []), *map(printable, found.measures))
    table = columns(
        f"{mean_heading(weighted=found.weighted)} by tag",
        *(Column(heading, justify="right", overflow="fold", min_width=FIGURE) for heading in figures),
        "thresholds" if found.held else None,
    )
    for row in found.rows:
        table.add_row(*_cells(row, found))
    yield indented(table)
    yield from map(indented, safe_lines(found.remarks, "dim"))


def _cells(row: TagRow, table: TagTable) -> list[Text]:
    name = safe(row.name, "" if row.tag is not None else "dim")
    share = [Text(f"{row.share:.1%}")] if table.weighted else []
    figures = [Text(figure_text(row, summary)) for summary in row.figures]
    held = [_statuses(row)] if table.held else []
    return [name, Text(f"{row.queries:,}"), *share, *figures, *held]


def _statuses(row: TagRow) -> Text:
    """The statuses of the tag's thresholds in words; empty where it has none."""
    if not row.statuses:
        return Text()
    bad = any(status in BAD for status in row.statuses)
    return Text(tally_text(row.statuses), style=STYLES[Status.FAILED] if bad else "")


# A report on a terminal, or as plain text for a log and for pytest.
#
# Colors and width are up to the caller, who prints it.


def report_renderables(report: Report, *, quiet: bool = False) -> Iterator[RenderableType]:
    """*report*; if *quiet* only the thresholds that need attention, and the last line."""
    for name, suite in zip(cell_names(report.suites), report.suites, strict=True):
        yield from _quiet_renderables(suite, name) if quiet else _suite_renderables(suite, name)
    table = overview(report)
    if table is not None and not quiet:
        yield from overview_renderables(table)
        yield Text()
    yield _closing(report)


def failure_text(suite: SuiteReport, verdict: Verdict) -> str:
    """The reason of *verdict*: observed and required, and its worst queries' rankings with grades."""
    return plain(failure(suite, verdict))


# ------------------------------------------------------------------------------------------------ a suite


def _suite_renderables(suite: SuiteReport, name: str) -> Iterator[RenderableType]:
    yield Text.assemble((printable(name), "bold"), "  ", (printable(suite.path), "dim"))
    yield _facts(suite)
    yield Text()
    causes = list(map(indented, safe_lines(cause_lines(suite.queries, suite.checks), "bold yellow")))
    if causes:
        yield from causes
        yield Text()
    untold, told = _by_news(suite)
    if suite.summaries and not told:
        yield indented(_measures(suite))
        yield Text()
    if suite.tags and suite.summaries and not told:
        yield from tag_renderables(suite)
        yield Text()
    remarks = list(safe_lines(outcome_lines(suite.unscored), "yellow"))
    judged = judged_line(suite)
    if judged:
        hardly = is_hardly_judged(suite.hits, suite.judged_hits)
        remarks.append(safe(judged, "yellow" if hardly else "dim"))
    remarks += safe_lines(remark_lines(suite), "dim")
    if remarks:
        yield from map(indented, remarks)
        yield Text()
    yield from map(indented, text_diffs(suite.baseline))
    if told:
        yield indented(_unanswered(told))
    yield from verdict_list(untold)
    yield Text()
    yield from explanations(suite)


def _quiet_renderables(suite: SuiteReport, name: str) -> Iterator[RenderableType]:
    untold, told = _by_news(suite)
    lines = list(quiet_lines(name, untold))
    if told or lines:
        yield from (safe(f"{name}: {line}") for line in cause_lines(suite.queries, suite.checks))
    if told:
        yield Text.assemble(printable(name), ": ", _unanswered(told))
        yield from (safe(f"{name}: {line}") for line in outcome_lines(suite.unscored))
    yield from lines


def _by_news(suite: SuiteReport) -> tuple[list[Verdict], list[Verdict]]:
    """If no query has an answer: the verdicts that say more than that, and those that do not; else all and none."""
    unanswered = suite.unanswered
    if not unanswered or len(unanswered) < len(suite.queries):
        return list(suite.verdicts), []
    told = [verdict for verdict in suite.verdicts if only_repeats_unanswered(verdict, unanswered)]
    return [verdict for verdict in suite.verdicts if verdict not in told], told


def _unanswered(told: Sequence[Verdict]) -> Text:
    thresholds = count(len(told), "threshold")
    return Text.assemble(("ERROR", STYLES[Status.ERROR]), f"  {thresholds}: no query has an answer")


def _facts(suite: SuiteReport) -> Table:
    where = f"{suite.engine}{' (as stated in the target)' if suite.engine.stated else ''} at {suite.cluster}"
    configuration = {"config": " and ".join(suite.configuration)} if suite.configuration else {}
    return fact_table(
        {
            "engine": where if suite.index is None else f"{where}, index {suite.index}",
            **configuration,
            "request": f"{suite.request}, {count(suite.depth, 'hit')} requested",
            "gain": f"{suite.gain}, profile {suite.profile}",
            "queries": f"{len(suite.queries):,} in {suite.timing.search_seconds:.2f} s"
            + (f", {suite.deselected:,} more not selected" if suite.deselected else "")
            + (f", {baseline_text(suite)}" if suite.baseline else ""),
        }
    )


def _measures(suite: SuiteReport) -> Table:
    mean = mean_heading(weighted=any(summary.weighted for summary in suite.summaries))
    compared = any(summary.change for summary in suite.summaries)
    gains = {summary.gain for summary in suite.summaries} - {suite.gain, ""}
    headings = (mean, "median", "least", "greatest", "counted", "left out", *(["vs baseline"] if compared else []))
    figures = (Column(heading, justify="right") for heading in headings)
    table = columns("measure", *figures, Column("gain") if gains else None)
    for summary in suite.summaries:
        scores = (summary.mean, summary.median, summary.least, summary.greatest)
        row = [*map(score_text, scores), f"{summary.counted:,}", f"{summary.left_out:,}"]
        since = [_change(change_cell(summary))] if compared else []
        table.add_row(safe(summary.measure), *row, *since, *([safe(summary.gain)] if gains else []))
    return table


def _change(text: str) -> Text:
    """A difference in the color of its sign, and a dash where there is none."""
    return Text(text or "–", style=BESIDE_STYLES.get(text[:1], "dim"))


def text_diffs(baseline: BaselineSummary | None) -> Iterator[RenderableType]:
    """How the request, the mapping and the settings changed since the baseline, each with a blank line after it."""
    for diff in baseline.diffs if baseline else ():
        yield Text(diff_heading(diff), style="dim")
        yield from (safe(line, BESIDE_STYLES.get(line[:1], "dim")) for line in diff.lines)
        if diff.left_out:
            yield Text(diff_rest(diff), style="dim")
        yield Text()


def since_baseline(suite: SuiteReport, verdict: Verdict) -> Iterator[RenderableType]:
    """The changes since the baseline that concern *verdict*: its mean, other changes, and the texts."""
    change = mean_change_text(suite, verdict)
    if change:
        yield safe(change)
    yield from safe_lines(suite.baseline.changes if suite.baseline else ())
    yield from text_diffs(suite.baseline)


def since_baseline_text(suite: SuiteReport, verdict: Verdict) -> str:
    """`since_baseline` as text without colors; empty where nothing changed or there is no baseline."""
    return plain(since_baseline(suite, verdict)).rstrip()


def _closing(report: Report) -> Text:
    statuses = [verdict.status for suite in report.suites for verdict in suite.verdicts]
    total = f"{suites_text(report)}, {count(len(statuses), 'threshold')}"
    total = f"{total}: {tally_text(statuses)}" if statuses else total
    if unanswered := sum(len(suite.unanswered_once) for suite in report.suites):
        total = f"{total}; {count(unanswered, 'query')} without an answer"
    if only_reports(report):
        return Text(
            f"{total}; --report-only decides nothing", style="bold yellow" if report.exit_status == 0 else "bold red"
        )
    return Text(total, style="bold green" if report.exit_status == 0 else "bold red")
