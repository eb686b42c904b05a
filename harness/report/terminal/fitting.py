"""Layouts for wide and for narrow terminals."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement

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
