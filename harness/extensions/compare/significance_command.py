"""``relevance significance``: do runs differ by more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.evaluate import file_options, read_options
from harness.cli.examples import format_examples
from harness.cli.shared_options import existing_file, json_option, read_statistics_options, statistics_options
from harness.cli.terminal import show
from harness.extensions.compare import compare_files
from harness.extensions.compare.scores import require_packages
from harness.report.json import dump_comparisons
from harness.report.terminal.comparison import print_comparison


@click.command(
    "significance",
    epilog=format_examples("relevance significance before.trec after.trec --qrels products.qrels --measure nDCG@10"),
)
@click.argument("reference", type=existing_file)
@click.argument("candidates", metavar="CANDIDATE…", nargs=-1, required=True, type=existing_file)
@file_options
@statistics_options
@json_option
def command(
    reference: Path,
    candidates: tuple[Path, ...],
    qrels: Path,
    measures: tuple[str, ...],
    profile: str,
    gain: str | None,
    complete: bool,
    remove_query: bool,
    as_json: bool,
    **arguments: Any,
) -> None:
    """
    Tell whether each CANDIDATE run differs from the REFERENCE run by more than chance.

    Both are scored against the same judgments, and compared query by query: the difference of the means, a
    paired test with the interval of the differences that it does not reject, p-values corrected for all measures and
    candidates, and the smallest difference that the test finds with 80 % power on average. Files are as for evaluate.

    Nothing is decided: the exit status is 0 whatever is found, and 2 if a file or an option is wrong.
    """
    require_packages()
    how = read_statistics_options(**arguments)
    options = read_options(measures, profile, gain, complete, remove_query)
    comparisons = compare_files(qrels, reference, candidates, options, how)
    if as_json:
        click.echo(dump_comparisons(profile, comparisons))
        return
    for comparison in comparisons:
        show(print_comparison(comparison, complete=complete))
