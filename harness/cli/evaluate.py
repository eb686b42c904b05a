"""``relevance evaluate``: scores from files, without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command, rare_option
from harness.cli.shared_options import json_option
from harness.cli.terminal import print_all
from harness.errors import UsageError
from harness.files.partitions import join_evaluations, list_partitions
from harness.files.query_ids import check_common_queries
from harness.files.runs import FileOptions, evaluate_files, list_gains, read_measures
from harness.metrics import read_gain
from harness.metrics.evaluate import RunScores
from harness.model.suite import Profile
from harness.report.json import dump_scores
from harness.report.run_sentences import describe_uncounted
from harness.report.scores_document import build_scores_document
from harness.report.terminal import print_document
from harness.waits import show_work

existing = click.Path(exists=True, path_type=Path)


@click.command(
    "evaluate",
    cls=Command,
    epilog=format_examples("relevance evaluate --qrels products.qrels --run run.trec --measure nDCG@10 --measure RR"),
)
@click.option("--qrels", required=True, metavar="FILE", type=existing, help="The judgments.")
@click.option(
    "--measure", "measures", required=True, multiple=True, metavar="MEASURE", help="Such as nDCG@10; may be repeated."
)
@rare_option(
    "--profile",
    type=click.Choice([str(profile) for profile in Profile]),
    default=str(Profile.STANDARD),
    show_default=True,
    help="The system whose scores are reproduced.",
)
@rare_option("--gain", metavar="GAIN", help="exponential, linear, or a map of grades such as {0: 0, 1: 1, 2: 5}.")
@rare_option("--complete", is_flag=True, help="Count a judged query that is not in the run as a query without hits.")
@rare_option(
    "--remove-query",
    is_flag=True,
    help="Remove the document with the id of its query from each ranking, as BEIR does.",
)
@click.option(
    "--run", required=True, metavar="FILE", type=existing, help="The run to score, or a folder of its Parquet files."
)
@click.option("--per-query", is_flag=True, help="Print the scores of every query; the JSON always has them.")
@json_option
def command(qrels: Path, run: Path, per_query: bool, as_json: bool, **choices: Any) -> None:
    """
    Score the run file of any system against a judgment file, where no engine is to be asked.

    Files are TREC qrels and runs, or .csv, .jsonl and .parquet with columns query, document and grade or score; .gz and
    .zst are unpacked. Documents rank by their score; the order of the lines and the rank column do not count. A file
    that is wrong ends with exit status 2 and all its problems, and so does a run of which no query is judged. A folder
    holds a run in Parquet files, each query whole in one of them; its judgments are in one file, or in a folder of
    files with the same names.
    """
    options = make_file_options(**choices)
    with show_work("scoring"):
        evaluation = _score(qrels, run, options)
    print_evaluation(evaluation, options, qrels, run, per_query=per_query, as_json=as_json)


def make_file_options(
    *, measures: tuple[str, ...], profile: str, gain: str | None, complete: bool, remove_query: bool
) -> FileOptions:
    """How files are scored, from the arguments of the command."""
    parsed_gain = None
    if gain is not None:
        parsed_gain = read_gain(gain)
    return FileOptions(read_measures(measures), Profile(profile), parsed_gain, complete, remove_query)


def _score(qrels: Path, run: Path, options: FileOptions) -> RunScores:
    """
    The scores of a file, or of all files of a folder.

    Raises:
        UsageError: *run* must be a folder and is not, or a query is in several files.
    """
    if not run.is_dir():
        if qrels.is_dir():
            raise UsageError(f"{run} is a file, expected a folder of Parquet files, as for --qrels FOLDER")
        return evaluate_files(qrels, run, options)
    parts = list_partitions(qrels, run)
    # One file of judgments for all parts is read once.
    scorers = {part.judgments: options.make_scorer(part.judgments) for part in parts}
    return join_evaluations(parts, [scorers[part.judgments].score(part.run) for part in parts])


def print_evaluation(
    evaluation: RunScores, options: FileOptions, qrels: Path, run: Path, *, per_query: bool, as_json: bool
) -> None:
    """Print *evaluation*, and on standard error what it leaves out."""
    complete = options.complete
    check_common_queries(evaluation.run_queries, evaluation.judged_queries, qrels, str(run), complete=complete)
    for line in describe_uncounted(evaluation, complete=complete):
        click.echo(line, err=True)
    if as_json:
        click.echo(dump_scores(evaluation, options.measures, complete=complete))
    else:
        document = build_scores_document(evaluation, options.measures, list_gains(options), per_query=per_query)
        print_all(print_document(document))
