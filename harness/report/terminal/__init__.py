"""Reports as text: documents laid out by rich for a terminal, and plain everywhere else."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import groupby

from rich import table as rich_table
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from harness.model.run import Status
from harness.report.attention import LOOKED_AT
from harness.report.document import (
    Block,
    Cell,
    Code,
    Column,
    ColumnKind,
    Details,
    Difference,
    Document,
    Drawing,
    Facts,
    Heading,
    Notes,
    Overflow,
    Paragraph,
    Queries,
    QuerySection,
    Rankings,
    Table,
    ThresholdLine,
    Thresholds,
    Tone,
)
from harness.report.safe_text import escape_commands, printable, printable_lines
from harness.report.sentences import TEXT_SHOWN
from harness.words import count, counted, grouped, shorten

UNBOUNDED = 10_000
"""Columns that no table needs."""

WIDTH = 120
"""Columns of plain text."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """Shows *wide* where there are at least *least* columns, by default as many as *wide* takes; else *narrow*."""

    wide: RenderableType
    narrow: RenderableType
    least: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render *wide* or *narrow*."""
        least = self.least
        if least is None:
            least = Measurement.get(console, options.update(width=UNBOUNDED), self.wide).maximum
        if least <= options.max_width:
            yield self.wide
        else:
            yield self.narrow


def make_table(*headings: str | Text | rich_table.Column | None) -> rich_table.Table:
    """
    A table without lines: two blanks between its columns, dim headings.

    A heading alone makes a column that folds what is too long for it, None makes no column.
    """
    columns = []
    for heading in headings:
        if isinstance(heading, str | Text):
            columns.append(rich_table.Column(heading, overflow="fold"))
        elif heading is not None:
            columns.append(heading)
    return rich_table.Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def align_right(heading: str | Text) -> rich_table.Column:
    """A column that is aligned right, and never wrapped."""
    return rich_table.Column(heading, justify="right", no_wrap=True)


def make_text(text: str, style: str = "") -> Text:
    """*text*, which may be of an index or a server, made printable."""
    return Text(printable(text), style=style)


def make_texts(lines: Iterable[str], style: str = "") -> Iterator[Text]:
    """Each of *lines* made printable."""
    return (make_text(line, style) for line in lines)


def indent(renderable: RenderableType) -> Padding:
    """*renderable* two blanks to the right."""
    return Padding(renderable, (0, 0, 0, 2))


def render_plain(renderables: Iterable[RenderableType], width: int = WIDTH) -> str:
    """
    *renderables* below one another, without colors, and without the blanks that rich fills lines with.

    Plain texts are not wrapped, so that they can be copied.
    """
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable, highlight=False, markup=False, soft_wrap=isinstance(renderable, str))
    return escape_commands("\n".join(line.rstrip() for line in capture.get().splitlines()))


# Texts.


TONES: Mapping[Tone, str] = {
    Tone.PLAIN: "",
    Tone.QUIET: "dim",
    Tone.STRONG: "bold",
    Tone.GOOD: "green",
    Tone.POOR: "red",
    Tone.BEST: "bold green",
    Tone.BAD: "bold red",
    Tone.NOTED: "yellow",
    Tone.WARNING: "bold yellow",
    Tone.UNDECIDED: "bold magenta",
    Tone.ENTERED: "cyan",
    Tone.LEFT: "magenta",
}

_STATUSES: Mapping[Status, str] = {
    Status.PASSED: "green",
    Status.FAILED: "bold red",
    Status.INCONCLUSIVE: "bold magenta",
    Status.ERROR: "bold magenta",
    Status.WARNED: "yellow",
    Status.XFAILED: "yellow",
    Status.XPASSED: "bold yellow",
    Status.SKIPPED: "dim",
    Status.NOT_DECIDED: "",
}


def print_cell(cell: Cell, most: int | None = None) -> Text:
    """*cell* in the colors of its tones, with titles cut to *most* columns."""
    text = Text()
    # A title may be of several spans, and is the last of a cell.
    title = Text()
    for span in cell:
        printed = make_text(span.text, TONES[span.tone])
        if span.is_title:
            title.append_text(printed)
        else:
            text.append_text(printed)
    if most is not None:
        title.truncate(most, overflow="ellipsis")
    return text.append_text(title)


def print_status(status: Status) -> Text:
    """The status, in capitals if it needs attention."""
    text = str(status)
    if status in LOOKED_AT:
        text = text.upper()
    return Text(text, style=_STATUSES[status])


# Documents and their blocks.


def print_document(document: Document) -> Iterator[RenderableType]:
    """The sections of *document* and its overview, a blank line, and what it ends with."""
    printed: list[RenderableType] = []
    for section in document.sections:
        printed += [print_cell(section.title), *print_blocks(section.blocks)]
    if document.overview is not None:
        printed += [*print_table(document.overview), Text()]
    # A section without blocks has no blank line below it.
    if printed and not printed[-1]:
        printed.pop()
    if printed and document.closing:
        printed.append(Text())
    yield from printed
    for line in document.closing:
        yield print_cell((line,))


def print_blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    """Each of *blocks*, with a blank line below it, but for headings."""
    for block in blocks:
        yield from print_block(block)
        if not isinstance(block, Heading | Drawing):
            yield Text()


@singledispatch
def print_block(block: Block) -> Iterator[RenderableType]:
    """One block, indented below the title of its section; a drawing has nothing for a terminal."""
    assert isinstance(block, Drawing)
    return iter(())


@print_block.register
def _print_heading(block: Heading) -> Iterator[RenderableType]:
    yield make_text(block.text, "bold")


@print_block.register
def _print_paragraph(block: Paragraph) -> Iterator[RenderableType]:
    yield indent(print_cell(block.text))


@print_block.register
def _print_facts(block: Facts) -> Iterator[RenderableType]:
    if block.heading:
        yield indent(Text(block.heading, style="dim"))
        yield indent(print_facts(block))
    else:
        yield print_facts(block)


@print_block.register
def _print_indented_table(block: Table) -> Iterator[RenderableType]:
    yield from map(indent, print_table(block))


@print_block.register
def _print_notes(block: Notes) -> Iterator[RenderableType]:
    for span in block.lines:
        yield indent(print_cell((span,)))


@print_block.register
def _print_code(block: Code) -> Iterator[RenderableType]:
    # Not indented and not wrapped, so that it can be copied.
    yield printable_lines(block.text)


@print_block.register
def _print_indented_difference(block: Difference) -> Iterator[RenderableType]:
    yield from map(indent, print_difference(block))


@print_block.register
def _print_details(block: Details) -> Iterator[RenderableType]:
    yield indent(make_text(block.summary, "bold"))
    for part in block.blocks:
        yield from print_block(part)


@print_block.register
def _print_rankings(block: Rankings) -> Iterator[RenderableType]:
    beside, below = print_table(block.beside), print_table(block.below)
    yield indent(Fitting(Group(*beside), Group(*below), RANKINGS_WIDTH))


def print_facts(facts: Facts) -> rich_table.Table:
    """A line for each of *facts*: its name, and the fact."""
    table = rich_table.Table.grid(padding=(0, 2))
    for fact in facts.facts:
        table.add_row(Text(f"  {fact.name}", style="dim"), print_cell(fact.text))
    return table


def print_difference(difference: Difference) -> Iterator[RenderableType]:
    """The heading of *difference*, and its lines in the colors of their signs."""
    yield make_text(difference.heading, "dim")
    colors = {"+": "green", "-": "red"}
    for line in difference.lines:
        sign = line[:1]
        yield make_text(line, colors.get(sign, "dim"))
    if difference.remark:
        yield Text(difference.remark, style="dim")


# Thresholds.


EXPLAINED = 50
"""Thresholds of a suite that are explained; the others have their line."""


@print_block.register
def print_thresholds(thresholds: Thresholds) -> Iterator[RenderableType]:
    """A line per threshold, with its caveat if it holds; then each that needs attention with its reason."""
    if thresholds.unanswered:
        yield indent(print_unanswered(thresholds))
    if thresholds.thresholds:
        yield indent(_list_thresholds(thresholds.thresholds))
    if thresholds.passed_of_queries:
        passed = count(thresholds.passed_of_queries, "threshold")
        also = "and " if thresholds.thresholds else ""
        yield indent(Text(f"{also}{passed} of single queries passed", style="dim"))
    needing_attention = thresholds.explained
    for threshold in needing_attention[:EXPLAINED]:
        yield Text()
        yield from print_reason(threshold)
        yield from print_command(threshold)
    number_of_others = len(needing_attention) - EXPLAINED
    if number_of_others > 0:
        others = count(number_of_others, "more threshold")
        verb = "is" if number_of_others == 1 else "are"
        yield Text()
        yield Text(f"{others} {verb} not explained here; an HTML report explains each.", style="dim")


def print_unanswered(thresholds: Thresholds) -> Text:
    """How many thresholds have no verdict as no query has an answer."""
    size = count(thresholds.unanswered, "threshold")
    return Text.assemble(("ERROR", _STATUSES[Status.ERROR]), f"  {size}: no query has an answer")


def _list_thresholds(thresholds: Iterable[ThresholdLine]) -> rich_table.Table:
    """A row for each threshold: its status, the threshold with its caveat below it, and what was observed."""
    table = make_table(rich_table.Column(no_wrap=True), rich_table.Column(overflow="fold", ratio=1), align_right(""))
    table.show_header = False
    for threshold in thresholds:
        text = name_threshold(threshold)
        if threshold.caveat:
            text.append(f"\n{printable(threshold.caveat)}", style="dim")
        observed = "" if threshold.observed == "–" else threshold.observed
        table.add_row(print_status(threshold.verdict.status), text, observed)
    return table


def name_threshold(threshold: ThresholdLine) -> Text:
    """The threshold as written, with the query that it belongs to."""
    verdict = threshold.verdict
    text = make_text(verdict.threshold)
    if verdict.query is not None:
        text.append(f"  (query {printable(verdict.query)})", style="dim")
    return text


def print_reason(threshold: ThresholdLine) -> Iterator[RenderableType]:
    """The threshold with its place, and why it has its verdict."""
    verdict = threshold.verdict
    place = printable(str(verdict.mark))
    yield Text.assemble(print_status(verdict.status), "  ", name_threshold(threshold), (f"  {place}", "dim"))
    for detail in threshold.details:
        yield indent(make_text(detail))


def print_command(threshold: ThresholdLine) -> Iterator[RenderableType]:
    """The command that shows the worst query, on one line to copy; none where there is no such query."""
    if threshold.command:
        yield f"  next: {printable(threshold.command)}"


QUIET_LINES = 10
"""Lines about what failed in a quiet report, beside the last line."""

QUIET_CELLS = 240
"""Columns of such a line, two or three lines of a terminal: a reason may quote a server, and an id may be long."""


def build_quiet_lines(title: str, thresholds: Iterable[ThresholdLine]) -> list[Text]:
    """
    A line for each threshold that needs attention, which begins with the *title* of the suite.

    A threshold that single queries have in common is one line with their number.
    """
    keyed_thresholds = []
    for line in thresholds:
        verdict = line.verdict
        if verdict.status in LOOKED_AT and not line.is_repeated:
            key = verdict.status, verdict.threshold, verdict.query is not None
            keyed_thresholds.append((key, line))
    quiet_lines = []
    for (status, text, is_of_query), group in grouped(keyed_thresholds).items():
        heading = Text.assemble(printable(title), ": ", print_status(status), " ")
        if is_of_query and len(group) > 1:
            queries = counted([str(line.verdict.query) for line in group], "query")
            quiet_lines.append(heading + make_text(f"{text} for {queries}"))
            continue
        quiet_lines += [heading + name_threshold(line) + make_text(f": {line.verdict.reason}") for line in group]
    return quiet_lines


def print_quiet_lines(sections: Sequence[Sequence[Text]]) -> Iterator[Text]:
    """
    The first of the lines of *sections*, each of one suite, and how many more there are.

    The first line of each suite comes before the second line of any: of many suites that fail, all should be seen.
    """
    # The first lines of all sections, then the second ones, and so on, until there are enough.
    shown_of_section = [0] * len(sections)
    for rank in range(max(map(len, sections), default=0)):
        for section, lines in enumerate(sections):
            if rank < len(lines) and sum(shown_of_section) < QUIET_LINES:
                shown_of_section[section] += 1
    # What is shown of a suite stands together.
    for lines, shown in zip(sections, shown_of_section, strict=True):
        for line in lines[:shown]:
            short_line = line.copy()
            short_line.truncate(QUIET_CELLS, overflow="ellipsis")
            yield short_line
    number_of_others = sum(map(len, sections)) - sum(shown_of_section)
    if number_of_others:
        yield Text(f"and {number_of_others:,} more; without --quiet each is explained", style="dim")


# Tables.


GAP = 2
"""Blanks between two columns."""

NAME_CELLS = 40
"""The greatest width of a name in a table that splits, before it is folded."""

SCORE_CELLS = len("0.0000")
"""The least width of a column of scores: a narrow terminal folds names of measures, never figures."""

TITLE_CELLS = 48
"""The greatest width of a title in a column of its own."""

TITLE_BESIDE_CELLS = 28
"""The greatest width of a title beside the id of its document."""

RANKINGS_WIDTH = 80
"""Columns that two rankings beside each other need."""


def print_table(table: Table) -> Iterator[RenderableType]:
    """*table*, and its remarks below it."""
    match table.overflow:
        case Overflow.FOLD:
            yield _lay_out_table(table)
        case Overflow.STACK:
            narrow: RenderableType = _stack(table)
            if any(column.may_stand_below for column in table.columns):
                narrow = Fitting(_lay_out_two_lines(table), narrow)
            yield Fitting(_lay_out_table(table), narrow)
        case Overflow.SPLIT:
            yield _SplittingTable(table)
            if table.remarks:
                yield Text()
    yield from make_texts(table.remarks, "dim")


def _lay_out_table(table: Table) -> rich_table.Table:
    """*table* with all of its columns beside each other."""
    laid_out = make_table(*map(_make_column, table.columns))
    for row in table.rows:
        texts = []
        for column, cell in zip(table.columns, row, strict=True):
            title_width = TITLE_CELLS if column.kind is ColumnKind.TITLE else TITLE_BESIDE_CELLS
            texts.append(print_cell(cell, title_width))
        laid_out.add_row(*texts)
    return laid_out


def _lay_out_two_lines(table: Table) -> rich_table.Table:
    """*table* with each cell that may stand below the one before it there, as its heading."""
    columns: list[rich_table.Column] = []
    rows: list[list[Text]] = [[] for _ in table.rows]
    for number, column in enumerate(table.columns):
        cells = [print_cell(row[number]) for row in table.rows]
        if not column.may_stand_below:
            columns.append(_make_column(column))
            for texts, cell in zip(rows, cells, strict=True):
                texts.append(cell)
            continue
        heading = columns[-1].header
        assert isinstance(heading, Text)
        columns[-1].header = Text("\n").join([heading, make_text(column.heading)])
        for texts, cell in zip(rows, cells, strict=True):
            if cell:
                texts[-1] = Text("\n").join([texts[-1], cell])
    laid_out = make_table(*columns)
    for texts in rows:
        laid_out.add_row(*texts)
    return laid_out


def _stack(table: Table) -> Group:
    """The first cell of each row as a heading, and the others below it, each beside the heading of its column."""
    blocks: list[RenderableType] = []
    for row in table.rows:
        block = make_table(rich_table.Column(style="dim", no_wrap=True), "")
        block.show_header = False
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            block.add_row(f"  {printable(column.heading)}", print_cell(cell))
        heading = print_cell(row[0])
        heading.stylize("bold")
        blocks += [heading, block]
    return Group(*blocks)


def _make_column(column: Column) -> rich_table.Column:
    """The column of rich for *column*: how it is aligned, and whether its texts are folded where there is no room."""
    heading = make_text(column.heading)
    match column.kind:
        case ColumnKind.FIGURE:
            return align_right(heading)
        case ColumnKind.SCORE:
            return rich_table.Column(heading, justify="right", overflow="fold", min_width=SCORE_CELLS)
        case ColumnKind.WORD | ColumnKind.TREND:
            return rich_table.Column(heading, no_wrap=True, min_width=column.least_width or None)
        case ColumnKind.SIDE:
            return rich_table.Column(heading, overflow="fold", ratio=1)
        case ColumnKind.NAME | ColumnKind.TITLE:
            return rich_table.Column(heading, overflow="fold")


@dataclass(frozen=True, slots=True)
class _SplitColumn:
    """A column with the texts of its cells; *most* is the greatest width before texts are folded."""

    column: Column
    texts: tuple[Text, ...]
    most: int | None

    @property
    def width(self) -> int:
        """The width of the widest of its texts and its heading, at most *most*."""
        widest = max(cell_len(self.column.heading), *(text.cell_len for text in self.texts))
        if self.most is None:
            return widest
        return min(widest, self.most)


class _SplittingTable:
    """
    A table that rich lays out as several where its columns do not fit beside each other.

    Each of these has the columns with names, and as many of the other columns as there is room for.
    """

    def __init__(self, table: Table) -> None:
        self._names: list[_SplitColumn] = []
        self._groups: list[list[_SplitColumn]] = []
        """The other columns; those of a group stand in one table."""
        columns = []
        for number, column in enumerate(table.columns):
            cells = [row[number] for row in table.rows]
            most = NAME_CELLS if column.kind is ColumnKind.NAME else None
            columns.append(_SplitColumn(column, tuple(_align_spans(cells)), most))
        # A score may stand in another table than the next one; counts are kept together.
        for kind, neighbors in groupby(columns, key=lambda split: split.column.kind):
            if kind is ColumnKind.NAME:
                self._names += neighbors
            elif kind is ColumnKind.SCORE:
                self._groups += [[split] for split in neighbors]
            else:
                self._groups.append(list(neighbors))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tables, with a blank line between them; rich calls this."""
        for number, columns in enumerate(self._split(options.max_width)):
            if number:
                yield Text()
            yield self._lay_out(columns)

    def _split(self, width: int) -> Iterator[list[_SplitColumn]]:
        """The columns beside the names in each of the tables, where a table has a *width*."""
        room = width - _measure_width(self._names)
        columns: list[_SplitColumn] = []
        for group in self._groups:
            # No gap follows the last column.
            if columns and _measure_width([*columns, *group]) - GAP > room:
                yield columns
                columns = []
            columns += group
        yield columns

    def _lay_out(self, columns: Sequence[_SplitColumn]) -> rich_table.Table:
        """A table of the names and *columns*, without the rows that are empty in *columns*."""
        table = make_table()
        for split in (*self._names, *columns):
            justify: JustifyMethod = "left"
            if split.column.kind is ColumnKind.FIGURE:
                justify = "right"
            heading = make_text(split.column.heading)
            table.add_column(heading, justify=justify, overflow="fold", max_width=split.most)
        rows_of_names = zip(*(split.texts for split in self._names), strict=True)
        rows_of_columns = zip(*(split.texts for split in columns), strict=True)
        for names, texts in zip(rows_of_names, rows_of_columns, strict=True):
            if any(text.plain for text in texts):
                table.add_row(*names, *texts)
        return table


def _measure_width(splits: Iterable[_SplitColumn]) -> int:
    """The width of columns beside each other, with a gap after each."""
    return sum(split.width + GAP for split in splits)


def _align_spans(cells: Sequence[Cell]) -> Iterator[Text]:
    """Each of *cells* with its spans below those of the other cells, aligned right, as figures are."""
    widths: list[int] = []
    for cell in cells:
        for number, span in enumerate(cell):
            width = cell_len(printable(span.text))
            if number == len(widths):
                widths.append(width)
            widths[number] = max(widths[number], width)
    for cell in cells:
        text = Text()
        if len(cell) == 1:
            text = print_cell(cell)
        else:
            for span, width in zip(cell, widths, strict=False):
                text.append(f"{printable(span.text):>{width}}", style=TONES[span.tone])
        yield text


# Queries.


@print_block.register
def _print_queries(block: Queries) -> Iterator[RenderableType]:
    """Each query, and how many more there are, with blank lines between them."""
    for place, query in enumerate(block.queries):
        if place:
            yield Text()
        yield from print_query(query)
    if block.more:
        yield Text()
        yield Text(block.more, style="dim")


def print_query(query: QuerySection) -> Iterator[RenderableType]:
    """The id and the text of *query* with what is known of it, what it concerns, and its tables."""
    yield from print_query_heading(query)
    for block in query.blocks:
        yield from print_block(block)


def print_query_heading(query: QuerySection) -> Iterator[RenderableType]:
    """The id and the text of *query* with what is known of it; and what it concerns, if anything."""
    text = Text.assemble(("query ", "dim"), (printable(query.id), "bold"))
    if query.text and query.text != query.id:
        text.append(f"  {printable(shorten(query.text, TEXT_SHOWN))}")
    yield text.append(f"  ({printable(query.known)})", style="dim")
    if query.need:
        yield indent(Text(f"need {printable(query.need)}", style="dim"))
    if query.concerns:
        yield indent(Text(f"concerns {printable(query.concerns)}", style="dim"))
