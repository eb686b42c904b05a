"""Where a command prints what people read. Imports rich, so it is imported only where something is printed."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from rich.console import Console

LOG_WIDTH = 120
"""Columns where standard output is no terminal and COLUMNS is not set."""


class PlainConsole(Console):
    """A console for text that is no markup."""

    def __init__(self, width: int | None) -> None:
        super().__init__(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command: rich itself would end the process with 1, the status of a threshold that failed."""
        raise BrokenPipeError


def stdout_console() -> Console:
    """Colours on a terminal only, and none where NO_COLOR is set; a log has the same width wherever it is written."""
    return PlainConsole(None if sys.stdout.isatty() or "COLUMNS" in os.environ else LOG_WIDTH)
