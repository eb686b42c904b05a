"""``relevance queries``: queries for a suite from a log of searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.examples import format_examples
from harness.cli.headings import Group, rare_option
from harness.cli.results import CommandResult, print_result
from harness.cli.shared_options import existing_file, json_option
from harness.cli.terminal import print_all
from harness.cli.written_files import print_written
from harness.drafts.writing import DraftOptions, write_drafts
from harness.errors import UsageError
from harness.extensions.sampling.document import build_sample_document
from harness.extensions.sampling.drafting import draft_sample
from harness.extensions.sampling.draw import Sample, SamplePlan, Stratum, Way, draw_sample
from harness.extensions.sampling.logs import LogOptions, ReadLog, read_logs
from harness.extensions.sampling.query_files import format_queries_csv, format_queries_json_lines
from harness.extensions.sampling.tally import QueryTally
from harness.files.paths import refuse_repeated
from harness.model.suite import Json
from harness.report.output_files import write_output
from harness.report.outputs import Output
from harness.report.safe_text import make_loggable
from harness.report.terminal import print_document
from harness.waits import show_work
from harness.words import count, one_of

_WRITERS: Mapping[str, Callable[[Sample], str]] = {".csv": format_queries_csv, ".jsonl": format_queries_json_lines}
"""What writes a file of queries, by its suffix."""

SUITE_SUFFIXES = (".yaml", ".yml")


@click.group("queries", cls=Group)
def command() -> None:
    """Draw queries for a suite from a log of what users searched for."""


@command.command(
    "sample", epilog=format_examples("relevance queries sample searches.csv --size 200 --output queries.tsv")
)
@click.argument("logs", metavar="LOG…", nargs=-1, required=True, type=existing_file)
@click.option(
    "--by",
    "way",
    type=click.Choice([str(way) for way in Way]),
    default=str(Way.STRATA),
    show_default=True,
    help="frequency: the most frequent queries; random: each with the same probability; traffic: in proportion to "
    "their searches; strata: as many from the head as from the torso and the tail.",
)
@click.option(
    "--size", metavar="N", type=click.IntRange(min=1), default=60, show_default=True, help="The number of queries."
)
@click.option(
    "--seed", metavar="NUMBER", type=click.IntRange(min=0), default=1, show_default=True, help="The seed of the draw."
)
@click.option("--query-column", metavar="NAME", help="The column or key with the query; by default found by its name.")
@click.option(
    "--count-column",
    metavar="NAME",
    help="The column or key with the number of searches; by default found by its name.",
)
@click.option(
    "--zero-hits",
    is_flag=True,
    help="Draw only what found nothing, by the number of results of each search or row of the log.",
)
@rare_option(
    "--results-column",
    metavar="NAME",
    help="With --zero-hits: the column or key with the number of results; by default found by its name.",
)
@rare_option("--count-lines", is_flag=True, help="Each line is one search, whatever its columns.")
@rare_option("--keep-numbers", is_flag=True, help="Keep queries with long numbers, such as part numbers.")
@rare_option(
    "--skip-wrong-lines", is_flag=True, help="Leave out lines that cannot be read, and list the first of them."
)
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the queries (.csv, .jsonl), or a suite with them (.yaml).",
)
@click.option("--index", metavar="NAME", help="Of a suite: the index that it searches.")
@json_option
def sample(
    logs: tuple[Path, ...],
    way: str,
    size: int,
    seed: int,
    keep_numbers: bool,
    output: Path | None,
    index: str | None,
    as_json: bool,
    **columns: Any,
) -> int:
    """
    Draw queries from a log of searches.

    LOG is CSV or tab-separated with a header (.csv, .tsv), JSON lines (.jsonl, .ndjson), also with the documents of
    User Behavior Insights, or has a query on each line (.txt, .log); .gz and .zst are unpacked. Spellings that differ
    only in case, blanks or Unicode form are one query. Queries with an email address or a long number are left out. The
    same log and seed draw the same queries, whatever the order of the lines.
    """
    if way == Way.STRATA and size < len(Stratum):
        raise click.UsageError(f"--size {size} has no query for each stratum; give at least {len(Stratum)}")
    _check_output(output, index)
    log_options = _read_log_options(columns)
    refuse_repeated([str(path) for path in logs])
    tally = QueryTally(keep_numbers)
    with show_work(f"reading {count(len(logs), 'log')}"):
        read = read_logs(logs, log_options, tally)
        counted = tally.count()
    _print_wrong_lines(read)
    if not counted.queries:
        left_out = [f"{count(part.queries, 'query')} with {part.reason.value}" for part in counted.left_out]
        raise UsageError(f"no query is left to draw from: {', '.join(left_out) or 'the log has no search'}")
    drawn = draw_sample(counted.queries, SamplePlan(Way(way), size, seed))
    delivery = Delivery()
    if not as_json:
        with delivery.printing():
            print_all(print_document(build_sample_document(read, counted, drawn, lists_queries=output is None)))
    written: list[str] = []
    if output is not None and output.suffix.lower() in SUITE_SUFFIXES:
        draft = draft_sample(drawn, logs[0].name.partition(".")[0])
        drafted = write_drafts([draft], output, DraftOptions(index=index))
        written = [str(path) for path in drafted.written]
        if drafted.problems or not as_json:
            print_written(drafted)
    elif output is not None:
        write_output(Output("queries", output), _WRITERS[output.suffix.lower()](drawn), "the file of queries")
        written = [str(output)]
        if not as_json:
            click.echo(f"wrote {make_loggable(str(output))}")
    if as_json:
        with delivery.printing():
            print_result(CommandResult("queries sample", files=written, facts={"queries": _list_drawn(drawn)}))
    return delivery.report_errors(0)


def _list_drawn(sample: Sample) -> list[Json]:
    """The queries of *sample*, for programs."""
    drawn: list[Json] = []
    for drawn_query in sample.queries:
        query = drawn_query.query
        drawn.append(
            {
                "text": query.text,
                "searches": query.traffic,
                "stratum": drawn_query.stratum.value,
                "weight": drawn_query.weight,
            }
        )
    return drawn


def _check_output(output: Path | None, index: str | None) -> None:
    """Refuse a file that cannot be written, before a long log is read; a file may have tags that people added."""
    is_suite = output is not None and output.suffix.lower() in SUITE_SUFFIXES
    if index is not None and not is_suite:
        raise click.UsageError("--index belongs to a suite; give --output NAME.relevance.yaml too")
    if output is None:
        return
    suffixes = (*_WRITERS, *SUITE_SUFFIXES)
    if output.suffix.lower() not in suffixes:
        raise click.UsageError(f"--output: found {str(output)!r}, expected a file that ends in {one_of(suffixes)}")
    if output.exists():
        raise UsageError(f"{output} exists already; remove it, or name another file")


def _read_log_options(columns: Mapping[str, Any]) -> LogOptions:
    if columns["results_column"] is not None and not columns["zero_hits"]:
        raise click.UsageError("--results-column belongs to --zero-hits; give it too")
    if columns["count_lines"] and columns["count_column"] is not None:
        raise click.UsageError("--count-lines counts lines and --count-column a column; remove one of them")
    return LogOptions(
        query_column=columns["query_column"],
        count_column=columns["count_column"],
        count_lines=columns["count_lines"],
        skip_wrong=columns["skip_wrong_lines"],
        zero_hits=columns["zero_hits"],
        results_column=columns["results_column"],
    )


def _print_wrong_lines(logs: Sequence[ReadLog]) -> None:
    """Print the places of what was left out; the lines themselves may have personal data."""
    for log in logs:
        for problem in log.problems:
            click.echo(make_loggable(str(replace(problem, excerpt=""))), err=True)
        if log.wrong_lines:
            click.echo(make_loggable(f"{log.path}: {count(log.wrong_lines, 'line')} left out"), err=True)
