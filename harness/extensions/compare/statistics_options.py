"""The options on statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from harness.cli.headings import rare_option
from harness.cli.shared_options import Decorated, add_options
from harness.model.comparison import CORRECTIONS, SEED, TESTS

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

_STATISTICS_OPTIONS = (
    rare_option(
        "--test",
        type=click.Choice(TESTS),
        default=TESTS[0],
        show_default=True,
        help="The paired test.",
    ),
    rare_option(
        "--alternative",
        type=click.Choice(["two-sided", "less", "greater"]),
        default="two-sided",
        show_default=True,
        help="less: the candidate is worse.",
    ),
    rare_option("--level", type=float, default=0.05, show_default=True, help="The significance level."),
    rare_option(
        "--correction",
        type=click.Choice(CORRECTIONS),
        default=CORRECTIONS[0],
        show_default=True,
        help="The correction of p for several measures and candidates.",
    ),
    rare_option(
        "--seed",
        type=click.IntRange(min=0),
        default=SEED,
        show_default=True,
        help="The random seed; the same seed gives the same figures.",
    ),
)


def statistics_options(command: Decorated) -> Decorated:
    """Give *command* the options on statistics."""
    return add_options(command, _STATISTICS_OPTIONS)


def read_statistics_options(**arguments: Any) -> ComparisonOptions:
    """
    The values of the options of `statistics_options`; needs numpy.

    Raises:
        UsageError: The level is invalid.
    """
    from harness.statistics.compare import ComparisonOptions

    return ComparisonOptions(**arguments)
