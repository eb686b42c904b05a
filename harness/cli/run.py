"""``harness run``: suites in, a report out, and the exit status that a pipeline gates on."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.exits import silence_stdout
from harness.cli.outputs import Output, OutputType, write_outputs
from harness.cli.suite_paths import suites_argument

if TYPE_CHECKING:
    from harness.model import Report
    from harness.pipeline import RunOptions


@click.command("run")
@suites_argument
@click.option("--url", metavar="URL", help="Run on this server instead of the suites' own clusters.")
@click.option("--embedded", is_flag=True, help="Run on an OpenSearch node that is started for this run.")
@click.option("--engine-version", metavar="VERSION", help="The embedded node's version, such as 3.8 or 2.19.")
@click.option("--request", metavar="NAME", help="Send this one of the suites' named requests.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Run only queries with this tag; may be repeated.")
@click.option("--allow-write", is_flag=True, help="Let suites build the index that their fixture describes.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON, and nothing else, on standard output.")
@click.option(
    "--output",
    "outputs",
    multiple=True,
    type=OutputType(),
    help="Write a report: html=FILE or json=FILE; may be repeated.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only thresholds that do not hold, and no progress.")
def command(
    suites: Sequence[Path],
    url: str | None,
    embedded: bool,
    engine_version: str | None,
    request: str | None,
    tags: tuple[str, ...],
    allow_write: bool,
    as_json: bool,
    outputs: tuple[Output, ...],
    quiet: bool,
) -> int:
    """
    Run suites against an engine and report how they came out.

    SUITE is a file, or a folder: then all *.relevance.yaml under it. Without --url or --embedded, each suite runs on
    the cluster that it names. The exit status is 0 where every threshold holds, 1 where one does not, 2 where a suite
    or the command line is wrong, 3 where the engine could not answer.
    """
    if url and embedded:
        raise click.UsageError("--url and --embedded name two engines; give one of them")
    if engine_version and not embedded:
        raise click.UsageError("--engine-version chooses the version of the embedded engine; give --embedded too")
    from harness.pipeline import RunOptions

    options = RunOptions(
        url=url, embedded=embedded, engine_version=engine_version, request=request, tags=tags, allow_write=allow_write
    )
    report = _run(suites, options, quiet=quiet)
    _print_report(report, as_json=as_json, quiet=quiet)
    write_outputs(report, outputs)
    for output in () if quiet else outputs:
        click.echo(f"wrote {output.path}", err=True)
    return report.exit_status


def _run(suites: Sequence[Path], options: RunOptions, *, quiet: bool) -> Report:
    from harness.cli.progress import run_progress
    from harness.pipeline import run_suites

    with run_progress(quiet=quiet) as progress:
        return run_suites(suites, options, environ=os.environ, progress=progress)


def _print_report(report: Report, *, as_json: bool, quiet: bool) -> None:
    """A reader that leaves early, as ``head`` does, changes neither the files that are written nor the exit status."""
    try:
        if as_json:
            from harness.report.json import dumps

            click.echo(dumps(report), nl=False)
        else:
            from harness.cli.console import show
            from harness.report.terminal import report_renderables

            show(report_renderables(report, quiet=quiet))
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
