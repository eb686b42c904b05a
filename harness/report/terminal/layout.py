"""How text is laid out on a terminal, wide or narrow, and as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table

__all__ = ["Fitting", "columns", "indented"]


# How text is laid out on a terminal, wide or narrow, and as plain text.


UNBOUNDED = 10_000
"""Columns that no table needs."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """*wide* where there are *least* columns for it, as many as it takes where that is None; else *narrow*."""

    wide: RenderableType
    narrow: RenderableType
    least: int | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The one that fits."""
        least = self.least
        if least is None:
            least = Measurement.get(console, options.update(width=UNBOUNDED), self.wide).maximum
        yield self.wide if least <= options.max_width else self.narrow


def columns() -> Table:
    """A table without lines: two blanks between its columns, dim headings."""
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")


def indented(renderable: RenderableType) -> Padding:
    """*renderable* two blanks to the right."""
    return Padding(renderable, (0, 0, 0, 2))


# What rich lays out, as plain text.


WIDTH = 120
"""Columns of plain text."""


def plain(renderables: Iterable[RenderableType], width: int = WIDTH) -> str:
    """*renderables* below one another, without colours, and without the blanks that rich fills lines with."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable, highlight=False)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
