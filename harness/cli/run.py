"""``relevance run``: suites in, a report out, and the exit status that a pipeline gates on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.examples import format_examples
from harness.cli.headings import Command
from harness.cli.shared_options import (
    Decorated,
    OutputType,
    add_options,
    cell_options,
    engine_options,
    github_option,
    only_run_options,
    suites_argument,
)
from harness.report.outputs import OUTPUT_KINDS, Output
from harness.words import one_of


def report_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where its report goes."""
    as_json = "Print the report as JSON and nothing else on standard output."
    kinds = f"Write a report of a kind: {one_of(OUTPUT_KINDS)}; may be repeated."
    quiet = "Print the last line, and what failed or passed unexpectedly, in at most 12 lines, and no progress."
    options = (
        click.option("--json", "as_json", is_flag=True, help=as_json),
        click.option("--output", "outputs", multiple=True, type=OutputType(), help=kinds),
        github_option,
        click.option("--quiet", "-q", is_flag=True, help=quiet),
    )
    return add_options(command, options)


@click.command(
    "run",
    cls=Command,
    epilog=format_examples(
        "relevance run suites/ --embedded --allow-write",
        "relevance run suites/products.relevance.yaml --url http://localhost:9200 --output html=report.html",
    ),
)
@suites_argument
@engine_options
@cell_options
@report_options
@only_run_options
def command(
    suites: Sequence[Path],
    as_json: bool,
    outputs: tuple[Output, ...],
    github: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """
    Run suites against an engine and report the results.

    SUITE is a file, or a folder: then all *.relevance.yaml under it. Without --url or --embedded, each suite runs on
    the cluster that it names. With several requests or indexes each suite runs with all of them, and a table puts them
    beside each other. The exit status is 0 if every threshold holds, 1 if one does not, 2 if a suite
    or the command line is wrong, 3 if the engine could not answer.
    """
    from harness.cli.running import run_and_report

    return run_and_report(suites, outputs, as_json=as_json, github=github, quiet=quiet, **arguments)
