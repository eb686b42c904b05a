"""What rich lays out, as plain text."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.console import Console, RenderableType

WIDTH = 120
"""Columns of plain text."""


def plain(renderables: Iterable[RenderableType], width: int = WIDTH) -> str:
    """*renderables* below one another, without colours, and without the blanks that rich fills lines with."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    with console.capture() as capture:
        for renderable in renderables:
            console.print(renderable, highlight=False)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())
