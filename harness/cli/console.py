"""Where a command prints what people read. Imports rich, so it is imported only where something is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import NoReturn

import click
from rich.console import Console, RenderableType

from harness.report.terminal.layout import WIDTH, plain


def show(renderables: Iterable[RenderableType]) -> None:
    """
    Print on standard output: with colours on a terminal, unless NO_COLOR is set, and plain elsewhere.

    A log has the same width wherever it is written, unless COLUMNS says otherwise.
    """
    console = _Terminal()
    if console.is_terminal:
        for renderable in renderables:
            console.print(renderable)
    else:
        click.echo(plain(renderables, console.width if "COLUMNS" in os.environ else WIDTH))


class _Terminal(Console):
    """Takes text as it is: nothing in an id or a title is markup, a number to colour, or the name of an emoji."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command: rich itself would end the process with 1, the status of a threshold that failed."""
        raise BrokenPipeError
