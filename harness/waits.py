"""Says on a terminal that a step goes on which takes a while, and nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TextIO

PATIENCE = 1.5
"""Seconds that a step takes before a terminal is told that it goes on."""


@contextmanager
def show_work(what: str, *, quiet: bool = False) -> Iterator[None]:
    """
    Show on standard error that *what* goes on, and for how long, if it takes a while; nothing if *quiet*.

    Nothing is shown where standard error is no terminal, or has a bar already. The line is gone at the end. Nothing is
    to be printed before that.
    """
    if quiet or not is_free_terminal(sys.stderr):
        yield
        return
    # A log needs none of it: scripts/bench/startup.
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    # A standard output that goes to a file stays there.
    bars = Progress(*columns, console=Console(file=sys.stderr), transient=True, redirect_stdout=False)
    bars.add_task(what, total=None)
    timer = Timer(PATIENCE, bars.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # It may be at work just now.
        timer.join()
        if bars.live.is_started:
            bars.stop()


def is_free_terminal(stream: TextIO) -> bool:
    """Whether *stream* is a terminal on which no bar is shown: two would overwrite each other."""
    if not stream.isatty():
        return False
    from rich.file_proxy import FileProxy

    return not isinstance(stream, FileProxy)
