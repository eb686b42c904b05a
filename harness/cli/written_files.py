"""Prints which files of suites were written, and what they do not hold."""

from __future__ import annotations

import click

from harness.drafts.writing import WrittenFiles
from harness.errors import SuiteError
from harness.extensions import Remedy, find_remedy
from harness.report.safe_text import make_loggable
from harness.words import count

LEFT_OVER = 1
"""The exit status of --strict where something is not carried over."""


def print_written(migrated: WrittenFiles, *, strict: bool) -> int:
    """
    Print what was written, and on standard error what was not carried over; returns the exit status.

    Raises:
        SuiteError: `relevance validate` would refuse a suite that was written.
    """
    for path in migrated.written:
        click.echo(f"wrote {make_loggable(str(path))}")
    if migrated.leftovers:
        click.echo("not carried over:", err=True)
        for leftover in migrated.leftovers:
            click.echo(f"  {make_loggable(str(leftover))}", err=True)
        click.echo(count(len(migrated.leftovers), "thing"), err=True)
    for suite in migrated.unjudged:
        remedy = find_remedy(Remedy.GRADE, "; grade with `{command}`")
        sentence = f"{suite} has no judgments: no grade of a document was read{remedy}"
        click.echo(make_loggable(sentence), err=True)
    if migrated.problems:
        click.echo("relevance validate refuses what was written; the files stay, to be corrected by hand:", err=True)
        raise SuiteError(migrated.problems)
    return LEFT_OVER if strict and migrated.leftovers else 0
