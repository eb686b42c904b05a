"""The step of GitHub Actions that a command adds its report, or its errors, to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from harness.cli.exits import COMMAND
from harness.cli.streams import print_command
from harness.errors import HarnessError, InputError, Problem
from harness.report.github_step import GitHubStep, find_github_step


def open_github_step(is_wanted: bool) -> GitHubStep | None:
    """
    The step of a GitHub Actions job that runs this command, whose log and summary a report is added to.

    Args:
        is_wanted: Whether the command has the option ``--github``; without it there is no step.

    Raises:
        UsageError: The option was given, and this is not a step of GitHub Actions.
    """
    if not is_wanted:
        return None
    return find_github_step(os.environ, option="--github", markdown="--output markdown=FILE")


@contextmanager
def report_errors_to(step: GitHubStep | None) -> Iterator[None]:
    """Report an error that ends the block to *step*, and raise it again."""
    try:
        yield
    except HarnessError as error:
        if step is not None:
            text = error.text(COMMAND)
            # An error without a place is one of the whole job.
            problems = error.problems if isinstance(error, InputError) else [Problem("", 0, 0, text)]
            for line in step.problems(problems):
                print_command(line, err=True)
            step.summarize_refusal(text)
        raise
