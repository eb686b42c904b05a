"""``harness significance``: do runs differ by more than chance."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from harness.cli.file_options import existing_file, file_options, read_options
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.comparison import ComparisonOptions

NEEDED = ("numpy", "scipy")


@click.command("significance")
@click.argument("reference", type=existing_file)
@click.argument("candidates", metavar="CANDIDATE…", nargs=-1, required=True, type=existing_file)
@file_options
@click.option("--test", default="sign-flip", show_default=True, help="sign-flip, t, wilcoxon or sign.")
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "less", "greater"]),
    default="two-sided",
    show_default=True,
    help="less asks whether the candidate is worse.",
)
@click.option("--level", type=float, default=0.05, show_default=True, help="What p is compared with.")
@click.option("--correction", default="holm", show_default=True, help="holm, benjamini-hochberg or none.")
@click.option("--samples", type=click.IntRange(min=1), help="Bootstrap samples, and sampled sign flips.")
@click.option("--seed", type=click.IntRange(min=0), help="Of what is drawn; the same seed gives the same figures.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on standard output.")
def command(
    reference: Path,
    candidates: tuple[Path, ...],
    qrels: Path,
    measures: tuple[str, ...],
    profile: str,
    gain: str | None,
    complete: bool,
    test: str,
    alternative: Literal["two-sided", "less", "greater"],
    level: float,
    correction: str,
    samples: int | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """
    Tell whether each CANDIDATE run differs from the REFERENCE run by more than chance.

    Both are scored against the same judgments, and compared query by query: the difference of the means with a
    bootstrap interval, a paired test, p-values corrected for all measures and candidates, and the smallest difference
    that so many queries could have shown. Files are as for evaluate.
    """
    _require_extra()
    from harness.offline import compare_files

    how = _comparison_options(test, alternative, level, correction, samples, seed)
    options = read_options(measures, profile, gain, complete)
    comparisons = compare_files(qrels, reference, candidates, options, how)
    if as_json:
        from harness.report.comparison_json import comparisons_json

        click.echo(comparisons_json(profile, comparisons))
        return
    from harness.cli.console import show
    from harness.report.comparison_text import comparison_renderables

    for comparison in comparisons:
        show(comparison_renderables(comparison))


def _comparison_options(
    test: str,
    alternative: Literal["two-sided", "less", "greater"],
    level: float,
    correction: str,
    samples: int | None,
    seed: int | None,
) -> ComparisonOptions:
    from harness.comparison import ComparisonOptions
    from harness.statistics.differences import DEFAULT_SAMPLES, DEFAULT_SEED

    return ComparisonOptions(
        test=test,
        alternative=alternative,
        level=level,
        correction=correction,
        samples=DEFAULT_SAMPLES if samples is None else samples,
        seed=DEFAULT_SEED if seed is None else seed,
    )


def _require_extra() -> None:
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        raise UsageError(
            f"{' and '.join(absent)} not installed: pip install 'relevance-harness[statistics]' brings what is needed"
        )
