"""The argument SUITE, the same for every command that takes suites, and what is said of what it does not stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.report.sentences import printable

if TYPE_CHECKING:
    from harness.suites.discovery import FoundSuites


suites_argument = click.argument("suites", metavar="SUITE…", nargs=-1, required=True, type=click.Path(path_type=Path))
"""Files, and folders with suites under them, as given; `found_suites` finds the files."""


def found_suites(given: Sequence[Path]) -> FoundSuites:
    """The files that are meant, with a warning of each that is only called otherwise; raises as `find_suites`."""
    from harness.suites.discovery import find_suites, misnamed_text

    found = find_suites(given)
    for path in found.misnamed:
        click.echo(printable(f"harness: warning: {misnamed_text(path)}"), err=True)
    return found


def say_left_out(found: FoundSuites) -> None:
    """At the end, which folders were not looked into and hold suites."""
    from harness.suites.discovery import left_out_text

    if found.left_out:
        text = left_out_text(found.left_out)
        click.echo(printable(f"harness: left out: {text}; name a folder to have its suites read"), err=True)
