"""The cells of a report on a terminal: a line each, in as many tables as the width makes necessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from harness.report.figures import score_text
from harness.report.overview import BEST, Figure, Overview, Row, compared_text, remarks
from harness.report.printable import printable
from harness.report.terminal.layout import columns

__all__ = ["overview_renderables"]


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
