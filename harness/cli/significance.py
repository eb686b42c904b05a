"""``harness significance``: do runs differ by more than chance."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click

from harness.cli.file_options import existing_file, file_options, read_options
from harness.errors import UsageError

NEEDED = ("numpy", "scipy")

# As `harness.comparison` and `harness.statistics` have them, which need numpy: the help has to come without it.
TESTS = ("sign-flip", "t", "wilcoxon", "sign")
CORRECTIONS = ("holm", "benjamini-hochberg", "none")
SAMPLES = 10_000
SEED = 20_020_101


@click.command("significance")
@click.argument("reference", type=existing_file)
@click.argument("candidates", metavar="CANDIDATE…", nargs=-1, required=True, type=existing_file)
@file_options
@click.option(
    "--test", type=click.Choice(TESTS), default=TESTS[0], show_default=True, help="How p is found, of paired scores."
)
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "less", "greater"]),
    default="two-sided",
    show_default=True,
    help="less asks whether the candidate is worse.",
)
@click.option("--level", type=float, default=0.05, show_default=True, help="What p is compared with.")
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default=CORRECTIONS[0],
    show_default=True,
    help="Of p, for all measures and candidates.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=SAMPLES,
    show_default=True,
    help="Bootstrap samples, and sampled sign flips.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=SEED,
    show_default=True,
    help="Of what is drawn; the same seed gives the same figures.",
)
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
    samples: int,
    seed: int,
    as_json: bool,
) -> None:
    """
    Tell whether each CANDIDATE run differs from the REFERENCE run by more than chance.

    Both are scored against the same judgments, and compared query by query: the difference of the means with a
    bootstrap interval, a paired test, p-values corrected for all measures and candidates, and the smallest difference
    that so many queries could have shown. Files are as for evaluate.

    Nothing is decided: the exit status is 0 whatever is found, and 2 where a file or an option is wrong.
    """
    _require_extra()
    from harness.comparison import ComparisonOptions
    from harness.offline import compare_files

    how = ComparisonOptions(
        test=test, alternative=alternative, level=level, correction=correction, samples=samples, seed=seed
    )
    options = read_options(measures, profile, gain, complete)
    comparisons = compare_files(qrels, reference, candidates, options, how)
    if as_json:
        from harness.report.significance_json import comparisons_json

        click.echo(comparisons_json(profile, comparisons))
        return
    from harness.cli.console import show
    from harness.report.comparison_text import comparison_renderables

    for comparison in comparisons:
        show(comparison_renderables(comparison, complete=complete))


def _require_extra() -> None:
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        raise UsageError(
            f"{' and '.join(absent)} not installed: pip install 'relevance-harness[statistics]' brings what is needed"
        )
