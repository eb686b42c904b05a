"""The option ``--github``, and what is said to GitHub's runner where it is given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from harness.errors import HarnessError
from harness.report.github_step import GitHubStep, github_step

__all__ = ["asked_step", "github_option", "refusals_told"]


NAME = "--github"

github_option = click.option(
    NAME,
    "github",
    is_flag=True,
    help="In a step of GitHub Actions: annotate the lines of suites, and add to the job's summary.",
)


def asked_step(github: bool) -> GitHubStep | None:
    """
    The step to tell; None where the option was not given.

    Raises:
        UsageError: this is no step of GitHub Actions.
    """
    return github_step(os.environ, option=NAME) if github else None


@contextmanager
def refusals_told(step: GitHubStep | None) -> Iterator[None]:
    """Tell *step* of an error that ends what is done meanwhile; the error goes on as it would."""
    try:
        yield
    except HarnessError as error:
        if step is not None:
            for line in step.refusal(error):
                click.echo(line, err=True)
            step.summarise_refusal(str(error))
        raise
