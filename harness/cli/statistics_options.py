"""The options that say how a difference between runs is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from harness.statistics.compare import ComparisonOptions

__all__ = ["CORRECTIONS", "SAMPLES", "SEED", "TESTS", "statistics_options", "tested_as"]


# As `harness.statistics.compare` and `harness.statistics` have them, which need numpy: the help has to come without it.
TESTS = ("sign-flip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "benjamini-hochberg", "none")
SAMPLES = 10_000
SEED = 20_020_101

_STATISTICS_OPTIONS = (
    click.option(
        "--test",
        type=click.Choice(TESTS),
        default=TESTS[0],
        show_default=True,
        help="How p is found, of paired scores.",
    ),
    click.option(
        "--alternative",
        type=click.Choice(["two-sided", "less", "greater"]),
        default="two-sided",
        show_default=True,
        help="less asks whether the candidate is worse.",
    ),
    click.option("--level", type=float, default=0.05, show_default=True, help="What p is compared with."),
    click.option(
        "--correction",
        type=click.Choice(CORRECTIONS),
        default=CORRECTIONS[0],
        show_default=True,
        help="Of p, for all measures and candidates.",
    ),
    click.option(
        "--samples",
        type=click.IntRange(min=1),
        default=SAMPLES,
        show_default=True,
        help="Bootstrap samples, and sampled sign flips.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=SEED,
        show_default=True,
        help="Of what is drawn; the same seed gives the same figures.",
    ),
)


def statistics_options(command: Command) -> Command:
    """Give *command* the options."""
    for option in reversed(_STATISTICS_OPTIONS):
        command = option(command)
    return command


def tested_as(
    *,
    test: str,
    alternative: Literal["two-sided", "less", "greater"],
    level: float,
    correction: str,
    samples: int,
    seed: int,
) -> ComparisonOptions:
    """
    What was asked for; needs numpy.

    Raises:
        UsageError: The level is none.
    """
    from harness.statistics.compare import ComparisonOptions

    return ComparisonOptions(
        test=test, alternative=alternative, level=level, correction=correction, samples=samples, seed=seed
    )
