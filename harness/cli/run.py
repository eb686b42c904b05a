"""``harness run``: suites in, a report out, and the exit status that a pipeline gates on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from harness.cli.exits import NO_ANSWER, reader_may_leave
from harness.cli.options import (
    DECIDING,
    Command,
    OutputType,
    cell_options,
    engine_options,
    errors_reported_to,
    found_suites,
    github_option,
    given_to,
    only_run_options,
    outdated_removed,
    run_options,
    say_left_out,
    step_of_github,
    suites_argument,
)
from harness.cli.scheduler import run_on_scheduler
from harness.cli.terminal import run_progress, show
from harness.model import Ranking, Report
from harness.options import RunOptions
from harness.report.github_step import GitHubStep, unheeded
from harness.report.json import parts_of_report
from harness.report.outputs import KINDS, Output, shows_all_hits, write_report
from harness.report.sentences import printable
from harness.report.terminal.run import report_renderables
from harness.run import Matrix, Runner, run_suites
from harness.run.journal import Journal
from harness.run.merging import MergedJournal
from harness.suites.inputs import RunInputs
from harness.words import count, one_of


def run_choices(
    *, requests: tuple[str, ...], indexes: tuple[str, ...], all_requests: bool, **others: Any
) -> tuple[RunOptions, Matrix]:
    """
    The options of all cells, and the matrix of cells; raises as `run_options`.

    Raises:
        click.UsageError: The options contradict each other.
    """
    if all_requests and requests:
        raise click.UsageError("--all-requests sends every request; remove --request")
    return run_options(**others), Matrix(requests, indexes, all_requests)


def report_options(command: Command) -> Command:
    """Give *command* the options that say where its report goes."""
    as_json = "Print the report as JSON and nothing else on standard output."
    kinds = f"Write a report of a kind: {one_of(KINDS)}; may be repeated."
    quiet = "Print only thresholds that fail or pass unexpectedly, and no progress."
    options = (
        click.option("--json", "as_json", is_flag=True, help=as_json),
        click.option("--output", "outputs", multiple=True, type=OutputType(), help=kinds),
        github_option,
        click.option("--quiet", "-q", is_flag=True, help=quiet),
    )
    return given_to(command, options)


@click.command("run")
@suites_argument
@engine_options
@cell_options
@only_run_options
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Send the queries from the workers of this Dask cluster, such as tcp://10.0.0.1:8786.",
)
@report_options
def command(
    suites: Sequence[Path],
    scheduler: str | None,
    as_json: bool,
    outputs: tuple[Output, ...],
    github: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """
    Run suites against an engine and report the results.

    SUITE is a file, or a folder: then all *.relevance.yaml under it. Without --url or --embedded, each suite runs on
    the cluster that it names. With several requests or indexes each suite runs with all of them, and a table puts them
    beside each other. The exit status is 0 where every threshold holds, 1 where one does not, 2 where a suite
    or the command line is wrong, 3 where the engine could not answer.
    """
    step = step_of_github(github)
    with errors_reported_to(step):
        is_kept = any(one is not None for one in (scheduler, given["shard"], given["journal"]))  # for any report later
        options, matrix = run_choices(**given, all_titles=is_kept or as_json or shows_all_hits(outputs))
        check_outputs(options, outputs)
        if scheduler is not None and (options.shard or options.journal or options.resume):
            raise click.UsageError("--scheduler makes parts of its own; remove --shard, --journal and --resume")
        if options.repeat is not None and (scheduler or options.shard):
            raise click.UsageError("a part of the queries is sent once; remove --repeat")
        if options.shard is not None:
            _check_part(options, is_reported=bool(outputs or as_json or github))
        found = found_suites(suites, options.root)
        named = [] if options.journal is None else [options.journal]
        with outdated_removed(outputs, RunInputs(found.suites, options, os.environ, named)):
            journal = None if scheduler is not None else _journal(options, outputs)
            if options.shard is not None and journal is not None:
                return _run_part(found.suites, options, matrix, journal, quiet=quiet)
            answers: Journal | MergedJournal | None = journal
            if scheduler is not None:
                tell = (lambda _: None) if quiet else _tell
                answers = MergedJournal(run_on_scheduler(scheduler, found.suites, options, matrix, tell))
            with run_progress(quiet=quiet or scheduler is not None) as progress:
                report = run_suites(
                    found.suites, options, environ=os.environ, progress=progress, matrix=matrix, journal=answers
                )
    status = give_report(report, step, outputs, as_json=as_json, quiet=quiet)
    if journal is not None:
        journal.finish(is_complete=not any(suite.unanswered for suite in report.suites))
    if not quiet:
        say_left_out(found)
    return status


def check_outputs(options: RunOptions, outputs: Sequence[Output]) -> None:
    """
    Refuse outputs that contradict the options.

    Raises:
        click.UsageError: nothing is decided, and an output lists what does not hold.
    """
    if options.report_only and any(output.kind == "codequality" for output in outputs):
        raise click.UsageError("--report-only decides nothing, so there is no codequality report; remove one of them")


def give_report(
    report: Report,
    step: GitHubStep | None,
    outputs: Sequence[Output],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Print *report* and write it to *outputs*; returns the exit status."""
    _print_report(report, step, as_json=as_json, quiet=quiet)
    if step is not None:
        step.summarize(report)
    for output in outputs:
        write_report(report, output)
    for output in () if quiet else outputs:
        click.echo(f"wrote {output.path}", err=True)
    if report.undecided:
        click.echo(f"harness: nothing was decided: {report.undecided}", err=True)
    return report.exit_status


def _check_part(options: RunOptions, *, is_reported: bool) -> None:
    """Refuse options that a part of the queries cannot have, such as reports, and a part without a journal."""
    if options.journal is None:
        raise click.UsageError("--shard needs --journal FILE, for `harness merge` to read")
    if is_reported or any(getattr(options, name) for name in DECIDING):
        raise click.UsageError(
            "--shard decides nothing: give --output, --json, --github, --baseline, --strict-xfail and --report-only"
            " to `harness merge`"
        )


def _run_part(suites: Sequence[Path], options: RunOptions, matrix: Matrix, journal: Journal, *, quiet: bool) -> int:
    """Send a part of the queries, and print how many were answered; returns 0 if all were, else 3."""
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress, journal) as runner:
        runs = [one.run for one in runner.answer_files(suites, options, matrix=matrix)]
    responses = [response for run in runs for response in run.responses.values()]
    answered = sum(isinstance(response, Ranking) for response in responses)
    journal.finish(is_complete=answered == len(responses))
    click.echo(
        f"part {options.shard}: {answered:,} of {count(len(responses), 'query')} answered, nothing was decided;"
        f" `harness merge` reads {printable(str(options.journal))}"
    )
    return 0 if answered == len(responses) else NO_ANSWER


def _journal(options: RunOptions, outputs: Sequence[Output]) -> Journal | None:
    """The journal of the option, or one beside the first report; None without a report file."""
    files = [output.path for output in outputs if output.path.is_file() or not output.path.exists()]
    beside = files[0].with_name(f"{files[0].name}.journal") if files else None
    path = options.journal or beside
    if path is None:
        if options.resume:
            _tell("starting anew: without --journal and --output no run leaves a journal")
        return None
    return Journal(path, resume=options.resume, is_kept=options.journal is not None, tell=_tell)


def _tell(line: str) -> None:
    click.echo(printable(f"harness: {line}"), err=True)


def _print_report(report: Report, step: GitHubStep | None, *, as_json: bool, quiet: bool) -> None:
    with reader_may_leave():
        if as_json:
            for part in parts_of_report(report):
                click.echo(part, nl=False)
        else:
            with nullcontext() if step is None else unheeded(click.echo):
                show(report_renderables(report, quiet=quiet))
        for line in () if step is None else step.annotations(report):
            click.echo(line, err=as_json)
