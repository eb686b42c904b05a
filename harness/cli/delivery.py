"""Gives the result of a command to standard output and files, each whatever becomes of the others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness.cli.exits import COMMAND
from harness.cli.streams import describe_unwritable_stdout, print_message, silence_stdout
from harness.errors import HarnessError, UsageError


class Delivery:
    """
    Gives the result of a command to its outputs: standard output, and files.

    Each is written whatever becomes of the others, so that no result is lost with one of them. `report_errors` says
    what could not be written::

        delivery = Delivery()
        with delivery.printing():
            click.echo(report)
        for file in files:
            with delivery.writing():
                write(report, file)
        return delivery.report_errors(report.exit_status)
    """

    def __init__(self) -> None:
        self._errors: list[Exception] = []

    @contextmanager
    def printing(self) -> Iterator[None]:
        """
        A block that prints. If the reader closes the pipe early, as ``head`` does, the command goes on unchanged.

        Standard output may also be a file on a full disk, which is an error of the command.
        """
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            silence_stdout()
        except Exception as error:
            unwritable = describe_unwritable_stdout(error)
            if unwritable:
                silence_stdout()
                error = UsageError(unwritable)
            self._errors.append(error)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A block that writes one output."""
        try:
            yield
        except Exception as error:
            self._errors.append(error)

    def add(self, error: HarnessError) -> None:
        """Add what could not be written before."""
        self._errors.append(error)

    @property
    def is_complete(self) -> bool:
        """Whether everything could be written so far."""
        return not self._errors

    def report_errors(self, status: int) -> int:
        """
        Print what could not be written; returns the worst of the exit *status* of the result and those of the errors.

        An error that nobody expected, as of a bug, is raised now that all else is written.
        """
        unexpected = []
        for error in self._errors:
            if isinstance(error, HarnessError):
                print_message(f"relevance: {error.text(COMMAND)}")
                status = max(status, error.exit_status)
            else:
                unexpected.append(error)
        if unexpected:
            raise unexpected[0]
        return status
