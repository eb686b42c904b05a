"""Where a command prints what people read."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

LOG_WIDTH = 120
"""Columns where standard output is no terminal and COLUMNS is not set."""


def stdout_console() -> Console:
    """Colours on a terminal only, and none where NO_COLOR is set; a log has the same width wherever it is written."""
    from rich.console import Console

    fixed = None if sys.stdout.isatty() or "COLUMNS" in os.environ else LOG_WIDTH
    return Console(file=sys.stdout, width=fixed, highlight=False, markup=False, emoji=False)
