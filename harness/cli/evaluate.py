"""``harness evaluate``: scores from files, without an engine."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import Command, existing_file, given_to
from harness.cli.terminal import show
from harness.files.scored_runs import FileOptions, evaluate_files, gains_in_force, read_measures
from harness.metrics import read_gain
from harness.metrics.evaluate import Evaluation
from harness.model import Profile
from harness.report.json import scores_json
from harness.report.run_sentences import left_out_lines
from harness.report.terminal.others import score_renderables


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
            help="The system whose scores are reproduced.",
        ),
        click.option(
            "--gain", metavar="GAIN", help="exponential, linear, or a map of grades such as {0: 0, 1: 1, 2: 5}."
        ),
        click.option(
            "--complete", is_flag=True, help="Count a judged query that is not in the run as a query without hits."
        ),
    )
    return given_to(function, options)


def read_options(measures: tuple[str, ...], profile: str, gain: str | None, complete: bool) -> FileOptions:
    """
    What the options ask for.

    Raises:
        UsageError: a measure or the gain is none.
    """
    return FileOptions(
        read_measures(measures), Profile(profile), None if gain is None else read_gain(gain), complete=complete
    )


@click.command("evaluate")
@file_options
@click.option("--run", required=True, metavar="FILE", type=existing_file, help="The run to score.")
@click.option("--per-query", is_flag=True, help="Print the scores of every query; the JSON always has them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on standard output.")
def command(
    qrels: Path,
    run: Path,
    measures: tuple[str, ...],
    profile: str,
    gain: str | None,
    complete: bool,
    per_query: bool,
    as_json: bool,
) -> None:
    """
    Score a run file against a judgment file.

    Files are TREC qrels and runs, or .csv, .jsonl and .parquet with columns query, document and grade or score; .gz and
    .zst are unpacked. Documents rank by their score; the order of the lines and the rank column do not count. A file
    that is wrong ends with exit status 2 and all its problems.
    """
    options = read_options(measures, profile, gain, complete)
    evaluation = evaluate_files(qrels, run, options)
    for line in left_out_lines(evaluation, complete=complete):
        click.echo(line, err=True)
    if as_json:
        click.echo(scores_json(evaluation, options.measures, complete=complete))
    else:
        _print_table(evaluation, options, per_query=per_query)


def _print_table(evaluation: Evaluation, options: FileOptions, *, per_query: bool) -> None:
    show(score_renderables(evaluation, options.measures, gains_in_force(options), per_query=per_query))
