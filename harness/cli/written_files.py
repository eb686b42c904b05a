"""Prints which files of suites were written, and what they do not hold."""

from __future__ import annotations

from dataclasses import asdict

import click

from harness.cli.results import CommandResult, print_result
from harness.drafts.writing import WrittenFiles
from harness.errors import SuiteError
from harness.extensions import Remedy, find_remedy
from harness.model.suite import Json
from harness.report.safe_text import make_loggable
from harness.words import count

LEFT_OVER = 1
"""The exit status of --strict where something is not carried over."""


def print_written(migrated: WrittenFiles, *, strict: bool = False, command: str = "") -> int:
    """
    Print what was written, and on standard error what was not carried over; returns the exit status.

    With the name of a *command* it is printed as the JSON of that command's result.

    Raises:
        SuiteError: `relevance validate` would refuse a suite that was written.
    """
    status = LEFT_OVER if strict and migrated.leftovers else 0
    if command and not migrated.problems:
        return print_result(_describe_written(migrated, command, status))
    for path in migrated.written:
        click.echo(f"wrote {make_loggable(str(path))}")
    for changes in migrated.changes:
        click.echo(make_loggable(str(changes)))
    if migrated.leftovers:
        click.echo("not carried over:", err=True)
        for leftover in migrated.leftovers:
            click.echo(f"  {make_loggable(str(leftover))}", err=True)
        click.echo(count(len(migrated.leftovers), "thing"), err=True)
    for sentence in _list_unjudged(migrated):
        click.echo(make_loggable(sentence), err=True)
    if migrated.problems:
        click.echo("relevance validate refuses what was written; the files stay, to be corrected by hand:", err=True)
        raise SuiteError(migrated.problems)
    return status


def _list_unjudged(migrated: WrittenFiles) -> list[str]:
    """A sentence for each suite that was written without judgments."""
    remedy = find_remedy(Remedy.GRADE, "; grade with `{command}`")
    return [f"{suite} has no judgments: no grade of a document was read{remedy}" for suite in migrated.unjudged]


def _describe_written(migrated: WrittenFiles, command: str, status: int) -> CommandResult:
    """The result of *command*, which wrote files."""
    leftovers: list[Json] = []
    for leftover in migrated.leftovers:
        place = leftover.place
        leftovers.append(
            {
                "file": place.path,
                "line": place.line,
                "what": leftover.what,
                "count": leftover.count,
                "first": leftover.first,
            }
        )
    files = [str(path) for path in migrated.written]
    facts: dict[str, Json] = {"not_carried_over": leftovers}
    if migrated.changes:
        facts["changes"] = [asdict(changes) for changes in migrated.changes]
    return CommandResult(command, status, files, facts, _list_unjudged(migrated))
