"""The reports of earlier runs, which nobody must take for those of a run that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.errors import HarnessError, SearchError
from harness.report.output_files import FileState, list_unchanged, read_states, refuse_inputs, remove_outdated
from harness.report.outputs import Output
from harness.report.safe_text import make_loggable

if TYPE_CHECKING:
    from harness.store.journal import Journal
    from harness.suites.inputs import RunInputs


@dataclass(slots=True)
class EarlierReports:
    """The reports of earlier runs, with what stood there before this one; *journal* is that of this run, if any."""

    states: Mapping[Path, FileState]
    journal: Journal | None = None

    def remove_after(self, error: BaseException) -> None:
        """
        Remove them if the run has failed by *error*, so that nobody takes one for its report.

        A command that is refused leaves all files as they were: the report may be that of a run which goes on. The
        first line of the journal is written when the first request is about to be sent, under its lock.
        """
        # A command line or a suite that is wrong, and not a server that gives no answer.
        is_refused = isinstance(error, click.ClickException)
        if isinstance(error, HarnessError):
            is_refused = error.exit_status != SearchError.exit_status
        if is_refused and (self.journal is None or not self.journal.has_begun):
            for path in list_unchanged(self.states):
                click.echo(make_loggable(f"relevance: {path} is as it was, the report of an earlier run"), err=True)
            return
        for path in remove_outdated(self.states)[0]:
            click.echo(make_loggable(f"removed {path}, the report of an earlier run"), err=True)


@contextmanager
def remove_outdated_on_error(
    outputs: Sequence[Output], inputs: RunInputs, journals: Sequence[Output] = ()
) -> Iterator[EarlierReports]:
    """
    If an error ends the block, remove the *outputs* of an earlier run, unless the command was refused, and raise it
    again; *journals* stay. The block gives what it yields the journal of the run, when that is open.

    Raises:
        UsageError: As `refuse_inputs`; then the block is not entered, and nothing is removed.
    """
    states: Mapping[Path, FileState] = {}
    if outputs or journals:
        refuse_inputs([*outputs, *journals], inputs)
        states = read_states(outputs)
    earlier_reports = EarlierReports(states)
    try:
        yield earlier_reports
    except BaseException as error:
        earlier_reports.remove_after(error)
        if earlier_reports.journal is not None:
            earlier_reports.journal.close()
        raise
