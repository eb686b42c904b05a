"""Prints a command's output for people, and the progress of a run. Imports rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NoReturn, TextIO

import click
from rich.console import Console, RenderableType
from rich.markup import escape

from harness.model.run import Ranking, Run, Verdict
from harness.model.suite import Suite
from harness.report.safe_text import make_loggable
from harness.report.sentences import format_tally
from harness.report.terminal import WIDTH, render_plain
from harness.run.cell import Progress
from harness.words import count

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

LEAST_WIDTH = 80
"""Columns that a layout takes in any case, so that no figure is cut; a narrower terminal wraps its lines."""


def print_all(renderables: Iterable[RenderableType]) -> None:
    """
    Print *renderables* of rich, or plain texts, below each other on standard output.

    They have colors on a terminal, unless NO_COLOR is set, and none elsewhere. A log has the same width everywhere,
    unless COLUMNS is set. Plain texts are not wrapped, so that they can be copied.
    """
    width = max(get_terminal_size((WIDTH, 0)).columns, LEAST_WIDTH)
    console = _Terminal(width)
    if console.is_terminal:
        for renderable in renderables:
            console.print(renderable, soft_wrap=isinstance(renderable, str))
    else:
        click.echo(render_plain(renderables, width))


class _Terminal(Console):
    """Prints text unchanged: ids and titles have no markup, no highlighted numbers and no names of emoji."""

    def __init__(self, width: int) -> None:
        super().__init__(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command: rich itself would end the process with 1, the status of a threshold that failed."""
        raise BrokenPipeError


@contextmanager
def run_progress(*, quiet: bool, stream: TextIO | None = None) -> Iterator[Progress | None]:
    """A progress display for *stream*, by default standard error; None if *quiet*."""
    stream = stream or sys.stderr
    if quiet:
        yield None
    elif stream.isatty():
        with make_bars(stream, "queries") as bars:
            yield BarProgress(bars)
    else:
        yield LineProgress(stream)


def make_bars(stream: TextIO, what: str, *, quiet: bool = False) -> Bars:
    """Bars that count *what*, and are gone at the end; nothing if *stream* is no terminal, or *quiet*."""
    # Most runs are in a log, without bars: scripts/bench/startup.
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(what))
    console = Console(file=stream, emoji=False)
    is_hidden = quiet or not stream.isatty()
    return Bars(*columns, TimeElapsedColumn(), console=console, transient=True, disable=is_hidden)


class LineProgress:
    """A line when a suite starts and one when it is finished, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._names: list[str] = []
        """Of the suites that are not finished, in the order in which they started."""

    def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
        """Print what is about to be sent."""
        name = _name_cell(suite, chosen)
        if name not in self._names:
            self._names.append(name)
        self._print(f"{name}: {count(queries, 'query')} to run")

    def queries_done(self, count: int) -> None:
        """Print nothing."""

    def suite_finished(self, run: Run, verdicts: Sequence[Verdict] | None) -> None:
        """Print how long it took, and the statuses of its thresholds where they are decided."""
        result = _count_answered(run) if verdicts is None else format_tally(verdict.status for verdict in verdicts)
        # One that others are compared with is answered before these, and finished after them.
        started = [name for name in self._names if f", request {run.request}, " in f"{name}, "]
        name = (started or self._names or [""])[-1]
        if name in self._names:
            self._names.remove(name)
        self._print(f"{name}: {result} in {run.seconds:.2f} s")

    def _print(self, line: str) -> None:
        # A log of GitHub Actions runs lines that are commands, and a suite's name may be one.
        print(make_loggable(line), file=self._stream, flush=True)


class BarProgress:
    """A bar for each suite, removed at the end of the run."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        # A fixture is loaded, or an engine started, before the first query is sent.
        self._task: TaskID | None = bars.add_task("starting", total=None)

    def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
        """Start a suite's bar, in place of the one that a run has which starts anew."""
        self._remove_bar()
        self._task = self._bars.add_task(escape(make_loggable(_name_cell(suite, chosen))), total=queries)

    def queries_done(self, count: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self._bars.advance(self._task, count)

    def suite_finished(self, run: Run, verdicts: Sequence[Verdict] | None) -> None:  # noqa: ARG002
        """Remove the bar; the report follows."""
        self._remove_bar()

    def _remove_bar(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None


def _count_answered(run: Run) -> str:
    """How many of the queries have an answer, in words."""
    answered = sum(isinstance(response, Ranking) for response in run.responses.values())
    return f"{answered:,} of {count(len(run.responses), 'query')} answered"


def _name_cell(suite: Suite, chosen: str) -> str:
    """The suite, and *chosen*, the selected request and index in words, if any."""
    if not chosen:
        return suite.name
    return f"{suite.name}, {chosen}"
