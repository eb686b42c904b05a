"""What ``relevance run`` does with --shard or --scheduler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.delivery import Delivery
from harness.cli.earlier_reports import remove_outdated_on_error
from harness.cli.exits import NO_ANSWER
from harness.cli.found_suites import find_given_suites, print_left_out
from harness.cli.github import open_github_step, report_errors_to
from harness.cli.running import check_outputs, deliver_report, make_run_choices, print_note
from harness.cli.terminal import run_progress
from harness.errors import UsageError
from harness.extensions.distributed.merging import MergedJournal
from harness.extensions.distributed.scheduler import send_on_scheduler
from harness.model.report import Report
from harness.model.run import Ranking, Response
from harness.options import DECIDING_OPTIONS, RunOptions, Shard
from harness.report.output_files import refuse_inputs
from harness.report.outputs import Output
from harness.report.safe_text import make_loggable
from harness.run import Matrix, Runner, run_suites
from harness.store.journal import Journal
from harness.suites.inputs import RunInputs
from harness.words import count


def command(
    suites: Sequence[Path],
    shard: str | None,
    scheduler: str | None,
    as_json: bool,
    outputs: tuple[Output, ...],
    github: bool,
    quiet: bool,
    **arguments: Any,
) -> int:
    """Send a part of the queries, or all of them from the workers of a scheduler."""
    step = open_github_step(github)
    with report_errors_to(step):
        # What is in a journal may be merged into a report of any kind.
        options, matrix = make_run_choices(**arguments, shard=_read_shard(shard), all_titles=True)
        check_outputs(options, outputs)
        _check_options(options, scheduler, has_report=bool(outputs or as_json or github))
        found = find_given_suites(suites, options.root)
        inputs = RunInputs(found.suites, options, os.environ)
        if scheduler is None:
            return _send_part(inputs, matrix, quiet=quiet)
        with remove_outdated_on_error(outputs, inputs):
            report = _run_on_workers(scheduler, inputs, matrix, quiet=quiet)
    delivery = Delivery()
    deliver_report(report, delivery, step, outputs, as_json=as_json, quiet=quiet)
    if not quiet:
        print_left_out(found)
    return delivery.report_errors(report.exit_status)


def _read_shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    try:
        return Shard.read(text)
    except UsageError as error:
        raise click.BadParameter(str(error), param_hint="'--shard'") from None


def _check_options(options: RunOptions, scheduler: str | None, *, has_report: bool) -> None:
    """Refuse options that a run in parts cannot have, and a part without a journal."""
    if scheduler is not None and (options.shard or options.journal or options.resume):
        raise click.UsageError("--scheduler makes parts of its own; remove --shard, --journal and --resume")
    if options.repeat is not None:
        raise click.UsageError("a part of the queries is sent once; remove --repeat")
    if options.shard is None:
        return
    if options.journal is None:
        raise click.UsageError("--shard needs --journal FILE, for `relevance merge` to read")
    if has_report or any(getattr(options, name) for name in DECIDING_OPTIONS):
        raise click.UsageError(
            "--shard decides nothing: give --output, --json, --github, --baseline, --history, --strict-xfail and"
            " --report-only to `relevance merge`"
        )


def _send_part(inputs: RunInputs, matrix: Matrix, *, quiet: bool) -> int:
    """Send a part of the queries, and print how many were answered; returns 0 if all were, else 3."""
    options = inputs.options
    assert options.journal is not None, "a part without a journal was refused"
    assert options.shard is not None, "only a part is sent so"
    refuse_inputs([Output("journal", options.journal, f"--journal {options.journal}")], inputs)
    journal = Journal(options.journal, resume=options.resume, is_kept=True, tell=print_note)
    journal.refuse_other_part(inputs.suites, options.shard)
    with run_progress(quiet=quiet) as progress, Runner(os.environ, progress, journal) as runner:
        cells = runner.answer_files(inputs.suites, options, matrix=matrix, whole=True)
    responses: list[Response] = []
    for cell in cells:
        for run in (cell.run, *cell.run.others.values()):
            responses += run.responses.values()
    answered = sum(isinstance(response, Ranking) for response in responses)
    is_complete = answered == len(responses)
    journal.finish(is_complete=is_complete)
    click.echo(
        f"part {options.shard}: {answered:,} of {count(len(responses), 'query')} answered, nothing was decided;"
        f" `relevance merge` reads {make_loggable(str(options.journal))}"
    )
    return 0 if is_complete else NO_ANSWER


def _run_on_workers(scheduler: str, inputs: RunInputs, matrix: Matrix, *, quiet: bool) -> Report:
    """Send the queries from the workers of a Dask cluster, and decide here on what they return."""
    suites, options = inputs.suites, inputs.options
    journals = []
    for part, journal in send_on_scheduler(scheduler, suites, options, matrix):
        journals.append((part, journal))
        if not quiet:
            print_note(f"{part} is done")
    return run_suites(suites, options, environ=os.environ, matrix=matrix, journal=MergedJournal(journals))
