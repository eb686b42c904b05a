"""The suites of a command: found, and told of where they are misnamed or skipped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.errors import UsageError
from harness.report.safe_text import make_loggable
from harness.suites.discovery import FoundSuites, describe_not_followed, find_suites, format_left_out
from harness.suites.names import describe_misnamed


def find_given_suites(paths: Sequence[Path], root: Path | None) -> FoundSuites:
    """The suites of *paths*, with a warning for each misnamed file; arguments and errors are those of `find_suites`."""
    found = find_suites(paths, root)
    for path in found.misnamed:
        click.echo(make_loggable(f"relevance: warning: {describe_misnamed(path)}"), err=True)
    return found


def print_left_out(found: FoundSuites) -> None:
    """Print at the end which skipped folders hold suites."""
    if found.left_out:
        text = format_left_out(found.left_out)
        click.echo(make_loggable(f"relevance: skipped: {text}; pass a folder to read its suites"), err=True)
    if found.not_followed:
        click.echo(make_loggable(f"relevance: not followed: {describe_not_followed(found.not_followed)}"), err=True)


def find_one_suite(given_path: Path, root: Path | None) -> Path:
    """
    The suite of *given_path*, a file or a folder with a single suite; *root* and errors are those of `find_suites`.

    Raises:
        UsageError: The folder holds several suites.
    """
    suites = find_given_suites([given_path], root).suites
    if len(suites) > 1:
        raise UsageError(f"found {len(suites)} suites in {given_path}, expected one")
    return suites[0]
