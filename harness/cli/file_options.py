"""The options of the commands that score files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.model import Profile

if TYPE_CHECKING:
    from harness.files.scored_runs import FileOptions


existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)


def file_options(function: Command) -> Command:
    """Give a command ``--qrels``, ``--measure``, ``--profile``, ``--gain`` and ``--complete``."""
    options = (
        click.option("--qrels", required=True, metavar="FILE", type=existing_file, help="The judgments."),
        click.option(
            "--measure",
            "measures",
            required=True,
            multiple=True,
            metavar="MEASURE",
            help="Such as nDCG@10; may be repeated.",
        ),
        click.option(
            "--profile",
            type=click.Choice([str(profile) for profile in Profile]),
            default=str(Profile.STANDARD),
            show_default=True,
            help="Whose numbers to reproduce.",
        ),
        click.option(
            "--gain", metavar="GAIN", help="exponential, linear, or a map of grades such as {0: 0, 1: 1, 2: 5}."
        ),
        click.option(
            "--complete", is_flag=True, help="Count a judged query that is not in the run as one without hits."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def read_options(measures: tuple[str, ...], profile: str, gain: str | None, complete: bool) -> FileOptions:
    """
    What the options ask for.

    Raises:
        UsageError: a measure or the gain is none.
    """
    from harness.files.scored_runs import FileOptions, read_measures
    from harness.metrics import read_gain

    return FileOptions(
        read_measures(measures), Profile(profile), None if gain is None else read_gain(gain), complete=complete
    )
